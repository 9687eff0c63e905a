"""Checks of what an agent did, and the check that is a function of one's own."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from agentanvil.rubric.wire_base import Verbatim
from agentanvil.rubric.wire_check_base import Amount, CheckBase, JsonSchema, Limit, Texts, as_list, refuse

_FUNCTION = re.compile("[A-Za-z_][A-Za-z0-9_]*:[A-Za-z_][A-Za-z0-9_]*")


def _function_name(name: str) -> str:
    if _FUNCTION.fullmatch(name) is None:
        hint = "`my_checks:names_order` is the function names_order of my_checks.py, which lies beside the rubric"
        refuse(f"`{name[:80]}` does not name a function as `module:function`", hint=hint)
    return name


class TraceCheck(CheckBase):
    """A check that reads the row's trace."""

    on: ClassVar[str] = "trace"


class MustCallCheckWire(TraceCheck):
    """Every tool of `tool` is called at least once."""

    type: Literal["must_call"]
    tool: Texts


class MustNotCallCheckWire(TraceCheck):
    """No tool of `tool` is called."""

    type: Literal["must_not_call"]
    tool: Texts


class CallOrderCheckWire(TraceCheck):
    """The tools are called in this order; others may come between unless `strict`."""

    type: Literal["call_order"]
    tools: Annotated[list[Verbatim], Field(min_length=1)]
    strict: bool = False


class MaxCallsCheckWire(TraceCheck):
    """At most `limit` calls, of `tool` or of all tools together."""

    type: Literal["max_calls"]
    limit: Limit
    tool: Annotated[list[Verbatim] | None, BeforeValidator(as_list), Field(min_length=1)] = None


class ArgumentMatchesCheckWire(TraceCheck):
    """The arguments of the calls of `tool` meet `schema`: of all of them, or of any."""

    type: Literal["argument_matches"]
    tool: Verbatim
    schema_: JsonSchema = Field(alias="schema")
    calls: Literal["all", "any"] = "all"


class NoErrorStepsCheckWire(TraceCheck):
    """No tool call failed."""

    type: Literal["no_error_steps"]


class MaxLatencyCheckWire(TraceCheck):
    """The run took at most `limit` milliseconds."""

    type: Literal["max_latency_ms"]
    limit: Amount


class MaxCostCheckWire(TraceCheck):
    """The run cost at most `limit` US dollars."""

    type: Literal["max_cost_usd"]
    limit: Amount


class MaxTokensCheckWire(TraceCheck):
    """The run took at most `limit` tokens, in and out together."""

    type: Literal["max_tokens"]
    limit: Limit


class PythonCheckWire(CheckBase):
    """`function` of a module beside the rubric decides."""

    on: ClassVar[str] = "row"

    type: Literal["python"]
    function: Annotated[str, AfterValidator(_function_name)]
