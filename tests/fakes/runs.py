"""A whole run in this process: settings from few words, a listener that collects, and the reports read back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from agentanvil.runner.events import RunStart, Tally
from agentanvil.runner.grade import GradeResult, grade
from agentanvil.runner.job import Surroundings
from agentanvil.runner.settings import GradeSettings, JudgeSettings
from tests.fakes.server import FakeServer, Recorded
from tests.fakes.verdicts import small_rubric, write_rows

REPORTS = ("items.csv", "scores.csv", "summary.json", "junit.xml")
_JUDGE_FIELDS = frozenset(f.name for f in fields(JudgeSettings))


@dataclass
class Collected:
    """A listener that keeps what it is told."""

    starts: list[RunStart] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    ends: int = 0

    def started(self, start: RunStart) -> None:
        self.starts.append(start)

    def advanced(self, tally: Tally) -> None:
        self.tallies.append(replace(tally))

    def step(self, name: str, done: float, total: float | None) -> None:
        self.steps.append(name)

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def failed(self, text: str) -> None:
        self.failures.append(text)

    def finished(self) -> None:
        self.ends += 1


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"item-{n}", "request": f"What is {n} + {n}?", "response": f"It is the number {2 * n}."}
        for n in range(count)
    ]


def asked_about(request: Recorded) -> str:
    """The number that the question of one of `rows` is about."""
    user: str = request.json["messages"][1]["content"]
    return user.partition("What is ")[2].partition(" ")[0]


class Runs:
    """Runs in one folder, whose rubric is `small`, rows `rows.jsonl` and run folder `run` unless told otherwise.

    The cache is off and no call is repeated by the retry layer, unless told otherwise.
    """

    def __init__(self, folder: Path, judge: FakeServer | str, *data: dict[str, Any], calls: str = "joint") -> None:
        self.folder = folder
        self.judge = f"compat:m@{judge.url}" if isinstance(judge, FakeServer) else judge
        self.rubric = small_rubric(folder, calls)
        self.data = write_rows(folder, *(data or rows(3)))
        self.out = folder / "run"

    def settings(self, **changes: Any) -> GradeSettings:
        """Return the settings of a run; `changes` are fields of GradeSettings or JudgeSettings."""
        chosen = {"cache": "off", "max_attempts": 1, "judge": self.judge, **changes}
        judge = JudgeSettings(**{name: value for name, value in chosen.items() if name in _JUDGE_FIELDS})
        rest = {name: value for name, value in chosen.items() if name not in _JUDGE_FIELDS}
        places = {"data": str(self.data), "rubric": str(self.rubric), "out": self.out, **rest}
        return GradeSettings(**{**places, "judge": judge})

    def grade(
        self,
        listener: Collected | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        **changes: Any,
    ) -> GradeResult:
        stream = None if stdin is None else io.BytesIO(stdin)
        return grade(self.settings(**changes), Surroundings(environ or {}, stream), listener or Collected())

    def reports(self, out: Path | None = None) -> dict[str, bytes]:
        """The reports by name, as bytes."""
        return {name: (out or self.out).joinpath(name).read_bytes() for name in REPORTS}

    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "manifest.json").read_text(encoding="utf-8"))
        return found


def read_table(folder: Path, name: str) -> list[dict[str, str]]:
    """The rows of a CSV report."""
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_journal(folder: Path) -> list[dict[str, Any]]:
    """The journal's lines without its head; every line must be whole."""
    text = (folder / "journal.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.split("\n")[1:-1]]


def recording(folder: Path, *lines: Mapping[str, Any]) -> str:
    """Write recorded replies and return the judge that replays them; a reply may be given as an object."""
    path = folder / "replies.jsonl"
    texts = [
        {**line, "reply": line["reply"] if isinstance(line["reply"], str) else json.dumps(line["reply"])}
        for line in lines
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in texts), encoding="utf-8")
    return f"recorded:{path}"


def verdict(accuracy: object, coverage: object | None = None, **more: object) -> dict[str, Any]:
    """What a judge says on the two dimensions of the rubric `small`, with evidence that the rows hold."""
    scores = {"accuracy": accuracy, "coverage": accuracy if coverage is None else coverage}
    return {
        name: {"evidence": ["It is the number"], "reason": "so", "score": score, **more}
        for name, score in scores.items()
    }
