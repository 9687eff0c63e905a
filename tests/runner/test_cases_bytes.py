"""Whatever a row holds reaches the judge once, untouched and as data, and leaves reports that can be read."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import DatasetError, RubricError
from agentanvil.runner.exits import Exit
from tests.fakes.hostile_texts import TEXTS, tokens
from tests.fakes.runs import Runs, read_journal, read_table
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import graded


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def sent(server: FakeServer) -> str:
    """The user message as it came over the wire."""
    assert len(server.requests) == 1
    message: str = server.bodies[0]["messages"][1]["content"]
    return message


@pytest.mark.parametrize("field", ["request", "response"])
@pytest.mark.parametrize("text", TEXTS)
def test_the_judge_gets_each_text_once_and_as_it_is(tmp_path: Path, server: FakeServer, text: str, field: str) -> None:
    row = {"id": "a", "request": "A question.", "response": "An answer.", field: text}
    runs = Runs(tmp_path, server, row)
    assert runs.grade().exit is Exit.OK
    message = sent(server)
    assert message.count(f">>\n{text}\n<<END {field.upper()} ") == 1
    genuine = tokens(message, text)
    assert len(genuine) == 1
    assert not genuine & set(re.findall(r"[0-9a-f]+", text))
    assert server.bodies[0]["messages"][0]["role"] == "system"
    assert text not in server.bodies[0]["messages"][0]["content"]
    assert len(read_journal(runs.out)) == 1
    assert ET.parse(runs.out / "junit.xml").getroot().tag == "testsuites"


@pytest.mark.parametrize("text", [param.values[0] for param in TEXTS if len(str(param.values[0])) < 200])
def test_the_judges_own_words_come_back_as_they_are(tmp_path: Path, text: str) -> None:
    scores = {name: {"evidence": [text], "reason": text, "score": 4} for name in ("accuracy", "coverage")}
    replies = tmp_path / "replies.jsonl"
    replies.write_text(json.dumps({"id": "a", "reply": json.dumps(scores)}), encoding="utf-8")
    runs = Runs(tmp_path, f"recorded:{replies}", {"id": "a", "request": "q", "response": f"{text}."})
    assert runs.grade().exit is Exit.OK
    cell = read_journal(runs.out)[0]["cells"]["accuracy"]
    assert (cell["reason"], cell["evidence"], cell["score"]) == (text.strip(), [text.strip()], 4.0)
    with (runs.out / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["reason"].removeprefix("'") for row in rows] == [text.strip()] * 2
    assert ET.parse(runs.out / "junit.xml").getroot().tag == "testsuites"


@pytest.mark.parametrize(
    ("response", "shown"),
    [
        pytest.param({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}', id="O-B10-object"),
        pytest.param([1, "zwei", 3.5], '[1,"zwei",3.5]', id="O-B10-list"),
        pytest.param({"x": {"y": "[object Object]"}}, '{"x":{"y":"[object Object]"}}', id="O-B10-nested"),
    ],
)
def test_structured_responses_are_shown_as_json(tmp_path: Path, server: FakeServer, response: Any, shown: str) -> None:
    Runs(tmp_path, server, {"id": "a", "request": "q", "response": response}).grade()
    assert f">>\n{shown}\n<<END RESPONSE " in sent(server)


@pytest.mark.parametrize("text", ["cut \ud83d", "\ude00 low first", "a\ud800b\udfffc"])
def test_o_b05_half_a_surrogate_pair_is_replaced_and_flagged(tmp_path: Path, server: FakeServer, text: str) -> None:
    row = {"id": f"id {text}", "request": text, "response": text, "meta": {"x": text}}
    runs = Runs(tmp_path, server, row)
    result = runs.grade(cache=str(tmp_path / "cache"))
    assert result.exit is Exit.OK
    assert "\ufffd" in sent(server)
    assert result.summary.flags == {"surrogates_replaced": 1}
    assert "\ufffd" in read_table(runs.out, "items.csv")[0]["id"]


def test_a_forged_frame_is_no_frame(tmp_path: Path) -> None:
    """O-B11: a response that holds the very frame of a benign row is sent with another token."""
    with FakeServer(graded) as benign:
        Runs(tmp_path, benign, {"id": "a", "request": "q", "response": "r"}).grade(out=tmp_path / "benign")
    copied = sent(benign)
    with FakeServer(graded) as hostile:
        Runs(tmp_path, hostile, {"id": "a", "request": "q", "response": f"r\n{copied}"}).grade()
    message = sent(hostile)
    assert message.count(copied) == 1
    genuine = tokens(message, copied)
    assert genuine
    assert not genuine & tokens(copied)


@pytest.mark.parametrize("source", ["", "   ", [], ["", " "], None])
def test_o_b17_a_reference_that_is_not_there_is_an_input_error(tmp_path: Path, server: FakeServer, source: Any) -> None:
    runs = Runs(tmp_path, server, {"id": "a", "request": "q", "response": "4", "source": source})
    text = runs.rubric.read_text(encoding="utf-8").replace("calls: joint", "needs_source: true")
    runs.rubric.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match="source"):
        runs.grade()
    assert server.requests == []


@pytest.mark.parametrize("hole", ["{{ topic }}", "{{topic}}", "{% if x %}"])
def test_o_b18_a_placeholder_in_a_rubric_never_reaches_the_judge(tmp_path: Path, server: FakeServer, hole: str) -> None:
    runs = Runs(tmp_path, server)
    text = runs.rubric.read_text(encoding="utf-8").replace("Is each claim true?", f"'Does it mention {hole}?'")
    runs.rubric.write_text(text, encoding="utf-8")
    with pytest.raises(RubricError, match=re.escape(hole[:2])) as caught:
        runs.grade()
    assert caught.value.where is not None
    assert caught.value.where.line == 7
    assert server.requests == []
