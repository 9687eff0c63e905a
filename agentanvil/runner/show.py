"""What a run would send: one request, whole, and what it would cost. Nothing is sent, and no key is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentanvil.client import ChatRequest
from agentanvil.client.adapter import Adapter, Endpoint, Shape, memory_of
from agentanvil.client.base import Usage
from agentanvil.client.cache_store import CacheStore
from agentanvil.client.provider import shape_for
from agentanvil.client.spec import JudgeSpec, find_key
from agentanvil.dataset import Row
from agentanvil.errors import JudgeSetupError
from agentanvil.plan import UNORDERED, CallPlan, Task
from agentanvil.plan.order import AB
from agentanvil.runner.asking import Asking
from agentanvil.runner.events import Listener
from agentanvil.runner.job import Surroundings
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.show_subject import (
    UNNAMED,
    ShowSettings,
    Subject,
    asking_of_subject,
    chosen_call,
    chosen_row,
    names,
    open_subject,
    read_subject,
    tasks_of,
)
from agentanvil.runner.stack import cache_path, open_store, price_table, wire_of


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """One request as its first attempt would be sent.

    `body` is what goes over the wire, byte for byte; `request` is the same before it was put into the
    provider's form. Tokens are estimated; `cost_usd` None: the price is unknown. `notes` are sentences for a
    person.
    """

    task: str
    url: str
    headers: tuple[str, ...]
    request: ChatRequest
    body: bytes
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Wire:
    """How requests to the judge are put: what a run would begin with, and what it would try first of all."""

    adapter: Adapter
    endpoint: Endpoint
    known: Shape
    headers: tuple[str, ...]
    missing: tuple[str, ...]


def show(settings: ShowSettings, around: Surroundings, listener: Listener) -> tuple[ShownRequest, ...]:
    """Build the request as `grade` builds it, two where both orders of a pair are asked.

    Empty where code decides every dimension: no judge is asked. Raises InputError; only the rows up to the one that
    is shown are read.
    """
    subject = read_subject(settings, around)
    if subject is None:
        return ()
    call = chosen_call(subject)
    with open_subject(subject, around) as dataset:
        row = chosen_row(subject, dataset)
    wire = _wire(subject, around, listener)
    asking = asking_of_subject(subject)
    return tuple(_shown(task, asking, subject, wire) for task in tasks_of(subject, row, call))


def _shown(task: Task, asking: Asking, subject: Subject, wire: _Wire) -> ShownRequest:
    judge, size = subject.settings.judge, asking.sizes[task.call.name]
    request = asking.request(task)
    shape = shape_for(wire.known, request)
    tokens_in, tokens_out = size.given + asking.row_tokens(task), size.reply
    model = wire.endpoint.model
    return ShownRequest(
        task=task.id,
        url=wire.endpoint.base_url + wire.adapter.path(wire.endpoint.model),
        headers=wire.headers,
        request=request,
        body=wire.adapter.build(model, request, shape),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=price_table(subject.judge, judge).cost(Usage(tokens_in, tokens_out), model),
        notes=(
            *_about_judge(subject.spec, task),
            *_about_evidence(subject),
            *wire.missing,
            *_about_row(subject, task.row),
            *_about_order(subject, task),
            *_about_calls(subject.calls, task.call),
            *_about_shape(shape, shape_for(wire.endpoint.first, request)),
        ),
    )


def _wire(subject: Subject, around: Surroundings, listener: Listener) -> _Wire:
    spec, judge = subject.spec, subject.settings.judge
    adapter, endpoint = wire_of(UNNAMED if spec is None or spec.provider == "recorded" else spec)
    store = _known_endpoints(judge, around, listener)
    known = (store and _remembered(store, adapter, endpoint)) or endpoint.first
    headers, missing = _headers(spec, adapter, judge, around.environ)
    return _Wire(adapter, endpoint, known, headers, missing)


def _known_endpoints(settings: JudgeSettings, around: Surroundings, listener: Listener) -> CacheStore | None:
    """Open the memory of what endpoints accept, if there is one. Creates none."""
    there = cache_path(settings.cache, around.environ).exists()
    return open_store(settings, around.environ, listener) if there else None


def _remembered(store: CacheStore, adapter: Adapter, endpoint: Endpoint) -> Shape | None:
    """Return what earlier runs learnt about the endpoint, which a run would begin with; closes the store."""
    try:
        return store.load(memory_of(adapter, endpoint), endpoint.model)
    finally:
        store.close()


def _headers(
    spec: JudgeSpec | None, adapter: Adapter, settings: JudgeSettings, environ: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the headers, and what is to be said about a key that is not there."""
    missing: tuple[str, ...] = ()
    try:
        key = None if spec is None else find_key(spec, environ, settings.api_key_env)
        keyed = key is not None
    except JudgeSetupError as error:
        keyed, missing = True, (f"{error.message}: a run would be refused",)
    return tuple(adapter.headers("-" if keyed else None)), missing


def _about_judge(spec: JudgeSpec | None, task: Task) -> Iterator[str]:
    if spec is None:
        yield "no judge is named: MODEL and BASE_URL stand for those of an OpenAI-compatible one"
    elif spec.provider == "recorded":
        yield f"recorded replies are looked up as {task.id} and nothing is sent; a live judge would get this"
    elif spec.provider == "litellm":
        yield "LiteLLM gets this as its arguments, and makes the provider's own request of it"
    elif spec.base_url is None:
        yield f"{spec} gets its address when anvil starts it on this machine"


def _about_evidence(subject: Subject) -> Iterator[str]:
    if subject.judge.rules.decides and subject.rubric.evidence != "none":
        yield f"the rubric asks for evidence ({subject.rubric.evidence}) and this judge gives none: add --evidence none"


def _about_row(subject: Subject, row: Row) -> Iterator[str]:
    if subject.settings.data is None:
        yield "no data file is given: the row is a placeholder"
    if row.expected is not None and not subject.rubric.allow_expected:
        yield "the row's expected answer is hidden from the judge"


def _about_order(subject: Subject, task: Task) -> Iterator[str]:
    if task.order == UNORDERED:
        return
    first, second = ("response_a", "response_b") if task.order == AB else ("response_b", "response_a")
    why = " (drawn from the seed and the item)" if subject.plan.orders == "random" else ""
    yield f"{first} is shown as A and {second} as B{why}"


def _about_calls(calls: tuple[CallPlan, ...], shown: CallPlan) -> Iterator[str]:
    if len(calls) > 1:
        yield f"each row is asked about in {len(calls)} calls ({names(calls)}); this is {shown.name}"


def _about_shape(shape: Shape, first: Shape) -> Iterator[str]:
    refused = shape.dropped - first.dropped
    if refused:
        yield f"left out, since this endpoint refused it before: {', '.join(sorted(refused))}"
    if shape.rung != first.rung:
        yield f"structured output by {shape.rung}, the strongest that this endpoint took before"
