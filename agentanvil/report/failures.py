"""What failed the gate, in lines for people: an item, what fell short and what the judge found there; or a figure."""

from __future__ import annotations

from agentanvil.aggregate import OVERALL, DimensionResult, Gate, ItemResult, Shortfall, lowest_dimension
from agentanvil.aggregate.wording import plain
from agentanvil.verdict import Scored

_LONGEST = 200


def failure_lines(result: ItemResult) -> list[str]:
    """Return one line for each shortfall that fails a run by its items; those that the baseline knows are left out.

    `id · dimension: false — “evidence” (reason)` in a gate; elsewhere the comparison stands in the middle. Evidence and
    reason are those of the lowest repeat.
    """
    return [_line(result, shortfall) for shortfall in result.shortfalls if not shortfall.known]


def gate_failures(gate: Gate) -> list[str]:
    """Return one line for each figure of the whole run that fails it."""
    return [f"gate · {figure.text}" for figure in gate.figures if figure.verdict == "fail"]


def _line(result: ItemResult, shortfall: Shortfall) -> str:
    said = f"{shortfall.name}: false" if shortfall.boolean else shortfall.text
    found = _explaining(result, shortfall)
    if found is None:
        return f"{_short(result.id)} · {said}"
    dimension, cell = found
    if shortfall.name == OVERALL:
        said += f" ({dimension.id} {plain(cell.score)})"
    evidence = f"“{_short(' / '.join(cell.evidence))}”" if cell.evidence else "no evidence"
    reason = f" ({_short(cell.reason)})" if cell.reason else ""
    return f"{_short(result.id)} · {said} — {evidence}{reason}"


def _explaining(result: ItemResult, shortfall: Shortfall) -> tuple[DimensionResult, Scored] | None:
    if shortfall.name == OVERALL:
        return lowest_dimension(result)
    for dimension in result.dimensions:
        if dimension.id == shortfall.name:
            cells = [cell for cell in dimension.cells if isinstance(cell, Scored)]
            return dimension, min(cells, key=lambda cell: cell.score)
    return None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
