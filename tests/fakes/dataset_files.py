"""Write a data file and read it as a run does: the validating pass, then the lazy one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentanvil.dataset import Asked, Row, open_dataset, parse_map
from agentanvil.errors import DatasetError


def row_line(**fields: object) -> str:
    """A row as a line of JSONL, without its end; `fields` change or add to the three that a row needs."""
    return json.dumps({"id": "a", "request": "q", "response": "hi"} | fields)


def read_rows(file: Path, content: str | bytes, *maps: str, needs_source: bool = False) -> list[Row]:
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    dataset = open_dataset(file, parse_map(maps), Asked(needs_source=needs_source))
    info = dataset.scan()
    rows = list(dataset.rows())
    assert info.rows == len(rows)
    return rows


def refused(file: Path, content: str | bytes, *maps: str, needs_source: bool = False) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        read_rows(file, content, *maps, needs_source=needs_source)
    assert caught.value.where is not None
    assert caught.value.where.file == str(file)
    return caught.value
