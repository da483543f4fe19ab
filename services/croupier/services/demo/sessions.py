"""The sessions of the demonstration, as data."""

from __future__ import annotations

from croupier.domain.commands import (
    Ante,
    ChooseDeathRoll,
    ChooseWin,
    Command,
    Decline,
    Fade,
    KeepBank,
    PassBank,
    PostBank,
)
from croupier.services.demo.cup import CUP
from croupier.services.demo.script import Outcome, Round, Session, throw

FOUR = ("anna", "bert", "cleo", "dora")

FADING = Session(
    key="fading",
    title="The bank is covered",
    story="A bank of 100.00 is faded 20.00, 20.00 and 60.00. The banker throws 4-5-6: he wins at "
    "once, nobody else throws, and the bank stands at 200.00.",
    seats=FOUR,
    currency="USD",
    purse=20_000,
    options={"preset": "finnish"},
    rounds=(
        Round(
            (
                PostBank("anna", 10_000),
                Fade("bert", 2_000),
                Fade("cleo", 2_000),
                Fade("dora", 6_000),
                throw("anna", 4, 5, 6),
            ),
            Outcome(
                nets={"anna": 10_000, "bert": -2_000, "cleo": -2_000, "dora": -6_000},
                bank_left=20_000,
                carried=20_000,
                next_banker="anna",
                rule="retained",
            ),
        ),
    ),
)

EIGHT = ("anna", "bert", "cleo", "dora", "emil", "fred", "gina", "hugo")

BROKEN = Session(
    key="broken",
    title="The bank is not covered, and broken",
    story="Of a bank of 100.00, six players fade 10.00 each and one nothing. The other 40.00 go "
    "back to the banker before he throws. 1-2-3: he loses at once, and the bank passes left.",
    seats=EIGHT,
    currency="USD",
    purse=20_000,
    options={"preset": "finnish"},
    rounds=(
        Round(
            (
                PostBank("anna", 10_000),
                *(Fade(player, 1_000) for player in EIGHT[1:7]),
                Decline("hugo"),
                throw("anna", 1, 2, 3),
            ),
            Outcome(
                nets={"anna": -6_000, **dict.fromkeys(EIGHT[1:7], 1_000), "hugo": 0},
                bank_left=0,
                next_banker="bert",
                rule="broken",
                uncovered=4_000,
            ),
        ),
    ),
)

STANDING = Session(
    key="standing",
    title="A bank stands for three rounds",
    story="What is left in the bank stays there as long as the same player banks: he may add to "
    "it, but takes nothing out. It grows to 140.00, until everybody wins and it is broken.",
    seats=FOUR,
    currency="EUR",
    purse=20_000,
    options={"preset": "finnish"},
    rounds=(
        Round(
            (
                PostBank("anna", 6_000),
                Fade("bert", 2_000),
                Fade("cleo", 2_000),
                Fade("dora", 2_000),
                throw("anna", 1, 3, 5),
                throw("anna", 2, 2, 4),
                throw("bert", 2, 2, 5),
                throw("cleo", 5, 5, 4),
                throw("dora", 1, 2, 3),
            ),
            Outcome(
                nets={"anna": 0, "bert": 2_000, "cleo": 0, "dora": -2_000},
                bank_left=6_000,
                carried=6_000,
                next_banker="anna",
                rule="retained",
            ),
        ),
        Round(
            (PostBank("anna", 1_000), Fade("bert", 7_000), throw("anna", 4, 5, 6)),
            Outcome(
                nets={"anna": 7_000, "bert": -7_000, "cleo": 0, "dora": 0},
                bank_left=14_000,
                carried=14_000,
                next_banker="anna",
                rule="retained",
            ),
        ),
        Round(
            (
                PostBank("anna", 0),
                Fade("bert", 4_000),
                Fade("cleo", 1_000),
                Decline("dora"),
                throw("anna", 1, 2, 3),
            ),
            Outcome(
                nets={"anna": -5_000, "bert": 4_000, "cleo": 1_000, "dora": 0},
                bank_left=0,
                next_banker="bert",
                rule="broken",
                uncovered=9_000,
            ),
        ),
    ),
)

MULTIPLIED = Session(
    key="multiplied",
    title="Special throws pay more than even money",
    story="Players' 4-5-6 pays 2 to 1, triples 3 to 1, three aces 5 to 1. A bank of 30.00 can owe "
    "150.00, so the banker puts 120.00 in reserve; here he pays 70.00 beyond his bank.",
    seats=FOUR,
    currency="EUR",
    purse=20_000,
    options={"preset": "finnish", "payout": "multiplied"},
    rounds=(
        Round(
            (
                PostBank("anna", 3_000),
                Fade("bert", 1_000),
                Fade("cleo", 1_000),
                Fade("dora", 1_000),
                throw("anna", 4, 4, 2),
                throw("bert", 4, 5, 6),
                throw("cleo", 4, 4, 4),
                throw("dora", 1, 1, 1),
            ),
            Outcome(
                nets={"anna": -10_000, "bert": 2_000, "cleo": 3_000, "dora": 5_000},
                bank_left=0,
                next_banker="bert",
                rule="broken",
                beyond=7_000,
            ),
        ),
    ),
)

THREE = ("jens", "karl", "lena")


def _five_euros_lost(*dice: int) -> tuple[Command, ...]:
    return (
        PostBank("jens", 500),
        Fade("karl", 200),
        Fade("lena", 300),
        throw("jens", *dice),
    )


_LOST = Outcome(
    nets={"jens": -500, "karl": 200, "lena": 300}, bank_left=0, next_banker="", rule="choice"
)

GERMAN = Session(
    key="german",
    title="After his own losing throw the banker chooses",
    story="German rules: a bank of 5.00 is covered by 2.00 and 3.00. 1-2-3 loses it, and each wins "
    "what he staked. The banker keeps the bank, loses again with 6-6-1, and passes it left.",
    seats=THREE,
    currency="EUR",
    purse=2_000,
    options={"preset": "german"},
    rounds=(
        Round(_five_euros_lost(1, 2, 3), _LOST, KeepBank("jens"), "jens"),
        Round(_five_euros_lost(6, 6, 1), _LOST, PassBank("jens"), "karl"),
    ),
)

POT = Session(
    key="pot",
    title="The winner takes all, after shoot-outs",
    story="Everybody puts 5.00 into a pot, and the best of 14 ranks takes it. Four share a point, "
    "two of them share the next, and 4-5-6 ends it. In round 2 two throw 4-5-6: a third player is "
    "out with three sixes.",
    seats=FOUR,
    currency="EUR",
    purse=20_000,
    options={"ante": 500},
    rounds=(
        Round(
            (
                *(Ante(player, 500) for player in FOUR),
                throw("anna", 1, 1, 5),
                throw("bert", 2, 2, 5),
                throw("cleo", 3, 3, 5),
                throw("dora", 4, 4, 5),
                throw("anna", 6, 6, 2),
                throw("bert", 1, 1, 2),
                throw("cleo", 5, 5, 4),
                throw("dora", 2, 4, 6),
                throw("dora", 3, 3, 4),
                throw("cleo", 2, 2, 2),
                throw("dora", 4, 5, 6),
            ),
            Outcome(
                nets={"anna": -500, "bert": -500, "cleo": -500, "dora": 1_500},
                winner="dora",
                shoot_outs=2,
            ),
        ),
        Round(
            (
                *(Ante(player, 500) for player in FOUR),
                throw("anna", 4, 5, 6),
                throw("bert", 4, 6, 5),
                throw("cleo", 6, 6, 6),
                throw("dora", 1, 2, 3),
                throw("anna", 1, 1, 6),
                throw("bert", 1, 1, 1),
            ),
            Outcome(
                nets={"anna": -500, "bert": 1_500, "cleo": -500, "dora": -500},
                winner="bert",
                shoot_outs=1,
            ),
        ),
    ),
    game="ceelo_pot",
)

_ANTES = tuple(Ante(player, 1_000) for player in FOUR)

TWELVE_HIGH = Session(
    key="twelve-high",
    title="A race to twelve points, with Storms and Death Rolls",
    story="Each puts 10.00 into the pot. One die each gives the rolling order, then three dice: "
    "the odd die beside a pair scores. bert's High Storm would win at once; by the house rule he "
    "starts a Death Roll instead, and the last player left takes 40.00.",
    seats=FOUR,
    currency="EUR",
    purse=20_000,
    options={"ante": 1_000, "house_rule": True},
    rounds=(
        Round(
            (
                *_ANTES,
                throw("anna", 3),
                throw("bert", 3),
                throw("cleo", 5),
                throw("dora", 1),
                throw("anna", 6),
                throw("bert", 2),
                throw("dora", 6, 6, 4),
                throw("bert", 4, 5, 6),
                ChooseDeathRoll("bert"),
                throw("anna", 5, 5, 5),
                throw("cleo", 6, 6, 6),
                throw("dora", 4, 4, 4),
                throw("bert", 6, 1, 5),
                throw("anna", 1, 2, 4),
                throw("cleo", 1, 2, 3),
                throw("bert", 3, 3, 3),
                throw("anna", 4, 4, 2),
            ),
            Outcome(
                nets={"anna": -1_000, "bert": 3_000, "cleo": -1_000, "dora": -1_000},
                winner="bert",
            ),
        ),
        Round(
            (
                *_ANTES,
                throw("anna", 4),
                throw("bert", 3),
                throw("cleo", 2),
                throw("dora", 1),
                throw("dora", 5, 4, 6),
                ChooseWin("dora"),
            ),
            Outcome(
                nets={"anna": -1_000, "bert": -1_000, "cleo": -1_000, "dora": 3_000},
                winner="dora",
            ),
        ),
    ),
    game="twelve_high",
)

SESSIONS = (FADING, BROKEN, STANDING, MULTIPLIED, GERMAN, POT, TWELVE_HIGH, CUP)
"""The sessions whose outcome is known beforehand."""

DRAWN = Session(
    key="drawn",
    title="The service draws the dice",
    story="Nobody knows what comes: the players do whatever the table expects of them, and the "
    "dice come from the service's own generator. Yen have no decimal places.",
    seats=FOUR,
    currency="JPY",
    purse=5_000,
    rounds=(),
)
"""A round of any outcome. Its table stays open."""
