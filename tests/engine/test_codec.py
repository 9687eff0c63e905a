from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.engine.codec import decode, encode
from agentanvil.verdict import Exchange, InputFault, JudgeError, NotApplicable, NotRun, Outcome, Scored

text = st.text(st.characters(exclude_categories=("Cs",)))
words = st.lists(text, max_size=3).map(tuple)
number = st.floats(allow_nan=False, allow_infinity=False)
count = st.none() | st.integers(0, 2**40)
cell = st.one_of(
    st.builds(Scored, number, words, st.none() | st.booleans(), text, words),
    st.builds(NotApplicable, text, words, words),
    st.builds(JudgeError, text, text, words),
    st.builds(InputFault, text, text, words),
    st.builds(NotRun, text, words),
)
exchange = st.builds(
    Exchange, text=text, stop=text, model=st.none() | text, input_tokens=count, cost=st.none() | number
)
outcomes = st.builds(
    Outcome,
    task_id=text,
    row=st.integers(0, 2**40),
    item_id=text,
    call=text,
    repeat=st.integers(0, 99),
    order=text,
    judge=text,
    cells=st.dictionaries(text, cell, max_size=4),
    exchanges=st.lists(exchange, max_size=2).map(tuple),
    labels=st.dictionaries(text, st.lists(number, min_size=1, max_size=3).map(tuple), max_size=3),
    flags=words,
)


@given(outcomes)
def test_an_outcome_survives_the_journal(outcome: Outcome) -> None:
    assert decode(orjson.loads(orjson.dumps(encode(outcome)))) == outcome
