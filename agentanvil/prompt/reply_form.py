"""The words that tell a judge how its reply looks, and the one request to put a reply into that form."""

from __future__ import annotations

import json

from agentanvil.prompt.contract import WINNER_KEY, Contract, ContractDimension
from agentanvil.rubric import ReplyFormat

NOT_APPLICABLE = "N/A"

_PLAIN_FORM = "Reply with this JSON object and nothing else."


def reply_form(contract: Contract) -> str:
    """Return the output contract: what the reply looks like, and what may stand where."""
    if contract.reply.format != "json":
        return _marked_form(contract)
    verdict = _verdict(contract)
    filled = [f"{json.dumps(d.id, ensure_ascii=False)}: {verdict}" for d in contract.dimensions]
    if contract.mode == "pairwise":
        filled.append(f'"{WINNER_KEY}": "X"')
    shape = f"{{{', '.join(filled)}}}" if contract.nested else verdict
    if contract.mode == "pairwise":
        # A reply's probabilities are read at the token of its choice: it must be written as the local judge's grammar
        # writes it, so that this token is one that the model would have chosen by itself.
        shape = shape.replace('": ', '":').replace(", ", ",")
    return f"{_PLAIN_FORM} {_offer(contract)}\n{shape}"


def reask(contract: Contract, problem: str) -> str:
    """Return the one request to put a verdict, already given, into the contract's form."""
    return f"That reply cannot be read: {problem}. Keep your judgement and give it again.\n{reply_form(contract)}"


def line_of(reply: ReplyFormat, token: str) -> str:
    """Return how a reply marks `token`: `Score: 4`, `[[4]]`, or the bare token without a marker."""
    if reply.format == "brackets":
        return f"{reply.marker} [[{token}]]".lstrip()
    if not reply.marker:
        return token
    colon = ":" if reply.marker[-1].isalnum() else ""
    return f"{reply.marker}{colon} {token}"


def _verdict(contract: Contract) -> str:
    # Measured on the 1.5 B local model: it copies a word that stands here (`"quote"`), but fills in an ellipsis.
    fields = [f'"{key}": ["…"]' for key in contract.evidence_keys]
    if contract.reasoned:
        fields.append('"reason": "…"')
    if contract.mode == "pairwise":
        fields.append('"winner": "X"')
        fields.extend(['"margin": N'] if contract.steps > 1 else [])
    else:
        fields.append('"pass": P' if contract.mode == "gate" else '"score": N')
    return f"{{{', '.join(fields)}}}"


def _offer(contract: Contract) -> str:
    dimensions = contract.dimensions
    scores = dimensions[0].scores
    offer = {
        "absolute": f"N is a whole number from {scores[0]} to {scores[-1]}",
        "gate": "P is true or false",
        "pairwise": 'X is "A", "B" or "tie"',
    }[contract.mode]
    optional = [d.id for d in dimensions if d.allow_na]
    if optional:
        which = f" (only {', '.join(optional)})" if len(optional) < len(dimensions) else ""
        offer = f"{offer}, or null where the dimension does not apply{which}"
    margin = ""
    if contract.mode == "pairwise" and contract.steps > 1:
        margin = f" N is a whole number from 1 to {contract.steps}, 1 for a tie."
    return f"{offer}.{margin}"


def _marked_form(contract: Contract) -> str:
    dimension = contract.dimensions[0]
    offered = ", ".join((*_tokens(contract, dimension), *((NOT_APPLICABLE,) if dimension.allow_na else ())))
    line = line_of(contract.reply, "X")
    if line == "X":
        return f"Reply with X alone, where X is one of: {offered}"
    return f"End with one line, written once, where X is one of: {offered}\n{line}"


def _tokens(contract: Contract, dimension: ContractDimension) -> list[str]:
    first: dict[int, str] = {}
    for label, score in contract.reply.labels.items():
        first.setdefault(score, label)
    if contract.mode == "absolute" and not first:
        return [str(score) for score in dimension.scores]
    named = first or {score: str(score) for score in dimension.scores}
    return [f"{label} ({_meaning(score, contract)})" for score, label in named.items()]


def _meaning(score: int, contract: Contract) -> str:
    if contract.mode == "absolute":
        return f"score {score}"
    if contract.mode == "gate":
        return "pass" if score else "fail"
    if score == 0:
        return "tie"
    margin = f" by {abs(score)}" if contract.steps > 1 else ""
    return f"{'A' if score > 0 else 'B'} is better{margin}"
