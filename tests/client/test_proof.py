from __future__ import annotations

import asyncio

import pytest

from agentanvil.client.proof import Proof


def test_alone_nothing_has_passed() -> None:
    assert asyncio.run(Proof().passed()) is False


def test_once_a_call_passed_the_answer_is_there() -> None:
    proof = Proof()
    with proof.call():
        pass
    assert asyncio.run(proof.passed()) is True


@pytest.mark.parametrize("passes", [True, False])
def test_an_open_question_waits_for_the_calls_in_flight(passes: bool) -> None:
    async def scene() -> list[bool]:
        proof = Proof()
        go = asyncio.Event()

        async def slow() -> None:
            with proof.call():
                await go.wait()
                if not passes:
                    raise ValueError

        others = [asyncio.create_task(slow()) for _ in range(2)]
        await asyncio.sleep(0)
        asking = [asyncio.create_task(proof.passed()) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in asking)
        go.set()
        await asyncio.gather(*others, return_exceptions=True)
        return await asyncio.gather(*asking)

    assert asyncio.run(scene()) == [passes] * 3


def test_who_stops_waiting_is_forgotten() -> None:
    async def scene() -> None:
        proof = Proof()
        with proof.call():
            asking = asyncio.create_task(proof.passed())
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            assert not proof._waiting

    asyncio.run(scene())
