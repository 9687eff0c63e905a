"""The rows: frozen records, strict streaming readers, and the mapping of other people's field names."""

from agentanvil.dataset.fieldmap import FieldMap, FieldPath, PathAbsentError, parse_map, parse_path
from agentanvil.dataset.opening import open_dataset, spool_stdin
from agentanvil.dataset.records import Dataset, DatasetInfo, Row
from agentanvil.dataset.texts import canonical_text, is_blank
from agentanvil.strict_json import JsonValue

__all__ = [
    "Dataset",
    "DatasetInfo",
    "FieldMap",
    "FieldPath",
    "JsonValue",
    "PathAbsentError",
    "Row",
    "canonical_text",
    "is_blank",
    "open_dataset",
    "parse_map",
    "parse_path",
    "spool_stdin",
]
