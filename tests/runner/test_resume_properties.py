"""However a run came about (cut short, starved, broken, killed, cached), in the end it is the run of one sitting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentanvil.errors import InputError
from agentanvil.runner.exits import Exit
from tests.fakes.runs import Runs, asked_about, read_journal, rows
from tests.fakes.server import Answer, FakeServer, Recorded, chat, error
from tests.fakes.verdicts import graded

ROWS, REPEATS = 5, 2
FAULTS = (
    error(500, "broken"),
    error(400, "no", code="content_filter"),
    chat("not a verdict"),
    Answer(reset=True),
    error(401, "key revoked"),
)


@dataclass(frozen=True)
class Sitting:
    """One command: how much it may do, what fails, and how much of the journal's end a crash takes away."""

    limit: int
    repeats: int
    concurrency: int
    max_calls: int | None
    cached: bool
    broken: frozenset[str]
    fault: int
    lost_bytes: int


SITTINGS = st.lists(
    st.builds(
        Sitting,
        limit=st.integers(1, ROWS),
        repeats=st.integers(1, REPEATS),
        concurrency=st.integers(1, 4),
        max_calls=st.none() | st.integers(0, 6),
        cached=st.booleans(),
        broken=st.frozensets(st.sampled_from([str(n) for n in range(ROWS)])),
        fault=st.integers(0, len(FAULTS) - 1),
        lost_bytes=st.integers(0, 900),
    ),
    max_size=4,
)


class Judge:
    """Scores by row and repeat; answers about some rows with a fault instead."""

    def __init__(self) -> None:
        self.broken: frozenset[str] = frozenset()
        self.fault = FAULTS[0]
        self.answered: Counter[bytes] = Counter()

    def __call__(self, request: Recorded) -> Answer:
        number = asked_about(request)
        if number in self.broken:
            return self.fault
        self.answered[request.body] += 1
        return graded(request, 1 + (int(number) + 2 * request.json["seed"]) % 5)


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def server(judge: Judge) -> Iterator[FakeServer]:
    with FakeServer(judge) as server:
        yield server


def sit(runs: Runs, judge: Judge, sitting: Sitting) -> None:
    judge.broken, judge.fault = sitting.broken, FAULTS[sitting.fault]
    try:
        runs.grade(
            limit=sitting.limit,
            repeats=sitting.repeats,
            concurrency=sitting.concurrency,
            max_calls=sitting.max_calls,
            cache=str(runs.folder / "cache") if sitting.cached else "off",
        )
    except InputError:
        judge.broken = frozenset()  # the key was refused before anything else was heard
    journal = runs.out / "journal.jsonl"
    if journal.exists():
        kept = journal.read_bytes()
        journal.write_bytes(kept[: max(len(kept.split(b"\n", 1)[0]) + 1, len(kept) - sitting.lost_bytes)])


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(sittings=SITTINGS)
def test_the_end_does_not_tell_the_way(
    tmp_path_factory: pytest.TempPathFactory, judge: Judge, server: FakeServer, sittings: list[Sitting]
) -> None:
    runs = Runs(tmp_path_factory.mktemp("run"), server, *rows(ROWS))
    for sitting in sittings:
        sit(runs, judge, sitting)
    judge.broken = frozenset()
    assert runs.grade(repeats=REPEATS).exit is Exit.OK
    before = runs.reports()
    asked = len(server.requests)
    assert runs.grade(repeats=REPEATS, concurrency=1).exit is Exit.OK
    assert len(server.requests) == asked
    assert runs.reports() == before
    runs.grade(repeats=REPEATS, out=runs.folder / "one-sitting")
    assert runs.reports(runs.folder / "one-sitting") == before
    latest = {(line["row"], line["repeat"]): line for line in read_journal(runs.out)}
    assert len(latest) == ROWS * REPEATS


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(sittings=SITTINGS)
def test_what_was_judged_and_kept_is_never_judged_again(
    tmp_path_factory: pytest.TempPathFactory, judge: Judge, server: FakeServer, sittings: list[Sitting]
) -> None:
    runs = Runs(tmp_path_factory.mktemp("run"), server, *rows(ROWS))
    judge.answered.clear()
    for sitting in sittings:
        sit(runs, judge, replace(sitting, lost_bytes=0, cached=False))
    judge.broken = frozenset()
    runs.grade(repeats=REPEATS)
    assert judge.answered.total() == len(judge.answered) == ROWS * REPEATS
