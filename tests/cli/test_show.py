from __future__ import annotations

from pathlib import Path

import orjson

from tests.fakes.command import anvil
from tests.fakes.server import FakeServer
from tests.fakes.verdicts import CODE_RUBRIC, graded, small_rubric, write_rows

ROW = {"id": "a", "request": "Why?", "response": "Because \x1b[31mred\u202etxt.", "labels": {"accuracy": 5}}


def test_standard_output_holds_the_bytes_that_grade_sends_and_nothing_else(tmp_path: Path) -> None:
    rubric, data = small_rubric(tmp_path), write_rows(tmp_path, ROW)
    with FakeServer(graded) as server:
        (tmp_path / "anvil.yaml").write_text(f"judge: compat:m@{server.url}\ncache: 'off'\nseed: 3\n", encoding="utf-8")
        shown = anvil("show", rubric, data, "--temperature", "0.3", cwd=tmp_path)
        asked = anvil("grade", data, "--rubric", rubric, "--temperature", "0.3", "--quiet", cwd=tmp_path)
        assert asked.code == 0, asked.err
        (request,) = server.requests
    assert shown.code == 0, shown.err
    assert shown.out == request.body
    assert "chat/completions" in shown.err
    assert "tokens" in shown.err
    assert "cost unknown" in shown.err


def test_the_readable_form_lets_no_text_steer_the_terminal(tmp_path: Path) -> None:
    found = anvil("show", small_rubric(tmp_path), write_rows(tmp_path, ROW), "--format", "text", cwd=tmp_path)
    text = found.out.decode("utf-8")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert r"Because \x1b[31mred\u202etxt." in text
    assert "──── user ────" in text
    assert '"required": ["accuracy", "coverage"]' in text


def test_prices_of_the_config_make_a_cost(tmp_path: Path) -> None:
    (tmp_path / "anvil.yaml").write_text("prices: {m: {input: 1, output: 4}}\n", encoding="utf-8")
    found = anvil("show", small_rubric(tmp_path), "--judge", "compat:m@http://127.0.0.1:1/v1", cwd=tmp_path)
    assert "cost $0.00" in found.err
    assert orjson.loads(found.out)["model"] == "m"


def test_a_rubric_of_checks_sends_nothing(tmp_path: Path) -> None:
    rubric = tmp_path / "code.yaml"
    rubric.write_text(CODE_RUBRIC, encoding="utf-8")
    found = anvil("show", rubric, cwd=tmp_path)
    assert (found.code, found.out) == (0, b"")
    assert "no judge is asked" in found.err


def test_an_unknown_id_is_a_usage_error(tmp_path: Path) -> None:
    found = anvil("show", small_rubric(tmp_path), write_rows(tmp_path, ROW), "--id", "b", cwd=tmp_path)
    assert (found.code, found.out) == (2, b"")
    assert "no row has the id 'b'" in found.err


PAIR = {"id": "p", "request": "Name a prime.", "response_a": "It is two.", "response_b": "It is nine."}


def test_both_orders_of_a_pair_are_two_lines(tmp_path: Path) -> None:
    data = write_rows(tmp_path, PAIR)
    found = anvil("show", small_rubric(tmp_path), data, "--mode", "pairwise", "--order", "both", cwd=tmp_path)
    users = [orjson.loads(line)["messages"][1]["content"] for line in found.out.splitlines()]
    assert [user.index("two") < user.index("nine") for user in users] == [True, False]
    assert "task p/joint/0/ab" in found.err
    assert "task p/joint/0/ba" in found.err


def test_the_config_names_mode_and_order(tmp_path: Path) -> None:
    (tmp_path / "anvil.yaml").write_text("mode: pairwise\norder: fixed\n", encoding="utf-8")
    found = anvil("show", small_rubric(tmp_path), write_rows(tmp_path, PAIR), "--format", "text", cwd=tmp_path)
    assert b"<<RESPONSE B " in found.out
    assert "task p/joint/0/ab" in found.err


def test_the_cost_is_a_table_or_json(tmp_path: Path) -> None:
    (tmp_path / "anvil.yaml").write_text("prices: {m: {input: 1, output: 4}}\n", encoding="utf-8")
    rubric, data = small_rubric(tmp_path, "split"), write_rows(tmp_path, ROW, {**ROW, "id": "b\x1b[0m"})
    asked = ("show", rubric, data, "--cost", "--judge", "compat:m@http://127.0.0.1:1/v1")
    table = anvil(*asked, cwd=tmp_path).out.decode("utf-8")
    assert "call accuracy" in table
    assert "2 rows, 4 calls" in table
    assert "cost of 2 rows: $0.00" in table
    found = orjson.loads(anvil(*asked, "--format", "json", "--id", "b\x1b[0m", cwd=tmp_path).out)
    assert (found["rows"], found["run"]["calls"], found["row"]) == (2, 4, "b\x1b[0m")
    assert [call["call"] for call in found["calls"]] == ["accuracy", "coverage"]
    assert found["calls"][0]["dimensions"][0]["tokens"] > 0
    assert "\x1b" not in anvil(*asked, "--id", "b\x1b[0m", cwd=tmp_path).out.decode("utf-8")


def test_each_way_of_showing_has_its_own_formats(tmp_path: Path) -> None:
    rubric = small_rubric(tmp_path)
    assert anvil("show", rubric, "--format", "json", cwd=tmp_path).code == 2
    assert anvil("show", rubric, "--cost", "--format", "body", cwd=tmp_path).code == 2


def test_typed_questions_are_shown_with_their_options(tmp_path: Path) -> None:
    asked = ("show", small_rubric(tmp_path), "--judge", "systemone:m@http://127.0.0.1:1/v1", "--evidence", "none")
    found = anvil(*asked, "--format", "text", cwd=tmp_path)
    assert found.code == 0, found.err
    text = found.out.decode("utf-8")
    assert "──── score accuracy ────" in text
    assert "\n- 5: " in text
    assert "POST http://127.0.0.1:1/v1/systemone" in found.err
    assert "add --evidence none" not in found.err
    body = orjson.loads(anvil(*asked, cwd=tmp_path).out)
    assert list(body["questions"]) == ["accuracy", "coverage"]
