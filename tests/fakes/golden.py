"""Request bodies that are kept as files, compared as they go out: key order counts, white space does not."""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "client" / "golden"


def assert_golden(name: str, body: bytes) -> None:
    """Compare a body with `tests/client/golden/NAME.json`."""
    shown = json.dumps(json.loads(body), indent=1, ensure_ascii=False) + "\n"
    assert shown == (FOLDER / f"{name}.json").read_text(encoding="utf-8")
