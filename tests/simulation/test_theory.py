"""The simulation agrees with queueing theory, with itself and with what was measured."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from statistics import mean, stdev

import pytest

from croupier.services.ledger.rounds import Rounds
from tests.simulation import costs
from tests.simulation.costs import BATCH_100, FORMS, ROUNDS, STREAM_16, THROWS, UNARY, Form
from tests.simulation.rounds import Crowd
from tests.simulation.simulation import Plan, Simulation, simulate

SERVICE_US = 100
BARE = replace(
    ROUNDS,
    call_us=0,
    message_us=0,
    command_us=SERVICE_US,
    turn_us=0,
    sync_us=0,
    syncs_per_s=1e12,
    wire_us=0,
    gather=False,
    batch=1,
    backlog=10**9,
)
"""One server, one command after the other, the same time for each: M/D/1."""


def drained(plan):
    """Return a simulation whose arrivals have ended and whose calls are all answered."""
    simulation = Simulation(plan)
    simulation.run()
    simulation.clock.run(10 * simulation.clock.now)
    return simulation


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_one_at_a_time_waits_as_pollaczek_and_khinchine_say(load):
    plan = Plan(rate=load * 1e6 / SERVICE_US, seconds=3, costs=BARE)
    waits = [us - SERVICE_US for us in drained(plan).counts.latencies_us]
    said = load * SERVICE_US / (2 * (1 - load))
    # Neighbours wait for each other, so the error is taken from means of long stretches.
    size = len(waits) // 20
    stretches = [mean(waits[at : at + size]) for at in range(0, 20 * size, size)]
    error = stdev(stretches) / 20**0.5
    assert error < 0.1 * said
    assert mean(waits) == pytest.approx(said, abs=3 * error)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_little_s_law_holds_exactly(form):
    counts = drained(Plan(rate=2000, form=form, ledgers=3, seconds=2)).counts
    assert counts.inside == 0
    assert counts.area_us == pytest.approx(sum(counts.latencies_us), rel=1e-9)


FAR = replace(ROUNDS, queue=1_000, batch=100, backlog=10**9, sync_us=50_000, sync_blocks=False)
"""A commit takes long and the loop goes on taking calls: here a queue can be full."""


@pytest.mark.parametrize("load", [{"rate": 5_000}, {"crowd": 50}], ids=str)
def test_what_arrived_was_answered_or_refused_or_waits(load):
    simulation = Simulation(Plan(**load, form=BATCH_100, seconds=2, costs=FAR))
    result = simulation.run()
    counts = simulation.counts
    assert counts.arrived == counts.answered + counts.refused + result.waiting
    assert counts.answered > 0
    assert counts.refused > 0
    assert result.waiting > 0


def test_a_refused_call_is_sent_again_until_it_is_answered():
    plan = Plan(rate=5_000, form=BATCH_100, seconds=1, costs=FAR)
    sent = drained(replace(plan, costs=replace(FAR, queue=10**9))).counts.arrived
    counts = drained(plan).counts
    assert counts.inside == 0
    assert counts.refused > 0
    assert counts.answered == sent == counts.arrived - counts.refused


def test_on_a_loop_that_stands_still_calls_wait_before_the_queue():
    standing = replace(FAR, sync_blocks=True)
    result = simulate(Plan(rate=5_000, form=BATCH_100, seconds=2, costs=standing))
    assert result.refused == 0
    assert result.waiting > standing.queue


def test_calls_beyond_the_backlog_are_refused():
    most = simulate(Plan(crowd=64, seconds=2)).throughput
    result = simulate(Plan(crowd=8_000, seconds=8))
    assert result.refused > 0
    assert result.latency_ms(0.5) < 1_000 * 8_000 / most
    assert result.throughput > 0.5 * most


def test_more_than_can_be_refused_leaves_hardly_any_answers():
    most = simulate(Plan(crowd=64, seconds=2)).throughput
    result = simulate(Plan(rate=1.5e6 / ROUNDS.refusal_us, seconds=6))
    assert result.throughput < 0.5 * most


def test_calls_within_the_backlog_are_not_refused():
    assert simulate(Plan(crowd=5_000, seconds=4)).refused == 0


def test_messages_of_a_stream_are_not_refused_for_the_backlog():
    tight = replace(ROUNDS, backlog=1)
    result = simulate(Plan(rate=20_000, form=STREAM_16, seconds=2, costs=tight))
    assert result.refused == 0


def test_a_refused_call_costs_the_server_less():
    assert ROUNDS.refusal_us < ROUNDS.call_us + ROUNDS.command_us


def test_a_crowd_is_learnt_as_the_service_learns_it():
    random, crowd, rounds = Random(1), Crowd(), Rounds()
    for _ in range(20_000):
        answered = random.choice((0, 1, 2, 3, crowd.expected, 2 * crowd.expected % 99))
        crowd.learn(answered)
        rounds._learn(answered)
        assert crowd.expected == rounds._expected


def test_ledgers_that_share_a_process_wait_for_a_crowd_together():
    result = simulate(Plan(crowd=64, ledgers=16, seconds=2))
    assert result.batch > 3


def test_a_long_batch_leaves_room_for_others_in_its_turn():
    result = simulate(Plan(crowd=2, form=Form("PlayBatch(1000)", 1_000), seconds=3))
    assert result.batch == pytest.approx(ROUNDS.batch, rel=0.1)


def test_more_load_never_makes_a_smaller_batch():
    rates = [
        share * 1e6 / (THROWS.call_us + THROWS.command_us) for share in (0.1, 0.4, 0.6, 0.8, 2)
    ]
    batches = [simulate(Plan(rate=rate, seconds=1.5, costs=THROWS)).batch for rate in rates]
    assert batches == sorted(batches)
    assert batches[-1] > 2 * batches[0]


def test_who_comes_all_at_once_shares_a_commit():
    one_by_one = simulate(Plan(rate=500, seconds=3))
    at_once = simulate(Plan(rate=500, burst=20, seconds=3))
    assert at_once.batch > 3 * one_by_one.batch


@pytest.mark.parametrize("form", [UNARY, STREAM_16, BATCH_100])
def test_saturated_it_carries_what_a_command_costs(form):
    result = simulate(Plan(crowd=64, form=form, seconds=5))
    per_turn_us = ROUNDS.turn_us + ROUNDS.sync_us
    per_command_us = (
        ROUNDS.command_us + form.cost_us(ROUNDS) / form.commands + per_turn_us / result.batch
    )
    assert result.busy == pytest.approx(1, abs=0.01)
    assert result.throughput == pytest.approx(1e6 / per_command_us, rel=0.02)


def test_large_batches_cost_the_commands_and_their_share_of_a_full_turn():
    result = simulate(Plan(crowd=64, form=Form("PlayBatch(1000)", 1000), seconds=99))
    each_us = ROUNDS.command_us + (ROUNDS.turn_us + ROUNDS.sync_us) / ROUNDS.batch
    assert result.throughput == pytest.approx(1e6 / each_us, rel=0.02)


def test_a_disk_does_no_more_writes_than_it_can():
    plan = Plan(crowd=64, processes=8, cores=8, ledgers=8, seconds=1, costs=costs.SLOW_DISK)
    assert simulate(plan).syncs == pytest.approx(500, rel=0.02)


def test_processes_beyond_the_cores_carry_no_more():
    plan = Plan(crowd=256, ledgers=8, form=STREAM_16, cores=4, seconds=4)
    four, eight = (simulate(plan, processes=count).throughput for count in (4, 8))
    one = simulate(plan, processes=1).throughput
    assert four == pytest.approx(4 * one, rel=0.1)
    assert eight == pytest.approx(four, rel=0.15)


def test_a_loop_that_does_not_stand_still_carries_more():
    far = replace(ROUNDS, sync_us=2_000)
    standing = simulate(Plan(crowd=64, ledgers=4, seconds=1, costs=far))
    going_on = simulate(Plan(crowd=64, ledgers=4, seconds=1, costs=replace(far, sync_blocks=False)))
    assert going_on.throughput > 1.5 * standing.throughput


def test_the_same_seed_gives_the_same_figures_and_another_gives_others():
    plan = Plan(rate=1_000, seconds=1)
    assert simulate(plan) == simulate(plan)
    assert simulate(plan) != simulate(plan, seed=8)


@pytest.mark.parametrize("crowd, ledgers", costs.MEASURED_UNARY, ids=str)
def test_it_carries_what_was_measured_with_single_calls(crowd, ledgers):
    rate, batch = costs.MEASURED_UNARY[crowd, ledgers]
    simulated = simulate(Plan(crowd=crowd, ledgers=ledgers, seconds=2, costs=THROWS))
    assert simulated.throughput == pytest.approx(rate, rel=0.1)
    if crowd != 2:  # two share a turn here, and did not where it was measured
        assert simulated.batch == pytest.approx(batch, rel=0.25)


@pytest.mark.parametrize("form, crowd", costs.MEASURED_OTHER, ids=str)
def test_it_carries_what_was_measured_with_batches_and_streams(form, crowd):
    simulated = simulate(Plan(crowd=crowd, form=form, seconds=2, costs=THROWS))
    measured = costs.MEASURED_OTHER[form, crowd]
    assert simulated.throughput == pytest.approx(measured, rel=0.1)


@pytest.mark.parametrize("size", costs.MEASURED_BARE)
def test_it_carries_what_was_measured_without_calls(size):
    plan = Plan(crowd=1, form=Form("turn", size), seconds=2, costs=costs.NO_GRPC)
    assert simulate(plan).throughput == pytest.approx(costs.MEASURED_BARE[size], rel=0.1)


@pytest.mark.parametrize("share", [share for share in costs.MEASURED_OFFERED if share >= 0.25])
def test_the_middle_of_the_calls_waits_about_as_long_as_was_measured(share):
    most = simulate(Plan(crowd=64, seconds=2, costs=THROWS)).throughput
    simulated = simulate(Plan(rate=share * most, seconds=10, costs=THROWS))
    assert simulated.latency_ms(0.5) == pytest.approx(costs.MEASURED_OFFERED[share][0], rel=0.5)


def test_a_lone_call_takes_as_long_as_was_measured():
    simulated = simulate(Plan(crowd=1, seconds=0.5, costs=THROWS))
    assert simulated.latency_ms(0.5) == pytest.approx(costs.MEASURED_LONE_MS, rel=0.15)
