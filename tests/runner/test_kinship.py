"""Judge and candidate of one family: who is told, and which gates are refused before anything is spent."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.spec import parse_judge
from agentanvil.dataset import DatasetInfo
from agentanvil.errors import UsageError
from agentanvil.plan import Role, Seat
from agentanvil.rubric import parse_rubric
from agentanvil.runner.exits import Exit
from agentanvil.runner.kinship import Kinship, judges_gate, read_kinship, refuse_self_judging, self_judged
from agentanvil.runner.panel_settings import PanelSettings
from tests.fakes.runs import Collected, Runs, rows
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import RUBRIC, graded

GPT, CLAUDE, UNKNOWN, LOCAL = (
    "openai:gpt-6-luna",
    "anthropic:claude-haiku-5-5",
    "compat:m@http://127.0.0.1:1/v1",
    "local",
)


def kinship(
    judges: list[str],
    candidates: dict[tuple[str | None, ...], int],
    role: Role = "jury",
    given: dict[str, str] | None = None,
) -> Kinship:
    specs = [parse_judge(judge) for judge in judges]
    others = [Seat(str(spec), role) for spec in specs[1:]]
    return read_kinship(specs, others, DatasetInfo("rows", 3, "h", candidates=candidates), given or {})


@pytest.mark.parametrize(
    ("judges", "role", "candidate", "alone"),
    [
        ([GPT], "jury", "gpt-4o", True),
        ([GPT], "jury", "claude-opus-5", False),
        ([GPT], "jury", "my-own-model", False),
        ([UNKNOWN], "jury", "gpt-4o", False),
        ([UNKNOWN], "jury", "my-own-model", False),
        ([LOCAL], "jury", "Qwen2.5-7B", True),
        (["recorded:gpt-4o.jsonl"], "jury", "gpt-4o", False),
        (["openai-decisions:gpt-6-luna"], "jury", "gpt-4o", True),
        (["litellm:bedrock/us.anthropic.claude-haiku-4-5-v1:0"], "jury", "claude-opus-5", True),
        (["litellm:openai/qwen3-32b"], "jury", "gpt-4o", False),  # an OpenAI-compatible server, not a model of OpenAI
        (["litellm:openai/qwen3-32b"], "jury", "qwen3-8b", True),
        (["litellm:anthropic/opus-latest"], "jury", "claude-opus-5", True),
        ([GPT, CLAUDE], "jury", "gpt-4o", False),
        ([GPT, "openai:gpt-6-sol"], "jury", "gpt-4o", True),
        ([GPT, UNKNOWN], "jury", "gpt-4o", False),
        ([GPT, CLAUDE], "cross", "gpt-4o", True),  # the cross judge decides nothing
        ([CLAUDE, GPT], "cross", "gpt-4o", False),
        ([GPT, CLAUDE], "escalation", "gpt-4o", True),  # the first decides where nothing is unsure
        ([CLAUDE, GPT], "escalation", "gpt-4o", True),  # and the second alone where something is
        ([CLAUDE, UNKNOWN], "escalation", "gpt-4o", False),
    ],
)
def test_judges_of_the_candidates_family_must_not_decide_alone(
    judges: list[str], role: Role, candidate: str, alone: bool
) -> None:
    found = kinship(judges, {(candidate,): 2, ("another-model",): 1}, role)
    assert found.alone == ((candidate,) if alone else ())


def test_deployments_are_known_from_anvil_yaml_alone() -> None:
    judge = "azure:judge-prod@https://acme.openai.azure.com/openai/v1"
    assert kinship([judge], {("gpt-4o",): 1}).alone == ()
    assert kinship([judge], {("gpt-4o",): 1}, given={"judge-prod": "openai"}).alone == ("gpt-4o",)
    assert kinship([GPT], {("in-house",): 1}, given={"in-*": "openai"}).alone == ("in-house",)
    assert kinship([GPT], {("gpt-4o",): 1}, given={"gpt-4o": "none"}).alone == ()


def test_it_is_told_with_rows_and_families() -> None:
    found = kinship([GPT, CLAUDE], {("gpt-4o",): 2, ("gpt-4.1",): 1, ("claude-opus-5",): 1, ("other",): 5})
    assert found.told == (
        f"the judge {GPT} and `gpt-4.1`, `gpt-4o` (3 rows) are of one family (openai): judges favour their own",
        f"the judge {CLAUDE} and `claude-opus-5` (1 row) are of one family (anthropic): judges favour their own",
    )
    assert found.as_dict()["families"] == {GPT: ["openai"], CLAUDE: ["anthropic"]}
    assert kinship([GPT], {("other",): 3}).told == ()


def test_of_a_pair_it_is_told_where_only_one_side_is_kin() -> None:
    pairs: dict[tuple[str | None, ...], int] = {
        ("gpt-4o", "claude-opus-5"): 3, ("gpt-4o", "gpt-4.1"): 4, (None, "gpt-4o"): 2, ("x", "y"): 9
    }  # fmt: skip
    both, one = kinship([GPT], pairs).told
    assert "(9 rows)" in both
    assert one == f"in 5 rows only one of the two responses is of the family of {GPT} (openai)"


def test_models_that_were_not_looked_at_are_told_where_that_matters() -> None:
    many = DatasetInfo("rows", 3, "h", candidates={("other",): 1}, candidates_beyond=7)
    (told,) = read_kinship([parse_judge(GPT)], [], many, {}).told
    assert told.startswith("7 rows of further models")
    assert read_kinship([parse_judge(UNKNOWN)], [], many, {}).told == ()


CHECKED = "  - {id: short, check: {type: max_words, limit: 50}}\n"


@pytest.mark.parametrize(
    ("mode", "gate", "judged"),
    [
        ("absolute", "", False),
        ("absolute", "gate: {overall: 4}\n", True),
        ("absolute", "gate: {accuracy: 4}\n", True),
        ("absolute", "gate: {short: 1}\n", False),  # code decides that one
        ("gate", "", True),
        ("pairwise", "", False),
    ],
)
def test_only_a_gate_that_a_judge_decides_is_one(mode: str, gate: str, judged: bool) -> None:
    text = f"mode: {mode}\n{RUBRIC.replace('CALLS', 'joint')}{CHECKED}{gate}"
    rubric = parse_rubric(text)
    assert judges_gate(rubric) is judged
    found = kinship([GPT], {("gpt-4o",): 1})
    if judged:
        with pytest.raises(UsageError, match=r"the gate would be decided by `openai:gpt-6-luna` alone.*`gpt-4o`"):
            refuse_self_judging(found, rubric)
    else:
        refuse_self_judging(found, rubric)
    assert (self_judged(found.as_dict(), rubric) is not None) is judged


def runs_of(folder: Path, server: FakeServer, *, gate: str = "gate: {overall: 2}\n") -> Runs:
    data: list[dict[str, Any]] = [row | {"model": "gpt-4o"} for row in rows(3)]
    runs = Runs(folder, f"openai:gpt-6-luna@{server.url}", *data)
    with runs.rubric.open("a", encoding="utf-8") as file:
        file.write(gate)
    return runs


KEY = {"OPENAI_API_KEY": "sk-canary-1234"}


def test_such_a_gate_is_refused_before_anything_is_sent_or_written(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = runs_of(tmp_path, server)
        with pytest.raises(UsageError, match="--accept-self-judging"):
            runs.grade(environ=KEY)
        assert not server.requests
    assert not runs.out.exists()


def test_accepted_it_is_said_in_every_report(tmp_path: Path) -> None:
    said = "the gate is decided by judges of the candidate's own family alone, for responses of `gpt-4o`"
    listener = Collected()
    with FakeServer(graded) as server:
        runs = runs_of(tmp_path, server)
        result = runs.grade(listener, environ=KEY, accept_self_judging=True)
    assert result.exit is Exit.OK
    assert said in listener.starts[0].kinship
    notes = json.loads(runs.reports()["summary.json"])["notes"]
    assert notes[0] == said
    assert any("are of one family (openai)" in note for note in notes)
    told = {each.get("name"): each.get("value") for each in ET.fromstring(runs.reports()["junit.xml"]).iter("property")}
    assert told["self_judging"] == said
    manifest = runs.manifest()["kinship"]
    assert (manifest["alone"], manifest["accept_self_judging"]) == (["gpt-4o"], True)


def test_without_a_gate_it_is_told_and_goes_on(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = runs_of(tmp_path, server, gate="")
        result = runs.grade(environ=KEY)
    assert result.exit is Exit.OK
    assert any("are of one family (openai)" in note for note in result.summary.notes)
    assert not list(ET.fromstring(runs.reports()["junit.xml"]).iter("property"))


def test_a_juror_of_another_family_lets_the_gate_decide(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = runs_of(tmp_path, server)
        panel = PanelSettings(jury=(f"compat:m@{server.url}",))
        result = runs.grade(environ=KEY, panel=panel)
    assert result.exit is Exit.OK
    assert not any("the gate is decided" in note for note in result.summary.notes)
    assert any(f"the judge openai:gpt-6-luna@{server.url} and" in note for note in result.summary.notes)
