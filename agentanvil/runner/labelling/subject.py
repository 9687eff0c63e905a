"""What is labelled: the rubric in its mode, how its rows are read, and the run whose verdicts are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentanvil.dataset import WINNER, LabelsAsked
from agentanvil.dataset.sheet import SheetForm
from agentanvil.errors import UsageError, Where
from agentanvil.rubric import Mode, Rubric, load_rubric
from agentanvil.runner.job import rubric_in_mode
from agentanvil.runner.run_view import read_run, rubric_of


@dataclass(frozen=True, slots=True)
class Contract:
    """A rubric as it is to be labelled. `manifest` is that of the run, None without one."""

    rubric: Rubric
    mapping: tuple[str, ...]
    vs: tuple[str, ...]
    run: Path | None = None
    manifest: Mapping[str, Any] | None = None

    @property
    def form(self) -> SheetForm:
        """What a sheet asks for."""
        scale = self.rubric.scale
        return SheetForm.of(self.rubric.mode, [d.id for d in self.rubric.judged], (scale.min, scale.max))

    def refuse_other_data(self, found: str) -> None:
        """Raise UsageError unless the data's hash is that of the run."""
        if self.manifest is not None and self.manifest["data"]["hash"] != found:
            raise UsageError(
                f"the run judged other rows: those of {self.manifest['data']['file']} as they were then",
                where=Where(str(self.run)),
                hint="name the data file of the run, unchanged; --map and --vs are the run's unless given",
            )


def contract_of(rubric: Path, mode: Mode | None, run: Path | None) -> Contract:
    """Return what is labelled by a rubric, or by that of the run, which must be the same.

    Raises RubricError, RunFolderError, and UsageError where they differ or where no person could judge anything.
    """
    loaded = load_rubric(rubric)
    if run is None:
        found = Contract(rubric_in_mode(loaded, mode), (), ())
    else:
        manifest = read_run(run)
        judged = rubric_of(manifest)
        if judged.hash != loaded.hash or mode not in {None, judged.mode}:
            differs = "the rubric is another one" if judged.hash != loaded.hash else f"the mode was {judged.mode}"
            raise UsageError(f"the run judged by other rules: {differs}", where=Where(str(run)))
        data = manifest["data"]
        found = Contract(judged, tuple(data["map"]), tuple(data["vs"]), run, manifest)
    if not found.rubric.judged:
        raise UsageError("code decides every dimension of this rubric: there is nothing to label")
    return found


def usable_labels(labels: Mapping[str, tuple[float, ...]], asked: LabelsAsked) -> dict[str, tuple[float, ...]]:
    """Return those of a row's own labels that are of the rubric and on its scale."""
    found: dict[str, tuple[float, ...]] = {}
    for name, given in labels.items():
        ends = asked.ranges.get(name)
        if ends is not None and given and all(_usable(label, name, ends) for label in given):
            found[name] = given
    return found


def _usable(label: float, name: str, ends: tuple[float, float]) -> bool:
    # True and false are a gate's own words, whatever its scale.
    return isinstance(label, bool) or (ends[0] <= label <= ends[1] and not (name == WINNER and label % 1))
