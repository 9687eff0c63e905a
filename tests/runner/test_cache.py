from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client import ChatReply
from agentanvil.client.cache_entry import Entry, encode_reply
from agentanvil.client.cache_store import CacheStore
from agentanvil.errors import UsageError
from agentanvil.runner.cache import (
    cache_clear,
    cache_export,
    cache_import,
    cache_stats,
    find_cache,
    parse_age,
    parse_size,
    prune_cache,
)

VALUE = encode_reply(ChatReply("{}")) or b""
DAY = 86400.0


def filled(path: Path, *ages_days: float, now: float = 1000 * DAY) -> Path:
    """Write one reply for each age through the store that runs use."""
    store = CacheStore(path, pytest.fail)
    for number, age in enumerate(ages_days):
        store.put(Entry(bytes([number]) * 16, VALUE, "compat:m", "m", now - age * DAY))
    store.close()
    return path


def test_the_file_is_found_by_the_rule_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find_cache("here.db", {"ANVIL_CACHE": "there.db"}) == Path("here.db")
    assert find_cache(None, {"ANVIL_CACHE": "there.db"}) == Path("there.db")
    assert find_cache(None, {}).name == "replies.sqlite"
    with pytest.raises(UsageError, match="switched off"):
        find_cache("off", {})


def test_prune_by_age_and_by_size(tmp_path: Path) -> None:
    path = filled(tmp_path / "c", 1, 10, 40, 50)
    now = 1000 * DAY
    assert prune_cache(path, now, older_than="30d", max_size=None).entries == 2
    assert prune_cache(path, now, older_than="30d", max_size=str(len(VALUE))).entries == 1
    assert cache_stats(path).newest == now - DAY


def test_prune_needs_something_to_prune_by(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to prune by"):
        prune_cache(tmp_path / "c", 0.0, older_than=None, max_size=None)
    assert prune_cache(tmp_path / "c", 0.0, older_than="1d", max_size=None).entries == 0
    assert not (tmp_path / "c").exists()


def test_export_clear_import_is_a_round_trip(tmp_path: Path) -> None:
    path, file = filled(tmp_path / "c", 1, 2, 3), tmp_path / "replies.jsonl"
    before = cache_stats(path)
    assert cache_export(path, file) == 3
    assert cache_clear(path) == 3
    assert cache_stats(path).entries == 0
    assert (cache_import(path, file).added, cache_import(path, file).known) == (3, 3)
    assert cache_stats(path).groups == before.groups
    other = tmp_path / "d"
    cache_import(other, file)
    assert cache_export(other, tmp_path / "again.jsonl") == 3
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()


def test_an_export_that_cannot_be_written_blames_the_target(tmp_path: Path) -> None:
    path = filled(tmp_path / "c", 1)
    for target in (tmp_path / "no" / "file", tmp_path):
        with pytest.raises(UsageError, match="cannot be written") as caught:
            cache_export(path, target)
        assert caught.value.where is not None
        assert caught.value.where.file == str(target)
    assert sorted(entry.name for entry in tmp_path.iterdir() if "part" in entry.name) == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("12h", 43200), ("30d", 2592000), ("1.5 W", 907200), ("0d", 0)]
)
def test_ages(text: str, seconds: float) -> None:
    assert parse_age(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("512", 512),
        ("512B", 512),
        ("500MB", 500_000_000),
        ("500 mb", 500_000_000),
        ("1.5k", 1500),
        ("1KiB", 1024),
        ("2 GiB", 2 * 1024**3),
        ("2G", 2_000_000_000),
        ("1TB", 10**12),
        ("999999999999TB", 2**62),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "d", "30", "-1d", "1e3d", "30 days", "٣d", "30d 2h", "nan", "9" * 400 + "d"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no age"):
        parse_age(text)


@pytest.mark.parametrize("text", ["", "MB", "-1", "1e9", "5 PB", "5 ib", "5iB", "1,5GB", "٣", "inf", "9" * 400])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no size"):
        parse_size(text)


@given(st.text(max_size=12))
def test_any_text_is_an_age_and_a_size_or_is_refused(text: str) -> None:
    for parse in (parse_age, parse_size):
        with suppress(UsageError):
            assert 0 <= parse(text) < float("inf")
