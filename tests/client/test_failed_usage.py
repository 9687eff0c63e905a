"""Answers that hold an error and no verdict, and count their tokens all the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.adapter import WireReply
from agentanvil.client.failed_usage import billed_tokens
from agentanvil.client.prices import PriceTable
from agentanvil.runner.exits import Exit
from tests.fakes.json_values import JSON_VALUES
from tests.fakes.runs import Runs, read_journal, rows
from tests.fakes.server import FakeServer, answer_json

ERROR = {"code": "server_error", "message": "it broke off"}


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({"error": ERROR, "usage": {"prompt_tokens": 100, "completion_tokens": 20}}, (100, 20)),
        ({"error": ERROR, "usage": {"input_tokens": 100, "output_tokens": 20}}, (100, 20)),
        ({"status": "failed", "usage": {"input_tokens": 100, "output_tokens": 0}}, (100, 0)),
        ({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1, "thoughtsTokenCount": 30}}, (9, 31)),
        ({"usageMetadata": {"promptTokenCount": 9}}, (9, 0)),
        ({"error": ERROR, "usage": {"completion_tokens": 20}}, (0, 20)),
        ({"error": ERROR, "usage": {"prompt_tokens": -1, "completion_tokens": "20"}}, None),
        ({"error": ERROR, "usage": None}, None),
        ({"error": ERROR}, None),
        ([1], None),
    ],
)
def test_counted_tokens_are_found(body: object, tokens: tuple[int, int] | None) -> None:
    assert billed_tokens(WireReply(200, json.dumps(body).encode())) == tokens
    assert billed_tokens(WireReply(500, json.dumps(body).encode())) is None


@given(st.binary(max_size=40) | JSON_VALUES.map(lambda value: json.dumps({"usage": value}).encode()))
def test_any_body_can_be_asked(body: bytes) -> None:
    found = billed_tokens(WireReply(200, body))
    assert found is None or min(found) >= 0


def test_what_a_failed_call_was_billed_for_counts_in_budget_journal_and_summary(tmp_path: Path) -> None:
    """100 tokens in and 20 out at 5 and 25 are a tenth of a cent: one cent is used up after ten such calls."""
    prices = PriceTable.read({"m": {"input": 5, "output": 25}})
    broken = answer_json({"error": ERROR, "usage": {"prompt_tokens": 100, "completion_tokens": 20}})
    with FakeServer(broken) as server:
        runs = Runs(tmp_path, server, *rows(20))
        result = runs.grade(prices=prices, max_cost=0.01, concurrency=4)
    assert (result.exit, result.ending, len(server.requests)) == (Exit.MISSING, "budget", 10)
    assert "--max-cost 0.01 reached: $0.0100 spent" in str(result.problem)
    exchange = read_journal(runs.out)[0]["exchanges"][0]
    assert (exchange["error"], exchange["cost"], exchange["input_tokens"]) == ("server_error", 0.001, 100)
    usage = result.summary.usage
    assert (usage.failed_exchanges, usage.output_tokens) == (10, 200)
    assert usage.cost == pytest.approx(0.01)
