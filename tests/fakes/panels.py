"""Several judges on the loopback, who answer by the number that a row of `runs.rows` is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentanvil.runner.panel_settings import PanelSettings
from tests.fakes.decision_servers import Told
from tests.fakes.server import Answer, FakeServer, Recorded
from tests.fakes.verdicts import graded


def number_in(text: str) -> int:
    """The number that the question in a prompt or state is about."""
    return int(text.partition("What is ")[2].partition(" ")[0])


def asked(server: FakeServer) -> list[int]:
    """The rows that a judge was asked about, in their order, each as often as it was."""
    return sorted(number_in(request.body.decode()) for request in server.requests)


def scoring(score: Callable[[int], int | Answer]) -> Callable[[Recorded], Answer]:
    """Give each row its score on every dimension, or the answer that goes wrong with it."""

    def answer(request: Recorded) -> Answer:
        told = score(number_in(request.body.decode()))
        return told if isinstance(told, Answer) else graded(request, told)

    return answer


def deciding(unsure: Callable[[int], bool], sure: Told, doubtful: Told) -> Callable[[str], Mapping[str, Told]]:
    """Tell every dimension of a row the same: what is `doubtful` of those that are unsure, else what is `sure`."""

    def decide(state: str) -> Mapping[str, Told]:
        told = doubtful if unsure(number_in(state)) else sure
        return dict.fromkeys(("accuracy", "coverage"), told)

    return decide


def jury(*others: FakeServer, **more: Any) -> PanelSettings:
    return PanelSettings(jury=tuple(judge(other, f"n{n}") for n, other in enumerate(others)), **more)


def judge(server: FakeServer, model: str = "m") -> str:
    return f"compat:{model}@{server.url}"
