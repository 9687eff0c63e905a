"""One task, one call to an endpoint that decides typed questions, one outcome. There is nothing to ask again.

The verdict is the likeliest option, and the lower one of two that are equally likely (in a comparison the tie). In a
gate it is a pass from P = 0.5 on. A comparison's choice says who is better and not by how much: its score is one step,
the least lead that the scale has, so that weights count as they do anywhere else.

Expected score and preference are those where the dimension applies; entropy and mass are those of all options, "not
applicable" among them where it was one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agentanvil.client import ChatClient, ChatReply, ChatRequest, Message, Question, Sampling
from agentanvil.client.decisions import Answer, read_answers
from agentanvil.errors import CallError, EndpointError, RequestTooLargeError, quoted
from agentanvil.hashing import well_formed
from agentanvil.judge.distribution import Reading, read_distribution
from agentanvil.judge.exchanges import exchange_of, exchange_of_failure
from agentanvil.judge.verdicts import ParseFault
from agentanvil.plan import Order, Task, unswap_delta, unswap_probability
from agentanvil.prompt import NOT_APPLICABLE, PROMPT_VERSION, Asked
from agentanvil.prompt.questions import FAIL, PASS
from agentanvil.rubric import Mode
from agentanvil.verdict import Cell, InputFault, JudgeError, NotApplicable, Outcome, Scored

BAD_PROBABILITIES = "bad_probabilities"
"""The code of an answer whose probabilities are none, or are not those of the options that were asked."""
ROUNDING = 0.01
"""How far each probability may be from what it was before it was rounded: gateways keep two decimals."""
MOST_ROUNDING = 0.1
"""How far a sum of them may be from 1, however many they are."""
PASSES_FROM = 0.5

_ALONE = "true"
_NOISE = 1e-6
"""By how much single precision may pass 1."""
_SLOT_VALUES: Mapping[str, float] = {"A": 1.0, "B": -1.0, "tie": 0.0}
_GATE_VALUES: Mapping[str, float] = {PASS: 1.0, FAIL: 0.0}


async def decide(task: Task, asked: Asked, client: ChatClient) -> Outcome:
    """Ask about one task and return the outcome, whatever came back. Raises what ends the run, as `judge` does."""
    request = build_decision(task, asked)
    try:
        reply = await client.complete(request)
    except EndpointError:
        raise
    except CallError as error:
        too_large = isinstance(error, RequestTooLargeError)
        lost: Cell = (InputFault if too_large else JudgeError)(error.code, well_formed(error.message))
        exchange = exchange_of_failure(error)
        return task.outcome({question.name: lost for question in asked.questions}, (exchange,))
    cells = read_decisions(reply, asked, task.order)
    if not any(isinstance(cell, JudgeError) for cell in cells.values()):
        await client.confirm(request, reply)
    return task.outcome(cells, (exchange_of(reply),))


def build_decision(task: Task, asked: Asked) -> ChatRequest:
    """Return the request of a task, the same for the run and for `anvil show`. It has nothing to be sampled by."""
    return ChatRequest(
        messages=(Message("user", asked.state),),
        sampling=Sampling(temperature=None),
        repeat=task.repeat,
        prompt_version=PROMPT_VERSION,
        task_id=task.question,
        questions=asked.questions,
    )


def read_decisions(reply: ChatReply, asked: Asked, order: Order) -> dict[str, Cell]:
    """Return the cell of each question, told of response_a and response_b whichever was shown first.

    A question that was refused, not answered, or answered with what are no probabilities of its options is a
    JudgeError of its own; the others stand.
    """
    withheld = _withheld(reply)
    answers = read_answers(reply.text) if withheld is None else None
    if answers is None:
        fault = withheld or ParseFault("unparseable", "the reply holds no answers")
        return {question.name: _lost(fault) for question in asked.questions}
    by_name = _by_name(answers, asked.questions)
    return {question.name: _cell(question, by_name[question.name], asked.mode, order) for question in asked.questions}


def _withheld(reply: ChatReply) -> ParseFault | None:
    if reply.stop == "refusal" or reply.refusal:
        return ParseFault("refusal", f"the judge declined to decide: {(reply.refusal or reply.text)[:200]}")
    return ParseFault("blocked", "the provider's filter withheld the reply") if reply.stop == "blocked" else None


def _by_name(answers: Sequence[Answer], questions: Sequence[Question]) -> dict[str, Answer | ParseFault]:
    """Give every question its answer: by name, or by its place where the answers have no names and none is missing."""
    found: dict[str, Answer | ParseFault] = {}
    complete = len(answers) == len(questions)
    for place, answer in enumerate(answers):
        name = questions[place].name if answer.name is None and complete else answer.name
        if name is None:
            continue
        known = found.setdefault(name, answer)
        if isinstance(known, Answer) and (known.kind, known.probabilities) != (answer.kind, answer.probabilities):
            found[name] = ParseFault("ambiguous", "two different answers to one question")
    missing = ParseFault("missing_verdict", "no answer to this question")
    return {question.name: found.get(question.name, missing) for question in questions}


def _cell(question: Question, answer: Answer | ParseFault, mode: Mode, order: Order) -> Cell:
    options = _options(question, answer) if isinstance(answer, Answer) else answer
    if isinstance(options, ParseFault):
        return _lost(options)
    inapplicable = options.pop(NOT_APPLICABLE, None)
    values = [_value(name, mode) for name in options]
    shares = list(options.values())
    if inapplicable is not None and inapplicable > max(shares):
        return NotApplicable()
    where = whole = read_distribution(values, shares)
    if inapplicable is not None:
        whole = read_distribution(range(len(shares) + 1), [*shares, inapplicable])
    if where is None or whole is None:
        return _lost(ParseFault(BAD_PROBABILITIES, "all probabilities are zero"))
    return _scored(_verdict(values, shares, where, mode), where, whole, (mode, order))


def _scored(verdict: float, where: Reading, whole: Reading, shown: tuple[Mode, Order]) -> Scored:
    mode, order = shown
    expected, preference = where.expected, None
    if mode == "pairwise":
        preference = unswap_probability((1.0 + expected) / 2, order)
        verdict, expected = unswap_delta(verdict, order), unswap_delta(expected, order)
    return Scored(verdict, preference=preference, label_mass=whole.mass, expected_score=expected, entropy=whole.entropy)


def _verdict(values: Sequence[float], shares: Sequence[float], reading: Reading, mode: Mode) -> float:
    if mode == "gate":
        return float(reading.expected >= PASSES_FROM)
    top = max(shares)
    likeliest = [value for value, share in zip(values, shares, strict=True) if share == top]
    if mode == "pairwise" and len(likeliest) > 1:
        return 0.0
    return min(likeliest)


def _value(name: str, mode: Mode) -> float:
    if mode == "absolute":
        return float(name)
    return (_GATE_VALUES if mode == "gate" else _SLOT_VALUES)[name]


def _options(question: Question, answer: Answer) -> dict[str, float] | ParseFault:
    """Return the probability of every option in the question's order, as they were told, or why they cannot be read."""
    if answer.kind == "refusal":
        return ParseFault("refusal", "the judge declined to answer this question")
    if answer.kind != question.kind:
        return ParseFault("type", f"the answer is of the type {answer.kind}, the question of the type {question.kind}")
    told = dict(answer.probabilities)
    if len(told) != len(answer.probabilities):
        return ParseFault(BAD_PROBABILITIES, "one option has two probabilities")
    named = _named(question, told)
    return named if isinstance(named, ParseFault) else _shares(question, named)


def _shares(question: Question, named: Mapping[str, float | None]) -> dict[str, float] | ParseFault:
    shares = {name: share for name, share in named.items() if share is not None and 0 <= share <= 1 + _NOISE}
    if len(shares) != len(named):
        wrong = next(name for name in named if name not in shares)
        return ParseFault(BAD_PROBABILITIES, f"{quoted(wrong)} has {named[wrong]}, which is no probability")
    if question.kind == "predicate":
        passes = min(shares[_ALONE], 1.0)
        return {PASS: passes, FAIL: 1.0 - passes}
    total = math.fsum(shares.values())
    if abs(total - 1) > min(ROUNDING * len(shares), MOST_ROUNDING) + _NOISE:
        return ParseFault(BAD_PROBABILITIES, f"the probabilities add up to {total:.4g}, more than rounding explains")
    return shares


def _named(question: Question, told: Mapping[str, float | None]) -> dict[str, float | None] | ParseFault:
    """Return what was told in the question's order, by the names of its options.

    A level may go by its place from 0 on. Levels are asked in ascending order, so that one that reads as a place and as
    a label means the same by both.
    """
    names = [name for name, _ in question.options] if question.kind != "predicate" else [_ALONE]
    if told.keys() == set(names):
        return {name: told[name] for name in names}
    places = {str(place): name for place, name in enumerate(names)}
    if question.kind == "score" and told.keys() == places.keys():
        return {name: told[place] for place, name in places.items()}
    missing = [name for name in names if name not in told]
    unknown = [name for name in told if name not in names]
    what = f"no probability of {quoted(missing[0])}" if missing else f"a probability of {quoted(unknown[0])}"
    return ParseFault(BAD_PROBABILITIES, f"the answer holds {what}, {'one of' if missing else 'none of'} the options")


def _lost(fault: ParseFault) -> JudgeError:
    return JudgeError(fault.code, well_formed(fault.message))
