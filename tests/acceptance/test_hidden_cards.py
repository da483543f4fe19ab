"""Nobody is ever told what he may not see, and after the hand everybody may see everything.

Hands are played at random over the wire by callers of every role, who ask for all that they may and
much that they may not. Every answer is compared with the truth of that moment, which is read from
what the engine holds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from prometheus_client import generate_latest

from croupier.services.rpc import watching
from croupier.services.rpc.callers import Role
from croupier.services.rpc.permissions import ROLES
from croupier.v1 import (
    accounts_pb2,
    admin_pb2,
    audit_pb2,
    odds_pb2,
    play_pb2,
    tables_pb2,
)
from tests.support.cards import (
    ANTE,
    SEATS,
    TABLE,
    Room,
    at_table,
    brought,
    drawn,
    moved,
    room_of,
    room_tokens,
    shuffled,
)
from tests.support.eavesdrop import CARD, Truth, check, check_refusal
from tests.support.serving import METHODS, Client, Serve, Tokens, refusal_of
from tests.support.stories import open_table, play_batch, stream_message

LEDGER = "ledgers/casino"
TURNS = 48
"""Every card that is dealt to a player in a hand is played in a turn of its own."""

EYES: dict[str, frozenset[str] | None] = {
    "operator": None,
    "dealer": None,
    "auditor": frozenset(),
    "ops": frozenset(),
    **{seat: frozenset({seat}) for seat in SEATS},
}
READS: tuple[Callable[[], Message], ...] = (
    lambda: tables_pb2.GetTableRequest(name=TABLE),
    lambda: tables_pb2.ListTablesRequest(parent=LEDGER),
    lambda: audit_pb2.ListEventsRequest(parent=LEDGER, page_size=1000),
    lambda: audit_pb2.ReplayTableRequest(name=TABLE),
    lambda: audit_pb2.GetRoundRequest(table=TABLE, round=1),
    lambda: audit_pb2.ListRoundsRequest(table=TABLE),
    lambda: play_pb2.ListMovesRequest(table=TABLE),
    lambda: odds_pb2.GetPaytableRequest(table=TABLE),
    lambda: odds_pb2.QuoteRequest(table=TABLE),
    lambda: odds_pb2.GetExposureRequest(table=TABLE),
    lambda: accounts_pb2.GetTrialBalanceRequest(parent=LEDGER),
    lambda: accounts_pb2.ListAccountsRequest(parent=LEDGER),
    lambda: accounts_pb2.GetAccountRequest(name=f"{LEDGER}/accounts/player:anna", currency="EUR"),
    lambda: admin_pb2.GetLedgerRequest(name=LEDGER),
    admin_pb2.ListLedgersRequest,
    lambda: admin_pb2.GetServerInfoRequest(ledger=LEDGER),
)


@dataclass(slots=True)
class Watcher:
    """A call that is listened to, by a caller who asked to watch."""

    name: str
    request: audit_pb2.WatchEventsRequest
    call: Any
    next_position: int = 1


@dataclass(slots=True)
class Evening:
    """Random play, every answer of which is looked through."""

    room: Room
    data: Path
    chance: random.Random
    commands: dict[str, list[play_pb2.PlayRequest]] = field(default_factory=dict)
    watchers: list[Watcher] = field(default_factory=list)
    mover: str = ""

    def truth(self) -> Truth:
        """Return what is so now."""
        return Truth.of(self.data)

    async def ask(self, name: str, request: Message) -> Any:
        """Return an answer that tells the caller no more than he may see, None for a refusal."""
        client: Client = self.room.callers[name]
        try:
            if isinstance(request, play_pb2.PlayStreamRequest):
                stream = client.talk()
                await stream.write(request)
                response = await stream.read()
                stream.cancel()
            else:
                response = await client.ask(request)
        except grpc.aio.AioRpcError as error:
            check_refusal(self.truth(), EYES[name], request, refusal_of(error))
            return None
        truth = self.truth()
        for one in response if isinstance(response, list) else [response]:
            check(truth, EYES[name], request, one)
        return response

    async def do(self, name: str, command: play_pb2.PlayRequest) -> None:
        """Play a command that must be accepted, one way or another, and let the watchers see."""
        self.commands.setdefault(name, []).append(command)
        match self.chance.randrange(4):
            case 0:
                request: Message = play_batch(command, atomic=self.chance.random() < 0.5)
            case 1:
                request = stream_message(command)
            case _:
                request = command
        response = await self.ask(name, request)
        assert response is not None
        for result in getattr(response, "results", ()):
            assert result.HasField("receipt"), result
        await self.watched()

    # --- watching ---------------------------------------------------------------------------

    async def watch(self, name: str, **wanted: Any) -> Watcher:
        """Begin to watch."""
        request = audit_pb2.WatchEventsRequest(parent=LEDGER, **wanted)
        watcher = Watcher(name, request, self.room.callers[name].listen(request, timeout=None))
        await self._read(watcher)
        return watcher

    async def watched(self) -> None:
        """Look through what those who watch were sent since."""
        for watcher in self.watchers:
            await self._read(watcher)

    async def _read(self, watcher: Watcher) -> None:
        truth = self.truth()
        while watcher.next_position <= len(truth.records):
            response = await watcher.call.read()
            assert response is not grpc.aio.EOF
            check(truth, EYES[watcher.name], watcher.request, response)
            watcher.next_position = response.next_position

    async def glance(self, name: str) -> None:
        """Watch from somewhere to now, and no longer."""
        first = self.chance.randint(1, len(self.truth().records))
        wanted = {"from_position": self.chance.choice((1, first)), "table": TABLE}
        if name in ("operator", "auditor") and self.chance.random() < 0.5:
            del wanted["table"]
        watcher = await self.watch(name, **wanted)
        watcher.call.cancel()

    # --- what everybody does ------------------------------------------------------------------

    async def ask_for_everything(self) -> None:
        """Let everybody ask for all that there is, and try what all others have done again."""
        for name in EYES:
            for read in READS:
                request = read()
                answered = await self.ask(name, request) is not None
                assert answered == self._may(name, request)
            for whose, commands in self.commands.items():
                for command in self.chance.sample(commands, min(len(commands), 3)):
                    answer = await self.again(name, whose, command)
                    assert answer is not None or whose != name

    async def again(self, name: str, whose: str, command: play_pb2.PlayRequest) -> Any:
        """Send a command once more: as who gave it, or as another, for whom it would be new."""
        trial = play_pb2.PlayRequest()
        trial.CopyFrom(command)
        trial.validate_only = name != whose
        return await self.ask(name, trial)

    def _may(self, name: str, request: Message) -> bool:
        """Return whether a caller gets an answer to a request of `READS`."""
        role = "player" if name in SEATS else name
        if isinstance(request, odds_pb2.GetExposureRequest):
            return False  # no house banks here
        if role == "player" and isinstance(request, accounts_pb2.GetAccountRequest):
            return name == "anna"
        if role == "player" and isinstance(request, play_pb2.ListMovesRequest):
            return name == self.mover
        return Role(role) in ROLES[METHODS[request.DESCRIPTOR.full_name].path]

    async def pry(self) -> None:
        """Let somebody ask for something that he may see or may not."""
        name = self.chance.choice(list(EYES))
        whose = self.chance.choice(list(self.commands) or [name])
        earlier = self.commands.get(whose, [])
        match self.chance.randrange(6):
            case 0 | 1:
                await self.ask(name, self.chance.choice(READS)())
            case 2 if earlier:
                await self.again(name, whose, self.chance.choice(earlier))
            case 3 if earlier:
                some = self.chance.sample(earlier, min(len(earlier), 5))
                make = self.chance.choice((play_batch, stream_message))
                await self.ask(whose, make(*some, atomic=self.chance.random() < 0.5))
            case 4 if name != "ops":
                await self.glance(name)
            case _:
                await self.ask(name, self._nonsense())

    def _nonsense(self) -> play_pb2.PlayRequest:
        """Return a command that is probably refused."""
        card = self.chance.choice(shuffled(0))
        other = self.chance.choice(shuffled(1))
        command = self.chance.choice(
            (
                play_pb2.Trail(card=card),
                play_pb2.Capture(card=card, loose=[other], builds=[1]),
                play_pb2.CreateBuild(card=card, loose=[other], value=9),
                play_pb2.AddToBuild(card=card, build=1),
                play_pb2.RaiseBuild(card=card, build=1),
                drawn(1),
                play_pb2.Shuffle(hand=1),
                play_pb2.Ante(amount=ANTE),
            )
        )
        number = self.chance.choice((1, 2))
        seat = self.chance.choice(SEATS)
        return at_table(seat, command, round=number, validate_only=True)

    async def hand(self, number: int, *, by_service: bool, turns: int = TURNS) -> None:
        """Deal a hand and play it, to its end or for fewer turns, while everybody pries."""
        table = await self.room.table()
        dealer = table.details["dealer"].string_value
        who = self.chance.choice(("dealer", "operator"))
        if by_service and table.details["deck"].string_value != "committed":
            shuffle = play_pb2.Shuffle(hand=number)
            await self.do(who, at_table(dealer, shuffle))
        deal = drawn(number) if by_service else brought(number, shuffled(self.chance.random()))
        for validate in (True, False):
            request = at_table(dealer, deal, validate_only=validate)
            await (self.ask(who, request) if validate else self.do(who, request))
        assert self.truth().since is not None
        sweeps = {0, self.chance.randrange(turns)}
        for turn in range(turns):
            (self.mover,) = (await self.room.table()).to_act
            await self.pry()
            # Elsewhere, so that cards are not what was used last.
            await self.ask("operator", tables_pb2.GetTableRequest(name=f"{LEDGER}/tables/dice"))
            if turn in sweeps:
                await self.ask_for_everything()
            mover = self.mover
            name = self.chance.choice((mover, mover, "operator"))
            page = await self.ask(name, play_pb2.ListMovesRequest(table=TABLE, page_size=50))
            await self.do(name, moved(mover, self.chance.choice(page.moves)))
        assert (self.truth().since is None) == (turns == TURNS)

    async def everything_is_open(self) -> None:
        """Check that now all who may read see all that was recorded, as it is stored."""
        truth = self.truth()
        assert truth.since is None
        records = truth.records
        ours = [one for one in records if b"tables/cards" in one]
        for name in ("operator", "auditor"):
            listed = await self.ask(name, READS[2]())
            assert [one.SerializeToString(deterministic=True) for one in listed.events] == records
            steps = await self.ask(name, READS[3]())
            assert [one.event.SerializeToString(deterministic=True) for one in steps] == ours
            assert not [finding for step in steps for finding in step.findings]
        for name in (*SEATS, "dealer", "operator", "auditor"):
            watcher = await self.watch(name, table=TABLE)
            watcher.call.cancel()
        for name, commands in self.commands.items():
            for command in commands:
                receipt = (await self.ask(name, command)).receipt
                again = [one.SerializeToString(deterministic=True) for one in receipt.events]
                assert again == records[receipt.first_position - 1 : receipt.position]


@pytest.fixture(params=[100, 1], ids=["in memory", "loaded anew"])
async def room(
    serve: Serve,
    tokens: Tokens,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Room:
    """A room whose server keeps so many tables in memory, with another table than that of cards.

    What is sent to watchers is kept in small pages, so that a hand does not end on the page on
    which it began.
    """
    monkeypatch.setattr(watching, "PAGE", 16)
    held = room_tokens(tokens)
    draw_key = tmp_path / "draw.key"
    draw_key.write_bytes(b"the same decks at every run")
    kept = {"live_tables": request.param, "heartbeat_s": 0.02}
    served = await serve(tokens=tokens.file, draw_key=draw_key, **kept)
    room = await room_of(served, held)
    await room.seat(options={"target": 50})  # so that no match ends here
    await room.operator.ask(open_table("dice"))
    return room


@pytest.mark.parametrize("by_service", [False, True], ids=["deck brought", "deck drawn"])
async def test_nobody_is_told_what_he_may_not_see(
    room: Room, tmp_path: Path, capfd: pytest.CaptureFixture[str], by_service: bool
):
    evening = Evening(room, tmp_path / "data", random.Random(by_service))
    if by_service:
        await evening.do("dealer", at_table(SEATS[-1], play_pb2.Shuffle(hand=1)))
    for seat in SEATS:
        await evening.do(seat, at_table(seat, play_pb2.Ante(amount=ANTE)))
    for name in (*SEATS, "dealer", "operator", "auditor"):
        evening.watchers.append(await evening.watch(name, table=TABLE))
    for name in ("operator", "auditor"):
        evening.watchers.append(await evening.watch(name))
    evening.watchers.append(await evening.watch("anna", table=TABLE, kinds=["hand_dealt"]))
    await evening.hand(1, by_service=by_service)
    await evening.everything_is_open()
    await evening.hand(2, by_service=not by_service)
    await evening.everything_is_open()
    await evening.hand(3, by_service=by_service, turns=10)
    void = admin_pb2.VoidRoundRequest(table=TABLE, round=1, reason="a card fell", request_id="void")
    await evening.ask("operator", void)
    await evening.everything_is_open()
    for watcher in evening.watchers:
        watcher.call.cancel()
    logged = capfd.readouterr()
    assert not CARD.findall(logged.out + logged.err)
    assert not CARD.findall(generate_latest(room.served.server.registry).decode())
