from __future__ import annotations

import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.adapter import RUNGS, Shape
from agentanvil.client.base import ChatReply, Usage
from agentanvil.client.cache_entry import Entry, decode_reply, encode_reply
from agentanvil.client.cache_file import APPLICATION_ID
from agentanvil.client.cache_store import CacheStore

KEY = bytes(range(16))
VALUE = encode_reply(ChatReply("{}", usage=Usage(1, 2))) or b""


def entry(key: bytes = KEY, value: bytes = VALUE) -> Entry:
    return Entry(key, value, "judge", "model", 1_700_000_000.0)


def opened(path: Path, trouble: list[str] | None = None, busy_s: float = 0.1) -> CacheStore:
    return CacheStore(path, (trouble if trouble is not None else []).append, busy_s=busy_s)


def look(path: Path, key: bytes = KEY) -> bytes | None:
    store = opened(path)
    try:
        return store.get(key)
    finally:
        store.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "replies.sqlite"


def test_what_was_put_is_there_at_once_and_after_reopening(file: Path) -> None:
    store = opened(file)
    store.put(entry())
    assert store.get(KEY) == VALUE
    store.close()
    store = opened(file)
    assert store.get(KEY) == VALUE
    assert store.get(bytes(16)) is None
    store.close()


def test_more_than_a_batch_is_written(file: Path) -> None:
    keys = [number.to_bytes(16, "big") for number in range(1000)]
    store = opened(file)
    for key in keys:
        store.put(entry(key))
    store.close()
    store = opened(file)
    assert all(store.get(key) == VALUE for key in keys)
    store.close()


def test_a_reply_is_on_disk_soon_without_closing(file: Path) -> None:
    store, other = opened(file), opened(file)
    store.put(entry())
    deadline = time.monotonic() + 30
    while other.get(KEY) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    store.close()
    other.close()


def test_closing_twice_and_using_a_closed_store_is_harmless(file: Path) -> None:
    store = opened(file)
    store.close()
    store.close()
    store.put(entry())
    store.save("u", "m", Shape())
    assert store.get(KEY) is None
    assert store.load("u", "m") is None


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_only_its_owner_can_read_it(file: Path) -> None:
    store = opened(file)
    store.put(entry())
    modes = {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    store.close()
    assert modes == {0o600}


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE replies (key BLOB, value BLOB)")
        connection.execute("INSERT INTO replies VALUES (?, ?)", (KEY, VALUE))
    connection.close()


def other_application(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id = 1234")
    connection.close()


def other_version(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE something (a)")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 999")
    connection.close()


def half_made(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()


BROKEN: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("not a database at all, but long enough to be one " * 20, encoding="utf-8"),
    "pickle": lambda path: path.write_bytes(pickle.dumps({"key": "value"}) * 40),
    "cut database": lambda path: path.write_bytes(b"SQLite format 3\x00" + bytes(60)),
    "another program's": foreign,
    "another application": other_application,
    "another version": other_version,
    "no tables": half_made,
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("breaking", [pytest.param(breaking, id=name) for name, breaking in BROKEN.items()])
def test_a_file_that_cannot_be_used_is_told_once_and_then_a_miss(
    file: Path, breaking: Callable[[Path], object]
) -> None:
    """O-D09, and its siblings: the run goes on as without a cache."""
    breaking(file)
    mine = breaking is half_made
    before = b"" if mine or file.is_dir() else file.read_bytes()
    trouble: list[str] = []
    store = opened(file, trouble)
    for _ in range(3):
        store.put(entry(bytes(16)))
        assert store.get(KEY) is None
        store.save("u", "m", Shape())
        assert store.load("u", "m") is None
    store.close()
    assert len(trouble) == 1
    assert str(file) in trouble[0]
    assert "\n" not in trouble[0]
    assert mine or file.is_dir() or file.read_bytes() == before


def test_a_place_that_cannot_exist_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    trouble: list[str] = []
    opened(tmp_path / "file" / "below" / "replies.sqlite", trouble).close()
    assert len(trouble) == 1


def test_an_empty_file_becomes_a_cache(file: Path) -> None:
    file.touch()
    trouble: list[str] = []
    store = opened(file, trouble)
    store.put(entry())
    store.close()
    assert trouble == []
    assert look(file) == VALUE


def test_a_lock_that_is_never_released_costs_writes_and_one_warning(file: Path) -> None:
    """O-D09: waits are bounded; reads go on, since a write-ahead log does not lock readers out."""
    store = opened(file)
    store.put(entry())
    store.close()
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    trouble: list[str] = []
    store = opened(file, trouble)
    store.put(entry(bytes(16)))
    assert store.get(KEY) == VALUE
    store.close()
    holder.execute("ROLLBACK")
    holder.close()
    assert len(trouble) == 1
    assert "locked" in trouble[0]
    store = opened(file)
    assert store.get(bytes(16)) is None
    store.put(entry(bytes(16)))
    store.close()
    assert look(file, bytes(16)) == VALUE


def test_a_file_that_somebody_holds_for_himself_is_a_miss(file: Path) -> None:
    opened(file).close()
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    trouble: list[str] = []
    store = opened(file, trouble)
    assert store.get(KEY) is None
    store.close()
    holder.close()
    assert len(trouble) == 1


def test_damage_inside_is_told_once_and_a_miss(file: Path) -> None:
    store = opened(file)
    for number in range(2000):
        store.put(entry(number.to_bytes(16, "big"), VALUE * 1))
    store.close()
    data = bytearray(file.read_bytes())
    data[4096 * 2 :] = os.urandom(len(data) - 4096 * 2)
    file.write_bytes(data)
    trouble: list[str] = []
    store = opened(file, trouble)
    found = [store.get(number.to_bytes(16, "big")) for number in range(2000)]
    store.close()
    assert all(value is None for value in found)
    assert len(trouble) == 1


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_a_full_disk_costs_writes_and_one_warning(file: Path) -> None:
    """No file of the other process may grow beyond 64 KiB, which SQLite meets as it meets a full disk."""
    store = opened(file)
    store.put(entry())
    store.close()
    script = f"""
import resource, signal
from pathlib import Path
from tests.client.test_cache_store import KEY, VALUE, entry, opened
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
trouble = []
store = opened(Path({str(file)!r}), trouble)
for number in range(600):
    store.put(entry(number.to_bytes(16, "little"), VALUE * 20))
store.close()
store = opened(Path({str(file)!r}), trouble)
print(len(trouble), store.get(KEY) == VALUE)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["1", "True"]
    assert look(file) == VALUE


PAYLOADS = [
    pytest.param(pickle.dumps(ChatReply("{}")), id="O-H07 pickle"),
    pytest.param(b"", id="empty"),
    pytest.param(b"null", id="null"),
    pytest.param(b"[]", id="list"),
    pytest.param(b"{}", id="no fields"),
    pytest.param(b'{"text": "a"}', id="too few fields"),
    pytest.param(VALUE[:-1], id="cut"),
    pytest.param(VALUE + b" x", id="longer"),
    pytest.param(VALUE.replace(b'"{}"', b"4"), id="text is a number"),
    pytest.param(VALUE.replace(b"[1,2,", b"[-1,2,"), id="negative tokens"),
    pytest.param(VALUE.replace(b"[1,2,", b"[true,2,"), id="boolean tokens"),
    pytest.param(VALUE.replace(b"[1,2,", b"[1.5,2,"), id="broken tokens"),
    pytest.param(VALUE.replace(b"[1,2,", b"[1,"), id="too few counts"),
    pytest.param(VALUE.replace(b'"reasoning":false', b'"reasoning":0'), id="reasoning is no boolean"),
    pytest.param(b"\xff\xfe", id="not UTF-8"),
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_foreign_entry_is_no_reply(payload: bytes) -> None:
    assert payload != VALUE
    assert decode_reply(payload) is None


def test_an_entry_that_is_not_bytes_is_a_miss(file: Path) -> None:
    opened(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO replies VALUES (?, ?, 'j', 'm', 0)", (KEY, "text"))
    connection.close()
    store = opened(file)
    assert store.get(KEY) is None
    store.close()


counts = st.none() | st.integers(0, 2**40)


@given(
    text=st.text(),
    reasoning=st.booleans(),
    usage=st.tuples(counts, counts, counts, counts, counts),
    names=st.tuples(st.none() | st.text(), st.none() | st.text(), st.none() | st.text()),
    cost=st.none() | st.floats(0, 1e6),
)
def test_a_reply_survives_the_cache(
    text: str, reasoning: bool, usage: tuple[int | None, ...], names: tuple[str | None, ...], cost: float | None
) -> None:
    model, request_id, rung = names
    reply = ChatReply(
        text, reasoning=reasoning, usage=Usage(*usage), model=model, request_id=request_id, rung=rung, cost=cost
    )
    value = encode_reply(reply)
    assert value is not None
    kept = decode_reply(value)
    assert kept is not None
    assert kept.cached
    assert kept.attempts == 0
    assert (kept.text, kept.usage, kept.model, kept.request_id, kept.rung, kept.cost) == (
        text,
        reply.usage,
        model,
        request_id,
        rung,
        cost,
    )


@pytest.mark.parametrize("rung", RUNGS)
def test_what_an_endpoint_accepts_is_remembered(file: Path, rung: str) -> None:
    shape = Shape(rung=rung, dropped=frozenset({"seed", "temperature"}), cap_field="max_completion_tokens")  # type: ignore[arg-type]
    store = opened(file)
    store.save("http://127.0.0.1/v1", "m", shape)
    store.close()
    store = opened(file)
    assert store.load("http://127.0.0.1/v1", "m") == shape
    assert store.load("http://127.0.0.1/v2", "m") is None
    assert store.load("http://127.0.0.1/v1", "n") is None
    store.save("http://127.0.0.1/v1", "m", Shape())
    store.close()
    store = opened(file)
    assert store.load("http://127.0.0.1/v1", "m") == Shape()
    store.close()


@pytest.mark.parametrize(("days", "known"), [(0.0, True), (6.9, True), (7.1, False), (400.0, False)])
def test_a_refusal_is_believed_for_a_week(file: Path, days: float, known: bool) -> None:
    now = 1_700_000_000.0
    store = CacheStore(file, pytest.fail, clock=lambda: now)
    store.save("u", "m", Shape(rung="tool"))
    store.close()
    later = CacheStore(file, pytest.fail, clock=lambda: now + days * 86_400)
    assert (later.load("u", "m") is not None) is known
    later.close()


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"[]",
        b"{}",
        b'{"rung":"best","dropped":[],"cap_field":"x"}',
        b'{"rung":"tool","dropped":[1],"cap_field":"x"}',
    ],
)
def test_a_damaged_memory_of_an_endpoint_is_none(file: Path, value: bytes) -> None:
    store = opened(file)
    store.save("u", "m", Shape(rung="tool"))
    store.close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE shapes SET value = ?", (value,))
    connection.close()
    store = opened(file)
    assert store.load("u", "m") is None
    store.close()


def test_no_secret_of_an_address_reaches_the_file(file: Path) -> None:
    store = opened(file)
    store.save("http://u:CANARY-2@127.0.0.1/v1?token=CANARY-3", "m", Shape())
    store.close()
    assert b"CANARY" not in file.read_bytes()
