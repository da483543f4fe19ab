"""Who waits for a turn, and who goes first: bounded, and fair to callers."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.domain.errors import Reason, Refused
from croupier.services.ledger.admission import (
    QUANTUM,
    RETRY_MS_LEAST,
    RETRY_MS_MOST,
    Admission,
    Job,
)
from croupier.services.ledger.requests import Deposit, Request

_IDS = itertools.count(1)


def job(caller="desk", size=1, *, loop=None):
    requests = tuple(
        Request(Deposit("house", "EUR", 1), caller, f"id-{next(_IDS)}", b"") for _ in range(size)
    )
    return Job(requests, atomic=False, answer=asyncio.Future(loop=loop or _LOOP))


_LOOP = asyncio.new_event_loop()


def put(admission, *jobs):
    for one in jobs:
        admission.put(one)
    return list(jobs)


def test_one_callers_jobs_are_taken_in_the_order_they_came():
    admission = Admission(100)
    jobs = put(admission, *(job() for _ in range(50)))
    assert admission.take(20) + admission.take(100) == jobs
    assert (admission.waiting, admission.jobs) == (0, 0)


def test_a_turn_takes_a_like_number_from_every_caller():
    admission = Admission(10_000)
    put(admission, *(job("flood") for _ in range(1_000)))
    put(admission, *(job("quiet") for _ in range(10)), *(job("other") for _ in range(10)))
    callers = [one.caller for one in admission.take(3 * QUANTUM)]
    assert callers.count("quiet") == 10
    assert callers.count("other") == 10
    assert callers.count("flood") == 3 * QUANTUM - 20


def test_who_was_passed_over_because_the_turn_was_full_is_the_first_in_the_next():
    admission = Admission(10_000)
    put(admission, *(job("a") for _ in range(100)), job("b"), job("c"))
    assert {one.caller for one in admission.take(QUANTUM)} == {"a"}
    assert [one.caller for one in admission.take(3)][:2] == ["b", "c"]


def test_large_jobs_count_for_as_many_requests_as_they_have():
    admission = Admission(100_000)
    put(admission, *(job("batches", 100) for _ in range(20)), *(job("single") for _ in range(200)))
    taken = admission.take(400)
    single = sum(len(one.requests) for one in taken if one.caller == "single")
    assert single >= 200 - QUANTUM


def test_a_job_larger_than_a_turn_is_a_turn_of_its_own():
    admission = Admission(10_000)
    large, small = put(admission, job("a", 500), job("b"))
    assert admission.take(100) == [small]
    assert admission.take(100) == [large]


def test_who_has_gone_is_not_taken():
    admission = Admission(100)
    gone, here = put(admission, job(), job())
    gone.answer.cancel()
    assert admission.take(100) == [here]
    assert admission.waiting == 0


def test_beyond_the_limit_a_caller_is_told_how_long_to_wait():
    admission = Admission(10)
    put(admission, *(job() for _ in range(10)))
    admission.answered(100, 1.0)  # ten milliseconds each
    with pytest.raises(Refused) as caught:
        admission.put(job())
    assert caught.value.reason is Reason.QUEUE_FULL
    assert caught.value.metadata == {"waiting": "10", "retry_ms": "100"}
    assert admission.waiting == 10


@pytest.mark.parametrize(
    "seconds, told_ms", [(0.0, RETRY_MS_LEAST), (0.000_1, RETRY_MS_LEAST), (9.0, RETRY_MS_MOST)]
)
def test_the_wait_that_callers_are_told_is_bounded(seconds, told_ms):
    admission = Admission(10)
    put(admission, *(job() for _ in range(10)))
    admission.answered(1, seconds)
    with pytest.raises(Refused) as caught:
        admission.put(job())
    assert caught.value.metadata["retry_ms"] == str(told_ms)


def test_a_flood_does_not_keep_out_who_waits_with_less_than_his_share():
    admission = Admission(10)
    put(admission, *(job("flood") for _ in range(10)))
    put(admission, *(job("quiet") for _ in range(5)))
    with pytest.raises(Refused):
        admission.put(job("quiet"))
    with pytest.raises(Refused):
        admission.put(job("flood"))
    assert admission.waiting == 15


def test_however_many_callers_come_the_queue_is_never_twice_as_long_as_its_limit():
    admission = Admission(10)
    for caller in range(100):
        for _ in range(10):
            try:
                admission.put(job(str(caller)))
            except Refused:
                break
    assert 10 <= admission.waiting <= 20


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 40)), max_size=60),
    st.integers(1, 100),
)
def test_every_job_is_taken_once_and_in_its_callers_order(sizes, most):
    admission = Admission(10_000)
    jobs = put(admission, *(job(caller, size) for caller, size in sizes))
    taken = []
    while turn := admission.take(most):
        assert sum(len(one.requests) for one in turn) <= most or len(turn) == 1
        taken += turn
    for caller in "abc":
        assert [j for j in taken if j.caller == caller] == [j for j in jobs if j.caller == caller]
    assert len(taken) == len(jobs)
    assert (admission.waiting, admission.jobs) == (0, 0)
