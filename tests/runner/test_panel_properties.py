"""However a run of several judges came about, in the end it is the run of one sitting, and nobody was asked twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentanvil.errors import InputError
from agentanvil.runner.exits import Exit
from agentanvil.runner.panel_settings import PanelSettings
from tests.fakes.decision_servers import systemone
from tests.fakes.panels import deciding, judge, number_in
from tests.fakes.runs import Runs, rows
from tests.fakes.server import Answer, FakeServer, Recorded, error
from tests.fakes.verdicts import graded

ROWS, REPEATS = 5, 2
ROLES = ("jury", "cross", "escalation")


@dataclass(frozen=True)
class Sitting:
    """One command: how much it may do, which rows the second judge fails on, and what a crash takes away."""

    limit: int
    repeats: int
    concurrency: int
    max_calls: int | None
    broken: frozenset[int]
    lost_bytes: int


SITTINGS = st.lists(
    st.builds(
        Sitting,
        limit=st.integers(1, ROWS),
        repeats=st.integers(1, REPEATS),
        concurrency=st.integers(1, 3),
        max_calls=st.none() | st.integers(0, 12),
        broken=st.frozensets(st.integers(0, ROWS - 1)),
        lost_bytes=st.just(0) | st.integers(0, 1500),
    ),
    max_size=3,
)


class Second:
    """The judge beside the first; it counts what it answered."""

    def __init__(self) -> None:
        self.broken: frozenset[int] = frozenset()
        self.answered: Counter[bytes] = Counter()

    def __call__(self, request: Recorded) -> Answer:
        number = number_in(request.body.decode())
        if number in self.broken:
            return error(500, "broken")
        self.answered[request.body] += 1
        return graded(request, 1 + (number + request.json["seed"]) % 5)


@pytest.fixture
def second() -> Second:
    return Second()


@pytest.fixture
def servers(second: Second) -> Iterator[tuple[FakeServer, FakeServer]]:
    first = systemone(deciding(lambda n: n % 2 == 0, (0.0, 0.1, 0.9), (0.3, 0.3, 0.4)))
    with FakeServer(first) as one, FakeServer(second) as two:
        yield one, two


def beside(role: str, server: FakeServer) -> PanelSettings:
    if role == "jury":
        return PanelSettings(jury=(judge(server),))
    if role == "cross":
        return PanelSettings(cross_judge=judge(server), cross_sample=0.5)
    return PanelSettings(escalate_to=judge(server), escalate_share=0.3)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(role=st.sampled_from(ROLES), sittings=SITTINGS)
def test_the_end_does_not_tell_the_way(
    tmp_path_factory: pytest.TempPathFactory,
    second: Second,
    servers: tuple[FakeServer, FakeServer],
    role: str,
    sittings: list[Sitting],
) -> None:
    one, two = servers
    runs = Runs(tmp_path_factory.mktemp("run"), f"systemone:d@{one.url}", *rows(ROWS))
    how = {"panel": beside(role, two), "evidence": "none"}
    second.answered.clear()
    before = len(one.requests)
    for sitting in sittings:
        sit(runs, second, sitting, **how)
    second.broken = frozenset()
    assert runs.grade(repeats=REPEATS, **how).exit is Exit.OK
    if not any(sitting.lost_bytes for sitting in sittings):
        assert second.answered.total() == len(second.answered)
        assert len(one.requests) - before == ROWS * REPEATS
    found = runs.reports()
    asked = [len(server.requests) for server in servers]
    assert runs.grade(repeats=REPEATS, concurrency=1, **how).exit is Exit.OK
    assert [len(server.requests) for server in servers] == asked
    runs.grade(repeats=REPEATS, out=runs.folder / "one-sitting", **how)
    assert runs.reports() == runs.reports(runs.folder / "one-sitting") == found


def sit(runs: Runs, second: Second, sitting: Sitting, **how: object) -> None:
    second.broken = sitting.broken
    try:
        runs.grade(
            limit=sitting.limit,
            repeats=sitting.repeats,
            concurrency=sitting.concurrency,
            max_calls=sitting.max_calls,
            **how,
        )
    except InputError:
        second.broken = frozenset()
    journal = runs.out / "journal.jsonl"
    if journal.exists():
        kept = journal.read_bytes()
        journal.write_bytes(kept[: max(len(kept.split(b"\n", 1)[0]) + 1, len(kept) - sitting.lost_bytes)])
