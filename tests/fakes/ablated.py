"""Arms of an ablation made by hand, and judges that are told clauses and heed them or not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Reducer
from agentanvil.aggregate.ablation.effects import Chances, clause_effect
from agentanvil.aggregate.ablation.readings import ArmReadings, ScoreCodes
from agentanvil.aggregate.ablation.tally import Ablation
from agentanvil.aggregate.ablation.verdict import conclude
from agentanvil.report.ablation_files import AblationFacts, AblationReport
from agentanvil.rubric import Rubric
from agentanvil.rubric.variant import Clause
from agentanvil.verdict import Exchange
from tests.fakes.graded import Score, item, plan
from tests.fakes.server import Answer, Recorded, chat

Columns = Mapping[str, Sequence[Any]]
Judge = Callable[[str, int, random.Random], dict[str, int]]
"""From what it is told, the number of the item and a source of noise to scores."""

EXCLUSION, RULE, INERT = "how polite it is", "Be lenient.", "figures"
TEXT = f"""\
version: 1
id: leaky
scale: {{min: 1, max: 5}}
gate: {{accuracy: 3}}
rules: ["{RULE}"]
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {{5: no error, 3: exactly one error, 1: two or more errors}}
    scope: {{in: [{INERT}], out: [{{what: {EXCLUSION}, judged_by: tone}}, {{what: spelling}}]}}
  - id: tone
    question: Is it polite in each sentence?
    anchors: {{5: in each, 3: in all but one, 1: in fewer}}
"""
EXCLUDES = Clause("accuracy.out.1", "out_of_scope", EXCLUSION, (), "accuracy", "tone")
"""The exclusion of `TEXT`, for studies without a file."""


def arm(of: Rubric, codes: ScoreCodes, scores: Columns, labels: Columns | None = None, **more: Any) -> ArmReadings:
    """Readings of items whose scores stand in columns; `exchanges` may hold one or several a row."""
    repeats = more.get("repeats", 1)
    shape = plan(of, repeats, "fixed" if of.mode == "pairwise" else None)
    reducer = Reducer(of, shape)
    readings = ArmReadings(reducer.frame, codes)
    exchanges: Sequence[Sequence[Exchange]] = more.get("exchanges", ())
    for index in range(len(next(iter(scores.values())))):
        row: dict[str, Score | Sequence[Score]] = {name: column[index] for name, column in scores.items()}
        given = {
            name: column[index] if isinstance(column[index], tuple) else (column[index],)
            for name, column in (labels or {}).items()
            if column[index] is not None
        }
        readings.add(
            reducer.reduce(item(shape, index, row, labels=given, exchanges=exchanges[index] if exchanges else ()))
        )
    return readings


def study(
    of: Rubric, whole: Columns, without: Mapping[Clause, Columns], labels: Columns | None = None, seed: int = 1
) -> Ablation:
    """Return a whole study of arms that stand in columns."""
    codes = ScoreCodes()
    first = arm(of, codes, whole, labels)
    chances = Chances(seed, 9_999)
    effects = [
        (clause, clause_effect(first, arm(of, codes, scores, labels), chances, clause))
        for clause, scores in without.items()
    ]
    return conclude(effects, None, first.items)


def truth(item: int, seed: int) -> dict[str, int]:
    """What is right for an item: two scores that have nothing to do with each other."""
    rng = random.Random(f"{seed} {item}")
    return {"accuracy": rng.randint(1, 5), "tone": rng.randint(1, 5)}


def leaky(seed: int) -> Judge:
    """A judge that lets tone into accuracy unless its exclusion is there, and heeds the rule that does harm."""

    def judge(told: str, number: int, noise: random.Random) -> dict[str, int]:
        right = truth(number, seed)
        accuracy, tone = right["accuracy"], right["tone"]
        if EXCLUSION not in told:
            accuracy = round((accuracy + tone) / 2 - 0.25)
        if RULE in told:
            tone = min(5, tone + 1)
        return {"accuracy": max(1, accuracy), "tone": tone}

    return judge


def noisy(seed: int, share: float = 0.2) -> Judge:
    """A judge that heeds no clause, and misses by one now and then."""

    def judge(told: str, number: int, noise: random.Random) -> dict[str, int]:
        def missed(score: int) -> int:
            return min(5, max(1, score + (noise.choice((-1, 1)) if noise.random() < share else 0)))

        return {name: missed(score) for name, score in truth(number, seed).items()}

    return judge


def rows(count: int, seed: int, *, labelled: bool = True) -> list[dict[str, Any]]:
    """Rows whose request names their number; the labels are the truth."""
    return [
        {
            "id": f"item-{n}",
            "request": f"Question {n} ?",
            "response": "That is the answer.",
            **({"labels": truth(n, seed)} if labelled else {}),
        }
        for n in range(count)
    ]


def answering(judge: Judge, seed: int = 0) -> Callable[[Recorded], Answer]:
    """Serve a judge. Its noise depends on the whole request, as that of a real one at temperature 0."""

    def answer(request: Recorded) -> Answer:
        system, user = (message["content"] for message in request.json["messages"][:2])
        number = int(user.partition("Question ")[2].partition(" ")[0])
        scores = judge(system, number, random.Random(f"{seed} {request.body!r}"))
        schema = request.json["response_format"]["json_schema"]["schema"]["properties"]
        said = {name: {"evidence": ["the answer"], "reason": "so", "score": score} for name, score in scores.items()}
        if "score" in schema:  # a call for one dimension
            return chat(json.dumps(said["tone" if "polite in each" in system else "accuracy"]))
        return chat(json.dumps(said))

    return answer


def write_rubric(folder: Path, text: str = TEXT) -> Path:
    path = folder / "leaky.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def told(ablation: Ablation, unsaid: Sequence[Clause] = (), unmeasured: Sequence[Clause] = ()) -> AblationReport:
    """Return a report of a study by hand."""
    measured = range(1, len(ablation.findings) + 1)
    facts = AblationFacts(
        rubric_id="leaky",
        rubric_hash="0" * 32,
        rubric_file="leaky.yaml",
        data="rows.jsonl",
        sample=None,
        judge="compat:m@http://127.0.0.1:1/v1",
        mode="absolute",
        reading="verdict",
        prompt_version="2",
        repeats=1,
        seed=1,
        complete=not unmeasured,
        cost_usd=0.25,
        arms={number: f"study/arms/{number}/run" for number in (0, *measured)},
    )
    after = len(ablation.findings) + 1
    return AblationReport(
        facts,
        ablation,
        tuple(measured),
        dict(enumerate(unsaid, start=after)),
        dict(enumerate(unmeasured, start=after + len(unsaid))),
    )
