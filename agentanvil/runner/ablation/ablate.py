"""What each clause of a rubric does: the same rows graded without it, held against the whole rubric item by item."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from agentanvil.aggregate import ItemOutcomes, Reducer
from agentanvil.aggregate.ablation.effects import Chances, clause_effect
from agentanvil.aggregate.ablation.readings import ArmReadings, ScoreCodes
from agentanvil.aggregate.ablation.tally import Ablation
from agentanvil.aggregate.ablation.verdict import conclude
from agentanvil.errors import AnvilError, RunWriteError, Where
from agentanvil.hashing import derive_seed
from agentanvil.plan import BY_CODE
from agentanvil.prompt import PROMPT_VERSION
from agentanvil.report.ablation_files import AblationFacts, AblationReport, write_ablation
from agentanvil.runner.ablation.arms import Layout, lay_out
from agentanvil.runner.ablation.settings import AblateSettings
from agentanvil.runner.estimate import Estimate, estimate
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Ending, Exit, study_exit
from agentanvil.runner.job import Surroundings
from agentanvil.runner.manifest import read_share
from agentanvil.runner.run_view import open_view, read_run
from agentanvil.runner.study import Arm, StudyEnd, run_arms, taken_back

# Exchanges drawn for each test that there may be: enough for the smallest p-value to pass Holm's strictest step.
_DRAWS_A_TEST = 50
_FEWEST_DRAWS = 9_999


@dataclass(frozen=True, slots=True)
class AblateResult:
    """What an ablation came to. `report` is None where not even the whole rubric was asked about every row.

    `problem` is the error that stopped the study, if one did.
    """

    folder: Path
    report: AblationReport | None
    ending: Ending
    exit: Exit
    problem: AnvilError | None


@dataclass(frozen=True, slots=True)
class AblateEstimate:
    """What an ablation would ask, arm by arm: the whole rubric first, then each clause by its number."""

    layout: Layout
    whole: Estimate
    arms: dict[int, Estimate]


def ablate(settings: AblateSettings, around: Surroundings, listener: Listener) -> AblateResult:
    """Run or resume one `anvil ablate`, and write what is measured of it so far.

    Raises InputError where the input, a folder or the judge cannot be used, RunWriteError where the disk takes no
    report.
    """
    layout = lay_out(settings, around)
    judge = settings.run.judge
    arms = (layout.whole, *layout.arms.values())
    with taken_back(layout.folder, fresh=layout.fresh):
        end = run_arms(arms, around, listener, max_cost=judge.max_cost, max_calls=judge.max_calls)
    report = _report(layout, end) if end.runs[0].ending == "complete" else None
    if report is not None:
        try:
            write_ablation(layout.folder, report)
        except OSError as error:
            place = Where(error.filename or str(layout.folder))
            raise RunWriteError(f"the reports cannot be written: {error.strerror or error}", where=place) from error
    runs = [(run.summary, read_share(run.manifest)) for run in end.runs]
    code = study_exit(end.ending, runs, settings.run.min_coverage)
    return AblateResult(layout.folder, report, end.ending, code, end.problem)


def estimate_ablation(settings: AblateSettings, around: Surroundings) -> AblateEstimate:
    """Return what `ablate` would ask; nothing is sent, nothing is left behind. Raises InputError as `ablate` does."""
    with TemporaryDirectory(prefix="anvil-") as folder:
        layout = lay_out(settings, around, Path(folder))
        whole = estimate(layout.whole.settings, around)
        cached = settings.run.judge.cache != "off"
        arms = {
            number: estimate(arm.settings, around, layout.shared[number] if cached else frozenset())
            for number, arm in layout.arms.items()
        }
    return AblateEstimate(layout, whole, arms)


def _report(layout: Layout, end: StudyEnd) -> AblationReport:
    settings, whole = layout.settings, end.runs[0].manifest
    done = [run.ending == "complete" for run in end.runs[1:]]
    measured = [number for number, complete in zip(layout.arms, done, strict=False) if complete]
    seed = derive_seed(whole["fingerprint"], "ablation")
    costs = [session["cost_usd"] for run in end.runs for session in run.manifest["sessions"]]
    facts = AblationFacts(
        rubric_id=layout.rubric.id,
        rubric_hash=layout.rubric.hash,
        rubric_file=settings.run.rubric,
        data=settings.run.data,
        sample=settings.sample,
        judge=layout.judge,
        mode=layout.rubric.mode,
        reading=settings.run.reading,
        prompt_version=PROMPT_VERSION,
        repeats=settings.run.repeats,
        seed=seed,
        complete=len(measured) == len(layout.arms),
        cost_usd=math.fsum(cost for cost in costs if cost is not None) if any(costs) else None,
        arms={0: str(layout.whole.folder), **{number: str(arm.folder) for number, arm in layout.arms.items()}},
    )
    unmeasured = {number: clause for number, clause in layout.clauses.items() if number not in measured}
    return AblationReport(facts, _measure(layout, measured, seed), measured, layout.unsaid, unmeasured)


def _measure(layout: Layout, measured: Sequence[int], seed: int) -> Ablation:
    codes, repeats = ScoreCodes(), layout.settings.run.repeats
    whole = _read(layout.whole, codes, 0, repeats)
    tests = len(measured) * (2 * len(whole.columns) + 1)
    chances = Chances(seed, max(_FEWEST_DRAWS, _DRAWS_A_TEST * tests))
    effects = []
    for number in measured:
        clause, without = layout.clauses[number], _read(layout.arms[number], codes, 0, repeats)
        effects.append((clause, clause_effect(whole, without, chances, clause)))
    again = _read(layout.whole, codes, repeats, repeats) if layout.settings.again else None
    noise = None if again is None else clause_effect(whole, again, chances, None)
    return conclude(effects, noise, whole.items)


def _read(arm: Arm, codes: ScoreCodes, first: int, repeats: int) -> ArmReadings:
    """Read some of an arm's repeats, from the `first` on, as a run of their own."""
    with open_view(arm.folder, read_run(arm.folder)) as view:
        reducer = Reducer(view.rubric, replace(view.plan, repeats=repeats), reading=view.reading, jury=view.jury)
        readings = ArmReadings(reducer.frame, codes)
        for item in view.items():
            readings.add(reducer.reduce(_part(item, first, repeats)))
    return readings


def _part(item: ItemOutcomes, first: int, repeats: int) -> ItemOutcomes:
    """Return the outcomes of some repeats, counted from 0; those of code, which has no repeats, belong to each part."""
    own = [
        replace(outcome, repeat=outcome.repeat - first)
        for outcome in item.outcomes
        if outcome.judge != BY_CODE and first <= outcome.repeat < first + repeats
    ]
    code = [outcome for outcome in item.outcomes if outcome.judge == BY_CODE]
    return ItemOutcomes(item.index, item.item_id, [*code, *own])
