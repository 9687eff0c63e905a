"""Judge and candidate of one family: told wherever a run is told of, and no gate is decided by such judges alone.

A judge favours responses of its own family. In a comparison it does so where one of the two is of it and the other is
not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from agentanvil.client.families import Families
from agentanvil.client.local import MODELS
from agentanvil.client.spec import JudgeSpec
from agentanvil.dataset import DatasetInfo
from agentanvil.errors import UsageError, quoted
from agentanvil.plan import Seat
from agentanvil.rubric import OVERALL, Rubric, gated_figures

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Kin:
    """A judge and the models of its family among those that are judged, with the rows they wrote.

    `one_sided` counts the pairs in which only one of the two responses is of the family.
    """

    judge: str
    families: tuple[str, ...]
    models: tuple[str, ...]
    rows: int
    one_sided: int = 0


@dataclass(frozen=True, slots=True)
class Kinship:
    """Who is kin to whom in a run. `families` are those of each judge by name, `kin` the judges that have any.

    `alone` names the models whose verdicts are decided, in some rows at least, by judges of their own family alone.
    `beyond` counts rows of models that were too many to be looked at.
    """

    families: Mapping[str, tuple[str, ...]]
    kin: tuple[Kin, ...] = ()
    alone: tuple[str, ...] = ()
    beyond: int = 0

    @property
    def told(self) -> tuple[str, ...]:
        """What a person should know of it, a sentence each."""
        return tuple(_sentences(self))

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest's entry."""
        return {
            "families": {judge: list(found) for judge, found in self.families.items()},
            "alone": list(self.alone),
            "told": list(self.told),
        }


def read_kinship(
    specs: Sequence[JudgeSpec], others: Sequence[Seat], info: DatasetInfo, given: Mapping[str, str]
) -> Kinship:
    """Hold the judges of a run against the models that its rows name. `given` are the families of anvil.yaml."""
    table = Families(given)
    of_judge = [families_of_judge(spec, table) for spec in specs]
    of_model = {m: table.of(m) for models in info.candidates for m in models if m is not None}
    benches = [[of_judge[seat] for seat in bench] for bench in _benches(others)] if specs else []
    alone = (m for m, own in of_model.items() if any(all(own & judge for judge in bench) for bench in benches))
    kin = (_kin(str(spec), own, of_model, info) for spec, own in zip(specs, of_judge, strict=True))
    return Kinship(
        families={str(spec): tuple(sorted(own)) for spec, own in zip(specs, of_judge, strict=True)},
        kin=tuple(found for found in kin if found is not None),
        alone=tuple(sorted(alone)),
        beyond=info.candidates_beyond,
    )


def refuse_self_judging(kinship: Kinship, rubric: Rubric) -> None:
    """Raise UsageError where a gate would be decided by judges of the candidate's own family alone."""
    if not kinship.alone or not judges_gate(rubric):
        return
    judges = _listed([kin.judge for kin in kinship.kin if set(kin.models) & set(kinship.alone)])
    raise UsageError(
        f"the gate would be decided by {judges} alone, of the same family as the judged {_listed(kinship.alone)}",
        hint="Add a judge of another family (--judge again, or --jury), or say --accept-self-judging: every report "
        "then says so. A family that is told wrongly can be set in anvil.yaml, under `families:`.",
    )


def judges_gate(rubric: Rubric) -> bool:
    """Tell whether a judge's verdicts decide what passes; code is kin to nobody."""
    judged, figures = {dimension.id for dimension in rubric.judged}, gated_figures(rubric)
    if rubric.mode == "absolute":
        names = {*rubric.gate, *(figure.of for figure in figures)}
        return bool(judged if OVERALL in names else judged & names)
    return bool(judged) and (rubric.mode == "gate" or bool(figures))


def self_judged(kinship: Mapping[str, Any], rubric: Rubric) -> str | None:
    """Return what every report says of a gate that kin alone decided, from the manifest; None where there is none."""
    alone = kinship["alone"]
    if not alone or not judges_gate(rubric):
        return None
    return f"the gate is decided by judges of the candidate's own family alone, for responses of {_listed(alone)}"


def families_of_judge(spec: JudgeSpec, table: Families) -> frozenset[str]:
    """Return a judge's families. A gateway's route (`openai/qwen3`) counts only where the rest says nothing."""
    name = model_of_judge(spec)
    own = table.of(name.partition("/")[2]) if spec.provider == "litellm" else frozenset()
    return own or table.of(name)


def model_of_judge(spec: JudgeSpec) -> str:
    """Return the name that may tell a family; replies on file have no model of their own."""
    if spec.provider == "recorded":
        return ""
    if spec.provider != "local":
        return spec.model
    known = MODELS.get(spec.model or "default")
    return known.title if known else PurePath(spec.model).name


def _benches(others: Sequence[Seat]) -> list[list[int]]:
    """Return the seats that decide together: all of a jury; the first judge, and alone the one escalated to."""
    jury = [0, *(seat for seat, other in enumerate(others, start=1) if other.role == "jury")]
    return [jury, *([seat] for seat, other in enumerate(others, start=1) if other.role == "escalation")]


def _kin(judge: str, own: frozenset[str], of_model: Mapping[str, frozenset[str]], info: DatasetInfo) -> Kin | None:
    models = {model for model, families in of_model.items() if families & own}
    if not models:
        return None
    rows = one_sided = 0
    for candidates, count in info.candidates.items():
        same = sum(model in models for model in candidates)
        rows += count if same else 0
        one_sided += count if same == 1 and len(candidates) > 1 else 0
    shared = {family for model in models for family in of_model[model] & own}
    return Kin(judge, tuple(sorted(shared)), tuple(sorted(models)), rows, one_sided)


def _sentences(kinship: Kinship) -> Iterator[str]:
    for kin in kinship.kin:
        family = ", ".join(kin.families)
        yield (
            f"the judge {kin.judge} and {_listed(kin.models)} ({_rows(kin.rows)}) are of one family ({family}): "
            "judges favour their own"
        )
        if kin.one_sided:
            yield f"in {_rows(kin.one_sided)} only one of the two responses is of the family of {kin.judge} ({family})"
    if kinship.beyond and any(kinship.families.values()):
        yield f"{_rows(kinship.beyond)} of further models were not held against the judge's family: there are too many"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(quoted, names[:_NAMED])) + more
