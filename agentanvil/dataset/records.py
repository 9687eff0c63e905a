"""The frozen records that every reader yields, whatever the file was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agentanvil.dataset.traces.record import Trace
from agentanvil.strict_json import JsonValue

WINNER = "winner"
"""The label that says which of two responses a rater preferred: 1 for response_a, -1 for response_b, 0 for a tie."""


@dataclass(frozen=True, slots=True)
class Contender:
    """The second of two responses to one request. `trace` is there where it came as one."""

    response: str
    model: str | None = None
    trace: Trace | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One item to judge.

    `index` counts records from 0, `line` is the physical line (1-based) it starts on. `request` and
    `response` are text; chat messages were rendered, other JSON was written canonically. `source` holds the
    passages the response must rest on. `labels` holds human scores by dimension id, one per rater.
    `expected` is what no judge may see. `extra` keeps every other field, the hidden ones too under their own
    names, for checks alone. `hidden` has the names under which the record or a trace in it holds what no judge may see;
    what the trace left out is nowhere. `flags` names what the reader had to change (`surrogates_replaced`).

    `trace` is there where the response came as an agent's trace; `response` is then its final answer, or empty.
    In pairwise `response`, `model` and `trace` are response_a's, `rival` is response_b, and a label is positive
    where the rater preferred response_a; the label of the winner has the name WINNER.
    """

    index: int
    line: int
    id: str
    request: str
    response: str
    source: tuple[str, ...] = ()
    model: str | None = None
    labels: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    meta: Mapping[str, JsonValue] = field(default_factory=dict)
    expected: JsonValue = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    trace: Trace | None = None
    rival: Contender | None = None


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """What one full validating pass found. `hash` covers the bytes read and the field mapping.

    `candidates` counts rows by the models that wrote their responses (one name, or two in pairwise; None: not named),
    `candidates_beyond` those of models that were too many to be told apart.
    `unread` counts the records of a trace file that hold no trace; `unread_examples` says of some what is wrong.
    """

    name: str
    rows: int
    hash: str
    blank_lines: int = 0
    labelled: Mapping[str, int] = field(default_factory=dict)
    hidden_fields: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    candidates: Mapping[tuple[str | None, ...], int] = field(default_factory=dict)
    candidates_beyond: int = 0
    flagged: Mapping[str, int] = field(default_factory=dict)
    unread: int = 0
    unread_examples: tuple[str, ...] = ()


class Dataset(Protocol):
    """A file that can be read more than once, always in the same order, never held in memory."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> str: ...

    def scan(self) -> DatasetInfo:
        """Validate every row and the uniqueness of ids. Raises DatasetError naming file, line and field."""
        ...

    def rows(self) -> Iterator[Row]: ...
