from __future__ import annotations

import io

import pytest

from agentanvil.dataset.lines import Tally, read_lines
from agentanvil.errors import DatasetError


class BrokenStream(io.BytesIO):
    def readline(self, size: int | None = -1, /) -> bytes:
        if self.tell() > 0:
            raise OSError(5, "Input/output error")
        return super().readline(size)


def lines(content: bytes, size: int | None = None, longest: int = 100) -> list[tuple[int, str]]:
    stream = io.BytesIO(content)
    return list(read_lines(stream, len(content) if size is None else size, "f", Tally(), longest=longest))


def test_lines_keep_their_ends() -> None:
    assert lines(b"a\r\n\nb\rc\n d") == [(1, "a\r\n"), (2, "\n"), (3, "b\rc\n"), (4, " d")]
    assert lines(b"") == []


def test_only_the_first_bytes_are_read() -> None:
    assert lines(b"one\ntwo\nthree\n", size=8) == [(1, "one\n"), (2, "two\n")]


def test_every_byte_is_seen() -> None:
    seen: list[bytes] = []
    content = b"\xef\xbb\xbfa\r\n\nb"
    first, *_ = read_lines(io.BytesIO(content), len(content), "f", Tally(seen.append))
    assert first == (1, "a\r\n")
    assert b"".join(seen) == content


def test_a_line_may_fill_the_limit_but_not_pass_it() -> None:
    assert lines(b"a" * 99 + b"\n" + b"b\n") == [(1, "a" * 99 + "\n"), (2, "b\n")]
    with pytest.raises(DatasetError, match="longer than") as caught:
        lines(b"b\n" + b"a" * 101)
    assert caught.value.where is not None
    assert caught.value.where.line == 2


def test_a_file_that_ends_early_is_refused() -> None:
    with pytest.raises(DatasetError, match="became shorter"):
        lines(b"one\n", size=8)


def test_a_disk_that_fails_is_told() -> None:
    with pytest.raises(DatasetError, match="Input/output error") as caught:
        list(read_lines(BrokenStream(b"one\ntwo\n"), 8, "f", Tally()))
    assert caught.value.where is not None
    assert caught.value.where.line == 2
