"""What a calibration reads from the data file: the texts of a few rows, and the group that each row is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentanvil.aggregate import LabelDisagreement
from agentanvil.dataset import FieldPath, JsonValue, PathAbsentError, Row, canonical_text
from agentanvil.runner.run_view import RowSource, RunData


def texts_of(examples: Sequence[LabelDisagreement], data: RunData) -> tuple[LabelDisagreement, ...]:
    """Return the examples with request and responses in full, where the data file is at hand."""
    wanted = {example.index for example in examples}
    if data.rows is None or not wanted:
        return tuple(examples)
    found: dict[int, Row] = {}
    for row in data.rows():
        if row.index in wanted:
            found[row.index] = row
            if len(found) == len(wanted):
                break
    return tuple(_with_texts(example, found.get(example.index)) for example in examples)


def group_names(rows: RowSource, path: FieldPath, many: int) -> Iterator[str | None]:
    """Yield the group of each of the run's rows, None where nothing stands at the path."""
    stream = rows()
    row = next(stream, None)
    for number in range(many):
        while row is not None and row.index < number:
            row = next(stream, None)
        yield _group(row, path) if row is not None and row.index == number else None


def _group(row: Row, path: FieldPath) -> str | None:
    fields: dict[str, JsonValue] = {**row.extra, "id": row.id, "model": row.model, "meta": dict(row.meta)}
    fields["request"] = row.request
    try:
        value = path.find(fields)
    except PathAbsentError:
        return None
    if value is None:
        return None
    return value if isinstance(value, str) else canonical_text(value)


def _with_texts(example: LabelDisagreement, row: Row | None) -> LabelDisagreement:
    if row is None:
        return example
    rival = None if row.rival is None else row.rival.response
    return replace(example, request=row.request, response=row.response, response_b=rival)
