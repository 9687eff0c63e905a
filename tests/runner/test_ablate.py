"""Whole ablations: planted faults are found, calls are shared, budgets stop and resume, refusals cost nothing."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from agentanvil.client.prices import PriceTable
from agentanvil.errors import AnvilError, InputError, RunFolderError, UsageError
from agentanvil.plan import plan_calls
from agentanvil.prompt import PromptRenderer, built_in_rules
from agentanvil.rubric import Mode, Rubric, load_rubric
from agentanvil.rubric.variant import Clause, ClauseKind, clauses
from agentanvil.runner.ablation.ablate import AblateResult, ablate, estimate_ablation
from agentanvil.runner.ablation.arms import lay_out
from agentanvil.runner.ablation.settings import AblateSettings, ablate_settings
from agentanvil.runner.config import Config
from agentanvil.runner.exits import Exit
from agentanvil.runner.job import Surroundings, rubric_in_mode
from tests.fakes.ablated import EXCLUSION, RULE, answering, leaky, noisy, rows, write_rubric
from tests.fakes.pairs import PAIR_RUBRIC, by_length, judged, pair_rows
from tests.fakes.runs import Collected, Runs
from tests.fakes.server import Answer, FakeServer, Recorded, chat, error
from tests.fakes.verdicts import graded

PRICES = PriceTable.read({"m": {"input": 5, "output": 25}})  # a call costs a tenth of a cent
EVERY = (
    *("accuracy.in.1", "accuracy.out.1", "accuracy.out.2", "rules.1"),
    *("built_in.only_what_is_there", "built_in.round_down", "built_in.ignore_style", "evidence"),
)


class Studies:
    """Ablations of the leaky rubric in one folder."""

    def __init__(self, folder: Path, server: FakeServer, data: list[dict[str, Any]]) -> None:
        self.runs = Runs(folder, server, *data)
        self.runs.rubric = write_rubric(folder)
        self.runs.out = folder / "study"

    def settings(self, **changes: Any) -> AblateSettings:
        own = {name: changes.pop(name) for name in ("clauses", "sample", "again") if name in changes}
        return AblateSettings(self.runs.settings(**changes), **own)

    def ablate(self, stdin: bytes | None = None, listener: Collected | None = None, **changes: Any) -> AblateResult:
        around = Surroundings({}, None if stdin is None else io.BytesIO(stdin))
        return ablate(self.settings(**changes), around, listener or Collected())

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.runs.out / "ablation.json").read_text(encoding="utf-8"))
        return found


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {clause["id"]: clause["verdict"] for clause in report["clauses"]}


def findings(report: dict[str, Any]) -> dict[str, str]:
    return {name: verdict for name, verdict in verdicts(report).items() if verdict != "no_measurable_effect"}


SOME = ("accuracy.in.1", "accuracy.out.1", "rules.1", "evidence")


@pytest.mark.parametrize(
    ("seed", "wanted"), [(1, SOME), *(pytest.param(seed, EVERY, marks=pytest.mark.slow) for seed in (2, 3, 4))]
)
def test_a_leak_and_a_harmful_rule_are_found_and_nothing_else(
    tmp_path: Path, seed: int, wanted: tuple[str, ...]
) -> None:
    with FakeServer(answering(leaky(seed))) as server:
        studies = Studies(tmp_path, server, rows(40, seed))
        result = studies.ablate(clauses=wanted)
    report = studies.report()
    assert (result.exit, result.ending) == (Exit.OK, "complete")
    assert tuple(verdicts(report)) == wanted
    assert findings(report) == {"accuracy.out.1": "earns_its_tokens", "rules.1": "harmful"}
    assert len(server.requests) == 40 * (2 + len(wanted))
    # Nothing is left out when the whole rubric is asked again, and this judge has no noise.
    assert [each["flips"]["up"] + each["flips"]["down"] for each in report["noise"]["dimensions"]] == [0, 0, 0]


def test_a_noisy_judge_that_heeds_nothing_has_no_finding_and_a_noise_floor(tmp_path: Path) -> None:
    with FakeServer(answering(noisy(5))) as server:
        studies = Studies(tmp_path, server, rows(30, 5))
        studies.ablate(clauses=("accuracy.in",))
    report = studies.report()
    assert findings(report) == {}
    assert report["noise"]["dimensions"][0]["flips"]["share"]["value"] > 0.1


def test_calls_of_the_whole_rubric_come_from_the_cache_of_a_grade(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache.sqlite")
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(6, 1))
        studies.runs.grade(cache=cache, out=tmp_path / "plain")
        assert len(server.requests) == 6
        studies.ablate(cache=cache, clauses=("accuracy.out.1",), again=False)
        assert len(server.requests) == 6 + 6
        # Another study of the same rows asks for nothing new.
        studies.ablate(cache=cache, clauses=("accuracy.out.1",), again=False, out=tmp_path / "other")
        assert len(server.requests) == 6 + 6


def test_split_calls_ask_again_only_about_the_dimension_that_lost_a_clause(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(5, 1))
        studies.ablate(cache=str(tmp_path / "cache.sqlite"), calls="split", clauses=("accuracy.out",), again=False)
    # Both dimensions of the whole rubric, then accuracy alone without each exclusion.
    assert len(server.requests) == 5 * (2 + 1 + 1)
    told = [request.json["messages"][0]["content"] for request in server.requests]
    assert sum(EXCLUSION not in each and "each claim" in each for each in told) == 5


def test_the_first_reading_and_the_second_are_told_apart(tmp_path: Path) -> None:
    """The judge gives one point less from its third reading on: with two repeats that is the noise floor alone."""

    def answer(request: Recorded) -> Answer:
        return graded(request, 4 if request.json["seed"] < 2 else 3)

    with FakeServer(answer) as server:
        studies = Studies(tmp_path, server, rows(4, 1))
        studies.ablate(repeats=2, clauses=("accuracy.out.2",))
    report = studies.report()
    (clause,) = report["clauses"]
    accuracy = clause["dimensions"][0]["mean"]
    assert (accuracy["whole"]["value"], accuracy["without"]["value"]) == (4, 4)
    again = report["noise"]["dimensions"][0]["mean"]
    assert (again["whole"]["value"], again["without"]["value"]) == (4, 3)


def test_a_budget_stops_cleanly_and_the_same_command_finishes(tmp_path: Path) -> None:
    wanted = EVERY[:3]
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(10, 1))
        stopped = studies.ablate(prices=PRICES, max_cost=0.035, concurrency=1, clauses=wanted)
        assert (stopped.exit, stopped.ending) == (Exit.MISSING, "budget")
        assert len(server.requests) == 35
        # The whole rubric twice and one clause are measured, the second clause is under way.
        assert list(verdicts(studies.report())) == ["accuracy.in.1"]
        assert [clause["id"] for clause in studies.report()["unmeasured"]] == list(wanted[1:])
        assert not studies.report()["study"]["complete"]
        done = studies.ablate(prices=PRICES, max_cost=1.0, clauses=wanted)
        assert done.exit is Exit.OK
        assert len(server.requests) == 10 * 5
    assert studies.report()["study"]["cost_usd"] == pytest.approx(0.05)
    assert tuple(verdicts(studies.report())) == wanted


def test_a_budget_that_does_not_reach_the_first_arm_s_end_measures_nothing(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        result = Studies(tmp_path, server, rows(10, 1)).ablate(max_calls=5)
    assert (result.report, result.exit, len(server.requests)) == (None, Exit.MISSING, 5)


def test_an_arm_says_how_many_verdicts_it_lacks_and_why(tmp_path: Path) -> None:
    listener = Collected()
    with FakeServer(lambda _: chat("I would rather not say.")) as server:
        studies = Studies(tmp_path, server, rows(3, 1))
        found = studies.ablate(listener=listener, clauses=("rules",), again=False)
    assert found.exit is Exit.MISSING
    assert found.report is not None
    assert [finding.verdict for finding in found.report.ablation.findings] == ["inconclusive"]
    told = [notice for notice in listener.notices if "verdicts are missing" in notice]
    assert len(told) == 2
    assert told[0].startswith("whole: 6 of 6 verdicts are missing, of item-0 for one (")


def test_a_limit_is_told_as_it_was_set(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(10, 1))
        found = studies.ablate(max_calls=25)
    # Twenty of them went to the whole rubric, so that the arm without the first clause had five.
    assert str(found.problem).startswith("--max-calls 25 reached, all arms together")


def test_an_endpoint_that_fails_later_ends_the_study_so_that_it_can_be_resumed(tmp_path: Path) -> None:
    def answer(request: Recorded) -> Answer:
        return error(401, "the key was revoked") if request.index >= 25 else graded(request)

    with FakeServer(answer) as server:
        studies = Studies(tmp_path, server, rows(10, 1))
        result = studies.ablate(concurrency=1)
        assert (result.exit, result.ending) == (Exit.MISSING, "stopped")
        assert "the key was revoked" in str(result.problem)


def test_a_dry_run_tells_each_arm_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(6, 1))
        before = sorted(tmp_path.rglob("*"))
        found = estimate_ablation(studies.settings(repeats=2), Surroundings({}))
        assert sorted(tmp_path.rglob("*")) == before
        assert (found.whole.calls, [arm.calls for arm in found.arms.values()]) == (24, [12] * len(EVERY))
        # What a run has done before is no longer asked, wherever the estimate keeps its files.
        studies.ablate(clauses=("rules",), repeats=2)
        again = estimate_ablation(studies.settings(repeats=2), Surroundings({}))
    assert (again.whole.calls, again.arms[4].calls, again.arms[1].calls) == (0, 0, 12)


def test_a_dry_run_counts_what_arms_share_once(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(5, 1))
        how: dict[str, Any] = {"calls": "split", "clauses": ("accuracy.out", "rules")}
        found = estimate_ablation(studies.settings(cache=str(tmp_path / "cache.sqlite"), **how), Surroundings({}))
        assert (found.whole.calls, [arm.calls for arm in found.arms.values()]) == (20, [5, 5, 10])
        assert [arm.cached for arm in found.arms.values()] == [5, 5, 0]
        studies.ablate(cache=str(tmp_path / "cache.sqlite"), **how)
        assert len(server.requests) == 20 + 5 + 5 + 10
        without = estimate_ablation(studies.settings(cache="off", out=tmp_path / "other", **how), Surroundings({}))
        assert [arm.calls for arm in without.arms.values()] == [10, 10, 10]


def test_rows_are_drawn_by_the_seed_and_keep_their_ids(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(30, 1))
        studies.ablate(sample=8, clauses=("rules",), again=False)
        lines = (studies.runs.out / "arms" / "whole" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
        drawn = [json.loads(line)["id"] for line in lines]
        assert len(drawn) == 8
        assert drawn != [f"item-{n}" for n in range(8)]
        assert studies.report()["items"] == 8
        assert findings(studies.report()) == {}  # eight items tell nothing, and that is said


def test_standard_input_is_kept_for_all_arms(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(4, 1))
        stream = studies.runs.data.read_bytes()
        result = studies.ablate(stdin=stream, data="-", clauses=("accuracy",))
    assert result.exit is Exit.OK
    assert studies.report()["items"] == 4


def test_an_arm_is_a_run_of_a_rubric_file_that_can_be_graded_by(tmp_path: Path) -> None:
    with FakeServer(answering(leaky(1))) as server:
        studies = Studies(tmp_path, server, rows(3, 1))
        studies.ablate(clauses=("accuracy.out.1",))
        folder = studies.runs.out / "arms" / "02-accuracy.out.1"
        alone = studies.runs.grade(rubric=str(folder / "rubric.yaml"), out=tmp_path / "alone")
    rubric = load_rubric(folder / "rubric.yaml")
    manifest = json.loads((folder / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert alone.summary.rubric_hash == rubric.hash == manifest["rubric"]["hash"]
    assert [matter.what for matter in rubric.judged[0].scope.outside] == ["spelling"]
    assert (folder / "run" / "items.csv").read_bytes() == (tmp_path / "alone" / "items.csv").read_bytes()


def test_failures_of_the_gate_are_no_news_of_an_ablation(tmp_path: Path) -> None:
    listener = Collected()
    with FakeServer(lambda request: graded(request, 1)) as server:
        studies = Studies(tmp_path, server, rows(3, 1))
        result = studies.ablate(listener=listener, clauses=("rules",))
    assert (result.exit, listener.failures) == (Exit.OK, [])
    assert studies.report()["clauses"][0]["decided"]["n"] == 3


def test_missing_verdicts_are_counted_and_decide_the_exit(tmp_path: Path) -> None:
    def answer(request: Recorded) -> Answer:
        lost = RULE not in request.json["messages"][0]["content"] and "Question 1 ?" in request.body.decode()
        return chat("no verdict") if lost else graded(request)

    with FakeServer(answer) as server:
        studies = Studies(tmp_path, server, rows(4, 1))
        assert studies.ablate(clauses=("rules",)).exit is Exit.MISSING
        assert studies.report()["clauses"][0]["dimensions"][0]["unpaired"] == 1
        assert studies.ablate(clauses=("rules",), min_coverage=0.5).exit is Exit.OK


# What each arm is told.


def told(rubric: Rubric) -> list[str]:
    (call,) = (call for call in plan_calls(rubric) if call.judged)
    return PromptRenderer(rubric, [call]).templates[call.name].system.split("\n")


SCOPES = ("in: ", "out: ", "Out of scope for accuracy: ")


def without_clause(lines: list[str], clause: Clause) -> list[str]:
    """The prompt with nothing but one clause taken out of its lists."""
    left: list[str] = []
    for line in lines:
        prefix = next((scope for scope in SCOPES if line.startswith(scope)), None)
        if prefix is None:
            left += [] if line == f"- {clause.text}" else [line]
        elif matters := [matter for matter in line.removeprefix(prefix).split("; ") if clause.text not in matter]:
            left.append(prefix + "; ".join(matters))
    return left


def before_the_procedure(lines: list[str]) -> list[str]:
    end = next(place for place, line in enumerate(lines) if line in {"# Procedure", "# Reply"})
    return [line for line in lines[:end] if "uote before you" not in line]


@pytest.mark.parametrize("mode", ["absolute", "gate", "pairwise"])
def test_the_prompt_of_an_arm_differs_in_its_clause_alone(tmp_path: Path, mode: Mode) -> None:
    with FakeServer() as server:
        data = pair_rows(1) if mode == "pairwise" else rows(1, 1)
        layout = lay_out(Studies(tmp_path, server, data).settings(mode=mode), Surroundings({}))
    whole = told(layout.rubric)
    for number, clause in layout.clauses.items():
        without = told(rubric_in_mode(load_rubric(layout.arms[number].settings.rubric), mode))
        assert without != whole
        if clause.kind == "evidence":
            assert before_the_procedure(without) == before_the_procedure(whole)
        else:
            assert without == without_clause(whole, clause), clause.id
    assert {clause.kind for clause in layout.clauses.values()} == set(get_args(ClauseKind))


def test_every_mode_is_measured_on_its_own_scale(tmp_path: Path) -> None:
    def passes(request: Recorded) -> Answer:
        system = request.json["messages"][0]["content"]
        said = {"evidence": ["the answer"], "reason": "so", "pass": EXCLUSION in system}
        return chat(json.dumps({"accuracy": said, "tone": {**said, "pass": True}}))

    with FakeServer(passes) as server:
        studies = Studies(tmp_path, server, rows(30, 1, labelled=False))
        studies.ablate(mode="gate", clauses=("accuracy.out",))
    first = studies.report()["clauses"][0]
    assert first["verdict"] == "earns_its_tokens"
    assert (first["dimensions"][0]["mean"]["change"]["value"], first["decided"]["down"]) == (-1, 30)


def test_pairs_are_held_against_the_winner_that_people_chose(tmp_path: Path) -> None:
    """Without the rule the judge takes the shorter response, which nobody prefers."""

    def answer(request: Recorded) -> Answer:
        longer = judged(by_length)
        shorter = judged(lambda a, b: by_length(b, a))
        return (longer if "Full answers win." in request.json["messages"][0]["content"] else shorter)(request)

    data = [{**row, "labels": {"winner": 1 if n % 3 else -1}} for n, row in enumerate(pair_rows(30))]
    with FakeServer(answer) as server:
        studies = Studies(tmp_path, server, data)
        studies.runs.rubric = tmp_path / "pairs.yaml"
        studies.runs.rubric.write_text(f"{PAIR_RUBRIC}rules: [Full answers win.]\n", encoding="utf-8")
        studies.ablate(order="both", clauses=("rules",))
    (clause,) = studies.report()["clauses"]
    overall = clause["dimensions"][-1]
    assert clause["verdict"] == "earns_its_tokens"
    assert (overall["kappa"]["whole"]["value"], overall["kappa"]["without"]["value"] < 0) == (1, True)
    assert clause["decided"]["up"] + clause["decided"]["down"] == 30


def test_clauses_that_the_judge_is_not_told_are_listed_and_not_asked_about(tmp_path: Path) -> None:
    with FakeServer() as server:
        studies = Studies(tmp_path, server, rows(2, 1))
        studies.runs.judge = f"systemone:m@{server.url}"
        layout = lay_out(studies.settings(evidence="none"), Surroundings({}))
    # A decision endpoint is asked in questions of its own, without the built-in rules.
    assert [clause.id for clause in layout.clauses.values()] == list(EVERY[:4])
    assert [clause.id for clause in layout.unsaid.values()] == list(EVERY[4:7])


# What is refused before anything is asked.


def refused(folder: Path, kind: type[AnvilError], change: Callable[[Studies], Any], **how: Any) -> str:
    with FakeServer(graded) as server:
        studies = Studies(folder, server, rows(2, 1))
        change(studies)
        with pytest.raises(kind) as caught:
            studies.ablate(**how)
        assert not server.requests
    return str(caught.value)


def test_a_clause_that_is_none_is_refused_with_those_that_are(tmp_path: Path) -> None:
    message = refused(tmp_path, UsageError, lambda studies: None, clauses=("accuracy.out.9",))
    assert "'accuracy.out.9'" in message
    assert "2 accuracy.out.1" in message


@pytest.mark.parametrize(
    ("wanted", "found"),
    [(("2",), (1,)), (("accuracy",), (0, 1, 2)), (("accuracy.out",), (1, 2)), (("built_in", "rules.1"), (3, 4, 5, 6))],
)
def test_clauses_go_by_number_by_id_and_by_what_ids_begin_with(
    tmp_path: Path, wanted: tuple[str, ...], found: tuple[int, ...]
) -> None:
    with FakeServer() as server:
        layout = lay_out(Studies(tmp_path, server, rows(1, 1)).settings(clauses=wanted), Surroundings({}))
    assert [clause.id for clause in layout.clauses.values()] == [EVERY[place] for place in found]


def test_a_rubric_that_tells_the_judge_no_clause_is_refused(tmp_path: Path) -> None:
    bare = "version: 1\nid: bare\nscale: {min: 1, max: 5}\nevidence: none\n"
    bare += "omit_built_in: [only_what_is_there, round_down, ignore_style]\ndimensions: [{id: a, question: So it is}]\n"
    message = refused(tmp_path, UsageError, lambda studies: studies.runs.rubric.write_text(bare, encoding="utf-8"))
    assert "is told no clause of this rubric that could be left out" in message
    assert "`scope`" in message


def test_a_rubric_of_checks_alone_is_refused(tmp_path: Path) -> None:
    code = (
        "version: 1\nid: code\nscale: {min: 0, max: 1}\ndimensions: [{id: short, check: {type: max_words, limit: 5}}]\n"
    )
    message = refused(tmp_path, UsageError, lambda studies: studies.runs.rubric.write_text(code, encoding="utf-8"))
    assert "asks no judge" in message


def test_a_folder_that_holds_the_ablation_of_another_rubric_is_refused(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        studies = Studies(tmp_path, server, rows(2, 1))
        studies.ablate(clauses=("2",))
        text = studies.runs.rubric.read_text(encoding="utf-8")
        studies.runs.rubric.write_text(text.replace("each claim", "every claim"), encoding="utf-8")
        asked = len(server.requests)
        with pytest.raises(RunFolderError, match="ablation of another rubric"):
            studies.ablate(clauses=("2",))
        assert len(server.requests) == asked


def test_the_folder_of_a_run_is_refused(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        studies = Studies(tmp_path, server, rows(2, 1))
        studies.runs.grade(out=tmp_path / "plain")
        with pytest.raises(RunFolderError, match="holds a run, not an ablation"):
            studies.ablate(out=tmp_path / "plain")
        assert len(server.requests) == 2
    assert not (tmp_path / "plain" / "arms").exists()


@pytest.mark.parametrize("name", ["notes.txt", "probe.json"])
def test_a_folder_of_something_else_is_refused_and_stays_as_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / name).write_text("mine", encoding="utf-8")
    message = refused(tmp_path, RunFolderError, lambda studies: None, out=tmp_path / "other")
    assert f"this folder holds `{name}`, so it is not an ablation's" in message
    assert [path.name for path in (tmp_path / "other").iterdir()] == [name]


def test_a_judge_out_of_reach_leaves_no_folder_and_takes_none_away(tmp_path: Path) -> None:
    with FakeServer(graded) as server:
        studies = Studies(tmp_path, server, rows(2, 1))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError):
        studies.ablate()
    assert sorted(tmp_path.rglob("*")) == before
    kept = tmp_path / "kept"
    kept.mkdir()
    with pytest.raises(InputError):
        studies.ablate(out=kept)
    assert kept.exists()


def test_repeats_that_depend_on_answers_are_left_aside() -> None:
    run = ablate_settings("rows.jsonl", {"rubric": "r.yaml"}, Config({"repeats": "auto"})).run
    assert (run.repeats, run.adaptive) == (1, False)


def test_asking_in_both_ways_is_refused_as_a_flag_and_passed_over_as_a_default(tmp_path: Path) -> None:
    flags = {"rubric": "r.yaml", "judge": "compat:m@http://127.0.0.1:1/v1"}
    with pytest.raises(UsageError, match="--calls both"):
        ablate_settings("rows.jsonl", {**flags, "calls": "both"}, Config())
    assert ablate_settings("rows.jsonl", flags, Config({"calls": "both"})).run.calls is None


def test_a_sample_of_no_rows_is_refused() -> None:
    with pytest.raises(UsageError, match="--sample must be at least 1"):
        ablate_settings("rows.jsonl", {"rubric": "r.yaml", "sample": 0}, Config())


def test_the_default_folder_is_named_after_data_and_rubric(tmp_path: Path) -> None:
    with FakeServer() as server:
        studies = Studies(tmp_path, server, rows(1, 1))
        settings = studies.settings()
        layout = lay_out(replace(settings, run=replace(settings.run, out=None)), Surroundings({}), tmp_path / "files")
    assert layout.folder == Path("runs/rows-leaky-ablate")


def test_the_listed_clauses_are_those_of_the_rubric(tmp_path: Path) -> None:
    rubric = load_rubric(write_rubric(tmp_path))
    assert tuple(clause.id for clause in clauses(rubric, built_in_rules(rubric))) == EVERY
