from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import ConfigError, DatasetError, JudgeSetupError, UsageError
from agentanvil.runner.events import Silent
from agentanvil.runner.exits import Exit
from agentanvil.runner.job import Surroundings
from agentanvil.runner.judge import JudgeReport, as_dict, inspect_judge, judge_exit
from agentanvil.runner.settings import JudgeSettings
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat, chat_body, error, tool_call, unused_port
from tests.fakes.tokens import spelling
from tests.fakes.verdicts import graded, refusing, verdict_for

Script = Callable[[Recorded], Answer]


def inspect(server: FakeServer, environ: dict[str, str] | None = None, **settings: Any) -> JudgeReport:
    judge = JudgeSettings(f"compat:m@{server.url}", **settings)
    return inspect_judge(judge, Surroundings(environ or {}), Silent())


def with_logprobs(request: Recorded) -> Answer:
    text = json.loads(graded(request).body)["choices"][0]["message"]["content"]
    body = chat_body(text)
    if request.json.get("logprobs"):
        body["choices"][0]["logprobs"] = spelling(text)
    return answer_json(body)


def on_logprobs(answer: Answer) -> Script:
    return lambda request: answer if "logprobs" in request.json else graded(request)


def test_a_good_judge_in_three_calls() -> None:
    with FakeServer(with_logprobs) as server:
        report = inspect(server)
        bodies = server.bodies
    assert report.usable
    assert judge_exit(report) is Exit.OK
    assert len(bodies) == 3
    assert bodies[0] == bodies[1]
    assert bodies[2] == bodies[0] | {"logprobs": True, "top_logprobs": 5}
    assert (report.verdicts, report.schema_kept, report.same_reply) == (2, 2, True)
    assert (report.logprobs, report.logprobs_note) == ("yes", "5 alternatives a token")
    assert (report.model, report.facts.rung, report.facts.cap_field) == ("fake-judge-1", "json_schema", "max_tokens")
    assert report.facts.dropped == ()
    assert report.usage is not None
    assert (report.usage.input_tokens, report.usage.output_tokens) == (100, 20)
    assert len(report.latencies_s) == 2
    assert report.price is None


def test_the_report_is_json_and_flat() -> None:
    with FakeServer(graded) as server:
        found = json.loads(json.dumps(as_dict(inspect(server))))
    assert found["usable"] is True
    assert (found["rung"], found["dropped"], found["calls"]) == ("json_schema", [], 3)
    assert found["url"] == f"{server.url}/chat/completions"


def as_tool(request: Recorded) -> Answer:
    return tool_call(json.dumps(verdict_for(request.json["tools"][0]["function"]["parameters"])))


@pytest.mark.parametrize(
    ("script", "rung", "dropped", "cap"),
    [
        (refusing("temperature"), "json_schema", ("temperature",), "max_tokens"),
        (refusing("seed"), "json_schema", ("seed",), "max_tokens"),
        (refusing("max_tokens"), "json_schema", (), "max_completion_tokens"),
        (refusing("temperature", refusing("seed")), "json_schema", ("seed", "temperature"), "max_tokens"),
        (refusing("response_format", as_tool), "tool", (), "max_tokens"),
    ],
)
def test_what_is_refused_is_found_out(script: Script, rung: str, dropped: tuple[str, ...], cap: str) -> None:
    with FakeServer(script) as server:
        report = inspect(server)
        sent = len(server.requests)
    assert (report.facts.rung, report.facts.dropped, report.facts.cap_field) == (rung, dropped, cap)
    assert report.usable
    assert report.facts.totals is not None
    assert report.facts.totals.calls == sent


@pytest.mark.parametrize(
    ("script", "logprobs"),
    [
        (graded, "none_came"),
        (refusing("logprobs"), "refused"),
        (refusing("top_logprobs"), "refused"),
        (on_logprobs(error(400, "this field is nothing for me")), "refused"),
        (on_logprobs(error(503, "busy")), "unknown"),
    ],
)
def test_logprobs_that_do_not_come_do_no_harm(script: Script, logprobs: str) -> None:
    with FakeServer(script) as server:
        report = inspect(server, max_attempts=1)
    assert report.logprobs == logprobs
    assert report.usable
    assert report.facts.dropped == ()


def test_a_refusal_that_only_logprobs_bring_about_is_not_held_against_the_judge() -> None:
    def choose(request: Recorded) -> Answer:
        if "logprobs" in request.json and "temperature" in request.json:
            return error(400, "Unsupported value: temperature", code="unsupported_value", param="temperature")
        return with_logprobs(request)

    with FakeServer(choose) as server:
        report = inspect(server)
    assert report.facts.dropped == ()
    assert report.logprobs == "yes"


def test_a_reply_around_the_json_is_read_but_keeps_no_schema() -> None:
    def fenced(request: Recorded) -> Answer:
        verdict = json.dumps(verdict_for(request.json["response_format"]["json_schema"]["schema"]))
        return chat(f"Here it is:\n```json\n{verdict}\n```")

    with FakeServer(fenced) as server:
        report = inspect(server)
    assert (report.verdicts, report.schema_kept) == (2, 0)
    assert report.usable


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        pytest.param('{"evidence": ["Earth"], "reason": "named \\ud800", "score": 4}', 2, id="surrogate"),
        pytest.param('{"evidence": ["Earth"], "score": 4}', 0, id="no-reason"),
        pytest.param('{"evidence": ["Earth"], "reason": "named", "score": "4"}', 0, id="text"),
        pytest.param('{"evidence": ["Earth"], "reason": "named", "score": 4, "more": 1}', 0, id="more"),
        pytest.param('{"evidence": ["Earth"], "reason": "a", "reason": "b", "score": 4}', 0, id="key-twice"),
        pytest.param('{"evidence": ["Earth"], "reason": "named", "score": 4, "more": NaN}', 0, id="nan"),
    ],
)
def test_a_schema_is_kept_strictly(said: str, kept: int) -> None:
    with FakeServer(chat(said)) as server:
        assert inspect(server).schema_kept == kept


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (chat("I would say four."), "no reply held a verdict"),
        (chat('{"evidence": ["Earth"], "reason": "named", "score": 4', "length"), "output-token limit"),
        (chat("", message={"reasoning_content": "hm"}), "reasoning"),
        (chat('{"evidence": [], "reason": "so", "score": 9}'), "no reply held a verdict"),
    ],
)
def test_a_judge_without_a_verdict_cannot_grade(answer: Answer, why: str) -> None:
    with FakeServer(answer) as server:
        report = inspect(server)
    assert not report.usable
    assert why in str(report.problem)
    assert judge_exit(report) is Exit.USAGE
    assert (report.verdicts, report.schema_kept) == (0, 0)


def test_two_different_replies_and_one_that_never_came() -> None:
    with FakeServer(lambda request: graded(request, score=request.index + 1)) as server:
        assert inspect(server).same_reply is False
    with FakeServer(lambda request: error(400, "no") if request.index == 1 else graded(request)) as server:
        report = inspect(server)
    assert report.same_reply is None
    assert len(report.latencies_s) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (error(401, "bad key sk-test-0123456789"), "not authorised"),
        (error(404, "The model `m` does not exist", code="model_not_found"), "not found"),
        (error(429, "You have no credit", code="insufficient_quota"), "no credit"),
        (error(500, "oh no"), "gives no answer: .*oh no"),
        (answer_json({"hello": "world"}), "gives no answer"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_one_message(answer: Answer, message: str) -> None:
    with FakeServer(answer) as server, pytest.raises(JudgeSetupError, match=message) as caught:
        inspect(server, {"COMPAT_API_KEY": "sk-test-0123456789"}, max_attempts=1)
    assert "sk-test" not in str(caught.value)


def test_an_unreachable_judge_and_a_missing_name() -> None:
    nobody = JudgeSettings(f"compat:m@http://127.0.0.1:{unused_port()}/v1")
    with pytest.raises(JudgeSetupError, match="cannot be reached"):
        inspect_judge(nobody, Surroundings({}), Silent())
    with pytest.raises(UsageError, match="no judge given"):
        inspect_judge(JudgeSettings(), Surroundings({}), Silent())
    with pytest.raises(JudgeSetupError, match="OPENAI_API_KEY"):
        inspect_judge(JudgeSettings("openai:m"), Surroundings({}), Silent())


def test_a_refused_wish_is_an_error_as_in_a_run() -> None:
    with FakeServer(refusing("temperature")) as server, pytest.raises(ConfigError, match="temperature"):
        inspect(server, temperature=0.0)


def test_limits_on_spending_are_for_runs_and_the_cache_is_left_alone(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        report = inspect(server, max_calls=0, max_cost=0.0, cache=str(tmp_path / "cache"))
    assert report.usable
    assert not (tmp_path / "cache").exists()


def test_price_and_cost_by_hand() -> None:
    with FakeServer(graded) as server:
        report = inspect(server, prices=PriceTable.read({"m": {"input": 2.0, "output": 8.0}}))
    assert report.price is not None
    assert report.price.price.output == 8.0
    assert as_dict(report)["cost_usd"] == pytest.approx(3 * (100 * 2.0 + 20 * 8.0) / 1e6)


def test_told_limits_are_kept() -> None:
    headers = {"x-ratelimit-limit-requests": "600", "x-ratelimit-limit-tokens": "90000"}
    with FakeServer(lambda request: graded(request).but(headers=headers)) as server:
        rates = inspect(server).rates
    assert rates is not None
    assert (rates.requests.limit, rates.tokens.limit) == (600, 90000)


def test_a_recording_tells_its_replies(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"id": "a", "reply": "{}"}\n{"id": "b", "reply": "{}"}\n', encoding="utf-8")
    report = inspect_judge(JudgeSettings(f"recorded:{path}"), Surroundings({}), Silent())
    assert (report.replies, report.usable) == (2, True)
    path.write_text("", encoding="utf-8")
    empty = inspect_judge(JudgeSettings(f"recorded:{path}"), Surroundings({}), Silent())
    assert (empty.replies, judge_exit(empty)) == (0, Exit.USAGE)
    path.write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"replies\.jsonl:1"):
        inspect_judge(JudgeSettings(f"recorded:{path}"), Surroundings({}), Silent())


@pytest.mark.parametrize(("reasoned", "hidden"), [(180, True), (0, False), (None, False)])
def test_reasoning_that_is_billed_is_hidden_reasoning(reasoned: int | None, hidden: bool) -> None:
    def choose(request: Recorded) -> Answer:
        body = json.loads(graded(request).body)
        body["usage"]["completion_tokens_details"] = {"reasoning_tokens": reasoned}
        return answer_json(body)

    with FakeServer(choose) as server:
        assert inspect(server).reasoning is hidden
