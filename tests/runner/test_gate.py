"""A gate on figures over whole runs: rows, summary, JUnit and exit code say one thing, and who judges counts."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import ConfigError, InputError, RubricError, UsageError, Where
from agentanvil.rubric import GateTerms
from agentanvil.runner.batch.saved import restored, saved
from agentanvil.runner.calibration.calibrate import CalibrateSettings, calibrate
from agentanvil.runner.exits import Exit
from agentanvil.runner.gate_settings import GateFlags, GateSettings
from agentanvil.runner.job import Surroundings
from agentanvil.runner.report import report
from agentanvil.runner.rescore import RescoreSettings, rescore
from tests.fakes.command import anvil
from tests.fakes.runs import Collected, Runs, read_table, recording, rows, verdict

LOST = "no verdict here"
UNKNOWN = "the gate's judge is uncalibrated: nothing tells how far it agrees with people"


def made(folder: Path, scores: Sequence[object], gate: str = "", labels: Sequence[int] = ()) -> Runs:
    lines = [{"id": f"item-{n}", "reply": s if isinstance(s, str) else verdict(s)} for n, s in enumerate(scores)]
    data = rows(len(scores))
    for row, label in zip(data, labels, strict=False):
        row["labels"] = {"accuracy": label, "coverage": label}
    runs = Runs(folder, recording(folder, *lines), *data)
    if gate:
        with runs.rubric.open("a", encoding="utf-8") as file:
            file.write(f"gate: {gate}\n")
    return runs


def gate_of(runs: Runs, out: Path | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(((out or runs.out) / "summary.json").read_text(encoding="utf-8"))["gate"]
    return found


def junit_of(runs: Runs) -> tuple[dict[str, int], dict[str, ET.Element], dict[str, str]]:
    suite = next(ET.parse(runs.out / "junit.xml").iter("testsuite"))
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    cases = suite.findall("testcase")
    assert counts["tests"] == len(cases)
    for kind in ("failure", "error", "skipped"):
        plural = {"failure": "failures", "error": "errors", "skipped": "skipped"}[kind]
        assert counts[plural] == sum(case.find(kind) is not None for case in cases)
    properties = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    return counts, {case.attrib["classname"] + ":" + case.attrib["name"]: case for case in cases}, properties


PASS_RATE = "{overall: 4, pass_rate: 0.8}"


@pytest.mark.parametrize(
    ("scores", "gate", "min_coverage", "code", "verdict", "failing"),
    [
        pytest.param([5] * 30 + [1], PASS_RATE, 1.0, Exit.OK, "pass", None, id="O-E15-a-low-row-in-a-run-that-passes"),
        pytest.param([5] * 3, PASS_RATE, 1.0, Exit.INCONCLUSIVE, "inconclusive", "error", id="three-rows"),
        pytest.param([5] * 3 + [1] * 9, PASS_RATE, 1.0, Exit.GATE_FAILED, "fail", "failure", id="O-F01-mostly-low"),
        pytest.param([5] * 30 + [LOST], PASS_RATE, 1.0, Exit.MISSING, "pass", "error", id="a-verdict-is-missing"),
        pytest.param([5] * 30 + [LOST], PASS_RATE, 0.9, Exit.OK, "pass", None, id="one-may-be-missing"),
        pytest.param([LOST] * 3, PASS_RATE, 1.0, Exit.MISSING, "inconclusive", "error", id="O-F03-no-verdict"),
        pytest.param([1] * 9 + [LOST], PASS_RATE, 1.0, Exit.GATE_FAILED, "fail", "failure", id="failed-and-missing"),
        pytest.param([5] * 20, "{overall: 4, confidence: 0.95}", 1.0, Exit.OK, "pass", None, id="mean-passes"),
        pytest.param([5, 1] * 9, "{mean: {accuracy: 4}}", 1.0, Exit.GATE_FAILED, "fail", "failure", id="mean-fails"),
    ],
)
def test_rows_summary_junit_and_exit_code_agree(
    tmp_path: Path, scores: list[object], gate: str, min_coverage: float, code: Exit, verdict: str, failing: str | None
) -> None:
    runs, listener = made(tmp_path, scores, gate), Collected()
    result = runs.grade(listener, min_coverage=min_coverage)
    assert (result.exit, result.summary.gate.verdict, runs.manifest()["exit_code"]) == (code, verdict, int(code))
    assert report(runs.out, Collected()) == (result.summary, code)
    counts, cases, _ = junit_of(runs)
    assert (counts["failures"], counts["errors"]) == (int(failing == "failure"), int(failing == "error"))
    assert counts["skipped"] == scores.count(LOST)
    of_gate = cases["small/gate:gate"]
    assert of_gate.find(failing or "system-out") is not None
    assert bool(listener.failures) == (code is Exit.GATE_FAILED)
    assert all(line.startswith("gate · ") for line in listener.failures)


def test_a_row_below_its_thresholds_says_so_and_fails_nothing(tmp_path: Path) -> None:
    runs = made(tmp_path, [5] * 30 + [1], PASS_RATE)
    runs.grade()
    _, cases, _ = junit_of(runs)
    assert cases["small:item-30"].findtext("system-out") == "overall 1 is below 4"
    assert [row["pass"] for row in read_table(runs.out, "items.csv")] == ["true"] * 30 + ["false"]


def test_an_item_called_gate_keeps_a_case_of_its_own(tmp_path: Path) -> None:
    lines = [{"id": "gate", "reply": verdict(5)}]
    runs = Runs(tmp_path, recording(tmp_path, *lines), {"id": "gate", "request": "q", "response": "It is the number"})
    runs.grade(gate=GateSettings(terms=GateTerms(mean={"overall": 2})))
    assert set(junit_of(runs)[1]) == {"small:gate", "small/gate:gate"}


def test_the_figures_are_told_whole(tmp_path: Path) -> None:
    runs = made(tmp_path, [5] * 18 + [1, LOST], PASS_RATE)
    runs.grade()
    found = gate_of(runs)
    (figure,) = found["figures"]
    assert set(figure) == {
        *("name", "value", "n", "missing", "interval", "threshold", "confidence", "verdict"),
        *("more_rows", "more_repeats", "reason"),
    }
    assert (found["rule"], figure["name"], figure["n"], figure["missing"]) == ("interval", "pass_rate", 19, 1)
    assert (figure["threshold"], figure["confidence"], figure["verdict"]) == (0.8, 0.95, "inconclusive")
    assert figure["more_rows"] > 0
    assert [reason.partition(" ")[0] for reason in found["reasons"]] == ["pass_rate", "1"]


def test_without_terms_nothing_is_as_it_was_not_but_a_note(tmp_path: Path) -> None:
    runs, listener = made(tmp_path, [5, 1], "{overall: 4}"), Collected()
    result = runs.grade(listener)
    gate = result.summary.gate
    assert (result.exit, gate.rule, gate.verdict, gate.figures, gate.reasons) == (
        *(Exit.GATE_FAILED, "every_item", "fail"),
        *((), ()),
    )
    assert result.summary.notes == (UNKNOWN,)
    counts, cases, properties = junit_of(runs)
    assert (counts["failures"], set(cases)) == (1, {"small:item-0", "small:item-1"})
    assert properties == {"judge_calibration": UNKNOWN}
    assert listener.failures == ["item-1 · overall 1 is below 4 (accuracy 1) — “It is the number” (so)"]


def test_without_a_gate_there_is_no_note(tmp_path: Path) -> None:
    runs = made(tmp_path, [5, 1])
    assert runs.grade().summary.notes == ()
    assert junit_of(runs)[2] == {}


@pytest.mark.parametrize(
    ("gate", "settings", "error", "key"),
    [
        ("{confidence: 0.95}", GateSettings(), RubricError, "gate"),
        ("{pass_rate: 0.9}", GateSettings(), RubricError, "gate.pass_rate"),
        ("{win_rate: 0.5}", GateSettings(), RubricError, "gate"),
        ("{overall: 4, mean: {overall: 4}}", GateSettings(), RubricError, "gate.mean"),
        ("", GateSettings(terms=GateTerms(0.95)), UsageError, None),
        (
            "",
            GateSettings(
                terms=GateTerms(pass_rate=0.9), places={"pass_rate": Where("anvil.yaml", 2, "gate.pass_rate")}
            ),
            ConfigError,
            "gate.pass_rate",
        ),
        (
            "{overall: 4}",
            GateSettings(terms=GateTerms(mean={"acuracy": 4}), places={"mean.acuracy": Where(key="gate.mean.acuracy")}),
            ConfigError,
            "gate.mean.acuracy",
        ),
        ("", GateSettings(terms=GateTerms(mean={"overall": 6})), ConfigError, None),
        ("", GateSettings("calibration.json"), UsageError, None),
    ],
)
def test_a_gate_that_would_decide_nothing_is_refused_before_anything_is_spent(
    tmp_path: Path, gate: str, settings: GateSettings, error: type[InputError], key: str | None
) -> None:
    runs = made(tmp_path, [5], gate)
    with pytest.raises(error) as caught:
        runs.grade(gate=settings)
    assert (caught.value.where.key if caught.value.where else None) == key
    assert not runs.out.exists()


def test_what_anvil_yaml_holds_ready_means_nothing_where_nothing_is_gated(tmp_path: Path) -> None:
    places = {name: Where("anvil.yaml", 1, f"gate.{name}") for name in ("confidence", "calibration")}
    runs = made(tmp_path, [5])
    assert runs.grade(gate=GateSettings("calibration.json", GateTerms(0.95), places)).exit is Exit.OK
    assert runs.manifest()["plan"]["gate"] == GateSettings().as_dict()


def test_terms_of_the_working_folder_beat_those_of_the_rubric_and_leave_its_hash(tmp_path: Path) -> None:
    runs = made(tmp_path, [5] * 20, PASS_RATE)
    assert runs.grade().exit is Exit.OK
    first = runs.manifest()
    result = runs.grade(gate=GateSettings(terms=GateTerms(pass_rate=0.9)))
    assert (result.exit, result.summary.gate.figures[0].threshold) == (Exit.INCONCLUSIVE, 0.9)
    assert runs.manifest()["fingerprint"] == first["fingerprint"], "no call is asked again"
    assert report(runs.out, Collected()) == (result.summary, Exit.INCONCLUSIVE)


def test_a_baseline_beside_figures_is_refused(tmp_path: Path) -> None:
    runs = made(tmp_path, [5] * 3, "{overall: 4}")
    runs.grade()
    with pytest.raises(UsageError, match="forgives single items"):
        runs.grade(out=tmp_path / "next", baseline=runs.out, gate=GateSettings(terms=GateTerms(0.95)))
    runs.grade(out=tmp_path / "next", baseline=runs.out)
    with pytest.raises(UsageError, match="forgives single items"):
        report(tmp_path / "next", Collected(), GateFlags(confidence=0.95))


def test_a_report_decides_anew_and_stays_with_it(tmp_path: Path) -> None:
    runs = made(tmp_path, [5] * 3, "{overall: 4}")
    assert runs.grade().exit is Exit.OK
    assert report(runs.out, Collected(), GateFlags(confidence=0.95))[1] is Exit.INCONCLUSIVE
    assert runs.manifest()["exit_code"] == 4
    before = runs.reports()
    assert report(runs.out, Collected())[1] is Exit.INCONCLUSIVE
    assert runs.reports() == before
    with pytest.raises(UsageError, match="--confidence"):
        report(runs.out, Collected(), GateFlags(confidence=95))


def test_another_rubric_over_a_run_brings_its_own_gate(tmp_path: Path) -> None:
    runs = made(tmp_path, [5] * 3, "{overall: 4}")
    assert runs.grade().exit is Exit.OK
    new = tmp_path / "new.yaml"
    new.write_text(
        runs.rubric.read_text(encoding="utf-8").replace("overall: 4", "overall: 4, confidence: 0.9"), "utf-8"
    )
    asked = RescoreSettings(runs.out, str(new), tmp_path / "new")
    found = rescore(asked, Surroundings({}), Collected())
    assert (found.exit, found.missing, found.summary.gate.figures[0].confidence) == (Exit.INCONCLUSIVE, 0, 0.9)
    sure = rescore(
        RescoreSettings(runs.out, str(new), tmp_path / "new", gate=GateFlags(confidence=0.5)),
        Surroundings({}),
        Collected(),
    )
    assert sure.summary.gate.figures[0].confidence == 0.5


GRADES = [5, 4, 3, 2, 1] * 8 + [5] * 20


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Sixty rows, labelled by people as they are judged, and the calibration that follows from that."""
    runs = made(tmp_path_factory.mktemp("trust"), GRADES, "{mean: {overall: 2.5}}", labels=GRADES)
    assert runs.grade().exit is Exit.OK
    calibrate(CalibrateSettings(runs.out, out=runs.folder / "calibration.json"))
    return runs


def changed(runs: Runs, folder: Path, **changes: Any) -> Path:
    found = json.loads((runs.folder / "calibration.json").read_text(encoding="utf-8"))
    path = folder / "changed.json"
    path.write_text(json.dumps(found | changes), encoding="utf-8")
    return path


def doubts(runs: Runs, path: Path) -> tuple[Exit, tuple[str, ...]]:
    summary, code = report(runs.out, Collected(), GateFlags(str(path)))
    assert summary.gate.verdict == ("pass" if code is Exit.OK else "inconclusive")
    counts, _, properties = junit_of(runs)
    assert counts["errors"] == int(code is Exit.INCONCLUSIVE)
    assert properties.get("judge_calibration", "") == "; ".join(summary.gate.reasons)
    assert summary.notes == ()
    return code, summary.gate.reasons


def test_a_trusted_judge_lets_the_gate_pass(graded: Runs) -> None:
    assert doubts(graded, graded.folder / "calibration.json") == (Exit.OK, ())


@pytest.mark.parametrize("key", ["rubric_hash", "judge", "prompt_version", "mode", "reading", "evidence"])
def test_a_calibration_of_another_instrument_is_none(graded: Runs, tmp_path: Path, key: str) -> None:
    code, (reason,) = doubts(graded, changed(graded, tmp_path, **{key: "other"}))
    assert code is Exit.INCONCLUSIVE
    assert reason.startswith("the gate's judge is uncalibrated: ")
    assert key.replace("_", " ") in reason


def test_a_calibration_that_does_not_exist_yet_leaves_the_gate_open(graded: Runs, tmp_path: Path) -> None:
    path = tmp_path / "never.json"
    expected = (f"the gate's judge is uncalibrated: {path} does not exist",)
    assert doubts(graded, path) == (Exit.INCONCLUSIVE, expected)


@pytest.mark.parametrize("verdict", ["UNTRUSTED", "INCONCLUSIVE", None])
def test_a_judge_that_is_not_trusted_on_what_is_gated(graded: Runs, tmp_path: Path, verdict: str | None) -> None:
    told = json.loads((graded.folder / "calibration.json").read_text(encoding="utf-8"))
    others = [dimension | {"verdict": "UNTRUSTED"} for dimension in told["dimensions"]]
    fine = changed(graded, tmp_path, dimensions=others)
    assert doubts(graded, fine)[0] is Exit.OK, "the overall alone is gated, and it is trusted"
    bad = changed(graded, tmp_path, overall=told["overall"] | {"verdict": verdict})
    if verdict is None:
        assert doubts(graded, bad)[0] is Exit.OK, "the dimensions that it is made of are trusted"
        bad = changed(graded, tmp_path, overall=None, dimensions=others)
        code, reasons = doubts(graded, bad)
        assert (code, len(reasons)) == (Exit.INCONCLUSIVE, 2)
        return
    code, (reason,) = doubts(graded, bad)
    assert code is Exit.INCONCLUSIVE
    assert reason.startswith(f"the gate's judge is {verdict} on overall by ")
    assert "against 0.6" in reason


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 9}', '{"format": 1}'])
def test_a_damaged_calibration_is_an_error_before_anything_is_spent(graded: Runs, tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError):
        graded.grade(out=tmp_path / "run", gate=GateSettings(str(path)))
    assert not (tmp_path / "run").exists()
    with pytest.raises(ConfigError):
        report(graded.out, Collected(), GateFlags(str(path)))


def test_a_gate_that_fails_fails_whoever_judges(tmp_path: Path) -> None:
    runs = made(tmp_path, [1] * 20, "{mean: {overall: 4}}")
    result = runs.grade(gate=GateSettings(str(tmp_path / "never.json")))
    assert (result.exit, result.summary.gate.verdict) == (Exit.GATE_FAILED, "fail")
    assert any("uncalibrated" in reason for reason in result.summary.gate.reasons)


def test_a_gate_of_items_needs_its_judge_too(tmp_path: Path) -> None:
    runs = made(tmp_path, [5, 5], "{overall: 4}")
    result = runs.grade(gate=GateSettings(str(tmp_path / "never.json")))
    assert (result.exit, result.summary.gate.rule) == (Exit.INCONCLUSIVE, "every_item")
    assert junit_of(runs)[0]["errors"] == 1


def test_the_calibration_in_the_run_folder_speaks_where_none_is_required(tmp_path: Path) -> None:
    runs = made(tmp_path, GRADES, "{mean: {overall: 2.5}}", labels=GRADES)
    assert runs.grade().summary.notes[0] == UNKNOWN
    calibrate(CalibrateSettings(runs.out))
    assert UNKNOWN not in report(runs.out, Collected())[0].notes
    (runs.out / "calibration.json").write_text("{", encoding="utf-8")
    summary, code = report(runs.out, Collected())
    assert code is Exit.OK
    assert summary.notes[0].startswith("the gate's judge is uncalibrated: ")


def test_pairs_are_gated_by_the_win_rate_and_by_nothing_else(tmp_path: Path) -> None:
    data = [{"id": f"item-{n}", "request": f"q {n}", "response_a": "yes", "response_b": "no"} for n in range(12)]
    side = {"evidence_a": ["yes"], "evidence_b": ["no"], "reason": "so", "winner": "A", "margin": 2}
    reply = {"accuracy": side, "coverage": side, "winner": "A"}
    lines = [{"id": row["id"], "order": "ab", "reply": reply} for row in data]
    runs = Runs(tmp_path, recording(tmp_path, *lines), *data)
    with pytest.raises(ConfigError, match="in the mode pairwise"):
        runs.grade(mode="pairwise", order="fixed", gate=GateSettings(terms=GateTerms(pass_rate=0.5), places=_PLACES))
    result = runs.grade(mode="pairwise", order="fixed", gate=GateSettings(terms=GateTerms(win_rate=0.5)))
    assert (result.exit, result.summary.gate.figures[0].name) == (Exit.OK, "win_rate")
    assert UNKNOWN in result.summary.notes


def test_terms_that_a_rubric_has_for_its_own_mode_keep_it_from_no_other(tmp_path: Path) -> None:
    reply = {
        name: {"evidence": ["It is the number"], "reason": "so", "pass": True} for name in ("accuracy", "coverage")
    }
    lines = [{"id": f"item-{n}", "reply": reply} for n in range(2)]
    runs = Runs(tmp_path, recording(tmp_path, *lines), *rows(2))
    with runs.rubric.open("a", encoding="utf-8") as file:
        file.write("gate: {overall: 4, confidence: 0.95}\n")
    result = runs.grade(mode="gate")
    assert (result.exit, result.summary.gate.rule, result.summary.gate.verdict) == (Exit.OK, "every_item", "pass")
    assert "not of the mode gate, so the gate is without it: confidence" in result.summary.notes
    with pytest.raises(UsageError, match="in the mode gate the gate's `confidence` would decide nothing"):
        runs.grade(mode="gate", gate=GateSettings(terms=GateTerms(0.9)))


_PLACES = {"pass_rate": Where("anvil.yaml", 3, "gate.pass_rate")}


def test_a_batch_keeps_its_gate_until_it_is_collected(tmp_path: Path) -> None:
    gate = GateSettings("calibration.json", GateTerms(0.9, 0.8, {"overall": 4}, 0.5))
    runs = made(tmp_path, [5])
    kept = json.loads(json.dumps(saved(runs.settings(gate=gate))))
    again = restored(kept, runs.out, PriceTable({}), {}, allow_code=False).gate
    assert (again.terms, again.calibration) == (gate.terms, str(Path("calibration.json").absolute()))


def test_the_command_line_decides_anew(tmp_path: Path) -> None:
    runs = made(tmp_path, [5] * 3, "{overall: 4}")
    runs.grade()
    refused = anvil("report", runs.out, "--confidence", "95", cwd=tmp_path)
    assert (refused.code, "--confidence" in refused.err) == (2, True)
    found = anvil("report", runs.out, "--confidence", "0.9", "--calibration", "none.json", cwd=tmp_path)
    assert found.code == 4
    assert "gate: INCONCLUSIVE (by 90 % intervals: " in found.err
    assert "none.json does not exist" in found.err
    text = f"rubric: {runs.rubric}\njudge: {runs.judge}\ngate: {{mean: {{overall: 1.5}}}}\n"
    (tmp_path / "anvil.yaml").write_text(text, encoding="utf-8")
    asked = anvil("grade", runs.data, "--out", "other", "--cache", "off", cwd=tmp_path)
    assert asked.code == 2, "thresholds beside a mean would decide nothing"
    assert "anvil.yaml:3: gate.mean" in asked.err


@pytest.mark.parametrize("gate", ["{overall: 4}", PASS_RATE, ""])
@pytest.mark.parametrize("scores", [[5] * 20, [5] * 20 + [LOST], [5, 1, LOST], [LOST]])
@pytest.mark.parametrize(("min_coverage", "repeats"), [(1.0, 1), (0.5, 1), (0.0, 1), (1.0, 2)])
def test_a_reader_of_junit_and_one_of_the_exit_code_agree(
    tmp_path: Path, gate: str, scores: list[object], min_coverage: float, repeats: int
) -> None:
    runs = made(tmp_path, scores, gate)  # a recording answers each item once, so that second readings are missing
    code = runs.grade(min_coverage=min_coverage, repeats=repeats).exit
    counts, cases, _ = junit_of(runs)
    assert bool(counts["failures"] + counts["errors"]) == (code is not Exit.OK)
    assert ("small/run:run" not in cases) or not gate
