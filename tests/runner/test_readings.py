"""Whole runs by either reading, against an endpoint that returns log-probabilities."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import UsageError
from agentanvil.report import read_items, read_scores
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.report import report
from tests.fakes.runs import Collected, Runs, asked_about, read_table, recording, rows, verdict
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat_body
from tests.fakes.tokens import token
from tests.fakes.verdicts import graded, refusing, verdict_for

Shares = Mapping[str, float]


def judging(*said: Shares, gate: bool = False) -> Callable[[Recorded], Answer]:
    """A judge that gives its first value; item n gets the n-th distribution over what it could have said."""

    def choose(request: Recorded) -> Answer:
        shares = said[int(asked_about(request)) % len(said)]
        value = verdict_for(request.json["response_format"]["json_schema"]["schema"])
        first = next(iter(shares))
        for dimension in value.values():
            dimension.update(
                {"pass": first == "true"} if gate else {"score": int(first)}, evidence=["It is the number"]
            )
        return replied(value, shares, logprobs=bool(request.json.get("logprobs")))

    return choose


def replied(value: dict[str, Any], shares: Shares, *, logprobs: bool = True) -> Answer:
    text = json.dumps(value)
    body = chat_body(text)
    if logprobs:
        body["choices"][0]["logprobs"] = {"content": tokens_of(text, shares)}
    return answer_json(body)


def tokens_of(text: str, shares: Shares) -> list[dict[str, Any]]:
    """One token for each verdict, with these alternatives, and one for each text between."""
    first, *others = shares
    tokens = []
    rest = text
    mark = '"score": ' if '"score": ' in text else '"pass": '
    for _ in range(text.count(mark)):
        before, _, rest = rest.partition(mark)
        tokens += [token(before + mark), token(first, shares[first], {name: shares[name] for name in others})]
        rest = rest.removeprefix(first)
    return [*tokens, token(rest)]


SURE, TORN = {"4": 0.9, "5": 0.1}, {"2": 0.5, "4": 0.4, "null": 0.1}


def test_expected_scores_stand_beside_the_verdicts(tmp_path: Path) -> None:
    with FakeServer(judging(SURE, TORN)) as server:
        runs = Runs(tmp_path, server, *rows(2))
        result = runs.grade()
    assert int(result.exit) == 0
    cells = read_table(runs.out, "scores.csv")
    assert [(cell["score"], round(float(cell["expected_score"]), 9)) for cell in cells] == [
        *[("4", 4.1)] * 2,
        *[("2", round(2.6 / 0.9, 9))] * 2,
    ]
    assert [round(float(cell["label_mass"]), 9) for cell in cells] == [1, 1, 0.9, 0.9]
    assert all(0 < float(cell["entropy"]) < 1 for cell in cells)
    assert [item["overall"] for item in read_table(runs.out, "items.csv")] == ["4", "2"]
    readings = json.loads((runs.out / "summary.json").read_text(encoding="utf-8"))["dimensions"][0]["readings"]
    assert readings["share"]["value"] == 1
    assert readings["outside"]["value"] == pytest.approx(0.05)
    assert [item["id"] for item in readings["uncertain"]] == ["item-1", "item-0"]


def test_the_reading_decides_and_the_same_calls_serve_both(tmp_path: Path) -> None:
    with FakeServer(judging(SURE, TORN)) as server:
        runs = Runs(tmp_path, server, *rows(2))
        runs.grade()
        asked = len(server.requests)
        result = runs.grade(reading="expected")
        assert len(server.requests) == asked == 2
    assert int(result.exit) == 0
    items = read_table(runs.out, "items.csv")
    assert [round(float(item["accuracy"]), 9) for item in items] == [4.1, round(2.6 / 0.9, 9)]
    assert [(item["accuracy_verdict"], item["coverage_verdict"]) for item in items] == [("4", "4"), ("2", "2")]
    assert [cell["score"] for cell in read_table(runs.out, "scores.csv")] == ["4", "4", "2", "2"]


def test_the_reports_of_expected_scores_are_rebuilt_alike(tmp_path: Path) -> None:
    with FakeServer(judging(SURE, TORN)) as server:
        runs = Runs(tmp_path, server, *rows(4))
        runs.grade(reading="expected", repeats=2)
    before = runs.reports()
    report(runs.out, Collected())
    assert runs.reports() == before


def test_data_frames_hold_verdicts_beside_expected_scores(tmp_path: Path) -> None:
    with FakeServer(judging(SURE, TORN)) as server:
        runs = Runs(tmp_path, server, *rows(2))
        runs.grade(reading="expected")
    items = read_items(runs.out)
    assert items["accuracy"].round(9).tolist() == [4.1, round(2.6 / 0.9, 9)]
    assert items["accuracy_verdict"].tolist() == [4, 2]
    assert str(items["coverage_verdict"].dtype) == "Float64"
    assert read_scores(runs.out)["entropy"].notna().all()


@pytest.mark.parametrize(
    ("p_pass", "said", "code"), [(0.6, "true", 0), (0.5, "false", 0), (0.4, "true", 1)], ids=["yes", "even", "no"]
)
def test_a_gate_is_held_by_the_probability_of_a_pass(tmp_path: Path, p_pass: float, said: str, code: int) -> None:
    shares = {"true": p_pass, "false": 1 - p_pass}
    ordered = {said: shares.pop(said), **shares}
    with FakeServer(judging(ordered, gate=True)) as server:
        runs = Runs(tmp_path, server, *rows(1))
        result = runs.grade(mode="gate", reading="expected")
    assert int(result.exit) == code
    (item,) = read_table(runs.out, "items.csv")
    assert float(item["accuracy"]) == pytest.approx(p_pass)
    assert item["accuracy_verdict"] == ("1" if said == "true" else "0")
    junit = (runs.out / "junit.xml").read_text(encoding="utf-8")
    assert ("accuracy 0.40 is below 0.5" in junit) == bool(code)


def test_a_judge_without_log_probabilities_has_no_expected_results(tmp_path: Path) -> None:
    with FakeServer(refusing("logprobs", judging(SURE))) as server:
        runs = Runs(tmp_path, server, *rows(3))
        result = runs.grade(reading="expected")
    assert int(result.exit) == 3
    assert result.summary.coverage.covered == 0
    assert [item["accuracy_state"] for item in read_table(runs.out, "items.csv")] == ["judge_error"] * 3
    assert [cell["state"] for cell in read_table(runs.out, "scores.csv")] == ["scored"] * 6
    notes = result.summary.notes
    assert sum("logprobs" in note and "asked without" in note for note in notes) == 1
    assert sum("came without probabilities" in note for note in notes) == 2


def test_a_refusal_of_log_probabilities_costs_a_verdict_nothing(tmp_path: Path) -> None:
    with FakeServer(refusing("top_logprobs", judging(SURE))) as server:
        runs = Runs(tmp_path, server, *rows(3))
        result = runs.grade()
    assert (int(result.exit), result.summary.coverage.share) == (0, 1)
    assert runs.manifest()["judge"]["dropped"] == ["logprobs"]
    assert [note for note in result.summary.notes if "logprobs" in note] == [
        "the judge does not take logprobs, so it was asked without"
    ]


def test_replies_out_of_the_cache_have_their_readings(tmp_path: Path) -> None:
    with FakeServer(judging(SURE, TORN)) as server:
        runs = Runs(tmp_path, server, *rows(2))
        runs.grade(cache=str(tmp_path / "cache.sqlite"))
        first = (runs.out / "scores.csv").read_bytes()
        runs.grade(cache=str(tmp_path / "cache.sqlite"), out=tmp_path / "again")
        assert len(server.requests) == 2
    assert (tmp_path / "again" / "scores.csv").read_bytes() == first


def test_recorded_log_probabilities_are_read(tmp_path: Path) -> None:
    said = verdict(4)
    line = {"task": "item-0/joint/0", "reply": said, "logprobs": {"content": tokens_of(json.dumps(said), SURE)}}
    runs = Runs(tmp_path, recording(tmp_path, line), *rows(1))
    result = runs.grade(reading="expected")
    assert int(result.exit) == 0
    assert result.summary.overall.mean.value == pytest.approx(4.1)


def test_a_baseline_is_read_as_its_own_run_was(tmp_path: Path) -> None:
    """A gate that fails in one of two repeats fails by verdict; its mean probability may still hold."""
    yes, no = judging({"true": 0.9, "false": 0.1}, gate=True), judging({"false": 0.6, "true": 0.4}, gate=True)
    with FakeServer(lambda request: (no if request.json["seed"] % 2 else yes)(request)) as server:
        runs = Runs(tmp_path, server, *rows(1))
        assert int(runs.grade(mode="gate", repeats=2).exit) == 1
        expected = runs.grade(mode="gate", repeats=2, reading="expected", out=tmp_path / "expected")
        assert int(expected.exit) == 0
        known = runs.grade(mode="gate", repeats=2, baseline=runs.out, out=tmp_path / "third")
        news = runs.grade(mode="gate", repeats=2, baseline=tmp_path / "expected", out=tmp_path / "fourth")
    assert (int(known.exit), int(news.exit)) == (0, 1)


@pytest.mark.parametrize("gate", [False, True])
def test_a_jury_is_read_by_what_its_judges_expect(tmp_path: Path, gate: bool) -> None:
    said = [{"true": 0.8, "false": 0.2}, {"false": 0.7, "true": 0.3}, {"true": 0.6, "false": 0.4}]
    if not gate:
        said = [SURE, {"2": 0.5, "4": 0.5}, {"5": 0.9, "4": 0.1}]
    with (
        FakeServer(judging(said[0], gate=gate)) as one,
        FakeServer(judging(said[1], gate=gate)) as two,
        FakeServer(judging(said[2], gate=gate)) as three,
    ):
        runs = Runs(tmp_path, one, *rows(3))
        panel = PanelSettings(jury=(f"compat:two@{two.url}", f"compat:three@{three.url}"))
        result = runs.grade(panel=panel, reading="expected", mode="gate" if gate else None)
    assert int(result.exit) == 0
    assert [float(item["accuracy"]) for item in read_table(runs.out, "items.csv")] == [
        pytest.approx(0.6 if gate else 4.1)
    ] * 3
    assert result.summary.panel is not None
    first, *_ = result.summary.panel.agreement
    # By their nearest verdicts the first and the third judge of a gate agree, the second with neither.
    assert [pair.exact.value for pair in first.pairs] == ([0, 1, 0] if gate else [0, 0, 0])


def test_a_form_without_probabilities_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, calls="split")
        text = runs.rubric.read_text(encoding="utf-8")
        labelled = "reply: {format: label, marker: 'Score:', labels: {Good: 5, Bad: 1}}\ndimensions:"
        runs.rubric.write_text(text.replace("dimensions:", labelled, 1), encoding="utf-8")
        with pytest.raises(UsageError) as caught:
            runs.grade(reading="expected")
        assert "reads probabilities from JSON" in str(caught.value)
        assert server.requests == []
