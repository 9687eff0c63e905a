"""A reply's text → verdicts. Pure: no call, no clock, no rubric but the contract."""

from __future__ import annotations

import re
from dataclasses import replace

from agentanvil.judge.excerpt import SHOWN, excerpt
from agentanvil.judge.fields import read_object, verdict_keys
from agentanvil.judge.labels import read_labels
from agentanvil.judge.objects import BrokenObjectError, objects, unquoted, whole_object
from agentanvil.judge.refusal import is_refusal
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict
from agentanvil.prompt import Contract
from agentanvil.strict_json import JsonError, JsonValue

REPEATED = "repeated"
# Reasoning models behind servers without a reasoning parser open their answer with it; it is no verdict.
_THINKING = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


def parse_reply(text: str, contract: Contract) -> Parsed | ParseFault:
    """Read the visible text of a reply that was not cut, refused or blocked.

    The whole text as JSON; else the one outermost object, wherever it stands, that carries the contract's keys. Never
    raises, and never yields a score that the contract does not offer.
    """
    answer = _THINKING.sub("", text, count=1) if text.lstrip()[:6].lower() == "<think" else text
    answer = answer.strip().removeprefix("\ufeff")
    if not answer:
        return ParseFault("empty_content", "the reply holds no visible text")
    if contract.reply.format != "json":
        reading = read_labels(answer, contract)
        return reading if isinstance(reading, ParseFault) else Parsed({contract.dimensions[0].id: reading})
    try:
        return _read_json(answer, contract)
    except JsonError as error:
        return ParseFault(error.fault, error.message)


def _read_json(answer: str, contract: Contract) -> Parsed | ParseFault:
    text = unquoted(answer)
    if (whole := whole_object(text)) is not None:
        return read_object(whole, contract)
    keys = verdict_keys(contract)
    try:
        found = list(objects(text, (*keys, contract.verdict_key)))
    except BrokenObjectError as error:
        return _broken(text, error)
    if found:
        return _read_found(found, keys, contract)
    if is_refusal(text):
        return ParseFault("refusal", "the judge declined to grade")
    return ParseFault("unparseable", f"no JSON object in the reply: {excerpt(text)}")


def _broken(answer: str, error: BrokenObjectError) -> ParseFault:
    if error.truncated:
        return ParseFault("truncated", f"the reply breaks off inside its object: …{excerpt(answer[-SHOWN:])}")
    return ParseFault("unparseable", f"the reply's object is not valid JSON: {excerpt(answer)}")


def _read_found(found: list[dict[str, JsonValue]], keys: tuple[str, ...], contract: Contract) -> Parsed | ParseFault:
    carriers = [candidate for candidate in found if any(key in candidate for key in keys)]
    if _scattered(carriers, keys):
        return ParseFault("schema_mismatch", f"the verdicts stand in {len(carriers)} objects instead of one")
    return _agreed([read_object(candidate, contract) for candidate in carriers or found[-1:]])


def _scattered(carriers: list[dict[str, JsonValue]], keys: tuple[str, ...]) -> bool:
    """Tell whether a joint reply came in pieces that share no dimension: nothing conflicts, only the form is wrong."""
    named = [key for candidate in carriers for key in keys if key in candidate]
    return len(carriers) > 1 and len(set(named)) == len(named)


def _agreed(readings: list[Parsed | ParseFault]) -> Parsed | ParseFault:
    """Collapse equal verdicts; anything else is ambiguous.

    Equal means the same scores. Where the words around them differ, the last stand, flagged `repeated`: a judge that
    quotes a verdict does so before it gives its own.
    """
    last = readings[-1]
    if len({_stated(reading) for reading in readings}) > 1:
        return ParseFault("ambiguous", f"the reply holds {len(readings)} verdicts that differ")
    if isinstance(last, ParseFault) or all(reading == last for reading in readings):
        return last
    return replace(last, flags=(*last.flags, REPEATED))


def _stated(reading: Parsed | ParseFault) -> tuple[object, ...]:
    if isinstance(reading, ParseFault):
        return (reading.code, reading.message)
    return tuple(v.score if isinstance(v, Verdict) else (v.code, v.message) for v in reading.verdicts.values())
