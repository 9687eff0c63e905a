"""Findings that need rows (D1 to D5)."""

from __future__ import annotations

from agentanvil.rubric.codes import Code

DATA: dict[str, Code] = {
    "D101": Code(
        "label-off-scale",
        "error",
        "A human label is no score that the rubric offers.",
        "no verdict can agree with it, so that it is left out of every figure of agreement",
        "Correct the label, or convert all labels to the rubric's scale.",
    ),
    "D102": Code(
        "label-unknown-dimension",
        "warning",
        "Rows hold labels for a dimension that the rubric does not have.",
        "nothing is ever compared with them",
        "Write the id of a dimension of the rubric, or map it: `--map labels.DIMENSION=PATH`.",
    ),
    "D103": Code(
        "dimension-unlabelled",
        "warning",
        "Rows are labelled, but none of them for this judged dimension.",
        "how far its scores can be trusted stays unknown, however well the others agree",
        "Label it too, on the same rows.",
    ),
    "D104": Code(
        "labels-few",
        "note",
        "Fewer than 30 rows have labels.",
        "figures of agreement then come with intervals that are too wide to decide by",
        "Hand-grade 30 rows or more, chosen at random.",
    ),
    "D201": Code(
        "expected-hidden",
        "note",
        "Rows hold an expected answer, and it is kept from the judge.",
        "whoever wrote it may believe that it is being graded against",
        "Leave it; checks can read it, and `needs_source` is for a text that answers must rest on.",
    ),
    "D202": Code(
        "expected-shown",
        "warning",
        "Rows hold an expected answer, and `allow_expected` shows it to the judge.",
        "the judge grades likeness to one answer, and another good one loses",
        "Remove `allow_expected`.",
    ),
    "D203": Code(
        "expected-absent",
        "warning",
        "`allow_expected` is on, and no row holds an expected answer.",
        "the report warns of something that never happens",
        "Remove `allow_expected`, or map the field: `--map expected=PATH`.",
    ),
    "D301": Code(
        "source-absent",
        "error",
        "The rubric needs a source, and rows have none or an empty one.",
        "such rows cannot be judged, and no run starts with them",
        "Give every row its source, or map the field: `--map source=PATH`.",
    ),
    "D302": Code(
        "source-unneeded",
        "warning",
        "Rows hold a source, and the rubric does not say that answers must rest on it.",
        "the judge sees a text of which nobody told it what it is for",
        "Write `needs_source: true` and ask for support by the source, or leave the field out.",
    ),
    "D401": Code(
        "judge-own-family",
        "warning",
        "The judge is of the same family as a model whose responses it grades.",
        "judges favour their own family's writing, by an amount that no single judge can show",
        "Take a judge of another family, or cross-check a sample with one or with a person. A gate that such judges "
        "would decide alone is refused without `--accept-self-judging`. What a name tells wrongly, `families:` in "
        "anvil.yaml sets right.",
    ),
    "D501": Code(
        "rows-duplicated",
        "warning",
        "Rows differ in their ids, but not in request and response.",
        "each copy counts again, so that intervals look narrower than they are",
        "Keep one of them; to measure the judge's spread use `--repeats`.",
    ),
}
