"""The rows: frozen records, strict streaming readers, and the mapping of other people's field names."""

from agentanvil.dataset.asked import Asked
from agentanvil.dataset.fieldmap import FieldMap, FieldPath, PathAbsentError, parse_map, parse_path
from agentanvil.dataset.joined import JoinedDataset
from agentanvil.dataset.label_columns import LabelsAsked
from agentanvil.dataset.labels_file import ItemLabels, LabelsFile, read_labels
from agentanvil.dataset.opening import open_dataset, spool_stdin
from agentanvil.dataset.records import WINNER, Contender, Dataset, DatasetInfo, Row
from agentanvil.dataset.texts import canonical_text, is_blank, normal_form
from agentanvil.dataset.traces import Step, ToolStep, Trace, TurnStep
from agentanvil.strict_json import JsonValue

__all__ = [
    "WINNER",
    "Asked",
    "Contender",
    "Dataset",
    "DatasetInfo",
    "FieldMap",
    "FieldPath",
    "ItemLabels",
    "JoinedDataset",
    "JsonValue",
    "LabelsAsked",
    "LabelsFile",
    "PathAbsentError",
    "Row",
    "Step",
    "ToolStep",
    "Trace",
    "TurnStep",
    "canonical_text",
    "is_blank",
    "normal_form",
    "open_dataset",
    "parse_map",
    "parse_path",
    "read_labels",
    "spool_stdin",
]
