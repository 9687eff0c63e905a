"""Frozen settings of `anvil probe`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from agentanvil.aggregate.probe.findings import PROBES, ProbeName
from agentanvil.errors import UsageError
from agentanvil.runner.config import Config, grade_settings
from agentanvil.runner.gate_settings import GateSettings
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.settings import GradeSettings

FailOn = Literal["bias"]
DEFAULT_PLANTED = 50


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """One `anvil probe`. `run` is how the plain rows are graded, by one judge alone; nothing is gated.

    `second_judge` is whom self-preference is measured against. `sample` is how many rows are drawn by seed, None for
    all. Instructions are planted in `planted` rows at most, drawn by seed. `fail_on` is what the exit code
    tells beside what went wrong.
    """

    run: GradeSettings
    second_judge: str | None = None
    only: tuple[ProbeName, ...] = PROBES
    sample: int | None = None
    planted: int = DEFAULT_PLANTED
    fail_on: FailOn | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for a number or a word that cannot be meant."""
        for flag, value in (("--sample", self.sample), ("--planted", self.planted)):
            if value is not None and value < 1:
                raise UsageError(f"{flag} must be at least 1, not {value}")
        if self.run.calls == "both":
            raise UsageError(
                "--calls both asks everything in two ways, and a probe changes one thing at a time",
                hint="Choose joint or split.",
            )
        if self.fail_on is not None and self.fail_on not in get_args(FailOn):
            raise UsageError(f"--fail-on is bias, not {self.fail_on!r}")

    @property
    def seed(self) -> int:
        """What rows, wordings and frames are drawn by."""
        return self.run.judge.seed_sent

    @property
    def repeats(self) -> int:
        """How often the plain rows are asked about: twice at least where readings are compared with themselves."""
        return max(self.run.repeats, 2 if {"repeatability", "injection"} & set(self.only) else 1)


def probe_settings(data: str, flags: Mapping[str, Any], config: Config) -> ProbeSettings:
    """Merge everything that one `anvil probe` needs. Raises UsageError or ConfigError.

    What anvil.yaml says of panels, gates, further repeats and the run's folder is meant for grading.
    """
    run = grade_settings(data, flags, config)
    planted, out = flags.get("planted"), flags.get("out")
    plain = replace(
        run,
        panel=PanelSettings(),
        gate=GateSettings(),
        accept_self_judging=True,
        baseline=None,
        repeats=1 if run.adaptive else run.repeats,
        adaptive=False,
        calls=None if run.calls == "both" and "calls" in run.defaults else run.calls,
        out=None if out is None else Path(out),
    )
    return ProbeSettings(
        run=plain,
        second_judge=flags.get("second_judge"),
        only=_chosen(flags.get("only")),
        sample=flags.get("sample"),
        planted=DEFAULT_PLANTED if planted is None else planted,
        fail_on=flags.get("fail_on"),
    )


def _chosen(only: str | None) -> tuple[ProbeName, ...]:
    if only is None:
        return PROBES
    named = [name.strip() for name in only.split(",") if name.strip()]
    _refuse_strangers(named)
    return tuple(name for name in PROBES if name in named)


def _refuse_strangers(named: Iterable[str]) -> None:
    strange = [name for name in named if name not in PROBES]
    if strange or not named:
        told = f"not {strange[0]!r}" if strange else "and it is empty"
        raise UsageError(f"--only names probes, {told}", hint=f"The probes are {', '.join(PROBES)}.")
