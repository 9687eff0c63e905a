"""The rows: frozen records, strict streaming readers, and the mapping of other people's field names."""

from agentanvil.dataset.fieldmap import FieldMap, FieldPath, PathAbsentError, parse_map, parse_path
from agentanvil.dataset.opening import open_dataset, spool_stdin
from agentanvil.dataset.records import Dataset, DatasetInfo, JsonValue, Row
from agentanvil.dataset.strict_json import JsonError, parse_json, replace_surrogates
from agentanvil.dataset.texts import canonical_text, is_blank

__all__ = [
    "Dataset",
    "DatasetInfo",
    "FieldMap",
    "FieldPath",
    "JsonError",
    "JsonValue",
    "PathAbsentError",
    "Row",
    "canonical_text",
    "is_blank",
    "open_dataset",
    "parse_json",
    "parse_map",
    "parse_path",
    "replace_surrogates",
    "spool_stdin",
]
