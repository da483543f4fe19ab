"""The budget of the hot path: what each step of a command costs in this process, without gRPC.

The same functions that a call passes through on its way, one after the other, in turns of one
command, of a few and of a crowd. What a call costs beyond their sum is the transport's: the gRPC
library, the event loop and the interceptor.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from croupier.services.ledger.deciding import decide
from croupier.services.ledger.sealing import seal
from croupier.services.ledger.state import Layer
from croupier.services.ledger.turn import Receipt
from croupier.services.rpc import views, wire
from croupier.services.rpc.callers import LOCAL
from croupier.services.rpc.calls import CURRENT, Call
from croupier.services.rpc.chance import Nonces, draw
from croupier.services.server import now_us
from croupier.services.store.store import Commit, Head, RequestEntry
from croupier.v1 import play_pb2
from tests.bench.house import House
from tests.bench.rows import Run
from tests.bench.sizes import IN_FLIGHT
from tests.bench.traffic import throw

PARSE = "step: the request decoded, checked, its digest"
LOOK_UP = "step: head and request ids looked up"
DECIDE = "step: rules, settlement, postings, the check of escrow"
SEAL = "step: the record encoded, hashed, added to the tree"
COMMIT = "step: the commit, on disk"
FOLD = "step: committed state moved forward"
ANSWER = "step: the receipt encoded"

NONCES = Nonces(b"a key of 16 byte")

TURNS = (1, 8, IN_FLIGHT)
"""Commands in a turn; the last is what the rows' values are about."""

ROWS = (PARSE, LOOK_UP, DECIDE, SEAL, COMMIT, FOLD, ANSWER)


class Path:
    """A ledger's way from bytes to bytes, with a clock at every step."""

    def __init__(self, ledger) -> None:
        self._store = ledger._store
        self._committed = ledger._writer.committed
        self.seconds: dict[str, list[float]] = {}

    def turn(self, size: int) -> None:
        """Take a turn of throws, and note what each step took a command."""
        self._size = size
        encoded = [throw(number).SerializeToString() for number in range(size)]
        requests = self._timed(PARSE, lambda: [_parsed(one) for one in encoded])
        self._timed(LOOK_UP, lambda: self._look_up(requests))
        layer, head, recorded_us = Layer(self._committed), self._committed.head, now_us()
        drafts = self._timed(DECIDE, lambda: [_decided(layer, one) for one in requests])

        def sealed_all():
            frontier, found = head.frontier, []
            for request, drafted in zip(requests, drafts, strict=True):
                frontier, sealed = seal(frontier, drafted, request, recorded_us)
                found.append(sealed)
            return frontier, found

        frontier, sealed = self._timed(SEAL, sealed_all)
        receipts = [_receipt(one) for one in sealed]
        entries = [
            RequestEntry(one.caller, one.request_id, one.digest, receipt.first, receipt.last)
            for one, receipt in zip(requests, receipts, strict=True)
        ]
        records = [one.record for several in sealed for one in several]
        commit = Commit(head, Head(frontier, recorded_us), entries)
        self._timed(COMMIT, lambda: self._store.commit(records, commit))
        self._timed(FOLD, lambda: self._committed.advance(layer, commit))
        self._timed(ANSWER, lambda: [self._answered(receipt) for receipt in receipts])

    def _look_up(self, requests) -> None:
        head, found = self._store.look({request.key for request in requests})
        self._committed.catch_up(head)
        assert not found

    def _answered(self, receipt: Receipt) -> bytes:
        wired = views.receipt_to_wire(receipt)
        return play_pb2.PlayResponse(receipt=wired).SerializeToString()

    def _timed(self, step: str, work: Callable[[], Any]) -> Any:
        before = perf_counter()
        result = work()
        self.seconds.setdefault(step, []).append((perf_counter() - before) / self._size)
        return result


def _parsed(encoded: bytes):
    return wire.play_from_wire(play_pb2.PlayRequest.FromString(encoded), draw, NONCES)[1]


def _decided(turn: Layer, request):
    layer = Layer(turn)
    drafts = decide(layer, request)
    turn.merge(layer)
    return drafts


def _receipt(sealed) -> Receipt:
    events = tuple(one.event for one in sealed)
    return Receipt(events[0].position, events[-1].position, events[-1].version, events)


async def measure(run: Run) -> None:
    """Take turns of every size, all throws at tables of the same ledger."""
    house = House(run.folder / "steps")
    await house.create()
    for table in range(IN_FLIGHT):
        await house.open_probe(f"t{table}")
    CURRENT.set(Call(LOCAL, None))
    budgets = {size: _taken(house, size, run.sizes.lone_calls) for size in TURNS}
    await house.close()
    for step in ROWS:
        shares = (
            f"{budget[step]:.1f} of {sum(budget.values()):.0f} us in turns of {size}"
            for size, budget in budgets.items()
        )
        run.add(step, budgets[TURNS[-1]][step], "us/command", "; ".join(shares))


def _taken(house: House, size: int, turns: int) -> dict[str, float]:
    """Return the median of every step, microseconds a command."""
    path = Path(house.ledger)
    for _ in range(turns):
        path.turn(size)
    return {step: 1e6 * median(times) for step, times in path.seconds.items()}
