"""The house's money at a table: where it comes from, what it is after every command, and replay."""

from __future__ import annotations

import time

import pytest

from croupier.domain import names
from croupier.domain.bookkeeping import table_postings
from croupier.domain.commands import Cover, LightOn, OpenCup, PlaceBet, PressHandle, RingBell
from croupier.domain.draws import dice_of, seal
from croupier.domain.errors import Reason
from croupier.domain.events import (
    PaidOut,
    TableOpened,
)
from croupier.domain.games.fish_prawn_crab.places import PLACES
from croupier.domain.names import HOUSE
from croupier.services.audit.replay import Replay
from croupier.services.ledger import deciding
from croupier.services.ledger.requests import CloseTable, Deposit, OpenTable, VoidRound
from croupier.v1 import events_pb2
from tests.support.cup import DEALER, GAME, UP_TO, opened, void
from tests.support.ledgers import PLAYERS, House, refused
from tests.support.snapshots import forge, limits, saved

BANKROLL = 50_000


@pytest.fixture
async def house(tmp_path):
    house = House(tmp_path)
    await house.create()
    for player in PLAYERS:
        await house.deposit(player, 1_000_000)
    await house.ask(Deposit("house", "EUR", 60_000))
    yield house
    house.close()


async def open_cup_table(house, table="t1", bankroll=BANKROLL, **options):
    return await house.ask(OpenTable(table, GAME, options, PLAYERS, "EUR", HOUSE, bankroll))


async def play_round(house, dice, *bets, round_number=1):
    for command in UP_TO["BETTING"]:
        await house.play(command, round_number=round_number)
    for bet in bets:
        await house.play(PlaceBet(*bet), round_number=round_number)
    await house.play(RingBell(HOUSE), round_number=round_number)
    command = dice if not isinstance(dice, str) else opened(dice)
    return await house.play(command, round_number=round_number)


def balances(house):
    ledger = house.ledger
    found = ledger.balances()
    accounts = (names.HOUSE, names.bankroll("t1"), names.escrow("t1"))
    return tuple(found.get((account, "EUR"), 0) for account in accounts)


def replayed(house, change=lambda event: None):
    """Return what replay finds in the table's stream, each event changed before it is read."""
    replay, findings = Replay(), []
    for event in house.ledger.table_events("t1"):
        change(event)
        findings += replay.fold(event)
    return findings + replay.end()


async def test_a_bankroll_comes_from_the_house_and_goes_back(house):
    await open_cup_table(house)
    assert balances(house) == (10_000, 50_000, 0)
    await play_round(house, "124", ("anna", "small", 100), ("bert", "big", 30))
    assert balances(house) == (10_000, 50_000 - 100 + 30, 0)
    await house.ask(CloseTable("t1"))
    assert balances(house) == (60_000 - 70, 0, 0)
    assert house.ledger.balance("player:anna", "EUR") == 1_000_100
    assert replayed(house) == []


async def test_a_house_that_has_not_the_bankroll_opens_no_table(house):
    before = house.books()
    refusal = await refused(open_cup_table(house, bankroll=60_001), Reason.INSUFFICIENT_FUNDS)
    assert refusal.metadata["account"] == "house"
    assert house.books() == before
    await open_cup_table(house, bankroll=60_000)


async def test_every_posting_says_what_it_is(house):
    await open_cup_table(house)
    receipt = await play_round(
        house, "124", ("anna", "total_7", 10), ("anna", "big", 30), ("bert", "small", 5)
    )
    moved = [
        (one.source, one.destination, one.amount)
        for event in receipt.events
        for one in event.postings
    ]
    assert moved == [
        ("escrow:t1", "bankroll:t1", 30),
        ("escrow:t1", "player:anna", 10),
        ("bankroll:t1", "player:anna", 120),
        ("escrow:t1", "player:bert", 5),
        ("bankroll:t1", "player:bert", 5),
    ]


async def test_a_player_who_has_not_the_stake_is_refused_after_the_rules(house):
    await open_cup_table(house, bankroll=60_000)
    for command in UP_TO["BETTING"]:
        await house.play(command)
    await house.play(PlaceBet("bert", "small", 50_000))
    await house.ask(deciding.Withdraw("player:anna", "EUR", 999_990))
    before = house.books()
    await refused(house.play(PlaceBet("anna", "big", 11)), Reason.INSUFFICIENT_FUNDS)
    await refused(house.play(PlaceBet("anna", "big", 110_001)), Reason.STAKE_ABOVE_LIMIT)
    assert house.books() == before
    await house.play(PlaceBet("anna", "big", 10))


@pytest.mark.parametrize("phase", list(UP_TO)[1:])
async def test_a_round_that_is_void_leaves_the_bankroll_as_it_was(house, phase):
    await open_cup_table(house)
    for command in UP_TO[phase]:
        await house.play(command)
    if phase == "BETTING":
        await house.play(PlaceBet("anna", "big", 10))
        await house.play(PlaceBet("anna", "small", 20))
    await house.ask(VoidRound("t1", 1, "the power failed"))
    assert balances(house) == (10_000, 50_000, 0)
    assert house.ledger.balance("player:anna", "EUR") == 1_000_000
    assert replayed(house) == []


async def test_a_bankroll_that_differs_from_the_state_is_never_recorded(house, monkeypatch):
    await open_cup_table(house)

    def short(event, table_id, currency, *, house_banks):
        posted = table_postings(event, table_id, currency, house_banks=house_banks)
        return posted[:1] if isinstance(event, PaidOut) else posted

    for command in UP_TO["BETTING"]:
        await house.play(command)
    await house.play(PlaceBet("anna", "small", 10))
    await house.play(RingBell(HOUSE))
    monkeypatch.setattr(deciding, "table_postings", short)
    before = house.books()
    with pytest.raises(
        AssertionError, match="bankroll of t1 would be 50000, in its state it is 49990"
    ):
        await house.play(opened("124"))
    assert house.books() == before


async def test_a_round_of_1000_bets_is_settled_by_one_commit(house):
    await open_cup_table(house, bankroll=60_000)
    for command in UP_TO["BETTING"]:
        await house.play(command)
    places = list(PLACES)
    for number in range(1_000):
        bet = PlaceBet(PLAYERS[number % 4], places[number * 7 % 39], 1 + number % 5)
        await house.play(bet)
    await house.play(RingBell(HOUSE))
    commits = len(house.watcher.commits)
    exposure = house.ledger.table("t1").exposure
    (net,) = (one.net for one in exposure.outcomes if one.dice == (4, 4, 4))
    begun = time.perf_counter()
    receipt = await house.play(opened("444"))
    took_s = time.perf_counter() - begun
    assert len(house.watcher.commits) == commits + 1
    kinds = [event.WhichOneof("payload") for event in receipt.events]
    assert sorted(one for one in kinds if one in ("collected", "paid_out")) == (
        ["collected"] * kinds.count("collected") + ["paid_out"] * kinds.count("paid_out")
    )
    settled = [event.collected.bet or event.paid_out.bet for event in receipt.events[2:-1]]
    assert sorted(settled) == list(range(1, 1_001))
    assert balances(house) == (0, 60_000 + net, 0)
    assert took_s < 5
    assert replayed(house) == []


async def test_a_table_goes_on_from_the_log_in_another_process(house, tmp_path):
    await open_cup_table(house)
    await play_round(house, void(), ("anna", "big", 10), ("bert", "total_4", 5))
    shown = house.ledger.table("t1")
    await house.leave()
    again = House(tmp_path)
    assert again.ledger.table("t1") == shown
    receipt = await play_round(again, "566", ("cleo", "triple_coin", 1), round_number=2)
    assert [one.paid_out.bet for one in receipt.events if one.paid_out.bet] == [1]
    assert balances(again) == (10_000, 50_000 - 10 + 6, 0)
    assert replayed(again) == []
    again.close()


async def test_a_snapshot_with_another_bankroll_is_not_believed(house, tmp_path):
    await open_cup_table(house)
    await house.leave()
    eager = House(tmp_path, limits=limits())
    await play_round(eager, "124", ("anna", "big", 60))
    await eager.leave()
    state = saved(tmp_path, "tables/t1").state
    assert state.count(b",50060,") == 1
    forge(tmp_path, "tables/t1", state=state.replace(b",50060,", b",50061,"))
    again = House(tmp_path)
    assert again.ledger.table("t1").bankroll == 50_060
    assert again.watcher.dropped == [("table", "other_log")]
    again.close()


async def drawn_round(house):
    """Play a round on a draw that was committed to, and return what its opening recorded."""
    nonce = bytes(range(32))
    draw = seal(nonce, "ledgers/main/tables/t1/rounds/1")
    await house.play(Cover(HOUSE))
    pressed = [await house.play(PressHandle(HOUSE, draw)) for _ in range(3)]
    kinds = [[one.WhichOneof("payload") for one in receipt.events] for receipt in pressed]
    assert kinds == [["handle_pressed"]] * 2 + [["handle_pressed", "draw_committed"]]
    for command in (LightOn(HOUSE), PlaceBet("anna", "big", 10), RingBell(HOUSE)):
        await house.play(command)
    return await house.play(OpenCup(HOUSE, (), DEALER, nonce=nonce))


async def test_a_draw_is_revealed_and_its_dice_follow(house):
    await open_cup_table(house)
    events = (await drawn_round(house)).events
    assert [one.WhichOneof("payload") for one in events[:3]] == [
        *("draw_revealed", "cup_opened", "places_lit")
    ]
    assert tuple(events[1].cup_opened.dice) == dice_of(bytes(range(32)), 3)
    assert replayed(house) == []


@pytest.mark.parametrize("committed", [None, seal(bytes(32), "ledgers/main/tables/t1/rounds/1")])
async def test_only_the_draw_that_was_committed_to_opens_a_cup(house, committed):
    await open_cup_table(house)
    for command in (Cover(HOUSE), *(PressHandle(HOUSE, committed),) * 3, LightOn(HOUSE)):
        await house.play(command)
    await house.play(RingBell(HOUSE))
    before = house.books()
    other = OpenCup(HOUSE, (), DEALER, nonce=b"\x01" * 32)
    refusal = await refused(house.play(other), Reason.NOT_OFFERED)
    assert refusal.metadata["rule"] == "the_draw_is_the_one_committed_to"
    assert house.books() == before


# --- what replay finds ----------------------------------------------------------------------------


def at(kind, **changes):
    """Return a change of the first event of a kind."""

    def change(event: events_pb2.Event, seen=[]) -> None:  # noqa: B006  # once per change
        if event.WhichOneof("payload") == kind and not seen:
            seen.append(event.version)
            for name, value in changes.items():
                target = getattr(event, kind)
                if isinstance(value, list):
                    del getattr(target, name)[:]
                    getattr(target, name).extend(value)
                else:
                    setattr(target, name, value)

    return change


@pytest.mark.parametrize(
    "change, said",
    [
        (at("table_opened", bankroll=BANKROLL - 1), "the bankroll has 50000, the state 49999"),
        (at("collected", amount=29), "where Collected"),
        (at("collected", bet=1), "where Collected"),
        (at("paid_out", winnings=101), "where PaidOut"),
        (at("paid_out", bet=2), "where PaidOut"),
        (at("places_lit", places=["big"]), "where PlacesLit"),
        (at("cup_opened", dice=[4, 5, 6]), "where PlacesLit"),
        (at("bet_placed", stake=99), "escrow holds 100, the state 99"),
        (at("bet_placed", place="big"), "where Collected"),
        (at("table_closed", bankroll=1), "postings"),
    ],
)
async def test_whatever_was_changed_is_found(house, change, said):
    await open_cup_table(house)
    await play_round(house, "124", ("anna", "small", 100), ("bert", "big", 30))
    await house.ask(CloseTable("t1"))
    findings = replayed(house, change)
    assert any(said in finding for finding in findings), findings


@pytest.mark.parametrize(
    "change, said",
    [
        (at("draw_committed", commitment=b"x" * 32), "where ThrowVoided"),
        (at("draw_committed", context="ledgers/main/tables/t1/rounds/2"), "where ThrowVoided"),
        (at("draw_revealed", nonce=b"x" * 32), "where ThrowVoided"),
        (at("cup_opened", dice=[1, 1, 1]), "where CupOpened"),
    ],
)
async def test_a_draw_that_is_not_the_one_committed_to_is_found(house, change, said):
    await open_cup_table(house)
    await drawn_round(house)
    findings = replayed(house, change)
    assert any(said in finding for finding in findings), findings


async def test_a_bankroll_that_was_not_recorded_is_found(house):
    await open_cup_table(house)
    await play_round(house, "124", ("anna", "small", 100))

    def lose_posting(event):
        if event.WhichOneof("payload") == "table_opened":
            del event.postings[:]

    assert any(
        "the bankroll has 0, the state 50000" in one for one in replayed(house, lose_posting)
    )


def test_the_opening_of_a_table_at_which_a_player_banks_moves_nothing():
    opening = TableOpened(
        table="t1",
        game="ceelo_bank",
        edition=1,
        seats=("anna",),
        currency="EUR",
        banker="anna",
        paytable_digest=b"",
    )
    assert table_postings(opening, "t1", "EUR") == ()
