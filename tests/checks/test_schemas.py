from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError
from agentanvil.checks.schemas import meets_schema
from tests.fakes.json_values import JSON_VALUES
from tests.fakes.records import row

ANY = row()
ORDER = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "items": {"type": "array", "items": {"type": "string"}}},
    "required": ["id"],
    "additionalProperties": False,
}


def checked(schema: dict[str, object], value: object) -> Finding:
    return meets_schema({"schema": schema})(value, ANY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "passed", "reason"),
    [
        ('{"id": 1, "items": ["a"]}', True, "meets the schema"),
        (' {"id": 1}\n', True, "meets the schema"),
        ('{"items": []}', False, '$: "id" is a required property'),
        ('{"id": 1, "items": ["a", 5]}', False, '$.items[1]: 5 is not of type "string"'),
        ('{"id": "1"}', False, '$.id: "1" is not of type "integer"'),
        ('{"id": 1, "more": 2}', False, "$: Additional properties are not allowed ('more' was unexpected)"),
        ("[]", False, '$: [] is not of type "object"'),
        ('{"id": 1', False, "not JSON: expecting ',' delimiter (line 1, column 9)"),
        ('{"id": 1}\nDone.', False, "more text follows after the JSON value (line 2, column 1)"),
        ('Here: {"id": 1}', False, "not JSON: expecting value (line 1, column 1)"),
        ('```json\n{"id": 1}\n```', False, "not JSON: it stands in a code fence"),
        ('{"id": 1, "id": 1}', False, "the key `id` stands twice in one object"),
        ('{"id": NaN}', False, "NaN is not JSON"),
        ("{'id': 1}", False, "not JSON: expecting property name enclosed in double quotes (line 1, column 2)"),
        ("[" * 100_000, False, "nested deeper than 128 levels"),
    ],
)
def test_a_response_as_a_program_reads_it(value: str, passed: bool, reason: str) -> None:
    assert checked(ORDER, value) == Finding(passed, reason)


def test_a_field_that_is_json_already_is_validated_as_it_is() -> None:
    assert checked(ORDER, {"id": 5}).passed
    assert not checked(ORDER, {"id": "5"}).passed
    assert checked({"type": "integer"}, 5).passed


@pytest.mark.parametrize(
    ("schema", "value", "passed"),
    [
        ({}, "1", True),
        ({"type": "integer"}, "1.0", True),
        ({"type": "integer"}, "true", False),
        ({"enum": [1]}, "true", False),
        ({"type": "integer"}, "1" + "0" * 400, True),
        ({"format": "email"}, '"nobody"', True),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "format": "date"}, '"never"', True),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}, "1", False),
        ({"prefixItems": [{"type": "string"}]}, "[1]", False),
        ({"$defs": {"n": {"type": "number"}}, "items": {"$ref": "#/$defs/n"}}, '[1, "a"]', False),
        ({"items": {"$ref": "#"}, "type": "array"}, "[[[], []]]", True),
        ({"$ref": "#"}, "1", True),
        ({"pattern": r"^\d+$"}, '"123"', True),
        ({"maxLength": 1}, '"😀"', True),
        ({"uniqueItems": True}, "[1, 1.0]", False),
        ({"maxLength": 5}, r'"cut \ud83d"', True),
    ],
)
def test_dialects_and_values(schema: dict[str, object], value: str, passed: bool) -> None:
    assert checked(schema, value).passed == passed


def test_many_different_objects_are_compared_quickly() -> None:
    """Compared pair by pair, these would take a minute."""
    assert checked({"uniqueItems": True}, json.dumps([{"a": number} for number in range(20_000)])).passed


def test_a_hostile_text_does_not_hang_a_pattern() -> None:
    assert not checked({"pattern": "^(a+)+$"}, json.dumps("a" * 5000 + "b")).passed
    hard = {"pattern": r"^(a|aa)+\1$"}
    text = json.dumps("a" * 60 + "b")
    with pytest.raises(CheckFaultError, match="too many steps") as caught:
        checked(hard, text)
    assert caught.value.code == "check_timeout"
    assert not checked(hard | {"maxLength": 3}, text).passed


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (None, "must be a JSON Schema object"),
        ({"type": "intege"}, r"^\$\.type: this is not a valid JSON Schema: .*intege"),
        ({"items": {"pattern": "("}}, r"^\$\.items\.pattern: .*regex"),
        ({"$ref": "#/$defs/nope"}, r"^\$\.\$ref: .*nope"),
        ({"$ref": "http://127.0.0.1:9/schema.json"}, "points outside"),
        ({"$ref": "file:///etc/hostname"}, "points outside"),
        ({"properties": {"a": {"$ref": "other.json"}}}, r"^\$\.properties\.a\.\$ref: .*other.json"),
        ({"$schema": "http://nowhere.test/schema"}, "dialect"),
        ({"properties": {1: {}}}, "keys of a JSON Schema are text"),
    ],
)
def test_schemas_that_cannot_be_used(schema: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        meets_schema({"schema": schema})
    assert caught.value.key == "schema"


def test_a_long_reason_is_cut() -> None:
    assert len(checked({"const": 1}, json.dumps("x" * 5000)).reason) < 250
    assert len(checked({"type": "integer"}, json.dumps("x" * 5000)).reason) < 250


@given(JSON_VALUES)
def test_the_empty_schema_takes_any_json(value: object) -> None:
    assert checked({}, json.dumps(value)).passed


@given(st.text())
def test_any_text_passes_or_fails(text: str) -> None:
    assert checked(ORDER, text).reason
