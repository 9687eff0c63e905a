"""Exit codes and reports in every mode: nobody judged, nothing to judge, and words that try to break the files."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import DatasetError, InputError
from agentanvil.runner.exits import Exit
from tests.fakes.runs import REPORTS, Collected, Runs, recording
from tests.fakes.server import Answer, FakeServer, chat, error, unused_port
from tests.fakes.verdicts import graded

MODES = ("absolute", "pairwise", "gate")


def row_in(mode: str, name: str = "a") -> dict[str, Any]:
    if mode == "pairwise":
        return {"id": name, "request": "q", "response_a": "the base", "response_b": "the candidate"}
    return {"id": name, "request": "q", "response": "the words"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(chat("?"), Exit.MISSING, id="O-F03-nothing-can-be-read"),
        pytest.param(error(500, "no"), Exit.MISSING, id="every-call-fails"),
        pytest.param(error(401, "bad key"), None, id="O-F03-a-wrong-key"),
    ],
)
def test_no_mode_is_green_when_nobody_judged(tmp_path: Path, mode: str, answer: Answer, code: Exit | None) -> None:
    with FakeServer(answer) as server:
        runs = Runs(tmp_path, server, *(row_in(mode, f"r{n}") for n in range(4)))
        if code is None:
            with pytest.raises(InputError, match="key"):
                runs.grade(mode=mode, concurrency=1)
            assert len(server.requests) == 1
        else:
            assert runs.grade(mode=mode).exit is code


@pytest.mark.parametrize("mode", MODES)
def test_o_f02_a_judge_that_is_not_there_is_no_failed_row(tmp_path: Path, mode: str) -> None:
    runs = Runs(tmp_path, f"compat:m@http://127.0.0.1:{unused_port()}/v1", row_in(mode))
    with pytest.raises(InputError):
        runs.grade(mode=mode)
    assert not runs.out.exists()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_o_f05_no_rows_are_no_success_in_any_mode(tmp_path: Path, mode: str, data: bytes) -> None:
    runs = Runs(tmp_path, recording(tmp_path))
    runs.data.write_bytes(data)
    with pytest.raises(DatasetError, match="0 rows"):
        runs.grade(mode=mode)
    (other := tmp_path / "other.jsonl").write_text(json.dumps(row_in("absolute")), encoding="utf-8")
    if mode == "pairwise":
        with pytest.raises(DatasetError, match="0 rows"):
            runs.grade(mode=mode, vs=(str(other),))
    assert not runs.out.exists()


HOSTILE = [
    '=HYPERLINK("http://x.test","go")',
    *("+1", "-1 day", "@SUM(A1)", "\t=1+1", "\u200b=1+1", " =1", "\r=1", "＝1"),
    'he said "no", then {"a": "b"}',
    "a\nb,c;d\r\ne",
    "x" * 40_000,
    "\x1b[31mbad\x1b[0m",
    "x\x1by \ufffe \x00 z ]]> & <",
    "</failure><testcase/>\"'>",
    "\u202etxet\u2028next",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("mode", ["pairwise", "gate"])
def test_o_f06_to_f11_hostile_words_of_a_judge_leave_files_that_parse(tmp_path: Path, text: str, mode: str) -> None:
    words = {"reason": text, "evidence": [text], "evidence_a": [text], "evidence_b": [text]}
    verdict = {"winner": "A", "margin": 1, "pass": False}
    reply = {name: {**words, **verdict} for name in ("accuracy", "coverage")} | {"winner": "A"}
    row = {**row_in(mode, f"id {text}"), "response_a": f"r {text}", "response_b": f"s {text}", "response": f"r {text}"}
    orders = ("ab", "ba") if mode == "pairwise" else ("-",)
    judge = recording(tmp_path, *({"id": row["id"], "order": order, "reply": reply} for order in orders))
    runs, listener = Runs(tmp_path, judge, row), Collected()
    result = runs.grade(listener, mode=mode)
    assert result.exit is (Exit.GATE_FAILED if mode == "gate" else Exit.OK)
    suite = next(ET.parse(runs.out / "junit.xml").iter("testsuite"))
    assert suite.attrib["failures"] == ("1" if mode == "gate" else "0")
    with (runs.out / "scores.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == 2
    for cell in cells:
        assert cell["evidence_found"] == "true"
        for column in ("id", "evidence", "reason", *(["rival_evidence"] if mode == "pairwise" else [])):
            assert 0 < len(cell[column]) <= 32_767
            assert cell[column].lstrip("\u200b\u00a0\ufeff \t\r\n")[:1] not in tuple("=+-@＝")
    for line in listener.failures:
        assert len(line) < 1_000
        assert len(line.splitlines()) == 1


@pytest.mark.parametrize("mode", MODES)
def test_o_f14_what_is_undefined_is_null_in_every_mode(tmp_path: Path, mode: str) -> None:
    with FakeServer(graded) as server:
        runs = Runs(tmp_path, server, row_in(mode))
        runs.grade(mode=mode)

    def never(constant: str) -> None:
        pytest.fail(f"{constant} in summary.json")

    json.loads((runs.out / "summary.json").read_text(encoding="utf-8"), parse_constant=never)
    for name in REPORTS:
        assert not re.search(rb"(?i)\b(nan|infinity|inf)\b", (runs.out / name).read_bytes())
