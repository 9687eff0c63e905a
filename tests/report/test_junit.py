from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import Baseline, Frame, Summariser
from agentanvil.report import ReportWriters
from agentanvil.rubric import Rubric
from agentanvil.verdict import JudgeError, Scored
from tests.fakes.graded import NA, Score, columns, grade, grade_by, item, plan, rubric

NASTY = [
    pytest.param("\x1b[31mbad\x1b[0m", id="O-F10-ansi"),
    pytest.param("x\x1by \ufffe \x00 z ]]> & <", id="O-F11"),
    pytest.param("\uffff \x0b \x0c \x7f \x85", id="other-controls"),
    pytest.param("a\ud800b", id="lone-surrogate"),
    pytest.param("\"'<!--&#27;&amp;--> \r\n\t", id="markup"),
    pytest.param("<![CDATA[x]]>", id="cdata"),
]


def document(
    folder: Path, of: Rubric, scores: list[tuple[str, Score]], junit: bool | None = None
) -> ElementTree.Element:
    shape = plan(of)
    results, _ = grade(of, [item(shape, i, {"a": score}, name=name) for i, (name, score) in enumerate(scores)])
    with ReportWriters(folder, Frame.of(of, shape), junit=junit) as writers:
        for result in results:
            writers.add(result)
        writers.finish(Summariser(of, shape, seed=1).finish())
    return ElementTree.parse(folder / "junit.xml").getroot()


def suite(root: ElementTree.Element) -> ElementTree.Element:
    found = root.find("testsuite")
    assert found is not None
    return found


def test_counts_and_kinds(tmp_path: Path) -> None:
    of = rubric("a", gate={"a": 4})
    root = document(tmp_path, of, [("good", 5), ("bad", Scored(3, ("q",), True, "r")), ("lost", None), ("na", NA)])
    assert {k: suite(root).get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    children = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert children == {"good": [], "bad": ["failure"], "lost": ["error"], "na": ["skipped"]}
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "a 3 is below 4"
    assert failure.text == "a: 3\n  evidence: q\n  reason: r"
    error = root.find(".//error")
    assert error is not None
    assert (error.get("message"), error.text) == ("a: judge_error: timeout", "no answer within 120 s")


def test_a_gate_that_cannot_be_decided_is_an_error_though_the_overall_has_its_number(tmp_path: Path) -> None:
    of = rubric("a", "b", weights={"a": 1}, gate={"b": 3})
    shape = plan(of)
    results, summary = grade(of, [item(shape, 0, {"a": 5, "b": None}), item(shape, 1, {"a": 5, "b": NA})])
    assert [(result.state, result.passed) for result in results] == [("scored", None)] * 2
    with ReportWriters(tmp_path, Frame.of(of, shape)) as writers:
        for result in results:
            writers.add(result)
        writers.finish(summary)
    cases = ElementTree.parse(tmp_path / "junit.xml").getroot().iter("testcase")
    assert [[child.tag for child in case] for case in cases] == [["error"], ["skipped"]]


@pytest.mark.parametrize("text", NASTY)
def test_strict_xml_whatever_the_judge_wrote(tmp_path: Path, text: str) -> None:
    of = rubric("a", gate={"a": 4})
    root = document(tmp_path, of, [(text, Scored(1, (text,), False, text)), ("e", JudgeError("blocked", text))])
    assert suite(root).get("failures") == "1"
    assert suite(root).get("errors") == "1"
    assert len(list(root.iter("testcase"))) == 2


def test_legal_text_survives_exactly(tmp_path: Path) -> None:
    of = rubric("a", gate={"a": 4})
    text = "tab\t, line\n, return\r, ünï, 🙂, ]]> & < \" '"
    root = document(tmp_path, of, [(text, Scored(1, (), None, text))])
    case = root.find(".//testcase")
    failure = root.find(".//failure")
    assert case is not None
    assert failure is not None
    assert case.get("name") == text
    assert failure.text == f"a: 1\n  reason: {text}"


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_parses(tmp_path_factory: pytest.TempPathFactory, name: str, text: str) -> None:
    of = rubric("a", gate={"a": 4})
    root = document(tmp_path_factory.mktemp("run"), of, [(name, Scored(1, (text,), True, text))])
    assert suite(root).get("failures") == "1"


def test_only_where_there_is_a_gate_unless_asked_for(tmp_path: Path) -> None:
    of = rubric("a")
    with pytest.raises(FileNotFoundError):
        document(tmp_path, of, [("x", 1)])
    root = document(tmp_path, of, [("x", 1), ("y", None)], junit=True)
    assert (suite(root).get("failures"), suite(root).get("errors")) == ("0", "1")


def test_the_lowest_dimension_explains_the_overall(tmp_path: Path) -> None:
    of = rubric("a", "b", gate={"overall": 4})
    shape = plan(of)
    results, summary = grade(of, [item(shape, 0, {"a": 4, "b": Scored(2, ("q",), True, "why")})])
    with ReportWriters(tmp_path, Frame.of(of, shape)) as writers:
        writers.add(results[0])
        writers.finish(summary)
    text = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert 'message="overall 2 is below 4"' in text
    assert "b: 2\n  evidence: q\n  reason: why" in text
    assert "a: 4" not in text


def test_a_gate_names_dimension_and_evidence(tmp_path: Path) -> None:
    of = rubric("a", "b", mode="gate")
    results, summary = grade(of, columns(of, a=[1], b=[Scored(0, ("my password is x",), True, "it leaks")]))
    with ReportWriters(tmp_path, Frame.of(of, plan(of))) as writers:
        writers.add(results[0])
        writers.finish(summary)
    failure = ElementTree.parse(tmp_path / "junit.xml").getroot().find(".//failure")
    assert failure is not None
    assert failure.get("message") == "b is false"
    assert failure.text == "b: false\n  evidence: my password is x\n  reason: it leaks"


def test_known_failures_are_marked_and_fail_nothing(tmp_path: Path) -> None:
    of = rubric("a", "b", mode="gate")
    known = Baseline(frozenset({("item-0", "a"), ("item-1", "a"), ("item-2", "a")}))
    summariser = Summariser(of, plan(of), seed=7, baseline=known)
    results, summary = grade_by(summariser, columns(of, a=[0, 0, 0], b=[1, 0, None]))
    with ReportWriters(tmp_path, summariser.frame) as writers:
        for result in results:
            writers.add(result)
        writers.finish(summary)
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert {k: suite(root).get(k) for k in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": str(summary.gate.failed),
        "errors": "1",
    }
    assert [[child.tag for child in case] for case in root.iter("testcase")] == [
        ["system-out"],
        ["failure", "system-out"],
        ["error", "system-out"],
    ]
    assert [out.text for out in root.iter("system-out")] == ["known from the baseline: a is false"] * 3
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "b is false"
    assert "a:" not in str(failure.text)


@pytest.mark.parametrize("text", NASTY)
def test_what_is_said_of_the_whole_run_comes_first_and_stays_strict_xml(tmp_path: Path, text: str) -> None:
    of = rubric("a", gate={"a": 4})
    shape = plan(of)
    results, _ = grade(of, [item(shape, 0, {"a": 5})])
    with ReportWriters(tmp_path, Frame.of(of, shape), properties={"self_judging": text, "b": "c"}) as writers:
        for result in results:
            writers.add(result)
        writers.finish(Summariser(of, shape, seed=1).finish())
    found = suite(ElementTree.parse(tmp_path / "junit.xml").getroot())
    assert [child.tag for child in found] == ["properties", "testcase"]
    assert [each.get("name") for each in found[0]] == ["self_judging", "b"]
    assert found.get("tests") == "1"
