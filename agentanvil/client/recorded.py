"""`recorded:FILE`: replies that exist already, replayed by task; nothing is sent anywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from agentanvil.client.base import ChatReply, ChatRequest
from agentanvil.client.token_logprobs import read_tokens
from agentanvil.errors import CallError, DatasetError, JudgeSetupError, Where
from agentanvil.hashing import well_formed
from agentanvil.strict_json import JsonError, JsonValue, parse_json

_BY_TASK = frozenset({"task", "reply", "logprobs"})
_BY_ITEM = frozenset({"id", "repeat", "call", "order", "reply", "logprobs"})
_ORDERS = ("-", "ab", "ba")
_FORM = (
    'A line is {"task": "ID/joint/0", "reply": "…"} or {"id": "ID", "repeat": 0, "call": "joint", "reply": "…"}; '
    'for a pair "order" is "ab" or "ba": which response was shown first. "logprobs" may hold what a choice of Chat '
    "Completions has under that name."
)
_BOM = b"\xef\xbb\xbf"

NameTask = Callable[[str, str, int, str], str]


class RecordedClient:
    """Answers a request with the reply that the file holds for its `task_id`.

    The file is read once at the start and checked whole; after that only the places of its lines are in
    memory. `name_task` forms a task's id from item, call, repeat and order; `call` is what a line without one means.
    """

    def __init__(self, path: Path, name_task: NameTask, *, call: str = "joint") -> None:
        """Raises JudgeSetupError where the file cannot be opened, DatasetError naming the line that is wrong."""
        self._path = path
        self._name_task = name_task
        self._call = call
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise JudgeSetupError(f"the recorded replies in {path} cannot be read: {reason}") from error
        try:
            self._places = self._index()
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self._places)

    def fingerprint(self, request: ChatRequest) -> bytes:
        return f"recorded\n{self._path}\n{request.task_id}".encode()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raises CallError `no_recording` where the file holds no reply for the task."""
        place = self._places.get(request.task_id)
        if place is None:
            raise CallError(
                f"no reply is recorded for the task {request.task_id}",
                code="no_recording",
                hint=f"{self._path} holds {len(self._places)} replies. {_FORM}",
            )
        self._file.seek(place)
        try:
            task, reply = self._read(self._file.readline().removeprefix(_BOM), None)
        except DatasetError:
            task, reply = "", None
        if reply is None or task != request.task_id:
            raise CallError(f"{self._path} was changed while it was being replayed", code="no_recording")
        return reply

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None:
        """Nothing to keep."""

    async def close(self) -> None:
        self._file.close()

    def _index(self) -> dict[str, int]:
        places: dict[str, int] = {}
        lines: dict[str, int] = {}
        place = 0
        for number, line in enumerate(self._file, start=1):
            start, place = place, place + len(line)
            text = line.removeprefix(_BOM) if number == 1 else line
            if not text.strip():
                continue
            task, _ = self._read(text, number)
            if task in places:
                raise self._wrong(f"the task {task} was recorded in line {lines[task]} already", number, "task")
            places[task], lines[task] = start, number
        return places

    def _read(self, line: bytes, number: int | None) -> tuple[str, ChatReply]:
        """Return the task's id and the reply of one line: nothing was sent for it."""
        try:
            entry = parse_json(line.decode("utf-8"))
        except UnicodeDecodeError:
            raise self._wrong("not UTF-8", number) from None
        except JsonError as error:
            raise self._wrong(error.message, number) from None
        if not isinstance(entry, dict):
            raise self._wrong("not a JSON object", number)
        known = _BY_TASK if "task" in entry else _BY_ITEM
        for key in entry.keys() - known:
            raise self._wrong("the key is not known here", number, key)
        reply = entry.get("reply")
        if not isinstance(reply, str):
            raise self._wrong("the reply's text is missing", number, "reply")
        text = well_formed(reply)
        logprobs = entry.get("logprobs")
        tokens = read_tokens(logprobs, text)
        if logprobs is not None and not tokens:
            raise self._wrong("these are no log-probabilities of the reply's text", number, "logprobs")
        return self._task(entry, number), ChatReply(text, model="recorded", attempts=0, cost=0.0, tokens=tokens)

    def _task(self, entry: dict[str, JsonValue], number: int | None) -> str:
        task = entry.get("task")
        if isinstance(task, str) and task:
            return task
        if "task" in entry:
            raise self._wrong("the task's id must be a text", number, "task")
        item, call, repeat = entry.get("id"), entry.get("call", self._call), entry.get("repeat", 0)
        if isinstance(item, int) and not isinstance(item, bool):
            item = str(item)
        if not isinstance(item, str) or not item:
            raise self._wrong("neither a task nor an item's id is named", number, "id")
        if not isinstance(call, str) or not call:
            raise self._wrong("the call must be a text", number, "call")
        if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 0:
            raise self._wrong("the repeat must be a count from 0", number, "repeat")
        order = entry.get("order", _ORDERS[0])
        if not isinstance(order, str) or order not in _ORDERS:
            raise self._wrong('the order is "ab", "ba" or left out', number, "order")
        return self._name_task(item, call, repeat, order)

    def _wrong(self, message: str, number: int | None, key: str | None = None) -> DatasetError:
        return DatasetError(message, where=Where(str(self._path), number, key), hint=_FORM)
