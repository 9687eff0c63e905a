"""Where a comparison is written: never over a run's own files, and whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agentanvil.aggregate.comparison.tally import Comparison
from agentanvil.errors import RunWriteError, UsageError, Where, quoted
from agentanvil.report import AtomicText
from agentanvil.report.comparison_json import comparison_json
from agentanvil.report.writers import ITEMS, JUNIT, SCORES, SUMMARY
from agentanvil.runner.folder import JOURNAL, MANIFEST

_OWN = frozenset({MANIFEST, JOURNAL, ITEMS, SCORES, SUMMARY, JUNIT})


def check_out(out: Path | None, data: Iterable[str]) -> None:
    """Raise UsageError for a place where no comparison can or may be written; `data` are the runs' data files."""
    if out is None:
        return
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise UsageError(f"--out names a file in a folder that exists, not {quoted(str(out))}")
    if out.resolve() in {Path(file).resolve() for file in data}:
        raise UsageError(f"--out would overwrite the rows in {out}", hint="Name another file.")
    if out.name in _OWN and (out.parent / MANIFEST).exists():
        raise UsageError(f"--out would overwrite {out.name} of the run in {out.parent}", hint="Name another file.")


def write_comparison(path: Path, comparison: Comparison) -> None:
    """Write it as JSON, over an older one. Raises RunWriteError."""
    try:
        file = AtomicText(path)
        try:
            file.write(comparison_json(comparison).decode())
            file.commit()
        finally:
            file.discard()
    except OSError as error:
        raise RunWriteError(f"cannot be written: {error.strerror or error}", where=Where(str(path))) from error
