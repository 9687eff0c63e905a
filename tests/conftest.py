"""What holds for every test of the suite."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

from tests.fakes.published import FOLDER

# A shell that starts the suite in the background has SIGINT ignored, and children would inherit that: the tests that
# press Ctrl-C need them to start as they do in a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: machines that share their cores would fail tests of sound code. In CI each run draws the same examples.
settings.register_profile("suite", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = pytest.mark.skip(reason="ANVIL_PUBLISHED_DATA names no folder")
    for item in items:
        if item.get_closest_marker("published") is not None and not FOLDER.is_dir():
            item.add_marker(absent)
