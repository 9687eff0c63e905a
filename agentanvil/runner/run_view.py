"""A run folder, read again: every item as the run's reports know it. Nothing is asked and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Dispute, ItemOutcomes, ItemResult, JuryTerms, Reading, Reducer
from agentanvil.dataset import Row
from agentanvil.engine import JournalIndex, JournalReader, read_index
from agentanvil.errors import DatasetError, RunFolderError, UsageError, Where
from agentanvil.hashing import derive_seed
from agentanvil.plan import Escalation, Plan, Seat, parse_condition, plan_calls
from agentanvil.rubric import Rubric, parse_rubric
from agentanvil.runner.due import DueOutcomes, RowName
from agentanvil.runner.folder import JOURNAL, MANIFEST, read_manifest
from agentanvil.runner.gate import with_gate
from agentanvil.runner.gate_settings import GateSettings
from agentanvil.runner.job import STDIN, Surroundings, open_rows, rubric_in_mode

RowSource = Callable[[], Iterator[Row]]
_PARTS = ("identity", "rubric", "data", "plan", "judge")


@dataclass(frozen=True, slots=True)
class RunView:
    """One run. `rows` is how many rows it covers; `source` yields them where the data file is at hand.

    `escalation` tells where a second judge was due, None where none was escalated to; it learns while items are read
    which of its measures no verdict came with.
    """

    folder: Path
    manifest: Mapping[str, Any]
    rubric: Rubric
    plan: Plan
    escalation: Escalation | None
    index: JournalIndex
    reader: JournalReader
    source: RowSource | None = field(default=None)

    @property
    def rows(self) -> int:
        return self.index.rows

    @property
    def seed(self) -> int:
        """The seed of every interval, from the run's content alone."""
        return derive_seed(self.manifest["fingerprint"], "intervals")

    @property
    def reading(self) -> Reading:
        """What the run's results are read from."""
        reading: Reading = self.manifest["plan"]["reading"]
        return reading

    @property
    def jury(self) -> JuryTerms | None:
        """How several judges decide together, None where none is of a jury."""
        if not any(seat.role == "jury" for seat in self.plan.others):
            return None
        shape = self.manifest["plan"]
        return JuryTerms.of(len(self.plan.judges), shape["jury_rule"], shape["quorum"])

    def reducer(self) -> Reducer:
        """Return what makes item results of the run's items, without its baseline."""
        return Reducer(self.rubric, self.plan, reading=self.reading, jury=self.jury)

    def due(self) -> DueOutcomes:
        """Return what completes the outcomes of the run's rows."""
        return DueOutcomes(self.plan, self.escalation, Dispute(self.rubric, self.plan) if self.plan.adaptive else None)

    def items(self) -> Iterator[ItemOutcomes]:
        """Yield every item in row order. Rows without any outcome are named by the source, else by their number.

        Raises RunFolderError for a damaged line.
        """
        unnamed = _unnamed_rows(self.source)
        due = self.due()
        for number in range(self.rows):
            outcomes = self.reader.row(number)
            item_id, labels = (outcomes[0].item_id, outcomes[0].labels) if outcomes else unnamed(number)
            yield ItemOutcomes(number, item_id, due.of(RowName(number, item_id, labels), outcomes))

    def results(self) -> Iterator[ItemResult]:
        """Yield what every item came to, in row order."""
        reducer = self.reducer()
        for item in self.items():
            yield reducer.reduce(item)


def read_run(folder: Path) -> dict[str, Any]:
    """Return a run's manifest. Raises RunFolderError where there is none, or not the whole of one."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise RunFolderError(
            "no manifest.json here, so this is not a run folder",
            where=Where(str(folder)),
            hint="Name the folder that `anvil grade` wrote; its last line says which.",
        )
    lacking = [part for part in _PARTS if not isinstance(manifest.get(part), dict)]
    if lacking:
        raise RunFolderError(
            f"a manifest lacks {', '.join(lacking)}",
            where=Where(str(folder / MANIFEST)),
            hint="Restore the file, or grade again into another folder.",
        )
    return manifest


@contextmanager
def open_view(folder: Path, manifest: Mapping[str, Any], source: RowSource | None = None) -> Iterator[RunView]:
    """Open a run's journal for reading. Raises RunFolderError for a damaged journal or one of another run."""
    rubric, plan = rubric_of(manifest), plan_of(manifest)
    index = read_index(folder / JOURNAL, plan, manifest["plan"]["rows"], manifest["fingerprint"])
    reader = JournalReader(folder / JOURNAL, index)
    try:
        yield RunView(folder, manifest, rubric, plan, escalation_of(manifest, rubric, plan), index, reader, source)
    finally:
        reader.close()


@dataclass(frozen=True, slots=True)
class RunData:
    """The rows of a run's data file, or why they are not at hand."""

    rows: RowSource | None
    reason: str = ""


@contextmanager
def open_data(manifest: Mapping[str, Any]) -> Iterator[RunData]:
    """Open the data that a run was made from, if it is still there unchanged."""
    data = manifest["data"]
    if data["file"] == STDIN:
        yield RunData(None, "the rows came from standard input")
        return
    with ExitStack() as opened:
        yield _opened(opened, manifest)


def _opened(opened: ExitStack, manifest: Mapping[str, Any]) -> RunData:
    data = manifest["data"]
    try:
        dataset = opened.enter_context(
            open_rows(data["file"], data["map"], rubric_of(manifest), Surroundings({}), data["vs"])
        )
        if dataset.scan().hash == data["hash"]:
            return RunData(dataset.rows)
    except (DatasetError, UsageError) as error:
        return RunData(None, f"{data['file']}: {error.message}")
    return RunData(None, f"{data['file']}: it has changed")


def rubric_of(manifest: Mapping[str, Any]) -> Rubric:
    """Return the rubric that a run was made with, as it was asked and as it is gated."""
    told, shape = manifest["rubric"], manifest["plan"]
    rubric = rubric_in_mode(parse_rubric(told["text"], told["file"]), shape["mode"], shape["evidence"])
    return with_gate(rubric, GateSettings.of_manifest(manifest))


def plan_of(manifest: Mapping[str, Any]) -> Plan:
    """Return the plan of a run."""
    shape, judge = manifest["plan"], manifest["judge"]
    calls = plan_calls(rubric_of(manifest), shape["ways"])
    others = tuple(Seat(beside["name"], beside["role"], beside["share"]) for beside in manifest["judges"][1:])
    return Plan(
        calls=calls,
        repeats=shape["repeats"],
        judge=judge["name"],
        orders=shape["order"],
        seed=judge["parameters"]["seed"],
        others=others,
        # Runs from before there was a choice have none.
        adaptive=shape.get("adaptive", False),
    )


def escalation_of(manifest: Mapping[str, Any], rubric: Rubric, plan: Plan) -> Escalation | None:
    """Return what tells where a run's second judge was due, None where none was escalated to."""
    condition = manifest["plan"]["escalate_when"]
    return None if condition is None else Escalation(rubric, plan, parse_condition(condition))


def _unnamed_rows(rows: RowSource | None) -> Callable[[int], tuple[str, Mapping[str, tuple[float, ...]]]]:
    """Return a look-up of ids and labels that reads the data file once, in step, and only if it is needed at all."""
    stream: Iterator[Row] | None = None

    def name(number: int) -> tuple[str, Mapping[str, tuple[float, ...]]]:
        nonlocal stream
        if stream is None:
            stream = rows() if rows is not None else iter(())
        row = next((row for row in stream if row.index == number), None)
        return (f"(row {number + 1})", {}) if row is None else (row.id, row.labels)

    return name
