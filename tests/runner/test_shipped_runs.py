"""Every shipped rubric runs over its shipped rows, and exits as its gate says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentanvil.rubric import load_rubric
from tests.fakes.command import ROOT
from tests.fakes.runs import Runs, read_table
from tests.fakes.server import Answer, FakeServer, Recorded, chat

DATA = {"calibrated": "demo"}
RUBRICS = sorted(path.stem for path in (ROOT / "rubrics").glob("*.yaml"))


def filled(schema: dict[str, Any]) -> Any:
    """Return the best verdict that a schema offers."""
    if schema.get("type") == "object":
        return {name: filled(part) for name, part in schema["properties"].items()}
    if "enum" in schema:
        numbers = [choice for choice in schema["enum"] if isinstance(choice, int)]
        return max(numbers) if numbers else schema["enum"][0]
    if schema.get("type") == "boolean":
        return True
    return ["step 1"] if schema.get("type") == "array" else "so it is"


def best(request: Recorded) -> Answer:
    return chat(json.dumps(filled(request.json["response_format"]["json_schema"]["schema"])))


@pytest.mark.parametrize("name", RUBRICS)
def test_a_shipped_rubric_runs_over_its_rows(tmp_path: Path, name: str) -> None:
    rubric = ROOT / "rubrics" / f"{name}.yaml"
    data = ROOT / "datasets" / f"{DATA.get(name, f'{name}_demo')}.jsonl"
    with FakeServer(best) as server:
        result = Runs(tmp_path, server).grade(rubric=str(rubric), data=str(data))
    rows = read_table(result.folder, "items.csv")
    assert {row["state"] for row in rows} == {"scored"}
    assert len(rows) == len(data.read_text(encoding="utf-8").splitlines())
    # One gate row breaks its deterministic check, whatever a judge says of it.
    assert int(result.exit) == (1 if load_rubric(rubric).mode == "gate" else 0)
    assert result.summary.coverage.share == 1.0


@pytest.mark.parametrize("name", sorted(set(RUBRICS) - {"calibrated", "gate", "pairwise"}))
def test_a_shipped_rubric_compares_its_pairs(tmp_path: Path, name: str) -> None:
    rubric, data = ROOT / "rubrics" / f"{name}.yaml", ROOT / "datasets" / f"{name}_pairs.jsonl"
    with FakeServer(best) as server:
        result = Runs(tmp_path, server).grade(
            rubric=str(rubric), data=str(data), mode="pairwise", order="both", limit=4
        )
    assert result.summary.pairwise is not None
    assert result.summary.pairwise.agreement.inconsistent == 4  # this judge always names the first one
    assert int(result.exit) == 0
