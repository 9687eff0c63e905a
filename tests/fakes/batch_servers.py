"""Loopback servers that speak the batch APIs of OpenAI and Anthropic, and the live route beside them.

    with OpenAIBatchServer() as server:
        ...  # talk to server.url
        server.finish()  # every batch that runs has ended now

What becomes of a line is decided by `fate`, a function of its position among all lines that ever came in: "" for a
reply, else one of FATES. Results come out of order. `handed` counts how often each question was handed over in a batch,
`live` how many live calls there were.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat_body, error
from tests.fakes.verdicts import verdict_for

FATES = ("", "server_error", "rejected", "too_large", "expired", "missing", "unreadable", "prose")
Fate = Callable[[int], str]


@dataclass
class Batch:
    """One batch as the server keeps it; `lines` are (custom id, body of the request)."""

    id: str
    lines: list[tuple[str, dict[str, Any]]]
    created: float
    metadata: dict[str, str] = field(default_factory=dict)
    status: str = "in_progress"
    problems: list[dict[str, Any]] = field(default_factory=list)
    fates: list[str] = field(default_factory=list)
    cancelled_after: int | None = None


class BatchServer:
    """What both servers share. `clock` gives the Unix time at which batches are created."""

    def __init__(self, fate: Fate = lambda _: "", *, clock: Callable[[], float] = lambda: 1000.0) -> None:
        self.fate = fate
        self.clock = clock
        self.batches: dict[str, Batch] = {}
        self.handed: Counter[str] = Counter()
        self.live = 0
        self.score = 4
        self.refuses: str | None = None
        self.create_answer: Callable[[Answer], Answer] = lambda answer: answer
        self.refuse_create: Answer | None = None
        self.redirects = False
        self._server = FakeServer(self.answer)

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def requests(self) -> list[Recorded]:
        return self._server.requests

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def answer(self, request: Recorded) -> Answer:
        raise NotImplementedError

    def finish(self, status: str | None = None) -> None:
        """Let every batch that runs end."""
        raise NotImplementedError

    def new_batch(self, lines: list[tuple[str, dict[str, Any]]], metadata: dict[str, str] | None = None) -> Batch:
        first = sum(len(batch.lines) for batch in self.batches.values())
        batch = Batch(f"batch_{len(self.batches) + 1}", lines, self.clock(), metadata or {})
        batch.fates = [self.fate(first + at) for at in range(len(lines))]
        self.batches[batch.id] = batch
        self.handed.update(question_of(body) for _, body in lines)
        return batch

    def shuffled(self, results: list[bytes]) -> bytes:
        random.Random(7).shuffle(results)
        return b"".join(line + b"\n" for line in results)

    def done(self, batch: Batch) -> list[tuple[str, dict[str, Any], str]]:
        """The lines that the batch came to, with their fates; those after a cancellation are left out."""
        rows = [(name, body, fate) for (name, body), fate in zip(batch.lines, batch.fates, strict=True)]
        return rows if batch.cancelled_after is None else rows[: batch.cancelled_after]


def question_of(body: dict[str, Any]) -> str:
    """The last message's text, which tells the rows apart."""
    content = body["messages"][-1]["content"] if "messages" in body else body["input"]
    return content if isinstance(content, str) else json.dumps(content)


class OpenAIBatchServer(BatchServer):
    """Files and batches as OpenAI has them, Chat Completions or Responses inside."""

    def __init__(self, fate: Fate = lambda _: "", **how: Any) -> None:
        super().__init__(fate, **how)
        self.files: dict[str, bytes] = {}
        self.gone: set[str] = set()
        self.page = 100

    def answer(self, request: Recorded) -> Answer:
        path = urlsplit(request.path).path.removeprefix("/v1")
        if self.redirects:
            return Answer(302, headers={"Location": "https://elsewhere.example/steal"})
        match request.method, path.strip("/").split("/"):
            case "POST", ["chat", "completions"] | ["responses"]:
                self.live += 1
                return self._live(request)
            case "POST", ["files"]:
                return self._upload(request)
            case "POST", ["batches"]:
                return self._create(request.json)
            case "GET", ["batches"]:
                return self._list(parse_qs(urlsplit(request.path).query))
            case "GET", ["batches", name] if name in self.batches:
                return answer_json(self._shown(self.batches[name]))
            case "POST", ["batches", name, "cancel"] if name in self.batches:
                self.batches[name].status = "cancelling"
                return answer_json(self._shown(self.batches[name]))
            case "GET", ["files", name, "content"] if name not in self.gone:
                return Answer(body=self._content(name), headers={"Content-Type": "application/octet-stream"})
            case _:
                return error(404, f"No such object: {path}", kind="invalid_request_error")

    def finish(self, status: str | None = None) -> None:
        for batch in self.batches.values():
            if batch.status == "cancelling":
                batch.status, batch.cancelled_after = "cancelled", len(batch.lines) // 2
            elif batch.status in {"validating", "in_progress"}:
                batch.status = status or ("expired" if "expired" in batch.fates else "completed")

    def fail_validation(self, line: int, message: str) -> None:
        """Let every batch that runs fail before any of its lines is asked."""
        for batch in self.batches.values():
            if batch.status == "in_progress":
                batch.status = "failed"
                batch.problems = [{"code": "invalid_json_line", "line": line, "message": message, "param": None}]

    def _live(self, request: Recorded) -> Answer:
        status, body = self._reply(request.json)
        return answer_json(body, status)

    def _reply(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.refuses is not None and self.refuses in body:
            message = f"Unsupported parameter: '{self.refuses}' is not supported with this model."
            fault = {"message": message, "type": "invalid_request_error", "param": self.refuses, "code": None}
            return 400, {"error": fault | {"code": "unsupported_parameter"}}
        if "input" in body:
            return 200, _response_body(json.dumps(verdict_for(body["text"]["format"]["schema"], self.score)))
        schema = body["response_format"]["json_schema"]["schema"]
        return 200, chat_body(json.dumps(verdict_for(schema, self.score)))

    def _upload(self, request: Recorded) -> Answer:
        boundary = request.headers["content-type"].partition("boundary=")[2].encode()
        parts = request.body.split(b"--" + boundary)
        fields = {}
        for part in parts[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            fields[head.partition(b'name="')[2].partition(b'"')[0].decode()] = content.removesuffix(b"\r\n")
        assert fields["purpose"] == b"batch"
        assert parts[-1] == b"--\r\n"
        name = f"file-{len(self.files) + 1}"
        self.files[name] = fields["file"]
        return answer_json({"id": name, "object": "file", "purpose": "batch", "bytes": len(fields["file"])})

    def _create(self, wanted: dict[str, Any]) -> Answer:
        if self.refuse_create is not None:
            return self.refuse_create
        assert wanted["completion_window"] == "24h"
        lines = [json.loads(line) for line in self.files[wanted["input_file_id"]].splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", wanted["endpoint"])}
        batch = self.new_batch([(line["custom_id"], line["body"]) for line in lines], wanted["metadata"])
        return self.create_answer(answer_json(self._shown(batch)))

    def _list(self, query: dict[str, list[str]]) -> Answer:
        newest = list(reversed(self.batches.values()))
        after = query.get("after", [""])[0]
        start = next((at + 1 for at, batch in enumerate(newest) if batch.id == after), 0)
        shown = newest[start : start + self.page]
        page = {"object": "list", "data": [self._shown(batch) for batch in shown]}
        return answer_json({**page, "has_more": start + len(shown) < len(newest)})

    def _shown(self, batch: Batch) -> dict[str, Any]:
        over = batch.status in {"completed", "expired", "cancelled"}
        answered = [fate for _, _, fate in self.done(batch) if over]
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "errors": {"object": "list", "data": batch.problems} if batch.problems else None,
            "status": batch.status,
            "output_file_id": f"{batch.id}-output" if over else None,
            "error_file_id": f"{batch.id}-errors" if over else None,
            "created_at": int(batch.created),
            "request_counts": {
                "total": len(batch.lines),
                "completed": answered.count(""),
                "failed": len(answered) - answered.count(""),
            },
            "metadata": batch.metadata,
        }

    def _content(self, name: str) -> bytes:
        batch_id, _, which = name.partition("-")
        batch = self.batches[batch_id]
        output, errors = [], []
        for custom_id, body, fate in self.done(batch):
            line = self._result(custom_id, body, fate)
            if line is not None:
                (output if fate in {"", "prose", "unreadable"} else errors).append(line)
        if batch.cancelled_after is not None:
            rest = [custom_id for custom_id, _ in batch.lines[batch.cancelled_after :]]
            errors += [json.dumps(_never_asked(custom_id, "batch_cancelled")).encode() for custom_id in rest]
        return self.shuffled(output if which == "output" else errors)

    def _result(self, custom_id: str, body: dict[str, Any], fate: str) -> bytes | None:
        if fate == "missing":
            return None
        if fate == "unreadable":
            return b'{"custom_id": "' + custom_id.encode() + b'", "response": {'
        if fate == "expired":
            return json.dumps(_never_asked(custom_id, "batch_expired")).encode()
        status, reply = self._reply(body)
        if fate == "prose":
            reply = chat_body("I would give it a four.")
        if fate in _FAULTS:
            status, reply = _FAULTS[fate]
        response = {"status_code": status, "request_id": f"req-{custom_id[-4:]}", "body": reply}
        return json.dumps({"id": "x", "custom_id": custom_id, "response": response, "error": None}).encode()


_FAULTS: dict[str, tuple[int, dict[str, Any]]] = {
    "server_error": (500, {"error": {"message": "try again", "type": "server_error", "param": None, "code": None}}),
    "rejected": (400, {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": None}}),
    "too_large": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 8 tokens.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
    ),
}


def _response_body(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "model": "fake-judge-1",
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "status": "completed", "content": [part]},
        ],
        "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
    }


def _never_asked(custom_id: str, code: str) -> dict[str, Any]:
    return {"id": "x", "custom_id": custom_id, "response": None, "error": {"code": code, "message": "not processed"}}
