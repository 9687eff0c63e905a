"""Findings that need rows, and how files, data and judge come together in one `anvil lint`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from agentanvil.errors import DatasetError, UsageError
from agentanvil.rubric import CODES, Finding
from agentanvil.runner.exits import Exit
from agentanvil.runner.job import Surroundings
from agentanvil.runner.lint import LintResult, LintSettings, explain, lint, lint_exit
from tests.fakes.rubric_text import judged, rubric_text

ENOUGH = 30
TWO = (judged("accuracy"), judged("tone", question="Is it polite?"))
GATED = "mode: gate\ngate: {overall: 4}"


def found(folder: Path, rows: list[dict[str, object]], rubric: str, **settings: object) -> list[Finding]:
    """Write both files and return the findings that concern the rows."""
    (folder / "r.yaml").write_text(rubric, encoding="utf-8")
    lines = (
        json.dumps({"id": str(index), "request": f"q{index}", "response": "a"} | row) for index, row in enumerate(rows)
    )
    (folder / "d.jsonl").write_text("\n".join(lines), encoding="utf-8")
    given = {"files": (str(folder / "r.yaml"),), "data": str(folder / "d.jsonl")} | settings
    (result,) = lint(LintSettings(**given), Surroundings({}))  # type: ignore[arg-type]
    assert result.usable
    assert [one.file for one in result.findings if one.code[0] == "D"] == [str(folder / "d.jsonl")] * sum(
        one.code[0] == "D" for one in result.findings
    )
    return [one for one in result.findings if one.code[0] == "D"]


def places(findings: list[Finding]) -> list[tuple[str, int | None]]:
    return [(one.code, one.line) for one in findings]


def many(**row: object) -> list[dict[str, object]]:
    return [dict(row) for _ in range(ENOUGH)]


def test_labels_that_no_verdict_can_meet(tmp_path: Path) -> None:
    rows = many(labels={"accuracy": 5})
    rows[3] = {"labels": {"accuracy": [5, 0]}}
    rows[4] = {"labels": {"accuracy": 3.5}}
    rows[6] = {"labels": {"acuracy": 3}}
    findings = found(tmp_path, rows, rubric_text())
    assert places(findings) == [("D101", 4), ("D102", 7)]
    assert findings[0].message.startswith("2 rows have a label for accuracy such as 0, and 1 to 5 is on offer: ")
    assert findings[1].message.startswith("1 row has labels for `acuracy`, and the dimensions are accuracy: ")


@pytest.mark.parametrize(
    ("extra", "label", "offered"),
    [
        ("", 3, True),
        ("", 6, False),
        (GATED, True, True),
        (GATED, 3.5, True),
        (GATED, 0, False),
        ("mode: pairwise", -4, True),
        ("mode: pairwise", "b", True),
        ("mode: pairwise", 5, False),
    ],
)
def test_what_a_label_may_be_depends_on_the_mode(tmp_path: Path, extra: str, label: object, offered: bool) -> None:
    pair = {"response_a": "x", "response_b": "y"} if "pairwise" in extra else {}
    findings = found(tmp_path, many(labels={"accuracy": label}, **pair), rubric_text(extra=extra))
    assert places(findings) == ([] if offered else [("D101", 1)])


def test_a_dimension_that_nobody_labelled(tmp_path: Path) -> None:
    findings = found(tmp_path, [{}, *many(labels={"accuracy": 5})], rubric_text(*TWO))
    assert [(one.code, one.dimension, one.line) for one in findings] == [("D103", "tone", 2)]
    assert found(tmp_path, many(labels={"accuracy": 5, "tone": 1}), rubric_text(*TWO)) == []


def test_the_winner_alone_calibrates_a_comparison(tmp_path: Path) -> None:
    rows = many(labels={"winner": "a"}, response_a="x", response_b="y")
    assert found(tmp_path, rows, rubric_text(*TWO, extra="mode: pairwise")) == []


@pytest.mark.parametrize(("labelled", "line"), [(0, None), (29, 1), (30, 0)])
def test_too_few_labels_are_worth_a_note(tmp_path: Path, labelled: int, line: int | None) -> None:
    rows: list[dict[str, object]] = [{"labels": {"accuracy": 5}} if n < labelled else {} for n in range(ENOUGH)]
    assert places(found(tmp_path, rows, rubric_text())) == ([("D104", line)] if labelled < ENOUGH else [])


def test_rows_for_checks_alone_need_no_labels(tmp_path: Path) -> None:
    assert found(tmp_path, [{"source": "s"}], rubric_text("{id: b, check: {type: max_words, limit: 9}}")) == []


def test_expected_answers_are_seen_and_hidden_or_shown(tmp_path: Path) -> None:
    rows = many(labels={"accuracy": 5})
    rows[2] |= {"expected": "42", "gold": "42"}
    hidden = found(tmp_path, rows, rubric_text())
    assert places(hidden) == [("D201", 3)]
    assert "1 row has an expected answer (`expected`, `gold`): " in hidden[0].message
    assert places(found(tmp_path, rows, rubric_text(extra="allow_expected: true"))) == [("D202", 3)]
    nothing = many(labels={"accuracy": 5})
    assert places(found(tmp_path, nothing, rubric_text(extra="allow_expected: true"))) == [("D203", None)]


def test_sources_that_are_missing_or_for_nothing(tmp_path: Path) -> None:
    rows = many(labels={"accuracy": 5}, source="s")
    assert places(found(tmp_path, rows, rubric_text())) == [("D302", 1)]
    assert found(tmp_path, rows, rubric_text(extra="needs_source: true")) == []
    optional = rubric_text(judged(question="Does it agree with the source, where there is one?"))
    assert found(tmp_path, rows, optional) == []
    rows[5] = {"labels": {"accuracy": 5}, "source": " "}
    assert places(found(tmp_path, rows, rubric_text(extra="needs_source: true"))) == [("D301", 6)]


@pytest.mark.parametrize(
    ("judge", "kin"),
    [
        ("compat:gpt-4o@http://127.0.0.1:1/v1", True),
        ("compat:claude-9@http://127.0.0.1:1/v1", False),
        ("compat:house-model@http://127.0.0.1:1/v1", False),
        ("recorded:gpt-4.jsonl", False),
        ("local", False),
        (None, False),
    ],
)
def test_a_judge_of_the_candidates_own_family(tmp_path: Path, judge: str | None, kin: bool) -> None:
    rows = many(labels={"accuracy": 5}, model="house-model")
    rows[7]["model"] = "gpt-3.5-turbo"
    findings = found(tmp_path, rows, rubric_text(), judge=judge)
    assert places(findings) == ([("D401", 8)] if kin else [])


def test_families_of_anvil_yaml_count_and_a_gate_is_said_to_need_another_judge(tmp_path: Path) -> None:
    rows = many(labels={"accuracy": 5}, model="house-model")
    judge, families = "compat:judge-prod@http://127.0.0.1:1/v1", {"judge-prod": "acme", "house-*": "acme"}
    assert not found(tmp_path, rows, rubric_text(), judge=judge)
    (plain,) = found(tmp_path, rows, rubric_text(), judge=judge, families=families)
    assert "the judge judge-prod and `house-model` are of one family (acme): " in plain.message
    gate = rubric_text(extra="gate: {overall: 4}")
    (gated,) = found(tmp_path, rows, gate, judge=judge, families=families)
    assert "are of one family (acme), and may not decide the gate alone: " in gated.message


def test_the_built_in_judge_has_a_family_too_and_both_of_a_pair_count(tmp_path: Path) -> None:
    rows = many(labels={"accuracy": 1}, response_a="x", response_b="y", model_a="m", model_b="Qwen2-7B")
    findings = found(tmp_path, rows, rubric_text(extra="mode: pairwise"), judge="local")
    assert places(findings) == [("D401", 1)]
    assert "`Qwen2-7B` are of one family (qwen): " in findings[0].message


def test_rows_that_repeat_one_another(tmp_path: Path) -> None:
    rows = many(labels={"accuracy": 5})
    rows[1] |= {"request": "same", "model": "m"}
    rows[4] |= {"request": "same", "model": "m"}
    rows[8] |= {"request": "same", "model": "m"}
    rows[9] |= {"request": "same", "model": "n"}
    findings = found(tmp_path, rows, rubric_text())
    assert places(findings) == [("D501", 5)]
    assert findings[0].message.startswith("2 of 30 rows repeat another, such as lines 2 and 5: ")


def test_runs_whose_request_is_not_known_are_no_copies(tmp_path: Path) -> None:
    rubric, data = tmp_path / "r.yaml", tmp_path / "batch.jsonl"
    rubric.write_text(rubric_text(), encoding="utf-8")
    body = {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "Done."}}]}
    lines = [
        json.dumps({"id": f"b{n}", "custom_id": f"c{n}", "response": {"status_code": 200, "body": body}, "error": None})
        for n in range(2)
    ]
    data.write_text("\n".join(lines), encoding="utf-8")
    (result,) = lint(LintSettings((str(rubric),), data=str(data)), Surroundings({}))
    assert [one.code for one in result.findings] == ["D104"]


def test_the_mode_of_the_command_beats_the_rubrics_own(tmp_path: Path) -> None:
    rubric = tmp_path / "r.yaml"
    rubric.write_text(rubric_text(), encoding="utf-8")
    (asked,) = lint(LintSettings((str(rubric),), mode="gate"), Surroundings({}))
    assert [one.code for one in asked.findings] == ["R506"]
    (own,) = lint(LintSettings((str(rubric),)), Surroundings({}))
    assert own.findings == ()


def test_rows_come_from_standard_input_too(tmp_path: Path) -> None:
    rubric = tmp_path / "r.yaml"
    rubric.write_text(rubric_text(), encoding="utf-8")
    rows = io.BytesIO(b'{"id": 1, "prompt": "q", "response": "a", "labels": {"accuracy": 9}}')
    settings = LintSettings((str(rubric),), data="-", mapping=("request=prompt",))
    (result,) = lint(settings, Surroundings({}, rows))
    assert [one.code for one in result.findings] == ["D101", "D104"]


def test_data_is_not_read_for_a_rubric_that_cannot_be_used(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.yaml", tmp_path / "good.yaml"
    bad.write_text("id: a", encoding="utf-8")
    good.write_text(rubric_text(), encoding="utf-8")
    data = tmp_path / "d.jsonl"
    data.write_text('{"id": 1}', encoding="utf-8")
    (result,) = lint(LintSettings((str(bad),), data=str(data)), Surroundings({}))
    assert not result.usable
    with pytest.raises(DatasetError, match="missing"):
        lint(LintSettings((str(bad), str(good)), data=str(data)), Surroundings({}))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"files": ()}, "Missing argument"),
        ({"files": ("r",), "mapping": ("a=b",)}, "--map is about rows"),
        ({"files": ("r",), "judge": "local"}, "--judge is about rows"),
        ({"files": ("r",), "vs": ("x",)}, "--vs is about rows"),
        ({"files": ("r", "s"), "data": "-"}, "standard input is read once"),
        ({"files": ("r",), "mode": "pair"}, "--mode is one of absolute, pairwise, gate"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        LintSettings(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("codes", "usable", "plain", "strict"),
    [
        ([], True, Exit.OK, Exit.OK),
        (["D104", "R603"], True, Exit.OK, Exit.OK),
        (["R602"], True, Exit.OK, Exit.GATE_FAILED),
        (["R602", "R302"], True, Exit.GATE_FAILED, Exit.GATE_FAILED),
        (["R003"], False, Exit.USAGE, Exit.USAGE),
    ],
)
def test_the_exit_code_follows_from_the_gravest(codes: list[str], usable: bool, plain: Exit, strict: Exit) -> None:
    findings = tuple(Finding(code, CODES[code].severity, "m", "n") for code in codes)
    results = [LintResult("r.yaml", findings, usable), LintResult("s.yaml", (), True)]
    assert (lint_exit(results, strict=False), lint_exit(results, strict=True)) == (plain, strict)


@pytest.mark.parametrize("name", ["R301", "r301", " scope-overlap", "Scope-Overlap"])
def test_a_finding_is_explained_by_code_or_title(name: str) -> None:
    explained = explain(name)
    assert (explained.code, explained.kind) == ("R301", CODES["R301"])
    assert CODES["R301"].mend in explained.text


def test_an_unknown_code_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match="no finding is called `R310`") as caught:
        explain("R310")
    assert "R301 scope-overlap" in (caught.value.hint or "")
    with pytest.raises(UsageError) as caught:
        explain("scope overlap")
    assert "R301 scope-overlap" in (caught.value.hint or "")
    with pytest.raises(UsageError) as caught:
        explain("~~~~~~")
    assert "R001, R002" in (caught.value.hint or "")
