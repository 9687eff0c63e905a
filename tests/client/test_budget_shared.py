"""One budget, several judges with prices of their own, calls in flight: the limit holds within one call's price."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.client.base import ChatReply, ChatRequest, Message, Sampling, Usage
from agentanvil.client.budget import Account, Budget, BudgetSettings
from agentanvil.client.budget_client import BudgetClient
from agentanvil.client.prices import PriceTable
from agentanvil.client.scripted import ScriptedClient
from agentanvil.errors import BudgetReachedError, ConfigError, DeadlineError
from tests.fakes.virtual_time import run_virtual

PRICES = PriceTable.read({"cheap": {"input": 0, "output": 1e6}, "dear": {"input": 0, "output": 5e6}})
REQUEST = ChatRequest((Message("user", "x"),), sampling=Sampling(max_tokens=20))


@dataclass
class Judge:
    """Answers with so many tokens after so many seconds, from a list that repeats itself."""

    script: list[tuple[int, float]]
    asked: int = 0

    def __post_init__(self) -> None:
        self.costs: list[int] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        tokens, seconds = self.script[self.asked % len(self.script)]
        self.asked += 1
        await asyncio.sleep(seconds)
        self.costs.append(tokens)
        return ChatReply("{}", usage=Usage(0, tokens))

    def fingerprint(self, request: ChatRequest) -> bytes:
        return b"x"

    async def confirm(self, request: ChatRequest, reply: ChatReply) -> None: ...

    async def close(self) -> None: ...


async def spend(client: BudgetClient, calls: int = 100) -> int:
    for done in range(calls):
        try:
            await client.complete(REQUEST)
        except BudgetReachedError:
            return done
    return calls


def run(budget: Budget, cheap: Judge, dear: Judge, each: int) -> float:
    """Spend from the budget with so many workers a judge until it is used up; return the dollars spent."""

    async def main() -> None:
        clients = [
            BudgetClient(cheap, budget.account(PRICES, "cheap")),
            BudgetClient(dear, budget.account(PRICES, "dear")),
        ]
        await asyncio.gather(*(spend(client) for client in clients for _ in range(each)))

    run_virtual(main())
    return sum(cheap.costs) + 5 * sum(dear.costs)


ANSWERS = st.lists(st.tuples(st.integers(1, 20), st.floats(0.1, 9)), min_size=1, max_size=12)


@given(ANSWERS, ANSWERS, st.integers(1, 400), st.integers(1, 12))
def test_the_limit_holds_within_one_calls_price_and_is_used_up(
    cheap: list[tuple[int, float]], dear: list[tuple[int, float]], limit: int, each: int
) -> None:
    """Answers of any length below their cap, in any order of arrival, by judges of which one costs five times more."""
    first, second = Judge(cheap), Judge(dear)
    spent = run(Budget(BudgetSettings(max_cost=float(limit))), first, second, each)
    dearest = max(max(first.costs, default=0), 5 * max(second.costs, default=0))
    assert limit <= spent < limit + dearest


def test_calls_run_at_once_as_long_as_the_money_lasts_for_the_worst_of_them() -> None:
    """20 workers, a call of at most 20 dollars that costs 1: far below the limit nobody waits."""
    judge = Judge([(1, 1.0)])
    account = Budget(BudgetSettings(max_cost=10_000.0)).account(PRICES, "cheap")

    async def main() -> float:
        client = BudgetClient(judge, account)
        await asyncio.gather(*(spend(client, 10) for _ in range(20)))
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == pytest.approx(1000.0 + 10.0)


def test_a_part_has_a_limit_of_its_own_and_counts_towards_the_whole() -> None:
    budget = Budget(BudgetSettings(max_cost=100.0))
    part = budget.part(BudgetSettings(max_cost=30.0, flag="--escalate-max-cost"))

    async def main() -> tuple[int, int]:
        inner = BudgetClient(ScriptedClient(ChatReply("{}", usage=Usage(0, 2))), part.account(PRICES, "dear"))
        outer = BudgetClient(ScriptedClient(ChatReply("{}", usage=Usage(0, 10))), budget.account(PRICES, "cheap"))
        with pytest.raises(BudgetReachedError, match="--escalate-max-cost 30 reached"):
            await spend_all(inner)
        return 0, await spend(outer)

    assert run_virtual(main()) == (0, 7)  # 30 of 100 are spent by the part: seven calls of 10 are left


def test_the_whole_ends_a_part_that_has_money_left() -> None:
    budget = Budget(BudgetSettings(max_cost=9.0))
    part = budget.part(BudgetSettings(max_cost=1000.0, flag="--escalate-max-cost"))
    client = BudgetClient(ScriptedClient(ChatReply("{}", usage=Usage(0, 1))), part.account(PRICES, "dear"))
    with pytest.raises(BudgetReachedError, match=r"--max-cost 9 reached: \$10.0000 spent"):
        run_virtual(spend_all(client))


@given(ANSWERS, ANSWERS, st.integers(1, 90), st.integers(1, 200), st.integers(1, 8))
def test_both_limits_hold_at_once(
    cheap: list[tuple[int, float]], dear: list[tuple[int, float]], whole: int, inner: int, each: int
) -> None:
    budget = Budget(BudgetSettings(max_cost=float(whole)))
    part = budget.part(BudgetSettings(max_cost=float(inner), flag="--escalate-max-cost"))
    first, second = Judge(cheap), Judge(dear)

    async def main() -> None:
        clients = [
            BudgetClient(first, budget.account(PRICES, "cheap")),
            BudgetClient(second, part.account(PRICES, "dear")),
        ]
        await asyncio.gather(*(spend(client) for client in clients for _ in range(each)))

    run_virtual(main())
    spent = 5 * sum(second.costs)
    assert spent < inner + 5 * max(second.costs, default=1)
    assert whole <= sum(first.costs) + spent < whole + max(*first.costs, 5 * max(second.costs, default=0), 0)


def test_what_earlier_sittings_spent_counts() -> None:
    budget = Budget(BudgetSettings(max_cost=10.0), spent=7.0)
    client = BudgetClient(ScriptedClient(ChatReply("{}", usage=Usage(0, 1))), budget.account(PRICES, "cheap"))
    assert run_virtual(spend(client)) == 3
    with pytest.raises(BudgetReachedError, match=r"\$10.0000 spent"):
        run_virtual(spend_all(client))


def test_calls_are_counted_together_and_by_judge() -> None:
    budget = Budget(BudgetSettings(max_calls=5))
    accounts = [budget.account(PRICES, "cheap"), budget.account(PRICES, "dear")]

    async def main() -> None:
        for account in accounts:
            await spend(BudgetClient(ScriptedClient(ChatReply("{}", usage=Usage(1, 2))), account), 3)

    run_virtual(main())
    assert [account.totals.calls for account in accounts] == [3, 2]
    assert [account.totals.cost for account in accounts] == [6.0, 20.0]


@pytest.mark.parametrize("lost", [DeadlineError("late"), ChatReply("{}")])
def test_a_cost_that_nobody_told_counts_with_the_most_it_may_have_been(lost: ChatReply | DeadlineError) -> None:
    """Two calls of 1 dollar; two that may have come to the cap of 20; then the limit of 41 has been reached."""
    known = ChatReply("{}", usage=Usage(0, 1))
    account = Budget(BudgetSettings(max_cost=41.0)).account(PRICES, "cheap")
    message = r"\$2.0000 spent, and up to \$40.0000 for calls whose cost nobody told"
    with pytest.raises(BudgetReachedError, match=message):
        run_virtual(spend_all(BudgetClient(ScriptedClient([known, known, lost, lost, known]), account)))
    assert account.totals.calls == 4


def test_a_judge_that_passes_its_cap_is_taken_to_do_so_again() -> None:
    account = Budget(BudgetSettings(max_cost=1000.0)).account(PRICES, "cheap")
    assert reserved(account, [30, 5]) == [20.0, 30.0, 30.0]


def test_a_price_that_is_needed_is_asked_for_before_anything_is_sent() -> None:
    part = Budget(BudgetSettings()).part(BudgetSettings(max_cost=1.0, flag="--escalate-max-cost"))
    with pytest.raises(ConfigError, match="--escalate-max-cost needs the price of unheard-of"):
        part.account(PRICES, "unheard-of")
    Budget(BudgetSettings()).account(PRICES, "unheard-of")


def reserved(account: Account, answers: list[int]) -> list[float]:
    """What is set aside for the call before each answer, and for one after them all."""

    async def main() -> Iterator[float]:
        amounts = []
        for tokens in answers:
            amounts.append(await account.reserve(ScriptedClient("{}"), REQUEST))
            account.settle(amounts[-1], ChatReply("{}"), float(tokens))
        return iter([*amounts, await account.reserve(ScriptedClient("{}"), REQUEST)])

    return list(run_virtual(main()))


async def spend_all(client: BudgetClient) -> None:
    """Make calls until something ends them; a deadline does not."""
    while True:
        try:
            await client.complete(REQUEST)
        except DeadlineError:
            continue
