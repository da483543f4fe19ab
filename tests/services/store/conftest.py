"""The conformance cases are not in a test module, yet their asserts are to explain themselves."""

import pytest

pytest.register_assert_rewrite(
    "tests.services.store.conformance",
    "tests.services.store.conformance_acknowledgements",
    "tests.services.store.conformance_processes",
    "tests.services.store.conformance_snapshots",
)
