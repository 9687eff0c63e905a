"""Azure OpenAI: OpenAI's bodies under Azure's addresses and keys. The model is the deployment's name. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.responses import Responses

ROOT = "/openai/v1"
"""Where a resource's API begins that needs no `api-version`."""


class AzureChat(ChatCompletions):
    """`POST {base}/chat/completions`, where the base ends in `/openai/v1`."""

    def headers(self, key: str | None) -> dict[str, str]:
        return _headers(key)


@dataclass(frozen=True, slots=True)
class AzureDeployment(AzureChat):
    """The older API: a path for each deployment, and a dated `api-version`."""

    api_version: str = ""

    @property
    def api(self) -> str:
        """Return a kind of its own for each version: they accept different parameters."""
        return f"azure-chat {self.api_version}"

    def path(self, model: str) -> str:
        return f"{deployment(model)}/chat/completions?api-version={self.api_version}"


class AzureResponses(Responses):
    """`POST {base}/responses`, where the base ends in `/openai/v1`."""

    def headers(self, key: str | None) -> dict[str, str]:
        return _headers(key)


def deployment(model: str) -> str:
    """Return the older API's path of a deployment."""
    return f"/openai/deployments/{quote(model, safe='')}"


def _headers(key: str | None) -> dict[str, str]:
    """Return the headers; a token of Entra ID, which is a JWT, goes where tokens go, and a key where keys go."""
    own: dict[str, str] = {}
    if key is not None:
        token = key.startswith("eyJ") and key.count(".") == 2
        own = {"Authorization": f"Bearer {key}"} if token else {"api-key": key}
    return {"Content-Type": "application/json", "Accept": "application/json", **own}
