"""Run failure drills against real servers: `python -m tests.drills [NAME ...]`, or all of them.

Prints one row for each: what was acknowledged and lost, and how long it took to recover. A drill
that finds a promise broken ends with a traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.drills.crowd import Report
from tests.drills.every import DRILLS

HEAD = ("drill", "acknowledged", "lost", "longest silence", "after the fault", "ended")


def row(name: str, report: Report) -> tuple[str, ...]:
    """Return a report as the cells of a table."""
    times = (f"{report.outage_s:.2f} s", f"{report.recovery_s:.2f} s")
    return (name, str(report.acknowledged), str(report.lost), *times, report.ended)


def main() -> None:
    """Run the drills that are named, or tell which there are."""
    parser = argparse.ArgumentParser(prog="python -m tests.drills", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DRILLS)}")
    names = parser.parse_args().names or list(DRILLS)
    if unknown := set(names) - set(DRILLS):
        parser.error(f"there is no drill {', '.join(sorted(unknown))}")
    sys.stdout.write("| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|\n")
    for name in names:
        with tempfile.TemporaryDirectory(prefix="croupier-drill-") as folder:
            report = asyncio.run(DRILLS[name](Path(folder)))
        sys.stdout.write("| " + " | ".join(row(name, report)) + " |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
