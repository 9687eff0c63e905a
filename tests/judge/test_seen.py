"""Evidence against what was shown: quotes in each side's own text, places among a run's steps."""

from __future__ import annotations

import pytest

from agentanvil.dataset import Contender, ToolStep, Trace
from agentanvil.judge.seen import Seen, names_place
from agentanvil.prompt import Material, TraceText, trace_text
from agentanvil.prompt.material import MaterialReader
from tests.fakes.records import row

RUN = Trace(steps=tuple(ToolStep("look", args={"n": n}, result=f"seen {n}") for n in range(12)), final_answer="Twelve.")
SHOWN = trace_text(RUN)
PLANNED = trace_text(Trace(plan="Look.", steps=RUN.steps[:2]))


@pytest.mark.parametrize(
    "place",
    [
        "step 1",
        "Step 12",
        "[step 4: tool call]",
        "step 3-5",
        "steps 3–5",
        "steps 3, 4 and 12",
        "steps 1 to 12",
        "steps 2 through 4",
        "steps 2, and step 4",
        "STEP #7",
        "step 3, result: no such train",
        "step 3 and step 4",
        "the tool call in step 2.",
        "step 2, 900 characters in",
        "final answer",
        "Final  Answer, first sentence",
        "the request",
        "source, paragraph 2",
    ],
)
def test_places_that_the_run_has(place: str) -> None:
    assert names_place(place, SHOWN)


@pytest.mark.parametrize(
    "place",
    [
        "step 13",
        "step 0",
        "steps 11-13",
        "steps 3, 4 and 99",
        "step 2 and step 20",
        "step 1234567890123",
        "the third step",
        "paragraph 2, line 1",
        "plan",
        "ended early",
        "footstep 3",
        "replanned",
        "",
    ],
)
def test_places_that_it_has_not(place: str) -> None:
    assert not names_place(place, SHOWN)


def test_a_plan_is_a_place_where_there_is_one() -> None:
    assert names_place("the plan", PLANNED)


def seen(*responses: str | TraceText, source: tuple[str, ...] = ()) -> Seen:
    return Seen(Material(responses, source))


def test_each_side_points_into_its_own_run() -> None:
    both = seen(SHOWN, PLANNED)
    assert both.holds((("step 12",), ("step 2",)), "pinpoint") is True
    assert both.holds((("step 2",), ("step 12",)), "pinpoint") is False
    assert both.holds((("step 2", "step 13"), ()), "pinpoint") is False


def test_places_in_a_text_without_steps_cannot_be_looked_up() -> None:
    assert seen("plain").holds((("paragraph 9",),), "pinpoint") is None
    assert seen("plain", SHOWN).holds((("line 1",), ("step 1",)), "pinpoint") is True
    assert seen("plain", SHOWN).holds((("line 1",), ("step 99",)), "pinpoint") is False


def test_quotes_are_looked_up_in_the_run_as_it_was_shown() -> None:
    assert seen(SHOWN).holds((("seen 7", '{"n":7}', "Twelve."),), "quoted") is True
    assert seen(SHOWN).holds((("seen 13",),), "quoted") is False
    long = trace_text(Trace(steps=(ToolStep("t", result="a" * 9_000 + "MIDDLE" + "b" * 9_000),)))
    assert seen(long).holds((("MIDDLE",),), "quoted") is False
    assert seen("plain", source=("in the source",)).holds((("the source",),), "quoted") is True


def test_nothing_is_looked_up_where_nothing_was_asked() -> None:
    assert seen("plain").holds((("absent",),), "none") is None


def test_a_runs_text_is_made_once_for_all_calls_of_its_row() -> None:
    reader = MaterialReader()
    pair = row(trace=RUN, rival=Contender("", trace=Trace(plan="x")))
    first, second = (reader.read(pair, order).responses for order in ("ab", "ba"))  # type: ignore[arg-type]
    assert first[0] is second[1]
    assert first[1] is second[0]
    assert reader.read(pair, "-").responses[0] is first[0]


def test_a_row_with_one_response_has_no_order() -> None:
    with pytest.raises(ValueError, match="one response"):
        MaterialReader().read(row(), "ab")
