"""Bodies as Anthropic Messages and Gemini's generateContent answer, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.server import Answer, answer_json


def claude(*blocks: str | Mapping[str, object], stop: str | None = "end_turn", **fields: object) -> dict[str, Any]:
    """A message of these content blocks; a string is a text block."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else dict(block) for block in blocks]
    usage = {"input_tokens": 100, "output_tokens": 20}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-fake-1", "content": content}
    return {**message, "stop_reason": stop, "usage": usage, **fields}


def claude_error(status: int, kind: str, message: str = "no", *, code: str | None = None, **how: Any) -> Answer:
    details = {"details": {"error_code": code}} if code else {}
    body = {"type": "error", "error": {"type": kind, "message": message, **details}, "request_id": "req_1"}
    return answer_json(body, status, **how)


def gemini(*parts: str | Mapping[str, object], finish: str | None = "STOP", **fields: object) -> dict[str, Any]:
    """An answer with one candidate of these parts; a string is a text part. `fields` join the candidate."""
    content = {"role": "model", "parts": [{"text": part} if isinstance(part, str) else dict(part) for part in parts]}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    return {
        "candidates": [{"content": content, "finishReason": finish, "index": 0, **fields}],
        "usageMetadata": usage,
        "modelVersion": "gemini-fake-1",
        "responseId": "resp_1",
    }


def gemini_error(status: int, name: str, message: str = "no", *details: Mapping[str, object], **how: Any) -> Answer:
    body = {"error": {"code": status, "message": message, "status": name, "details": list(details)}}
    return answer_json(body, status, **how)
