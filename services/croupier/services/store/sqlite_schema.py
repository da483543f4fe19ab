"""The schema of a ledger's file: log, request ids, head, and what may not happen to them.

Triggers refuse to change or remove a record, and to put another in its place. Snapshots are a
cache, which may be replaced and deleted.
"""

from __future__ import annotations

import sqlite3

SNAPSHOTS = """\
CREATE TABLE IF NOT EXISTS snapshots (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    stamp TEXT NOT NULL,
    digest BLOB NOT NULL,
    state BLOB NOT NULL
);
"""
"""The only table that may lose rows, or be missing: a file made before snapshots has none."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS stored_events (
    position INTEGER PRIMARY KEY,
    originator_id TEXT NOT NULL,
    originator_version INTEGER NOT NULL,
    topic TEXT NOT NULL,
    state BLOB NOT NULL,
    UNIQUE (originator_id, originator_version)
);
CREATE INDEX IF NOT EXISTS streams
    ON stored_events (originator_id) WHERE originator_version = 1;
CREATE TABLE IF NOT EXISTS requests (
    caller TEXT NOT NULL,
    request_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (caller, request_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    position INTEGER NOT NULL,
    recorded_us INTEGER NOT NULL,
    frontier BLOB NOT NULL
);
INSERT OR IGNORE INTO head VALUES (1, 0, 0, x'');
CREATE TRIGGER IF NOT EXISTS head_not_deleted BEFORE DELETE ON head
    BEGIN SELECT RAISE(ABORT, 'a log has a head'); END;
CREATE TRIGGER IF NOT EXISTS events_not_updated BEFORE UPDATE ON stored_events
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS events_not_deleted BEFORE DELETE ON stored_events
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS events_appended BEFORE INSERT ON stored_events
    WHEN NEW.position <> (SELECT COALESCE(MAX(position), 0) + 1 FROM stored_events)
      OR EXISTS (SELECT 1 FROM stored_events WHERE originator_id = NEW.originator_id
                 AND originator_version = NEW.originator_version)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: not the next position or version'); END;
CREATE TRIGGER IF NOT EXISTS requests_not_updated BEFORE UPDATE ON requests
    BEGIN SELECT RAISE(ABORT, 'requests are append-only'); END;
CREATE TRIGGER IF NOT EXISTS requests_not_deleted BEFORE DELETE ON requests
    BEGIN SELECT RAISE(ABORT, 'requests are append-only'); END;
CREATE TRIGGER IF NOT EXISTS requests_not_replaced BEFORE INSERT ON requests
    WHEN EXISTS (SELECT 1 FROM requests
                 WHERE caller = NEW.caller AND request_id = NEW.request_id)
    BEGIN SELECT RAISE(ABORT, 'requests are append-only: the request id exists'); END;
"""


def statements() -> list[str]:
    """Return the schema's statements; a trigger's inner semicolon does not end one."""
    found, pending = [], ""
    for line in (_SCHEMA + SNAPSHOTS).splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    return found
