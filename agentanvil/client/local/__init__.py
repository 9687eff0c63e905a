"""`local`: a llama.cpp server and a small model that `anvil` fetches, starts and stops by itself."""

from agentanvil.client.local.binary import ServerBinary, find_server
from agentanvil.client.local.judge import LocalCompletions, LocalTransport
from agentanvil.client.local.models import MODELS, Bytes, LocalModel, OwnModel, named_file, obtain
from agentanvil.client.local.server import LocalServer, ServerSettings
from agentanvil.client.local.sources import Hub, Packages

__all__ = [
    "MODELS",
    "Bytes",
    "Hub",
    "LocalCompletions",
    "LocalModel",
    "LocalServer",
    "LocalTransport",
    "OwnModel",
    "Packages",
    "ServerBinary",
    "ServerSettings",
    "find_server",
    "named_file",
    "obtain",
]
