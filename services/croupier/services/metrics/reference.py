"""Writes docs/metrics.md: `python -m croupier.services.metrics.reference > docs/metrics.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby

from prometheus_client import CollectorRegistry

from croupier.services.metrics.declaring import SECONDS, SIZES, Declared
from croupier.services.metrics.labels import (
    BETS_MAX,
    CURRENCIES_MAX,
    LEDGERS_MAX,
    OTHER,
    PAYTABLES_MAX,
    UNKNOWN,
)
from croupier.services.metrics.metrics import Metrics

HEAD = f"""\
# Metrics

Written from the program by `python -m croupier.services.metrics.reference`; a test compares. How to
scrape, what to look at first and who is called: [operations](operations.md#watching). The counters
are checked against a recount of the log, over all games and several processes, in
`tests/acceptance/test_metrics_of_all_games.py`.

- **Counters** are raised by the process that committed, or that took the call: sum them over
  processes.
- **Gauges of a ledger** (`croupier_ledger_…`) are reported by the one process that the ledger is
  assigned to, and `croupier_ledger_fenced` by whoever fenced it as well. Take their `max`.
- **Money** is in minor units of its currency. Never add currencies.
- **Labels** come from closed sets. Tables, players and rounds are never labels. What belongs to no
  set is `{UNKNOWN}`. What is new beyond {LEDGERS_MAX} ledgers, {CURRENCIES_MAX} currencies,
  {PAYTABLES_MAX} paytables of a game beside its presets, or {BETS_MAX} of game, paytable and
  currency together shares the label `{OTHER}`; a gauge of a ledger shows the worst of them.
- **`paytable`** is what the presets that have it are called, else how its digest begins.
- Counters that may call somebody are there from the start, at 0, so that their first rise is seen.
- Exemplars: where calls are traced, the buckets of `croupier_call_seconds` name the trace of a
  call, for whoever asks for OpenMetrics.
"""

TAIL = """\
## Of the client library

`process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_virtual_memory_bytes`,
`process_open_fds`, `process_max_fds`, `process_start_time_seconds`: as everywhere, on Linux.
"""


def text() -> str:
    """Return the page."""
    declared = Metrics(CollectorRegistry()).declared
    return "\n".join([HEAD, *_sections(declared), _buckets(), TAIL])


def _sections(declared: tuple[Declared, ...]) -> Iterator[str]:
    # Sections are declared where what they count is; here each stands once.
    order = list(dict.fromkeys(one.section for one in declared))
    by_section = sorted(declared, key=lambda one: order.index(one.section))
    for title, ones in groupby(by_section, key=lambda one: one.section):
        rows = "".join(map(_row, ones))
        yield f"## {title}\n\n| metric | type | labels | what it tells |\n|---|---|---|---|\n{rows}"


def _row(one: Declared) -> str:
    labels = ", ".join(f"`{label}`" for label in one.labels)
    return f"| `{one.name}` | {one.type} | {labels} | {one.text} |\n"


def _buckets() -> str:
    seconds, sizes = (", ".join(f"{edge:g}" for edge in edges) for edges in (SECONDS, SIZES))
    return f"""\
## Buckets

Of times, seconds: {seconds}.

Of sizes: {sizes}.
"""


if __name__ == "__main__":
    sys.stdout.write(text())
