"""`items.csv`, one row per item, and `scores.csv`, one row per cell. Columns are stable; see the README.

Numbers: whole ones without a decimal point, others in full precision. Empty cells hold no number: the state
column says why. UTF-8 without a byte order mark, lines end in LF.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence

from agentanvil.aggregate import UNORDERED, Frame, FrameDimension, ItemResult, picked_slot, winner_of
from agentanvil.report.atomic import AtomicText
from agentanvil.report.cells import flag_cell, number_cell, text_cell
from agentanvil.verdict import Because, Cell, NotApplicable, NotRun, Outcome, Scored

ITEM_COLUMNS = ("id", "state", "overall", "pass")
SCORE_COLUMNS = (
    "id",
    "dimension",
    "judge",
    "repeat",
    "order",
    "state",
    "score",
    "normalised",
    "expected_score",
    "entropy",
    "evidence",
    "evidence_found",
    "reason",
    "code",
    "flags",
    "call",
    "slot",
    "rival_evidence",
    "preference",
    "label_mass",
)
PAIR_COLUMNS = ("winner", "preference", "consistency", "stated_winner", "p_ab", "p_ba")
"""What follows the dimensions in `items.csv` of a pairwise run."""
VERDICT_SUFFIX = "_verdict"
"""Ends the columns of `items.csv` that hold verdicts beside expected scores."""
CHECK = "check"
_BETWEEN_QUOTES = " | "
_NO_READING = ("", "")
_NO_MORE = ("", "", "", "")
_ASKED: Mapping[Because, str] = {because: f"asked_{because}" for because in ("unsure", "missing", "share")}
_BATCH = 500

Field = str | float | int


class _CsvFile:
    """A CSV file that is written many lines at a time.

    The CSV writer quotes a lone CR or LF inside a cell only if its own line end holds them, so it ends lines
    with CR LF, and the file gets LF.
    """

    def __init__(self, file: AtomicText, header: Sequence[str]) -> None:
        self._file = file
        self._pending: list[str] = []
        self.write = self._pending.append
        self._rows = csv.writer(self, lineterminator="\r\n")
        self._rows.writerow(header)

    def finish(self) -> None:
        """Pass on the lines that are waiting."""
        self._file.write("".join([f"{line[:-2]}\n" for line in self._pending]))
        self._pending.clear()

    def _append(self, rows: Iterable[Sequence[Field]]) -> None:
        self._rows.writerows(rows)
        if len(self._pending) >= _BATCH:
            self.finish()


class ItemsCsv(_CsvFile):
    """Writes `items.csv`: `id, state, overall, pass`, then `D, D_sd, D_n, D_state` for each dimension D.

    `D_sd` is the sample standard deviation over repeats, empty below two of them. In pairwise PAIR_COLUMNS follow:
    `winner` is the result in the run's reading, the other columns as in PairResult. Where D is what the judge's
    probabilities expect, `D_verdict` follows at the end for each D: the mean of the verdicts' own scores.
    """

    def __init__(self, file: AtomicText, frame: Frame) -> None:
        self._verdicts = frame.dimensions if frame.expects else ()
        names = [text_cell(dimension.id) for dimension in frame.dimensions]
        dimensions = [column for name in names for column in (name, f"{name}_sd", f"{name}_n", f"{name}_state")]
        pairs = PAIR_COLUMNS if frame.mode == "pairwise" else ()
        verdicts = [f"{name}{VERDICT_SUFFIX}" for name in names] if frame.expects else []
        super().__init__(file, [*ITEM_COLUMNS, *dimensions, *pairs, *verdicts])

    def add(self, result: ItemResult) -> None:
        """Append one item's row."""
        row: list[Field] = [text_cell(result.id), result.state, number_cell(result.overall), flag_cell(result.passed)]
        for dimension in result.dimensions:
            spread = dimension.spread
            if spread is None:
                row += ("", "", 0, dimension.state)
            else:
                row += (number_cell(spread.mean), number_cell(spread.sample_sd), spread.n, dimension.state)
        pair = result.pair
        if pair is not None:
            row += (pair.result or "", number_cell(pair.preference), pair.consistency or "", pair.stated or "")
            row += (number_cell(pair.p_ab), number_cell(pair.p_ba))
        row += [number_cell(_mean_verdict(result, layout)) for layout in self._verdicts]
        self._append((row,))


def _mean_verdict(result: ItemResult, layout: FrameDimension) -> float | None:
    scores = [cell.score for cell in result.cells_of(layout) if isinstance(cell, Scored)]
    return math.fsum(scores) / len(scores) if scores else None


class ScoresCsv(_CsvFile):
    """Writes `scores.csv`, in the plan's order. Several quotes stand in one cell, parted by ` | `.

    Where there are several judges, each one's own verdict has its row, in the order in which they were named; what they
    came to together is in `items.csv`. `judge` is `check` where code decided; `order` is empty where nothing was
    ordered. `expected_score`, `entropy` and `label_mass` need the judge's probabilities and are empty without them. For
    a missing verdict `code` is its kind and `reason` what was said about it. `flags` tells with `asked_unsure`,
    `asked_missing` or `asked_share` why a judge was asked whom not every row is put to. `call` is the call that brought
    the verdict: `joint`, `checks`, or the dimension's own.

    In pairwise `score` is response_a's lead, `evidence` is from response_a, `rival_evidence` from response_b,
    `preference` the probability that response_a is better; `slot` is what the judge itself said: A for the response
    that `order` showed first, B or tie.
    """

    def __init__(self, file: AtomicText, frame: Frame) -> None:
        super().__init__(file, SCORE_COLUMNS)
        self._frame = frame
        self._slots = [
            [(d.id, text_cell(d.id), d.kind == CHECK) for d in frame.dimensions if slot in (*d.slots, *d.compared)]
            for slot in range(len(frame.keys))
        ]
        self._calls = [text_cell(call) for call, _, _ in frame.keys]
        self._pairs = frame.mode == "pairwise"
        self._numbers: dict[float, tuple[Field, Field]] = {}

    def add(self, result: ItemResult) -> None:
        """Append the rows of one item's cells."""
        item = text_cell(result.id)
        rows: list[tuple[Field, ...]] = []
        for place, outcome in enumerate(result.firsts):
            rows += self._rows_of(item, place, outcome)
            for seat in result.others:
                other = seat[place]
                if other is not None:
                    rows += self._rows_of(item, place, other)
        self._append(rows)

    def _rows_of(self, item: str, place: int, outcome: Outcome) -> list[tuple[Field, ...]]:
        judge, call = text_cell(outcome.judge), self._calls[place]
        order = "" if outcome.order == UNORDERED else outcome.order
        rows: list[tuple[Field, ...]] = []
        for name, column, checked in self._slots[place]:
            cell = outcome.cells[name]
            verdict = self._verdict(outcome, cell)
            more = self._more(cell, order) if isinstance(cell, Scored) else _NO_MORE
            rows.append((item, column, CHECK if checked else judge, outcome.repeat, order, *verdict, call, *more))
        return rows

    def _verdict(self, outcome: Outcome, cell: Cell) -> tuple[Field, ...]:
        flags = " ".join((*outcome.flags, *cell.flags)) if outcome.flags or cell.flags else ""
        if outcome.because:
            flags = f"{flags} {_ASKED[outcome.because]}" if flags else _ASKED[outcome.because]
        if isinstance(cell, Scored):
            evidence = text_cell(_BETWEEN_QUOTES.join(cell.evidence))
            found = flag_cell(cell.evidence_found)
            score, normalised = self._score(cell.score)
            read = number_cell(cell.expected_score), number_cell(cell.entropy)
            return cell.state, score, normalised, *read, evidence, found, text_cell(cell.reason), "", flags
        if isinstance(cell, NotApplicable):
            evidence = text_cell(_BETWEEN_QUOTES.join(cell.evidence))
            return cell.state, "", "", *_NO_READING, evidence, "", text_cell(cell.reason), "", flags
        message = "" if isinstance(cell, NotRun) else text_cell(cell.message)
        return cell.state, "", "", *_NO_READING, "", "", message, text_cell(cell.code), flags

    def _more(self, cell: Scored, order: str) -> tuple[Field, Field, Field, Field]:
        mass = "" if cell.label_mass is None else number_cell(cell.label_mass)
        if not self._pairs:
            return "", "", "", mass
        slot = picked_slot(winner_of(cell.score), order) if order else ""
        rival = text_cell(_BETWEEN_QUOTES.join(cell.rival_evidence))
        return slot, rival, number_cell(cell.preference), mass

    def _score(self, score: float) -> tuple[Field, Field]:
        found = self._numbers.get(score)
        if found is None:
            found = number_cell(score), number_cell(self._frame.normalise(score))
            self._numbers[score] = found
        return found
