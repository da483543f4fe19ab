"""Two Alike 12 High with any options, any commands and any dice: the pot and the rules hold."""

import random
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.domain.commands import Ante, ChooseDeathRoll, ChooseWin, Decline, PostBank, Roll
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    Anted,
    Collected,
    PaidOut,
    Rolled,
    RoundSettled,
    RoundStarted,
    RoundVoided,
)
from croupier.domain.games.twelve_high import GAME
from croupier.domain.race_events import (
    GameRoundStarted,
    HouseOptionChosen,
    RaceWon,
    RollingOrderSettled,
)
from croupier.domain.table import automatic, fold
from tests.support import twelve_high_model as model
from tests.support.play import each
from tests.support.twelve_high import DEALER, RaceTable

SEATS = "ABCDEF"
THROWS = list(product(range(1, 7), repeat=3))
DICE = st.sampled_from(THROWS)
POINTS = st.sampled_from([dice for dice in THROWS if len(set(dice)) == 2])
TRIPS = st.sampled_from([dice for dice in THROWS if len(set(dice)) == 1])
STORMS = st.sampled_from([dice for dice in THROWS if model.storm(dice)])
THROW = st.one_of(POINTS, DICE, POINTS, STORMS, DICE, TRIPS)
COMMANDS = (Ante, Roll, ChooseWin, ChooseDeathRoll, PostBank, Decline)
REASONS = {
    Reason.WRONG_PHASE,
    Reason.NOT_YOUR_TURN,
    Reason.NOT_OFFERED,
    Reason.STAKE_ABOVE_LIMIT,
    Reason.STAKE_BELOW_LIMIT,
    Reason.AMOUNT_OUT_OF_RANGE,
    Reason.INVALID_DICE,
    Reason.COMMAND_NOT_IN_GAME,
    Reason.INSUFFICIENT_FUNDS,
}
OPTIONS = st.fixed_dictionaries(
    {"ante": st.integers(1, 10**6)},
    optional={
        "target": st.sampled_from((12, 1, 5, 20, 1000)),
        "reroll_nothing": st.booleans(),
        "storm_scores": st.booleans(),
        "bar": st.sampled_from(("fixed", "rising")),
        "house_rule": st.booleans(),
        "house_bar": st.integers(1, 6),
    },
)
TABLES = st.tuples(OPTIONS, st.integers(2, 6))
# Most steps do what the table waits for, so that races get somewhere.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["expected"] * 7 + ["any"]),
        st.integers(0, 5),
        st.integers(0, 5),
        st.sampled_from((1, 100, 0, -1)),
        THROW,
    ),
    min_size=20,
    max_size=70,
)
THOROUGH = settings(max_examples=100, deadline=None, derandomize=True)


def command_of(at, step):
    how, which, who, amount, dice = step
    if how == "any":
        kind, player = COMMANDS[which], SEATS[who]
        if kind is Roll:
            return Roll(player, dice[: 1 + 2 * (which % 2)], DEALER)
        return kind(player, amount) if kind in (Ante, PostBank) else kind(player)
    one = at.view.allowed[which % len(at.view.allowed)]
    match one.command:
        case "ante":
            return Ante(one.player, one.most)
        case "roll":
            return Roll(one.player, dice[: one.most], DEALER)
        case "choose_win":
            return ChooseWin(one.player)
        case "choose_death_roll":
            return ChooseDeathRoll(one.player)


def sat_through(setup, steps):
    """Play all steps and return the table, with the refusals; each refusal left no trace."""
    options, count = setup
    at, refusals = RaceTable(seats=SEATS[:count], purse=10**9, **options), []
    for step in steps:
        command, before = command_of(at, step), at.snapshot()
        try:
            assert at.do(command), "an accepted command records at least one event"
        except Refused as refusal:
            assert at.snapshot() == before
            refusals.append(refusal)
    return at, refusals


def last_race(events):
    """Return the events of the last race, from its start to its end or to where it stands."""
    starts = [number for number, event in enumerate(events) if isinstance(event, RoundStarted)]
    return events[starts[-1] :] if starts else []


def second_opinion(at, events):
    """Return a race's rolling order and what the model makes of its throws, None before that."""
    settled = each(events, RollingOrderSettled)
    if not settled:
        return None
    start = events.index(settled[0])
    dice = {seat: [] for seat in at.seats}
    for rolled in each(events[:start], Rolled):
        dice[rolled.player] += rolled.dice
    order = model.order_of(at.seats, dice)
    rolled = each(events[start:], Rolled)
    choices = [chosen.choice == "death_roll" for chosen in each(events, HouseOptionChosen)]
    done = model.race(at.table.opened.options, order, [one.dice for one in rolled], choices)
    threw = [one.player for one in rolled]
    assert done.asked[: len(threw)] == threw
    assert settled[0].players == tuple(order)
    return done


def compare(at, events):
    """Check the last race against the model: who threw, who is out, all points, who won what."""
    done = second_opinion(at, events)
    if done is None:
        return
    won = each(events, RaceWon)
    assert [one.player for one in won] == ([done.winner] if done.winner else [])
    ante, count = at.table.opened.options["ante"], len(at.seats)
    paid = [(one.player, one.returned, one.winnings) for one in each(events, PaidOut)]
    assert paid == ([(done.winner, ante, ante * (count - 1))] if done.winner else [])
    assert len(each(events, Collected)) == (count - 1 if done.winner else 0)
    racers = at.state.racers
    assert {racer.player: racer.points for racer in racers} == done.points
    assert {racer.player for racer in racers if racer.is_out} == set(done.out)


@THOROUGH
@given(TABLES, STEPS)
def test_every_race_comes_to_what_the_rules_as_loops_say(setup, steps):
    at, _ = sat_through(setup, steps)
    compare(at, last_race(at.events))


@THOROUGH
@given(TABLES, STEPS)
def test_money_is_conserved_and_between_races_a_table_holds_nothing(setup, steps):
    """That escrow equals what is at risk after every event is checked wherever events are kept."""
    at, _ = sat_through(setup, steps)
    assert sum(at.balances.values()) == at.purse * len(at.seats)
    for event, seen in zip(at.events, at.history, strict=True):
        if isinstance(event, RoundSettled):
            assert (seen.at_risk, event.carried) == (0, 0)
        if isinstance(event, GameRoundStarted):
            # Whoever is out, his ante stays.
            assert seen.at_risk == len(at.seats) * seen.state.terms.ante


@THOROUGH
@given(TABLES, STEPS)
def test_a_refusal_has_a_reason_and_a_rule_and_leaves_no_trace(setup, steps):
    _, refusals = sat_through(setup, steps)
    for refusal in refusals:
        if refusal.reason is not Reason.NOT_SEATED:
            assert refusal.reason in REASONS
            assert refusal.reason is Reason.INVALID_DICE or refusal.metadata["rule"]
        if refusal.reason is Reason.NOT_YOUR_TURN:
            assert refusal.metadata["to_act"]


@THOROUGH
@given(TABLES, STEPS)
def test_who_is_out_is_never_asked_and_somebody_always_is(setup, steps):
    at, _ = sat_through(setup, steps)
    for seen in at.history:
        asked = seen.view.to_act
        assert bool(asked) == (automatic(seen) == ())
        if seen.state.phase != "ANTE":
            assert not any(seen.state.racer(player).is_out for player in asked)


@THOROUGH
@given(TABLES, STEPS)
def test_what_follows_by_itself_follows_again_on_replay(setup, steps):
    at, _ = sat_through(setup, steps)
    asked = (Anted, Rolled, HouseOptionChosen)
    replayed, due = None, ()
    for event, live in zip(at.events, at.history, strict=True):
        if due:
            assert event == due[0]
            due = due[1:]
        elif replayed is not None:
            assert isinstance(event, (*asked, RoundStarted))
        replayed = fold(replayed, event)
        assert replayed == live
        if not due and not isinstance(event, RoundStarted):
            due = automatic(replayed)
    assert due == ()


@THOROUGH
@given(TABLES, STEPS)
def test_an_abandoned_game_refunds_all_antes(setup, steps):
    at, _ = sat_through(setup, steps)
    if at.table.in_round:
        before = each(at.events, RoundSettled)
        events = at.void("abandoned")
        assert isinstance(events[-1], RoundVoided)
        assert at.table.at_risk == 0
        if not before:
            assert set(at.worths().values()) == {at.purse}


@THOROUGH
@given(TABLES, STEPS, st.integers(0, 10**6))
def test_folding_any_fact_into_any_state_never_raises(setup, steps, pick):
    at, _ = sat_through(setup, steps)
    facts = [event for event in at.events[1:] if not isinstance(event, RoundStarted | RoundSettled)]
    if facts:
        fact = facts[pick % len(facts)]
        for seen in at.history[:: max(1, len(at.history) // 10)]:
            GAME.fold(seen.state, fact)


def long_play(count, seed=1):
    """Play so many races by chance and compare each with the model; return how they were won."""
    chance, ways = random.Random(seed), {}
    for number in range(count):
        options = {
            "ante": chance.choice((1, 100, 12_345)),
            "target": chance.choice((12, 12, 12, 7, 25)),
            "reroll_nothing": chance.random() < 0.3,
            "storm_scores": chance.random() < 0.7,
            "bar": chance.choice(("fixed", "rising")),
            "house_rule": chance.random() < 0.5,
            "house_bar": chance.choice((5, 5, 1, 4, 6)),
        }
        at = RaceTable(seats=SEATS[: 2 + number % 5], purse=10**6, **options)
        while not each(at.events, RoundSettled):
            dice = tuple(chance.randint(1, 6) for _ in range(3))
            at.do(command_of(at, ("expected", chance.randint(0, 5), 0, 0, dice)))
        compare(at, at.events[1:])
        assert sum(at.worths().values()) == at.purse * len(at.seats)
        (won,) = each(at.events, RaceWon)
        ways[won.rule] = ways.get(won.rule, 0) + 1
    return ways


def test_a_thousand_games_by_chance_come_to_what_the_rules_as_loops_say():
    ways = long_play(1000)
    assert sum(ways.values()) == 1000
    assert set(ways) == {"target", "highest_total", "high_storm", "last_player_left"}
