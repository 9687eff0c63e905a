"""Checks of how an agent's run went: failed calls, time, money and tokens, as far as the trace records them."""

from __future__ import annotations

import math

from agentanvil.checks.calls import numbered_calls
from agentanvil.checks.finding import (
    CheckFaultError,
    Finding,
    ParameterError,
    Parameters,
    TraceCheck,
    excerpt,
    whole_limit,
)
from agentanvil.dataset import Trace

NOT_RECORDED = "not_recorded"
# Seconds times a thousand, and sums of prices, are off in the last digits: 2.007 s would be more than 2007 ms.
_DIGITS = 9


def no_error_steps(_params: Parameters) -> TraceCheck:
    """Passes where no tool call is recorded as failed; the reason says how many calls tell neither way."""

    def check(trace: Trace) -> Finding:
        calls = list(numbered_calls(trace))
        failed = [(number, call.tool) for number, call in calls if call.error]
        unknown = sum(1 for _, call in calls if call.error is None)
        aside = f"; {unknown} of {len(calls)} calls do not tell" if unknown else ""
        if not failed:
            return Finding(True, f"none of {len(calls)} calls is recorded as failed{aside}")
        number, tool = failed[0]
        more = f" and {len(failed) - 1} more calls" if len(failed) > 1 else ""
        return Finding(False, f"step {number} ({excerpt(tool)}){more} failed{aside}")

    return check


def max_latency_ms(params: Parameters) -> TraceCheck:
    """Passes up to `limit` milliseconds for the whole run."""
    limit = _amount(params)

    def check(trace: Trace) -> Finding:
        taken = round(_recorded(trace.latency_s, "latency") * 1000, _DIGITS)
        return Finding(taken <= limit, f"{_shown(taken)} ms, the limit is {_shown(limit)}")

    return check


def max_cost_usd(params: Parameters) -> TraceCheck:
    """Passes up to `limit` US dollars for the whole run."""
    limit = _amount(params)

    def check(trace: Trace) -> Finding:
        spent = round(_recorded(trace.cost_usd, "cost"), _DIGITS)
        return Finding(spent <= limit, f"{_shown(spent)} US dollars, the limit is {_shown(limit)}")

    return check


def max_tokens(params: Parameters) -> TraceCheck:
    """Passes up to `limit` tokens, in and out together. One of the two suffices to fail, not to pass."""
    limit = whole_limit(params)

    def check(trace: Trace) -> Finding:
        known = [count for count in (trace.tokens_in, trace.tokens_out) if count is not None]
        total = sum(known)
        if len(known) < 2 and total <= limit:
            raise CheckFaultError(NOT_RECORDED, "the trace does not record its tokens, in and out")
        return Finding(total <= limit, f"{total} tokens, the limit is {limit}")

    return check


def _recorded(value: float | None, what: str) -> float:
    if value is None:
        raise CheckFaultError(NOT_RECORDED, f"the trace does not record its {what}")
    return value


def _shown(amount: float) -> str:
    return f"{amount:.{_DIGITS}f}".rstrip("0").rstrip(".")


def _amount(params: Parameters) -> float:
    limit = params.get("limit")
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not (math.isfinite(limit) and limit >= 0):
        raise ParameterError("limit", "must be a number, 0 or more")
    return float(limit)
