"""Fish-Prawn-Crab over the wire: the house banks, and what is not allowed leaves no trace."""

from __future__ import annotations

import pytest

from croupier.domain.errors import Reason
from croupier.v1 import accounts_pb2, audit_pb2, odds_pb2, play_pb2, tables_pb2
from tests.support.refusals import assert_has_field, assert_refused
from tests.support.serving import Client, Serve, Tokens
from tests.support.stories import (
    BANKROLL,
    close_table,
    deposit,
    fade,
    furnish,
    open_table,
    play,
    play_batch,
    post_bank,
    thrown,
)

TABLE = "ledgers/casino/tables/cup"
GAME = "fish_prawn_crab"
SHAKE = (play_pb2.Cover(), *(play_pb2.PressHandle(),) * 3)
LIGHT, BELL = play_pb2.LightOn(), play_pb2.RingBell()
UP_TO = {
    "READY": (),
    "COVERED": SHAKE[:1],
    "PRESSED_TWICE": SHAKE[:3],
    "SHAKEN": SHAKE,
    "BETTING": (*SHAKE, LIGHT),
    "NO_MORE_BETS": (*SHAKE, LIGHT, BELL),
}


def open_cup_table(**more):
    given = {"game": GAME, "banker": "", "bankroll": 10_000}
    return open_table("cup", **given | more)


def dealer(command, **more):
    return play("cup", "house", command, **more)


def bet(place: str, stake: int, player: str = "anna", **more):
    return play("cup", player, play_pb2.PlaceBet(place=place, stake=stake), **more)


def opened(*dice: int):
    return play_pb2.OpenCup(dice=thrown(*dice).dice)


async def begun(serve: Serve, phase: str = "READY", **more) -> Client:
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(deposit("house", 20_000))
    await client.ask(open_cup_table(**more))
    for command in UP_TO[phase]:
        await client.ask(dealer(command))
    return client


async def table(client: Client) -> tables_pb2.Table:
    return (await client.ask(tables_pb2.GetTableRequest(name=TABLE))).table


async def money(client: Client) -> dict[str, int]:
    request = accounts_pb2.ListAccountsRequest(parent="ledgers/casino")
    found = (await client.ask(request)).accounts
    return {one.name.rpartition("/")[2]: one.balance for one in found}


async def test_a_round_is_played_settled_and_replayed(serve: Serve):
    client = await begun(serve, "BETTING")
    for request in (bet("big", 500), bet("triple_coin", 20, "bela"), bet("total_12", 100, "carl")):
        await client.ask(request)
    await client.ask(dealer(BELL))
    receipt = (await client.ask(dealer(opened(5, 4, 3), actor="kim"))).receipt
    assert [event.WhichOneof("payload") for event in receipt.events] == [
        *("cup_opened", "places_lit", "collected", "paid_out", "paid_out", "round_settled")
    ]
    assert {event.actor for event in receipt.events} == {"kim"}
    assert "total_12" in receipt.events[1].places_lit.places
    shown = await table(client)
    assert (shown.phase, shown.round, shown.at_risk) == ("READY", 2, 0)
    assert shown.bankroll == 10_000 - 500 + 20 - 600
    assert [(one.player, one.command) for one in shown.allowed] == [("house", "cover")]
    balances = await money(client)
    assert balances["bankroll:cup"] == shown.bankroll
    assert balances["player:anna"] == BANKROLL["anna"] + 500
    closed = (await client.ask(close_table("cup"))).table
    assert (closed.closed, closed.bankroll) == (True, 0)
    assert (await money(client))["house"] == 20_000 - 1_080
    replay = await client.ask(audit_pb2.ReplayTableRequest(name=TABLE))
    assert [finding for step in replay for finding in step.findings] == []
    assert replay[-1].table == closed
    sums = await client.ask(accounts_pb2.GetTrialBalanceRequest(parent="ledgers/casino"))
    assert [one.sum for one in sums.currencies] == [0]


async def test_a_void_throw_carries_the_bets_and_the_next_round_names_them(serve: Serve):
    client = await begun(serve, "BETTING")
    await client.ask(bet("big", 100))
    await client.ask(bet("any_triple", 10, "bela"))
    await client.ask(dealer(BELL))
    void = await client.ask(dealer(play_pb2.OpenCup(void="a die is tilted")))
    assert void.receipt.events[0].throw_voided.reason == "a die is tilted"
    assert void.receipt.events[-1].round_settled.carried == 110
    covered = await client.ask(dealer(play_pb2.Cover(), round=2))
    assert list(covered.receipt.events[-1].cup_covered.carried) == [1, 2]
    for command in (*SHAKE[1:], LIGHT):
        await client.ask(dealer(command, round=2))
    await client.ask(bet("small", 5, round=2))
    await client.ask(dealer(BELL, round=2))
    await client.ask(dealer(opened(6, 6, 2), round=2))
    balances = await money(client)
    assert balances["player:anna"] == BANKROLL["anna"] + 95
    assert balances["player:bela"] == BANKROLL["bela"] - 10
    assert balances["bankroll:cup"] == 10_000 - 85


REFUSALS = {
    "a bet before the light": ("SHAKEN", bet("big", 1), Reason.WRONG_PHASE, ""),
    "a bet before the cup is covered": ("READY", bet("big", 1), Reason.WRONG_PHASE, ""),
    "a bet after the bell": ("NO_MORE_BETS", bet("big", 1), Reason.WRONG_PHASE, ""),
    "the light after two presses": ("PRESSED_TWICE", dealer(LIGHT), Reason.WRONG_PHASE, ""),
    "a fourth press": ("SHAKEN", dealer(SHAKE[1]), Reason.WRONG_PHASE, ""),
    "the cup covered twice": ("COVERED", dealer(SHAKE[0]), Reason.WRONG_PHASE, ""),
    "the cup opened before the bell": ("BETTING", dealer(opened(1, 2, 3)), Reason.WRONG_PHASE, ""),
    "the cup opened before anything": ("READY", dealer(opened(1, 2, 3)), Reason.WRONG_PHASE, ""),
    "a player deals": ("READY", play("cup", "anna", SHAKE[0]), Reason.NOT_YOUR_TURN, ""),
    "the dealer bets": ("BETTING", bet("big", 1, "house"), Reason.NOT_YOUR_TURN, ""),
    "a stranger bets": ("BETTING", bet("big", 1, "zoe"), Reason.NOT_SEATED, "player"),
    "total 3": ("BETTING", bet("total_3", 1), Reason.UNKNOWN_PLACE, "place_bet.place"),
    "total 18": ("BETTING", bet("total_18", 1), Reason.UNKNOWN_PLACE, "place_bet.place"),
    "an unknown place": ("BETTING", bet("dragon", 1), Reason.UNKNOWN_PLACE, "place_bet.place"),
    "a flood for a place": (
        "BETTING",
        bet("x" * 9_999, 1),
        Reason.UNKNOWN_PLACE,
        "place_bet.place",
    ),
    "no place": ("BETTING", bet("", 1), Reason.MISSING_FIELD, "place_bet.place"),
    "nothing staked": ("BETTING", bet("big", 0), Reason.AMOUNT_OUT_OF_RANGE, "place_bet.stake"),
    "less than nothing": ("BETTING", bet("big", -1), Reason.AMOUNT_OUT_OF_RANGE, "place_bet.stake"),
    "more than the bankroll covers": (
        *("BETTING", bet("big", 10_001)),
        *(Reason.STAKE_ABOVE_LIMIT, "place_bet.stake"),
    ),
    "four dice": (
        *("NO_MORE_BETS", dealer(opened(1, 2, 3, 4))),
        *(Reason.INVALID_DICE, "open_cup.dice"),
    ),
    "nine dice": (
        *("NO_MORE_BETS", dealer(opened(*[1] * 9))),
        *(Reason.INVALID_DICE, "open_cup.dice"),
    ),
    "a seven": ("NO_MORE_BETS", dealer(opened(1, 2, 7)), Reason.INVALID_DICE, "open_cup.dice"),
    "nothing in the cup": (
        *("NO_MORE_BETS", dealer(play_pb2.OpenCup())),
        *(Reason.MISSING_FIELD, "open_cup.throw"),
    ),
    "dice from nowhere": (
        *("NO_MORE_BETS", dealer(play_pb2.OpenCup(dice=play_pb2.Dice(values=[1, 2, 3])))),
        *(Reason.MISSING_FIELD, "open_cup.dice.source.kind"),
    ),
    "void for no reason": (
        *("NO_MORE_BETS", dealer(play_pb2.OpenCup(void=""))),
        *(Reason.MISSING_FIELD, "open_cup.void"),
    ),
    "void for a flood": (
        *("NO_MORE_BETS", dealer(play_pb2.OpenCup(void="x" * 201))),
        *(Reason.INVALID_TEXT, "open_cup.void"),
    ),
    "another game's command": (
        *("BETTING", play("cup", "anna", play_pb2.Fade(stake=1))),
        *(Reason.COMMAND_NOT_IN_GAME, ""),
    ),
    "the wrong round": ("READY", dealer(SHAKE[0], round=2), Reason.ROUND_MISMATCH, "round"),
    "closing in a round": ("COVERED", close_table("cup"), Reason.ROUND_OPEN, ""),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_what_is_not_allowed_is_refused_and_leaves_nothing(serve: Serve, name: str):
    phase, request, reason, field = REFUSALS[name]
    client = await begun(serve, phase)
    before = await client.evidence("casino")
    refusal = await client.refusal(request)
    assert_refused(refusal, reason, field or None)
    for path in (*refusal.fields, *filter(None, refusal.subjects)):
        assert_has_field(request, path)
    assert len(refusal.message) < 600
    assert await client.evidence("casino") == before


async def test_stakes_keep_to_the_limits_of_the_table(serve: Serve):
    client = await begun(serve, "BETTING", options={"min": 10, "max": 50})
    before = await client.evidence("casino")
    for stake, reason, limit in (
        (9, Reason.STAKE_BELOW_LIMIT, "10"),
        (51, Reason.STAKE_ABOVE_LIMIT, "50"),
    ):
        refusal = await client.refusal(bet("big", stake))
        assert_refused(refusal, reason, "place_bet.stake")
        assert refusal.metadata["limit"] == limit
    assert await client.evidence("casino") == before


async def test_a_cup_is_opened_once(serve: Serve):
    client = await begun(serve, "NO_MORE_BETS")
    request = dealer(opened(1, 2, 3))
    first = await client.ask(request)
    before = await client.evidence("casino")
    assert (await client.ask(request)).receipt == first.receipt
    again = await client.refusal(dealer(opened(1, 2, 3), round=2))
    assert_refused(again, Reason.WRONG_PHASE)
    assert again.metadata["rule"] == "the_cup_is_opened_once"
    assert await client.evidence("casino") == before


async def test_the_largest_stake_in_a_refusal_is_taken_and_shown(serve: Serve):
    client = await begun(serve, "BETTING", bankroll=1_000)
    await client.ask(bet("big", 400, "bela"))
    refusal = await client.refusal(bet("total_12", 500))
    assert_refused(refusal, Reason.STAKE_ABOVE_LIMIT, "place_bet.stake")
    assert refusal.metadata["limit"] == "100"
    (shown,) = (
        one
        for one in (await table(client)).allowed
        if one.player == "anna" and "total_12" in one.choices
    )
    assert (shown.field, shown.choice_field, shown.most) == ("stake", "place", 100)
    await client.ask(bet("total_12", 100))
    assert (await table(client)).details["worst_case"].int_value == -1_000


@pytest.mark.parametrize(
    "more, reason, field",
    [
        ({"bankroll": 0}, Reason.MISSING_FIELD, "bankroll"),
        ({"bankroll": -5}, Reason.AMOUNT_OUT_OF_RANGE, "bankroll"),
        ({"banker": "anna"}, Reason.INVALID_SEATS, "banker"),
        ({"seats": ["anna", "house"]}, Reason.INVALID_SEATS, "seats"),
        ({"options": {"min": 9, "max": 8}}, Reason.INVALID_OPTION, "options.max"),
        ({"bankroll": 20_001}, Reason.INSUFFICIENT_FUNDS, None),
        ({"game": "ceelo_bank", "banker": "anna"}, Reason.AMOUNT_OUT_OF_RANGE, "bankroll"),
    ],
)
async def test_what_opens_no_table(serve: Serve, more, reason, field):
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(deposit("house", 20_000))
    before = await client.evidence("casino")
    assert_refused(await client.refusal(open_cup_table(**more)), reason, field)
    assert await client.evidence("casino") == before


async def test_the_exposure_of_a_round_is_exact(serve: Serve):
    client = await begun(serve, "BETTING")
    request = odds_pb2.GetExposureRequest(table=TABLE)
    nothing = await client.ask(request)
    assert (nothing.bankroll, nothing.worst_case, nothing.expected_value.decimal) == (
        *(10_000, 0),
        "0.000000",
    )
    await client.ask(bet("big", 100))
    await client.ask(bet("total_4", 7, "bela"))
    exposure = await client.ask(request)
    shown = await table(client)
    assert (exposure.version, exposure.round, exposure.staked) == (shown.version, 1, 107)
    assert (exposure.worst_case, exposure.best_case) == (100 - 350, 107)
    assert exposure.worst_case == shown.details["worst_case"].int_value
    assert sum(one.ways for one in exposure.outcomes) == 216
    nets = {tuple(one.dice): one.net for one in exposure.outcomes}
    assert (nets[1, 1, 2], nets[4, 5, 6], nets[4, 4, 4]) == (-250, -93, 107)
    # 100 at an edge of 1/36, 7 at one of 7/24.
    expected = exposure.expected_value
    assert (expected.numerator, expected.denominator) == (347, 72)
    assert expected.decimal == "4.819444"


async def test_where_a_player_banks_the_house_has_no_exposure(serve: Serve):
    client = await begun(serve)
    await client.ask(open_table("t1"))
    name = "ledgers/casino/tables/t1"
    refusal = await client.refusal(odds_pb2.GetExposureRequest(table=name))
    assert_refused(refusal, Reason.NOT_OFFERED, "table")
    absent = odds_pb2.GetExposureRequest(table="ledgers/casino/tables/none")
    assert_refused(await client.refusal(absent), Reason.TABLE_NOT_FOUND)


@pytest.mark.parametrize("role, sees", [("dealer", True), ("auditor", True), ("ops", False)])
async def test_who_may_see_the_exposure(serve: Serve, tokens: Tokens, role: str, sees: bool):
    boss, other = tokens.new("boss", "operator"), tokens.new("other", role)
    served = await serve(tokens=tokens.file)
    client = await served.client(boss)
    await furnish(client)
    await client.ask(deposit("house", 20_000))
    await client.ask(open_cup_table())
    caller = await served.client(other)
    request = odds_pb2.GetExposureRequest(table=TABLE)
    if sees:
        assert (await caller.ask(request)).bankroll == 10_000
    else:
        assert_refused(await caller.refusal(request), Reason.ROLE_NOT_ALLOWED)


async def test_a_round_of_1000_bets_fits_one_answer(serve: Serve):
    client = await begun(serve, "BETTING", bankroll=20_000)
    bets = [bet(f"total_{4 + n % 14}", 1, ("anna", "bela", "carl")[n % 3]) for n in range(1_000)]
    answer = await client.ask(play_batch(*bets, atomic=True))
    assert all(result.HasField("receipt") for result in answer.results)
    await client.ask(dealer(BELL))
    receipt = (await client.ask(dealer(opened(6, 6, 5)))).receipt
    settled = [event.collected.bet or event.paid_out.bet for event in receipt.events[2:-1]]
    assert sorted(settled) == list(range(1, 1_001))
    balances = await money(client)
    assert balances["escrow:cup"] == 0
    assert sum(balances.values()) == 0


async def test_a_ledger_has_tables_of_both_kinds(serve: Serve):
    client = await begun(serve, "BETTING")
    await client.ask(open_table("t1"))
    await client.ask(post_bank("t1", 100))
    await client.ask(fade("t1", 60))
    await client.ask(bet("big", 100))
    balances = await money(client)
    assert (balances["escrow:t1"], balances["escrow:cup"]) == (160, 100)
    assert "bankroll:t1" not in balances
