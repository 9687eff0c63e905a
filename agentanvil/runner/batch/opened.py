"""A run that was submitted, opened again by its folder alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentanvil.client.prices import PriceTable
from agentanvil.errors import RunFolderError, Where
from agentanvil.runner.batch.ledger import FILE, Ledger
from agentanvil.runner.batch.saved import restored
from agentanvil.runner.folder import read_manifest
from agentanvil.runner.settings import GradeSettings


@dataclass(frozen=True, slots=True)
class Reach:
    """What the user says anew: settings of how the judge is reached (None: as it was submitted), and its prices.

    `allow_code` lets the rubric's own checks run: a folder cannot say that by itself.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    prices: PriceTable = field(default_factory=lambda: PriceTable({}))
    allow_code: bool = False


def open_run(folder: Path) -> tuple[dict[str, Any], Ledger]:
    """Return the manifest and the ledger of a run. Raises RunFolderError where there is none, or it is damaged."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise RunFolderError(
            "no manifest.json here, so this is not a run folder",
            where=Where(str(folder)),
            hint="Name the folder that `anvil batch submit` wrote; its last line says which.",
        )
    return manifest, Ledger(folder / FILE, str(manifest.get("fingerprint")))


def stored_settings(folder: Path, ledger: Ledger, reach: Reach) -> GradeSettings:
    """Return the settings of the last submission. Raises RunFolderError where there was none."""
    return restored(ledger.settings, folder, reach.prices, reach.changes, allow_code=reach.allow_code)
