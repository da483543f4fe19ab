"""What the tests of stores share."""

import pytest

from tests.support.redis_server import redis_server

# The conformance cases are not in a test module, yet their asserts are to explain themselves.
pytest.register_assert_rewrite(
    "tests.services.store.conformance",
    "tests.services.store.conformance_acknowledgements",
    "tests.services.store.conformance_processes",
    "tests.services.store.conformance_snapshots",
)


@pytest.fixture(scope="session")
def one_redis():
    """One real server for all tests of this process; they share it, and what it holds."""
    with redis_server() as server:
        yield server


@pytest.fixture
def redis(one_redis):
    """Return a real server without any keys."""
    with one_redis.client() as client:
        client.flushall()
    return one_redis
