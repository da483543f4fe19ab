"""Winner-take-all cee-lo with any options, commands and dice: the books and the rules hold."""

import random
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.domain.commands import Ante, Fade, Roll
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    Anted,
    Collected,
    PaidOut,
    Rolled,
    ShootOutCalled,
)
from croupier.domain.games.ceelo_pot import GAME
from croupier.domain.settlement import settle
from croupier.domain.table import TABLE_CLOSED, automatic, fold
from tests.support import pot_model
from tests.support.play import each
from tests.support.pot import DEALER, PotTable

SEATS = "ABCDE"
THROWS = list(product(range(1, 7), repeat=3))
# Few different ranks, so that ties and shoot-outs of shoot-outs are common.
NARROW = st.sampled_from(((4, 5, 6), (6, 6, 6), (5, 5, 1), (1, 6, 6), (3, 2, 1), (1, 3, 5)))
DICE = st.one_of(NARROW, st.sampled_from(THROWS))
IMPOSSIBLE = st.sampled_from(((0, 1, 2), (5, 6, 7), (6, 6)))
REASONS = {
    Reason.WRONG_PHASE,
    Reason.NOT_YOUR_TURN,
    Reason.STAKE_ABOVE_LIMIT,
    Reason.STAKE_BELOW_LIMIT,
    Reason.AMOUNT_OUT_OF_RANGE,
    Reason.INVALID_DICE,
    Reason.COMMAND_NOT_IN_GAME,
}

OPTIONS = st.fixed_dictionaries(
    {
        "ante": st.sampled_from((1, 7, 100)),
        "instant_456": st.booleans(),
        "shootout_ante": st.sampled_from(("none", "re_ante")),
        "first_thrower": st.sampled_from(("seat_order", "previous_winner")),
    }
)
TABLES = st.tuples(OPTIONS, st.integers(2, 5), st.sampled_from((250, 10**7)))
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["expected"] * 6 + ["any"]),
        st.integers(0, 4),
        st.sampled_from((0, 0, 0, 0, 1, -1, -200, 10**6)),
        st.one_of(DICE, NARROW, NARROW, IMPOSSIBLE),
        st.sampled_from((Ante, Roll, Roll, Fade)),
    ),
    min_size=20,
    max_size=60,
)
THOROUGH = settings(max_examples=100, deadline=None, derandomize=True)


def table_of(setup):
    options, count, purse = setup
    return PotTable(seats=SEATS[:count], banker="", purse=purse, **options)


def command_of(at, step):
    """Return what the table waits for, with wrong amounts or dice now and then, or anything."""
    how, who, off, dice, kind = step
    player = SEATS[who]
    if how == "expected":
        one = at.view.allowed[who % len(at.view.allowed)]
        player, kind = one.player, {"ante": Ante, "roll": Roll}[one.command]
    if kind is Roll:
        return Roll(player, dice, DEALER)
    return kind(player, at.agreed + off)


def sat_through(setup, steps):
    """Play all steps and return the table, with the refusals; each refusal left no trace."""
    at, refusals = table_of(setup), []
    for step in steps:
        command, before = command_of(at, step), at.snapshot()
        try:
            events = at.do(command)
        except Refused as refusal:
            assert at.snapshot() == before
            refusals.append((command, refusal))
        else:
            assert events, "an accepted command records at least one event"
        assert automatic(at.table) == ()
    return at, refusals


@THOROUGH
@given(TABLES, STEPS)
def test_money_is_conserved_and_a_table_between_rounds_holds_nothing(setup, steps):
    """That escrow equals what is at risk after every event is checked wherever events are kept."""
    at, _ = sat_through(setup, steps)
    assert sum(at.balances.values()) == at.purse * len(at.seats)
    assert min(at.balances.values()) >= 0
    for seen in at.history:
        if not seen.in_round:
            assert seen.at_risk == 0


@THOROUGH
@given(TABLES, STEPS)
def test_a_refusal_has_a_reason_and_a_rule_and_no_throw_lacks_money(setup, steps):
    _, refusals = sat_through(setup, steps)
    for command, refusal in refusals:
        if refusal.reason is Reason.INSUFFICIENT_FUNDS:
            assert isinstance(command, Ante)
        elif refusal.reason is not Reason.NOT_SEATED:
            assert refusal.reason in REASONS
            assert refusal.reason is Reason.INVALID_DICE or refusal.metadata["rule"]


@THOROUGH
@given(TABLES, STEPS)
def test_replay_gives_the_live_table_at_every_version_and_the_payouts_that_are_due(setup, steps):
    at, _ = sat_through(setup, steps)
    replayed, due = None, []
    for event, live in zip(at.events, at.history, strict=True):
        if due:
            assert event == due.pop(0)
        else:
            assert not isinstance(event, Collected | PaidOut)
        replayed = fold(replayed, event)
        assert replayed == live
        outcome = GAME.outcome(replayed.state)
        if outcome and not due:
            due = list(settle(outcome, replayed.paytable))
    assert due == []


@THOROUGH
@given(TABLES, st.integers(0, 10**9), st.lists(NARROW, max_size=25))
def test_a_round_comes_to_what_the_rules_as_numbers_say(setup, seed, throws):
    """The second opinion is written apart from the game, from the same rules."""
    options, count, _ = setup
    at = table_of((options, count, 10**7))
    chance = random.Random(seed)
    coming = iter([*throws, *(chance.choice(THROWS) for _ in range(5_000))])
    events = ()
    while at.table.round == 1:
        one = chance.choice(at.view.allowed)
        if one.command == "ante":
            events += at.ante(one.player)
        else:
            events += at.do(Roll(one.player, next(coming), DEALER))
    thrown = [event.dice for event in each(events, Rolled)]
    model = pot_model.play(
        at.seats,
        options["ante"],
        thrown,
        instant=options["instant_456"],
        re_ante=options["shootout_ante"] == "re_ante",
    )
    assert model.throws == len(thrown)
    assert [called.players for called in each(events, ShootOutCalled)] == model.shoot_outs
    assert {seat: at.purse_of(seat) - at.purse for seat in at.seats} == model.nets
    assert at.view.details["last_winner"] == model.winner
    if options["shootout_ante"] == "none":
        assert model.nets[model.winner] == options["ante"] * (count - 1)


@THOROUGH
@given(TABLES, STEPS, st.text(min_size=1, max_size=20))
def test_a_table_that_gives_everything_back_holds_nothing_in_any_phase(setup, steps, rule):
    """Whatever a later rule of the table is called: it returns whole holdings, one by one."""
    at, _ = sat_through(setup, steps)
    staked = [event for event in at.events if isinstance(event, Anted)]
    paid = [
        PaidOut(player=held.player, rule=f"{TABLE_CLOSED} {rule}", stake=0, returned=held.amount)
        for held in at.table.holdings
    ]
    assert bool(paid) == at.table.in_round
    assert not paid or staked
    at.record(paid[::-1])
    assert at.table.holdings == ()


@THOROUGH
@given(TABLES, STEPS, st.integers(0, 10**6))
def test_folding_any_fact_into_any_state_of_the_table_never_raises(setup, steps, pick):
    """A stream is folded whatever program wrote it; state of one moment, fact of another."""
    at, _ = sat_through(setup, steps)
    facts = [event for event in at.events[1:] if type(event).__name__ != "RoundStarted"]
    if facts:
        fact = facts[pick % len(facts)]
        for seen in at.history[:: max(1, len(at.history) // 10)]:
            GAME.fold(seen.state, fact)
