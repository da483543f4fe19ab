"""Copies of ledgers out of a folder that may be served, and back into one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import time_ns

from eventsourcing.persistence import PersistenceError

from croupier.services.backup.manifest import (
    FORMAT,
    SUFFIX,
    BackupError,
    Manifest,
    digest_of,
    sync_file,
    sync_folder,
    time_text,
    write_whole,
)
from croupier.services.backup.reading import read_out
from croupier.services.ledger.book import LogError
from croupier.services.ledger.whole import read_whole
from croupier.services.store.sqlite_backup import copy_file, opened_copy
from croupier.services.store.store import Engine

DRAW_KEY = "draw.key"
_BESIDE = ("", "-wal", "-shm")


# --- out of a folder ------------------------------------------------------------------------------


def ledgers_in(data: Path) -> list[str]:
    """Return the ids of the ledgers of a folder, sorted."""
    return sorted(path.name.removesuffix(".db") for path in data.glob("*.db"))


def back_up(data: Path, ledger: str, folder: Path) -> Manifest:
    """Copy a ledger's file into a folder, check the copy whole, and return its manifest.

    The service may go on serving the ledger. When this returns, copy and manifest are on disk.

    Raises:
        BackupError: there is no such ledger, the folder has a copy of it already, or the copy is
            not whole. No copy is left behind.
        OSError: a file cannot be written.

    """
    source = data / f"{ledger}.db"
    if not source.is_file():
        raise BackupError(f"{data} has no ledger {ledger}")
    return _back_up(ledger, "sqlite", folder, partial(copy_file, source))


def back_up_from(engine: Engine, ledger: str, folder: Path) -> Manifest:
    """Copy a ledger out of any engine as a file, as `back_up` does.

    Raises:
        BackupError, OSError: as there.
        PersistenceError: the engine does not answer.

    """
    if not engine.exists(ledger):
        raise BackupError(f"{engine.where} has no ledger {ledger}")
    with closing(engine.open(ledger)) as source:
        return _back_up(ledger, engine.name, folder, partial(read_out, source))


def _back_up(ledger: str, engine: str, folder: Path, copy: Callable[[Path], None]) -> Manifest:
    """Let a copy be made, and give it its name once it is found whole."""
    target = folder / f"{ledger}.db"
    if target.exists() or (folder / f"{ledger}{SUFFIX}").exists():
        raise BackupError(
            f"{folder} has a copy of {ledger} already; every backup has its own folder"
        )
    with _partial(target) as made:
        try:
            copy(made)
        except (LogError, PersistenceError) as error:
            raise BackupError(f"{ledger}: cannot be copied: {error}") from error
        manifest = _described(ledger, engine, made, target.name)
        _put(made, target)
    manifest.save(folder)
    return manifest


def _described(ledger: str, engine: str, copy: Path, name: str) -> Manifest:
    """Return the manifest of a copy that was read whole."""
    with _explained(ledger), opened_copy(copy) as store:
        head, book = read_whole(store)
    if not head.position:
        raise BackupError(f"{ledger}: its log has not begun")
    return Manifest(
        format=FORMAT,
        ledger=ledger,
        engine=engine,
        file=name,
        position=head.position,
        root=head.frontier.root.hex(),
        recorded_time=time_text(head.recorded_us),
        format_version=book.format_version,
        bytes=copy.stat().st_size,
        sha256=digest_of(copy),
        program=f"croupier {version('croupier')}",
        made_time=time_text(time_ns() // 1000),
    )


# --- into a folder --------------------------------------------------------------------------------


def manifests_in(folder: Path, ledgers: Sequence[str]) -> list[Manifest]:
    """Return the manifests of a folder's copies, or only those of `ledgers`.

    Raises:
        BackupError: there are none, one is missing, or one is not readable.

    """
    if not folder.is_dir():
        raise BackupError(f"{folder} is no folder")
    found = {one.ledger: one for one in map(Manifest.load, sorted(folder.glob(f"*{SUFFIX}")))}
    wanted = ledgers or list(found)
    if missing := [one for one in wanted if one not in found]:
        raise BackupError(f"{folder} has no copy of {', '.join(missing)}")
    if not wanted:
        raise BackupError(f"{folder} has no copy of a ledger")
    return [found[one] for one in wanted]


def restore(folder: Path, manifests: Iterable[Manifest], data: Path) -> None:
    """Put copies of ledgers into a folder, each checked whole, all of them or none.

    A ledger that is there is never overwritten. When this returns, the files are on disk; a service
    that runs on the folder finds them.

    Raises:
        BackupError: a copy is not what its manifest says, or a ledger is there already.
        OSError: a file cannot be read or written.

    """
    manifests = list(manifests)
    for manifest in manifests:
        for suffix in _BESIDE:
            if (there := data / f"{manifest.ledger}.db{suffix}").exists():
                raise BackupError(f"{there} exists; a restore never overwrites")
    new = [folder for folder in (data, *data.parents) if not folder.exists()]
    data.mkdir(parents=True, exist_ok=True)
    placed: list[Path] = []
    try:
        for manifest in manifests:
            target = data / f"{manifest.ledger}.db"
            _restore_one(folder / manifest.file, manifest, target)
            placed.append(target)
    except BaseException:
        for target in placed:
            target.unlink()
        with suppress(OSError):  # somebody else has put something there meanwhile
            for one in new:
                one.rmdir()
        raise


def _restore_one(copy: Path, manifest: Manifest, target: Path) -> None:
    with _partial(target) as made:
        try:
            shutil.copyfile(copy, made)
        except FileNotFoundError as error:
            raise BackupError(f"{manifest.ledger}: {copy} is missing") from error
        found = _described_again(manifest, made)
        for name in ("bytes", "sha256", "position", "root", "recorded_time", "format_version"):
            if (is_so := getattr(found, name)) != (said := getattr(manifest, name)):
                raise BackupError(f"{manifest.ledger}: {name} is {is_so}, the manifest says {said}")
        _put(made, target)


def _described_again(manifest: Manifest, made: Path) -> Manifest:
    # The bytes first: what is not the copy that was made need not be understood.
    if (size := made.stat().st_size) != manifest.bytes:
        raise BackupError(f"{manifest.ledger}: {size} bytes, the manifest says {manifest.bytes}")
    if digest_of(made) != manifest.sha256:
        raise BackupError(f"{manifest.ledger}: the file is not the one of the manifest (sha256)")
    return _described(manifest.ledger, manifest.engine, made, manifest.file)


# --- the draw key ---------------------------------------------------------------------------------


def copy_draw_key(data: Path, folder: Path) -> None:
    """Copy the secret that draws come from.

    Raises:
        BackupError: there is none, or another in its place.

    """
    source, target = data / DRAW_KEY, folder / DRAW_KEY
    if not source.is_file():
        raise BackupError(f"{source} is missing")
    key = source.read_bytes()
    if target.exists():
        if target.read_bytes() != key:
            raise BackupError(f"{target} is another draw key; it is kept")
        return
    write_whole(target, key)


# --- files ----------------------------------------------------------------------------------------


@contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """Give a new file beside `target`, for its owner only, and remove it in the end."""
    made = target.with_name(f"{target.name}.{os.getpid()}.partial")
    os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield made
    finally:
        for suffix in _BESIDE:
            made.with_name(made.name + suffix).unlink(missing_ok=True)


def _put(made: Path, target: Path) -> None:
    """Give a finished file its name, which nobody may have taken meanwhile; then it is on disk."""
    sync_file(made)
    try:
        target.hardlink_to(made)
    except FileExistsError as error:
        raise BackupError(f"{target} exists; it is never overwritten") from error
    made.unlink()
    sync_folder(target.parent)


@contextmanager
def _explained(ledger: str) -> Iterator[None]:
    try:
        yield
    except (LogError, PersistenceError, ValueError) as error:
        raise BackupError(f"{ledger}: the copy is not a whole log: {error}") from error
