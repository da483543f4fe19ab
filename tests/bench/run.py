"""Measures speed against yardsticks of the same run: a table for people, JSON for tools.

Run it as `make bench`. Ratios hold where absolute figures depend on the machine: service and
yardstick take turns, and the median of the turns' ratios is given. `--only` runs some parts,
`--smoke` runs all of them on tiny sizes and checks that every row comes out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from croupier.services.commands.process import run as run_loop  # noqa: E402  # the path comes first
from tests.bench import (  # noqa: E402
    batches,
    big_ledger,
    engines,
    load,
    machine,
    moves,
    old_table,
    rows,
    steps,
    unary,
    watching,
    writer,
)
from tests.bench.sizes import FULL, SMOKE  # noqa: E402

PARTS = {
    "unary": unary,
    "batches": batches,
    "load": load,
    "writer": writer,
    "engines": engines,
    "steps": steps,
    "table": old_table,
    "ledger": big_ledger,
    "watching": watching,
    "moves": moves,
}
"""Each has `measure`, which adds rows to a run, and `ROWS`, the names of those rows."""


APART = {
    "load": "offered load",
    "engines": "engines",
    "steps": "budget of the hot path",
    "moves": "legal moves",
}
"""Parts that have a table of their own in the document; all others share one."""


def tables(found: list[rows.Row]) -> str:
    """Return rows as tables for a document."""
    named: dict[str, list[str]] = {}
    for part, module in PARTS.items():
        named.setdefault(APART.get(part, "results"), []).extend(module.ROWS)
    return "\n".join(rows.markdown(title, found, names) for title, names in named.items())


def main() -> int:
    """Measure, print and write; return 1 where rows are missing or malformed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts alone")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to check the benchmark")
    asked = parser.parse_args()
    chosen = asked.only or list(PARTS)
    # Only a whole run in earnest is the result; others do not overwrite it.
    name = "bench-smoke" if asked.smoke else "bench-part" if asked.only else "bench"
    started = perf_counter()
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    # Beside the checkout, since a system's own temporary folder may be in memory and have no disk.
    with tempfile.TemporaryDirectory(prefix="bench-", dir=build) as folder:
        known = machine.facts(Path(folder))
        print(machine.in_words(known))
        run = rows.Run(SMOKE if asked.smoke else FULL, Path(folder))
        for part in chosen:
            print(f"\n--- {part}", flush=True)
            run_loop(PARTS[part].measure(run))
    print(f"\n{rows.summary(run.rows)}\n\n{perf_counter() - started:.0f} s")
    file = build / f"{name}.json"
    rows.write(file, run.rows)
    file.with_suffix(".md").write_text(tables(run.rows))
    points = {"machine": known, **run.points}
    file.with_name(f"{name}-points.json").write_text(json.dumps(points, indent=2) + "\n")
    wrong = rows.check(file, [name for part in chosen for name in PARTS[part].ROWS])
    for one in wrong:
        print(f"bench: {one}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
