"""Refusals in words: a closed list, anchored at the start."""

from __future__ import annotations

import pytest

from agentanvil.judge.refusal import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I can't assist with that.",
        "I’m sorry, but I can’t help with this request.",
        "I am very sorry, but I am unable to evaluate this content.",
        "I can't help.",
        "I cannot rate this response.",
        "I won't score this.",
        "Sorry, I cannot provide a grade for harmful content.",
        "I apologize, but I'm not able to assess this.",
        "Unfortunately, I must decline to grade this.",
        "I must decline.",
        "As an AI language model, I cannot engage with this.",
        "We are unable to process this request.",
        "I don't feel comfortable rating this.",
        "**I'm sorry, I can't assist with that.**",
        "Es tut mir leid, aber dabei kann ich nicht helfen.",
        "Leider kann ich diese Antwort nicht bewerten.",
        "Je suis désolé, mais je ne peux pas évaluer cette réponse.",
        "Lo siento, pero no puedo ayudar con eso.",
        "Desculpe, mas não posso avaliar isso.",
        "Mi dispiace, ma non posso aiutarti.",
        "Извините, но я не могу оценить этот ответ.",
        "很抱歉，我无法评价该内容。",
        "申し訳ありませんが、そのご依頼にはお応えできません。",
        "죄송하지만 이 내용은 평가할 수 없습니다.",
    ],
)
def test_declining_to_grade(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would rather not say.",
        "I think it deserves four out of five.",
        "The response says: I'm sorry, I can't assist with that.",
        "I'm sorry, I can't find a second source.",
        "Sorry about the delay. It is good.",
        "Unfortunately, the response misses the point.",
        "The refusal is fine: I can't help is what it should say.",
        "I cannot fault it.",
        "Leider fehlt die zweite Antwort.",
        "Je ne peux pas dire mieux.",
    ],
)
def test_odd_words_are_no_refusal(text: str) -> None:
    assert not is_refusal(text)
