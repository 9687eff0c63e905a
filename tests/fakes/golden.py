"""Request bodies that are kept as files, compared as they go out: key order counts, white space does not.

`ANVIL_GOLDEN=write pytest tests/client` writes them anew; read the difference before it is committed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "client" / "golden"


def assert_golden(name: str, body: bytes) -> None:
    """Compare a body with `tests/client/golden/NAME.json`."""
    path = FOLDER / f"{name}.json"
    shown = json.dumps(json.loads(body), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("ANVIL_GOLDEN") == "write":
        path.write_text(shown, encoding="utf-8")
    assert path.exists(), "a new case: ANVIL_GOLDEN=write pytest tests/client"
    assert shown == path.read_text(encoding="utf-8")
