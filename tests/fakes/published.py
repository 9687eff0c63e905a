"""Published judge data in the folder that ANVIL_PUBLISHED_DATA names.

Tests that read it carry the marker `published`, and are skipped where there is no such folder.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("ANVIL_PUBLISHED_DATA") or "/nonexistent")


def read_json(name: str) -> Any:
    """Return what a JSON file of the folder holds."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def read_lines(name: str) -> list[Any]:
    """Return the values of a JSONL file of the folder."""
    with (FOLDER / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
