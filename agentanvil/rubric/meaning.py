"""The hash of what a rubric means: comments, layout and the order of keys leave it alone, a changed word does not."""

from __future__ import annotations

from agentanvil.hashing import canonical_json, digest
from agentanvil.rubric.gate_terms import GateTerms
from agentanvil.rubric.model import CheckDimension, Dimension, Rubric


def rubric_hash(rubric: Rubric) -> str:
    """Return 32 hex digits over everything but the file's name, its text and its lines.

    The order of dimensions, rules and scope entries counts, since the judge reads them in that order.
    """
    omitted = {"omit_built_in": list(rubric.omit_built_in)} if rubric.omit_built_in else {}
    return digest(
        "rubric",
        canonical_json(
            {
                "id": rubric.id,
                "version": rubric.version,
                "scale": [rubric.scale.min, rubric.scale.max],
                "dimensions": [_dimension(dimension) for dimension in rubric.dimensions],
                "rules": list(rubric.rules),
                **omitted,
                "calls": rubric.calls,
                "evidence": rubric.evidence,
                "overall": {"rule": rubric.overall.rule, "weights": dict(rubric.overall.weights)},
                "gate": dict(rubric.gate),
                **_terms(rubric.terms),
                "reply": {
                    "format": rubric.reply.format,
                    "marker": rubric.reply.marker,
                    "labels": dict(rubric.reply.labels),
                    "select": rubric.reply.select,
                },
                "mode": rubric.mode,
                "allow_expected": rubric.allow_expected,
                "needs_source": rubric.needs_source,
                "purpose": rubric.purpose,
                "not_for": rubric.not_for,
            }
        ),
    )


def _terms(terms: GateTerms) -> dict[str, object]:
    """Return nothing for a gate without terms, so that its rubric is the same as before there were any."""
    if not terms:
        return {}
    shares = {"confidence": terms.confidence, "pass_rate": terms.pass_rate, "win_rate": terms.win_rate}
    return {"terms": {**shares, "mean": dict(terms.mean)}}


def _dimension(dimension: Dimension | CheckDimension) -> dict[str, object]:
    if isinstance(dimension, CheckDimension):
        check = dimension.check
        return {"id": dimension.id, "check": {"type": check.type, "on": check.on, "params": dict(check.params)}}
    return {
        "id": dimension.id,
        "question": dimension.question,
        "anchors": [[score, text] for score, text in dimension.anchors.items()],
        "in": list(dimension.scope.inside),
        "out": [[exclusion.what, exclusion.judged_by] for exclusion in dimension.scope.outside],
        "allow_na": dimension.allow_na,
    }
