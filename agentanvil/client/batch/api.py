"""The seam to providers' batch APIs: a part of a run's requests goes in as one batch, its results come out as lines."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from agentanvil.client.adapter import WireReply

Phase = Literal["running", "ended", "failed"]
"""`ended`: there are results, maybe of some of its requests only. `failed`: none of them was ever asked."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one batch may hold: requests, and bytes of everything that is sent."""

    requests: int
    size: int


@dataclass(frozen=True, slots=True)
class Framing:
    """What stands before, between and after the requests of a batch's file."""

    head: bytes = b""
    between: bytes = b"\n"
    tail: bytes = b"\n"


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells one batch from all others, should its id be lost: it is sent along, or asked for afterwards.

    `token` is unique to the batch and begins each custom id in it; `since` is the Unix time before it was created.
    """

    run: str
    token: str
    requests: int
    since: float


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a batch failed as a whole; `line` is the 1-based line of its file, where it is about one."""

    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch is. `word` is the provider's own; `created` is Unix time.

    `total` requests are 0 as long as the provider has not counted them. `results` names where they are: files, or
    whatever the API needs to give them out.
    """

    id: str
    phase: Phase
    word: str
    total: int = 0
    succeeded: int = 0
    failed: int = 0
    created: float | None = None
    problems: tuple[Problem, ...] = ()
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultLine:
    """One line of a batch's results. `reply` is what a live call would have come back with.

    It is None for a request that was never asked, because the batch was cancelled or ran out of time.
    """

    custom_id: str
    reply: WireReply | None


@dataclass(frozen=True, slots=True)
class Recovery:
    """What became of a batch whose creation nobody heard the end of.

    `unsure`: one that may be it cannot be told from others yet.
    """

    found: BatchState | None = None
    unsure: bool = False


class BatchApi(Protocol):
    """One provider's batches. Everything that is sent raises CallError, its messages free of secrets."""

    @property
    def limits(self) -> Limits: ...

    @property
    def framing(self) -> Framing: ...

    @property
    def uploads(self) -> bool:
        """Whether a batch is made of a file that has to be uploaded before, so that without it there is none."""
        ...

    def request(self, custom_id: str, body: bytes) -> bytes:
        """Return one request as it stands in a batch's file; `body` is what a live call would send."""
        ...

    async def create(self, file: Path, mark: Mark, uploaded: Callable[[str], None]) -> BatchState:
        """Hand over a file of requests. `uploaded` is told what the file is called there, if it has a name.

        Not repeated where the answer is lost, since it may have been heard: ask `recover` then.
        """
        ...

    async def state(self, batch_id: str) -> BatchState: ...

    async def cancel(self, batch_id: str) -> BatchState: ...

    async def recover(self, mark: Mark, known: frozenset[str]) -> Recovery:
        """Look for a batch by its mark; `known` ids belong to other ones."""
        ...

    def results(self, state: BatchState) -> AsyncGenerator[ResultLine | None, None]:
        """Yield the lines of a batch that has ended, in any order; None for one that cannot be read."""
        ...

    async def close(self) -> None: ...
