"""What a label can say. Every label comes from a closed set or from one with a limit.

No table, player or round is ever a label. Beyond a limit what is new shares the label `OTHER`.
"""

from __future__ import annotations

from google.rpc import code_pb2

from croupier.domain.errors import Kind, Reason
from croupier.domain.games import GAMES
from croupier.domain.games.options import PRESET, resolve
from croupier.domain.money import CURRENCIES
from croupier.services.rpc.permissions import ROLES
from croupier.v1 import events_pb2

LEDGERS_MAX = 100
CURRENCIES_MAX = 20
PAYTABLES_MAX = 16
"""Of each game, beside those of its presets."""
BETS_MAX = 200
"""Of game, paytable and currency together."""

OTHER = "(other)"
"""The label of what is beyond a limit; no ledger, currency or paytable can be called so."""

UNKNOWN = "unknown"

_OWN = "/croupier.v1."
METHODS = frozenset(method.removeprefix(_OWN).lstrip("/") for method in ROLES)
CODES = frozenset(code_pb2.Code.keys())
DENIED = frozenset(
    reason.value for reason in Reason if reason.kind in (Kind.UNAUTHENTICATED, Kind.FORBIDDEN)
)
"""Reasons for which strangers, and callers beyond their roles, are turned away."""
KINDS = frozenset(
    field.name for field in events_pb2.Event.DESCRIPTOR.oneofs_by_name["payload"].fields
)


class Limited:
    """Labels in the order in which they come, up to so many; what comes later is `OTHER`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def label(self, name: str) -> str:
        """Return the label of a name."""
        if name in self._known:
            return name
        if len(self._known) < self._most:
            self._known.add(name)
            return name
        return OTHER


class Currencies(Limited):
    """The currencies that are in use, of those that there are."""

    def __init__(self) -> None:
        super().__init__(CURRENCIES_MAX)

    def label(self, name: str) -> str:
        """Return the label of a currency's code."""
        if name in self._known:
            return name
        return super().label(name) if name in CURRENCIES else UNKNOWN


class Paytables:
    """Paytables by name: that of the presets which have it, else how its digest begins."""

    def __init__(self) -> None:
        self._labels: dict[tuple[str, bytes], str] = {}
        self._others = {code: Limited(PAYTABLES_MAX) for code in GAMES}
        for code, game in GAMES.items():
            for preset in game.presets:
                options = resolve(game.options, game.presets, {PRESET: preset})
                key = (code, game.paytable(options).digest())
                before = self._labels.get(key)
                self._labels[key] = f"{before}/{preset}" if before else preset

    def label(self, game: str, digest: bytes) -> str:
        """Return the label of a game's paytable."""
        label = self._labels.get((game, digest))
        if label is not None:
            return label
        label = self._others[game].label(digest[:4].hex())
        if label != OTHER:
            self._labels[game, digest] = label
        return label
