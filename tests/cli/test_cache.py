from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from agentanvil.client import ChatReply
from agentanvil.client.cache_admin import cache_stats
from agentanvil.client.cache_entry import Entry, encode_reply
from agentanvil.client.cache_store import CacheStore
from tests.fakes.command import ROOT, anvil
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import graded, small_rubric, write_rows

VALUE = encode_reply(ChatReply("{}")) or b""


def filled(path: Path, replies: int = 1) -> Path:
    store = CacheStore(path, pytest.fail)
    for number in range(replies):
        store.put(Entry(bytes([number]) * 16, VALUE, "compat:m", "judge-1", 1e9))
    store.close()
    return path


def test_what_a_run_kept_is_counted_carried_away_and_brought_back(tmp_path: Path) -> None:
    rubric, data = small_rubric(tmp_path), write_rows(tmp_path, {"id": "a", "request": "Why?", "response": "the end"})
    with FakeServer(graded) as server:
        grade = ("grade", data, "--rubric", rubric, "--judge", f"compat:m@{server.url}", "--quiet")
        environ = {"ANVIL_CACHE": "kept/replies"}
        assert anvil(*grade, "--out", "one", cwd=tmp_path, environ=environ).code == 0
        table = anvil("cache", "stats", cwd=tmp_path, environ=environ)
        found = anvil("cache", "stats", "--format", "json", cwd=tmp_path, environ=environ)
        assert anvil("cache", "export", "moved.jsonl", cwd=tmp_path, environ=environ).code == 0
        brought = anvil("cache", "import", "moved.jsonl", "--cache", "other", cwd=tmp_path)
        assert anvil(*grade, "--out", "two", "--cache", "other", cwd=tmp_path).code == 0
        assert len(server.requests) == 1
    assert (table.code, table.out) == (0, b"")
    assert json.loads(found.out)["groups"][0]["entries"] == 1
    assert "1 replies" in table.err
    assert "fake-judge-1" in table.err
    assert "1 replies added, 0 known" in brought.err


def test_a_cache_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    for verb in (["stats"], ["prune", "--older-than", "1d"], ["clear", "--yes"]):
        found = anvil("cache", *verb, "--cache", "none", cwd=tmp_path)
        assert (found.code, found.out) == (0, b"")
        assert "there is no cache yet" in found.err
    assert not (tmp_path / "none").exists()
    assert anvil("cache", "export", "x", "--cache", "none", cwd=tmp_path).code == 2


def test_prune_tells_what_it_dropped(tmp_path: Path) -> None:
    path = filled(tmp_path / "c", 3)
    found = anvil("cache", "prune", "--max-size", str(2 * len(VALUE)), "--cache", path, cwd=tmp_path)
    assert found.code == 0
    assert "dropped 1 replies" in found.err
    assert anvil("cache", "prune", "--older-than", "soon", "--cache", path, cwd=tmp_path).code == 2
    assert cache_stats(path).entries == 2


def test_clear_off_a_terminal_needs_a_yes(tmp_path: Path) -> None:
    path = filled(tmp_path / "c")
    refused = anvil("cache", "clear", "--cache", path, cwd=tmp_path, stdin=b"y\n")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert cache_stats(path).entries == 1
    assert anvil("cache", "clear", "--yes", "--cache", path, cwd=tmp_path).code == 0
    assert cache_stats(path).entries == 0


@pytest.mark.parametrize(("typed", "code", "left"), [(b"y\n", 0, 0), (b"n\n", 0, 1), (b"\n", 0, 1), (b"\x04", 130, 1)])
def test_clear_on_a_terminal_asks(tmp_path: Path, typed: bytes, code: int, left: int) -> None:
    path = filled(tmp_path / "c")
    assert _on_terminal(path, typed) == code
    assert cache_stats(path).entries == left


def _on_terminal(path: Path, typed: bytes) -> int:
    """Run `clear` on a terminal of its own; type once the question is there; return the exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "agentanvil", "cache", "clear", "--cache", str(path)],
        cwd=path.parent,
        env={"PYTHONPATH": str(ROOT), "HOME": str(path.parent), "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while b"[y/N]" not in seen:
        try:
            seen += os.read(ours, 1024)
        except OSError:  # nobody holds the other end any more
            pytest.fail(f"no question came: {seen.decode()}")
    os.write(ours, typed)
    code = process.wait(timeout=60)
    os.close(ours)
    return code
