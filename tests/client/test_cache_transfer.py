from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.base import ChatReply, Usage
from agentanvil.client.cache_admin import cache_stats
from agentanvil.client.cache_entry import Entry, decode_reply, encode_reply
from agentanvil.client.cache_store import CacheStore
from agentanvil.client.cache_transfer import Imported, cache_export, cache_import
from agentanvil.errors import DatasetError, UsageError

REPLY = ChatReply("„ja“ \n 🙂 \u2028", usage=Usage(1, 2, 3), model="m", cost=0.5)
VALUE = encode_reply(REPLY) or b""
KEYS = [number.to_bytes(16, "big") for number in range(3)]
HEADER = '{"format":"anvil-cache","version":1}'


def fill(path: Path, keys: list[bytes], value: bytes = VALUE) -> None:
    store = CacheStore(path, pytest.fail)
    for key in keys:
        store.put(Entry(key, value, "judge", "m", 1_700_000_000.5))
    store.close()


def read(path: Path, key: bytes) -> bytes | None:
    store = CacheStore(path, pytest.fail)
    try:
        return store.get(key)
    finally:
        store.close()


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    fill(tmp_path / "a.sqlite", KEYS)
    assert cache_export(tmp_path / "a.sqlite", tmp_path / "out.jsonl") == 3
    return tmp_path / "out.jsonl"


def test_what_is_exported_can_be_imported(exported: Path, tmp_path: Path) -> None:
    target = tmp_path / "sub" / "b.sqlite"
    assert cache_import(target, exported) == Imported(added=3, known=0)
    for key in KEYS:
        value = read(target, key)
        assert value is not None
        kept = decode_reply(value)
        assert kept is not None
        assert (kept.text, kept.usage, kept.cost) == (REPLY.text, REPLY.usage, 0.5)
    (group,) = cache_stats(target).groups
    assert (group.judge, group.model, group.entries) == ("judge", "m", 3)
    assert cache_export(target, tmp_path / "again.jsonl") == 3
    assert (tmp_path / "again.jsonl").read_bytes() == exported.read_bytes()


def test_importing_again_changes_nothing(exported: Path, tmp_path: Path) -> None:
    fill(tmp_path / "b.sqlite", KEYS[:1], encode_reply(ChatReply("mine")) or b"")
    assert cache_import(tmp_path / "b.sqlite", exported) == Imported(added=2, known=1)
    assert cache_import(tmp_path / "b.sqlite", exported) == Imported(added=0, known=3)
    assert b"mine" in (read(tmp_path / "b.sqlite", KEYS[0]) or b"")


def test_foreign_entries_are_left_out_of_an_export(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", KEYS[:1])
    fill(tmp_path / "a.sqlite", KEYS[1:], b'{"no":"reply"}')
    assert cache_export(tmp_path / "a.sqlite", tmp_path / "out.jsonl") == 1


def test_an_export_is_whole_or_not_there(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", KEYS)
    with pytest.raises(UsageError):
        cache_export(tmp_path / "a.sqlite", tmp_path / "missing" / "out.jsonl")
    with pytest.raises(UsageError):
        cache_export(tmp_path / "none.sqlite", tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite"]


def test_an_import_needs_its_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        cache_import(tmp_path / "b.sqlite", tmp_path / "none.jsonl")


def changed(**fields: Any) -> str:
    line = {"key": KEYS[1].hex(), "judge": "j", "model": "m", "created": 1.0, "reply": json.loads(VALUE), **fields}
    return json.dumps(line)


GOOD = changed(key=KEYS[0].hex())
WRONG_LINES: dict[str, str] = {
    "no JSON": "nonsense",
    "cut": GOOD[:-1],
    "two objects": GOOD + GOOD,
    "a list": "[]",
    "blank": "",
    "another header": HEADER,
    "field missing": json.dumps({"key": KEYS[1].hex()}),
    "field too many": changed(extra=1),
    "key twice": GOOD[:-1] + ',"judge":"again"}',
    "key too short": changed(key="00"),
    "key no hex": changed(key="z" * 32),
    "key a number": changed(key=1),
    "judge a number": changed(judge=1),
    "model null": changed(model=None),
    "created NaN": changed().replace("1.0", "NaN"),
    "created huge": changed().replace("1.0", "1" + "0" * 400),
    "created text": changed(created="now"),
    "created true": changed(created=True),
    "created before time": changed(created=-1),
    "reply null": changed(reply=None),
    "reply text": changed(reply="{}"),
    "reply without text": changed(reply={**json.loads(VALUE), "text": None}),
    "reply with too much": changed(reply={**json.loads(VALUE), "more": 1}),
    "reply with huge count": changed(reply={**json.loads(VALUE), "usage": [10**30, 0, 0, 0, 0]}),
    "lone surrogate in reply": changed(reply={**json.loads(VALUE), "text": "\ud800"}),
    "lone surrogate in judge": changed(judge="\ud800"),
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("line", [pytest.param(line, id=name) for name, line in WRONG_LINES.items()])
def test_a_wrong_line_is_named_and_nothing_is_imported(line: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(f"{HEADER}\n{GOOD}\n{line}\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        cache_import(tmp_path / "b.sqlite", source)
    assert str(caught.value.where) == f"{source}:3"
    assert cache_stats(tmp_path / "b.sqlite").entries == 0


@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(b"", None, id="empty"),
        pytest.param(b"\n", 1, id="blank"),
        pytest.param(f"{GOOD}\n".encode(), 1, id="no header"),
        pytest.param(b'{"format":"anvil-cache","version":2}\n', 1, id="another version"),
        pytest.param(b'{"id":"a","request":"r"}\n', 1, id="a dataset"),
        pytest.param(f"{HEADER}\n{GOOD}".encode(), 2, id="no line end"),
        pytest.param(f"{HEADER}\n".encode() + b"\xff\n", 2, id="not UTF-8"),
        pytest.param(b"\x80\x04\x95pickle\n", 1, id="pickle"),
    ],
)
def test_a_foreign_or_damaged_file_is_refused(content: bytes, line: int | None, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(content)
    with pytest.raises(DatasetError) as caught:
        cache_import(tmp_path / "b.sqlite", source)
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line) == (str(source), line)


@pytest.mark.parametrize("command", [cache_export, cache_import])
def test_a_file_that_is_no_cache_is_left_alone(
    command: Callable[[Path, Path], object], exported: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("dear to me\n" * 200, encoding="utf-8")
    before = mine.read_bytes()
    with pytest.raises(UsageError):
        command(mine, exported)
    assert mine.read_bytes() == before
