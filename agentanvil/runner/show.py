"""What a run would send: one request, whole, and what it would cost. Nothing is sent, and no key is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from agentanvil.client import ChatRequest
from agentanvil.client.adapter import Adapter, Shape
from agentanvil.client.base import Usage
from agentanvil.client.provider import Endpoint, shape_for
from agentanvil.client.spec import JudgeSpec, find_key
from agentanvil.dataset import Dataset, Row
from agentanvil.errors import DatasetError, JudgeSetupError, UsageError, Where
from agentanvil.judge import build_request
from agentanvil.plan import CallPlan, Task, plan_calls, task_id
from agentanvil.prompt import PromptRenderer, estimate_tokens
from agentanvil.rubric import Rubric, load_rubric
from agentanvil.runner.estimate import OUTPUT_TOKENS_PER_DIMENSION
from agentanvil.runner.events import Listener
from agentanvil.runner.job import Surroundings, open_rows
from agentanvil.runner.local_judge import name_judge
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import cache_path, open_store, price_table, wire_of
from agentanvil.runner.wiring import call_settings

_UNNAMED = JudgeSpec("compat", "MODEL", "BASE_URL")
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class ShowSettings:
    """Which request to show. `id` None is the first row, `data` None a made-up one, `call` None the first call.

    `repeat` counts from 0, as in task ids and scores.csv.
    """

    rubric: str
    judge: JudgeSettings
    data: str | None = None
    mapping: tuple[str, ...] = ()
    id: str | None = None
    repeat: int = 0
    call: str | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for flags that cannot be meant together."""
        if self.repeat < 0:
            raise UsageError(f"--repeat counts from 0, so it cannot be {self.repeat}")
        if self.id is not None and self.data is None:
            raise UsageError("--id names a row, and no data file is given", hint="anvil show RUBRIC DATA --id ID")


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


def show(settings: ShowSettings, around: Surroundings, listener: Listener) -> ShownRequest | None:
    """Build the request as `grade` builds it. None where code decides every dimension: no judge is asked.

    Raises InputError; only the rows up to the one that is shown are read.
    """
    rubric = load_rubric(settings.rubric)
    spec = name_judge(settings.judge, around.environ)
    calls = [call for call in plan_calls(rubric) if call.judged]
    if not calls:
        return None
    call = _chosen_call(calls, settings.call)
    row = _chosen_row(settings, rubric, around)
    task = Task(task_id(row.id, call.name, settings.repeat), row, call, settings.repeat, str(spec or _UNNAMED))
    request = build_request(task, PromptRenderer(rubric, calls).render(task), call_settings(settings.judge))
    adapter, endpoint = wire_of(_UNNAMED if spec is None or spec.provider == "recorded" else spec)
    known = _remembered(endpoint, settings.judge, around, listener) or endpoint.first
    shape = shape_for(known, request)
    headers, missing = _headers(spec, adapter, settings.judge, around.environ)
    tokens_in = sum(estimate_tokens(message.content) for message in request.messages)
    tokens_out = OUTPUT_TOKENS_PER_DIMENSION * len(call.dimensions)
    return ShownRequest(
        task=task.id,
        url=endpoint.base_url + adapter.path,
        headers=headers,
        request=request,
        body=adapter.build(endpoint.model, request, shape),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=price_table(spec or _UNNAMED, settings.judge).cost(Usage(tokens_in, tokens_out), endpoint.model),
        notes=(
            *_about_judge(spec, task),
            *missing,
            *_about_row(settings, rubric, row),
            *_about_calls(calls, call),
            *_about_shape(shape, shape_for(endpoint.first, request)),
        ),
    )


def _chosen_call(calls: list[CallPlan], name: str | None) -> CallPlan:
    if name is None:
        return calls[0]
    for call in calls:
        if call.name == name:
            return call
    raise UsageError(f"no judge is asked in a call {name!r}", hint=f"Judged calls: {_names(calls)}.")


def _chosen_row(settings: ShowSettings, rubric: Rubric, around: Surroundings) -> Row:
    if settings.data is None:
        source = ("(the row's source)",) if rubric.needs_source else ()
        return Row(0, 1, "row", "(the row's request)", "(the row's response)", source)
    with open_rows(settings.data, settings.mapping, rubric, around) as dataset:
        for row in dataset.rows():
            if settings.id is None or row.id == settings.id:
                return row
        raise _no_such_row(dataset, settings.id)


def _no_such_row(dataset: Dataset, wanted: str | None) -> UsageError | DatasetError:
    if wanted is None:
        return DatasetError("0 rows", where=Where(dataset.path), hint="give at least one row to judge")
    close = get_close_matches(wanted, _ids(dataset), n=_MOST_NAMED, cutoff=0.4)
    hint = f"Close to it: {', '.join(map(repr, close))}." if close else "Without --id the first row is shown."
    return UsageError(f"no row has the id {wanted!r}", where=Where(dataset.path, key="id"), hint=hint)


def _ids(dataset: Dataset) -> Iterator[str]:
    for row in dataset.rows():
        yield row.id


def _remembered(endpoint: Endpoint, settings: JudgeSettings, around: Surroundings, listener: Listener) -> Shape | None:
    """Return what earlier runs learnt about the endpoint, which a run would begin with. Creates no cache."""
    there = cache_path(settings.cache, around.environ).exists()
    store = open_store(settings, around.environ, listener) if there else None
    if store is None:
        return None
    try:
        return store.load(endpoint.base_url, endpoint.model)
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
    elif spec.base_url is None:
        yield f"{spec} gets its address when anvil starts it on this machine"


def _about_row(settings: ShowSettings, rubric: Rubric, row: Row) -> Iterator[str]:
    if settings.data is None:
        yield "no data file is given: the row is a placeholder"
    if row.expected is not None and not rubric.allow_expected:
        yield "the row's expected answer is hidden from the judge"


def _about_calls(calls: list[CallPlan], shown: CallPlan) -> Iterator[str]:
    if len(calls) > 1:
        yield f"each row is asked about in {len(calls)} calls ({_names(calls)}); this is {shown.name}"


def _about_shape(shape: Shape, first: Shape) -> Iterator[str]:
    if shape.dropped:
        yield f"left out, since this endpoint refused it before: {', '.join(sorted(shape.dropped))}"
    if shape.rung != first.rung:
        yield f"structured output by {shape.rung}, the strongest that this endpoint took before"


def _names(calls: list[CallPlan]) -> str:
    return ", ".join(call.name for call in calls)
