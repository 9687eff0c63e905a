"""Is it this row or the whole endpoint? A refusal that nothing explains is settled by what other calls meet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Proof:
    """Whether the endpoint has answered any request yet.

    Once it has, an unexplained 400 concerns its own row. Before that it waits for the calls in flight beside
    it: if one of them passes it is the row; if none does, it is the endpoint. So one bad row among good ones
    does not end a run, and an endpoint that refuses everything costs no more calls than were in flight.
    """

    def __init__(self) -> None:
        self._passed = False
        self._undecided = 0
        self._waiting: set[asyncio.Future[bool]] = set()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Count a call as in flight; leaving without an exception means that it passed."""
        self._undecided += 1
        try:
            yield
            self._passed = True
        finally:
            self._undecided -= 1
            if self._waiting and (self._passed or self._undecided == 0):
                self._settle()

    async def passed(self) -> bool:
        """Tell whether any call passed; waits while that is open. Ask it outside of `call`."""
        if self._passed or self._undecided == 0:
            return self._passed
        news: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.add(news)
        try:
            return await news
        finally:
            self._waiting.discard(news)

    def _settle(self) -> None:
        for news in self._waiting:
            if not news.done():
                news.set_result(self._passed)
