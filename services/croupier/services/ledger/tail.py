"""The self-check of a head: whether the last records of the log are those that it says."""

from __future__ import annotations

from croupier.services.audit.tree import Frontier, leaf_hash
from croupier.services.ledger.book import LogError, read
from croupier.services.ledger.sealing import microseconds
from croupier.services.store.store import Head, Store

TAIL = 256
"""How many of the last records are read at most; about a millisecond's work."""


def check_tail(store: Store, head: Head) -> None:
    """Compare the end of a log with its head.

    The last record has to stand at the head's position, to say so itself, and to be as old as the
    head says. Those of the tree's subtrees that cover the last records are computed anew, as far as
    that is cheap; what is before is read in the background.

    Raises:
        LogError: the log does not end as its head says.

    """
    if not head.position:
        return
    sizes = _last_subtrees(head.position)
    wanted = sum(sizes) or 1
    records = store.records(head.position - wanted, wanted)
    if [record.id for record in records] != list(
        range(head.position - wanted + 1, head.position + 1)
    ):
        msg = f"the log does not end at the head's position {head.position}"
        raise LogError(msg)
    recorded_us = microseconds(read(records[-1]).recorded_time)
    if recorded_us != head.recorded_us:
        msg = f"the last event was recorded at {recorded_us}, the head says {head.recorded_us}"
        raise LogError(msg)
    leaves = [leaf_hash(record.state) for record in records]
    first = len(head.frontier.hashes) - len(sizes)
    for size, said in zip(sizes, head.frontier.hashes[first:], strict=True):
        some, leaves = leaves[:size], leaves[size:]
        again = Frontier()
        for leaf in some:
            again = again.append(leaf)
        if again.root != said:
            msg = f"the tree over the last {wanted} events is not the head's: one was changed"
            raise LogError(msg)


def _last_subtrees(position: int) -> list[int]:
    """Return the sizes of the last complete subtrees, largest first, up to `TAIL` in all."""
    last: list[int] = []
    size = 1
    while size <= position and sum(last) + size <= TAIL:
        if position & size:
            last.insert(0, size)
        size *= 2
    return last
