"""What an ordinary run loads: importing scipy takes as long as grading some hundred rows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.fakes.runs import recording, verdict

SCRIPT = """
import sys
from pathlib import Path
from tests.fakes.runs import Runs, rows
labelled = [{**row, "labels": {"accuracy": 3 + n % 3}} for n, row in enumerate(rows(12))]
result = Runs(Path(sys.argv[1]), sys.argv[2], *labelled).grade()
agreement = result.summary.dimensions[0].agreement
print(agreement.kappa_interval.low is not None if agreement else None, sorted(m for m in sys.modules if "scipy" in m))
"""


def test_a_run_with_labels_loads_no_scipy(tmp_path: Path) -> None:
    replies = [{"id": f"item-{n}", "reply": verdict(3 + (n % 3 if n > 2 else 1))} for n in range(12)]
    judge = recording(tmp_path, *replies)
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), judge], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "[]"]
