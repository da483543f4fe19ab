"""`croupier odds`: the exact odds of a game, for people and for programs. Needs no server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from croupier.domain.errors import Refused
from croupier.domain.event import (
    Value,
)
from croupier.domain.games import game_of
from croupier.domain.games.options import PRESET, resolve
from croupier.domain.games.protocol import Game, Quote
from croupier.services.commands.process import fail


@dataclass(frozen=True, slots=True)
class _Priced:
    """A quote, and the options it holds under: those that were asked for."""

    options: Mapping[str, Value]
    quote: Quote

    def as_json(self) -> dict[str, Any]:
        quote = self.quote
        return {
            "place": quote.place,
            "on": quote.on,
            "options": dict(self.options),
            "win_probability": _ratio(quote.win),
            "push_probability": _ratio(quote.push),
            "pays": _ratio(quote.pays),
            "edge": _ratio(quote.edge),
        }


def odds(
    game: Annotated[str, typer.Argument(help="the game's code")],
    *,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE; may be repeated; else every preset")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print a list of objects")] = False,
) -> None:
    """Print the exact odds of every bet of a game: chances, what a win pays, the edge."""
    try:
        priced = list(_priced(game_of(game), option or []))
    except Refused as refusal:
        fail(refusal.message, code=2)
    if as_json:
        typer.echo(json.dumps([one.as_json() for one in priced], indent=2))
    elif priced:
        _show(priced)
    else:
        typer.echo("players play for a pot, against each other: there are no odds")


def _priced(game: Game[Any], given: list[str]) -> Iterator[_Priced]:
    wanted = [_options(game, given)] if given else [{PRESET: one} for one in game.presets]
    for options in wanted:
        for quote in game.quotes(resolve(game.options, game.presets, options)):
            yield _Priced(options, quote)


def _options(game: Game[Any], given: list[str]) -> dict[str, Value]:
    """Return options from "name=value", typed as the game declares them."""
    defaults: dict[str, Value] = {one.name: one.default for one in game.options}
    options: dict[str, Value] = {}
    for one in given:
        name, equals, text = one.partition("=")
        if not equals:
            fail(f"--option {one}: NAME=VALUE is wanted", code=2)
        options[name] = _typed(defaults.get(name, ""), text)
    return options


def _typed(default: Value, text: str) -> Value:
    """Return a value of an option's type; what is none of it stays text and is refused as such."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    if isinstance(default, int) and text.removeprefix("-").isdecimal():
        return int(text)
    return text


def _show(priced: list[_Priced]) -> None:
    table = Table()
    for column in ("options", "place", "on"):
        table.add_column(column)
    for column in ("P(win)", "P(push)", "pays, to 1", "edge", "edge, %"):
        table.add_column(column, justify="right")
    for one in priced:
        quote = one.quote
        options = ", ".join(f"{name}={value}" for name, value in one.options.items())
        exact = [_ratio(part) for part in (quote.win, quote.push, quote.pays, quote.edge)]
        on = "" if quote.on is None else str(quote.on)
        table.add_row(options, quote.place, on, *exact, _percent(quote.edge))
    Console().print(table)


def _ratio(exact: Fraction) -> str:
    return f"{exact.numerator}/{exact.denominator}"


def _percent(exact: Fraction) -> str:
    """Return a percentage with four places, rounded exactly; never by a float."""
    parts = round(exact * 1_000_000)
    whole, rest = divmod(abs(parts), 10_000)
    return f"{'-' if parts < 0 else ''}{whole}.{rest:04}"
