"""One task through a scripted client: what is sent, what is asked again, what becomes of each kind of answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from agentanvil.client import ChatReply, Usage
from agentanvil.client.scripted import Line, ScriptedClient
from agentanvil.dataset import Row
from agentanvil.errors import (
    AnvilError,
    BudgetReachedError,
    CallError,
    ConfigError,
    DeadlineError,
    EndpointError,
    JudgeSetupError,
    RejectedError,
    RequestTooLargeError,
)
from agentanvil.judge import CallSettings, build_request, judge
from agentanvil.prompt import PROMPT_VERSION
from agentanvil.rubric import ReplyFormat, Rubric
from agentanvil.verdict import Cell, Exchange, InputFault, JudgeError, NotApplicable, Outcome, Scored
from tests.fakes.prompts import labels, prompted, scale_rubric
from tests.fakes.records import row

ONE = scale_rubric(1, 5)
TWO = scale_rubric(1, 5, "one", "two")
QUOTED = scale_rubric(1, 5, evidence="quoted")
SETTINGS = CallSettings(max_tokens=900)
GOOD = '{"reason": "r", "score": 3}'


def run(
    script: Line | Sequence[Line],
    rubric: Rubric = ONE,
    item: Row | None = None,
    settings: CallSettings = SETTINGS,
    repeat: int = 0,
) -> tuple[Outcome, ScriptedClient]:
    client = ScriptedClient(script)
    task, prompt = prompted(rubric, item, repeat)
    return asyncio.run(judge(task, prompt, client, settings)), client


def cell(script: Line | Sequence[Line], rubric: Rubric = ONE, item: Row | None = None) -> Cell:
    outcome, _ = run(script, rubric, item)
    (found,) = outcome.cells.values()
    return found


def error_code(script: Line | Sequence[Line], rubric: Rubric = ONE) -> str:
    found = cell(script, rubric)
    assert isinstance(found, JudgeError)
    return found.code


def test_the_request_holds_two_messages_the_schema_and_what_the_cache_needs() -> None:
    task, prompt = prompted(QUOTED, repeat=2)
    request = build_request(task, prompt, CallSettings(0.5, 7, 100, "low", frozenset({"temperature"})))
    assert [(m.role, m.content) for m in request.messages] == [("system", prompt.system), ("user", prompt.user)]
    assert request.schema is not None
    assert request.schema.schema is prompt.contract.schema
    assert (request.sampling.temperature, request.sampling.max_tokens) == (0.5, 100)
    assert (request.sampling.effort, request.sampling.explicit) == ("low", {"temperature"})
    assert (request.repeat, request.prompt_version, request.task_id) == (2, PROMPT_VERSION, "item-0/joint/2")


def test_every_repeat_is_another_request() -> None:
    seeds = []
    for repeat in range(3):
        _, client = run(GOOD, repeat=repeat, settings=CallSettings(seed=40))
        seeds.append(client.requests[0].sampling.seed)
    assert seeds == [40, 41, 42]
    task, prompt = prompted(ONE, repeat=2)
    assert build_request(task, prompt, CallSettings(seed=None)).sampling.seed is None


def test_a_marked_reply_is_asked_for_without_a_schema() -> None:
    outcome, client = run("Fine.\nScore: 4", scale_rubric(1, 5, reply=labels("Score:")))
    assert client.requests[0].schema is None
    assert outcome.cells["quality"] == Scored(4.0)


def test_an_outcome_names_its_task_and_carries_the_rows_labels_and_flags() -> None:
    item = row(4, labels={"quality": (3.0, 4.0)}, flags=("surrogates_replaced",))
    outcome, client = run(GOOD, item=item, repeat=1)
    assert outcome.cells == {"quality": Scored(3.0, (), None, "r")}
    assert (outcome.task_id, outcome.row, outcome.item_id) == ("item-4/joint/1", 4, "item-4")
    assert (outcome.call, outcome.repeat, outcome.order, outcome.judge) == ("joint", 1, "-", "scripted:test")
    assert (outcome.labels, outcome.flags) == ({"quality": (3.0, 4.0)}, ("surrogates_replaced",))
    assert client.confirmed == client.requests


def test_the_exchange_keeps_the_raw_reply_and_what_it_cost() -> None:
    reply = ChatReply(
        f"Sure!\n{GOOD}",
        usage=Usage(100, 20, 80, 5),
        model="m-1",
        request_id="req-1",
        rung="tool",
        attempts=3,
        latency_s=1.5,
        cached=True,
        cost=0.25,
    )
    outcome, _ = run(reply)
    (exchange,) = outcome.exchanges
    assert (exchange.text, exchange.stop, exchange.model, exchange.request_id) == (reply.text, "stop", "m-1", "req-1")
    assert (exchange.input_tokens, exchange.output_tokens) == (100, 20)
    assert (exchange.cached_tokens, exchange.reasoning_tokens) == (80, 5)
    assert (exchange.rung, exchange.attempts, exchange.latency_s) == ("tool", 3, 1.5)
    assert (exchange.cached, exchange.cost, exchange.error) == (True, 0.25, None)


def test_half_of_a_surrogate_pair_in_a_reply_can_be_written_down() -> None:
    outcome, _ = run(['bad \ud83d {"grade\\ud83d": "\ud83d"}', '{"score": "\ud83d"}'])
    json.dumps([e.text for e in outcome.exchanges], ensure_ascii=False).encode()
    found = outcome.cells["quality"]
    assert isinstance(found, JudgeError)
    found.message.encode()


@pytest.mark.parametrize(
    ("reply", "code", "hint"),
    [
        pytest.param(ChatReply('{"score": 3}', stop="length"), "truncated", "900", id="O-A06 whole, but cut"),
        pytest.param(ChatReply('{"score": 3, "rea', stop="length"), "truncated", "max_tokens", id="O-A06 cut"),
        pytest.param(
            ChatReply("", stop="length", reasoning=True), "truncated", "reasoning", id="O-A09 thought too long"
        ),
        pytest.param(ChatReply('{"score": 3', stop="stop"), "truncated", "breaks off", id="O-A36 cut without a word"),
        pytest.param(ChatReply("", refusal="I can't help."), "refusal", "I can't help.", id="O-A43 refusal field"),
        pytest.param(ChatReply('{"score": 1}', stop="refusal"), "refusal", "score", id="refused beside a verdict"),
        pytest.param(ChatReply("I'm sorry, I can't assist with that."), "refusal", "", id="O-A43 refusal in words"),
        pytest.param(ChatReply("", stop="blocked"), "blocked", "filter", id="O-A31"),
        pytest.param(ChatReply('{"score": 3}', stop="blocked"), "blocked", "", id="blocked beside a verdict"),
        pytest.param(ChatReply("", reasoning=True), "empty_content", "reasoning_content", id="O-A10 O-A11"),
        pytest.param(ChatReply(" \n"), "empty_content", "no visible text", id="blank"),
        pytest.param(ChatReply('{"score": 1}{"score": 2}'), "ambiguous", "", id="ambiguous"),
        pytest.param(ChatReply('{"score": 1, "score": 1}'), "duplicate_key", "", id="duplicate key"),
        pytest.param(ChatReply('{"score": NaN}'), "non_finite", "", id="not finite"),
        pytest.param(ChatReply('{"score": 6}'), "out_of_range", "1 to 5", id="out of range"),
    ],
)
def test_a_fault_that_is_not_of_form_is_not_asked_again(reply: ChatReply, code: str, hint: str) -> None:
    outcome, client = run([reply, GOOD])
    found = outcome.cells["quality"]
    assert isinstance(found, JudgeError)
    assert found.code == code
    assert hint in found.message
    assert len(client.requests) == len(outcome.exchanges) == 1
    assert client.confirmed == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("garbage", "unparseable"),
        ('{"score": 1.0 // all met\n}', "unparseable"),
        ('{"grade": 4}', "schema_mismatch"),
        ('{"reason": "x"}', "missing_verdict"),
        ('{"score": true}', "type"),
    ],
)
def test_a_fault_of_form_is_asked_again_once(text: str, code: str) -> None:
    """O-A04, O-A41, O-G04: both calls are kept, with what they cost."""
    bad = ChatReply(text, usage=Usage(100, 20))
    outcome, client = run([bad, ChatReply(GOOD, usage=Usage(120, 20)), GOOD])
    assert outcome.cells["quality"] == Scored(3.0, (), None, "r", ("reasked",))
    assert [(e.text, e.input_tokens) for e in outcome.exchanges] == [(text, 100), (GOOD, 120)]
    assert client.confirmed == client.requests[1:]

    failed, client = run([bad])
    found = failed.cells["quality"]
    assert isinstance(found, JudgeError)
    assert found.code == code
    assert "asked twice" in found.message
    assert [e.input_tokens for e in failed.exchanges] == [100, 100]
    assert client.confirmed == []


def test_a_label_that_cannot_be_read_is_asked_again_in_its_own_form() -> None:
    outcome, client = run(["GRADE: CI", "GRADE: C"], scale_rubric(0, 1, reply=labels("GRADE", {"C": 1, "I": 0})))
    assert outcome.cells["quality"] == Scored(1.0, flags=("reasked",))
    assert "\nGRADE: X" in client.requests[1].messages[-1].content


def test_the_re_ask_shows_the_reply_and_demands_the_bare_form() -> None:
    _, client = run(["x" * 10_000, GOOD])
    first, second = client.requests
    assert second.messages[:2] == first.messages
    shown, demand = second.messages[2:]
    assert (shown.role, demand.role) == ("assistant", "user")
    assert len(shown.content) < 5_000
    assert '{"reason": "…", "score": N}' in demand.content
    assert len(demand.content) < 500
    assert (second.schema, second.sampling, second.repeat) == (first.schema, first.sampling, first.repeat)
    assert second.task_id == "item-0/joint/0/reask"


def test_a_re_ask_that_is_refused_is_a_refusal() -> None:
    assert error_code(["garbage", ChatReply("", stop="refusal")]) == "refusal"


def test_a_re_ask_that_brings_no_reply_leaves_the_first_fault() -> None:
    outcome, _ = run(["garbage", DeadlineError("too late")])
    found = outcome.cells["quality"]
    assert isinstance(found, JudgeError)
    assert found.code == "unparseable"
    assert [e.error for e in outcome.exchanges] == [None, "timeout"]


def test_a_re_ask_fills_the_gaps_and_overrules_nothing() -> None:
    first = '{"one": {"reason": "a", "score": 4}, "two": {"grade": 2}}'
    second = '{"one": {"reason": "b", "score": 1}, "two": {"reason": "b", "score": 2}}'
    outcome, client = run([first, second], TWO)
    assert outcome.cells == {"one": Scored(4.0, (), None, "a"), "two": Scored(2.0, (), None, "b", ("reasked",))}
    assert client.confirmed == client.requests[1:]


def test_a_dimension_off_the_scale_stays_so_while_its_sibling_is_asked_again() -> None:
    first = '{"one": {"score": 9}, "two": "good"}'
    second = '{"one": {"score": 5}, "two": {"score": 2}}'
    outcome, _ = run([first, second], TWO)
    one, two = outcome.cells.values()
    assert isinstance(one, JudgeError)
    assert one.code == "out_of_range"
    assert two == Scored(2.0, flags=("reasked",))


def test_a_reply_with_one_fault_gives_its_other_verdicts_and_is_not_kept() -> None:
    outcome, client = run('{"one": {"score": 9}, "two": {"score": 2}}', TWO)
    assert isinstance(outcome.cells["one"], JudgeError)
    assert outcome.cells["two"] == Scored(2.0)
    assert len(client.requests) == 1
    assert client.confirmed == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DeadlineError("120 s passed"), "timeout"),
        (RejectedError("content policy", code="content_filter"), "content_filter"),
        (CallError("nothing recorded", code="no_recording"), "no_recording"),
    ],
)
def test_a_call_that_failed_is_an_outcome(error: CallError, code: str) -> None:
    outcome, client = run(error, TWO)
    assert outcome.cells == {name: JudgeError(code, error.message) for name in ("one", "two")}
    assert [(e.text, e.error) for e in outcome.exchanges] == [("", code)]
    assert len(client.requests) == 1


def test_a_failed_call_counts_every_attempt_that_was_made_for_it() -> None:
    error = DeadlineError("120 s passed")
    error.attempts = 4
    outcome, _ = run(error)
    assert outcome.exchanges == (Exchange(attempts=4, error="timeout"),)


def test_a_row_that_does_not_fit_is_the_rows_fault() -> None:
    outcome, _ = run(RequestTooLargeError("9000 tokens, 8192 fit"))
    assert outcome.cells["quality"] == InputFault("request_too_large", "9000 tokens, 8192 fit")
    assert outcome.exchanges[0].error == "request_too_large"


def test_a_re_ask_that_does_not_fit_is_not() -> None:
    assert error_code(["garbage", RequestTooLargeError("too long")]) == "unparseable"


@pytest.mark.parametrize(
    "error",
    [
        EndpointError("bad key"),
        ConfigError("temperature"),
        JudgeSetupError("unreachable"),
        BudgetReachedError("100 calls"),
    ],
)
def test_what_ends_the_run_is_raised(error: AnvilError) -> None:
    for script in (error, ["garbage", error]):
        with pytest.raises(type(error)):
            run(script)


def test_evidence_is_looked_up_in_the_judged_text() -> None:
    item = row(response="Paris is the capital.", source=("France's capital is Paris.",))
    assert cell('{"evidence": ["PARIS is", "capital is Paris"], "reason": "", "score": 4}', QUOTED, item) == Scored(
        4.0, ("PARIS is", "capital is Paris"), evidence_found=True
    )
    assert cell('{"evidence": ["Paris is", "Lyon is"], "reason": "", "score": 4}', QUOTED, item) == Scored(
        4.0, ("Paris is", "Lyon is"), evidence_found=False
    )


@pytest.mark.parametrize("evidence", ['"evidence": [], ', '"evidence": ["…", " "], ', '"evidence": null, ', ""])
@pytest.mark.parametrize("mode", ["quoted", "pinpoint"])
def test_without_evidence_the_score_is_the_lowest_and_the_judges_own_is_kept(evidence: str, mode: str) -> None:
    rubric = scale_rubric(2, 5, evidence=mode)  # type: ignore[arg-type]
    outcome, client = run(f'{{{evidence}"reason": "r", "score": 4}}', rubric)
    assert outcome.cells["quality"] == Scored(2.0, (), None, "r", ("no_evidence", "judge_said_4"))
    assert client.confirmed == client.requests
    assert cell(f'{{{evidence}"reason": "r", "score": 2}}', rubric) == Scored(2.0, (), None, "r", ("no_evidence",))


def test_a_place_is_evidence_that_nobody_looks_up() -> None:
    rubric = scale_rubric(1, 5, evidence="pinpoint")
    assert cell('{"evidence": ["line 2"], "reason": "", "score": 4}', rubric) == Scored(4.0, ("line 2",))


def test_where_no_evidence_is_asked_none_is_missed() -> None:
    assert cell('{"reason": "", "score": 4}') == Scored(4.0)
    marked = scale_rubric(1, 5, evidence="quoted", reply=ReplyFormat("brackets"))
    assert cell("[[4]]", marked) == Scored(4.0)


def test_not_applicable_needs_no_evidence() -> None:
    rubric = scale_rubric(1, 5, evidence="quoted", allow_na=True)
    outcome, client = run('{"evidence": [], "reason": "no facts", "score": null}', rubric)
    assert outcome.cells["quality"] == NotApplicable("no facts")
    assert client.confirmed == client.requests


def test_flags_say_what_a_reviewer_should_know() -> None:
    assert cell(
        ['{"grade": 1}', '{"reason": "", "score": "4", "pass": true}'], scale_rubric(1, 5, gate={"quality": 5})
    ) == (Scored(4.0, flags=("reasked", "coerced", "contradiction")))
    outcome, _ = run('{"one": {"score": 4}, "two": {"score": 2}, "overall": 3}', TWO)
    assert outcome.flags == ("contradiction",)
