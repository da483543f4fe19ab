"""One turn: decides a batch of requests on a committed head and records them in one commit.

No I/O but the store's, no waiting, no clock of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from croupier.domain.chance import reveals
from croupier.domain.errors import Reason, Refused
from croupier.domain.games import SECRETS
from croupier.services.ledger.book import LogError, read
from croupier.services.ledger.committed import Committed, is_caused_by
from croupier.services.ledger.deciding import Draft, decide
from croupier.services.ledger.requests import Request
from croupier.services.ledger.sealing import Sealed, seal
from croupier.services.ledger.state import Layer
from croupier.services.store.store import Commit, Head, RequestEntry, RequestKey, Store
from croupier.v1 import events_pb2

CLOCK_TOLERANCE_US = 5_000_000
"""How far a ledger's last recorded time may be ahead of this machine's clock."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of recording: the positions a request's events have, and the events.

    `durability` says how safe they are, in a word of the engine. Unless it `hides` something,
    anybody may see all of them, and nobody has to look at each.
    """

    first: int
    last: int
    version: int
    events: tuple[events_pb2.Event, ...]
    durability: str = ""
    hides: bool = field(default=True, compare=False)


NOTHING = Receipt(0, 0, 0, (), hides=False)
"""What a request gets that was only to be validated, and would be accepted."""

Answer = Receipt | Exception
"""What a request is told: its receipt, or why it has none."""

Found = Receipt | RequestEntry | Exception
"""The same before the receipts of requests that were recorded earlier are read from the log."""


class Turn:
    """What a turn has decided so far. Where it says something was recorded, it will be."""

    def __init__(
        self,
        committed: Committed,
        done_before: dict[RequestKey, RequestEntry],
        now_us: int,
        durability: str,
    ) -> None:
        self.sealed: list[Sealed] = []
        self.entries: list[RequestEntry] = []
        self.assumed_new: frozenset[RequestKey] | None = None
        """Ids that were taken for new on an assumed head; see `Commit`."""
        self._committed = committed
        self._done_before = done_before
        self._now_us = now_us
        self._durability = durability
        self._layer = Layer(committed)
        self._frontier = committed.head.frontier
        self._recorded_us = max(now_us, committed.head.recorded_us)
        self._receipts: dict[RequestKey, tuple[bytes, Receipt]] = {}
        self._drafts: list[Draft] = []

    def decide_each(self, requests: Sequence[Request]) -> list[Found]:
        """Decide requests in order. A refusal or a fault ends that request and nothing else."""
        found: list[Found] = []
        for request in requests:
            try:
                found.append(self._decide(request))
            except LogError:
                raise  # which is no fault of the command
            except Exception as error:  # noqa: BLE001  # one command's fault is its own answer
                found.append(error)
        return found

    def decide_together(self, requests: Sequence[Request]) -> list[Found]:
        """Decide requests in order, all or none.

        After a refusal the others are told that they were not done for its sake; those recorded
        before this turn's batch stay so, and get their receipts. Nothing may follow what tells how
        chance fell: whoever could have it undone by what follows would choose how it falls.
        """
        found: list[Found] = []
        fallen = False
        before, frontier = self._layer, self._frontier
        sealed, entries, receipts = len(self.sealed), len(self.entries), dict(self._receipts)
        self._layer = Layer(before)
        for item, request in enumerate(requests):
            try:
                if fallen and not self._recorded(request):
                    raise _after_chance(item)
                self._drafts = []
                found.append(self._decide(request))
                fallen = fallen or any(reveals(draft.event) for draft in self._drafts)
            except LogError:
                raise
            except Exception as error:  # noqa: BLE001  # it is the answer
                self._layer, self._frontier, self._receipts = before, frontier, receipts
                del self.sealed[sealed:], self.entries[entries:]
                told = [self._told(one, undone(item)) for one in requests]
                told[item] = error
                return told
        before.merge(self._layer)
        self._layer = before
        return found

    def _told(self, request: Request, refusal: Refused) -> Found:
        """Return what the request of a batch is told where the batch was not done."""
        try:
            return self._recorded(request) or refusal
        except Refused as reused:
            return reused

    def _recorded(self, request: Request) -> Receipt | RequestEntry | None:
        """Return what a request got that was recorded before this one, or refuse its id."""
        if found := self._receipts.get(request.key):
            _check_same(request, found[0])
            return found[1]
        entry = self._done_before.get(request.key)
        if entry:
            _check_same(request, entry.digest)
        return entry

    def _decide(self, request: Request) -> Receipt | RequestEntry:
        if found := self._recorded(request):
            return found
        check_times(request, self._now_us, self._committed.head)
        _check_position(request, self._frontier.size)
        layer = Layer(self._layer)
        drafts = self._drafts = decide(layer, request)
        if request.validate_only:
            return NOTHING
        frontier, sealed = seal(self._frontier, drafts, request, self._recorded_us)
        events = tuple(one.event for one in sealed)
        first, last = events[0], events[-1]
        hides = not SECRETS.isdisjoint(type(draft.event) for draft in drafts)
        receipt = Receipt(
            first.position, last.position, last.version, events, self._durability, hides
        )
        # From here on nothing can fail: the command is part of the turn.
        self._layer.merge(layer)
        self._frontier = frontier
        self.sealed += sealed
        self._receipts[request.key] = (request.digest, receipt)
        self.entries.append(
            RequestEntry(
                request.caller, request.request_id, request.digest, receipt.first, receipt.last
            )
        )
        return receipt

    @property
    def commit(self) -> Commit:
        """Return what to record beside the sealed events."""
        head = Head(self._frontier, self._recorded_us)
        return Commit(
            expected=self._committed.head,
            head=head,
            requests=self.entries,
            assumed_new=self.assumed_new,
        )

    def committed_now(self) -> None:
        """Let the committed state take over the turn's layer."""
        self._committed.advance(self._layer, self.commit)


def original(store: Store, entry: RequestEntry) -> Receipt:
    """Return the receipt that a request got when it was recorded.

    Raises:
        LogError: the index of request ids says something else than the records: it is in no tree.

    """
    records = store.records(entry.first - 1, entry.last - entry.first + 1)
    events = tuple(read(record) for record in records)
    if not events or not all(is_caused_by(event, entry) for event in events):
        msg = f"positions {entry.first} to {entry.last} are not of request {entry.key}"
        raise LogError(msg)
    return Receipt(entry.first, entry.last, events[-1].version, events, store.durability)


def check_times(request: Request, now_us: int, head: Head) -> None:
    """Refuse a request that comes too late, or a clock that is behind the ledger's `head`."""
    if request.deadline_us is not None and request.deadline_us <= now_us:
        raise Refused(Reason.DEADLINE_PASSED, "the caller's deadline passed; nothing was done")
    if request.not_after_us is not None and request.not_after_us < now_us:
        raise Refused(
            Reason.REQUEST_EXPIRED,
            "the request was not to be decided after its not_after",
            field="not_after",
        )
    check_clock(now_us, head)


def check_clock(now_us: int, head: Head) -> None:
    """Refuse to record anything where the clock is behind the ledger's `head`."""
    ahead_us = head.recorded_us - now_us
    if ahead_us > CLOCK_TOLERANCE_US:
        raise Refused(
            Reason.CLOCK_BEHIND,
            f"the ledger's last event is {ahead_us} us ahead of this machine's clock",
            ahead_us=ahead_us,
        )


def _check_position(request: Request, position: int) -> None:
    """Refuse a request that was to be decided at another position of the log."""
    if request.expected_position is not None and request.expected_position != position:
        raise Refused(
            Reason.VERSION_MISMATCH,
            f"the log was to end at {request.expected_position}, it ends at {position}",
            field="accept_position",
            position=position,
            expected=request.expected_position,
        )


def _after_chance(item: int) -> Refused:
    return Refused(
        Reason.AFTER_CHANCE,
        f"command {item} of the batch follows one that tells how chance fell, which nothing may "
        "take back: send it by itself, or not atomic",
        rule="chance_stands",
    )


def undone(item: int) -> Refused:
    """Return what the other commands of a batch are told when the one at `item` is refused."""
    return Refused(
        Reason.BATCH_REFUSED,
        f"command {item} of the same batch was refused, so none was done",
        item=item,
    )


def _check_same(request: Request, digest: bytes) -> None:
    if request.digest != digest:
        raise Refused(
            Reason.REQUEST_ID_REUSED,
            f"request id {request.request_id!r} was used for another request",
            field="request_id",
            request_id=request.request_id,
        )
