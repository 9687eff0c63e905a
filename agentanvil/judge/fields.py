"""One decoded object → verdicts: keys, type, finite, on offer, in that order. Nothing is guessed or clamped."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from agentanvil.hashing import well_formed
from agentanvil.judge.contradiction import CONTRADICTION, contradicts_overall, contradicts_pass
from agentanvil.judge.excerpt import SHOWN, excerpt
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict
from agentanvil.prompt import Contract, ContractDimension
from agentanvil.strict_json import SURROGATES_REPLACED

VERDICT_KEY = "score"
COERCED = "coerced"

_OWN_KEYS = frozenset({"evidence", "reason", VERDICT_KEY})
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
_NON_FINITE = frozenset({"nan", "inf", "infinity"})
_LONGEST_NUMBER = 60


def verdict_keys(contract: Contract) -> tuple[str, ...]:
    """Return the keys by which a top-level object is known as the reply to this contract."""
    return tuple(d.id for d in contract.dimensions) if contract.nested else (VERDICT_KEY,)


def read_object(found: Mapping[str, object], contract: Contract) -> Parsed | ParseFault:
    """Read the object of a reply. A joint reply that names none of its dimensions is one fault."""
    if not contract.nested:
        verdict = _read_verdict(found, contract.dimensions[0])
        if isinstance(verdict, ParseFault):
            return verdict
        return Parsed({contract.dimensions[0].id: _noted(verdict, found, contract)})
    ids = verdict_keys(contract)
    if not any(name in found for name in ids):
        return _absent(found, ids)
    return _read_joint(found, ids, contract)


def _read_joint(found: Mapping[str, object], ids: tuple[str, ...], contract: Contract) -> Parsed:
    verdicts: dict[str, Verdict | ParseFault] = {}
    unknown = [key for key in found if key not in ids]
    for dimension in contract.dimensions:
        value = found.get(dimension.id)
        if isinstance(value, dict):
            verdicts[dimension.id] = _read_verdict(value, dimension)
        elif value is None:
            # Under another name, perhaps, if there are names that the contract does not know.
            code = "schema_mismatch" if unknown and dimension.id not in found else "missing_verdict"
            verdicts[dimension.id] = ParseFault(code, f"the reply has nothing for `{dimension.id}`{_extra(unknown)}")
        else:
            said = f"`{dimension.id}` holds {_shown(value)} where an object with `{VERDICT_KEY}` belongs"
            verdicts[dimension.id] = ParseFault("schema_mismatch", said)
    return Parsed(verdicts, _overall_flags(found, verdicts, contract))


def _read_verdict(found: Mapping[str, object], dimension: ContractDimension) -> Verdict | ParseFault:
    if VERDICT_KEY not in found:
        return _absent(found, (VERDICT_KEY,))
    value = found[VERDICT_KEY]
    evidence, reason = _texts(found.get("evidence")), _text(found.get("reason"))
    whole = (*evidence, reason)
    mended = (*(well_formed(text) for text in evidence), well_formed(reason))
    flags: tuple[str, ...] = () if mended == whole else (SURROGATES_REPLACED,)
    if value is None:
        if dimension.allow_na:
            return Verdict(None, mended[:-1], mended[-1], flags)
        return ParseFault("missing_verdict", f"`{VERDICT_KEY}` is null, and the rubric does not allow that")
    score = read_score(value, dimension)
    if isinstance(score, ParseFault):
        return score
    if isinstance(value, str):
        flags = (COERCED, *flags)
    if contradicts_pass(found, score, dimension):
        flags = (*flags, CONTRADICTION)
    return Verdict(score, mended[:-1], mended[-1], flags)


def read_score(value: object, dimension: ContractDimension) -> int | ParseFault:
    """Return the score that a JSON value states if it is on offer; a numeric string states one, a boolean does not."""
    if isinstance(value, str):
        text = value.strip()
        if text.lstrip("+-").lower() in _NON_FINITE:
            return ParseFault("non_finite", f"`{VERDICT_KEY}` is {_shown(value)}")
        if not _NUMBER.fullmatch(text) or len(text) > _LONGEST_NUMBER:
            return ParseFault("type", f"`{VERDICT_KEY}` is the text {_shown(value)}, not a number")
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ParseFault("type", f"`{VERDICT_KEY}` is {_shown(value)}, not a number")
    if not math.isfinite(value):
        return ParseFault("non_finite", f"`{VERDICT_KEY}` is not finite")
    if value not in dimension.scores:
        offered = f"{dimension.scores[0]} to {dimension.scores[-1]}"
        return ParseFault("out_of_range", f"`{VERDICT_KEY}` is {_shown(value)}; on offer are whole numbers {offered}")
    return int(value)


def _absent(found: Mapping[str, object], wanted: tuple[str, ...]) -> ParseFault:
    """Tell a verdict that was left out from one that seems to stand under another name."""
    unknown = [key for key in found if key not in _OWN_KEYS]
    missing = ", ".join(f"`{name}`" for name in wanted)
    if unknown:
        return ParseFault("schema_mismatch", f"missing {missing}{_extra(unknown)}")
    return ParseFault("missing_verdict", f"the reply holds no {missing}")


def _extra(unknown: list[str]) -> str:
    names = ", ".join(f"`{key[:SHOWN]}`" for key in unknown[:8])
    return f"; not asked for: {names}" if unknown else ""


def _noted(verdict: Verdict, found: Mapping[str, object], contract: Contract) -> Verdict:
    flags = _overall_flags(found, {contract.dimensions[0].id: verdict}, contract)
    if not flags or CONTRADICTION in verdict.flags:
        return verdict
    return Verdict(verdict.score, verdict.evidence, verdict.reason, (*verdict.flags, *flags))


def _overall_flags(
    found: Mapping[str, object], verdicts: Mapping[str, Verdict | ParseFault], contract: Contract
) -> tuple[str, ...]:
    if "overall" not in found and "pass" not in found:
        return ()
    scored = {d: v.score for d, v in verdicts.items() if isinstance(v, Verdict) and v.score is not None}
    passes = contract.nested and _contradicts_pass_of_all(found, scored, contract)
    totals = contract.overall_rule == "min" and contradicts_overall(found, tuple(scored.values()))
    return (CONTRADICTION,) if passes or totals else ()


def _contradicts_pass_of_all(found: Mapping[str, object], scored: Mapping[str, int], contract: Contract) -> bool:
    """Tell whether a `pass` over all dimensions hides one that fails, or a failure names none that does."""
    verdicts = [contradicts_pass(found, scored[d.id], d) for d in contract.dimensions if d.id in scored]
    return bool(verdicts) and (any(verdicts) if found.get("pass") is True else all(verdicts))


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for item in value if (text := _text(item)))
    text = _text(value)
    return (text,) if text else ()


def _text(value: object) -> str:
    """Return a text as it is, nothing for null, and other JSON as JSON, so that a reviewer sees what was said."""
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shown(value: object) -> str:
    return excerpt(json.dumps(value, ensure_ascii=False))
