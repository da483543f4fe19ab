"""Callers that never give up, what they were told, and whether all of it is true in the end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from itertools import pairwise
from time import monotonic

import grpc

from croupier.v1 import admin_pb2, audit_pb2, receipts_pb2
from tests.support.serving import Client, refusal_of
from tests.support.stories import deposit

CALLERS = 8
PAUSE_S = 0.01
"""How long a caller waits before he asks again."""

TIMEOUT_S = 60.0
AGAIN = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}


@dataclass(frozen=True, slots=True)
class Report:
    """How a drill went. Times are seconds."""

    acknowledged: int
    lost: int
    """Of what was acknowledged, what is not in the log in the end."""
    outage_s: float
    """The longest time in which nobody was acknowledged anything."""
    recovery_s: float
    """From when the fault was over to the next acknowledgement."""
    ended: str = "by itself"
    reasons: frozenset[str] = frozenset()
    """With which reasons callers were refused meanwhile."""
    durability: frozenset[str] = frozenset()
    """How safe acknowledgements said that they were."""
    lost_durability: frozenset[str] = frozenset()
    """How safe those said that they were that are not in the log in the end."""


class Crowd:
    """Callers who deposit in one ledger, each with an id of its own, again until it is answered.

    When the ledger is fenced they go home.
    """

    def __init__(self, caller: Client, ledger: str, name: str = "crowd") -> None:
        self._caller = caller
        self.ledger = ledger
        self.sent: list[str] = []
        self.acknowledged: dict[str, receipts_pb2.Receipt] = {}
        self.times: list[float] = []
        self.reasons: set[str] = set()
        self.fenced = asyncio.Event()
        self._stopped = False
        self._told = asyncio.Condition()
        self._callers = [
            asyncio.ensure_future(self._call(f"{name}.{number}")) for number in range(CALLERS)
        ]

    async def _call(self, name: str) -> None:
        number = 0
        while not (self._stopped or self.fenced.is_set()):
            number += 1
            request_id = f"{name}.{number}"
            self.sent.append(request_id)
            receipt = await self._insist(request_id)
            if receipt is None:
                return
            async with self._told:
                self.acknowledged[request_id] = receipt
                self.times.append(monotonic())
                self._told.notify_all()

    async def _insist(self, request_id: str) -> receipts_pb2.Receipt | None:
        """Return the receipt, None where the ledger is fenced or nobody waits any more."""
        while not self.fenced.is_set():
            try:
                return await self.ask(request_id)
            except grpc.aio.AioRpcError as error:
                reason = refusal_of(error).reason or error.code().name
                async with self._told:
                    self.reasons.add(reason)
                    self._told.notify_all()
                if reason == "LEDGER_FENCED":
                    self.fenced.set()
                elif error.code() not in AGAIN:
                    raise
                elif self._stopped:
                    return None
            await asyncio.sleep(PAUSE_S)
        return None

    async def ask(self, request_id: str) -> receipts_pb2.Receipt:
        """Ask what an id stands for: the same id is always the same request."""
        request = deposit("player:anna", 7, self.ledger, request_id=request_id)
        return (await self._caller.ask(request)).receipt

    async def answers(self, more: int) -> None:
        """Wait for so many acknowledgements from now on."""
        wanted = len(self.acknowledged) + more
        async with asyncio.timeout(TIMEOUT_S), self._told:
            await self._told.wait_for(lambda: len(self.acknowledged) >= wanted)

    async def refusals(self, *reasons: str) -> None:
        """Wait until somebody was refused with one of these reasons."""
        async with asyncio.timeout(TIMEOUT_S), self._told:
            await self._told.wait_for(lambda: not self.reasons.isdisjoint(reasons))

    async def stop(self) -> None:
        """Let everybody have his last answer and go home."""
        self._stopped = True
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.gather(*self._callers)

    def after(self, moment: float) -> float:
        """Return how long after a moment the next acknowledgement came."""
        return min(time for time in self.times if time >= moment) - moment

    @property
    def outage_s(self) -> float:
        """Return the longest time between two acknowledgements."""
        return max(after - before for before, after in pairwise(self.times))


@dataclass(slots=True)
class Truth:
    """What a ledger's log says in the end."""

    events: list = field(default_factory=list)

    @classmethod
    async def of(cls, caller: Client, ledger: str) -> Truth:
        """Read a log, whose positions have to be dense."""
        truth, position = cls(), 1
        while True:
            request = audit_pb2.ListEventsRequest(
                parent=f"ledgers/{ledger}", from_position=position, page_size=1000
            )
            page = await caller.ask(request)
            truth.events += page.events
            position = page.next_position
            if position > page.head_position:
                break
        positions = [event.position for event in truth.events]
        assert positions == list(range(1, len(positions) + 1))
        return truth

    def recorded(self) -> dict[str, list]:
        """Return the events of each request id."""
        found: dict[str, list] = {}
        for event in self.events:
            found.setdefault(event.request_id, []).append(event)
        return found


async def check(caller: Client, crowd: Crowd) -> set[str]:
    """Return which acknowledged requests are not in the log; check all else that was promised.

    What is there is what was acknowledged, and once; what was sent can be sent again and gets the
    receipt of its one recording; the money is what the log says.
    """
    recorded = (await Truth.of(caller, crowd.ledger)).recorded()
    lost = set(crowd.acknowledged) - set(recorded)
    for request_id, receipt in crowd.acknowledged.items():
        if request_id not in lost:
            assert recorded[request_id] == list(receipt.events), request_id
    assert all(len(recorded[one]) == 1 for one in crowd.sent if one in recorded)
    for request_id in crowd.sent:
        receipt = await crowd.ask(request_id)
        if request_id in recorded:
            assert list(receipt.events) == recorded[request_id], request_id
    truth = await Truth.of(caller, crowd.ledger)
    deposits = [event for event in truth.events if event.WhichOneof("payload") == "deposited"]
    assert {event.request_id for event in deposits} >= set(crowd.sent)
    assert len({event.request_id for event in deposits}) == len(deposits)
    said = await caller.ask(admin_pb2.GetLedgerRequest(name=f"ledgers/{crowd.ledger}"))
    assert said.ledger.position == len(truth.events)
    return lost


def report(crowd: Crowd, lost: set[str], healed: float, **more: str) -> Report:
    """Return the report of a drill whose fault was over at a moment."""
    return replace(
        Report(
            acknowledged=len(crowd.acknowledged),
            lost=len(lost),
            outage_s=crowd.outage_s,
            recovery_s=crowd.after(healed),
            reasons=frozenset(crowd.reasons),
            durability=frozenset(one.durability for one in crowd.acknowledged.values()),
            lost_durability=frozenset(crowd.acknowledged[one].durability for one in lost),
        ),
        **more,
    )
