"""Anthropic's message batches: all requests go in with the batch itself, and nothing but their ids is theirs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path

import orjson

from agentanvil.client.batch.api import BatchState, Framing, Limits, Mark, Recovery, ResultLine
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

_ENDED = "ended"
_NEVER_ASKED = frozenset({"canceled", "expired"})
_FAILED = ("errored", "canceled", "expired")
_COUNTS = ("processing", "succeeded", *_FAILED)
_PAGE = 100
_SLACK_S = 3600.0  # the provider's clock and this one may differ, and a large batch takes its time to go out


class AnthropicBatches:
    """Batches of messages below a base URL; `path` is where a live message goes."""

    limits = Limits(requests=100_000, size=256 * 10**6)
    uploads = False
    framing = Framing(b'{"requests":[', b",\n", b"]}")

    def __init__(self, http: BatchHttp, path: str) -> None:
        self._http = http
        self._path = f"{path}/batches"

    def request(self, custom_id: str, body: bytes) -> bytes:
        """Return one element of the request list."""
        return orjson.dumps({"custom_id": custom_id, "params": orjson.Fragment(body)})

    async def create(self, file: Path, _mark: Mark, _uploaded: Callable[[str], None]) -> BatchState:
        """Send the file, which is the whole request. No mark can be set on it: the custom ids begin with it."""
        return read_batch(await self._http.post(self._path, FileBody(file)))

    async def state(self, batch_id: str) -> BatchState:
        return read_batch(await self._http.get(self._at(batch_id)))

    async def cancel(self, batch_id: str) -> BatchState:
        return read_batch(await self._http.post(f"{self._at(batch_id)}/cancel", repeatable=True))

    async def recover(self, mark: Mark, known: frozenset[str]) -> Recovery:
        """Look for a batch of the same size and time whose results carry the mark.

        As long as such a one runs its ids cannot be read, so that nothing is sure.
        """
        unsure = False
        async with aclosing(self._since(mark.since - _SLACK_S)) as states:
            async for state in states:
                apart = state.created is not None and state.created > mark.since + _SLACK_S
                if state.id in known or state.total != mark.requests or apart:
                    continue
                if state.phase != "ended" or not state.results:
                    unsure = unsure or state.phase != "ended"
                elif await self._carries(state, mark.token):
                    return Recovery(state)
        return Recovery(unsure=unsure)

    async def results(self, state: BatchState) -> AsyncGenerator[ResultLine | None, None]:
        """Yield the lines of the results; where they are follows from the batch's id, whatever the answer said."""
        async with aclosing(self._http.lines(f"{self._at(state.id)}/results")) as lines:
            async for line in lines:
                if line.strip():
                    yield read_line(line)

    async def close(self) -> None:
        await self._http.close()

    async def _since(self, moment: float) -> AsyncGenerator[BatchState, None]:
        """Yield all batches made since a moment, newest first."""
        query: dict[str, str | int] = {"limit": _PAGE}
        for _ in range(MOST_PAGES):
            page = await self._http.get(self._path, query)
            states = [read_batch(item) for item in items_of(page)]
            for state in states:
                if state.created is not None and state.created < moment:
                    return
                yield state
            if not states or not page.get("has_more"):
                return
            query["after_id"] = states[-1].id

    async def _carries(self, state: BatchState, token: str) -> bool:
        async with aclosing(self.results(state)) as lines:
            async for line in lines:
                if line is not None:
                    return line.custom_id.startswith(token)
        return False

    def _at(self, batch_id: str) -> str:
        return f"{self._path}/{named_id(batch_id, 'batch id')}"


def read_batch(body: Mapping[str, object]) -> BatchState:
    """Read a message batch. Raises MalformedBodyError for one without id or state."""
    word = body.get("processing_status")
    if not isinstance(word, str):
        raise MalformedBodyError("the batch API gave no state of the batch")
    counts = body.get("request_counts")
    return BatchState(
        id=named_id(body.get("id"), "batch id"),
        phase="ended" if word == _ENDED else "running",
        word=text_of(word),
        total=sum(count_of(counts, name) for name in _COUNTS),
        succeeded=count_of(counts, "succeeded"),
        failed=sum(count_of(counts, name) for name in _FAILED),
        created=moment_of(body.get("created_at")),
        results=("results",) if word == _ENDED and body.get("results_url") else (),
    )


def read_line(line: bytes) -> ResultLine | None:
    """Read one line of the results; None where it cannot be read.

    An error of one request has no HTTP status of its own: it is read like one inside a 200.
    """
    result = read_result(line)
    if result is None:
        return None
    custom_id, fields = result
    outcome = fields.get("result")
    if not isinstance(outcome, dict):
        return None
    kind = outcome.get("type")
    if isinstance(kind, str) and kind in _NEVER_ASKED:
        return ResultLine(custom_id, None)
    reply = as_reply(outcome.get("message" if kind == "succeeded" else "error"))
    return None if reply is None or reply.body == b"null" else ResultLine(custom_id, reply)
