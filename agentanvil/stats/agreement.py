"""Agreement of two raters on the same items, in the field's usual measures.

Pairs in which either label is None are left out (pairwise deletion); n counts the pairs that remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from agentanvil.stats.estimate import Estimate

Weights = Literal["linear", "quadratic"]
Floats = NDArray[np.float64]
Label = TypeVar("Label", float, str)

_ONE_LABEL = "both raters used one and the same label"
# Differences of decimal scores such as 0.3 − 0.2 carry rounding dust.
_DUST = 1e-9
_DECIMALS = 12


def exact_agreement(a: Sequence[Label | None], b: Sequence[Label | None]) -> Estimate:
    """Return the share of pairs with equal labels."""
    pairs = _pairs(a, b)
    if not pairs:
        return Estimate(None, 0, "no pairs")
    return Estimate(sum(x == y for x, y in pairs) / len(pairs), len(pairs))


def adjacent_agreement(a: Sequence[float | None], b: Sequence[float | None], step: float = 1) -> Estimate:
    """Return the share of pairs that differ by at most `step`."""
    pairs = _pairs(a, b)
    if not pairs:
        return Estimate(None, 0, "no pairs")
    return Estimate(sum(abs(x - y) <= step + _DUST for x, y in pairs) / len(pairs), len(pairs))


def cohen_kappa(
    a: Sequence[Label | None],
    b: Sequence[Label | None],
    labels: Sequence[Label],
    weights: Weights | None = None,
) -> Estimate:
    """Return Cohen's kappa (1960; weighted 1968) over the declared `labels`, in order.

    Weighted forms count the distance between positions on the declared scale, so an unused label in the
    middle keeps its place. Undefined without pairs, and where both raters used one and the same label.
    Raises ValueError for a label that was not declared.
    """
    pairs = _pairs(a, b)
    if not pairs:
        return Estimate(None, 0, "no pairs")
    value = kappa_of_tables([agreement_table(pairs, labels)], [1], weights)
    return Estimate(value, len(pairs), None if value is not None else _ONE_LABEL)


def agreement_table(pairs: Sequence[tuple[Label, Label]], labels: Sequence[Label]) -> Floats:
    """Return the K×K count of pairs by position of their labels. Raises ValueError for an undeclared label."""
    position = {label: index for index, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    for x, y in pairs:
        if x not in position or y not in position:
            raise ValueError(f"labels {x!r}, {y!r} are not both on the declared scale {list(labels)!r}")
        table[position[x], position[y]] += 1
    return table


def kappa_of_tables(
    tables: Sequence[Floats], multiplicity: Sequence[int], weights: Weights | None = None
) -> float | None:
    """Return 1 − observed / expected disagreement, None where that is 0/0.

    `tables[i]` is the K×K table (of counts, or of fractions) of one kind of item, `multiplicity[i]` how many
    items have it; their sum is what the raters did.
    """
    total = np.tensordot(np.array(multiplicity, dtype=np.float64), np.array(tables), axes=1)
    value = float(_kappas(total[np.newaxis], _disagreement(len(total), weights))[0])
    # Tables of fractions leave dust in the last bits, which must not depend on how the labels are ordered.
    return None if np.isnan(value) else round(value, _DECIMALS) + 0.0


def _pairs(a: Sequence[Label | None], b: Sequence[Label | None]) -> list[tuple[Label, Label]]:
    return [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]


def _disagreement(size: int, weights: Weights | None) -> Floats:
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights is None:
        return (distance > 0).astype(np.float64)
    return distance if weights == "linear" else distance**2


def _kappas(tables: Floats, disagreement: Floats) -> Floats:
    """Return kappa for each of the (B, K, K) tables, NaN where the expected disagreement is 0."""
    total = tables.sum(axis=(1, 2))
    observed = (tables * disagreement).sum(axis=(1, 2))
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    expected = ((rows @ disagreement) * columns).sum(axis=1) / total
    # Both marginals on one label leave only rounding dust where the tables hold fractions of pairs.
    defined = expected > _DUST * total
    return np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)
