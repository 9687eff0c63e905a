"""Bytes → physical lines of UTF-8 text, one at a time, each fault named with line and byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from agentanvil.errors import DatasetError, Where
from agentanvil.strict_json import JsonValue

# A line without an end must not fill the memory: 256 MiB is far above any row that a judge could read.
MAX_LINE = 1 << 28

_UTF8_BOM = b"\xef\xbb\xbf"
_FOREIGN_STARTS = (
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 IN > OUT"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 IN > OUT"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: gunzip -k FILE"),
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "export it as CSV or JSONL"),
    (b"PAR1", "Parquet", "export it as JSONL"),
)


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it stands in the file: the line that it starts on, its fields, what had to change."""

    line: int
    fields: dict[str, JsonValue]
    flags: tuple[str, ...] = ()


class Tally:
    """What one pass over the file counts beside the rows."""

    def __init__(self, see: Callable[[bytes], object] | None = None) -> None:
        self.blank_lines = 0
        self.see = see


def read_lines(
    stream: BinaryIO, size: int, file: str, tally: Tally, *, longest: int = MAX_LINE
) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, text with its line end), split on LF only, over the first `size` bytes.

    One byte order mark at the very start is dropped. `tally.see` gets every byte. Raises DatasetError on a
    byte that is not UTF-8, a NUL byte, a line above `longest` bytes, and where the file ends before `size`.
    """
    number, start = 0, 0
    while start < size:
        number += 1
        try:
            raw = stream.readline(min(longest, size - start))
        except OSError as error:
            raise DatasetError(f"cannot be read: {error.strerror}", where=Where(file, number)) from error
        if not raw:
            raise DatasetError(
                "the file became shorter while it was read",
                where=Where(file, number),
                hint="let nothing write to it during a run",
            )
        if len(raw) == longest and not raw.endswith(b"\n"):
            raise DatasetError(f"the line is longer than {longest:,} bytes", where=Where(file, number))
        if tally.see is not None:
            tally.see(raw)
        yield number, _decode(raw, number, start, file)
        start += len(raw)


def _decode(raw: bytes, number: int, start: int, file: str) -> str:
    if number == 1:
        _refuse_foreign(raw, file)
        if raw.startswith(_UTF8_BOM):
            raw, start = raw[3:], 3
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"byte 0x{raw[error.start]:02x} at offset {error.start} of the line "
            f"({start + error.start} of the file) is not UTF-8",
            where=Where(file, number),
            hint="save the file as UTF-8",
        ) from None
    if "\0" in text:
        raise DatasetError(
            f"NUL byte at offset {raw.index(0)} of the line",
            where=Where(file, number),
            hint="if the file is UTF-16, save it as UTF-8; a NUL inside a text is written \\u0000",
        )
    return text


def _refuse_foreign(raw: bytes, file: str) -> None:
    for magic, what, hint in _FOREIGN_STARTS:
        if raw.startswith(magic):
            raise DatasetError(f"the file is {what}", where=Where(file), hint=hint)
