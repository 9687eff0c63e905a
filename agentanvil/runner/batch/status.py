"""`anvil batch status` and `anvil batch cancel`: what the provider says of a run's batches, and giving them up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentanvil.client.batch.api import BatchApi
from agentanvil.errors import CallError, JudgeSetupError
from agentanvil.runner.batch.access import World, in_loop, open_desk, refuse_unbatchable
from agentanvil.runner.batch.ledger import Ledger, Part
from agentanvil.runner.batch.opened import Reach, open_run, stored_settings
from agentanvil.runner.batch.recovery import recover
from agentanvil.runner.batch.watch import Watched, is_unknown, look
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Exit
from agentanvil.runner.folder import RunFolder
from agentanvil.runner.local_judge import name_judge
from agentanvil.runner.settings import JudgeSettings

GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One batch as it is shown. `age_s` is seconds since it was handed over, `next` what to do."""

    batch: str | None
    state: str
    requests: int
    succeeded: int
    failed: int
    age_s: float
    next: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Status:
    """All batches of a run, in the order in which they were handed over."""

    folder: Path
    batches: tuple[BatchLine, ...]
    exit: Exit


def status(folder: Path, reach: Reach, world: World) -> Status:
    """Ask how far the open batches are. The exit code is MISSING as long as one runs, or is not known of.

    Raises RunFolderError for a folder without a submission, JudgeSetupError where the provider does not answer.
    """
    _, ledger = open_run(folder)
    settings = stored_settings(folder, ledger, reach).judge
    watched = _asked(ledger, settings, world, lambda api: look(api, ledger.open))
    now = world.time.clock()
    states = {each.part.number: each for each in watched}
    lines = tuple(
        _open_line(states[number], now) if number in states else _closed_line(part, now)
        for number, part in ledger.parts.items()
    )
    running = any(not each.is_over for each in watched)
    return Status(folder, lines, Exit.MISSING if running else Exit.OK)


def cancel(folder: Path, reach: Reach, world: World) -> Status:
    """Cancel every open batch that still runs; one that the provider does not know is given up.

    What was answered until then can still be collected. Raises as `status` does.
    """

    open_run(folder)
    with RunFolder(folder):
        _, ledger = open_run(folder)
        settings = stored_settings(folder, ledger, reach).judge

        async def stop(api: BatchApi) -> list[Watched]:
            await recover(api, ledger, world)
            return [
                each
                for part in ledger.open
                if (each := await _cancelled(api, part, ledger, world.listener)) is not None
            ]

        watched = _asked(ledger, settings, world, stop)
    return Status(folder, tuple(_open_line(each, world.time.clock()) for each in watched), Exit.OK)


def _asked(
    ledger: Ledger,
    settings: JudgeSettings,
    world: World,
    ask: Callable[[BatchApi], Awaitable[list[Watched]]],
) -> list[Watched]:
    """Ask the provider something; nothing is asked where no batch is open. Raises JudgeSetupError."""
    if not ledger.open:
        return []
    spec = refuse_unbatchable(name_judge(settings, world.around.environ))

    async def asking() -> list[Watched]:
        async with open_desk(spec, settings, ledger, world) as desk:
            return await ask(desk.api)

    try:
        return in_loop(asking())
    except CallError as error:
        raise JudgeSetupError(error.message, hint=error.hint) from error


async def _cancelled(api: BatchApi, part: Part, ledger: Ledger, listener: Listener) -> Watched | None:
    """Cancel one batch if it runs; None for one that the provider does not know, which is given up."""
    if part.batch is None:
        return Watched(part, None)
    try:
        state = await api.state(part.batch)
        return Watched(part, await api.cancel(part.batch) if state.phase == "running" else state)
    except CallError as error:
        if not is_unknown(error):
            raise
    ledger.note_closed(part, GIVEN_UP)
    listener.notice(f"the provider knows no batch {part.batch}; its {part.tasks} requests are given up")
    return None


def _open_line(watched: Watched, now: float) -> BatchLine:
    part, state = watched.part, watched.state
    age_s = max(0.0, now - part.at)
    if state is None:
        return BatchLine(None, "not known yet", part.tasks, 0, 0, age_s, "submit or collect, which finds out")
    todo = {"running": "wait", "ended": "collect", "failed": "collect, which says why"}[state.phase]
    return BatchLine(state.id, state.word, part.tasks, state.succeeded, state.failed, age_s, todo)


def _closed_line(part: Part, now: float) -> BatchLine:
    answered = part.counts.get("answered", 0)
    age_s = max(0.0, now - part.at)
    return BatchLine(part.batch, part.closed, part.tasks, answered, part.tasks - answered, age_s, "")
