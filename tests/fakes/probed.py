"""Judges with a planted fault on the loopback, rows for them, and a probe of them in this process."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from agentanvil.aggregate.probe.findings import Finding
from agentanvil.runner.job import Surroundings
from agentanvil.runner.probe.probe import ProbeResult, probe
from agentanvil.runner.probe.settings import ProbeSettings
from agentanvil.runner.settings import GradeSettings, JudgeSettings
from tests.fakes.pairs import slots
from tests.fakes.runs import Collected
from tests.fakes.server import Answer, Recorded, chat
from tests.fakes.verdicts import write_rows

RUBRIC = """\
version: 1
id: probed
scale: {min: 1, max: 5}
evidence: none
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {5: no error, 3: exactly one error, 1: two or more errors}
  - id: coverage
    question: Is each part answered?
    anchors: {5: no part is missing, 3: exactly one part is missing, 1: two or more parts are missing}
"""
_RESPONSE = re.compile(r"<<RESPONSE (\w+)>>\n(.*?)\n<<END RESPONSE \1>>", re.DOTALL)
_WORDS = (
    *("the", "answer", "is", "a", "number", "of", "rivers", "that", "flow", "from", "this", "old", "city", "to"),
    *("sea", "in", "which", "it", "has", "been", "raining"),
)
_JUDGE = frozenset(f.name for f in fields(JudgeSettings))
_PROBE = frozenset(f.name for f in fields(ProbeSettings)) - {"run"}
Score = Callable[[str, int, random.Random], int]
"""A response, its true worth from 1 to 5, and chance of this very call → the score."""


def honest(response: str, worth: int, chance: random.Random) -> int:
    return worth


def noisy(response: str, worth: int, chance: random.Random) -> int:
    """Right in three calls of four, else off by one."""
    return within(worth + chance.choice([0] * 6 + [-1, 1]))


def within(score: int) -> int:
    return max(1, min(5, score))


def probed_rows(count: int, seed: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Responses of 2 to 12 sentences that say in their request what they are worth, 1 to 4, whatever their length."""
    chance = random.Random(seed)
    rows = []
    for n in range(count):
        said = [" ".join(chance.choices(_WORDS, k=8)).capitalize() + "." for _ in range(chance.randint(2, 12))]
        worth = chance.randint(1, 4)
        rows.append({"id": f"r{n}", "request": f"No. {n}: worth {worth}", "response": " ".join(said), **more})
    return rows


def probed_pairs(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Pairs of such responses to one request; which of them is better, follows from the pair's number."""
    texts = [row["response"] for row in probed_rows(2 * count, seed)]
    return [
        {"id": f"p{n}", "request": f"No. {n}", "response_a": texts[2 * n], "response_b": texts[2 * n + 1]}
        for n in range(count)
    ]


def grading(score: Score, seed: int = 0) -> Callable[[Recorded], Answer]:
    """Return a judge that grades both dimensions by `score`. Its chance follows from all that a call holds."""

    def answer(request: Recorded) -> Answer:
        user = request.json["messages"][1]["content"]
        found = _RESPONSE.search(user)
        assert found is not None
        worth = int(user.partition("worth ")[2][0])
        chance = random.Random(f"{seed} {request.json.get('seed')} {user}")
        graded = {name: {"reason": "so", "score": score(found[2], worth, chance)} for name in ("accuracy", "coverage")}
        return chat(json.dumps(graded))

    return answer


def choosing(choose: Callable[[str, str, random.Random], str], seed: int = 0) -> Callable[[Recorded], Answer]:
    """Return a judge of pairs that picks A, B or tie for what the two slots hold."""

    def answer(request: Recorded) -> Answer:
        a, b = slots(request)
        chance = random.Random(f"{seed} {request.json.get('seed')} {min(a, b)} {max(a, b)}")
        picked = choose(a, b, chance)
        reply = {name: {"winner": picked, "margin": 1} for name in ("accuracy", "coverage")}
        return chat(json.dumps({**reply, "winner": picked}))

    return answer


class Probes:
    """Probes in one folder: its rubric, rows `rows.jsonl`, and the probe's folder `probe` unless told otherwise."""

    def __init__(self, folder: Path, judge: str, *data: dict[str, Any]) -> None:
        self.folder = folder
        self.judge = judge
        self.rubric = folder / "probed.yaml"
        self.rubric.write_text(RUBRIC, encoding="utf-8")
        self.data = write_rows(folder, *data)
        self.out = folder / "probe"

    def settings(self, **changes: Any) -> ProbeSettings:
        """Return the settings of a probe; `changes` are fields of any of the three records of settings."""
        chosen = {"cache": "off", "max_attempts": 1, "judge": self.judge, **changes}
        judge = JudgeSettings(**{name: value for name, value in chosen.items() if name in _JUDGE})
        rest = {name: value for name, value in chosen.items() if name not in _JUDGE | _PROBE}
        places = {"data": str(self.data), "rubric": str(self.rubric), "out": self.out, "accept_self_judging": True}
        run = GradeSettings(**{**places, **rest, "judge": judge})
        return ProbeSettings(run, **{name: value for name, value in chosen.items() if name in _PROBE})

    def probe(self, listener: Collected | None = None, **changes: Any) -> ProbeResult:
        return probe(self.settings(**changes), Surroundings({}), listener or Collected())

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "probe.json").read_text(encoding="utf-8"))
        return found


def found_in(result: ProbeResult) -> set[tuple[str, str]]:
    """Return the probe and the target of every bias and noise that was found."""
    return {(f.effect.probe, f.effect.target) for f in result.findings if f.verdict in {"bias found", "noise found"}}


def finding(result: ProbeResult, probe_name: str, target: str | None = None, measure: str | None = None) -> Finding:
    """Return the only line of a probe, or that of a target or a measure."""
    (one,) = [
        each
        for each in result.findings
        if each.effect.probe == probe_name
        and target in (None, each.effect.target)
        and measure in (None, each.effect.measure)
    ]
    return one
