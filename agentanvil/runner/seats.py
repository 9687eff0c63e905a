"""The judges of a run by name: the first, and those that sit beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from agentanvil.client.spec import JudgeSpec
from agentanvil.errors import UsageError
from agentanvil.plan import BY_CODE, Condition, Role, Seat, idle_terms, parse_condition, usual_condition
from agentanvil.rubric import Rubric
from agentanvil.runner.local_judge import model_label, name_judge
from agentanvil.runner.panel_settings import DEFAULT_CROSS_SAMPLE, DEFAULT_ESCALATED_SHARE, PanelSettings
from agentanvil.runner.settings import LOCAL_DEFAULTS, GradeSettings, JudgeSettings

_CONTENT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Panel:
    """Who judges a run. `specs` stand in the order of the seats, none where code decides everything.

    `others` are the seats beside the first. `condition` tells where the last of them is asked, if it is escalated to.
    """

    specs: tuple[JudgeSpec, ...] = ()
    others: tuple[Seat, ...] = ()
    condition: Condition | None = None

    @property
    def name(self) -> str:
        """The name of the first judge."""
        return str(self.specs[0]) if self.specs else BY_CODE

    @property
    def identity(self) -> str:
        """What makes it the same panel: every judge, what it is there for, and how often it is asked."""
        if not self.specs:
            return BY_CODE
        first, *rest = map(_identity, self.specs)
        seated = (self._seated(seat, name) for seat, name in zip(self.others, rest, strict=True))
        return "; ".join((first, *seated))

    def _seated(self, seat: Seat, name: str) -> str:
        if seat.role == "jury":
            return f"jury {name}"
        when = f" when {self.condition}" if self.condition is not None else ""
        return f"{seat.role} {name}{when}, share {seat.share:g}"


def name_panel(settings: GradeSettings, rubric: Rubric, environ: Mapping[str, str]) -> Panel:
    """Read the names of a run's judges, strictly.

    Raises UsageError: no judge, one that cannot be read, the same one twice, a condition that means nothing here.
    """
    if not rubric.judged:
        return Panel()
    specs, others = [_named(settings.judge, environ)], []
    for text, role, share in _beside(settings.panel):
        spec = _named(replace(settings.judge, judge=text), environ)
        if spec in specs:
            raise UsageError(
                f"the judge {spec} is named twice, and would only agree with itself",
                hint="Name another model; --repeats asks one judge several times.",
            )
        specs.append(spec)
        others.append(Seat(str(spec), role, share))
    return Panel(tuple(specs), tuple(others), _condition(settings.panel, rubric))


def seat_settings(settings: JudgeSettings, spec: JudgeSpec, seat: int) -> JudgeSettings:
    """Return how the judge of a seat is asked.

    The key that flags name is the first judge's. A model on this machine's processors gets no more calls at
    once, and no less time for each, than it would get alone.
    """
    if not seat:
        return settings
    own = replace(settings, judge=str(spec), api_key_env=None, api_key_command=None)
    if spec.provider != "local":
        return own
    usual = LOCAL_DEFAULTS
    return replace(
        own, concurrency=min(own.concurrency, usual["concurrency"]), timeout=max(own.timeout, usual["timeout"])
    )


def _named(settings: JudgeSettings, environ: Mapping[str, str]) -> JudgeSpec:
    spec = name_judge(settings, environ)
    if spec is None:
        raise UsageError(
            "no judge given",
            hint="Give --judge PROVIDER:MODEL, or set `judge:` in anvil.yaml; --judge local needs no account.",
        )
    return spec


def _beside(panel: PanelSettings) -> Iterator[tuple[str, Role, float]]:
    for name in panel.jury:
        yield name, "jury", 1.0
    if panel.cross_judge is not None:
        yield panel.cross_judge, "cross", _or(panel.cross_sample, DEFAULT_CROSS_SAMPLE)
    if panel.escalate_to is not None:
        yield panel.escalate_to, "escalation", _or(panel.escalate_share, DEFAULT_ESCALATED_SHARE)


def _or(share: float | None, usual: float) -> float:
    return usual if share is None else share


def _condition(panel: PanelSettings, rubric: Rubric) -> Condition | None:
    if panel.escalate_to is None:
        return None
    if panel.escalate_when is None:
        return usual_condition(rubric)
    condition = parse_condition(panel.escalate_when)
    idle = idle_terms(condition, rubric)
    if idle.keys() == condition.terms:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in idle.items())
        raise UsageError(f"--escalate-when {condition} can never hold here: {reasons}")
    return condition


def _identity(spec: JudgeSpec) -> str:
    """Name a judge; a recording is another judge once it holds other replies, `local` once it is another model."""
    if spec.provider == "local":
        return f"{spec} ({model_label(spec.model)})"
    if spec.provider != "recorded":
        return str(spec)
    try:
        with Path(spec.model).open("rb") as file:
            content = hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=_CONTENT_BYTES)).hexdigest()
    except OSError:  # told in full where the recording is opened
        return str(spec)
    return f"{spec} ({content})"
