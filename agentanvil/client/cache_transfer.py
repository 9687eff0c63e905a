"""Moving cached replies between machines, as JSON lines: a header line, then one line per reply."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from agentanvil.client.cache_admin import opened
from agentanvil.client.cache_entry import Entry, decode_reply
from agentanvil.errors import DatasetError, UsageError, Where
from agentanvil.strict_json import JsonError, JsonValue, parse_json

_HEADER: dict[str, object] = {"format": "anvil-cache", "version": 1}
_FIELDS = frozenset({"key", "judge", "model", "created", "reply"})
_KEY_BYTES = 16
_END_OF_TIME = 2.0**40


@dataclass(frozen=True, slots=True)
class Imported:
    """How many replies were new, and how many the cache had already."""

    added: int
    known: int


def cache_export(path: Path, target: Path) -> int:
    """Write every reply to `target`, whole or not at all; return how many. Raises UsageError.

    Entries that are no replies (damaged, or put there by another program) are left out.
    """
    if not path.exists():
        raise UsageError("there is no reply cache", where=Where(str(path)))
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    with opened(path) as connection:
        try:
            with part.open("wb") as out:
                count = _write(connection, out)
            part.replace(target)
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", where=Where(str(target))) from error
        finally:
            part.unlink(missing_ok=True)
    return count


def cache_import(path: Path, source: Path) -> Imported:
    """Add the replies of an exported file, all or, where any line is wrong, none.

    Replies that the cache has already stay as they are. Raises DatasetError naming file and line, UsageError.
    """
    try:
        lines = source.open("rb")
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=Where(str(source))) from error
    with lines, opened(path, create=True) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            imported = _add(connection, _entries(lines, str(source)))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    return imported


def _write(connection: sqlite3.Connection, out: BinaryIO) -> int:
    out.write(orjson.dumps(_HEADER) + b"\n")
    count = 0
    for key, value, judge, model, created in connection.execute(
        "SELECT key, value, judge, model, created FROM replies ORDER BY key"
    ):
        if isinstance(value, bytes) and decode_reply(value) is not None:
            line = {
                "key": key.hex(),
                "judge": judge,
                "model": model,
                "created": created,
                "reply": orjson.Fragment(value),
            }
            out.write(orjson.dumps(line) + b"\n")
            count += 1
    return count


def _add(connection: sqlite3.Connection, entries: Iterable[Entry]) -> Imported:
    added = known = 0
    for entry in entries:
        new = connection.execute(
            "INSERT OR IGNORE INTO replies (key, value, judge, model, created) VALUES (?, ?, ?, ?, ?)",
            (entry.key, entry.value, entry.judge, entry.model, entry.created),
        ).rowcount
        added += new
        known += 1 - new
    return Imported(added, known)


def _entries(lines: BinaryIO, name: str) -> Iterator[Entry]:
    number = 0
    for number, line in enumerate(lines, 1):
        where = Where(name, number)
        value = _object(line, where)
        if number > 1:
            yield _entry(value, where)
        elif value != _HEADER:
            raise DatasetError("this is not an export of a reply cache of this version", where=where)
    if number == 0:
        raise DatasetError("the file is empty", where=Where(name))


def _object(line: bytes, where: Where) -> dict[str, JsonValue]:
    if not line.endswith(b"\n"):
        raise DatasetError("the line has no end: the file was cut short", where=where)
    try:
        value = parse_json(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise DatasetError("not UTF-8", where=where) from None
    except JsonError as error:
        raise DatasetError(error.message, where=where) from None
    if not isinstance(value, dict):
        raise DatasetError("not a JSON object", where=where)
    return value


def _entry(value: dict[str, JsonValue], where: Where) -> Entry:
    if value.keys() != _FIELDS:
        raise DatasetError(f"expected the fields {', '.join(sorted(_FIELDS))}", where=where)
    key, judge, model, created = value["key"], value["judge"], value["model"], value["created"]
    if not isinstance(judge, str) or not isinstance(model, str):
        raise DatasetError("judge and model must be text", where=where)
    if isinstance(created, bool) or not isinstance(created, int | float) or not 0 <= created < _END_OF_TIME:
        raise DatasetError("created must be a time in seconds", where=where)
    try:
        digest = bytes.fromhex(key) if isinstance(key, str) else b""
        reply = orjson.dumps(value["reply"])
        f"{judge}{model}".encode()
    except (ValueError, orjson.JSONEncodeError):
        raise DatasetError("key or text is damaged", where=where) from None
    if len(digest) != _KEY_BYTES:
        raise DatasetError(f"key must be {2 * _KEY_BYTES} hexadecimal digits", where=where)
    if decode_reply(reply) is None:
        raise DatasetError("reply is not a reply as the cache keeps it", where=where)
    return Entry(digest, reply, judge, model, float(created))
