"""What the processes of the conformance kit do: decide, wait a seeded moment, commit, and again.

Nobody here takes the ledger's lock: whoever decides on a head that somebody else moves meanwhile
has to be refused by the engine itself.
"""

from __future__ import annotations

import random
import signal
import time

from eventsourcing.persistence import IntegrityError, OperationalError

from croupier.services.store.store import HeadMovedError
from tests.services.store.logs import draft

DELAY_S = 0.003
"""The longest time between deciding and committing: longer than a commit takes."""

SHARED = "tables/shared"
"""A stream to which everybody writes."""

BARRIER_S = 30


class Turn:
    """One turn of a caller: the same for whoever takes it, and in whichever process."""

    def __init__(self, seed, caller, number, ledgers):
        chance = random.Random(f"{seed}.{caller}.{number}")
        self.key = (caller, str(number))
        self.ledger = chance.randrange(ledgers)
        self.size = chance.randint(1, 3)
        self.shared = chance.random() < 0.5

    def draft(self, store):
        """Return what to commit at the store's head, None if the turn was recorded already."""
        head = store.head()
        if store.find_requests([self.key]):
            return None
        stream = SHARED if self.shared else f"tables/{self.key[0]}"
        version = store.stream_version(stream)
        events = [(stream, version + number) for number in range(1, self.size + 1)]
        return draft(head, *events, requests=[self.key])


def turns_of(seed, caller, turns, ledgers):
    """Return the turns of a caller, in order."""
    return [Turn(seed, caller, number, ledgers) for number in range(1, turns + 1)]


def take_turns(openers, caller, turns, *, seed, process, conflicts, hold):
    """Take a caller's turns, from the first that is not recorded; others may take the same.

    `conflicts[process]` counts how often somebody else was first. Who is to `hold` does not end.
    """
    stores = [open_store() for open_store in openers]
    chance = random.Random(f"{seed}.{process}")
    for turn in turns_of(seed, caller, turns, len(stores)):
        store = stores[turn.ledger]
        while (drafted := turn.draft(store)) is not None:
            time.sleep(chance.uniform(0, DELAY_S))
            try:
                store.commit(*drafted)
            except (IntegrityError, OperationalError):
                # Somebody was first, or in the way for too long: what became of it is looked up.
                conflicts[process] += 1
    for store in stores:
        store.close()
    while hold:
        signal.pause()


def decide_together(open_store, process, rounds, barrier, won):
    """Decide on the same head as all others, commit at the same moment, and say who won."""
    store = open_store()
    try:
        for number in range(rounds):
            key = (str(process), str(number))
            version = store.stream_version(SHARED)
            drafted = draft(store.head(), (SHARED, version + 1), requests=[key])
            barrier.wait(BARRIER_S)
            try:
                store.commit(*drafted)
                won[number * barrier.parties + process] = 1
            except HeadMovedError:
                pass
            except OperationalError:
                won[number * barrier.parties + process] = bool(store.find_requests([key]))
            barrier.wait(BARRIER_S)
    except BaseException:
        barrier.abort()
        raise
    store.close()


def look_when_changed(open_store, told):
    """Read the log as watchers do, only when the store says that it changed, until told to end.

    What was seen is sent back, position by position.
    """
    store, seen = open_store(), []
    told.send("reading")
    ending = False
    while True:
        ending = ending or told.poll()
        if store.changed():
            head = store.head()
            while len(seen) < head.position:
                page = store.records(len(seen), 5)
                seen += [(record.id, bytes(record.state)) for record in page]
        elif ending:
            break
        else:
            told.poll(0.001)
    told.send(seen)
    store.close()
