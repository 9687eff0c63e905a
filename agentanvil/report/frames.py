"""A run folder's tables as data frames, for notebooks: what the CSV files hold, typed, in the text's own words.

pandas is imported inside the functions: it takes longer to load than a whole cached run, and no command needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentanvil.errors import RunFolderError, Where, quoted
from agentanvil.report.cells import cell_text
from agentanvil.report.csv_files import ITEM_COLUMNS, PAIR_COLUMNS, SCORE_COLUMNS, VERDICT_SUFFIX
from agentanvil.report.writers import ITEMS, SCORES
from agentanvil.verdict import STATES

if TYPE_CHECKING:
    import pandas as pd

Dtype = Literal["string", "Float64", "Int64", "boolean", "state", "name"]

_ITEM_DTYPES: Mapping[str, Dtype] = {"id": "string", "state": "state", "overall": "Float64", "pass": "boolean"}
_DIMENSION_DTYPES: Mapping[str, Dtype] = {"": "Float64", "_sd": "Float64", "_n": "Int64", "_state": "state"}
_SCORE_DTYPES: Mapping[str, Dtype] = {
    "dimension": "name",
    "judge": "name",
    "repeat": "Int64",
    "state": "state",
    "score": "Float64",
    "normalised": "Float64",
    "expected_score": "Float64",
    "entropy": "Float64",
    "evidence_found": "boolean",
    "preference": "Float64",
    "label_mass": "Float64",
}
_PAIR_DTYPES: Mapping[str, Dtype] = {"preference": "Float64", "p_ab": "Float64", "p_ba": "Float64"}


def read_items(folder: str | Path) -> pd.DataFrame:
    """Return `items.csv` of a run folder, a row an item.

    `id` is text, `state` and each `D_state` categorical over all states, `pass` boolean, `D_n` Int64, the other numbers
    Float64; what is empty in the file is NA. A pairwise run has `winner`, `consistency` and `stated_winner` besides,
    text and "" where there is none, and probabilities; a run by expected scores has `D_verdict`, Float64. Raises
    RunFolderError where the file is missing or is no such table.
    """
    path = Path(folder) / ITEMS
    header = _header(path)
    dtypes = dict(_ITEM_DTYPES)
    pairs = tuple(header[-len(PAIR_COLUMNS) :]) == PAIR_COLUMNS
    verdicts = [name for name in header if name.endswith(VERDICT_SUFFIX) and name + "_sd" not in header]
    end = len(header) - (len(PAIR_COLUMNS) if pairs else len(verdicts))
    for dimension in header[len(ITEM_COLUMNS) : end : len(_DIMENSION_DTYPES)]:
        dtypes |= {dimension + suffix: dtype for suffix, dtype in _DIMENSION_DTYPES.items()}
    dtypes |= dict.fromkeys(verdicts, "Float64")
    if pairs:
        dtypes |= {name: _PAIR_DTYPES.get(name, "string") for name in PAIR_COLUMNS}
    return _read(path, header, dtypes)


def read_scores(folder: str | Path) -> pd.DataFrame:
    """Return `scores.csv` of a run folder, a row a verdict.

    `dimension` and `judge` are categorical in order of appearance, `state` over all states. `evidence_found` is
    boolean, `repeat` Int64, scores and readings are Float64: NA where the file is empty. All else is text, "" where
    there is none. Raises RunFolderError where the file is missing or is no such table.
    """
    path = Path(folder) / SCORES
    return _read(path, _header(path), {name: _SCORE_DTYPES.get(name, "string") for name in SCORE_COLUMNS})


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.readline().rstrip("\n").split(",")  # names of columns need no quotes
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def _read(path: Path, header: list[str], dtypes: Mapping[str, Dtype]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - see above

    if header != list(dtypes):
        raise RunFolderError("not the columns that this version writes", where=Where(str(path), 1), hint=_rebuild(path))
    words = [name for name, dtype in dtypes.items() if dtype in {"string", "name", "state"}]
    try:
        frame = pd.read_csv(
            path,
            encoding="utf-8",
            dtype={name: "string" if name in words else dtype for name, dtype in dtypes.items()},
            keep_default_na=False,  # an item may be called NA
            na_values={name: [""] for name in dtypes if name not in words},
        )
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    for name in words:
        frame[name] = frame[name].map(cell_text)
        if dtypes[name] == "name":
            frame[name] = pd.Categorical(frame[name], categories=frame[name].unique())
        elif dtypes[name] == "state":
            if unknown := set(frame[name]).difference(STATES):
                raise _unreadable(path, ValueError(f"{quoted(min(unknown))} is no state"))
            frame[name] = pd.Categorical(frame[name], categories=STATES)
    return frame


def _unreadable(path: Path, error: OSError | ValueError) -> RunFolderError:
    reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
    return RunFolderError(f"cannot be read: {reason}", where=Where(str(path)), hint=_rebuild(path))


def _rebuild(path: Path) -> str:
    return f"`anvil report {path.parent}` writes it from the run's journal."
