"""The shipped pairs and gate rows keep their promises: labels on the anchors, balance, reasons beside them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from agentanvil.checks import CheckRunner
from agentanvil.dataset import WINNER, Asked, Row, open_dataset
from agentanvil.plan import Plan, plan_calls
from agentanvil.rubric import Rubric, load_rubric
from agentanvil.verdict import Scored
from tests.fakes.readme_tables import reasons_by_id

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "datasets" / "pairwise_demo.jsonl"
GATE = ROOT / "datasets" / "gate_demo.jsonl"
NAMES = {1: "a", -1: "b", 0: "tie"}


def rubric_of(name: str) -> Rubric:
    return load_rubric(ROOT / "rubrics" / f"{name}.yaml")


def pairs() -> list[Row]:
    return list(open_dataset(PAIRS, asked=Asked(pairs=True)).rows())


def gate_rows() -> list[Row]:
    return list(open_dataset(GATE, asked=Asked(booleans=True)).rows())


def written(file: Path) -> list[dict[str, Any]]:
    """Return the rows as they stand in the file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def label(row: Row, name: str) -> float:
    (given,) = row.labels[name]
    return given


def rival(row: Row) -> str:
    assert row.rival is not None
    return row.rival.response


def systems(row: Row) -> tuple[str, str]:
    assert row.rival is not None
    assert row.model is not None
    assert row.rival.model is not None
    return row.model, row.rival.model


def deltas(row: Row) -> dict[str, float]:
    return {dimension.id: label(row, dimension.id) for dimension in rubric_of("pairwise").judged}


def test_each_of_the_twelve_pairs_has_a_winner_and_a_delta_for_each_dimension() -> None:
    steps = rubric_of("pairwise").scale.max - rubric_of("pairwise").scale.min

    assert len({row.id for row in pairs()}) == 12
    for row in pairs():
        assert row.labels.keys() == {WINNER, *deltas(row)}, row.id
        assert all(delta == int(delta) and abs(delta) <= steps for delta in deltas(row).values()), row.id


def test_the_winner_of_a_pair_follows_from_its_deltas_by_the_rule_of_the_minimum() -> None:
    for row in pairs():
        overall = (min(deltas(row).values()) + max(deltas(row).values())) / 2
        assert label(row, WINNER) == (overall > 0) - (overall < 0), row.id


def test_neither_place_nor_length_tells_the_winner() -> None:
    won = Counter(NAMES[int(label(row, WINNER))] for row in pairs())
    longer_won = Counter(
        (len(row.response) > len(rival(row))) == (label(row, WINNER) > 0) for row in pairs() if label(row, WINNER)
    )

    assert won == {"a": 5, "b": 5, "tie": 2}
    assert longer_won == {True: 5, False: 5}


def test_three_systems_meet_each_other_equally_often_and_none_wins_or_loses_everything() -> None:
    met = Counter(frozenset(systems(row)) for row in pairs())
    first = Counter(systems(row)[0] for row in pairs())
    won: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for row in pairs():
        if label(row, WINNER):
            better, worse = systems(row) if label(row, WINNER) > 0 else systems(row)[::-1]
            won[better] += 1
            lost[worse] += 1

    assert list(met.values()) == [4, 4, 4]
    assert set(first.values()) == {4}
    assert won.keys() == lost.keys() == first.keys()
    assert len(set(won.values())) == 3, "the three cannot be told apart"


def test_every_dimension_of_the_pairs_decides_for_both_sides() -> None:
    for dimension in rubric_of("pairwise").judged:
        signs = {label(row, dimension.id) > 0 for row in pairs() if label(row, dimension.id)}
        assert signs == {True, False}, dimension.id


def test_the_readme_gives_the_winner_the_deltas_and_a_reason_for_each() -> None:
    table = reasons_by_id(PAIRS.name)

    assert list(table) == [row.id for row in pairs()]
    for row in pairs():
        line = table[row.id]
        assert line["winner"] == NAMES[int(label(row, WINNER))], row.id
        assert {name: int(line[name].replace("−", "-")) for name in deltas(row)} == deltas(row), row.id
        assert line["language"] == row.meta["language"], row.id
        explained = {name for name in deltas(row) if f"**{name}**" in line["why"]}
        assert explained == {name for name, delta in deltas(row).items() if delta}, row.id


def test_the_texts_of_the_pairs_are_short_enough_for_a_small_judge() -> None:
    for row in pairs():
        assert all(25 <= len(text.split()) <= 60 for text in (row.response, rival(row))), row.id
        assert len(row.request.split()) <= 45, row.id


def test_the_two_files_hide_nothing_from_the_judge_and_are_not_in_english_alone() -> None:
    for file, asked, languages in (
        (PAIRS, Asked(pairs=True), {"en", "de", "fr"}),
        (GATE, Asked(booleans=True), {"en", "de"}),
    ):
        dataset = open_dataset(file, asked=asked)
        assert (dataset.scan().hidden_fields, dataset.scan().flagged) == ((), {})
        assert {row.meta["language"] for row in dataset.rows()} == languages


def test_each_gate_row_has_a_boolean_for_each_judged_dimension_and_none_for_the_check() -> None:
    judged = [dimension.id for dimension in rubric_of("gate").judged]

    assert len({row.id for row in gate_rows()}) == 10
    for row in written(GATE):
        assert list(row["labels"]) == judged, row["id"]
        assert all(type(value) is bool for value in row["labels"].values()), row["id"]


def test_every_judged_dimension_of_the_gate_fails_twice_and_three_rows_pass() -> None:
    checked = placeholders_kept_out()
    passed = [row.id for row in gate_rows() if checked[row.id] and all(given[0] for given in row.labels.values())]

    for dimension in rubric_of("gate").judged:
        assert sum(not label(row, dimension.id) for row in gate_rows()) == 2, dimension.id
    assert len(passed) == 3


def test_the_check_of_the_gate_stops_one_row_that_no_judge_would() -> None:
    stopped = [name for name, kept_out in placeholders_kept_out().items() if not kept_out]

    assert stopped == ["order-mail"]
    assert all(given[0] for row in gate_rows() if row.id in stopped for given in row.labels.values())


def test_the_readme_gives_the_gate_s_verdicts_and_a_reason_for_each_failure() -> None:
    table, checked = reasons_by_id(GATE.name), placeholders_kept_out()

    assert list(table) == [row.id for row in gate_rows()]
    for row in gate_rows():
        line = table[row.id]
        verdicts = {name: bool(given[0]) for name, given in row.labels.items()} | {"no_placeholder": checked[row.id]}
        assert {name: line[name] for name in verdicts} == {n: "pass" if v else "fail" for n, v in verdicts.items()}
        assert line["overall"] == ("pass" if all(verdicts.values()) else "fail"), row.id
        explained = {name for name in verdicts if f"**{name}**" in line["why"]}
        assert explained == {name for name, verdict in verdicts.items() if not verdict}, row.id


def placeholders_kept_out() -> dict[str, bool]:
    """Return for each gate row whether the rubric's own check passes."""
    rubric = rubric_of("gate")
    calls = tuple(call for call in plan_calls(rubric) if not call.judged)
    runner = CheckRunner(rubric)
    outcomes = [runner.run(task) for task in Plan(calls, repeats=1, judge="code").tasks(gate_rows())]
    cells = {outcome.item_id: outcome.cells["no_placeholder"] for outcome in outcomes}
    return {name: isinstance(cell, Scored) and cell.score == 1 for name, cell in cells.items()}
