"""The price of a judge as reports tell it: its amounts, and which list of which day they are from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from agentanvil.client.prices import Quote
from agentanvil.client.spec import JudgeSpec
from agentanvil.runner.settings import JudgeSettings
from agentanvil.runner.stack import price_table


def judge_price(spec: JudgeSpec, settings: JudgeSettings, reported: str | None = None) -> Quote | None:
    """Return today's price of a judge, None where it is not known. `reported` is the name that its replies give."""
    return price_table(spec, settings).quote(spec.model, reported)


def price_entry(quote: Quote | None) -> dict[str, Any] | None:
    """Return a price as JSON data: US dollars per million tokens, and for long requests from where on.

    `date` is the day of the list's newest change, or of the entry itself; None where nobody says.
    """
    if quote is None:
        return None
    amounts = asdict(quote.price)
    long = [{"above_input_tokens": above, **rates} for above, rates in amounts.pop("long")]
    return {
        "source": quote.source,
        "version": quote.version,
        "date": quote.date,
        "model": quote.model,
        **amounts,
        "long_requests": long,
    }


def price_line(quote: Quote) -> str:
    """Return a price as a sentence's part: amounts, what is special, where it is from."""
    price = quote.price
    parts = [f"${price.input:g} in, ${price.output:g} out"]
    if price.cached_input != price.input:
        parts.append(f"${price.cached_input:g} for cached input")
    parts += [f"${rates.input:g} in, ${rates.output:g} out above {above:,} tokens in" for above, rates in price.long]
    version = f" {quote.version}" if quote.version else ""
    day = f" of {quote.date}" if quote.date else ""
    return f"{', '.join(parts)} for a million tokens ({quote.source}{version}{day})"
