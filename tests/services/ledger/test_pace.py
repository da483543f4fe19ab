"""How large turns are, and when they come, where others write the same ledger."""

from __future__ import annotations

from croupier.services.ledger.pace import LOST_MAX, PAUSE_MAX_S, PAUSE_S, Pace


def test_turns_in_vain_make_the_next_shorter_and_others_longer_again():
    pace = Pace(256)
    sizes = []
    for _ in range(10):
        pace.lost()
        sizes.append(pace.batch)
    assert sizes == [128, 64, 32, 16, 8, 4, 2, 1, 1, 1]
    grown = []
    while pace.batch < 256:
        pace.won()
        grown.append(pace.batch)
    assert grown[:5] == [2, 3, 4, 6, 9]
    assert grown[-1] == 256
    pace.won()
    assert pace.batch == 256


def test_pauses_grow_with_turns_in_vain_and_are_left_to_chance():
    longest = Pace(1, chance=lambda: 1.0)
    pauses = [longest.lost() for _ in range(9)]
    assert pauses[0] == PAUSE_S
    assert pauses == sorted(pauses)
    assert pauses[-1] == PAUSE_MAX_S
    longest.won()
    assert longest.lost() == PAUSE_S
    assert Pace(1, chance=lambda: 0.0).lost() == 0
    drawn = [Pace(1).lost() for _ in range(50)]
    assert len(set(drawn)) > 40
    assert all(0 <= pause <= PAUSE_S for pause in drawn)


def test_after_very_many_turns_in_vain_there_is_no_more_hope():
    pace = Pace(1)
    for _ in range(LOST_MAX - 1):
        pace.lost()
    assert not pace.is_hopeless
    pace.lost()
    assert pace.is_hopeless
    pace.won()
    assert not pace.is_hopeless
