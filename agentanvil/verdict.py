"""The outcome of one task: for every dimension exactly one of five states, and only one holds a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

Winner = Literal["a", "b", "tie"]
Because = Literal["", "unsure", "missing", "share"]
State = Literal["scored", "not_applicable", "judge_error", "input_error", "not_run"]
STATES: tuple[State, ...] = ("scored", "not_applicable", "judge_error", "input_error", "not_run")

NO_EVIDENCE = "no_evidence"
"""The flag on a verdict that came without the evidence that the rubric asks for."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A grade that the contract offered.

    `score` is on the rubric's scale. `evidence` holds the judge's own words; `evidence_found` says whether
    every quote occurs in the judged text (None where the rubric does not ask for quotes, or none was given).
    `flags` names what a reviewer should know, for example `no_evidence`, `coerced`, `reasked`.

    Pairwise: `score` is signed, positive where response_a is better, whichever was shown first. `evidence` is
    from response_a and `rival_evidence` from response_b. `preference` is the probability that response_a is
    the better one as the token log-probabilities of this call give it, None where they did not come back.

    Where the judge's probabilities are known, from the tokens of its reply or because it answers with nothing else:
    `expected_score` is the mean over the verdicts on offer (in a gate the probability of a pass), `entropy` that of
    their distribution in 0..1, where 1 is an even one (H / ln n), and `label_mass` the probability that all of them
    had before they were made to sum to one.
    """

    state: ClassVar[State] = "scored"
    score: float
    evidence: tuple[str, ...] = ()
    evidence_found: bool | None = None
    reason: str = ""
    flags: tuple[str, ...] = ()
    rival_evidence: tuple[str, ...] = ()
    preference: float | None = None
    label_mass: float | None = None
    expected_score: float | None = None
    entropy: float | None = None


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The judge said that the dimension does not apply, and the rubric allows that."""

    state: ClassVar[State] = "not_applicable"
    reason: str = ""
    evidence: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeError:
    """The judge brought no usable verdict. `code` is stable (`unparseable`, `refusal`, `timeout` …)."""

    state: ClassVar[State] = "judge_error"
    code: str
    message: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InputFault:
    """The row itself cannot be judged on this dimension (too long, a field that the check needs is absent)."""

    state: ClassVar[State] = "input_error"
    code: str
    message: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotRun:
    """Nobody asked: the run was stopped, or the budget was used up. Never journaled."""

    state: ClassVar[State] = "not_run"
    code: str = "not_reached"
    flags: tuple[str, ...] = ()


Cell = Scored | NotApplicable | JudgeError | InputFault | NotRun


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of a task that reached an answer or an error; a re-ask makes two of them.

    `text` is the raw reply. Token counts are None where the provider did not say. `attempts` counts wire
    attempts. `cached` means that nothing was sent. `error` is the CallError's code, if it ended in one.
    `cost` is in US dollars, None where the price is unknown.
    """

    text: str = ""
    stop: str = ""
    model: str | None = None
    request_id: str | None = None
    rung: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    attempts: int = 1
    latency_s: float = 0.0
    cached: bool = False
    cost: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one task: cells by dimension id, and the exchanges that they cost.

    Pairwise: `stated` is the winner that the judge named itself, as it was told (`a` is response_a whichever was
    shown first; the raw reply with its slots is in the exchange, and `order` says which response stood in
    which). `models` are those of response_a and response_b, where known, and `group` is the same for all
    pairs that answer one request. `because` tells why a judge was asked whom not every row is put to: `unsure` or
    `missing` for what the first one said, `share` for the random share.
    """

    task_id: str
    row: int
    item_id: str
    call: str
    repeat: int
    order: str
    judge: str
    cells: Mapping[str, Cell]
    exchanges: tuple[Exchange, ...] = ()
    labels: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    stated: Winner | None = None
    models: tuple[str | None, ...] = ()
    group: str = ""
    because: Because = ""

    @property
    def failed(self) -> bool:
        """Whether the judge brought no usable verdict on some dimension, so that it is to be asked again."""
        return any(isinstance(cell, JudgeError) for cell in self.cells.values())
