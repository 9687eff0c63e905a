from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import ConfigError, DatasetError, UsageError
from agentanvil.runner.events import Silent
from agentanvil.runner.grade import grade
from agentanvil.runner.job import Surroundings
from agentanvil.runner.settings import GradeSettings, JudgeSettings
from agentanvil.runner.show import ShownRequest, show
from agentanvil.runner.show_subject import ShowSettings
from tests.fakes.server import Answer, FakeServer, Recorded, tool_call, unused_port
from tests.fakes.verdicts import CODE_RUBRIC, graded, refusing, small_rubric, verdict_for, write_rows

ROWS: tuple[dict[str, Any], ...] = (
    {"id": "first", "request": "Name the capital.", "response": "It is the city of Paris.", "expected": "Paris-75000"},
    {"id": "zweite/ä", "request": "Grüße?", "response": 'He said "hi"\t\u2028 and \\ left.', "meta": {"a": 1}},
)


def shown(settings: ShowSettings, **environ: str) -> ShownRequest:
    (found,) = show(settings, Surroundings(environ), Silent())
    return found


@pytest.mark.parametrize("calls", ["joint", "split"])
@pytest.mark.parametrize(
    "options",
    [{}, {"temperature": 0.5, "max_tokens": 99, "seed": 7}],
    ids=["defaults", "explicit"],
)
def test_shows_byte_for_byte_what_a_run_sends(tmp_path: Path, calls: str, options: dict[str, Any]) -> None:
    rubric, data = small_rubric(tmp_path, calls), write_rows(tmp_path, *ROWS)
    with FakeServer(graded) as server:
        judge = JudgeSettings(f"compat:m@{server.url}", cache="off", concurrency=1, **options)
        grade(GradeSettings(str(data), str(rubric), judge, repeats=2, out=tmp_path / "run"), Surroundings({}), Silent())
        sent = sorted(request.body for request in server.requests)
    names = ["joint"] if calls == "joint" else ["accuracy", "coverage"]
    bodies = [
        shown(ShowSettings(str(rubric), judge, str(data), id=row["id"], repeat=repeat, call=name)).body
        for row in ROWS
        for repeat in (0, 1)
        for name in names
    ]
    assert sorted(bodies) == sent
    assert len(set(bodies)) == len(bodies)


def test_shows_the_first_request_of_a_run_that_remembers_a_refusal(tmp_path: Path) -> None:
    rubric, data = small_rubric(tmp_path), write_rows(tmp_path, ROWS[0])
    with FakeServer(refusing("temperature")) as server:
        judge = JudgeSettings(f"compat:m@{server.url}", cache=str(tmp_path / "cache"))
        before = shown(ShowSettings(str(rubric), judge, str(data)))
        assert not (tmp_path / "cache").exists()
        grade(GradeSettings(str(data), str(rubric), judge, out=tmp_path / "run"), Surroundings({}), Silent())
        after = shown(ShowSettings(str(rubric), judge, str(data)))
        explicit = replace(judge, temperature=0.25)
        wished = shown(ShowSettings(str(rubric), explicit, str(data)))
        with pytest.raises(ConfigError, match="temperature"):
            grade(GradeSettings(str(data), str(rubric), explicit, out=tmp_path / "other"), Surroundings({}), Silent())
    assert [before.body, after.body, wished.body] == [request.body for request in server.requests]
    assert "temperature" in orjson.loads(before.body)
    assert any("refused" in note and "temperature" in note for note in after.notes)
    assert not any("refused" in note for note in before.notes)


def test_a_remembered_way_to_structure_is_shown_and_told(tmp_path: Path) -> None:
    def by_tool(request: Recorded) -> Answer:
        return tool_call(json.dumps(verdict_for(request.json["tools"][0]["function"]["parameters"])))

    rubric, data = small_rubric(tmp_path), write_rows(tmp_path, *ROWS)
    with FakeServer(refusing("response_format", by_tool)) as server:
        judge = JudgeSettings(f"compat:m@{server.url}", cache=str(tmp_path / "cache"), concurrency=1)
        grade(GradeSettings(str(data), str(rubric), judge, limit=1, out=tmp_path / "run"), Surroundings({}), Silent())
        found = shown(ShowSettings(str(rubric), judge, str(data), id=ROWS[1]["id"]))
        grade(GradeSettings(str(data), str(rubric), judge, out=tmp_path / "run"), Surroundings({}), Silent())
    assert found.body == server.requests[-1].body
    assert any("structured output by tool" in note for note in found.notes)


def test_names_the_headers_that_are_sent_and_no_key(tmp_path: Path) -> None:
    rubric, data = small_rubric(tmp_path), write_rows(tmp_path, ROWS[0])
    key = "sk-test-0123456789"
    with FakeServer(graded) as server:
        judge = JudgeSettings(f"compat:m@{server.url}", cache="off")
        found = shown(ShowSettings(str(rubric), judge, str(data)), COMPAT_API_KEY=key)
        around = Surroundings({"COMPAT_API_KEY": key})
        grade(GradeSettings(str(data), str(rubric), judge, out=tmp_path / "run"), around, Silent())
        received = server.requests[0]
    assert found.url == f"{server.url}/chat/completions"
    assert found.url.endswith(received.path)
    assert "Authorization" in found.headers
    assert {name.lower() for name in found.headers} <= received.headers.keys()
    assert key not in repr(found)


def test_needs_neither_a_key_nor_a_judge_that_is_there(tmp_path: Path) -> None:
    found = shown(ShowSettings(str(small_rubric(tmp_path)), JudgeSettings("openai:gpt-x")))
    assert found.url == "https://api.openai.com/v1/chat/completions"
    assert orjson.loads(found.body)["max_completion_tokens"] == 8000
    assert any("OPENAI_API_KEY" in note for note in found.notes)
    nobody = JudgeSettings(f"compat:m@http://127.0.0.1:{unused_port()}/v1")
    assert shown(ShowSettings(str(small_rubric(tmp_path)), nobody)).body


def test_without_data_and_judge_placeholders_stand_in_and_say_so(tmp_path: Path) -> None:
    found = shown(ShowSettings(str(small_rubric(tmp_path)), JudgeSettings()))
    body = orjson.loads(found.body)
    assert body["model"] == "MODEL"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["accuracy", "coverage"]
    assert any("placeholder" in note for note in found.notes)
    assert any("no judge" in note for note in found.notes)
    assert found.cost_usd is None


def test_a_needed_source_has_a_placeholder_too(tmp_path: Path) -> None:
    rubric = small_rubric(tmp_path)
    rubric.write_text(f"{rubric.read_text(encoding='utf-8')}needs_source: true\n", encoding="utf-8")
    assert "<<SOURCE " in shown(ShowSettings(str(rubric), JudgeSettings())).request.messages[1].content


def test_the_expected_answer_is_never_shown_unless_the_rubric_shows_it_to_the_judge(tmp_path: Path) -> None:
    rubric, data = small_rubric(tmp_path), write_rows(tmp_path, ROWS[0])
    found = shown(ShowSettings(str(rubric), JudgeSettings(), str(data)))
    assert b"Paris-75000" not in found.body
    assert any("expected" in note for note in found.notes)
    rubric.write_text(f"{rubric.read_text(encoding='utf-8')}allow_expected: true\n", encoding="utf-8")
    found = shown(ShowSettings(str(rubric), JudgeSettings(), str(data)))
    assert b"Paris-75000" in found.body
    assert not any("expected" in note for note in found.notes)


def test_cost_by_hand(tmp_path: Path) -> None:
    prices = PriceTable.read({"m": {"input": 2.0, "output": 8.0}})
    judge = JudgeSettings("compat:m@http://127.0.0.1:1/v1", prices=prices)
    found = shown(ShowSettings(str(small_rubric(tmp_path)), judge))
    assert found.output_tokens == 120
    assert found.cost_usd == pytest.approx(found.input_tokens * 2e-6 + 120 * 8e-6)
    assert shown(ShowSettings(str(small_rubric(tmp_path)), JudgeSettings("recorded:replies.jsonl"))).cost_usd == 0


def test_the_local_judge_is_shown_without_its_server(tmp_path: Path) -> None:
    found = shown(ShowSettings(str(small_rubric(tmp_path)), JudgeSettings("local")), PATH="")
    assert "Qwen" in orjson.loads(found.body)["model"]
    assert found.cost_usd == 0
    assert any("when anvil starts it" in note for note in found.notes)


def test_a_split_rubric_shows_its_first_call_and_names_the_others(tmp_path: Path) -> None:
    settings = ShowSettings(str(small_rubric(tmp_path, "split")), JudgeSettings())
    found = shown(settings)
    assert found.task == "row/accuracy/0"
    assert any("accuracy, coverage" in note for note in found.notes)


def test_a_rubric_of_checks_asks_no_judge(tmp_path: Path) -> None:
    rubric = tmp_path / "code.yaml"
    rubric.write_text(CODE_RUBRIC, encoding="utf-8")
    assert show(ShowSettings(str(rubric), JudgeSettings()), Surroundings({}), Silent()) == ()


def test_rows_come_from_standard_input_and_through_a_map(tmp_path: Path) -> None:
    row = orjson.dumps({"id": 7, "prompt": "Why?", "output": {"text": "Because."}}) + b"\n"
    settings = ShowSettings(
        str(small_rubric(tmp_path)), JudgeSettings(), "-", ("request=prompt", "response=output.text"), id="7"
    )
    (found,) = show(settings, Surroundings({}, io.BytesIO(row)), Silent())
    assert found.task == "7/joint/0"
    assert "Because." in found.request.messages[1].content


def test_an_unknown_id_names_the_closest(tmp_path: Path) -> None:
    rows = [{"id": f"item-{n}", "request": "a", "response": "b"} for n in range(20)]
    settings = ShowSettings(str(small_rubric(tmp_path)), JudgeSettings(), str(write_rows(tmp_path, *rows)), id="itm-7")
    with pytest.raises(UsageError, match=r"no row has the id 'itm-7'") as caught:
        shown(settings)
    assert "'item-7'" in str(caught.value.hint)
    assert "rows.jsonl" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"call": "checks"}, "no judge is asked in a call 'checks'"),
        ({"id": "first"}, "no data file"),
        ({"repeat": -1}, "from 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shown(ShowSettings(str(small_rubric(tmp_path)), JudgeSettings(), **changes))


def test_a_file_without_rows_and_a_broken_row_are_refused_with_their_place(tmp_path: Path) -> None:
    rubric = str(small_rubric(tmp_path))
    with pytest.raises(DatasetError, match="0 rows"):
        shown(ShowSettings(rubric, JudgeSettings(), str(write_rows(tmp_path))))
    with pytest.raises(DatasetError, match=r"rows\.jsonl:1: response"):
        shown(ShowSettings(rubric, JudgeSettings(), str(write_rows(tmp_path, {"id": "a", "request": "b"}))))


PAIRS: tuple[dict[str, Any], ...] = (
    {"id": "p1", "request": "Name a prime.", "response_a": "It is two.", "response_b": "It is nine."},
    {"id": "p2", "request": "Name another.", "response_a": "It is ten.", "response_b": "It is three."},
)


@pytest.mark.parametrize("order", [None, "both", "fixed"])
@pytest.mark.parametrize("calls", [None, "split", "both"])
def test_a_pair_is_shown_byte_for_byte_as_a_run_sends_it(tmp_path: Path, order: Any, calls: Any) -> None:
    rubric, data = str(small_rubric(tmp_path)), str(write_rows(tmp_path, *PAIRS))
    with FakeServer(graded) as server:
        judge = JudgeSettings(f"compat:m@{server.url}", cache="off", concurrency=1, seed=3)
        asked = GradeSettings(data, rubric, judge, "pairwise", order, calls=calls, repeats=2, out=tmp_path / "run")
        grade(asked, Surroundings({}), Silent())
        sent = sorted(request.body for request in server.requests)
    names = {None: ["joint"], "split": ["accuracy", "coverage"], "both": ["joint", "accuracy", "coverage"]}[calls]
    bodies = [
        request.body
        for row in PAIRS
        for repeat in (0, 1)
        for name in names
        for request in show(
            ShowSettings(rubric, judge, data, (), row["id"], repeat, name, "pairwise", order, calls=calls),
            Surroundings({}),
            Silent(),
        )
    ]
    assert sorted(bodies) == sent


def test_a_pair_of_files_is_joined(tmp_path: Path) -> None:
    one = write_rows(tmp_path, {"id": "x", "request": "Q?", "response": "first answer"})
    other = tmp_path / "other.jsonl"
    other.write_text('{"id": "x", "request": "Q?", "response": "second answer"}\n', encoding="utf-8")
    found = shown(
        ShowSettings(
            str(small_rubric(tmp_path)), JudgeSettings(), str(one), mode="pairwise", order="fixed", vs=(str(other),)
        )
    )
    user = found.request.messages[1].content
    assert user.index("first answer") < user.index("RESPONSE B") < user.index("second answer")
    assert any("response_a is shown as A and response_b as B" in note for note in found.notes)


def test_each_mode_has_a_made_up_row(tmp_path: Path) -> None:
    rubric = str(small_rubric(tmp_path))
    users = {
        mode: shown(ShowSettings(rubric, JudgeSettings(), mode=mode)).request.messages[1].content
        for mode in ("absolute", "gate", "pairwise")
    }
    assert "(the row's response)" in users["absolute"]
    assert users["gate"].endswith("Check the response.")
    assert "(the row's response_b)" in users["pairwise"]


def test_a_drawn_order_says_so(tmp_path: Path) -> None:
    rubric = str(small_rubric(tmp_path))
    orders = [shown(ShowSettings(rubric, JudgeSettings(), repeat=n, mode="pairwise")) for n in (0, 1)]
    assert {request.task.rsplit("/", 1)[1] for request in orders} == {"ab", "ba"}
    assert all(any("drawn" in note for note in request.notes) for request in orders)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "ranked"}, "--mode is one of"),
        ({"order": "ab", "mode": "pairwise"}, "--order is one of"),
        ({"calls": "joined"}, "--calls is one of"),
        ({"order": "both"}, "about two responses, but this is absolute"),
        ({"vs": ("x.jsonl",), "mode": "pairwise"}, "no data file"),
    ],
)
def test_a_way_of_asking_that_cannot_be_meant_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shown(ShowSettings(str(small_rubric(tmp_path)), JudgeSettings(), **changes))
