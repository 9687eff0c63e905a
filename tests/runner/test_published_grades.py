"""Real judges' ratings and pass/fail decisions, graded as any run is: the published figures come out of them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentanvil.runner.exits import Exit
from tests.fakes.published import read_json, read_lines
from tests.fakes.runs import Runs, read_table, recording

pytestmark = pytest.mark.published

RATING = """\
version: 1
id: llmbar-rating
scale: {min: 0, max: 10}
evidence: none
reply: {format: label}
dimensions:
  - id: quality
    question: How well does the output do what the instruction asks?
    anchors: {10: all that is asked is done, 5: half of it is done, 0: nothing of it is done}
"""
GATE = """\
version: 1
id: devai
mode: gate
scale: {min: 0, max: 1}
evidence: none
dimensions:
  - id: met
    question: Does the agent's work meet the requirement?
    anchors: {1: the requirement is met, 0: the requirement is not met}
"""
CONFUSION = {"tp": (True, True), "fp": (True, False), "fn": (False, True), "tn": (False, False)}
ALL = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")
RATERS = (
    "GPT-4/Rating",
    "GPT-4/Rating_NoRules",
    "GPT-4/Rating_Metrics_Reference",
    "ChatGPT/Rating",
    "ChatGPT/Rating_NoRules",
)


@pytest.mark.parametrize("judge", RATERS)
def test_ratings_of_both_outputs_prefer_the_same_as_was_published(tmp_path: Path, judge: str) -> None:
    items = {item["id"]: item for item in read_lines("llmbar/items.jsonl")}
    records = [record for record in read_lines("llmbar/rating_raw.jsonl") if record["judge"] == judge]
    sides = [(record, items[record["id"]], side) for record in records for side in ("1", "2")]
    rows = [
        {"id": f"{item['id']}/{side}", "request": item["input"], "response": item[f"output_{side}"]}
        for _, item, side in sides
    ]
    replies = [{"id": f"{item['id']}/{side}", "reply": record[f"raw_{side}"]} for record, item, side in sides]
    runs = Runs(tmp_path, recording(tmp_path, *replies), *rows)
    runs.rubric.write_text(RATING, encoding="utf-8")
    result = runs.grade(min_coverage=0.0)
    assert result.problem is None
    scores = {
        cell["id"]: int(cell["score"]) for cell in read_table(runs.out, "scores.csv") if cell["state"] == "scored"
    }
    assert len(rows) - len(scores) == sum(not str(reply["reply"]).strip() for reply in replies)
    for subset in ALL:
        told = [record for record in records if record["id"].startswith(f"{subset}-")]
        assert preferred(told, scores) == read_json("llmbar/expected.json")["rating"][f"{judge}|{subset}"]


def preferred(records: list[Any], scores: dict[str, int]) -> dict[str, float]:
    """Return the figures in the published terms: a tie or a missing score is half right and no agreement."""
    ties = unread = right = 0
    for record in records:
        first, second = (scores.get(f"{record['id']}/{side}") for side in ("1", "2"))
        if first is None or second is None:
            unread += 1
        elif first == second:
            ties += 1
        else:
            right += (first > second) == (record["gold"] == 1)
    n = len(records)
    return {
        "n": n,
        "accuracy_pct": round(100 * (right + (ties + unread) / 2) / n, 4),
        "ties": ties,
        "non_int": unread,
        "agreement_pct": round(100 * (n - ties - unread) / n, 4),
    }


@pytest.mark.parametrize("agent", ["MetaGPT", "GPT-Pilot", "OpenHands"])
def test_gates_agree_with_people_as_far_as_was_published(tmp_path: Path, agent: str) -> None:
    """The paper cuts its percents off after two places: 92.07, 86.61, 90.16. The agents' work was not published."""
    rows = [
        {**record, "id": f"{record['task']}/{record['req']}"}
        for record in read_lines("devai_gate/requirements.jsonl")
        if record["agent"] == agent
    ]
    replies = [{"id": row["id"], "reply": {"pass": row["judge"]}} for row in rows]
    runs = Runs(tmp_path, recording(tmp_path, *replies), *rows)
    runs.rubric.write_text(GATE, encoding="utf-8")
    result = runs.grade(mapping=("request=criteria", "response=agent", "labels.met=human"))
    assert (result.problem, result.exit) == (None, Exit.GATE_FAILED)

    found = read_json("devai_gate/expected.json")[agent]
    met = result.summary.dimensions[0]
    assert met.agreement is not None
    assert met.agreement.labelled == met.agreement.exact.n == found["n"]
    assert round(100 * (met.agreement.exact.value or 0), 4) == found["alignment_pct"]
    assert met.agreement.kappa.value == pytest.approx(found["cohen_kappa"], abs=1e-6)
    gate = result.summary.gate
    assert (gate.passed, gate.failed, gate.undecided) == (found["judge_I"], found["n"] - found["judge_I"], 0)

    passed = {cell["id"]: cell["score"] == "1" for cell in read_table(runs.out, "scores.csv")}
    counts = [(passed[row["id"]], row["human"]) for row in rows]
    told = {name: counts.count(pair) for name, pair in CONFUSION.items()}
    assert told == {name: found[name] for name in CONFUSION}
