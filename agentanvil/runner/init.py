"""Write a small project to start from: it lints clean and runs as it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from agentanvil.client.spec import parse_judge
from agentanvil.errors import UsageError, Where

STARTER = ("rubric.yaml", "data.jsonl", "anvil.yaml", "ci-anvil.sh")
"""The CI step is a shell script: every CI system can run one, and nothing is started by merely being in the folder."""

_JUDGE_LINE = b"\njudge: local\n"


@dataclass(frozen=True, slots=True)
class Started:
    """What was written; `judge` is what anvil.yaml names."""

    folder: Path
    files: tuple[str, ...]
    judge: str


def init(folder: Path, *, judge: str | None = None, force: bool = False) -> Started:
    """Write the starter files into `folder`, which is made where it does not exist.

    Raises UsageError, before anything is written, where one of them is there already (unless `force`) or the
    judge is not named as a judge is.
    """
    chosen = judge or "local"
    parse_judge(chosen, allow_http=True)  # only the form matters here; a run decides about plain http
    there = [name for name in STARTER if (folder / name).exists()]
    if there and not force:
        raise UsageError(
            f"already there: {', '.join(there)}",
            where=Where(str(folder)),
            hint="Choose another folder, or overwrite them with --force.",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in STARTER:
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
