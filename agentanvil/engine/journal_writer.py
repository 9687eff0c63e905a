"""The journal written: one line per finished task, appended at once, repaired at its tail.

A line is on its way to the disk before its task counts as done, so a killed process loses only what was in flight.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from agentanvil.engine.codec import encode
from agentanvil.errors import RunWriteError, Where
from agentanvil.verdict import Outcome

FORMAT = 1


class JournalWriter:
    """Appends outcomes to a journal whose first line names the run it belongs to."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        """Open for appending and cut a half-written last line. Whose journal it is, `read_index` has checked.

        Raises RunWriteError.
        """
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise self._refused(error) from error
        try:
            if _cut_tail(self._file) == 0:
                self._write({"journal": FORMAT, "run": fingerprint})
        except BaseException:
            os.close(self._file)
            raise

    def append(self, outcome: Outcome) -> None:
        """Hand one line to the operating system before returning. Raises RunWriteError where the disk refuses it."""
        self._write(encode(outcome))

    def _write(self, line: dict[str, object]) -> None:
        data = memoryview(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            # The next outcome must not be glued to half a line; making a file shorter needs no room.
            with suppress(OSError):
                _cut_tail(self._file)
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> RunWriteError:
        return RunWriteError(
            f"the journal cannot be written: {error.strerror or error}",
            where=Where(str(self.path)),
            hint="Mend this, then run the same command again: it goes on where it stopped.",
        )

    def close(self) -> None:
        """Flush to the disk and close. Raises RunWriteError."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._refused(error) from error
        finally:
            os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _cut_tail(file: int) -> int:
    """Drop what follows the last line feed and return the size that is left, positioned at its end."""
    size = os.lseek(file, 0, os.SEEK_END)
    end = size
    block = 1 << 16
    while end > 0:
        start = max(0, end - block)
        os.lseek(file, start, os.SEEK_SET)
        at = os.read(file, end - start).rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)
    return os.lseek(file, end, os.SEEK_SET)
