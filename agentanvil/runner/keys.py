"""Ctrl-C: the first press finishes what is in flight, the second stops at once.

SIGTERM comes from a machine that presses once and kills soon after: what is in flight has a few seconds.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from types import TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_POLL_S = 0.05
TERM_GRACE_S = 5.0
"""How long SIGTERM waits for calls in flight; containers are killed ten seconds after it."""


class Keys:
    """While the context lasts, SIGINT and SIGTERM steer `work` instead of killing the process.

    The first calls `wind_down` (take nothing new) and cancels `work` as soon as `in_flight` is 0, so that
    tasks which only wait their turn are given up; the second cancels it at once. After SIGTERM so do `grace_s` seconds.
    """

    def __init__(
        self,
        work: asyncio.Future[None],
        wind_down: Callable[[], None],
        in_flight: Callable[[], int],
        grace_s: float = TERM_GRACE_S,
    ) -> None:
        self.presses = 0
        self._grace_s = grace_s
        self._work = work
        self._wind_down = wind_down
        self._in_flight = in_flight
        self._drain: asyncio.Task[None] | None = None
        self._end: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for each in _SIGNALS:
            try:
                loop.add_signal_handler(each, self._press, each)
            except NotImplementedError:  # Windows: Ctrl-C cancels the run at once, and the journal still resumes it
                return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        for each in _SIGNALS:
            try:
                loop.remove_signal_handler(each)
            except NotImplementedError:
                break
        if self._drain is not None:
            self._drain.cancel()
        if self._end is not None:
            self._end.cancel()

    def _press(self, signal_: signal.Signals) -> None:
        self.presses += 1
        if self.presses > 1:
            self._work.cancel()
            return
        self._wind_down()
        if signal_ == signal.SIGTERM:
            self._end = asyncio.get_running_loop().call_later(self._grace_s, self._work.cancel)
        self._drain = asyncio.get_running_loop().create_task(self._cancel_when_idle())

    async def _cancel_when_idle(self) -> None:
        while self._in_flight():  # noqa: ASYNC110 - only after Ctrl-C, and the count lives in another room
            await asyncio.sleep(_POLL_S)
        self._work.cancel()
