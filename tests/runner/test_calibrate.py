"""`anvil calibrate` on whole runs: where labels come from, what is written, what is refused, and how it ends."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import ConfigError, DatasetError, RunFolderError, UsageError
from agentanvil.runner.calibration.calibrate import Calibrated, CalibrateSettings, calibrate
from agentanvil.runner.calibration.file import Instrument, read_calibration
from tests.fakes.runs import Runs, recording, verdict

SCORES = [5, 4, 3, 2, 1, 5, 4, 3, 2, 1] * 4


def row(n: int, **more: Any) -> dict[str, Any]:
    return {"id": f"item-{n}", "request": f"What is {n} + {n}?", "response": f"It is the number {2 * n}.", **more}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Forty rows, the last without a verdict. Every other one is labelled: accuracy as judged, coverage reversed."""
    folder = tmp_path_factory.mktemp("calibrate")
    rows = [
        row(n, meta={"task": n // 5}, labels={"accuracy": score, "coverage": 6 - score} if n % 2 else {})
        for n, score in enumerate(SCORES)
    ]
    replies = [{"id": f"item-{n}", "reply": verdict(score)} for n, score in enumerate(SCORES[:-1])]
    made = Runs(folder, recording(folder, *replies), *rows)
    made.grade()
    return made


def run(runs: Runs, out: Path, **asked: Any) -> Calibrated:
    return calibrate(CalibrateSettings(runs.out, out=out / "calibration.json", **asked))


def labels_csv(folder: Path, *lines: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_labels_of_the_rows(runs: Runs, tmp_path: Path) -> None:
    found = run(runs, tmp_path)
    accuracy, coverage = found.report.dimensions
    assert (found.report.items, found.report.labelled, accuracy.labelled, accuracy.kappa.n) == (40, 20, 20, 19)
    assert (accuracy.verdict, coverage.verdict, found.report.verdict, int(found.exit)) == (
        "TRUSTED",
        "UNTRUSTED",
        "UNTRUSTED",
        1,
    )
    assert accuracy.missing["judge_error"] == 1
    assert (found.report.labels.source, found.report.labels.raters) == ("rows", ("1",))
    assert any("1 of 20 labelled item(s) have no verdict (judge error 1)" in note for note in found.report.notes)


def test_the_same_rows_in_another_order_are_the_same_calibration(tmp_path: Path) -> None:
    noise = random.Random(3)
    rows = [row(n, labels={"accuracy": noise.randint(1, 5)}) for n in range(20)]
    replies = [{"id": f"item-{n}", "reply": verdict(noise.randint(1, 5))} for n in range(20)]
    found = []
    for name, given in (("one", rows), ("other", rows[::-1])):
        folder = tmp_path / name
        folder.mkdir()
        made = Runs(folder, recording(folder, *replies), *given)
        made.grade()
        found.append(run(made, folder).report)
    assert found[0].dimensions[0].mean_absolute_error.interval.low is not None
    assert found[0].dimensions == found[1].dimensions


def test_a_file_takes_the_place_of_the_rows_labels(runs: Runs, tmp_path: Path) -> None:
    lines = [f"item-{n},{rater},{score},2" for n, score in enumerate(SCORES) for rater in ("ann", "bob") if n % 2 == 0]
    path = labels_csv(tmp_path, "id,rater,accuracy,weight", *lines, "elsewhere,ann,3,2", "item-1,ann,,2")
    found = run(runs, tmp_path, labels=path)
    accuracy, coverage = found.report.dimensions
    assert (accuracy.verdict, accuracy.labelled, accuracy.labels) == ("TRUSTED", 20, 40)
    assert (coverage.verdict, coverage.labelled) == (None, 0)
    assert found.report.overall is None
    assert int(found.exit) == 0
    used = found.report.labels
    assert (used.source, used.items, used.unknown, used.replaced, used.blank) == ("file", 20, 1, 20, 1)
    assert (used.raters, used.weighted, used.file) == (("ann", "bob"), True, str(path))
    assert accuracy.humans is not None
    assert accuracy.humans.kappa.value == 1
    told = "\n".join(found.report.notes)
    for text in ("1 labelled item(s) of the file are not in the run", "takes the place", "nobody labelled coverage"):
        assert text in told


def test_a_files_weights_count_in_every_figure_and_are_told(runs: Runs, tmp_path: Path) -> None:
    # Two disputed items of weight 1 among eighteen of weight 10: 2 of 182 disagree.
    lines = [f"item-{n},{6 - SCORES[n] if n in (0, 4) else SCORES[n]},{1 if n in (0, 4) else 10}" for n in range(20)]
    path = labels_csv(tmp_path, "id,accuracy,weight", *lines)
    found = run(runs, tmp_path, labels=path, group="meta.task")
    accuracy = found.report.dimensions[0]
    assert (accuracy.weighted, accuracy.kappa.n, accuracy.unweighted) == (True, 20, 0)
    assert accuracy.exact.value == pytest.approx(180 / 182)
    written = json.loads(found.path.read_text(encoding="utf-8"))["dimensions"][0]
    assert written["effective_n"] == pytest.approx(182**2 / (18 * 100 + 2))
    assert written["kappa"]["interval"]["method"].endswith(", sampling weights")
    told = "\n".join(found.report.notes)
    assert "by their sampling weights" in told
    assert "within groups is of the labelled items as they are" in told


def test_an_inconclusive_judge_ends_with_four(runs: Runs, tmp_path: Path) -> None:
    path = labels_csv(tmp_path, "id,accuracy", "item-0,5", "item-1,4", "item-2,3", "item-3,2", "item-4,3")
    found = run(runs, tmp_path, labels=path)
    assert (found.report.verdict, int(found.exit)) == ("INCONCLUSIVE", 4)
    further = found.report.dimensions[0].further
    assert further is not None
    assert (further.items is None) == (further.reason is not None)


def test_the_file_that_is_written_is_the_report_and_is_read_back(runs: Runs, tmp_path: Path) -> None:
    found = run(runs, tmp_path)
    assert found.path == tmp_path / "calibration.json"
    written = json.loads(found.path.read_text(encoding="utf-8"))
    manifest = runs.manifest()
    head = [
        "format", "rubric_id", "rubric_hash", "judge", "prompt_version", "mode", "evidence", "reading", "min_kappa",
        "level", "verdict", "labels", "items",
    ]  # fmt: skip
    assert list(written)[: len(head)] == head
    assert written["rubric_hash"] == manifest["rubric"]["hash"]
    assert written["dimensions"][0]["kappa"]["interval"]["method"]
    read = read_calibration(found.path)
    assert read.instrument == Instrument.of(manifest)
    assert read.instrument.differences(Instrument.of(manifest)) == ()
    assert read.verdict("accuracy") == "TRUSTED"
    assert read.verdict("overall") == written["overall"]["verdict"]
    assert read.verdict("nothing") is None
    assert (read.items, read.min_kappa, read.level) == (40, 0.6, 0.95)
    assert read.dimensions["accuracy"].kappa == 1


def test_without_out_it_stands_in_the_run(runs: Runs) -> None:
    before = runs.reports()
    found = calibrate(CalibrateSettings(runs.out))
    assert found.path == runs.out / "calibration.json"
    again = found.path.read_bytes()
    assert calibrate(CalibrateSettings(runs.out)).path.read_bytes() == again
    assert runs.reports() == before


def test_the_worst_disagreements_have_their_texts_in_full(runs: Runs, tmp_path: Path) -> None:
    examples = run(runs, tmp_path).report.disagreements
    worst = examples[0]
    assert worst.dimension == "coverage"
    assert worst.request == f"What is {worst.index} + {worst.index}?"
    assert worst.response == f"It is the number {2 * worst.index}."
    assert (worst.response_b, worst.evidence, worst.reason) == (None, ("It is the number",), "so")
    assert len(examples) == 10


def test_where_the_data_is_gone_the_reason_stands_in_place_of_the_texts(tmp_path: Path) -> None:
    labelled = [row(n, labels={"accuracy": 1}) for n in range(3)]
    made = Runs(tmp_path, recording(tmp_path, *({"id": f"item-{n}", "reply": verdict(5)} for n in range(3))), *labelled)
    made.grade()
    made.data.unlink()
    found = run(made, tmp_path)
    assert found.report.texts_missing is not None
    assert "rows.jsonl" in found.report.texts_missing
    assert found.report.disagreements[0].request is None
    with pytest.raises(UsageError, match="not at hand"):
        run(made, tmp_path, group="meta.task")


def test_groups_are_read_from_the_data(runs: Runs, tmp_path: Path) -> None:
    groups = run(runs, tmp_path, group="meta.task").report.groups
    assert groups is not None
    assert (groups.field, groups.groups, groups.items, groups.without) == ("meta.task", 8, 20, 0)
    assert [each.id for each in groups.dimensions] == ["accuracy", "coverage", "overall"]
    assert groups.dimensions[0].spearman.mean.value == 1
    with pytest.raises(UsageError, match=r"no labelled row has anything at meta\.tusk"):
        run(runs, tmp_path, group="meta.tusk")


def test_a_run_without_labels_says_how_to_give_some(tmp_path: Path) -> None:
    made = Runs(tmp_path, recording(tmp_path, {"id": "item-0", "reply": verdict(5)}), row(0))
    made.grade()
    with pytest.raises(UsageError, match="no row of the run has a label") as caught:
        run(made, tmp_path)
    assert "--labels" in (caught.value.hint or "")
    assert not (tmp_path / "calibration.json").exists()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("id,accuracy", "1,5", "2,4"), "none of its 2 ids is in the run: here `1`, `2`, there `item-0`"),
        (("id,acuracy", "item-0,5"), "did you mean `accuracy`"),
        (("id,accuracy", "item-0,9"), "9 is not on the scale 1 to 5"),
        (("id,winner", "item-0,a"), "winner"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(runs: Runs, tmp_path: Path, lines: tuple[str, ...], says: str) -> None:
    with pytest.raises(DatasetError) as caught:
        run(runs, tmp_path, labels=labels_csv(tmp_path, *lines))
    assert says in str(caught.value)
    assert "labels.csv" in str(caught.value)


@pytest.mark.parametrize(
    "asked", [{"min_kappa": 1.5}, {"min_kappa": float("nan")}, {"level": 1.0}, {"level": 0.2}, {"group": "a..b"}]
)
def test_options_that_mean_nothing_are_refused(runs: Runs, tmp_path: Path, asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        run(runs, tmp_path, **asked)


def test_places_that_cannot_be_written_are_refused_before_anything_is_read(runs: Runs, tmp_path: Path) -> None:
    for out in (tmp_path, tmp_path / "none" / "calibration.json"):
        with pytest.raises(UsageError, match="cannot be written"):
            calibrate(CalibrateSettings(runs.out, out=out, labels=tmp_path / "none.csv"))
    with pytest.raises(RunFolderError):
        calibrate(CalibrateSettings(tmp_path))
    (tmp_path / "manifest.json").write_text('{"format": 1, "rubric": {}}', encoding="utf-8")
    with pytest.raises(RunFolderError, match="lacks identity, data, plan, judge"):
        calibrate(CalibrateSettings(tmp_path))


def test_no_file_of_the_run_and_no_labels_are_overwritten(runs: Runs, tmp_path: Path) -> None:
    labels = labels_csv(tmp_path, "id,accuracy", "item-0,5")
    for out, asked in ((runs.out / "journal.jsonl", None), (labels, labels), (runs.data, None)):
        before = out.read_bytes()
        with pytest.raises(UsageError, match="would be overwritten"):
            calibrate(CalibrateSettings(runs.out, labels=asked, out=out))
        assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not JSON"),
        ("[]", "has no format"),
        ('{"format": 2}', "this version reads format 1"),
        ('{"format": 1, "rubric_id": 3}', "rubric_id"),
    ],
)
def test_a_file_that_is_no_calibration_is_refused_by_name(tmp_path: Path, text: str, says: str) -> None:
    path = labels_csv(tmp_path, text, name="calibration.json")
    with pytest.raises(ConfigError) as caught:
        read_calibration(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    with pytest.raises(ConfigError, match="cannot be opened"):
        read_calibration(tmp_path / "none.json")


def test_another_instrument_is_told_by_its_differences(runs: Runs) -> None:
    manifest = runs.manifest()
    other = {**manifest, "plan": {**manifest["plan"], "reading": "expected"}}
    assert Instrument.of(manifest).differences(Instrument.of(other)) == ("reading is verdict, there it is expected",)


GATE = """\
version: 1
id: gate
mode: gate
scale: {min: 0, max: 4}
evidence: none
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {4: no error, 2: exactly one error, 0: two or more errors}
"""


@pytest.mark.parametrize(("labels", "told"), [((1, 0), True), ((True, False), False), ((4, 0), False)])
def test_a_gates_numbers_are_scores_and_ones_are_pointed_out(
    tmp_path: Path, labels: tuple[Any, Any], *, told: bool
) -> None:
    rows = [row(n, labels={"accuracy": labels[n % 2]}) for n in range(8)]
    reply = [{"id": f"item-{n}", "reply": {"reason": "so", "pass": n % 2 == 0}} for n in range(8)]
    made = Runs(tmp_path, recording(tmp_path, *reply), *rows)
    made.rubric.write_text(GATE, encoding="utf-8")
    made.grade()
    report = run(made, tmp_path).report
    assert any("write true or false" in note for note in report.notes) == told
    assert report.dimensions[0].exact.value == (0.5 if told else 1)


def test_pairs_are_calibrated_by_their_winner(tmp_path: Path) -> None:
    rubric = tmp_path / "pairs.yaml"
    labels = 'evidence: none\nreply: {format: label, labels: {"1": 1, "2": -1}}'
    text = GATE.replace("mode: gate", "mode: pairwise").replace("evidence: none", labels)
    rubric.write_text(text, encoding="utf-8")
    pair = {"request": "Which?", "response_a": "one", "response_b": "two"}
    rows = [{"id": f"p{n}", **pair, "labels": {"winner": "ab"[n % 2]}} for n in range(12)]
    picks = ["2" if n % 2 or n == 2 else "1" for n in range(12)]
    replies = [{"id": f"p{n}", "order": "ab", "reply": pick} for n, pick in enumerate(picks)]
    made = Runs(tmp_path, recording(tmp_path, *replies), *rows)
    made.rubric = rubric
    made.grade(order="fixed")
    found = run(made, tmp_path)
    overall = found.report.overall
    assert overall is not None
    assert (overall.id, found.report.overall_from, overall.exact.value) == ("winner", "winner", pytest.approx(11 / 12))
    assert read_calibration(found.path).verdict("overall") == overall.verdict
    worst = found.report.disagreements[0]
    assert (worst.id, worst.score, worst.label, worst.response, worst.response_b) == ("p2", -1, 1, "one", "two")
    with pytest.raises(UsageError, match="pairwise"):
        run(made, tmp_path, group="meta.task")
    by_file = run(made, tmp_path, labels=labels_csv(tmp_path, "id,rater,winner", "p0,ann,a", "p1,ann,Tie", "p0,bob,1"))
    assert by_file.report.overall is not None
    assert (by_file.report.overall.labels, by_file.report.labels.replaced) == (3, 12)
