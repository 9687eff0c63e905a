"""A study: several runs that differ in one thing each, in folders of their own, under one budget.

Each arm is an ordinary run: it is journaled, resumes by itself, and `anvil report` rebuilds it. Calls that arms share
come from the cache.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Summary
from agentanvil.errors import AnvilError, BudgetReachedError, InputError, RunFolderError, UsageError, Where
from agentanvil.runner.estimate import Estimate, estimate
from agentanvil.runner.events import Listener, RunStart, Tally
from agentanvil.runner.exits import Ending
from agentanvil.runner.folder import MANIFEST, read_manifest
from agentanvil.runner.grade import GradeResult, grade
from agentanvil.runner.job import Surroundings
from agentanvil.runner.settings import GradeSettings

ARMS = "arms"
"""Where a study's folder has the folders of its arms."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One condition. `settings` are those of its run; `settings.out` is its folder."""

    name: str
    settings: GradeSettings

    def __post_init__(self) -> None:
        """Raise UsageError for a run that would not ask every item alike: arms would differ by that, too."""
        if self.settings.adaptive:
            raise UsageError("arms that are compared ask every item equally often, so --repeats is a number here")

    @property
    def folder(self) -> Path:
        """The run folder. Raises ValueError for settings without one: a study's folders follow from its own."""
        if self.settings.out is None:
            raise ValueError(f"the arm {self.name} has no folder")
        return self.settings.out


@dataclass(frozen=True, slots=True)
class StudyEnd:
    """The arms that were run, in their order, and how the last of them ended; later ones were not begun.

    `problem` is the error that stopped the study, if one did.
    """

    runs: tuple[GradeResult, ...]
    ending: Ending
    problem: AnvilError | None = None


def run_arms(
    arms: Sequence[Arm],
    around: Surroundings,
    listener: Listener,
    *,
    max_cost: float | None = None,
    max_calls: int | None = None,
) -> StudyEnd:
    """Run the arms one after another, until one stops early. Raises InputError as `grade` does for the first.

    A later one that cannot begin, its judge being out of reach for instance, stops the study: it can be resumed.
    `max_cost` is in US dollars for all arms over all sittings, `max_calls` counts the wire attempts of this one.
    """
    runs: list[GradeResult] = []
    for arm in arms:
        others = sum(spent(other.folder) for other in arms if other is not arm)
        judge = replace(
            arm.settings.judge,
            max_cost=None if max_cost is None else max(0.0, max_cost - others),
            max_calls=None if max_calls is None else max(0, max_calls - sum(run.tally.calls for run in runs)),
        )
        listener.notice(f"arm {len(runs) + 1} of {len(arms)}: {arm.name}")
        try:
            runs.append(grade(replace(arm.settings, judge=judge), around, _OfArms(listener)))
        except InputError as error:
            if not runs:
                raise
            return StudyEnd(tuple(runs), "stopped", error)
        if runs[-1].ending != "complete":
            break
        for told in _missing(arm.name, runs[-1].summary):
            listener.notice(told)
    if not runs:
        return StudyEnd((), "complete")
    problem = runs[-1].problem
    if isinstance(problem, BudgetReachedError):
        # What was left of a limit for the last arm says nothing to the one who set it.
        told = f"--max-calls {max_calls} reached"
        if problem.flag is not None:
            told = f"{problem.flag} {max_cost:g} reached: ${sum(spent(arm.folder) for arm in arms):.4f} spent"
        problem = BudgetReachedError(f"{told}, all arms together", hint=problem.hint, flag=problem.flag)
    return StudyEnd(tuple(runs), runs[-1].ending, problem)


def _missing(name: str, summary: Summary) -> Iterator[str]:
    """Yield how many verdicts an arm lacks, and why the first one: a study's report has room for neither."""
    coverage = summary.coverage
    for item in summary.missing[:1]:
        why = f"{item.code}: {item.message}" if item.message else item.code
        yield (
            f"{name}: {coverage.expected - coverage.covered} of {coverage.expected} verdicts are missing, "
            f"of {item.id} for one ({why})"
        )


def refuse_foreign_folder(folder: Path, reports: Collection[str], what: str) -> None:
    """Raise RunFolderError where a folder holds anything but arms and `reports`, so that it is no folder of `what`."""
    own = {ARMS, *reports, *(f".{name}.tmp" for name in reports)}
    try:
        foreign = sorted(entry.name for entry in folder.iterdir() if entry.name not in own) if folder.exists() else []
    except OSError as error:
        raise RunFolderError(f"cannot use this folder: {error.strerror or error}", where=Where(str(folder))) from None
    if foreign:
        raise RunFolderError(
            f"this folder holds `{foreign[0]}`, so it is not {what}",
            where=Where(str(folder)),
            hint="Choose an empty or new --out folder.",
        )


@contextmanager
def taken_back(folder: Path, *, fresh: bool) -> Iterator[None]:
    """Leave no study's folder behind that was not there before (`fresh`), where an InputError ends it unbegun."""
    try:
        yield
    except InputError:
        if fresh and not any(folder.glob(f"{ARMS}/*/*/{MANIFEST}")):
            shutil.rmtree(folder, ignore_errors=True)
        raise


def estimate_arms(arms: Sequence[Arm], around: Surroundings) -> tuple[Estimate, ...]:
    """Return what each arm would ask, as `--dry-run` tells it. Raises InputError as `estimate` does.

    What one arm would put into the cache for a later one is counted in both.
    """
    return tuple(estimate(arm.settings, around) for arm in arms)


def spent(folder: Path) -> float:
    """Return the US dollars that the run in a folder has cost so far, as far as its prices are known."""
    manifest = read_manifest(folder)
    sessions: list[dict[str, Any]] = [] if manifest is None else manifest["sessions"]
    return sum(session["cost_usd"] or 0.0 for session in sessions)


class _OfArms:
    """Passes everything on but failures of a gate: what arms are compared on is not whether their items pass."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def started(self, start: RunStart) -> None:
        self._listener.started(start)

    def advanced(self, tally: Tally) -> None:
        self._listener.advanced(tally)

    def step(self, name: str, done: float, total: float | None) -> None:
        self._listener.step(name, done, total)

    def notice(self, text: str) -> None:
        self._listener.notice(text)

    def failed(self, text: str) -> None:
        """Tell nobody."""

    def finished(self) -> None:
        self._listener.finished()
