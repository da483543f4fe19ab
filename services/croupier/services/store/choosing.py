"""Which engine has which ledgers.

    sqlite               files in the folder `data`
    sqlite:PATH          files in another folder
    redis://..., rediss://..., redis+sentinel://..., redis+cluster://...

Ledgers are mapped to engines by their id, or by how it begins: `vip*`. The longest that fits
counts, and what fits none is in the usual engine of the deployment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from eventsourcing.persistence import PersistenceError

from croupier.services.store.redis_address import KINDS, parse
from croupier.services.store.sqlite import SQLiteEngine
from croupier.services.store.store import Changeable, Engine, Store

SQLITE = "sqlite"

_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}\*?|\*")


def check_engine(text: str) -> str:
    """Return what names an engine.

    Raises:
        ValueError: it names none; the message has no part of it that may be secret.

    """
    scheme, colon, rest = text.partition(":")
    if scheme == SQLITE:
        if colon and not rest:
            raise ValueError("sqlite:PATH names a folder")
        return text
    if scheme not in KINDS:
        known = ", ".join(f"{one}://..." for one in KINDS)
        raise ValueError(f"an engine is sqlite:PATH, {known}")
    try:
        parse(text)
    except OSError as error:
        raise ValueError(f"password_file: {error}") from error
    return text


def check_pattern(text: str) -> str:
    """Return what says of which ledgers something is so.

    Raises:
        ValueError: it is no ledger's id, nor the beginning of one with a * after it.

    """
    if not _PATTERN.fullmatch(text):
        raise ValueError(f"{text!r} is no ledger's id, nor the beginning of one with a * behind")
    return text


class Engines:
    """Several engines as one: each ledger is in one of them."""

    def __init__(self, usual: Engine, others: Mapping[str, Engine] | None = None) -> None:
        """Keep ledgers in `others` by pattern, and what fits none in the usual engine."""
        self.by_pattern: dict[str, Engine] = {**(others or {})}
        self.by_pattern.setdefault("*", usual)
        self._ranked = sorted(self.by_pattern.items(), key=lambda item: _rank(item[0]))
        self._last: dict[int, Sequence[str]] = {}

    @property
    def usual(self) -> Engine:
        """Return the engine of whatever fits no pattern."""
        return self.by_pattern["*"]

    @property
    def name(self) -> str:
        """Return the usual engine's name."""
        return self.usual.name

    @property
    def where(self) -> str:
        """Return where the usual engine's ledgers are."""
        return self.usual.where

    @property
    def durability(self) -> str:
        """Return what an acknowledgement by the usual engine means."""
        return self.usual.durability

    def others(self) -> list[str]:
        """Return of each engine that has only some ledgers which, where, and how safe they are."""
        return [
            f"{pattern}: {one.name} in {one.where}, acknowledged = {one.durability}"
            for pattern, one in self._ranked
            if pattern != "*"
        ]

    def not_checked(self) -> list[str]:
        """Return what could not be found out about the engines."""
        found = [(one.where, getattr(one, "unknown", ())) for one in self._each()]
        return [f"{where}: {what}" for where, unknown in found for what in unknown]

    def warnings(self) -> list[str]:
        """Return what is wrong, and is no reason not to start."""
        found = [(one.where, getattr(one, "warnings", ())) for one in self._each()]
        return [f"{where}: {what}" for where, wrong in found for what in wrong]

    @property
    def may_change(self) -> bool:
        """Return whether an engine may come to be other than it was at the start."""
        return any(isinstance(one, Changeable) for one in self._each())

    def look_again(self) -> None:
        """Look whether each engine is as it has to be. It may take long, and is for a thread."""
        for one in self._each():
            if isinstance(one, Changeable):
                one.look_again()

    def standing(self) -> list[tuple[str, str, bool]]:
        """Return of each engine its name, its durability, and whether it is as it has to be."""
        return [
            (one.name, one.durability, not isinstance(one, Changeable) or one.as_required)
            for one in self._each()
        ]

    def of(self, ledger: str) -> Engine:
        """Return the engine that has a ledger."""
        for pattern, engine in self._ranked:
            if pattern == ledger or (pattern.endswith("*") and ledger.startswith(pattern[:-1])):
                return engine
        return self.usual

    def ledgers(self) -> Sequence[str]:
        """Return the ids of the ledgers that may exist, sorted.

        Of an engine that is away, those that it had when it was last asked.
        """
        found: set[str] = set()
        for engine in self._each():
            try:
                self._last[id(engine)] = engine.ledgers()
            except PersistenceError:
                if id(engine) not in self._last:
                    raise
            found.update(one for one in self._last[id(engine)] if self.of(one) is engine)
        return sorted(found)

    def exists(self, ledger: str) -> bool:
        """Return whether anything is kept under this id."""
        return self.of(ledger).exists(ledger)

    def open(self, ledger: str) -> Store:
        """Return the store of a ledger, made if it does not exist."""
        return self.of(ledger).open(ledger)

    def close(self) -> None:
        """Let go of all that the engines hold."""
        for engine in self._each():
            engine.close()

    def _each(self) -> Iterator[Engine]:
        return iter({id(engine): engine for engine in self.by_pattern.values()}.values())


def _rank(pattern: str) -> tuple[bool, int]:
    """Return what comes first: ids, then beginnings from the longest on."""
    return (pattern.endswith("*"), -len(pattern))


def engines_of(usual: str, others: Mapping[str, str], data: Path) -> Engines:
    """Return the engines of settings that were checked.

    Raises:
        OSError: one of them cannot be used; the message says why.

    """
    made: dict[str, Engine] = {}

    def engine(text: str) -> Engine:
        if text not in made:
            made[text] = _engine(text, data)
        return made[text]

    try:
        return Engines(engine(usual), {pattern: engine(text) for pattern, text in others.items()})
    except BaseException:
        for one in made.values():
            one.close()
        raise


def _engine(text: str, data: Path) -> Engine:
    scheme, _, rest = text.partition(":")
    if scheme == SQLITE:
        return SQLiteEngine(Path(rest) if rest else data)
    from croupier.services.store.redis.engine import RedisEngine  # noqa: PLC0415  # it loads the driver, which only who uses Redis pays for

    return RedisEngine(parse(text))
