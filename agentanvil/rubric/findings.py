"""What the linter can find: one literal registry, from which the catalogue page is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding: its name, how grave it is, why it harms, how to mend it (a sentence each)."""

    title: str
    severity: Severity
    why: str
    mend: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding in one rubric. `line` is 1-based, None for a rubric that was not read from text.

    `message` says what was found and why it harms, `mend` how to mend it, a sentence each.
    """

    code: str
    severity: Severity
    message: str
    mend: str
    dimension: str | None = None
    line: int | None = None

    @property
    def title(self) -> str:
        return CODES[self.code].title


CODES: dict[str, Code] = {
    "R101": Code(
        "bare-scale",
        "error",
        "each judge, and each call, makes up its own meaning of the numbers",
        "Write anchors for the highest, the middle and the lowest score.",
    ),
    "R102": Code(
        "anchor-unobservable",
        "warning",
        "two readers cannot apply it alike, which shows as spread between repeats",
        "Name what is counted, present or absent, such as `exactly one unsupported claim`.",
    ),
    "R103": Code(
        "anchors-crowded",
        "warning",
        "neighbouring anchors differ by shades that judges do not hold apart",
        "Keep the highest, the middle and the lowest anchor; the scores between them stay on offer.",
    ),
    "R104": Code(
        "anchor-end-missing",
        "warning",
        "judges then avoid that end of the scale, or use it at whim",
        "Write an anchor for the highest and one for the lowest score.",
    ),
    "R105": Code(
        "anchor-repeated",
        "error",
        "nothing tells the two scores apart",
        "Say what makes the difference, or remove one of the two.",
    ),
    "R201": Code(
        "joint-crowded",
        "warning",
        "one call over so many lets the verdict on one colour the verdicts on the others",
        "Keep three or four dimensions, settle some by a check, or write `calls: split`.",
    ),
    "R301": Code(
        "scope-overlap",
        "warning",
        "one fault is then punished twice, and the scores rise and fall together",
        "Give the matter to one of them and add `{what: ..., judged_by: ...}` to the other's `scope.out`.",
    ),
    "R302": Code(
        "exclusion-unknown-sibling",
        "error",
        "the matter is taken away and nobody judges it",
        "Name another dimension of this rubric, or leave `judged_by` out.",
    ),
    "R303": Code(
        "exclusion-contradicts-scope",
        "error",
        "the judge is told both to judge it and to leave it alone",
        "Remove it from `scope.in`, or narrow the exclusion.",
    ),
    "R304": Code(
        "exclusion-decoration",
        "note",
        "with a single verdict there is no sibling to part ground with, yet every call pays for the words",
        "Remove the exclusion, or say in the question and the anchors what counts.",
    ),
    "R305": Code(
        "matter-ownerless",
        "error",
        "each sends the matter away, so that a fault in it lowers no score",
        "Remove the exclusion from the dimension that is to judge it.",
    ),
    "R401": Code(
        "expected-in-prompt",
        "warning",
        "a judge that is pointed at an expected answer grades likeness, not quality",
        "Describe what a good response does; where answers must rest on a text, use `needs_source`.",
    ),
    "R402": Code(
        "example-scores",
        "warning",
        "judges anchor on example scores and repeat them",
        "Remove the example, and put what it shows into the anchors.",
    ),
    "R403": Code(
        "expected-shown",
        "warning",
        "a judge that sees the expected answer grades likeness to it, and the report has to say so",
        "Remove `allow_expected`; where answers must rest on a text, use `needs_source`.",
    ),
    "R501": Code(
        "safety-averaged",
        "warning",
        "good marks elsewhere can outweigh a harmful response",
        "Write `overall: {rule: min}`, or keep the weights and add a gate on this dimension.",
    ),
    "R502": Code(
        "dimension-weightless",
        "warning",
        "it is judged and paid for, yet never counts in the overall",
        "Give it a weight, or remove the dimension.",
    ),
    "R601": Code(
        "rule-contradicts-built-in",
        "error",
        "the judge gets two orders that cannot both be kept, and which one it follows changes by call",
        "Remove the rule, or say in an anchor what is to earn a score.",
    ),
    "R602": Code(
        "evidence-none",
        "warning",
        "a score without a quote cannot be checked, and an odd one cannot be explained",
        "Write `evidence: quoted`, unless the saving matters more than the review.",
    ),
    "R603": Code(
        "reply-without-evidence",
        "note",
        "evidence is only read from JSON replies, so that no score of this rubric can be checked",
        "Keep this format for judges and recordings that have no JSON.",
    ),
    "R701": Code(
        "label-looks-boolean",
        "warning",
        "other YAML readers turn it into true or false, and then no reply matches",
        "Put the label in quotes.",
    ),
    "R702": Code(
        "labels-by-position",
        "note",
        "the first label scores the maximum and so on down, which a reader cannot see",
        "Write the scores: `labels: {good: 3, fair: 2, poor: 1}`.",
    ),
}


def finding(code: str, what: str, *, dimension: str | None = None, line: int | None = None) -> Finding:
    """Return the finding `code`; `what` is the part of its message that belongs to this rubric."""
    kind = CODES[code]
    return Finding(code, kind.severity, f"{what}: {kind.why}.", kind.mend, dimension, line)
