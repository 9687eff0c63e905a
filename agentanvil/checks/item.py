"""What a function of one's own sees of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from agentanvil.dataset import JsonValue, Row, Step, ToolStep, Trace


@dataclass(frozen=True, slots=True)
class Item:
    """One row, or one side of a pair; read-only, and a copy, so that no check can change what others see.

    `response` is the text, or a trace's final answer; `trace` is None where the response was no trace. `source` holds
    the passages. `expected` and `extra` hold what no judge may see; the human labels are not here.
    """

    id: str
    request: str
    response: str
    source: tuple[str, ...]
    model: str | None
    meta: Mapping[str, JsonValue]
    expected: JsonValue
    extra: Mapping[str, JsonValue]
    trace: Trace | None


def item_of(row: Row) -> Item:
    """Return a row as a function of one's own sees it."""
    return Item(
        id=row.id,
        request=row.request,
        response=row.response,
        source=row.source,
        model=row.model,
        meta=MappingProxyType({key: _copied(value) for key, value in row.meta.items()}),
        expected=_copied(row.expected),
        extra=MappingProxyType({key: _copied(value) for key, value in row.extra.items()}),
        trace=None if row.trace is None else _copied_trace(row.trace),
    )


def _copied(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _copied(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_copied(child) for child in value]
    return value


def _copied_trace(trace: Trace) -> Trace:
    return replace(trace, steps=tuple(map(_copied_step, trace.steps)))


def _copied_step(step: Step) -> Step:
    if isinstance(step, ToolStep):
        return replace(step, args=_copied(step.args), result=_copied(step.result))
    return step
