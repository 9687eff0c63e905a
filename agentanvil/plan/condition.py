"""When a judge counts as unsure: a condition over what one verdict says about its own certainty.

A term about something that the verdict did not bring is neither true nor false, as in Kleene's logic: `not` leaves it
so, `or` needs one side that is true, `and` two. What is not clearly true does not hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from agentanvil.rubric import Rubric

MEASURES = ("entropy", "margin")
MARKS = ("near_gate", "no_evidence", "missing")
OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What one verdict says about its own certainty; None where it says nothing about that.

    `entropy` is that of the probabilities over the verdicts on offer, in 0..1. `margin` is |2p - 1|, where p is the
    probability that one of two responses is better. `missing`: there is no verdict.
    """

    entropy: float | None = None
    margin: float | None = None
    near_gate: bool | None = None
    no_evidence: bool | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of the verdict against a bound."""

    name: str
    sign: str
    bound: float

    def holds(self, reading: Reading) -> bool | None:
        value: float | None = getattr(reading, self.name)
        return None if value is None else OPERATORS[self.sign](value, self.bound)

    def names(self) -> Iterator[str]:
        yield self.name

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{Decimal(repr(self.bound)).normalize():f}"


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that is true of a verdict or not."""

    name: str

    def holds(self, reading: Reading) -> bool | None:
        found: bool | None = getattr(reading, self.name)
        return found

    def names(self) -> Iterator[str]:
        yield self.name

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Not:
    """The contrary."""

    part: Node

    def holds(self, reading: Reading) -> bool | None:
        found = self.part.holds(reading)
        return None if found is None else not found

    def names(self) -> Iterator[str]:
        return self.part.names()

    def __str__(self) -> str:
        return f"not ({self.part})" if isinstance(self.part, Joined) else f"not {self.part}"


@dataclass(frozen=True, slots=True)
class Joined:
    """Two or more parts, all of which (`and`) or one of which (`or`) must hold."""

    word: Literal["and", "or"]
    parts: tuple[Node, ...]

    def holds(self, reading: Reading) -> bool | None:
        decisive = self.word == "or"
        found = [part.holds(reading) for part in self.parts]
        if decisive in found:
            return decisive
        return None if None in found else not decisive

    def names(self) -> Iterator[str]:
        for part in self.parts:
            yield from part.names()

    def __str__(self) -> str:
        inner = (f"({p})" if self.word == "and" and isinstance(p, Joined) else str(p) for p in self.parts)
        return f" {self.word} ".join(inner)


Node = Measure | Mark | Not | Joined


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as it was read; `str` writes it in one canonical way, from which the same one is read."""

    root: Node

    @property
    def terms(self) -> frozenset[str]:
        """The names that it asks about."""
        return frozenset(self.root.names())

    def holds(self, reading: Reading) -> bool:
        """Tell whether it is clearly true of a verdict."""
        return self.root.holds(reading) is True

    def __str__(self) -> str:
        return str(self.root)


def idle_terms(condition: Condition, rubric: Rubric) -> dict[str, str]:
    """Return the terms of a condition that say nothing under a rubric in its mode, each with the reason."""
    pairs = rubric.mode == "pairwise"
    idle = {}
    if pairs:
        idle["near_gate"] = "thresholds are on a scale that a comparison does not have"
    elif rubric.mode == "absolute" and not rubric.gate:
        idle["near_gate"] = "the rubric has no `gate:`"
    if not pairs:
        idle["margin"] = "it is how far one of two responses is ahead"
    if rubric.evidence == "none":
        idle["no_evidence"] = "the rubric asks for none"
    return {name: reason for name, reason in idle.items() if name in condition.terms}
