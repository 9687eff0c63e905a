"""The rows: frozen records, strict streaming readers, and the mapping of other people's field names."""

from agentanvil.dataset.fieldmap import FieldMap, FieldPath, PathAbsentError, parse_map, parse_path
from agentanvil.dataset.opening import open_dataset, spool_stdin
from agentanvil.dataset.records import Dataset, DatasetInfo, JsonValue, Row
from agentanvil.dataset.strict_json import JsonError, parse_json

__all__ = [
    "Dataset",
    "DatasetInfo",
    "FieldMap",
    "FieldPath",
    "JsonError",
    "JsonValue",
    "PathAbsentError",
    "Row",
    "open_dataset",
    "parse_json",
    "parse_map",
    "parse_path",
    "spool_stdin",
]
