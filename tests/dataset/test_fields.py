from __future__ import annotations

import pytest

from agentanvil.dataset.fieldmap import OWN_FIELDS
from agentanvil.dataset.fields import HIDDEN_FIELDS, missing, near_miss


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("lables", "labels"),
        ("label", "labels"),
        ("Labels", "labels"),
        ("labels ", "labels"),
        ("labels.tone", "labels"),
        ("lables.tone", "labels"),
        ("sorce", "source"),
        ("sources", "source"),
        ("souce", "source"),
        ("SOURCE", "source"),
        ("respones", "response"),
        ("reponse", "response"),
        ("requst", "request"),
        ("reqeust", "request"),
        ("modle", "model"),
        ("mdoel", "model"),
        ("metas", "meta"),
        ("mtea", "meta"),
        ("meta.topic", "meta"),
    ],
)
def test_one_slip_is_noticed(key: str, field: str) -> None:
    assert near_miss(key) == field


@pytest.mark.parametrize(
    "key",
    [
        *OWN_FIELDS,
        *sorted(HIDDEN_FIELDS),
        *("response_a", "response_b", "response_id", "request_id", "source_id", "source.url", "source_url"),
        *("resource", "resources", "levels", "metadata", "mode", "model_id", "model_name", "node", "topic", ""),
        *("language", "category", "subset", "score", "answer", "prompt", "course", "sauce", "idx", "uid", "ids"),
    ],
)
def test_other_names_are_left_alone(key: str) -> None:
    assert near_miss(key) is None


@pytest.mark.parametrize(
    ("field", "keys", "hint"),
    [
        ("request", ["id", "prompt", "response"], "--map 'request=prompt'"),
        ("response", ["id", "request", "respones"], "--map 'response=respones'"),
        ("response", ["id", "request", "completion", "gold"], "--map 'response=completion'"),
        ("id", ["question_id", "request"], "--map 'id=question_id'"),
        ("source", ["id", "request", "contexts"], "--map 'source=contexts'"),
        ("response", ["id", "my.response"], "--map 'response=\"my.response\"'"),
        ("request", ["id", "zz"], "--map request=PATH"),
        ("source", ["id", "reference", "source_text"], "--map 'source=source_text'"),
        ("request", [], "--map request=PATH"),
    ],
)
def test_a_missing_field_is_told_with_the_key_it_goes_by(field: str, keys: list[str], hint: str) -> None:
    fault = missing(field, keys)
    assert hint in (fault.hint or "")
    assert all(key in fault.message for key in keys)


def test_the_hidden_answer_is_never_offered() -> None:
    assert "reference" not in (missing("source", ["id", "reference", "request"]).hint or "")


def test_long_and_unprintable_keys_stay_on_one_line() -> None:
    message = missing("request", ["a\nb", "k" * 500, *map(str, range(30))]).message
    assert "\n" not in message
    assert len(message) < 400
    assert "and 20 more" in message
