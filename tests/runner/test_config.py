from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentanvil.client import Usage
from agentanvil.errors import ConfigError, UsageError
from agentanvil.runner.config import Config, grade_settings, judge_settings, load_config


def config(folder: Path, text: str | bytes) -> Config:
    file = folder / "anvil.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_config(file)


def refused(folder: Path, text: str | bytes) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        config(folder, text)
    assert caught.value.where is not None
    assert caught.value.where.file == str(folder / "anvil.yaml")
    return caught.value


def test_a_flag_beats_the_file_and_the_file_beats_the_default(tmp_path: Path) -> None:
    found = config(tmp_path, "rubric: r.yaml\njudge: compat:m@http://127.0.0.1:1/v1\nrepeats: 3\nrpm: 600\nseed: 5\n")
    settings = grade_settings("rows.jsonl", {"repeats": 2, "seed": 0, "rubric": None}, found)
    assert (settings.rubric, settings.repeats) == ("r.yaml", 2)
    assert (settings.judge.rpm, settings.judge.seed, settings.judge.concurrency) == (600.0, 0, 16)
    assert settings.judge.judge == "compat:m@http://127.0.0.1:1/v1"
    assert settings.out is None


def test_a_zero_and_a_no_in_a_flag_are_values(tmp_path: Path) -> None:
    found = config(tmp_path, "max_cost: 2.5\nallow_http: true\ntemperature: 1\n")
    settings = judge_settings({"max_cost": 0.0, "allow_http": False, "temperature": 0.0}, found)
    assert (settings.max_cost, settings.allow_http, settings.temperature) == (0.0, False, 0.0)


def test_every_key_reaches_its_setting(tmp_path: Path) -> None:
    values: dict[str, Any] = {
        "repeats": 4,
        "limit": 9,
        "min_coverage": 0.5,
        "temperature": 0.25,
        "max_tokens": 77,
        "seed": 11,
        "concurrency": 3,
        "rpm": 60.0,
        "tpm": 1000.0,
        "timeout": 9.5,
        "max_attempts": 2,
        "max_calls": 8,
        "max_cost": 1.5,
        "cache": "off",
        "api_key_env": "MY_KEY",
        "allow_http": True,
        "judge": "compat:m@http://127.0.0.1:1/v1",
        "rubric": "r.yaml",
        "out": "runs/x",
    }
    text = "".join(f"{name}: {str(value).lower() if value is True else value}\n" for name, value in values.items())
    found = config(tmp_path, text)
    assert found.values == values
    settings = grade_settings("rows.jsonl", {}, found)
    assert settings.out == Path("runs/x")
    for name in values.keys() - {"out"}:
        holder = settings if name in {"repeats", "limit", "min_coverage", "rubric"} else settings.judge
        assert getattr(holder, name) == values[name]


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "\ufeff", "  # repeats: 3\n\n---\n"])
def test_a_file_may_say_nothing(tmp_path: Path, text: str) -> None:
    assert config(tmp_path, text).values == {}


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    assert config(tmp_path, b"\xef\xbb\xbfrepeats: 3\n").values == {"repeats": 3}


def test_a_file_that_is_not_there_says_nothing_unless_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config().values == {}
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path / "named.yaml")


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        pytest.param("repeats: 3\nrepeat: 2\n", 2, "unknown key `repeat`", "repeats", id="O-B22-misspelt"),
        pytest.param("min-coverage: 1\n", 1, "unknown key `min-coverage`", "min_coverage", id="O-B22-dash"),
        pytest.param("judge: a\nlimits: {rpm: 5}\n", 2, "unknown key `limits`", "", id="O-B22-misplaced"),
        pytest.param("api_key: abc\n", 1, "unknown key `api_key`", "api_key_env", id="a-key-has-no-place-here"),
    ],
)
def test_an_unknown_key_is_refused_with_its_line(tmp_path: Path, text: str, line: int, message: str, hint: str) -> None:
    error = refused(tmp_path, text)
    assert message in error.message
    assert error.where is not None
    assert error.where.line == line
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("repeats: three\n", "repeats"),
        ("repeats: 2.5\n", "repeats"),
        ("repeats: true\n", "repeats"),
        ("rpm: '600'\n", "rpm"),
        ("rpm: .nan\n", "rpm"),
        ("timeout: .inf\n", "timeout"),
        ("allow_http: 1\n", "allow_http"),
        ("judge: {a: b}\n", "judge"),
        ("map: response=output\n", "map"),
        ("map: {response: 3}\n", "response"),
        ("prices: {m: 3}\n", "m"),
        ("prices: {m: {input: 1}}\n", "output"),
        ("prices: {m: {input: -1, output: 2}}\n", "input"),
        ("prices: {m: {input: 1, output: 2, outptu: 3}}\n", "m"),
        ("prices: {m: {input: 1, output: 2, batch_discount: 2}}\n", "batch_discount"),
        ("families: {judge-prod: 3}\n", "judge-prod"),
        ("families: [openai]\n", "families"),
    ],
)
def test_a_value_of_another_kind_is_refused_by_its_key(tmp_path: Path, text: str, key: str) -> None:
    error = refused(tmp_path, text)
    assert error.where is not None
    assert key in str(error.where.key)


@pytest.mark.parametrize(
    "text",
    [
        "repeats: 1\nrepeats: 2\n",
        "a: [\n",
        "- a\n- b\n",
        "just words\n",
        b"judge: \xff\xfe\n",
        "x: !!python/object:os.x {}\n",
    ],
    ids=["duplicate", "broken", "list", "words", "bytes", "O-H05-object"],
)
def test_a_file_that_is_no_plain_mapping_is_refused(tmp_path: Path, text: str | bytes) -> None:
    refused(tmp_path, text)


def test_the_map_of_the_file_gives_way_to_the_flags(tmp_path: Path) -> None:
    found = config(tmp_path, "rubric: r\nmap:\n  response: output.text\n  request: prompt\n")
    assert grade_settings("d", {}, found).mapping == ("response=output.text", "request=prompt")
    assert grade_settings("d", {"map": ["response=answer"]}, found).mapping == ("response=answer",)


def test_prices_are_dollars_per_million_tokens(tmp_path: Path) -> None:
    found = config(tmp_path, "prices:\n  m: {input: 2, output: 8.0, cached_input: 0.5}\n")
    prices = judge_settings({}, found).prices
    assert prices.cost(Usage(1_000_000, 1_000_000), "m") == 10.0
    assert prices.cost(Usage(1, 1), "other") is None


def test_a_batch_discount_is_a_share(tmp_path: Path) -> None:
    found = config(tmp_path, "prices:\n  m: {input: 2, output: 8, batch_discount: 0.25}\n")
    assert judge_settings({}, found).prices.cost(Usage(1_000_000, 0), "m", batch=True) == 1.5


def test_families_are_names_or_patterns_with_their_family(tmp_path: Path) -> None:
    found = config(tmp_path, 'rubric: r.yaml\nfamilies:\n  judge-prod: openai\n  "acme-*": acme\n')
    assert grade_settings("rows.jsonl", {}, found).families == {"judge-prod": "openai", "acme-*": "acme"}
    assert grade_settings("rows.jsonl", {"rubric": "r.yaml"}, Config()).families == {}


def test_without_a_rubric_nothing_can_be_graded() -> None:
    with pytest.raises(UsageError, match="no rubric"):
        grade_settings("rows.jsonl", {}, Config())


def test_the_settings_know_what_the_file_gave(tmp_path: Path) -> None:
    found = config(tmp_path, "order: both\nreading: expected\nrubric: r.yaml\n")
    settings = grade_settings("rows.jsonl", {"reading": "verdict"}, found)
    assert (settings.order, settings.reading) == ("both", "verdict")
    assert settings.defaults == {"order"}
