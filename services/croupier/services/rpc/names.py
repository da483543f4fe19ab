"""Resource names (AIP-122), parsed and printed in one place."""

from __future__ import annotations

from croupier.domain.errors import Reason, Refused, shown
from croupier.domain.names import check_account, check_id


def ledger_name(ledger: str) -> str:
    """Return "ledgers/{ledger}"."""
    return f"ledgers/{ledger}"


def table_name(ledger: str, table: str) -> str:
    """Return "ledgers/{ledger}/tables/{table}"."""
    return f"ledgers/{ledger}/tables/{table}"


def account_name(ledger: str, account: str) -> str:
    """Return "ledgers/{ledger}/accounts/{account}"."""
    return f"ledgers/{ledger}/accounts/{account}"


def parse_ledger(name: str, field: str) -> str:
    """Return the ledger of "ledgers/{ledger}", or refuse."""
    (ledger,) = _parse(name, field, "ledgers")
    return _ledger(ledger, field)


def parse_table(name: str, field: str) -> tuple[str, str]:
    """Return ledger and table of "ledgers/{ledger}/tables/{table}", or refuse."""
    ledger, table = _parse(name, field, "ledgers", "tables")
    return _ledger(ledger, field), _checked(table, field, "table")


def parse_account(name: str, field: str) -> tuple[str, str]:
    """Return ledger and account of "ledgers/{ledger}/accounts/{account}", or refuse."""
    ledger, account = _parse(name, field, "ledgers", "accounts")
    try:
        return _ledger(ledger, field), check_account(account)
    except Refused as refusal:
        raise refusal.at(field) from None


def check_same_ledger(named: str, ledger: str, field: str) -> None:
    """Refuse a name in a batch that is for another ledger."""
    if named != ledger:
        raise Refused(
            Reason.INVALID_NAME,
            f"the batch is for {ledger_name(ledger)}, not for {ledger_name(named)}",
            field=field,
            form=f"{ledger_name(ledger)}/...",
        )


def _ledger(ledger: str, field: str) -> str:
    return _checked(ledger, field, "ledger")


def _checked(value: str, field: str, what: str) -> str:
    try:
        return check_id(value, what)
    except Refused as refusal:
        raise refusal.at(field) from None


def _parse(name: str, field: str, *collections: str) -> tuple[str, ...]:
    """Return the ids of a name whose collections are these, or refuse."""
    if not name:
        raise Refused(Reason.MISSING_FIELD, f"{field} is required", field=field)
    parts = name.split("/")
    if len(parts) != 2 * len(collections) or tuple(parts[::2]) != collections:
        form = "/".join(f"{one}/{{{one[:-1]}}}" for one in collections)
        raise Refused(Reason.INVALID_NAME, f"{shown(name)} is not {form}", field=field, form=form)
    return tuple(parts[1::2])
