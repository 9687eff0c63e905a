"""What of a row a verdict may rest on, as the judge reads it."""

from __future__ import annotations

from dataclasses import dataclass

from agentanvil.dataset import Contender, Row, Trace
from agentanvil.plan import UNORDERED, Order, shown
from agentanvil.prompt.trace_text import TraceText, trace_text

# A row has one run, or two; the calls of a row follow one another.
_RUNS_KEPT = 2


@dataclass(frozen=True, slots=True)
class Material:
    """The response, or those in the slots A and B, and the source passages.

    A response that is an agent's run is a TraceText, which also knows the places that evidence may name; any other is
    its own text, untouched.
    """

    responses: tuple[str | TraceText, ...]
    source: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The responses as text."""
        return tuple(response if isinstance(response, str) else response.text for response in self.responses)


class MaterialReader:
    """Row → material. The newest runs are kept as text, so that a row with several calls is rendered once."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[tuple[Trace, TraceText]] = []

    def read(self, row: Row, order: Order) -> Material:
        """Return what a task shows: response_a alone where there is no order, else both in that order.

        Raises ValueError for an order where the row has one response.
        """
        if order == UNORDERED:
            return Material((self._response(Contender(row.response, trace=row.trace)),), row.source)
        return Material(tuple(map(self._response, shown(row, order))), row.source)

    def _response(self, side: Contender) -> str | TraceText:
        if side.trace is None:
            return side.response
        for trace, text in self._runs:
            if trace is side.trace:
                return text
        text = trace_text(side.trace)
        self._runs = [*self._runs[1 - _RUNS_KEPT :], (side.trace, text)]
        return text
