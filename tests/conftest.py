"""What holds for every test of the suite."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline: machines that share their cores would fail tests of sound code. In CI each run draws the same examples.
settings.register_profile("suite", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.load_profile("suite")
