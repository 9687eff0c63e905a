"""Other people's files, read by `--map` alone."""

from __future__ import annotations

import pytest

from agentanvil.dataset import Asked, open_dataset, parse_map
from agentanvil.errors import DatasetError
from tests.fakes.published import FOLDER

pytestmark = pytest.mark.published


@pytest.mark.parametrize(
    ("file", "maps", "rows"),
    [
        ("llmbar/items.jsonl", "request=input response=output_1", 419),
        ("unieval_topicalchat/texts.jsonl", "id=n request=source response=output source=context", 360),
    ],
)
def test_published_files_are_read(file: str, maps: str, rows: int) -> None:
    dataset = open_dataset(FOLDER / file, parse_map(maps.split()), Asked(needs_source="source=" in maps))
    info = dataset.scan()
    assert info.rows == rows
    assert all(row.request and row.response for row in dataset.rows())


def test_a_reference_answer_stays_hidden() -> None:
    file = FOLDER / "mtbench_reference/questions_with_reference.jsonl"
    dataset = open_dataset(
        file, parse_map(["id=question_id", "request=turns", "response=turns.-1"]), Asked(needs_source=False)
    )
    assert dataset.scan().hidden_fields == ("reference",)
    row = next(dataset.rows())
    assert isinstance(row.expected, list)
    assert str(row.expected[0]) not in row.request + row.response


def test_a_trajectory_is_readable() -> None:
    file = FOLDER / "tau_airline/trajectories.jsonl"
    mapping = parse_map(["id=task", "request=instruction", "response=messages"])
    response = next(open_dataset(file, mapping).rows()).response
    assert response.startswith("[system]\n")
    assert "tool call call_" in response
    assert "\n[tool " in response


def test_an_empty_response_is_named() -> None:
    mapping = parse_map(["id=idx", "request=instruction", "response=response1", "labels.winner=human"])
    with pytest.raises(DatasetError, match="is empty") as caught:
        open_dataset(FOLDER / "pandalm/testset.jsonl", mapping).scan()
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.key) == (19, "response (response1)")
