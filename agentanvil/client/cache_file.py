"""The cache's file: its SQLite schema, how it is opened, and how a foreign or newer file is told apart."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

APPLICATION_ID = 0x416E766C  # "Anvl"
VERSION = 1
BUSY_S = 2.0
"""How long another process may hold the file before its lock counts as trouble."""

_SCHEMA = f"""
CREATE TABLE replies (
    key BLOB PRIMARY KEY, value BLOB NOT NULL, judge TEXT NOT NULL, model TEXT NOT NULL, created REAL NOT NULL
);
CREATE INDEX replies_created ON replies (created);
CREATE TABLE shapes (
    endpoint TEXT NOT NULL, model TEXT NOT NULL, value BLOB NOT NULL, saved REAL NOT NULL,
    PRIMARY KEY (endpoint, model)
);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
"""


class NotOurCacheError(sqlite3.DatabaseError):
    """The file is a database, but not a reply cache of this version."""


def connect(path: Path, *, create: bool, busy_s: float = BUSY_S) -> sqlite3.Connection:
    """Open a cache file, creating folder and file if asked to. Raises sqlite3.Error or OSError.

    The file is readable by its owner only: it holds what was judged. A connection may be used from several
    threads, one at a time.
    """
    if create:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=busy_s,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        _prepare(connection, busy_s)
    except BaseException:
        connection.close()
        raise
    return connection


def is_busy(error: Exception) -> bool:
    """Whether another process holds the file, so that trying again later may help."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF  # the rest of it says why
    return code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _prepare(connection: sqlite3.Connection, busy_s: float) -> None:
    connection.execute("BEGIN")  # one snapshot: another process may be making the file between two reads
    try:
        ours = _is_ours(connection)
    finally:
        connection.execute("COMMIT")
    if not ours:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not _is_ours(connection):
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    _use_wal(connection, busy_s)
    connection.execute("PRAGMA synchronous = NORMAL")


def _is_ours(connection: sqlite3.Connection) -> bool:
    """Tell a cache of this version from an empty file. Raises NotOurCacheError for anything else."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == APPLICATION_ID and version == VERSION:
        return True
    if application == APPLICATION_ID:
        message = f"it was written by another version of anvil (format {version}, this one reads {VERSION})"
        raise NotOurCacheError(message)
    if application or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        message = "it is a database of another program"
        raise NotOurCacheError(message)
    return False


def _use_wal(connection: sqlite3.Connection, busy_s: float) -> None:
    """Switch to the write-ahead log; SQLite does not wait for other processes here, so this does."""
    deadline = time.monotonic() + busy_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
