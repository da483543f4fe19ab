"""The moments of bets are those of the rules: every throw tried, settled as play settles it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

import pytest

from croupier.domain.events import Collected, PaidOut
from croupier.domain.games import GAMES
from croupier.domain.games.ceelo_bank.terms import Terms
from croupier.domain.games.ceelo_bank.verdicts import banker_verdict, player_verdict, rule_of
from croupier.domain.games.ceelo_throws import DECISIVE, point_of, read
from croupier.domain.games.fish_prawn_crab.dice import OUTCOMES, WAYS
from croupier.domain.games.fish_prawn_crab.paying import claim
from croupier.domain.games.fish_prawn_crab.places import PLACES
from croupier.domain.games.fish_prawn_crab.state import Bet as Placed
from croupier.domain.games.fish_prawn_crab.state import State
from croupier.domain.games.fish_prawn_crab.terms import Terms as CupTerms
from croupier.domain.games.options import resolve
from croupier.domain.games.theory import Bet, Moments, odds_based
from croupier.domain.settlement import Claim, Outcome, settle

BANKER, CUP = GAMES["ceelo_bank"], GAMES["fish_prawn_crab"]
ENOUGH = 10**12


def options_of(game, **given):
    return resolve(game.options, game.presets, given)


def any_options(game, seed):
    """Return options at random: other rules, other prices."""
    chance, given = Random(seed), {}
    for option in game.options:
        if option.values:
            given[option.name] = chance.choice(option.values)
        elif option.name.startswith(("factor_", "pays_")):
            given[option.name] = chance.randint(1, 40)
    return options_of(game, **given)


def outcome_of(events):
    """Return what players won by the odds and what they lost."""
    won = sum(event.owed for event in events if isinstance(event, PaidOut) and event.odds)
    lost = sum(event.amount for event in events if isinstance(event, Collected))
    return won, lost


def moments_of(results):
    """Return the moments of (won, lost, ways), one for each throw."""
    total = sum(ways for _, _, ways in results)
    won, lost = (Fraction(sum(one[at] * one[2] for one in results), total) for at in (0, 1))
    mean = won - lost
    squares = sum(Fraction((w - x) ** 2 * ways, total) for w, x, ways in results)
    furthest = max(abs(w - x - mean) for w, x, _ in results)
    return Moments(won, lost, squares - mean**2, furthest)


def cup_results(options, bets):
    """Yield what every throw of the cup comes to, by the claims and the settlement of play."""
    terms = CupTerms.of(options)
    placed = [Placed(n, "p", place, stake) for n, (place, stake) in enumerate(bets, 1)]
    for dice, ways in zip(OUTCOMES, WAYS, strict=True):
        state = State(terms, ("p",), ENOUGH, bets=tuple(placed), dice=dice)
        claims = tuple(claim(state, one) for one in placed)
        yield *outcome_of(settle(Outcome(claims, bank=ENOUGH), terms.paytable)), ways


@pytest.mark.parametrize("seed", range(12))
def test_bets_on_one_throw_have_the_moments_of_all_216_throws(seed):
    chance = Random(seed)
    places = chance.choices(list(PLACES), k=chance.randint(1, 12))
    bets = [Bet(place, chance.randint(1, 10**6)) for place in places]
    options = options_of(CUP) if seed % 2 else any_options(CUP, seed)
    assert CUP.moments(options, bets) == moments_of(list(cup_results(options, bets)))


def banker_results(options, bets):
    """Yield what every throw of the banker and of each fader comes to."""
    terms = Terms.of(options)
    readings = Counter(map(read, DECISIVE))
    for banker, *players in product(readings, repeat=1 + len(bets)):
        automatic = banker_verdict(terms, banker)
        claims = []
        for number, (reading, (_, stake)) in enumerate(zip(players, bets, strict=True)):
            result, line = automatic or player_verdict(terms, point_of(banker), reading)
            rule = rule_of(result, reading, by_banker=automatic is not None)
            reserve = terms.fade_reserve(stake)
            claims.append(Claim(f"p{number}", rule, result, stake, reserve, line))
        events = settle(Outcome(tuple(claims), ENOUGH, ENOUGH), terms.paytable)
        ways = readings[banker] * prod(readings[one] for one in players)
        yield *outcome_of(events), ways


@pytest.mark.parametrize("seed", range(12))
def test_fades_of_one_round_have_the_moments_of_all_throws_of_banker_and_players(seed):
    chance = Random(seed)
    bets = [Bet("lower_point", chance.randint(1, 10**6)) for _ in range(1 + seed % 2)]
    options = any_options(BANKER, seed)
    assert BANKER.moments(options, bets) == moments_of(list(banker_results(options, bets)))


def test_faders_who_share_a_banker_vary_more_than_faders_who_do_not():
    options = options_of(BANKER)
    one = BANKER.moments(options, [Bet("", 100)])
    two = BANKER.moments(options, [Bet("", 100)] * 2)
    assert two.won == 2 * one.won
    assert two.variance > 2 * one.variance


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("game", [BANKER, CUP], ids=lambda game: game.code)
def test_the_mean_of_a_bet_of_one_unit_is_the_edge_that_is_quoted(game, seed):
    options = any_options(game, seed)
    quotes = game.quotes(options)
    rules = list(PLACES) if game is CUP else [""]
    for rule, quote in zip(rules, quotes, strict=True):
        moments = game.moments(options, [Bet(rule, 1)])
        assert moments.lost - moments.won == quote.edge, rule
        assert moments.won == quote.win * quote.pays, rule


def test_every_game_that_quotes_odds_says_what_its_bets_come_to():
    for game in GAMES.values():
        assert not game.quotes(options_of(game)) or odds_based(game), game.code


def test_no_bets_come_to_nothing():
    for game in (BANKER, CUP):
        assert game.moments(options_of(game), []) == Moments(*map(Fraction, (0, 0, 0, 0)))
