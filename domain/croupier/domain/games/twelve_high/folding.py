"""Facts folded into state. Nothing is decided again: facts say what was read and decided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from croupier.domain.events import (
    Anted,
    Collected,
    Fact,
    PaidOut,
    Rolled,
    RoundVoided,
)
from croupier.domain.games.twelve_high.state import (
    ANTE,
    DEATH_ROLL,
    HOUSE_OPTION,
    ORDER,
    ROUND_START,
    TURN,
    WON,
    Racer,
    State,
)
from croupier.domain.race_events import (
    DeathRollAwarded,
    DeathRollStarted,
    DeathRollSurvived,
    DicePassed,
    Eliminated,
    GameRoundStarted,
    HouseOptionChosen,
    HouseOptionOffered,
    PlacesTied,
    PointsAdded,
    RaceWon,
    RollingOrderSettled,
)


def fold(state: State, fact: Fact) -> State:
    """Return the state after a recorded fact."""
    match fact:
        case Anted():
            return _anted(state, fact)
        case Rolled():
            return _rolled(state, fact)
        case RaceWon():
            won = replace(state, phase=WON, winner=fact.player, win_rule=fact.rule)
            return replace(won, called=(), judged=True)
        case Collected():
            racers = _with(state, fact.player, held=state.racer(fact.player).held - fact.amount)
            return replace(state, racers=racers, pot=state.pot + fact.amount)
        case PaidOut():
            return _paid(state, fact)
        case RoundVoided():
            return State.before(state.terms, state.seats)
        case PlacesTied() | RollingOrderSettled() | GameRoundStarted():
            return _called(state, fact)
        case DeathRollStarted() | DeathRollSurvived() | DeathRollAwarded():
            return _in_death_roll(state, fact)
        case _:
            return _in_turn(state, fact)


def _called(state: State, fact: PlacesTied | RollingOrderSettled | GameRoundStarted) -> State:
    """Return the state after a fact that says who throws, and in which order."""
    match fact:
        case PlacesTied():
            return replace(state, called=(*state.called, *fact.players))
        case RollingOrderSettled():
            return replace(state, phase=ROUND_START, order=fact.players)
        case GameRoundStarted():
            started = replace(state, phase=TURN, game_round=fact.number)
            return replace(started, called=state.active, scorer="")


def _in_turn(state: State, fact: Fact) -> State:
    """Return the state after what a throw came to; a player may be out by a Death Roll as well."""
    match fact:
        case PointsAdded():
            racers = _with(state, fact.player, points=fact.total)
            return replace(_had_his_throw(state, fact.player, racers), scorer=fact.player)
        case DicePassed():
            return _had_his_throw(state, fact.player, state.racers)
        case Eliminated():
            return _had_his_throw(state, fact.player, _with(state, fact.player, is_out=True))
        case HouseOptionOffered():
            return replace(state, phase=HOUSE_OPTION, thrower=fact.player, judged=True, choice="")
        case HouseOptionChosen():
            return replace(state, choice=fact.choice)
        case _:
            return state


def _in_death_roll(
    state: State, fact: DeathRollStarted | DeathRollSurvived | DeathRollAwarded
) -> State:
    """All others still in are called, whether or not they have thrown in this round."""
    match fact:
        case DeathRollStarted():
            racers = _with(state, fact.player, award=fact.award)
            begun = replace(state, phase=DEATH_ROLL, starter=fact.player, bar=fact.bar)
            return replace(begun, called=state.after(fact.player), racers=racers, judged=True)
        case DeathRollSurvived():
            racers = _with(state, fact.player, award=fact.award)
            return replace(_had_his_throw(state, fact.player, racers), bar=fact.bar)
        case DeathRollAwarded():
            return replace(state, racers=_with(state, fact.player, points=fact.total, award=0))


def _with(state: State, player: str, **changed: Any) -> tuple[Racer, ...]:
    """Return the racers, that of `player` changed."""
    return tuple(
        replace(racer, **changed) if racer.player == player else racer for racer in state.racers
    )


def _anted(state: State, fact: Anted) -> State:
    """The first ante begins another race, the last one calls everybody to throw for his place."""
    if not state.is_open:
        state = State.before(state.terms, state.seats)
    state = replace(state, racers=_with(state, fact.player, held=fact.amount))
    if state.phase == ANTE and not state.ante_owed_by:
        return replace(state, phase=ORDER, called=state.seats)
    return state


def _rolled(state: State, fact: Rolled) -> State:
    state = replace(state, thrower=fact.player, reading=fact.reading, scorer="")
    if state.phase != ORDER:
        return replace(state, judged=False)
    dice = (*state.racer(fact.player).order_dice, *fact.dice)
    called = tuple(player for player in state.called if player != fact.player)
    return replace(state, racers=_with(state, fact.player, order_dice=dice), called=called)


def _had_his_throw(state: State, player: str, racers: tuple[Racer, ...]) -> State:
    """Call the next one; after the last one the round is over, as it is after a Death Roll."""
    called = tuple(one for one in state.called if one != player)
    phase = state.phase if called else ROUND_START
    return replace(state, racers=racers, called=called, phase=phase, judged=True)


def _paid(state: State, fact: PaidOut) -> State:
    """The winner took the pot, or the table returned one whole holding: the round is void."""
    racer = state.racer(fact.player)
    if fact.winnings or (fact.player, fact.returned) == (racer.player, racer.held):
        pot = state.pot - fact.winnings
        racers = _with(state, fact.player, held=racer.held - fact.returned)
    else:
        pot = state.pot - fact.returned
        racers = state.racers
    state = replace(state, racers=racers, pot=pot)
    over = state.phase == WON and not state.holdings
    return replace(state, phase=ANTE) if over else state
