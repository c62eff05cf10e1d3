"""Whether a prompt calls for something remembered."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.language.questions import prompt_signs
from recollect.ranking.confidence import (
    BearingSignals,
    bearing,
    bearing_signals,
    fitted_bearing,
    prompt_stems,
)
from recollect.text.tokens import coarse_stem


def signals(prompt: str, *contained: str, confidence: float = 0.5) -> BearingSignals:
    """Of a prompt, where each memory contains these of its words."""
    matched = [frozenset(coarse_stem(word) for word in words.split()) for words in contained]
    return bearing_signals(prompt_signs(prompt), prompt_stems(prompt), confidence, matched, timed=False)


def test_the_signals_of_a_prompt() -> None:
    found = signals("Draft a mail to Ana about my boiler", "ana", "boiler mail", confidence=0.8)
    # draft, mail, ana, boiler: three of them are contained, one of them a name; ln(0.8 / 0.2) = ln 4
    assert (found.answer, found.known, found.names) == pytest.approx((log(4), log(4), 1.0))
    assert (found.strangers, found.personal, found.errand, found.general, found.topic) == (0, 1, 1, 0, 0)
    assert signals("Draft a mail to Ana").strangers == 1


def test_a_topic_is_what_one_memory_contains_whole() -> None:
    assert signals("boathouse key", "boathouse key").topic == 1
    assert signals("boathouse key", "boathouse", "key").topic == 0
    assert signals("the spare key of the red boathouse", "spare key red boathouse").topic == 0


def test_the_probability_by_hand() -> None:
    weights = dict.fromkeys((field.name for field in fields(BearingSignals)), 0.0)
    weights |= {"answer": 1.0, "personal": 2.0, "general": -3.0, "constant": -1.0}
    # ln 4 + 2 - 1 = 2.386; a greeting takes 3 of it
    asked = signals("a cake for my sister", confidence=0.8)
    assert bearing(asked, weights) == pytest.approx(1 / (1 + exp(-(log(4) + 1))))
    assert bearing(replace(asked, general=1.0), weights) == pytest.approx(1 / (1 + exp(-(log(4) - 2))))


def test_there_is_a_weight_for_every_signal() -> None:
    assert fitted_bearing().keys() == {*(field.name for field in fields(BearingSignals)), "constant"}


unit = st.floats(0, 1)


@given(
    st.builds(BearingSignals, st.floats(-7, 7), *[unit] * 10), st.sampled_from(["answer", "known", "names"])
)
def test_what_the_store_knows_never_speaks_against_it(found: BearingSignals, name: str) -> None:
    more = replace(found, **{name: asdict(found)[name] + 0.5})
    assert bearing(more) >= bearing(found)
