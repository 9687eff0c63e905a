"""Looking after a cache file: what is in it, and making it smaller. Here trouble is an error, not a miss."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentanvil.client.cache_file import connect
from agentanvil.errors import UsageError, Where


@dataclass(frozen=True, slots=True)
class CacheGroup:
    """What is kept of one judge and the model that answered; `bytes` are those of the replies."""

    judge: str
    model: str
    entries: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache file holds. `bytes` is its size on disk; times are Unix times, None in an empty cache."""

    path: str
    entries: int = 0
    bytes: int = 0
    oldest: float | None = None
    newest: float | None = None
    shapes: int = 0
    groups: tuple[CacheGroup, ...] = ()


def cache_stats(path: Path) -> CacheStats:
    """Count what is in the cache; one that does not exist is empty. Raises UsageError."""
    if not path.exists():
        return CacheStats(str(path))
    with opened(path) as connection:
        span = connection.execute("SELECT COUNT(*), MIN(created), MAX(created) FROM replies").fetchone()
        (shapes,) = connection.execute("SELECT COUNT(*) FROM shapes").fetchone()
        groups = connection.execute(
            "SELECT judge, model, COUNT(*), SUM(LENGTH(value)) FROM replies GROUP BY judge, model ORDER BY 1, 2"
        ).fetchall()
        size = _size(path)
    return CacheStats(str(path), span[0], size, span[1], span[2], shapes, tuple(CacheGroup(*group) for group in groups))


def cache_prune(
    path: Path, now: float, *, older_than_s: float | None = None, max_bytes: int | None = None
) -> CacheStats:
    """Drop replies older than an age, then the oldest until those left hold at most `max_bytes`.

    `now` is Unix time. Returns what is left. Raises UsageError.
    """
    if not path.exists():
        return CacheStats(str(path))
    with opened(path) as connection:
        if older_than_s is not None:
            connection.execute("DELETE FROM replies WHERE created < ?", (now - older_than_s,))
        if max_bytes is not None:
            connection.execute(
                "DELETE FROM replies WHERE rowid IN (SELECT id FROM ("
                "SELECT rowid AS id, SUM(LENGTH(value)) OVER (ORDER BY created DESC, rowid DESC) AS held FROM replies"
                ") WHERE held > ?)",
                (max_bytes,),
            )
        _shrink(connection)
    return cache_stats(path)


def cache_clear(path: Path) -> int:
    """Drop every reply and everything learnt about endpoints; return how many replies. Raises UsageError."""
    if not path.exists():
        return 0
    with opened(path) as connection:
        count = connection.execute("DELETE FROM replies").rowcount
        connection.execute("DELETE FROM shapes")
        _shrink(connection)
    return count


@contextmanager
def opened(path: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a cache file for one command; what SQLite says against it becomes a UsageError."""
    try:
        connection = connect(path, create=create)
        try:
            yield connection
        finally:
            connection.close()
    except (sqlite3.Error, OSError) as error:
        raise UsageError(
            f"the reply cache cannot be used: {error}",
            where=Where(str(path)),
            hint="Name another file with --cache, or delete this one if it is a cache that was damaged.",
        ) from error


def _shrink(connection: sqlite3.Connection) -> None:
    """Give the freed space back to the disk."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _size(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
