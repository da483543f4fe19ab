"""Resource names are printed and parsed in one place, and mean the same both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.domain.errors import Reason, Refused
from croupier.services.rpc import names

IDS = st.from_regex(r"[A-Za-z0-9._-]{1,64}", fullmatch=True).filter(
    lambda one: one not in (".", "..")
)
ACCOUNTS = st.one_of(
    st.sampled_from(["house", "external"]),
    st.builds("{}:{}".format, st.sampled_from(["player", "escrow", "bankroll"]), IDS),
)


@given(IDS, IDS, ACCOUNTS)
def test_a_printed_name_is_parsed_to_what_it_names(ledger: str, table: str, account: str):
    assert names.parse_ledger(names.ledger_name(ledger), "f") == ledger
    assert names.parse_table(names.table_name(ledger, table), "f") == (ledger, table)
    assert names.parse_account(names.account_name(ledger, account), "f") == (ledger, account)


@given(st.text())
def test_any_text_is_a_name_or_refused_with_its_field(text: str):
    refusals = []
    for parse in (names.parse_ledger, names.parse_table, names.parse_account):
        for name in (text, f"ledgers/{text}", f"ledgers/l/tables/{text}", f"ledgers/l/{text}/t"):
            try:
                parse(name, "some_field")
            except Refused as refusal:
                refusals.append(refusal)
    assert {refusal.field for refusal in refusals} == {"some_field"}
    assert all(len(refusal.message) < 300 for refusal in refusals)


def test_the_form_of_a_name_is_in_its_refusal():
    with pytest.raises(Refused) as refused:
        names.parse_table("ledgers/casino", "name")
    assert refused.value.reason is Reason.INVALID_NAME
    assert refused.value.metadata["form"] == "ledgers/{ledger}/tables/{table}"
