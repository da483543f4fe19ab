"""The state of a table of Royal Casino, folded from its facts."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.domain.card_events import SideScore
from croupier.domain.draws import Sealed, seal
from croupier.domain.games.protocol import Holding
from croupier.domain.games.royal_casino.board import Board, sides_of
from croupier.domain.games.royal_casino.ending import Verdict, verdict
from croupier.domain.games.royal_casino.layout import Position
from croupier.domain.games.royal_casino.terms import Terms

ANTE = "ANTE"
DEAL = "DEAL"
TURN = "TURN"
LEFTOVER = "LEFTOVER"
SCORE = "SCORE"
WON = "WON"


@dataclass(frozen=True, slots=True)
class State:
    """A match. When it is over it stays to be seen until the next ante. Amounts are minor units.

    `held` are the antes in escrow, by seat, and `pot` what was collected for the winners. Seats are
    in play order: `dealer` is the seat that deals, `opener` the one that dealt first in the match.
    `hand` is the number of the hand being played, or of the one to be dealt next; hands are
    numbered through the life of the table. `played` counts those of the match, and `scores` are
    what the last of them came to. In `overtime` the hand being played, or the next, knows no
    conditions; `was_overtime` says so of the last one that was counted.
    `sealed` is the deck committed to, and `nonce` its secret while the hand is played.
    """

    terms: Terms
    seats: tuple[str, ...]
    held: tuple[int, ...]
    dealer: int
    opener: int
    board: Board
    phase: str = ANTE
    pot: int = 0
    hand: int = 1
    played: int = 0
    scores: tuple[SideScore, ...] = ()
    overtime: bool = False
    was_overtime: bool = False
    sealed: Sealed | None = None
    nonce: bytes = b""
    winners: tuple[str, ...] = ()
    win_rule: str = ""

    @classmethod
    def before(cls, terms: Terms, seats: tuple[str, ...], dealer: int, hand: int = 1) -> State:
        """Return the state before anybody has paid his ante."""
        nothing = (0,) * len(seats)
        board = Board.of(0, (), len(seats), dealer)
        return cls(terms, seats, nothing, dealer, dealer, board, hand=hand)

    # --- seats and sides ------------------------------------------------------------------------

    def after(self, seat: int) -> int:
        """Return the next seat in play order."""
        return (seat + 1) % len(self.seats)

    def side_of(self, player: str) -> int:
        """Return the side of a player, of which there are as many as players, but two of four."""
        return self.seats.index(player) % sides_of(len(self.seats))

    def players_of(self, side: int) -> tuple[str, ...]:
        """Return the players of a side."""
        return self.seats[side :: sides_of(len(self.seats))]

    @property
    def points(self) -> tuple[int, ...]:
        """Return the points of every side in the match."""
        after = {one.side: one.after for one in self.scores}
        return tuple(after.get(side, 0) for side in range(sides_of(len(self.seats))))

    # --- cards ----------------------------------------------------------------------------------

    @property
    def is_brought(self) -> bool:
        """Return whether the deck of the hand has been brought, and the hand is not counted yet."""
        return self.board.number == self.hand

    def is_sealed(self, nonce: bytes) -> bool:
        """Return whether this is the nonce that was committed to."""
        return self.sealed is not None and seal(nonce, self.sealed.context) == self.sealed

    @property
    def mover(self) -> str:
        """Return the player whose turn it is."""
        return self.seats[self.board.turn]

    @property
    def position(self) -> Position:
        """Return what the player whose turn it is sees."""
        board, seats = self.board, self.seats
        turn = board.turn
        others = self.players_of(turn % sides_of(len(seats)))
        partner = next((one for one in others if one != seats[turn]), "")
        return Position(
            seats[turn],
            partner,
            board.hands[turn],
            board.loose,
            board.builds,
            board.next_build,
            self.terms,
        )

    # --- the match and its money ------------------------------------------------------------------

    @property
    def verdict(self) -> Verdict:
        """Return what the last hand came to."""
        return verdict(self.scores, overtime=self.was_overtime, terms=self.terms)

    @property
    def ante_owed_by(self) -> tuple[str, ...]:
        """Return who has not yet paid the ante of the match to come."""
        if self.phase != ANTE:
            return ()
        return tuple(player for player, held in zip(self.seats, self.held, strict=True) if not held)

    @property
    def is_open(self) -> bool:
        """Return whether a match has begun and the pot is not paid."""
        return self.phase != ANTE or any(self.held)

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """Return whose money the table holds: an ante until it is lost, then the winners'.

        The pot is held, in equal parts, for those winners who are not paid yet.
        """
        antes = zip(self.seats, self.held, strict=True)
        held = [Holding(player, amount, "ante") for player, amount in antes]
        if self.pot:
            paid = {one.player for one in held if not one.amount}
            owed = [player for player in self.winners if player not in paid] or self.winners
            share, over = divmod(self.pot, len(owed) or 1)
            held += [Holding(who, share + (at < over), "pot") for at, who in enumerate(owed)]
        return tuple(holding for holding in held if holding.amount)
