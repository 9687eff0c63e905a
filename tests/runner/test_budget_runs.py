"""Money over a whole run: the limit holds within one call's price, and a higher one finishes what it stopped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.runner.exits import Exit
from agentanvil.runner.panel_settings import PanelSettings
from tests.fakes.runs import Runs, asked_about, rows
from tests.fakes.server import Answer, FakeServer, Recorded, chat
from tests.fakes.verdicts import graded

# 100 tokens in and 20 out: 100 × 5 + 20 × 25 = 1,000 millionths, a tenth of a cent.
PRICES = PriceTable.read({"m": {"input": 5, "output": 25}})
CALL = 0.001


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_limit_in_dollars_stops_within_one_call_and_a_higher_one_finishes(tmp_path: Path, concurrency: int) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, *rows(24))
        stopped = runs.grade(prices=PRICES, max_cost=0.01, concurrency=concurrency)
        assert stopped.exit is Exit.MISSING
        assert "--max-cost 0.01 reached" in str(stopped.problem)
        assert len(server.requests) * CALL == pytest.approx(0.01, abs=CALL)
        again = runs.grade(prices=PRICES, max_cost=0.01, concurrency=concurrency)
        assert (again.exit, again.tally.calls) == (Exit.MISSING, 0)
        done = runs.grade(prices=PRICES, max_cost=1.0, concurrency=concurrency)
    assert done.exit is Exit.OK
    assert Counter(map(asked_about, server.requests)) == Counter(str(n) for n in range(24))
    assert done.summary.usage.cost == pytest.approx(24 * CALL)


def test_what_was_paid_for_in_vain_counts_on_the_next_day_too(tmp_path: Path) -> None:
    """Each row is asked twice without a verdict, so that ten calls are one cent although nothing was scored."""

    def answer(request: Recorded) -> Answer:
        return chat("no verdict")

    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *rows(5))
        first = runs.grade(prices=PRICES, max_cost=0.015, concurrency=1)
        assert (first.exit, len(server.requests)) == (Exit.MISSING, 10)
        second = runs.grade(prices=PRICES, max_cost=0.015, concurrency=1)
    assert (second.ending, len(server.requests)) == ("budget", 15)
    assert "$0.0150 spent" in str(second.problem)


def test_replies_from_the_cache_cost_nothing_again(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        cache = str(tmp_path / "cache")
        Runs(tmp_path, server, *rows(4)).grade(prices=PRICES, cache=cache)
        other = Runs(tmp_path, server, *rows(5))
        result = other.grade(prices=PRICES, cache=cache, out=tmp_path / "other", max_cost=0.0005, concurrency=1)
    assert (result.exit, result.tally.calls, result.tally.cached) == (Exit.OK, 1, 4)


def test_all_judges_spend_from_one_budget(tmp_path: Path) -> None:
    """The second judge's call costs 4 times as much: three rows of 5 tenths of a cent pass the limit of one cent."""
    prices = PriceTable.read({"m": {"input": 5, "output": 25}, "n": {"input": 20, "output": 100}})
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, *rows(9))
        panel = PanelSettings(jury=(f"compat:n@{server.url}",))
        result = runs.grade(prices=prices, max_cost=0.01, panel=panel)
    models = Counter(request.json["model"] for request in server.requests)
    spent = models["m"] * CALL + models["n"] * 4 * CALL
    assert (result.ending, result.exit) == ("budget", Exit.MISSING)
    assert 0.01 <= spent < 0.01 + 4 * CALL
