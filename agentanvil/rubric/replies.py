"""Reply formats for judges that cannot do JSON: which labels there are, and what each of them scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentanvil.rubric.model import Scale
from agentanvil.rubric.problems import Problem
from agentanvil.rubric.wire import DimensionWire, ReplyWire, RubricWire
from agentanvil.rubric.yaml_text import YamlPath

_LABELS: YamlPath = ("reply", "labels")
_EXPLICIT = "say what each label scores: `labels: {yes: 5, no: 1}`"


def reply_problems(wire: RubricWire) -> Iterator[Problem]:
    """Yield what keeps the declared reply format from being read without doubt."""
    reply = wire.reply
    if reply is None:
        return
    if reply.format == "json":
        for key in ("marker", "labels"):
            if getattr(reply, key) is not None:
                yield Problem(("reply", key), f"a JSON reply has no {key}", "remove it, or write `format: label`")
        return
    judged = [dimension for dimension in wire.dimensions if isinstance(dimension, DimensionWire)]
    if len(judged) > 1 and wire.calls == "joint":
        yield Problem(
            ("reply", "format"),
            f"one label cannot hold the verdicts on {len(judged)} dimensions",
            "write `calls: split`, so that each call settles one dimension",
        )
    yield from _label_problems(reply, wire)


def read_labels(wire: RubricWire) -> dict[str, int]:
    """Return token → score for labels without problems; empty where the numbers on offer are the tokens.

    A list runs down what the mode offers, like anchors: its first label scores the maximum. Tokens that are the
    offered numbers mean themselves. In pairwise a positive score says that the response shown first is better.
    """
    labels = None if wire.reply is None else wire.reply.labels
    if labels is None:
        return {}
    if isinstance(labels, dict):
        return {str(token): score for token, score in labels.items() if isinstance(score, int)}
    tokens = [str(token) for token in labels] if isinstance(labels, list) else []
    if _are_scores(tokens, wire):
        return {token: int(token) for token in tokens}
    return dict(zip(tokens, reversed(_offered(wire).values), strict=True))


def _label_problems(reply: ReplyWire, wire: RubricWire) -> Iterator[Problem]:
    labels = reply.labels
    if labels is None:
        return
    if not isinstance(labels, list | dict) or not labels:
        yield Problem(_LABELS, "labels must be a list or a mapping that is not empty", _EXPLICIT)
        return
    tokens = list(labels)
    keys: Sequence[str | int] = range(len(tokens)) if isinstance(labels, list) else [str(token) for token in tokens]
    scores = list(labels.values()) if isinstance(labels, dict) else list(range(len(tokens)))
    faults = list(_token_problems(tokens, keys, scores))
    yield from faults
    if isinstance(labels, dict):
        yield from _score_problems(labels, wire)
    elif not faults:
        yield from _list_problems([str(token) for token in tokens], wire)


def _token_problems(tokens: Sequence[object], keys: Sequence[str | int], scores: Sequence[object]) -> Iterator[Problem]:
    seen: dict[str, object] = {}
    for key, token, score in zip(keys, tokens, scores, strict=True):
        path = (*_LABELS, key)
        if isinstance(token, bool) or not isinstance(token, str | int):
            yield Problem(path, f"the label {_spelt(token)} is not text", "put the label in quotes", code="R703")
            continue
        text = str(token)
        if not text.strip() or text != text.strip() or "\n" in text:
            yield Problem(path, "a label is one line of text without spaces around it")
        elif seen.setdefault(text.casefold(), score) != score:
            yield Problem(path, f"the label `{text}` stands twice (capitals make no difference)", "labels are unique")


def _spelt(token: object) -> str:
    return f"`{str(token).lower()}`" if isinstance(token, bool | float) else "here"


def _score_problems(labels: dict[object, object], wire: RubricWire) -> Iterator[Problem]:
    offered = _offered(wire)
    mode = "" if wire.mode == "absolute" else f" of mode {wire.mode},"
    for token, score in labels.items():
        path = (*_LABELS, token if isinstance(token, str | int) else str(token))
        if isinstance(score, bool) or not isinstance(score, int):
            yield Problem(path, "a label's score must be a whole number on the scale", _EXPLICIT)
        elif not offered.min <= score <= offered.max:
            yield Problem(path, f"the score {score} is not on the scale{mode} {offered.min} to {offered.max}")


def _list_problems(tokens: list[str], wire: RubricWire) -> Iterator[Problem]:
    size = len(_offered(wire).values)
    if not _are_scores(tokens, wire) and len(tokens) != size:
        yield Problem(_LABELS, f"{len(tokens)} labels do not fit a scale of {size} scores", _EXPLICIT)


def _are_scores(tokens: list[str], wire: RubricWire) -> bool:
    offered = {str(score) for score in _offered(wire).values}
    return all(token in offered for token in tokens)


def _offered(wire: RubricWire) -> Scale:
    return Scale(wire.scale.min, wire.scale.max).offered(wire.mode)
