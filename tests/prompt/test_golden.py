"""The words of every kind of prompt, byte for byte; see golden/README.md."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentanvil.dataset import Contender, Row, ToolStep, Trace, TurnStep
from agentanvil.prompt import PROMPT_VERSION, Prompt
from agentanvil.rubric import Dimension, Exclusion, ReplyFormat, Rubric, Scale, Scope
from tests.fakes.prompts import prompted
from tests.fakes.records import rubric as make_rubric

GOLDEN = Path(__file__).parent / "golden"

SUPPORT = Dimension(
    "support",
    "Does every claim rest on what was given?",
    {5: "every claim does", 3: "exactly one does not", 1: "two or more do not"},
    Scope(
        ("claims of fact", "figures"),
        (Exclusion("questions left open", "coverage"), Exclusion("tone")),
    ),
)
COVERAGE = Dimension(
    "coverage",
    "Is every question answered?",
    {5: "all are", 3: "exactly one is not", 1: "two or more are not"},
    Scope((), (Exclusion("whether an answer is true", "support"),)),
)
CAUTION = Dimension("caution", "Is a warning given where one is due?", {3: "yes", 1: "no"}, allow_na=True)
ROW = Row(0, 1, "r1", "How long do eggs boil,\nand why?", "Seven minutes.", expected="SECRET", meta={"k": "SECRET"})
SOURCED = Row(0, 1, "r2", "When was it built?", "In 1889.", source=("Built in 1889.", "Painted brown."))


PAIR = Row(0, 1, "r3", "Name a prime.", "Two is one.", rival=Contender("It is 9."), source=("2, 3, 5 are primes.",))
RUN = Trace(
    request="Book the 9:10 train to Rome.",
    plan="Look it up, then book it.",
    steps=(
        TurnStep("thought", "The timetable first."),
        ToolStep("timetable", "c1", {"to": "Rome", "at": [9, 10]}, {"train": "R 7"}, error=False),
        ToolStep("book", "c2", args_raw='{"train": ', result="no such train", error=True, agent="booker"),
        TurnStep("user", "Any news?"),
        ToolStep("book", "c3", {"train": "R 7"}, missing_result=True),
    ),
    final_answer="Booked.",
    error="time limit",
)
RUN_ROW = Row(0, 1, "r4", "Book the 9:10 train to Rome.", "Booked.", trace=RUN)


def rubric(*dimensions: Dimension, **changes: object) -> Rubric:
    return make_rubric(**{"dimensions": dimensions, "rules": ("A short answer may be best.",), **changes})  # type: ignore[arg-type]


CASES: dict[str, tuple[Rubric, Row]] = {
    "joint_quoted": (rubric(SUPPORT, COVERAGE), ROW),
    "joint_grounded": (rubric(SUPPORT, COVERAGE, needs_source=True), SOURCED),
    "joint_not_applicable": (rubric(COVERAGE, CAUTION, evidence="none"), ROW),
    "split_pinpoint": (rubric(SUPPORT, COVERAGE, calls="split", evidence="pinpoint"), ROW),
    "single_without_evidence": (rubric(CAUTION, scale=Scale(1, 3), evidence="none", rules=()), ROW),
    "expected_allowed": (rubric(COVERAGE, allow_expected=True), ROW),
    "label": (
        rubric(COVERAGE, reply=ReplyFormat("label", "GRADE", {"full": 5, "all": 5, "part": 3, "none": 1})),
        ROW,
    ),
    "brackets": (rubric(CAUTION, scale=Scale(1, 3), reply=ReplyFormat("brackets", "Rating:")), ROW),
    "trace": (rubric(COVERAGE, evidence="pinpoint"), RUN_ROW),
    "gate_joint": (rubric(SUPPORT, COVERAGE, mode="gate", gate={"support": 3.0}), ROW),
    "gate_grounded": (
        rubric(COVERAGE, CAUTION, mode="gate", gate={"coverage": 1.0}, needs_source=True, evidence="pinpoint"),
        SOURCED,
    ),
    "gate_label": (
        rubric(COVERAGE, mode="gate", reply=ReplyFormat("label", "", {"yes": 1, "no": 0}), evidence="none"),
        ROW,
    ),
    "pairwise_joint": (rubric(SUPPORT, COVERAGE, mode="pairwise", needs_source=True), PAIR),
    "pairwise_not_applicable": (rubric(CAUTION, mode="pairwise", scale=Scale(1, 3), evidence="pinpoint"), PAIR),
    "pairwise_without_evidence": (rubric(CAUTION, mode="pairwise", scale=Scale(0, 1), evidence="none"), PAIR),
    "pairwise_label": (
        rubric(
            COVERAGE,
            mode="pairwise",
            evidence="none",
            reply=ReplyFormat("label", "", {"Output (a)": 1, "Output (b)": -1}),
        ),
        PAIR,
    ),
}


def written(prompt: Prompt) -> str:
    schema = json.dumps(prompt.contract.schema, indent=1, ensure_ascii=False)
    return (
        f"prompt version {PROMPT_VERSION}\n=== system ===\n{prompt.system}\n=== user ===\n{prompt.user}\n"
        f"=== schema ===\n{schema}\n"
    )


@pytest.mark.parametrize("name", CASES)
def test_words_are_those_that_were_reviewed(name: str) -> None:
    path = GOLDEN / f"{name}.txt"
    found = written(prompted(*CASES[name])[1])
    if os.environ.get("ANVIL_GOLDEN") == "write":
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        assert found == old or old.splitlines()[:1] != found.splitlines()[:1], "raise PROMPT_VERSION first"
        path.write_text(found, encoding="utf-8", newline="\n")
    assert path.exists(), "a new case: ANVIL_GOLDEN=write pytest tests/prompt/test_golden.py"
    assert found == path.read_text(encoding="utf-8"), "see tests/prompt/golden/README.md"


def test_no_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)
