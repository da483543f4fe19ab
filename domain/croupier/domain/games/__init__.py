"""Finds the games in this folder: every sub-folder is one game and exposes `GAME`.

The folder's name is the game's code, and the code is what tables store. Nothing lists the games,
so a new game is a new folder and no other change.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.games.protocol import Game, secretive


def _discover() -> Mapping[str, Game[Any]]:
    found: dict[str, Game[Any]] = {}
    for name in sorted(module.name for module in iter_modules(__path__) if module.ispkg):
        game = import_module(f"{__name__}.{name}").GAME
        if game.code != name:
            msg = f"the game in {name}/ calls itself {game.code!r}"
            raise ValueError(msg)
        found[name] = game
    return MappingProxyType(found)


GAMES = _discover()

SECRETS: frozenset[type] = frozenset(
    kind for game in GAMES.values() if (has := secretive(game)) for kind in has.secrets
)
"""The kinds of facts that can hold, in some game, what not everybody may see yet."""


def game_of(code: str) -> Game[Any]:
    """Return the game called `code`, or refuse."""
    try:
        return GAMES[code]
    except KeyError:
        raise Refused(
            Reason.UNKNOWN_GAME,
            f"{shown(code)} is no game; there are {', '.join(GAMES)}",
            field="game",
            games=",".join(GAMES),
        ) from None
