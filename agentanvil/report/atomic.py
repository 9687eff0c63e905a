"""A report appears whole or not at all: it is written beside its place and moved there at the end."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


class AtomicText:
    """A UTF-8 text file under a temporary name until `commit`. Line ends are written as given."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.tmp")
        # Readers replace lone surrogates on the way in; a report must not fail over one that slipped through.
        self._file = self._draft.open("w", encoding="utf-8", newline="", errors="replace")

    def write(self, text: str) -> None:
        """Append text."""
        self._file.write(text)

    def rewrite_start(self, text: str) -> None:
        """Replace the first bytes by `text`, which must be as long as what stood there."""
        self._file.seek(0)
        self._file.write(text)

    def close(self) -> None:
        """Finish the draft, so that `commit` only has to move it."""
        self._file.close()

    def commit(self) -> None:
        """Put the file in its place, over an older one."""
        self.close()
        self._draft.replace(self._path)

    def discard(self) -> None:
        """Drop the draft; an older file stays as it was. Does nothing after `commit`."""
        with suppress(OSError):  # a full disk refuses what is still in the buffer: nobody wants it any more
            self._file.close()
        self._draft.unlink(missing_ok=True)
