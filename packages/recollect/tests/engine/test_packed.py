"""The inputs of a ranking, packed for the log, give the same ranking when they are unpacked."""

from __future__ import annotations

import json
import zlib
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from recollect.domain.errors import InvalidInput
from recollect.domain.records import Query
from recollect.ranking.candidates import (
    ALWAYS,
    NEVER,
    Candidates,
    Contradictions,
    Cooccurrences,
    Facts,
    Source,
    run,
)
from recollect.ranking.profiles import PROFILES
from recollect.ranking.steps import NewestWins
from recollect.search.recording import FIELD_TAGS, TAGS, pack, unpack
from recollect.search.rows import scope_id
from recollect.tuning.answers import logged_answers

if TYPE_CHECKING:
    from recollect.engine import Engine

pytestmark = pytest.mark.ranking
NOTHING = np.zeros(0, np.int64)
WORDS = ("tea", "kettle", "harbour", "lamp", "tide", "rye", "oolong", "letter")


def moment(**changed: Any) -> Query:
    return replace(Query("q", 5, 10), **changed)


def candidates(count: int, **columns: Any) -> Candidates:
    zeros: dict[str, Any] = {each.name: np.zeros(count, np.int64) for each in fields(Facts)}
    facts = Facts(**zeros)
    return Candidates(replace(facts, ids=np.arange(count), **columns), {}, np.zeros(count))


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """To the last bit, minus zero and every NaN included."""
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()


def lived_in(engine: Engine) -> None:
    """A memory with a talk, entities, notes that repeat, and habits."""
    engine.create_entities(
        [
            {"name": f"{word} house", "type": "place", "observations": [f"sells {word}", f"{word} at noon"]}
            for word in WORDS
        ]
    )
    engine.graph.create_relations([{"source": "tea house", "target": "rye house", "type": "next_to"}])
    engine.remember_many([f"{one} and {two} in the {one} house" for one in WORDS for two in WORDS])
    engine.add_messages(
        "talk", [{"role": "user", "speaker": "Ana", "content": f"Where is the {word}?"} for word in WORDS]
    )
    for word in WORDS[:4]:
        engine.recall(f"{word} house")
        engine.graph.open_nodes([f"{word} house"])


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("query", ["what is tea", "the harbour house yesterday", "Where is the lamp?", "zzz"])
def test_an_answer_that_is_read_from_the_log_is_ranked_the_same_to_the_last_bit(
    engine: Engine, name: str, query: str
) -> None:
    lived_in(engine)
    answer = engine.recall(query, profile=name, limit=7, session="talk")
    assert answer.trace is not None
    before = run(PROFILES[name], answer.trace.candidates, answer.trace.query)
    again = run(PROFILES[name], *unpack(pack(answer.trace.candidates, answer.trace.query)))
    assert [hit.memory.id for hit in answer.hits] == before.ids.tolist()
    assert same(again.ids, before.ids)
    assert same(again.score, before.score)
    assert [(mark.step, mark.values.tobytes(), mark.numbers) for mark in again.score_changes] == [
        (mark.step, mark.values.tobytes(), mark.numbers) for mark in before.score_changes
    ]
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        logged = [
            each for each in logged_answers(view, scope_id(view, engine.scope), name) if each.query == query
        ]
    # Answers without hits are not logged.
    assert [each.ranked for each in logged] == ([tuple(before.ids.tolist())] if answer.hits else [])
    for each in logged:
        assert same(run(PROFILES[name], *unpack(each.candidates)).score, before.score)


@given(
    ints=arrays(np.int64, 5),
    near=arrays(np.int64, 5, elements=st.integers(10**15, 10**15 + 70_000)),
    floats=arrays(np.float64, 5),
    halves=arrays(np.float32, 5),
    flags=arrays(np.bool_, 5),
)
def test_every_column_comes_back_to_the_last_bit(
    ints: Any, near: Any, floats: Any, halves: Any, flags: Any
) -> None:
    whole = halves.astype(np.float64)
    given_ = candidates(5, created_at=ints, updated_at=near, importance=floats, strength=whole, echo=flags)
    read, _ = unpack(pack(given_, moment()))
    for each in fields(Facts):
        assert same(getattr(read.facts, each.name), getattr(given_.facts, each.name)), each.name


@given(
    st.builds(
        moment,
        now=st.integers(-(2**62), 2**62),
        text=st.text(),
        limit=st.integers(1, 1000),
        limit_given=st.booleans(),
        span=st.none() | st.just((NEVER, ALWAYS)) | st.just((3, 4)),
    )
)
def test_the_moment_comes_back_as_it_was(given_: Query) -> None:
    _, read = unpack(pack(candidates(2), given_))
    for name in ("now", "text", "limit", "limit_given", "span"):
        assert getattr(read, name) == getattr(given_, name)
        assert type(getattr(read, name)) is type(getattr(given_, name))


def test_the_tags_of_the_log_stay_whatever_classes_and_fields_are_called() -> None:
    """Logs that were written hold these; another name here makes them unreadable."""
    stored = {tag: " ".join(FIELD_TAGS[kind]) for tag, kind in TAGS.items()}
    assert stored == {
        "Candidates": "facts sources score kept query contradictions",
        "Facts": "ids created_at updated_at happened_at last_access access_count access_days degree status "
        "importance strength depth spread stability metadata_share content echo origin session "
        "position named asks kind role informativeness length",
        "Source": "rank score",
        "Together": "first second count last",
        "Moment": "now query limit limit_given together span",
        "Contradictions": "older newer since chance",
    }


def test_pairs_and_the_places_of_searches_come_back() -> None:
    together = Cooccurrences(*(np.array([number]) for number in range(4)))
    against = Contradictions(np.array([0, 1]), np.array([2, 2]), np.array([5, 5]), np.array([0.9, 0.1]))
    source = Source(np.array([0, 2, 1]), np.array([np.nan, 0.1, 0.3]))
    given_ = replace(
        candidates(3), cooccurrences=together, contradictions=against, sources={"meaning": source}
    )
    read, _ = unpack(pack(given_, moment()))
    assert set(read.sources) == {"meaning"}
    for one, other in (
        (read.cooccurrences, together),
        (read.contradictions, against),
        (read.sources["meaning"], source),
    ):
        assert all(same(getattr(one, name), getattr(other, name)) for name in type(other).__slots__)


def test_a_log_from_before_contradictions_were_known_reads_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FIELD_TAGS[Candidates], "contradictions")
    packed = pack(candidates(3), moment())
    monkeypatch.undo()
    assert unpack(packed)[0].contradictions.older.tolist() == []


def test_a_log_from_before_pairs_had_probabilities_ranks_as_its_rules_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = np.array([True, False])
    against = Contradictions(np.array([0, 1]), np.array([2, 2]), np.array([5, 5]), asked)
    monkeypatch.setitem(
        FIELD_TAGS, Contradictions, {"older": "older", "newer": "newer", "since": "since", "asked": "chance"}
    )
    packed = pack(replace(candidates(3), contradictions=against), moment())
    monkeypatch.undo()
    read = unpack(packed)[0]
    assert (read.contradictions.chance > 0.99).tolist() == [True, False]
    # The first pair counts however far the newer one is behind, the second never.
    ranked = NewestWins()(replace(read, score=np.array([0.9, 0.3, 0.2])), moment())
    assert ranked.score[2] > ranked.score[0] == 0.9
    behind = replace(read, score=np.array([0.1, 0.3, 0.2]))
    assert NewestWins()(behind, moment()).score.tolist() == pytest.approx([0.1, 0.3, 0.2])


def test_what_is_read_can_be_written_to_by_nobody_else() -> None:
    """Columns of two readings share nothing."""
    packed = pack(candidates(3, created_at=np.array([1, 2, 3])), moment())
    (one, _), (other, _) = unpack(packed), unpack(packed)
    one.facts.created_at[0] = 9
    assert other.facts.created_at.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"no compression",
        zlib.compress(b"\x02\x00\x00\x00[]"),
        zlib.compress(b"\xff\xff\xff\x00[1]"),
        zlib.compress(b"\x03\x00\x00\x00[2]"),
        zlib.compress(b"\x09\x00\x00\x00[2, {},1]"),
    ],
)
def test_what_cannot_be_read_is_refused(broken: bytes) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        unpack(broken)
    raw = zlib.decompress(pack(candidates(9, created_at=np.arange(9)), moment()))
    with pytest.raises(InvalidInput, match="ends too early"):
        unpack(zlib.compress(raw[:-3]))


def changed(packed: bytes, old: str, new: str) -> bytes:
    """With another head."""
    raw = zlib.decompress(packed)
    end = 4 + int.from_bytes(raw[:4], "little")
    head = raw[4:end].decode().replace(old, new)
    json.loads(head)
    return zlib.compress(len(head).to_bytes(4, "little") + head.encode() + raw[end:])


def test_a_column_that_there_is_no_longer_is_left_out_and_one_that_is_new_is_asked_for() -> None:
    packed = pack(candidates(2), moment())
    more = changed(packed, '"now":', '"mood":"good","now":')
    assert unpack(more)[1].now == 5
    with pytest.raises(InvalidInput, match="no created_at"):
        unpack(changed(packed, '"created_at"', '"made_at"'))
    # Only values of a ranking are made.
    with pytest.raises(InvalidInput, match="cannot be read"):
        unpack(changed(packed, '"Moment"', '"Popen"'))
