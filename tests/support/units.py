"""systemd's units as lists of what they say, with the specifiers that ours use put in."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.support.deployments import DEPLOY

SYSTEMD = DEPLOY / "systemd"
UNIT = SYSTEMD / "croupier.service"
DROP_IN = SYSTEMD / "tls.conf"

SPECIFIERS = {"%S": "/var/lib", "%d": "/run/credentials/croupier.service", "%%": "%"}


def said(*files: Path) -> list[tuple[str, str]]:
    """Return every setting of unit files in order; a drop-in comes after its unit."""
    found = []
    for file in files:
        for line in file.read_text().splitlines():
            if not line.strip() or line.startswith(("#", ";", "[")):
                continue
            key, equals, value = line.partition("=")
            assert equals, f"{file.name}: {line}"
            found.append((key, value))
    return found


def every(key: str, *files: Path) -> list[str]:
    """Return all values of a setting, in order."""
    return [value for name, value in said(*files) if name == key]


def last(key: str, *files: Path) -> str:
    """Return the value of a setting that holds."""
    return every(key, *files)[-1]


def environment(*files: Path) -> dict[str, str]:
    """Return the environment that units give their service."""
    found = {}
    for value in every("Environment", *files):
        for word in shlex.split(value):
            name, _, text = word.partition("=")
            for specifier, meaning in SPECIFIERS.items():
                text = text.replace(specifier, meaning)
            found[name] = text
    return found
