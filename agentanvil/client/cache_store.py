"""Keeping replies between runs in SQLite. Trouble with the file is told once and then costs only hits."""

from __future__ import annotations

import math
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import orjson

from agentanvil.client.adapter import RUNGS, Shape
from agentanvil.client.cache_entry import Entry
from agentanvil.client.cache_file import BUSY_S, connect, is_busy
from agentanvil.hashing import digest

SHAPE_DAYS = 7.0
"""How long an endpoint's refusals are believed: providers lift them."""

_BATCH = 256
_BATCH_S = 0.2
_MOST_PENDING = 20_000
_READ_BUSY_MS = 100
_REST_S = 5.0
_PUT = "INSERT OR REPLACE INTO replies (key, value, judge, model, created) VALUES (?, ?, ?, ?, ?)"
_SAVE = "INSERT OR REPLACE INTO shapes (endpoint, model, value, saved) VALUES (?, ?, ?, ?)"

Write = tuple[str, tuple[bytes | str | float, ...]]


class CacheStore:
    """A reply cache that several processes may share, used from one thread.

    Reads are direct and take microseconds; writes are collected by a thread of its own, and can be read at
    once. Whatever goes wrong (locked, damaged, full, read-only, another program's file) is told to `on_trouble`
    once, in one sentence on the caller's thread, and from then on is a miss; nothing here raises. `clock`
    gives Unix time.
    """

    def __init__(
        self,
        path: Path,
        on_trouble: Callable[[str], None],
        *,
        busy_s: float = BUSY_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._on_trouble = on_trouble
        self._busy_s = busy_s
        self._clock = clock
        self._trouble: str | None = None
        self._told = False
        self._rest_until = 0.0
        self._pending: dict[bytes, bytes] = {}
        self._queue: queue.SimpleQueue[Write | None] = queue.SimpleQueue()
        self._reader: sqlite3.Connection | None = None
        self._writer: threading.Thread | None = None
        with self._forgiven():
            self._reader = connect(path, create=True, busy_s=busy_s)
            self._reader.execute(f"PRAGMA busy_timeout = {_READ_BUSY_MS}")
            self._writer = threading.Thread(target=self._write_all, name="anvil-cache", daemon=True)
            self._writer.start()
        self._tell()

    def get(self, key: bytes) -> bytes | None:
        """Return the JSON kept under `key`, or None."""
        value = self._pending.get(key)
        if value is not None:
            return value
        row = self._select("SELECT value FROM replies WHERE key = ?", (key,))
        return row if isinstance(row, bytes) else None

    def put(self, entry: Entry) -> None:
        """Keep a reply; it can be read at once and is on disk soon."""
        if self._writer is None or len(self._pending) >= _MOST_PENDING:
            return
        self._pending[entry.key] = entry.value
        self._queue.put((_PUT, (entry.key, entry.value, entry.judge, entry.model, entry.created)))

    def load(self, place: str, model: str) -> Shape | None:
        """Return what the endpoint at `place` and a model accept, if that was learnt within the last week."""
        value = self._select(
            "SELECT value FROM shapes WHERE endpoint = ? AND model = ? AND saved > ?",
            (digest(place), model, self._clock() - SHAPE_DAYS * 86400),
        )
        return _read_shape(value) if isinstance(value, bytes) else None

    def save(self, place: str, model: str, shape: Shape) -> None:
        """Remember what an endpoint and model accept. The address is kept as a digest: it may hold a secret."""
        if self._writer is not None:
            self._queue.put((_SAVE, (digest(place), model, _write_shape(shape), self._clock())))

    def close(self) -> None:
        """Write what is left and close the file. Blocks while it does; afterwards everything is a miss."""
        writer, self._writer = self._writer, None
        if writer is not None:
            self._queue.put(None)
            writer.join()
        if self._reader is not None:
            with self._forgiven():
                self._reader.close()
            self._reader = None
        self._tell()

    def _select(self, sql: str, values: tuple[object, ...]) -> object:
        """Return the first column of the first row, or None; also while the file is left alone after trouble."""
        if self._trouble is not None:
            self._tell()
            if time.monotonic() < self._rest_until:
                return None
        row: tuple[object, ...] | None = None
        if self._reader is not None:
            with self._forgiven(reading=True):
                row = self._reader.execute(sql, values).fetchone()
        return None if row is None else row[0]

    def _write_all(self) -> None:
        """Run in the writing thread: take what comes and commit it in batches."""
        connection: sqlite3.Connection | None = None
        with self._forgiven():
            connection = connect(self._path, create=False, busy_s=self._busy_s)
        more = True
        while more:
            batch, more = self._collect()
            if batch and connection is not None:
                with self._forgiven():
                    _commit(connection, batch)
            for sql, values in batch:
                if sql is _PUT:
                    self._pending.pop(values[0], None)  # type: ignore[arg-type]
        if connection is not None:
            with self._forgiven():
                connection.close()

    def _collect(self) -> tuple[list[Write], bool]:
        """Return a batch, and whether more may come."""
        batch: list[Write] = []
        item = self._queue.get()
        deadline = time.monotonic() + _BATCH_S
        while item is not None:
            batch.append(item)
            if len(batch) == _BATCH:
                return batch, True
            try:
                item = self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return batch, True
        return batch, False

    @contextmanager
    def _forgiven(self, *, reading: bool = False) -> Iterator[None]:
        """Note trouble instead of raising it. Reading rests after a lock, and ends after anything worse."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if reading:
                self._rest_until = time.monotonic() + _REST_S if is_busy(error) else math.inf
            if self._trouble is None:
                self._trouble = f"the reply cache {self._path} cannot be used: {error}"

    def _tell(self) -> None:
        if self._trouble is not None and not self._told:
            self._told = True
            self._on_trouble(self._trouble)


def _commit(connection: sqlite3.Connection, batch: list[Write]) -> None:
    try:
        connection.execute("BEGIN IMMEDIATE")
        for sql, values in batch:
            connection.execute(sql, values)
        connection.execute("COMMIT")
    except sqlite3.Error:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _write_shape(shape: Shape) -> bytes:
    return orjson.dumps({"rung": shape.rung, "dropped": sorted(shape.dropped), "cap_field": shape.cap_field})


def _read_shape(value: bytes) -> Shape | None:
    try:
        kept = orjson.loads(value)
        rung, dropped, cap_field = kept["rung"], kept["dropped"], kept["cap_field"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    named = isinstance(dropped, list) and all(isinstance(name, str) for name in dropped)
    if rung not in RUNGS or not named or not isinstance(cap_field, str):
        return None
    return Shape(rung=rung, dropped=frozenset(dropped), cap_field=cap_field)
