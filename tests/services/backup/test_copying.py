"""Copies of ledgers: whole or not at all, nothing overwritten, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from croupier.services.backup.copying import back_up, copy_draw_key, manifests_in, restore
from croupier.services.backup.manifest import BackupError, Manifest, digest_of
from croupier.services.store.sqlite import SQLiteEngine
from tests.support.ledgers import LEDGER
from tests.support.snapshots import begun, execute

HEAD = 28


@pytest.fixture
async def data(tmp_path):
    """A folder with a ledger that nobody serves."""
    folder = tmp_path / "data"
    await (await begun(folder, throws=20)).leave()
    return folder


@pytest.fixture
def copies(tmp_path):
    folder = tmp_path / "copies"
    folder.mkdir()
    return folder


def state(folder):
    """Return every file of a folder with its bytes."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def edit(folder, **changes):
    """Change what a manifest says."""
    path = folder / f"{LEDGER}.manifest.json"
    said = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: one for name, one in said.items() if one is not None}))


def put_back(copies, data):
    restore(copies, manifests_in(copies, []), data)


async def test_a_copy_says_what_is_in_it(data, copies):
    before = state(data)
    manifest = back_up(data, LEDGER, copies)
    assert state(data) == before  # and no file more
    store = SQLiteEngine(data).open(LEDGER)
    head = store.head()
    store.close()
    assert (manifest.position, manifest.root) == (HEAD, head.frontier.root.hex())
    assert (manifest.ledger, manifest.file, manifest.engine) == (LEDGER, f"{LEDGER}.db", "sqlite")
    assert manifest.bytes == (copies / manifest.file).stat().st_size
    assert manifest.sha256 == digest_of(copies / manifest.file)
    assert manifest.format_version == 1
    assert manifest.recorded_time < manifest.made_time
    assert manifests_in(copies, []) == manifests_in(copies, [LEDGER]) == [manifest]
    assert sorted(state(copies)) == [f"{LEDGER}.db", f"{LEDGER}.manifest.json"]
    for path in copies.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


async def test_a_copy_comes_back_as_it_was(data, copies, tmp_path):
    back_up(data, LEDGER, copies)
    put_back(copies, tmp_path / "restored")
    copied = state(copies)[f"{LEDGER}.db"]
    assert state(tmp_path / "restored") == {f"{LEDGER}.db": copied}


async def test_what_a_process_died_over_is_copied_as_it_was_committed(data, copies, tmp_path):
    """Its last commits are in the write-ahead log only; the files stay as they are."""
    with closing(sqlite3.connect(data / f"{LEDGER}.db", isolation_level=None)) as living:
        living.execute("PRAGMA wal_autocheckpoint=0")
        living.execute("INSERT INTO snapshots VALUES ('of a process', 1, '', x'', x'')")
        left = tmp_path / "left"
        left.mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(data / f"{LEDGER}.db{suffix}", left)
    before = state(left)
    assert len(before[f"{LEDGER}.db-wal"]) > 0
    back_up(left, LEDGER, copies)
    rows = sqlite3.connect(copies / f"{LEDGER}.db").execute("SELECT name FROM snapshots").fetchall()
    assert ("of a process",) in rows
    assert {name: state(left)[name] for name in before} == before


def _nowhere(data, copies):
    (data / f"{LEDGER}.db").unlink()


def _there(data, copies):
    (copies / f"{LEDGER}.db").touch()


def _described(data, copies):
    (copies / f"{LEDGER}.manifest.json").touch()


def _empty(data, copies):
    (data / f"{LEDGER}.db").unlink()
    SQLiteEngine(data).open(LEDGER).close()


def _no_database(data, copies):
    (data / f"{LEDGER}.db").write_bytes(b"no database" * 1000)


def _changed(data, copies):
    execute(data, "DROP TRIGGER events_not_updated")
    execute(data, "UPDATE stored_events SET topic = 'another' WHERE position = 3")


def _lost_request(data, copies):
    execute(data, "DROP TRIGGER requests_not_deleted")
    execute(data, "DELETE FROM requests WHERE last = 3")


@pytest.mark.parametrize(
    "damage, said",
    [
        (_nowhere, "has no ledger"),
        (_there, "has a copy of main already"),
        (_described, "has a copy of main already"),
        (_empty, "its log has not begun"),
        (_no_database, "cannot be copied"),
        (_changed, "position 3: the columns say"),
        (_lost_request, "the request of position 3"),
    ],
)
async def test_what_cannot_be_copied_whole_leaves_no_copy(data, copies, damage, said):
    damage(data, copies)
    before, source = state(copies), state(data)
    with pytest.raises(BackupError, match=said):
        back_up(data, LEDGER, copies)
    assert state(copies) == before
    assert state(data) == source


async def test_a_disk_that_is_full_leaves_no_copy(data, copies, monkeypatch):
    def full(*asked):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        back_up(data, LEDGER, copies)
    assert not list(copies.glob("*.partial"))
    assert not (copies / f"{LEDGER}.db").exists()


def _byte(copies):
    path = copies / f"{LEDGER}.db"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _record(copies):
    """Somebody changes a record and makes the manifest fit the file."""
    execute(copies, "DROP TRIGGER events_not_updated")
    execute(
        copies,
        "UPDATE stored_events SET state = CAST(replace(state, 'kim', 'kid') AS BLOB) "
        "WHERE position = 12",
    )
    path = copies / f"{LEDGER}.db"
    edit(copies, sha256=digest_of(path), bytes=path.stat().st_size)


@pytest.mark.parametrize(
    "damage, said",
    [
        (_byte, "not the one of the manifest"),
        (_record, "the tree over events 1 to 28 is not the head's"),
        (lambda copies: (copies / f"{LEDGER}.db").write_bytes(b""), "0 bytes, the manifest says"),
        (lambda copies: (copies / f"{LEDGER}.db").unlink(), r"main\.db is missing"),
        (lambda copies: edit(copies, root="00" * 32), "root is .*, the manifest says 0000"),
        (lambda copies: edit(copies, position=27), "position is 28, the manifest says 27"),
        (lambda copies: edit(copies, format=2), "format 2, and this program reads 1"),
        (lambda copies: edit(copies, position="28"), "position is '28'"),
        (lambda copies: edit(copies, position=True), "position is True"),
        (lambda copies: edit(copies, root=None), "missing or unknown: root"),
        (lambda copies: edit(copies, more=1), "missing or unknown: more"),
        (lambda copies: edit(copies, ledger="../main"), "no ledger of that name"),
        (lambda copies: edit(copies, file="../main.db"), "no file of that name"),
        (lambda copies: (copies / f"{LEDGER}.manifest.json").write_text("[]"), "no object"),
        (lambda copies: (copies / f"{LEDGER}.manifest.json").write_text("{"), "not a manifest"),
        (lambda copies: (copies / f"{LEDGER}.manifest.json").unlink(), "has no copy"),
    ],
)
async def test_a_copy_that_is_not_what_it_says_is_not_put_back(
    data, copies, tmp_path, damage, said
):
    back_up(data, LEDGER, copies)
    damage(copies)
    with pytest.raises(BackupError, match=said):
        put_back(copies, tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


async def test_a_restore_that_fails_takes_away_the_folders_that_it_made(data, copies, tmp_path):
    back_up(data, LEDGER, copies)
    (copies / f"{LEDGER}.db").write_bytes(b"")
    (tmp_path / "there").mkdir()
    with pytest.raises(BackupError, match="0 bytes"):
        put_back(copies, tmp_path / "there" / "new" / "restored")
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
async def test_nothing_is_overwritten(data, copies, tmp_path, suffix):
    back_up(data, LEDGER, copies)
    there = tmp_path / "restored" / f"{LEDGER}.db{suffix}"
    there.parent.mkdir()
    there.write_bytes(b"whatever it is")
    with pytest.raises(BackupError, match="never overwrites"):
        put_back(copies, there.parent)
    assert state(there.parent) == {there.name: b"whatever it is"}


async def test_of_two_copies_one_of_which_is_broken_none_is_put_back(data, copies, tmp_path):
    for name in ("alpha", "zulu"):
        shutil.copy(data / f"{LEDGER}.db", data / f"{name}.db")
        back_up(data, name, copies)
    (copies / "zulu.db").write_bytes(b"")
    with pytest.raises(BackupError, match="zulu: 0 bytes"):
        put_back(copies, tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    restore(copies, manifests_in(copies, ["alpha"]), tmp_path / "restored")
    with pytest.raises(BackupError, match="has no copy of elsewhere"):
        manifests_in(copies, ["alpha", "elsewhere"])


async def test_a_draw_key_is_copied_when_asked_for_and_another_is_kept(data, copies):
    with pytest.raises(BackupError, match="is missing"):
        copy_draw_key(data, copies)
    key = data / "draw.key"
    key.write_bytes(b"k" * 32)
    copy_draw_key(data, copies)
    copy_draw_key(data, copies)
    assert (copies / "draw.key").read_bytes() == b"k" * 32
    assert (copies / "draw.key").stat().st_mode & 0o777 == 0o600
    key.write_bytes(b"l" * 32)
    with pytest.raises(BackupError, match="another draw key; it is kept"):
        copy_draw_key(data, copies)


def test_a_manifest_says_what_every_field_is():
    assert Manifest.__doc__
    assert all(of in ("int", "str") for of in Manifest.__annotations__.values())
