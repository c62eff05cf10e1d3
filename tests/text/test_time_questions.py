"""What a question wants to know about time."""

from __future__ import annotations

import pytest

from recollect.text.time_questions import asks_openly, asks_what_was_said, asks_when


@pytest.mark.parametrize(
    ("question", "openly"),
    [
        ("what happened last week at work?", True),
        ("Did anything happen with the car in May?", True),
        ("What did I do on Tuesday in the garden?", True),
        ("what have we been up to this month", True),
        ("What's new at the office since Monday?", True),
        ("¿Qué pasó la semana pasada en el trabajo?", True),
        ("qué hicimos en agosto con los niños", True),
        ("¿Qué ha pasado este mes en casa?", True),
        ("Which train did I take last week?", False),
        ("What was the name of the hotel in May?", False),
        ("¿Qué hotel reservamos en mayo?", False),
        ("who called yesterday", False),
    ],
)
def test_a_question_asks_openly_for_what_happened_or_for_one_thing(question: str, openly: bool) -> None:
    assert asks_openly(question) is openly


@pytest.mark.parametrize(
    ("question", "when"),
    [
        ("When did Ana move?", True),
        ("what year was the bridge built", True),
        ("How long ago did we meet?", True),
        ("¿Cuándo se mudó Ana?", True),
        ("¿En qué año se construyó el puente?", True),
        ("hace cuánto nos conocimos", True),
        ("Where was I when the bridge fell?", False),
        ("¿Dónde estaba yo cuando cayó el puente?", False),
        ("what happened in 2016", False),
    ],
)
def test_a_question_asks_for_a_time_or_not(question: str, when: bool) -> None:
    assert asks_when(question) is when


def test_who_asks_for_words_asks_for_what_was_said() -> None:
    assert asks_what_was_said("What did I tell you last week?")
    assert asks_what_was_said("¿qué dijo Marta ayer?")
    assert not asks_what_was_said("What happened last week?")
