"""The automatic players of the demonstration want what is worth most, of what is legal."""

from __future__ import annotations

from croupier.domain.cards import PACK
from croupier.services.client import Turn
from croupier.services.demo.casino import brought, worth
from croupier.services.store.mapper import value_to_wire
from croupier.v1 import tables_pb2

ANNA = Turn("ledgers/l/tables/t", 1, "anna")


def table(loose, builds=()):
    details = {"loose": value_to_wire(loose), "builds": value_to_wire(builds)}
    return tables_pb2.Table(details=details)


def test_a_sweep_is_worth_more_than_the_same_cards_without_one():
    capture = ANNA.capture("8S", ("5C", "3H"))
    assert worth(capture, table(("5C", "3H"))) > worth(capture, table(("5C", "3H", "KD")))


def test_cards_of_a_build_count_as_others_do():
    lying = table(("KD",), ("1: 8 single bert 5C 3H",))
    assert worth(ANNA.capture("8S", builds=(1,)), lying) == worth(
        ANNA.capture("8S", ("5C", "3H")), table(("5C", "3H", "KD"))
    )


def test_a_build_is_worth_less_than_its_capture_and_a_trailed_ace_least():
    lying = table(("5C", "3H", "KD"))
    capture, build = ANNA.capture("8S", ("5C", "3H")), ANNA.create_build("8S", ("5C", "3H"), 8)
    trail, ace = ANNA.trail("9C"), ANNA.trail("AC")
    values = [worth(move, lying) for move in (capture, build, trail, ace)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)


def test_the_shuffling_machine_brings_whole_packs_each_in_another_order():
    decks = [brought(hand) for hand in range(1, 9)]
    assert all(sorted(deck) == sorted(PACK) for deck in decks)
    assert len(set(decks)) == len(decks)
