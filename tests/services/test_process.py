"""What every command's process does, also when it is ended at a bad moment."""

from __future__ import annotations

import signal
import subprocess
import sys

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


@pytest.mark.parametrize("how", ["pass", "raise SystemExit(1)"])
def test_who_is_asked_to_end_while_he_ends_says_nothing_of_it(how):
    program = f"""
import atexit, os, signal
from croupier.services.commands.process import end_when_asked
atexit.register(os.kill, os.getpid(), signal.SIGTERM)
with end_when_asked():
    {how}
"""
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert (ran.returncode, ran.stderr) == (-signal.SIGTERM, b"")


def test_what_it_ran_is_returned():
    async def answer():
        return 42

    assert process.run(answer()) == 42
