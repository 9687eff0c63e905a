"""Pairs, gates and sources under hostile bytes, quoted verdicts, twin ids, empty sources and expected answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentanvil.dataset.fields import HIDDEN_FIELDS
from agentanvil.errors import DatasetError
from agentanvil.runner.exits import Exit
from tests.fakes.hostile_texts import TEXTS, tokens
from tests.fakes.runs import Collected, Runs, read_table, recording, rows
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import graded

MODES = ("absolute", "pairwise", "gate")
PAIR = {"id": "a", "request": "A question.", "response_a": "First answer.", "response_b": "Second answer."}
PLAIN = {"id": "a", "request": "A question.", "response": "An answer."}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(graded) as server:
        yield server


def users(server: FakeServer) -> list[str]:
    return [body["messages"][1]["content"] for body in server.bodies]


def row_in(mode: str, **more: Any) -> dict[str, Any]:
    return {**(PAIR if mode == "pairwise" else PLAIN), **more}


def with_key(runs: Runs, line: str) -> Runs:
    """Add a top-level key to the rubric of `runs`."""
    runs.rubric.write_text(f"{runs.rubric.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    return runs


@pytest.mark.parametrize("side", ["response_a", "response_b", "request"])
@pytest.mark.parametrize("text", TEXTS)
def test_either_side_of_a_pair_is_shown_once_and_as_it_is(
    tmp_path: Path, server: FakeServer, text: str, side: str
) -> None:
    assert Runs(tmp_path, server, {**PAIR, side: text}).grade(mode="pairwise", order="both").exit is Exit.OK
    for message in users(server):
        assert len(re.findall(rf">>\n{re.escape(text)}\n<<END (?:RESPONSE [AB]|REQUEST) ", message)) == 1
        assert not tokens(message, text) & set(re.findall(r"[0-9a-f]+", text))
    assert not any(text in body["messages"][0]["content"] for body in server.bodies)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", TEXTS)
def test_a_passage_of_the_source_is_shown_once_and_as_it_is(
    tmp_path: Path, server: FakeServer, text: str, mode: str
) -> None:
    row = row_in(mode, source=["Lyon is a town.", text])
    assert Runs(tmp_path, server, row).grade(mode=mode).exit is Exit.OK
    (message,) = users(server)
    assert message.count(f">>\n{text}\n<<END SOURCE 2 ") == 1
    genuine = tokens(message, text)
    assert len(genuine) == 1
    assert not genuine & tokens(text)


def test_o_b11_a_response_that_holds_the_frame_of_a_benign_pair_is_framed_otherwise(tmp_path: Path) -> None:
    with FakeServer(graded) as benign:
        Runs(tmp_path, benign, PAIR).grade(mode="pairwise", order="fixed", out=tmp_path / "benign")
    (copied,) = users(benign)
    with FakeServer(graded) as hostile:
        Runs(tmp_path, hostile, {**PAIR, "response_b": f"x\n{copied}"}).grade(mode="pairwise", order="fixed")
    (message,) = users(hostile)
    assert message.count(copied) == 1
    assert not tokens(message, copied) & tokens(copied)


def test_o_b10_structured_sides_are_shown_as_json(tmp_path: Path, server: FakeServer) -> None:
    pair = {**PAIR, "response_a": {"b": 1, "a": [True, None]}, "response_b": [1, "zwei"]}
    Runs(tmp_path, server, pair).grade(mode="pairwise", order="fixed")
    (message,) = users(server)
    assert '>>\n{"a":[true,null],"b":1}\n<<END RESPONSE A ' in message
    assert '>>\n[1,"zwei"]\n<<END RESPONSE B ' in message


def test_o_b05_half_a_surrogate_pair_on_either_side_is_replaced_and_flagged(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        row = {**PAIR, "id": "a \ud83d", "response_b": "b \ude00", "source": "s \ud83d"}
        runs = Runs(tmp_path, server, row)
        result = runs.grade(mode="pairwise", cache=str(tmp_path / "cache"))
    assert result.exit is Exit.OK
    assert result.summary.flags["surrogates_replaced"] == 1


def said(**verdicts: object) -> dict[str, Any]:
    return {name: {"evidence": ["It is the number"], "reason": "so", **value} for name, value in verdicts.items()}  # type: ignore[dict-item]


FAIL = json.dumps(said(accuracy={"pass": False}, coverage={"pass": False}))
PASS = json.dumps(said(accuracy={"pass": True}, coverage={"pass": True}))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"The text said {PASS}. My verdict: {FAIL}", id="O-B13"),
        pytest.param(f"{FAIL} because it printed\n```json\n{PASS}\n```", id="O-B14"),
        pytest.param(f"```json\n{PASS}\n```\n{FAIL}", id="O-B14-the-other-way-round"),
    ],
)
def test_two_verdicts_of_a_gate_that_differ_pass_nothing(tmp_path: Path, text: str) -> None:
    runs = Runs(tmp_path, recording(tmp_path, {"id": "item-0", "reply": text}), *rows(1))
    result = runs.grade(mode="gate")
    assert result.exit is Exit.MISSING
    (item,) = read_table(runs.out, "items.csv")
    assert (item["state"], item["pass"], item["accuracy"]) == ("judge_error", "", "")
    assert {cell["code"] for cell in read_table(runs.out, "scores.csv")} == {"ambiguous"}


def compared(accuracy: str, winner: str = "A") -> str:
    sides = {"evidence_a": ["First"], "evidence_b": ["Second"], "reason": "so"}
    each = {"accuracy": accuracy, "coverage": "A"}
    verdict = {name: {**sides, "winner": better, "margin": 1} for name, better in each.items()}
    return json.dumps({**verdict, "winner": winner})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"The text said {compared('A')}. My verdict: {compared('B')}", id="O-B13"),
        pytest.param(f"{compared('B')} because\n```json\n{compared('A')}\n```", id="O-B14"),
        pytest.param(f"{compared('tie')}\n{compared('A')}", id="a-tie-and-a-win"),
    ],
)
def test_two_verdicts_on_a_pair_that_differ_are_no_winner(tmp_path: Path, text: str) -> None:
    runs = Runs(tmp_path, recording(tmp_path, {"id": "a", "reply": text}), PAIR)
    result = runs.grade(mode="pairwise", order="fixed")
    assert result.exit is Exit.MISSING
    (item,) = read_table(runs.out, "items.csv")
    assert (item["state"], item["winner"], item["overall"]) == ("judge_error", "", "")
    found = result.summary.pairwise
    assert found is not None
    assert (found.result.wins, found.result.ties, found.result.losses, found.result.rate.value) == (0, 0, 0, None)


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        pytest.param(["a", "a"], ["a"], "stands on line 1 already", id="O-B15-in-the-first"),
        pytest.param(["a"], ["a", "a"], "stands on line 1 already", id="O-B15-in-the-other"),
        pytest.param(["a", "b"], [1, "1"], '"1"', id="O-B16"),
        pytest.param(["a", "b"], ["a", "c"], "no partner", id="another-id"),
        pytest.param(["a"], ["a", "b"], "no partner", id="one-more"),
        pytest.param(["a", "b"], ["a"], "no partner", id="one-less"),
        pytest.param([1], ["1"], None, id="O-B16-one-id"),
    ],
)
def test_ids_are_joined_as_text_and_stand_once(
    tmp_path: Path, server: FakeServer, first: list[Any], second: list[Any], says: str | None
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("".join(f"{json.dumps({**PLAIN, 'id': name})}\n" for name in second), encoding="utf-8")
    runs = Runs(tmp_path, server, *({**PLAIN, "id": name} for name in first))
    if says is None:
        assert runs.grade(mode="pairwise", vs=(str(other),)).exit is Exit.OK
        return
    with pytest.raises(DatasetError, match=re.escape(says)):
        runs.grade(mode="pairwise", vs=(str(other),))
    assert not server.requests
    assert not runs.out.exists()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", ["", "   ", "\u200b\n", [], ["", " "], [{"text": " "}], None])
def test_o_b17_no_mode_judges_against_a_source_that_is_not_there(
    tmp_path: Path, server: FakeServer, source: Any, mode: str
) -> None:
    runs = with_key(Runs(tmp_path, server, row_in(mode, source=source)), "needs_source: true")
    with pytest.raises(DatasetError, match="source"):
        runs.grade(mode=mode)
    assert not server.requests
    assert not runs.out.exists()


@pytest.mark.parametrize("mode", MODES)
def test_no_hidden_field_reaches_a_judge_in_any_mode_and_the_run_says_so(tmp_path: Path, mode: str) -> None:
    hidden = {name: {"deep": [f"CANARY {name}"]} for name in HIDDEN_FIELDS}
    more = {"labels": {"accuracy": 1}, "meta": {"note": "CANARY meta"}, "topic": "CANARY topic"}
    with FakeServer(graded) as server:
        runs, listener = Runs(tmp_path, server, row_in(mode, **hidden, **more)), Collected()
        result = runs.grade(listener, mode=mode, calls="both", repeats=2)
        assert server.requests
        assert not any(b"CANARY" in request.body for request in server.requests)
    assert listener.starts[0].hidden_fields == tuple(sorted(HIDDEN_FIELDS))
    assert runs.manifest()["data"]["hidden_fields"] == sorted(HIDDEN_FIELDS)
    assert any("never saw" in note for note in result.summary.notes)


@pytest.mark.parametrize("mode", MODES)
def test_allow_expected_is_the_only_door_and_told(tmp_path: Path, server: FakeServer, mode: str) -> None:
    row = row_in(mode, expected="CANARY 1", gold="CANARY 2", meta={"expected": "CANARY 3"})
    runs, listener = with_key(Runs(tmp_path, server, row), "allow_expected: true"), Collected()
    result = runs.grade(listener, mode=mode)
    (message,) = users(server)
    assert message.count("CANARY") == message.count("CANARY 1") == 1
    assert listener.starts[0].hidden_fields == ()
    assert any("allow_expected" in note for note in result.summary.notes)


@pytest.mark.parametrize("side", [0, 1])
def test_what_the_joined_rows_hide_stays_hidden(tmp_path: Path, server: FakeServer, side: int) -> None:
    files = [{**PLAIN, "gold": "CANARY"} if place == side else PLAIN for place in (0, 1)]
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(files[1]), encoding="utf-8")
    runs, listener = Runs(tmp_path, server, files[0]), Collected()
    runs.grade(listener, mode="pairwise", vs=(str(other),))
    assert not any(b"CANARY" in request.body for request in server.requests)
    assert listener.starts[0].hidden_fields == ("gold",)
