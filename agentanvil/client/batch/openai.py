"""OpenAI's batches: a file of requests is uploaded, a batch made of it, and its results are files again."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path

import orjson

from agentanvil.client.batch.api import BatchState, Framing, Limits, Mark, Phase, Problem, Recovery, ResultLine
from agentanvil.client.batch.http import BatchHttp, FileBody
from agentanvil.client.batch.wire import (
    MOST_PAGES,
    as_reply,
    count_of,
    items_of,
    moment_of,
    named_id,
    read_result,
    text_of,
)
from agentanvil.errors import MalformedBodyError

_PHASES: Mapping[str, Phase] = {"failed": "failed", "completed": "ended", "expired": "ended", "cancelled": "ended"}
_NEVER_ASKED = "batch_"
"""What codes begin with that stand at requests which their batch never came to: expired, cancelled."""
_PAGE = 100
_OLDER_S = 3600.0  # the provider's clock and this one may differ


class OpenAIBatches:
    """Batches of one endpoint, such as `/chat/completions`, below a base URL that ends in `/v1`."""

    limits = Limits(requests=50_000, size=200 * 10**6)
    uploads = True
    framing = Framing()

    def __init__(self, http: BatchHttp, path: str) -> None:
        self._http = http
        self._url = f"/v1{path}"

    def request(self, custom_id: str, body: bytes) -> bytes:
        """Return one line of the input file."""
        line = {"custom_id": custom_id, "method": "POST", "url": self._url, "body": orjson.Fragment(body)}
        return orjson.dumps(line)

    async def create(self, file: Path, mark: Mark, uploaded: Callable[[str], None]) -> BatchState:
        """Upload the file, then make a batch of it that carries the mark as its metadata."""
        kind, body = _form(file, f"anvil-{mark.token}.jsonl")
        sent = await self._http.post("/files", body, kind, repeatable=True)
        file_id = named_id(sent.get("id"), "file id")
        uploaded(file_id)
        wanted = {
            "input_file_id": file_id,
            "endpoint": self._url,
            "completion_window": "24h",
            "metadata": {"anvil_run": mark.run, "anvil_part": mark.token},
        }
        return read_batch(await self._http.post("/batches", orjson.dumps(wanted)))

    async def state(self, batch_id: str) -> BatchState:
        return read_batch(await self._http.get(f"/batches/{named_id(batch_id, 'batch id')}"))

    async def cancel(self, batch_id: str) -> BatchState:
        return read_batch(await self._http.post(f"/batches/{named_id(batch_id, 'batch id')}/cancel", repeatable=True))

    async def recover(self, mark: Mark, _known: frozenset[str]) -> Recovery:
        """Look for the mark among the metadata of all batches made since, newest first."""
        query: dict[str, str | int] = {"limit": _PAGE}
        for _ in range(MOST_PAGES):
            page = await self._http.get("/batches", query)
            items = items_of(page)
            for item in items:
                metadata = item.get("metadata")
                if isinstance(metadata, dict) and metadata.get("anvil_part") == mark.token:
                    return Recovery(read_batch(item))
            oldest = moment_of(items[-1].get("created_at")) if items else None
            after = named_id(items[-1].get("id"), "batch id") if items else ""
            too_old = oldest is not None and oldest < mark.since - _OLDER_S
            if not page.get("has_more") or not after or too_old:
                break
            query["after"] = after
        return Recovery()

    async def results(self, state: BatchState) -> AsyncGenerator[ResultLine | None, None]:
        """Yield the lines of the output file, then those of the error file."""
        for file_id in state.results:
            async with aclosing(self._http.lines(f"/files/{file_id}/content")) as lines:
                async for line in lines:
                    if line.strip():
                        yield read_line(line)

    async def close(self) -> None:
        await self._http.close()


def read_batch(body: Mapping[str, object]) -> BatchState:
    """Read a batch object. Raises MalformedBodyError for one without id or state."""
    word = body.get("status")
    if not isinstance(word, str):
        raise MalformedBodyError("the batch API gave no state of the batch")
    counts = body.get("request_counts")
    files = [named_id(value, "file id") for name in ("output_file_id", "error_file_id") if (value := body.get(name))]
    return BatchState(
        id=named_id(body.get("id"), "batch id"),
        phase=_PHASES.get(word, "running"),
        word=text_of(word),
        total=count_of(counts, "total"),
        succeeded=count_of(counts, "completed"),
        failed=count_of(counts, "failed"),
        created=moment_of(body.get("created_at")),
        problems=tuple(_problems(body.get("errors"))),
        results=tuple(dict.fromkeys(files)),
    )


def read_line(line: bytes) -> ResultLine | None:
    """Read one line of an output or error file; None where it cannot be read."""
    result = read_result(line)
    if result is None:
        return None
    custom_id, fields = result
    error, response = fields.get("error"), fields.get("response")
    if isinstance(error, dict) and error:
        if str(error.get("code") or "").startswith(_NEVER_ASKED):
            return ResultLine(custom_id, None)
        if not isinstance(response, dict):
            reply = as_reply({"error": error})
            return None if reply is None else ResultLine(custom_id, reply)
    if not isinstance(response, dict) or type(response.get("status_code")) is not int:
        return None
    request_id = response.get("request_id")
    headers = {"x-request-id": request_id} if isinstance(request_id, str) else {}
    reply = as_reply(response.get("body"), response["status_code"], headers)
    return None if reply is None else ResultLine(custom_id, reply)


def _problems(errors: object) -> list[Problem]:
    found = []
    for item in items_of(errors) if isinstance(errors, dict) else []:
        code, message = text_of(item.get("code")), text_of(item.get("message"))
        line = item.get("line")
        said = f"{message} ({code})" if message and code else message or code or "no reason given"
        found.append(Problem(said, line if type(line) is int and line > 0 else None))
    return found


def _form(file: Path, name: str) -> tuple[str, FileBody]:
    """Return the multipart form that uploads a file for a batch, and its content type."""
    boundary = f"anvil-{secrets.token_hex(16)}"
    before = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    return f"multipart/form-data; boundary={boundary}", FileBody(
        file, before.encode(), f"\r\n--{boundary}--\r\n".encode()
    )
