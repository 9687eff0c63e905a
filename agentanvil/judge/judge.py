"""One task, one judge call, at most one re-ask, one outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentanvil.client import ChatClient, ChatReply, ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.token_logprobs import ALTERNATIVES
from agentanvil.errors import CallError, EndpointError, RequestTooLargeError
from agentanvil.hashing import well_formed
from agentanvil.judge.cells import to_cell
from agentanvil.judge.exchanges import exchange_of, exchange_of_failure
from agentanvil.judge.parse import parse_reply
from agentanvil.judge.second_reading import with_readings
from agentanvil.judge.seen import Seen
from agentanvil.judge.verdicts import Parsed, ParseFault, Verdict
from agentanvil.plan import Task, unswap_slot
from agentanvil.prompt import PROMPT_VERSION, Contract, Prompt, reask
from agentanvil.verdict import Cell, Exchange, InputFault, Outcome

SCHEMA_NAME = "verdict"
# What a re-ask's task id ends in, so that a recording can hold both replies.
REASK = "reask"
REASKED = "reasked"
# Faults of form: the judgement was made, it only cannot be read. All others would be another roll of the dice.
REASKABLE = frozenset({"unparseable", "schema_mismatch", "missing_verdict", "type", "bad_label"})
# A reply is shown back to the judge up to this many characters; the beginning of a verdict is enough to repeat it.
SHOWN_BACK = 4000


@dataclass(frozen=True, slots=True)
class CallSettings:
    """How a judge is asked. None is not sent; repeat `n` is sent with the seed `seed + n`.

    `explicit` names what the user set (`temperature`, `seed`, `max_tokens`, `reasoning_effort`): that must
    not be dropped.
    """

    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int | None = None
    effort: str | None = None
    explicit: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one request came to. `text` is empty where no reply came; `too_large` blames the row, not the judge."""

    read: Parsed | ParseFault
    exchange: Exchange
    replied: bool = True
    too_large: bool = False


async def judge(task: Task, prompt: Prompt, client: ChatClient, settings: CallSettings) -> Outcome:
    """Ask the judge about one task and return the outcome, whatever came back.

    A call that failed for this request alone is an outcome. Raises what ends the run: EndpointError,
    BudgetReachedError, and the InputErrors of a judge that cannot be used as configured.
    """
    contract = prompt.contract
    request = build_request(task, prompt, settings)
    answer = await _ask(client, request, contract)
    exchanges: tuple[Exchange, ...] = (answer.exchange,)
    read = answer.read
    if answer.replied and (problem := _reaskable(read)):
        again = await _ask(client, _reask_request(request, answer.exchange.text, contract, problem), contract)
        exchanges = (*exchanges, again.exchange)
        if again.replied:
            read = _filled(read, again.read, contract)
    cells = _too_large(read, contract) if answer.too_large else _cells(read, task, prompt)
    if isinstance(read, ParseFault):
        return task.outcome(cells, exchanges)
    stated = None if read.stated is None else unswap_slot(read.stated, task.order)
    return task.outcome(cells, exchanges, read.flags, stated=stated)


def build_request(task: Task, prompt: Prompt, settings: CallSettings) -> ChatRequest:
    """Return the request of a task, the same for the run and for `anvil show`."""
    contract = prompt.contract
    as_json = contract.reply.format == "json"
    seed = None if settings.seed is None else settings.seed + task.repeat
    return ChatRequest(
        messages=(Message("system", prompt.system), Message("user", prompt.user)),
        schema=ReplySchema(SCHEMA_NAME, contract.schema) if as_json else None,
        sampling=Sampling(settings.temperature, seed, settings.max_tokens, settings.effort, settings.explicit),
        repeat=task.repeat,
        prompt_version=PROMPT_VERSION,
        task_id=task.question,
        logprobs=ALTERNATIVES if as_json else None,
    )


def read_reply(reply: ChatReply, contract: Contract, max_tokens: int | None = None) -> Parsed | ParseFault:
    """Check the stop reason, then read the text. A cut, refused or blocked reply is never read."""
    if reply.stop == "refusal" or reply.refusal:
        return ParseFault("refusal", f"the judge declined to grade: {(reply.refusal or reply.text)[:200]}")
    if reply.stop == "blocked":
        return ParseFault("blocked", "the provider's filter withheld the reply")
    if reply.stop == "length":
        limit = f" ({max_tokens})" if max_tokens is not None else ""
        spent = "; hidden reasoning counts against it" if reply.reasoning and not reply.text.strip() else ""
        return ParseFault("truncated", f"the reply was cut at the output-token limit, max_tokens{limit}{spent}")
    if not reply.text.strip():
        hint = (
            ": the server put text only into its reasoning field (such as reasoning_content), which is no verdict;"
            " switch its reasoning parser or the model's thinking off"
            if reply.reasoning
            else ""
        )
        return ParseFault("empty_content", f"the reply holds no visible text{hint}")
    return parse_reply(reply.text, contract)


async def _ask(client: ChatClient, request: ChatRequest, contract: Contract) -> _Answer:
    try:
        reply = await client.complete(request)
    except EndpointError:
        raise
    except CallError as error:
        fault = ParseFault(error.code, error.message)
        too_large = isinstance(error, RequestTooLargeError)
        exchange = exchange_of_failure(error)
        return _Answer(fault, exchange, replied=False, too_large=too_large)
    read = read_reply(reply, contract, request.sampling.max_tokens)
    kept = reply
    if request.logprobs is not None:
        read, kept = with_readings(read, reply, contract)
    if isinstance(read, Parsed) and read.complete:
        await client.confirm(request, kept)
    return _Answer(read, exchange_of(reply))


def _reaskable(read: Parsed | ParseFault) -> str | None:
    """Return what is wrong with the reply's form, if that is all that is wrong somewhere."""
    faults = (read,) if isinstance(read, ParseFault) else read.verdicts.values()
    return next((f.message for f in faults if isinstance(f, ParseFault) and f.code in REASKABLE), None)


def _reask_request(request: ChatRequest, said: str, contract: Contract, problem: str) -> ChatRequest:
    shown = said if len(said) <= SHOWN_BACK else f"{said[:SHOWN_BACK]}…"
    demand = Message("user", reask(contract, well_formed(problem)))
    messages = (*request.messages, Message("assistant", shown), demand)
    # Having said it once, a judge is sure of it: the probabilities of a second saying tell nothing.
    return replace(request, messages=messages, task_id=f"{request.task_id}/{REASK}", logprobs=None)


def _filled(first: Parsed | ParseFault, second: Parsed | ParseFault, contract: Contract) -> Parsed | ParseFault:
    """Fill the gaps of the first reply from the second; a verdict that stood, or a fault not of form, stands."""
    if isinstance(first, ParseFault):
        return _marked(second)
    filled = dict(first.verdicts)
    for dimension in contract.dimensions:
        held = filled[dimension.id]
        if isinstance(held, ParseFault) and held.code in REASKABLE:
            marked = _marked(second)
            filled[dimension.id] = marked if isinstance(marked, ParseFault) else marked.verdicts[dimension.id]
    return replace(first, verdicts=filled)


def _marked(read: Parsed | ParseFault) -> Parsed | ParseFault:
    if isinstance(read, ParseFault):
        return ParseFault(read.code, f"{read.message} (asked twice)")
    verdicts = {
        name: replace(v, flags=(REASKED, *v.flags))
        if isinstance(v, Verdict)
        else ParseFault(v.code, f"{v.message} (asked twice)")
        for name, v in read.verdicts.items()
    }
    return replace(read, verdicts=verdicts)


def _cells(read: Parsed | ParseFault, task: Task, prompt: Prompt) -> dict[str, Cell]:
    seen = Seen(prompt.material)
    return {
        d.id: to_cell(read if isinstance(read, ParseFault) else read.verdicts[d.id], prompt.contract, seen, task.order)
        for d in prompt.contract.dimensions
    }


def _too_large(read: Parsed | ParseFault, contract: Contract) -> dict[str, Cell]:
    message = read.message if isinstance(read, ParseFault) else ""
    return {d.id: InputFault(RequestTooLargeError.code, message) for d in contract.dimensions}
