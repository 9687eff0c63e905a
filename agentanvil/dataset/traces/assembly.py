"""The nodes of one trace → its runs: each model call repeats the history, each tool call stands twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from agentanvil.dataset.traces.build import build_trace
from agentanvil.dataset.traces.events import Answered, Called, Event, Facts, Said
from agentanvil.dataset.traces.matching import Matcher, fill_call
from agentanvil.dataset.traces.measures import total, total_amount
from agentanvil.dataset.traces.nodes import Node, Tree
from agentanvil.dataset.traces.record import Trace
from agentanvil.dataset.traces.timeline import Timeline


def assemble(trace_id: str | None, nodes: Sequence[Node], notes: set[str]) -> list[Trace]:
    """Return one trace for each agent that stands below no other, or one for nodes without such an agent.

    `notes` are the warnings that reading the nodes gave. Tokens and costs are summed over the model calls that hold
    no other model call, the judges' own left out.
    """
    tree = Tree(nodes)
    notes |= _tree_notes(tree)
    roots = tree.roots
    if len(roots) < 2:
        return [_trace(trace_id, roots[0] if roots else None, tree.nodes, tree, notes)]
    notes.add("two_roots")
    shares = _shares(roots, tree)
    return [
        _trace(f"{trace_id}#{number}", root, share, tree, notes)
        for number, (root, share) in enumerate(zip(roots, shares, strict=True), 1)
    ]


def _tree_notes(tree: Tree) -> set[str]:
    found = {
        "duplicate_span": tree.repeated > 0,
        "orphan_span": tree.orphans > 0,
        "nested_agent": tree.has_nested_agent,
        "nested_generation": bool(tree.wrappers),
    }
    return {name for name, is_so in found.items() if is_so}


def _shares(roots: Sequence[Node], tree: Tree) -> list[list[Node]]:
    """Give every node to the run it stands in, or else to the last one that began before it."""
    at = {root.id: number for number, root in enumerate(roots)}
    shares: list[list[Node]] = [[] for _ in roots]
    begun = 0
    for node in tree.nodes:
        while begun + 1 < len(roots) and roots[begun + 1].start <= node.start:
            begun += 1
        root = node.id if node.id in at else tree.places[node.id].root
        shares[at.get(root or "", begun)].append(node)
    return shares


def _trace(trace_id: str | None, root: Node | None, nodes: Sequence[Node], tree: Tree, notes: set[str]) -> Trace:
    tops = [node for node in nodes if node.parent not in tree.by_id]
    head = root or (tops[0] if len(tops) == 1 else None)
    places = tree.places
    models = [node for node in nodes if node.kind == "model" and not places[node.id].judged]
    leaves = [node for node in models if node.id not in tree.wrappers]
    paying = leaves or ([head] if head else [])
    main = [node for node in leaves if not (places[node.id].nested or places[node.id].tool)]
    facts = Facts(
        id=trace_id,
        plan=_plan(nodes, tree),
        model=next((node.model for node in [*main, *paying] if node.model), None),
        tokens_in=total(node.tokens_in for node in paying),
        tokens_out=total(node.tokens_out for node in paying),
        latency_s=head.latency_s if head else None,
        cost_usd=total_amount(node.cost for node in paying),
        error=head.fault if head else None,
        warnings=set(notes),
    )
    if any(node.counts for node in leaves) and facts.tokens_in is None and facts.tokens_out is None:
        facts.warnings.add("tokens_missing")
    if main and main[-1].cut_short:
        facts.warnings.add("unfinished")
    return build_trace(_Story(nodes, head, tree).told(), facts)


def _plan(nodes: Sequence[Node], tree: Tree) -> str | None:
    """The text of explicit plan records; their model calls stand below them."""
    texts = [
        event.text
        for node in nodes
        if (node.kind == "plan" or tree.places[node.id].plan is not None) and tree.places[node.id].nested is None
        for event in node.outputs
        if isinstance(event, Said) and event.role == "assistant" and event.text
    ]
    return "\n".join(dict.fromkeys(texts)) or None


class _Story:
    """Tells one run from its nodes."""

    def __init__(self, nodes: Sequence[Node], head: Node | None, tree: Tree) -> None:
        self._nodes = [node for node in nodes if not tree.places[node.id].judged and node.kind != "judge"]
        self._head = head
        self._tree = tree
        self._line = Timeline()
        agents = {tree.places[node.id].agent or (node.id if node.kind == "agent" else None) for node in nodes}
        # Below a workflow, several agents stand side by side: their calls carry their names.
        self._labels_all = head is not None and head.kind == "workflow" and len(agents - {None}) > 1

    def told(self) -> list[Event]:
        """Return the events of the run in order."""
        models = [node for node in self._nodes if node.kind == "model" and self._speaks(node)]
        skipped = self._open([node for node in models if self._is_main(node)])
        for node in models:
            if node in skipped:
                node.inputs.remove(skipped[node])
            self._tell(node)
        last = max((node.start for node in self._nodes), default=0)
        for node in self._nodes:
            if self._repeats(node):
                self._line.add(_agent_history(node, last))
        return self._with_tools()

    def _open(self, main: Sequence[Node]) -> dict[Node, Event]:
        """Begin with what the run was asked, unless the first model call tells it in its place in the history.

        A template may wrap the question on its way to the model: its first user text is then the request, too.
        """
        head = self._head
        if head is not None and head.kind == "workflow" and not head.inputs:
            head = next((node for node in self._nodes if node.kind == "agent" and node.inputs), head)
        asked = head.inputs if head and head.kind != "model" else []
        users = {event.text.strip() for event in asked if isinstance(event, Said) and event.role == "user"}
        if head is None or not any(users):
            return {}
        for node in main:
            said = [event for event in node.inputs if isinstance(event, Said) and event.role == "user"]
            if not said:
                continue
            if any(event.text.strip() in users for event in said):
                return {}
            self._line.add([(head.start, event, False) for event in head.inputs])
            return {node: said[0]}
        self._line.add([(head.start, event, False) for event in head.inputs])
        return {}

    def _tell(self, node: Node) -> None:
        is_main, is_leaf, agent = self._is_main(node), node.id not in self._tree.wrappers, self._agent_of(node)
        history = [(node.start, event, False) for event in node.inputs if is_main or isinstance(event, Answered)]
        for event in node.outputs if is_leaf else ():
            if isinstance(event, Called):
                event.agent = agent
            if is_main or isinstance(event, Called):
                history.append((node.end, event, True))
        self._line.add(history)

    def _is_main(self, node: Node) -> bool:
        return self._labels_all or self._agent_of(node) is None

    def _repeats(self, node: Node) -> bool:
        """Whether a node's outputs only repeat, as a whole, what the model calls below it say."""
        if node.kind == "model":
            return node.id in self._tree.wrappers and self._speaks(node) and self._is_main(node)
        if node is self._head:
            return True
        is_part = node.kind == "agent" and self._tree.places[node.id].nested is None
        return is_part and self._head is not None and self._head.kind == "workflow"

    def _speaks(self, node: Node) -> bool:
        place = self._tree.places[node.id]
        return place.tool is None and place.plan is None

    def _agent_of(self, node: Node) -> str | None:
        place = self._tree.places[node.id]
        if place.nested is None and self._labels_all and place.agent is not None:
            return self._tree.by_id[place.agent].name or "agent"
        return place.nested

    def _with_tools(self) -> list[Event]:
        """Give the calls what their tool spans know; a span whose call nobody tells comes in at its start."""
        calls = [event for _, event in self._line.events if isinstance(event, Called)]
        matcher = Matcher(calls)
        late: deque[tuple[int, Called]] = deque()
        for node in self._nodes:
            if node.kind == "tool" and not self._is_same_call_inside(node):
                call = matcher.find(node)
                if call is None:
                    call = Called(node.name, node.call_id, agent=self._agent_of(node))
                    late.append((node.start, call))
                fill_call(call, node)
        return list(self._merged(late))

    def _merged(self, late: deque[tuple[int, Called]]) -> Iterator[Event]:
        done = {event.call_id for _, event in self._line.events if isinstance(event, Called) and event.answered}
        done |= {call.call_id for _, call in late if call.answered}
        for rank, event in self._line.events:
            while late and late[0][0] < rank:
                yield late.popleft()[1]
            if not (isinstance(event, Answered) and event.call_id is not None and event.call_id in done):
                yield event
        for _, call in late:
            yield call

    def _is_same_call_inside(self, node: Node) -> bool:
        """A client's span of a call stands inside the tool's own span."""
        outer = self._tree.places[node.id].tool
        return outer is not None and self._tree.by_id[outer].name == node.name


def _agent_history(node: Node, last: int) -> list[tuple[int, Event, bool]]:
    """What an agent's own span tells: it may be the whole conversation, which began when the agent did.

    Its answer comes after everything that it did, also where clocks disagree; `last` is the latest start of all.
    """
    history: list[tuple[int, Event, bool]] = []
    opening = True
    for event in node.outputs:
        opening = opening and isinstance(event, Said) and event.role == "user"
        history.append((node.start if opening else max(node.end, last + 1), event, False))
    return history
