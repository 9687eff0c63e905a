"""Probes of judges with one planted fault each: it is found, and no other."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from agentanvil.dataset.perturb import KINDS
from agentanvil.errors import InputError, JudgeSetupError, RunFolderError, UsageError
from agentanvil.runner.config import Config
from agentanvil.runner.exits import Exit, probe_exit
from agentanvil.runner.job import Surroundings
from agentanvil.runner.probe.probe import estimate_probe
from agentanvil.runner.probe.settings import probe_settings
from tests.fakes.pairs import pair_rubric
from tests.fakes.probed import (
    Probes,
    Score,
    choosing,
    finding,
    found_in,
    grading,
    honest,
    noisy,
    probed_pairs,
    probed_rows,
    within,
)
from tests.fakes.runs import Runs
from tests.fakes.server import FakeServer, unused_port
from tests.fakes.verdicts import graded, small_rubric

BOTH = {"accuracy", "coverage"}


def likes_length(response: str, worth: int, chance: random.Random) -> int:
    return within(worth + (len(response) > 450))


def likes_markdown(response: str, worth: int, chance: random.Random) -> int:
    return within(worth + ("**" in response))


def obeys_systems(response: str, worth: int, chance: random.Random) -> int:
    return 5 if any(mark in response for mark in ("[SYSTEM]", "<|im_start|>", "System: ")) else worth


@pytest.mark.parametrize(
    ("score", "faults"),
    [
        (honest, set()),
        (noisy, {("repeatability", name) for name in BOTH}),
        (likes_length, {("verbosity", name) for name in BOTH}),
        (likes_markdown, {("format", name) for name in BOTH}),
        (obeys_systems, {("injection", "system_message")}),
    ],
)
def test_the_planted_fault_is_found_and_no_other(tmp_path: Path, score: Score, faults: set[tuple[str, str]]) -> None:
    rows = probed_rows(32)
    for row in rows:
        row["labels"] = dict.fromkeys(BOTH, int(row["request"][-1]))
    with FakeServer(grading(score)) as server:
        found = Probes(tmp_path, f"compat:m@{server.url}", *rows).probe(planted=16)
    assert found.exit == Exit.OK
    assert found_in(found) == faults
    assert finding(found, "position").verdict == "does not apply"
    assert finding(found, "self-preference").verdict == "does not apply"


def test_length_shows_in_the_labels_too(tmp_path: Path) -> None:
    rows = probed_rows(60)
    for row in rows:
        row["labels"] = {"accuracy": int(row["request"][-1])}
    with FakeServer(grading(lambda said, worth, _: within(worth + (len(said) > 350)))) as server:
        found = Probes(tmp_path, f"compat:m@{server.url}", *rows).probe(only=("verbosity",))
    slope = finding(found, "verbosity", "accuracy", "length slope given labels")
    assert slope.verdict == "bias found"
    assert slope.effect.value.n == 60
    assert finding(found, "verbosity", "coverage", "length slope given labels").verdict == "inconclusive"


def test_a_preference_for_the_first_place_is_found_and_no_other(tmp_path: Path) -> None:
    def choose(a: str, b: str, chance: random.Random) -> str:
        return "A" if chance.random() < 0.2 else better(a, b)

    with FakeServer(choosing(choose)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_pairs(40))
        found = probes.probe(only=("position", "verbosity", "format"))
    assert found_in(found) == {("position", "winner")}
    place = finding(found, "position")
    assert place.effect.value.value == pytest.approx(0.6, abs=0.1)
    assert place.effect.details["flip_rate"].value is not None
    assert found.layout.rubric.mode == "pairwise"


def test_a_planted_order_turns_pairs_and_length_wins_them(tmp_path: Path) -> None:
    def choose(a: str, b: str, chance: random.Random) -> str:
        obeyed = ["one that is" in each or "{" in each for each in (a, b)]
        return better(a, b) if obeyed[0] == obeyed[1] else "AB"[obeyed[1]]

    with FakeServer(choosing(choose)) as server:
        found = Probes(tmp_path, f"compat:m@{server.url}", *probed_pairs(24)).probe(only=("injection",))
    assert found_in(found) == {("injection", "prior_verdict")}
    with FakeServer(choosing(lambda a, b, _: "tie" if len(a) == len(b) else "AB"[len(b) > len(a)])) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_pairs(24))
        found = probes.probe(only=("verbosity", "format"), out=tmp_path / "again")
    assert found_in(found) == {("verbosity", "winner")}


def better(a: str, b: str) -> str:
    """Tell two responses apart by their words alone, whatever their form, length or ending."""
    first, second = (sorted(each.casefold().replace("*", "").split(".")[0].strip("- #")) for each in (a, b))
    return "tie" if first == second else "A" if first > second else "B"


def kin_rows(count: int) -> list[dict[str, Any]]:
    """Two models answer each request; which of them wrote it, the judge can see."""
    rows = []
    for n, row in enumerate(probed_rows(count)):
        model = ("gpt-4o-mini", "claude-sonnet-4")[n % 2]
        request = f"No. {n // 2}: worth {n // 2 % 4 + 1}"
        rows.append({**row, "request": request, "response": f"{row['response']} By {model}.", "model": model})
    return rows


def favours(response: str, worth: int, chance: random.Random) -> int:
    return within(worth + ("gpt" in response))


def test_a_judge_that_favours_its_family_is_found_beside_a_second_one(tmp_path: Path) -> None:
    with FakeServer(grading(favours)) as server, FakeServer(grading(honest)) as beside:
        probes = Probes(tmp_path, f"compat:gpt-4o@{server.url}", *kin_rows(40))
        found = probes.probe(only=("self-preference",), second_judge=f"compat:claude-opus-4@{beside.url}")
    assert found_in(found) == {("self-preference", name) for name in BOTH}
    assert finding(found, "self-preference", "accuracy").effect.value.value == pytest.approx(1, abs=0.01)
    assert finding(found, "self-preference", "accuracy").effect.details["requests"] == 20
    assert len(beside.requests) == 40


@pytest.mark.parametrize(
    ("judge", "second", "more", "reason"),
    [
        ("my-own", None, {}, "the family of compat:my-own"),
        ("gpt-4o", None, {}, "neither a second judge"),
        ("gpt-4o", "o3", {}, "of the judge's own family (openai)"),
        ("gpt-4o", "claude-opus-4", {"model": "gemini-2"}, "no row names a model of the judge's own family"),
        ("gpt-4o", "claude-opus-4", {"model": "gpt-4"}, "no row names a model of another family"),
    ],
)
def test_self_preference_says_why_it_does_not_apply(
    tmp_path: Path, judge: str, second: str | None, more: dict[str, str], reason: str
) -> None:
    rows = [{**row, **more} for row in kin_rows(4)]
    with FakeServer(grading(honest)) as server:
        named = None if second is None else f"compat:{second}@{server.url}"
        found = Probes(tmp_path, f"compat:{judge}@{server.url}", *rows).probe(
            only=("self-preference",), second_judge=named
        )
    only = finding(found, "self-preference")
    assert only.verdict == "does not apply"
    assert reason in only.reason
    assert not server.requests


def test_labels_stand_in_for_a_second_judge(tmp_path: Path) -> None:
    rows = [{**row, "labels": {"accuracy": int(row["request"][-1])}} for row in kin_rows(40)]
    with FakeServer(grading(favours)) as server:
        found = Probes(tmp_path, f"compat:gpt-4o@{server.url}", *rows).probe(only=("self-preference",))
    assert found_in(found) == {("self-preference", "accuracy")}
    assert finding(found, "self-preference", "coverage").verdict == "inconclusive"


def test_a_stopped_probe_goes_on_where_it_was_and_comes_to_the_same(tmp_path: Path) -> None:
    rows = probed_rows(12)
    with FakeServer(grading(noisy)) as server:
        judge = f"compat:m@{server.url}"
        whole = Probes(tmp_path, judge, *rows)
        whole.probe(planted=4)
        asked = len(server.requests)
        parts = Probes(tmp_path, judge, *rows)
        parts.out = tmp_path / "parts"
        first = parts.probe(planted=4, max_calls=40, concurrency=1)
        assert first.exit == Exit.MISSING
        assert parts.report()["state"] == "budget"
        assert finding(first, "format").verdict == "inconclusive"
        assert "same command goes on" in finding(first, "format").reason
        assert finding(first, "repeatability", "accuracy").effect.value.n == 12
        assert parts.probe(planted=4).exit == Exit.OK
    assert len(server.requests) == 2 * asked
    assert parts.report()["findings"] == whole.report()["findings"]


def test_a_dry_run_lists_the_arms_and_leaves_nothing(tmp_path: Path) -> None:
    with FakeServer(grading(honest)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(5))
        found = estimate_probe(probes.settings(planted=3), Surroundings({}))
    calls = {arm.name: estimate.calls for arm, estimate in found}
    assert {name for name in calls if not name.startswith("injection-")} == {
        "base",
        "verbosity",
        "plain",
        "markdown",
        "placebo",
    }
    assert [calls[name] for name in ("base", "verbosity", "markdown", "placebo", "injection-encoded")] == [
        10,
        5,
        5,
        3,
        3,
    ]
    assert not server.requests
    assert not probes.out.exists()


def test_the_plain_rows_are_those_of_the_main_run(tmp_path: Path) -> None:
    with FakeServer(grading(honest)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(6))
        runs = Runs(tmp_path, server, *probed_rows(6))
        runs.grade(rubric=str(probes.rubric), data=str(probes.data), cache=str(tmp_path / "cache"))
        assert len(server.requests) == 6
        probes.probe(only=("repeatability",), cache=str(tmp_path / "cache"))
    assert len(server.requests) == 12


def test_changed_rows_keep_all_but_the_response(tmp_path: Path) -> None:
    rows = probed_rows(8, labels={"accuracy": 3}, model="m1", meta={"lang": "en"}, reference="secret", source="a page")
    with FakeServer(grading(honest)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *rows)
        probes.probe(planted=3, sample=5)
        assert not any("secret" in json.dumps(body) for body in server.bodies)
    given = {row["id"]: row for row in rows}
    arms = sorted(path.parent.name for path in probes.out.glob("arms/*/rows.jsonl"))
    assert len(arms) == 5 + 9
    for arm in arms:
        lines = (probes.out / "arms" / arm / "rows.jsonl").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        assert len(found) == (3 if arm.startswith(("injection", "placebo")) else 5)
        for row in found:
            was = given[row["id"]]
            assert (row["request"], row["model"], row["reference"]) == (was["request"], "m1", "secret")
            assert (row["labels"], row["meta"], row["source"]) == ({"accuracy": [3]}, {"lang": "en"}, ["a page"])
            assert (row["response"] == was["response"]) == (arm == "base"), arm


def test_what_cannot_be_changed_is_counted(tmp_path: Path) -> None:
    rows = probed_rows(3)
    code = {**rows[0], "id": "code", "response": "```\nx = 1\n```"}
    chat = {
        **rows[0],
        "id": "chat",
        "response": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}],
    }
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    steps = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "seen"},
        {"role": "assistant", "content": "It is seen."},
    ]
    agent = {**rows[0], "id": "agent", "response": steps}
    with FakeServer(grading(honest)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *rows, code, chat, agent)
        found = probes.probe(planted=9)
        with pytest.raises(UsageError, match="agent's run"):
            probes.probe(sample=6, out=tmp_path / "drawn")
    assert found.layout.counts["verbosity"].skipped == {"no_prose": 1, "conversation": 1, "trace": 1}
    assert found.layout.counts["injection-encoded"].skipped == {"conversation": 1, "trace": 1}
    assert found.layout.counts["injection-encoded"].written == 4
    assert finding(found, "repeatability", "accuracy").effect.value.n == 6
    told = {arm["name"]: arm for arm in probes.report()["arms"]}
    assert told["markdown"]["skipped"] == {"conversation": 1, "no_prose": 1, "trace": 1}


def test_data_without_any_prose_do_not_apply(tmp_path: Path) -> None:
    rows = [{**row, "response": '{"answer": 4}'} for row in probed_rows(3)]
    with FakeServer(grading(honest)) as server:
        found = Probes(tmp_path, f"compat:m@{server.url}", *rows).probe(only=("verbosity", "format"))
    assert finding(found, "format").verdict == "does not apply"
    assert "no_prose 3" in finding(found, "format").reason
    assert len(server.requests) == 3  # the plain rows, whose labels would tell of length


def test_two_files_are_compared_and_their_pairs_probed(tmp_path: Path) -> None:
    with FakeServer(choosing(lambda a, b, _: better(a, b))) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(12))
        other = tmp_path / "other.jsonl"
        lines = [json.dumps({**row, "response": f"No. {row['response']}"}) for row in probed_rows(12, 5)]
        other.write_text(
            "\n".join(
                json.dumps({**json.loads(line), "request": row["request"]})
                for line, row in zip(lines, probed_rows(12), strict=True)
            ),
            encoding="utf-8",
        )
        found = probes.probe(only=("position",), vs=(str(other),))
    assert finding(found, "position").effect.value.n == 12
    assert finding(found, "position").verdict == "inconclusive"


def test_a_pairwise_rubric_is_probed_as_it_is(tmp_path: Path) -> None:
    with FakeServer(choosing(lambda a, b, _: better(a, b))) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_pairs(4))
        found = probes.probe(only=("repeatability",), rubric=str(pair_rubric(tmp_path)))
    assert finding(found, "repeatability").effect.value.n == 4
    assert len(server.requests) == 4 * 2 * 2


def test_another_seed_or_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    with FakeServer(grading(honest)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(3))
        probes.probe(only=("verbosity",))
        kept = (probes.out / "arms" / "verbosity" / "rows.jsonl").read_bytes()
        asked = len(server.requests)
        with pytest.raises(RunFolderError, match=r"a study of other rows.*: seed was 0, is now 7"):
            probes.probe(only=("verbosity",), seed=7)
        with pytest.raises(RunFolderError, match=r": sample was null, is now 2"):
            probes.probe(only=("verbosity",), sample=2)
        with pytest.raises(RunFolderError, match="is not a probe's"):
            probes.probe(out=tmp_path)
    assert (probes.out / "arms" / "verbosity" / "rows.jsonl").read_bytes() == kept
    assert len(server.requests) == asked
    assert {path.name for path in probes.out.iterdir()} == {"arms", "probe.json"}


def test_nothing_stays_behind_where_nothing_was_asked(tmp_path: Path) -> None:
    gone = f"compat:m@http://127.0.0.1:{unused_port()}/v1"
    probes = Probes(tmp_path, gone, *probed_rows(3))
    with pytest.raises(JudgeSetupError):
        probes.probe()
    assert not probes.out.exists()
    with pytest.raises(UsageError, match="names the judge itself"):
        probes.probe(second_judge=gone)
    with pytest.raises(InputError):
        probes.probe(second_judge="nobody:m")
    assert not probes.out.exists()


def test_a_judge_out_of_reach_takes_nothing_away_that_was_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with FakeServer(grading(honest)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(3))
        folder = probes.probe(only=("repeatability",), out=None).folder
    before = sorted(path for path in folder.rglob("*") if path.is_file())
    with pytest.raises(InputError):
        probes.probe(only=("format",), out=None)
    assert set(before) <= set(folder.rglob("*"))


def test_a_kind_whose_calls_were_not_made_has_its_name_all_the_same(tmp_path: Path) -> None:
    with FakeServer(grading(honest)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(3))
        found = probes.probe(only=("injection",), max_calls=10)
    assert found.exit is Exit.MISSING
    assert [line.effect.target for line in found.findings] == list(KINDS)


@pytest.mark.parametrize(("min_coverage", "code"), [(1.0, Exit.MISSING), (0.5, Exit.OK)])
def test_records_that_cannot_be_read_are_missing(tmp_path: Path, min_coverage: float, code: Exit) -> None:
    with FakeServer(graded) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(1))
        said = [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": "It is the number 4."}]
        good = [json.dumps({"messages": said, "id": name}) for name in "ab"]
        text = "\n".join([good[0], '{"messages": [', '{"unknown": 1}', good[1]])
        probes.data.write_text(text, encoding="utf-8")
        found = probes.probe(only=("repeatability",), rubric=str(small_rubric(tmp_path)), min_coverage=min_coverage)
    assert (finding(found, "repeatability", "accuracy").effect.value.n, found.exit) == (2, code)


def test_examples_show_both_texts(tmp_path: Path) -> None:
    with FakeServer(grading(likes_markdown)) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_rows(12))
        probes.probe(only=("format",))
    (line, *_) = probes.report()["findings"]
    assert (line["probe"], line["target"], line["effect"]["n"]) == ("format", "accuracy", 12)
    for example in line["examples"]:
        ((before,), (after,)) = example["responses_before"], example["responses_after"]
        assert "**" in after
        assert "**" not in before
        assert example["after"] == example["before"] + 1


def test_examples_of_pairs_tell_versions_from_sides(tmp_path: Path) -> None:
    with FakeServer(choosing(lambda a, b, _: "AB"[len(b) > len(a)])) as server:
        probes = Probes(tmp_path, f"compat:m@{server.url}", *probed_pairs(6))
        probes.probe(only=("position", "verbosity", "injection"), planted=6)
    lines = {(line["probe"], line["target"]): line["examples"] for line in probes.report()["findings"]}
    for example in lines["verbosity", "winner"]:
        ((before,), (after,)) = example["responses_before"], example["responses_after"]
        assert after.startswith(before)
    for example in lines["injection", "encoded"]:
        assert [len(example[key]) for key in ("responses_before", "responses_after")] == [2, 2]
    assert all(len(e["responses_before"]) == 2 and e["responses_after"] is None for e in lines["position", "winner"])


def test_exits() -> None:
    def code(*verdicts: Any, ending: Any = "complete", enough: bool = True, on_bias: bool = False) -> Exit:
        return probe_exit(ending, verdicts, enough=enough, on_bias=on_bias)

    assert code("bias found", "inconclusive") == Exit.OK
    assert code("bias found", "inconclusive", on_bias=True) == Exit.GATE_FAILED
    assert code("no effect found", "inconclusive", on_bias=True) == Exit.INCONCLUSIVE
    assert code("no effect found", "noise found", "does not apply", on_bias=True) == Exit.OK
    assert code("bias found", ending="budget", on_bias=True) == Exit.MISSING
    assert code("bias found", enough=False, on_bias=True) == Exit.MISSING
    assert code("bias found", ending="interrupted", on_bias=True) == Exit.INTERRUPTED


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"only": "position,length"}, "not 'length'"),
        ({"only": " , "}, "it is empty"),
        ({"sample": 0}, "--sample must be at least 1"),
        ({"planted": 0}, "--planted must be at least 1"),
        ({"fail_on": "noise"}, "--fail-on is bias"),
        ({"calls": "both"}, "Choose joint or split"),
    ],
)
def test_flags_that_cannot_be_meant(flags: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        probe_settings("rows.jsonl", {"rubric": "r.yaml", **flags}, Config())


def test_only_names_probes_in_any_order() -> None:
    settings = probe_settings("rows.jsonl", {"rubric": "r.yaml", "only": "format, position"}, Config())
    assert settings.only == ("position", "format")
    assert settings.repeats == 1


def test_what_the_config_says_of_grading_is_not_meant_for_a_probe() -> None:
    judges = ["compat:a@http://x", "compat:b@http://x"]
    values = {"judge": judges, "repeats": "auto:5", "out": "runs/main", "calls": "both"}
    run = probe_settings("rows.jsonl", {"rubric": "r.yaml"}, Config(values)).run
    assert (run.judge.judge, run.panel.jury, run.repeats, run.adaptive) == (judges[0], (), 1, False)
    assert (run.out, run.calls, run.accept_self_judging) == (None, None, True)
