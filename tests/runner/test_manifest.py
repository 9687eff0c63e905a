from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from agentanvil import __version__
from agentanvil.client.prices import PriceTable
from tests.fakes.runs import Runs
from tests.fakes.server import FakeServer, error
from tests.fakes.verdicts import graded

PRICES = PriceTable.read({"m": {"input": 10.0, "output": 50.0}})
COST = (100 * 10.0 + 20 * 50.0) / 1_000_000


def test_it_says_which_run_this_is_and_with_what_it_was_made(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        runs.grade(repeats=2, limit=2, temperature=0.5, prices=PRICES, min_coverage=0.9)
    found = runs.manifest()
    assert (found["anvil"], found["state"], found["exit_code"]) == (__version__, "complete", 0)
    assert found["rubric"]["text"] == runs.rubric.read_text(encoding="utf-8")
    assert (found["data"]["file"], found["data"]["rows"]) == (str(runs.data), 3)
    assert found["plan"] == {
        "mode": "absolute",
        "evidence": "quoted",
        "order": None,
        "reading": "verdict",
        "rows": 2,
        "repeats": 2,
        "adaptive": False,
        "ways": None,
        "calls": ["joint"],
        "baseline": None,
        "gate": {"calibration": None, "confidence": None, "pass_rate": None, "mean": {}, "win_rate": None},
        "min_coverage": 0.9,
        "jury_rule": None,
        "quorum": None,
        "escalate_when": None,
        "escalate_max_cost": None,
    }
    assert found["judges"] == [
        {
            "name": runs.judge,
            "role": "first",
            "share": 1.0,
            "price": {
                "source": "anvil.yaml",
                "version": None,
                "date": None,
                "model": "m",
                "input": 10.0,
                "output": 50.0,
                "cached_input": 10.0,
                "cache_write": 10.0,
                "long_requests": [],
            },
            "rung": "json_schema",
            "dropped": [],
            "cap_field": "max_tokens",
        }
    ]
    judge = found["judge"]
    assert (judge["name"], judge["rung"], judge["dropped"]) == (runs.judge, "json_schema", [])
    assert (judge["parameters"]["temperature"], judge["parameters"]["seed"]) == (0.5, 0)
    assert {"python", "httpx", "aiohttp"} <= found["versions"].keys()
    assert set(found["identity"]) >= {"rubric", "data", "judge", "prompt"}


def test_a_price_from_a_list_says_which_list_of_which_day(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, f"openai:gpt-6-luna@{server.url}")
        runs.grade(environ={"OPENAI_API_KEY": "sk-canary-1234"}, limit=2)
    price = runs.manifest()["judges"][0]["price"]
    assert (price["source"], price["version"], price["model"]) == (
        "genai-prices",
        version("genai-prices"),
        "gpt-6-luna",
    )
    assert price["date"] >= "2026-11"
    assert (price["input"], price["output"], price["cached_input"], price["cache_write"]) == (0.1, 0.5, 0.01, 0.125)
    assert price["long_requests"][0]["above_input_tokens"] == 272_000
    # Two calls of 100 tokens in and 20 out: 2 × (100 × 0.1 + 20 × 0.5) = 40 millionths.
    assert runs.manifest()["sessions"][0]["cost_usd"] == pytest.approx(40e-6)


def test_a_price_that_nobody_knows_is_none(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        runs.grade(limit=2)
    assert runs.manifest()["judges"][0]["price"] is None
    assert runs.manifest()["sessions"][0]["cost_usd"] is None


def test_each_sitting_tells_what_it_cost(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        runs.grade(limit=2, prices=PRICES)
        created = runs.manifest()["created"]
        runs.grade()
    first, second = runs.manifest()["sessions"]
    assert (first["calls"], first["input_tokens"], first["output_tokens"]) == (2, 200, 40)
    assert first["cost_usd"] == 2 * COST
    assert (second["tasks"], second["calls"], second["cost_usd"]) == (1, 1, None)
    assert first["started"] <= first["ended"]
    assert runs.manifest()["created"] == created


def test_calls_are_those_on_the_wire(tmp_path: Path) -> None:
    faults = [error(500, headers={"Retry-After": "0"})] * 2
    with FakeServer(lambda request: faults.pop() if faults else graded(request)) as server:
        runs = Runs(tmp_path, server)
        result = runs.grade(max_attempts=4, concurrency=1)
    assert len(server.requests) == 5
    assert result.tally.calls == 5
    assert runs.manifest()["sessions"][0]["calls"] == 5
