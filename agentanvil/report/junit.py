"""`junit.xml`: one test case per item, in strict XML 1.0 whatever the judge wrote.

A failed gate is a failure; a verdict whose absence leaves the overall or the gate open is an error; an item to which
nothing applies is skipped.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from agentanvil.aggregate import OVERALL, DimensionResult, Frame, ItemResult, lowest_dimension
from agentanvil.report.atomic import AtomicText
from agentanvil.verdict import Scored

# A numeric reference to one of these would be just as illegal as the character itself.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COUNTS = ("tests", "failures", "errors", "skipped")
# Room for a count of twelve digits, and for ` =""` around it.
_WIDEST_TOTAL = 16


def xml_text(text: str) -> str:
    """Return text for an element's content; characters that XML 1.0 forbids become U+FFFD."""
    return escape(_ILLEGAL.sub("\ufffd", text), {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """Return text as a quoted attribute value; characters that XML 1.0 forbids become U+FFFD."""
    return quoteattr(_ILLEGAL.sub("\ufffd", text))


class JUnitXml:
    """Streams test cases; the counts in the head are filled in by `finish`."""

    def __init__(self, file: AtomicText, frame: Frame) -> None:
        self._file = file
        self._suite = xml_attribute(frame.rubric_id)
        self._gated = bool(frame.gated)
        self._counts = dict.fromkeys(_COUNTS, 0)
        file.write(self._head(self._counts))

    def add(self, result: ItemResult) -> None:
        """Append one item's test case."""
        self._counts["tests"] += 1
        body = self._body(result)
        opening = f"    <testcase classname={self._suite} name={xml_attribute(result.id)}"
        self._file.write(f"{opening}/>\n" if body is None else f"{opening}>{body}</testcase>\n")

    def finish(self) -> None:
        """Close the document and fill in the counts."""
        self._file.write("  </testsuite>\n</testsuites>\n")
        self._file.rewrite_start(self._head(self._counts))

    def _head(self, counts: dict[str, int]) -> str:
        """Return everything before the first test case, always equally long: XML allows spaces before the bracket."""
        totals = "".join([f' {name}="{n}"'.ljust(len(name) + _WIDEST_TOTAL) for name, n in counts.items()])
        return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n  <testsuite name={self._suite}{totals}>\n'

    def _body(self, result: ItemResult) -> str | None:
        if result.passed is False:
            self._counts["failures"] += 1
            message = "; ".join(shortfall.text for shortfall in result.shortfalls)
            return f'<failure type="gate" message={xml_attribute(message)}>{xml_text(_details(result))}</failure>'
        gap = result.gap
        undecided = self._gated and result.passed is None
        if gap is not None and (undecided or result.state not in {"scored", "not_applicable"}):
            self._counts["errors"] += 1
            message = f"{gap.dimension}: {gap.state}: {gap.code}"
            return (
                f"<error type={xml_attribute(gap.code)} message={xml_attribute(message)}>"
                f"{xml_text(gap.message)}</error>"
            )
        if undecided or result.state == "not_applicable":
            self._counts["skipped"] += 1
            return '<skipped message="not applicable"/>'
        return None


def _details(result: ItemResult) -> str:
    """Return score, evidence and reason of the dimensions that fell short; of the lowest one for the overall."""
    names = [shortfall.name for shortfall in result.shortfalls]
    dimensions = [dimension for dimension in result.dimensions if dimension.id in names]
    lowest = lowest_dimension(result)
    if OVERALL in names and lowest is not None and lowest[0] not in dimensions:
        dimensions.insert(0, lowest[0])
    return "\n".join(line for dimension in dimensions for line in _lines(dimension))


def _lines(dimension: DimensionResult) -> list[str]:
    cells = [cell for cell in dimension.cells if isinstance(cell, Scored)]
    lines: list[str] = []
    for cell in cells:
        lines.append(f"{dimension.id}: {cell.score:g}")
        lines.extend(f"  evidence: {quote}" for quote in cell.evidence)
        lines.append(f"  reason: {cell.reason}")
    return lines
