"""What any game owes the table, whatever its rules: tried on every game there is."""

from __future__ import annotations

import random
from dataclasses import fields
from itertools import islice
from typing import get_args

import pytest

from croupier.domain import card_commands, commands
from croupier.domain.cards import PACK
from croupier.domain.dice import Source
from croupier.domain.draws import seal
from croupier.domain.errors import Reason, Refused
from croupier.domain.event import (
    NAMES,
)
from croupier.domain.events import (
    Fact,
    PaidOut,
    RoundVoided,
)
from croupier.domain.games import GAMES, game_of
from croupier.domain.games.options import PRESET, resolve
from croupier.domain.games.protocol import secretive
from croupier.domain.money import AMOUNT_MAX
from croupier.domain.table import automatic, fold, play, void
from tests.support.play import Sitting

SOURCE = Source("dealer", "kim")
KINDS = get_args(commands.Command)
BY_NAME = {
    "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("_"): kind
    for kind in KINDS
}
MOVES = tuple(name for name, kind in BY_NAME.items() if kind in get_args(card_commands.Move))
"""What is played by cards and builds, of which a game lists each that is legal."""

SEEDS = range(12)
STEPS = 60
STEPS_OF_CARDS = 500
"""So many for a game whose rounds are whole matches, each of a few hands of 48 cards."""

MOVES_TRIED = 60
NONCE = bytes(32)
DRAW = seal(NONCE, "tables/t1")

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))


def command_of(kind, player, chance, amounts, dice):
    """Return a command of any kind, its fields filled by what they are called."""
    deck = chance.sample(PACK, chance.choice((len(PACK), len(PACK), 51)))
    values = {"player": player, "dice": dice, "source": SOURCE, "void": ""}
    values |= {"draw": DRAW if kind is card_commands.Shuffle else None, "nonce": b""}
    values |= {"deck": tuple(deck), "card": deck[0], "loose": tuple(deck[1 : chance.randint(1, 3)])}
    values |= {"builds": tuple(range(chance.randint(0, 2))), "build": chance.randint(0, 2)}
    values |= {"value": chance.randint(0, 15), "hand": chance.choice((1, 1, 2, 3, 7))}
    values["place"] = chance.choice(("big", "total_4", "nowhere"))
    return kind(*(values.get(field.name, chance.choice(amounts)) for field in fields(kind)))


def allowed_command(at, one, chance, amount=None):
    """Return a command that is allowed, with an amount within its bounds unless one is given."""
    if one.command in MOVES:
        return chance.choice([move for move in listed(at) if type(move) is BY_NAME[one.command]])
    small = min(one.most, one.least + chance.choice((0, 1, 4, 19)))
    values = {"player": one.player, "dice": (), "void": "", one.field: small}
    values |= {"draw": DRAW if one.command == "shuffle" else None}
    if one.choices:
        values[one.choice_field or one.field] = chance.choice(one.choices)
    values |= chance_of(one, values.get("source"), chance)
    if one.field == "dice":
        values["dice"] = tuple(chance.randint(1, 6) for _ in range(small))
    elif one.field == "void":
        values["void"] = "x" * (small if amount is None else amount)
    elif amount is not None:
        values[one.field] = amount
    kind = BY_NAME[one.command]
    return kind(**{field.name: values[field.name] for field in fields(kind)})


def chance_of(one, source, chance):
    """Return the fields that say where dice or cards come from; a deck is brought or drawn."""
    brought = one.command == "deal" and source == "deck"
    return {
        "source": SOURCE,
        "deck": tuple(chance.sample(PACK, len(PACK))) if brought else (),
        "nonce": NONCE if source == "draw" else b"",
    }


def listed(at, most=None):
    """Return the moves that the game lists now, where it lists any, the first `most` of them."""
    game = secretive(at.table.game)
    return [] if game is None else list(islice(game.moves(at.state), most))


def expected(at, chance):
    """Return something that is allowed: each kind of command as likely as any other."""
    view = at.view
    name = chance.choice(view.expects)
    return allowed_command(
        at, chance.choice([one for one in view.allowed if one.command == name]), chance
    )


def anything(at, chance):
    dice = tuple(chance.randint(-1, 8) for _ in range(chance.randint(0, 5)))
    amounts = (-1, 0, 1, 7, 10**6, AMOUNT_MAX, AMOUNT_MAX + 1)
    player = chance.choice([*at.seats, "nobody"])
    return command_of(chance.choice(KINDS), player, chance, amounts, dice)


def sat_through(game, seed):
    """Play a table with a preset by chance; most commands are those that it waits for."""
    chance = random.Random(f"{game.code} {seed}")
    preset = chance.choice(list(game.presets))
    at = Sitting(game.code, seats="ABCD"[: chance.randint(2, 4)], preset=preset)
    for _ in range(STEPS_OF_CARDS if secretive(game) else STEPS):
        ask = expected if chance.random() < 0.7 else anything
        before = at.snapshot()
        try:
            assert at.do(ask(at, chance)), "an accepted command records something"
        except Refused:
            assert at.snapshot() == before
        yield at


@every_game
def test_a_game_is_found_by_the_name_of_its_folder(game):
    assert game_of(game.code) is game
    assert type(game).__module__.startswith(f"croupier.domain.games.{game.code}")
    assert game.title
    assert game.edition >= 1


@every_game
def test_every_option_has_a_meaning_and_a_default_that_it_can_have(game):
    names = [option.name for option in game.options]
    assert len(set(names)) == len(names)
    assert PRESET not in names
    for option in game.options:
        assert option.meaning
        assert option.check(option.default) == option.default


@every_game
def test_every_preset_resolves_and_prices_even_money(game):
    assert game.presets
    for preset in game.presets:
        resolved = resolve(game.options, game.presets, {PRESET: preset})
        assert set(resolved) == {PRESET, *(option.name for option in game.options)}
        paytable = game.paytable(resolved)
        assert paytable.odds("").on(7) == 7
        assert paytable.digest() == game.paytable(dict(reversed(resolved.items()))).digest()


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_somebody_has_to_act_and_is_told_what_he_may_do(game, seed):
    for at in sat_through(game, seed):
        assert at.view.to_act
        assert at.table.allowed == at.view.allowed
        assert set(at.view.to_act) <= set(at.actors)
        assert at.view.expects
        assert set(at.view.expects) <= set(BY_NAME)
        assert [seat.player for seat in at.view.seats] == list(at.seats)
        assert sum(seat.at_risk for seat in at.view.seats) == at.table.at_risk
        assert automatic(at.table) == ()


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_no_more_is_paid_than_was_staked_and_replay_gives_the_same_table(game, seed):
    """Refusals are always `Refused`: any other exception ends this test."""
    *_, at = sat_through(game, seed)
    assert sum(at.balances.values()) == at.money
    assert min(at.balances.values()) >= 0
    again = None
    for event, seen in zip(at.events, at.history, strict=True):
        assert type(event) in NAMES
        again = fold(again, event)
        assert again == seen


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_any_fact_folds_into_any_state_without_an_exception(game, seed):
    *_, at = sat_through(game, seed)
    facts = [event for event in at.events if isinstance(event, Fact)]
    facts.append(RoundVoided(round=1, reason="a die fell"))
    for seen in at.history[::5]:
        for fact in facts[::5]:
            game.fold(seen.state, fact)


@every_game
def test_every_table_that_is_between_rounds_can_be_closed(game):
    closed = 0
    for seed in SEEDS:
        for at in sat_through(game, seed):
            if at.table.version > 20 and not at.table.in_round:
                at.close()
                assert (at.table.at_risk, at.table.bankroll) == (0, 0)
                assert sum(at.balances.values()) == at.money
                closed += 1
                break
    assert closed


@every_game
def test_presets_are_played_with_rounds_that_end(game):
    rounds = 0
    for seed in SEEDS:
        *_, at = sat_through(game, seed)
        rounds += at.table.round - 1
    assert rounds >= len(SEEDS)


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_is_asked_to_act_while_something_follows_by_itself(game, seed):
    *_, at = sat_through(game, seed)
    seen = 0
    for after, event in zip(at.history, at.events, strict=True):
        view = after.view
        assert bool(view.to_act) == bool(view.expects)
        assert set(view.to_act) <= set(at.actors)
        if automatic(after):
            seen += 1
            assert not view.to_act, event
    assert seen


def refuses(at, command):
    """Return whether the rules refuse a command; money is another matter."""
    try:
        play(at.table, command, at.table.round)
    except Refused:
        return True
    return False


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_a_command_is_allowed_exactly_if_it_is_not_refused(game, seed):
    chance = random.Random(seed)
    for at in sat_through(game, seed):
        allowed = {}
        for one in at.view.allowed:
            allowed.setdefault((one.player, one.command), []).append(one)
        for name, kind in BY_NAME.items():
            for player in at.actors:
                ways = allowed.get((player, name), ())
                if not ways:
                    dice = tuple(chance.randint(1, 6) for _ in range(chance.choice((1, 3))))
                    assert refuses(at, command_of(kind, player, chance, (1, 5), dice)), name
                for one in ways:
                    assert not refuses(at, allowed_command(at, one, chance)), one


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_moves_that_are_listed_are_accepted_and_of_the_kinds_that_are_allowed(game, seed):
    tried = 0
    for at in sat_through(game, seed):
        moves = listed(at, MOVES_TRIED)
        assert len(set(moves)) == len(moves)
        assert {move.player for move in moves} <= set(at.view.to_act)
        for move in moves:
            assert not refuses(at, move), move
        kinds = {type(move) for move in (moves if len(moves) < MOVES_TRIED else listed(at))}
        allowed = {one.command for one in at.view.allowed} & {*MOVES}
        assert {BY_NAME[name] for name in allowed} == kinds
        tried += len(moves)
    assert bool(tried) == (secretive(game) is not None)


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_the_bounds_of_an_amount_are_those_of_the_rules(game, seed):
    chance = random.Random(seed)
    for at in sat_through(game, seed):
        amounts = [one for one in at.view.allowed if one.field not in ("", "dice")]
        for one in chance.sample(amounts, min(len(amounts), 8)):
            assert one.least <= one.most
            for amount in (one.least, one.most, (one.least + one.most) // 2):
                assert not refuses(at, allowed_command(at, one, chance, amount)), (one, amount)
            for amount in (one.least - 1, one.most + 1, -1):
                assert refuses(at, allowed_command(at, one, chance, amount)), (one, amount)


@every_game
@pytest.mark.parametrize("seed", SEEDS)
def test_a_round_can_be_void_wherever_it_is_and_gives_everything_back(game, seed):
    voided = 0
    for step, at in enumerate(sat_through(game, seed)):
        if not at.table.in_round or step % 3:
            continue
        voided += 1
        number = at.table.round
        held = {}
        for one in at.table.holdings:
            held[one.player] = held.get(one.player, 0) + one.amount
        before = {seat: at.purse_of(seat) for seat in at.seats}
        events = at.void("a die fell from the table")
        assert events[-1] == RoundVoided(round=number, reason="a die fell from the table")
        assert all(type(event) is PaidOut for event in events[:-1])
        assert at.table.holdings == ()
        assert (at.table.in_round, at.table.round) == (False, number + 1)
        assert {seat: at.purse_of(seat) - before[seat] for seat in at.seats} == {
            seat: held.get(seat, 0) for seat in at.seats
        }
        # And then it is as if it had never been: the next round can begin.
        assert automatic(at.table) == ()
        assert at.view.allowed
    assert voided


@every_game
def test_only_an_open_round_can_be_void_and_only_for_a_reason(game):
    at = Sitting(game.code, seats="AB")
    for number, reason, why in (
        (1, "late", Reason.ROUND_NOT_OPEN),
        (2, "late", Reason.ROUND_MISMATCH),
        (1, "", Reason.INVALID_TEXT),
        (1, "x" * 201, Reason.INVALID_TEXT),
        (1, "a\nb", Reason.INVALID_TEXT),
    ):
        with pytest.raises(Refused) as caught:
            void(at.table, number, reason)
        assert caught.value.reason is why
    at.close()
    with pytest.raises(Refused) as caught:
        void(at.table, 1, "late")
    assert caught.value.reason is Reason.TABLE_CLOSED


@every_game
def test_odds_are_chances_and_say_the_same_of_the_same_options(game):
    for preset in game.presets:
        options = resolve(game.options, game.presets, {PRESET: preset})
        quotes = game.quotes(options)
        assert quotes == game.quotes(dict(reversed(options.items())))
        assert len({(one.place, one.on) for one in quotes}) == len(quotes)
        for one in quotes:
            assert 0 < one.win < 1
            assert 0 <= one.push <= 1 - one.win
            assert one.pays > 0
            assert -one.win * one.pays <= one.edge <= 1
