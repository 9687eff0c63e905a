"""Real judges' raw replies in both orders, graded as any run is: the published figures come out of them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentanvil.aggregate import Pairwise
from tests.fakes.published import read_json, read_lines
from tests.fakes.runs import Runs, read_table, recording

pytestmark = pytest.mark.published

RUBRIC = """\
version: 1
id: llmbar
mode: pairwise
scale: {min: 0, max: 1}
evidence: none
reply: REPLY
dimensions:
  - id: following
    question: Which output does what the instruction asks?
    anchors: {1: what is asked is done, 0: what is asked is not done}
"""
BARE = '{format: label, labels: {"Output (a)": 1, "Output (b)": -1}}'
ARGUED = '{format: label, marker: Output, labels: {"(a) is better": 1, "(b) is better": -1}, select: first}'
FIELDS = ("request=input", "response_a=output_1", "response_b=output_2")
ORDERS = {"ab": "orig", "ba": "swapped"}
WINNERS = {"1": 1, "2": -1, None: None}

ALL = ("Natural", "Neighbor", "GPTInst", "GPTOut", "Manual")
SHORT = ("Natural", "GPTOut", "Manual")
READ_ALIKE = {
    "GPT-4/CoT": ALL,
    "GPT-4/Vanilla_NoRules": ALL,
    "GPT-4/Reference": SHORT,
    "ChatGPT/CoT": ALL,
    "LLaMA2/CoT": SHORT,
    "Falcon/CoT": ALL,
}
# Upstream reads this judge by any line that begins with `Output (a)`, be it a remark on that output, and looks for
# `(b)` only then. Most of its replies state their verdict in the first line and go on with such remarks.
READ_OTHERWISE = "PaLM2/CoT"


@dataclass(frozen=True, slots=True)
class Figures:
    """In the published terms: percents, an unread reply counts as wrong, and two unread ones agree."""

    accuracy: float
    agreement: float
    both_correct: int
    unparsed: int
    first: int
    second: int


def published(judge: str, subset: str) -> Figures:
    found = read_json("llmbar/expected.json")["by_judge_subset"][f"{judge}|{subset}"]
    return Figures(
        found["accuracy_avg_pct"],
        found["positional_agreement_pct"],
        found["both_correct"],
        found["unparsed_completions"],
        found["picked_first"],
        found["picked_second"],
    )


@cache
def read_items() -> Mapping[str, Any]:
    return {item["id"]: item for item in read_lines("llmbar/items.jsonl")}


@cache
def read_records() -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Return the records by judge and subset, then by item."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for record in read_lines("llmbar/pairwise_raw.jsonl"):
        found.setdefault((record["judge"], record["id"].partition("-")[0]), {})[record["id"]] = record
    return found


def raw(record: Mapping[str, Any], order: str) -> str:
    return str(record[ORDERS[order]]["raw"])


def choice(record: Mapping[str, Any], order: str) -> str:
    """What upstream read, as a bare choice of the slot."""
    winner = WINNERS[record[ORDERS[order]]["winner"]]
    if winner is None:
        return "neither"
    return "Output (a)" if (winner == 1) == (order == "ab") else "Output (b)"


@dataclass(frozen=True, slots=True)
class Run:
    """A graded recording: what the summary says of it, and each call's delta by item and order."""

    pairwise: Pairwise
    deltas: Mapping[str, Mapping[str, int | None]]

    def figures(self, golds: Mapping[str, int]) -> Figures:
        """Return the figures; `golds` are 1 or -1, signed like deltas."""
        right = {name: [delta == golds[name] for delta in calls.values()] for name, calls in self.deltas.items()}
        alike = [calls["ab"] == calls["ba"] for calls in self.deltas.values()]
        position = self.pairwise.position
        return Figures(
            accuracy=round(100 * sum(map(sum, right.values())) / (2 * len(right)), 4),
            agreement=round(100 * sum(alike) / len(alike), 4),
            both_correct=sum(map(all, right.values())),
            unparsed=sum(delta is None for calls in self.deltas.values() for delta in calls.values()),
            first=position.first,
            second=position.second,
        )


def replay(folder: Path, rows: list[dict[str, Any]], replies: list[dict[str, str]], form: str) -> Run:
    """Grade rows in both orders with recorded replies; the expected answer is a label and stays out of prompts."""
    runs = Runs(folder, recording(folder, *replies), *rows)
    runs.rubric.write_text(RUBRIC.replace("REPLY", form), encoding="utf-8")
    result = runs.grade(order="both", mapping=FIELDS, min_coverage=0.0)
    assert result.problem is None
    assert result.summary.pairwise is not None
    deltas: dict[str, dict[str, int | None]] = {}
    for cell in read_table(runs.out, "scores.csv"):
        assert cell["state"] in {"scored", "judge_error"}
        delta = int(cell["score"]) if cell["state"] == "scored" else None
        deltas.setdefault(cell["id"], {})[cell["order"]] = delta
    return Run(result.summary.pairwise, deltas)


def replay_judge(folder: Path, judge: str, subset: str, form: str, said: Any = raw) -> tuple[Run, Figures]:
    records = read_records()[judge, subset]
    items = read_items()
    rows = [{**items[name], "labels": {"winner": "ab"[record["gold"] - 1]}} for name, record in records.items()]
    replies = [
        {"id": name, "order": order, "reply": said(record, order)}
        for name, record in records.items()
        for order in ORDERS
    ]
    run = replay(folder, rows, replies, form)
    return run, run.figures({name: WINNERS[str(record["gold"])] or 0 for name, record in records.items()})


@pytest.mark.parametrize(
    ("judge", "subset"), [(judge, subset) for judge, subsets in READ_ALIKE.items() for subset in subsets]
)
def test_figures_come_out_of_the_raw_replies(tmp_path: Path, judge: str, subset: str) -> None:
    run, figures = replay_judge(tmp_path, judge, subset, ARGUED if judge.endswith("/CoT") else BARE)
    assert figures == published(judge, subset)
    assert run.pairwise.labels is not None
    if not figures.unparsed:
        assert _percent(run.pairwise.labels.calls.exact.value) == figures.accuracy
        assert _percent(run.pairwise.agreement.same_winner.value) == figures.agreement
    consistent = run.pairwise.agreement.consistent
    assert consistent == sum(calls["ab"] == calls["ba"] is not None for calls in run.deltas.values())
    assert run.pairwise.verdict.missing == sum(None in calls.values() for calls in run.deltas.values())


@pytest.mark.parametrize("subset", SHORT)
def test_figures_come_out_of_the_choices_where_upstream_read_the_replies_otherwise(tmp_path: Path, subset: str) -> None:
    _, figures = replay_judge(tmp_path, READ_OTHERWISE, subset, BARE, choice)
    assert figures == published(READ_OTHERWISE, subset)


@pytest.mark.parametrize(
    ("subset", "expected", "opening_with_b", "others"),
    [
        ("Natural", Figures(80.5, 83.0, 72, 2, 112, 86), 20, 1),
        ("GPTOut", Figures(57.4468, 65.9574, 19, 0, 61, 33), 13, 0),
        ("Manual", Figures(66.3043, 80.4348, 26, 2, 52, 38), 18, 0),
    ],
)
def test_what_those_replies_say_themselves(
    tmp_path: Path, subset: str, expected: Figures, opening_with_b: int, others: int
) -> None:
    """Expected figures were counted by hand from the first `Output (a|b) is better` of each reply."""
    run, figures = replay_judge(tmp_path, READ_OTHERWISE, subset, ARGUED)
    assert figures == expected
    differing = [
        raw(record, order)
        for name, record in read_records()[READ_OTHERWISE, subset].items()
        for order in ORDERS
        if run.deltas[name][order] != WINNERS[record[ORDERS[order]]["winner"]]
    ]
    assert sum(reply.startswith("Output (b) is better.") for reply in differing) == opening_with_b
    assert len(differing) == opening_with_b + others


def test_every_published_combination_is_here() -> None:
    here = [
        f"{judge}|{subset}" for judge, subsets in {**READ_ALIKE, READ_OTHERWISE: SHORT}.items() for subset in subsets
    ]
    assert sorted(here) == sorted(read_json("llmbar/expected.json")["by_judge_subset"])


@pytest.mark.parametrize("subset", ["FairEval", "MT-Bench", "LLMEval2"])
def test_choices_are_held_against_the_preferences_of_people(tmp_path: Path, subset: str) -> None:
    """The texts were not published with these; what was compared does not matter to a replay."""
    records = [one for one in read_lines("llmbar/human_pref_pairwise_raw.jsonl") if one["subset"] == subset]
    texts = {"input": "(left out)", "output_1": "(the first)", "output_2": "(the second)"}
    rows = [{"id": one["id"], **texts, "labels": {"winner": "ab"[one["human"] - 1]}} for one in records]
    replies = [{"id": one["id"], "order": order, "reply": raw(one, order)} for one in records for order in ORDERS]
    figures = replay(tmp_path, rows, replies, BARE).figures(
        {one["id"]: WINNERS[str(one["human"])] or 0 for one in records}
    )
    found = read_json("llmbar/expected.json")["human_pref"][subset]
    assert (figures.accuracy, figures.agreement) == (found["accuracy_avg_pct"], found["positional_agreement_pct"])
    assert (figures.unparsed, figures.first, figures.second) == (
        found["unparsed"],
        found["picked_first"],
        found["picked_second"],
    )


def _percent(share: float | None) -> float:
    assert share is not None
    return round(100 * share, 4)
