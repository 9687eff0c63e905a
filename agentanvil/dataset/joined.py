"""Rows of several systems, joined by id into pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agentanvil.dataset.candidates import Candidates
from agentanvil.dataset.files import RowIds
from agentanvil.dataset.records import Contender, Dataset, DatasetInfo, Row
from agentanvil.errors import DatasetError, Where, quoted
from agentanvil.hashing import digest


@dataclass(frozen=True, slots=True)
class _Side:
    """One file of the join. `model` stands in where its rows name none, and beside theirs where two files share it."""

    dataset: Dataset
    model: str


class JoinedDataset:
    """The rows of a file, each paired with the row of the same id in every other file. See the Dataset protocol.

    response_a is always the first file's. After `scan` a model that two files name, each as its only one, is told apart
    by their names. With several other files a pair is called `ID vs NAME`. Files in the same
    order stream; what stands in another order is held in memory until its partner is met.
    """

    def __init__(self, first: Dataset, others: Sequence[Dataset]) -> None:
        names = _names([first.name, *(other.name for other in others)])
        self._first = _Side(first, names[0])
        self._others = [_Side(other, name) for other, name in zip(others, names[1:], strict=True)]
        self._shared: set[str] = set()

    @property
    def name(self) -> str:
        return "-vs-".join((self._first.dataset.name, *(other.dataset.name for other in self._others)))

    @property
    def path(self) -> str:
        return self._first.dataset.path

    def scan(self) -> DatasetInfo:
        """Read every file and every pair once.

        Raises DatasetError as each file's own scan, naming id and file where a row has no partner or answers another
        request, and where two pairs would go by one id.
        """
        infos = [side.dataset.scan() for side in (self._first, *self._others)]
        # Two settings of one model are two systems; files of many models each may well name the same ones.
        alone = Counter(info.models[0] for info in infos if len(info.models) == 1)
        self._shared = {model for model, files in alone.items() if files > 1}
        labelled, ids, candidates = Counter[str](), RowIds(), Candidates()
        for row in self.rows():
            labelled.update(row.labels.keys())
            ids.add(row.id)
            candidates.add(row)
        ids.refuse_duplicates(self.rows, self._first.dataset.path)
        return DatasetInfo(
            name=self.name,
            rows=infos[0].rows * len(self._others),
            hash=digest("joined", *(info.hash for info in infos)),
            blank_lines=sum(info.blank_lines for info in infos),
            labelled=dict(labelled),
            hidden_fields=tuple(sorted({name for info in infos for name in info.hidden_fields})),
            models=tuple(sorted({name for info in infos for name in info.models})),
            candidates=candidates.rows,
            candidates_beyond=candidates.beyond,
            flagged={flag: sum(i.flagged.get(flag, 0) for i in infos) for info in infos for flag in info.flagged},
            unread=sum(info.unread for info in infos),
            unread_examples=tuple(example for info in infos for example in info.unread_examples),
        )

    def rows(self) -> Iterator[Row]:
        """Yield the pairs, those of one id together. Raises DatasetError as `scan` does."""
        partners = [_Partners(side) for side in self._others]
        index = 0
        for row in self._first.dataset.rows():
            for side, rows in zip(self._others, partners, strict=True):
                other = rows.take(row, self._first.dataset.path)
                yield self._pair(row, other, side, index)
                index += 1
        for rows in partners:
            rows.refuse_rest(self._first.dataset.path)

    def _pair(self, row: Row, other: Row, side: _Side, index: int) -> Row:
        return replace(
            row,
            index=index,
            id=row.id if len(self._others) == 1 else f"{row.id} vs {side.model}",
            model=self._system(row, self._first),
            rival=Contender(other.response, self._system(other, side), other.trace),
            labels=_label_differences(row, other),
            flags=tuple(dict.fromkeys((*row.flags, *other.flags))),
        )

    def _system(self, row: Row, side: _Side) -> str:
        if row.model in self._shared:
            return f"{row.model} ({side.model})"
        return row.model or side.model


class _Partners:
    """The rows of one other file, handed out by id."""

    def __init__(self, side: _Side) -> None:
        self._path = side.dataset.path
        self._rows = side.dataset.rows()
        self._waiting: dict[str, Row] = {}

    def take(self, row: Row, file: str) -> Row:
        """Return the partner of a row. Raises DatasetError where there is none, or it answers another request."""
        other = self._waiting.pop(row.id, None)
        while other is None:
            candidate = next(self._rows, None)
            if candidate is None:
                raise DatasetError(
                    f"the id {quoted(row.id)} has no partner in {self._path}",
                    where=Where(file, row.line, "id"),
                    hint="rows are joined by id; both files must hold the same ids",
                )
            if candidate.id == row.id:
                other = candidate
            else:
                self._waiting[candidate.id] = candidate
        if other.request != row.request:
            raise DatasetError(
                f"the id {quoted(row.id)} answers another request than in {file}, line {row.line}",
                where=Where(self._path, other.line, "request"),
                hint="two responses are compared on one request",
            )
        return other

    def refuse_rest(self, file: str) -> None:
        """Raise DatasetError where rows are left that the first file does not have."""
        left = next(iter(self._waiting.values()), None) or next(self._rows, None)
        if left is not None:
            raise DatasetError(
                f"the id {quoted(left.id)} has no partner in {file}",
                where=Where(self._path, left.line, "id"),
                hint="rows are joined by id; both files must hold the same ids",
            )


def _label_differences(row: Row, other: Row) -> dict[str, tuple[float, ...]]:
    """Return how much better each rater graded the first response, for what the same raters graded on both sides."""
    return {
        name: tuple(ours - theirs for ours, theirs in zip(given, other.labels[name], strict=True))
        for name, given in row.labels.items()
        if len(other.labels.get(name, ())) == len(given)
    }


def _names(names: list[str]) -> list[str]:
    """Return the names, numbered by their place where two are alike."""
    alike = len(set(names)) < len(names)
    return [f"{name} ({place})" for place, name in enumerate(names, start=1)] if alike else names
