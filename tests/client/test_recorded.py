from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from agentanvil.client import ChatReply, ChatRequest, Message
from agentanvil.client.recorded import RecordedClient
from agentanvil.errors import CallError, DatasetError, JudgeSetupError
from tests.fakes.tokens import spelling, token


def name_task(item: str, call: str, repeat: int, order: str) -> str:
    return f"{item}/{call}/{repeat}" + ("" if order == "-" else f"/{order}")


def recording(folder: Path, *lines: object, raw: bytes | None = None) -> Path:
    path = folder / "replies.jsonl"
    path.write_bytes(raw if raw is not None else b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return path


def replay(path: Path, *tasks: str) -> list[str]:
    async def run() -> list[ChatReply]:
        client = RecordedClient(path, name_task)
        try:
            return [await client.complete(ChatRequest((Message("user", "x"),), task_id=task)) for task in tasks]
        finally:
            await client.close()

    return [reply.text for reply in asyncio.run(run())]


def test_replies_are_found_by_task_in_any_order_and_again(tmp_path: Path) -> None:
    path = recording(tmp_path, {"task": "a/joint/0", "reply": "A"}, {"task": "ü/joint/1", "reply": "Ü\n{"})
    assert replay(path, "ü/joint/1", "a/joint/0", "ü/joint/1") == ["Ü\n{", "A", "Ü\n{"]


def test_an_item_repeat_and_call_name_the_task_too(tmp_path: Path) -> None:
    lines = (
        {"id": "a", "reply": "first"},
        {"id": "a", "repeat": 1, "reply": "second"},
        {"id": "a", "call": "safety", "repeat": 1, "reply": "third"},
        {"id": 7, "reply": "number"},
        {"id": 7, "order": "ba", "reply": "swapped"},
    )
    tasks = ("a/joint/0", "a/joint/1", "a/safety/1", "7/joint/0", "7/joint/0/ba")
    assert replay(recording(tmp_path, *lines), *tasks) == ["first", "second", "third", "number", "swapped"]


def test_a_bom_blank_lines_crlf_and_a_missing_last_newline_do_no_harm(tmp_path: Path) -> None:
    raw = b'\xef\xbb\xbf{"task":"a","reply":"A"}\r\n\n  \n{"task":"b","reply":"B\xe2\x80\xa8\xc2\x85"}'
    assert replay(recording(tmp_path, raw=raw), "b", "a") == ["B\u2028\x85", "A"]


def test_a_lone_surrogate_in_a_recording_is_replaced(tmp_path: Path) -> None:
    assert replay(recording(tmp_path, raw=rb'{"task":"a","reply":"x\ud800"}'), "a") == ["x\N{REPLACEMENT CHARACTER}"]


def test_a_task_without_a_reply_is_a_call_error(tmp_path: Path) -> None:
    with pytest.raises(CallError) as caught:
        replay(recording(tmp_path, {"task": "a", "reply": "A"}), "b")
    assert caught.value.code == "no_recording"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{", "not JSON: "),
        (b"[]", "not a JSON object"),
        (b'"x"', "not a JSON object"),
        (b'{"task":"b","reply":"x"} {}', "more text follows"),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"task":"b","reply":"x","reply":"y"}', "twice"),
        (b'{"task":"b","reply":"x","score":NaN}', "NaN is not JSON"),
        (b'{"id":"a","repeat":1e999,"reply":"x"}', "too large"),
        (b'{"task":"b"}', "reply"),
        (b'{"task":"b","reply":null}', "reply"),
        (b'{"task":"b","reply":{"score":1}}', "reply"),
        (b'{"task":"","reply":"x"}', "task"),
        (b'{"task":5,"reply":"x"}', "task"),
        (b'{"reply":"x"}', "id"),
        (b'{"id":true,"reply":"x"}', "id"),
        (b'{"id":"a","repeat":-1,"reply":"x"}', "repeat"),
        (b'{"id":"a","repeat":true,"reply":"x"}', "repeat"),
        (b'{"id":"a","call":"","reply":"x"}', "call"),
        (b'{"task":"b","reply":"x","score":4}', "score"),
        (b'{"task":"b","id":"b","reply":"x"}', "id"),
        (b'{"task":"a","reply":"again"}', "line 1"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: bytes, says: str) -> None:
    path = recording(tmp_path, raw=b'{"task":"a","reply":"A"}\n' + line + b"\n")
    with pytest.raises(DatasetError) as caught:
        RecordedClient(path, name_task)
    assert str(caught.value).startswith(f"{path}:2")
    assert says in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JudgeSetupError, match="no such file"):
        RecordedClient(tmp_path / "none.jsonl", name_task)
    with pytest.raises(JudgeSetupError):
        RecordedClient(tmp_path, name_task)


def test_a_file_that_changes_under_the_replay_is_noticed(tmp_path: Path) -> None:
    path = recording(tmp_path, {"task": "a", "reply": "A"}, {"task": "b", "reply": "B"})

    async def run() -> None:
        client = RecordedClient(path, name_task)
        try:
            path.write_bytes(path.read_bytes()[5:])
            with pytest.raises(CallError, match="changed"):
                await client.complete(ChatRequest((Message("user", "x"),), task_id="b"))
        finally:
            await client.close()

    asyncio.run(run())


def test_log_probabilities_of_a_recording_come_with_its_reply(tmp_path: Path) -> None:
    said = {"content": [token('{"winner":"'), token("A", 0.6, {"B": 0.2}), token('"}'), token("")]}
    path = recording(tmp_path, {"id": "a", "order": "ab", "reply": '{"winner":"A"}', "logprobs": said})

    async def run() -> ChatReply:
        client = RecordedClient(path, name_task)
        try:
            return await client.complete(ChatRequest((Message("user", "x"),), task_id="a/joint/0/ab"))
        finally:
            await client.close()

    reply = asyncio.run(run())
    assert [(one.at, one.text) for one in reply.tokens] == [(0, '{"winner":"'), (11, "A"), (12, '"}')]
    assert [name for name, _ in reply.tokens[1].top] == ["A", "B"]


@pytest.mark.parametrize("logprobs", [True, {}, {"content": []}, spelling("another reply")])
def test_log_probabilities_of_something_else_are_refused(tmp_path: Path, logprobs: object) -> None:
    path = recording(tmp_path, {"task": "a", "reply": "A"}, {"task": "b", "reply": "B", "logprobs": logprobs})
    with pytest.raises(DatasetError, match="no log-probabilities of the reply's text") as caught:
        RecordedClient(path, name_task)
    assert caught.value.where is not None
    assert (caught.value.where.line, caught.value.where.key) == (2, "logprobs")
