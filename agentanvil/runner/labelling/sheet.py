"""A sheet's files: which rows stand where in it, what is shown of them, and the key that leads back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agentanvil.aggregate.label_priority import Chances, Reason
from agentanvil.dataset import Dataset, Row, canonical_text
from agentanvil.dataset.sheet_key import FORMAT, DrawnRow, SheetKey, SheetSubject, as_json, codes, key_path
from agentanvil.errors import UsageError, Where
from agentanvil.hashing import canonical_json, derive_seed, digest
from agentanvil.plan import UNORDERED, Order
from agentanvil.plan.order import drawn_order
from agentanvil.prompt.material import MaterialReader
from agentanvil.report import AtomicText
from agentanvil.report.sheet import SheetTexts, write_sheet
from agentanvil.report.sheet_guide import sheet_guide
from agentanvil.runner.labelling.subject import Contract
from agentanvil.stats import inclusion_probabilities, systematic_sample

GUIDE_ENDING = ".md"


@dataclass(frozen=True, slots=True)
class Sample:
    """The rows of a sheet by their `indices` in the data, ascending, each with its place in the sheet."""

    indices: tuple[int, ...]
    probabilities: tuple[float, ...]
    reasons: tuple[Reason, ...]
    places: tuple[int, ...]
    codes: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, chances: Chances, n: int, seed: int) -> Sample:
        """Draw n rows, or all where there are no more; `seed` decides on them and on their order."""
        probabilities = inclusion_probabilities(chances.sizes, n)
        drawn = systematic_sample(probabilities, seed)
        indices: NDArray[np.int64] = chances.indices[drawn]
        given = tuple(probabilities[drawn].tolist())
        places = np.random.default_rng(derive_seed(seed, "places")).permutation(len(drawn))
        return cls(
            indices=tuple(indices.tolist()),
            probabilities=given,
            reasons=tuple([chances.reasons[place] for place in drawn]),
            places=tuple(places.tolist()),
            codes=codes(len(drawn), digest(canonical_json([seed, indices.tolist(), given]))),
            seed=seed,
        )


class SheetFiles:
    """The sheet, its guide and its key, side by side. Raises UsageError where one of them is there already."""

    def __init__(self, sheet: Path) -> None:
        self.sheet, self.guide, self.key = sheet, sheet.with_suffix(GUIDE_ENDING), key_path(sheet)
        for path in (self.sheet, self.guide, self.key):
            if path.exists():
                raise UsageError(
                    "is there already, and somebody may have filled it in",
                    where=Where(str(path)),
                    hint="choose another --out, or move it away",
                )

    def write(
        self,
        contract: Contract,
        sample: Sample,
        dataset: Dataset,
        subject: SheetSubject,
        drawn: tuple[float, tuple[str, ...]],
    ) -> None:
        """Write all three, or none of them. Raises UsageError where that cannot be done."""
        try:
            with ExitStack() as drafts:
                files = [_draft(drafts, path) for path in (self.key, self.guide, self.sheet)]
                key, guide, sheet = files
                rows: dict[int, DrawnRow] = {}
                write_sheet(sheet, contract.form, sample.codes, _texts(contract, sample, dataset, rows))
                guide.write(sheet_guide(contract.rubric, contract.form, self.sheet.name))
                random, known = drawn
                ordered = tuple([rows[place] for place in range(len(rows))])
                key.write(as_json(SheetKey(FORMAT, subject, random, sample.seed, known, ordered)))
                for file in files:
                    file.commit()
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", where=Where(str(self.sheet))) from None


def _draft(drafts: ExitStack, path: Path) -> AtomicText:
    file = AtomicText(path)
    drafts.callback(file.discard)
    return file


def _texts(contract: Contract, sample: Sample, dataset: Dataset, rows: dict[int, DrawnRow]) -> Iterator[SheetTexts]:
    """Yield what is shown of each row, in the order of the data, and note in `rows` whose place that is."""
    reader = MaterialReader()
    places = {index: at for at, index in enumerate(sample.indices)}
    for row in dataset.rows():
        at = places.get(row.index)
        if at is None:
            continue
        place = sample.places[at]
        order = UNORDERED if row.rival is None else drawn_order(row, 0, sample.seed)
        rows[place] = DrawnRow(sample.codes[place], row.id, sample.probabilities[at], order, sample.reasons[at])
        yield _shown(contract, row, order, place, reader)


def _shown(contract: Contract, row: Row, order: Order, place: int, reader: MaterialReader) -> SheetTexts:
    material = reader.read(row, order)
    expected = row.expected if contract.rubric.allow_expected else None
    return SheetTexts(
        place=place,
        request=row.request,
        source=_joined(material.source),
        expected="" if expected is None else expected if isinstance(expected, str) else canonical_text(expected),
        responses=material.texts,
    )


def _joined(passages: Sequence[str]) -> str:
    if len(passages) < 2:
        return "".join(passages)
    return "\n\n".join(f"[{number}] {passage}" for number, passage in enumerate(passages, start=1))
