"""Prints every table of docs/scale.md that is simulated: `python -m tests.simulation`."""

from __future__ import annotations

import sys

from tests.simulation import large, tables

TABLES = (
    tables.against_measured,
    tables.one_ledger,
    tables.ledgers_together,
    tables.head_room,
    tables.overload,
    tables.one_machine,
    tables.engines,
    large.evenness,
    large.large,
    large.large_latency,
    tables.small,
)

if __name__ == "__main__":
    for table in TABLES:
        sys.stdout.write(f"{table.__doc__}\n\n{tables.markdown(table)}\n\n")
