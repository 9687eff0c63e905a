"""List prices against a table that was collected apart from the library, and by hand arithmetic on the day of a call.

`prices_2026_11_29.json` holds what several public sources said on that day, each figure with its sources and how far it
can be trusted. What we compute is equal, or stands in `DIFFERENT` with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import genai_prices
import pytest
from genai_prices.data import providers as library_providers
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.base import Usage
from agentanvil.client.own_prices import OWN_PRICES
from agentanvil.client.price_list import ProviderPrices
from agentanvil.client.prices import Given, Price, PriceTable, Quote
from agentanvil.client.providers import providers

TABLE = json.loads(Path(__file__).with_name("prices_2026_11_29.json").read_text(encoding="utf-8"))
MODELS: list[dict[str, Any]] = TABLE["models"]
THAT_DAY = datetime(2026, 11, 29, 12, tzinfo=UTC)
M = 1_000_000

LISTS: Mapping[str, ProviderPrices] = {
    "openai": ProviderPrices("openai"),
    "anthropic": ProviderPrices("anthropic"),
    "google": ProviderPrices("google"),
    "mistral": ProviderPrices("mistral"),
    "xai": ProviderPrices(None, "https://api.x.ai/v1"),
    "deepseek": ProviderPrices(None, "https://api.deepseek.com/v1"),
}
DECISIONS = ProviderPrices("openai-decisions", decides=True)

DIFFERENT: Mapping[tuple[str, str], str] = {
    (
        "gpt-6-luna via /v1/decisions",
        "cached_input",
    ): "the library quotes OpenAI's guide: cached reads are billed as input",
    (
        "gpt-6-luna via /v1/decisions",
        "batch",
    ): "the endpoint has no batch; what halving the price comes to says nothing",
    ("gpt-6.2-astra", "cache_write"): "not seen; OpenAI bills writes at 1.25 times the input from GPT-5.6 on",
    ("gpt-6.2-sol", "cache_write"): "not seen; OpenAI bills writes at 1.25 times the input from GPT-5.6 on",
}


def quote(entry: Mapping[str, Any], when: datetime = THAT_DAY, *, batch: bool = False) -> Quote | None:
    name, _, decides = entry["model"].partition(" via ")
    prices = DECISIONS if decides else LISTS[entry["provider"]]
    return prices.quote(name, None, when, batch=batch)


def price(provider: str, model: str, when: datetime = THAT_DAY, *, batch: bool = False) -> Price:
    found = ProviderPrices(provider).quote(model, None, when, batch=batch)
    assert found is not None
    return found.price


@pytest.mark.parametrize("entry", MODELS, ids=lambda entry: entry["model"])
def test_list_prices_are_those_of_the_table(entry: dict[str, Any]) -> None:
    found = quote(entry)
    assert found is not None
    # Where no price of writing is known, or writing adds nothing, the tokens are billed as the input that they are.
    expected = {**entry, "cache_write": entry["cache_write"] or entry["input"]}
    for name in ("input", "output", "cached_input", "cache_write"):
        equal = getattr(found.price, name) == pytest.approx(expected[name], abs=1e-9)
        assert equal is ((entry["model"], name) not in DIFFERENT), name


@pytest.mark.parametrize("entry", MODELS, ids=lambda entry: entry["model"])
def test_a_batch_is_billed_at_the_discount_of_the_table(entry: dict[str, Any]) -> None:
    found, batch = quote(entry, batch=True), entry["batch"]
    if (entry["model"], "batch") in DIFFERENT:
        return
    if batch is None:
        assert found is None
        return
    assert found is not None
    assert found.price.input == pytest.approx(batch["input"])
    assert found.price.output == pytest.approx(batch["output"])


@pytest.mark.parametrize("entry", [e for e in MODELS if "long_context" in e], ids=lambda entry: entry["model"])
def test_a_long_request_is_dearer_as_a_whole(entry: dict[str, Any]) -> None:
    found, rule = quote(entry), entry["long_context"]
    assert found is not None
    long = rule.get("input", entry["input"] * rule.get("input_and_cache_multiplier", 1))
    output = rule.get("output", entry["output"] * rule.get("output_multiplier", 1))
    above = rule["above_input_tokens"]
    assert found.price.of(Usage(above - 1, M)) == pytest.approx(
        ((above - 1) * entry["input"] + M * entry["output"]) / M
    )
    assert found.price.of(Usage(above + 1, M)) == pytest.approx(((above + 1) * long + M * output) / M)


@pytest.mark.parametrize("entry", [e for e in MODELS if "next" in e], ids=lambda entry: entry["model"])
def test_a_price_that_begins_on_a_day_holds_from_its_first_second(entry: dict[str, Any]) -> None:
    start = datetime.fromisoformat(entry["next"]["from"]).replace(tzinfo=UTC)
    for when, expected in ((start.replace(year=2026, month=11, day=30), entry), (start, entry["next"])):
        found = quote(entry, when)
        assert found is not None
        assert (found.price.input, found.price.output) == (expected["input"], expected["output"])
        half = quote(entry, when, batch=True)
        assert half is not None
        assert half.price.input == pytest.approx(expected["input"] / 2)


@pytest.mark.parametrize("entry", [e for e in MODELS if "peak" in e], ids=lambda entry: entry["model"])
@pytest.mark.parametrize(("hour", "peak"), [(0, False), (1, True), (3, True), (4, False), (6, True), (10, False)])
def test_peak_hours_are_dearer(entry: dict[str, Any], hour: int, peak: bool) -> None:
    found = quote(entry, THAT_DAY.replace(hour=hour))
    assert found is not None
    assert found.price.input == (entry["peak"] if peak else entry)["input"]


def test_every_known_difference_is_about_a_model_of_the_table() -> None:
    assert {model for model, _ in DIFFERENT} <= {entry["model"] for entry in MODELS}


def test_the_table_says_where_each_figure_is_from() -> None:
    for entry in MODELS:
        assert set(entry["sources"]) <= TABLE["sources"].keys()
        assert entry["confidence"] in {"high", "medium", "low"}


def test_prices_of_our_own_are_only_those_that_the_library_lacks() -> None:
    """An entry goes once the library has the model."""
    for provider, model in OWN_PRICES:
        listed = next(p for p in library_providers if p.id == provider)
        assert listed.find_model(model) is None
        found = ProviderPrices(provider).quote(model, None, THAT_DAY, batch=False)
        assert found is not None
        assert found.source.startswith("agentanvil: ")
        assert found.date is not None


def test_gpt_6_luna_by_hand() -> None:
    """1,000 × 0.10 + 2,000 × 0.01 + 3,000 × 0.125 + 400 × 0.50 = 695 millionths."""
    usage = Usage(6000, 400, 2000, 350, 3000)
    assert price("openai", "gpt-6-luna").of(usage) == pytest.approx(695 / M)
    assert price("openai", "gpt-6-luna", batch=True).of(usage) == pytest.approx(347.5 / M)


def test_claude_haiku_5_5_by_hand() -> None:
    """100,000: 90,000 × 0.10 + 10,000 × 0.01 + 100 × 0.50 = 9,150; one token more: 90,001 × 0.50 + 500 + 250."""
    assert price("anthropic", "claude-haiku-5-5").of(Usage(100_000, 100, 10_000)) == pytest.approx(9150 / M)
    assert price("anthropic", "claude-haiku-5-5").of(Usage(100_001, 100, 10_000)) == pytest.approx(45_750.5 / M)
    assert price("anthropic", "claude-haiku-5-5", batch=True).of(Usage(100_001, 100, 10_000)) == pytest.approx(
        22_875.25 / M
    )


def test_gpt_6_2_sol_by_hand() -> None:
    """272,001 × 4 + 100 × 15 = 1,089,504 millionths."""
    assert price("openai", "gpt-6.2-sol").of(Usage(272_001, 100)) == pytest.approx(1.089504)
    assert price("openai", "gpt-6.2-sol").of(Usage(272_000, 100)) == pytest.approx(0.545)
    assert price("openai", "GPT-6.2-Sol", batch=True).of(Usage(272_000, 100)) == pytest.approx(0.2725)


@pytest.mark.parametrize(
    ("judge", "model", "dollars"), [("openai-decisions", "gpt-6-luna", 0.02), ("systemone", "jev-1.14.0", 0.0084)]
)
def test_judges_that_decide_are_priced_as_such(judge: str, model: str, dollars: float) -> None:
    rules = providers()[judge]
    found = ProviderPrices(rules.prices, rules.base_url, rules.decides).quote(model, None, THAT_DAY, batch=False)
    assert found is not None
    assert found.price.of(Usage(200_000, 9)) == pytest.approx(dollars)


def test_decisions_have_no_output_to_pay_for() -> None:
    found = DECISIONS.quote("gpt-6-luna", None, THAT_DAY, batch=False)
    jev = ProviderPrices("typesafe", decides=True).quote("jev-1.13.0", None, THAT_DAY, batch=False)
    assert found is not None
    assert jev is not None
    assert found.price.of(Usage(M, M // 2, 0)) == pytest.approx(0.2)  # a long request at twice the price
    assert found.price.of(Usage(200_000, 9)) == pytest.approx(0.02)
    assert jev.price.of(Usage(200_000, 9)) == pytest.approx(0.0084)


@pytest.mark.parametrize(
    ("prices", "model", "listed_as"),
    [
        (ProviderPrices("litellm"), "anthropic/claude-haiku-4-5", "claude-haiku-4-5"),
        (ProviderPrices("litellm"), "xai/grok-4.7", "grok-4.7"),
        (ProviderPrices("litellm"), "vertex_ai/gemini-4-argon", "gemini-4-argon"),
        (ProviderPrices("litellm"), "openrouter/openai/gpt-6-luna", "openai/gpt-6-luna"),
        (ProviderPrices("litellm"), "gpt-6-luna", "gpt-6-luna"),
        (ProviderPrices("litellm"), "openai/gpt-6.2-sol", "gpt-6.2-sol"),
        (ProviderPrices("openrouter"), "openai/gpt-6-luna", "openai/gpt-6-luna"),
        (ProviderPrices("azure"), "gpt-4o", "gpt-4o"),
        (ProviderPrices(None, "https://api.mistral.ai/v1"), "mistral-large-4", "mistral-large-4"),
    ],
)
def test_a_name_leads_to_the_price_of_whoever_serves_it(prices: ProviderPrices, model: str, listed_as: str) -> None:
    found = prices.quote(model, None, THAT_DAY, batch=False)
    assert found is not None
    assert found.model == listed_as


@pytest.mark.parametrize(
    ("prices", "model"),
    [
        (ProviderPrices("litellm"), "ollama/gpt-oss:20b"),
        (ProviderPrices("litellm"), "hosted_vllm/claude-haiku-4-5"),
        (ProviderPrices("litellm"), "nobody-knows-it"),
        (ProviderPrices("litellm"), "/"),
        (ProviderPrices("openai"), "brand-new-1"),
        (ProviderPrices("openai"), ""),
        (ProviderPrices(None, "http://127.0.0.1:8000/v1"), "gpt-4o"),
        (ProviderPrices(None, "https://llm.example.org/v1"), "gpt-4o"),
        (ProviderPrices(None), "gpt-4o"),
        (ProviderPrices("no-such-provider"), "gpt-4o"),
        (ProviderPrices("openai"), "text-embedding-3-large"),
        (ProviderPrices("perplexity"), "sonar-deep-research"),
    ],
)
def test_what_nobody_lists_is_unknown(prices: ProviderPrices, model: str) -> None:
    """Own servers whatever their models are called, and models that are billed by what replies do not count."""
    assert prices.quote(model, None, THAT_DAY, batch=False) is None
    assert prices.quote(model, "also-unheard-of", THAT_DAY, batch=True) is None


def test_a_deployment_costs_what_the_model_behind_it_does() -> None:
    azure = ProviderPrices("azure").quote("gpt-4o", "gpt-4o-mini-2024-07-18", THAT_DAY, batch=False)
    openai = ProviderPrices("openai").quote("gpt-4o", "gpt-4o-mini-2024-07-18", THAT_DAY, batch=False)
    assert azure is not None
    assert openai is not None
    assert (azure.price.input, openai.price.input) == (0.15, 2.5)


def test_a_price_says_where_it_is_from() -> None:
    found = ProviderPrices("openai").quote("gpt-6-luna", None, THAT_DAY, batch=False)
    assert found is not None
    assert (found.source, found.version) == ("genai-prices", genai_prices.__version__)
    assert found.date is not None
    assert "2026-10-01" < found.date <= "2026-11-29"
    assert ProviderPrices("openai").quote("gpt-6-luna", None, datetime(2000, 1, 1, tzinfo=UTC), batch=False) is not None


def test_anvil_yaml_beats_the_list() -> None:
    own = PriceTable.read({"gpt-6-luna": {"input": 1, "output": 2}}).beside(ProviderPrices("openai"), "openai")
    assert own.cost(Usage(M, M), "gpt-6-luna") == pytest.approx(3.0)
    assert own.cost(Usage(M, M), "gpt-6-luna", batch=True) == pytest.approx(1.5)
    assert own.cost(Usage(100_000, 0), "gpt-6-sol") == pytest.approx(0.2)
    found = own.quote("gpt-6-luna")
    assert found is not None
    assert (found.source, found.version, found.date) == ("anvil.yaml", None, None)


def test_a_price_is_looked_up_again_when_the_clock_has_moved_on() -> None:
    now = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC).timestamp()
    clock = iter([now, now + 0.5, now + 1.0])
    table = PriceTable({}, ProviderPrices("google"), "gemini", clock=lambda: next(clock))
    assert [table.cost(Usage(M, 0), "gemini-4-argon") for _ in range(3)] == pytest.approx([2.0, 2.0, 4.0])


def test_names_from_replies_do_not_fill_the_memory() -> None:
    table = PriceTable({"m": Given(Price(1, 1, 1, 1))}, ProviderPrices("openai"), "openai")
    for n in range(2000):
        assert table.cost(Usage(M, 0), "unheard-of", f"made-up-{n}") is None
    assert table.cost(Usage(M, 0), "unheard-of", "m") == pytest.approx(1.0)


PRICED = [
    (provider.id, model.id)
    for provider in library_providers
    if provider.id in {"openai", "anthropic", "google", "mistral", "x-ai", "deepseek"}
    for model in provider.models
    if ProviderPrices(provider.id).quote(model.id, None, THAT_DAY, batch=False) is not None
]


@given(
    st.sampled_from(PRICED),
    st.integers(0, 1_200_000),
    st.integers(0, 100_000),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_the_library_computes_the_same(
    priced: tuple[str, str], given_in: int, out: int, cached_share: float, written_share: float
) -> None:
    """For every model of theirs that we price, whatever part of the input was read from a cache or written to it."""
    provider, model = priced
    cached = int(given_in * cached_share)
    written = int((given_in - cached) * written_share)
    ours = price(provider, model).of(Usage(given_in, out, cached, None, written))
    usage = genai_prices.Usage(
        input_tokens=given_in, output_tokens=out, cache_read_tokens=cached, cache_write_tokens=written
    )
    theirs = genai_prices.calc_price(usage, model, provider_id=provider, genai_request_timestamp=THAT_DAY)
    assert ours == pytest.approx(float(theirs.total_price), rel=1e-9, abs=1e-12)
    assert isinstance(theirs.total_price, Decimal)


def test_every_provider_that_is_built_in_and_hosted_has_a_list() -> None:
    hosted = {name: rules for name, rules in providers().items() if rules.base_url is not None}
    ids = {provider.id for provider in library_providers}
    known = {name for name, rules in hosted.items() if ProviderPrices(rules.prices, rules.base_url).provider in ids}
    assert hosted.keys() - known <= {"litellm"}
