"""Plays sessions over gRPC and measures what came of them, from events and balances alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields

from croupier.domain import commands
from croupier.domain.names import HOUSE
from croupier.services.client import (
    CallRefused,
    Client,
    Opening,
    Turn,
    account_name,
    table_name,
)
from croupier.services.demo import casino
from croupier.services.demo.narrate import Narrator
from croupier.services.demo.script import Outcome, Round, Session
from croupier.v1.events_pb2 import BankDecided, Event, PaidOut
from croupier.v1.receipts_pb2 import Receipt
from croupier.v1.tables_pb2 import Table

LEDGER = "demo"
DRAWN_BANK = 1_000
DRAWN_FADE = 400


@dataclass(frozen=True, slots=True)
class Played:
    """A session that was played: its table, its players' balances, and what was not as expected."""

    session: Session
    table: str
    before: dict[str, int]
    after: dict[str, int]
    disagreements: tuple[str, ...]


class Player:
    """Plays every seat of every session of one run; its tables end in `-{run}`."""

    def __init__(self, client: Client, narrator: Narrator, run: int) -> None:
        self._client = client
        self._narrator = narrator
        self._run = run

    async def play(self, session: Session) -> Played:
        """Play a session whose outcome is known, and close its table."""
        before, table = await self._begin(session)
        disagreements: list[str] = []
        for one in session.rounds:
            disagreements += await self._round(session, table, one)
        closed = await self._client.tables.close(table)
        self._narrator.events(closed.receipt.events, session.currency)
        return await self._end(session, table, before, disagreements)

    async def play_drawn(self, session: Session) -> Played:
        """Play one round in which the service draws the dice; the table stays open."""
        before, name = await self._begin(session)
        start = table = await self._client.tables.get(name)
        events: list[Event] = []
        self._narrator.round(start)
        while table.round == start.round:
            receipt = await self._expected_of(table)
            self._narrator.events(receipt.events, session.currency)
            events += receipt.events
            table = await self._client.tables.get(name)
        seen = measure(start, events, table)
        self._narrator.outcome(seen, session.currency)
        return await self._end(session, name, before, _not_conserved(seen))

    async def play_match(self, session: Session) -> Played:
        """Play one match of a card game with automatic players, and close its table."""
        before, name = await self._begin(session)
        start = table = await self._client.tables.get(name)
        events: list[Event] = []
        self._narrator.round(start)
        while table.round == start.round:
            receipt = await casino.act(self._client, table)
            self._narrator.events(receipt.events, session.currency)
            events += receipt.events
            table = await self._client.tables.get(name)
        seen = measure(start, events, table)
        self._narrator.outcome(seen, session.currency)
        wrong = _not_conserved(seen)
        for one in session.rounds:
            wrong += compare(one.expected, seen)
        closed = await self._client.tables.close(name)
        self._narrator.events(closed.receipt.events, session.currency)
        return await self._end(session, name, before, wrong)

    async def _begin(self, session: Session) -> tuple[dict[str, int], str]:
        self._narrator.session(session)
        owned = dict.fromkeys((f"player:{player}" for player in session.seats), session.purse)
        for account, needed in (owned | {HOUSE: session.bankroll}).items():
            lacking = needed - await self._balance(account, session.currency)
            if lacking > 0:
                name = account_name(LEDGER, account)
                receipt = await self._client.accounts.deposit(name, session.currency, lacking)
                self._narrator.events(receipt.receipt.events, session.currency)
        before = await self._balances(session)
        self._narrator.balances(before, session.currency)
        opening = Opening(
            session.game,
            session.seats,
            session.currency,
            options=session.options,
            bankroll=session.bankroll,
        )
        table = f"{session.key}-{self._run}"
        opened = await self._client.tables.open(LEDGER, table, opening)
        self._narrator.events(opened.receipt.events, session.currency)
        return before, table_name(LEDGER, table)

    async def _end(
        self, session: Session, table: str, before: dict[str, int], disagreements: Sequence[str]
    ) -> Played:
        after = await self._balances(session)
        self._narrator.balances_after(before, after, session.currency)
        said = tuple(f"{table}: {one}" for one in disagreements)
        return Played(session, table, before, after, said)

    async def _round(self, session: Session, name: str, one: Round) -> list[str]:
        start = await self._client.tables.get(name)
        self._narrator.round(start)
        events: list[Event] = []
        for command in one.commands:
            events += await self._command(session, start, command)
        end = await self._client.tables.get(name)
        seen = measure(start, events, end)
        self._narrator.outcome(seen, session.currency)
        disagreements = [*compare(one.expected, seen), *_not_conserved(seen)]
        if one.choice is not None:
            await self._command(session, end, one.choice)
            end = await self._client.tables.get(name)
            if (banker := end.details["banker"].string_value) != one.banks_next:
                disagreements.append(f"{one.banks_next} was to bank next, {banker} does")
        return disagreements

    async def _command(
        self, session: Session, table: Table, command: commands.Command
    ) -> Sequence[Event]:
        receipt = await self._send(Turn(table.name, table.round, command.player), command)
        self._narrator.events(receipt.events, session.currency)
        return receipt.events

    async def _send(self, turn: Turn, command: commands.Command) -> Receipt:
        play = self._client.play
        match command:
            case commands.PostBank(amount=amount):
                return await play.post_bank(turn, amount)
            case commands.Fade(stake=stake):
                return await play.fade(turn, stake)
            case commands.Decline():
                return await play.decline(turn)
            case commands.Roll(dice=dice, source=source):
                return await play.roll(turn, dice, (source.kind, source.id))
            case commands.KeepBank():
                return await play.keep_bank(turn)
            case commands.PassBank():
                return await play.pass_bank(turn)
            case commands.ResignBank():
                return await play.resign_bank(turn)
            case commands.Ante(amount=amount):
                return await play.ante(turn, amount)
            case commands.ChooseWin():
                return await play.choose_win(turn)
            case commands.ChooseDeathRoll():
                return await play.choose_death_roll(turn)
            case _:
                return await self._send_to_cup(turn, command)

    async def _send_to_cup(self, turn: Turn, command: commands.Command) -> Receipt:
        play = self._client.play
        match command:
            case commands.Cover():
                return await play.cover(turn)
            case commands.PressHandle():
                return await play.press_handle(turn)
            case commands.LightOn():
                return await play.light_on(turn)
            case commands.PlaceBet(place=place, stake=stake):
                return await play.place_bet(turn, place, stake)
            case commands.RingBell():
                return await play.ring_bell(turn)
            case commands.OpenCup(void=reason) if reason:
                return await play.void_throw(turn, reason)
            case commands.OpenCup(dice=dice, source=source):
                return await play.open_cup(turn, dice, (source.kind, source.id))
            case other:
                raise ValueError(f"no session has {other}")

    async def _expected_of(self, table: Table) -> Receipt:
        """Do the first thing that the table expects of whoever has to act."""
        play = self._client.play
        turn = Turn(table.name, table.round, table.to_act[0])
        match table.expects[0]:
            case "post_bank":
                return await play.post_bank(turn, DRAWN_BANK)
            case "fade":
                return await play.fade(turn, min(DRAWN_FADE, table.details["uncovered"].int_value))
            case "roll":
                return await play.draw(turn)
            case other:
                raise ValueError(f"the table expects {other}")

    async def _balances(self, session: Session) -> dict[str, int]:
        return {
            one: await self._balance(f"player:{one}", session.currency) for one in session.seats
        }

    async def _balance(self, account: str, currency: str) -> int:
        try:
            name = account_name(LEDGER, account)
            return (await self._client.accounts.get(name, currency)).balance
        except CallRefused as refused:
            if refused.reason != "ACCOUNT_NOT_FOUND":
                raise
            return 0


def measure(start: Table, events: Sequence[Event], end: Table) -> Outcome:
    """Return what a round came to, from its postings and what the seats had and have at risk."""
    nets = {seat.player: -seat.at_risk for seat in start.seats}
    if start.bankroll:
        nets[HOUSE] = 0
    for seat in end.seats:
        nets[seat.player] += seat.at_risk
    for posting in (one for event in events for one in event.postings):
        for account, change in ((posting.source, -1), (posting.destination, 1)):
            if account.startswith("player:"):
                nets[account.removeprefix("player:")] += change * posting.amount
            elif account.startswith("bankroll:"):
                nets[HOUSE] += change * posting.amount
    kinds: defaultdict[str, list[Event]] = defaultdict(list)
    for event in events:
        kinds[event.WhichOneof("payload") or ""].append(event)
    if start.bankroll:
        return Outcome(nets=nets)
    decided = BankDecided()
    for event in kinds["bank_decided"]:
        decided = event.bank_decided
    return Outcome(
        nets=nets,
        bank_left=decided.bank_left,
        next_banker=decided.next_banker,
        rule=decided.rule,
        uncovered=sum(event.fading_closed.uncovered for event in kinds["fading_closed"]),
        carried=decided.carried,
        beyond=sum(event.paid_out.top_up for event in kinds["paid_out"]),
        winner=" and ".join(one.player for one in _pots(kinds["paid_out"])),
        shoot_outs=len(kinds["shoot_out_called"]),
    )


def _pots(paid: Sequence[Event]) -> Iterator[PaidOut]:
    """Yield the payouts that are won by no odds: of pots."""
    for event in paid:
        if event.paid_out.winnings and not event.paid_out.HasField("odds"):
            yield event.paid_out


def compare(expected: Outcome, seen: Outcome) -> list[str]:
    """Return in words where a round came to something else than was expected."""
    read: Callable[[Outcome, str], object] = getattr
    return [
        f"{field.name} is {read(seen, field.name)} where {read(expected, field.name)} was expected"
        for field in fields(Outcome)
        if read(seen, field.name) != read(expected, field.name)
    ]


def _not_conserved(seen: Outcome) -> list[str]:
    total = sum(seen.nets.values())
    return [f"the nets {dict(seen.nets)} sum to {total}"] if total else []
