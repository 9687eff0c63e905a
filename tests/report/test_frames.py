from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentanvil.aggregate import Frame, ItemOutcomes, Summariser
from agentanvil.errors import RunFolderError
from agentanvil.report import ITEM_COLUMNS, SCORE_COLUMNS, ReportWriters, read_items, read_scores
from agentanvil.rubric import Rubric
from agentanvil.verdict import STATES, Cell, JudgeError, NotApplicable, NotRun, Scored
from tests.fakes.graded import NA, Pair, columns, compared, grade, item, plan, rubric

HOSTILE = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    st.sampled_from("'=+-@\t\r\n\x00\",; \u200b＝"), max_size=8
)
READERS = pytest.mark.parametrize(("read", "name"), [(read_items, "items.csv"), (read_scores, "scores.csv")])


def run(folder: Path, of: Rubric, rows: list[ItemOutcomes], repeats: int = 1) -> Path:
    """The reports of a run, as `anvil grade` writes them."""
    results, summary = grade(of, rows, repeats)
    with ReportWriters(folder, Frame.of(of, plan(of, repeats))) as writers:
        for result in results:
            writers.add(result)
        writers.finish(summary)
    return folder


def test_items_by_hand(tmp_path: Path) -> None:
    of = rubric("a", "b", gate={"overall": 4})
    rows = columns(of, 3, a=[[5, 3, 3], [None, None, None], [NA, NA, NA]], b=[[5, 5, 5], [3, 4, 3], [NA, NA, NA]])
    found = read_items(run(tmp_path, of, rows, 3))
    assert list(found.columns) == [*ITEM_COLUMNS, "a", "a_sd", "a_n", "a_state", "b", "b_sd", "b_n", "b_state"]
    assert found["id"].tolist() == ["item-0", "item-1", "item-2"]
    assert found["a"].tolist() == [11 / 3, pd.NA, pd.NA]
    assert found["a_n"].tolist() == [3, 0, 0]
    assert found["pass"].tolist() == [False, pd.NA, pd.NA]
    assert found["state"].tolist() == ["scored", "judge_error", "not_applicable"]
    assert found["b"].mean() == pytest.approx((5 + 10 / 3) / 2)


def test_items_are_typed(tmp_path: Path) -> None:
    of = rubric("a")
    found = read_items(run(tmp_path, of, columns(of, a=[5, None])))
    kinds = {name: str(kind) for name, kind in found.dtypes.items()}
    assert kinds == {
        "id": "string",
        "state": "category",
        "overall": "Float64",
        "pass": "boolean",
        "a": "Float64",
        "a_sd": "Float64",
        "a_n": "Int64",
        "a_state": "category",
    }
    assert tuple(found["a_state"].cat.categories) == STATES


def test_scores_are_typed(tmp_path: Path) -> None:
    of = rubric("z", "a", checks=["c"])
    found = read_scores(run(tmp_path, of, columns(of, 2, z=[[5, 4]], a=[[3, 1]], c=[1]), 2))
    kinds = {name: str(kind) for name, kind in found.dtypes.items()}
    assert kinds == {
        "id": "string",
        "dimension": "category",
        "judge": "category",
        "repeat": "Int64",
        "order": "string",
        "state": "category",
        "score": "Float64",
        "normalised": "Float64",
        "expected_score": "Float64",
        "entropy": "Float64",
        "evidence": "string",
        "evidence_found": "boolean",
        "reason": "string",
        "code": "string",
        "flags": "string",
        "call": "string",
        "slot": "string",
        "rival_evidence": "string",
        "preference": "Float64",
        "label_mass": "Float64",
    }
    assert tuple(found["state"].cat.categories) == STATES
    assert found["dimension"].cat.categories.tolist() == ["c", "z", "a"]
    assert found["judge"].tolist() == ["check", *["compat:m@http://127.0.0.1:1/v1"] * 4]
    assert found.loc[found["dimension"] == "z", "repeat"].tolist() == [0, 1]


def test_pairs_are_typed(tmp_path: Path) -> None:
    of = rubric("a", mode="pairwise")
    results, summary = compared(of, Pair({"a": [2, 1]}, preferences=[0.8, 0.8]), Pair({"a": [1, None]}))
    with ReportWriters(tmp_path, Frame.of(of, plan(of))) as writers:
        for result in results:
            writers.add(result)
        writers.finish(summary)
    items, scores = read_items(tmp_path), read_scores(tmp_path)
    assert items["winner"].tolist() == ["a", ""]
    assert items["preference"].tolist() == [0.8, pd.NA]
    assert items["a"].tolist() == [1.5, pd.NA]
    assert {name: str(items[name].dtype) for name in ("consistency", "stated_winner", "p_ab", "p_ba")} == {
        "consistency": "string",
        "stated_winner": "string",
        "p_ab": "Float64",
        "p_ba": "Float64",
    }
    assert scores["slot"].tolist() == ["A", "B", "A", ""]
    assert scores["preference"].tolist() == [0.8, 0.8, pd.NA, pd.NA]


def test_every_state_is_told_apart(tmp_path: Path) -> None:
    of = rubric("a")
    cells: list[Cell] = [
        Scored(2, ("one", "two"), True, "since", ("reasked",)),
        Scored(1, (), None, "", ("no_evidence",)),
        NotApplicable("no claim"),
        JudgeError("timeout", "no answer"),
        NotRun(),
    ]
    found = read_scores(run(tmp_path, of, columns(of, a=cells)))
    assert found["state"].tolist() == ["scored", "scored", "not_applicable", "judge_error", "not_run"]
    assert found["score"].tolist() == [2.0, 1.0, pd.NA, pd.NA, pd.NA]
    assert found["normalised"].tolist() == [0.25, 0.0, pd.NA, pd.NA, pd.NA]
    assert found["evidence_found"].tolist() == [True, pd.NA, pd.NA, pd.NA, pd.NA]
    assert found["reason"].tolist() == ["since", "", "no claim", "no answer", ""]
    assert found["code"].tolist() == ["", "", "", "timeout", "not_reached"]
    assert found["flags"].tolist() == ["reasked", "no_evidence", "", "", ""]
    assert found["entropy"].isna().all()


@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=4))
@example([("NA", "null", "nan"), ("", "", ""), ("007", "1e5", "True"), ("'=1", "=1", "''=1")])
@example([("#", "\x00", "nul\x00inside"), ("\ufeff", "lone\rreturn", "\r\n"), ("\x1a", '"', "\u2028\u0085")])
def test_text_comes_back_to_the_letter(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str, str]]
) -> None:
    of = rubric("a")
    rows = [
        item(plan(of), index, {"a": Scored(3, (quote,), False, reason)}, name=name)
        for index, (name, quote, reason) in enumerate(texts)
    ]
    folder = run(tmp_path_factory.mktemp("run"), of, rows)
    found = read_scores(folder)
    assert list(zip(found["id"], found["evidence"], found["reason"], strict=True)) == texts
    assert read_items(folder)["id"].tolist() == [name for name, _, _ in texts]


@settings(max_examples=10)
@given(st.lists(st.floats(1, 5), min_size=10, max_size=40))
def test_numbers_come_back_to_the_last_bit(tmp_path_factory: pytest.TempPathFactory, scores: list[float]) -> None:
    of = rubric("a")
    folder = run(tmp_path_factory.mktemp("run"), of, columns(of, a=scores))
    assert read_items(folder)["a"].tolist() == scores
    assert read_scores(folder)["score"].tolist() == scores


def test_long_text_stays_cut(tmp_path: Path) -> None:
    of = rubric("a")
    found = read_scores(run(tmp_path, of, columns(of, a=[Scored(5, (), None, "=" + "x" * 40_000)])))
    assert found["reason"][0].startswith("=xxx")
    assert found["reason"][0].endswith("[cut: 40002 characters in all]")


def test_a_run_without_rows_is_an_empty_table(tmp_path: Path) -> None:
    of = rubric("a")
    with ReportWriters(tmp_path, Frame.of(of, plan(of))) as writers:
        writers.finish(Summariser(of, plan(of), seed=1).finish())
    assert len(read_items(tmp_path)) == 0
    assert tuple(read_scores(tmp_path).columns) == SCORE_COLUMNS


@READERS
def test_a_missing_file_is_named_with_what_to_do(
    read: Callable[[Path], pd.DataFrame], name: str, tmp_path: Path
) -> None:
    with pytest.raises(RunFolderError) as caught:
        read(tmp_path)
    assert str(caught.value.where) == str(tmp_path / name)
    assert "no such file" in caught.value.message
    assert f"anvil report {tmp_path}" in (caught.value.hint or "")


@READERS
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda _: b"id,name\na,b\n", id="another-table"),
        pytest.param(lambda whole: whole.replace(b"state", b"status", 1), id="another-column"),
        pytest.param(lambda whole: b"\xff\xfe" + whole, id="no-utf-8-in-the-header"),
        pytest.param(lambda whole: whole.replace(b"item", b"\xff", 1), id="no-utf-8-in-a-row"),
        pytest.param(lambda whole: whole.replace(b",scored,", b",great,", 1), id="unknown-state"),
        pytest.param(lambda whole: whole.replace(b",5,", b",five,", 1), id="no-number"),
        pytest.param(lambda whole: whole + b"a,b" + b",c" * 30 + b"\n", id="too-many-cells"),
    ],
)
def test_what_is_no_such_table_is_refused(
    read: Callable[[Path], pd.DataFrame], name: str, damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    of = rubric("a")
    path = run(tmp_path, of, columns(of, a=[5, 4])) / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RunFolderError) as caught:
        read(tmp_path)
    assert caught.value.where is not None
    assert caught.value.where.file == str(path)
