"""The settings of a submission, kept in the run folder so that its results can be collected by naming that alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from agentanvil.client.prices import PriceTable
from agentanvil.errors import AnvilError, RunFolderError, Where
from agentanvil.runner.gate_settings import GateSettings
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.settings import GradeSettings, JudgeSettings
from agentanvil.runner.stack import CACHE_OFF

# Neither a key's command nor the leave to run code may come out of a folder that somebody else may have written.
_NOT_SAVED_OF_JUDGE = frozenset({"prices", "api_key_command"})
_NOT_SAVED = frozenset({"judge", "panel", "out", "allow_code", "dry_run"})


def saved(settings: GradeSettings) -> dict[str, Any]:
    """Return settings as JSON data, with every path absolute; no secret is in them."""
    judge = {f.name: getattr(settings.judge, f.name) for f in fields(JudgeSettings)}
    run = {f.name: getattr(settings, f.name) for f in fields(GradeSettings)}
    calibration = settings.gate.calibration
    kept = {name: value for name, value in run.items() if name not in _NOT_SAVED}
    return {
        **kept,
        "data": _absolute(settings.data),
        "rubric": _absolute(settings.rubric),
        "vs": [_absolute(path) for path in settings.vs],
        "baseline": None if settings.baseline is None else _absolute(settings.baseline),
        "gate": settings.gate.as_dict() | {"calibration": None if calibration is None else _absolute(calibration)},
        "mapping": list(settings.mapping),
        "defaults": sorted(settings.defaults),
        "judge": {name: value for name, value in judge.items() if name not in _NOT_SAVED_OF_JUDGE}
        | {"cache": _cache(settings.judge.cache)},
    }


def restored(
    data: Mapping[str, Any] | None, folder: Path, prices: PriceTable, changes: Mapping[str, Any], *, allow_code: bool
) -> GradeSettings:
    """Return settings as `saved` wrote them; `changes` to how the judge is reached beat them.

    Raises RunFolderError where there are none, or none that this version reads.
    """
    if data is None:
        raise RunFolderError(
            "no batch was ever submitted for this run",
            where=Where(str(folder)),
            hint="`anvil batch submit` hands the rows of a run over, `anvil grade` asks about them at once.",
        )
    try:
        judge = JudgeSettings(**dict(data["judge"]), prices=prices)
        run = {name: value for name, value in data.items() if name != "judge"}
        baseline = None if run["baseline"] is None else Path(run["baseline"])
        lists = {"vs": tuple(run["vs"]), "mapping": tuple(run["mapping"]), "defaults": frozenset(run["defaults"])}
        return GradeSettings(
            **{**run, **lists, "baseline": baseline, "gate": GateSettings.of_dict(run["gate"])},
            judge=replace(judge, **{name: value for name, value in changes.items() if value is not None}),
            panel=PanelSettings(),
            out=folder,
            allow_code=allow_code,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunFolderError(
            f"the submission's settings cannot be read ({type(error).__name__}: {error})",
            where=Where(str(folder)),
            hint="Collect with the version of anvil that submitted it.",
        ) from error
    except AnvilError as error:
        raise RunFolderError(error.message, where=Where(str(folder)), hint=error.hint) from error


def _absolute(path: str | Path) -> str:
    return str(Path(path).absolute())


def _cache(chosen: str | None) -> str | None:
    return chosen if chosen in {None, CACHE_OFF} else _absolute(str(chosen))
