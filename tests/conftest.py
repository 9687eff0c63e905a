"""What holds for every test of the suite."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from tests.fakes.published import FOLDER

# No deadline: machines that share their cores would fail tests of sound code. In CI each run draws the same examples.
settings.register_profile("suite", deadline=None, max_examples=60, derandomize="CI" in os.environ)
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = pytest.mark.skip(reason="ANVIL_PUBLISHED_DATA names no folder")
    for item in items:
        if item.get_closest_marker("published") is not None and not FOLDER.is_dir():
            item.add_marker(absent)
