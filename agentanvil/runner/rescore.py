"""Another contract over the verdicts that a run already has: what its words did not change needs no call.

Overall, weights, gates and checks are code's own and are applied anew. A verdict is taken over where the request that
brought it would be the same under the new rubric, byte for byte: a joint call is one request, so that a changed anchor
voids all of its verdicts, a split call voids its own alone. What is missing then, `anvil grade` asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentanvil.aggregate import Summary
from agentanvil.engine import JournalReader, JournalWriter, read_index
from agentanvil.errors import RunFolderError, Where
from agentanvil.plan import BY_CODE, Plan, Task
from agentanvil.prompt import PROMPT_VERSION, PromptRenderer
from agentanvil.prompt.render import CallTemplate
from agentanvil.rubric import EvidenceMode, Mode, Rubric, parse_rubric
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Ending, Exit
from agentanvil.runner.folder import (
    JOURNAL,
    RunFolder,
    read_manifest,
    refuse_foreign_folder,
    refuse_other_run,
    write_manifest,
)
from agentanvil.runner.gate_settings import GateFlags, GateSettings
from agentanvil.runner.job import Job, Surroundings, prepare
from agentanvil.runner.manifest import open_manifest
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.reports import write_reports
from agentanvil.runner.run_view import plan_of, read_run, rubric_of
from agentanvil.runner.settings import GradeSettings, JudgeSettings
from agentanvil.verdict import Outcome

_Key = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class Rescored:
    """What re-scoring came to. `changed` names the calls whose request is another one now, with their dimensions;
    `missing` counts the judge calls that are open in the new run, in `folder`.
    """

    folder: Path
    summary: Summary
    exit: Exit
    changed: Mapping[str, tuple[str, ...]]
    missing: int


@dataclass(frozen=True, slots=True)
class RescoreSettings:
    """`out` is None for the folder that `anvil grade` with the new rubric would use."""

    run: Path
    rubric: str
    out: Path | None = None
    allow_code: bool = False
    gate: GateFlags = field(default_factory=GateFlags)


def rescore(settings: RescoreSettings, around: Surroundings, listener: Listener) -> Rescored:
    """Make a run of the new rubric from the verdicts of an old one, which stays as it is.

    Raises InputError: no readable run, data that has changed since, a rubric of another mode.
    """
    manifest = read_run(settings.run)
    with prepare(_grade_settings(manifest, settings), around) as job:
        _refuse_misfit(job, manifest, settings)
        if read_manifest(job.folder) is None:
            refuse_foreign_folder(job.folder)
        with RunFolder(job.folder) as folder:
            try:
                return _rescored(job, folder, manifest, settings.run, listener)
            except BaseException:
                if folder.is_unbegun():
                    folder.take_back(None)
                raise


def changed_calls(old: Rubric, new: Rubric, before: Plan, now: Plan) -> dict[str, tuple[str, ...]]:
    """Return the judged calls of the new plan whose request differs from that of the same call before."""
    earlier = PromptRenderer(old, before.calls).templates
    later = PromptRenderer(new, now.calls).templates
    same_rows = old.allow_expected == new.allow_expected
    return {
        call.name: call.dimensions
        for call in now.calls
        if call.judged and not (same_rows and _same(earlier.get(call.name), later[call.name]))
    }


def _same(before: CallTemplate | None, now: CallTemplate) -> bool:
    if before is None or before.system != now.system:
        return False
    old, new = before.contract, now.contract
    return old.schema == new.schema and (old.mode, old.evidence, old.reply) == (new.mode, new.evidence, new.reply)


def _grade_settings(manifest: Mapping[str, Any], settings: RescoreSettings) -> GradeSettings:
    """Return the settings of the run under the new rubric, as `anvil grade` would be given them."""
    data, shape, judge = manifest["data"], manifest["plan"], manifest["judge"]
    asked = judge["parameters"]
    return GradeSettings(
        data=data["file"],
        rubric=settings.rubric,
        judge=JudgeSettings(
            judge=None if judge["name"] == BY_CODE else judge["name"],
            temperature=asked["temperature"],
            max_tokens=asked["max_tokens"],
            seed=asked["seed"],
            allow_http=True,  # nothing is sent
        ),
        mode=_mode_flag(manifest),
        order=shape["order"],
        vs=tuple(data["vs"]),
        reading=shape["reading"],
        calls=shape["ways"],
        allow_code=settings.allow_code,
        repeats=shape["repeats"],
        adaptive=shape.get("adaptive", False),
        out=settings.out,
        mapping=tuple(data["map"]),
        limit=shape["rows"],
        min_coverage=shape["min_coverage"],
        evidence=_evidence_flag(manifest),
        panel=_panel(manifest),
        families=manifest["kinship"]["given"],
        gate=settings.gate.over(GateSettings.of_manifest(manifest)),
        accept_self_judging=True,  # the verdicts are there, and every report says whose they are
    )


def _panel(manifest: Mapping[str, Any]) -> PanelSettings:
    """Return the judges beside the run's first one as they were named."""
    shape, others = manifest["plan"], manifest["judges"][1:]
    jury = tuple(judge["name"] for judge in others if judge["role"] == "jury")
    cross: dict[str, Any] = next((judge for judge in others if judge["role"] == "cross"), {})
    second: dict[str, Any] = next((judge for judge in others if judge["role"] == "escalation"), {})
    return PanelSettings(
        jury=jury,
        jury_rule=shape["jury_rule"],
        quorum=shape["quorum"],
        cross_judge=cross.get("name"),
        cross_sample=cross.get("share"),
        escalate_to=second.get("name"),
        escalate_when=shape["escalate_when"],
        escalate_share=second.get("share"),
        escalate_max_cost=shape["escalate_max_cost"],
    )


def _mode_flag(manifest: Mapping[str, Any]) -> Mode | None:
    """Return what `--mode` said in the run, None where its rubric decided."""
    asked: Mode = manifest["plan"]["mode"]
    own = parse_rubric(manifest["rubric"]["text"], manifest["rubric"]["file"]).mode
    return None if asked == own else asked


def _evidence_flag(manifest: Mapping[str, Any]) -> EvidenceMode | None:
    """Return what `--evidence` said in the run, None where its rubric decided."""
    asked: EvidenceMode = manifest["plan"]["evidence"]
    own = parse_rubric(manifest["rubric"]["text"], manifest["rubric"]["file"]).evidence
    return None if asked == own else asked


def _refuse_misfit(job: Job, manifest: Mapping[str, Any], settings: RescoreSettings) -> None:
    mode = manifest["plan"]["mode"]
    if job.rubric.mode != mode:
        raise RunFolderError(
            f"this run was made in the mode {mode}, and the new rubric is of the mode {job.rubric.mode}",
            where=Where(str(settings.run)),
            hint="No verdict of one mode says anything in another: grade anew with the new rubric.",
        )
    if job.info.hash != manifest["data"]["hash"]:
        raise RunFolderError(
            f"{manifest['data']['file']} has changed since this run, so its verdicts are about other rows",
            where=Where(str(settings.run)),
            hint="Bring back the data file as it was, or grade anew.",
        )
    if job.folder.resolve() == settings.run.resolve() and job.fingerprint != manifest["fingerprint"]:
        raise RunFolderError(
            "the new rubric makes another run, which needs a folder of its own",
            where=Where(str(job.folder)),
            hint="Name one with --out.",
        )


def _rescored(job: Job, folder: RunFolder, old: Mapping[str, Any], run: Path, listener: Listener) -> Rescored:
    before = read_manifest(folder.path)
    if before is not None:
        refuse_other_run(folder.path, before, job.identity)
    manifest = open_manifest(job, before) | {"rescored_from": {"run": str(run), "fingerprint": old["fingerprint"]}}
    write_manifest(folder.path, manifest)
    plan = plan_of(old)
    changed = changed_calls(rubric_of(old), job.rubric, plan, job.plan)
    if old["identity"]["prompt"] != PROMPT_VERSION:
        changed = {call.name: call.dimensions for call in job.plan.calls if call.judged}
    missing = 0
    source = read_index(run / JOURNAL, plan, old["plan"]["rows"], old["fingerprint"])
    present = read_index(folder.journal, job.plan, job.rows, job.fingerprint)
    with (
        closing(JournalReader(run / JOURNAL, source)) as reader,
        JournalWriter(folder.journal, job.fingerprint) as journal,
    ):
        for task, outcome in _taken_over(job, reader, changed):
            if outcome is not None and not present.has(task):
                journal.append(outcome)
            missing += task.call.judged and not present.done(task) and (outcome is None or outcome.failed)
    ending: Ending = "stopped" if missing else "complete"
    manifest["state"] = ending
    summary, code = write_reports(folder.path, manifest, job.read_rows, listener.failed)
    write_manifest(folder.path, manifest | {"exit_code": int(code)})
    return Rescored(folder.path, summary, code, changed, missing)


def _taken_over(
    job: Job, reader: JournalReader, changed: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[Task, Outcome | None]]:
    """Yield every task of the new plan with its outcome: code's own anew, a judge's where its request is the same."""
    plan = job.plan
    for row in job.read_rows():
        known = {(o.judge, o.call, o.repeat, o.order): o for o in reader.row(row.index)}
        for slot in plan.slots():
            task = plan.task(row, slot)
            if not task.call.judged:
                yield task, job.checks.run(task)
                continue
            key = (task.judge, task.call.name, task.repeat, str(task.order))
            found = None if task.call.name in changed else known.get(key)
            if found is not None:
                yield task, replace(found, task_id=task.id, labels=row.labels)
            elif plan.is_planned(slot.seat, row.id) and slot.repeat < plan.certain:
                yield task, None
