"""One call to a judge by its provider's name, through the client and the wire, to a server of our own."""

from __future__ import annotations

import asyncio

from agentanvil.client import ChatReply, ChatRequest
from agentanvil.client.adapter import Endpoint, Shape
from agentanvil.client.provider import ProviderClient
from agentanvil.client.secret import Secret
from agentanvil.client.spec import parse_judge
from agentanvil.client.transport import HttpTransport
from tests.fakes.server import FakeServer


def ask_judge(
    server: FakeServer, provider: str, request: ChatRequest, *, at: str = "/v1", key: str = "K"
) -> tuple[ChatReply, Shape]:
    """Return the reply of the provider's model `m` at `server`, and the shape that it was found to take."""
    spec = parse_judge(f"{provider}:m@{server.origin}{at}")
    adapter = spec.make_adapter()
    assert adapter is not None
    assert spec.base_url is not None
    first = Shape(adapter.rungs[0], spec.rules.lacks, spec.rules.cap_field)
    endpoint = Endpoint(spec.base_url, spec.model, first)

    async def run() -> tuple[ChatReply, Shape]:
        transport = HttpTransport(endpoint.base_url + adapter.path("m"), adapter.headers(key), timeout_s=5)
        client = ProviderClient(adapter, transport, endpoint, secrets=(Secret(key),))
        try:
            return await client.complete(request), client.shape
        finally:
            await client.close()

    return asyncio.run(run())
