"""Message batches as Anthropic has them, on the loopback; see `batch_servers`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.batch_servers import Batch, BatchServer
from tests.fakes.server import Answer, Recorded, answer_json
from tests.fakes.verdicts import verdict_for

_ERRORS = {
    "server_error": {"type": "api_error", "message": "try again"},
    "rejected": {"type": "invalid_request_error", "message": "no"},
    "too_large": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"},
}


class AnthropicBatchServer(BatchServer):
    """Message batches, and the live messages beside them."""

    page = 100
    gone = False

    def answer(self, request: Recorded) -> Answer:
        path = urlsplit(request.path).path.removeprefix("/v1")
        assert request.headers["anthropic-version"]
        match request.method, path.strip("/").split("/"):
            case "POST", ["messages"]:
                self.live += 1
                kind, body = self._reply(request.json)
                return answer_json(body if kind == "succeeded" else {"type": "error", "error": body}, _status(kind))
            case "POST", ["messages", "batches"]:
                return self._create(request.json)
            case "GET", ["messages", "batches"]:
                return self._list(parse_qs(urlsplit(request.path).query))
            case "GET", ["messages", "batches", name] if name in self.batches:
                return answer_json(self._shown(self.batches[name]))
            case "POST", ["messages", "batches", name, "cancel"] if name in self.batches:
                self.batches[name].status = "canceling"
                return answer_json(self._shown(self.batches[name]))
            case "GET", ["messages", "batches", name, "results"] if not self.gone:
                return Answer(body=self._results(self.batches[name]))
            case _:
                missing = {"type": "not_found_error", "message": f"Not found: {path}"}
                return answer_json({"type": "error", "error": missing}, 404)

    def finish(self, status: str | None = None) -> None:
        for batch in self.batches.values():
            if batch.status == "canceling":
                batch.cancelled_after = len(batch.lines) // 2
            batch.status = "ended"

    def _create(self, wanted: dict[str, Any]) -> Answer:
        if self.refuse_create is not None:
            return self.refuse_create
        batch = self.new_batch([(line["custom_id"], line["params"]) for line in wanted["requests"]])
        return self.create_answer(answer_json(self._shown(batch)))

    def _reply(self, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if self.refuses is not None and self.refuses in body:
            message = f"{self.refuses}: this model does not support it"
            return "errored", {"type": "invalid_request_error", "message": message}
        text = json.dumps(verdict_for(body["output_config"]["format"]["schema"], self.score))
        return "succeeded", {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "fake-judge-1",
            "content": [{"type": "thinking", "thinking": ""}, {"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }

    def _list(self, query: dict[str, list[str]]) -> Answer:
        newest = list(reversed(self.batches.values()))
        after = query.get("after_id", [""])[0]
        start = next((at + 1 for at, batch in enumerate(newest) if batch.id == after), 0)
        shown = [self._shown(batch) for batch in newest[start : start + self.page]]
        return answer_json({"data": shown, "has_more": start + len(shown) < len(newest)})

    def _shown(self, batch: Batch) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if batch.status == "ended":
            for result in map(json.loads, self._results(batch).splitlines()):
                counts[result["result"]["type"]] += 1
        else:
            counts["processing"] = len(batch.lines)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": batch.status,
            "request_counts": counts,
            "created_at": datetime.fromtimestamp(batch.created, UTC).isoformat().replace("+00:00", "Z"),
            "results_url": "https://elsewhere.example/steal" if batch.status == "ended" else None,
        }

    def _results(self, batch: Batch) -> bytes:
        results = [self._result(custom_id, body, fate) for custom_id, body, fate in self.done(batch)]
        if batch.cancelled_after is not None:
            results += [_line(custom_id, "canceled") for custom_id, _ in batch.lines[batch.cancelled_after :]]
        return self.shuffled(results)

    def _result(self, custom_id: str, body: dict[str, Any], fate: str) -> bytes:
        if fate == "expired":
            return _line(custom_id, "expired")
        kind, content = ("errored", _ERRORS[fate]) if fate in _ERRORS else self._reply(body)
        if kind == "errored":
            return _line(custom_id, kind, error={"type": "error", "error": content, "request_id": "req_1"})
        return _line(custom_id, kind, message=content)


def _line(custom_id: str, kind: str, **more: Any) -> bytes:
    return json.dumps({"custom_id": custom_id, "result": {"type": kind, **more}}).encode()


def _status(kind: str) -> int:
    return 200 if kind == "succeeded" else 400
