"""An ablation before it is run: which clauses are taken out, and the rubric and rows of each arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agentanvil.errors import RunFolderError, UsageError, Where
from agentanvil.plan import plan_calls
from agentanvil.prompt import PromptRenderer, QuestionRenderer, built_in_rules
from agentanvil.report import AtomicText
from agentanvil.report.ablation_files import CSV_FILE, JSON_FILE
from agentanvil.rubric import Rubric, parse_rubric
from agentanvil.rubric.variant import Clause, clauses, variant_text
from agentanvil.runner.ablation.settings import AblateSettings, chosen_clauses
from agentanvil.runner.folder import MANIFEST
from agentanvil.runner.job import STDIN, Job, Surroundings, prepare, rubric_in_mode
from agentanvil.runner.settings import GradeSettings
from agentanvil.runner.study import ARMS, Arm, refuse_foreign_folder, taken_back
from agentanvil.runner.study_rows import ROWS, drawn_rows, rows_of, write_rows

WHOLE = "whole"
RUN, RUBRIC = "run", "rubric.yaml"


@dataclass(frozen=True, slots=True)
class Layout:
    """What an ablation is about to do. `whole` is the arm of the rubric as it is, `arms` those without a clause.

    `clauses` are what is taken out, by number; `unsaid` are the clauses that this judge is not told in this mode, so
    that nothing could change without them. `shared` names the calls of each arm that are those of the whole rubric.
    `fresh`: the folder was not there before.
    """

    settings: AblateSettings
    rubric: Rubric
    judge: str
    folder: Path
    whole: Arm
    arms: Mapping[int, Arm]
    clauses: Mapping[int, Clause]
    unsaid: Mapping[int, Clause]
    shared: Mapping[int, frozenset[str]]
    fresh: bool


def lay_out(settings: AblateSettings, around: Surroundings, files_in: Path | None = None) -> Layout:
    """Read and check everything, and write each arm's rubric, below `files_in` where they are for an estimate alone.

    Raises InputError; nothing is asked.
    """
    with prepare(settings.run, around) as job:
        if job.spec is None:
            raise UsageError("the rubric asks no judge, so there is nothing to leave unsaid")
        variants = _Variants.of(job, settings)
        folder = settings.run.out or Path("runs") / f"{job.folder.name.rpartition('-')[0]}-ablate"
        _refuse_run(folder)
        refuse_foreign_folder(folder, (JSON_FILE, CSV_FILE), "an ablation's")
        fresh, files = not folder.exists(), (files_in or folder) / ARMS
        with taken_back(folder, fresh=fresh):
            for number, clause in variants.said.items():
                _write_rubric(files / _arm_name(number, clause) / RUBRIC, variants.texts[number])
            run = _with_own_rows(settings, job, files / WHOLE)
        whole = replace(run, out=folder / ARMS / WHOLE / RUN, repeats=run.repeats * (2 if settings.again else 1))
        arms = {}
        for number, clause in variants.said.items():
            name = _arm_name(number, clause)
            # What the variant's file says of evidence holds for it, whatever a flag said of the whole rubric.
            evidence = None if clause.kind == "evidence" else run.evidence
            own = replace(run, rubric=str(files / name / RUBRIC), out=folder / ARMS / name / RUN, evidence=evidence)
            arms[number] = Arm(name, own)
        return Layout(
            settings=settings,
            rubric=job.rubric,
            judge=job.panel.name,
            folder=folder,
            whole=Arm(WHOLE, whole),
            arms=arms,
            clauses=variants.said,
            unsaid=variants.unsaid,
            shared=variants.shared,
            fresh=fresh,
        )


def _refuse_run(folder: Path) -> None:
    """Raise RunFolderError for the folder of a run: reports of the two would stand side by side."""
    if (folder / MANIFEST).exists():
        raise RunFolderError(
            "this folder holds a run, not an ablation",
            where=Where(str(folder)),
            hint="Choose another --out folder; the run's calls come from the cache all the same.",
        )


@dataclass(frozen=True, slots=True)
class _Variants:
    """The clauses of a rubric by number; `texts` are the rubric without each, `shared` its calls that stay the same."""

    said: Mapping[int, Clause]
    unsaid: Mapping[int, Clause]
    texts: Mapping[int, str]
    shared: Mapping[int, frozenset[str]]

    @classmethod
    def of(cls, job: Job, settings: AblateSettings) -> _Variants:
        """Raises UsageError where no clause is left to be taken out."""
        listed = dict(enumerate(clauses(job.rubric, built_in_rules(job.rubric)), start=1))
        chosen = chosen_clauses(settings.clauses, listed)
        texts = {number: variant_text(job.rubric, clause) for number, clause in chosen.items()}
        told = _words(job, job.rubric)
        words = {number: _words(job, _asked(job, clause, texts[number])) for number, clause in chosen.items()}
        said = {number: clause for number, clause in chosen.items() if words[number] != told}
        if not said:
            raise UsageError(
                f"{job.panel.name} is told no clause of this rubric that could be left out",
                where=Where(settings.run.rubric),
                hint="Clauses are the entries of each dimension's `scope`, `rules`, the built-in rules and `evidence`.",
            )
        unsaid = {number: clause for number, clause in chosen.items() if number not in said}
        shared = {n: frozenset(name for name, call in told.items() if words[n][name] == call) for n in said}
        return cls(said, unsaid, texts, shared)


def _asked(job: Job, clause: Clause, text: str) -> Rubric:
    evidence = None if clause.kind == "evidence" else job.settings.evidence
    return rubric_in_mode(parse_rubric(text, clause.id), job.settings.mode, evidence)


def _words(job: Job, rubric: Rubric) -> Mapping[str, object]:
    """Return all that the judge is told of a rubric, whatever the row, by the calls."""
    calls = plan_calls(rubric, job.settings.calls)
    decides = job.spec is not None and job.spec.rules.decides
    return QuestionRenderer(rubric, calls).templates if decides else PromptRenderer(rubric, calls).templates


def _arm_name(number: int, clause: Clause) -> str:
    return f"{number:02d}-{clause.id}"


def _with_own_rows(settings: AblateSettings, job: Job, folder: Path) -> GradeSettings:
    """Return the settings with the rows that all arms read: those drawn, or those of standard input, in a file."""
    if settings.sample is None and settings.run.data != STDIN:
        return settings.run
    is_drawn = drawn_rows(job, settings.sample, settings.seed)
    write_rows({WHOLE: folder}, rows_of(job, is_drawn, anew=True), {})
    return replace(settings.run, data=str(folder / ROWS), mapping=(), vs=(), limit=None)


def _write_rubric(path: Path, text: str) -> None:
    """Write a rubric where none is. Raises RunFolderError where another one is, or the place cannot be written."""
    try:
        if path.exists():
            if path.read_text(encoding="utf-8") == text:
                return
            raise RunFolderError(
                "this folder holds an ablation of another rubric",
                where=Where(str(path)),
                hint="Choose another --out folder.",
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        file = AtomicText(path)
        try:
            file.write(text)
            file.commit()
        finally:
            file.discard()
    except OSError as error:
        raise RunFolderError(f"cannot be used: {error.strerror or error}", where=Where(str(path))) from None
    except UnicodeDecodeError:
        raise RunFolderError("this is no rubric, but bytes that are not UTF-8", where=Where(str(path))) from None
