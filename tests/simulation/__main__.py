"""Prints every simulated table of docs/scale.md: `python -m tests.simulation`.

With the name of a page it puts them in place of the page's tables with the same heads.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.simulation import operators, tables

TABLES = (
    tables.against_measured,
    tables.offered_load,
    tables.one_ledger,
    tables.ledgers_together,
    tables.head_room,
    tables.overload,
    tables.one_machine,
    tables.engines,
    operators.evenness,
    operators.large,
    operators.large_latency,
    operators.small,
    operators.small_growth,
)


def put(page: str, table: str) -> str:
    """Return a page with a table in place of the one with the same head."""
    before, head, after = page.partition(table.partition("\n")[0] + "\n")
    if not head:
        raise ValueError(f"no table with the head {table.partition(chr(10))[0]}")
    lines = after.splitlines(keepends=True)
    while lines and lines[0].startswith("|"):
        del lines[0]
    return before + table + "\n" + "".join(lines)


if __name__ == "__main__":
    pages = [Path(name) for name in sys.argv[1:]]
    for rows in TABLES:
        table = tables.markdown(rows)
        sys.stdout.write(f"{rows.__doc__}\n\n{table}\n\n")
        for page in pages:
            page.write_text(put(page.read_text(), table))
