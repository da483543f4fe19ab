"""A ledger that lost what processes had seen of it, and what they do about it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from croupier.domain.errors import Reason
from croupier.services.ledger.requests import UnfenceLedger
from croupier.services.ledger.seen import Seen
from tests.support.ledgers import LEDGER, Clock, House, refused

WHY = "restored from the copy of the night"
LATER_US = 60_000_000


class Place:
    """A folder whose ledger can be put back to what it was, while processes have it open."""

    def __init__(self, folder):
        self.folder = folder
        self.clock = Clock()
        self._houses = []

    @property
    def file(self):
        return self.folder / f"{LEDGER}.db"

    def house(self):
        """Return what a process has that starts now."""
        house = House(self.folder, clock=self.clock, seen=Seen(self.folder / "seen"))
        self._houses.append(house)
        return house

    def copy(self, name):
        """Keep a copy of the ledger as it is."""
        self._copied(self.file, self.folder / name)

    def put_back(self, name):
        """Let the ledger be what it was, as a failover to a replica that lags does."""
        self._copied(self.folder / name, self.file)
        self.clock.now_us += LATER_US

    def _copied(self, source, target):
        with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
            one.backup(other)

    def close(self):
        for house in self._houses:
            house.close()


@pytest.fixture
async def place(tmp_path):
    """A ledger of two events with a copy, and a house that recorded three more after it."""
    place = Place(tmp_path)
    house = place.house()
    await house.create()
    await house.deposit("anna", 100, "kept")
    place.copy("copy.db")
    for number in range(3):
        place.clock.now_us += 1
        await house.deposit("anna", 1, f"lost-{number}")
    place.first = house
    yield place
    place.close()


def keep(house):
    """Do what the server does every second."""
    for ledger in house.ledgers:
        house.ledgers.keep_seen(ledger)


def look_again(house):
    """Do what the server does every few seconds."""
    for ledger in house.ledgers:
        if ledger.fenced:
            house.ledgers.look_again(ledger)


async def unfence(house, position, request_id="unfence", reason=WHY):
    request = house.request(UnfenceLedger(reason), request_id, expected_position=position)
    return await house.ledgers.unfence(LEDGER, request)


async def check_fenced(house):
    await refused(house_deposit(house), Reason.LEDGER_FENCED)


async def house_deposit(house):
    return await house.deposit("anna", 7)
