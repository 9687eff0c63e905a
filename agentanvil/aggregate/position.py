"""Whether a judge prefers the response that it is shown first."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from agentanvil.aggregate.pair import PairCall, PairResult, Picked, winner_of
from agentanvil.aggregate.pair_summary import Position
from agentanvil.plan import OrderMode
from agentanvil.stats import BinomialTest, Estimate, binomial_test, clopper_pearson_interval
from agentanvil.verdict import Winner

SIGNIFICANT = 0.05
_LEANS: dict[Picked | None, int] = {"A": 1, "B": -1, "tie": 0, None: 0}
_BOTH = "exact binomial, two-sided, over items whose two orders gave two winners (a sign test)"
_RANDOM = "exact binomial, two-sided, over items by the place that most of their calls picked"


class PositionTally:
    """Counts picks by place, call by call, and which way each item leans."""

    def __init__(self, orders: OrderMode | None) -> None:
        self._orders = orders
        self._picks: Counter[Picked] = Counter()
        self._leaning: Counter[Winner] = Counter()
        self._first: Counter[str] = Counter()
        self._items = 0

    @property
    def shown_first(self) -> dict[str, int]:
        """In how many calls with a winner each response stood first."""
        return {"a": self._first["ab"], "b": self._first["ba"]}

    def add(self, pair: PairResult) -> None:
        """Count one pair."""
        picks = [(call.order, call.picked) for call in pair.calls if call.picked is not None]
        if not picks:
            return
        self._items += 1
        for order, picked in picks:
            self._picks[picked] += 1
            self._first[order] += 1
        self._leaning[winner_of(self._lean(pair.calls))] += 1

    def result(self) -> Position:
        """Return rate, interval and test."""
        first, second = self._picks["A"], self._picks["B"]
        n, calls = first + second, self._picks.total()
        share = calls / self._items if self._items else 1.0
        interval = clopper_pearson_interval(first / share, n / share)
        if share > 1:
            interval = replace(interval, method=f"{interval.method}, the calls of one item counted as one")
        rate = Estimate(first / n, n) if n else Estimate(None, 0, "no call picked a response")
        return Position(first, second, self._picks["tie"], rate, interval, self._test())

    def _test(self) -> BinomialTest:
        if self._orders == "fixed":
            reason = "response_a always stood first, so the place cannot be told from the response"
            return BinomialTest(0, 0, None, "none", reason)
        first = self._leaning["a"]
        found = binomial_test(first, first + self._leaning["b"])
        method = _BOTH if self._orders == "both" else _RANDOM
        return replace(found, method=method, reason=found.reason and "no item leans to either place")

    def _lean(self, calls: tuple[PairCall, ...]) -> int:
        """Return how much more often an item's calls picked the first place than the second."""
        if self._orders != "both":
            return sum(_LEANS[call.picked] for call in calls)
        votes = [_LEANS[one.picked] + _LEANS[other.picked] for one, other in zip(calls[::2], calls[1::2], strict=True)]
        return sum(vote // 2 for vote in votes if abs(vote) == 2)
