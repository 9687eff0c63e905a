"""Any JSON value, for property tests of readers."""

from __future__ import annotations

from hypothesis import strategies as st

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def bent(draw: st.DrawFn, body: object) -> object:
    """`body` with one value somewhere inside replaced by any other, or left out."""
    if not isinstance(body, dict | list) or not body or draw(st.integers(0, 3)) == 0:
        return draw(JSON_VALUES)
    if isinstance(body, list):
        place = draw(st.integers(0, len(body) - 1))
        return [draw(bent(value)) if at == place else value for at, value in enumerate(body)]
    key = draw(st.sampled_from(sorted(body)))
    if draw(st.integers(0, 4)) == 0:
        return {name: value for name, value in body.items() if name != key}
    return {**body, key: draw(bent(body[key]))}
