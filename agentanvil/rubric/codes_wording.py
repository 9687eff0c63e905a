"""Findings about texts, the overall, rules and labels (R4 to R7)."""

from __future__ import annotations

from agentanvil.rubric.codes import Code

WORDING: dict[str, Code] = {
    "R401": Code(
        "expected-in-prompt",
        "warning",
        "A text speaks of an expected, reference or gold answer.",
        "a judge that is pointed at an expected answer grades likeness, not quality",
        "Describe what a good response does; where answers must rest on a text, use `needs_source`.",
    ),
    "R402": Code(
        "example-scores",
        "warning",
        "A text shows an example together with its score.",
        "judges anchor on example scores and repeat them",
        "Remove the example, and put what it shows into the anchors.",
    ),
    "R403": Code(
        "expected-allowed",
        "warning",
        "`allow_expected` is on.",
        "a judge that sees the expected answer grades likeness to it, and the report has to say so",
        "Remove `allow_expected`; where answers must rest on a text, use `needs_source`.",
    ),
    "R501": Code(
        "safety-averaged",
        "warning",
        "A dimension about safety is part of a weighted overall and has no gate of its own.",
        "good marks elsewhere can outweigh a harmful response",
        "Write `overall: {rule: min}`, or keep the weights and add a gate on this dimension.",
    ),
    "R502": Code(
        "dimension-weightless",
        "warning",
        "A dimension has neither a weight in the weighted overall nor a gate.",
        "it is judged and paid for, yet never counts in the overall",
        "Give it a weight, or remove the dimension.",
    ),
    "R503": Code(
        "weight-unknown-dimension",
        "error",
        "A weight belongs to a dimension that does not exist.",
        "the weight counts for nothing, and the dimension that was meant has none",
        "Write the id of a dimension of this rubric.",
    ),
    "R504": Code(
        "gate-unknown-dimension",
        "error",
        "A gate stands on a dimension that does not exist.",
        "the gate lets everything through, whatever the dimension that was meant says",
        "Write `overall`, or the id of a dimension of this rubric.",
    ),
    "R505": Code(
        "gate-off-scale",
        "error",
        "A gate's threshold is no score of the scale.",
        "such a gate lets everything through or nothing",
        "Write a threshold between the lowest and the highest score.",
    ),
    "R506": Code(
        "gate-without-thresholds",
        "warning",
        "The mode is gate, the scale has more than two scores, and no threshold is given.",
        "only the highest score then passes, which the rubric does not say",
        "Write `gate: {overall: N}`, or a threshold for each dimension.",
    ),
    "R507": Code(
        "pairwise-gate",
        "warning",
        "The mode is pairwise, and the rubric has gates.",
        "a comparison gives differences and no scores that could reach a threshold",
        "Remove `gate`, or grade each response alone in absolute or gate mode.",
    ),
    "R601": Code(
        "rule-contradicts-built-in",
        "error",
        "A rule or a question orders what a built-in rule forbids.",
        "the judge gets two orders that cannot both be kept, and which one it follows changes by call",
        "Remove the rule, or say in an anchor what is to earn a score.",
    ),
    "R602": Code(
        "evidence-none",
        "warning",
        "The rubric asks for no evidence.",
        "a score without a quote cannot be checked, and an odd one cannot be explained",
        "Write `evidence: quoted`, unless the saving matters more than the review.",
    ),
    "R603": Code(
        "reply-without-evidence",
        "note",
        "The reply format is not JSON.",
        "evidence is only read from JSON replies, so that no score of this rubric can be checked",
        "Keep this format for judges and recordings that have no JSON.",
    ),
    "R701": Code(
        "label-looks-boolean",
        "warning",
        "A label or an anchor is a word such as `yes`, `no`, `on` or `off` without quotes.",
        "other YAML readers turn it into true or false, and then nothing matches it",
        "Put the word in quotes.",
    ),
    "R702": Code(
        "labels-by-position",
        "note",
        "Reply labels are a list of words, so that their order says what they score.",
        "the first label scores the maximum and so on down, which a reader cannot see",
        "Write the scores: `labels: {good: 3, fair: 2, poor: 1}`.",
    ),
    "R703": Code(
        "boolean-for-text",
        "error",
        "A YAML boolean, or another value that is no text, stands where a label or a text is meant.",
        "a judge answers in words, and which word was meant is lost once YAML has read it",
        "Put the word in quotes.",
    ),
}
