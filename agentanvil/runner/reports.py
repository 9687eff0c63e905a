"""Manifest + journal → every report, in row order, one pass. The same journal gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agentanvil.aggregate import ItemOutcomes, JuryTerms, Summariser, Summary
from agentanvil.dataset import Row
from agentanvil.engine import JournalIndex, JournalReader, read_index
from agentanvil.errors import RunWriteError, Where
from agentanvil.hashing import derive_seed
from agentanvil.plan import Escalation, Plan, Seat, parse_condition, plan_calls
from agentanvil.report import ReportWriters, failure_lines, read_baseline
from agentanvil.rubric import Rubric, parse_rubric
from agentanvil.runner.deciders import without_evidence
from agentanvil.runner.due import DueOutcomes, RowName
from agentanvil.runner.folder import JOURNAL
from agentanvil.runner.job import rubric_in_mode
from agentanvil.runner.kinship import self_judged

RowSource = Callable[[], Iterator[Row]]


def write_reports(
    folder: Path, manifest: Mapping[str, Any], rows: RowSource | None, failed: Callable[[str], None]
) -> Summary:
    """Write items.csv, scores.csv, summary.json and junit.xml; return the summary.

    `rows` gives the names of rows that no journal line names; without it they are called after their number. `failed`
    is told of everything that fails the run, a line each. Raises RunFolderError for a damaged journal or baseline,
    RunWriteError where a report cannot be written.
    """
    shape = manifest["plan"]
    rubric = rubric_of(manifest)
    plan = plan_of(manifest)
    escalation = escalation_of(manifest, rubric, plan)
    fingerprint = manifest["fingerprint"]
    index = read_index(folder / JOURNAL, plan, shape["rows"], fingerprint)
    summariser = Summariser(
        rubric,
        plan,
        derive_seed(fingerprint, "intervals"),
        reading=shape["reading"],
        baseline=None if shape["baseline"] is None else read_baseline(shape["baseline"], rubric),
        jury=JuryTerms.of(len(plan.judges), shape["jury_rule"], shape["quorum"]) if _is_jury(plan) else None,
    )
    reader = JournalReader(folder / JOURNAL, index)
    try:
        properties = _properties(manifest, rubric)
        with ReportWriters(folder, summariser.frame, junit=True, properties=properties) as writers:
            for item in _items(index, reader, rows, escalation):
                result = summariser.add(item)
                writers.add(result)
                for line in failure_lines(result):
                    failed(line)
            unread = () if escalation is None else sorted(escalation.unread)
            summary = summariser.finish((*_notes(manifest, rubric, plan.judges), *map(_never_unsure, unread)))
            writers.finish(summary)
    except OSError as error:
        raise RunWriteError(
            f"the reports cannot be written: {error.strerror or error}",
            where=Where(error.filename or str(folder)),
            hint=f"Every verdict is safe in {JOURNAL}. Mend this, then run the same command again.",
        ) from error
    finally:
        reader.close()
    return summary


def rubric_of(manifest: Mapping[str, Any]) -> Rubric:
    """Return the rubric that a run was made with, as it was asked."""
    told, shape = manifest["rubric"], manifest["plan"]
    return rubric_in_mode(parse_rubric(told["text"], told["file"]), shape["mode"], shape["evidence"])


def plan_of(manifest: Mapping[str, Any]) -> Plan:
    """Return the plan of a run."""
    shape, judge = manifest["plan"], manifest["judge"]
    calls = plan_calls(rubric_of(manifest), shape["ways"])
    others = tuple(Seat(beside["name"], beside["role"], beside["share"]) for beside in manifest["judges"][1:])
    return Plan(calls, shape["repeats"], judge["name"], shape["order"], judge["parameters"]["seed"], others)


def escalation_of(manifest: Mapping[str, Any], rubric: Rubric, plan: Plan) -> Escalation | None:
    """Return what tells where a run's second judge was due, None where none was escalated to."""
    condition = manifest["plan"]["escalate_when"]
    return None if condition is None else Escalation(rubric, plan, parse_condition(condition))


def _is_jury(plan: Plan) -> bool:
    return any(seat.role == "jury" for seat in plan.others)


def _items(
    index: JournalIndex, reader: JournalReader, rows: RowSource | None, escalation: Escalation | None
) -> Iterator[ItemOutcomes]:
    unnamed = _unnamed_rows(rows)
    due = DueOutcomes(index.plan, escalation)
    for number in range(index.rows):
        outcomes = reader.row(number)
        item_id, labels = (outcomes[0].item_id, outcomes[0].labels) if outcomes else unnamed(number)
        yield ItemOutcomes(number, item_id, due.of(RowName(number, item_id, labels), outcomes))


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


def _notes(manifest: Mapping[str, Any], rubric: Rubric, judges: tuple[str, ...]) -> tuple[str, ...]:
    data = manifest["data"]
    notes = [*_properties(manifest, rubric).values(), *manifest["kinship"]["told"]]
    notes += [f"no evidence: {name} answers with probabilities alone" for name in without_evidence(judges)]
    if data["hidden_fields"] and not rubric.allow_expected:
        notes.append(f"the judge never saw the field(s) {', '.join(data['hidden_fields'])}")
    for flag, rows in sorted(data["flagged"].items()):
        notes.append(f"{rows} row(s) carry the flag {flag}")
    if data["unread"]:
        told = "; ".join(data["unread_examples"])
        notes.append(f"{data['unread']} record(s) of the data hold no trace that can be read: {told}")
    several = len(judges) > 1
    for judge in manifest["judges"]:
        if judge.get("dropped"):
            name = judge["name"] if several else "the judge"
            notes.append(f"{name} does not take {', '.join(judge['dropped'])}, so it was asked without")
    return tuple(notes)


def _properties(manifest: Mapping[str, Any], rubric: Rubric) -> dict[str, str]:
    """Return what is told of the run as a whole in a report that has no room for notes."""
    own = self_judged(manifest["kinship"], rubric)
    return {} if own is None else {"self_judging": own}


def _never_unsure(measure: str) -> str:
    return f"no verdict of the first judge came with its {measure}, so none was unsure by that"
