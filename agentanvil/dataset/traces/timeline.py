"""Histories that repeat each other → each event once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentanvil.dataset.texts import canonical_text
from agentanvil.dataset.traces.events import Called, Event, Said, Thought


@dataclass(slots=True)
class Timeline:
    """What was told so far: a history is taken in only as far as it goes beyond that."""

    events: list[tuple[int, Event]] = field(default_factory=list)
    known: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def add(self, history: Sequence[tuple[int, Event, bool]]) -> None:
        """Take in (rank, event, is new for certain); of the others, as many as stand here more often than known."""
        here: Counter[tuple[str, ...]] = Counter()
        for rank, event, is_new in history:
            mark = _mark(event)
            here[mark] += 1
            if is_new or here[mark] > self.known[mark]:
                self.known[mark] += 1
                self.events.append((rank, event))


def _mark(event: Event) -> tuple[str, ...]:
    """What makes two tellings of an event the same."""
    if isinstance(event, Said):
        return (event.role, event.text.strip())
    if isinstance(event, Thought):
        return ("thought", event.text.strip())
    kind = "call" if isinstance(event, Called) else "result"
    if event.call_id is not None:
        return (kind, event.call_id)
    value = event.args if isinstance(event, Called) else event.result
    return (kind, "", event.tool or "", canonical_text(value))
