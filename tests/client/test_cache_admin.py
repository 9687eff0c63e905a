from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentanvil.client.adapter import Shape
from agentanvil.client.base import ChatReply
from agentanvil.client.cache_admin import CacheGroup, CacheStats, cache_clear, cache_prune, cache_stats
from agentanvil.client.cache_entry import Entry, encode_reply
from agentanvil.client.cache_store import CacheStore
from agentanvil.errors import UsageError

NOW = 1_700_000_000.0
VALUE = encode_reply(ChatReply("x" * 1000)) or b""


def fill(path: Path, ages_s: list[float], judge: str = "j", model: str = "m") -> None:
    """Put one reply for each age; keys are new every time."""
    store = CacheStore(path, pytest.fail)
    for age_s in ages_s:
        store.put(Entry(os.urandom(16), VALUE, judge, model, NOW - age_s))
    store.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "replies.sqlite"


def test_a_cache_that_is_not_there_is_empty_and_stays_away(file: Path) -> None:
    assert cache_stats(file) == CacheStats(str(file))
    assert cache_prune(file, NOW, older_than_s=1.0) == CacheStats(str(file))
    assert cache_clear(file) == 0
    assert not file.exists()


def test_stats_count_by_judge_and_model(file: Path) -> None:
    fill(file, [10.0, 20.0, 30.0], "compat:a@http://h/v1", "a")
    fill(file, [5.0], "openai:b", "b-2026")
    store = CacheStore(file, pytest.fail)
    store.save("u", "m", Shape())
    store.close()
    stats = cache_stats(file)
    assert (stats.entries, stats.oldest, stats.newest, stats.shapes) == (4, NOW - 30, NOW - 5, 1)
    assert stats.groups == (
        CacheGroup("compat:a@http://h/v1", "a", 3, 3 * len(VALUE)),
        CacheGroup("openai:b", "b-2026", 1, len(VALUE)),
    )
    assert stats.bytes >= 4 * len(VALUE)


def test_stats_can_be_taken_while_a_run_writes(file: Path) -> None:
    fill(file, [1.0])
    store = CacheStore(file, pytest.fail)
    assert cache_stats(file).entries == 1
    store.close()


@pytest.mark.parametrize(("older_than_s", "left"), [(0.0, 0), (15.0, 1), (30.0, 3), (1e9, 3)])
def test_prune_by_age_keeps_the_young(file: Path, older_than_s: float, left: int) -> None:
    fill(file, [10.0, 20.0, 30.0])
    assert cache_prune(file, NOW, older_than_s=older_than_s).entries == left


@pytest.mark.parametrize(
    ("max_bytes", "left"), [(0, 0), (len(VALUE) - 1, 0), (len(VALUE), 1), (2 * len(VALUE) + 1, 2), (10**9, 3)]
)
def test_prune_by_size_drops_the_oldest_first(file: Path, max_bytes: int, left: int) -> None:
    fill(file, [10.0, 20.0, 30.0])
    stats = cache_prune(file, NOW, max_bytes=max_bytes)
    assert stats.entries == left
    assert stats.oldest == (None if left == 0 else NOW - 10.0 * left)


def test_pruning_makes_the_file_smaller(file: Path) -> None:
    fill(file, [float(age) for age in range(500)])
    before = cache_stats(file).bytes
    assert cache_prune(file, NOW, max_bytes=0).bytes < before / 4


def test_clear_drops_replies_and_what_was_learnt(file: Path) -> None:
    fill(file, [1.0, 2.0])
    store = CacheStore(file, pytest.fail)
    store.save("u", "m", Shape())
    store.close()
    assert cache_clear(file) == 2
    assert (cache_stats(file).entries, cache_stats(file).shapes) == (0, 0)


@pytest.mark.parametrize("command", [cache_stats, cache_clear, lambda path: cache_prune(path, NOW, max_bytes=0)])
def test_a_file_that_is_no_cache_is_an_error_that_names_it_and_is_left_alone(
    file: Path, command: Callable[[Path], object]
) -> None:
    file.write_text("mine, and dear to me\n" * 100, encoding="utf-8")
    before = file.read_bytes()
    with pytest.raises(UsageError) as caught:
        command(file)
    assert str(caught.value.where) == str(file)
    assert caught.value.hint
    assert file.read_bytes() == before
