"""mem0's metadata as tags of a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.errors import InvalidInput
from recollect.text.tokens import fold
from recollect.write.inputs import tags_of
from recollect_server.mem0.requests import merged_tags, metadata_of, metadata_tags

if TYPE_CHECKING:
    from recollect.engine import Engine

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["topic", "Wörter", "a b", "#1", "1/2", "d.e"]), values, max_size=3))
def test_metadata_comes_back_as_it_was_given(metadata: dict[str, Any]) -> None:
    # As a note keeps them: each within its limit, composed, without outer space, and none twice.
    tags = tags_of(metadata_tags(metadata))
    assert len({fold(tag) for tag in tags}) == len(tags)
    assert metadata_of(("holiday", *tags)) == (metadata, ["holiday"])


def test_a_tag_that_looks_like_metadata_and_is_none_stays_a_tag() -> None:
    tags = ["a=b", "mood=NaN", "=1", 'half=2/2="x"', "plain"]
    assert metadata_of(tags) == ({}, ["a=b", "mood=NaN", "=1", "plain", 'half=2/2="x"'])


def test_new_metadata_takes_the_place_of_what_its_keys_held() -> None:
    assert merged_tags(["diet", "Topic=1", "n=2"], {"topic": "food"}) == ("diet", "n=2", 'topic="food"')


@pytest.mark.parametrize(
    ("metadata", "advice"),
    [
        ({"a=b": 1}, "rename 'a=b'"),
        ({"": 1}, "1 to 60 characters"),
        ({" a": 1}, "no space around it"),
        ({"Topic": 1, "topic": 2}, "differ by case or accents"),
        ({"text": "x" * 10_001}, "more than 10,000 characters"),
        ({str(number): 0 for number in range(51)}, "51 keys; use at most 50"),
        ({"number": float("nan")}, "cannot be stored as JSON"),
    ],
)
def test_what_cannot_be_kept_is_refused(metadata: dict[str, Any], advice: str) -> None:
    with pytest.raises(InvalidInput, match=advice):
        metadata_tags(metadata)


def test_a_note_keeps_it_and_is_found_by_it(engine: Engine) -> None:
    metadata = {"topic": "Food", "long": "a b " * 100, "n": [1, {"x": None}]}
    noted = engine.remember("Ana eats no meat", tags=("diet", *metadata_tags(metadata)))
    note = engine.get(noted.id)
    assert note is not None
    assert metadata_of(note.tags) == (metadata, ["diet"])
    (hit,) = engine.recall("meat", tags=metadata_tags({"topic": "Food"})).hits
    assert hit.memory.id == noted.id
    assert not engine.recall("meat", tags=metadata_tags({"topic": "work"})).hits
