"""A probe before it is run: its arms, their rows, and which probes do not apply to these data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from agentanvil.aggregate.probe.findings import ProbeName
from agentanvil.client.families import Families
from agentanvil.client.spec import JudgeSpec
from agentanvil.dataset import WINNER, Asked, open_dataset, parse_map
from agentanvil.dataset.perturb import KINDS
from agentanvil.errors import DatasetError, RunFolderError, UsageError
from agentanvil.rubric import Mode, Rubric, load_rubric
from agentanvil.runner.job import STDIN, Job, Surroundings, asked_of, prepare
from agentanvil.runner.kinship import families_of_judge
from agentanvil.runner.probe.changes import INJECTION, MARKDOWN, PLACEBO, PLAIN, VERBOSITY, changes, why_unplantable
from agentanvil.runner.probe.settings import ProbeSettings
from agentanvil.runner.seats import name_panel, seat_settings
from agentanvil.runner.settings import GradeSettings
from agentanvil.runner.study import ARMS, Arm, refuse_foreign_folder, taken_back
from agentanvil.runner.study_rows import ROWS, ArmRows, Draw, drawn_rows, rows_of, write_rows

BASE, SECOND = "base", "second-judge"
REPORT = "probe.json"


@dataclass(frozen=True, slots=True)
class Layout:
    """What a probe is about to do.

    `counts` are the rows written for each arm with rows of its own. `own` are the families of the judge, `second` the
    name of the judge beside it where one is asked. `absent` says why a probe does not apply. `rows` counts the plain
    ones. `fresh`: the folder was not there before.
    """

    settings: ProbeSettings
    rubric: Rubric
    judge: str
    folder: Path
    arms: tuple[Arm, ...]
    counts: Mapping[str, ArmRows]
    rows: int
    own: frozenset[str]
    second: str | None
    absent: Mapping[ProbeName, str]
    fresh: bool


def lay_out(settings: ProbeSettings, around: Surroundings, rows_in: Path | None = None) -> Layout:
    """Read and check everything, and write the arms' rows, below `rows_in` where they are for an estimate alone.

    Raises InputError; nothing is asked.
    """
    settings = replace(settings, run=_in_mode(settings.run))
    with prepare(replace(settings.run, repeats=settings.repeats), around) as job:
        if job.spec is None:
            raise UsageError("the rubric asks no judge, so there is none to probe")
        second = _second(settings, job, around)
        absent = _absent(settings, job, second)
        names = _arm_names(settings, job.rubric, absent)
        folder = settings.run.out or Path("runs") / f"{job.folder.name.rpartition('-')[0]}-probe"
        refuse_foreign_folder(folder, (REPORT,), "a probe's")
        fresh = not folder.exists()
        places = {name: (rows_in or folder) / ARMS / name for name in _written(settings, names)}
        with taken_back(folder, fresh=fresh), _naming_differences(folder, settings, job.rubric):
            counts = _write(settings, job, places)
        shown = _Shown(settings, folder, places, second)
        return Layout(
            settings=settings,
            rubric=job.rubric,
            judge=job.panel.name,
            folder=folder,
            arms=tuple(shown.arm(name) for name in names if name not in counts or counts[name].written),
            counts=counts,
            rows=job.rows if settings.sample is None else min(settings.sample, job.rows),
            own=families_of_judge(job.spec, Families(settings.run.families)),
            second=None if second is None or "self-preference" in absent else str(second),
            absent=absent,
            fresh=fresh,
        )


@contextmanager
def _naming_differences(folder: Path, settings: ProbeSettings, rubric: Rubric) -> Iterator[None]:
    """Say of a refusal in which settings the probe differs whose report lies in the folder, as far as one does."""
    try:
        yield
    except RunFolderError as error:
        differences = "; ".join(_differences(folder / REPORT, settings, rubric))
        if not differences:
            raise
        raise RunFolderError(f"{error.message}: {differences}", where=error.where, hint=error.hint) from None


def _differences(report: Path, settings: ProbeSettings, rubric: Rubric) -> Iterator[str]:
    now = {
        "rubric_hash": rubric.hash,
        "mode": rubric.mode,
        "data": settings.run.data,
        "vs": list(settings.run.vs),
        "sample": settings.sample,
        "planted": settings.planted,
        "seed": settings.seed,
    }
    before: object = None
    with suppress(OSError, orjson.JSONDecodeError):
        before = orjson.loads(report.read_bytes())
    if isinstance(before, dict):
        for name, value in now.items():
            if name in before and before[name] != value:
                yield f"{name} was {json.dumps(before[name])}, is now {json.dumps(value)}"


def _written(settings: ProbeSettings, names: Sequence[str]) -> list[str]:
    """Return the arms with rows of their own; the plain ones are read from where they are, unless some are drawn."""
    anew = settings.sample is not None or settings.run.data == STDIN
    return [name for name in names if name != SECOND and (name != BASE or anew)]


def _write(settings: ProbeSettings, job: Job, places: Mapping[str, Path]) -> Mapping[str, ArmRows]:
    is_drawn = drawn_rows(job, settings.sample, settings.seed)
    draw = Draw(settings.planted, "planted", settings.seed)
    if PLACEBO in places:
        for row in rows_of(job, is_drawn, anew=False):
            if why_unplantable(row) is None:
                draw.show(row)
    rows = rows_of(job, is_drawn, anew=BASE in places)
    return write_rows(places, rows, changes(job.rubric, settings.seed, draw.drawn()))


@dataclass(frozen=True, slots=True)
class _Shown:
    """Where each arm's rows lie, and how they are asked about."""

    settings: ProbeSettings
    folder: Path
    places: Mapping[str, Path]
    second: JudgeSpec | None

    def arm(self, name: str) -> Arm:
        run = self.settings.run
        place = self.places.get(BASE if name == SECOND else name)
        own = run if place is None else replace(run, data=str(place / ROWS), mapping=(), vs=(), limit=None)
        out = self.folder / ARMS / name / "run"
        if name == BASE:
            return Arm(name, replace(own, out=out, repeats=self.settings.repeats))
        if name == SECOND and self.second is not None:
            return Arm(name, replace(own, out=out, judge=seat_settings(run.judge, self.second, 1)))
        return Arm(name, replace(own, out=out, repeats=1 if name.startswith((INJECTION, PLACEBO)) else run.repeats))


def _in_mode(run: GradeSettings) -> GradeSettings:
    """Return the settings in the mode that the data ask for: two responses are compared, and in both orders."""
    rubric = load_rubric(run.rubric)
    mode: Mode = run.mode or ("pairwise" if run.vs or _holds_pairs(run, rubric) else rubric.mode)
    return replace(run, mode=mode, order="both" if mode == "pairwise" else None)


def _holds_pairs(run: GradeSettings, rubric: Rubric) -> bool:
    """Tell whether the first row can be read as a pair, and not as one response."""
    if run.data == STDIN or rubric.mode == "pairwise":
        return False
    asked = asked_of(rubric, joined=False)
    with suppress(DatasetError):
        next(open_dataset(run.data, parse_map(run.mapping), asked).rows(), None)
        return False
    with suppress(DatasetError, UsageError):
        pairs = Asked(asked.needs_source, pairs=True, traces=asked.traces)
        return next(open_dataset(run.data, parse_map(run.mapping), pairs).rows(), None) is not None
    return False


def reads_plain(probe: ProbeName, rubric: Rubric) -> bool:
    """Tell whether a probe reads the plain rows; two changed versions are compared with each other alone."""
    return probe != "format" and (probe != "verbosity" or rubric.mode != "pairwise")


def _arm_names(settings: ProbeSettings, rubric: Rubric, absent: Mapping[ProbeName, str]) -> list[str]:
    active = [probe for probe in settings.only if probe not in absent]
    names = [BASE] if any(reads_plain(probe, rubric) for probe in active) else []
    if "verbosity" in active:
        names.append(VERBOSITY)
    if "format" in active:
        names += [MARKDOWN] if rubric.mode == "pairwise" else [PLAIN, MARKDOWN]
    if "injection" in active:
        names += [PLACEBO, *(f"{INJECTION}{kind}" for kind in KINDS)]
    if "self-preference" in active and settings.second_judge is not None:
        names.append(SECOND)
    return names


def _second(settings: ProbeSettings, job: Job, around: Surroundings) -> JudgeSpec | None:
    """Read the second judge's name. Raises UsageError where it cannot be read, or is the first one's."""
    if settings.second_judge is None or "self-preference" not in settings.only:
        return None
    named = replace(settings.run, judge=replace(settings.run.judge, judge=settings.second_judge))
    spec = name_panel(named, job.rubric, around.environ).specs[0]
    if spec == job.spec:
        raise UsageError(
            f"--second-judge names the judge itself, {spec}, which would only agree with itself",
            hint="Name a judge of another family.",
        )
    return spec


def _absent(settings: ProbeSettings, job: Job, second: JudgeSpec | None) -> dict[ProbeName, str]:
    found: dict[ProbeName, str] = {}
    if job.rubric.mode != "pairwise":
        found["position"] = (
            "each row holds one response; rows with response_a and response_b, or --vs OTHER, are compared "
            "in both orders"
        )
    reason = _no_kin(settings, job, second)
    if reason is not None:
        found["self-preference"] = reason
    return found


def _no_kin(settings: ProbeSettings, job: Job, second: JudgeSpec | None) -> str | None:
    """Return why self-preference cannot be asked of these data, None where it can."""
    table = Families(settings.run.families)
    own = families_of_judge(job.spec, table) if job.spec is not None else frozenset()
    if not own:
        return f"the family of {job.panel.name} is not known; anvil.yaml can tell it, under `families:`"
    shared = own & families_of_judge(second, table) if second is not None else frozenset()
    if shared:
        return f"the second judge is of the judge's own family ({', '.join(sorted(shared))})"
    if second is None and not _is_labelled(job):
        return "there is neither a second judge (--second-judge) nor a human label to hold the judge against"
    sides = [{bool(table.of(model) & own) for model in models if model} for models in job.info.candidates]
    if job.rubric.mode == "pairwise":
        return None if {True, False} in sides else "no pair sets a response of the judge's family against another's"
    if any(True in side for side in sides) and any(False in side for side in sides):
        return None
    missing = "another" if any(True in side for side in sides) else "the judge's own"
    return f"no row names a model of {missing} family ({', '.join(sorted(own))} is the judge's)"


def _is_labelled(job: Job) -> bool:
    targets = {WINNER} if job.rubric.mode == "pairwise" else {dimension.id for dimension in job.rubric.judged}
    return bool(targets & job.info.labelled.keys())
