"""Replay recomputes what was paid, and finds whatever differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from croupier.domain import table as rules
from croupier.domain.bookkeeping import table_postings
from croupier.domain.commands import Command, Decline, Fade, PostBank, Roll
from croupier.domain.dice import Source
from croupier.services.audit.replay import Replay
from croupier.services.store.mapper import payload_from_wire, payload_to_wire, posting_to_wire
from croupier.v1 import events_pb2

DEALER = Source("dealer", "dora")


def recorded(*commands: Command, close: bool = True, **options: int | str | bool):
    """Return the stream of a table at which the commands were played."""
    opened = rules.open_table(
        table_id="t1",
        game_code="ceelo_bank",
        options=options,
        seats=("anna", "bela", "carl"),
        currency="EUR",
        banker="anna",
    )
    facts = [opened]
    at = rules.fold(None, opened)
    asked: list[Callable[[], Iterable[rules.Step]]] = [
        lambda command=command: rules.play(at, command, at.round) for command in commands
    ]
    if close:
        asked.append(lambda: rules.close(at))
    for ask in asked:
        for step in ask():
            facts.append(step.event)
            at = step.after
    return [as_stored(fact, version) for version, fact in enumerate(facts, 1)]


def as_stored(fact: rules.TableEvent, version: int) -> events_pb2.Event:
    """Return an event as the ledger stores it, with the postings of its money."""
    field, name, payload = payload_to_wire(fact)
    return events_pb2.Event(
        position=version,
        stream="tables/t1",
        version=version,
        type=name,
        postings=[posting_to_wire(one) for one in table_postings(fact, "t1", "EUR")],
        **{field: payload},
    )


ROUND = (
    PostBank("anna", 1000),
    Fade("bela", 600),
    Fade("carl", 300),
    Roll("anna", (3, 3, 4), DEALER),
    Roll("bela", (2, 2, 2), DEALER),
    Roll("carl", (1, 2, 3), DEALER),
)
RETAINED = (
    PostBank("anna", 1000),
    Fade("bela", 400),
    Decline("carl"),
    Roll("anna", (4, 5, 6), DEALER),
)


def findings(stream: Iterable[events_pb2.Event]) -> list[str]:
    """Return all that replay finds in a stream."""
    replay = Replay()
    return [found for event in stream for found in replay.fold(event)]


def first(stream: list[events_pb2.Event], kind: str, rule: str = "") -> events_pb2.Event:
    """Return the first event of a kind, and of a rule if one is given."""
    return next(
        event
        for event in stream
        if event.WhichOneof("payload") == kind and (not rule or event.paid_out.rule == rule)
    )


STREAMS = {
    "even money": (ROUND, {}),
    "multiplied": (ROUND, {"payout": "multiplied"}),
    "both sides": (ROUND, {"payout": "multiplied", "payout_applies_to": "both_sides"}),
    "capped": (ROUND, {"payout": "multiplied", "over_bank_liability": "capped"}),
    "a bank that is carried until the table closes": (RETAINED, {}),
    "nobody fades": ((PostBank("anna", 9), Decline("bela"), Decline("carl")), {}),
}


@pytest.mark.parametrize("name", STREAMS)
def test_what_was_recorded_by_the_rules_has_no_findings(name: str):
    commands, options = STREAMS[name]
    stream = recorded(*commands, **options)
    replay = Replay()
    assert [found for event in stream for found in replay.fold(event)] == []
    assert replay.table.closed
    assert replay.table.at_risk == 0


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("change", [1, -1])
def test_a_payout_off_by_one_minor_unit_is_found(name: str, change: int):
    commands, options = STREAMS[name]
    for field in ("returned", "winnings", "top_up", "owed"):
        for at in range(len(recorded(*commands, **options))):
            stream = recorded(*commands, **options)
            if not stream[at].HasField("paid_out") or not getattr(stream[at].paid_out, field):
                continue
            paid = stream[at].paid_out
            setattr(paid, field, getattr(paid, field) + change)
            assert findings(stream), (field, at)
            # Found too where the postings were made to fit the payout.
            for posting in stream[at].postings[:1]:
                posting.amount += change
            assert findings(stream), (field, at)


def test_a_collection_off_by_one_minor_unit_is_found():
    stream = recorded(*ROUND)
    first(stream, "collected").collected.amount -= 1
    assert any("has to follow" in found for found in findings(stream))


@pytest.mark.parametrize("name", STREAMS)
def test_a_missing_payout_is_found(name: str):
    commands, options = STREAMS[name]
    whole = recorded(*commands, **options)
    for at, event in enumerate(whole):
        if event.HasField("paid_out"):
            assert findings([*whole[:at], *whole[at + 1 :]]), at
            # Found too where the versions after it were closed up.
            closed_up = []
            for version, kept in enumerate([*whole[:at], *whole[at + 1 :]], 1):
                copy = events_pb2.Event()
                copy.CopyFrom(kept)
                copy.version = version
                closed_up.append(copy)
            assert findings(closed_up), at


def test_a_payout_made_twice_is_found():
    stream = recorded(*ROUND)
    at = stream.index(first(stream, "paid_out", "triples"))
    assert findings([*stream[: at + 1], stream[at], *stream[at + 1 :]])


def test_a_payout_to_another_player_is_found():
    stream = recorded(*ROUND)
    event = first(stream, "paid_out", "triples")
    event.paid_out.player = "carl"
    for posting in event.postings:
        posting.destination = "player:carl"
    assert findings(stream)


def test_a_payout_at_other_odds_is_found():
    stream = recorded(*ROUND, payout="multiplied")
    first(stream, "paid_out", "triples").paid_out.odds.profit = 4
    assert findings(stream)


def test_payouts_in_another_order_are_found():
    stream = recorded(
        PostBank("anna", 900),
        Fade("bela", 600),
        Fade("carl", 300),
        Roll("anna", (1, 1, 1), DEALER),
        payout="multiplied",
        payout_applies_to="both_sides",
    )
    at = next(i for i, event in enumerate(stream) if event.HasField("collected"))
    stream[at], stream[at + 1] = stream[at + 1], stream[at]
    assert findings(stream)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda postings: postings[0].MergeFrom(events_pb2.Posting(amount=1)),
        lambda postings: postings[0].MergeFrom(events_pb2.Posting(source="house")),
        lambda postings: postings[0].MergeFrom(events_pb2.Posting(destination="player:carl")),
        lambda postings: postings[0].MergeFrom(events_pb2.Posting(currency="USD")),
        lambda postings: postings.pop(),
        lambda postings: postings.add(
            source="escrow:t1", destination="house", currency="EUR", amount=1
        ),
    ],
    ids=["amount", "source", "destination", "currency", "missing", "one more"],
)
@pytest.mark.parametrize("kind", ["bank_posted", "faded", "paid_out"])
def test_a_wrong_posting_is_found(kind: str, wrong: Callable[..., object]):
    stream = recorded(*ROUND)
    wrong(first(stream, kind).postings)
    assert any("postings" in found for found in findings(stream))


def test_a_posting_where_no_money_moves_is_found():
    stream = recorded(*ROUND)
    first(stream, "rolled").postings.add(
        source="escrow:t1", destination="player:bela", currency="EUR", amount=5
    )
    found = findings(stream)
    assert any("postings" in one for one in found)
    assert any("escrow holds" in one for one in found)


def test_a_gap_of_versions_is_found():
    stream = recorded(*ROUND)
    for event in stream[4:]:
        event.version += 1
    assert any("version" in found for found in findings(stream))


def test_closing_with_money_in_escrow_is_found():
    stream = recorded(*RETAINED)
    kept = [event for event in stream if event.paid_out.rule != rules.TABLE_CLOSED]
    assert any("closed while escrow holds" in found for found in findings(kept))


def voided(stream: list[events_pb2.Event]) -> list[events_pb2.Event]:
    """Return a stream whose open round is then void."""
    at = None
    for event in stream:
        at = rules.fold(at, payload_from_wire(event))
    facts = [step.event for step in rules.void(at, at.round, "a die fell")]
    return stream + [as_stored(fact, at.version + n) for n, fact in enumerate(facts, 1)]


def test_a_void_round_has_no_findings_wherever_it_was():
    for length in range(1, len(ROUND)):
        stream = voided(recorded(*ROUND[:length], close=False))
        assert stream[-1].HasField("round_voided")
        assert findings(stream) == []


def test_a_round_that_is_void_while_money_is_held_is_found():
    stream = voided(recorded(*ROUND[:3], close=False))
    kept = [event for event in stream if event.paid_out.rule != rules.ROUND_VOIDED]
    assert any("void while escrow holds" in found for found in findings(kept))


def test_an_early_payout_is_found():
    stream = recorded(*ROUND)
    paid = first(stream, "paid_out", "triples")
    at = stream.index(first(stream, "rolled"))
    assert any("nothing is due" in found for found in findings([*stream[:at], paid, *stream[at:]]))


@pytest.mark.parametrize(
    "change",
    [
        lambda bank: setattr(bank, "next_banker", "dora"),
        lambda bank: setattr(bank, "rule", "retained"),
        lambda bank: setattr(bank, "bank_left", bank.bank_left + 1),
    ],
    ids=["who banks next", "the rule", "what was left"],
)
def test_a_changed_passing_of_the_bank_is_found(change: Callable[..., object]):
    stream = recorded(*ROUND)
    change(first(stream, "bank_decided").bank_decided)
    assert any("has to follow" in found for found in findings(stream))


@pytest.mark.parametrize("kind", ["fading_closed", "bank_decided", "round_settled"])
def test_an_automatic_event_that_is_missing_is_found(kind: str):
    stream = recorded(*ROUND)
    stream.remove(first(stream, kind))
    assert any("has to follow" in found for found in findings(stream))


def test_a_stream_cut_off_while_something_has_to_follow_is_found():
    stream = recorded(*ROUND, close=False)
    replay = Replay()
    for event in stream[:-1]:
        replay.fold(event)
    assert replay.end() == ["the stream ends where RoundSettled(round=1, carried=0) has to follow"]
    replay.fold(stream[-1])
    assert replay.end() == []


def test_a_replay_of_nothing_has_no_table():
    with pytest.raises(ValueError, match="nothing was replayed"):
        _ = Replay().table
