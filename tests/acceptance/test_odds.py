"""What games pay and what that is worth, exactly, for programs and for people."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from croupier.domain.errors import Reason
from croupier.v1 import odds_pb2
from tests.support.cli import croupier
from tests.support.refusals import assert_refused
from tests.support.serving import Client, Serve
from tests.support.stories import furnish, open_table, value

TABLE = "ledgers/casino/tables/t1"
MULTIPLIED = {"payout": "multiplied", "factor_111": 7}


async def opened(serve: Serve) -> Client:
    client = await (await serve()).client()
    await furnish(client)
    await client.ask(open_table("t1", options=MULTIPLIED))
    return client


def asked(kind, options=None, **more):
    given = {name: value(one) for name, one in (options or {}).items()}
    return kind(options=given, **more)


def fraction(ratio: odds_pb2.Ratio) -> Fraction:
    assert ratio.denominator > 0
    exact = Fraction(ratio.numerator, ratio.denominator)
    assert (exact.numerator, exact.denominator) == (ratio.numerator, ratio.denominator)
    assert abs(Fraction(ratio.decimal) - exact) <= Fraction(1, 2_000_000)
    return exact


async def test_a_paytable_is_that_of_an_open_table_or_of_one_that_would_be_opened(serve: Serve):
    client = await opened(serve)
    of_table = await client.ask(odds_pb2.GetPaytableRequest(table=TABLE))
    of_game = await client.ask(asked(odds_pb2.GetPaytableRequest, MULTIPLIED, game="ceelo_bank"))
    assert of_table == of_game
    lines = {one.line: (one.odds.profit, one.odds.per) for one in of_table.lines}
    assert lines == {
        "even": (1, 1),
        "four_five_six": (2, 1),
        "triples": (3, 1),
        "one_one_one": (7, 1),
    }
    assert of_table.options["factor_111"].int_value == 7
    even = await client.ask(odds_pb2.GetPaytableRequest(game="ceelo_bank"))
    assert [one.line for one in even.lines] == ["even"]
    assert even.digest != of_table.digest


async def test_odds_are_exact_ratios(serve: Serve):
    client = await opened(serve)
    (place,) = (await client.ask(odds_pb2.QuoteRequest(game="ceelo_bank"))).places
    assert (place.place, place.on) == ("fade", "")
    assert fraction(place.win_probability) == Fraction(97, 216)
    assert fraction(place.push_probability) == Fraction(25, 324)
    assert fraction(place.pays) == 1
    assert fraction(place.edge) == Fraction(2, 81)
    assert place.edge.decimal == "0.024691"
    (other,) = (await client.ask(odds_pb2.QuoteRequest(table=TABLE, place="fade"))).places
    assert fraction(other.edge) < Fraction(-19, 243), "a larger factor is worth more to the players"


async def test_what_has_no_odds_is_refused(serve: Serve):
    client = await opened(serve)
    for kind in (odds_pb2.GetPaytableRequest, odds_pb2.QuoteRequest):
        for request, reason, field in (
            (kind(), Reason.MISSING_FIELD, "game"),
            (kind(game="roulette"), Reason.UNKNOWN_GAME, "game"),
            (kind(table="t1"), Reason.INVALID_NAME, "table"),
            (kind(table="ledgers/casino/tables/none"), Reason.TABLE_NOT_FOUND, None),
            (kind(table="ledgers/none/tables/t1"), Reason.LEDGER_NOT_FOUND, None),
            (kind(table=TABLE, game="ceelo_bank"), Reason.INVALID_OPTION, "table"),
            (
                asked(kind, {"colour": "red"}, game="ceelo_bank"),
                Reason.UNKNOWN_OPTION,
                "options",
            ),
            (
                asked(kind, {"payout": "red"}, game="ceelo_bank"),
                Reason.INVALID_OPTION,
                "options.payout",
            ),
        ):
            assert_refused(await client.refusal(request), reason, field)
    refusal = await client.refusal(odds_pb2.QuoteRequest(game="ceelo_bank", place="zero"))
    assert_refused(refusal, Reason.UNKNOWN_PLACE, "place")


def test_the_command_prints_odds_for_people_and_for_programs():
    shown = croupier("odds", "ceelo_bank")
    assert shown.returncode == 0
    assert "97/216" in shown.stdout
    assert "2.4691" in shown.stdout
    (printed,) = json.loads(
        croupier("odds", "ceelo_bank", "--json", "--option", "triples_lose=true").stdout
    )
    assert printed == {
        "place": "fade",
        "on": None,
        "options": {"triples_lose": True},
        "win_probability": "271/648",
        "push_probability": "25/324",
        "pays": "1/1",
        "edge": "7/81",
    }


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("roulette",), "roulette"),
        (("ceelo_bank", "--option", "payout"), "NAME=VALUE"),
        (("ceelo_bank", "--option", "payout=red"), "payout"),
        (("ceelo_bank", "--option", "factor_456=many"), "factor_456"),
        (("ceelo_bank", "--option", "triples_lose=maybe"), "triples_lose"),
        (("ceelo_bank", "--option", "colour=red"), "colour"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, said):
    ended = croupier("odds", *arguments)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert ended.stdout == ""
