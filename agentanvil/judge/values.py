"""The value that states a verdict → a number that was on offer. Nothing is guessed, clamped or read by its truth."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence

from agentanvil.judge.excerpt import excerpt
from agentanvil.judge.verdicts import ParseFault
from agentanvil.plan.order import Slot
from agentanvil.prompt import Contract, ContractDimension
from agentanvil.rubric import Mode

MARGIN_KEY = "margin"

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_NON_FINITE = frozenset({"nan", "inf", "infinity"})
_LONGEST_NUMBER = 60
_PASS_WORDS = {"true": True, "pass": True, "false": False, "fail": False}
_SLOT_WORDS: dict[str, Slot] = {"a": "A", "b": "B", "tie": "tie"}

Value = tuple[int, bool]
"""A verdict as a number, and whether it had to be coerced out of another JSON type or spelling."""


def read_value(found: Mapping[str, object], dimension: ContractDimension, contract: Contract) -> Value | ParseFault:
    """Return the verdict that an object states; its verdict key is there and not null."""
    return _READERS[contract.mode](found, dimension, contract)


def read_slot(value: object) -> Slot | None:
    """Return which slot a text names, letter case and white space around it aside; None for all else."""
    return _SLOT_WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def shown(value: object) -> str:
    """Return a JSON value as a message shows it."""
    return excerpt(json.dumps(value, ensure_ascii=False))


def _score(found: Mapping[str, object], dimension: ContractDimension, contract: Contract) -> Value | ParseFault:
    return _number(found[contract.verdict_key], dimension.scores, contract.verdict_key)


def _passed(found: Mapping[str, object], _: ContractDimension, contract: Contract) -> Value | ParseFault:
    value = found[contract.verdict_key]
    if isinstance(value, bool):
        return int(value), False
    said = _PASS_WORDS.get(value.strip().lower()) if isinstance(value, str) else None
    if said is None:
        return ParseFault("type", f"`{contract.verdict_key}` is {shown(value)}, not true or false")
    return int(said), True


def _preferred(found: Mapping[str, object], _: ContractDimension, contract: Contract) -> Value | ParseFault:
    """Return the steps by which slot A is better; the margin of a tie says nothing."""
    value = found[contract.verdict_key]
    slot = read_slot(value)
    if slot is None:
        return ParseFault("type", f"`{contract.verdict_key}` is {shown(value)}, not A, B or tie")
    coerced = value != slot
    if slot == "tie":
        return 0, coerced
    margin: Value | ParseFault = (1, False)
    if contract.steps > 1:
        if found.get(MARGIN_KEY) is None:
            return ParseFault("missing_verdict", f"the reply says that {slot} is better, but holds no `{MARGIN_KEY}`")
        margin = _number(found[MARGIN_KEY], range(1, contract.steps + 1), MARGIN_KEY)
    if isinstance(margin, ParseFault):
        return margin
    steps, respelt = margin
    return (steps if slot == "A" else -steps), coerced or respelt


def _number(value: object, offered: Sequence[int], key: str) -> Value | ParseFault:
    """Return the offered number that a JSON value states; a numeric string states one, a boolean does not."""
    coerced = isinstance(value, str)
    if isinstance(value, str):
        text = value.strip()
        if text.lstrip("+-").lower() in _NON_FINITE:
            return ParseFault("non_finite", f"`{key}` is {shown(value)}")
        if not _NUMBER.fullmatch(text) or len(text) > _LONGEST_NUMBER:
            return ParseFault("type", f"`{key}` is the text {shown(value)}, not a number")
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ParseFault("type", f"`{key}` is {shown(value)}, not a number")
    if not math.isfinite(value):
        return ParseFault("non_finite", f"`{key}` is not finite")
    if value not in offered:
        said = f"`{key}` is {shown(value)}; on offer are whole numbers {offered[0]} to {offered[-1]}"
        return ParseFault("out_of_range", said)
    return int(value), coerced


_READERS: Mapping[Mode, Callable[[Mapping[str, object], ContractDimension, Contract], Value | ParseFault]] = {
    "absolute": _score,
    "gate": _passed,
    "pairwise": _preferred,
}
