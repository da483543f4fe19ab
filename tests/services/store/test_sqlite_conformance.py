"""The SQLite engine does what every engine has to do."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

from croupier.services.store.sqlite import SQLiteEngine
from tests.services.store.conformance import StoreConformance
from tests.services.store.conformance_acknowledgements import AcknowledgementConformance
from tests.support.lines import CutEngine, Line


def open_log(folder: Path):
    return SQLiteEngine(folder).open("main")


class TestSQLiteStore(StoreConformance):
    def opener(self, folder):
        return partial(open_log, folder)

    def spoil(self, folder, of, /, **fields):
        values = ", ".join(f"{field} = ?" for field in fields)
        with closing(sqlite3.connect(folder / "main.db")) as file, file:
            statement = f"UPDATE snapshots SET {values} WHERE name = ?"  # noqa: S608  # field names of ours
            assert file.execute(statement, (*fields.values(), of)).rowcount == 1


class TestSQLiteAcknowledgements(AcknowledgementConformance):
    def cuttable(self, folder):
        line = Line()
        return CutEngine(SQLiteEngine(folder), line), line
