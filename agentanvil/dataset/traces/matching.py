"""Tool spans → the calls that the messages tell: one call stands in both."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from agentanvil.dataset.texts import canonical_text
from agentanvil.dataset.traces.events import Called
from agentanvil.dataset.traces.nodes import Node


class Matcher:
    """Finds the told call of a tool span: by id, by tool and arguments, or by tool where only one is left."""

    def __init__(self, calls: Sequence[Called]) -> None:
        self._taken: set[int] = set()
        self._by: dict[tuple[str, ...], deque[Called]] = {}
        self._open: Counter[str] = Counter()
        for call in calls:
            self._open[call.tool] += 1
            self._by.setdefault(("tool", call.tool), deque()).append(call)
            self._by.setdefault(("args", call.tool, canonical_text(call.args)), deque()).append(call)
            if call.call_id is not None:
                self._by.setdefault(("id", call.call_id), deque()).append(call)

    def find(self, node: Node) -> Called | None:
        if node.call_id is not None:
            return self._take(("id", node.call_id))
        found = self._take(("args", node.name, canonical_text(node.args)))
        if found is None and self._open[node.name] == 1:
            found = self._take(("tool", node.name))
        return found

    def _take(self, key: tuple[str, ...]) -> Called | None:
        queue = self._by.get(key, deque())
        while queue:
            call = queue.popleft()
            if id(call) not in self._taken:
                self._taken.add(id(call))
                self._open[call.tool] -= 1
                return call
        return None


def fill_call(call: Called, node: Node) -> None:
    """Give `call` what its span `node` knows; what only the messages know stays."""
    if node.args is not None or (node.args_raw is not None and call.args is None):
        call.args, call.args_raw = node.args, node.args_raw
    if node.answered:
        call.answered, call.result = True, node.result
    call.error = node.error if node.error is not None else call.error
    call.redacted = call.redacted or node.redacted
    call.tool = call.tool or node.name
