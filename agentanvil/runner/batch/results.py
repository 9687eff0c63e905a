"""Results of batches on their way into the journal: they come in any order, and are judged in that of the rows."""

from __future__ import annotations

import tempfile
from array import array
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from agentanvil.client.adapter import WireReply
from agentanvil.client.batch.api import BatchState
from agentanvil.client.batch.replies import NOT_HERE
from agentanvil.engine import JournalReader
from agentanvil.errors import AnvilError, ConfigError, EndpointError, ParameterRefusedError, RunWriteError, Where
from agentanvil.judge import judge
from agentanvil.plan import Task
from agentanvil.prompt import PromptRenderer
from agentanvil.runner.batch.access import Desk
from agentanvil.runner.batch.handover import Scene
from agentanvil.runner.batch.ledger import Part
from agentanvil.runner.batch.places import custom_id, ordinal_in
from agentanvil.runner.folder import JOURNAL
from agentanvil.runner.recorder import Recorder
from agentanvil.runner.wiring import call_settings
from agentanvil.verdict import Outcome


@dataclass(slots=True)
class PartCounts:
    """What came of one part's requests. `never_asked`: the batch was cancelled or ran out of time before them.

    `strange` lines name nothing of this batch, `unreadable` ones are no results. What is left of the part's tasks came
    back with nothing at all.
    """

    answered: int = 0
    never_asked: int = 0
    strange: int = 0
    unreadable: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return those that are not 0."""
        counts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: count for name, count in counts.items() if count}


class ResultSpool:
    """Holds replies in a file without a name in the run folder, and one offset a task in memory.

    `membership` says of each task which part it is in.
    """

    def __init__(self, folder: Path, membership: array[int]) -> None:
        self._folder = folder
        self.membership = membership
        self._offsets = array("q", bytes(8 * len(membership)))
        try:
            self._file = cast("BinaryIO", tempfile.TemporaryFile(dir=folder))  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise self._full(error) from error

    async def take(self, desk: Desk, part: Part, state: BatchState) -> PartCounts:
        """Fetch the results of a part's batch. Raises CallError where they cannot be had, RunWriteError."""
        counts = PartCounts()
        seen = set[int]()
        async with aclosing(desk.api.results(state)) as lines:
            async for line in lines:
                if line is None:
                    counts.unreadable += 1
                    continue
                ordinal = ordinal_in(line.custom_id, part.token)
                known = (
                    ordinal is not None and ordinal < len(self.membership) and self.membership[ordinal] == part.number
                )
                if ordinal is None or not known:
                    counts.strange += 1
                    continue
                if ordinal in seen:  # a download that broke off begins again
                    continue
                seen.add(ordinal)
                counts.answered += line.reply is not None
                counts.never_asked += line.reply is None
                if line.reply is not None:
                    self._put(ordinal, line.custom_id, line.reply)
        self._flush()
        return counts

    def get(self, ordinal: int) -> tuple[str, WireReply] | None:
        """Return the custom id and the reply of a task, None where none came."""
        at = self._offsets[ordinal]
        if not at:
            return None
        self._file.seek(at - 1)
        named, status, headers = orjson.loads(self._file.readline())
        return named, WireReply(status, self._file.readline()[:-1], headers)

    def close(self) -> None:
        """Drop everything."""
        self._file.close()

    def _put(self, ordinal: int, named: str, reply: WireReply) -> None:
        head = orjson.dumps([named, reply.status, dict(reply.headers)])
        try:
            at = self._file.seek(0, 2)
            self._file.write(head + b"\n" + reply.body + b"\n")
        except OSError as error:
            raise self._full(error) from error
        self._offsets[ordinal] = at + 1

    def _flush(self) -> None:
        try:
            self._file.flush()
        except OSError as error:
            raise self._full(error) from error

    def _full(self, error: OSError) -> RunWriteError:
        return RunWriteError(
            f"results cannot be kept while they are read: {error.strerror or error}",
            where=Where(str(self._folder)),
            hint="Make room, then collect again: the provider still has them.",
        )


@dataclass(slots=True)
class Judged:
    """What the replies came to. `refused` ones taught what the judge does not accept; `problem` is what all met."""

    journaled: int = 0
    before: int = 0
    refused: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    problem: AnvilError | None = None


class Judging:
    """Reads collected replies as a live run would have, and journals what came of them."""

    def __init__(self, scene: Scene, desk: Desk, record: Recorder) -> None:
        self.judged = Judged()
        self._scene = scene
        self._desk = desk
        self._record = record
        self._renderer = PromptRenderer(scene.job.rubric, scene.job.plan.calls)
        self._call = call_settings(scene.job.settings.judge, scene.job.spec)

    async def run(self, spool: ResultSpool) -> None:
        """Go through the rows once, in their order."""
        scene = self._scene
        reader = JournalReader(scene.job.folder / JOURNAL, scene.index)
        try:
            for task in scene.job.plan.tasks(scene.job.read_rows()):
                ordinal = scene.places.ordinal(task)
                found = spool.get(ordinal)
                if found is None:
                    continue
                part = scene.ledger.parts[spool.membership[ordinal]]
                if found[0] != custom_id(part.token, ordinal, task):
                    self.judged.faults["foreign_reply"] += 1
                elif scene.index.done(task):
                    self.judged.before += 1
                else:
                    await self._judge(task, found[1], part, reader)
        finally:
            reader.close()

    async def _judge(self, task: Task, reply: WireReply, part: Part, reader: JournalReader) -> None:
        self._desk.collected.hand(task.id, reply, part.shape)
        try:
            outcome = await judge(task, self._renderer.render(task), self._desk.keeping, self._call)
        except (EndpointError, ConfigError) as error:
            self.judged.problem = self.judged.problem or error
            self.judged.faults[error.code if isinstance(error, EndpointError) else "refused"] += 1
            return
        if outcome.exchanges[-1].error == NOT_HERE:  # a batch cannot ask again
            outcome = replace(outcome, exchanges=outcome.exchanges[:-1])
        fault = outcome.exchanges[-1].error
        if fault == ParameterRefusedError.code:
            self.judged.refused += 1
            return
        if fault is not None:
            self.judged.faults[fault] += 1
        if self._scene.index.has(task) and self._is_written(outcome, reader):
            self.judged.before += 1
            return
        self._record(outcome)
        self.judged.journaled += 1

    def _is_written(self, outcome: Outcome, reader: JournalReader) -> bool:
        """Tell whether the journal's last word on a task is this very outcome: collecting was broken off before."""
        return outcome in reader.row(outcome.row)
