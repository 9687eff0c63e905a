"""Span attributes that a platform nested, or a table flattened → plain dotted keys, as the conventions write them."""

from __future__ import annotations

from collections.abc import Iterator

from agentanvil.strict_json import JsonValue

Attributes = dict[str, JsonValue]

# Below these everything is a dotted key; below the others only the first level, since their values may be objects.
_DEEP = ("llm", "openinference")
_SHALLOW = ("tool", "tool_call", "input", "output", "agent")
_LISTS = ("llm.input_messages", "llm.output_messages")


def dotted(attributes: Attributes) -> Attributes:
    """Return OpenInference attributes with dotted keys and numbered lists, also where they were nested."""
    if not any(isinstance(attributes.get(key), dict | list) for key in (*_DEEP, *_SHALLOW, *_LISTS)):
        return attributes
    found: Attributes = {}
    for key, value in attributes.items():
        if key in _DEEP or key in _LISTS:
            found.update(_leaves(key, value))
        elif key in _SHALLOW and isinstance(value, dict):
            found.update({f"{key}.{inner}": item for inner, item in value.items()})
        else:
            found[key] = value
    return found


def unflattened(span: Attributes) -> Attributes:
    """Return a span whose table columns `context.span_id`, `attributes.llm.model_name`, … are objects again."""
    if "context.span_id" not in span:
        return span
    found: Attributes = {}
    context: Attributes = {}
    attributes: Attributes = {}
    for key, value in span.items():
        head, _, rest = key.partition(".")
        place = {"context": context, "attributes": attributes}.get(head) if rest else None
        if place is None:
            found[key] = value
        elif value is not None:
            place[rest] = value
    return {**found, "context": context, "attributes": attributes}


def _leaves(key: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        for inner, item in value.items():
            yield from _leaves(f"{key}.{inner}", item)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(f"{key}.{number}", item)
    else:
        yield key, value
