"""What becomes of each outcome: into the journal, into the counts, and a look at whether its judge still answers."""

from __future__ import annotations

from collections import Counter

from agentanvil.engine import JournalWriter, Stop
from agentanvil.errors import ConnectionFaultError, EndpointError, RateLimitedError
from agentanvil.runner.events import Listener, Tally
from agentanvil.verdict import JudgeError, Outcome

LEAST_PATIENCE = 20
# Not server faults and timeouts: a provider that is down for minutes should not end a run of hours.
_LOST = {
    ConnectionFaultError.code: "the judge is gone: {tasks} tasks in a row found no connection to {judge}",
    RateLimitedError.code: "the judge takes no calls: {tasks} tasks in a row met the rate limit of {judge}",
}
_LATER = "Run the same command again once the judge answers; it goes on where it stopped."


class Recorder:
    """Journals each outcome, counts it, and notices when a judge answers no more: `lost` is what to say then."""

    def __init__(self, journal: JournalWriter, listener: Listener, stop: Stop, patience: int = LEAST_PATIENCE) -> None:
        self.tally = Tally()
        self.asked = 0
        self.lost: EndpointError | None = None
        self.patience = patience
        self._journal = journal
        self._listener = listener
        self._stop = stop
        self._streaks: Counter[str] = Counter()

    def __call__(self, outcome: Outcome) -> None:
        """Take one outcome: it is in the journal when this returns."""
        self._journal.append(outcome)
        self._count(outcome)
        self._listener.advanced(self.tally)

    def _count(self, outcome: Outcome) -> None:
        tally = self.tally
        tally.done += 1
        self.asked += bool(outcome.exchanges)
        codes = [cell.code for cell in outcome.cells.values() if isinstance(cell, JudgeError)]
        tally.errors += bool(codes)
        for exchange in outcome.exchanges:
            if exchange.cached:
                tally.cached += 1
                tally.saved_tokens += (exchange.input_tokens or 0) + (exchange.output_tokens or 0)
                continue
            tally.calls += exchange.attempts
            tally.input_tokens += exchange.input_tokens or 0
            tally.output_tokens += exchange.output_tokens or 0
            if exchange.cost is not None:
                tally.cost = (tally.cost or 0.0) + exchange.cost
            elif exchange.error is None:
                tally.unpriced += 1
        lost = next((code for code in codes if code in _LOST), None)
        self._streaks[outcome.judge] = streak = self._streaks[outcome.judge] + 1 if lost else 0
        if lost and streak >= self.patience:
            self.lost = EndpointError(_LOST[lost].format(judge=outcome.judge, tasks=streak), hint=_LATER)
            self._stop.requested = True
