"""One decoded object → verdicts: keys, type, finite, on offer, in that order. Nothing is guessed or clamped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from agentanvil.hashing import well_formed
from agentanvil.judge.contradiction import CONTRADICTION, contradicts_pass, contradicts_totals
from agentanvil.judge.excerpt import SHOWN
from agentanvil.judge.values import MARGIN_KEY, read_slot, read_value, shown
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict
from agentanvil.prompt import Contract, ContractDimension
from agentanvil.prompt.contract import EVIDENCE_KEYS, WINNER_KEY
from agentanvil.strict_json import SURROGATES_REPLACED

COERCED = "coerced"
WINNER_UNSTATED = "winner_unstated"


def verdict_keys(contract: Contract) -> tuple[str, ...]:
    """Return the keys by which a top-level object is known as the reply to this contract."""
    return tuple(d.id for d in contract.dimensions) if contract.nested else (contract.verdict_key,)


def read_object(found: Mapping[str, object], contract: Contract) -> Parsed | ParseFault:
    """Read the object of a reply. A joint reply that names none of its dimensions is one fault."""
    if not contract.nested:
        verdict = _read_verdict(found, contract.dimensions[0], contract)
        if isinstance(verdict, ParseFault):
            return verdict
        return Parsed({contract.dimensions[0].id: _noted(verdict, found, contract)})
    ids = verdict_keys(contract)
    if not any(name in found for name in ids):
        return _absent(found, ids, contract)
    return _read_joint(found, ids, contract)


def _read_joint(found: Mapping[str, object], ids: tuple[str, ...], contract: Contract) -> Parsed:
    verdicts: dict[str, Verdict | ParseFault] = {}
    paired = contract.mode == "pairwise"
    unknown = [key for key in found if key not in ids and not (paired and key == WINNER_KEY)]
    for dimension in contract.dimensions:
        value = found.get(dimension.id)
        if isinstance(value, dict):
            verdicts[dimension.id] = _read_verdict(value, dimension, contract)
        elif value is None:
            # Under another name, perhaps, if there are names that the contract does not know.
            code = "schema_mismatch" if unknown and dimension.id not in found else "missing_verdict"
            verdicts[dimension.id] = ParseFault(code, f"the reply has nothing for `{dimension.id}`{_extra(unknown)}")
        else:
            said = f"`{dimension.id}` holds {shown(value)} where an object with `{contract.verdict_key}` belongs"
            verdicts[dimension.id] = ParseFault("schema_mismatch", said)
    flags = contradicts_totals(found, verdicts, contract)
    stated = read_slot(found.get(WINNER_KEY)) if paired else None
    if paired and stated is None:
        flags = (*flags, WINNER_UNSTATED)
    return Parsed(verdicts, flags, stated)


def _read_verdict(
    found: Mapping[str, object], dimension: ContractDimension, contract: Contract
) -> Verdict | ParseFault:
    key = contract.verdict_key
    if key not in found:
        return _absent(found, (key,), contract)
    words = _read_words(found, contract)
    if found[key] is None:
        if dimension.allow_na:
            return words
        return ParseFault("missing_verdict", f"`{key}` is null, and the rubric does not allow that")
    value = read_value(found, dimension, contract)
    if isinstance(value, ParseFault):
        return value
    score, coerced = value
    flags = (COERCED, *words.flags) if coerced else words.flags
    if contract.mode == "absolute" and contradicts_pass(found, score, dimension):
        flags = (*flags, CONTRADICTION)
    return Verdict(score, words.evidence, words.reason, flags, words.rival_evidence)


def _read_words(found: Mapping[str, object], contract: Contract) -> Verdict:
    """Return the evidence and the reason as a verdict without a score; lone surrogates are replaced and flagged."""
    sides = [_texts(found.get(key)) for key in EVIDENCE_KEYS[contract.mode]]
    reason = _text(found.get("reason"))
    mended = [tuple(well_formed(text) for text in side) for side in sides]
    flags = () if mended == sides and well_formed(reason) == reason else (SURROGATES_REPLACED,)
    return Verdict(None, mended[0], well_formed(reason), flags, mended[1] if len(mended) > 1 else ())


def _absent(found: Mapping[str, object], wanted: tuple[str, ...], contract: Contract) -> ParseFault:
    """Tell a verdict that was left out from one that seems to stand under another name."""
    compared = (MARGIN_KEY, WINNER_KEY) if contract.mode == "pairwise" else ()
    own = (*EVIDENCE_KEYS[contract.mode], "reason", contract.verdict_key, *compared)
    unknown = [key for key in found if key not in own]
    missing = ", ".join(f"`{name}`" for name in wanted)
    if unknown:
        return ParseFault("schema_mismatch", f"missing {missing}{_extra(unknown)}")
    return ParseFault("missing_verdict", f"the reply holds no {missing}")


def _extra(unknown: list[str]) -> str:
    names = ", ".join(f"`{key[:SHOWN]}`" for key in unknown[:8])
    return f"; not asked for: {names}" if unknown else ""


def _noted(verdict: Verdict, found: Mapping[str, object], contract: Contract) -> Verdict:
    flags = contradicts_totals(found, {contract.dimensions[0].id: verdict}, contract)
    if not flags or CONTRADICTION in verdict.flags:
        return verdict
    return replace(verdict, flags=(*verdict.flags, *flags))


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
