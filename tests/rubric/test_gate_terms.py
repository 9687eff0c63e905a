from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentanvil.errors import RubricError
from agentanvil.rubric import GatedFigure, GateTerms, Mode, gate_faults, gated_figures, idle_terms, parse_rubric
from tests.fakes.graded import rubric
from tests.fakes.rubric_text import judged, rubric_text


def figures(
    terms: GateTerms, mode: Mode = "absolute", thresholds: Mapping[str, float] | None = None
) -> list[tuple[str, float]]:
    of = replace(rubric("a", mode=mode, gate=thresholds or {}), terms=terms)
    return [(figure.name, figure.threshold) for figure in gated_figures(of)]


def test_terms_stand_beside_thresholds() -> None:
    text = "gate: {overall: 4, accuracy: 3.5, confidence: 0.9, pass_rate: 0.8, mean: {overall: 4}, win_rate: 0.5}"
    found = parse_rubric(rubric_text(extra=text))
    assert found.gate == {"overall": 4, "accuracy": 3.5}
    assert found.terms == GateTerms(0.9, 0.8, {"overall": 4}, 0.5)
    assert not parse_rubric(rubric_text(extra="gate: {overall: 4}")).terms


@pytest.mark.parametrize(
    ("gate", "key", "told", "hint"),
    [
        ("{overall: 4, confidense: 0.95}", "gate.confidense", "there is no dimension", "did you mean `confidence`?"),
        ("{overal: 4}", "gate.overal", "there is no dimension", "did you mean `overall`?"),
        ("{mean: {accurcy: 4}}", "gate.mean.accurcy", "there is no dimension", "did you mean `accuracy`?"),
        ("{mean: {confidence: 4}}", "gate.mean.confidence", "there is no dimension", "a gate stands on overall"),
        ("{mean: {overall: 6}}", "gate.mean.overall", "6 is not on the scale 1 to 5", None),
        ("{mean: 4}", "gate.mean", "must be a mapping", "write `{key: value}`"),
        ("{mean: {}}", "gate.mean", "names nothing", "for example `mean: {overall: 4}`"),
        ("{overall: 4, confidence: 95}", "gate.confidence", "95 is not between 0.5 and 0.999", "0.95 is usual"),
        ("{overall: 4, confidence: 1.0}", "gate.confidence", "1 is not between", "0.95 is usual"),
        ("{overall: 4, confidence: }", "gate.confidence", "not an empty value", "write the number"),
        ("{overall: 4, confidence: true}", "gate.confidence", "not the boolean", None),
        ("{overall: 4, pass_rate: 90}", "gate.pass_rate", "a share above 0 and up to 1", "write 0.9 for 90 %"),
        ("{overall: 4, pass_rate: 0}", "gate.pass_rate", "a share above 0 and up to 1", "for example 0.9"),
        ("{win_rate: '0.5'}", "gate.win_rate", "not the text `0.5`", None),
    ],
)
def test_a_gate_that_cannot_be_meant_is_refused(gate: str, key: str, told: str, hint: str | None) -> None:
    with pytest.raises(RubricError) as caught:
        parse_rubric(rubric_text(extra=f"gate: {gate}"), "r.yaml")
    assert caught.value.where is not None
    assert (caught.value.where.key, caught.value.where.line) == (key, 4)
    assert told in caught.value.message
    assert (hint is None) == (caught.value.hint is None)
    assert (hint or "") in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["confidence", "pass_rate", "mean", "win_rate"])
def test_a_dimension_called_like_a_term_is_never_misread(name: str) -> None:
    text = rubric_text(judged(name), extra=f"gate: {{overall: 4, {name}: 0.9}}")
    told = "must be a mapping" if name == "mean" else f"`{name}` is a term of the gate, and also the name of"
    with pytest.raises(RubricError, match=told):
        parse_rubric(text)
    assert parse_rubric(rubric_text(judged(name), extra=f"gate: {{mean: {{{name}: 4}}}}")).terms.mean == {name: 4}


def test_terms_are_part_of_what_a_rubric_means_and_their_absence_is_not() -> None:
    plain = parse_rubric(rubric_text(extra="gate: {overall: 4}"))
    sure, surer = (parse_rubric(rubric_text(extra=f"gate: {{overall: 4, confidence: 0.9{n}}}")) for n in (5, 9))
    assert len({plain.hash, sure.hash, surer.hash}) == 3
    assert plain.hash == "6afd7eaf0b5219caac97e4f7082c0c7e"


@pytest.mark.parametrize(
    ("terms", "mode", "thresholds", "expected"),
    [
        (GateTerms(), "absolute", {"overall": 4}, []),
        (GateTerms(0.95), "absolute", {"overall": 4, "a": 3}, [("mean.overall", 4), ("mean.a", 3)]),
        (GateTerms(pass_rate=0.9), "absolute", {"overall": 4}, [("pass_rate", 0.9)]),
        (GateTerms(mean={"a": 3}), "absolute", {}, [("mean.a", 3)]),
        (
            GateTerms(pass_rate=0.9, mean={"a": 3}, win_rate=0.5),
            "absolute",
            {"a": 4},
            [("pass_rate", 0.9), ("mean.a", 3)],
        ),
        (GateTerms(0.95, pass_rate=0.9, mean={"a": 3}), "gate", {"overall": 4}, [("pass_rate", 0.9)]),
        (GateTerms(0.95), "gate", {"overall": 4}, []),
        (GateTerms(0.95, 0.9, {"a": 3}, 0.5), "pairwise", {"a": 4}, [("win_rate", 0.5)]),
        (GateTerms(0.95, 0.9), "pairwise", {"a": 4}, []),
    ],
)
def test_which_figures_decide_follows_from_terms_thresholds_and_mode(
    terms: GateTerms, mode: Mode, thresholds: dict[str, float], expected: list[tuple[str, float]]
) -> None:
    assert figures(terms, mode, thresholds) == expected


def test_terms_of_the_mode_are_told_from_others_and_faults_name_their_key() -> None:
    of = replace(rubric("a", gate={"a": 4}), terms=GateTerms(mean={"a": 4}, win_rate=0.5))
    assert idle_terms(of) == ("win_rate",)
    assert [(fault.key, fault.message) for fault in gate_faults(of)] == [
        ("mean", "beside `mean` the thresholds for items (a) would decide nothing")
    ]
    assert [fault.key for fault in gate_faults(replace(of, mode="gate"))] == [None]
    assert not list(gate_faults(replace(of, mode="pairwise")))


def test_terms_of_the_working_folder_take_the_place_of_those_they_name() -> None:
    base = GateTerms(0.9, 0.8, {"a": 3}, 0.5)
    assert GateTerms(confidence=0.99, mean={"b": 4}).over(base) == GateTerms(0.99, 0.8, {"b": 4}, 0.5)
    assert GateTerms().over(base) == base


def test_a_figure_is_named_by_its_path_in_the_gate() -> None:
    assert [GatedFigure("mean", 4, "a").name, GatedFigure("pass_rate", 0.9).name] == ["mean.a", "pass_rate"]
