"""What every command's process does, also when it is ended at a bad moment."""

from __future__ import annotations

import pytest

from croupier.services.commands import process


async def nothing():
    """Do nothing."""


def test_who_is_asked_to_end_before_it_began_ends_without_a_word(monkeypatch):
    """A coroutine that was never awaited is a warning, and warnings are errors here."""

    def asked(name):
        raise SystemExit(0)

    monkeypatch.setattr(process, "import_module", asked)
    with pytest.raises(SystemExit):
        process.run(nothing())


def test_what_it_ran_is_returned():
    async def answer():
        return 42

    assert process.run(answer()) == 42
