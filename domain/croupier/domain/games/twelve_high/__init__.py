"""Two Alike 12 High: a points race with three dice and knock-out rounds."""

from croupier.domain.games.twelve_high.game import TwelveHigh

GAME = TwelveHigh()
