"""What failed in an earlier run, so that this one need fail only on what got worse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Baseline:
    """The failures of an earlier run: pairs of an item's id and the gated name that fell short of its threshold.

    Whatever is not in it did not fail there: it passed, had no verdict, or did not exist.
    """

    failed: frozenset[tuple[str, str]] = frozenset()
