"""The second reading of a pairwise call: how likely the judge was to name either response, at the token that names one.

    P(first) = (p(first) + p(tie) / 2) / (p(first) + p(second) + p(tie))

where p is the probability of the tokens that begin a label. What lies on other tokens is left out, and told as mass.
A position preference adds the same to the log-odds of both orders of a pair, so their mean cancels it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from agentanvil.client import TokenLogprob
from agentanvil.judge.alternatives import listed, opened, token_at

# Servers compute in single precision, where a probability next to 1 is known to 2**-24. It keeps log-odds finite.
NEAREST = 2.0**-24


@dataclass(frozen=True, slots=True)
class Preference:
    """`p_first` is in [NEAREST, 1 - NEAREST]; `mass`, in 0..1, is what the labels hold of all probability.

    A small mass says that the judge was about to write something else, so that the reading means little.
    """

    p_first: float
    mass: float


def preference(tokens: Sequence[TokenLogprob], at: int, labels: Sequence[str]) -> Preference | None:
    """Return the probability of the first label, against the second and those that mean a tie.

    `at` is the offset in the reply's text at which the label begins. Read is the token in which the first two labels
    part. Its alternatives count for the one label that they begin, letter case and a quotation mark or blank before it
    aside. A first or second label that is not among them gets the most that it can have: the smallest probability
    listed, or all that the list leaves over if that is less. None where no label is among them.
    """
    token = _apart(tokens, at, labels)
    if token is None:
        return None
    found = listed(token)
    held = _held(found, token.text[: max(0, at - token.at)], _left(labels, token.at - at))
    mass = sum(p for p in held if p is not None)
    if not any(p is not None for p in held):
        return None
    most = min(*found.values(), max(0.0, 1.0 - sum(found.values())))
    p_first, p_second = (most if p is None else p for p in held[:2])
    ties = sum(p for p in held[2:] if p is not None)
    whole = p_first + p_second + ties
    if whole <= 0:
        return None
    p = (p_first + ties / 2) / whole
    return Preference(min(max(p, NEAREST), 1 - NEAREST), min(mass, 1.0))


def _apart(tokens: Sequence[TokenLogprob], at: int, labels: Sequence[str]) -> TokenLogprob | None:
    """Return the token with the first character in which the first two labels, written from `at` on, differ."""
    first, second, *_ = labels
    apart = at + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    place = token_at(tokens, apart)
    return None if place is None else tokens[place]


def _left(labels: Sequence[str], written: int) -> list[str | None]:
    """Return what of each label is still to be written; None for one that begins otherwise than what was."""
    done = labels[0][: max(0, written)].lower()
    return [label.lower()[len(done) :] if label.lower().startswith(done) else None for label in labels]


def _held(found: dict[str, float], before: str, labels: Sequence[str | None]) -> list[float | None]:
    """Return the probability of each label; `before` is what the reply's own token holds ahead of it."""
    held: list[float | None] = [None] * len(labels)
    for text, p in found.items():
        word = opened(text, before).lower()
        begun = [index for index, label in enumerate(labels) if label is not None and _begins(word, label)]
        if len(begun) == 1:
            held[begun[0]] = (held[begun[0]] or 0.0) + p
    return held


def _begins(word: str, label: str) -> bool:
    """Tell whether a token's text begins a label, or holds all of it and does not go on as a longer word."""
    if not word or not label:
        return False
    return label.startswith(word) or (word.startswith(label) and not word[len(label) : len(label) + 1].isalnum())
