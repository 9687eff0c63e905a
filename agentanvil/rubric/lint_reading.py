"""A rubric as the linter reads it: the records, and the lines of the text that they came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentanvil.rubric.model import Dimension, Rubric
from agentanvil.rubric.yaml_text import YamlPath, YamlText, read_yaml


@dataclass(frozen=True, slots=True)
class Reading:
    """`source` is None for a rubric that was made in code; nothing then has a line."""

    rubric: Rubric
    source: YamlText | None

    @classmethod
    def of(cls, rubric: Rubric) -> Reading:
        """Read the rubric's text once more, for the lines and the quotes that the records do not keep."""
        return cls(rubric, read_yaml(rubric.text, rubric.file) if rubric.text else None)

    def line(self, *path: str | int) -> int | None:
        """Return the line of the key at `path`, or of its nearest ancestor."""
        return None if self.source is None else self.source.where(path).line

    def judged(self) -> Iterator[tuple[int, Dimension]]:
        """Yield the judged dimensions with their positions in the file."""
        for index, dimension in enumerate(self.rubric.dimensions):
            if isinstance(dimension, Dimension):
                yield index, dimension

    def prose(self) -> Iterator[tuple[YamlPath, str | None, str]]:
        """Yield path, dimension id and text of everything that a judge reads of this rubric."""
        for index, rule in enumerate(self.rubric.rules):
            yield ("rules", index), None, rule
        for index, dimension in self.judged():
            at: YamlPath = ("dimensions", index)
            yield (*at, "question"), dimension.id, dimension.question
            for score, anchor in dimension.anchors.items():
                yield (*at, "anchors", score), dimension.id, anchor
            for position, matter in enumerate(dimension.scope.inside):
                yield (*at, "scope", "in", position), dimension.id, matter
            for position, exclusion in enumerate(dimension.scope.outside):
                yield (*at, "scope", "out", position, "what"), dimension.id, exclusion.what

    def plain_anchors(self) -> Iterator[tuple[YamlPath, str, str]]:
        """Yield path, dimension id and text of each anchor that stands without quotes."""
        for index, dimension in self.judged():
            for score, anchor in dimension.anchors.items():
                path: YamlPath = ("dimensions", index, "anchors", score)
                if self.source is not None and path in self.source.plain:
                    yield path, dimension.id, anchor

    def labels(self) -> Iterator[tuple[YamlPath, str, bool]]:
        """Yield path and text of each reply label, and whether it stands without quotes."""
        found = self._written_labels()
        for index, token in enumerate(found if isinstance(found, list | dict) else ()):
            path: YamlPath = ("reply", "labels", token if isinstance(found, dict) else index)
            plain = self.source is not None and path in (self.source.plain | self.source.plain_keys)
            yield path, str(token), plain

    def labels_are_listed(self) -> bool:
        """Say whether the labels are a list, so that their order says what they score."""
        return isinstance(self._written_labels(), list)

    def _written_labels(self) -> object:
        data = None if self.source is None else self.source.data
        reply = data.get("reply") if isinstance(data, dict) else None
        return reply.get("labels") if isinstance(reply, dict) else None
