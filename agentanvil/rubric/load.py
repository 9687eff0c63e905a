"""A file or its stored text → a checked `Rubric`. Whatever is wrong becomes one RubricError."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

from pydantic import ValidationError

from agentanvil.errors import RubricError, Where
from agentanvil.rubric.build import build, find_problems
from agentanvil.rubric.meaning import rubric_hash
from agentanvil.rubric.model import Rubric
from agentanvil.rubric.problems import Problem, from_pydantic, refusal
from agentanvil.rubric.prose import prose_problems
from agentanvil.rubric.wire import HOMES, RubricWire
from agentanvil.rubric.yaml_text import MAX_CHARS, YamlText, read_yaml

_BOM = "\ufeff"
_UTF8_MAX_BYTES = 4


def load_rubric(path: str | PathLike[str]) -> Rubric:
    """Read a rubric file (UTF-8, one leading byte order mark dropped).

    Raises RubricError naming file, line and key for a file that is absent, unreadable, or no rubric.
    """
    return parse_rubric(read_text(path), str(path))


def parse_rubric(text: str, file: str | None = None) -> Rubric:
    """Read a rubric from its text; `file` is only named in errors. Raises RubricError."""
    source = read_source(text, file)
    wire, problems = examine(source)
    if wire is None or problems:
        raise refusal(problems, source)
    return finish(wire, source, text)


def read_text(path: str | PathLike[str]) -> str:
    """Return what the file holds. Raises RubricError where it is absent, unreadable or not UTF-8."""
    return _decode(_read(str(path)), str(path))


def read_source(text: str, file: str | None) -> YamlText:
    """Return the YAML of a rubric, a mapping. Raises RubricError for a text that is none."""
    text = text.removeprefix(_BOM)
    if text.startswith(_BOM):
        raise RubricError("the file begins with two byte order marks", where=Where(file, 1), hint="remove them")
    source = read_yaml(text, file)
    if not isinstance(source.data, dict):
        raise RubricError(
            "a rubric is a mapping of keys, and this file is not",
            where=Where(file, 1),
            hint="`anvil init` writes a rubric to start from",
        )
    return source


def examine(source: YamlText) -> tuple[RubricWire | None, list[Problem]]:
    """Return the wire model and every problem; no model where a key or a value is not what the format allows."""
    try:
        wire = RubricWire.model_validate(source.data, context={"homes": HOMES})
    except ValidationError as error:
        return None, from_pydantic(error.errors(include_url=False), source.data)
    return wire, [*find_problems(wire), *prose_problems(wire)]


def finish(wire: RubricWire, source: YamlText, text: str) -> Rubric:
    """Return the records, hash included, of a model whose labels and scale have no problems."""
    rubric = build(wire, source, text.removeprefix(_BOM))
    return replace(rubric, hash=rubric_hash(rubric))


def _read(name: str) -> bytes:
    # One byte more than a rubric may have is enough to refuse it, whatever is behind the name.
    limit = MAX_CHARS * _UTF8_MAX_BYTES + 1
    try:
        with Path(name).open("rb") as file:
            return file.read(limit)
    except FileNotFoundError as error:
        raise RubricError(
            "there is no such file", where=Where(name), hint="a rubric is named by its path; nothing is downloaded"
        ) from error
    except IsADirectoryError as error:
        raise RubricError("this is a folder", where=Where(name), hint="name the YAML file inside it") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RubricError(f"the file cannot be read: {reason}", where=Where(name)) from error


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RubricError(
            f"the byte 0x{data[error.start]:02X} is not UTF-8", where=Where(name, line), hint="save the file as UTF-8"
        ) from error
