"""A file that cannot be used is linted all the same: every refusal is a finding with its code and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.errors import RubricError
from agentanvil.rubric import CODES, lint_file, lint_text, parse_rubric
from tests.fakes.rubric_text import ANCHORS, judged, rubric_text


def places(text: str) -> list[tuple[str, int | None]]:
    return [(found.code, found.line) for found in lint_text(text, "r.yaml").findings]


def test_everything_that_is_refused_is_shown_at_once_beside_what_is_found() -> None:
    text = rubric_text(
        judged(more="anchors: {7: no error, 5: excellent, 1: two errors}"),
        judged("b", more=f"anchors: {ANCHORS}, scope: {{out: [{{what: tone, judged_by: c}}]}}"),
        extra="gate: {accurcy: 9}\noverall: {rule: weighted, weights: {accurcy: 1}}",
    )
    assert places(text) == [
        ("R504", 4),
        ("R505", 4),
        ("R502", 5),
        ("R502", 5),
        ("R503", 5),
        ("R102", 7),
        ("R106", 7),
        ("R302", 8),
    ]
    assert lint_text(text).rubric is None


def test_keys_that_hide_one_another_are_all_found() -> None:
    text = rubric_text(judged(more=f"anchors: {ANCHORS}, wait: 1, ask: 2"), extra="colour: red\nshape: round\ncalls: 3")
    assert places(text) == [("R003", 4), ("R003", 5), ("R002", 6), ("R003", 8), ("R003", 8)]


def test_a_refusal_says_what_where_why_and_how_to_mend_it() -> None:
    (found,) = lint_text(rubric_text(extra="ruls: [x]"), "r.yaml").findings
    assert (found.code, found.severity, found.line) == ("R003", "error", 4)
    assert found.message == "`ruls`: unknown key `ruls`: what it was to promise would silently not be kept."
    assert found.mend == "Did you mean `rules`?"


def test_a_sound_file_comes_back_as_a_rubric(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(f"\ufeff{rubric_text()}", encoding="utf-8")
    linted = lint_file(file)
    assert linted.findings == ()
    assert linted.rubric == parse_rubric(rubric_text(), str(file))


@pytest.mark.parametrize(("content", "line"), [(None, None), (b"a: \xff", 1), (b"a: 1\na: 2", 2), (b"x: [", 1)])
def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path, content: bytes | None, line: int | None) -> None:
    file = tmp_path / "r.yaml"
    if content is not None:
        file.write_bytes(content)
    linted = lint_file(file)
    assert [(found.code, found.line) for found in linted.findings] == [("R001", line)]
    assert linted.rubric is None


PIECES = st.sampled_from(
    [
        *(
            "version: 1",
            "id: a",
            "scale: {min: 1, max: 5}",
            "scale: {min: 5, max: 5}",
            "scale: 3",
            "dimensions:",
            "- q",
        ),
        *("  - {id: a, question: q}", "  - {id: a, question: q, anchors: {9: x, 1: y}}", "  - {id: b, wat: 1, wot: 2}"),
        *("gate: {a: 7, z: 1}", "reply: {format: label, labels: [a, true]}", "overall: {rule: weighted}", "calls: x"),
        *("overall: {rule: weighted, weights: {z: 1}}", "mode: gate", "1: 2", "wat: [1, {x: y}]", "rules: [x, 1]"),
        *("reply: {format: json, marker: x}", "? {}", "evidence: none"),
    ]
)


@given(st.lists(PIECES, max_size=9).map("\n".join) | st.text(max_size=60))
def test_linting_agrees_with_loading_on_any_text(text: str) -> None:
    linted = lint_text(text)
    try:
        loaded = parse_rubric(text)
    except RubricError:
        loaded = None
    assert linted.rubric == loaded
    assert loaded is not None or any(found.severity == "error" for found in linted.findings)
    assert {found.code for found in linted.findings} <= set(CODES)
