"""What the players of a table agreed on: the options of banked cee-lo, typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from croupier.domain.event import (
    Value,
)
from croupier.domain.games.ceelo_throws import FOUR_FIVE_SIX, ONE_TWO_THREE, TRIPLES
from croupier.domain.games.options import Option
from croupier.domain.money import Odds
from croupier.domain.paytable import Paytable

FACTOR_MAX = 1000

OPTIONS = (
    Option(
        "payout",
        "even",
        "whether special throws pay more than even money",
        choices=("even", "multiplied"),
    ),
    Option("factor_456", 2, 'what 4-5-6 pays, "x to 1"', least=1, most=FACTOR_MAX),
    Option("factor_triples", 3, 'what triples but 1-1-1 pay, "x to 1"', least=1, most=FACTOR_MAX),
    Option("factor_111", 5, 'what 1-1-1 pays, "x to 1"', least=1, most=FACTOR_MAX),
    Option(
        "payout_applies_to",
        "winning_players",
        "whose wins are multiplied: the players', or the banker's automatic ones as well",
        choices=("winning_players", "both_sides"),
    ),
    Option(
        "over_bank_liability",
        "prefunded",
        "wins beyond the bank: escrowed by the banker beforehand, or paid until the bank is empty",
        choices=("prefunded", "capped"),
    ),
    Option(
        "roll_rules",
        "standard",
        "reversed: for players 1-2-3 wins and 4-5-6 loses",
        choices=("standard", "reversed"),
    ),
    Option("reversed_inherits", True, "reversed: 1-2-3 takes over the factor and rights of 4-5-6"),
    Option("triples_lose", False, "a player's triples lose"),
    Option(
        "bank_carry",
        "stand_or_add",
        "what a retained bank does: stand, to be added to, or be paid out for a fresh one",
        choices=("stand_or_add", "fresh"),
    ),
    Option(
        "bank_precedence",
        "broken_first",
        "who banks when all players won and one of them with a hot throw",
        choices=("broken_first", "hot_first"),
    ),
    Option(
        "auto_loss_bank",
        "pass_left",
        "after the banker's automatic loss: the left neighbour banks, or the banker chooses",
        choices=("pass_left", "banker_choice"),
    ),
    Option(
        "zero_fade",
        "banker_keeps",
        "who banks when nobody faded",
        choices=("banker_keeps", "pass_left"),
    ),
    Option(
        "resign",
        "allowed",
        "whether the banker may give up the bank before posting",
        choices=("allowed", "not_allowed"),
    ),
)

PRESETS: Mapping[str, Mapping[str, Value]] = {
    "finnish": {},
    "german": {
        "bank_carry": "fresh",
        "bank_precedence": "hot_first",
        "auto_loss_bank": "banker_choice",
    },
}

LINE_EVEN = "even"
LINE_456 = "four_five_six"
LINE_TRIPLES = "triples"
LINE_111 = "one_one_one"
LINE_123 = "one_two_three"

SPECIAL_LINES = {
    FOUR_FIVE_SIX: LINE_456,
    ONE_TWO_THREE: LINE_123,
    TRIPLES[0]: LINE_111,
    **dict.fromkeys(TRIPLES[1:], LINE_TRIPLES),
}
"""The line of each reading that may pay more than even money; all others pay even money."""

BANKER_SPECIALS = (FOUR_FIVE_SIX, *TRIPLES)
"""The banker's automatic wins that are multiplied, where his are."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The options, typed. Factors are "x to 1"."""

    multiplied: bool
    factor_456: int
    factor_triples: int
    factor_111: int
    both_sides: bool
    capped: bool
    reversed: bool
    reversed_inherits: bool
    triples_lose: bool
    carries: bool
    hot_first: bool
    auto_loss_choice: bool
    zero_fade_passes: bool
    may_resign: bool

    @classmethod
    def of(cls, options: Mapping[str, Value]) -> Terms:
        """Return the terms of resolved options."""
        return cls(
            multiplied=options["payout"] == "multiplied",
            factor_456=int(options["factor_456"]),
            factor_triples=int(options["factor_triples"]),
            factor_111=int(options["factor_111"]),
            both_sides=options["payout_applies_to"] == "both_sides",
            capped=options["over_bank_liability"] == "capped",
            reversed=options["roll_rules"] == "reversed",
            reversed_inherits=bool(options["reversed_inherits"]),
            triples_lose=bool(options["triples_lose"]),
            carries=options["bank_carry"] == "stand_or_add",
            hot_first=options["bank_precedence"] == "hot_first",
            auto_loss_choice=options["auto_loss_bank"] == "banker_choice",
            zero_fade_passes=options["zero_fade"] == "pass_left",
            may_resign=options["resign"] == "allowed",
        )

    @property
    def paytable(self) -> Paytable:
        """Return what each line that can win pays; unless multiplied, only even money."""
        factors = {
            LINE_456: self.factor_456,
            LINE_123: self.factor_456,
            LINE_TRIPLES: self.factor_triples,
            LINE_111: self.factor_111,
        }
        wins = [*self._player_specials, *(BANKER_SPECIALS if self.both_sides else ())]
        special = {SPECIAL_LINES[reading] for reading in wins} if self.multiplied else set()
        lines = {line: Odds(factor) for line, factor in factors.items() if line in special}
        return Paytable({LINE_EVEN: Odds(1), **lines})

    @property
    def player_win(self) -> str:
        """Return the straight that wins for a player: 4-5-6, under reversed rolls 1-2-3."""
        return ONE_TWO_THREE if self.reversed else FOUR_FIVE_SIX

    @property
    def _player_specials(self) -> tuple[str, ...]:
        """Return the readings that win more for a player: exactly those that are hot."""
        return tuple(reading for reading in SPECIAL_LINES if self.is_hot(reading))

    def line(self, reading: str) -> str:
        """Return the paytable's line under which a winning reading is paid."""
        line = SPECIAL_LINES.get(reading, LINE_EVEN)
        return line if line in self.paytable.lines else LINE_EVEN

    def is_hot(self, reading: str) -> bool:
        """Return whether a player who won with this reading has a right to the bank."""
        if reading in TRIPLES:
            return not self.triples_lose
        return reading == self.player_win and (not self.reversed or self.reversed_inherits)

    @property
    def banker_factor(self) -> int:
        """Return the largest factor that a throw can require of the banker."""
        return self._largest(self._player_specials)

    @property
    def fader_factor(self) -> int:
        """Return the largest factor that a throw of the banker can require of a fader."""
        return self._largest(BANKER_SPECIALS) if self.both_sides else 1

    def _largest(self, readings: tuple[str, ...]) -> int:
        odds = self.paytable.odds
        return max((odds(self.line(reading)).profit for reading in readings), default=1)

    def bank_reserve(self, bank: int) -> int:
        """Return what the banker escrows beyond a bank, minor units (none where he is capped)."""
        return 0 if self.capped else (self.banker_factor - 1) * bank

    def fade_reserve(self, stake: int) -> int:
        """Return what a fader escrows beyond his stake, minor units."""
        return (self.fader_factor - 1) * stake
