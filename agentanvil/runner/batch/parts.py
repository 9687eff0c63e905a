"""Filling a batch's file: request by request, up to what the provider and the user's limits allow."""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from agentanvil.client.batch.api import Framing, Limits
from agentanvil.errors import RunWriteError, Where
from agentanvil.runner.batch.ledger import add_to

DRAFT = ".batch.tmp"


class PartFile:
    """The file of one batch while it is filled, in the run folder; `close` removes it. `token` names the batch."""

    def __init__(self, folder: Path, framing: Framing, limits: Limits, token: str) -> None:
        self.path = folder / DRAFT
        self.token = token
        self.spans = array("q")
        self.tasks = 0
        self.ceiling: float | None = 0.0
        self._framing = framing
        self._limits = limits
        self._size = 0
        self._file: BinaryIO | None = None

    def fits(self, request: bytes) -> bool:
        """Tell whether one more request may be added. A first one always may: no part could take it better."""
        size = self._size + len(self._framing.between) + len(request) + len(self._framing.tail)
        return not self.tasks or (self.tasks < self._limits.requests and size <= self._limits.size)

    def add(self, ordinal: int, request: bytes, ceiling: float | None) -> None:
        """Add the request of a task; `ceiling` is what it can cost at most, in US dollars. Raises RunWriteError."""
        piece = (self._framing.between if self.tasks else self._framing.head) + request
        self._write(piece)
        add_to(self.spans, ordinal)
        self.tasks += 1
        self.ceiling = None if ceiling is None or self.ceiling is None else self.ceiling + ceiling

    def finish(self) -> None:
        """Write what ends the file. Raises RunWriteError."""
        self._write(self._framing.tail)
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self.path.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        try:
            if self._file is None:
                mode = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
                self._file = os.fdopen(os.open(self.path, mode, 0o600), "wb")  # rows are nobody else's business
            self._file.write(data)
        except OSError as error:
            raise RunWriteError(
                f"the requests of a batch cannot be written: {error.strerror or error}",
                where=Where(str(self.path)),
                hint="Make room for them, then run the same command again.",
            ) from error
        self._size += len(data)


@dataclass(slots=True)
class Allowance:
    """What may still be handed over: requests, and US dollars at the most that they can cost. None is no limit."""

    requests: int | None = None
    dollars: float | None = None
    refused: int = field(default=0)

    def takes(self, ceiling: float | None) -> bool:
        """Count one more request in, unless it would pass a limit: then none may pass, and all are counted."""
        too_many = self.requests is not None and self.requests < 1
        too_dear = self.dollars is not None and (ceiling is None or ceiling > self.dollars)
        if self.refused or too_many or too_dear:
            self.refused += 1
            return False
        if self.requests is not None:
            self.requests -= 1
        if self.dollars is not None and ceiling is not None:
            self.dollars -= ceiling
        return True
