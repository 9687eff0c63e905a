"""Every type of check that a rubric may name, and how it is prepared once per rubric."""

from __future__ import annotations

from collections.abc import Callable

from agentanvil.checks.arguments import argument_matches
from agentanvil.checks.calls import call_order, max_calls, must_call, must_not_call
from agentanvil.checks.fields import parse_field, read_field
from agentanvil.checks.finding import (
    Check,
    CheckFaultError,
    Finding,
    Parameters,
    ResponseLacksError,
    TextCheck,
    TraceCheck,
)
from agentanvil.checks.languages import is_in_language
from agentanvil.checks.limits import max_cost_usd, max_latency_ms, max_tokens, no_error_steps
from agentanvil.checks.numbers import numeric_range
from agentanvil.checks.own_code import OwnCode
from agentanvil.checks.patterns import matches
from agentanvil.checks.schemas import meets_schema
from agentanvil.checks.texts import contains, equals_field, max_chars, max_words, not_contains
from agentanvil.dataset import Row
from agentanvil.rubric import CheckSpec

NOT_A_TRACE = "not_a_trace"

Prepare = Callable[[CheckSpec, OwnCode], Check]
"""Prepares a check. Raises ParameterError."""


def _on_text(compile_check: Callable[[Parameters], TextCheck]) -> Prepare:
    def prepare(spec: CheckSpec, _code: OwnCode) -> Check:
        path, look = parse_field(spec.on, "on"), compile_check(spec.params)

        def check(row: Row) -> Finding:
            try:
                return look(read_field(row, path), row)
            except ResponseLacksError as lack:
                return Finding(False, lack.message)

        return check

    return prepare


def _on_trace(compile_check: Callable[[Parameters], TraceCheck]) -> Prepare:
    def prepare(spec: CheckSpec, _code: OwnCode) -> Check:
        look = compile_check(spec.params)

        def check(row: Row) -> Finding:
            if row.trace is None:
                raise CheckFaultError(NOT_A_TRACE, "the response is no agent's trace")
            return look(row.trace)

        return check

    return prepare


CHECKS: dict[str, Prepare] = {
    "regex": _on_text(matches),
    "contains": _on_text(contains),
    "not_contains": _on_text(not_contains),
    "json_schema": _on_text(meets_schema),
    "max_words": _on_text(max_words),
    "max_chars": _on_text(max_chars),
    "equals_field": _on_text(equals_field),
    "numeric_range": _on_text(numeric_range),
    "language": _on_text(is_in_language),
    "must_call": _on_trace(must_call),
    "must_not_call": _on_trace(must_not_call),
    "call_order": _on_trace(call_order),
    "max_calls": _on_trace(max_calls),
    "argument_matches": _on_trace(argument_matches),
    "no_error_steps": _on_trace(no_error_steps),
    "max_latency_ms": _on_trace(max_latency_ms),
    "max_cost_usd": _on_trace(max_cost_usd),
    "max_tokens": _on_trace(max_tokens),
    "python": lambda spec, code: code.check(spec.params),
}
