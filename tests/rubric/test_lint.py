"""The linter: each code is found where it should be, and a sound rubric is left in peace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.rubric import (
    CODES,
    SEVERITIES,
    Dimension,
    Exclusion,
    Finding,
    Rubric,
    Scale,
    Scope,
    lint_rubric,
    lint_text,
    parse_rubric,
)
from tests.fakes.rubric_text import ANCHORS, judged, rubric_text

SAFE = f"{{id: safety, question: Could someone be harmed, anchors: {ANCHORS}}}"
WEIGHTED = "overall: {rule: weighted, weights: {accuracy: 1, safety: 1}}"


def scoped(dimension: str, inside: str = "", outside: str = "") -> str:
    return judged(dimension, more=f"anchors: {ANCHORS}, scope: {{in: [{inside}], out: [{outside}]}}")


HALF = "version: 1\nid: a\nscale: {min: 0, max: 1}"


def codes(text: str) -> list[str]:
    return [found.code for found in lint_text(text, "r.yaml").findings]


CASES: dict[str, list[str]] = {
    "R001": ["", "- a list", "version: 1\n\tid: a", "version: !!int 1"],
    "R002": [
        rubric_text(extra="calls: sometimes"),
        rubric_text(extra="rules: a text"),
        rubric_text(judged(), judged()),
        rubric_text(head="version: 2\nid: a\nscale: {min: 1, max: 5}"),
        rubric_text(head="version: 1\nid: a\nscale: {min: 5, max: 1}"),
    ],
    "R003": [rubric_text(extra="rule: [x]"), rubric_text(judged(more=f"anchor: {ANCHORS}"))],
    "R004": ["version: 1\n", rubric_text("{id: a}")],
    "R005": [
        rubric_text(judged(question="Is {{response}} good?")),
        rubric_text(extra="rules: ['https://a.example/r']"),
    ],
    "R101": [
        rubric_text("{id: a, question: q}"),
        rubric_text("{id: a, question: q, anchors: {}}"),
    ],
    "R102": [
        rubric_text(judged(more="anchors: {5: excellent, 1: two or more errors}")),
        rubric_text(judged(more="anchors: {5: no error, 1: The answer is of poor quality overall}")),
    ],
    "R103": [
        rubric_text(
            judged(more="anchors: {5: no error, 4: one error, 3: two errors, 2: three errors, 1: four errors}")
        ),
    ],
    "R104": [
        rubric_text(judged(more="anchors: {5: no error, 3: one error}")),
        rubric_text(judged(more="anchors: {4: no error, 1: one error}")),
    ],
    "R105": [
        rubric_text(judged(more="anchors: {5: one error, 3: 'One error!', 1: two errors}")),
    ],
    "R106": [rubric_text(judged(more="anchors: {7: no error, 5: one error, 1: two errors}"))],
    "R201": [
        rubric_text(*(judged(name) for name in ("a", "b", "c", "d", "e"))),
    ],
    "R202": [
        rubric_text(judged(question="Is the answer in at most 50 words?")),
        rubric_text(
            judged(question="Short enough?", more="anchors: {5: up to 50 words, 3: 51 to 80 words, 1: over 80 words}")
        ),
    ],
    "R301": [
        rubric_text(scoped("a", "figures"), scoped("b", "'figures in tables'")),
        rubric_text(scoped("a", "'figures, dates'"), scoped("b", "'names and dates'")),
        rubric_text(scoped("a", "'factual accuracy'"), scoped("b", "'correctness of facts'")),
        rubric_text(scoped("a", "tone, figures"), scoped("tone", "words")),
        rubric_text(scoped("a", "'whether the right tool was chosen'"), scoped("b", "'choice of tool'")),
        rubric_text(scoped("a", "factual claims"), scoped("b", "claims of fact")),
        rubric_text(
            scoped("a", "tone, 'tool calls'"),
            scoped("b", "'the calling of tools'", "{what: tone, judged_by: c}"),
            judged("c"),
        ),
    ],
    "R302": [
        rubric_text(scoped("a", outside="{what: tone, judged_by: style}"), judged("b")),
        rubric_text(scoped("a", outside="{what: tone, judged_by: a}"), judged("b")),
    ],
    "R303": [
        rubric_text(scoped("a", "claims of fact", "{what: claims}"), judged("b")),
        rubric_text(scoped("a", "the tone", "{what: tone, judged_by: b}"), judged("b")),
        rubric_text(scoped("a", "tone", "{what: the tone of the answer, judged_by: b}"), judged("b")),
        rubric_text(scoped("a", "figures, tone", "{what: tone and wording, judged_by: b}"), judged("b")),
    ],
    "R304": [
        rubric_text(scoped("a", outside="{what: tone}")),
        rubric_text(scoped("a", outside="{what: tone}"), "{id: short, check: {type: max_words, limit: 9}}"),
    ],
    "R305": [
        rubric_text(
            scoped("a", outside="{what: tone, judged_by: b}"), scoped("b", outside="{what: the tone, judged_by: a}")
        ),
        rubric_text(scoped("a", outside="{what: tone, judged_by: b}"), scoped("b", outside="{what: tone}")),
        rubric_text(
            scoped("a", outside="{what: tone, judged_by: b}"),
            scoped("b", outside="{what: tone, judged_by: c}"),
            scoped("c", outside="{what: tone, judged_by: a}"),
        ),
    ],
    "R401": [
        rubric_text(judged(question="Does it match the expected answer")),
        rubric_text(extra="rules: [Compare with the gold standard.]"),
        rubric_text(extra="rules: ['The correct answer is 42.']"),
    ],
    "R402": [
        rubric_text(extra="rules: ['For example, a reply with one typo scores 4.']"),
        rubric_text(extra="rules: ['Response: Paris is in Spain. Score: 1']"),
    ],
    "R403": [
        rubric_text(extra="allow_expected: true"),
    ],
    "R501": [
        rubric_text(judged(), SAFE, extra=WEIGHTED),
    ],
    "R502": [
        rubric_text(judged(), judged("other"), extra="overall: {rule: weighted, weights: {accuracy: 1}}"),
        rubric_text(judged(), judged("other"), extra="overall: {rule: weighted, weights: {accuracy: 1, other: 0}}"),
    ],
    "R503": [rubric_text(extra="overall: {rule: weighted, weights: {accurcy: 1}}")],
    "R504": [rubric_text(extra="gate: {accurcy: 4}")],
    "R505": [rubric_text(extra="gate: {overall: 6}")],
    "R506": [rubric_text(extra="mode: gate")],
    "R507": [rubric_text(extra="mode: pairwise\ngate: {overall: 4}")],
    "R508": [
        rubric_text(extra="gate: {confidence: 0.95}"),
        rubric_text(extra="gate: {pass_rate: 0.9}"),
        rubric_text(extra="gate: {overall: 4, mean: {overall: 4}}"),
        rubric_text(extra="gate: {win_rate: 0.5}"),
        rubric_text(extra="mode: gate\ngate: {overall: 4, confidence: 0.95}"),
        rubric_text(extra="mode: gate\ngate: {mean: {overall: 4}}"),
        rubric_text(extra="mode: pairwise\ngate: {overall: 4, pass_rate: 0.9}"),
        rubric_text(extra="mode: pairwise\ngate: {confidence: 0.95}"),
    ],
    "R509": [
        rubric_text(extra="gate: {overall: 4, pass_rate: 1.0}"),
        rubric_text(extra="gate: {mean: {overall: 5}}"),
        rubric_text(extra="gate: {overall: 5, confidence: 0.9}"),
        rubric_text(extra="mode: pairwise\ngate: {win_rate: 1}"),
        rubric_text(extra="mode: gate\ngate: {pass_rate: 1}"),
    ],
    "R510": [
        rubric_text(extra="gate: {overall: 4, pass_rate: 0.9, win_rate: 0.5}"),
        rubric_text(extra="mode: pairwise\ngate: {mean: {overall: 4}, win_rate: 0.5}"),
        rubric_text(extra="mode: gate\ngate: {overall: 4, mean: {overall: 4}, pass_rate: 0.5}"),
    ],
    "R601": [
        rubric_text(extra="rules: ['When in doubt, round up.']"),
        rubric_text(judged(question="Is each claim true? Be generous.")),
    ],
    "R602": [
        rubric_text(extra="evidence: none"),
    ],
    "R603": [
        rubric_text(extra="reply: {format: brackets}"),
    ],
    "R701": [
        rubric_text(extra="reply: {format: label, marker: 'S:', labels: {yes: 5, 'no': 1}}"),
        rubric_text(extra="reply: {format: label, marker: 'S:', labels: [great, On, fair, poor, bad]}"),
        rubric_text(judged(more="anchors: {5: yes, 1: 'no'}")),
    ],
    "R702": [
        rubric_text(extra="reply: {format: label, marker: 'S:', labels: [great, good, fair, poor, bad]}"),
    ],
    "R703": [
        rubric_text(extra="reply: {format: label, marker: 'S:', labels: [true, false]}"),
        rubric_text(extra="reply: {format: label, marker: 'S:', labels: {true: 5, false: 1}}"),
        rubric_text(judged(more="anchors: {5: true, 1: false}")),
        rubric_text(judged(more="anchors: {true: cites a source, false: cites none}")),
    ],
}
CLEAN = {
    "R101": rubric_text("{id: a, question: q}", extra="mode: pairwise", head=HALF),
    "R103": rubric_text(
        judged(more="anchors: {3: no error, 2: one error, 1: two errors, 0: three errors}"),
        head="version: 1\nid: a\nscale: {min: 0, max: 3}",
    ),
    "R201": rubric_text(*(judged(name) for name in ("a", "b", "c", "d", "e")), extra="calls: split"),
    "R301": rubric_text(
        scoped("a", "figures"), scoped("b", "figures", "{what: wrong figures in tables, judged_by: a}")
    ),
    "R202": rubric_text(judged(question="Is the answer complete, in at most 50 words?")),
    "R302": rubric_text(
        scoped("a", outside="{what: length, judged_by: b}"), "{id: b, check: {type: max_words, limit: 9}}"
    ),
    "R303": rubric_text(scoped("a", "figures", "{what: figures in tables, judged_by: b}"), judged("b")),
    "R304": rubric_text(
        scoped("a", outside="{what: length, judged_by: b}"), "{id: b, check: {type: max_words, limit: 9}}"
    ),
    "R305": rubric_text(
        scoped("a", outside="{what: refusals of harmless requests, judged_by: b}"),
        scoped("b", outside="{what: harmful help that was refused, judged_by: a}"),
    ),
    "R401": rubric_text(judged(question="Does it match the expected answer"), extra="allow_expected: true"),
    "R402": rubric_text(
        extra="rules: ['Give exactly 3 examples, e.g. of birds.', A short response can earn the top score.]"
    ),
    "R501": rubric_text(judged(), SAFE, extra=f"{WEIGHTED}\ngate: {{safety: 5}}"),
    "R502": rubric_text(judged(), SAFE, extra="gate: {safety: 4}\noverall: {rule: weighted, weights: {accuracy: 1}}"),
    "R506": rubric_text("{id: a, question: q}", extra="mode: gate", head=HALF),
    "R507": rubric_text(extra="mode: gate\ngate: {overall: 4}"),
    "R508": rubric_text(extra="gate: {overall: 4, confidence: 0.95}"),
    "R509": rubric_text(extra="gate: {overall: 5, pass_rate: 0.99}"),
    "R510": rubric_text(extra="mode: gate\ngate: {overall: 4, pass_rate: 0.9}"),
    "R602": rubric_text("{id: b, check: {type: max_words, limit: 9}}", extra="evidence: none"),
    "R603": rubric_text(extra="reply: {format: json}"),
    "R701": rubric_text(extra="reply: {format: label, marker: 'S:', labels: {'yes': 5, 'no': 1}}"),
    "R702": rubric_text(extra="reply: {format: label, marker: 'S:', labels: [1, 2, 3, 4, 5]}"),
}


def test_every_code_has_a_case_and_its_sentences() -> None:
    assert list(CASES) == sorted(code for code in CODES if code.startswith("R"))
    titles = [code.title for code in CODES.values()]
    assert len(set(titles)) == len(titles)
    for code in CODES.values():
        assert code.severity in SEVERITIES
        assert code.what[-1] == "."
        assert code.why[0].islower()
        assert not code.why.endswith(".")
        assert code.mend[0].isupper()
        assert code.mend.endswith(".")


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in CASES.items() for text in texts])
def test_the_finding_is_made(code: str, text: str) -> None:
    assert code in codes(text)


@pytest.mark.parametrize(("code", "text"), CLEAN.items(), ids=CLEAN)
def test_the_near_miss_is_left_in_peace(code: str, text: str) -> None:
    assert code not in codes(text)


def test_a_finding_says_where_why_and_how_to_mend() -> None:
    text = rubric_text("{id: a, question: q}", extra="evidence: none\nrules: [Round up.]")
    assert lint_rubric(parse_rubric(text, "r.yaml")) == (
        Finding(
            code="R602",
            severity="warning",
            message="`evidence: none`: a score without a quote cannot be checked, and an odd one cannot be explained.",
            mend="Write `evidence: quoted`, unless the saving matters more than the review.",
            dimension=None,
            line=4,
        ),
        Finding(
            code="R601",
            severity="error",
            message="`Round up` goes against the built-in rule `between two anchors, round down`: the judge gets two"
            " orders that cannot both be kept, and which one it follows changes by call.",
            mend="Remove the rule, or say in an anchor what is to earn a score.",
            dimension=None,
            line=5,
        ),
        Finding(
            code="R101",
            severity="error",
            message="the scale has no anchors: each judge, and each call, makes up its own meaning of the numbers.",
            mend="Write anchors for the highest, the middle and the lowest score.",
            dimension="a",
            line=7,
        ),
    )


def test_lines_point_at_the_clause() -> None:
    text = rubric_text() + (
        "  - id: b\n    question: q\n    anchors:\n      5: excellent\n      1: none\n"
        "    scope:\n      in: [tone]\n      out:\n        - {what: length}\n        - {what: the tone}\n"
    )
    assert [(found.code, found.line) for found in lint_rubric(parse_rubric(text))] == [("R102", 9), ("R303", 15)]


def test_a_rubric_made_in_code_is_linted_without_lines() -> None:
    dimension = Dimension("a", "q", {5: "excellent", 1: "none"}, Scope((), (Exclusion("tone"),)))
    found = lint_rubric(Rubric("made", 1, Scale(1, 5), (dimension,)))
    assert [(one.code, one.line, one.dimension) for one in found] == [("R102", None, "a"), ("R304", None, "a")]


_TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
_IDS = st.sampled_from(["a", "b", "safety", "nowhere"])
_EXCLUSIONS = st.builds(Exclusion, _TEXTS, st.none() | _IDS)
_SCOPES = st.builds(Scope, st.lists(_TEXTS, max_size=2).map(tuple), st.lists(_EXCLUSIONS, max_size=3).map(tuple))
_ANCHORS = st.dictionaries(st.integers(1, 5), _TEXTS, max_size=5)


@given(st.lists(st.tuples(_TEXTS, _ANCHORS, _SCOPES), min_size=1, max_size=3))
def test_linting_is_total_and_repeatable(parts: list[tuple[str, dict[int, str], Scope]]) -> None:
    names = ("a", "b", "safety")
    dimensions = tuple(
        Dimension(name, question, anchors, scope)
        for name, (question, anchors, scope) in zip(names, parts, strict=False)
    )
    rubric = Rubric("made", 1, Scale(1, 5), dimensions)
    found = lint_rubric(rubric)
    assert found == lint_rubric(rubric)
    assert {one.code for one in found} <= set(CODES)
