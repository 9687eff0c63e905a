"""The labels file that a sheet is read into: its lines, the sheets it was read from, and the weights of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from agentanvil.dataset import ItemLabels, LabelsAsked, read_labels
from agentanvil.dataset.label_columns import RATER
from agentanvil.dataset.label_lines import LabelLines, read_label_lines
from agentanvil.dataset.sheet import SheetAnswers
from agentanvil.dataset.sheet_key import FORMAT, DrawsFile, SheetKey, as_json, draws_path, read_draws
from agentanvil.errors import DatasetError, UsageError, Where, quoted
from agentanvil.report import AtomicText
from agentanvil.report.labels_file import write_labels
from agentanvil.stats import Draw, successive_weights
from agentanvil.strict_json import JsonValue

_Line = Mapping[str, JsonValue]
_ELSEWHERE = "read the sheet into another file"


@dataclass(frozen=True, slots=True)
class LabelsThere:
    """A labels file before a sheet is read into it. `draws` holds the sheets already read, and this one last."""

    path: Path
    lines: LabelLines
    items: Mapping[str, ItemLabels]
    draws: DrawsFile

    @classmethod
    def read(cls, path: Path, asked: LabelsAsked, key: SheetKey) -> LabelsThere:
        """Read the file, if there is one. Raises DatasetError where its labels and this sheet cannot be weighed."""
        lines = read_label_lines(path)
        labels = read_labels(path, asked) if lines.lines else None
        draws = read_draws(draws_path(path))
        about = key.subject
        for sheet in draws.sheets:
            other = sheet.subject
            if (other.data_hash, other.rubric_hash, other.mode) != (about.data_hash, about.rubric_hash, about.mode):
                message = "it has labels of other rows, or by another rubric"
                raise DatasetError(message, where=Where(str(path)), hint=_ELSEWHERE)
            if other.rows != about.rows:
                message = f"its sheets were drawn from {other.rows} rows, this one from {about.rows}"
                raise DatasetError(message, where=Where(str(path)), hint=_ELSEWHERE)
        if labels is not None and labels.weighted and not draws.sheets:
            raise DatasetError(
                f"it has weights, and {draws_path(path).name}, which says how its rows were drawn, is not beside it",
                where=Where(str(path)),
                hint=f"put that file back, or {_ELSEWHERE}",
            )
        sheets = (*(sheet for sheet in draws.sheets if sheet != key), key)
        return cls(path, lines, {} if labels is None else labels.items, DrawsFile(FORMAT, sheets))

    @property
    def ids(self) -> AbstractSet[str]:
        """The items that have a label in it."""
        return self.items.keys()

    def without(
        self, rater: str, key: SheetKey, answers: SheetAnswers, *, replace: bool
    ) -> tuple[list[_Line], set[str]]:
        """Return the lines that stay, and the items that they label.

        Lines of this rater about rows of the sheet give way if that is to be. Raises DatasetError where they stand in
        the way and are not to be replaced, or cannot be.
        """
        answered = {answer.id for answer in answers.answers}
        drawn = {row.id for row in key.rows} if replace else answered
        gone = {
            number: str(line["id"])
            for number, line in self.lines.lines
            if str(line["id"]) in drawn and _rater(line) == rater
        }
        if gone and not replace:
            number, first = next(iter(gone.items()))
            raise DatasetError(
                f"{quoted(rater)} labelled {len(gone)} row(s) of this sheet already, first {quoted(first)}",
                where=Where(str(self.path), number),
                hint="--replace puts what the sheet says now in their place",
            )
        cleared = set(gone.values())
        labelled: set[str] = set()
        for item_id, item in self.items.items():
            raters = {name for given in item.ratings.values() for name, _ in given}
            if rater in raters and item_id in answered - cleared:
                message = f"{quoted(rater)} labelled {quoted(item_id)} in a column of their own"
                raise DatasetError(
                    message, where=Where(str(self.path)), hint="take it out there, or name another rater"
                )
            if raters - ({rater} if item_id in cleared else set()):
                labelled.add(item_id)
        return [line for number, line in self.lines.lines if number not in gone], labelled

    def weights(self, labelled: AbstractSet[str], present: AbstractSet[str]) -> dict[str, float]:
        """Return the weight of every labelled row; `present` are the file's items that are rows of the data.

        Raises DatasetError where a row has a label that no draw can account for, or where labels are missing that this
        sheet was drawn around.
        """
        draws = [
            Draw({row.id: row.probability for row in sheet.rows}, frozenset(sheet.known)) for sheet in self.draws.sheets
        ]
        where = Where(str(self.path))
        missing = sorted(draws[-1].known - labelled)
        if missing:
            raise DatasetError(
                f"{len(missing)} row(s) had labels when the sheet was drawn, here none, as {quoted(missing[0])}",
                where=where,
                hint="read the sheet into the file that was named with --labels when it was drawn",
            )
        found = successive_weights(draws, labelled)
        strange = sorted((labelled & present) - found.keys())
        if strange:
            raise DatasetError(
                f"{len(strange)} row(s) have labels, as {quoted(strange[0])}, that no sheet drew or was drawn around",
                where=where,
                hint=f"name this file with --labels when drawing a sheet, or {_ELSEWHERE}",
            )
        return found

    def write(self, lines: Iterable[_Line], weights: Mapping[str, float]) -> None:
        """Write the draws, then the labels, each whole or not at all. Raises UsageError where that cannot be done."""
        try:
            with ExitStack() as drafts:
                draws, labels = AtomicText(draws_path(self.path)), AtomicText(self.path)
                drafts.callback(draws.discard)
                drafts.callback(labels.discard)
                draws.write(as_json(self.draws))
                write_labels(labels, self.lines.kind, lines, weights)
                draws.commit()
                labels.commit()
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", where=Where(str(self.path))) from None


def _rater(line: _Line) -> str:
    return str(line.get(RATER) or "").strip()
