"""What is raised where an engine cannot be used at all."""

from __future__ import annotations


class EngineError(OSError):
    """An engine is not as it has to be: the message says which, what is wrong, and what to do."""
