"""Where a calibration's labels come from: the rows of the run, or a file that takes their place altogether."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agentanvil.aggregate import ItemResult, LabelsUsed, Ratings
from agentanvil.dataset import WINNER, LabelsAsked, LabelsFile, read_labels
from agentanvil.errors import DatasetError, UsageError, Where, quoted
from agentanvil.rubric import OVERALL, Rubric
from agentanvil.runner.run_view import RunView

_EXAMPLES = 3


@dataclass
class LabelSource:
    """Gives each item its labels, and counts what it gave. `file` is None where the rows' own labels are used."""

    file: LabelsFile | None
    _items: int = 0
    _replaced: int = 0
    _met: int = 0
    _raters: int = 0
    _only_bits: bool = True
    _examples: list[str] = field(default_factory=list)

    @property
    def named(self) -> bool:
        """Whether a rater's name is the same person in every row."""
        return self.file is not None

    @property
    def only_bits(self) -> bool:
        """Whether every label was the number 0 or 1, which a gate takes for a score and people mean as an answer."""
        return self._only_bits

    def of(self, result: ItemResult) -> tuple[Ratings, float | None]:
        """Return an item's labels by rater, and its sampling weight."""
        if len(self._examples) < _EXAMPLES:
            self._examples.append(result.id)
        ratings, weight = self._of_file(result) if self.file is not None else (self._of_row(result), None)
        if self._only_bits and ratings:
            labels = (label for given in ratings.values() for _, label in given)
            self._only_bits = all(label in (0, 1) and not isinstance(label, bool) for label in labels)
        return ratings, weight

    def used(self) -> LabelsUsed:
        """Return what was used, for the report."""
        if self.file is None:
            raters = tuple(str(place) for place in range(1, self._raters + 1))
            return LabelsUsed("rows", None, None, self._items, raters, False, 0, 0, 0)
        return LabelsUsed(
            source="file",
            file=self.file.file,
            hash=self.file.hash,
            items=self._items,
            raters=self.file.raters,
            weighted=self.file.weighted,
            blank=self.file.blank,
            unknown=len(self.file.items) - self._met,
            replaced=self._replaced,
        )

    def refuse_none(self, labelled: int, view: RunView) -> None:
        """Raise where no item has a label: UsageError without a file, DatasetError where its ids are not the run's."""
        if labelled:
            return
        hint = (
            "give a labels file: --labels FILE.csv with the columns id, rater and one a dimension; "
            "`anvil label` draws the rows to label"
        )
        if self.file is None:
            if not self._items:
                raise UsageError("no row of the run has a label", where=Where(str(view.folder)), hint=hint)
            raise UsageError(
                "no label of the run's rows is of a dimension of its rubric", where=Where(str(view.folder))
            )
        if not self._met:
            theirs = ", ".join(quoted(name) for name in list(self.file.items)[:_EXAMPLES])
            ours = ", ".join(quoted(name) for name in self._examples) or "none"
            raise DatasetError(
                f"none of its {len(self.file.items)} ids is in the run: here {theirs}, there {ours}",
                where=Where(self.file.file, key="id"),
                hint="label the rows that the run was made from, and keep their ids",
            )
        raise DatasetError("no item of the run has a label that can be compared", where=Where(self.file.file))

    def _of_file(self, result: ItemResult) -> tuple[Ratings, float | None]:
        found = None if self.file is None else self.file.items.get(result.id)
        self._replaced += bool(result.labels)
        if found is None:
            return {}, None
        self._met += 1
        self._items += 1
        return found.ratings, found.weight

    def _of_row(self, result: ItemResult) -> Ratings:
        labels = result.labels
        if not labels:
            return {}
        self._items += 1
        self._raters = max(self._raters, *(len(given) for given in labels.values()))
        return {
            name: tuple([(str(place), label) for place, label in enumerate(given, 1)]) for name, given in labels.items()
        }


def row_labels() -> LabelSource:
    """Return the labels that stand in the run's rows; raters are known by their place."""
    return LabelSource(None)


def file_labels(path: Path, rubric: Rubric) -> LabelSource:
    """Return the labels of a file for a run of `rubric`. Raises DatasetError as `read_labels`."""
    return LabelSource(read_labels(path, labels_asked(rubric)))


def labels_asked(rubric: Rubric) -> LabelsAsked:
    """Return what people may label of a rubric in its mode."""
    pairs = rubric.mode == "pairwise"
    scale = rubric.offered if pairs else rubric.scale
    ranges: dict[str, tuple[float, float]] = {d.id: (scale.min, scale.max) for d in rubric.dimensions}
    ranges[WINNER if pairs else OVERALL] = (-1, 1) if pairs else (scale.min, scale.max)
    return LabelsAsked(ranges, booleans=rubric.mode == "gate", winners=pairs)
