"""`gate:` of anvil.yaml, and the flags over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentanvil.errors import ConfigError, UsageError
from agentanvil.rubric import GateTerms
from agentanvil.runner.config import Config, grade_settings, load_config
from agentanvil.runner.gate_settings import GateSettings


def config(folder: Path, text: str) -> Config:
    file = folder / "anvil.yaml"
    file.write_text(text, encoding="utf-8")
    return load_config(file)


def gate(folder: Path, text: str, **flags: Any) -> GateSettings:
    return grade_settings("d.jsonl", {"rubric": "r.yaml", **flags}, config(folder, text)).gate


WHOLE = """\
judge: openai:m
gate:
  calibration: runs/labelled/calibration.json
  confidence: 0.9
  pass_rate: 0.8
  mean: {overall: 4, tone: 3}
  win_rate: 0.5
"""


def test_every_key_and_the_line_that_sets_it(tmp_path: Path) -> None:
    found = gate(tmp_path, WHOLE)
    assert found.calibration == "runs/labelled/calibration.json"
    assert found.terms == GateTerms(0.9, 0.8, {"overall": 4, "tone": 3}, 0.5)
    lines = {key: place.line for key, place in found.places.items()}
    assert lines == {
        "calibration": 3,
        "confidence": 4,
        "pass_rate": 5,
        "win_rate": 7,
        "mean": 6,
        "mean.overall": 6,
        "mean.tone": 6,
    }


def test_a_flag_beats_the_file_and_is_no_key_of_it(tmp_path: Path) -> None:
    found = gate(tmp_path, WHOLE, confidence=0.99, calibration=Path("other.json"))
    assert (found.calibration, found.terms.confidence, found.terms.pass_rate) == ("other.json", 0.99, 0.8)
    assert not {"calibration", "confidence"} & found.places.keys()


def test_without_any_nothing_is_set(tmp_path: Path) -> None:
    assert gate(tmp_path, "judge: openai:m\n") == GateSettings()
    assert gate(tmp_path, "judge: openai:m\n", confidence=0.8) == GateSettings(terms=GateTerms(0.8))


@pytest.mark.parametrize(
    ("text", "line", "key", "told", "hint"),
    [
        ("gate:\n  confidense: 0.9\n", 2, "gate.confidense", "unknown key", "Did you mean `confidence`?"),
        ("gate:\n  overall: 4\n", 2, "gate.overall", "unknown key", "The keys are: calibration, confidence"),
        ("gate:\n  confidence: 95\n", 2, "gate.confidence", "not between 0.5 and 0.999", "0.95 is usual"),
        ("gate:\n  pass_rate: 90\n", 2, "gate.pass_rate", "a share above 0", "write 0.9 for 90 %"),
        ("gate:\n  win_rate: 0\n", 2, "gate.win_rate", "a share above 0", "for example 0.9"),
        ("gate:\n  calibration:\n", 2, "gate.calibration", "empty", "Write a value, or no key."),
        ("gate:\n  mean: {}\n", 2, "gate.mean", "empty", "Write a value, or no key."),
        ("gate:\n  confidence: '0.9'\n", 2, "gate.confidence", "valid number", None),
        ("gate:\n  mean: {overall: high}\n", 2, "gate.mean.overall", "valid number", None),
        ("gate: 0.95\n", 1, "gate", "valid dictionary", None),
        ("gaate: {confidence: 0.9}\n", 1, "gaate", "unknown key", "Did you mean `gate`?"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_line_and_key(
    tmp_path: Path, text: str, line: int, key: str, told: str, hint: str | None
) -> None:
    with pytest.raises(ConfigError) as caught:
        config(tmp_path, text)
    where = caught.value.where
    assert where is not None
    assert (where.line, where.key) == (line, key)
    assert told in caught.value.message
    assert (hint or "") in (caught.value.hint or "")


@pytest.mark.parametrize("confidence", [95.0, 0.0, 1.0, -1.0, float("nan"), float("inf")])
def test_a_flag_that_cannot_be_meant(tmp_path: Path, confidence: float) -> None:
    with pytest.raises(UsageError, match="--confidence"):
        gate(tmp_path, "judge: openai:m\n", confidence=confidence)
