"""How the statistics of correction are called with a vector's input."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fakes.vector_answers import Call

CALLS: Mapping[str, Call] = {}
