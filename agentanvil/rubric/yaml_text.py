"""YAML text → plain data plus the line of every value: a strict reader that trusts nothing in the file.

PyYAML (choice: the reference reader, pure Python, gives a mark for every node) resolves scalars by YAML 1.1, where
`yes` is a boolean, `1:30` a number and `2024-01-01` a date. Here only `true`/`false`, `null`/`~`, plain decimal
numbers and text exist. Tags, duplicate keys, non-finite numbers and documents that unfold without end are refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NoReturn

import yaml
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from agentanvil.errors import RubricError, Where
from agentanvil.rubric.yaml_syntax import syntax_error

YamlPath = tuple[str | int, ...]

MAX_CHARS = 256 * 1024
MAX_DEPTH = 40
MAX_VALUES = 20_000
MAX_DIGITS = 15

_DOTTED_NON_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# An integer under one of these is a key, anywhere else a position in a list.
_KEYED: tuple[YamlPath, ...] = (("anchors",), ("gate",), ("weights",))
_TEXT = "tag:yaml.org,2002:str"
_RESOLVERS: tuple[tuple[str, str, str], ...] = (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"-?(?:0|[1-9][0-9]*)", "-0123456789"),
    ("float", r"-?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-.0123456789"),
    ("float", _DOTTED_NON_FINITE.pattern, "-+."),
)


@dataclass(frozen=True, slots=True)
class YamlText:
    """What a YAML text says.

    `lines` maps each path to its 1-based line; `plain` and `plain_keys` hold where a text, or a key, is unquoted.
    """

    data: object
    lines: dict[YamlPath, int]
    plain: frozenset[YamlPath]
    plain_keys: frozenset[YamlPath]
    file: str | None = None

    def where(self, path: YamlPath) -> Where:
        """Return the place of `path`, or of its nearest ancestor that stands in the text."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        return Where(self.file, self.lines.get(known, 1), dotted(path))


def dotted(path: YamlPath) -> str | None:
    """Return `dimensions[0].anchors.5` for the path to it, None for the root."""
    steps = (
        f"[{step}]" if isinstance(step, int) and path[index - 1 : index] not in _KEYED else f".{step}"
        for index, step in enumerate(path)
    )
    return "".join(steps).removeprefix(".") or None


def read_yaml(text: str, file: str | None = None) -> YamlText:
    """Read one YAML document. Raises RubricError naming file, line and key; nothing else."""
    if len(text) > MAX_CHARS:
        raise RubricError(
            f"the file has {len(text)} characters, more than the {MAX_CHARS} that a rubric may have",
            where=Where(file),
            hint="a rubric is short: data belongs in the dataset",
        )
    try:
        root = _Loader(text, file).get_single_node()
    except yaml.YAMLError as error:
        raise syntax_error(error, text, file) from error
    except (ValueError, OverflowError) as error:
        # PyYAML calls chr() on an escape such as "\UFFFFFFFF" without looking.
        raise RubricError(
            "an escape names a character that does not exist",
            where=Where(file),
            hint=r"Unicode ends at \U0010FFFF",
        ) from error
    if root is None:
        raise RubricError("the file is empty", where=Where(file), hint="`anvil init` writes a rubric to start from")
    return _Builder(file).build(root)


class _Loader(yaml.SafeLoader):
    """Composes nodes; refuses tags and depth before a node exists."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own table)

    def __init__(self, text: str, file: str | None) -> None:
        self.file = file
        self.depth = 0
        super().__init__(text)

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        tag = None if isinstance(event, AliasEvent) else getattr(event, "tag", None)
        if tag is not None:
            raise RubricError(
                f"the tag `{tag.replace('tag:yaml.org,2002:', '!!')}` is refused: a rubric holds plain values only",
                where=Where(self.file, line),
                hint="remove the tag; put text that looks like a number in quotes",
            )
        if self.depth >= MAX_DEPTH:
            _too_deep(Where(self.file, line))
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


for _kind, _pattern, _first in _RESOLVERS:
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(f"(?:{_pattern})\\Z"), ["" if c == "\0" else c for c in _first]
    )


class _Builder:
    """Turns nodes into data, counting every value so that aliases cannot multiply without end."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.values = 0
        self.lines: dict[YamlPath, int] = {}
        self.plain: set[YamlPath] = set()
        self.plain_keys: set[YamlPath] = set()

    def build(self, root: Node) -> YamlText:
        data = self.value(root, ())
        return YamlText(data, self.lines, frozenset(self.plain), frozenset(self.plain_keys), self.file)

    def value(self, node: Node, path: YamlPath) -> object:
        self.values += 1
        self.lines.setdefault(path, node.start_mark.line + 1)
        if self.values > MAX_VALUES:
            raise RubricError(
                f"the file unfolds to more than {MAX_VALUES} values",
                where=self._where(node, path),
                hint="remove the aliases (`*name`) that repeat other aliases",
            )
        if len(path) > MAX_DEPTH:
            _too_deep(self._where(node, path[:4]))
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        if not isinstance(node, ScalarNode):
            raise TypeError(f"PyYAML composed {type(node).__name__}, which YAML does not have")
        if node.tag == _TEXT and node.style is None:
            self.plain.add(path)
        return self._scalar(node, path)

    def _mapping(self, node: MappingNode, path: YamlPath) -> dict[str | int, object]:
        found: dict[str | int, object] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            here = (*path, key)
            if key in found:
                raise RubricError(
                    f"the key `{key}` stands twice, first on line {self.lines[here]}",
                    where=self._where(key_node, here),
                    hint="keep one of the two",
                )
            self.lines[here] = key_node.start_mark.line + 1
            if key_node.style is None:
                self.plain_keys.add(here)
            found[key] = self.value(value_node, here)
        return found

    def _key(self, node: Node, path: YamlPath) -> str | int:
        key = self._scalar(node, path) if isinstance(node, ScalarNode) else node
        if isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool)):
            return key
        kind = f"`{node.value}`" if isinstance(node, ScalarNode) and node.value else "an empty or nested value"
        raise RubricError(
            f"{kind} cannot be a key",
            where=self._where(node, path),
            hint="a key is text or a whole number; put the word in quotes if it is meant as text",
        )

    def _scalar(self, node: ScalarNode, path: YamlPath) -> object:
        text: str = node.value
        match node.tag.removeprefix("tag:yaml.org,2002:"):
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                if len(text.lstrip("-")) > MAX_DIGITS:
                    self._bad_number(text, node, path)
                return int(text)
            case "float":
                number = math.nan if _DOTTED_NON_FINITE.fullmatch(text) else float(text)
                if not math.isfinite(number):
                    self._bad_number(text, node, path)
                return number
        return self._paired(text, node, path)

    def _paired(self, text: str, node: Node, path: YamlPath) -> str:
        r"""Join the two halves of an escaped pair ("\uD83D\uDE00" in JSON's manner); refuse a lone half."""
        if text.isascii():
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            raise RubricError(
                "an escape holds half of a surrogate pair, which is no character",
                where=self._where(node, path),
                hint="write the character itself",
            ) from error

    def _bad_number(self, text: str, node: Node, path: YamlPath) -> NoReturn:
        raise RubricError(
            f"`{text[:40]}` is no number that a rubric can use",
            where=self._where(node, path),
            hint=f"numbers are finite and have at most {MAX_DIGITS} digits; put text in quotes",
        )

    def _where(self, node: Node, path: YamlPath) -> Where:
        return Where(self.file, node.start_mark.line + 1, dotted(path))


def _too_deep(where: Where) -> NoReturn:
    raise RubricError(
        f"values are nested more than {MAX_DEPTH} deep",
        where=where,
        hint="a rubric needs few levels; look for an alias (`*name`) inside its own anchor (`&name`)",
    )
