"""Whole runs by judges that answer typed questions with probabilities, over both contracts and in all modes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import JudgeSetupError, RubricError, UsageError
from agentanvil.runner.estimate import estimate
from agentanvil.runner.job import Surroundings
from agentanvil.runner.judge import as_dict, inspect_judge
from agentanvil.runner.report import report
from agentanvil.runner.run_view import rubric_of
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.show import show
from agentanvil.runner.show_cost import show_cost
from agentanvil.runner.show_subject import ShowSettings
from tests.fakes.decision_servers import REFUSED, Decide, Told, openai_decisions, systemone
from tests.fakes.runs import Collected, Runs, read_journal, read_table, rows
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, error

RUBRIC = """\
version: 1
id: care
scale: {min: 1, max: 5}
dimensions:
  - id: accuracy
    question: Is each claim true?
    anchors: {5: no error, 3: exactly one error, 1: two or more errors}
  - id: coverage
    question: Is each part answered?
    anchors: {5: no part is missing, 3: exactly one part is missing, 1: two or more parts are missing}
"""
Speak = Callable[[Decide], Callable[[Recorded], Answer]]
CONTRACTS: Mapping[str, Speak] = {"openai-decisions": openai_decisions, "systemone": systemone}
KEYS = {"OPENAI_API_KEY": "sk-test-0123456789abcdef"}
both = pytest.mark.parametrize("provider", CONTRACTS)


def about(state: str) -> int:
    """The number that one of `rows` asks about."""
    return int(state.partition("What is ")[2].partition(" ")[0])


def of_rows(*told: Mapping[str, Told]) -> Decide:
    return lambda state: told[about(state)]


def runs_of(folder: Path, server: FakeServer, provider: str, *data: dict[str, Any], text: str = RUBRIC) -> Runs:
    runs = Runs(folder, f"{provider}:m@{server.url}", *data)
    runs.rubric = folder / "care.yaml"
    runs.rubric.write_text(text, encoding="utf-8")
    return runs


def refused_code(provider: str) -> str:
    """System One has no refusal of one question: a gateway leaves its answer out."""
    return "refusal" if provider == "openai-decisions" else "missing_verdict"


@both
def test_absolute_scores_with_refusals_and_rounding(tmp_path: Path, provider: str) -> None:
    decide = of_rows(
        {"accuracy": (0.1, 0.2, 0.7), "coverage": (0.33, 0.33, 0.33)},
        {"accuracy": REFUSED, "coverage": (0.0, 0.0, 1.0)},
        {"accuracy": (0.5, 0.0, 0.5), "coverage": (0.2, 0.2, 0.2)},
    )
    with FakeServer(CONTRACTS[provider](decide)) as server:
        runs = runs_of(tmp_path, server, provider)
        result = runs.grade(evidence="none", environ=KEYS)
        assert len(server.requests) == 3, "all dimensions of a row are asked in one request"
        assert [len(body["questions"]) for body in server.bodies] == [2, 2, 2]
    assert int(result.exit) == 3, "verdicts are missing"
    found = {(row["id"], row["dimension"]): row for row in read_table(runs.out, "scores.csv")}
    first = found["item-0", "accuracy"]
    assert (first["state"], first["score"], first["label_mass"]) == ("scored", "5", "1")
    assert float(first["expected_score"]) == pytest.approx(0.1 + 0.6 + 3.5)
    entropy = -sum(p * math.log(p) for p in (0.1, 0.2, 0.7)) / math.log(3)
    assert float(first["entropy"]) == pytest.approx(entropy)
    rounded = found["item-0", "coverage"]
    assert rounded["score"] == "1"
    assert float(rounded["expected_score"]) == pytest.approx(3)
    assert float(rounded["label_mass"]) == pytest.approx(0.99)
    refused = found["item-1", "accuracy"]
    assert (refused["state"], refused["score"], refused["code"]) == ("judge_error", "", refused_code(provider))
    assert found["item-1", "coverage"]["score"] == "5"
    ends = found["item-2", "accuracy"]
    assert ends["score"] == "1"
    assert float(ends["expected_score"]) == pytest.approx(3)
    assert found["item-2", "coverage"]["code"] == "bad_probabilities"
    assert {(row["evidence"], row["evidence_found"], row["reason"]) for row in found.values() if row["score"]} == {
        ("", "", "")
    }


@both
def test_expected_scores_can_be_what_is_aggregated(tmp_path: Path, provider: str) -> None:
    told: Mapping[str, Told] = {"accuracy": (0.1, 0.2, 0.7), "coverage": (0.0, 0.5, 0.5)}
    with FakeServer(CONTRACTS[provider](lambda _: told)) as server:
        runs = runs_of(tmp_path, server, provider)
        runs.grade(evidence="none", environ=KEYS)
        runs.grade(evidence="none", environ=KEYS, reading="expected", out=tmp_path / "expected")
    verdict, expected = (read_table(folder, "items.csv")[0] for folder in (runs.out, tmp_path / "expected"))
    assert (verdict["accuracy"], verdict["coverage"], verdict["overall"]) == ("5", "3", "3")
    assert float(expected["accuracy"]) == pytest.approx(4.2)
    assert float(expected["coverage"]) == pytest.approx(4.0)
    assert float(expected["overall"]) == pytest.approx(4.0)


@both
def test_a_gate_passes_fails_and_stays_undecided(tmp_path: Path, provider: str) -> None:
    decide = of_rows(
        {"accuracy": 0.5, "coverage": 0.97},
        {"accuracy": 0.49, "coverage": 0.97},
        {"accuracy": REFUSED, "coverage": 0.97},
    )
    with FakeServer(CONTRACTS[provider](decide)) as server:
        runs = runs_of(tmp_path, server, provider, text=RUBRIC + "gate: {accuracy: 5, coverage: 3}\n")
        listener = Collected()
        result = runs.grade(listener, evidence="none", mode="gate", environ=KEYS)
        kinds = {q["type"] for q in questions_of(server.bodies[0])}
    assert kinds == {"predicate"} if provider == "openai-decisions" else {"noul"}
    assert int(result.exit) == 1
    items = read_table(runs.out, "items.csv")
    assert [(item["accuracy"], item["pass"]) for item in items] == [("1", "true"), ("0", "false"), ("", "")]
    scores = [row for row in read_table(runs.out, "scores.csv") if row["dimension"] == "accuracy"]
    assert [row["expected_score"] for row in scores] == ["0.5", "0.49", ""]
    assert float(scores[0]["entropy"]) == 1
    assert scores[2]["code"] == refused_code(provider)
    assert len(listener.failures) == 1
    assert "item-1 · accuracy" in listener.failures[0]


def questions_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    asked = body["questions"]
    return list(asked.values()) if isinstance(asked, dict) else asked


@both
def test_pairs_are_asked_in_both_orders_and_averaged_in_log_odds(tmp_path: Path, provider: str) -> None:
    """The longer response wins by its words, and what is shown first gets the same lead in both orders."""

    def decide(state: str) -> Mapping[str, Told]:
        first, second = (state.partition(f"<<RESPONSE {slot} ")[2].partition("<<END")[0] for slot in "AB")
        if "undecided" in state:
            return {"accuracy": (0.25, 0.25, 0.5), "coverage": REFUSED}
        longer = (0.8, 0.1, 0.1) if len(first) > len(second) else (0.4, 0.5, 0.1)
        return {"accuracy": longer, "coverage": (0.33, 0.33, 0.33)}

    data = [
        {"id": "p", "request": "Name a prime.", "response_a": "Seven, for one.", "response_b": "Nine."},
        {"id": "q", "request": "undecided", "response_a": "Yes.", "response_b": "No."},
    ]
    with FakeServer(CONTRACTS[provider](decide)) as server:
        runs = runs_of(tmp_path, server, provider, *data)
        runs.grade(evidence="none", mode="pairwise", order="both", environ=KEYS)
        assert len(server.requests) == 4
    scores = {(r["id"], r["dimension"], r["order"]): r for r in read_table(runs.out, "scores.csv")}
    ab, ba = scores["p", "accuracy", "ab"], scores["p", "accuracy", "ba"]
    assert (ab["score"], ab["slot"]) == ("1", "A")
    assert (ba["score"], ba["slot"]) == ("1", "B")
    assert [float(cell["preference"]) for cell in (ab, ba)] == pytest.approx([0.85, 1 - 0.45])
    assert [float(cell["expected_score"]) for cell in (ab, ba)] == pytest.approx([0.7, 0.1])
    tie = scores["p", "coverage", "ab"]
    assert tie["score"] == "0"
    assert float(tie["preference"]) == pytest.approx(0.5)
    assert scores["q", "coverage", "ba"]["code"] == refused_code(provider)
    pair = read_table(runs.out, "items.csv")[0]
    assert pair["winner"] == "a"
    # Over both dimensions by the rule `min`: the mean of the lowest and the highest log-odds, and 0 is the other one's.
    odds = [math.log(p / (1 - p)) / 2 for p in (0.85, 0.55)]
    assert float(pair["preference"]) == pytest.approx(1 / (1 + math.exp(-sum(odds) / 2)))


@both
@pytest.mark.parametrize(("order", "asked"), [(None, 2), ("random", 1), ("fixed", 1)])
def test_pairs_are_asked_in_both_orders_where_nobody_chose(
    tmp_path: Path, provider: str, order: Any, asked: int
) -> None:
    told: Mapping[str, Told] = {"accuracy": (0.8, 0.1, 0.1), "coverage": (0.8, 0.1, 0.1)}
    pair = {"id": "p", "request": "Name a prime.", "response_a": "Seven.", "response_b": "Nine."}
    with FakeServer(CONTRACTS[provider](lambda _: told)) as server:
        runs = runs_of(tmp_path, server, provider, pair)
        runs.grade(evidence="none", mode="pairwise", order=order, environ=KEYS)
        judge = JudgeSettings(judge=runs.judge, cache="off")
        shown = show(
            ShowSettings(str(runs.rubric), judge, str(runs.data), mode="pairwise", order=order),
            Surroundings(KEYS),
            Collected(),
        )
        assert sorted(request.body for request in server.requests) == sorted(request.body for request in shown)
    assert len(shown) == asked
    manifest = runs.manifest()
    assert manifest["plan"]["order"] == manifest["identity"]["order"] == (order or "both")


@both
def test_reports_say_that_there_is_no_evidence_and_are_rebuilt_the_same(tmp_path: Path, provider: str) -> None:
    told: Mapping[str, Told] = {"accuracy": (0.0, 0.0, 1.0), "coverage": (0.0, 0.0, 1.0)}
    with FakeServer(CONTRACTS[provider](lambda _: told)) as server:
        runs = runs_of(tmp_path, server, provider)
        result = runs.grade(evidence="none", environ=KEYS)
        sent = len(server.requests)
        again = runs.grade(evidence="none", environ=KEYS)
        assert len(server.requests) == sent
    note = f"no evidence: {runs.judge} answers with probabilities alone"
    assert note in result.summary.notes
    assert note in again.summary.notes
    manifest = runs.manifest()
    assert manifest["plan"]["evidence"] == manifest["identity"]["evidence"] == "none"
    assert (manifest["judge"]["rung"], manifest["judge"]["dropped"]) == ("questions", [])
    assert rubric_of(manifest).evidence == "none"
    before = runs.reports()
    report(runs.out, Collected())
    assert runs.reports() == before
    assert note.encode() in before["summary.json"]
    (exchange,) = read_journal(runs.out)[0]["exchanges"]
    assert (exchange["input_tokens"], exchange["output_tokens"]) == (100, 0)
    assert [answer["name"] for answer in json.loads(exchange["text"])["answers"]]


@both
def test_replies_are_kept_in_the_cache_and_refusals_are_not(tmp_path: Path, provider: str) -> None:
    decide = of_rows(
        {"accuracy": (0.0, 0.0, 1.0), "coverage": (0.0, 0.0, 1.0)},
        {"accuracy": REFUSED, "coverage": (0.0, 0.0, 1.0)},
    )
    with FakeServer(CONTRACTS[provider](decide)) as server:
        runs = runs_of(tmp_path, server, provider, *rows(2))
        for name in ("one", "two"):
            runs.grade(evidence="none", environ=KEYS, cache=str(tmp_path / "cache.sqlite"), out=tmp_path / name)
        states = [about(body.get("input") or body.get("state")) for body in server.bodies]
    assert sorted(states) == [0, 1, 1]
    kept, missing = read_table(tmp_path / "two", "items.csv")
    assert (kept["accuracy"], missing["accuracy_state"]) == ("5", "judge_error")


@both
@pytest.mark.parametrize("asked", [None, "quoted", "pinpoint"])
def test_a_rubric_that_asks_for_evidence_is_refused_before_anything_is_sent(
    tmp_path: Path, provider: str, asked: Any
) -> None:
    with FakeServer(error(500)) as server:
        runs = runs_of(tmp_path, server, provider)
        with pytest.raises(UsageError, match=r"probabilities alone, but the rubric asks for evidence") as caught:
            runs.grade(evidence=asked, environ=KEYS)
        assert server.requests == []
    assert "--evidence none" in (caught.value.hint or "")
    assert not runs.out.exists()


@both
@pytest.mark.parametrize("wish", [{"temperature": 0.5}, {"max_tokens": 100}, {"effort": "high"}])
def test_wishes_about_writing_are_refused(tmp_path: Path, provider: str, wish: dict[str, Any]) -> None:
    with FakeServer(error(500)) as server:
        runs = runs_of(tmp_path, server, provider)
        with pytest.raises(UsageError, match=r"means nothing to .*: it writes no text"):
            runs.grade(evidence="none", environ=KEYS, **wish)


@both
def test_a_scale_with_too_many_levels_is_refused(tmp_path: Path, provider: str) -> None:
    wide = "version: 1\nid: wide\nscale: {min: 0, max: 10}\ndimensions: [{id: care, question: careful or not}]\n"
    with FakeServer(error(500)) as server:
        runs = runs_of(tmp_path, server, provider, text=wide)
        with pytest.raises(RubricError, match="10 levels, but `care` has 11"):
            runs.grade(evidence="none", environ=KEYS)


@both
def test_split_calls_ask_each_dimension_alone(tmp_path: Path, provider: str) -> None:
    told: Mapping[str, Told] = {"accuracy": (0.0, 0.0, 1.0), "coverage": (0.0, 1.0, 0.0)}
    with FakeServer(CONTRACTS[provider](lambda _: told)) as server:
        runs = runs_of(tmp_path, server, provider, *rows(1))
        runs.grade(evidence="none", environ=KEYS, calls="split")
        assert [len(body["questions"]) for body in server.bodies] == [1, 1]
    (item,) = read_table(runs.out, "items.csv")
    assert (item["accuracy"], item["coverage"]) == ("5", "3")


@both
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (error(501, "model has no decision head"), "decides no typed questions"),
        (error(400, "this model does not support decisions"), "no request has passed yet"),
        (error(401, "bad key"), "not authorised"),
        (answer_json({"detail": [{"loc": ["body", "questions"], "msg": "bad"}]}, 422), "no request has passed yet"),
    ],
)
def test_an_endpoint_that_decides_nothing_leaves_no_run(
    tmp_path: Path, provider: str, answer: Answer, message: str
) -> None:
    with FakeServer(answer) as server:
        runs = runs_of(tmp_path, server, provider)
        with pytest.raises(JudgeSetupError, match=message):
            runs.grade(evidence="none", environ=KEYS, concurrency=1)
    assert not runs.out.exists()


def test_overload_is_asked_again(tmp_path: Path) -> None:
    decide = systemone(lambda _: {"accuracy": (0.0, 0.0, 1.0), "coverage": (0.0, 0.0, 1.0)})

    def overloaded_once(request: Recorded) -> Answer:
        busy = answer_json({"detail": "overloaded"}, 529, headers={"Retry-After": "0"})
        return busy if request.index == 0 else decide(request)

    with FakeServer(overloaded_once) as server:
        result = runs_of(tmp_path, server, "systemone", *rows(1)).grade(evidence="none", max_attempts=2)
    assert int(result.exit) == 0


def test_evidence_none_changes_what_a_writing_judge_is_asked_too(tmp_path: Path) -> None:
    with FakeServer(error(500)) as server:
        runs = runs_of(tmp_path, server, "compat")
        around = Surroundings({})
        judge = JudgeSettings(judge=runs.judge, cache="off")
        quoted, bare = (
            show(ShowSettings(str(runs.rubric), judge, evidence=kind), around, Collected())[0]
            for kind in (None, "none")
        )
    assert b'"evidence"' in quoted.body
    assert b'"evidence"' not in bare.body


@both
def test_show_prints_what_grade_sends(tmp_path: Path, provider: str) -> None:
    told: Mapping[str, Told] = {"accuracy": (0.0, 0.0, 1.0), "coverage": (0.0, 0.0, 1.0)}
    with FakeServer(CONTRACTS[provider](lambda _: told)) as server:
        runs = runs_of(tmp_path, server, provider, *rows(1))
        settings = ShowSettings(str(runs.rubric), JudgeSettings(judge=runs.judge, cache="off"), str(runs.data))
        (shown,) = show(settings, Surroundings(KEYS), Collected())
        cost = show_cost(settings, Surroundings(KEYS))
        found = estimate(runs.settings(evidence="none"), Surroundings(KEYS))
        runs.grade(evidence="none", environ=KEYS)
        assert shown.body == server.requests[0].body
        assert shown.url == server.origin + server.requests[0].path
    assert shown.output_tokens == 0
    assert any("this judge gives none: add --evidence none" in note for note in shown.notes)
    assert cost is not None
    assert cost.of_row.input_tokens == found.input_tokens == shown.input_tokens
    assert (found.calls, found.output_tokens) == (1, 0)
    assert shown.input_tokens == pytest.approx(len(shown.body) / 4, rel=0.4)


@both
def test_anvil_judge_asks_such_an_endpoint_a_typed_question(provider: str) -> None:
    with FakeServer(CONTRACTS[provider](lambda _: {"answered": (0.02, 0.03, 0.95)})) as server:
        settings = JudgeSettings(judge=f"{provider}:m@{server.url}")
        found = inspect_judge(settings, Surroundings(KEYS), Collected())
        assert len(server.requests) == 2
    assert found.usable
    assert (found.decides, found.verdicts, found.same_reply, found.logprobs) == (True, 2, True, None)
    told = as_dict(found)
    assert (told["rung"], told["cap_field"], told["logprobs"]) == ("questions", None, None)


def test_anvil_judge_says_why_an_endpoint_cannot_decide() -> None:
    with FakeServer(systemone(lambda _: {"answered": (0.2, 0.2, 0.2)})) as server:
        found = inspect_judge(JudgeSettings(judge=f"systemone:m@{server.url}"), Surroundings({}), Collected())
    assert not found.usable
    assert "add up to 0.6" in (found.problem or "")


def test_the_key_comes_from_its_own_variable_and_loopback_needs_none(tmp_path: Path) -> None:
    told: Mapping[str, Told] = {"accuracy": (0.0, 0.0, 1.0), "coverage": (0.0, 0.0, 1.0)}
    with FakeServer(systemone(lambda _: told)) as server:
        runs = runs_of(tmp_path, server, "systemone", *rows(1))
        runs.grade(evidence="none")
        runs.grade(evidence="none", environ={"SYSTEMONE_API_KEY": "k-0123456789"}, out=tmp_path / "keyed")
        assert [request.headers.get("authorization") for request in server.requests] == [None, "Bearer k-0123456789"]


@both
def test_one_answer_in_the_other_contract_costs_its_own_row_and_a_judge_that_never_speaks_its_own_ends_the_run(
    tmp_path: Path, provider: str
) -> None:
    told: Mapping[str, Told] = {"accuracy": (0.0, 0.0, 1.0), "coverage": (0.0, 0.0, 1.0)}
    own = CONTRACTS[provider](of_rows(*[told] * 3))
    strange = answer_json({"answers": {} if provider == "openai-decisions" else []})
    mixed = FakeServer(lambda request: strange if b"What is 1" in request.body else own(request))
    for name in ("mixed", "strange"):
        (tmp_path / name).mkdir()
    with mixed as server:
        done = runs_of(tmp_path / "mixed", server, provider).grade(environ=KEYS, evidence="none", concurrency=1)
    assert done.summary.coverage.states["scored"] == 4
    assert {item.code for item in done.summary.missing} == {"malformed_body"}
    with FakeServer(lambda _: strange) as server, pytest.raises(JudgeSetupError, match="the other contract") as caught:
        runs_of(tmp_path / "strange", server, provider).grade(environ=KEYS, evidence="none")
    assert ":MODEL@URL" in (caught.value.hint or "")
