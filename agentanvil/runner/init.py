"""Write a small project to start from: it lints clean and runs as it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import get_args

from agentanvil.client.spec import parse_judge
from agentanvil.errors import UsageError, Where
from agentanvil.rubric import Mode
from agentanvil.runner.starters import GENERAL, domains, starter

_PLAIN = ("anvil.yaml", "ci-anvil.sh")
STARTER = ("rubric.yaml", "data.jsonl", *_PLAIN)
"""The CI step is a shell script: every CI system can run one, and nothing is started by merely being in the folder."""

_JUDGE_LINE = b"\njudge: local\n"


@dataclass(frozen=True, slots=True)
class Started:
    """What was written; `judge` is what anvil.yaml names."""

    folder: Path
    files: tuple[str, ...]
    judge: str


@dataclass(frozen=True, slots=True)
class InitSettings:
    """What to start from. `judge` None is the local model, `force` overwrites what is there."""

    mode: Mode = "absolute"
    domain: str = GENERAL
    judge: str | None = None
    force: bool = False

    def __post_init__(self) -> None:
        """Raise UsageError for a mode or a domain that there is not."""
        if self.mode not in get_args(Mode):
            raise UsageError(f"--mode is one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        if self.domain not in domains():
            raise UsageError(f"--domain is one of {', '.join(domains())}, not {self.domain!r}")


def init(folder: Path, settings: InitSettings) -> Started:
    """Write the starter files into `folder`, which is made where it does not exist.

    Raises UsageError, before anything is written, where one of them is there already (unless `force`) or the
    judge is not named as a judge is.
    """
    chosen = settings.judge or "local"
    parse_judge(chosen, allow_http=True)  # only the form matters here; a run decides about plain http
    there = [name for name in STARTER if (folder / name).exists()]
    if there and not settings.force:
        raise UsageError(
            f"already there: {', '.join(there)}",
            where=Where(str(folder)),
            hint="Choose another folder, or overwrite them with --force.",
        )
    content = starter(settings.mode, settings.domain)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rubric.yaml").write_text(content.rubric, encoding="utf-8", newline="\n")
        (folder / "data.jsonl").write_text(content.data, encoding="utf-8", newline="\n")
        for name in _PLAIN:
            _write(folder / name, chosen)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=Where(str(folder))) from error
    return Started(folder, STARTER, chosen)


def _write(path: Path, judge: str) -> None:
    content = files(__package__).joinpath("starter", path.name).read_bytes()
    if path.name == "anvil.yaml":
        # a JSON string is a YAML string too, whatever is in it
        content = content.replace(_JUDGE_LINE, f"\njudge: {json.dumps(judge)}\n".encode())
    path.write_bytes(content)
    if path.suffix == ".sh":
        path.chmod(0o755)
