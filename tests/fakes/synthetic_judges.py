"""A judge on the loopback whose faults are known: it reads the true scores from a response's text, and errs as told."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.server import Answer, Recorded, chat
from tests.fakes.verdicts import verdict_for

DIMENSIONS = ("accuracy", "tone")
LONG_FROM = 60
"""Words from which an answer is long: half of the rows' are, and most others are as soon as they are padded."""

_EXCLUDED = "how polite it is"
_EXCLUSION = f"{{what: {_EXCLUDED}, judged_by: tone}}, "
RUBRIC = f"""\
version: 1
id: synthetic
scale: {{min: 1, max: 5}}
rules: [Figures may be rounded.]
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {{5: no error, 4: one error, 3: two errors, 2: three errors, 1: four or more errors}}
    scope: {{in: [figures], out: [{_EXCLUSION}{{what: spelling}}]}}
  - id: tone
    question: Is it polite in each sentence?
    anchors: {{5: in each, 4: in all but one, 3: in all but two, 2: in all but three, 1: in fewer}}
"""

_RESPONSE = re.compile(r"<<RESPONSE( [AB]|) (\w+)>>\n(.*?)\n<<END RESPONSE\1 \2>>", re.DOTALL)
_QUALITY = re.compile(r"names (\d) rivers and (\d) lakes")
_WORDS = (
    *("the", "answer", "is", "a", "number", "of", "rivers", "that", "flow", "from", "this", "old", "city", "to"),
    *("sea", "in", "which", "it", "has", "been", "raining"),
)


@dataclass(frozen=True)
class SyntheticJudge:
    """A judge that is right but for its faults, each off as it stands.

    In `slips` of its readings a score is one off, up as often as down; that is noise and no fault. `long_bonus` is what
    accuracy gains in a long answer. `first_pick` is how often the first place of a pair wins, whatever stands there.
    With `leaks`, accuracy is mostly tone unless the prompt excludes it. A true accuracy of `noisy_anchor` is read as
    that, or as the anchor above or below, by chance.
    """

    seed: int
    slips: float = 0.05
    long_bonus: int = 0
    first_pick: float = 0.0
    leaks: bool = False
    noisy_anchor: int | None = None

    def answer(self, request: Recorded) -> Answer:
        """Serve one request; the chance of each reading follows from all that the request holds."""
        system, user = (message["content"] for message in request.json["messages"][:2])
        chance = random.Random(f"{self.seed} {request.body!r}")
        texts = [found[3] for found in _RESPONSE.finditer(user)]
        reply = verdict_for(request.json["response_format"]["json_schema"]["schema"])
        if len(texts) == 1:
            for dimension, score in self.scores(texts[0], system, chance).items():
                reply[dimension]["score"] = score
        else:
            for target, preference in self.preferences(texts[0], texts[1], system, chance).items():
                named = {"winner": "A" if preference > 0 else "B" if preference < 0 else "tie"}
                margin = max(1, abs(preference))
                reply |= named if target == "winner" else {target: {**reply[target], **named, "margin": margin}}
        return chat(json.dumps(reply))

    def scores(self, response: str, told: str, chance: random.Random) -> dict[str, int]:
        """Return what this judge reads in a response, told a prompt."""
        accuracy, tone = quality(response)
        if self.leaks and _EXCLUDED not in told:
            accuracy = round(0.2 * accuracy + 0.8 * tone)
        accuracy += chance.choice((-1, 0, 1)) if accuracy == self.noisy_anchor else self._slip(chance)
        if len(re.findall(r"\w+", response)) >= LONG_FROM:
            accuracy += self.long_bonus
        return {"accuracy": _on_scale(accuracy), "tone": _on_scale(tone + self._slip(chance))}

    def preferences(self, first: str, second: str, told: str, chance: random.Random) -> dict[str, int]:
        """Return for each dimension and the winner how far the first response is ahead, below 0 where it is behind."""
        if chance.random() < self.first_pick:
            return dict.fromkeys((*DIMENSIONS, "winner"), 1)
        one, other = (self.scores(response, told, chance) for response in (first, second))
        ahead: dict[str, int] = {dimension: one[dimension] - other[dimension] for dimension in DIMENSIONS}
        return {**ahead, "winner": sum(ahead.values())}

    def _slip(self, chance: random.Random) -> int:
        return chance.choice((-1, 1)) if chance.random() < self.slips else 0


def quality(response: str) -> tuple[int, int]:
    """Return the true accuracy and tone, whatever was done to the response's form or written after it."""
    found = _QUALITY.search(response.replace("*", ""))
    assert found is not None
    return int(found[1]), int(found[2])


def synthetic_rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Return rows of two models in turn: two to twelve sentences, true scores from 1 to 5, and a person's labels.

    Length, model and both true scores have nothing to do with each other. The label is one off in one of twenty.
    """
    chance = random.Random(f"rows {seed}")
    return [
        {
            "id": f"item-{n}",
            "request": f"What does No. {n} name?",
            "response": response,
            "model": ("gpt-4o-mini", "claude-sonnet-4")[n % 2],
            "labels": SyntheticJudge(0).scores(response, "", chance),
        }
        for n, response in enumerate(_responses(count, chance))
    ]


def synthetic_pairs(count: int, seed: int) -> list[dict[str, Any]]:
    """Return pairs of such responses; a person's label names the one with the higher sum of true scores."""
    chance = random.Random(f"pairs {seed}")
    texts = _responses(2 * count, chance)
    pairs = zip(texts[::2], texts[1::2], strict=True)
    return [
        {
            "id": f"pair-{n}",
            "request": f"What does No. {n} name?",
            "response_a": a,
            "response_b": b,
            "model_a": "gpt-4o-mini",
            "model_b": "claude-sonnet-4",
            "labels": {"winner": _sign(sum(quality(a)) - sum(quality(b)))},
        }
        for n, (a, b) in enumerate(pairs)
    ]


def write_synthetic_rubric(folder: Path, *, excluding: bool = True) -> Path:
    """Write the rubric, with or without the exclusion that keeps tone out of accuracy."""
    path = folder / ("synthetic.yaml" if excluding else "without.yaml")
    path.write_text(RUBRIC if excluding else RUBRIC.replace(_EXCLUSION, ""), encoding="utf-8")
    return path


def _responses(count: int, chance: random.Random) -> list[str]:
    found = []
    for _ in range(count):
        accuracy, tone = chance.randint(1, 5), chance.randint(1, 5)
        more = [" ".join(chance.choices(_WORDS, k=8)).capitalize() + "." for _ in range(chance.randint(1, 11))]
        found.append(" ".join([f"It names {accuracy} rivers and {tone} lakes.", *more]))
    return found


def _on_scale(score: int) -> int:
    return max(1, min(5, score))


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
