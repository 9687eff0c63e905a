"""The seam between provider-neutral calls and one provider's wire format. Adapters are pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agentanvil.client.base import ChatReply, ChatRequest

Rung = Literal["json_schema", "tool", "json_object", "plain", "questions"]
RUNGS: tuple[Rung, ...] = ("json_schema", "tool", "json_object", "plain")
"""The ways of a judge that writes; `questions` is the one way of an endpoint that decides."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What one endpoint and model were found to accept.

    `rung` is the strongest structured output that works; `dropped` names the request-body parameters that
    were refused; `cap_field` is the name of the output cap.
    """

    rung: Rung = "json_schema"
    dropped: frozenset[str] = frozenset()
    cap_field: str = "max_tokens"


@dataclass(frozen=True, slots=True)
class WireReply:
    """An HTTP answer, whole. Header names are lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who is asked where. `first` is the shape to begin with; its `cap_field` is the provider's usual one."""

    base_url: str
    model: str
    first: Shape = field(default_factory=Shape)


def memory_of(adapter: Adapter, endpoint: Endpoint) -> str:
    """Return what an endpoint's shape is remembered under: one address may speak several APIs."""
    return f"{adapter.api} {endpoint.base_url}"


class Adapter(Protocol):
    """Builds a provider's request body and reads its replies."""

    @property
    def api(self) -> str:
        """The API kind, part of every cache key, such as `openai-chat`."""
        ...

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The ways to ask for structured output that this API has, strongest first; at least one."""
        ...

    def path(self, model: str) -> str:
        """Return what follows the base URL, such as `/chat/completions`."""
        ...

    def headers(self, key: str | None) -> dict[str, str]: ...

    def build(self, model: str, request: ChatRequest, shape: Shape) -> bytes: ...

    def read(self, reply: WireReply, shape: Shape) -> ChatReply:
        """Check in order transport status, body error, stop reason, block type. Raises CallError."""
        ...
