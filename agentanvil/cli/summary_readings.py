"""What the judge's probabilities add to the summary on standard error, where there are any."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import DimensionSummary, ReadingSummary, Summary
from agentanvil.cli.tables import cut, number, share, titled_table


def has_readings(summary: Summary) -> bool:
    """Tell whether any verdict came with its probabilities."""
    return any(True for _ in _read(summary))


def reading_columns(summary: Summary) -> tuple[tuple[str, str], ...]:
    """Return the columns that stand beside the mean: what it would be by the other reading, and the entropy.

    In pairwise the other reading has a table of its own.
    """
    if not has_readings(summary):
        return ()
    if summary.mode == "pairwise":
        return (("entropy", "right"),)
    return ("verdict" if summary.reading == "expected" else "expected", "right"), ("entropy", "right")


def reading_cells(summary: Summary, dimension: DimensionSummary | None) -> tuple[str, ...]:
    """Return a row's cells for `reading_columns`; the overall has no probabilities of its own."""
    if not has_readings(summary):
        return ()
    readings = None if dimension is None else dimension.readings
    if readings is None:
        return ("–",) * len(reading_columns(summary))
    if summary.mode == "pairwise":
        return (number(readings.entropy),)
    other = readings.score if summary.reading == "expected" else readings.expected_score
    return number(other), number(readings.entropy)


def uncertain_table(summary: Summary) -> Table | None:
    """Return the items whose verdicts the judge was least sure of, None where nothing is known of that."""
    rows = [(dimension.id, item) for dimension, readings in _read(summary) for item in readings.uncertain]
    if not rows:
        return None
    table = titled_table(
        "Least certain verdicts (entropy from 0 to 1)",
        ("dimension", "left"),
        ("id", "left"),
        ("entropy", "right"),
        ("expected", "right"),
        ("verdict", "right"),
    )
    for name, item in rows:
        expected = "–" if item.expected_score is None else f"{item.expected_score:.2f}"
        table.add_row(name, Text(cut(item.id, 40)), f"{item.entropy:.2f}", expected, f"{item.score:.3g}")
    return table


def reading_line(summary: Summary) -> str | None:
    """Say how many verdicts have probabilities, and how much of these lies beside what was on offer.

    Of pairs this is said with their preferences.
    """
    if summary.mode == "pairwise":
        return None
    found = [
        f"{dimension.id} {share(readings.share)} ({share(readings.outside)} outside)"
        for dimension, readings in _read(summary)
    ]
    return f"verdicts with probabilities: {', '.join(found)}" if found else None


def _read(summary: Summary) -> Iterator[tuple[DimensionSummary, ReadingSummary]]:
    for dimension in summary.dimensions:
        if dimension.readings is not None and dimension.readings.share.value:
            yield dimension, dimension.readings
