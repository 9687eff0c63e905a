"""Other people's files, read by `--map` alone."""

from __future__ import annotations

import json

import pytest

from agentanvil.dataset import Asked, open_dataset, parse_map
from agentanvil.errors import DatasetError
from tests.fakes.published import FOLDER, read_lines

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


def test_trajectories_are_the_same_traces_row_by_row_and_as_a_file() -> None:
    file = FOLDER / "tau_airline/trajectories.jsonl"
    mapping = parse_map(["id=task", "request=instruction", "response=messages"])
    mapped = list(open_dataset(file, mapping, Asked(traces=True)).rows())
    whole = list(open_dataset(file).rows())
    records = read_lines("tau_airline/trajectories.jsonl")
    assert len(mapped) == len(whole) == len(records) == 36
    for record, row, same in zip(records, mapped, whole, strict=True):
        called = [call["function"] for message in record["messages"] for call in message.get("tool_calls") or ()]
        assert row.trace is not None
        assert row.trace == same.trace
        assert [(call.tool, call.args) for call in row.trace.calls] == [
            (call["name"], json.loads(call["arguments"])) for call in called
        ]
        assert row.request == record["instruction"]


def test_an_empty_response_is_named() -> None:
    mapping = parse_map(["id=idx", "request=instruction", "response=response1", "labels.winner=human"])
    with pytest.raises(DatasetError, match="is empty") as caught:
        open_dataset(FOLDER / "pandalm/testset.jsonl", mapping).scan()
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.key) == (19, "response (response1)")
