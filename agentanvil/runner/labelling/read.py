"""Reading a filled sheet back: each code becomes its row again, and the labels file gets lines and weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from agentanvil.dataset import Dataset, LabelsAsked
from agentanvil.dataset.sheet import SheetForm, read_sheet
from agentanvil.dataset.sheet_key import SheetKey, draws_path, key_path, read_key
from agentanvil.errors import DatasetError, UsageError, Where
from agentanvil.report.labels_file import NewLine, new_lines
from agentanvil.rubric import Rubric, load_rubric
from agentanvil.runner.calibration.labels import labels_asked
from agentanvil.runner.job import Surroundings, open_rows, rubric_in_mode
from agentanvil.runner.labelling.labels_there import LabelsThere
from agentanvil.runner.labelling.subject import usable_labels

OWN_RATER = "data"
"""The rater of labels that stood in the rows themselves; several of a row are told apart by their place."""


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """One `anvil label --read`. `mapping` and `vs` are those that the sheet was drawn with where none are given."""

    data: str
    rubric: Path
    sheet: Path
    labels: Path
    rater: str
    replace: bool = False
    mapping: tuple[str, ...] = ()
    vs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadBack:
    """A sheet that was read: how many of its rows this rater labelled, and what the labels file holds now.

    `partial` rows lack a dimension, `blank` ones have no label, `absent` ones are no longer in the sheet. `replaced`
    counts the rater's earlier lines that gave way, `carried` the rows whose own labels were taken over. `weight_sum` is
    about `population`, the rows that were drawn from.
    """

    labels: str
    draws: str
    rater: str
    labelled: int
    partial: int
    blank: int
    absent: int
    ignored: tuple[str, ...]
    replaced: int
    carried: int
    items: int
    sheets: int
    weight_sum: float
    population: int
    run: str | None


def read_back(settings: ReadSettings, around: Surroundings) -> ReadBack:
    """Write what a filled sheet says into the labels file, and every line's weight anew.

    Raises DatasetError for what is no label of this sheet, another rubric's or other data's sheet, and a rater who
    labelled its rows before (unless that is to be replaced); UsageError where the file cannot be written.
    """
    rater = settings.rater.strip()
    if not rater:
        raise UsageError("--rater is empty", hint="name the person who filled in the sheet")
    key = read_key(key_path(settings.sheet))
    _refuse_own_files(settings, settings.vs or key.subject.vs)
    rubric = _rubric(settings, key)
    asked = labels_asked(rubric)
    scale = (rubric.scale.min, rubric.scale.max)
    answers = read_sheet(settings.sheet, SheetForm.of(rubric.mode, [d.id for d in rubric.judged], scale), key)
    there = LabelsThere.read(settings.labels, asked, key)
    subject = key.subject
    with open_rows(settings.data, settings.mapping or subject.map, rubric, around, settings.vs or subject.vs) as rows:
        if rows.scan().hash != subject.data_hash:
            hint = "name the data file that the sheet was drawn from, unchanged"
            raise DatasetError("its rows are others than those of the sheet", where=Where(settings.data), hint=hint)
        carried, present = _own_labels(rows, asked, key, there)
    kept, labelled = there.without(rater, key, answers, replace=settings.replace)
    new = [*carried, *(NewLine(answer.id, rater, answer.labels, answer.note) for answer in answers.answers)]
    labelled |= {line.id for line in new}
    weights = there.weights(labelled, present)
    there.write([*kept, *new_lines(there.lines.kind, new, str(settings.labels))], weights)
    return ReadBack(
        labels=str(settings.labels),
        draws=str(draws_path(settings.labels)),
        rater=rater,
        labelled=len(answers.answers),
        partial=answers.partial,
        blank=answers.blank,
        absent=answers.absent,
        ignored=answers.ignored,
        replaced=len(there.lines.lines) - len(kept),
        carried=len({line.id for line in carried}),
        items=len(weights),
        sheets=len(there.draws.sheets),
        weight_sum=math.fsum(weights.values()),
        population=subject.rows,
        run=subject.run,
    )


def _refuse_own_files(settings: ReadSettings, vs: tuple[str, ...]) -> None:
    """Raise UsageError for a labels file that is the sheet or the data: it would be written over."""
    for other in (settings.sheet, Path(settings.data), *map(Path, vs)):
        if other.resolve() == settings.labels.resolve():
            raise UsageError(f"--labels is {other}, which would be written over", hint="give the labels their own file")


def _rubric(settings: ReadSettings, key: SheetKey) -> Rubric:
    """Return the rubric that the sheet asks by."""
    loaded = load_rubric(settings.rubric)
    if loaded.hash != key.subject.rubric_hash:
        hint = "name the rubric that the sheet was drawn for, unchanged"
        raise DatasetError("it is another rubric than that of the sheet", where=Where(str(settings.rubric)), hint=hint)
    return rubric_in_mode(loaded, key.subject.mode, key.subject.evidence)


def _own_labels(
    rows: Dataset, asked: LabelsAsked, key: SheetKey, there: LabelsThere
) -> tuple[list[NewLine], AbstractSet[str]]:
    """Return the labels of the rows themselves that the file lacks, and which of the file's ids are rows."""
    known = frozenset(key.known)
    lines: list[NewLine] = []
    present: set[str] = set()
    for row in rows.rows():
        if row.id in there.ids:
            present.add(row.id)
        elif row.labels and row.id in known:
            lines += _by_rater(row.id, usable_labels(row.labels, asked))
    return lines, present


def _by_rater(item_id: str, labels: Mapping[str, tuple[float, ...]]) -> Iterator[NewLine]:
    raters = max(map(len, labels.values()), default=0)
    for place in range(raters):
        given = {name: each[place] for name, each in labels.items() if place < len(each)}
        yield NewLine(item_id, OWN_RATER if raters == 1 else f"{OWN_RATER}-{place + 1}", given)
