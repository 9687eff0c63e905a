"""What the scope clauses cost: by hand for one call, and in sums that must agree for a run."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import UsageError
from agentanvil.prompt import estimate_tokens
from agentanvil.rubric import load_rubric
from agentanvil.runner.estimate import estimate
from agentanvil.runner.events import Silent
from agentanvil.runner.job import Surroundings
from agentanvil.runner.settings import GradeSettings, JudgeSettings
from agentanvil.runner.show import show
from agentanvil.runner.show_cost import PromptCost, show_cost
from agentanvil.runner.show_subject import ShowSettings
from tests.fakes.verdicts import CODE_RUBRIC, small_rubric, write_rows

RUBRIC = Path(__file__).parents[2] / "rubrics" / "calibrated.yaml"
PRICED = JudgeSettings("compat:m@http://127.0.0.1:1/v1", prices=PriceTable.read({"m": {"input": 2.0, "output": 8.0}}))
ROWS = [{"id": f"r{n}", "request": "Why? " * n, "response": "Because. " * n} for n in range(1, 8)]


def cost(settings: ShowSettings) -> PromptCost:
    found = show_cost(settings, Surroundings({}))
    assert found is not None
    return found


def test_the_clauses_are_what_a_rubric_without_them_saves(tmp_path: Path) -> None:
    found = cost(ShowSettings(str(RUBRIC), PRICED))
    (call,) = found.calls
    bare = tmp_path / "bare.yaml"
    source = load_rubric(RUBRIC)
    lines, inside = [], False
    for line in source.text.splitlines():
        inside = (inside and line.startswith("      ")) or line.startswith("    scope:")
        lines.extend([] if inside else [line])
    bare.write_text("\n".join(lines), encoding="utf-8")
    (request,) = show(ShowSettings(str(bare), PRICED), Surroundings({}), Silent())
    assert call.amount.input_tokens_without_scope == request.input_tokens
    assert call.amount.scope_tokens == call.amount.input_tokens - request.input_tokens > 100
    assert call.amount.output_tokens == request.output_tokens
    assert call.amount.cost_without_scope_usd == pytest.approx(request.cost_usd)


def test_each_dimension_is_told_with_and_without_its_clauses() -> None:
    (call,) = cost(ShowSettings(str(RUBRIC), PRICED)).calls
    rubric = load_rubric(RUBRIC)
    assert [part.dimension for part in call.dimensions] == [d.id for d in rubric.judged]
    clauses = sum(part.tokens - part.tokens_without_scope for part in call.dimensions)
    assert clauses == pytest.approx(call.amount.scope_tokens, abs=len(call.dimensions))
    first = rubric.judged[0]
    anchors = "\n".join(f"{score}: {text}" for score, text in first.anchors.items())
    assert call.dimensions[0].tokens_without_scope == estimate_tokens(
        f"# {first.id}\n{first.question}\nAnchors\n{anchors}"
    )


@pytest.mark.parametrize("calls", ["joint", "split", "both"])
def test_a_run_costs_what_a_dry_run_says(tmp_path: Path, calls: Any) -> None:
    rubric, data = str(small_rubric(tmp_path)), str(write_rows(tmp_path, *ROWS))
    found = cost(ShowSettings(rubric, PRICED, data, calls=calls))
    dry = estimate(GradeSettings(data, rubric, PRICED, calls=calls, out=tmp_path / "run"), Surroundings({}))
    assert found.run is not None
    assert (found.rows, found.run.calls) == (dry.rows, dry.calls)
    assert (found.run.input_tokens, found.run.output_tokens) == (dry.input_tokens, dry.output_tokens)
    assert found.run.cost_usd == pytest.approx(dry.cost_usd)
    assert found.run.scope_tokens == 0


def test_both_orders_of_a_pair_cost_twice(tmp_path: Path) -> None:
    pairs = [{"id": "p", "request": "Q?", "response_a": "one", "response_b": "two"}]
    settings = ShowSettings(str(RUBRIC), PRICED, str(write_rows(tmp_path, *pairs)), mode="pairwise")
    one, two = (cost(replace(settings, order=order)).run for order in ("random", "both"))
    assert one is not None
    assert two is not None
    assert (two.calls, two.input_tokens, two.scope_tokens) == (2, 2 * one.input_tokens, 2 * one.scope_tokens)


def test_the_named_row_is_the_one_that_is_told(tmp_path: Path) -> None:
    data = str(write_rows(tmp_path, *ROWS))
    small, large = (cost(ShowSettings(str(RUBRIC), PRICED, data, id=name)) for name in ("r1", "r7"))
    assert (small.row, large.row) == ("r1", "r7")
    assert small.of_row.input_tokens < large.of_row.input_tokens
    assert small.run == large.run
    with pytest.raises(UsageError, match="no row has the id"):
        cost(ShowSettings(str(RUBRIC), PRICED, data, id="r9"))


def test_rows_from_standard_input_are_read_twice(tmp_path: Path) -> None:
    data = b"".join(orjson.dumps(row) + b"\n" for row in ROWS)
    settings = ShowSettings(str(RUBRIC), PRICED, "-", id="r3")
    found = show_cost(settings, Surroundings({}, io.BytesIO(data)))
    assert found is not None
    assert (found.row, found.rows) == ("r3", len(ROWS))


def test_without_data_there_is_no_run_and_without_prices_no_cost(tmp_path: Path) -> None:
    found = cost(ShowSettings(str(RUBRIC), JudgeSettings()))
    assert (found.rows, found.run, found.judge) == (None, None, None)
    assert found.of_row.cost_usd is None
    free = cost(ShowSettings(str(RUBRIC), JudgeSettings("recorded:x.jsonl")))
    assert free.of_row.cost_usd == 0


def test_a_rubric_of_checks_costs_nothing(tmp_path: Path) -> None:
    rubric = tmp_path / "code.yaml"
    rubric.write_text(CODE_RUBRIC, encoding="utf-8")
    assert show_cost(ShowSettings(str(rubric), PRICED), Surroundings({})) is None
