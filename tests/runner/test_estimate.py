from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import DatasetError
from agentanvil.runner.estimate import as_dict, estimate
from agentanvil.runner.job import Surroundings
from tests.fakes.runs import Runs, rows
from tests.fakes.server import FakeServer, unused_port
from tests.fakes.verdicts import CODE_RUBRIC, graded

NOWHERE = f"compat:m@http://127.0.0.1:{unused_port()}/v1"


@pytest.mark.parametrize(("calls", "per_row"), [("joint", 1), ("split", 2)])
def test_it_counts_calls_and_asks_nobody(tmp_path: Path, calls: str, per_row: int) -> None:
    runs = Runs(tmp_path, NOWHERE, calls=calls)
    before = sorted(tmp_path.iterdir())
    found = estimate(runs.settings(repeats=3), Surroundings({}))
    assert (found.rows, found.calls, found.done_before) == (3, 9 * per_row, 0)
    assert found.output_tokens == 9 * 2 * 60
    assert 100 * found.calls < found.input_tokens < 2000 * found.calls
    assert found.cost_usd is None
    assert sorted(tmp_path.iterdir()) == before


def test_it_knows_what_is_done_already(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server)
        runs.grade(limit=2)
        found = estimate(runs.settings(repeats=2), Surroundings({}))
    assert (found.calls, found.done_before) == (4, 2)


def test_it_prices_what_it_estimates(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 2.0, "output": 10.0}})
    found = estimate(Runs(tmp_path, NOWHERE).settings(prices=prices), Surroundings({}))
    assert found.cost_usd == pytest.approx((found.input_tokens * 2 + found.output_tokens * 10) / 1_000_000)
    assert as_dict(found)["cost_usd"] == found.cost_usd


def test_many_short_calls_are_not_priced_as_one_long_one(tmp_path: Path) -> None:
    """A model that doubles its price above 272,000 tokens in one request: no request here is near that."""
    texts = [{"id": f"item-{n}", "request": "What?", "response": "word " * 20_000} for n in range(20)]
    found = estimate(Runs(tmp_path, "openai:gpt-6-luna", *texts).settings(), Surroundings({}))
    assert found.input_tokens > 300_000
    assert found.cost_usd == pytest.approx((found.input_tokens * 0.1 + found.output_tokens * 0.5) / 1_000_000)


def test_longer_rows_cost_more(tmp_path: Path) -> None:
    short = estimate(Runs(tmp_path, NOWHERE).settings(), Surroundings({}))
    long = [row | {"response": row["response"] * 100} for row in rows(3)]
    assert estimate(Runs(tmp_path, NOWHERE, *long).settings(), Surroundings({})).input_tokens > short.input_tokens


def test_checks_cost_nothing(tmp_path: Path) -> None:
    runs = Runs(tmp_path, NOWHERE)
    runs.rubric.write_text(CODE_RUBRIC, encoding="utf-8")
    found = estimate(runs.settings(judge=None), Surroundings({}))
    assert (found.calls, found.input_tokens, found.cost_usd) == (0, 0, 0.0)


def test_it_refuses_what_a_run_refuses(tmp_path: Path) -> None:
    runs = Runs(tmp_path, NOWHERE, rows(1)[0], rows(1)[0])
    with pytest.raises(DatasetError, match="item-0"):
        estimate(runs.settings(), Surroundings({}))
