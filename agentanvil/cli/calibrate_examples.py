"""The worst disagreements between judge and people, shortened: what each said, and the texts side by side."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from agentanvil.aggregate import CalibrationReport, LabelDisagreement
from agentanvil.cli.output import visible
from agentanvil.cli.tables import cut

_TEXT_WIDTH = 240
_SAID_WIDTH = 160


def example_blocks(report: CalibrationReport) -> list[RenderableType]:
    """Return the items on which judge and labels lie furthest apart, nothing where they lie nowhere apart."""
    if not report.disagreements:
        return []
    blocks: list[RenderableType] = [Text("Worst disagreements", style="bold")]
    if report.texts_missing is not None:
        blocks.append(Text(visible(f"request and response are not shown: {report.texts_missing}")))
    for example in report.disagreements:
        blocks.append(Text("\n").join(Text(line) for line in _said(example)))
        if example.request is not None:
            blocks.append(_texts(example))
    return blocks


def _said(example: LabelDisagreement) -> Iterator[str]:
    labels = ", ".join(f"{given.label:g}" for given in example.labels)
    several = f" ({', '.join(f'{score:g}' for score in example.scores)})" if len(example.scores) > 1 else ""
    yield cut(f"{example.id}, {example.dimension}: judge {example.score:g}{several}, people {labels}", _SAID_WIDTH)
    for side, quotes in (("evidence", example.evidence), ("evidence from response_b", example.rival_evidence)):
        if quotes:
            yield cut(f"  {side}: {' | '.join(quotes)}", _SAID_WIDTH)
    if example.reason:
        yield cut(f"  reason: {example.reason}", _SAID_WIDTH)


def _texts(example: LabelDisagreement) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), expand=True)
    texts = {"request": example.request, "response": example.response}
    if example.response_b is not None:
        texts = {"request": example.request, "response_a": example.response, "response_b": example.response_b}
    for name in texts:
        table.add_column(name, header_style="dim", overflow="fold", ratio=1)
    table.add_row(*(Text(cut(text or "", _TEXT_WIDTH)) for text in texts.values()))
    return table
