"""The table of a probe as a person reads it."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from agentanvil.cli.probe_table import print_probe
from agentanvil.runner.probe.probe import ProbeResult
from tests.fakes.probed import Probes, choosing, grading, noisy, probed_pairs, probed_rows
from tests.fakes.server import FakeServer


def shown(result: ProbeResult, judge: str) -> str:
    stream = io.StringIO()
    print_probe(Console(file=stream, width=140, force_terminal=False), result)
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    return "\n".join(lines).replace(judge, "JUDGE").replace(str(result.folder), "FOLDER")


def test_one_response_a_row(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    rows = [{**row, "labels": {"accuracy": int(row["request"][-1])}} for row in probed_rows(12)]
    code = {**rows[0], "id": "code", "response": "```\nx = 1\n```"}
    with FakeServer(grading(noisy)) as server:
        judge = f"compat:m@{server.url}"
        found = Probes(tmp_path, judge, *rows, code).probe(planted=3)
    assert shown(found, judge) == snapshot


def test_pairs(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    with FakeServer(choosing(lambda a, b, chance: chance.choice(["A", "A", "B"]))) as server:
        judge = f"compat:m@{server.url}"
        found = Probes(tmp_path, judge, *probed_pairs(12)).probe(only=("position", "repeatability", "verbosity"))
    assert shown(found, judge) == snapshot


def test_nothing_is_cut_on_eighty_columns(tmp_path: Path) -> None:
    with FakeServer(grading(noisy)) as server:
        found = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(12)).probe(planted=3)
    stream = io.StringIO()
    print_probe(Console(file=stream, width=80, force_terminal=False), found)
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines).replace(" … ", "")
    assert "  direct_command" in "\n".join(lines)
