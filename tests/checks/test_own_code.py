from __future__ import annotations

import os
import py_compile
import sys
from pathlib import Path

import pytest

from agentanvil.checks import CheckRunner
from agentanvil.dataset import ToolStep
from agentanvil.errors import RubricError
from agentanvil.plan import Plan, plan_calls
from agentanvil.rubric import CheckDimension, CheckSpec, Rubric
from agentanvil.verdict import Cell, InputFault, Scored
from tests.fakes.agent_runs import ran
from tests.fakes.records import row, rubric


def contract(folder: Path, *functions: str) -> Rubric:
    dimensions = tuple(
        CheckDimension(f"own{n}", CheckSpec("python", "row", {"function": function}), line=9 + n)
        for n, function in enumerate(functions)
    )
    return rubric(dimensions=dimensions, file=str(folder / "r.yaml"))


def cells(folder: Path, code: str, *rows: object, function: str = "check") -> list[Cell]:
    (folder / "mine.py").write_text(code, encoding="utf-8")
    asked = contract(folder, f"mine:{function}")
    runner = CheckRunner(asked, allow_code=True)
    tasks = Plan(plan_calls(asked), repeats=1, judge="scripted:test").tasks(rows or (row(),))  # type: ignore[arg-type]
    return [runner.run(task).cells["own0"] for task in tasks]


def refusal(folder: Path, function: str, *, allow_code: bool = True) -> RubricError:
    with pytest.raises(RubricError) as caught:
        CheckRunner(contract(folder, function), allow_code=allow_code)
    assert caught.value.where is not None
    assert caught.value.where.key == "own0.check.function"
    assert caught.value.where.line == 9
    return caught.value


@pytest.mark.parametrize(
    ("body", "cell"),
    [
        ("return 'Paris' in item.response", Scored(5, reason="mine:check says yes")),
        ("return 'Rome' in item.response", Scored(1, reason="mine:check says no")),
        ("return True, 'names Paris'", Scored(5, reason="names Paris")),
        ("return False, 'no\\n  Rome \\ud800'", Scored(1, reason="no Rome \ufffd")),
        ("return False, ''", Scored(1, reason="mine:check says no")),
    ],
)
def test_a_function_decides(tmp_path: Path, body: str, cell: Cell) -> None:
    assert cells(tmp_path, f"def check(item):\n    {body}\n") == [cell]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return None", "mine:check returned NoneType, neither a boolean nor a (boolean, reason) pair"),
        ("return 1", "mine:check returned int, neither"),
        ("return 'yes'", "mine:check returned str, neither"),
        ("return [True, 'x']", "mine:check returned list, neither"),
        ("return (1, 'x')", "mine:check returned tuple, neither"),
        ("return (True, 5)", "mine:check returned tuple, neither"),
        ("return (True, 'x', 'y')", "mine:check returned tuple, neither"),
        ("raise ValueError('no\\nsuch order')", "mine:check raised ValueError: no such order"),
        ("assert False", "mine:check raised AssertionError"),
        ("item.meta['order']", "mine:check raised KeyError: 'order'"),
        ("import sys; sys.exit(3)", "mine:check raised SystemExit: 3"),
        ("return check(item)", "mine:check raised RecursionError"),
        ("raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})", "mine:check raised Odd"),
    ],
)
def test_what_is_no_answer_is_a_fault_of_the_row_alone(tmp_path: Path, body: str, message: str) -> None:
    (cell,) = cells(tmp_path, f"def check(item):\n    {body}\n")
    assert isinstance(cell, InputFault)
    assert cell.code == "check_failed"
    assert cell.message.startswith(message)
    assert len(cell.message) < 500
    assert "\n" not in cell.message


def test_ctrl_c_is_no_fault_of_the_row(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        cells(tmp_path, "def check(item):\n    raise KeyboardInterrupt\n")


def test_what_it_sees(tmp_path: Path) -> None:
    code = """
def check(item):
    assert item.id == "i" and item.request == "q" and item.response == "r" and item.source == ("s",)
    assert item.model == "m" and item.meta == {"k": [1]} and item.expected == {"e": 1} and item.extra == {"x": 1}
    assert item.trace.steps[0].args == {"a": [1]} and item.trace.latency_s == 2
    assert not hasattr(item, "labels") and not hasattr(item, "rival")
    return True
"""
    trace = ran(ToolStep("t", args={"a": [1]}), latency_s=2)
    here = row(
        id="i", request="q", response="r", source=("s",), model="m", meta={"k": [1]}, expected={"e": 1}, extra={"x": 1},
        labels={"own0": (1.0,)}, trace=trace,
    )  # fmt: skip
    assert cells(tmp_path, code, here) == [Scored(5, reason="mine:check says yes")]


@pytest.mark.parametrize(
    "change",
    ["item.response = 'x'", "item.meta['a'] = 1", "item.extra['a'] = 1", "item.trace.error = 'x'", "item.new = 1"],
)
def test_it_is_read_only(tmp_path: Path, change: str) -> None:
    (cell,) = cells(tmp_path, f"def check(item):\n    {change}\n    return True\n", row(trace=ran()))
    assert isinstance(cell, InputFault)


def test_nothing_that_it_reaches_is_what_others_see(tmp_path: Path) -> None:
    code = """
def check(item):
    item.meta["list"].append(1)
    item.expected.clear()
    item.extra["deep"]["x"].clear()
    item.trace.steps[0].args["amount"] = 0
    item.trace.steps[0].result.append(1)
    return True
"""
    here = row(
        meta={"list": [0]}, expected={"e": 1}, extra={"deep": {"x": [1]}},
        trace=ran(ToolStep("t", args={"amount": 5}, result=[1])),
    )  # fmt: skip
    before = repr(here)
    assert isinstance(cells(tmp_path, code, here)[0], Scored)
    assert repr(here) == before


def test_without_leave_nothing_of_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemError", encoding="utf-8")
    error = refusal(tmp_path, "mine:check", allow_code=False)
    assert "mine:check is Python code, and running it was not allowed" in error.message
    assert "--allow-code" in (error.hint or "")
    with pytest.raises(RubricError, match="not allowed"):
        CheckRunner(contract(tmp_path, "absent:check"))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1", "mine.py has no function `check`"),
        ("check = 5", "mine.py has no function `check`"),
        ("def check(): return True", "must take one argument"),
        ("def check(a, b): return True", "must take one argument"),
        ("def check(*, item): return True", "must take one argument"),
        ("async def check(item): return True", "is asynchronous"),
        ("def check(item) return True", "mine.py cannot be loaded: SyntaxError"),
        ("raise ValueError('boom')", "mine.py cannot be loaded: ValueError: boom"),
        ("import sys; sys.exit()", "mine.py cannot be loaded: SystemExit"),
        ("import no_such_library", "mine.py cannot be loaded: ModuleNotFoundError: No module named"),
        ("import mine", "mine.py cannot be loaded: ModuleNotFoundError"),
        ("x = '\0'", "mine.py cannot be loaded"),
    ],
)
def test_a_module_that_cannot_be_used_is_named(tmp_path: Path, code: str, message: str) -> None:
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    assert message in refusal(tmp_path, "mine:check").message


@pytest.mark.parametrize(
    "function", ["os:getcwd", "json:loads", "package:check", "outside:check", "circle:check", "nothing:check"]
)
def test_only_a_file_of_the_rubrics_own_folder_is_loaded(tmp_path: Path, function: str) -> None:
    folder, other = tmp_path / "rubrics", tmp_path / "other"
    (folder / "package").mkdir(parents=True)
    other.mkdir()
    code = "def check(item):\n    return True\n"
    (folder / "package" / "__init__.py").write_text(code, encoding="utf-8")
    (other / "outside.py").write_text(code, encoding="utf-8")
    (folder / "outside.py").symlink_to(other / "outside.py")
    (folder / "circle.py").symlink_to(folder / "circle.py")
    (folder / "nothing.py").mkdir()
    refusal(folder, function)


@pytest.mark.parametrize(
    "function",
    [
        "",
        "mine",
        "mine:",
        ":check",
        "a.b:c",
        "../mine:check",
        "mine:check.x",
        "mine:check:x",
        "a/b:c",
        "a\\b:c",
        5,
        None,
    ],
)
def test_a_name_that_is_no_plain_name(tmp_path: Path, function: str) -> None:
    assert "module:function" in refusal(tmp_path, function).message


def test_a_rubric_without_a_file_has_no_folder() -> None:
    asked = rubric(dimensions=(CheckDimension("own", CheckSpec("python", "row", {"function": "mine:check"})),))
    with pytest.raises(RubricError, match="lies in no folder"):
        CheckRunner(asked, allow_code=True)


def test_a_link_within_the_folder_and_a_folder_that_is_a_link_are_in_order(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "mine.py").write_text("def check(item):\n    return True\n", encoding="utf-8")
    (real / "same.py").symlink_to("mine.py")
    (tmp_path / "link").symlink_to(real)
    CheckRunner(contract(tmp_path / "link", "mine:check", "same:check"), allow_code=True)


def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mine.py")
    assert "is not a file" in refusal(tmp_path, "mine:check").message


def test_the_import_system_is_left_alone(tmp_path: Path) -> None:
    path, modules = list(sys.path), set(sys.modules)
    code = "from __future__ import annotations\nimport dataclasses\n@dataclasses.dataclass\nclass Kept:\n    x: int\n"
    code += "def check(item):\n    return Kept(1).x == 1 and __name__ != 'mine'\n"
    assert cells(tmp_path, code) == [Scored(5, reason="mine:check says yes")]
    assert sys.path == path
    assert "mine" not in sys.modules
    assert all(name.startswith("_agentanvil_check_") for name in set(sys.modules) - modules)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["mine.py"]


def test_a_compiled_file_that_lies_there_is_not_run(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text("def check(item):\n    return False, 'evil'\n", encoding="utf-8")
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    assert cells(tmp_path, "def check(item):\n    return True, 'good'\n") == [Scored(5, reason="good")]


def test_a_module_is_run_once_and_its_hash_is_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = f"with open({str(log)!r}, 'a') as log: log.write('x')\n"
    code += "def one(item): return True\ndef two(item): return False\n"
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    runner = CheckRunner(contract(tmp_path, "mine:one", "mine:two"), allow_code=True)
    assert log.read_text(encoding="utf-8") == "x"
    assert list(runner.code) == ["mine.py"]
    (tmp_path / "mine.py").write_text(code + "# changed\n", encoding="utf-8")
    assert CheckRunner(contract(tmp_path, "mine:one"), allow_code=True).code != runner.code
    assert CheckRunner(rubric(), allow_code=True).code == {}


def test_two_rubrics_in_two_folders_have_two_modules_of_one_name(tmp_path: Path) -> None:
    for name, answer in (("a", True), ("b", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(f"def check(item): return {answer}\n", encoding="utf-8")
    results = []
    for name in "ab":
        asked = contract(tmp_path / name, "mine:check")
        (task,) = Plan(plan_calls(asked), repeats=1, judge="scripted:test").tasks([row()])
        results.append(CheckRunner(asked, allow_code=True).run(task).cells["own0"])
    assert [cell.score for cell in results if isinstance(cell, Scored)] == [5, 1]


def test_what_it_prints_does_not_mix_with_the_machine_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells(tmp_path, "print('loading')\ndef check(item):\n    print('checking')\n    return True\n")
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "loading\nchecking\n"


def test_an_item_is_a_record(tmp_path: Path) -> None:
    code = "from agentanvil.checks import Item\ndef check(item: Item): return isinstance(item, Item)\n"
    assert cells(tmp_path, code) == [Scored(5, reason="mine:check says yes")]
