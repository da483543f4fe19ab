"""The scripts that a server runs, each as one step that nobody sees half done.

A server keeps scripts under the digest of their text, and may forget them at any time (a restart,
`SCRIPT FLUSH`): one that it does not know ran not at all, and is sent once more with its text.
"""

from __future__ import annotations

from hashlib import sha1
from importlib.resources import files


class Script:
    """One script, and its name among a server's."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = files(__package__).joinpath("lua", f"{name}.lua").read_bytes()
        # Redis names scripts so; it is no measure of safety.
        self.digest = sha1(self.text, usedforsecurity=False).hexdigest()


APPEND = Script("append")
COMMIT = Script("commit")
HEAD = Script("head")
INDEXED = Script("indexed")
MAKE = Script("make")
MARK = Script("mark")
NEXT = Script("next")
RELEASE = Script("release")
SETTLE = Script("settle")
STREAM = Script("stream")
