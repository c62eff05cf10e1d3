"""The guess at a text's language: right or silent on short texts, and silent on what is in no language."""

from __future__ import annotations

import pytest

from recollect.text.language_words import COMMON_WORDS, ENGLISH
from recollect.text.languages import language_of
from recollect.text.tokens import fold

_TELLING = "the of and to that it for with are be this by at from have not but his her you we my"


@pytest.mark.parametrize(
    "text",
    [
        "Vivo en Lisboa",
        "Prefiero té verde",
        "alergica a los frutos secos",
        "¿Dónde vive Ana?",
        "que prefiere beber Marta",
        "Meine Schwester heißt Anna",
        "Allergisch gegen Nüsse",
        "wo wohnt Anna",
        "J'habite à Lyon",
        "Allergique aux noix",
        "Je préfère le thé vert",
        "Moro em Lisboa",
        "Gosto de café sem açúcar",
        "Mi piace il calcio",
        "Ik woon in Utrecht",
        "Jag bor i Malmö",
        "Visc a Girona amb la meva germana",
        "Mieszkam w Krakowie",
        "Ankara'da yaşıyorum",
        "Мой кот любит рыбу",
        "Η γάτα κοιμάται",
        "我住在北京",
        "週末は灯台まで歩く",
        "저는 서울에 살아요",
        "أحب القهوة",
        "אני גר בחיפה",
        "मुझे चाय पसंद है",
        "ฉันชอบดื่มชา",
        "Deploy mit kubectl, danach die Pods prüfen",
    ],
)
def test_short_texts_in_other_languages_are_told(text: str) -> None:
    assert language_of(text) == "other"


@pytest.mark.parametrize(
    "text",
    [
        "Lives in Lisbon",
        "Likes green tea",
        "Allergic to nuts",
        "where does Ana live",
        "José Martínez works at Peña & Söhne",
        "My sister Lucía is moving to San José de la Montaña in May",
        "She said 'me gusta mucho' and laughed",
        "what does 'déjà vu' mean",
        "I'd like the blue one, but she doesn't",
        "def total(rows): return the sum of price for each row",
        "The tables are in /srv/datos/ventas and the owner is ana.torres@correo.es",
    ],
)
def test_english_stays_english_among_foreign_names(text: str) -> None:
    assert language_of(text) == "english"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "OK",
        "12:30",
        "C++",
        "Marta",
        "Ana Torres, Pablo Ruiz",
        "git commit -m 'wip'",
        "déjà vu",
        "no",
        "a b",
    ],
)
def test_what_is_in_no_language_decides_nothing(text: str) -> None:
    assert language_of(text) is None


def test_the_beginning_of_a_long_text_tells() -> None:
    assert language_of(
        "The harbour was closed for the winter. " * 20 + "y el puerto con los barcos " * 200
    ) == ("english")


def test_one_common_word_ahead_is_enough_and_half_a_one_is_not() -> None:
    # `de` is of no English list: 0 to 1.
    assert language_of("turno de noche") == "other"
    # `leche` looks like nothing, `pena` ends as Spanish words do: 0 to 0.5.
    assert language_of("leche pena") is None
    # `me` is in both lists and tells nothing.
    assert language_of("me me me") is None


def test_common_words_are_folded_and_no_frequent_english_word_is_lost_to_another_language() -> None:
    words = {language: listed.split() for language, listed in COMMON_WORDS.items()}
    assert all(word == fold(word) for listed in words.values() for word in listed)
    others = {word for language, listed in words.items() if language != ENGLISH for word in listed}
    telling = frozenset(_TELLING.split())
    assert not telling & others
