"""Fish-Prawn-Crab: players bet against the house on three picture dice under a cup."""

from croupier.domain.games.fish_prawn_crab.game import FishPrawnCrab

GAME = FishPrawnCrab()
