"""`junit.xml`: one test case per item, in strict XML 1.0 whatever the judge wrote.

A failed gate is a failure; a verdict whose absence leaves the overall or the gate open is an error; an item to which
nothing applies is skipped. What failed in the baseline already is told as output of a case that passes. Where some
verdicts may be missing, items without one are skipped, so that a reader of this file and one of the exit code agree.

Where figures of the whole run decide, no item fails it: an item below its thresholds passes and says so in its output,
one without a verdict is skipped, and one more case, `gate`, says what the exit code says: a failure where the gate
failed, an error where it is open, or where verdicts are missing. That case (`run` without a gate) is there too where
no item is at fault and the run does not end well: its judge is not calibrated as it must be, or repeats are missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from agentanvil.aggregate import OVERALL, DimensionResult, Frame, Gate, ItemResult, Shortfall, lowest_dimension
from agentanvil.aggregate.item import Gap
from agentanvil.report.atomic import AtomicText
from agentanvil.verdict import Scored

# A numeric reference to one of these would be just as illegal as the character itself.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COUNTS = ("tests", "failures", "errors", "skipped")
# Room for a count of twelve digits, and for ` =""` around it.
_WIDEST_TOTAL = 16
_INAPPLICABLE = '<skipped message="not applicable"/>'

Ended = Literal["missing", "interrupted"]
_ENDED: Mapping[Ended, str] = {
    "missing": "verdicts are missing beyond what --min-coverage allows",
    "interrupted": "the run was interrupted",
}


def xml_text(text: str) -> str:
    """Return text for an element's content; characters that XML 1.0 forbids become U+FFFD."""
    return escape(_ILLEGAL.sub("\ufffd", text), {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """Return text as a quoted attribute value; characters that XML 1.0 forbids become U+FFFD."""
    return quoteattr(_ILLEGAL.sub("\ufffd", text))


class JUnitXml:
    """Streams test cases; the counts in the head are filled in by `finish`. `properties` are of the whole suite.

    `lenient`: an item may lack a verdict and the run end well all the same.
    """

    def __init__(
        self, file: AtomicText, frame: Frame, properties: Mapping[str, str] | None = None, *, lenient: bool = False
    ) -> None:
        self._file = file
        self._suite = xml_attribute(frame.rubric_id)
        self._rubric = frame.rubric_id
        self._lenient = lenient
        self._gated = bool(frame.gated)
        self._by_figures = bool(frame.figures)
        self._counts = dict.fromkeys(_COUNTS, 0)
        file.write(self._head(self._counts))
        if properties:
            file.write(_properties(properties))

    def add(self, result: ItemResult) -> None:
        """Append one item's test case."""
        self._counts["tests"] += 1
        body = self._beside_figures(result) if self._by_figures else self._body(result)
        opening = f"    <testcase classname={self._suite} name={xml_attribute(result.id)}"
        self._file.write(f"{opening}/>\n" if body is None else f"{opening}>{body}</testcase>\n")

    def finish(self, gate: Gate, ended: Ended | None = None) -> None:
        """Close the document and fill in the counts; `ended` is what the run lacks whatever its gate says."""
        silent = ended is not None and not self._counts["failures"] + self._counts["errors"]
        if self._by_figures or gate.verdict == "inconclusive" or silent:
            self._file.write(self._gate(gate, ended))
        self._file.write("  </testsuite>\n</testsuites>\n")
        self._file.rewrite_start(self._head(self._counts))

    def _head(self, counts: dict[str, int]) -> str:
        """Return everything before the first test case, always equally long: XML allows spaces before the bracket."""
        totals = "".join([f' {name}="{n}"'.ljust(len(name) + _WIDEST_TOTAL) for name, n in counts.items()])
        return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites>\n  <testsuite name={self._suite}{totals}>\n'

    def _body(self, result: ItemResult) -> str | None:
        known = _output([shortfall for shortfall in result.shortfalls if shortfall.known])
        if result.passed is False:
            self._counts["failures"] += 1
            new = [shortfall for shortfall in result.shortfalls if not shortfall.known]
            message = xml_attribute("; ".join(shortfall.text for shortfall in new))
            return f'<failure type="gate" message={message}>{xml_text(_details(result, new))}</failure>{known}'
        gap = result.gap
        undecided = self._gated and result.passed is None
        if gap is not None and (undecided or result.state not in {"scored", "not_applicable"}):
            if self._lenient:
                return self._without_verdict(gap) + known
            self._counts["errors"] += 1
            message = f"{gap.dimension}: {gap.state}: {gap.code}"
            return (
                f"<error type={xml_attribute(gap.code)} message={xml_attribute(message)}>"
                f"{xml_text(gap.message)}</error>{known}"
            )
        if undecided or result.state == "not_applicable":
            self._counts["skipped"] += 1
            return _INAPPLICABLE
        return known or None

    def _beside_figures(self, result: ItemResult) -> str | None:
        """Return what is told of an item that fails nothing by itself."""
        gap, undecided = result.gap, self._gated and result.passed is None
        if gap is not None and (undecided or result.state not in {"scored", "not_applicable"}):
            return self._without_verdict(gap)
        if result.state == "not_applicable":
            self._counts["skipped"] += 1
            return _INAPPLICABLE
        lines = [shortfall.text for shortfall in result.shortfalls]
        return f"<system-out>{xml_text(chr(10).join(lines))}</system-out>" if lines else None

    def _without_verdict(self, gap: Gap) -> str:
        self._counts["skipped"] += 1
        return f"<skipped message={xml_attribute(f'{gap.dimension}: {gap.state}: {gap.code}')}/>"

    def _gate(self, gate: Gate, ended: Ended | None) -> str:
        """Return the test case of the run as a whole."""
        self._counts["tests"] += 1
        name = "run" if gate.verdict == "none" else "gate"
        # No rubric's id holds a slash, so that no item's case is called the same.
        opening = f'    <testcase classname={xml_attribute(f"{self._rubric}/{name}")} name="{name}"'
        passed = [figure.text for figure in gate.figures if figure.verdict == "pass"]
        details = xml_text("\n".join([*passed, *gate.reasons]))
        if gate.verdict == "fail" and ended != "interrupted":
            self._counts["failures"] += 1
            kind, what, message = "failure", "gate", "the gate failed"
        elif ended is not None:
            self._counts["errors"] += 1
            nothing = ended == "missing" and gate.verdict == "undecided" and not gate.passed
            kind, what, message = "error", ended, "no item passed the gate" if nothing else _ENDED[ended]
        elif gate.verdict == "inconclusive":
            self._counts["errors"] += 1
            kind, what, message = "error", "inconclusive", "the gate is inconclusive"
        else:
            return f"{opening}><system-out>{details}</system-out></testcase>\n"
        return f'{opening}><{kind} type="{what}" message={xml_attribute(message)}>{details}</{kind}></testcase>\n'


def _properties(properties: Mapping[str, str]) -> str:
    lines = (
        f"      <property name={xml_attribute(name)} value={xml_attribute(value)}/>\n"
        for name, value in properties.items()
    )
    return f"    <properties>\n{''.join(lines)}    </properties>\n"


def _output(known: Sequence[Shortfall]) -> str:
    if not known:
        return ""
    lines = [f"known from the baseline: {shortfall.text}" for shortfall in known]
    text = xml_text("\n".join(lines))
    return f"<system-out>{text}</system-out>"


def _details(result: ItemResult, shortfalls: Sequence[Shortfall]) -> str:
    """Return score, evidence and reason of the dimensions that fell short; of the lowest one for the overall."""
    booleans = {shortfall.name for shortfall in shortfalls if shortfall.boolean}
    names = [shortfall.name for shortfall in shortfalls]
    dimensions = [dimension for dimension in result.dimensions if dimension.id in names]
    lowest = lowest_dimension(result)
    if OVERALL in names and lowest is not None and lowest[0] not in dimensions:
        dimensions.insert(0, lowest[0])
    return "\n".join(line for found in dimensions for line in _lines(found, boolean=found.id in booleans))


def _lines(dimension: DimensionResult, *, boolean: bool) -> list[str]:
    cells = [cell for cell in dimension.cells if isinstance(cell, Scored)]
    lines: list[str] = []
    for cell in cells:
        lines.append(f"{dimension.id}: {str(cell.score > 0).lower() if boolean else format(cell.score, 'g')}")
        lines.extend(f"  evidence: {quote}" for quote in cell.evidence)
        lines.append(f"  reason: {cell.reason}")
    return lines
