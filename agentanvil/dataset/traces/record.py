"""What an agent did, in the order in which it did it. None always means: not recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from agentanvil.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One tool call with its result.

    `args` is None where the call's arguments are broken; `args_raw` then holds them as written. `error` tells
    whether the call failed, None where the format cannot say. `missing_result`: no result was recorded for a call
    that should have one. `hosted`: the provider ran the tool itself. `agent` names a nested agent that made the call.
    """

    kind: ClassVar[Literal["tool"]] = "tool"
    tool: str
    call_id: str | None = None
    args: JsonValue = None
    result: JsonValue = None
    error: bool | None = None
    args_raw: str | None = None
    missing_result: bool = False
    hosted: bool = False
    agent: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class TurnStep:
    """Something said between the calls: by the agent, by the user, or by the agent to itself."""

    kind: Literal["assistant", "user", "thought"]
    text: str


Step = ToolStep | TurnStep


@dataclass(frozen=True, slots=True)
class Trace:
    """One run of an agent.

    `request` is the first thing the user said, `final_answer` the last thing the agent said with no call after it.
    `tokens_in` includes cached tokens; tokens and `cost_usd` (US dollars) sum over the model calls. `latency_s` is
    seconds. `error` is what ended the run early. `warnings` are sorted codes of what the reader met, such as
    `missing_result`. Scores, rewards and expected actions of the file are not here: no judge may see them.
    """

    id: str | None = None
    request: str | None = None
    plan: str | None = None
    steps: tuple[Step, ...] = ()
    final_answer: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[ToolStep, ...]:
        """The tool calls in order."""
        return tuple(step for step in self.steps if isinstance(step, ToolStep))
