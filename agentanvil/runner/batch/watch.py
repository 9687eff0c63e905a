"""Looking after open batches: how far each is, and waiting until all have ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentanvil.client.batch.api import BatchApi, BatchState
from agentanvil.errors import CallError, EndpointError
from agentanvil.runner.batch.access import World
from agentanvil.runner.batch.ledger import Part
from agentanvil.runner.batch.places import Places

_FIRST_PAUSE_S = 5.0
_LONGEST_PAUSE_S = 60.0
_SHOWN_PROBLEMS = 3
UNKNOWN_THERE = "unknown"
"""The state of a batch that the provider does not know, at least not with this key."""


@dataclass(frozen=True, slots=True)
class Watched:
    """An open part and the state of its batch; None where it is not known whether there is one."""

    part: Part
    state: BatchState | None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state is not None and self.state.phase != "running"


async def look(api: BatchApi, parts: Sequence[Part]) -> list[Watched]:
    """Ask for the state of each part's batch. Raises CallError, also for a batch that is not known there."""
    watched = []
    for part in parts:
        try:
            watched.append(Watched(part, None if part.batch is None else await api.state(part.batch)))
        except EndpointError as error:
            raise _with_batch(error, part) from error
    return watched


async def wait(api: BatchApi, parts: Sequence[Part], world: World) -> list[Watched]:
    """Look again and again until every batch that is known of has ended."""
    pause = _FIRST_PAUSE_S
    total = sum(part.tasks for part in parts)
    while True:
        watched = await look(api, parts)
        states = [each.state for each in watched if each.state is not None]
        world.listener.step("batches", sum(state.succeeded + state.failed for state in states), total)
        if all(each.state is None or each.is_over for each in watched):
            return watched
        await world.time.sleep(pause)
        pause = min(_LONGEST_PAUSE_S, pause * 1.5)


def problems_of(part: Part, state: BatchState, places: Places) -> list[str]:
    """Return why a batch failed as a whole, each place with the row that it is about."""
    said = []
    rows = {problem.line for problem in state.problems[:_SHOWN_PROBLEMS] if problem.line is not None}
    at = {line: places.row(ordinal) for line, ordinal in enumerate(part.ordinals(), start=1) if line in rows}
    for problem in state.problems[:_SHOWN_PROBLEMS]:
        row = at.get(problem.line) if problem.line is not None else None
        where = "" if problem.line is None else f"line {problem.line}" + (f" (row {row}): " if row else ": ")
        said.append(f"{where}{problem.message}")
    more = len(state.problems) - len(said)
    return said + ([f"and {more} more"] if more else [])


def is_unknown(error: CallError) -> bool:
    """Tell whether an error says that there is no such batch."""
    return isinstance(error, EndpointError) and error.status == 404


def _with_batch(error: EndpointError, part: Part) -> EndpointError:
    if is_unknown(error):
        return EndpointError(
            f"the provider knows no batch {part.batch}: {error.message}",
            code=error.code,
            status=error.status,
            hint="Use the key that it was submitted with. `anvil batch cancel` gives up what the provider lost.",
        )
    return error
