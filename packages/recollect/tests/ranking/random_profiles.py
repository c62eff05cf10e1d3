"""Random profiles, for laws that must hold for every profile."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from hypothesis import strategies as st

from recollect.ranking.candidates import ByMeaning, ByWords, Profile
from recollect.ranking.factors import FACTORS
from recollect.ranking.steps import STEPS, BaseRelevance, Cut, Order


@st.composite
def values(draw: st.DrawFn, kind: type, numbers: st.SearchStrategy[float]) -> Any:
    """Any value of a step, factor or retriever."""
    given_: dict[str, Any] = {}
    for field in fields(kind):
        match kind.__annotations__[field.name]:
            case "float":
                given_[field.name] = draw(numbers)
            case "bool":
                given_[field.name] = draw(st.booleans())
            case "int" if field.name == "within":
                given_[field.name] = draw(st.integers(1, 20))
            case "int":
                given_[field.name] = draw(st.integers(0, 1_000))
            case "int | None":
                given_[field.name] = draw(st.none() | st.integers(1, 1_000))
            case "str":
                given_[field.name] = draw(st.text(max_size=5))
            case "Factor":
                given_[field.name] = draw(
                    st.sampled_from(list(FACTORS.values())).flatmap(lambda factor: values(factor, numbers))
                )
            case "TemporalRelevance":
                given_[field.name] = draw(values(FACTORS["temporal"], numbers))
            case literal:
                assert literal == "Literal['plain', 'stemmed']"
                given_[field.name] = draw(st.sampled_from(["plain", "stemmed"]))
    return kind(**given_)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Any steps in any order, with numbers that a person might give.

    A cut is only the last step: in the middle it keeps the first rows in their present order, so the result
    depends on the limit and on the order of arrival.
    """
    numbers = st.floats(0.01, 100)
    kinds = st.sampled_from([kind for kind in STEPS.values() if kind is not Cut])
    steps = draw(st.lists(kinds.flatmap(lambda kind: values(kind, numbers)), max_size=8))
    return Profile("any", "", (ByMeaning(), ByWords()), (BaseRelevance(), *steps, Order(), Cut()))
