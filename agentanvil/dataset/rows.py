"""A record → a row: the mapping applied, every field read strictly, the rest kept for checks."""

from __future__ import annotations

from dataclasses import dataclass

from agentanvil.dataset.faults import FieldError
from agentanvil.dataset.fieldmap import OWN_FIELDS, PAIR_FIELDS, FieldMap, FieldPath, PathAbsentError
from agentanvil.dataset.fields import HIDDEN_FIELDS, missing, misspelt, near_miss
from agentanvil.dataset.lines import Record
from agentanvil.dataset.messages import messages_of
from agentanvil.dataset.records import Contender, Row
from agentanvil.dataset.traces import Trace, TraceError, hidden_in, read_trace
from agentanvil.dataset.values import (
    LabelForm,
    read_id,
    read_model,
    read_object,
    read_scores,
    read_source,
    read_text,
)
from agentanvil.errors import DatasetError, Where
from agentanvil.strict_json import JsonError, JsonValue, parse_json


@dataclass(frozen=True, slots=True)
class RowShape:
    """How records of one file become rows. `cells`: the values are CSV cells, numbers and objects in text.

    `pairs`: a row holds two responses. `booleans`: its labels are true and false. `chats_are_traces`: with or without
    tool calls.
    """

    mapping: FieldMap
    needs_source: bool
    cells: bool
    pairs: bool = False
    booleans: bool = False
    chats_are_traces: bool = False


class RowBuilder:
    """Builds rows of one shape; what the mapping means is worked out once."""

    def __init__(self, shape: RowShape, file: str) -> None:
        self._shape = shape
        self._file = file
        mapping = shape.mapping
        self._paths = {target: path for target, path in mapping.paths.items() if "." not in target}
        self._label_paths = mapping.named("labels")
        self._meta_paths = mapping.named("meta")
        self._roots = mapping.roots
        taken = {path.steps[0].key for path in mapping.paths.values() if len(path.steps) == 1}
        self._own = PAIR_FIELDS if shape.pairs else OWN_FIELDS
        self._labels_are = LabelForm(shape.cells, booleans=shape.booleans, winners=shape.pairs)
        self._taken = taken | {name for name in self._own if name not in mapping.paths}
        self._hidden = HIDDEN_FIELDS - self._roots
        expected = self._paths.get("expected")
        self._mapped_expected = () if expected is None else (expected.text,)

    def build(self, index: int, record: Record) -> Row:
        """Return the row. Raises DatasetError naming file, line and field."""
        try:
            return self._build(index, record)
        except FieldError as fault:
            where = Where(self._file, record.line, fault.field and self._spelt(fault.field))
            raise DatasetError(fault.message, where=where, hint=fault.hint) from None

    def _build(self, index: int, record: Record) -> Row:
        fields = record.fields
        item_id = read_id(self._need("id", fields))
        response, model = ("response_a", "model_a") if self._shape.pairs else ("response", "model")
        first, hidden = self._contender(response, model, fields)
        rival: Contender | None = None
        if self._shape.pairs:
            rival, more = self._contender("response_b", "model_b", fields)
            hidden = tuple(dict.fromkeys((*hidden, *more)))
        extra = {key: value for key, value in fields.items() if key not in self._taken}
        for key in extra:
            field = near_miss(key, self._own)
            if field is not None and not (field in fields or field in self._paths or key in self._roots):
                raise misspelt(key, field)
        return Row(
            index=index,
            line=record.line,
            id=item_id,
            request=self._request(fields, first.trace),
            response=first.response,
            source=self._source(fields),
            model=first.model,
            labels=self._labels(fields),
            meta=self._meta(fields),
            expected=self._expected(fields, extra),
            extra=extra,
            flags=(*record.flags, *_warnings(first), *(_warnings(rival) if rival is not None else ())),
            hidden=(*self._hidden_names(extra), *hidden),
            trace=first.trace,
            rival=rival,
        )

    def _hidden_names(self, extra: dict[str, JsonValue]) -> tuple[str, ...]:
        return (*self._mapped_expected, *(name for name in extra if name in self._hidden))

    def _contender(self, target: str, model: str, fields: dict[str, JsonValue]) -> tuple[Contender, tuple[str, ...]]:
        """Return a response, and the names under which its value holds what no judge may see."""
        given = self._need(target, fields)
        value = self._decoded(given)
        trace = self._trace(value, target)
        named = read_model(self._get(model, fields), model)
        if trace is not None:
            return Contender(trace.final_answer or "", named or trace.model, trace), hidden_in(value)
        messages = messages_of(value)
        hidden = () if messages is None else hidden_in(value)
        return Contender(read_text(messages if hidden else given, target, "assistant"), named), hidden

    def _decoded(self, value: JsonValue) -> JsonValue:
        """A cell that may hold a trace as what it holds; any other value as it is."""
        if self._shape.cells and isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            try:
                return parse_json(value)
            except JsonError:
                return value
        return value

    def _trace(self, value: JsonValue, target: str) -> Trace | None:
        if not isinstance(value, dict | list):
            return None
        try:
            return read_trace(value, chats=self._shape.chats_are_traces)
        except TraceError as error:
            raise FieldError(target, error.message, error.hint) from None

    def _request(self, fields: dict[str, JsonValue], trace: Trace | None) -> str:
        """The row's own request; a trace that brings one may stand in a row without."""
        if trace is not None and trace.request and "request" not in fields and "request" not in self._paths:
            return trace.request
        return read_text(self._need("request", fields), "request", "user")

    def _get(self, target: str, fields: dict[str, JsonValue]) -> JsonValue:
        path = self._paths.get(target)
        return fields.get(target) if path is None else _find(path, target, fields)

    def _need(self, target: str, fields: dict[str, JsonValue]) -> JsonValue:
        path = self._paths.get(target)
        if path is not None:
            return _find(path, target, fields)
        if target not in fields:
            raise missing(target, fields)
        return fields[target]

    def _source(self, fields: dict[str, JsonValue]) -> tuple[str, ...]:
        if not self._shape.needs_source:
            return read_source(self._get("source", fields))
        passages = read_source(self._need("source", fields))
        if not passages:
            raise FieldError("source", "is empty, and this rubric judges against it", "give every row its source")
        return passages

    def _labels(self, fields: dict[str, JsonValue]) -> dict[str, tuple[float, ...]]:
        value = self._get("labels", fields)
        if value is None and not self._label_paths:
            return {}
        cells = self._shape.cells
        found = dict(read_object(value, "labels", cells))
        for name, path in self._label_paths.items():
            found[name] = _find(path, f"labels.{name}", fields)
        scores = {name: read_scores(each, f"labels.{name}", self._labels_are) for name, each in found.items()}
        return {name: given for name, given in scores.items() if given}

    def _meta(self, fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
        value = self._get("meta", fields)
        if value is None and not self._meta_paths:
            return {}
        found = dict(read_object(value, "meta", self._shape.cells))
        for name, path in self._meta_paths.items():
            found[name] = _find(path, f"meta.{name}", fields)
        return found

    def _expected(self, fields: dict[str, JsonValue], extra: dict[str, JsonValue]) -> JsonValue:
        """The mapped value; else `expected`; else the only hidden field's; else, of several, an object."""
        if "expected" in self._paths:
            return self._get("expected", fields)
        found = {key: value for key, value in extra.items() if key in self._hidden}
        if len(found) > 1 and "expected" not in found:
            return found
        return found.get("expected", next(iter(found.values()), None))

    def _spelt(self, field: str) -> str:
        path = self._shape.mapping.paths.get(field)
        spelt = field if path is None else f"{field} ({path.text})"
        return spelt if spelt.isprintable() else repr(spelt)


def _warnings(contender: Contender) -> tuple[str, ...]:
    return contender.trace.warnings if contender.trace is not None else ()


def _find(path: FieldPath, target: str, fields: dict[str, JsonValue]) -> JsonValue:
    try:
        return path.find(fields)
    except PathAbsentError as absent:
        hint = "every row needs the path; a value that nobody knows is written null"
        if path.text in fields:
            hint = f"the row has a key with a dot: --map '{target}=\"{path.text}\"'"
        raise FieldError(target, str(absent), hint) from None
