"""What is written down about batches: numbers, names and files, each way there and back."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.adapter import Shape
from agentanvil.client.batch.api import Framing, Limits
from agentanvil.dataset import Row
from agentanvil.errors import RunFolderError
from agentanvil.plan import CallPlan, Plan
from agentanvil.runner.batch.ledger import Ledger, Part, add_to
from agentanvil.runner.batch.parts import Allowance, PartFile
from agentanvil.runner.batch.places import Places, custom_id, ordinal_in

TOKEN = "0123456789abcdef"
PLAN = Plan((CallPlan("checks", ("c",), judged=False), CallPlan("joint", ("d",), judged=True)), 2, "j", "both")


def part_of(number: int, ordinals: list[int], **more: object) -> Part:
    spans = array("q")
    for ordinal in ordinals:
        add_to(spans, ordinal)
    shape = Shape("tool", frozenset({"seed"}), "max_completion_tokens")
    return Part(number, TOKEN, 10.0, len(ordinals), spans, shape, **more)  # type: ignore[arg-type]


@given(st.sets(st.integers(0, 300)).map(sorted))
def test_ordinals_come_back_as_they_were(ordinals: list[int]) -> None:
    part = part_of(1, ordinals)
    assert list(part.ordinals()) == ordinals
    assert len(part.spans) <= 2 * len(ordinals)


def test_a_ledger_reads_what_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "batches.jsonl"
    ledger = Ledger(path, "run")
    first, second = part_of(1, [0, 1, 4], ceiling=0.5), part_of(2, [2])
    ledger.note("settings", settings={"data": "x"})
    for part in (first, second):
        ledger.note_intent(part, ["layout"])
    ledger.note("uploaded", part=1, file="f")
    ledger.note("created", part=1, batch="b")
    ledger.note_closed(second, "never created")
    again = Ledger(path, "run")
    assert again.parts == ledger.parts
    assert (again.settings, again.shape, again.open_tasks) == ({"data": "x"}, first.shape, 3)
    assert again.membership(5).tolist() == [1, 1, 0, 0, 1]
    assert (again.parts[1].file, again.parts[1].batch, again.parts[2].closed) == ("f", "b", "never created")
    again.refuse_other_plan(["layout"])
    with pytest.raises(RunFolderError):
        again.refuse_other_plan(["another"])


def test_half_a_line_is_cut_off_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "batches.jsonl"
    Ledger(path, "run").note("settings", settings={"n": 1})
    whole = path.read_bytes()
    for torn in (b"{", b'{"event":"settings","settings":{"n":2}}'):
        path.write_bytes(whole + torn)
        ledger = Ledger(path, "run")
        assert ledger.settings == {"n": 1}
        ledger.note("settings", settings={"n": 3})
        assert Ledger(path, "run").settings == {"n": 3}


@pytest.mark.parametrize(
    "line",
    [b"[]", b"7", b"{}", b'{"event":"created","part":9,"batch":"b"}', b'{"event":"intent","part":1}', b"\xff"],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "batches.jsonl"
    Ledger(path, "run").note("settings", settings={})
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(RunFolderError, match=r"batches\.jsonl:3: damaged line"):
        Ledger(path, "run")


def test_each_task_has_a_number_and_a_name_of_its_own() -> None:
    rows = [Row(index=n, line=n + 1, id=f"r{n}", request="q", response="a") for n in range(3)]
    places = Places(PLAN, 3)
    tasks = list(PLAN.tasks(rows))
    assert [places.ordinal(task) for task in tasks] == list(range(places.tasks))
    names = [custom_id(TOKEN, places.ordinal(task), task) for task in tasks]
    assert [ordinal_in(name, TOKEN) for name in names] == list(range(places.tasks))
    assert len({name.rpartition("-")[2] for name in names}) == len(tasks)
    assert [places.row(number) for number in (0, places.width - 1, places.width)] == [1, 1, 2]


@given(st.text())
def test_a_name_of_another_batch_claims_no_place(name: str) -> None:
    assert ordinal_in(name, TOKEN) is None
    assert ordinal_in(f"fedcba9876543210-1-{TOKEN}", TOKEN) is None


@pytest.mark.parametrize("framing", [Framing(), Framing(b"[", b",", b"]")])
@pytest.mark.parametrize(("limits", "parts"), [(Limits(2, 10**6), [2, 2, 1]), (Limits(100, 23), [2, 2, 1])])
def test_a_part_holds_what_the_provider_takes_and_not_a_byte_more(
    tmp_path: Path, framing: Framing, limits: Limits, parts: list[int]
) -> None:
    found = []
    request = b'"234567890'[:10]
    left = 5
    while left:
        file = PartFile(tmp_path, framing, limits, TOKEN)
        while left and file.fits(request):
            file.add(left, request, 0.25)
            left -= 1
        file.finish()
        assert file.path.stat().st_size <= limits.size
        assert file.path.read_bytes() == framing.head + framing.between.join([request] * file.tasks) + framing.tail
        found.append(file.tasks)
        assert file.ceiling == 0.25 * file.tasks
        file.close()
    assert found == parts
    assert list(tmp_path.iterdir()) == []


def test_one_request_beyond_every_limit_still_goes_out_alone(tmp_path: Path) -> None:
    file = PartFile(tmp_path, Framing(), Limits(5, 10), TOKEN)
    assert file.fits(b"x" * 100)
    file.add(0, b"x" * 100, None)
    assert not file.fits(b"x")
    assert file.ceiling is None
    file.close()


def test_an_allowance_is_never_passed() -> None:
    dollars = Allowance(dollars=1.0)
    assert [dollars.takes(0.4), dollars.takes(0.4), dollars.takes(0.4), dollars.takes(0.1)] == [
        True,
        True,
        False,
        False,
    ]
    assert dollars.refused == 2
    assert not Allowance(dollars=1.0).takes(None)
    requests = Allowance(requests=1)
    assert [requests.takes(None), requests.takes(None)] == [True, False]
    assert Allowance().takes(None)
