"""Real judges' raw replies through the marked formats: nothing crashes, and nothing but what they say is read."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from agentanvil.judge import Parsed, ParseFault, Verdict, parse_reply
from agentanvil.prompt import Contract
from tests.fakes.prompts import contract_of, label_contract, labels, scale_rubric
from tests.fakes.published import read_lines

pytestmark = pytest.mark.published


def score(text: str, contract: Contract) -> int | str | None:
    read = parse_reply(text, contract)
    if isinstance(read, ParseFault):
        return read.code
    assert isinstance(read, Parsed)
    found = read.verdicts["quality"]
    assert isinstance(found, Verdict)
    return found.score


def test_ice_score_replies_of_a_bare_digit_are_read_and_no_other() -> None:
    contract = label_contract(0, 4, labels(""))
    seen: Counter[str] = Counter()
    for record in read_lines("ice_score/humaneval.jsonl"):
        for raw in (*record["raw_no_ref"], *record["raw_with_ref"]):
            found = score(str(raw), contract)
            bare = re.fullmatch(r"\s*([0-4])(?:\.0)?\.?\s*", str(raw))
            assert found == int(bare[1]) if bare else isinstance(found, str), raw
            seen["read" if bare else str(found)] += 1
    assert sum(seen.values()) == 25_638
    assert seen["read"] >= 25_338


def test_llmbar_ratings_are_read() -> None:
    contract = label_contract(0, 10, labels(""))
    seen: Counter[bool] = Counter()
    for record in read_lines("llmbar/rating_raw.jsonl"):
        for raw in (str(record["raw_1"]), str(record["raw_2"])):
            found = score(raw, contract)
            digits = re.fullmatch(r"\s*(\d+)\s*", raw)
            if digits and int(digits[1]) <= 10:
                assert found == int(digits[1])
            seen[isinstance(found, int)] += 1
    assert seen[True] > 0.9 * (seen[True] + seen[False])


BARE = labels("", {"Output (a)": 1, "Output (b)": -1})
ARGUED = labels("Output", {"(a) is better": 1, "(b) is better": -1}, select="first")
FORMS = {
    "GPT-4/Vanilla_NoRules": BARE,
    "GPT-4/Reference": BARE,
    "GPT-4/CoT": ARGUED,
    "ChatGPT/CoT": ARGUED,
    "LLaMA2/CoT": ARGUED,
    "Falcon/CoT": ARGUED,
    "PaLM2/CoT": ARGUED,
}
# Upstream reads a line that begins with `Output (a)`, be it a remark on that output, before it looks for `(b)`.
READ_OTHERWISE = "PaLM2/CoT"


def test_llmbar_choices_are_read_as_upstream_read_them() -> None:
    contracts = {judge: contract_of(scale_rubric(0, 1, mode="pairwise", reply=form)) for judge, form in FORMS.items()}
    seen: Counter[str] = Counter()
    otherwise = 0
    for record in read_lines("llmbar/pairwise_raw.jsonl"):
        judge = str(record["judge"])
        for order in ("orig", "swapped"):
            reply = record[order]
            assert isinstance(reply, dict)
            found = score(str(reply["raw"]), contracts[judge])
            slots = {"1": 1, "2": -1} if order == "orig" else {"1": -1, "2": 1}
            named = slots.get(str(reply["winner"]))
            if judge == READ_OTHERWISE and named == 1 and found == -1:
                assert "Output (b) is better." in reply["raw"]
                otherwise += 1
            else:
                assert (found if isinstance(found, int) else None) == named, reply["raw"]
            seen[judge] += 1
    assert seen.total() == 2 * 2_255
    assert otherwise == 52
