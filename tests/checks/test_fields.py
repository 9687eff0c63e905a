from __future__ import annotations

import pytest

from agentanvil.checks.fields import as_text, parse_field, read_field
from agentanvil.checks.finding import CheckFaultError, ParameterError, ResponseLacksError
from tests.fakes.records import row

HERE = row(
    id="a",
    request="q",
    response="r",
    source=("one", "two"),
    model="m",
    meta={"ticket": "#1", "deep": {"list": [1, {"x": "y"}]}, "none": None, "blank": " \u200b"},
    expected={"answer": "42"},
    labels={"tone": (4.0,)},
    extra={"topic": "t", "gold": {"answer": "42"}, "zero": 0, "false": False, "empty": []},
)


@pytest.mark.parametrize(
    ("on", "value"),
    [
        ("id", "a"),
        ("request", "q"),
        ("response", "r"),
        ("model", "m"),
        ("source", "one\n\ntwo"),
        ("source.1", "two"),
        ("meta.ticket", "#1"),
        ("meta.deep.list.1.x", "y"),
        ("meta.deep.list.-1", {"x": "y"}),
        ("expected", {"answer": "42"}),
        ("expected.answer", "42"),
        ("topic", "t"),
        ("gold.answer", "42"),
        ("zero", 0),
        ("false", False),
        ("empty", []),
    ],
)
def test_reads(on: str, value: object) -> None:
    assert read_field(HERE, parse_field(on, "on")) == value


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("meta.order", "meta.order: `meta` has no `order`; its keys are `ticket`"),
        ("meta.deep.list.7", "is a list of 2"),
        ("meta.none", "meta.none: is null"),
        ("meta.blank", "meta.blank: is empty"),
        ("missing", "missing: the row has no `missing`; its keys are `topic`"),
        ("request.text", "`request` is text"),
        ("labels", "the row has no `labels`"),
        ("labels.tone", "the row has no `labels`"),
        ("source.5", "is a list of 2"),
    ],
)
def test_what_is_absent(on: str, message: str) -> None:
    with pytest.raises(CheckFaultError) as caught:
        read_field(HERE, parse_field(on, "on"))
    assert caught.value.code == "missing_field"
    assert message in caught.value.message


def test_a_path_below_the_response_leads_into_its_json() -> None:
    here = row(response='{"total": 5, "items": [{"name": "x"}], "note": " ", "none": null}')
    assert read_field(here, parse_field("response.total", "on")) == 5
    assert read_field(here, parse_field("response.items.0.name", "on")) == "x"


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ("r", "response.total: the response is not JSON: expecting value"),
        ('{"total": NaN}', "the response is not JSON: NaN"),
        ("[1]", "`response` is a list of 1"),
        ('{"sum": 1}', "`response` has no `total`; its keys are `sum`"),
        ('{"total": null}', "response.total: is null"),
        ('{"total": " "}', "response.total: is empty"),
        ('{"total": 1} and so on', "the response is not JSON"),
    ],
)
def test_what_the_json_of_a_response_lacks_is_the_fault_of_the_response(response: str, message: str) -> None:
    with pytest.raises(ResponseLacksError) as caught:
        read_field(row(response=response), parse_field("response.total", "on"))
    assert message in caught.value.message


def test_a_response_without_a_word_is_no_json_to_look_into() -> None:
    with pytest.raises(CheckFaultError):
        read_field(row(response=""), parse_field("response.total", "on"))


@pytest.mark.parametrize("on", ["source", "model", "expected", "meta.x", "topic"])
def test_a_plain_row_has_none_of_these(on: str) -> None:
    with pytest.raises(CheckFaultError):
        read_field(row(), parse_field(on, "on"))


def test_a_path_that_cannot_be_read() -> None:
    with pytest.raises(ParameterError, match="empty part") as caught:
        parse_field("meta..x", "on")
    assert caught.value.key == "on"


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), (5, "5"), (True, "true"), ({"b": 1, "a": None}, '{"a":null,"b":1}')]
)
def test_text_of_other_values(value: object, text: str) -> None:
    assert as_text(value) == text  # type: ignore[arg-type]
