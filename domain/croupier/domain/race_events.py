"""Facts of a points race with three dice and Death Rolls."""

from __future__ import annotations

from croupier.domain.event import event


@event("croupier.v1.PlacesTied")
class PlacesTied:
    """Players threw equal dice and throw again among themselves for the places they share."""

    players: tuple[str, ...]


@event("croupier.v1.RollingOrderSettled")
class RollingOrderSettled:
    """The rolling order of the whole game is settled; who is first goes first."""

    players: tuple[str, ...]


@event("croupier.v1.GameRoundStarted")
class GameRoundStarted:
    """A round of the game began, in which every player still in has a turn."""

    number: int


@event("croupier.v1.PointsAdded")
class PointsAdded:
    """A throw in a turn added `points` to a player's, who has `total` now."""

    player: str
    points: int
    total: int


@event("croupier.v1.DicePassed")
class DicePassed:
    """A throw in a turn scored nothing; the dice pass on."""

    player: str


@event("croupier.v1.HouseOptionOffered")
class HouseOptionOffered:
    """A player threw a High Storm and has to choose: the win, or a Death Roll."""

    player: str


@event("croupier.v1.HouseOptionChosen")
class HouseOptionChosen:
    """A player chose what his High Storm is: `choice` is "win" or "death_roll"."""

    player: str
    choice: str


@event("croupier.v1.DeathRollStarted")
class DeathRollStarted:
    """A player started a Death Roll with this bar; `award` is his when the next round starts."""

    player: str
    bar: int
    award: int


@event("croupier.v1.DeathRollSurvived")
class DeathRollSurvived:
    """A player survived a Death Roll; `award` is his when the next round starts.

    `bar` is what those after him have to match or beat.
    """

    player: str
    award: int
    bar: int


@event("croupier.v1.Eliminated")
class Eliminated:
    """A player is out of the game, by "low_storm" or by a "death_roll" that he failed."""

    player: str
    rule: str


@event("croupier.v1.DeathRollAwarded")
class DeathRollAwarded:
    """As a round starts, a Death Roll's award adds `points` to a player's, who has `total` now."""

    player: str
    points: int
    total: int


@event("croupier.v1.RaceWon")
class RaceWon:
    """A player won the game, and with it the pot.

    `rule` is "target" (reached in a turn), "highest_total" (as a round starts), "high_storm" or
    "last_player_left".
    """

    player: str
    rule: str
