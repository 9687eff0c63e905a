"""Published agreement between judges and people comes out of a calibration: recorded replies, a run, its labels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from agentanvil.aggregate import CalibrationReport
from agentanvil.runner.calibration.calibrate import CalibrateSettings, calibrate
from agentanvil.stats import population_sd
from tests.fakes.published import read_json, read_lines
from tests.fakes.runs import Runs, read_table, recording
from tests.fakes.tokens import token

pytestmark = pytest.mark.published

CODE = """\
version: 1
id: ice
scale: {min: 0, max: 4}
evidence: none
reply: {format: label}
dimensions:
  - id: useful
    question: How far does the code solve the problem?
    anchors: {4: it solves the whole problem, 2: it solves half of it, 0: it solves nothing of it}
"""
ANSWER = """\
version: 1
id: best-of-four
scale: {min: 1, max: 10}
evidence: none
reply: {format: label}
dimensions:
  - id: quality
    question: How well does the response do what was asked?
    anchors: {10: all that is asked is done, 5: half of it is done, 1: nothing of it is done}
"""
TASK = """\
version: 1
id: airline
mode: gate
scale: {min: 0, max: 1}
evidence: none
dimensions:
  - id: solved
    question: Does the database hold what the task asks for?
    anchors: {1: it holds all of it, 0: something is missing}
"""
DIALOGUE = ("naturalness", "coherence", "engagingness", "groundedness", "understandability", "overall")


def calibrated(runs: Runs, **how: Any) -> CalibrationReport:
    return calibrate(CalibrateSettings(runs.out, **how)).report


@pytest.mark.parametrize("prompt", ["raw_no_ref", "raw_with_ref"])
@pytest.mark.parametrize("language", ["java", "cpp", "python", "js"])
def test_code_graded_against_what_its_tests_say(tmp_path: Path, language: str, prompt: str) -> None:
    """ICE-Score on HumanEval. The authors count a reply that is no bare digit as a 0; a run counts it as missing."""
    tasks = [task for task in read_lines("ice_score/humaneval.jsonl") if task["lang"] == language]
    found = read_json("ice_score/expected.json")["humaneval"][language][prompt]
    samples = [(task, place) for task in tasks for place in range(task["n"])]
    rows = [
        {
            "id": f"{task['task']}/{place}",
            "request": f"Task {task['task']}",
            "response": f"Sample {place}",
            "labels": {"useful": task["passed"][place]},
            "meta": {"task": task["task"]},
        }
        for task, place in samples
    ]
    texts = {row["id"]: task[prompt][place] for row, (task, place) in zip(rows, samples, strict=True)}
    runs = Runs(tmp_path, recording(tmp_path, *({"id": name, "reply": text} for name, text in texts.items())), *rows)
    runs.rubric.write_text(CODE, encoding="utf-8")
    assert runs.grade(min_coverage=0.0).problem is None
    cells = {cell["id"]: cell for cell in read_table(runs.out, "scores.csv")}
    unread = {name for name, cell in cells.items() if cell["state"] == "judge_error"}
    assert (len(cells), len(unread)) == (found["n"], found["non_bare"])
    counted = {
        row["id"]: task[prompt.replace("raw", "pub")][place] for row, (task, place) in zip(rows, samples, strict=True)
    }
    assert all(counted[name] == (0 if name in unread else int(cell["score"])) for name, cell in cells.items())

    replies = [{"id": name, "reply": "0" if name in unread else text} for name, text in texts.items()]
    runs.judge, runs.out = recording(tmp_path, *replies), tmp_path / "zeroed"
    assert runs.grade().problem is None
    report = calibrated(runs, group="meta.task")
    assert report.groups is not None
    pooled, (within,) = report.dimensions[0], report.groups.dimensions[:1]
    published = found["published_parse"]
    for name, value in (
        ("corpus_kendall", pooled.kendall_tau_b.value),
        ("corpus_spearman", pooled.spearman.value),
        ("example_kendall", within.kendall_tau_b.mean.value),
        ("example_spearman", within.spearman.mean.value),
    ):
        assert value == pytest.approx(published[name], abs=1e-6), name
    assert within.groups == len(tasks)


@pytest.mark.parametrize(
    ("prompt", "judge"),
    [("gpt54_base", "full"), ("gpt54_base", "mini"), ("gpt54_criteria", "full"), ("claude_base", "full")],
)
def test_the_best_of_four_and_the_spread_of_eight_repeats(tmp_path: Path, prompt: str, judge: str) -> None:
    items = read_lines(f"composo_k8/{prompt}.jsonl")
    found = read_json("composo_k8/expected.json")[prompt][judge]
    rows, replies = [], []
    for number, item in enumerate(items):
        for place, scores in enumerate(item[judge]):
            name = f"{number}/{place}"
            labels = {"quality": 1 if place else 10}
            rows.append({"id": name, "request": item["id"], "response": name, "labels": labels, "meta": {"of": number}})
            replies += [
                {"id": name, "repeat": k, "reply": "none" if score is None else str(score)}
                for k, score in enumerate(scores)
            ]
    runs = Runs(tmp_path, recording(tmp_path, *replies), *rows)
    runs.rubric.write_text(ANSWER, encoding="utf-8")
    result = runs.grade(min_coverage=0.0, repeats=8)
    assert result.problem is None
    quality = result.summary.dimensions[0]
    assert quality.states["judge_error"] == found["null_scores"]
    assert spread(runs) == pytest.approx((found["mean_pop_sd"], found["mean_sample_sd"]), abs=1e-6)
    variance = quality.variance
    assert variance is not None
    # The published ICC leaves out the few responses that lack a score; a run takes what they have.
    assert variance.icc_single.estimate.value == pytest.approx(found["ICC1"], abs=1e-4)
    assert variance.icc_mean.estimate.value == pytest.approx(found["ICC1k"], abs=1e-4)
    report = calibrated(runs, group="meta.of")
    assert report.groups is not None
    told = {
        str(best.k): {
            "n": best.groups,
            "correct": best.correct,
            "tied": best.tied,
            "acc_pct": round(100 * (best.accuracy.value or 0), 4),
        }
        for best in report.groups.dimensions[0].top_one
    }
    assert told == found["by_k"]


def spread(runs: Runs) -> tuple[float, float]:
    """Return the mean standard deviation of a response's scores, of the population and of the sample."""
    scores: dict[str, list[float]] = {}
    for cell in read_table(runs.out, "scores.csv"):
        if cell["state"] == "scored":
            scores.setdefault(cell["id"], []).append(float(cell["score"]))
    several = [given for given in scores.values() if len(given) > 1]
    population = [found for given in several if (found := population_sd(given).value) is not None]
    sample = [float(row["quality_sd"]) for row in read_table(runs.out, "items.csv") if row["quality_sd"]]
    return sum(population) / len(population), sum(sample) / len(sample)


def test_trials_that_all_pass(tmp_path: Path) -> None:
    """pass^k of the tau-bench airline tasks; the reward, which code computed, stands for judge and label alike."""
    rewards = read_lines("tau_airline/rewards.jsonl")
    rows = [
        {
            "id": f"{entry['task']}/{entry['trial']}",
            "request": f"Task {entry['task']}",
            "response": f"Trial {entry['trial']}",
            "labels": {"solved": entry["reward"] == 1},
            "meta": {"task": entry["task"]},
        }
        for entry in rewards
    ]
    replies = [
        {"id": row["id"], "reply": {"pass": entry["reward"] == 1}} for row, entry in zip(rows, rewards, strict=True)
    ]
    runs = Runs(tmp_path, recording(tmp_path, *replies), *rows)
    runs.rubric.write_text(TASK, encoding="utf-8")
    runs.grade()
    report = calibrated(runs, group="meta.task")
    assert report.groups is not None
    trials = report.groups.dimensions[0].trials
    found = read_json("tau_airline/expected.json")["pass_hat_k"]
    assert [trial.k for trial in trials] == [1, 2, 3, 4]
    for trial in trials:
        assert trial.judge_pass_hat.value == pytest.approx(found[str(trial.k)], abs=1e-6)
        assert trial.label_pass_hat.value == pytest.approx(found[str(trial.k)], abs=1e-6)


def test_dialogue_scores_that_are_no_whole_numbers(tmp_path: Path) -> None:
    """UniEval on Topical-Chat: a score between two levels is what the probabilities of both expect."""
    turns = read_lines("unieval_topicalchat/scores.jsonl")
    names = {name: f"dialogue_{name}" for name in DIALOGUE}
    rows = [
        {
            "id": str(turn["n"]),
            "request": f"Dialogue {turn['doc']}",
            "response": turn["system"],
            "labels": {names[name]: value for name, value in turn["human"].items()},
            "meta": {"doc": turn["doc"]},
        }
        for turn in turns
    ]
    replies = [
        {"id": str(turn["n"]), "call": names[name], **between(turn["unieval"][name])}
        for turn in turns
        for name in DIALOGUE
    ]
    runs = Runs(tmp_path, recording(tmp_path, *replies), *rows)
    dimensions = "".join(
        f"  - id: {name}\n    question: How good is this?\n    anchors: {{9: all of it is, 0: nothing of it is}}\n"
        for name in names.values()
    )
    head = "version: 1\nid: dialogue\nscale: {min: 0, max: 9}\ncalls: split\nevidence: none\n"
    runs.rubric.write_text(f"{head}dimensions:\n{dimensions}", encoding="utf-8")
    assert runs.grade(reading="expected").problem is None
    report = calibrated(runs, group="meta.doc")
    assert report.groups is not None
    within = {found.id: found for found in report.groups.dimensions}
    published = read_json("unieval_topicalchat/expected.json")
    for found in report.dimensions:
        expected = published[found.id.removeprefix("dialogue_")]
        assert found.pearson.value == pytest.approx(expected["turn_level"]["pearson"], abs=1e-6)
        assert found.spearman.value == pytest.approx(expected["turn_level"]["spearman"], abs=1e-6)
        assert found.kendall_tau_b.value == pytest.approx(expected["turn_level"]["kendall_b"], abs=1e-6)
        by_source = within[found.id].spearman
        assert by_source.mean.value == pytest.approx(expected["per_source_mean_spearman"], abs=1e-5)
        assert by_source.mean.n == expected["sources_used"]


def between(score: float) -> dict[str, Any]:
    """Return the reply of a judge whose probabilities expect this score: they fall on the two levels around it."""
    below = math.floor(score)
    levels = {str(level): share for level, share in ((below, 1 - score + below), (below + 1, score - below)) if share}
    said = max(levels, key=lambda level: levels[level])
    others = {level: share for level, share in levels.items() if level != said}
    spelled = [token('{"reason": "", "score": '), token(said, levels[said], others), token("}")]
    return {"reply": "".join(part["token"] for part in spelled), "logprobs": {"content": spelled}}
