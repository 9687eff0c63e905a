"""Two run folders compared: what is refused, what is branded, and the exit code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import RunFolderError, UsageError
from agentanvil.runner.exits import Exit
from tests.fakes.compared_runs import Graded, side_by_side
from tests.fakes.pairs import by_length, judged, pair_rows, pair_rubric
from tests.fakes.runs import Collected, Runs
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import RUBRIC

GOOD = {f"q{n}": (5 - n % 2, 4) for n in range(12)}
BAD = dict.fromkeys(GOOD, (3, 4))


def edit(run: Path, **changes: Any) -> Path:
    """Change a manifest's fields, `part__field=value`."""
    path = run / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for name, value in changes.items():
        part, _, key = name.partition("__")
        manifest[part][key] = value
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return run


@pytest.fixture
def a(tmp_path: Path) -> Path:
    return Graded(tmp_path / "a", GOOD).run()


@pytest.fixture
def b(tmp_path: Path) -> Path:
    return Graded(tmp_path / "b", BAD, system="another").run()


def test_two_systems_are_compared_without_a_word(a: Path, b: Path) -> None:
    found = side_by_side(a, b)
    assert found.exit == Exit.OK
    comparison = found.comparison
    assert comparison.brand is None
    assert comparison.differences == ()
    accuracy = next(figure for figure in comparison.figures if figure.id == "accuracy")
    assert (accuracy.n, accuracy.difference.value, accuracy.losses) == (12, -1.5, 12)
    assert (comparison.items.other_requests, comparison.items.unchecked) == (0, None)
    assert "taken on trust" in " ".join(comparison.notes)
    worst = comparison.regressions[0]
    assert (worst.dimension, worst.a.score, worst.b.score, worst.drop) == ("accuracy", 5, 3, 1)
    assert (worst.a.evidence, worst.a.reason) == (("It is the number",), "so")
    assert (worst.request, worst.a.response, worst.b.response) == (
        f"What is {worst.id}?",
        "It is the number of one.",
        "It is the number of another.",
    )
    assert len(comparison.regressions) == 10


def test_rows_in_another_order_change_no_digit(tmp_path: Path, b: Path) -> None:
    scores = {name: (1 + n % 5, 4) for n, name in enumerate(GOOD)}
    one = Graded(tmp_path / "one", scores).run()
    other = Graded(tmp_path / "other", dict(reversed(scores.items()))).run()
    assert side_by_side(one, b).comparison.figures == side_by_side(other, b).comparison.figures


def test_a_regression_fails_a_build_and_says_why(a: Path, b: Path) -> None:
    told = Collected()
    found = side_by_side(a, b, told, fail_on_regression=True)
    assert found.exit == Exit.GATE_FAILED
    assert [line.split(":")[0] for line in told.failures] == ["overall is worse", "accuracy is worse"]
    assert side_by_side(b, a, fail_on_regression=True).exit == Exit.OK
    assert side_by_side(a, a, fail_on_regression=True).exit == Exit.OK
    assert side_by_side(a, b, fail_on_regression=True, margin=2.0).exit == Exit.OK


def test_what_cannot_be_told_is_neither(tmp_path: Path, a: Path) -> None:
    torn = {name: (4 + n % 2 if n < 10 else 3, 4) for n, name in enumerate(GOOD)}
    b = Graded(tmp_path / "torn", torn, system="another").run()
    told = Collected()
    assert side_by_side(a, b, told, fail_on_regression=True).exit == Exit.INCONCLUSIVE
    assert "is inconclusive" in " ".join(told.failures)
    assert side_by_side(a, b, told).exit == Exit.OK


def test_missing_verdicts_are_neither_guessed_nor_passed_over(tmp_path: Path, a: Path) -> None:
    b = Graded(tmp_path / "gaps", GOOD | {"q3": None, "q5": None}, system="another").run()
    found = side_by_side(a, b, fail_on_regression=True)
    assert found.exit == Exit.MISSING
    overall = found.comparison.figures[0]
    assert (overall.n, overall.unpaired.b) == (10, 2)
    assert (overall.bounds.low, overall.bounds.high) == (-0.5, 2 / 12)  # 4 falls to 1 or rises to 5, twice
    assert side_by_side(a, b, fail_on_regression=True, min_coverage=0.8).exit == Exit.OK
    assert side_by_side(b, a, fail_on_regression=True).comparison.figures[0].unpaired.a == 2


def test_items_that_b_left_out_are_no_way_to_pass(tmp_path: Path, a: Path) -> None:
    some = {name: scores for name, scores in GOOD.items() if name != "q7"}
    fewer = Graded(tmp_path / "fewer", some | {"new": (1, 1)}, system="another").run()
    found = side_by_side(a, fewer, fail_on_regression=True)
    items = found.comparison.items
    assert (items.both, items.only_a_examples, items.only_b_examples) == (11, ("q7",), ("new",))
    assert found.exit == Exit.MISSING
    more = Graded(tmp_path / "more", GOOD | {"new": (1, 1)}, system="another").run()
    assert side_by_side(a, more, fail_on_regression=True).exit == Exit.OK


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"identity__judge": "openai:other"}, "judge differs: "),
        ({"rubric__hash": "0" * 32}, "rubric differs: small "),
        ({"identity__prompt": "0"}, "prompt version differs: "),
        ({"identity__seed": "9"}, "order seed differs: 0 / 9"),
        ({"identity__temperature": "1"}, "temperature differs: default / 1"),
        ({"identity__evidence": "none"}, "evidence differs: quoted / none"),
        ({"plan__reading": "expected"}, "reading differs: verdict / expected"),
        ({"plan__calls": ["accuracy", "coverage"]}, "calls differs: joint / accuracy, coverage"),
    ],
)
def test_another_instrument_is_refused_by_name_and_branded_by_force(
    a: Path, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    b = tmp_path / "copy"
    shutil.copytree(a, b)
    edit(b, **changes)
    with pytest.raises(RunFolderError, match=says) as refused:
        side_by_side(a, b)
    assert "--force" in str(refused.value)
    if "plan__calls" not in changes and "rubric__hash" not in changes:
        comparison = side_by_side(a, b, force=True).comparison
        assert comparison.brand is not None
        assert comparison.brand.startswith(f"NOT LIKE WITH LIKE: {says}")


def test_every_difference_is_named_at_once(a: Path, tmp_path: Path) -> None:
    b = tmp_path / "copy"
    shutil.copytree(a, b)
    edit(b, identity__judge="x", identity__seed="9", plan__reading="expected")
    with pytest.raises(RunFolderError, match=r"judge differs.*order seed differs.*reading differs"):
        side_by_side(a, b)


def test_two_recordings_of_the_same_responses_are_two_judges(tmp_path: Path, a: Path) -> None:
    b = Graded(tmp_path / "b2", BAD).run()
    with pytest.raises(RunFolderError, match="judge differs"):
        side_by_side(a, b)
    told = Collected()
    found = side_by_side(a, b, told, force=True, fail_on_regression=True)
    assert found.exit == Exit.GATE_FAILED
    assert told.failures[0].startswith("NOT LIKE WITH LIKE: judge differs")
    assert "both runs judged the same responses" in found.comparison.notes


def test_a_recording_is_the_same_wherever_it_lies(a: Path, tmp_path: Path) -> None:
    b = tmp_path / "copy"
    shutil.copytree(a, b)
    judge = json.loads((a / "manifest.json").read_text(encoding="utf-8"))["identity"]["judge"]
    moved = "recorded:elsewhere.jsonl" + judge[judge.rindex(" (") :]
    assert side_by_side(a, edit(b, identity__judge=moved)).comparison.brand is None
    with pytest.raises(RunFolderError, match="judge differs"):
        side_by_side(a, edit(b, identity__judge="recorded:elsewhere.jsonl (0123456789abcdef)"))


def test_two_rubrics_are_compared_by_force_on_what_they_share(tmp_path: Path, a: Path) -> None:
    other = RUBRIC.replace("CALLS", "joint").replace("id: small", "id: wider")
    other += "  - {id: short, check: {type: max_words, limit: 50}}\n"
    b = Graded(tmp_path / "b", GOOD, system="another", rubric=other).run()
    with pytest.raises(RunFolderError, match=r"rubric differs: small [0-9a-f]{8} / wider [0-9a-f]{8}"):
        side_by_side(a, b)
    comparison = side_by_side(a, b, force=True).comparison
    assert [figure.id for figure in comparison.figures] == ["overall", "accuracy", "coverage"]
    assert (comparison.only_a_dimensions, comparison.only_b_dimensions) == ((), ("short",))


def test_other_requests_under_the_same_ids_are_refused(tmp_path: Path, a: Path) -> None:
    b = Graded(tmp_path / "b", GOOD, system="another", request="Who is {id}?").run()
    with pytest.raises(
        RunFolderError, match="request differs: A's / another for 12 of 12 items, such as `q0`, `q1`, `q2`"
    ):
        side_by_side(a, b)
    assert "request differs" in (side_by_side(a, b, force=True).comparison.brand or "")


def test_other_data_and_other_modes_are_refused_even_by_force(tmp_path: Path, a: Path) -> None:
    b = Graded(tmp_path / "b", {f"z{n}": (5, 5) for n in range(3)}).run()
    with pytest.raises(RunFolderError, match="no item id in common"):
        side_by_side(a, b, force=True)
    copy = tmp_path / "copy"
    shutil.copytree(a, copy)
    with pytest.raises(RunFolderError, match="mode"):
        side_by_side(a, edit(copy, identity__mode="gate"), force=True)


def test_without_the_data_files_it_says_what_nobody_could_look_up(a: Path, b: Path) -> None:
    (b.parent / "rows.jsonl").unlink()
    comparison = side_by_side(a, b).comparison
    assert comparison.items.other_requests is None
    assert "requests were not compared" in (comparison.items.unchecked or "")
    assert "rows.jsonl" in (comparison.texts_missing or "")
    assert comparison.regressions[0].a.response is not None
    assert comparison.regressions[0].b.response is None


def test_long_texts_are_cut_with_a_mark(tmp_path: Path, a: Path) -> None:
    b = Graded(tmp_path / "b", BAD, system="another" + "!" * 5_000).run()
    found = side_by_side(a, b).comparison.regressions[0].b.response
    assert found is not None
    assert found.endswith(" … [4,428 more characters]")


def test_pairs_are_compared_by_response_a(tmp_path: Path) -> None:
    runs = []
    with FakeServer(judged(by_length)) as server:
        for name in ("a", "b"):
            folder = tmp_path / name
            folder.mkdir()
            rows = pair_rows(6)
            if name == "b":
                rows[1]["response_a"] = "Short"
            made = Runs(folder, server, *rows)
            made.rubric = pair_rubric(folder)
            made.grade()
            runs.append(made.out)
    found = side_by_side(runs[0], runs[1]).comparison
    overall = found.figures[0]
    # response_a is the longer one in 1, 2, 4 and 5 of six; then no longer in 1.
    assert (overall.mean_a.value, overall.mean_b.value) == (4 / 6, 3 / 6)
    assert [figure.id for figure in found.figures] == ["overall", "accuracy", "coverage"]
    assert found.brand is None
    assert found.regressions[0].b.response == "Short"
    assert found.regressions[0].a.rival_response == "The answer is 2"


def test_the_report_is_written_whole_and_over_no_file_of_a_run(a: Path, b: Path, tmp_path: Path) -> None:
    out = tmp_path / "comparison.json"
    side_by_side(a, b, out=out)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["figures"][0]["id"] == "overall"
    assert (found["format"], found["brand"], found["gate"]["verdict"]) == (1, None, "fail")
    before = (a / "summary.json").read_bytes()
    rows = Path(json.loads((b / "manifest.json").read_text(encoding="utf-8"))["data"]["file"])
    for own in (a / "summary.json", rows):
        with pytest.raises(UsageError, match="overwrite"):
            side_by_side(a, b, out=own)
    assert rows.stat().st_size
    for place in (tmp_path, tmp_path / "none" / "x.json"):
        with pytest.raises(UsageError, match="--out names a file"):
            side_by_side(a, b, out=place)
    assert (a / "summary.json").read_bytes() == before
    assert not list(tmp_path.glob(".*.tmp"))


def test_what_is_no_run_is_refused(a: Path, tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="not a run folder"):
        side_by_side(a, tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(RunFolderError, match="a manifest lacks"):
        side_by_side(a, tmp_path)


def test_an_unfinished_run_is_told(a: Path, b: Path) -> None:
    path = b / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"complete"', '"interrupted"'), encoding="utf-8")
    assert any("B is not complete (interrupted)" in note for note in side_by_side(a, b).comparison.notes)
