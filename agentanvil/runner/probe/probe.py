"""`anvil probe`: what moves a judge that should not, measured on the user's own rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agentanvil.aggregate.probe.findings import Finding, settle
from agentanvil.errors import AnvilError
from agentanvil.runner.estimate import Estimate
from agentanvil.runner.events import Listener
from agentanvil.runner.exits import Ending, Exit, probe_exit, study_exit
from agentanvil.runner.job import Surroundings, prepare
from agentanvil.runner.manifest import read_share
from agentanvil.runner.probe.arms import Layout, lay_out
from agentanvil.runner.probe.measure import Measurement
from agentanvil.runner.probe.report import probe_data, write_report
from agentanvil.runner.probe.settings import ProbeSettings
from agentanvil.runner.study import Arm, StudyEnd, estimate_arms, run_arms, taken_back


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe came to. `data` is what `probe.json` holds. `problem` is the error that stopped it, if one did."""

    folder: Path
    layout: Layout
    findings: tuple[Finding, ...]
    data: dict[str, object]
    ending: Ending
    exit: Exit
    problem: AnvilError | None = None


def probe(settings: ProbeSettings, around: Surroundings, listener: Listener) -> ProbeResult:
    """Run or resume one probe: every arm an ordinary run, then its effects.

    Raises InputError where anything given cannot be used; then nothing was spent, and no folder is left behind.
    """
    layout = lay_out(settings, around)
    with taken_back(layout.folder, fresh=layout.fresh):
        for arm in layout.arms:
            with prepare(arm.settings, around):
                pass
        judge = settings.run.judge
        end = run_arms(layout.arms, around, listener, max_cost=judge.max_cost, max_calls=judge.max_calls)
    return _ended(layout, end)


def estimate_probe(settings: ProbeSettings, around: Surroundings) -> tuple[tuple[Arm, Estimate], ...]:
    """Return what each arm would ask. Nothing is sent, and nothing stays written. Raises InputError as `probe` does."""
    with TemporaryDirectory(prefix="anvil-") as folder:
        layout = lay_out(settings, around, Path(folder))
        return tuple(zip(layout.arms, estimate_arms(layout.arms, around), strict=True))


def _ended(layout: Layout, end: StudyEnd) -> ProbeResult:
    done = {arm.name for arm, run in zip(layout.arms, end.runs, strict=False) if run.ending == "complete"}
    findings = settle(Measurement(layout, done).effects())
    data = probe_data(layout, findings, end)
    write_report(layout.folder, data)
    runs = [(run.summary, read_share(run.manifest)) for run in end.runs]
    return ProbeResult(
        folder=layout.folder,
        layout=layout,
        findings=findings,
        data=data,
        ending=end.ending,
        exit=probe_exit(
            end.ending,
            [finding.verdict for finding in findings if not finding.effect.noise],
            enough=study_exit("complete", runs, layout.settings.run.min_coverage) is Exit.OK,
            on_bias=layout.settings.fail_on == "bias",
        ),
        problem=end.problem,
    )
