"""A paytable: what each named winning line pays, fixed for a round and known by its digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from croupier.domain.money import EVEN, Odds


@dataclass(frozen=True, slots=True)
class Paytable:
    """Odds by the name of the line. The line "" is even money in every paytable."""

    lines: Mapping[str, Odds]

    def odds(self, line: str) -> Odds:
        """Return what `line` pays, "x to 1"."""
        return self.lines[line] if line else EVEN

    def digest(self) -> bytes:
        """Return the SHA-256 of the canonical text: `line=profit:per` sorted, one per row."""
        rows = sorted(f"{line}={odds.profit}:{odds.per}\n" for line, odds in self.lines.items())
        return sha256("".join(rows).encode()).digest()
