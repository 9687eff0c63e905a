"""A client that answers from a script: what tests put in a judge's place, through the production door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from agentanvil.client.base import ChatReply, ChatRequest
from agentanvil.errors import AnvilError
from agentanvil.hashing import canonical_json

Line = str | ChatReply | AnvilError
Script = Line | Sequence[Line] | Callable[[ChatRequest], Line]


class ScriptedClient:
    """Answers every request with `script`: one line for all, one line per call (the last one repeated), or a
    function of the request. A line is a reply's text, a whole reply, or an error to raise.

    `requests` and `confirmed` keep what it was asked and told, in order.
    """

    def __init__(self, script: Script) -> None:
        if isinstance(script, Sequence) and not isinstance(script, str) and not script:
            raise ValueError("a script needs at least one line")
        self._script = script
        self.requests: list[ChatRequest] = []
        self.confirmed: list[ChatRequest] = []
        self.closed = False

    def fingerprint(self, request: ChatRequest) -> bytes:
        messages = [asdict(message) for message in request.messages]
        schema = None if request.schema is None else {"name": request.schema.name, "schema": request.schema.schema}
        sampling = request.sampling
        decoding = [sampling.temperature, sampling.seed, sampling.max_tokens]
        return b"scripted\n" + canonical_json({"messages": messages, "schema": schema, "sampling": decoding})

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises the error that the script holds for this call."""
        line = self._line(request)
        self.requests.append(request)
        if isinstance(line, AnvilError):
            raise line
        return ChatReply(line, model="scripted") if isinstance(line, str) else line

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:  # noqa: ARG002 - the seam's signature
        self.confirmed.append(request)

    async def close(self) -> None:
        self.closed = True

    def _line(self, request: ChatRequest) -> Line:
        script = self._script
        if isinstance(script, str | ChatReply | AnvilError):
            return script
        if callable(script):
            return script(request)
        return script[min(len(self.requests), len(script) - 1)]
