"""Are two runs like with like? What an instrument is made of must be the same; the responses are what may differ."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentanvil.aggregate.comparison.tally import Unlikeness
from agentanvil.errors import RunFolderError, Where, quoted

# Names as a person knows them, in the order in which they matter.
_IDENTITY = {
    "judge": "judge",
    "prompt": "prompt version",
    "evidence": "evidence",
    "order": "order",
    "seed": "order seed",
    "temperature": "temperature",
    "max_tokens": "max tokens",
    "code": "code of the rubric's own checks",
}
_PLAN = {
    "reading": "reading",
    "calls": "calls",
    "jury_rule": "jury rule",
    "quorum": "quorum",
}
_HASH_DIGITS = 8
_RECORDED = "recorded:"
_PLACE = re.compile(r"\brecorded:[^;]*( \([0-9a-f]{16}\))")


def unlikenesses(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[Unlikeness, ...]:
    """Return what the two runs' instruments differ in. Raises KeyError for a manifest that lacks some of it."""
    same_rubric = a["rubric"]["hash"] == b["rubric"]["hash"]
    found = [] if same_rubric else [_rubric(a, b)]
    found += [
        Unlikeness(name, str(a["identity"][key]), str(b["identity"][key]))
        for key, name in _IDENTITY.items()
        if _essence(a, key) != _essence(b, key) and not (key == "judge" and trusted_recordings(a, b))
    ]
    found += [
        Unlikeness(name, _shown(a["plan"][key]), _shown(b["plan"][key]))
        for key, name in _PLAN.items()
        # Another rubric has other calls by itself.
        if a["plan"][key] != b["plan"][key] and (same_rubric or key != "calls")
    ]
    return tuple(found)


def trusted_recordings(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Tell whether recordings of two systems' grades stand in for the judges.

    Other responses need other recordings, whoever was recorded; over the same responses they are of two judges.
    """
    seats = [[(judge["role"], judge["share"]) for judge in run["judges"]] for run in (a, b)]
    names = [judge["name"] for run in (a, b) for judge in run["judges"]]
    return (
        a["data"]["hash"] != b["data"]["hash"]
        and a["identity"]["judge"] != b["identity"]["judge"]
        and seats[0] == seats[1]
        and all(name.startswith(_RECORDED) for name in names)
    )


def brand_of(differences: tuple[Unlikeness, ...]) -> str | None:
    """Return what stands over every report of runs that differ in more than their responses."""
    return None if not differences else "NOT LIKE WITH LIKE: " + "; ".join(found.text for found in differences)


def refuse_unlike(differences: tuple[Unlikeness, ...], folder: str) -> None:
    """Raise RunFolderError naming every difference, if there is any."""
    if not differences:
        return
    raise RunFolderError(
        "these runs are not comparable: " + "; ".join(found.text for found in differences),
        where=Where(folder),
        hint="--force compares them all the same and says so in every output.",
    )


def refuse_other_mode(a: Mapping[str, Any], b: Mapping[str, Any], folder: str) -> None:
    """Raise RunFolderError for runs of two modes: no number of one means anything in the other."""
    one, other = a["identity"]["mode"], b["identity"]["mode"]
    if one != other:
        raise RunFolderError(
            f"one run was made in the mode {quoted(str(one))}, the other in {quoted(str(other))}",
            where=Where(folder),
            hint="Scores, booleans and preferences cannot be compared: name two runs of one mode.",
        )


def _essence(run: Mapping[str, Any], key: str) -> str:
    """Return a part of a run's identity; a recording is the same wherever it lies, its content is told beside it."""
    return _PLACE.sub(r"\1", str(run["identity"][key]))


def _rubric(a: Mapping[str, Any], b: Mapping[str, Any]) -> Unlikeness:
    one, other = (f"{run['rubric']['id']} {run['rubric']['hash'][:_HASH_DIGITS]}" for run in (a, b))
    return Unlikeness("rubric", one, other)


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)
