"""Loopback endpoints that decide typed questions, in both contracts, by what the test says of each row.

    with FakeServer(openai_decisions(by_row)) as server:
        ...  # judge: openai-decisions:m@{server.url}

`by_row` maps what stands in the state to what is told of each question by its name: a distribution over its options
in their order, a number for a predicate, or REFUSED.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.fakes.server import Answer, Recorded, answer_json

REFUSED = "refused"
Told = float | Sequence[float] | str
Decide = Callable[[str], Mapping[str, Told]]
"""State → what is told of each question."""
USAGE = {"input_tokens": 100, "output_tokens": 0}


def openai_decisions(decide: Decide) -> Callable[[Recorded], Answer]:
    """OpenAI's contract: a list of answers in the order of the questions; a question may be refused on its own."""

    def answer(request: Recorded) -> Answer:
        body = request.json
        assert request.path == "/v1/decisions"
        assert body.keys() == {"model", "input", "questions"}
        told = decide(body["input"])
        answers = [openai_answer(question, told[question["name"]]) for question in body["questions"]]
        return answer_json({"model": "luna-2026-10-22", "answers": answers, "usage": USAGE})

    return answer


def openai_answer(question: Mapping[str, Any], told: Told) -> dict[str, Any]:
    name = question["name"]
    if told == REFUSED:
        return {"type": "refusal", "name": name}
    if question["type"] == "predicate":
        return {"type": "predicate", "name": name, "probability": told}
    assert not isinstance(told, str | float | int)
    if question["type"] == "choice":
        values = [choice["value"] for choice in question["choices"]]
        assert 2 <= len(set(values)) == len(values) <= 255
        listed = [{"value": value, "probability": p} for value, p in zip(values, told, strict=True)]
        return {"type": "choice", "name": name, "choice": values[0], "confidence": 0.5, "probabilities": listed}
    labels = [level["label"] for level in question["levels"]]
    assert 2 <= len(set(labels)) == len(labels) <= 10
    levels = [
        {"value": place, "label": label, "probability": p}
        for place, (label, p) in enumerate(zip(labels, told, strict=True))
    ]
    return {"type": "score", "name": name, "score": 99.0, "confidence": 0.5, "probabilities": levels}


def systemone(decide: Decide) -> Callable[[Recorded], Answer]:
    """The System One contract: a map of answers, with integer-like keys first and everything else turned round.

    It knows no refusal of one question: a refused one is left out.
    """

    def answer(request: Recorded) -> Answer:
        body = request.json
        assert request.path == "/v1/systemone"
        assert body.keys() == {"model", "state", "questions"}
        told = decide(body["state"])
        answers = {
            name: systemone_answer(question, told[name])
            for name, question in reversed(body["questions"].items())
            if told[name] != REFUSED
        }
        return answer_json({"model": "jev-1.13.0", "answers": answers, "usage": USAGE})

    return answer


def systemone_answer(question: Mapping[str, Any], told: Told) -> dict[str, Any]:
    if question["type"] == "noul":
        return {"type": "noul", "noul": told}
    assert not isinstance(told, str | float | int)
    if question["type"] == "choice":
        names = list(question["criteria"])
        found = dict(zip(names, told, strict=True))
        digits = sorted((name for name in names if name.isdigit()), key=int)
        shown = {name: found[name] for name in (*digits, *reversed([n for n in names if n not in digits]))}
        return {"type": "choice", "choice": names[0], "confidence": 0.5, "probabilities": shown}
    assert 2 <= len(question["criteria"]) <= 10
    levels = {str(place): p for place, p in enumerate(told)}
    legend = {str(place): words for place, words in enumerate(question["criteria"])}
    return {"type": "score", "score": 99.0, "confidence": 0.5, "legend": legend, "probabilities": levels}
