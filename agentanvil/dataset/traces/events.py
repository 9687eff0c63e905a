"""What a log tells, in one vocabulary for every format: said, thought, called, answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agentanvil.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class Said:
    """Visible text of one side. The answer of an agent may be empty, since a run may end on an empty message."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning that the log shows."""

    text: str


@dataclass(slots=True, eq=False)
class Called:
    """A tool call; its result is filled in when it is met. `error` is None while nobody knows."""

    tool: str
    call_id: str | None = None
    args: JsonValue = None
    args_raw: str | None = None
    result: JsonValue = None
    error: bool | None = None
    answered: bool = False
    hosted: bool = False
    agent: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool's result, for the call with this id, or else for the oldest open call of this tool."""

    call_id: str | None
    result: JsonValue
    error: bool | None = None
    tool: str | None = None


Event = Said | Thought | Called | Answered


@dataclass(slots=True)
class Facts:
    """What a log says about the run as a whole. `speaks`: the format records what the agent says at all."""

    id: str | None = None
    plan: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    error: str | None = None
    speaks: bool = True
    warnings: set[str] = field(default_factory=set)
