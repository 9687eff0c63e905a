"""`anvil label`: draw the rows whose labels would help most, and write a sheet of them that is blind to the judge."""

from __future__ import annotations

import shlex
from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from agentanvil.aggregate.label_priority import REASONS, Chances, LabelPriority, even_chances
from agentanvil.dataset import Dataset, DatasetInfo, read_labels
from agentanvil.dataset.sheet_key import SheetSubject
from agentanvil.errors import UsageError, Where
from agentanvil.hashing import derive_seed, digest
from agentanvil.rubric import Mode
from agentanvil.runner.calibration.labels import labels_asked
from agentanvil.runner.job import Surroundings, open_rows
from agentanvil.runner.labelling.sheet import Sample, SheetFiles
from agentanvil.runner.labelling.subject import Contract, contract_of, usable_labels
from agentanvil.runner.run_view import open_view

_NAME_LENGTH = 60  # of the data file's name, within the sheet's
_RANDOM = 0.5

_IsKnown = Callable[[str, Mapping[str, tuple[float, ...]]], bool]


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """One `anvil label --next`. `random` is the share of the draw that is spread evenly over all rows.

    `mapping` and `vs` are those of the run where none are given.
    """

    data: str
    rubric: Path
    next: int
    random: float | None = None
    seed: int = 0
    run: Path | None = None
    labels: Path | None = None
    out: Path | None = None
    mode: Mode | None = None
    mapping: tuple[str, ...] = ()
    vs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise UsageError for options that mean nothing here."""
        if self.next < 1:
            raise UsageError(f"--next is a number of rows, 1 or more, not {self.next}")
        if self.random is not None and self.run is None:
            raise UsageError("--random means nothing without --run: nothing tells the rows apart then")
        if not 0 < self.share <= 1:
            raise UsageError(
                f"--random is a share above 0 and up to 1, not {self.share:g}",
                hint="without an even share some rows could never be drawn, and no estimate would be unbiased",
            )
        if self.mode is not None and self.mode not in get_args(Mode):
            raise UsageError(f"--mode is one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        if self.out is not None and self.out.suffix.casefold() != ".csv":
            raise UsageError("a sheet is a CSV file", where=Where(str(self.out)), hint="let its name end in .csv")

    @property
    def share(self) -> float:
        """The share of the draw that is spread evenly: all of it where nothing tells the rows apart."""
        if self.run is None:
            return 1.0
        return _RANDOM if self.random is None else self.random


@dataclass(frozen=True, slots=True)
class Drawn:
    """A sheet that was written, of `rows` out of `eligible` without a label; `labelled` had one.

    `reasons` counts its rows by what made up most of their probability. `read` is the command that reads it back.
    """

    sheet: str
    guide: str
    key: str
    rows: int
    eligible: int
    labelled: int
    random: float
    seed: int
    reasons: Mapping[str, int]
    read: str


@dataclass(frozen=True, slots=True)
class _Pool:
    """What one pass over `rows` rows finds: the ids of those with labels, and the others' chances."""

    chances: Chances
    rows: int
    known: tuple[str, ...]


def draw(settings: LabelSettings, around: Surroundings) -> Drawn:
    """Draw rows and write their sheet, its guide and its key.

    Raises UsageError for options that mean nothing here, where nothing is left to label, and where a file is there
    already or cannot be written; RubricError, DatasetError and RunFolderError for what cannot be read.
    """
    contract = contract_of(settings.rubric, settings.mode, settings.run)
    mapping, vs = settings.mapping or contract.mapping, settings.vs or contract.vs
    with open_rows(settings.data, mapping, contract.rubric, around, vs) as dataset:
        info = dataset.scan()
        contract.refuse_other_data(info.hash)
        pool = _pool(settings, contract, dataset)
        left = len(pool.chances.indices)
        if not left:
            raise UsageError(f"all {pool.rows} rows have labels: none is left", where=Where(settings.data))
        sample = Sample.of(pool.chances, settings.next, _seed(settings, contract, info, pool))
        files = SheetFiles(settings.out or Path(f"{info.name[:_NAME_LENGTH]}-{sample.codes[0].partition('-')[0]}.csv"))
        rubric = contract.rubric
        run = None if settings.run is None else str(settings.run)
        subject = SheetSubject(info.hash, rubric.hash, rubric.mode, rubric.evidence, pool.rows, mapping, vs, run)
        files.write(contract, sample, dataset, subject, (settings.share, pool.known))
    counts = Counter(sample.reasons)
    return Drawn(
        sheet=str(files.sheet),
        guide=str(files.guide),
        key=str(files.key),
        rows=len(sample.indices),
        eligible=left,
        labelled=len(pool.known),
        random=settings.share,
        seed=settings.seed,
        reasons={reason: counts[reason] for reason in REASONS if counts[reason]},
        read=_next(settings, files.sheet),
    )


def _pool(settings: LabelSettings, contract: Contract, dataset: Dataset) -> _Pool:
    is_known = _labelled_by(settings, contract)
    known: list[str] = []
    if settings.run is None or contract.manifest is None:
        unlabelled = array("q")
        for row in dataset.rows():
            if is_known(row.id, row.labels):
                known.append(row.id)
            else:
                unlabelled.append(row.index)
        chances = even_chances(np.asarray(unlabelled, dtype=np.int64))
        return _Pool(chances, len(known) + len(unlabelled), tuple(known))
    with open_view(settings.run, contract.manifest, dataset.rows) as view:
        priority = LabelPriority(view.reducer().frame)
        for result in view.results():
            labelled = is_known(result.id, result.labels)
            if labelled:
                known.append(result.id)
            priority.add(result, labelled=labelled)
        return _Pool(priority.chances(settings.next, settings.share), view.rows, tuple(known))


def _labelled_by(settings: LabelSettings, contract: Contract) -> _IsKnown:
    """Return what tells whether a row has a label already, in the file or of its own."""
    asked = labels_asked(contract.rubric)
    filed = frozenset() if settings.labels is None else frozenset(read_labels(settings.labels, asked).items)
    return lambda item_id, labels: item_id in filed or bool(labels and usable_labels(labels, asked))


def _seed(settings: LabelSettings, contract: Contract, info: DatasetInfo, pool: _Pool) -> int:
    """Return the seed of a draw: its own for each set of rows that are labelled, so that draws are independent."""
    about = (info.hash, contract.rubric.hash, contract.rubric.mode)
    return derive_seed(settings.seed, *about, settings.next, repr(settings.share), digest(*sorted(pool.known)))


def _next(settings: LabelSettings, sheet: Path) -> str:
    about = [settings.data, "--rubric", str(settings.rubric), "--read", str(sheet)]
    labels = "LABELS.csv" if settings.labels is None else str(settings.labels)
    return shlex.join(["anvil", "label", *about, "--labels", labels, "--rater", "NAME"])
