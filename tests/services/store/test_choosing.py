"""Which engine has which ledgers, and what is said of them."""

from __future__ import annotations

import pytest
from eventsourcing.persistence import OperationalError

from croupier.services.store.choosing import Engines, check_engine, check_pattern, engines_of
from croupier.services.store.engine_error import EngineError
from croupier.services.store.sqlite import SQLiteEngine
from tests.services.store.logs import add


class Engine(SQLiteEngine):
    """SQLite that can be away."""

    away = False
    closed = 0

    def ledgers(self):
        if self.away:
            raise OperationalError("away")
        return super().ledgers()

    def close(self):
        self.closed += 1


@pytest.fixture
def engines(tmp_path):
    vip, site = Engine(tmp_path / "vip"), Engine(tmp_path / "site")
    return Engines(Engine(tmp_path / "usual"), {"vip*": vip, "vip-7": site, "site.*": site})


@pytest.mark.parametrize(
    "ledger, folder",
    [
        ("main", "usual"),
        ("vi", "usual"),
        ("VIP", "usual"),
        ("vip", "vip"),
        ("vip-70", "vip"),
        ("vip-7", "site"),
        ("site.1", "site"),
        ("site", "usual"),
    ],
)
def test_a_ledger_is_where_the_longest_pattern_says(engines, ledger, folder, tmp_path):
    assert engines.of(ledger).where == str(tmp_path / folder)
    store = engines.open(ledger)
    head = add(store, ("ledger", 1))
    store.close()
    assert engines.exists(ledger)
    assert (tmp_path / folder / f"{ledger}.db").exists()
    assert engines.ledgers() == [ledger]
    assert head.position == 1


def test_a_ledger_in_an_engine_that_is_not_its_own_is_not_seen(engines, tmp_path):
    stray = SQLiteEngine(tmp_path / "usual").open("vip")
    add(stray, ("ledger", 1))
    stray.close()
    assert engines.ledgers() == []
    assert not engines.exists("vip")


def test_of_an_engine_that_is_away_those_ledgers_are_known_that_it_had(engines):
    for ledger in ("main", "vip", "vip-7"):
        engines.open(ledger).close()
    engines.of("vip").away = True
    with pytest.raises(OperationalError):
        engines.ledgers()
    engines.of("vip").away = False
    assert engines.ledgers() == ["main", "vip", "vip-7"]
    engines.of("vip").away = True
    engines.open("other").close()
    assert engines.ledgers() == ["main", "other", "vip", "vip-7"]


def test_each_engine_is_closed_once(engines):
    engines.close()
    assert {engine.closed for engine in engines.by_pattern.values()} == {1}


def test_what_is_said_of_engines_names_what_they_have(engines, tmp_path):
    assert (engines.name, engines.durability) == ("sqlite", "fsync")
    assert engines.where == str(tmp_path / "usual")
    assert engines.others() == [
        f"vip-7: sqlite in {tmp_path / 'site'}, acknowledged = fsync",
        f"site.*: sqlite in {tmp_path / 'site'}, acknowledged = fsync",
        f"vip*: sqlite in {tmp_path / 'vip'}, acknowledged = fsync",
    ]
    assert engines.not_checked() == []


def test_engines_are_made_once_for_what_is_written_once(tmp_path):
    text = f"sqlite:{tmp_path / 'a'}"
    engines = engines_of(text, {"vip*": text, "x": "sqlite"}, tmp_path / "data")
    assert engines.of("vip") is engines.usual
    assert engines.of("x").where == str(tmp_path / "data")


def test_an_engine_that_cannot_be_used_keeps_the_others_from_being_used(tmp_path):
    with pytest.raises(EngineError, match="refused"):
        engines_of("sqlite", {"vip": "redis://127.0.0.1:1"}, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        engines_of(f"sqlite:{tmp_path / 'file'}", {}, tmp_path)


@pytest.mark.parametrize(
    "text", ["sqlite", "sqlite:/srv/x", "sqlite:x", "redis://h", "redis+cluster://a,b"]
)
def test_what_names_an_engine_is_taken(text):
    assert check_engine(text) == text


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "an engine is"),
        ("sqlite:", "a folder"),
        ("postgres://secret@h", "an engine is"),
        ("redis://:secret@h?secrets=1", "no option"),
        ("redis://h?password_file=/missing/secret", "password_file"),
    ],
)
def test_what_names_no_engine_is_refused(text, said):
    with pytest.raises(ValueError, match=said) as refused:
        check_engine(text)
    assert ":secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["main", "vip*", "*", "a.b-c_d*"])
def test_patterns_of_ledgers_are_taken(text):
    assert check_pattern(text) == text


@pytest.mark.parametrize("text", ["", "a b", "*a", "a**", "a/b", "x" * 65])
def test_what_is_no_pattern_is_refused(text):
    with pytest.raises(ValueError, match="no ledger's id"):
        check_pattern(text)
