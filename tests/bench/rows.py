"""The rows of the result: how they are made, shown, checked and written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from tests.bench.sizes import Sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measurement. `ratio` is against the yardstick, which was measured in the same run.

    Without a yardstick or a goal there is None in its place.
    """

    name: str
    value: float
    unit: str
    yardstick: str | None = None
    ratio: float | None = None
    goal: str | None = None
    met: bool | None = None
    detail: str = ""


@dataclass(slots=True)
class Run:
    """One run of the benchmark: how much, where its files may be, and what came out so far."""

    sizes: Sizes
    folder: Path
    rows: list[Row] = field(default_factory=list)
    points: dict[str, Any] = field(default_factory=dict)
    """Series for the plots."""

    def add(
        self,
        name: str,
        value: float,
        unit: str,
        detail: str = "",
        *,
        yardstick: str | None = None,
        ratio: float | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> None:
        """Add a row. A goal is about the ratio, or about the value where there is no ratio."""
        measured = value if ratio is None else ratio
        goal, met = None, None
        if at_least is not None:
            goal, met = f">= {at_least:g}", measured >= at_least
        elif at_most is not None:
            goal, met = f"<= {at_most:g}", measured <= at_most
        one = Row(
            name=name,
            value=rounded(value),
            unit=unit,
            yardstick=yardstick,
            ratio=None if ratio is None else rounded(ratio),
            goal=goal,
            met=met,
            detail=detail,
        )
        self.rows.append(one)
        print(shown(one), flush=True)


def rounded(value: float) -> float:
    """Return four significant digits, which is more than any figure here deserves."""
    return float(f"{value:.4g}")


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50, p99 and p99.9 in milliseconds."""
    if len(seconds) < 2:
        seconds = [*seconds, *seconds] or [0.0, 0.0]
    cuts = quantiles(seconds, n=1000, method="inclusive")
    at = {"p50": cuts[499], "p99": cuts[989], "p99.9": cuts[998]}
    return {name: rounded(1000 * value) for name, value in at.items()}


def in_words(seconds: Sequence[float]) -> str:
    """Return the percentiles as they stand in a row."""
    return ", ".join(f"{name} {value:g}" for name, value in percentiles(seconds).items()) + " ms"


def median_ratio(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the median of the ratios of turns: what disturbs one turn disturbs both its sides."""
    return median(one / other for one, other in pairs)


def shown(row: Row) -> str:
    """Return a row for people."""
    text = f"{row.name}\n    {row.value:,.10g} {row.unit}"
    if row.detail:
        text += f" ({row.detail})"
    if row.yardstick:
        text += f"\n    against {row.yardstick}"
        text += f": {row.ratio:g}x" if row.ratio is not None else ""
    if row.goal:
        text += f"\n    goal {row.goal}: {_verdict(row)}"
    return text


def summary(rows: Sequence[Row]) -> str:
    """Return one line for each row that has a goal."""
    width = max((len(row.name) for row in rows), default=0)
    return "\n".join(
        f"{row.name:<{width}}  {_measured(row):>18}  {row.goal:>8}  {_verdict(row)}"
        for row in rows
        if row.goal
    )


def markdown(title: str, rows: Sequence[Row], names: Sequence[str]) -> str:
    """Return some of the rows as a table for a document."""
    lines = [f"### {title}", "", "| what | figure | yardstick in the same run | ratio | goal |"]
    lines.append("|---|---|---|---|---|")
    for row in (row for row in rows if row.name in names):
        figure = f"{row.value:,.10g} {row.unit}" + (f"; {row.detail}" if row.detail else "")
        ratio = "" if row.ratio is None else f"{row.ratio:.2g}"
        goal = f"{row.goal}, {'met' if row.met else '**missed**'}" if row.goal else ""
        goal = goal.replace(">=", "≥").replace("<=", "≤")
        lines.append(f"| {row.name} | {figure} | {row.yardstick or ''} | {ratio} | {goal} |")
    return "\n".join(lines) + "\n"


def _verdict(row: Row) -> str:
    return "met" if row.met else "MISSED"


def _measured(row: Row) -> str:
    """Return what a goal is about."""
    return f"{row.value:,.10g} {row.unit}" if row.ratio is None else f"{row.ratio:.4g}x"


_KINDS: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "value": (int, float),
    "unit": (str,),
    "yardstick": (str, type(None)),
    "ratio": (int, float, type(None)),
    "goal": (str, type(None)),
    "met": (bool, type(None)),
    "detail": (str,),
}


def check(file: Path, expected: Iterable[str]) -> list[str]:
    """Return what is wrong with a written result: its shape, and rows that lack or are too many."""
    written = json.loads(file.read_text())
    wrong = [
        f"{one.get('name')}: {key} is {one.get(key)!r}"
        for one in written
        for key, kinds in _KINDS.items()
        if key not in one or not isinstance(one[key], kinds) or _endless(one[key])
    ]
    wrong += [f"{one['name']}: keys {list(one)}" for one in written if list(one) != list(_KINDS)]
    wrong += [
        f"{one['name']}: a goal without a verdict, or the reverse"
        for one in written
        if (one["goal"] is None) != (one["met"] is None)
    ]
    names, wanted = [one["name"] for one in written], list(expected)
    wrong += [f"there is no row {name!r}" for name in wanted if name not in names]
    wrong += [f"nobody expects row {name!r}" for name in names if name not in wanted]
    wrong += [f"two rows {name!r}" for name in set(names) if names.count(name) > 1]
    return wrong


def _endless(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def write(file: Path, rows: Sequence[Row]) -> None:
    """Write rows as a list of objects."""
    assert [one.name for one in fields(Row)] == list(_KINDS)
    file.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
