"""Whether a question asks for what holds now or for what held before."""

from __future__ import annotations

import pytest

from recollect.text.question_tense import QuestionTense, question_tense


@pytest.mark.parametrize(
    "question",
    [
        "Where did she live before?",
        "Where did Ana use to live, and what was her previous job?",
        "What did Bruno used to drive?",
        "What was my old address?",
        "Where did we meet before that?",
        "¿Dónde vivía Ana antes?",
        "¿Qué solía beber Ana?",
        "¿Cuál era mi dirección anterior?",
        "Wo hat Ana früher gewohnt?",
        "Où habitait Ana avant ?",
    ],
)
def test_a_question_about_the_past(question: str) -> None:
    assert question_tense(question) is QuestionTense.PAST


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ana live now?",
        "What is my current address?",
        "Does Ana still work at Acme?",
        "What is the rent at the moment?",
        "¿Dónde vive Ana ahora?",
        "¿Cuál es mi dirección actual?",
        "¿Ana todavía trabaja en Acme?",
        "Wo wohnt Ana jetzt?",
    ],
)
def test_a_question_about_now(question: str) -> None:
    assert question_tense(question) is QuestionTense.NOW


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ana live?",
        "What should I pack before the trip?",
        "¿Qué hago antes de salir?",
        "Who knows Ana?",
        "",
    ],
)
def test_a_question_that_does_not_say(question: str) -> None:
    assert question_tense(question) is QuestionTense.OPEN
