"""How likely each verdict on offer was, read at the tokens that spell the one that was given.

A verdict may take several tokens. At each of them the reply's own token leads on, and its alternatives lead elsewhere:

    P(value) = sum over the tokens i of  p(own tokens before i) * p(alternatives at i that only this value begins with)

So `1` and `10`, which begin alike, are told apart at the token that ends the one or goes on to the other. What an
alternative would have gone on to was never computed, for it was not taken: a beginning that several values share then
stands for all of them in equal parts, and there is no reading where that could move the expected score by more than
GUESSED of the scale. One thing is known, though: where the list holds the longer number as a token of its own, the
shorter one stands for itself, since a model writes a number in the tokens that it was taught.

Values that no token listed begins with get nothing; the mass, which is all that was found, tells how much that can be.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentanvil.client import TokenLogprob
from agentanvil.judge.alternatives import listed, opened, token_at
from agentanvil.judge.distribution import Reading, read_distribution

GUESSED = 0.01

_NUMBER = re.compile(r"([+-]?[0-9]*)(\.[0-9]*)?(.?)", re.DOTALL)
_WORD = re.compile(r"(\w*)()(.?)", re.DOTALL)
_ENDS_NUMBER = frozenset(' \t\r\n,}]"')


@dataclass(frozen=True, slots=True)
class Spelling:
    """How verdicts are written: as whole numbers, or by `whole` words in small letters.

    `begun` holds for each beginning of a way to write them the values that it leaves open.
    """

    values: tuple[int, ...]
    whole: Mapping[str, int]
    begun: Mapping[str, frozenset[int]]
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What a token makes of the text so far: the letters or digits of a value, and whether they are all of it."""

    spelt: str
    ended: bool
    p: float


@lru_cache(maxsize=256)
def number_spelling(values: tuple[int, ...]) -> Spelling:
    """Return the spelling of whole numbers: `4`, `+4` and `4.0` are the same."""
    begun = _beginnings({str(value): value for value in values})
    begun["+"] = frozenset(value for value in values if value >= 0)
    return Spelling(values, {str(value): value for value in values}, begun, _NUMBER)


@lru_cache(maxsize=256)
def word_spelling(words: tuple[tuple[str, int], ...]) -> Spelling:
    """Return the spelling of values by words, several for one value if need be; letter case does not matter."""
    whole = {word.lower(): value for word, value in words}
    return Spelling(tuple(dict.fromkeys(whole.values())), whole, _beginnings(whole), _WORD)


def read_value(tokens: Sequence[TokenLogprob], at: int, spelling: Spelling, said: int) -> Reading | None:
    """Return the reading of the verdict `said`, written from the character `at` of the reply on.

    Blanks, quotation marks, a colon or a brace before a value do not matter, nor does what follows it. None where the
    tokens do not spell `said`, where one of them is missing, and where the reading would rest on a guess.
    """
    held = dict.fromkeys(spelling.values, 0.0)
    shared: list[tuple[float, frozenset[int]]] = []
    taken = 1.0
    told: frozenset[int] = frozenset()
    for own, others in _steps(tokens, at, spelling):
        for other in others:
            values = _meant(other, (own, *others), spelling)
            if len(values) > 1:
                shared.append((taken * other.p, values))
            for value in values:
                held[value] += taken * other.p / len(values)
        taken *= own.p
        told = _open(own, spelling)
    if told != {said}:
        return None
    held[said] += taken
    found = read_distribution(spelling.values, [held[value] for value in spelling.values])
    return None if found is None or _guessed(shared, spelling.values, math.fsum(held.values())) else found


def value_tokens(tokens: Sequence[TokenLogprob], at: int, spelling: Spelling) -> tuple[TokenLogprob, ...]:
    """Return the tokens that `read_value` reads."""
    place = token_at(tokens, at)
    if place is None:
        return ()
    return tuple(tokens[place : place + sum(1 for _ in _steps(tokens, at, spelling))])


def _steps(
    tokens: Sequence[TokenLogprob], at: int, spelling: Spelling
) -> Iterator[tuple[_Candidate, tuple[_Candidate, ...]]]:
    """Yield the reply's own tokens with their alternatives, up to the one that leaves at most one value open."""
    place = token_at(tokens, at)
    written = ""
    end: int | None = None
    while place is not None and place < len(tokens) and end in (None, tokens[place].at):
        token = tokens[place]
        before = token.text[: max(0, at - token.at)]
        candidates = {
            text: _candidate(written + text if written else opened(text, before), p, spelling)
            for text, p in listed(token).items()
        }
        own = candidates.pop(token.text)
        yield own, tuple(candidates.values())
        if len(_open(own, spelling)) <= 1:
            return
        written = written + token.text if written else opened(token.text, before)
        end = token.at + len(token.text)
        place += 1


def _candidate(text: str, p: float, spelling: Spelling) -> _Candidate:
    match = spelling.pattern.match(text)
    spelt, fraction, after = match.groups() if match is not None else ("", None, "")
    if spelling.pattern is _WORD:
        return _Candidate(spelt.lower(), bool(after), p)
    off = bool(fraction and fraction.strip(".0")) or bool(after and after not in _ENDS_NUMBER)
    bare = spelt if spelt == "+" else spelt.removeprefix("+")
    return _Candidate("" if off else bare, fraction is not None or bool(after), p)


def _open(candidate: _Candidate, spelling: Spelling) -> frozenset[int]:
    """Return the values that a candidate leaves open; none where it is no beginning of any."""
    if not candidate.spelt:
        return frozenset()
    if not candidate.ended:
        return spelling.begun.get(candidate.spelt, frozenset())
    value = spelling.whole.get(candidate.spelt)
    return frozenset() if value is None else frozenset((value,))


def _meant(candidate: _Candidate, together: Sequence[_Candidate], spelling: Spelling) -> frozenset[int]:
    """Return the same of an alternative, which stands for itself where a longer value is a token beside it."""
    values = _open(candidate, spelling)
    itself = spelling.whole.get(candidate.spelt)
    if len(values) <= 1 or itself is None:
        return values
    longer = (other.spelt for other in together if other.spelt != candidate.spelt and other.spelt in spelling.whole)
    return frozenset((itself,)) if any(spelt.startswith(candidate.spelt) for spelt in longer) else values


def _guessed(shared: Sequence[tuple[float, frozenset[int]]], values: Sequence[int], mass: float) -> bool:
    """Tell whether what several values share in equal parts could move the mean by more than GUESSED of the scale."""
    most = 0.0
    for p, among in shared:
        middle = sum(among) / len(among)
        most += p / mass * max(max(among) - middle, middle - min(among))
    return most > GUESSED * (max(values) - min(values))


def _beginnings(whole: Mapping[str, int]) -> dict[str, frozenset[int]]:
    begun: dict[str, set[int]] = {}
    for spelt, value in whole.items():
        for length in range(1, len(spelt) + 1):
            begun.setdefault(spelt[:length], set()).add(value)
    return {spelt: frozenset(values) for spelt, values in begun.items()}
