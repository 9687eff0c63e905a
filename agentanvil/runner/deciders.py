"""Judges that answer typed questions with probabilities: what a run must be for them, and what it then lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agentanvil.aggregate import Reading
from agentanvil.client.decisions import MOST_QUESTIONS, MOST_QUESTIONS_ELSEWHERE
from agentanvil.client.providers import providers
from agentanvil.client.spec import JudgeSpec
from agentanvil.errors import UsageError, Where
from agentanvil.plan import CallPlan
from agentanvil.prompt import build_questions
from agentanvil.rubric import Rubric
from agentanvil.runner.settings import JudgeSettings

_WIDEST = "openai-decisions"


def refuse_undecidable(
    specs: Sequence[JudgeSpec], rubric: Rubric, calls: Iterable[CallPlan], settings: JudgeSettings
) -> None:
    """Raise what keeps a judge of these from deciding a rubric: nothing has been sent then.

    UsageError for a rubric that asks for evidence, and for wishes about how to write where no judge writes; RubricError
    for what does not fit into typed questions.
    """
    deciders = [spec for spec in specs if spec.rules.decides]
    if not deciders:
        return
    if rubric.evidence != "none":
        raise UsageError(
            f"{deciders[0]} answers with probabilities alone, but the rubric asks for evidence ({rubric.evidence})",
            where=Where(file=rubric.file, key="evidence"),
            hint="add --evidence none to do without it, or take a judge that writes",
        )
    if len(deciders) == len(specs):
        _refuse_wishes(deciders[0], settings)
    most = min(map(_most_questions, deciders))
    for call in calls:
        if call.judged:
            build_questions(rubric, call, most)


def refuse_unreadable(specs: Sequence[JudgeSpec], rubric: Rubric, reading: Reading) -> None:
    """Raise UsageError where probabilities are to decide, but a judge writes in a form that they are not read from."""
    writers = [spec for spec in specs if not spec.rules.decides]
    if reading == "expected" and rubric.reply.format != "json" and writers:
        raise UsageError(
            f"--reading expected reads probabilities from JSON, not from replies in the form `{rubric.reply.format}`",
            where=Where(file=rubric.file, key="reply.format"),
            hint="let the judge reply in JSON, or leave --reading at verdict",
        )


def without_evidence(judges: Iterable[str]) -> tuple[str, ...]:
    """Return those of the judges, by name, that can give no evidence."""
    deciding = {name for name, rules in providers().items() if rules.decides}
    return tuple(name for name in judges if name.partition(":")[0] in deciding)


def _most_questions(spec: JudgeSpec) -> int:
    own = spec.provider == _WIDEST and spec.base_url == spec.rules.base_url
    return MOST_QUESTIONS if own else MOST_QUESTIONS_ELSEWHERE


def _refuse_wishes(spec: JudgeSpec, settings: JudgeSettings) -> None:
    wishes: Mapping[str, object] = {
        "--temperature": settings.temperature,
        "--max-tokens": settings.max_tokens,
        "--effort": settings.effort,
    }
    for flag, value in wishes.items():
        if value is not None:
            raise UsageError(f"{flag} means nothing to {spec}: it writes no text", hint=f"leave {flag} out")
