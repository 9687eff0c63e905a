"""What can this judge do? A few tiny calls over a run's own path, without the cache, and what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from agentanvil.client import ChatClient, ChatReply, ChatRequest, Usage
from agentanvil.client.headers import RateHeaders
from agentanvil.client.prices import Quote
from agentanvil.client.refusals import LOGPROBS
from agentanvil.client.spec import JudgeSpec
from agentanvil.client.token_logprobs import ALTERNATIVES
from agentanvil.dataset import Row
from agentanvil.errors import AnvilError, CallError, EndpointError, JudgeSetupError, TransientError, UsageError
from agentanvil.judge import Parsed, ParseFault, build_decision, build_request, read_decisions, read_reply
from agentanvil.plan import CallPlan, Plan, Task, plan_calls
from agentanvil.prompt import PromptRenderer, QuestionRenderer
from agentanvil.rubric import Rubric, compile_schema, parse_rubric
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Exit
from agentanvil.runner.job import Surroundings
from agentanvil.runner.local_judge import name_judge
from agentanvil.runner.loop import loop_factory
from agentanvil.runner.pricing import judge_price, price_entry
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import CACHE_OFF, JudgeFacts, JudgeStack, ReplayStack, open_stack, wire_of
from agentanvil.runner.wiring import call_settings
from agentanvil.strict_json import JsonError, parse_json, replace_surrogates
from agentanvil.verdict import JudgeError

Logprobs = Literal["yes", "none_came", "refused", "unknown"]

_ATTEMPTS = 2
_RUBRIC = """\
version: 1
id: probe
scale: {min: 1, max: 5}
dimensions:
  - id: answered
    question: Is the question answered?
    anchors: {5: the planet is named, 3: a star is named, 1: nothing is named}
"""
_ROW = Row(0, 1, "probe", "Which planet is the third from the Sun?", "The third planet from the Sun is the Earth.")


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """What was found out. None means that it does not apply, or was not told.

    `problem` says why the judge cannot grade: no reply to a tiny row held a verdict. `latencies_s` has one
    entry for each verdict call; `schema_kept` counts those whose text was exactly what the schema asks for,
    `verdicts` those that could be read. `same_reply` tells whether the same request brought the same text
    twice. `replies` counts those of a recording, of which nothing else is known. `decides`: it answers typed questions
    with probabilities, so that there is no schema to keep, no token to look at and no evidence.
    """

    judge: str
    url: str | None = None
    problem: str | None = None
    latencies_s: tuple[float, ...] = ()
    facts: JudgeFacts = field(default_factory=JudgeFacts)
    verdicts: int = 0
    schema_kept: int = 0
    same_reply: bool | None = None
    logprobs: Logprobs | None = None
    logprobs_note: str | None = None
    model: str | None = None
    usage: Usage | None = None
    reasoning: bool | None = None
    rates: RateHeaders | None = None
    price: Quote | None = None
    replies: int | None = None
    decides: bool = False

    @property
    def usable(self) -> bool:
        return self.problem is None


def inspect_judge(settings: JudgeSettings, around: Surroundings, listener: Listener) -> JudgeReport:
    """Ask the judge. Raises InputError where it cannot be asked at all: unreachable, unauthorised, unknown."""
    spec = name_judge(settings, around.environ)
    if spec is None:
        raise UsageError("no judge given", hint="Name one: anvil judge PROVIDER:MODEL[@BASE_URL].")
    alone = replace(
        settings,
        cache=CACHE_OFF,
        concurrency=1,
        max_attempts=min(settings.max_attempts, _ATTEMPTS),
        max_calls=None,
        max_cost=None,
    )
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(_inspected(spec, alone, around, listener))


def judge_exit(report: JudgeReport) -> Exit:
    """Decide: 0 for a judge that can grade, 2 for one that cannot."""
    return Exit.OK if report.usable else Exit.USAGE


def as_dict(report: JudgeReport) -> dict[str, Any]:
    """Return the report as JSON data, flat: what was learnt and spent stands beside the rest."""
    found = asdict(report)
    facts = found.pop("facts")
    totals = facts.pop("totals") or {}
    spent = {"calls": totals.get("calls"), "cost_usd": totals.get("cost")}
    return {"usable": report.usable, **found, "price": price_entry(report.price), **facts, **spent}


async def _inspected(spec: JudgeSpec, settings: JudgeSettings, around: Surroundings, listener: Listener) -> JudgeReport:
    async with open_stack(spec, settings, around, listener) as stack:
        if isinstance(stack, ReplayStack):
            return _recording(spec, len(stack.client))
        return await _asked(spec, settings, stack)


def _recording(spec: JudgeSpec, replies: int) -> JudgeReport:
    problem = None if replies else "the recording holds no replies"
    return JudgeReport(str(spec), problem=problem, replies=replies)


async def _asked(spec: JudgeSpec, settings: JudgeSettings, stack: JudgeStack) -> JudgeReport:
    probe = _tiny_questions() if spec.rules.decides else _tiny_request(spec, settings)
    replies = await _verdicts(stack.client, probe.request)
    facts = stack.facts()
    logprobs, note = (None, None) if spec.rules.decides else await _logprobs(stack.client, probe.request)
    faults = [fault for reply in replies if (fault := probe.fault(reply)) is not None]
    last = replies[-1]
    return JudgeReport(
        judge=str(spec),
        url=None if spec.base_url is None else spec.base_url + wire_of(spec)[0].path(spec.model),
        problem=f"no reply held a verdict: {faults[0]}" if len(faults) == len(replies) else None,
        latencies_s=tuple(reply.latency_s for reply in replies),
        facts=replace(facts, totals=stack.facts().totals),
        verdicts=len(replies) - len(faults),
        schema_kept=sum(probe.keeps(reply) for reply in replies),
        same_reply=replies[0].text == last.text if len(replies) > 1 else None,
        logprobs=logprobs,
        logprobs_note=note,
        model=last.model,
        usage=last.usage,
        reasoning=last.reasoning or bool(last.usage.reasoning_tokens),
        rates=last.rates,
        price=judge_price(spec, settings, last.model),
        decides=spec.rules.decides,
    )


@dataclass(frozen=True, slots=True)
class _Probe:
    """A judge call as a run makes it, with one dimension and one short row: what is wrong with a reply, if anything,
    and whether it is exactly what was asked for.
    """

    request: ChatRequest
    fault: Callable[[ChatReply], str | None]
    keeps: Callable[[ChatReply], bool]


def _tiny_request(spec: JudgeSpec, settings: JudgeSettings) -> _Probe:
    rubric, calls, task = _tiny_task()
    prompt = PromptRenderer(rubric, calls).render(task)
    # Log-probabilities are asked for apart, so that what refuses them alone is told from what refuses the rest.
    request = replace(build_request(task, prompt, call_settings(settings, spec)), logprobs=None)
    contract = prompt.contract
    return _Probe(
        request,
        lambda reply: _fault(read_reply(reply, contract, request.sampling.max_tokens)),
        lambda reply: _keeps(reply.text, contract.schema),
    )


def _tiny_questions() -> _Probe:
    rubric, calls, task = _tiny_task()
    asked = QuestionRenderer(rubric, calls).render(task)

    def fault(reply: ChatReply) -> str | None:
        (cell,) = read_decisions(reply, asked, task.order).values()
        return cell.message if isinstance(cell, JudgeError) else None

    return _Probe(build_decision(task, asked), fault, lambda reply: fault(reply) is None)


def _tiny_task() -> tuple[Rubric, tuple[CallPlan, ...], Task]:
    calls = plan_calls(rubric := parse_rubric(_RUBRIC))
    (task,) = Plan(calls, 1, "").tasks([_ROW])
    return rubric, calls, task


async def _verdicts(client: ChatClient, request: ChatRequest) -> list[ChatReply]:
    """Ask the same twice; one reply is enough to go on. Raises JudgeSetupError where there is none."""
    try:
        first = await client.complete(request)
    except EndpointError as error:
        raise JudgeSetupError(error.message, hint=error.hint) from error
    except CallError as error:
        raise JudgeSetupError(f"the judge gives no answer: {error.message}", hint=error.hint) from error
    try:
        return [first, await client.complete(request)]
    except CallError:
        return [first]


async def _logprobs(client: ChatClient, request: ChatRequest) -> tuple[Logprobs, str | None]:
    # As if on purpose, so that a refusal is told instead of obeyed.
    sampling = replace(request.sampling, explicit=request.sampling.explicit | {LOGPROBS})
    try:
        reply = await client.complete(replace(request, logprobs=ALTERNATIVES, sampling=sampling))
    except TransientError as error:
        return "unknown", error.message
    except AnvilError as error:
        return "refused", error.message
    if not reply.tokens:
        return "none_came", None
    return "yes", f"{max(len(token.top) for token in reply.tokens)} alternatives a token"


def _fault(read: Parsed | ParseFault) -> str | None:
    """Return what is wrong with a reply, at most one thing: the call had one dimension."""
    if isinstance(read, ParseFault):
        return read.message
    return next((verdict.message for verdict in read.verdicts.values() if isinstance(verdict, ParseFault)), None)


def _keeps(text: str, schema: Mapping[str, object]) -> bool:
    """Tell whether a reply is the JSON that was asked for, with nothing around it."""
    try:
        value, _ = replace_surrogates(text, parse_json(text))
    except JsonError:
        return False
    return compile_schema(dict(schema)).is_valid(value)
