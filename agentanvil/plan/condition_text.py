"""`--escalate-when`: a small language, read once and strictly.

condition  = all, { "or", all }
all        = one, { "and", one }
one        = "not", one | "(", condition, ")" | term
term       = ("entropy" | "margin"), (">" | ">=" | "<" | "<="), number | "near_gate" | "no_evidence" | "missing"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from agentanvil.errors import UsageError
from agentanvil.plan.condition import MARKS, MEASURES, OPERATORS, Condition, Joined, Mark, Measure, Node, Not
from agentanvil.rubric import Rubric

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+\.?\d*|\.\d+|[<>]=?|[()]", re.ASCII)
_LONGEST = 500
_LONGEST_NUMBER = 10
_DEEPEST = 30
_HINT = f"Terms are {', '.join(f'{name}>0.6' for name in MEASURES)}, {', '.join(MARKS)}; join them by and, or, not, ()."

_USUAL = {
    "absolute": "entropy>0.6 or near_gate",
    "gate": "entropy>0.6 or near_gate",
    "pairwise": "entropy>0.6 or margin<0.2",
}


def usual_condition(rubric: Rubric) -> Condition:
    """Return what is asked where the user says nothing."""
    return parse_condition(_USUAL[rubric.mode])


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises UsageError naming the column, counted from 1."""
    condition = Condition(_Parser(text).whole()) if len(text) <= _LONGEST else None
    if condition is None or len(str(condition)) > _LONGEST:  # a run is known by how its condition is written
        raise UsageError(f"--escalate-when is longer than {_LONGEST} characters", hint=_HINT)
    return condition


class _Parser:
    """Reads by recursive descent."""

    def __init__(self, text: str) -> None:
        self._tokens = [*_tokens(text), ("", len(text) + 1)]
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._joined("or")
        word, column = self._tokens[self._at]
        if word:
            raise _wrong(column, f"{word!r} is not expected here")
        return node

    def _joined(self, word: Literal["and", "or"]) -> Node:
        def part() -> Node:
            return self._joined("and") if word == "or" else self._one()

        parts = [part()]
        while self._peek() == word:
            self._at += 1
            parts.append(part())
        flat = [inner for p in parts for inner in (p.parts if isinstance(p, Joined) and p.word == word else (p,))]
        return flat[0] if len(flat) == 1 else Joined(word, tuple(flat))

    def _one(self) -> Node:
        word, column = self._next()
        if word not in {"not", "("}:
            return self._term(word, column)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _wrong(column, f"more than {_DEEPEST} levels of `not` and parentheses")
        if word == "not":
            node: Node = Not(self._one())
        else:
            node = self._joined("or")
            closing, at = self._next()
            if closing != ")":
                raise _wrong(at, f"a closing parenthesis is missing for the one in column {column}")
        self._depth -= 1
        return node

    def _term(self, word: str, column: int) -> Node:
        if word in MARKS:
            return Mark(word)
        if word not in MEASURES:
            raise _wrong(column, f"{word!r} is no term" if word else "a term is missing")
        sign, at = self._next()
        if sign not in OPERATORS:
            raise _wrong(at, f"after {word} stands one of {' '.join(OPERATORS)}")
        number, at = self._next()
        if not number.strip(".").replace(".", "", 1).isdigit() or len(number) > _LONGEST_NUMBER:
            raise _wrong(at, f"after {word}{sign} stands a number of at most {_LONGEST_NUMBER} characters")
        bound = float(number)
        if bound > 1:
            raise _wrong(at, f"{word} lies between 0 and 1, so {number} is out of its reach")
        return Measure(word, sign, bound)

    def _peek(self) -> str:
        return self._tokens[self._at][0]

    def _next(self) -> tuple[str, int]:
        token = self._tokens[self._at]
        self._at += bool(token[0])
        return token


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _TOKEN.match(text, at)
        if found is None:
            raise _wrong(at + 1, f"{text[at]!r} is not part of a condition")
        yield found[0].lower(), at + 1
        at = found.end()


def _wrong(column: int, message: str) -> UsageError:
    return UsageError(f"--escalate-when, column {column}: {message}", hint=_HINT)
