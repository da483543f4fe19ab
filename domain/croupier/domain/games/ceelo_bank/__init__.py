"""Banked cee-lo: one player banks, the others bet against him with three dice."""

from croupier.domain.games.ceelo_bank.game import CeeloBank

GAME = CeeloBank()
