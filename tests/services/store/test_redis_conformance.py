"""The Redis engine does what every engine has to do."""

from functools import partial

import pytest

from croupier.services.store.redis.engine import RedisEngine
from croupier.services.store.redis.scripts import COMMIT
from croupier.services.store.redis_address import parse
from tests.services.store.conformance import StoreConformance
from tests.services.store.conformance_acknowledgements import AcknowledgementConformance
from tests.support.cutting_proxy import CuttingProxy


def open_log(url, ledger):
    engine = RedisEngine(parse(url))
    store = engine.open(ledger)
    let_go = store.close

    def close():
        let_go()
        engine.close()

    store.close = close
    return store


@pytest.fixture(autouse=True)
def _server(request, redis):
    request.instance._redis = redis


class TestRedisStore(StoreConformance):
    has_lock = False

    def opener(self, folder):
        # Each folder is a log of its own.
        return partial(open_log, self._redis.url, folder.name)

    def spoil(self, folder, of, /, **fields):
        key = f"croupier:{{{folder.name}}}:snapshot:"
        with self._redis.client() as client:
            if name := fields.pop("name", None):
                client.rename(key + of, key + name)
            if fields:
                assert client.hset(key + of, mapping=fields) == 0


class TestRedisAcknowledgements(AcknowledgementConformance):
    def cuttable(self, folder):
        with self._redis.client() as client:
            client.script_load(COMMIT.text)
        proxy = CuttingProxy(self._redis.port)
        self._lines.append(proxy.close)
        return RedisEngine(parse(proxy.url)), proxy.line
