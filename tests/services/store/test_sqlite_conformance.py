"""The SQLite engine does what every engine has to do."""

from functools import partial
from pathlib import Path

from croupier.services.store.sqlite import SQLiteEngine
from tests.services.store.conformance import StoreConformance


def open_log(folder: Path):
    return SQLiteEngine(folder).open("main")


class TestSQLiteStore(StoreConformance):
    def opener(self, folder):
        return partial(open_log, folder)
