"""A session of Fish-Prawn-Crab, at which the house banks, as data."""

from __future__ import annotations

from croupier.domain.commands import (
    Command,
    Cover,
    LightOn,
    OpenCup,
    PlaceBet,
    PressHandle,
    RingBell,
)
from croupier.domain.names import HOUSE
from croupier.services.demo.script import DEALER, Outcome, Round, Session

_SHAKEN: tuple[Command, ...] = (
    Cover(HOUSE),
    *(PressHandle(HOUSE) for _ in range(3)),
    LightOn(HOUSE),
)


def _round(*bets: PlaceBet, end: OpenCup) -> tuple[Command, ...]:
    return (*_SHAKEN, *bets, RingBell(HOUSE), end)


CUP = Session(
    key="cup",
    title="Fish, prawn, crab: the house banks",
    story="Three picture dice are shaken under a cup before anybody bets. The house puts a "
    "bankroll at risk and takes only bets that it covers whatever lies there. A die leans on the "
    "rim: that throw is void, and its bets stand for the next, which is a triple.",
    seats=("anna", "bert", "cleo", "dora"),
    currency="EUR",
    purse=20_000,
    game="fish_prawn_crab",
    bankroll=100_000,
    rounds=(
        Round(
            _round(
                PlaceBet("anna", "big", 500),
                PlaceBet("bert", "three_armies_fish", 200),
                PlaceBet("cleo", "triple_colour_red", 100),
                PlaceBet("dora", "any_triple", 50),
                end=OpenCup(HOUSE, (1, 1, 6), DEALER),
            ),
            Outcome(nets={"anna": -500, "bert": 400, "cleo": 2_000, "dora": -50, HOUSE: -1_850}),
        ),
        Round(
            _round(
                PlaceBet("anna", "small", 300),
                PlaceBet("bert", "double_colour_green", 200),
                end=OpenCup(HOUSE, (), DEALER, "a die leans on the rim"),
            ),
            Outcome(nets={"anna": 0, "bert": 0, "cleo": 0, "dora": 0, HOUSE: 0}),
        ),
        Round(
            _round(
                PlaceBet("cleo", "triple_coin", 10),
                PlaceBet("dora", "total_12", 100),
                end=OpenCup(HOUSE, (4, 4, 4), DEALER),
            ),
            Outcome(nets={"anna": -300, "bert": -200, "cleo": 1_500, "dora": 600, HOUSE: -1_600}),
        ),
    ),
)
