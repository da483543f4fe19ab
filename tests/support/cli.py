"""The command line, as a process of its own."""

from __future__ import annotations

import os
import subprocess

from tests.support.processes import COMMAND

TIMEOUT_S = 30


def croupier(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `croupier` with these words until it ends, with no setting but those given."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("CROUPIER_")}
    return subprocess.run(
        [*COMMAND, *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=inherited | environment,
    )
