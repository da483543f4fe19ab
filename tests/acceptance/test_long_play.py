"""Random play of every game through the API, by nothing but what the service says is allowed."""

from __future__ import annotations

from pathlib import Path

from tests.long_play import play_all
from tests.support.processes import ServerProcess


async def test_whoever_plays_by_what_is_allowed_is_never_stuck_and_the_books_balance(
    tmp_path: Path,
):
    said: list[str] = []
    with ServerProcess(tmp_path / "data") as server:
        await play_all(server.address, rounds=40, seed=7, say=lambda one, **_: said.append(one))
    assert len(said) >= 2 * 4
