"""Progress on standard error: bars on a terminal, single lines elsewhere, nothing with --quiet."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

from agentanvil.cli.output import say, visible
from agentanvil.runner.events import RunStart, Tally

_UNITS = {"model": "B", "data": "rows", "server": "s"}


class Progress:
    """A listener that shows what happens to a person."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bars = not quiet and sys.stderr.isatty()
        self._bar: tqdm[Any] | None = None
        self._step: tqdm[Any] | None = None
        self._step_name = ""
        self._start: RunStart | None = None
        self._done = self._before = 0

    def started(self, start: RunStart) -> None:
        """Say what is about to be asked, and count from 0 again."""
        self._close_step()
        self._close_bar()
        again, self._start, self._before = self._start is not None, start, self._done
        hidden = f"; hidden from the judge: {', '.join(start.hidden_fields)}" if start.hidden_fields else ""
        resumed = f", {start.resumed} done before" if start.resumed else ""
        kind = "escalated " if start.escalated else "more " if start.repeated else ""
        tasks = f"{start.tasks} {kind}tasks" + (", where repeats disagree," if start.repeated else "")
        self._say(f"{start.judge}: {tasks} over {start.rows} rows{resumed} → {start.folder}{hidden}")
        if start.unread and not again:
            self._say(f"{start.unread} record(s) hold no trace that can be read: {'; '.join(start.unread_examples)}")
        for kin in start.kinship if not again else ():
            self._say(kin)

    def advanced(self, tally: Tally) -> None:
        """Move the bar; its line is rewritten a few times a second at most."""
        self._close_step()
        self._done = tally.done
        if not self._bars or self._start is None:
            return
        if self._bar is None:
            self._bar = tqdm(total=self._start.tasks, unit="task", file=sys.stderr, mininterval=0.2, smoothing=0.05)
        if self._bar.update(tally.done - self._before - self._bar.n):
            least = "≥ " if tally.unpriced else ""
            cost = "" if tally.cost is None else f"{least}${tally.cost:.4f} "
            self._bar.set_postfix_str(f"{cost}errors {tally.errors} cached {tally.cached}", refresh=False)

    def step(self, name: str, done: float, total: float | None) -> None:
        """Show a preparation; off a terminal one line when it begins."""
        if name != self._step_name:
            self._close_step()
            self._step_name = name
            if not self._bars:
                self._say(f"preparing: {name}")
                return
            self._step = tqdm(
                total=total, desc=name, unit=_UNITS.get(name, ""), unit_scale=True, file=sys.stderr, leave=False
            )
        if self._step is not None:
            self._step.total = total
            self._step.update(done - self._step.n)

    def notice(self, text: str) -> None:
        """Print one line without breaking a bar."""
        if self._bars and (self._bar is not None or self._step is not None):
            tqdm.write(visible(text), file=sys.stderr)
        else:
            self._say(text)

    def failed(self, text: str) -> None:
        """Print why the exit code will not be 0, also where only errors are wanted."""
        say(text)

    def finished(self) -> None:
        """Close the bars. What is begun after it, the next arm of a study, counts from 0 again."""
        self._close_step()
        self._close_bar()
        self._done = 0

    def _close_bar(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _close_step(self) -> None:
        if self._step is not None:
            self._step.close()
            self._step = None
        self._step_name = self._step_name if self._start is None else ""

    def _say(self, text: str) -> None:
        if not self._quiet:
            say(text)
