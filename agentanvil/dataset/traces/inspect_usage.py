"""The tokens and costs of an Inspect sample, the grader's left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from agentanvil.dataset.traces.events import Facts
from agentanvil.dataset.traces.inspect_events import is_judges, scorer_spans
from agentanvil.dataset.traces.measures import amount, total, whole
from agentanvil.strict_json import JsonValue

Usage = dict[str, JsonValue]

_INPUT_COUNTS = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")


def read_usage(sample: Usage, events: Sequence[Usage], facts: Facts) -> None:
    """Set tokens and cost: the sum over the models, less what the grader used. Cached tokens are counted apart there.

    Logs that keep no usage by role tell the grader's calls by their events.
    """
    spent = _objects(_object(sample.get("model_usage")).values())
    roles = _object(sample.get("role_usage"))
    if roles:
        graded = _objects([roles.get("grader")])
    else:
        scorers = scorer_spans(events)
        calls = [event for event in events if event.get("event") == "model" and is_judges(event, scorers)]
        graded = _objects(_object(event.get("output")).get("usage") for event in calls)
    facts.tokens_in = _less(total(map(_input, spent)), total(map(_input, graded)))
    facts.tokens_out = _less(total(map(_output, spent)), total(map(_output, graded)))
    costs = [found for usage in spent if (found := amount(usage.get("total_cost"))) is not None]
    if costs:
        grading = [found for usage in graded if (found := amount(usage.get("total_cost"))) is not None]
        facts.cost_usd = float(max(sum(costs, Decimal(0)) - sum(grading, Decimal(0)), Decimal(0)))
    if facts.tokens_in is None and facts.tokens_out is None:
        facts.warnings.add("tokens_missing")


def _input(usage: Usage) -> int | None:
    return total(whole(usage.get(key)) for key in _INPUT_COUNTS)


def _output(usage: Usage) -> int | None:
    return whole(usage.get("output_tokens"))


def _less(spent: int | None, graded: int | None) -> int | None:
    return None if spent is None else max(spent - (graded or 0), 0)


def _object(value: JsonValue) -> Usage:
    return value if isinstance(value, dict) else {}


def _objects(values: Iterable[JsonValue]) -> list[Usage]:
    return [value for value in values if isinstance(value, dict)]
