"""What belongs to a labelling sheet and no rater may see: which row each code stands for, and how it was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from agentanvil.errors import DatasetError, Where, quoted
from agentanvil.hashing import digest

FORMAT: Literal[1] = 1
KEY_ENDING = ".key.json"
DRAWS_ENDING = ".draws.json"
# Neither a number nor a month can be made of them, so that a spreadsheet leaves a code as it is.
_LETTERS = "bcdfghjklmnpqrstvwxz"
_LAID_OUT = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """One row of a sheet: the `code` that stands for its id, and the probability with which it was drawn.

    `order` is `ab` or `ba` for the sides of a pair as they are shown, `-` where there is one response.
    """

    code: str
    id: str
    probability: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    order: Literal["-", "ab", "ba"]
    reason: str


@dataclass(frozen=True, slots=True)
class SheetSubject:
    """What a sheet is about. `rows` is how many rows it was drawn from, with those that were labelled already.

    `map` and `vs` are how the data file was read, `run` is the run folder whose verdicts chose the rows, if any did.
    """

    data_hash: str
    rubric_hash: str
    mode: Literal["absolute", "pairwise", "gate"]
    evidence: Literal["quoted", "pinpoint", "none"]
    rows: int
    map: tuple[str, ...]
    vs: tuple[str, ...]
    run: str | None


@dataclass(frozen=True, slots=True)
class SheetKey:
    """One sheet. `random` is the share of the draw that was even, `known` are the ids that had labels before it.

    `rows` stand as in the sheet.
    """

    format: Literal[1]
    subject: SheetSubject
    random: Annotated[float, Field(gt=0, le=1)]
    seed: int
    known: tuple[str, ...]
    rows: Annotated[tuple[DrawnRow, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class DrawsFile:
    """The sheets that a labels file was read from, in that order: what its weights are worked out from."""

    format: Literal[1]
    sheets: tuple[SheetKey, ...]


def codes(many: int, *about: str) -> tuple[str, ...]:
    """Return codes for the rows of one sheet; those of another sheet begin otherwise."""
    number = int(digest(*about), 16)
    mark = ""
    for _ in range(4):
        number, place = divmod(number, len(_LETTERS))
        mark += _LETTERS[place]
    return tuple(f"{mark}-{place:0{len(str(many))}d}" for place in range(1, many + 1))


def key_path(sheet: Path) -> Path:
    """Return where the key of a sheet lies: beside it."""
    return sheet.with_suffix(KEY_ENDING)


def draws_path(labels: Path) -> Path:
    """Return where the draws of a labels file lie: beside it."""
    return labels.with_name(labels.name + DRAWS_ENDING)


def as_json(content: SheetKey | DrawsFile) -> str:
    """Return the file's text."""
    return orjson.dumps(content, option=_LAID_OUT).decode()


def read_key(path: Path) -> SheetKey:
    """Read a sheet's key. Raises DatasetError where it is missing, damaged, or gives two rows one code or id."""
    found = _read(path, TypeAdapter(SheetKey), "keep the key beside the sheet, under the name it was written with")
    for name in ("code", "id"):
        values = [getattr(row, name) for row in found.rows]
        if len(set(values)) < len(values):
            raise DatasetError(f"two rows have one {name}", where=Where(str(path)), hint="draw the sheet again")
    return found


def read_draws(path: Path) -> DrawsFile:
    """Read the draws of a labels file, none where there is no such file. Raises DatasetError for a damaged one."""
    if not path.exists():
        return DrawsFile(FORMAT, ())
    return _read(path, TypeAdapter(DrawsFile), "put the file back as `anvil label` wrote it")


def _read(path: Path, form: TypeAdapter[_Read], hint: str) -> _Read:
    where = Where(str(path))
    try:
        return form.validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise DatasetError(f"cannot be opened: {error.strerror}", where=where, hint=hint) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        about = f"{quoted(place)}: " if place else ""
        raise DatasetError(f"not as `anvil label` writes it: {about}{first['msg']}", where=where, hint=hint) from None
