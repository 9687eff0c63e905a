"""Drawing sheets and reading them back on whole runs: who is drawn, what raters see, what comes of what they say."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentanvil.dataset import read_labels
from agentanvil.dataset.sheet_key import draws_path, key_path, read_draws, read_key
from agentanvil.errors import AnvilError, DatasetError, RunFolderError, UsageError
from agentanvil.runner.calibration.calibrate import CalibrateSettings, calibrate
from agentanvil.runner.calibration.labels import labels_asked
from agentanvil.runner.job import Surroundings
from agentanvil.runner.labelling.label import Drawn, LabelSettings, draw
from agentanvil.runner.labelling.read import ReadBack, ReadSettings, read_back
from agentanvil.runner.run_view import read_run, rubric_of
from tests.fakes.pairs import pair_rows, pair_rubric
from tests.fakes.raters import fill, read_cells, read_weights
from tests.fakes.runs import Runs, recording, verdict
from tests.fakes.verdicts import small_rubric, write_rows

AROUND = Surroundings({})
ROWS = 60
CHANCE = random.Random(4)
JUDGED = [CHANCE.choice([5, 5, 5, 4, 4, 3, 2, 1]) for _ in range(ROWS)]
TRUTH = {f"gpt-4/{n}": max(1, score - (n % 3 == 0)) for n, score in enumerate(JUDGED)}


def row(n: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"gpt-4/{n}",
        "request": f"What is {n} + {n}?",
        "response": f"It is the number {2 * n}.",
        "model": "gpt-4",
        **more,
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    folder = tmp_path_factory.mktemp("label")
    replies = [{"id": f"gpt-4/{n}", "reply": verdict(score)} for n, score in enumerate(JUDGED)]
    made = Runs(folder, recording(folder, *replies), *(row(n) for n in range(ROWS)))
    made.grade()
    return made


def drawn(runs: Runs, folder: Path, n: int = 12, **asked: Any) -> Drawn:
    places = {"data": str(runs.data), "rubric": runs.rubric, "run": runs.out, "out": folder / "sheet.csv"}
    return draw(LabelSettings(**{**places, "next": n, **asked}), AROUND)


def taken(runs: Runs, sheet: Path, labels: Path, rater: str = "ann", **asked: Any) -> ReadBack:
    places = {"data": str(runs.data), "rubric": runs.rubric, "sheet": sheet, "labels": labels, "rater": rater}
    return read_back(ReadSettings(**{**places, **asked}), AROUND)


def honest(item_id: str, _: Mapping[str, str]) -> dict[str, object]:
    return {"accuracy": TRUTH[item_id], "coverage": TRUTH[item_id]}


def test_a_sheet_is_blind_and_its_key_leads_back(runs: Runs, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path)
    sheet = Path(found.sheet)
    assert (found.rows, found.eligible, found.labelled, sum(found.reasons.values())) == (12, ROWS, 0, 12)
    shown = sheet.read_text(encoding="utf-8-sig") + Path(found.guide).read_text(encoding="utf-8")
    for secret in ("gpt", "recorded", "random", "coverage a", "probability"):
        assert secret not in shown
    cells = read_cells(sheet)
    assert list(cells[0]) == ["id", "request", "response", "accuracy", "coverage", "note"]
    key = read_key(key_path(sheet))
    assert [row.code for row in key.rows] == [each["id"] for each in cells]
    for drawn_row, each in zip(key.rows, cells, strict=True):
        assert f"What is {drawn_row.id.removeprefix('gpt-4/')} +" in each["request"]
    assert [row.id for row in key.rows] != sorted([row.id for row in key.rows])
    assert "## accuracy" in Path(found.guide).read_text(encoding="utf-8")


def test_the_same_draw_gives_the_same_sheet_and_another_seed_another_one(runs: Runs, tmp_path: Path) -> None:
    sheets = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        folder = tmp_path / name
        folder.mkdir()
        sheets.append(Path(drawn(runs, folder, seed=seed).sheet))
    first, again, other = (key_path(sheet).read_bytes() for sheet in sheets)
    assert first == again
    assert sheets[0].read_bytes() == sheets[1].read_bytes()
    assert read_key(key_path(sheets[2])).rows[0].code[:4] != json.loads(first)["rows"][0]["code"][:4]
    assert other != first


def test_rare_categories_are_drawn_more_often_than_by_chance(runs: Runs, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, n=20, random=0.1)
    key = read_key(key_path(Path(found.sheet)))
    assert found.reasons["coverage"] > found.reasons.get("random", 0)
    low = [row.id for row in key.rows if JUDGED[int(row.id.removeprefix("gpt-4/"))] <= 3]
    assert len(low) > 20 * sum(score <= 3 for score in JUDGED) / ROWS
    assert min(row.probability for row in key.rows) >= 0.1 * 20 / ROWS


def test_without_a_run_rows_are_drawn_evenly(runs: Runs, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, n=15, run=None)
    key = read_key(key_path(Path(found.sheet)))
    assert {row.probability for row in key.rows} == {0.25}
    assert (found.reasons, found.random) == ({"random": 15}, 1.0)


def test_from_sheet_to_calibration(runs: Runs, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    sheet = Path(drawn(runs, tmp_path, n=20).sheet)
    key = fill(sheet, honest)
    back = taken(runs, sheet, labels)
    assert (back.labelled, back.partial, back.blank, back.absent, back.items, back.sheets) == (20, 0, 0, 0, 20, 1)
    assert read_weights(labels) == pytest.approx({row.id: 1 / row.probability for row in key.rows})
    second = Path(drawn(runs, tmp_path, n=15, labels=labels, out=tmp_path / "second.csv").sheet)
    later = fill(second, honest)
    assert not {row.id for row in later.rows} & {row.id for row in key.rows}
    back = taken(runs, second, labels)
    assert (back.items, back.sheets, back.population) == (35, 2, ROWS)
    # By hand: the first sheet counts 20/35 and the second, which knew its rows, 15/35.
    weights = {row.id: (20 / row.probability + 15) / 35 for row in key.rows}
    weights |= {row.id: 15 / row.probability / 35 for row in later.rows}
    assert read_weights(labels) == pytest.approx(weights)
    report = calibrate(CalibrateSettings(runs.out, labels=labels, out=tmp_path / "calibration.json")).report
    assert report.labels.weighted
    truth = sum(TRUTH.values()) / ROWS
    naive = sum(TRUTH[item] for item in weights) / len(weights)
    corrected = report.corrected.dimensions[0].mean
    assert corrected is not None
    assert corrected.items.value == pytest.approx(truth, abs=0.1)
    interval = corrected.items_interval
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low <= truth <= interval.high
    assert naive < truth - 0.3


def test_corrected_means_are_right_on_average_over_many_draws(runs: Runs, tmp_path: Path) -> None:
    truth = sum(TRUTH.values()) / ROWS
    found = []
    for seed in range(12):
        folder = tmp_path / str(seed)
        folder.mkdir()
        labels = folder / "labels.jsonl"
        sheet = Path(drawn(runs, folder, n=15, seed=seed).sheet)
        fill(sheet, honest)
        taken(runs, sheet, labels)
        weights = read_weights(labels)
        found.append(sum(weight * TRUTH[item] for item, weight in weights.items()) / ROWS)
    error = (sum((value - sum(found) / 12) ** 2 for value in found) / 11 / 12) ** 0.5
    assert abs(sum(found) / 12 - truth) <= 3 * error


@pytest.mark.slow
def test_intervals_after_two_rounds_cover_the_rows_own_mean(runs: Runs, tmp_path: Path) -> None:
    truth = sum(TRUTH.values()) / ROWS
    values, covered = [], 0
    for seed in range(100):
        folder = tmp_path / str(seed)
        folder.mkdir()
        labels: Path | None = None
        for step in (1, 2):
            sheet = Path(drawn(runs, folder, n=12, seed=seed, labels=labels, out=folder / f"{step}.csv").sheet)
            fill(sheet, honest)
            labels = folder / "labels.jsonl"
            taken(runs, sheet, labels)
        report = calibrate(CalibrateSettings(runs.out, labels=labels, out=folder / "calibration.json")).report
        figure = report.corrected.dimensions[0].mean
        assert figure is not None
        assert figure.items.value is not None
        values.append(figure.items.value)
        low, high = figure.items_interval.low, figure.items_interval.high
        covered += low is None or high is None or low <= truth <= high
    mean = sum(values) / len(values)
    error = (sum((value - mean) ** 2 for value in values) / len(values) / (len(values) - 1)) ** 0.5
    assert abs(mean - truth) <= 3 * error + 0.01
    assert covered >= 85


def test_several_raters_share_a_sheet_and_its_weights(runs: Runs, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    sheet = Path(drawn(runs, tmp_path, n=4).sheet)
    half = iter([True, False, True, False])
    fill(sheet, lambda item, _: honest(item, {}) if next(half) else {"note": "cannot tell"})
    back = taken(runs, sheet, labels)
    assert (back.labelled, back.blank) == (2, 2)
    fill(sheet, honest)
    back = taken(runs, sheet, labels, rater=" bob ")
    assert (back.labelled, back.rater, back.items, back.sheets) == (4, "bob", 4, 1)
    items = read_labels(labels, labels_asked(rubric_of(read_run(runs.out)))).items
    key = read_key(key_path(sheet))
    assert {item: given.weight for item, given in items.items()} == pytest.approx(
        {row.id: 1 / row.probability for row in key.rows}
    )
    assert {len(given.ratings["accuracy"]) for given in items.values()} == {1, 2}


def test_rows_left_empty_are_drawn_again_and_the_others_stand_for_them(runs: Runs, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    sheet = Path(drawn(runs, tmp_path, n=ROWS, run=None).sheet)
    fill(sheet, lambda item, _: honest(item, {}) if int(item.removeprefix("gpt-4/")) < 15 else {})
    assert taken(runs, sheet, labels).blank == 45
    assert set(read_weights(labels).values()) == {4.0}
    second = drawn(runs, tmp_path, n=1000, run=None, labels=labels, out=tmp_path / "b.csv")
    assert (second.rows, second.eligible, second.labelled) == (45, 45, 15)
    fill(Path(second.sheet), honest)
    taken(runs, Path(second.sheet), labels)
    assert set(read_weights(labels).values()) == {1.0}
    with pytest.raises(UsageError, match="none is left"):
        drawn(runs, tmp_path, labels=labels, out=tmp_path / "c.csv")


def test_a_sheet_is_not_read_twice_by_one_rater_unless_it_is_to_be(runs: Runs, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    sheet = Path(drawn(runs, tmp_path, n=5).sheet)
    fill(sheet, lambda *_: {"accuracy": 5, "coverage": 5})
    taken(runs, sheet, labels)
    before = labels.read_bytes()
    with pytest.raises(DatasetError, match="`ann` labelled 5 row") as caught:
        taken(runs, sheet, labels)
    assert str(caught.value.where).endswith("labels.csv:2")
    assert labels.read_bytes() == before
    fill(sheet, lambda *_: {"accuracy": 2, "coverage": ""})
    back = taken(runs, sheet, labels, replace=True)
    assert (back.replaced, back.partial, back.items) == (5, 5, 5)
    assert {line["accuracy"] for line in read_cells(labels)} == {"2"}
    assert len(read_draws(draws_path(labels)).sheets) == 1


def test_labels_of_the_rows_are_not_drawn_and_stand_for_themselves(tmp_path: Path) -> None:
    owned = {0: {"accuracy": [4, 5], "coverage": 3}, 1: {"accuracy": 2, "unheard_of": 1}, 2: {"accuracy": 9}}
    runs = Runs(tmp_path, "scripted:none", *(row(n, labels=owned.get(n, {})) for n in range(10)))
    found = drawn(runs, tmp_path, n=4, run=None)
    assert (found.eligible, found.labelled) == (8, 2)
    key = fill(Path(found.sheet), honest)
    labels = tmp_path / "labels.csv"
    back = taken(runs, Path(found.sheet), labels)
    assert (back.carried, back.items, back.weight_sum) == (2, 6, 10)
    assert read_weights(labels) == {"gpt-4/0": 1, "gpt-4/1": 1} | {row.id: 2 for row in key.rows}
    said = [(line["rater"], line["accuracy"], line["coverage"]) for line in read_cells(labels)[:3]]
    assert said == [("data-1", "4", "3"), ("data-2", "5", ""), ("data", "2", "")]


def test_a_file_of_labels_from_elsewhere_is_extended_around_what_it_has(runs: Runs, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,accuracy,request\ngpt-4/1,3,=q\ngpt-4/2,,\nelsewhere,5,\n", encoding="utf-8")
    found = drawn(runs, tmp_path, n=10, run=None, labels=labels)
    assert (found.eligible, found.labelled) == (59, 1)
    key = fill(Path(found.sheet), honest)
    taken(runs, Path(found.sheet), labels)
    weights = read_weights(labels)
    assert (weights["gpt-4/1"], weights["elsewhere"]) == (1, 1)
    assert weights[key.rows[0].id] == pytest.approx(5.9)
    assert read_cells(labels)[0]["request"] == "=q"
    report = calibrate(CalibrateSettings(runs.out, labels=labels, out=tmp_path / "calibration.json")).report
    assert report.labels.unknown == 1


def test_pairs_are_shuffled_and_turned_back(tmp_path: Path) -> None:
    write_rows(tmp_path, *pair_rows(24, model_a="one", model_b="two"))
    pair_rubric(tmp_path)
    data, rubric = str(tmp_path / "rows.jsonl"), tmp_path / "pairs.yaml"
    found = draw(LabelSettings(data, rubric, 20, out=tmp_path / "s.csv"), AROUND)
    sheet = Path(found.sheet)
    assert list(read_cells(sheet)[0]) == ["id", "request", "response_a", "response_b", "winner", "note"]
    # The longer one is response_a in two of three pairs, wherever it is shown.
    key = fill(sheet, lambda _, shown: {"winner": "a" if len(shown["response_a"]) > len(shown["response_b"]) else "b"})
    assert {row.order for row in key.rows} == {"ab", "ba"}
    labels = tmp_path / "labels.csv"
    read_back(ReadSettings(data, rubric, sheet, labels, "ann"), AROUND)
    assert {line["id"]: line["winner"] for line in read_cells(labels)} == {
        row.id: "a" if int(row.id.removeprefix("pair-")) % 3 else "b" for row in key.rows
    }


def test_raters_see_what_the_judge_sees_of_traces_sources_and_expected_answers(tmp_path: Path) -> None:
    call = {"type": "function", "function": {"name": "look_up", "arguments": '{"city": "Rome"}'}, "id": "c1"}
    chat = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "content": "It rains."},
    ]
    rubric = tmp_path / "seen.yaml"
    rubric.write_text(small_rubric(tmp_path).read_text(encoding="utf-8") + "allow_expected: true\n", encoding="utf-8")
    lines = [row(1, response=chat, source=["first", "second"], expected={"answer": 2}), row(2, source="only")]
    found = draw(LabelSettings(str(write_rows(tmp_path, *lines)), rubric, 2, out=tmp_path / "s.csv"), AROUND)
    cells = {each["request"][:9]: each for each in read_cells(Path(found.sheet))}
    traced, plain = cells["What is 1"], cells["What is 2"]
    assert "step 1: tool call" in traced["response"]
    assert "look_up" in traced["response"]
    assert (traced["source"], plain["source"]) == ("[1] first\n\n[2] second", "only")
    assert (traced["expected"], plain["expected"]) == ('{"answer":2}', "")
    assert "one good answer" in Path(found.guide).read_text(encoding="utf-8")


def test_files_joined_into_pairs_are_read_back_as_they_were_joined(tmp_path: Path) -> None:
    rubric = pair_rubric(tmp_path)
    for name in ("new", "old"):
        lines = [row(n, response=f"{name} {n}", model=name) for n in range(6)]
        write_rows(tmp_path, *lines).rename(tmp_path / f"{name}.jsonl")
    data, vs = str(tmp_path / "new.jsonl"), (str(tmp_path / "old.jsonl"),)
    sheet = Path(draw(LabelSettings(data, rubric, 6, out=tmp_path / "s.csv", vs=vs), AROUND).sheet)
    fill(sheet, lambda _, shown: {"winner": "a" if shown["response_a"].startswith("new") else "b"})
    read_back(ReadSettings(data, rubric, sheet, tmp_path / "labels.csv", "ann"), AROUND)
    assert {line["winner"] for line in read_cells(tmp_path / "labels.csv")} == {"a"}


def test_a_gates_labels(runs: Runs, tmp_path: Path) -> None:
    found = drawn(runs, tmp_path, n=6, run=None, mode="gate")
    fill(Path(found.sheet), lambda item, _: {"accuracy": TRUTH[item] > 3, "coverage": "FALSE"})
    labels = tmp_path / "labels.jsonl"
    taken(runs, Path(found.sheet), labels)
    lines = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    assert {line["coverage"] for line in lines} == {False}
    assert all(line["accuracy"] is (TRUTH[line["id"]] > 3) for line in lines)


def test_a_gates_rows_that_are_labelled_false_are_labelled(tmp_path: Path) -> None:
    lines = [row(n, labels={"accuracy": n == 0} if n < 2 else {}) for n in range(4)]
    data, rubric = str(write_rows(tmp_path, *lines)), small_rubric(tmp_path)
    found = draw(LabelSettings(data, rubric, 2, mode="gate", out=tmp_path / "s.csv"), AROUND)
    assert (found.eligible, found.labelled) == (2, 2)
    fill(Path(found.sheet), lambda *_: {"accuracy": "true", "coverage": "true"})
    back = read_back(ReadSettings(data, rubric, Path(found.sheet), tmp_path / "l.csv", "ann"), AROUND)
    assert (back.carried, [line["accuracy"] for line in read_cells(tmp_path / "l.csv")][:2]) == (2, ["true", "false"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"next": 0}, "--next"),
        ({"random": 0.0}, "--random"),
        ({"random": 1.5}, "--random"),
        ({"random": float("nan")}, "--random"),
        ({"run": None, "random": 0.5}, "--random means nothing"),
        ({"mode": "best"}, "--mode"),
        ({"mode": "gate"}, "the mode was absolute"),
        ({"out": Path("sheet.xlsx")}, "CSV"),
        ({"out": Path("nowhere/sheet.csv")}, "cannot be written"),
    ],
)
def test_what_cannot_be_drawn(runs: Runs, tmp_path: Path, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        drawn(runs, tmp_path, **asked)
    assert not list(tmp_path.iterdir())


def test_runs_of_other_rows_or_rules_are_refused(runs: Runs, tmp_path: Path) -> None:
    other = write_rows(tmp_path, row(1))
    with pytest.raises(UsageError, match="other rows"):
        drawn(runs, tmp_path, data=str(other))
    with pytest.raises(UsageError, match="another one"):
        drawn(runs, tmp_path, rubric=small_rubric(tmp_path, "split"))
    with pytest.raises(RunFolderError):
        drawn(runs, tmp_path, run=tmp_path)


def test_a_sheet_that_is_there_is_not_overwritten(runs: Runs, tmp_path: Path) -> None:
    sheet = Path(drawn(runs, tmp_path).sheet)
    fill(sheet, honest)
    before = sheet.read_bytes()
    with pytest.raises(UsageError, match="is there already"):
        drawn(runs, tmp_path, seed=3)
    assert sheet.read_bytes() == before


def refused(runs: Runs, sheet: Path, labels: Path, **asked: Any) -> AnvilError:
    before = labels.read_bytes() if labels.is_file() else None
    with pytest.raises((DatasetError, UsageError)) as caught:
        taken(runs, sheet, labels, **asked)
    assert (labels.read_bytes() if labels.is_file() else None) == before
    return caught.value


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def test_what_cannot_be_read_back(runs: Runs, tmp_path: Path) -> None:
    sheet = Path(drawn(runs, tmp_path, n=5).sheet)
    labels = tmp_path / "labels.csv"
    assert "no row has a label" in refused(runs, sheet, labels).message
    fill(sheet, honest)
    assert "--rater" in refused(runs, sheet, labels, rater="  ").message
    assert "cannot stand in a CSV file" in refused(runs, sheet, labels, rater="=ann").message
    assert "names no format" in refused(runs, sheet, tmp_path / "labels.txt").message
    assert "others than those" in refused(runs, sheet, labels, data=str(write_rows(tmp_path, row(1)))).message
    assert "another rubric" in refused(runs, sheet, labels, rubric=small_rubric(tmp_path, "split")).message
    assert "cannot be written" in refused(runs, sheet, tmp_path / "nowhere" / "labels.csv").message
    assert not labels.exists()
    assert "is no regular file" in refused(runs, sheet, _folder(tmp_path / "folder.csv")).message
    for own in (sheet, runs.data):
        before = own.read_bytes()
        with pytest.raises(UsageError, match="would be written over"):
            taken(runs, sheet, own)
        assert own.read_bytes() == before
    key_path(sheet).unlink()
    assert "cannot be opened" in refused(runs, sheet, labels).message


def test_labels_that_no_draw_accounts_for_are_refused(runs: Runs, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    sheet = Path(drawn(runs, tmp_path, n=5).sheet)
    key = fill(sheet, honest)
    outside = next(name for name in TRUTH if name not in {row.id for row in key.rows})
    labels.write_text(f"id,accuracy\n{outside},3\n", encoding="utf-8")
    assert f"as `{outside}`, that no sheet drew" in refused(runs, sheet, labels).message
    around = Path(drawn(runs, tmp_path, n=5, labels=labels, out=tmp_path / "b.csv").sheet)
    fill(around, honest)
    assert "had labels when the sheet was drawn" in refused(runs, around, tmp_path / "new.csv").message
    labels.write_text(f"id,accuracy,weight\n{outside},3,2\n", encoding="utf-8")
    assert "labels.csv.draws.json" in refused(runs, around, labels).message


def test_sheets_of_other_rows_do_not_share_a_labels_file(runs: Runs, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    sheet = Path(drawn(runs, tmp_path, n=5).sheet)
    fill(sheet, honest)
    taken(runs, sheet, labels)
    other = Runs(tmp_path, "scripted:none", *(row(n) for n in range(10)))
    found = Path(drawn(other, tmp_path, n=2, run=None, out=tmp_path / "b.csv").sheet)
    fill(found, honest)
    assert "other rows" in refused(other, found, labels).message


def test_a_labels_file_with_a_column_a_rater(runs: Runs, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,accuracy.bob\ngpt-4/1,3\n", encoding="utf-8")
    found = drawn(runs, tmp_path, n=ROWS, run=None, labels=labels)
    fill(Path(found.sheet), honest)
    taken(runs, Path(found.sheet), labels)
    sheet = Path(drawn(runs, tmp_path, n=ROWS, run=None, out=tmp_path / "b.csv").sheet)
    fill(sheet, honest)
    assert "in a column of their own" in refused(runs, sheet, labels, rater="bob").message
