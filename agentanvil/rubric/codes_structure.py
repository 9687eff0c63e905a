"""Findings about the file, anchors, calls and scopes (R0 to R3)."""

from __future__ import annotations

from agentanvil.rubric.codes import Code

STRUCTURE: dict[str, Code] = {
    "R001": Code(
        "file-unreadable",
        "error",
        "The file is absent, not UTF-8, or not YAML that a rubric can be.",
        "nothing in it can be used",
        "Mend the place that is named; the rest is read after that.",
    ),
    "R002": Code(
        "value-refused",
        "error",
        "A value has the wrong type, or one that its key does not allow.",
        "a value that is not understood is never guessed, so that no run starts",
        "Write a value of the kind that is named.",
    ),
    "R003": Code(
        "key-unknown",
        "error",
        "A key is misspelt, or stands where it has no meaning.",
        "what it was to promise would silently not be kept",
        "Correct the spelling, move the key to where it belongs, or remove it.",
    ),
    "R004": Code(
        "key-missing",
        "error",
        "A key that every rubric needs is not there.",
        "there is no default that would mean the same to everybody",
        "Add the key.",
    ),
    "R005": Code(
        "text-not-final",
        "error",
        "A text holds a placeholder such as `{{request}}`, or is nothing but an address.",
        "a rubric is never filled in and fetches nothing, so that the judge would read it as it stands",
        "Write the text itself; request, response and source are shown to the judge beside the rubric.",
    ),
    "R101": Code(
        "bare-scale",
        "error",
        "A judged dimension has no anchors.",
        "each judge, and each call, makes up its own meaning of the numbers",
        "Write anchors for the highest, the middle and the lowest score.",
    ),
    "R102": Code(
        "anchor-unobservable",
        "warning",
        "An anchor is made of praise or blame alone, without a count, a presence or a category.",
        "two readers cannot apply it alike, which shows as spread between repeats",
        "Name what is counted, present or absent, such as `exactly one unsupported claim`.",
    ),
    "R103": Code(
        "anchors-crowded",
        "warning",
        "Every score of a scale of five or more has an anchor.",
        "neighbouring anchors differ by shades that judges do not hold apart",
        "Keep the highest, the middle and the lowest anchor; the scores between them stay on offer.",
    ),
    "R104": Code(
        "anchor-end-missing",
        "warning",
        "The highest or the lowest score has no anchor.",
        "judges then avoid that end of the scale, or use it at whim",
        "Write an anchor for the highest and one for the lowest score.",
    ),
    "R105": Code(
        "anchor-repeated",
        "error",
        "Two anchors of a dimension say the same.",
        "nothing tells the two scores apart",
        "Say what makes the difference, or remove one of the two.",
    ),
    "R106": Code(
        "anchor-off-scale",
        "error",
        "An anchor belongs to a score that the scale does not have.",
        "no judge can give that score, so that the anchor describes nothing",
        "Move the anchor to a score of the scale, or widen the scale.",
    ),
    "R201": Code(
        "joint-crowded",
        "warning",
        "More than four judged dimensions share one call.",
        "one call over so many lets the verdict on one colour the verdicts on the others",
        "Keep three or four dimensions, settle some by a check, or write `calls: split`.",
    ),
    "R202": Code(
        "judged-though-countable",
        "warning",
        "A judge is asked what code can decide: a count, a format, a fixed text, a language, a tool call.",
        "a judge is slower and dearer than code, and sometimes wrong where code never is",
        "Replace question and anchors by a `check` of the type that is named.",
    ),
    "R301": Code(
        "scope-overlap",
        "warning",
        "Two dimensions list the same matter in scope, and no exclusion stands between them.",
        "one fault is then punished twice, and the scores rise and fall together",
        "Give the matter to one of them and add `{what: ..., judged_by: ...}` to the other's `scope.out`.",
    ),
    "R302": Code(
        "exclusion-unknown-sibling",
        "error",
        "An exclusion leaves a matter to a dimension that does not exist, or to its own.",
        "the matter is taken away and nobody judges it",
        "Name another dimension of this rubric, or leave `judged_by` out.",
    ),
    "R303": Code(
        "exclusion-contradicts-scope",
        "error",
        "A dimension excludes what it lists in scope itself.",
        "the judge is told both to judge it and to leave it alone",
        "Remove it from `scope.in`, or narrow the exclusion.",
    ),
    "R304": Code(
        "exclusion-decoration",
        "warning",
        "The only judged dimension of a rubric has an exclusion.",
        "with a single verdict there is no sibling to part ground with, yet every call pays for the words",
        "Remove the exclusion, or say in the question and the anchors what counts.",
    ),
    "R305": Code(
        "matter-ownerless",
        "error",
        "Dimensions send a matter to one another, and none of them keeps it.",
        "each sends the matter away, so that a fault in it lowers no score",
        "Remove the exclusion from the dimension that is to judge it.",
    ),
}
