"""The months and years that a text states."""

from __future__ import annotations

import pytest

from recollect.language.time_phrases import holds_since, months_since, names_year, stated_beginnings


@pytest.mark.parametrize(
    ("text", "months"),
    [
        # 12 * 2013 + 3, as months are counted from 0
        ("Hired on 8 April 2013.", [24_159]),
        ("Hired on April 8, 2013.", [24_159]),
        ("Contratada el 8 de abril de 2013.", [24_159]),
        ("Mayor from 1976 to 1990.", [23_712]),
        ("Mayor (1976–1990), then judge since 1991.", [23_712, 23_892]),
        ("Alcalde de 1976 a 1990.", [23_712]),
        ("Open until 1968.", []),
        ("Cerrado hasta 1968.", []),
        ("Born in 1944, moved in 1960.", [23_328, 23_520]),
        ("Room 204, 1200 seats at 19:45", [14_400]),
        ("No year here, 12345 neither.", []),
    ],
)
def test_what_a_text_states_to_begin(text: str, months: list[int]) -> None:
    assert stated_beginnings(text) == months


def test_the_latest_beginning_until_then_counts() -> None:
    text = "Born in 1944, moved in 1960, died in 1999."
    assert months_since(text, 12 * 1965) == 60  # 1960 to 1965
    assert months_since(text, 12 * 1950) == 72
    assert months_since(text, 12 * 1940) is None


def test_a_question_names_a_year_by_its_digits() -> None:
    assert names_year("Where did she live in 2019?")
    assert not names_year("Where did she live last year?")


@pytest.mark.parametrize(
    ("sentence", "month"),
    [
        # 12 * 2019, 12 * 2023 + 2 and 12 * 2013 + 3, as months are counted from 0
        ("Ana lives in Lisbon since 2019.", 24_228),
        ("Since 2019 she lives in Lisbon, before in Faro until 2018.", 24_228),
        ("Ana moved to Porto in March 2023.", 24_278),
        ("In March 2023 Ana moved to Porto.", 24_278),
        ("The rent is 840 € from 8 April 2013 on.", 24_159),
        ("Ana lives in Lisbon from 2019 to 2022.", 24_228),
        ("Vive en Lisboa desde el 8 de abril de 2013.", 24_159),
        ("Se mudó a Lisboa en 2019.", 24_228),
        ("Ich wohne seit 2019 in Kiel.", 24_228),
        # The year of a thing, or of one of several.
        ("I drive a 2015 Golf.", None),
        ("I drive a Golf from 2015.", None),
        ("I work at Acme, founded in 1990.", None),
        ("Trabajo en Acme, fundada en 1990.", None),
        ("Ana lives in Lisbon since 2019, and worked in Faro in 2016.", None),
        ("Ana lives in Lisbon until 2030.", None),
        ("Ana lives in Lisbon.", None),
    ],
)
def test_since_when_a_sentence_holds(sentence: str, month: int | None) -> None:
    assert holds_since(sentence) == month
