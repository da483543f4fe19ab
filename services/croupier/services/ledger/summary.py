"""A ledger in a few words, for lists: where it stands, and whether it is served."""

from __future__ import annotations

from dataclasses import dataclass

from croupier.services.ledger.book import LogError, read
from croupier.services.ledger.deciding import LEDGER_STREAM
from croupier.services.store.store import Head, Store


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list shows of a ledger; of one that is fenced, nothing but why."""

    id: str
    head: Head
    format_version: int
    fenced: str = ""


def glance(ledger_id: str, store: Store) -> Summary | None:
    """Return what a store says without folding its log, None where the log has not begun.

    Raises:
        LogError, DataError: it does not say what it must; whoever opens the ledger finds out more.
        PersistenceError: the store does not answer.

    """
    head = store.head()
    if head.position == 0:
        return None
    records = store.records(0, 1)
    created = read(records[0]) if records else None
    if created is None or created.stream != LEDGER_STREAM:
        msg = "the log does not begin with the ledger's creation"
        raise LogError(msg)
    return Summary(ledger_id, head, created.ledger_created.format_version)
