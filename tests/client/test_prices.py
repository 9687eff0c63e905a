"""Every cost is checked against hand arithmetic: tokens × dollars per million / 1,000,000."""

from __future__ import annotations

import math
from typing import Any

import pytest

from agentanvil.client.base import Usage
from agentanvil.client.prices import Price, PriceTable, Rates
from agentanvil.errors import ConfigError

ALL = {"input": 3.0, "output": 15.0, "cached_input": 0.3, "cache_write": 3.75}


def cost(price: dict[str, float], usage: Usage) -> float | None:
    return PriceTable.read({"m": price}).cost(usage, "m")


@pytest.mark.parametrize(
    ("price", "usage", "dollars"),
    [
        pytest.param(  # 400 × 2 + 800 × 0.5 + 100 × 8 = 2,000 millionths
            {"input": 2, "cached_input": 0.5, "output": 8}, Usage(1200, 100, 800), 0.0020, id="O-G01"
        ),
        pytest.param(  # 10 × 3 + 1,000 × 3.75 + 2,000 × 0.3 + 50 × 15 = 5,130 millionths
            ALL, Usage(3010, 50, 2000, None, 1000), 0.00513, id="O-G02"
        ),
        pytest.param(  # 5 × 3 + 5 × 0.3 + 20 × 15 = 316.5 millionths
            ALL, Usage(10, 20, 5), 0.0003165, id="O-G03"
        ),
        pytest.param(ALL, Usage(100, 10), 0.00045, id="nothing-cached"),
        pytest.param(ALL, Usage(100, 0, 100), 0.00003, id="all-cached"),
        pytest.param(ALL, Usage(0, 0), 0.0, id="no-tokens"),
        pytest.param({"input": 2, "output": 8}, Usage(1200, 100, 800), 0.0032, id="cached-at-full-price"),
        pytest.param({"input": 2, "output": 8}, Usage(1000, 0, 0, None, 500), 0.0020, id="written-at-full-price"),
        pytest.param(  # reasoning is inside the output already: 100 × 3 + 50 × 15
            ALL, Usage(100, 50, None, 40), 0.00105, id="reasoning-once"
        ),
        pytest.param(ALL, Usage(100, 0, 150), 0.00003, id="more-cached-than-sent"),
        pytest.param({"input": 0, "output": 0}, Usage(100, 10), 0.0, id="priced-at-nothing"),
    ],
)
def test_each_token_is_billed_once_at_its_own_price(price: dict[str, float], usage: Usage, dollars: float) -> None:
    assert cost(price, usage) == pytest.approx(dollars, abs=1e-12)


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=10), Usage(output_tokens=10)])
def test_tokens_that_were_not_counted_have_no_known_cost(usage: Usage) -> None:
    assert cost(ALL, usage) is None


def test_an_unlisted_model_has_no_known_cost() -> None:
    """O-G06: never 0."""
    assert PriceTable.read({"other": ALL}).cost(Usage(100, 10), "brand-new-1") is None
    assert PriceTable.read({}).cost(Usage(100, 10), "brand-new-1", "brand-new-1-2026") is None


def test_a_model_is_priced_as_asked_for_and_else_as_reported() -> None:
    dated = {"input": 1.0, "output": 1.0}
    table = PriceTable.read({"m": ALL, "m-2026-11-01": dated})
    assert table.cost(Usage(1_000_000, 0), "m", "m-2026-11-01") == pytest.approx(3.0)
    assert table.cost(Usage(1_000_000, 0), "alias", "m-2026-11-01") == pytest.approx(1.0)


def test_a_name_is_matched_whole() -> None:
    assert PriceTable.read({"gpt-6": ALL}).cost(Usage(1, 1), "gpt-6-luna", "gpt-6-luna-0901") is None


def test_a_judge_on_this_machine_costs_nothing() -> None:
    assert PriceTable.free().cost(Usage(1_000_000, 1_000_000), "any") == 0.0


@pytest.mark.parametrize(
    ("discount", "dollars"),
    [
        pytest.param(0.5, 0.002565, id="half"),  # of 5,130 millionths
        pytest.param(0.2, 0.004104, id="a-fifth-off"),
        pytest.param(0, 0.00513, id="none"),
        pytest.param(1, 0.0, id="all"),
        pytest.param(None, None, id="not-said"),
    ],
)
def test_a_batch_is_billed_at_its_discount_whatever_was_cached(discount: float | None, dollars: float | None) -> None:
    table = PriceTable.read({"m": {**ALL, "batch_discount": discount}})
    usage = Usage(3010, 50, 2000, None, 1000)
    assert table.cost(usage, "m") == pytest.approx(0.00513)
    assert table.cost(usage, "m", batch=True) == (None if dollars is None else pytest.approx(dollars, abs=1e-12))


def test_two_judges_with_one_model_name_may_have_a_price_each() -> None:
    """`PROVIDER:MODEL` is for that judge alone and beats `MODEL`."""
    prices = PriceTable.read({"m": {"input": 1, "output": 1}, "compat:m": {"input": 2, "output": 2}})
    usage = Usage(1_000_000, 0)
    assert prices.beside(None, "compat").cost(usage, "m") == pytest.approx(2.0)
    assert prices.beside(None, "openai").cost(usage, "m") == pytest.approx(1.0)


def test_a_ceiling_holds_whatever_the_cache_does_and_however_long_the_request() -> None:
    """10 × 3.75 + 2 × 15 = 67.5 millionths; beyond 1,000 tokens of input 1,001 × 7 + 2 × 1 (but the output is 15)."""
    price = Price(3.0, 15.0, 0.3, 3.75, ((1000, Rates(7.0, 1.0, 7.0, 7.0)),))
    assert price.ceiling(10, 2) == pytest.approx(67.5e-6)
    assert price.ceiling(1001, 2) == pytest.approx((1001 * 7 + 2 * 15) / 1e6)
    assert price.of(Usage(1001, 2)) == pytest.approx((1001 * 7 + 2 * 1) / 1e6)
    assert price.less(0.5).of(Usage(1001, 2)) == pytest.approx((1001 * 7 + 2 * 1) / 2e6)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"m": {"input": 1}}, "prices.m.output"),
        ({"m": {"output": 1}}, "prices.m.input"),
        ({"m": {"input": None, "output": 1}}, "prices.m.input"),
        ({"m": {"input": 1, "output": -1}}, "prices.m.output"),
        ({"m": {"input": math.nan, "output": 1}}, "prices.m.input"),
        ({"m": {"input": 1, "output": math.inf}}, "prices.m.output"),
        ({"m": {"input": "1", "output": 1}}, "prices.m.input"),
        ({"m": {"input": True, "output": 1}}, "prices.m.input"),
        ({"m": {"input": 1, "output": 1, "cached_input": -1}}, "prices.m.cached_input"),
        ({"m": {"input": 1, "output": 1, "cached": 1}}, "prices.m"),
        ({"m": {"input": 1, "output": 1, "batch_discount": 1.5}}, "prices.m.batch_discount"),
        ({"m": {"input": 1, "output": 1, "batch_discount": -0.5}}, "prices.m.batch_discount"),
        ({"m": {"input": 1, "output": 1, "batch_discount": True}}, "prices.m.batch_discount"),
        ({"m": 3}, "prices.m"),
        ({"m": [1, 2]}, "prices.m"),
        ({"m": None}, "prices.m"),
    ],
)
def test_a_wrong_price_names_file_and_key(given: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PriceTable.read(given, "anvil.yaml")
    assert str(caught.value.where) == f"anvil.yaml: {key}"
