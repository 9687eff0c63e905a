"""docs/checks.md tells every check, and its examples are real."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentanvil.checks import CHECKS, CheckRunner, Item
from agentanvil.dataset import Row
from agentanvil.plan import Plan, plan_calls
from agentanvil.rubric import parse_rubric
from agentanvil.verdict import Scored
from tests.fakes.records import row
from tests.fakes.rubric_text import rubric_text

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| .* \| `(\{type: .*\})` \|$", PAGE, re.MULTILINE)


def test_every_check_has_its_row() -> None:
    assert sorted(name for name, _ in ROWS) == sorted(CHECKS)


@pytest.mark.parametrize(("name", "example"), ROWS)
def test_every_example_is_prepared(name: str, example: str, tmp_path: Path) -> None:
    (tmp_path / "my_checks.py").write_text("def names_order(item): return True\n", encoding="utf-8")
    rubric = parse_rubric(rubric_text(f"{{id: a, check: {example}}}"), str(tmp_path / "r.yaml"))
    assert rubric.checked[0].check.type == name
    CheckRunner(rubric, allow_code=True)


def test_every_example_in_the_text_loads() -> None:
    for example in re.findall(r"`(\{type: .*?\})`[.,: ]", PAGE.replace("\n", " ")):
        parse_rubric(rubric_text(f"{{id: a, check: {example}}}"))


def test_the_rubric_loads() -> None:
    (yaml,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    head = rubric_text().partition("dimensions:")[0]
    assert len(parse_rubric(head + yaml).checked) == 2


def test_the_function_in_the_page_works(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_checks.py").write_text(code, encoding="utf-8")
    written = rubric_text("{id: a, check: {type: python, function: 'my_checks:names_order'}}")
    rubric = parse_rubric(written, str(tmp_path / "r.yaml"))
    (task,) = Plan(plan_calls(rubric), repeats=1, judge="scripted:test").tasks([row(meta={"order": "Paris"})])
    assert CheckRunner(rubric, allow_code=True).run(task).cells == {"a": Scored(5, reason="looked for Paris")}


def test_every_parameter_is_told() -> None:
    for name, example in ROWS:
        wire = parse_rubric(rubric_text(f"{{id: a, check: {example}}}")).checked[0].check
        (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}`")]
        assert [key for key in wire.params if key not in line] == []


def test_every_attribute_of_an_item_is_told() -> None:
    told = PAGE[PAGE.index("An item has") :]
    assert [name for name in Item.__slots__ if f"`{name}`" not in told] == []
    assert set(Item.__slots__) <= set(Row.__slots__)


def test_every_code_of_a_fault_is_told() -> None:
    folder = Path(__file__).resolve().parents[2] / "agentanvil" / "checks"
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    codes = set(re.findall(r'^[A-Z_]+ = "([a-z]+(?:_[a-z]+)+)"$', code, re.MULTILINE))
    assert {"missing_field", "not_recorded", "check_failed"} <= codes
    assert [code for code in sorted(codes) if f"`{code}`" not in PAGE] == []
