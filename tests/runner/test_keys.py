"""Real signals, sent to this process while the event loop runs."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass

import pytest

from agentanvil.runner.keys import Keys

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="signals reach an event loop on Unix only")


@dataclass
class Person:
    """What the keys see and do."""

    in_flight: int = 0
    grace_s: float = 60
    hangs: bool = False
    wound_down: int = 0
    presses: int = 0
    cancelled: bool = False

    async def at_work(self, *presses: signal.Signals, until_idle: int = 0) -> None:
        """Press keys while some work goes on; `until_idle` turns later nothing is in flight any more."""
        work = asyncio.ensure_future(asyncio.sleep(60))
        keys = Keys(work, self.wind_down, lambda: self.in_flight, self.grace_s)
        with keys:
            for each in presses:
                signal.raise_signal(each)
                await asyncio.sleep(0)
            for _ in range(until_idle):
                await asyncio.sleep(0.001)
                assert not work.done()
            self.in_flight = self.in_flight if self.hangs else 0
            if not presses:
                work.cancel()
            await asyncio.wait([work], timeout=10)
        self.presses = keys.presses
        self.cancelled = work.cancelled()

    def wind_down(self) -> None:
        self.wound_down += 1


@pytest.mark.parametrize("key", [signal.SIGINT, signal.SIGTERM])
def test_the_first_press_lets_what_is_in_flight_finish(key: signal.Signals) -> None:
    person = Person(in_flight=3)
    asyncio.run(person.at_work(key, until_idle=20))
    assert (person.wound_down, person.presses, person.cancelled) == (1, 1, True)


def test_with_nothing_in_flight_the_first_press_ends_the_work() -> None:
    person = Person()
    asyncio.run(person.at_work(signal.SIGINT))
    assert (person.wound_down, person.cancelled) == (1, True)


def test_the_second_press_ends_the_work_at_once() -> None:
    person = Person(in_flight=3)
    asyncio.run(asyncio.wait_for(person.at_work(signal.SIGINT, signal.SIGINT), 10))
    assert (person.wound_down, person.presses, person.cancelled) == (1, 2, True)


def test_afterwards_a_signal_is_again_what_it_was_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    asyncio.run(Person().at_work())
    assert signal.getsignal(signal.SIGTERM) == before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_machine_that_asks_to_end_waits_for_no_call_that_hangs() -> None:
    person = Person(in_flight=3, grace_s=0.01, hangs=True)
    asyncio.run(person.at_work(signal.SIGTERM))
    assert (person.wound_down, person.presses, person.cancelled) == (1, 1, True)


def test_a_person_who_asks_once_is_obeyed_once() -> None:
    person = Person(in_flight=3, grace_s=0.001)
    asyncio.run(person.at_work(signal.SIGINT, until_idle=20))
    assert person.presses == 1
