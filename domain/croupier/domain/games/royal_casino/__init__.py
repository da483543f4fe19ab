"""Royal Casino: cards capture cards from the table; sides play to 21 for the pot."""

from croupier.domain.games.royal_casino.game import RoyalCasino

GAME = RoyalCasino()
