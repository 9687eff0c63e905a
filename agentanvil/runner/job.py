"""Everything that is settled before a call is made: rubric, rows, plan, identity, folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from agentanvil.checks import CheckRunner
from agentanvil.client.spec import JudgeSpec
from agentanvil.dataset import (
    Asked,
    Dataset,
    DatasetInfo,
    JoinedDataset,
    Row,
    open_dataset,
    parse_map,
    spool_stdin,
)
from agentanvil.errors import UsageError
from agentanvil.hashing import canonical_json, derive_seed, digest
from agentanvil.plan import UNORDERED, Escalation, OrderMode, Plan, plan_calls
from agentanvil.prompt import PROMPT_VERSION
from agentanvil.report import read_baseline
from agentanvil.rubric import EvidenceMode, Mode, Rubric, load_rubric
from agentanvil.runner.deciders import refuse_undecidable, refuse_unreadable
from agentanvil.runner.folder import Identity
from agentanvil.runner.gate import refuse_baseline, settled_gate, with_gate
from agentanvil.runner.kinship import Kinship, read_kinship, refuse_self_judging
from agentanvil.runner.seats import Panel, name_panel
from agentanvil.runner.settings import GradeSettings

STDIN = "-"
_NAME_LENGTH = 60  # of the data file's name, within the run folder's


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a process is given by its surroundings; the cli hands it in, nothing below reads it itself."""

    environ: Mapping[str, str]
    stdin: BinaryIO | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One run, before it begins. `rows` is how many rows it covers; `panel` names its judges.

    `kinship` tells which of them are of one family with those whose responses they judge.
    """

    settings: GradeSettings
    rubric: Rubric
    dataset: Dataset
    info: DatasetInfo
    plan: Plan
    rows: int
    panel: Panel
    kinship: Kinship
    identity: Identity
    folder: Path
    checks: CheckRunner

    @property
    def fingerprint(self) -> str:
        """32 hex digits over the identity."""
        return fingerprint(self.identity)

    @property
    def spec(self) -> JudgeSpec | None:
        """The first judge, None where no judge is asked."""
        return self.panel.specs[0] if self.panel.specs else None

    def escalation(self) -> Escalation | None:
        """Return what tells where the judge that is escalated to is asked, None where there is none."""
        condition = self.panel.condition
        return None if condition is None else Escalation(self.rubric, self.plan, condition)

    @property
    def seed(self) -> int:
        """The seed of every interval, from the run's content alone."""
        return derive_seed(self.fingerprint, "intervals")

    def read_rows(self) -> Iterator[Row]:
        """Yield the rows of the run, from the first on, each time it is called."""
        return islice(self.dataset.rows(), self.rows)


@contextmanager
def open_rows(
    data: str, mapping: Iterable[str], rubric: Rubric, around: Surroundings, vs: Sequence[str] = ()
) -> Iterator[Dataset]:
    """Open the data file, or keep standard input in a temporary file for as long as the context lasts.

    `vs` are the files with the responses that those of `data` are compared with.
    """
    fields = parse_map(mapping)
    asked = asked_of(rubric, joined=bool(vs))
    if STDIN in vs:
        raise UsageError("--vs takes files; only DATA may be `-`", hint="write the other responses to a file")
    others = [open_dataset(path, fields, Asked(traces=asked.traces)) for path in vs]
    if data != STDIN:
        yield _joined(open_dataset(data, fields, asked), others)
        return
    if around.stdin is None:
        raise UsageError("there is no standard input to read rows from")
    with spool_stdin(around.stdin) as path:
        yield _joined(open_dataset(path, fields, asked, stdin=True), others)


def asked_of(rubric: Rubric, *, joined: bool) -> Asked:
    """Return what a rubric in its mode asks of a row; `joined` rows come in with one response each."""
    pairs = rubric.mode == "pairwise" and not joined
    # Checks of an agent's run, and steps as evidence, are asked of runs: one without calls is no less one.
    traces = rubric.evidence == "pinpoint" or any(dimension.check.on == "trace" for dimension in rubric.checked)
    return Asked(rubric.needs_source, pairs=pairs, booleans=rubric.mode == "gate", traces=traces)


def _joined(first: Dataset, others: Sequence[Dataset]) -> Dataset:
    return JoinedDataset(first, others) if others else first


def rubric_in_mode(rubric: Rubric, mode: Mode | None, evidence: EvidenceMode | None = None) -> Rubric:
    """Return the contract as it is asked in a mode, with that kind of evidence; None keeps the rubric's own."""
    return replace(rubric, mode=mode or rubric.mode, evidence=evidence or rubric.evidence)


@contextmanager
def prepare(settings: GradeSettings, around: Surroundings) -> Iterator[Job]:
    """Read and check everything that the user gave. Raises InputError; nothing is spent, nothing is written."""
    contract = load_rubric(settings.rubric)
    rubric = rubric_in_mode(contract, settings.mode, settings.evidence)
    settings = _without_pair_defaults(settings, rubric)
    settings = replace(settings, gate=settled_gate(rubric, settings.gate, contract.mode))
    rubric = with_gate(rubric, settings.gate)
    _refuse_strangers(settings, rubric)
    checks = CheckRunner(rubric, allow_code=settings.allow_code)
    if settings.baseline is not None:
        read_baseline(settings.baseline, rubric)
    panel = name_panel(settings, rubric, around.environ)
    calls = plan_calls(rubric, settings.calls)
    refuse_undecidable(panel.specs, rubric, calls, settings.judge)
    refuse_unreadable(panel.specs, rubric, settings.reading)
    with open_rows(settings.data, settings.mapping, rubric, around, settings.vs) as dataset:
        info = dataset.scan()
        kinship = read_kinship(panel.specs, panel.others, info, settings.families)
        if not settings.accept_self_judging:
            refuse_self_judging(kinship, rubric)
        plan = Plan(
            calls,
            settings.repeats,
            panel.name,
            orders_of(rubric, settings.order, panel.specs),
            settings.judge.seed_sent,
            panel.others,
            settings.adaptive,
        )
        identity = _identity(settings, rubric, info, panel, checks)
        folder = settings.out or Path("runs") / f"{info.name[:_NAME_LENGTH]}-{rubric.id}-{fingerprint(identity)[:8]}"
        _refuse_own_baseline(settings.baseline, folder)
        yield Job(
            settings=settings,
            rubric=rubric,
            dataset=dataset,
            info=info,
            plan=plan,
            rows=min(info.rows, settings.limit or info.rows),
            panel=panel,
            kinship=kinship,
            identity=identity,
            folder=folder,
            checks=checks,
        )


def orders_of(rubric: Rubric, order: OrderMode | None, judges: Sequence[JudgeSpec]) -> OrderMode | None:
    """Return how pairs are ordered, None where the mode has none.

    Where nobody chose, judges that all decide are asked in both orders: a second request costs next to nothing, and the
    mean of both log-odds is free of a position preference.
    """
    if rubric.mode != "pairwise":
        return None
    return order or ("both" if judges and all(spec.rules.decides for spec in judges) else "random")


def _without_pair_defaults(settings: GradeSettings, rubric: Rubric) -> GradeSettings:
    """Return the settings without what anvil.yaml says about pairs, where the run compares none."""
    if rubric.mode == "pairwise":
        return settings
    return replace(settings, order=None) if "order" in settings.defaults else settings


def _refuse_strangers(settings: GradeSettings, rubric: Rubric) -> None:
    """Raise UsageError for flags that mean nothing in the run's mode."""
    given = {"--order": settings.order, "--vs": settings.vs}
    stray = [flag for flag, value in given.items() if value]
    if stray and rubric.mode != "pairwise":
        raise UsageError(
            f"{stray[0]} compares two responses, but this run is {rubric.mode}",
            hint="add --mode pairwise, or write `mode: pairwise` in the rubric",
        )
    can_fail = rubric.mode == "gate" or (rubric.mode == "absolute" and bool(rubric.gate))
    if settings.baseline is not None and not can_fail:
        raise UsageError(
            "--baseline tells old failures from new ones, but nothing can fail here",
            hint="give the rubric a `gate:`, or run it with --mode gate",
        )
    refuse_baseline(settings.baseline, rubric)


def _refuse_own_baseline(baseline: Path | None, folder: Path) -> None:
    """Raise UsageError for a run that would forgive itself: what it failed before would be known."""
    if baseline is not None and baseline.resolve() == folder.resolve():
        raise UsageError(
            f"--baseline names this run's own folder, {folder}, so nothing in it could fail",
            hint="name an earlier run; --out puts this one elsewhere",
        )


def fingerprint(identity: Identity) -> str:
    """Return 32 hex digits over an identity."""
    return digest(canonical_json(identity.as_dict()))


def _identity(
    settings: GradeSettings, rubric: Rubric, info: DatasetInfo, panel: Panel, checks: CheckRunner
) -> Identity:
    judge = settings.judge
    return Identity(
        rubric=rubric.hash,
        data=info.hash,
        judge=panel.identity,
        mode=rubric.mode,
        evidence=rubric.evidence,
        order=orders_of(rubric, settings.order, panel.specs) or UNORDERED,
        temperature=_shown(judge.temperature),
        max_tokens=_shown(judge.max_tokens),
        seed=str(judge.seed_sent),
        prompt=PROMPT_VERSION,
        code=digest(canonical_json(dict(checks.code))) if checks.code else "-",
    )


def _shown(value: float | None) -> str:
    return "default" if value is None else f"{value:g}"
