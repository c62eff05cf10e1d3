"""Tokens: an estimate on the high side, counted by hand and held against a real vocabulary."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models.registry import packaged_model
from recollect.text.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" \t ", 0),
        ("tea", 1),
        ("kettle", 2),  # 6 letters: two fours begun
        ("The kettle is hot.", 1 + 2 + 1 + 1 + 1),
        ("internationalisation", 5),  # 20 letters
        ("2026", 2),  # 202 6
        ("1234567", 3),  # 123 456 7
        ("10:30", 1 + 1 + 1),
        ("3.14", 3),
        ("don't", 1 + 1 + 1),
        ("café", 1 + 1),  # `caf`, and a letter beyond ASCII
        ("año", 1 + 1),  # `a`, then `ño` as one piece of two letters
        ("¿qué?", 1 + 1 + 1 + 1),  # ¿ · qu · é · ?
        ("кот", 2),  # 3 letters in twos
        ("Москва", 3),
        ("東京都", 3),
        ("東京へ行く。", 6),
        ("한국어", 3),
        ("ไทย", 3),
        ("snake_case", 2 + 1 + 1),
        ("a\nb", 3),
        ("a\n\n\nb", 3),  # a run of line breaks is one
        ("🚀", 2),  # four bytes
        ("C++", 3),
    ],
)
def test_by_hand(text: str, count: int) -> None:
    assert count_tokens(text) == count


@given(st.text())
def test_only_space_is_free(text: str) -> None:
    assert count_tokens(text) >= 0
    assert (count_tokens(text) == 0) == (not text.replace("\n", "x").strip())


@given(st.text(), st.text())
def test_a_space_between_two_texts_costs_nothing(one: str, other: str) -> None:
    assert count_tokens(f"{one} {other}") == count_tokens(one) + count_tokens(other)


@given(st.text(), st.text())
def test_texts_written_together_cost_about_the_sum(one: str, other: str) -> None:
    # Two words that become one may begin one piece less, or be read as one long run of letters.
    assert count_tokens(one + other) <= count_tokens(one) + count_tokens(other) + len(one + other)
    assert count_tokens(one + other) >= max(count_tokens(one), count_tokens(other)) / 2


@given(st.text(), st.integers(0, 5))
def test_saying_it_again_costs_as_much_again(text: str, times: int) -> None:
    assert count_tokens(" ".join([text] * times)) == times * count_tokens(text)


ENGLISH = """
My neighbour keeps bees behind the old garage. In spring she moves the hives closer to the apple trees,
because the blossoms open early and the nights are still cold. Last year she sold forty jars of honey,
gave ten away, and lost two swarms to the wet weather in May.

The deployment failed at 03:42 on Tuesday: the database connection pool was exhausted after the migration
added an unindexed foreign key. We rolled back to version 4.17.2, restarted the workers, and wrote a
post-mortem. Next time, run EXPLAIN ANALYZE on production-sized data before merging (see ticket #1289).

"I never said that," Harriet answered, although everybody in the kitchen had heard her. She'd promised to
drive the twins to their orthodontist's appointment, hadn't she? Anyway, the refrigerator's thermostat
was broken again, so nobody noticed when she quietly left through the conservatory.
"""
SPANISH = """
Mi vecina tiene colmenas detrás del garaje viejo. En primavera las acerca a los manzanos, porque las
flores se abren temprano y las noches todavía son frías. El año pasado vendió cuarenta tarros de miel,
regaló diez y perdió dos enjambres por culpa de la lluvia de mayo.

La reunión del miércoles se cambió al jueves a las 17:30, en la oficina de la calle Alcalá. Hay que
llevar el presupuesto (12.450 €), la lista de proveedores y las facturas pendientes del segundo
trimestre. ¿Quién se encarga de avisar a los compañeros de Zaragoza?

—Yo nunca dije eso —contestó Begoña, aunque todos la habían oído en la cocina. Había prometido llevar a
los gemelos al dentista, ¿verdad? Además, el termostato del frigorífico se había estropeado otra vez, así
que nadie se dio cuenta cuando salió silenciosamente por la galería.
"""
MODEL = packaged_model("arctic-s")


@cache
def by_the_model(text: str) -> int:
    from tokenizers import Tokenizer

    assert MODEL is not None
    tokenizer = Tokenizer.from_file(str(MODEL.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.mark.skipif(MODEL is None, reason="the arctic-s model is not installed")
@pytest.mark.parametrize(
    "paragraph", [*ENGLISH.strip().split("\n\n"), *SPANISH.strip().split("\n\n")], ids=lambda text: text[:20]
)
def test_the_estimate_is_hardly_below_a_real_vocabulary_and_not_far_above_it(paragraph: str) -> None:
    counted = by_the_model(paragraph)
    assert counted > 50
    assert 0.9 * counted <= count_tokens(paragraph) <= 2 * counted
