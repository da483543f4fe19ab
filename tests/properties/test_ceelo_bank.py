"""Banked cee-lo with any options, any commands and any dice: the books and the rules hold."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.domain.commands import (
    Decline,
    Fade,
    KeepBank,
    PassBank,
    PostBank,
    ResignBank,
    Roll,
)
from croupier.domain.errors import Reason, Refused
from croupier.domain.events import (
    BankDecided,
    BankPosted,
    Collected,
    Faded,
    PaidOut,
    Rolled,
    RoundSettled,
    RoundStarted,
    TableOpened,
)
from croupier.domain.games.ceelo_bank import GAME
from croupier.domain.settlement import settle
from croupier.domain.table import TABLE_CLOSED, automatic, fold
from tests.support import ceelo_model
from tests.support.ceelo import DEALER, CeeloTable

SEATS = "ABCDE"
THROWS = list(product(range(1, 7), repeat=3))
DICE = st.sampled_from(THROWS)
DECISIVE = st.sampled_from([dice for dice in THROWS if ceelo_model.kind(dice) != "again"])
POINTS = st.sampled_from([dice for dice in THROWS if ceelo_model.kind(dice) in range(2, 6)])
SPECIALS = st.sampled_from(((4, 5, 6), (1, 1, 1), (3, 3, 3), (2, 1, 3)))
IMPOSSIBLE = st.sampled_from(((0, 1, 2), (5, 6, 7), (6, 6)))
COMMANDS = (PostBank, Fade, Decline, Roll, KeepBank, PassBank, ResignBank)
BY_NAME = {
    "post_bank": PostBank,
    "fade": Fade,
    "decline": Decline,
    "roll": Roll,
    "keep_bank": KeepBank,
    "pass_bank": PassBank,
    "resign_bank": ResignBank,
}
REASONS = {
    Reason.WRONG_PHASE,
    Reason.NOT_YOUR_TURN,
    Reason.NOT_OFFERED,
    Reason.STAKE_ABOVE_LIMIT,
    Reason.AMOUNT_OUT_OF_RANGE,
    Reason.INVALID_DICE,
}


def value_of(option):
    if option.choices:
        return st.sampled_from(option.choices)
    if isinstance(option.default, bool):
        return st.booleans()
    return st.one_of(st.integers(1, 6), st.sampled_from((1, option.default, 1000)))


OPTIONS = st.fixed_dictionaries(
    {"preset": st.sampled_from(list(GAME.presets))},
    optional={option.name: value_of(option) for option in GAME.options},
)
TABLES = st.tuples(OPTIONS, st.integers(2, 5), st.integers(0, 4), st.sampled_from((60, 10**7)))
# Most steps do what the table waits for, so that rounds get somewhere; a fade is then so many
# twelfths of what is uncovered.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["expected"] * 6 + ["any"]),
        st.integers(0, 6),
        st.integers(0, 4),
        st.sampled_from((4, 12, 1, 6, 3, 0, -1)),
        st.one_of(POINTS, SPECIALS, DECISIVE, SPECIALS, DICE, IMPOSSIBLE),
    ),
    min_size=20,
    max_size=60,
)
THOROUGH = settings(max_examples=100, deadline=None, derandomize=True)


def table_of(setup):
    options, count, banker, purse = setup
    seats = SEATS[:count]
    return CeeloTable(seats=seats, banker=seats[banker % count], purse=purse, **options)


def command_of(at, step):
    how, which, who, amount, dice = step
    if how == "expected":
        view = at.view
        kind, player = BY_NAME[view.expects[-1 if which > 4 else 0]], view.to_act[0]
        if kind is Fade and amount > 0:
            amount = -(-at.state.uncovered * amount // 12)
    else:
        kind, player = COMMANDS[which], SEATS[who]
    if kind is Roll:
        return Roll(player, dice, DEALER)
    return kind(player, amount) if kind in (PostBank, Fade) else kind(player)


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
    return at, refusals


@THOROUGH
@given(TABLES, STEPS)
def test_money_is_conserved_and_a_table_at_rest_holds_only_a_carried_bank(setup, steps):
    """That escrow equals what is at risk after every event is checked wherever events are kept."""
    at, _ = sat_through(setup, steps)
    assert sum(at.balances.values()) == at.purse * len(at.seats)
    assert min(at.balances.values()) >= 0
    for seen in at.history:
        if not seen.in_round and not seen.state.due:
            carries = seen.opened.options["bank_carry"] == "stand_or_add"
            assert seen.at_risk == (seen.state.bank if carries else 0)
    if not at.table.in_round:
        at.close()
        assert at.table.at_risk == 0
        assert sum(at.purse_of(seat) for seat in at.seats) == at.purse * len(at.seats)


@THOROUGH
@given(TABLES, STEPS)
def test_a_refusal_has_a_reason_a_rule_and_no_trace_and_no_throw_lacks_money(setup, steps):
    _, refusals = sat_through(setup, steps)
    for command, refusal in refusals:
        if refusal.reason is Reason.INSUFFICIENT_FUNDS:
            assert isinstance(command, PostBank | Fade)
        elif refusal.reason is not Reason.NOT_SEATED:
            assert refusal.reason in REASONS
            assert refusal.reason is Reason.INVALID_DICE or refusal.metadata["rule"]


@THOROUGH
@given(TABLES, STEPS)
def test_somebody_always_has_to_act_and_nothing_is_left_undone(setup, steps):
    at = table_of(setup)
    for step in steps:
        view = at.view
        assert len(view.to_act) == 1
        assert view.to_act[0] in at.seats
        assert view.expects
        assert automatic(at.table) == ()
        try:
            at.do(command_of(at, step))
        except Refused:
            continue


@THOROUGH
@given(TABLES, STEPS)
def test_replay_gives_the_live_table_at_every_version_and_the_payouts_that_are_due(setup, steps):
    at, _ = sat_through(setup, steps)
    if not at.table.in_round:
        at.close()
    replayed, due = None, []
    for event, live in zip(at.events, at.history, strict=True):
        pays = isinstance(event, Collected | PaidOut)
        if due:
            assert event == due.pop(0)
        else:
            assert not pays or event.rule == TABLE_CLOSED
        replayed = fold(replayed, event)
        assert replayed == live
        outcome = GAME.outcome(replayed.state)
        if outcome and not due:
            due = list(settle(outcome, replayed.paytable))
    assert due == []


@THOROUGH
@given(TABLES, STEPS)
def test_a_prefunded_win_is_paid_in_full_and_a_capped_one_until_the_bank_is_empty(setup, steps):
    at, _ = sat_through(setup, steps)
    capped = at.table.opened.options["over_bank_liability"] == "capped"
    short = False
    for event in at.events:
        if isinstance(event, PaidOut) and event.odds:
            paid = event.winnings + event.top_up
            assert event.owed == event.odds.on(event.stake)
            assert paid == event.owed or (capped and paid < event.owed)
            assert event.top_up == 0 or not capped
            short = short or paid < event.owed
        elif isinstance(event, BankDecided):
            assert event.bank_left == 0 or not short
            short = False


@THOROUGH
@given(TABLES, STEPS)
def test_every_round_comes_to_what_the_rules_as_numbers_say(setup, steps):
    """The second opinion is written apart from the game, from the same rules."""
    at, _ = sat_through(setup, steps)
    options, events = at.table.opened.options, at.events
    fades, throws, nets, banker = {}, [], {}, ""
    for event in events:
        match event:
            case RoundStarted():
                fades, throws, nets = {}, [], {}
            case BankPosted():
                banker = event.player
                nets[banker] = -event.bank - event.reserve
            case Faded():
                fades[event.player] = event.stake
                nets[event.player] = -event.stake - event.reserve
            case Rolled() if ceelo_model.kind(event.dice) != "again":
                throws.append(event.dice)
            case PaidOut() if event.player in nets:
                nets[event.player] += event.returned + event.winnings + event.top_up
            case BankDecided():
                chosen = ceelo_model.play(options, at.seats, banker, fades, throws)
                assert event.bank_left == chosen.bank_left
                assert (event.next_banker, event.rule) == (chosen.next_banker, chosen.rule)
            case RoundSettled():
                nets[banker] += event.carried
                assert {p: n for p, n in nets.items() if n} == {
                    p: n for p, n in chosen.nets.items() if n
                }
            case _:
                assert not isinstance(event, TableOpened) or event is events[0]


@THOROUGH
@given(
    OPTIONS,
    st.integers(1, 10**6),
    st.lists(st.integers(0, 1000), min_size=1, max_size=4),
    st.lists(DECISIVE, min_size=5, max_size=5),
)
def test_one_round_with_any_fades_comes_to_what_the_rules_as_numbers_say(
    options, bank, wishes, throws
):
    at = CeeloTable(seats=SEATS, banker="C", purse=10**12, **options)
    before = at.worths()
    at.post(bank)
    fades = {}
    while at.view.phase == "FADING":
        player = at.view.to_act[0]
        stake = min(wishes[len(fades)] if len(fades) < len(wishes) else 0, at.state.uncovered)
        if stake:
            fades[player] = stake
            at.fade(player, stake)
        else:
            at.decline(player)
    used = []
    while at.view.expects == ("roll",):
        used.append(throws[len(used)])
        at.do(Roll(at.view.to_act[0], used[-1], DEALER))
    expected = ceelo_model.play(at.table.opened.options, at.seats, "C", fades, used)
    gained = {player: worth - before[player] for player, worth in at.worths().items()}
    assert gained == {**dict.fromkeys(at.seats, 0), **expected.nets}


@THOROUGH
@given(TABLES, STEPS, st.text(min_size=1, max_size=20))
def test_a_table_that_gives_everything_back_holds_nothing_in_any_phase(setup, steps, rule):
    """Whatever a later rule of the table is called: it returns whole holdings, one by one."""
    at, _ = sat_through(setup, steps)
    paid = [
        PaidOut(player=held.player, rule=f"{TABLE_CLOSED} {rule}", stake=0, returned=held.amount)
        for held in at.table.holdings
    ]
    at.record(paid[::-1])
    assert at.table.holdings == ()


@THOROUGH
@given(TABLES, STEPS, st.integers(0, 10**6))
def test_folding_any_fact_into_any_state_of_the_table_never_raises(setup, steps, pick):
    """A stream is folded whatever program wrote it; state of one moment, fact of another."""
    at, _ = sat_through(setup, steps)
    facts = [event for event in at.events[1:] if not isinstance(event, RoundStarted)]
    if facts:
        fact = facts[pick % len(facts)]
        for seen in at.history[:: max(1, len(at.history) // 10)]:
            GAME.fold(seen.state, fact)
