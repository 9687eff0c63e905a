"""The second reading of a pairwise call: how likely the judge was to name either response, at the token that names one.

    P(first) = (p(first) + p(tie) / 2) / (p(first) + p(second) + p(tie))

where p is the probability of the tokens that begin a label. What lies on other tokens is left out, and told as mass.
A position preference adds the same to the log-odds of both orders of a pair, so their mean cancels it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from agentanvil.client import ChatReply, TokenLogprob
from agentanvil.judge.objects import MAX_STRAY_BRACES
from agentanvil.prompt.contract import SLOTS
from agentanvil.strict_json import JsonError, JsonValue, parse_json_at

# Servers compute in single precision, where a probability next to 1 is known to 2**-24. It keeps log-odds finite.
NEAREST = 2.0**-24

_SPACE = " \t\r\n"
_OPENING = _SPACE + '"{:'


@dataclass(frozen=True, slots=True)
class Preference:
    """`p_first` is in [NEAREST, 1 - NEAREST]; `mass`, in 0..1, is what the labels hold of all probability.

    A small mass says that the judge was about to write something else, so that the reading means little.
    """

    p_first: float
    mass: float


def read_preference(reply: ChatReply, path: Sequence[str]) -> Preference | None:
    """Return the probability that slot A is better, as a reply states it at `path`, such as `("clarity", "winner")`.

    None where no log-probabilities came back, or where the token of the verdict cannot be told.
    """
    if not reply.tokens:
        return None
    at = word_at(reply.text, path)
    return None if at is None else preference(reply.tokens, at, SLOTS)


def verdict_tokens(reply: ChatReply, paths: Iterable[Sequence[str]]) -> tuple[TokenLogprob, ...]:
    """Return those of a reply's tokens that `read_preference` reads at these paths, in the order of the text."""
    places = (word_at(reply.text, path) for path in paths)
    found = [_apart(reply.tokens, at, SLOTS) for at in places if at is not None]
    return tuple(sorted({token for token in found if token is not None}, key=lambda token: token.at))


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
    listed = _listed(token)
    held = _held(listed, token.text[: max(0, at - token.at)], _left(labels, token.at - at))
    mass = sum(p for p in held if p is not None)
    if not any(p is not None for p in held):
        return None
    most = min(*listed.values(), max(0.0, 1.0 - sum(listed.values())))
    p_first, p_second = (most if p is None else p for p in held[:2])
    ties = sum(p for p in held[2:] if p is not None)
    whole = p_first + p_second + ties
    if whole <= 0:
        return None
    p = (p_first + ties / 2) / whole
    return Preference(min(max(p, NEAREST), 1 - NEAREST), min(mass, 1.0))


def word_at(text: str, path: Sequence[str]) -> int | None:
    """Return where the string at `path` begins in the last object of a reply that has one there; blanks are passed.

    The parser refuses a reply whose objects differ, and does not read those in a model's thoughts, which come first.
    """
    found: int | None = None
    stray = 0
    start = text.find("{")
    while start >= 0 and stray <= MAX_STRAY_BRACES:
        try:
            value, end = parse_json_at(text, start)
        except JsonError:
            end = start + 1
            stray += 1
        else:
            if isinstance(_inside(value, path), str):
                found = start
        start = text.find("{", end)
    if found is None:
        return None
    opening = _value_at(text, found, path)
    return _past_space(text, opening + 1)


def _apart(tokens: Sequence[TokenLogprob], at: int, labels: Sequence[str]) -> TokenLogprob | None:
    """Return the token with the first character in which the first two labels, written from `at` on, differ."""
    first, second, *_ = labels
    apart = at + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    return next((token for token in tokens if token.at <= apart < token.at + len(token.text)), None)


def _inside(value: JsonValue, path: Sequence[str]) -> JsonValue:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _value_at(text: str, start: int, path: Sequence[str]) -> int:
    """Return where the value at `path` begins, in the well-formed object at `start` that has one."""
    at = start
    for wanted in path:
        key: JsonValue = None
        end = at
        while key != wanted:
            if key is not None:
                _, end = parse_json_at(text, at)
            key, end = parse_json_at(text, _past_space(text, _past_space(text, end) + 1))
            at = _past_space(text, _past_space(text, end) + 1)
    return at


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _listed(token: TokenLogprob) -> dict[str, float]:
    """Return the probabilities of the token and its alternatives. Two of one text are one to a reader of the text."""
    listed: dict[str, float] = {}
    for text, logprob in token.top:
        listed[text] = listed.get(text, 0.0) + math.exp(min(logprob, 0.0))
    listed.setdefault(token.text, math.exp(min(token.logprob, 0.0)))
    return listed


def _left(labels: Sequence[str], written: int) -> list[str | None]:
    """Return what of each label is still to be written; None for one that begins otherwise than what was."""
    done = labels[0][: max(0, written)].lower()
    return [label.lower()[len(done) :] if label.lower().startswith(done) else None for label in labels]


def _held(listed: dict[str, float], before: str, labels: Sequence[str | None]) -> list[float | None]:
    """Return the probability of each label; `before` is what the reply's own token holds ahead of it."""
    held: list[float | None] = [None] * len(labels)
    for text, p in listed.items():
        word = text.removeprefix(before).lstrip(_OPENING).lower()
        begun = [index for index, label in enumerate(labels) if label is not None and _begins(word, label)]
        if len(begun) == 1:
            held[begun[0]] = (held[begun[0]] or 0.0) + p
    return held


def _begins(word: str, label: str) -> bool:
    """Tell whether a token's text begins a label, or holds all of it and does not go on as a longer word."""
    if not word or not label:
        return False
    return label.startswith(word) or (word.startswith(label) and not word[len(label) : len(label) + 1].isalnum())
