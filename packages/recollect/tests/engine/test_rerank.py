"""Re-ranking through the engine: who reads what, what the answer says of it, and what `why_not` does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.domain.records import RecallOptions
from recollect.engine import Engine
from recollect.ranking.candidates import recompute_score
from recollect.ranking.profiles import PROFILES
from recollect.ranking.routing import RerankBlend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.results import Answer
    from recollect.ranking.candidates import Floats
    from recollect.stores.port import Reranker

pytestmark = pytest.mark.ranking
every_profile = pytest.mark.parametrize("profile", PROFILES)


@dataclass
class Counting:
    """A re-ranker that likes the texts with the most of one word, and keeps what it was given."""

    word: str = "kettle"
    read: list[str] = field(default_factory=list)
    name: str = "counting"

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        self.read += texts
        return np.array([text.split().count(self.word) for text in texts], dtype=np.float64)


@dataclass
class Broken:
    """One that is installed and cannot run."""

    name: str = "broken"

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        raise ModelUnavailable("The files cannot be read.")


def with_reader(engine: Engine, reader: Reranker, *, on: bool = True) -> Engine:
    return Engine(replace(engine._services, reranker=lambda: reader, reranks=on))


def pantry(engine: Engine, count: int = 30) -> list[int]:
    """Notes with less and less tea; the further down, the more kettles."""
    texts = [
        f"{'tea ' * (40 - number)}{'sugar ' * number}{'kettle ' * number}jar{number}"
        for number in range(count)
    ]
    return [note.id for note in engine.remember_many(texts).notes]


def ids(answer: Answer) -> list[int]:
    return [hit.memory.id for hit in answer.hits]


@every_profile
def test_the_first_twenty_are_read_and_the_answer_is_cut_from_them(engine: Engine, profile: str) -> None:
    pantry(engine)
    plain = engine.search("tea", limit=20, profile=profile)
    reader = Counting()
    again = with_reader(engine, reader).search("tea", limit=5, profile=profile, explain=True)
    assert len(reader.read) == 20
    assert len(again.hits) == 5
    assert set(ids(again)) <= set(ids(plain))
    for hit in again.hits:
        assert recompute_score(hit.reasons) == hit.score
        assert hit.reasons[-1].step == "re-ranking: counting"


def test_the_blend_is_the_one_that_the_formula_gives(engine: Engine) -> None:
    pantry(engine)
    plain = engine.search("tea", limit=20)
    again = with_reader(engine, Counting()).search("tea", limit=20)
    share = RerankBlend().share
    scores = np.array([hit.score for hit in plain.hits])
    said = np.array([hit.memory.text.split().count("kettle") for hit in plain.hits], dtype=float)
    blend = share * (said - said.min()) / np.ptp(said) + (1 - share) * (scores - scores.min()) / np.ptp(
        scores
    )
    expected = dict(zip(ids(plain), blend.tolist(), strict=True))
    assert {hit.memory.id: hit.score for hit in again.hits} == pytest.approx(expected)
    assert ids(again) == sorted(expected, key=lambda id_: (-expected[id_], id_))


@every_profile
def test_whoever_says_no_gets_the_plain_answer(engine: Engine, profile: str) -> None:
    pantry(engine)
    reader = Counting()
    off, on = with_reader(engine, reader, on=False), with_reader(engine, reader)
    plain = engine.search("tea", profile=profile)
    assert off.search("tea", profile=profile) == plain
    assert on.search("tea", profile=profile, options=RecallOptions(rerank=False)) == plain
    assert reader.read == []
    assert off.search("tea", profile=profile, options=RecallOptions(rerank=True)) == on.search(
        "tea", profile=profile
    )
    assert reader.read


def test_a_reader_reads_what_a_person_would_and_of_a_long_text_the_piece_found(engine: Engine) -> None:
    things = [{"name": "Teapot", "entityType": "thing", "observations": ["holds tea", "is blue"]}]
    engine.create_entities(things)
    engine.remember("Tea is at four.")
    engine.add_messages("s", [{"speaker": "Ana", "content": "More tea?"}], extract=False)
    reader = Counting()
    with_reader(engine, reader).search("tea")
    assert sorted(reader.read) == ["Ana: More tea?", "Tea is at four.", "Teapot (thing)\nholds tea\nis blue"]
    filling = "The weather was grey and nothing happened. " * 100
    engine.remember(f"{filling}The oolong kettle broke at noon. {filling}")
    reader = Counting()
    with_reader(engine, reader).search("oolong kettle broke", kinds=["note"])
    (read,) = [text for text in reader.read if "grey" in text]
    assert "oolong kettle broke" in read
    assert len(read) < 2_000


@pytest.mark.parametrize("limit", [30, 60])
def test_a_long_answer_is_read_in_part_and_the_rest_follows_in_its_order(engine: Engine, limit: int) -> None:
    pantry(engine, 40)
    engine.remember_many([f"tea and biscuit{number}" for number in range(40)])
    reader = Counting()
    plain = ids(engine.search("tea", limit=limit))
    again = ids(with_reader(engine, reader).search("tea", limit=limit))
    read = min(limit, 50)
    assert len(reader.read) == read
    assert set(again[:read]) == set(plain[:read])
    assert again[read:] == plain[read:]


# Where it cannot be had


@pytest.mark.parametrize("reader", [None, Broken()], ids=["not installed", "broken"])
def test_where_it_cannot_be_had_a_setting_is_noted_and_a_request_refused(
    engine: Engine, reader: Reranker | None
) -> None:
    pantry(engine)
    asked = Engine(replace(engine._services, reranks=True)) if reader is None else with_reader(engine, reader)
    answer, plain = asked.search("tea"), engine.search("tea")
    assert answer.note is not None
    assert answer.note.startswith("Not re-ranked: The")
    assert answer == replace(plain, note=answer.note)
    last = plain.hits[-1].memory.id
    assert asked.why_not("tea", last) == engine.why_not("tea", last)
    with pytest.raises(ModelUnavailable, match=r"no re-ranker here|cannot be read"):
        asked.search("tea", options=RecallOptions(rerank=True))
    with pytest.raises(ModelUnavailable):
        asked.why_not("tea", 1, options=RecallOptions(rerank=True))


# Why not


@every_profile
def test_why_not_knows_the_place_of_every_hit_and_a_limit_that_it_promises_shows_the_memory(
    engine: Engine, profile: str
) -> None:
    made = pantry(engine)
    asked = with_reader(engine, Counting())
    for limit in (3, 10, 25):
        for place, hit in enumerate(asked.search("tea", limit=limit, profile=profile).hits, start=1):
            answer = asked.why_not("tea", hit.memory.id, limit=limit, profile=profile)
            assert answer.verdict == f"It was returned, at place {place}."
            assert answer.standing is not None
            assert answer.standing.score == hit.score
    shown = ids(asked.search("tea", limit=3, profile=profile))
    promised = 0
    for id_ in set(made).difference(shown):
        for line in asked.why_not("tea", id_, limit=3, profile=profile).advice:
            if line.startswith("A limit of "):
                limit = int(line.split()[3])
                assert id_ in ids(asked.search("tea", limit=limit, profile=profile))
                promised += 1
    assert promised


def test_a_memory_beyond_what_is_read_and_one_that_was_moved_are_told_so(engine: Engine) -> None:
    pantry(engine)
    plain = ids(engine.search("tea", limit=30))
    asked = with_reader(engine, Counting())
    answer = asked.why_not("tea", plain[24], limit=5)
    assert answer.verdict == (
        "It was found by meaning and words and is at place 25, beyond the first 20; only these are re-ranked."
    )
    tenth = engine.search("tea", limit=20).hits[9].memory
    asked = with_reader(engine, Counting(word=tenth.text.split()[-1]))
    answer = asked.why_not("tea", tenth.id, limit=10)
    # The only one with a reading: share * 1, and what is left of its own score; more than the tenth place.
    assert answer.standing is not None
    assert answer.standing.place is not None
    assert answer.standing.place < 10
    assert "Without re-ranking it would be at place 10." in answer.advice
