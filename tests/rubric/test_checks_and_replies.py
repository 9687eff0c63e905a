"""Check dimensions and reply formats: strict parameters, and faults found before anything runs."""

from __future__ import annotations

import pytest

from agentanvil.errors import RubricError
from agentanvil.rubric import CheckSpec, ReplyFormat, parse_rubric
from tests.fakes.rubric_text import judged, rubric_text


def check_of(written: str) -> CheckSpec:
    return parse_rubric(rubric_text(f"{{id: a, check: {written}}}")).checked[0].check


def error_of(text: str) -> RubricError:
    with pytest.raises(RubricError) as caught:
        parse_rubric(text, "r.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        ("{type: regex, pattern: a+}", CheckSpec("regex", "response", {"pattern": "a+", "flags": ()})),
        ("{type: regex, pattern: '[[a]'}", CheckSpec("regex", "response", {"pattern": "[[a]", "flags": ()})),
        ("{type: contains, text: ' x '}", CheckSpec("contains", "response", {"text": (" x ",), "ignore_case": False})),
        (
            "{type: contains, text: [a, yes], ignore_case: true, on: request}",
            CheckSpec("contains", "request", {"text": ("a", "yes"), "ignore_case": True}),
        ),
        (
            "{type: not_contains, text: ['{{ x }}', 'file://x']}",
            CheckSpec("not_contains", "response", {"text": ("{{ x }}", "file://x"), "ignore_case": False}),
        ),
        ("{type: max_words, limit: 0}", CheckSpec("max_words", "response", {"limit": 0})),
        ("{type: max_chars, limit: 9, on: source}", CheckSpec("max_chars", "source", {"limit": 9})),
        (
            r"""{type: max_chars, limit: 9, on: 'meta."a.b".c\.d'}""",
            CheckSpec("max_chars", r'meta."a.b".c\.d', {"limit": 9}),
        ),
        ("{type: max_chars, limit: 9, on: meta.Ticket No}", CheckSpec("max_chars", "meta.Ticket No", {"limit": 9})),
        (
            "{type: equals_field, field: meta.ticket.id}",
            CheckSpec("equals_field", "response", {"field": "meta.ticket.id", "ignore_case": False}),
        ),
        (
            "{type: json_schema, schema: {properties: {a: {$ref: '#/$defs/b'}}, $defs: {b: {minimum: 5}}}}",
            CheckSpec(
                "json_schema",
                "response",
                {
                    "schema": {
                        "properties": {"a": {"$ref": "#/$defs/b"}},
                        "$defs": {"b": {"minimum": 5}},
                    }
                },
            ),
        ),
        (
            "{type: numeric_range, min: 0, max: 1.5, on: response.total}",
            CheckSpec("numeric_range", "response.total", {"min": 0.0, "max": 1.5, "pattern": None}),
        ),
        (
            r"{type: numeric_range, max: 9, pattern: 'Total: (\d+)'}",
            CheckSpec("numeric_range", "response", {"min": None, "max": 9.0, "pattern": r"Total: (\d+)"}),
        ),
        ("{type: language, codes: no}", CheckSpec("language", "response", {"codes": ("no",)})),
        ("{type: language, codes: [de, en], on: request}", CheckSpec("language", "request", {"codes": ("de", "en")})),
        ("{type: must_call, tool: search}", CheckSpec("must_call", "trace", {"tool": ("search",)})),
        ("{type: must_not_call, tool: [a, b]}", CheckSpec("must_not_call", "trace", {"tool": ("a", "b")})),
        ("{type: call_order, tools: [a, b]}", CheckSpec("call_order", "trace", {"tools": ("a", "b"), "strict": False})),
        ("{type: max_calls, limit: 3}", CheckSpec("max_calls", "trace", {"limit": 3, "tool": None})),
        ("{type: max_calls, limit: 3, tool: a}", CheckSpec("max_calls", "trace", {"limit": 3, "tool": ("a",)})),
        (
            "{type: argument_matches, tool: a, schema: {required: [x]}, calls: any}",
            CheckSpec("argument_matches", "trace", {"tool": "a", "schema": {"required": ["x"]}, "calls": "any"}),
        ),
        ("{type: no_error_steps}", CheckSpec("no_error_steps", "trace", {})),
        ("{type: max_latency_ms, limit: 1500}", CheckSpec("max_latency_ms", "trace", {"limit": 1500.0})),
        ("{type: max_cost_usd, limit: 0.05}", CheckSpec("max_cost_usd", "trace", {"limit": 0.05})),
        ("{type: max_tokens, limit: 0}", CheckSpec("max_tokens", "trace", {"limit": 0})),
        ("{type: python, function: 'mine:polite'}", CheckSpec("python", "row", {"function": "mine:polite"})),
    ],
)
def test_a_check_carries_its_own_parameters_and_their_defaults(written: str, spec: CheckSpec) -> None:
    assert check_of(written) == spec


@pytest.mark.parametrize(
    ("written", "key", "said"),
    [
        ("regex", "", "must be a mapping"),
        ("{pattern: x}", "", "needs a `type`"),
        ("{type: regexp, pattern: x}", "", "no type of check"),
        ("{type: 5}", "", "no type of check"),
        ("{type: [regex]}", "", "no type of check"),
        ("{type: regex}", ".pattern", "missing"),
        ("{type: regex, pattern: ''}", ".pattern", "empty"),
        ("{type: regex, pattern: '('}", ".pattern", "cannot be read"),
        ("{type: regex, pattern: '(?P<a>x)(?P<a>y)'}", ".pattern", "cannot be read"),
        ("{type: regex, pattern: 'a{99999999999}'}", ".pattern", "cannot be read"),
        ("{type: regex, pattern: '(?<=a+)b'}", ".pattern", "cannot be read"),
        ("{type: regex, pattern: '(?V1)a'}", ".pattern", "cannot be read"),
        (r"{type: regex, pattern: '\p{L}'}", ".pattern", "cannot be read"),
        ("{type: regex, pattern: '[a--b]'}", ".pattern", "cannot be read"),
        ("{type: regex, pattern: x, flags: [i]}", ".flags[0]", "not known"),
        ("{type: regex, pattern: x, flags: ignorecase}", ".flags", "must be a list"),
        ("{type: contains}", ".text", "missing"),
        ("{type: contains, text: []}", ".text", "empty"),
        ("{type: contains, text: ''}", ".text[0]", "empty"),
        ("{type: contains, text: 5}", ".text", "must be a list"),
        ("{type: contains, text: [a, 5]}", ".text[1]", "must be text"),
        ("{type: contains, text: a, ignore_case: yes}", ".ignore_case", "true or false"),
        ("{type: max_words, limit: -1}", ".limit", "at least 0"),
        ("{type: max_words, limit: 1.5}", ".limit", "whole number"),
        ("{type: max_chars, limit: true}", ".limit", "whole number"),
        ("{type: max_chars, limit: '9'}", ".limit", "whole number"),
        ("{type: equals_field}", ".field", "missing"),
        ("{type: equals_field, field: ''}", ".field", "not allowed"),
        ("{type: equals_field, field: a..b}", ".field", "not allowed"),
        ("{type: max_chars, limit: 9, on: .response}", ".on", "not allowed"),
        ("{type: max_chars, limit: 9, on: response.}", ".on", "not allowed"),
        ("""{type: max_chars, limit: 9, on: 'meta."a.b'}""", ".on", "not allowed"),
        ("{type: json_schema, schema: {type: objekt}}", ".schema.type", "not a valid JSON Schema"),
        ("{type: json_schema, schema: {properties: {a: 5}}}", ".schema.properties.a", "not a valid JSON Schema"),
        ("{type: json_schema, schema: {pattern: '('}}", ".schema.pattern", "not a valid JSON Schema"),
        (
            "{type: json_schema, schema: {$schema: 'http://json-schema.org/draft-04/schema#', required: true}}",
            ".schema.required",
            "not a valid JSON Schema",
        ),
        ("{type: json_schema, schema: '{}'}", ".schema", "must be a mapping"),
        ("{type: json_schema, schema: schema.json}", ".schema", "must be a mapping"),
        ("{type: json_schema, schema: {properties: {1: {}}}}", ".schema.properties", "keys of a JSON Schema are text"),
        ("{type: json_schema, schema: {$ref: 'file:///etc/passwd'}}", ".schema.$ref", "points outside"),
        ("{type: json_schema, schema: {$ref: 'https://example.org/s.json'}}", ".schema.$ref", "points outside"),
        ("{type: json_schema, schema: {items: {$ref: other.json}}}", ".schema.items.$ref", "points outside"),
        ("{type: json_schema, schema: {$ref: '#/$defs/absent'}}", ".schema.$ref", "points at no schema"),
        ("{type: json_schema, schema: {$ref: '#/required/x', required: [a]}}", ".schema.$ref", "points at no schema"),
        ("{type: json_schema, schema: {$ref: '#/required/0', required: [a]}}", ".schema.$ref", "points at no schema"),
        ("{type: json_schema, schema: {$ref: '#/minimum/a', minimum: 1}}", ".schema.$ref", "points at no schema"),
        ("{type: json_schema, schema: {$schema: [x]}}", ".schema.$schema", "dialect"),
        ("{type: json_schema, schema: {$schema: 'https://example.org/mine'}}", ".schema.$schema", "dialect"),
        (
            "{type: json_schema, schema: {$schema: 'http://json-schema.org/draft-03/schema#'}}",
            ".schema.$schema",
            "dialect",
        ),
        ("{type: json_schema, schema: {$ref: '#absent'}}", ".schema.$ref", "points at no schema"),
        ("{type: json_schema, schema: {$dynamicRef: '#absent'}}", ".schema.$dynamicRef", "points at no schema"),
        ("{type: json_schema, schema: {$ref: '#/a%GG'}}", ".schema.$ref", "points at no schema"),
        ("{type: numeric_range}", "", "needs `min`, `max` or both"),
        ("{type: numeric_range, min: ~}", "", "needs `min`, `max` or both"),
        ("{type: numeric_range, min: 5, max: 4}", ".min", "min (5) is more than max (4)"),
        ("{type: numeric_range, min: '5'}", ".min", "must be a number"),
        ("{type: numeric_range, min: true}", ".min", "must be a number"),
        ("{type: numeric_range, max: .inf}", ".max", ""),
        (r"{type: numeric_range, min: 5, pattern: '\d+'}", ".pattern", "has 0 groups"),
        (r"{type: numeric_range, min: 5, pattern: '(a)(b)'}", ".pattern", "has 2 groups"),
        ("{type: numeric_range, min: 5, pattern: '('}", ".pattern", "cannot be read"),
        ("{type: numeric_range, minimum: 5}", ".minimum", "unknown key"),
        ("{type: language}", ".codes", "missing"),
        ("{type: language, codes: []}", ".codes", "empty"),
        ("{type: language, codes: english}", ".codes[0]", "no language code"),
        ("{type: language, codes: [de, DE]}", ".codes[1]", "no language code"),
        ("{type: language, codes: [de, pt-BR]}", ".codes[1]", "no language code"),
        ("{type: language, codes: 5}", ".codes", "must be a list"),
        ("{type: must_call, tool: ''}", ".tool[0]", "empty"),
        ("{type: must_call, tool: []}", ".tool", "empty"),
        ("{type: must_call, tools: a}", ".tools", "unknown key"),
        ("{type: must_call, tool: a, on: response}", ".on", "unknown key"),
        ("{type: call_order, tools: a}", ".tools", "must be a list"),
        ("{type: call_order, tools: []}", ".tools", "empty"),
        ("{type: call_order, tools: [a], strict: 1}", ".strict", "true or false"),
        ("{type: max_calls}", ".limit", "missing"),
        ("{type: max_calls, limit: 1.5}", ".limit", "whole number"),
        ("{type: max_calls, limit: 1, tool: []}", ".tool", "empty"),
        ("{type: argument_matches, tool: a}", ".schema", "missing"),
        ("{type: argument_matches, tool: [a], schema: {}}", ".tool", "must be text"),
        ("{type: argument_matches, tool: a, schema: {type: objekt}}", ".schema.type", "not a valid JSON Schema"),
        ("{type: argument_matches, tool: a, schema: {$ref: 'file:///x'}}", ".schema.$ref", "points outside"),
        ("{type: argument_matches, tool: a, schema: {}, calls: some}", ".calls", "not known"),
        ("{type: no_error_steps, limit: 1}", ".limit", "unknown key"),
        ("{type: max_latency_ms, limit: -1}", ".limit", "at least 0"),
        ("{type: max_cost_usd, limit: .nan}", ".limit", ""),
        ("{type: max_tokens, limit: 1.5}", ".limit", "whole number"),
        ("{type: python}", ".function", "missing"),
        ("{type: python, function: mine}", ".function", "does not name a function"),
        ("{type: python, function: 'a.b:c'}", ".function", "does not name a function"),
        ("{type: python, function: '../a:c'}", ".function", "does not name a function"),
        ("{type: python, function: '/tmp/a:c'}", ".function", "does not name a function"),
        ("{type: python, function: 'a:b.c'}", ".function", "does not name a function"),
        ("{type: python, function: 'a:b:c'}", ".function", "does not name a function"),
        ("{type: python, function: ' a:b'}", ".function", "does not name a function"),
        ('{type: python, function: "a:b\\n"}', ".function", "does not name a function"),
        ("{type: python, function: 'ａ:b'}", ".function", "does not name a function"),
        ("{type: python, function: ':b'}", ".function", "does not name a function"),
        (
            "{type: json_schema, schema: {not: {$ref: 'http://json-schema.org/draft-07/schema'}}}",
            ".schema.not.$ref",
            "outside",
        ),
        (
            "{type: json_schema, schema: {$ref: '#/$defs/b', $defs: {b: {$id: 'urn:b', not: {$ref: '#/absent'}}}}}",
            ".schema",
            "points at no schema",
        ),
    ],
)
def test_a_wrong_check_is_named(written: str, key: str, said: str) -> None:
    error = error_of(rubric_text(f"{{id: a, check: {written}}}"))
    assert error.where is not None
    assert (error.where.line, error.where.key) == (5, f"dimensions[0].check{key}")
    assert said in error.message


def test_a_misspelt_type_gets_a_suggestion() -> None:
    assert error_of(rubric_text("{id: a, check: {type: regexp, pattern: x}}")).hint == "did you mean `regex`?"


LABEL = "reply: {format: label, marker: 'Score:', labels: "
BINARY = "version: 1\nid: small\nscale: {min: 0, max: 1}\n"


@pytest.mark.parametrize(
    ("labels", "head", "meant"),
    [
        pytest.param("[yes, no]", BINARY, {"yes": 1, "no": 0}, id="O-B21 a list runs down the scale"),
        pytest.param("{yes: 1, no: 0}", BINARY, {"yes": 1, "no": 0}, id="O-B21 a mapping"),
        pytest.param("{On: 1, OFF: 0}", BINARY, {"On": 1, "OFF": 0}, id="O-B21 on and off"),
        pytest.param("['true', 'false']", BINARY, {"true": 1, "false": 0}, id="O-B21 quoted"),
        pytest.param("[1, 0]", BINARY, {"1": 1, "0": 0}, id="numbers mean themselves"),
        pytest.param("[0, 1]", BINARY, {"0": 0, "1": 1}, id="in any order"),
        pytest.param("{A: 1, a: 1, B: 0}", BINARY, {"A": 1, "a": 1, "B": 0}, id="two spellings of one score"),
        pytest.param("{ja: 1, 2: 0}", BINARY, {"ja": 1, "2": 0}, id="a number as a token"),
        pytest.param("[A, tie, B]", f"{BINARY}mode: pairwise\n", {"A": 1, "tie": 0, "B": -1}, id="a pairwise list"),
        pytest.param("{A: 1, B: -1}", f"{BINARY}mode: pairwise\n", {"A": 1, "B": -1}, id="a pairwise mapping"),
        pytest.param(
            "[yes, no]",
            "version: 1\nid: small\nscale: {min: 1, max: 5}\nmode: gate\n",
            {"yes": 1, "no": 0},
            id="a gate",
        ),
    ],
)
def test_labels_stay_text_and_have_scores(labels: str, head: str, meant: dict[str, int]) -> None:
    rubric = parse_rubric(rubric_text("{id: a, question: q}", extra=f"{LABEL}{labels}}}", head=head))
    assert rubric.reply == ReplyFormat("label", "Score:", meant, "only")


@pytest.mark.parametrize(
    ("labels", "key", "said"),
    [
        pytest.param("[true, false]", "reply.labels[0]", "`true` is not text", id="O-B21 booleans"),
        pytest.param("[True, False]", "reply.labels[0]", "`true` is not text", id="O-B21 capitals"),
        pytest.param("[1.0, 0]", "reply.labels[0]", "is not text", id="a float"),
        pytest.param("[~, no]", "reply.labels[0]", "is not text", id="null"),
        pytest.param("{yes: true, no: false}", "reply.labels.yes", "whole number", id="boolean scores"),
        pytest.param("{yes: 2, no: 0}", "reply.labels.yes", "not on the scale", id="score off the scale"),
        pytest.param("{yes: 1, Yes: 0}", "reply.labels.Yes", "twice", id="capitals alone differ"),
        pytest.param("[a, b, c]", "reply.labels", "3 labels do not fit a scale of 2", id="too many"),
        pytest.param("[a, a]", "reply.labels[1]", "twice", id="twice"),
        pytest.param("[' a', b]", "reply.labels[0]", "without spaces", id="spaces"),
        pytest.param("['', b]", "reply.labels[0]", "one line of text", id="empty"),
        pytest.param("[]", "reply.labels", "not empty", id="none"),
        pytest.param("yes", "reply.labels", "list", id="text"),
    ],
)
def test_wrong_labels_are_named(labels: str, key: str, said: str) -> None:
    error = error_of(rubric_text("{id: a, question: q}", extra=f"{LABEL}{labels}}}", head=BINARY))
    assert error.where is not None
    assert (error.where.line, error.where.key) == (4, key)
    assert said in error.message


def test_yaml_booleans_as_keys_of_labels_are_refused_with_advice() -> None:
    error = error_of(rubric_text("{id: a, question: q}", extra=f"{LABEL}{{true: 1, false: 0}}}}", head=BINARY))
    assert "`true` cannot be a key" in error.message
    assert "quotes" in (error.hint or "")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("{format: json, marker: x}", "has no marker"),
        ("{format: json, labels: [a]}", "has no labels"),
        ("{format: xml}", "not known"),
        ("{format: label, marker: x, select: middle}", "not known"),
        ("label", "must be a mapping"),
    ],
)
def test_a_wrong_reply_format_is_named(reply: str, said: str) -> None:
    assert said in error_of(rubric_text(extra=f"reply: {reply}")).message


def test_a_label_holds_one_verdict_only() -> None:
    marked = "reply: {format: brackets, select: last}"
    error = error_of(rubric_text(judged("a"), judged("b"), extra=marked))
    assert "2 dimensions" in error.message
    assert "calls: split" in (error.hint or "")
    split = parse_rubric(rubric_text(judged("a"), judged("b"), extra=f"{marked}\ncalls: split"))
    assert split.reply == ReplyFormat("brackets", "", {}, "last")
    alone = parse_rubric(rubric_text(judged("a"), "{id: b, check: {type: max_words, limit: 9}}", extra=marked))
    assert alone.reply.format == "brackets"


@pytest.mark.parametrize("reply", ["{format: label}", "{format: brackets, marker: F}", "{format: label, marker: S}"])
def test_a_marker_is_optional_and_not_applicable_can_be_offered(reply: str) -> None:
    rubric = parse_rubric(rubric_text("{id: a, question: q, allow_na: true}", extra=f"reply: {reply}"))
    assert rubric.judged[0].allow_na
    assert rubric.reply.format in ("label", "brackets")
