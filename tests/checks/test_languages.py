from __future__ import annotations

import sys
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentanvil.checks import CheckRunner
from agentanvil.checks.finding import CheckFaultError, Finding, ParameterError
from agentanvil.checks.languages import _detector, is_in_language
from agentanvil.errors import RubricError
from agentanvil.rubric import CheckDimension, CheckSpec
from tests.fakes.records import row, rubric

ANY = row()
SENTENCES = {
    "en": "Your refund has been approved and will arrive within five days.",
    "de": "Die Bestellung kommt morgen an, vielen Dank für Ihre Geduld.",
    "fr": "Votre commande a été expédiée et arrivera demain matin.",
    "es": "Su pedido llegará mañana por la mañana, muchas gracias.",
    "no": "Ordren din er på vei til deg, takk for hjelpen i går kveld.",
    "zh": "退款已经批准，将在五天内到账。",
    "ja": "ご注文は明日届きます。",
    "ko": "주문하신 상품이 내일 도착합니다.",
    "ar": "سيصل طلبك غدا في الصباح الباكر",
    "hi": "आपका ऑर्डर कल सुबह पहुंचेगा।",
    "th": "คำสั่งซื้อของคุณจะมาถึงพรุ่งนี้เช้า",
}


def checked(text: str, *codes: str) -> Finding:
    return is_in_language({"codes": codes})(text, ANY)


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_in_its_language_and_in_no_other(language: str) -> None:
    text = SENTENCES[language]
    assert checked(text, language).passed
    for other in SENTENCES.keys() - {language}:
        finding = checked(text, other)
        assert not finding.passed
        assert f"is in {language}" in finding.reason
        assert finding.reason.endswith(f"not in {other}")
        assert checked(text, other, language).passed


def test_the_two_standards_of_norwegian() -> None:
    assert checked(SENTENCES["no"], "nb").passed
    assert checked("Eg veit ikkje kvifor dei ikkje har sendt varene til deg enno.", "no").passed


def test_languages_that_are_hard_to_tell_apart_are_no_verdict_until_they_stand_together() -> None:
    text = "Vaša narudžba stiže sutra ujutro, hvala na strpljenju."
    with pytest.raises(CheckFaultError, match="too close to tell") as caught:
        checked(text, "hr")
    assert caught.value.code == "language_unclear"
    assert checked(text, "hr", "sr", "bs").passed
    assert not checked(text, "de").passed


@pytest.mark.parametrize("text", ["OK", "Yes.", "12345 67890", "😀😀😀😀", "退款", "Danke sehr!", "#12345: 5.00 €"])
def test_a_few_letters_are_too_few(text: str) -> None:
    with pytest.raises(CheckFaultError) as caught:
        checked(text, "en")
    assert caught.value.code == "too_short"


def test_code_and_addresses_have_no_language() -> None:
    code = "for item in range(5):\n    print('the quick brown fox and the lazy dog', item)\n" * 5
    german = "Ersetzen Sie die Schleife und starten Sie neu, siehe `break when the loop is done`."
    assert checked(f"{german}\n```python\n{code}```\nhttps://example.org/the/quick/brown/fox", "de").passed
    with pytest.raises(CheckFaultError):
        checked(f"```python\n{code}", "en")


def test_an_accent_of_its_own_and_windows_lines_change_nothing() -> None:
    assert checked("Votre commande a e\u0301te\u0301 expe\u0301die\u0301e.\r\nElle arrivera demain.", "fr").passed


def test_the_same_text_has_the_same_answer() -> None:
    first = checked(SENTENCES["de"], "de", "en")
    assert all(checked(SENTENCES["de"], "de", "en") == first for _ in range(3))


@pytest.mark.parametrize("text", ["a" + "\u0301\u0316" * 50_000, "`" * 100_000, "a:" * 50_000, "https:" * 30_000])
def test_no_text_hangs_the_run(text: str) -> None:
    started = time.process_time()
    with suppress(CheckFaultError):
        checked(text, "en")
    assert time.process_time() - started < 2


@given(st.text(min_size=20))
def test_any_text_has_an_answer_or_a_fault(text: str) -> None:
    with suppress(CheckFaultError):
        assert checked(text, "en", "zh").passed in (True, False)


@pytest.mark.parametrize("codes", [(), ("xx",), ("de", "xx"), ("",), (5,)])
def test_codes_that_the_detector_does_not_know(codes: tuple[object, ...]) -> None:
    with pytest.raises(ParameterError) as caught:
        is_in_language({"codes": codes})
    assert caught.value.key == "codes"


def test_without_the_extra_the_rubric_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    _detector.cache_clear()
    contract = rubric(dimensions=(CheckDimension("german", CheckSpec("language", params={"codes": ("de",)}), line=7),))
    with pytest.raises(RubricError) as caught:
        CheckRunner(contract)
    assert str(caught.value.where) == "line 7: german.check.type"
    assert caught.value.hint == "pip install 'agentanvil-judge[language]'"
