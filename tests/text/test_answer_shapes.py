"""What a question wants for an answer, and whether a text could have it."""

from __future__ import annotations

import pytest

from recollect.text.answer_shapes import AnswerShape, answer_shape, has_shape


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("What is Ana's phone number?", AnswerShape.CODE),
        ("pásame el teléfono de Ana", AnswerShape.CODE),
        ("Wie lautet die Kundennummer?", AnswerShape.CODE),
        ("How many cups of flour?", AnswerShape.NUMBER),
        ("¿Cuánto cuesta la caldera?", AnswerShape.NUMBER),
        ("Wie lange dauert die Fahrt?", AnswerShape.NUMBER),
        ("When is Tom's birthday?", AnswerShape.DATE),
        ("¿Cuándo es la boda?", AnswerShape.DATE),
        ("Wann fährt der Zug?", AnswerShape.DATE),
        ("What is her email address?", AnswerShape.ADDRESS),
        ("Why did the boiler fail?", None),
        ("Where is the key?", None),
        ("", None),
    ],
)
def test_a_question_tells_what_it_wants(question: str, shape: AnswerShape | None) -> None:
    assert answer_shape(question) is shape


@pytest.mark.parametrize(
    ("shape", "yes", "no"),
    [
        (AnswerShape.CODE, "Ana: 902-555 0142", "Ana rang at 9"),
        (AnswerShape.NUMBER, "three cups", "some flour"),
        (AnswerShape.NUMBER, "Dos tazas", "harina"),
        (AnswerShape.NUMBER, "2 h", "lang"),
        (AnswerShape.DATE, "next Friday", "soon"),
        (AnswerShape.DATE, "el 29 de junio", "pronto"),
        (AnswerShape.DATE, "am Mittwoch", "bald"),
        (AnswerShape.ADDRESS, "ana@example.org", "ana at home"),
    ],
)
def test_a_text_could_answer_or_not(shape: AnswerShape, yes: str, no: str) -> None:
    assert has_shape(yes, shape)
    assert not has_shape(no, shape)
