"""Whom `--judge` can name: what each provider's judges need, and the adapter that speaks with them.

Others join through an entry point of the group `agentanvil.judges`: its name is the provider's, its value a
`ProviderRules`. A built-in name cannot be taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from agentanvil.client.adapter import Adapter
from agentanvil.client.anthropic import AnthropicMessages
from agentanvil.client.azure import ROOT, AzureChat, AzureDeployment, AzureResponses
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.envelope import readable
from agentanvil.client.gemini import Gemini
from agentanvil.client.litellm_chat import LitellmChat
from agentanvil.client.mistral import Mistral
from agentanvil.client.openai_decisions import OpenAIDecisions
from agentanvil.client.openrouter import OpenRouter
from agentanvil.client.responses import CAP_FIELD, Responses
from agentanvil.client.systemone import SystemOne
from agentanvil.errors import ConfigError

ENTRY_POINTS = "agentanvil.judges"
FREE = "free"
OWN_CAP = 2000
HOSTED_CAP = 8000
"""Room for the reasoning that hosted models do unseen, which counts against the cap; what is not used is not billed."""


@dataclass(frozen=True, slots=True)
class ProviderRules:
    """What one provider's judges need: a model name, a base URL, a key, and how the output cap is called.

    `model` names what follows the colon (None: it may be left out). `adapter` makes the adapter (None: the runner opens
    this judge in a way of its own). `base_url` is the default (None: there is none); `takes_url` tells whether one may
    be given, and `needs_url` whether there must be one. `key_env` is the variable that holds the key. `max_tokens` is
    the cap on a reply where the user sets none. `lacks` names what its API has no field for, as the ladder calls it
    (`seed`): it is never sent, and listed with what the endpoint refuses. `decides`: it answers typed questions with
    probabilities instead of writing text. `root` is the path of a base URL that has none. `versioned` makes the adapter
    for a base URL that ends in `?api-version=…` (None: such a one is refused). `prices` is the provider's id in
    genai-prices, FREE where calls cost nothing; None tells it from the address.
    """

    model: str | None
    adapter: Callable[[], Adapter] | None = None
    takes_url: bool = False
    needs_url: bool = True
    base_url: str | None = None
    key_env: str | None = None
    key_required: bool = False
    cap_field: str = "max_tokens"
    max_tokens: int = OWN_CAP
    lacks: frozenset[str] = frozenset()
    decides: bool = False
    root: str = ""
    versioned: Callable[[str], Adapter] | None = None
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
    "openai-responses": ProviderRules(
        model="a model name",
        adapter=Responses,
        takes_url=True,
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        key_required=True,
        cap_field=CAP_FIELD,
        max_tokens=HOSTED_CAP,
        lacks=frozenset({"seed"}),
        prices="openai",
    ),
    "anthropic": ProviderRules(
        model="a model name",
        adapter=AnthropicMessages,
        takes_url=True,
        base_url="https://api.anthropic.com/v1",
        key_env="ANTHROPIC_API_KEY",
        key_required=True,
        root="/v1",
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
        root="/v1beta",
        max_tokens=HOSTED_CAP,
        prices="google",
    ),
    "azure": ProviderRules(
        model="a deployment name",
        adapter=AzureChat,
        takes_url=True,
        key_env="AZURE_OPENAI_API_KEY",
        key_required=True,
        cap_field="max_completion_tokens",
        max_tokens=HOSTED_CAP,
        root=ROOT,
        versioned=lambda version: AzureDeployment(api_version=version),
        prices="azure",
    ),
    "azure-responses": ProviderRules(
        model="a deployment name",
        adapter=AzureResponses,
        takes_url=True,
        key_env="AZURE_OPENAI_API_KEY",
        key_required=True,
        cap_field=CAP_FIELD,
        max_tokens=HOSTED_CAP,
        lacks=frozenset({"seed"}),
        root=ROOT,
        prices="azure",
    ),
    "openrouter": ProviderRules(
        model="a model name",
        adapter=OpenRouter,
        takes_url=True,
        base_url="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        key_required=True,
        max_tokens=HOSTED_CAP,
        prices="openrouter",
    ),
    "mistral": ProviderRules(
        model="a model name",
        adapter=Mistral,
        takes_url=True,
        base_url="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        key_required=True,
        max_tokens=HOSTED_CAP,
        prices="mistral",
    ),
    "openai-decisions": ProviderRules(
        model="a model name",
        adapter=OpenAIDecisions,
        takes_url=True,
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        key_required=True,
        decides=True,
        prices="openai-decisions",
    ),
    "systemone": ProviderRules(
        model="a model name",
        adapter=SystemOne,
        takes_url=True,
        base_url="https://api.typesafe.ai/v1",
        key_env="SYSTEMONE_API_KEY",
        decides=True,
    ),
    "compat": ProviderRules(model="a model name", adapter=ChatCompletions, takes_url=True, key_env="COMPAT_API_KEY"),
    "litellm": ProviderRules(
        model="a provider and a model as LiteLLM names them, such as openai/my-model",
        adapter=LitellmChat,
        takes_url=True,
        needs_url=False,
        max_tokens=HOSTED_CAP,
        prices="litellm",
    ),
    "local": ProviderRules(model=None, prices=FREE),
    "recorded": ProviderRules(model="a file of replies", prices=FREE),
}


@cache
def providers() -> Mapping[str, ProviderRules]:
    """Return every provider by name. Raises ConfigError for an installed one that cannot be used."""
    found = dict(_BUILT_IN)
    for point in entry_points(group=ENTRY_POINTS):
        if point.name in found:
            whose = "is built in" if point.name in _BUILT_IN else "another one offers as well"
            raise _unusable(point, f"has a name that {whose}")
        try:
            rules = point.load()
        except Exception as error:  # whatever a stranger's module raises when it is imported
            raise _unusable(point, f"cannot be loaded: {readable(f'{type(error).__name__}: {error}')}") from error
        if not isinstance(rules, ProviderRules):
            raise _unusable(point, f"is not a ProviderRules but {type(rules).__name__}")
        found[point.name] = rules
    return found


def _unusable(point: EntryPoint, problem: str) -> ConfigError:
    package = point.dist.name if point.dist is not None else point.value
    return ConfigError(
        f"the judge provider {point.name!r} of the installed package {package} {problem}",
        hint="Mend that package, or uninstall it.",
    )
