"""Exchanging response_a and response_b mirrors every figure of a pairwise run."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agentanvil.aggregate import Reading, Summary
from agentanvil.plan import OrderMode
from agentanvil.rubric import Rubric
from agentanvil.verdict import Winner
from tests.fakes.graded import NA, Pair, compared, rubric

DELTA = st.sampled_from([-4, -2, -1, 0, 1, 2, 4, None, NA])
WINNER = st.sampled_from(["a", "b", "tie", None])
LABELS = st.lists(st.sampled_from([-1.0, 0.0, 1.0, 9.0]), max_size=2).map(tuple)
RUBRICS = [
    rubric("a", "b", checks=["c"], mode="pairwise"),
    rubric("a", "b", checks=["c"], mode="pairwise", weights={"a": 2, "b": 0.5, "c": 1}),
]


def pairs(orders: OrderMode, repeats: int) -> st.SearchStrategy[Pair]:
    calls = repeats * (2 if orders == "both" else 1)

    def made(
        scores: dict[str, list[Any]],
        coins: list[str],
        preferences: list[float | None],
        stated: list[Winner | None],
        more: tuple[tuple[float, ...], str, tuple[str, str]],
    ) -> Pair:
        labels, group, models = more
        drawn = {"random": coins, "fixed": ["ab"] * calls}.get(orders, ["ab", "ba"] * repeats)
        return Pair(scores, drawn, preferences, stated, models, group, {"winner": labels, "a": labels})

    cells = st.lists(DELTA, min_size=calls, max_size=calls)
    return st.builds(
        made,
        st.fixed_dictionaries(
            {"a": cells, "b": cells, "c": st.lists(st.sampled_from([-4, 0, 4]), min_size=1, max_size=1)}
        ),
        st.lists(st.sampled_from(["ab", "ba"]), min_size=calls, max_size=calls),
        st.lists(st.none() | st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), min_size=calls, max_size=calls),
        st.lists(WINNER, min_size=calls, max_size=calls),
        st.tuples(
            LABELS,
            st.sampled_from(["", "g", "h"]),
            st.sampled_from([("x", "y"), ("x", "y"), ("y", "z"), ("z", "x")]),
        ),
    )


def negated(estimate: dict[str, Any]) -> dict[str, Any]:
    return estimate | {"value": None if estimate["value"] is None else -estimate["value"]}


def flipped(interval: dict[str, Any], centre: float = 0.0) -> dict[str, Any]:
    if interval["low"] is None:
        return interval
    return interval | {"low": 2 * centre - interval["high"], "high": 2 * centre - interval["low"]}


def mirrored(data: dict[str, Any]) -> dict[str, Any]:
    for scores in (*data["dimensions"], data["overall"]):
        scores["mean"] = negated(scores["mean"])
        scores["interval"] = flipped(scores["interval"])
        scores["distribution"] = {str(-int(key)): n for key, n in scores["distribution"].items()}
        for wide in scores.get("widest", ()):
            wide["scores"] = sorted(-score for score in wide["scores"])
            wide["mean"] = -wide["mean"]
    for ways in data["call_ways"]:
        for name in ("joint", "split", "difference"):
            ways[name] = negated(ways[name])
        ways["interval"] = flipped(ways["interval"])
    pairwise = data["pairwise"]
    for reading in ("verdict", "expected"):
        wins = pairwise[reading]
        wins["wins"], wins["losses"] = wins["losses"], wins["wins"]
        if wins["rate"]["value"] is not None:
            wins["rate"]["value"] = 1 - wins["rate"]["value"]
        wins["interval"] = flipped(wins["interval"], 0.5)
    pairwise["models"] = pairwise["models"] and pairwise["models"][::-1]
    first = pairwise["shown_first"]
    pairwise["shown_first"] = {"a": first["b"], "b": first["a"]}
    return data


def plain(summary: Summary) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(orjson.dumps(summary))
    data.pop("notes")  # sentences about figures that are compared here
    return data


def same(one: Any, other: Any, path: str = "") -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key, value in one.items():
            same(value, other[key], f"{path}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), path
        for place, value in enumerate(one):
            same(value, other[place], f"{path}[{place}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, abs=1e-12), path
    else:
        assert one == other, path


@pytest.mark.parametrize("orders", ["both", "random"])
@pytest.mark.parametrize("of", RUBRICS, ids=["min", "weighted"])
# A whole run an example: shrinking one would take minutes, and its path names the figure already.
@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data())
def test_exchanging_the_responses_mirrors_every_figure(of: Rubric, orders: OrderMode, data: st.DataObject) -> None:
    repeats = data.draw(st.integers(1, 2))
    found = data.draw(st.lists(pairs(orders, repeats), min_size=1, max_size=7))
    reading: Reading = data.draw(st.sampled_from(["verdict", "expected"]))
    _, one = compared(of, *found, repeats=repeats, orders=orders, reading=reading)
    # Under `both` the tasks keep their places, so the exchanged pair's calls change theirs.
    exchanged = [pair.turned(swap=orders == "both") for pair in found]
    results, other = compared(of, *exchanged, repeats=repeats, orders=orders, reading=reading)
    same(mirrored(plain(one)), plain(other))
    assert all(result.passed is None for result in results)
