from __future__ import annotations

import json
from pathlib import Path

from agentanvil.dataset import Contender, Row, open_dataset
from agentanvil.dataset.asked import Asked
from agentanvil.dataset.candidates import MAX_CANDIDATES, MAX_MODELS, Candidates
from agentanvil.dataset.joined import JoinedDataset


def row(n: int, model: str | None, rival: str | None = None, *, pair: bool = False) -> Row:
    other = Contender("b", rival) if pair else None
    return Row(n, n + 1, f"r{n}", "q", "a", model=model, rival=other)


def counted(*rows: Row) -> Candidates:
    candidates = Candidates()
    for each in rows:
        candidates.add(each)
    return candidates


def test_rows_are_counted_by_the_models_that_wrote_them() -> None:
    found = counted(row(0, "m"), row(1, "n"), row(2, "m"), row(3, None))
    assert found.rows == {("m",): 2, ("n",): 1}
    assert (found.models, found.beyond) == (("m", "n"), 0)


def test_a_pair_counts_with_both_and_which_is_which() -> None:
    pairs = [("m", "n"), ("n", "m"), ("m", "n"), ("m", None), (None, "n"), (None, None)]
    found = counted(*(row(n, a, b, pair=True) for n, (a, b) in enumerate(pairs)))
    assert found.rows == {("m", "n"): 2, ("n", "m"): 1, ("m", None): 1, (None, "n"): 1}
    assert found.models == ("m", "n")


def test_a_field_that_is_no_model_does_not_fill_the_memory() -> None:
    found = counted(*(row(n, f"m{n}") for n in range(MAX_CANDIDATES + 7)), row(0, "m0"))
    assert (len(found.rows), found.beyond, found.rows["m0",]) == (MAX_CANDIDATES, 7, 2)
    assert len(found.models) == MAX_MODELS


def write(path: Path, *rows: dict[str, str]) -> Path:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in rows), encoding="utf-8")
    return path


def test_a_scan_tells_them_for_rows_pairs_and_joined_files(tmp_path: Path) -> None:
    single = {"id": "a", "request": "q", "response": "r"}
    first = write(tmp_path / "one.jsonl", {**single, "model": "m"}, {**single, "id": "b"})
    second = write(tmp_path / "two.jsonl", {**single, "model": "n"}, {**single, "id": "b", "model": "n"})
    pair = {"id": "a", "request": "q", "response_a": "x", "response_b": "y", "model_b": "n"}
    pairs = open_dataset(write(tmp_path / "pairs.jsonl", pair), asked=Asked(pairs=True))
    assert open_dataset(first).scan().candidates == {("m",): 1}
    assert pairs.scan().candidates == {(None, "n"): 1}
    joined = JoinedDataset(open_dataset(first), [open_dataset(second)]).scan()
    assert joined.candidates == {("m", "n"): 1, ("one", "n"): 1}
