"""The run folder: who owns it, which run it belongs to, and its manifest."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson
from filelock import FileLock, Timeout

from agentanvil.errors import RunFolderError, RunWriteError, Where
from agentanvil.report import AtomicText

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
FORMAT = 1
_LOCK = ".lock"
_OWN = frozenset({_LOCK, f".{MANIFEST}.tmp"})  # what a run leaves that was killed before it had a manifest


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two invocations the same run. Anything else (limits, repeats, concurrency) may change.

    `code` is a hash over the modules of the rubric's own checks, `-` where it has none.
    """

    rubric: str
    data: str
    judge: str
    mode: str
    evidence: str
    order: str
    temperature: str
    max_tokens: str
    seed: str
    prompt: str
    code: str

    def as_dict(self) -> dict[str, str]:
        """Return the parts by name, in a fixed order."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class RunFolder:
    """Exclusive use of one run folder, for as long as the context lasts.

    What this session began in vain is undone by `take_back`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._made: list[Path] = []
        self._fresh = False
        self._lock = FileLock(path / _LOCK, blocking=False)

    @property
    def journal(self) -> Path:
        return self.path / JOURNAL

    def __enter__(self) -> Self:
        """Take the folder. Raises RunFolderError if another process has it or it cannot be written."""
        try:
            self._made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
            self._fresh = not (self.path / MANIFEST).exists()
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise RunFolderError(
                "another anvil process is writing this run",
                where=Where(str(self.path)),
                hint="Wait for it to end, or choose another --out folder.",
            ) from None
        except OSError as error:
            raise _unusable(self.path, error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Unlinked while it is held: whoever comes now locks a file of its own, and nobody an abandoned one.
        unlinked = self._unlink_lock()
        self._lock.release()
        if not unlinked:
            self._unlink_lock()

    def _unlink_lock(self) -> bool:
        try:
            (self.path / _LOCK).unlink(missing_ok=True)
        except OSError:  # Windows unlinks no open file
            return False
        return True

    def is_unbegun(self) -> bool:
        """Tell whether this session gave the folder its first manifest, and no outcome is in its journal."""
        return self._fresh and not _outcomes(self.journal)

    def take_back(self, before: Mapping[str, Any] | None) -> None:
        """Leave the folder as this session found it: with the manifest `before`, or without any run in it.

        A folder that this session made is removed, together with the parents that it needed.
        """
        if before is not None:
            write_manifest(self.path, before)
        elif self.path in self._made:
            self._lock.release()
            shutil.rmtree(self.path, ignore_errors=True)
            for parent in self._made[1:]:
                with suppress(OSError):
                    parent.rmdir()
        elif self._fresh:
            self.journal.unlink(missing_ok=True)
            (self.path / MANIFEST).unlink(missing_ok=True)


def _outcomes(journal: Path) -> bool:
    if not journal.exists():
        return False
    with journal.open("rb") as file:
        file.readline()
        return bool(file.readline())


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest, or None where the folder has none. Raises RunFolderError if it is damaged."""
    path = folder / MANIFEST
    try:
        manifest = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, orjson.JSONDecodeError) as error:
        raise RunFolderError(f"cannot read the manifest: {error}", where=Where(str(path))) from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise RunFolderError("not a manifest that this version reads", where=Where(str(path), key="format"))
    return manifest


def write_manifest(folder: Path, manifest: Mapping[str, object]) -> None:
    """Replace the manifest in one step, so that a reader never sees half of it. Raises RunWriteError."""
    path = folder / MANIFEST
    try:
        file = AtomicText(path)
        try:
            file.write(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
            file.commit()
        finally:
            file.discard()
    except OSError as error:
        raise RunWriteError(
            f"cannot be written: {error.strerror or error}",
            where=Where(str(path)),
            hint="Mend this, then run the same command again.",
        ) from error


def refuse_other_run(folder: Path, manifest: Mapping[str, Any], identity: Identity) -> None:
    """Raise RunFolderError naming every difference if the folder holds another run."""
    before = manifest.get("identity", {})
    now = identity.as_dict()
    changed = [name for name in now if before.get(name) != now[name]]
    if changed:
        listing = "; ".join(f"{name} was {before.get(name)}, is now {now[name]}" for name in changed)
        raise RunFolderError(
            f"this folder holds a run with other settings: {listing}",
            where=Where(str(folder)),
            hint="Choose another --out folder, or leave --out away: each set of settings then has its own.",
        )


def refuse_foreign_folder(folder: Path) -> None:
    """Raise RunFolderError if the folder holds files but no manifest: it is not a run folder."""
    try:
        if folder.exists() and not folder.is_dir():
            raise RunFolderError("a file, not a folder", where=Where(str(folder)), hint="Choose another --out folder.")
        foreign = folder.is_dir() and any(entry.name not in _OWN for entry in folder.iterdir())
    except OSError as error:
        raise _unusable(folder, error) from None
    if foreign:
        raise RunFolderError(
            "this folder holds files but no manifest.json, so it is not a run folder",
            where=Where(str(folder)),
            hint="Choose an empty or new --out folder.",
        )


def _unusable(folder: Path, error: OSError) -> RunFolderError:
    return RunFolderError(
        f"cannot use this folder: {error.strerror or error}",
        where=Where(str(folder)),
        hint="Choose another --out folder.",
    )
