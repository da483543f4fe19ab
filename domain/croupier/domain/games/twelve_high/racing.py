"""What follows by itself: places, verdicts on throws, awards, the start of rounds, the win."""

from __future__ import annotations

from croupier.domain.events import (
    Fact,
)
from croupier.domain.games.twelve_high import places
from croupier.domain.games.twelve_high.state import (
    ANTE,
    DEATH_ROLL,
    HOUSE_OPTION,
    ORDER,
    ROUND_START,
    WON,
    State,
)
from croupier.domain.games.twelve_high.throws import (
    HIGH_STORM,
    LOW_STORM,
    award_of,
    score_of,
    storm_score_of,
    survives,
    trips_of,
)
from croupier.domain.race_events import (
    DeathRollAwarded,
    DeathRollStarted,
    DeathRollSurvived,
    DicePassed,
    Eliminated,
    GameRoundStarted,
    HouseOptionOffered,
    PlacesTied,
    PointsAdded,
    RaceWon,
    RollingOrderSettled,
)
from croupier.domain.settlement import LOST, TAKES, Claim, Outcome

TARGET = "target"
HIGHEST_TOTAL = "highest_total"
LAST_PLAYER_LEFT = "last_player_left"
"""With `HIGH_STORM` the rules under which a game is won."""

ANTE_LOST = "ante_lost"
BY_DEATH_ROLL = "death_roll"
WIN = "win"


def follow(state: State) -> tuple[Fact, ...]:
    """Return the next fact that follows without anybody acting, or none."""
    fact = _next(state)
    return (fact,) if fact else ()


def outcome(state: State) -> Outcome | None:
    """Return what is owed: when the race is won, all antes to the winner."""
    if state.phase != WON or not any(racer.held for racer in state.racers):
        return None
    claims = tuple(
        Claim(
            player=racer.player,
            rule=state.win_rule if racer.player == state.winner else ANTE_LOST,
            result=TAKES if racer.player == state.winner else LOST,
            stake=racer.held,
        )
        for racer in state.racers
    )
    return Outcome(claims)


def _next(state: State) -> Fact | None:
    match state.phase:
        case phase if phase in (ANTE, WON):
            return None
        case phase if phase == ORDER:
            return _placed(state)
        case phase if phase == HOUSE_OPTION:
            return _chosen(state)
    if state.waits_for_verdict:
        return _survival(state) if state.phase == DEATH_ROLL else _turn(state)
    return _won(state) or (_round_start(state) if state.phase == ROUND_START else None)


def _placed(state: State) -> Fact | None:
    if players := places.tied(state.racers, state.called):
        return PlacesTied(players=players)
    if state.called:
        return None
    return RollingOrderSettled(players=places.rolling_order(state.racers))


def _chosen(state: State) -> Fact | None:
    """The award of a High Storm that is played as a Death Roll is its storm score."""
    if not state.choice:
        return None
    if state.choice == WIN:
        return RaceWon(player=state.thrower, rule=HIGH_STORM)
    award = storm_score_of(HIGH_STORM)
    return DeathRollStarted(player=state.thrower, bar=state.terms.house_bar, award=award)


def _turn(state: State) -> Fact:
    """Return what a throw in a turn comes to."""
    player, reading = state.thrower, state.reading
    if reading == HIGH_STORM:
        if state.house_option_applies:
            return HouseOptionOffered(player=player)
        return RaceWon(player=player, rule=HIGH_STORM)
    if reading == LOW_STORM:
        return Eliminated(player=player, rule=LOW_STORM)
    if trips := trips_of(reading):
        return DeathRollStarted(player=player, bar=trips, award=trips)
    if score := score_of(reading, storm_scores=state.terms.storm_scores):
        total = state.racer(player).points + score
        return PointsAdded(player=player, points=score, total=total)
    return DicePassed(player=player)


def _survival(state: State) -> Fact:
    """Return what a throw in a Death Roll comes to; High and Low Storm are storms like others."""
    player, reading, bar = state.thrower, state.reading, state.bar
    if not survives(reading, bar):
        return Eliminated(player=player, rule=BY_DEATH_ROLL)
    award = award_of(reading)  # never less than the bar that it survived
    rises = state.terms.bar_rises
    return DeathRollSurvived(player=player, award=award, bar=award if rises else bar)


def _won(state: State) -> Fact | None:
    """Return that the game is won, by the last player left or by whoever just added points."""
    if len(state.active) == 1:
        return RaceWon(player=state.active[0], rule=LAST_PLAYER_LEFT)
    if state.scorer and state.scorer == state.leader:
        return RaceWon(player=state.scorer, rule=TARGET)
    return None


def _round_start(state: State) -> Fact:
    """Pay out the awards one by one, then see who leads, then go on with the first player still in.

    Where the highest total is shared nobody has won yet.
    """
    for racer in state.racers:
        if racer.award:
            total = racer.points + racer.award
            return DeathRollAwarded(player=racer.player, points=racer.award, total=total)
    if state.leader:
        return RaceWon(player=state.leader, rule=HIGHEST_TOTAL)
    return GameRoundStarted(number=state.game_round + 1)
