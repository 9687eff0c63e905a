"""`probe.json`: all that a probe found, with its arms, its tests and the texts of its examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import orjson

from agentanvil.aggregate.probe.findings import ALPHA, LEVEL, POWER, Effect, Example, Finding, verdict_of
from agentanvil.dataset import Row
from agentanvil.errors import RunWriteError, Where
from agentanvil.prompt import PROMPT_VERSION
from agentanvil.report import AtomicText
from agentanvil.runner.job import Surroundings, open_rows
from agentanvil.runner.probe.arms import BASE, REPORT, Layout
from agentanvil.runner.probe.changes import INJECTION, MARKDOWN, PLAIN, VERBOSITY
from agentanvil.runner.study import Arm, StudyEnd, spent

FORMAT = 1
_TEXT = 600
"""The characters that are kept of each end of an example's text."""


def probe_data(layout: Layout, findings: Sequence[Finding], end: StudyEnd) -> dict[str, Any]:
    """Return the report as JSON data. Everything in it follows from the arms' journals."""
    texts = _Texts(layout, findings)
    settings = layout.settings
    return {
        "format": FORMAT,
        "state": end.ending,
        "rubric_id": layout.rubric.id,
        "rubric_hash": layout.rubric.hash,
        "prompt_version": PROMPT_VERSION,
        "judge": layout.judge,
        "second_judge": layout.second,
        "mode": layout.rubric.mode,
        "data": settings.run.data,
        "vs": list(settings.run.vs),
        "rows": layout.rows,
        "sample": settings.sample,
        "planted": settings.planted,
        "seed": settings.seed,
        "level": LEVEL,
        "power": POWER,
        "correction": {
            "method": "holm",
            "alpha": ALPHA,
            "tests": sum(finding.effect.p_value is not None for finding in findings),
        },
        "arms": [_arm(arm, layout) for arm in layout.arms],
        "probes": {name: _probe(name, findings) for name in settings.only},
        "findings": [_finding(finding, texts) for finding in findings],
    }


def write_report(folder: Path, data: Mapping[str, Any]) -> None:
    """Put the report into the probe's folder. Raises RunWriteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = AtomicText(folder / REPORT)
        try:
            file.write(orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
            file.commit()
        finally:
            file.discard()
    except OSError as error:
        raise RunWriteError(
            f"cannot be written: {error.strerror or error}",
            where=Where(str(folder / REPORT)),
            hint="Mend this, then run the same command again.",
        ) from error


def _arm(arm: Arm, layout: Layout) -> dict[str, Any]:
    count = layout.counts.get(arm.name)
    return {
        "name": arm.name,
        "run": str(arm.folder),
        "rows": layout.rows if count is None else count.written,
        "skipped": {} if count is None else dict(sorted(count.skipped.items())),
        "repeats": arm.settings.repeats,
        "cost_usd": spent(arm.folder),
    }


def _probe(name: str, findings: Sequence[Finding]) -> dict[str, Any]:
    own = [finding for finding in findings if finding.effect.probe == name]
    return {
        "verdict": verdict_of(own),
        "found": [f.effect.target for f in own if f.verdict in {"bias found", "noise found"}],
    }


def _finding(finding: Finding, texts: _Texts) -> dict[str, Any]:
    effect = finding.effect
    return {
        "probe": effect.probe,
        "measure": effect.measure,
        "target": effect.target,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "effect": asdict(effect.value),
        "unit": effect.unit,
        "interval": asdict(effect.interval),
        "null": effect.null,
        "contrast": None if effect.contrast is None else asdict(effect.contrast),
        "margin": effect.margin,
        "least_detectable": asdict(effect.least),
        "test": effect.test,
        "p_value": effect.p_value,
        "p_adjusted": finding.adjusted,
        "details": {name: _plain(value) for name, value in effect.details.items()},
        "examples": [texts.example(finding, example) for example in effect.examples],
    }


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


class _Texts:
    """The texts of all examples, before and after the change, read in one pass over each file."""

    def __init__(self, layout: Layout, findings: Sequence[Finding]) -> None:
        self._layout = layout
        self._arms = {arm.name: arm for arm in layout.arms}
        self._pairs = layout.rubric.mode == "pairwise"
        wanted: dict[str, set[str]] = {}
        for finding in findings:
            for name in _arms_of(finding.effect, pairs=self._pairs):
                wanted.setdefault(name, set()).update(example.id for example in finding.effect.examples)
        self._found = {name: self._read(name, ids) for name, ids in wanted.items() if ids and name in self._arms}

    def example(self, finding: Finding, example: Example) -> dict[str, Any]:
        """Return an example with the responses that its readings are of, those after None where they are the same.

        Of a pair these are both, except where two versions of one response were compared.
        """
        rows = [self._found.get(name, {}).get(example.id) for name in _arms_of(finding.effect, pairs=self._pairs)]
        texts = [_responses(row) for row in rows if row is not None]
        if _is_of_versions(finding.effect, pairs=self._pairs) and texts:
            texts = [[text] for text in texts[0]]
        return {
            "id": example.id,
            "before": example.before,
            "after": example.after,
            "responses_before": texts[0] if texts else None,
            "responses_after": texts[1] if len(texts) > 1 else None,
        }

    def _read(self, name: str, ids: set[str]) -> dict[str, Row]:
        settings = self._arms[name].settings
        with open_rows(settings.data, settings.mapping, self._layout.rubric, Surroundings({}), settings.vs) as dataset:
            return {row.id: row for row in _until(dataset.rows(), ids)}


def _until(rows: Iterable[Row], ids: set[str]) -> Iterable[Row]:
    left = set(ids)
    for row in rows:
        if row.id in left:
            yield row
            left.remove(row.id)
            if not left:
                return


def _arms_of(effect: Effect, *, pairs: bool) -> tuple[str, ...]:
    """Return the arms that hold what an example was read from, before and after."""
    if effect.probe == "injection":
        return BASE, f"{INJECTION}{effect.target}"
    found = {"verbosity": (BASE, VERBOSITY), "format": (PLAIN, MARKDOWN)}.get(effect.probe, (BASE,))
    return found[-1:] if _is_of_versions(effect, pairs=pairs) else found


def _is_of_versions(effect: Effect, *, pairs: bool) -> bool:
    """Tell whether two versions of one response were compared with each other, as a pair."""
    return pairs and effect.probe in {"verbosity", "format"}


def _responses(row: Row) -> list[str]:
    return [_cut(side) for side in (row.response, row.rival.response if row.rival is not None else "") if side]


def _cut(text: str) -> str:
    """Return both ends of a long text: what is planted stands at the end."""
    return text if len(text) <= 2 * _TEXT else f"{text[:_TEXT]} […] {text[-_TEXT:]}"
