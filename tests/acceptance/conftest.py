"""Fixtures of the acceptance tests."""

from tests.support.refusals import casino
from tests.support.serving import serve, tokens

__all__ = ["casino", "serve", "tokens"]
