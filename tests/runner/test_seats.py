"""The judges of a run by name: in which order they sit, what makes them the same panel, and how each is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentanvil.client.spec import parse_judge
from agentanvil.plan import BY_CODE, Seat
from agentanvil.runner.panel_settings import PanelSettings
from agentanvil.runner.seats import Panel, name_panel, seat_settings
from agentanvil.runner.settings import JudgeSettings
from tests.fakes.records import rubric
from tests.fakes.runs import Runs, recording, verdict

FIRST = "compat:m@http://127.0.0.1:1/v1"
SECOND = "compat:n@http://127.0.0.1:1/v1"


def panel(folder: Path, **beside: object) -> Panel:
    settings = Runs(folder, FIRST).settings(panel=PanelSettings(**beside))  # type: ignore[arg-type]
    return name_panel(settings, rubric(gate={"overall": 4}), {})


@pytest.mark.parametrize(
    ("beside", "seats", "identity"),
    [
        ({}, (), FIRST),
        ({"jury": (SECOND,), "quorum": 1}, (Seat(SECOND, "jury"),), f"{FIRST}; jury {SECOND}"),
        ({"cross_judge": SECOND}, (Seat(SECOND, "cross", 0.2),), f"{FIRST}; cross {SECOND}, share 0.2"),
        (
            {"cross_judge": SECOND, "cross_sample": 0.0},
            (Seat(SECOND, "cross", 0.0),),
            f"{FIRST}; cross {SECOND}, share 0",
        ),
        (
            {"escalate_to": SECOND},
            (Seat(SECOND, "escalation", 0.05),),
            f"{FIRST}; escalation {SECOND} when entropy>0.6 or near_gate, share 0.05",
        ),
        (
            {"escalate_to": SECOND, "escalate_when": " missing ", "escalate_share": 1.0},
            (Seat(SECOND, "escalation", 1.0),),
            f"{FIRST}; escalation {SECOND} when missing, share 1",
        ),
    ],
)
def test_who_sits_beside_the_first_and_what_makes_it_the_same_panel(
    tmp_path: Path, beside: dict[str, object], seats: tuple[Seat, ...], identity: str
) -> None:
    found = panel(tmp_path, **beside)
    assert [str(spec) for spec in found.specs] == [FIRST, *(seat.judge for seat in seats)]
    assert (found.name, found.others, found.identity) == (FIRST, seats, identity)


def test_a_recording_at_any_seat_is_another_judge_once_it_holds_other_replies(tmp_path: Path) -> None:
    before = panel(tmp_path, jury=(recording(tmp_path, {"id": "item-0", "reply": verdict(4)}),)).identity
    after = panel(tmp_path, jury=(recording(tmp_path, {"id": "item-0", "reply": verdict(5)}),)).identity
    assert before != after


def test_where_code_decides_everything_nobody_sits(tmp_path: Path) -> None:
    found = name_panel(Runs(tmp_path, FIRST).settings(), rubric(checks=("short",)), {})
    assert (found.specs, found.name, found.identity) == ((), BY_CODE, BY_CODE)


def test_a_model_on_this_machine_is_asked_as_it_would_be_alone() -> None:
    given = JudgeSettings(judge=FIRST, concurrency=32, timeout=60.0, api_key_command="pass show key")
    beside = seat_settings(given, parse_judge("local"), 1)
    assert (beside.concurrency, beside.timeout, beside.api_key_command) == (8, 900.0, None)
    assert seat_settings(given, parse_judge(FIRST), 0) == given
    hosted = seat_settings(given, parse_judge(SECOND), 1)
    assert (hosted.concurrency, hosted.timeout, hosted.judge) == (32, 60.0, SECOND)
