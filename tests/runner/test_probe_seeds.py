"""Probes over many seeds: a planted fault is found each time and no other, and a clean judge is rarely accused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.probed import (
    Probes,
    Score,
    choosing,
    found_in,
    grading,
    honest,
    noisy,
    probed_pairs,
    probed_rows,
    within,
)
from tests.fakes.server import FakeServer

pytestmark = pytest.mark.slow
BOTH = ("accuracy", "coverage")


def labelled(count: int, seed: int) -> list[dict[str, Any]]:
    """Rows of two models, each with a person's label that is off by one in two of five."""
    chance = random.Random(seed)
    rows = probed_rows(count, seed)
    for n, row in enumerate(rows):
        worth = int(row["request"][-1])
        row["labels"] = {name: within(worth + chance.choice([0, 0, 0, 1, -1])) for name in BOTH}
        row["model"] = ("gpt-4o-mini", "claude-sonnet-4")[n % 2]
    return rows


def likes_length(response: str, worth: int, chance: random.Random) -> int:
    return within(worth + (len(response) > 450))


def likes_markdown(response: str, worth: int, chance: random.Random) -> int:
    return within(worth + ("**" in response))


def obeys_authority(response: str, worth: int, chance: random.Random) -> int:
    return 5 if any(mark in response for mark in ("head of quality", "authors of this rubric", "Compliance")) else worth


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("score", "faults"),
    [
        (honest, set()),
        (likes_length, {("verbosity", name) for name in BOTH}),
        (likes_markdown, {("format", name) for name in BOTH}),
        (obeys_authority, {("injection", "authority")}),
    ],
)
def test_a_fault_is_found_in_every_seed_and_no_other(
    tmp_path: Path, score: Score, faults: set[tuple[str, str]], seed: int
) -> None:
    with FakeServer(grading(score, seed)) as server:
        found = Probes(tmp_path, f"compat:gpt-4o@{server.url}", *labelled(48, seed)).probe(seed=seed, planted=24)
    assert found_in(found) == faults


@pytest.mark.parametrize("seed", range(20))
def test_a_preference_for_the_first_place_is_found_in_every_seed(tmp_path: Path, seed: int) -> None:
    def choose(a: str, b: str, chance: random.Random) -> str:
        return "A" if chance.random() < 0.2 else "tie" if sorted(a) == sorted(b) else "AB"[sorted(b) > sorted(a)]

    with FakeServer(choosing(choose, seed)) as server:
        found = Probes(tmp_path, f"compat:m@{server.url}", *probed_pairs(150, seed)).probe(only=("position",))
    assert found_in(found) == {("position", "winner")}


def test_a_noisy_judge_without_a_bias_is_accused_no_more_often_than_promised(tmp_path: Path) -> None:
    accused = 0
    for seed in range(200):
        (tmp_path / str(seed)).mkdir()
        with FakeServer(grading(noisy, seed)) as server:
            probes = Probes(tmp_path / str(seed), f"compat:gpt-4o@{server.url}", *labelled(40, seed))
            found = probes.probe(seed=seed, planted=15)
        accused += any(name != "repeatability" for name, _ in found_in(found))
    # At 5 % for the whole table 10 of 200 are expected; more than 19 come about once in four hundred times.
    assert accused <= 19
