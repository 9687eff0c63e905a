"""What a statistic answers to a published vector, laid out as the vectors are: numbers, lists and objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentanvil.stats import Estimate, Interval


@dataclass(frozen=True)
class Answer:
    """`value` is a number, a list or an object, with None where something is undefined.

    `reason` tells why all of it is; `reasons` tell it of an object's fields.
    """

    value: Any
    reason: str | None = None
    reasons: Mapping[str, str | None] = field(default_factory=dict)


Call = Callable[[dict[str, Any], dict[str, Any]], Answer]
"""From a vector's `input` and `params` to the answer."""


def of_estimate(found: Estimate) -> Answer:
    return Answer(found.value, found.reason)


def of_interval(found: Interval) -> Answer:
    return Answer(None if found.low is None else [found.low, found.high], found.reason)


def of_fields(**found: Estimate) -> Answer:
    """Return an object of estimates, one a field."""
    return Answer({name: e.value for name, e in found.items()}, None, {name: e.reason for name, e in found.items()})
