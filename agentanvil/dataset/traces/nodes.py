"""Spans, runs and observations as one kind of node, and what a node's place in the tree says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from agentanvil.dataset.traces.events import Event
from agentanvil.strict_json import JsonValue

Kind = Literal["agent", "workflow", "plan", "model", "tool", "judge", "other"]


@dataclass(slots=True, eq=False)
class Node:
    """One span. `start` and `end` only order the nodes of a trace; `latency_s` is the time that the span took.

    An agent's `inputs` and `outputs` may repeat what its model calls say; a model's `outputs` are what this very
    call brought. `judge` nodes are another judge's work. `error` is None where nobody knows, `fault` its text.
    `counts`: the format records tokens.
    """

    id: str
    parent: str | None
    kind: Kind
    name: str = ""
    start: int = 0
    end: int = 0
    latency_s: float | None = None
    inputs: list[Event] = field(default_factory=list)
    outputs: list[Event] = field(default_factory=list)
    call_id: str | None = None
    args: JsonValue = None
    args_raw: str | None = None
    result: JsonValue = None
    answered: bool = False
    redacted: bool = False
    error: bool | None = None
    fault: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    cut_short: bool = False
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: below which run, agent, tool, plan and model call, by node id; or inside a judge's work.

    `agent` is the outermost agent, `nested` the name of the innermost agent below another one.
    """

    root: str | None = None
    agent: str | None = None
    nested: str | None = None
    tool: str | None = None
    plan: str | None = None
    model: str | None = None
    judged: bool = False


class Tree:
    """The nodes of one trace by start, each with its place; repeated ids are left out and counted."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.by_id: dict[str, Node] = {}
        for node in nodes:
            self.by_id.setdefault(node.id, node)
        self.repeated = len(nodes) - len(self.by_id)
        self.nodes = sorted(self.by_id.values(), key=lambda node: node.start)
        self.places: dict[str, Place] = {}
        self.wrappers: set[str] = set()
        self.has_nested_agent = False
        self._place_all()

    @property
    def orphans(self) -> int:
        """How many nodes name a parent that the trace does not hold."""
        return sum(node.parent is not None and node.parent not in self.by_id for node in self.nodes)

    @property
    def tops(self) -> list[Node]:
        """The nodes that stand below nothing."""
        return [node for node in self.nodes if node.parent not in self.by_id]

    @property
    def roots(self) -> list[Node]:
        """The agents and workflows that stand below no other."""
        return [node for node in self.nodes if node.kind in ("agent", "workflow") and self.places[node.id].root is None]

    def _place_all(self) -> None:
        children: dict[str, list[Node]] = {}
        for node in self.nodes:
            if node.parent is not None and node.parent in self.by_id:
                children.setdefault(node.parent, []).append(node)
        # Whoever is left after the tops stands in a circle of parents: broken open at its first node.
        for top in [*self.tops, *self.nodes]:
            waiting = [] if top.id in self.places else [(top, Place())]
            while waiting:
                node, place = waiting.pop()
                if node.id in self.places:
                    continue
                self.places[node.id] = place
                if node.kind == "model" and place.model is not None:
                    self.wrappers.add(place.model)
                below = self._below(node, place)
                waiting += [(child, below) for child in children.get(node.id, ())]

    def _below(self, node: Node, place: Place) -> Place:
        """The place of what stands right below `node`."""
        root, agent, nested, tool, plan, model = (
            place.root, place.agent, place.nested, place.tool, place.plan, place.model,
        )  # fmt: skip
        judged = place.judged or node.kind == "judge"
        if node.kind == "agent":
            if agent is not None or tool is not None:
                nested = node.name or "agent"
                self.has_nested_agent = True
            agent, root, tool, model = agent or node.id, root or node.id, None, None
        elif node.kind == "workflow":
            root = root or node.id
        elif node.kind == "tool":
            tool, model = node.id, None
        elif node.kind == "plan":
            plan = node.id
        elif node.kind == "model":
            model = node.id
        return Place(root, agent, nested, tool, plan, model, judged)
