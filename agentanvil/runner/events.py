"""What a run tells while it is under way. The cli turns it into bars and lines; a test can collect it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class RunStart:
    """Said before the first call, and again before the first that is escalated, or `repeated` where repeats disagree.

    It tells what is about to be asked, and whom.

    `unread` records of a trace file hold no trace; `unread_examples` says of some what is wrong. `kinship` tells of
    judges that are of one family with those whose responses they judge.
    """

    judge: str
    folder: str
    rows: int
    tasks: int
    resumed: int
    hidden_fields: tuple[str, ...] = ()
    unread: int = 0
    unread_examples: tuple[str, ...] = ()
    escalated: bool = False
    repeated: bool = False
    kinship: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """Running counts of this session; the listener may read it at any time.

    `done` and `errors` count tasks, `calls` wire attempts, `cached` replies that cost nothing and spared
    `saved_tokens` (in and out). The other tokens are of the calls that stated them; `cost` is in US dollars,
    None as long as no call had a known price, and `unpriced` counts the replies that it lacks.
    """

    done: int = 0
    errors: int = 0
    calls: int = 0
    cached: int = 0
    saved_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    unpriced: int = 0


class Listener(Protocol):
    """Receives progress. Nothing it does can change the run."""

    def started(self, start: RunStart) -> None: ...

    def advanced(self, tally: Tally) -> None: ...

    def step(self, name: str, done: float, total: float | None) -> None:
        """Report a preparation with a known unit: `model` in bytes, `server` in seconds, `data` in rows."""

    def notice(self, text: str) -> None:
        """Report something a person should know; shown as one line."""

    def failed(self, text: str) -> None:
        """Report one failure of the gate: item, dimension and evidence, as one line."""

    def finished(self) -> None: ...


class Silent:
    """A listener that listens to nothing."""

    def started(self, start: RunStart) -> None:
        """Ignore it."""

    def advanced(self, tally: Tally) -> None:
        """Ignore it."""

    def step(self, name: str, done: float, total: float | None) -> None:
        """Ignore it."""

    def notice(self, text: str) -> None:
        """Ignore it."""

    def failed(self, text: str) -> None:
        """Ignore it."""

    def finished(self) -> None:
        """Ignore it."""
