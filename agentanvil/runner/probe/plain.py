"""The plain readings of a probe: a few numbers an item, which the readings of every other arm are held against."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from agentanvil.aggregate import ItemResult
from agentanvil.aggregate.probe.planted import PlantedReading
from agentanvil.aggregate.probe.steady import PlaceTally
from agentanvil.aggregate.probe.values import ProbeValues, Values
from agentanvil.client.families import Families
from agentanvil.dataset import Row
from agentanvil.hashing import derive_seed
from agentanvil.runner.probe.arms import Layout
from agentanvil.runner.run_view import open_data, open_view, read_run

Read = tuple[str, tuple[Values, ...]]
"""An item's id and, for each target, its values."""
_MODELS_KEPT = 1024


@dataclass(slots=True)
class Plain:
    """The plain readings, a few numbers an item. What is of the rows is empty where they are not at hand.

    `own` tells whether a response is of the judge's family (1), of another (0) or unknown (-1); of pairs, 1 or -1 for
    the only side that is, else 0.
    """

    ids: list[str] = field(default_factory=list)
    values: list[tuple[Values, ...]] = field(default_factory=list)
    labels: list[Values] = field(default_factory=list)
    groups: array[int] = field(default_factory=lambda: array("q"))
    lengths: array[int] = field(default_factory=lambda: array("q"))
    own: array[int] = field(default_factory=lambda: array("b"))
    place: PlaceTally = field(default_factory=PlaceTally)


def read_plain(folder: Path, layout: Layout) -> Plain:
    """Return the plain readings. Raises RunFolderError for a damaged journal."""
    manifest = read_run(folder)
    table = Families(layout.settings.run.families)

    @lru_cache(_MODELS_KEPT)
    def kin(model: str | None) -> int:
        return -1 if model is None else bool(table.of(model) & layout.own)

    with open_view(folder, manifest) as view, open_data(manifest) as data:
        read = ProbeValues(view.reducer().frame)
        plain = Plain()
        rows = None if data.rows is None else data.rows()
        for item in view.results():
            plain.ids.append(item.id)
            plain.values.append(read.of(item))
            plain.labels.append(read.labels(item))
            if item.pair is not None:
                plain.place.add(item.id, item.pair)
            row = None if rows is None else next(rows, None)
            if row is not None:
                plain.groups.append(derive_seed("group", row.request))
                plain.lengths.append(len(row.response))
                plain.own.append(_own(row, kin(row.model), kin(row.rival.model if row.rival is not None else None)))
    return plain


@contextmanager
def read_arm(folder: Path) -> Iterator[Iterator[Read]]:
    """Open an arm's journal and yield its items in row order."""
    with open_view(folder, read_run(folder)) as view:
        read = ProbeValues(view.reducer().frame)
        yield _values(view.results(), read)


def matched(earlier: Iterator[Read], later: Iterable[Read]) -> Iterator[tuple[Read, Read]]:
    """Pair items by id; the later ones are some of the earlier ones, in their order."""
    for item in later:
        partner = next((each for each in earlier if each[0] == item[0]), None)
        if partner is None:
            return
        yield partner, item


def planted_reading(
    old: tuple[Values, ...], neutral: tuple[Values, ...], new: tuple[Values, ...], side: float
) -> PlantedReading | None:
    """Return the readings as means over the targets that have all of them, from one side's view; None without any."""
    readings = [
        (before[0], before[1], remarked[0], after[0]) for before, remarked, after in zip(old, neutral, new, strict=True)
    ]
    full = [[value * side for value in each if value is not None] for each in readings if None not in each]
    if not full:
        return None
    return PlantedReading(*(math.fsum(each) / len(full) for each in zip(*full, strict=True)))


def _values(items: Iterable[ItemResult], read: ProbeValues) -> Iterator[Read]:
    for item in items:
        yield item.id, read.of(item)


def _own(row: Row, first: int, second: int) -> int:
    return first if row.rival is None else {(1, 0): 1, (0, 1): -1}.get((first, second), 0)
