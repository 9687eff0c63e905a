from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.aggregate import Baseline, Frame
from agentanvil.errors import RunFolderError
from agentanvil.report import ReportWriters, read_baseline
from agentanvil.rubric import Rubric
from tests.fakes.graded import NA, columns, grade, item, plan, rubric

GATE = rubric("a", "b", mode="gate")


def run(folder: Path, of: Rubric, names: list[str] | None = None, **scores: list[float | None]) -> Path:
    rows = columns(of, **scores)  # type: ignore[arg-type]
    if names is not None:
        shape = plan(of)
        values = [dict(zip(scores, row, strict=True)) for row in zip(*scores.values(), strict=True)]
        rows = [item(shape, i, values[i], name=name) for i, name in enumerate(names)]
    results, summary = grade(of, rows)
    with ReportWriters(folder, Frame.of(of, plan(of))) as writers:
        for result in results:
            writers.add(result)
        writers.finish(summary)
    return folder


def test_what_failed_is_read_back(tmp_path: Path) -> None:
    folder = run(tmp_path, GATE, a=[1, 0, 0, None], b=[0, 0, NA, 1])  # type: ignore[list-item]
    assert read_baseline(folder, GATE) == Baseline(
        frozenset({("item-0", "b"), ("item-1", "a"), ("item-1", "b"), ("item-2", "a")})
    )


def test_thresholds_of_today_are_held_against_the_scores_of_then(tmp_path: Path) -> None:
    folder = run(tmp_path, rubric("a"), a=[5, 3, 2])
    found = read_baseline(folder, rubric("a", gate={"overall": 4, "a": 3}))
    assert found.failed == {("item-1", "overall"), ("item-2", "overall"), ("item-2", "a")}


def test_a_dimension_that_the_baseline_lacks_did_not_fail_there(tmp_path: Path) -> None:
    folder = run(tmp_path, rubric("a", mode="gate"), a=[0, 1])
    assert read_baseline(folder, GATE).failed == {("item-0", "a")}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), min_size=1, unique=True))
def test_any_id_comes_back(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    of = rubric("a", mode="gate")
    folder = run(tmp_path_factory.mktemp("run"), of, names, a=[0] * len(names))
    assert read_baseline(folder, of).failed == {(name, "a") for name in names}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        pytest.param("items.csv", None, "cannot be read", id="no-items"),
        pytest.param("summary.json", None, "cannot be read", id="no-summary"),
        pytest.param("summary.json", b"{", "damaged", id="broken-summary"),
        pytest.param("summary.json", b"[]", "damaged", id="other-json"),
        pytest.param("items.csv", b"a,b\n1,2\n", "not the columns", id="other-table"),
        pytest.param("items.csv", b"", "not the columns", id="empty"),
        pytest.param("items.csv", b"\xff\xfe", "damaged", id="not-text"),
        pytest.param("items.csv", b"id,state,overall,pass,a\nx,scored\n", "record 1 has 2 cells", id="cut-off"),
        pytest.param("items.csv", b"id,state,overall,pass,a\nx,scored,1,true,y\n", "`y` is no number", id="no-number"),
        pytest.param("items.csv", b"id,state,overall,pass,a\nx,scored,1,true,nan\n", "is no number", id="nan"),
        pytest.param("items.csv", b'id,state,overall,pass,a\n"x', "damaged", id="open-quote"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    folder = run(tmp_path, GATE, a=[1], b=[1])
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(RunFolderError, match=says) as caught:
        read_baseline(folder, GATE)
    assert caught.value.where is not None
    assert name in str(caught.value.where)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("other", "says"),
    [(rubric("a", "b"), "mode `absolute`, this one of `gate`"), (None, "rubric `test`, this one of `another`")],
)
def test_another_kind_of_run_is_refused(tmp_path: Path, other: Rubric | None, says: str) -> None:
    if other is None:
        folder, of = run(tmp_path, GATE, a=[1], b=[1]), Rubric("another", 1, GATE.scale, GATE.dimensions, mode="gate")
    else:
        folder, of = run(tmp_path, other, a=[1], b=[1]), GATE
    with pytest.raises(RunFolderError, match=says):
        read_baseline(folder, of)
