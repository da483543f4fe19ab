"""Which process is best for a ledger: evenly shared, the same everywhere, and hardly ever moved."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.services.assignment import Assignment, best, ranked

LEDGERS = [f"casino-{number}" for number in range(1000)]

ports = st.integers(1, 65535)
hosts = st.from_regex(r"[a-z][a-z0-9.-]{0,20}", fullmatch=True)
addresses = st.lists(
    st.builds("{}:{}".format, hosts, ports), min_size=1, max_size=9, unique=True
).map(tuple)
ids = st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True)


def consecutive(count):
    return tuple(f"127.0.0.1:{50051 + number}" for number in range(count))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 16])
def test_a_thousand_ledgers_are_shared_evenly(count):
    shares = Counter(best(consecutive(count), ledger) for ledger in LEDGERS)
    fair = len(LEDGERS) / count
    # Five standard deviations of a fair draw: a hash that favours an address is far beyond.
    bound = 5 * (fair * (1 - 1 / count)) ** 0.5
    assert sum(shares.values()) == len(LEDGERS)
    assert all(abs(shares[address] - fair) <= bound for address in consecutive(count))


@given(addresses, st.builds("{}:{}".format, hosts, ports), ids)
def test_an_address_that_is_added_only_takes(before, added, ledger):
    after = best((*before, added), ledger)
    assert after in (best(before, ledger), added)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_an_address_that_is_added_takes_its_share_and_no_more(count):
    before, after = consecutive(count), consecutive(count + 1)
    moved = [one for one in LEDGERS if best(before, one) != best(after, one)]
    fair = len(LEDGERS) / (count + 1)
    assert {best(after, one) for one in moved} == {after[-1]}
    assert 0.75 * fair < len(moved) < 1.25 * fair


@given(addresses, ids, st.randoms())
def test_the_order_of_addresses_does_not_matter(listed, ledger, random):
    shuffled = random.sample(listed, len(listed))
    assert best(shuffled, ledger) == best(listed, ledger)
    assert ranked(shuffled, ledger) == ranked(listed, ledger)


@given(addresses, ids)
def test_without_the_best_the_next_best_is_best(listed, ledger):
    order = ranked(listed, ledger)
    assert sorted(order) == sorted(listed)
    while order:
        assert best(order, ledger) == order[0]
        order.pop(0)


@given(addresses, ids)
def test_a_ledger_is_in_exactly_one_process(listed, ledger):
    processes = [Assignment(address, listed) for address in listed]
    assert [one.address for one in processes if one.is_here(ledger)] == [best(listed, ledger)]


def test_it_is_what_is_documented_so_that_proxies_can_do_the_same():
    """Two digests, from `printf %s 127.0.0.1:50051/main | sha256sum` and so on."""
    digests = {
        "127.0.0.1:50051": "bac96268cc32dfde61c1d3e334c828b473fc763e1a031b22bbdfcfe60dff0b5d",
        "127.0.0.1:50052": "8e34bd12df8bf52908ec596c4e81e7f585a76a2a725eb4d530ec3957fa6ef9db",
    }
    assert best(tuple(digests), "main") == max(digests, key=digests.__getitem__)
    assert ranked(tuple(digests), "main") == sorted(digests, key=digests.get, reverse=True)


def test_it_is_the_same_in_every_process():
    program = (
        "from croupier.services.assignment import best\n"
        f"print([best({consecutive(5)!r}, one) for one in {LEDGERS[:100]!r}])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    }
    assert said == {f"{[best(consecutive(5), one) for one in LEDGERS[:100]]}\n"}
