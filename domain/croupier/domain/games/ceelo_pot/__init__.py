"""Cee-lo without a bank: everybody antes, the best throw takes the pot."""

from croupier.domain.games.ceelo_pot.game import CeeloPot

GAME = CeeloPot()
