"""Whom `--judge` can name: what each provider's judges need, and the adapter that speaks with them.

Others join through an entry point of the group `agentanvil.judges`: its name is the provider's, its value a
`ProviderRules`. A built-in name cannot be taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points

from agentanvil.client.adapter import Adapter
from agentanvil.client.anthropic import AnthropicMessages
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.gemini import Gemini
from agentanvil.errors import ConfigError

ENTRY_POINTS = "agentanvil.judges"
FREE = "free"
OWN_CAP = 2000
HOSTED_CAP = 8000
"""Room for the reasoning that hosted models do unseen, which counts against the cap; what is not used is not billed."""


@dataclass(frozen=True, slots=True)
class ProviderRules:
    """What one provider's judges need: a model name, a base URL, a key, and how the output cap is called.

    `model` names what follows the colon (None: it may be left out). `adapter` makes the adapter (None: the runner
    opens this judge in a way of its own). `base_url` is the default (None: there is none); `takes_url` tells
    whether one may be given. `key_env` is the variable that holds the key. `max_tokens` is the cap on a reply
    where the user sets none. `lacks` names what its API has no field for, as the ladder calls it (`seed`): it is
    never sent, and listed with what the endpoint refuses. `decides`: it answers typed questions with probabilities
    instead of writing text. `prices` is the provider's id in genai-prices, FREE where calls cost nothing; None tells it
    from the address.
    """

    model: str | None
    adapter: Callable[[], Adapter] | None = None
    takes_url: bool = False
    base_url: str | None = None
    key_env: str | None = None
    key_required: bool = False
    cap_field: str = "max_tokens"
    max_tokens: int = OWN_CAP
    lacks: frozenset[str] = frozenset()
    decides: bool = False
    prices: str | None = None


_BUILT_IN: Mapping[str, ProviderRules] = {
    "openai": ProviderRules(
        model="a model name",
        adapter=ChatCompletions,
        takes_url=True,
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        key_required=True,
        cap_field="max_completion_tokens",
        max_tokens=HOSTED_CAP,
        prices="openai",
    ),
    "anthropic": ProviderRules(
        model="a model name",
        adapter=AnthropicMessages,
        takes_url=True,
        base_url="https://api.anthropic.com/v1",
        key_env="ANTHROPIC_API_KEY",
        key_required=True,
        max_tokens=HOSTED_CAP,
        lacks=frozenset({"seed"}),
        prices="anthropic",
    ),
    "gemini": ProviderRules(
        model="a model name",
        adapter=Gemini,
        takes_url=True,
        base_url="https://generativelanguage.googleapis.com/v1beta",
        key_env="GEMINI_API_KEY",
        key_required=True,
        max_tokens=HOSTED_CAP,
        prices="google",
    ),
    "compat": ProviderRules(model="a model name", adapter=ChatCompletions, takes_url=True, key_env="COMPAT_API_KEY"),
    "local": ProviderRules(model=None, prices=FREE),
    "recorded": ProviderRules(model="a file of replies", prices=FREE),
}


@cache
def providers() -> Mapping[str, ProviderRules]:
    """Return every provider by name. Raises ConfigError for an installed one that cannot be loaded."""
    found = dict(_BUILT_IN)
    for point in entry_points(group=ENTRY_POINTS):
        if point.name in _BUILT_IN:
            raise ConfigError(
                f"an installed package offers a judge provider called {point.name!r}, which is built in",
                hint="Uninstall it, or ask its author to choose another name.",
            )
        try:
            rules = point.load()
        except Exception as error:
            raise ConfigError(f"the judge provider {point.name!r} cannot be loaded: {error}") from error
        if not isinstance(rules, ProviderRules):
            raise ConfigError(f"the judge provider {point.name!r} is not a ProviderRules but {type(rules).__name__}")
        found[point.name] = rules
    return found
