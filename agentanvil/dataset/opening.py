"""Where rows come from: a path whose ending names the format, or standard input."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from agentanvil.dataset.asked import Asked
from agentanvil.dataset.fieldmap import FieldMap
from agentanvil.dataset.files import FileDataset, is_regular
from agentanvil.dataset.records import Dataset
from agentanvil.dataset.rows import RowShape
from agentanvil.dataset.tracefile import TraceDataset
from agentanvil.dataset.traces import is_trace_file
from agentanvil.errors import DatasetError, Where
from agentanvil.hashing import well_formed

STDIN_NAME = "stdin"

# A `.json` file is often JSON lines; an array in it is refused with the way to mend it.
KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv"}


def open_dataset(
    path: str | Path, mapping: FieldMap | None = None, asked: Asked | None = None, *, stdin: bool = False
) -> Dataset:
    """Return the rows of `path`, not read yet: rows of our own, or a whole file of agent traces.

    A `mapping` says how rows are made, so that a file read by one is never taken for traces as a whole.
    `stdin` says that the file is standard input as `spool_stdin` kept it: it is shown as `stdin`, and its
    path is `-`. Raises DatasetError where there is no such file, where it cannot be read twice (a pipe, a
    device, a folder), and where its ending names no format.
    """
    path = Path(path)
    shown = STDIN_NAME if stdin else well_formed(str(path))
    _check_file(path, shown)
    asked = asked or Asked()
    name = STDIN_NAME if stdin else well_formed(path.stem)
    place = "-" if stdin else shown
    if not mapping and is_trace_file(path):
        return TraceDataset(path, asked, name=name, path=place)
    kind = KINDS.get(path.suffix.casefold())
    if kind is None:
        raise DatasetError(
            f"the ending {path.suffix!r} names no format" if path.suffix else "the name has no ending",
            where=Where(shown),
            hint=f"the formats are {', '.join(KINDS)}; `-` reads JSON lines from standard input",
        )
    shape = RowShape(
        mapping or FieldMap(),
        asked.needs_source,
        kind == "csv",
        pairs=asked.pairs,
        booleans=asked.booleans,
        chats_are_traces=asked.traces,
    )
    return FileDataset(path, kind, shape, name=name, path=place)


@contextmanager
def spool_stdin(stream: BinaryIO) -> Iterator[Path]:
    """Keep a stream of JSON lines in a private temporary file, since rows are read more than once.

    Yields its path for `open_dataset(path, …, stdin=True)`; the file is gone afterwards. Raises
    DatasetError where the stream or the disk fails.
    """
    with TemporaryDirectory(prefix="anvil-") as folder:
        path = Path(folder, f"{STDIN_NAME}.jsonl")
        try:
            with path.open("wb") as kept:
                shutil.copyfileobj(stream, kept, 1 << 20)
        except OSError as error:
            raise DatasetError(f"cannot be kept: {error.strerror}", where=Where(STDIN_NAME)) from error
        yield path


def _check_file(path: Path, shown: str) -> None:
    try:
        regular = is_regular(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DatasetError(
            f"cannot be opened: {reason}", where=Where(shown), hint="give a file, or `-` for standard input"
        ) from None
    if not regular:
        raise DatasetError(
            "is a folder" if path.is_dir() else "is no regular file, and rows are read more than once",
            where=Where(shown),
            hint="give a file; rows from a pipe are read with `-`",
        )
