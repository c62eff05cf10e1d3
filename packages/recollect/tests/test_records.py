"""A memory as it read at another moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from recollect.domain.records import Kind, Memory, Observation, Revision, Scope, memory_at


def at(second: int) -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=second)


NOTE = Memory(
    1,
    Kind.NOTE,
    Scope(),
    created_at=at(10),
    updated_at=at(50),
    text="Oslo",
    former=(Revision("Paris", at(10), at(20)), Revision("Rome", at(20), at(30))),
    superseded_by=2,
    superseded_at=at(40),
    deleted_at=at(50),
)
ADA = Memory(
    3,
    Kind.ENTITY,
    Scope(),
    created_at=at(10),
    updated_at=at(50),
    name="Ada",
    observations=(
        Observation(1, "Paris", "generic", at(10), superseded_by=2, superseded_at=at(20)),
        Observation(2, "Rome", "generic", at(20), superseded_at=at(30), corrected_by=1),
        Observation(3, "tea", "generic", at(20), deleted_at=at(40)),
        Observation(4, "chess", "generic", at(40)),
    ),
)


def test_at_no_moment_and_long_after_everything_it_reads_as_it_does() -> None:
    for memory in (NOTE, ADA):
        assert memory_at(memory, None) is memory
        assert memory_at(memory, at(99)) == memory


def test_a_text_reads_as_it_was_worded_until_the_moment_of_the_update() -> None:
    texts = {0: "Paris", 10: "Paris", 19: "Paris", 20: "Rome", 29: "Rome", 30: "Oslo", 99: "Oslo"}
    assert {second: memory_at(NOTE, at(second)).text for second in texts} == texts
    former = {19: [], 20: ["Paris"], 30: ["Paris", "Rome"]}
    seen = {second: [revision.text for revision in memory_at(NOTE, at(second)).former] for second in former}
    assert seen == former


def test_its_end_is_not_known_before_it_comes() -> None:
    seen = [memory_at(NOTE, at(second)) for second in (39, 40, 49, 50)]
    assert [(one.superseded_by, one.superseded_at) for one in seen] == [(None, None), *[(2, at(40))] * 3]
    assert [one.deleted_at for one in seen] == [None, None, None, at(50)]


def test_an_entity_has_the_observations_that_it_had() -> None:
    seconds = (9, 10, 19, 20, 29, 30, 39, 40)
    known = [" ".join(seen.content for seen in memory_at(ADA, at(each)).in_force) for each in seconds]
    assert known == ["", "Paris", "Paris", "Rome tea", "Rome tea", "tea", "tea", "chess"]


def test_an_observation_does_not_know_what_will_replace_it() -> None:
    paris, rome, tea = memory_at(ADA, at(29)).observations
    assert (paris.superseded_by, paris.superseded_at) == (2, at(20))
    assert (rome.superseded_at, rome.corrected_by) == (None, None)
    assert tea.deleted_at is None
    paris = memory_at(ADA, at(19)).observations[0]
    assert (paris.superseded_by, paris.superseded_at) == (None, None)


def test_an_update_back_and_forth_within_a_moment_leaves_the_last_word() -> None:
    once = replace(NOTE, former=(Revision("Paris", at(10), at(20)), Revision("Rome", at(20), at(20))))
    assert [memory_at(once, at(second)).text for second in (19, 20)] == ["Paris", "Oslo"]


def test_all_else_is_of_today() -> None:
    tagged = replace(NOTE, tags=("a",), importance=0.9, mentions=(3,))
    then = memory_at(tagged, at(15))
    assert (then.tags, then.importance, then.mentions, then.updated_at) == (("a",), 0.9, (3,), at(50))
