"""Bodies as OpenAI Responses, Azure, OpenRouter and Mistral answer, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.server import Answer, answer_json


def response(*items: str | Mapping[str, object], status: str | None = "completed", **fields: object) -> dict[str, Any]:
    """A response of these output items after a reasoning item; a string is a message with that text."""
    output = [{"id": "rs_1", "type": "reasoning", "summary": []}]
    output += [said(item) if isinstance(item, str) else dict(item) for item in items]
    return {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-fake-1",
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": output,
        "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
        **fields,
    }


def said(*parts: str | Mapping[str, object], **fields: object) -> dict[str, Any]:
    """A message item of these parts; a string is an `output_text` part."""
    content = [{"type": "output_text", "text": part} if isinstance(part, str) else dict(part) for part in parts]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content, **fields}


def function_call(arguments: object) -> dict[str, Any]:
    return {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "verdict", "arguments": arguments}


def azure_filter() -> Answer:
    """A prompt that Azure's content filter stopped."""
    verdict = {"hate": {"filtered": True, "severity": "medium"}}
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": verdict}
    body = {"message": "filtered", "type": None, "param": "prompt", "code": "content_filter", "status": 400}
    return answer_json({"error": {**body, "innererror": inner}}, 400)


def routed(status: int, message: str = "no", http: int | None = None, **metadata: object) -> Answer:
    """An OpenRouter error: `status` stands in the body, and is the answer's own unless `http` is given."""
    error = {"code": status, "message": message, **({"metadata": metadata} if metadata else {})}
    return answer_json({"error": error}, http or status)


def flat(status: int, message: object = "no", kind: str = "invalid_request", code: object = None) -> Answer:
    """A Mistral error."""
    return answer_json(
        {"object": "error", "message": message, "type": kind, "param": None, "code": code, "raw_status_code": status},
        status,
    )
