"""Fixtures of the acceptance tests."""

from tests.support.serving import serve, tokens

__all__ = ["serve", "tokens"]
