"""A whole log, read from its first record to its head and compared with all that is kept of it."""

from __future__ import annotations

from croupier.services.ledger.book import Book, LogError, read
from croupier.services.ledger.committed import PAGE, check_requests
from croupier.services.ledger.tail import check_tail
from croupier.services.store.store import Head, Store


def read_whole(store: Store) -> tuple[Head, Book]:
    """Return a log's head and its book, folded from position 1 without any snapshot.

    The tree is recomputed from the stored bytes and is the head's; columns say what records say;
    every request id is in the index and no other; money sums to zero.

    Raises:
        LogError: it is not so.
        PersistenceError: the store cannot be read.

    """
    head, book = store.head(), Book()
    while book.position < head.position:
        records = store.records(book.position, min(PAGE, head.position - book.position))
        if not records:
            msg = f"position {book.position + 1} is missing, the head is at {head.position}"
            raise LogError(msg)
        events = [read(record) for record in records]
        check_requests(store, events)
        for record, event in zip(records, events, strict=True):
            book.fold(record, event)
    if book.frontier != head.frontier:
        msg = f"the tree over events 1 to {head.position} is not the head's: one was changed"
        raise LogError(msg)
    check_tail(store, head)
    store.check_streams(head.position)
    if (known := store.count_requests(head.position)) != book.requests:
        msg = f"{book.requests} requests are in the log, {known} in the index of request ids"
        raise LogError(msg)
    if head.position and not book.is_sound():
        msg = "the balances of the log do not sum to zero, or one is negative"
        raise LogError(msg)
    return head, book
