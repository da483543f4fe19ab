"""What a snapshot holds: frozen values as bytes and back, and a stamp of who wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pytest

from croupier.domain.games import GAMES
from croupier.services.store import snapshots
from croupier.services.store.snapshots import (
    codec_of,
    from_bytes,
    rules_digest,
    schema,
    table_from_json,
    table_stamp,
    table_to_json,
    to_bytes,
)
from tests.domain.test_every_game import sat_through


@dataclass(frozen=True)
class Chip:
    value: int
    colour: str = "red"


@dataclass(frozen=True)
class Tray:
    chips: tuple[Chip, ...]
    pair: tuple[int, str]
    names: Mapping[str, int | str | bool] = field(default_factory=dict)
    top: Chip | None = None
    seal: bytes = b""
    locked: bool = False
    nested: tuple[tuple[str, ...], ...] = ()


TRAY = Tray(
    chips=(Chip(10**15), Chip(-1, 'blue "\n\u20ac')),
    pair=(7, "eleven"),
    names=MappingProxyType({"b": 1, "a": "one", "c": True}),
    top=Chip(5),
    seal=bytes(range(256)),
    locked=True,
    nested=(("a",), (), ("b", "c")),
)


def there_and_back(hint, value):
    encode, decode = codec_of(hint)
    return decode(from_bytes(to_bytes(encode(value))))


@pytest.mark.parametrize("tray", [TRAY, replace(TRAY, top=None, chips=(), names={})])
def test_frozen_values_come_back_equal_and_of_the_same_types(tray):
    back = there_and_back(Tray, tray)
    assert back == tray
    assert repr(back) == repr(replace(tray, names=dict(tray.names)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"chips": [Chip(1)]},
        {"chips": (1,)},
        {"pair": (1, "a", "b")},
        {"pair": ("a", 1)},
        {"names": {1: 1}},
        {"names": {"a": 1.5}},
        {"top": 5},
        {"seal": "text"},
        {"locked": 1},
        {"pair": (True, "a")},
    ],
)
def test_a_value_that_is_not_of_its_fields_type_makes_no_snapshot(wrong):
    with pytest.raises((ValueError, TypeError)):
        codec_of(Tray)[0](replace(TRAY, **wrong))


@pytest.mark.parametrize(
    "hint", [float, set[int], list[int], Mapping[int, str], Chip | Tray | None, int | Chip, object]
)
def test_a_type_from_which_there_is_no_way_back_is_refused(hint):
    with pytest.raises(TypeError):
        codec_of(hint)


def test_what_is_read_has_the_types_of_its_fields_or_is_refused():
    encode, decode = codec_of(Tray)
    values = encode(TRAY)
    for at in range(len(values)):
        for wrong in (None, 1.5, "text", [], {}, 7):
            changed = [*values[:at], wrong, *values[at + 1 :]]
            try:
                back = decode(changed)
            except (ValueError, TypeError):
                continue
            # What passes is a value of the type, so it is written as it was read.
            assert encode(back) == changed
    for length in range(len(values)):
        with pytest.raises(ValueError, match="zip"):
            decode(values[:length])


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_a_table_of_every_game_comes_back_from_its_bytes_whatever_was_played(game):
    for seed in range(4):
        for at in sat_through(game, seed):
            state = to_bytes(table_to_json(at.table))
            assert table_from_json(from_bytes(state)) == at.table


# --- the stamp ------------------------------------------------------------------------------------


def test_the_schema_tells_fields_and_types_apart_all_the_way_down():
    @dataclass(frozen=True)
    class One:
        chips: tuple[Chip, ...] = ()

    other = schema(One)
    assert "value:<class 'int'>" in other
    assert schema(tuple[int, ...]) != schema(tuple[int, int])
    assert schema(int | None) != schema(int)
    assert len({schema(hint) for hint in (Chip, Tray, One)}) == 3


@pytest.fixture
def domain(tmp_path, monkeypatch):
    """A copy of the rules that a test may change."""
    (tmp_path / "games").mkdir()
    (tmp_path / "table.py").write_text("RULES = 1\n")
    (tmp_path / "games/one.py").write_text("RULES = 1\n")
    monkeypatch.setattr(snapshots.croupier.domain, "__path__", [str(tmp_path)])
    return tmp_path


def test_the_digest_of_the_rules_changes_with_any_of_their_files(domain):
    seen = {rules_digest()}
    assert rules_digest() in seen
    (domain / "table.py").write_text("RULES = 2\n")
    seen.add(rules_digest())
    (domain / "games/one.py").write_text("RULES = 2\n")
    seen.add(rules_digest())
    (domain / "games/one.py").rename(domain / "games/two.py")
    seen.add(rules_digest())
    (domain / "games/three.py").write_text("")
    seen.add(rules_digest())
    assert len(seen) == 5


def test_rules_that_cannot_be_read_are_the_same_as_no_others(domain):
    for path in domain.rglob("*.py"):
        path.unlink()
    assert rules_digest() != rules_digest()
    (domain / "broken.py").symlink_to(domain / "nowhere.py")
    assert rules_digest() != rules_digest()


def test_the_stamp_stands_for_the_rules_with_which_the_process_began(domain):
    before = table_stamp()
    table_stamp.cache_clear()
    assert table_stamp() == before
