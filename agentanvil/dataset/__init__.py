"""The rows: frozen records, strict streaming readers, and the mapping of other people's field names."""

from agentanvil.dataset.records import Dataset, DatasetInfo, JsonValue, Row

__all__ = ["Dataset", "DatasetInfo", "JsonValue", "Row"]
