"""What groups of texts are about: c-TF-IDF by hand."""

from __future__ import annotations

from math import log

import pytest

from recollect.text.clusters import tf_idf_rows, topic_names, topic_weights
from recollect.text.tokens import topic_terms

TEA = ["green tea", "tea pot"]
CAT = ["green cat", "cat"]


def test_terms_are_the_words_that_say_something() -> None:
    assert topic_terms("The OAuth token of 2026 is in S3, ¿está en el café?") == [
        "oauth",
        "token",
        "s3",
        "cafe",
    ]


def test_without_spaces_pairs_of_letters_stand_for_words() -> None:
    assert topic_terms("東京都 2026") == ["東京", "京都"]


def test_a_word_weighs_by_its_share_and_by_how_rare_it_is_elsewhere() -> None:
    tea, cat = topic_weights([TEA, CAT])
    # The groups have 4 and 3 words, so A = 3.5. tea: 2 of 4, and 2 in all; green: 1 of 4, and 2 in all.
    assert tea == pytest.approx(
        {"green": 1 / 4 * log(1 + 3.5 / 2), "tea": 2 / 4 * log(1 + 3.5 / 2), "pot": 1 / 4 * log(1 + 3.5 / 1)}
    )
    assert cat == pytest.approx({"green": 1 / 3 * log(1 + 3.5 / 2), "cat": 2 / 3 * log(1 + 3.5 / 2)})


def test_a_name_is_the_two_weightiest_words() -> None:
    # tea 0.506, pot 0.376, green 0.253        cat 0.674, green 0.337
    assert topic_names([TEA, CAT]) == ["Tea Pot", "Cat Green"]


def test_words_of_the_entity_itself_are_passed_over() -> None:
    # Without `tea`, the first group has green and pot, 2 words; A = 2.5.
    assert topic_weights([TEA, CAT], {"tea"})[0] == pytest.approx(
        {"green": 1 / 2 * log(1 + 2.5 / 2), "pot": 1 / 2 * log(1 + 2.5 / 1)}
    )
    assert topic_names([TEA, CAT], {"tea"}) == ["Pot Green", "Cat Green"]


def test_a_word_is_written_as_the_texts_write_it_most_often() -> None:
    assert topic_names([["OAuth logins", "oauth", "OAuth"], ["pgBouncer pools", "pgBouncer"]]) == [
        "OAuth Logins",
        "PgBouncer Pools",
    ]


def test_no_two_names_are_alike() -> None:
    # A = 7; alpha, beta: 3/7 ln(1 + 7/6) = 0.331; gamma, delta: 1/7 ln(1 + 7/1) = 0.297
    groups = [["alpha alpha alpha beta beta beta gamma"], ["alpha alpha alpha beta beta beta delta"]]
    assert topic_names(groups) == ["Alpha Beta", "Alpha Beta Delta"]
    assert topic_names([["alpha"], ["alpha"], ["of the"], []]) == ["Alpha", "Alpha 2", "Topic 3", "Topic 4"]


def test_no_groups_have_no_names() -> None:
    assert (topic_names([]), topic_weights([]), topic_weights([[]])) == ([], [], [{}])


def test_rows_of_words_weigh_what_several_texts_have() -> None:
    rows = tf_idf_rows(["tea tea cup", "tea pot", "cat", "the"])
    # Only `tea` is in two texts: ln(4 / 2), times 1 + ln 2 where it comes twice.
    assert rows.tolist() == [[pytest.approx((1 + log(2)) * log(2))], [pytest.approx(log(2))], [0], [0]]
