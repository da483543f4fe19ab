"""What happens to a ledger as a whole, beside its creation."""

from __future__ import annotations

from croupier.domain.event import event


@event("croupier.v1.LedgerUnfenced")
class LedgerUnfenced:
    """An operator had looked, and let a ledger be served again that had been fenced.

    Its log may have lost positions that had been seen: from `lost_first`, 0 where that is not
    known, to `lost_last`, 0 where nothing is lost.
    """

    lost_first: int
    lost_last: int
    lost_root: bytes
    """The root of the tree to `lost_last`, as it was seen."""
    lost_recorded_us: int
    """When the last of them was recorded, microseconds since 1970."""
    why: str
    """Why the ledger had been fenced."""
    reason: str
    """Why it is served again, in the operator's words."""
