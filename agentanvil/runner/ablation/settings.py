"""Frozen settings of `anvil ablate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentanvil.errors import UsageError
from agentanvil.rubric.variant import Clause
from agentanvil.runner.config import Config, grade_settings
from agentanvil.runner.gate_settings import GateSettings
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.settings import GradeSettings


@dataclass(frozen=True, slots=True)
class AblateSettings:
    """One `anvil ablate`. `run` is how the whole rubric is graded, by one judge alone and with the rubric's own gate.

    `clauses` name what is taken out, by number, by id or by the beginning of ids; none means every clause. `sample` is
    how many rows are drawn by seed, None for all. `again`: the whole rubric is asked twice, so that what is left of a
    change when nothing is taken out can be told.
    """

    run: GradeSettings
    clauses: tuple[str, ...] = ()
    sample: int | None = None
    again: bool = True

    def __post_init__(self) -> None:
        """Raise UsageError for what cannot be meant."""
        if self.sample is not None and self.sample < 1:
            raise UsageError(f"--sample must be at least 1, not {self.sample}")
        if self.run.calls == "both":
            raise UsageError(
                "--calls both asks everything in two ways, and an ablation compares rubrics in one",
                hint="Choose joint or split.",
            )

    @property
    def seed(self) -> int:
        """What rows are drawn by."""
        return self.run.judge.seed_sent


def ablate_settings(data: str, flags: Mapping[str, Any], config: Config) -> AblateSettings:
    """Merge everything that one `anvil ablate` needs. Raises UsageError or ConfigError."""
    run = grade_settings(data, flags, config)
    calls = None if run.calls == "both" and "calls" in run.defaults else run.calls
    return AblateSettings(
        run=replace(
            run,
            panel=PanelSettings(),
            gate=GateSettings(),
            baseline=None,
            calls=calls,
            # Every arm is to be asked alike, whatever its answers are.
            repeats=1 if run.adaptive else run.repeats,
            adaptive=False,
        ),
        clauses=tuple(flags.get("clause") or ()),
        sample=flags.get("sample"),
        again=flags.get("noise_floor") is not False,
    )


def chosen_clauses(wanted: Sequence[str], listed: Mapping[int, Clause]) -> dict[int, Clause]:
    """Return the clauses that were asked for, by their numbers. Raises UsageError for a name that none goes by."""
    if not wanted:
        return dict(listed)
    chosen: set[int] = set()
    for name in wanted:
        found = {number for number, clause in listed.items() if _goes_by(name, number, clause)}
        if not found:
            known = ", ".join(f"{number} {clause.id}" for number, clause in listed.items())
            raise UsageError(f"--clause names no clause of this rubric: {name!r}", hint=f"The clauses are: {known}.")
        chosen |= found
    return {number: clause for number, clause in listed.items() if number in chosen}


def _goes_by(name: str, number: int, clause: Clause) -> bool:
    return name in (str(number), clause.id) or clause.id.startswith(f"{name}.")
