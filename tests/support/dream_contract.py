"""The contract of every store for dreams: what they read, what they write, and their undo."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from store_contract import ME, YOU, at, memory, words
from store_contract import one as do

from recollect.domain.changes import (
    AddObservations,
    Amend,
    CommitDream,
    DropLease,
    FieldChanges,
    FlagSimilar,
    Forget,
    NewEntity,
    NewObservation,
    NewRelation,
    NewText,
    Purge,
    PutEntity,
    PutText,
    RecordUsage,
    Relate,
    RemoveObservations,
    Restore,
    RestoreObservation,
    Supersede,
    TakeLease,
    UndoDream,
)
from recollect.domain.errors import Conflict, Outdated
from recollect.domain.records import Consolidation, Kind, PastQuestion, Scope
from recollect.domain.tables import Equals
from recollect.dreams.state import (
    corrections,
    dream_journal,
    dream_records,
    dream_state,
    links_of,
    packed_fields,
    past_questions,
)
from recollect.ranking.factors import microseconds
from recollect.search.facts import ranking_facts
from recollect.search.rows import MemoryRows, moment, relations_of, scope_id

if TYPE_CHECKING:
    from recollect.domain.changes import Outcome
    from recollect.dreams.snapshot import DreamState
    from recollect.stores.port import Snapshot
    from recollect.write.repository import Repository

DAY = 86_400


def us(second: float) -> int:
    return microseconds(at(second))


def note(store: Repository, text: str, scope: Scope = ME, second: float = 0) -> int:
    return do(store, PutText(scope, NewText(Kind.NOTE, text)), second).ids[0]


def notes(store: Repository, *texts: str) -> list[int]:
    return [note(store, text) for text in texts]


def put_ada(store: Repository, *observations: str) -> Outcome:
    return do(store, PutEntity(ME, NewEntity("Ada", "x", tuple(map(NewObservation, observations)))))


def strengths(store: Repository, *ids: int) -> list[float]:
    return [memory(store, id_).strength for id_ in ids]


def record_usage(
    store: Repository,
    *ids: int,
    second: float = 0,
    session: str = "s",
    query: str | None = None,
    scope: Scope = ME,
) -> None:
    do(store, RecordUsage(scope, ids, session, query=query, profile=query and "reverie"), second)


def read_state(store: Repository, second: float = 0, scope: Scope = ME, together: int = 3) -> DreamState:
    with store.read() as view:
        return dream_state(view, scope_id(view, scope), us(second), together)


def dream(
    store: Repository,
    second: float = 0,
    through: int = 0,
    scope: Scope = ME,
    phases: tuple[str, ...] = ("consolidate", "place"),
    **what: object,
) -> Outcome:
    return do(store, CommitDream(scope, through, phases, "{}", **what), second)  # type: ignore[arg-type]


def lease(view: Snapshot, name: str) -> tuple[str, datetime] | None:
    """The holder of a lease, and its end."""
    rows = view.rows("lease", ("holder", "until"), (Equals("name", name),))
    return (rows[0][0], moment(rows[0][1])) if rows else None


class DreamContract:
    # The snapshot

    def test_a_scope_that_nobody_wrote_to_has_an_empty_snapshot(self, store: Repository) -> None:
        told = read_state(store)
        assert (len(told.ids), told.last_at, told.through, told.replays) == (0, None, 0, ())

    def test_the_snapshot_holds_what_is_in_force_in_its_scope(self, store: Repository) -> None:
        tea, old, gone = notes(store, "tea is hot", "tea is cold", "tea is gone")
        note(store, "your tea", YOU)
        do(store, Supersede(ME, (old,), tea))
        do(store, Forget(ME, ids=(gone,)))
        ada = do(store, PutEntity(ME, NewEntity("Ada"))).ids[0]
        told = read_state(store)
        assert told.ids.tolist() == [tea, ada]
        assert [tuple(Kind)[kind] for kind in told.kind.tolist()] == [Kind.NOTE, Kind.ENTITY]
        assert (told.life.strength.tolist(), told.life.depth.tolist()) == ([1.0, 1.0], [2, 2])
        assert (told.life.spread.tolist(), told.life.stability.tolist()) == ([1, 1], [1.0, 1.0])

    def test_a_memory_was_touched_when_it_was_last_made_changed_or_seen(self, store: Repository) -> None:
        first, second, third = notes(store, "one", "two", "three")
        do(store, Amend(ME, second, importance=0.9), 10)
        record_usage(store, third, second=20)
        told = read_state(store, 30)
        assert told.ids.tolist() == [first, second, third]
        assert told.touched_at.tolist() == [us(0), us(10), us(20)]
        assert told.accesses.tolist() == [0, 0, 1]

    def test_what_is_pinned_or_marked_as_important_is_kept(self, store: Repository) -> None:
        first, _, third = notes(store, "one", "two", "three")
        do(store, Amend(ME, first, pinned=True))
        do(store, Amend(ME, third, importance_tag="a vow"))
        assert read_state(store).kept.tolist() == [True, False, True]

    def test_answers_are_replayed_until_a_dream_has_had_them(self, store: Repository) -> None:
        one, two, three = notes(store, "one", "two", "three")
        record_usage(store, two, one, second=5)
        record_usage(store, three, second=6)
        told = read_state(store, 10)
        assert [(each.at, each.rows) for each in told.replays] == [(us(5), (1, 0)), (us(6), (2,))]
        dream(store, 10, told.through)
        record_usage(store, one, second=20)
        after = read_state(store, 30)
        assert [(each.at, each.rows) for each in after.replays] == [(us(20), (0,))]
        assert after.last_at == us(10)
        assert after.through > told.through

    def test_the_days_of_use_since_the_last_dream_and_the_one_before(self, store: Repository) -> None:
        one, two = notes(store, "one", "two")
        record_usage(store, one, second=0)
        record_usage(store, one, second=DAY)
        told = read_state(store, DAY)
        day = us(0) // (DAY * 1_000_000)
        assert (told.used_on, told.seen_before) == ({0: (day, day + 1)}, {})
        dream(store, DAY, told.through)
        record_usage(store, one, two, second=3 * DAY)
        record_usage(store, one, second=3 * DAY + 60)
        after = read_state(store, 4 * DAY)
        assert (after.used_on, after.seen_before) == ({0: (day + 3,), 1: (day + 3,)}, {0: day + 1})

    def test_sessions_are_counted_once_each(self, store: Repository) -> None:
        one, _ = notes(store, "one", "two")
        for session in ("a", "b", "b"):
            record_usage(store, one, session=session)
        assert read_state(store).sessions.tolist() == [2, 1]

    def test_twins_are_texts_in_force_of_one_sort_that_were_found_alike(self, store: Repository) -> None:
        tea, again, other = notes(store, "Ada drinks tea", "Ada drinks the tea", "Ada drank tea")
        do(store, FlagSimilar("memory", again, tea, 0.98))
        do(store, FlagSimilar("memory", other, tea, 0.9))
        record_usage(store, again)
        ada = put_ada(store, "likes tea", "tea!")
        first, second = ada.added
        do(store, FlagSimilar("observation", second.id, first.id, 0.9))
        twins = read_state(store).twins
        assert [(each.older.memory, each.newer.memory, each.similarity) for each in twins] == [
            (tea, again, 0.98),
            (tea, other, 0.9),
            (ada.ids[0], ada.ids[0], 0.9),
        ]
        assert (twins[0].older.accesses, twins[0].newer.accesses) == (0, 1)
        assert (twins[2].older.observation, twins[2].newer.observation) == (first.id, second.id)
        do(store, Forget(ME, ids=(tea,)))
        assert [each.older.memory for each in read_state(store).twins] == [ada.ids[0]]

    def test_texts_of_two_moments_or_two_speakers_are_no_twins(self, store: Repository) -> None:
        made = [
            do(store, PutText(ME, NewText(Kind.MESSAGE, "yes", session="s", speaker=who, happened_at=when)))
            for who, when in (("Ada", at(0)), ("Bob", at(0)), ("Ada", at(5)))
        ]
        first, second, third = (outcome.ids[0] for outcome in made)
        do(store, FlagSimilar("memory", second, first, 0.98))
        do(store, FlagSimilar("memory", third, first, 0.98))
        assert read_state(store).twins == ()

    def test_pairs_are_those_that_were_often_enough_together_whoever_dreamt_since(
        self, store: Repository
    ) -> None:
        one, two, three = notes(store, "one", "two", "three")
        for _ in range(3):
            record_usage(store, one, two)
        record_usage(store, one, three)
        assert [(each.first, each.second, each.count) for each in read_state(store).together] == [
            (one, two, 3)
        ]
        assert len(read_state(store, together=1).together) == 2
        dream(store, 10)
        assert [(each.first, each.second, each.count) for each in read_state(store, 20).together] == [
            (one, two, 3)
        ]

    # Past questions

    def test_questions_come_newest_first_each_once_with_what_was_shown_last(self, store: Repository) -> None:
        one, two = notes(store, "one", "two")
        record_usage(store, one, query="first")
        record_usage(store, one, two, query="second")
        record_usage(store, two, one, query="first")
        record_usage(store, one)  # opened by its name
        yours = note(store, "three", YOU)
        record_usage(store, yours, query="yours", scope=YOU)
        with store.read() as view:
            assert list(past_questions(view, scope_id(view, ME), 10)) == [
                PastQuestion("first", "reverie", (two, one)),
                PastQuestion("second", "reverie", (one, two)),
            ]
            assert len(past_questions(view, scope_id(view, ME), 1)) == 1
            assert past_questions(view, scope_id(view, Scope("nobody")), 10) == []

    # Dreams

    def test_a_dream_writes_fields_and_undoing_it_puts_them_back(self, store: Repository) -> None:
        one, two = notes(store, "one", "two")
        before = [memory(store, one), memory(store, two)]
        done = dream(
            store,
            10,
            field_changes=(
                FieldChanges("strength", (one, two), (1.0, 1.0), (0.25, 0.1 + 0.2)),
                FieldChanges("consolidation", (one,), ("staged",), ("consolidated",)),
                FieldChanges("depth", (two,), (2,), (3,)),
                FieldChanges("spread", (two,), (1,), (4,)),
                FieldChanges("stability", (two,), (1.0,), (7.5,)),
            ),
        )
        assert (done.created, done.count, done.left) == (True, 6, ())
        after = memory(store, one), memory(store, two)
        assert (after[0].strength, after[0].consolidation) == (0.25, Consolidation.CONSOLIDATED)
        two_after = after[1]
        assert (two_after.strength, two_after.depth) == (0.1 + 0.2, 3)
        assert (two_after.spread, two_after.stability) == (4, 7.5)
        # A dream is not an edit.
        assert [each.updated_at for each in after] == [each.updated_at for each in before]
        undone = do(store, UndoDream(ME, done.ids[0]), 20)
        assert (undone.count, undone.left) == (6, ())
        assert [memory(store, one), memory(store, two)] == before

    def test_a_field_that_is_not_as_the_dream_saw_it_is_left(self, store: Repository) -> None:
        one, two = notes(store, "one", "two")
        done = dream(store, 10, field_changes=(FieldChanges("strength", (one, two), (0.5, 1.0), (0.4, 0.9)),))
        assert (done.left, done.count) == ((one,), 1)
        assert strengths(store, one, two) == [1.0, 0.9]

    def test_fields_that_were_packed_beforehand_are_written_and_journalled_alike(
        self, store: Repository
    ) -> None:
        ids = tuple(notes(store, "one", "two", "three", "four", "five"))
        dream(store, 5, field_changes=(FieldChanges("strength", ids, (1.0,) * 5, (0.5,) * 5),))
        do(store, Amend(ME, ids[4], pinned=True))
        # Two equal ones in a row, two single ones, and a pinned one that grows.
        lived = (
            FieldChanges("strength", ids, (0.5,) * 5, (0.4, 0.4, 0.25, 0.1 + 0.2, 0.75)),
            FieldChanges("depth", ids[:2], (2, 2), (3, 3)),
        )
        links = ((ids[0], ids[1], 0, 3),)
        before = [memory(store, id_) for id_ in ids]
        done = [dream(store, 10, field_changes=lived, links=links)]
        after = [memory(store, id_) for id_ in ids]
        do(store, UndoDream(ME, done[0].ids[0]), 20)
        assert [memory(store, id_) for id_ in ids] == before
        done.append(dream(store, 10, field_changes=lived, links=links, pack_rest=packed_fields(lived)))
        assert [memory(store, id_) for id_ in ids] == after
        assert done[0].count == done[1].count == 8
        with store.read() as view:
            blobs = {blob for _, blob in view.rows("dream", ("id", "journal"))[-2:]}
        assert len(blobs) == 1

    @pytest.mark.parametrize("change", ["field", "pin", "mark", "forget", "scope"])
    def test_a_dream_that_was_packed_beforehand_is_outdated_where_something_has_changed(
        self, store: Repository, change: str
    ) -> None:
        one, two = notes(store, "one", "two")
        tag = "a vow" if change == "mark" else None
        do(store, Amend(ME, one, pinned=change == "pin", importance_tag=tag))
        if change == "forget":
            do(store, Forget(ME, ids=(one,)))
        before = 0.5 if change == "field" else 1.0
        lived = (
            FieldChanges("depth", (two,), (2,), (3,)),
            FieldChanges("strength", (one, two), (before, 1.0), (0.25, 0.25)),
        )
        scope = YOU if change == "scope" else ME
        with pytest.raises(Outdated):
            dream(store, 10, scope=scope, field_changes=lived, pack_rest=packed_fields(lived))
        assert strengths(store, one, two) == [1.0, 1.0]
        assert [memory(store, id_).depth for id_ in (one, two)] == [2, 2]
        with store.read() as view:
            assert view.rows("dream", ("id",)) == []

    def test_what_is_gone_or_of_another_scope_is_left(self, store: Repository) -> None:
        one, two = notes(store, "one", "two")
        yours = note(store, "three", YOU)
        do(store, Forget(ME, ids=(one,)))
        done = dream(
            store,
            10,
            field_changes=(FieldChanges("strength", (one, yours), (1.0, 1.0), (0.5, 0.5)),),
            pruned=(one, yours),
            merged=((two, yours),),
        )
        assert done.left == (one, two, yours)
        assert memory(store, yours).deleted_at is None
        assert memory(store, two).superseded_at is None

    def test_what_was_used_or_pinned_since_the_dream_looked_is_not_pruned(self, store: Repository) -> None:
        one, two, three, four, five = notes(store, "one", "two", "three", "four", "five")
        record_usage(store, one, second=11)
        do(store, Amend(ME, two, importance=0.9), 11)
        do(store, Amend(ME, three, pinned=True))
        do(store, Amend(ME, four, importance_tag="a vow"))
        done = dream(store, 10, pruned=(one, two, three, four, five))
        assert done.left == (one, two, three, four)
        assert [memory(store, id_).deleted_at for id_ in (one, two, three, four)] == [None] * 4
        assert memory(store, five).deleted_at == at(10)

    def test_what_was_pinned_or_marked_since_the_dream_looked_may_gain_and_does_not_fade(
        self, store: Repository
    ) -> None:
        pinned, marked, plain = notes(store, "one", "two", "three")
        everyone = (pinned, marked, plain)
        dream(store, 5, field_changes=(FieldChanges("strength", everyone, (1.0,) * 3, (0.5,) * 3),))
        do(store, Amend(ME, pinned, pinned=True), 6)
        do(store, Amend(ME, marked, importance_tag="a vow"), 6)
        faded = dream(store, 10, field_changes=(FieldChanges("strength", everyone, (0.5,) * 3, (0.25,) * 3),))
        assert (faded.left, faded.count) == ((pinned, marked), 1)
        assert strengths(store, *everyone) == [0.5, 0.5, 0.25]
        grown = dream(
            store, 20, field_changes=(FieldChanges("strength", everyone, (0.5, 0.5, 0.25), (0.75,) * 3),)
        )
        assert (grown.left, grown.count) == ((), 3)
        assert strengths(store, *everyone) == [0.75] * 3
        # A pinned memory only does not fade.
        dream(store, 30, field_changes=(FieldChanges("stability", (pinned,), (1.0,), (0.5,)),))
        assert memory(store, pinned).stability == 0.5

    def test_what_was_changed_since_the_dream_looked_is_neither_merged_nor_merged_with(
        self, store: Repository
    ) -> None:
        one, two, three, four = notes(store, "one", "two", "three", "four")
        do(store, Amend(ME, one, importance=0.9), 11)
        do(store, Amend(ME, four, importance=0.9), 11)
        done = dream(store, 10, merged=((one, two), (three, four)))
        assert (done.left, done.count) == ((one, three), 0)
        assert [memory(store, id_).superseded_at for id_ in (one, two, three, four)] == [None] * 4

    def test_a_relation_comes_back_by_undoing_after_one_end_was_restored_by_hand(
        self, store: Repository
    ) -> None:
        for first in (0, 1):
            names = (f"Ada {first}", f"Bob {first}")
            ends = [do(store, PutEntity(ME, NewEntity(name))).ids[0] for name in names]
            do(store, Relate(ME, NewRelation(*names, "knows")))
            done = dream(store, 10, pruned=tuple(ends))
            do(store, Restore(ME, ends[first]), 20)
            with store.read() as view:
                assert relations_of(view, [ends[0]]) == []
            assert do(store, UndoDream(ME, done.ids[0]), 30).left == (ends[first],)
            with store.read() as view:
                assert [each.target_name for each in relations_of(view, [ends[0]])] == [names[1]]

    @pytest.mark.parametrize("fate", ["revised", "superseded", "forgotten"])
    def test_who_was_merged_stays_so_where_the_survivor_says_something_else_since(
        self, store: Repository, fate: str
    ) -> None:
        tea, again, coffee = notes(store, "Ada drinks tea", "Ada drinks the tea", "Ada drinks coffee")
        do(store, Amend(ME, again, tags=("Green",)))
        done = dream(store, 10, merged=((again, tea),))
        match fate:
            case "revised":
                do(store, Amend(ME, tea, text="Ada drinks juice"), 20)
            case "superseded":
                do(store, Supersede(ME, (tea,), coffee), 20)
            case _:
                do(store, Forget(ME, ids=(tea,)), 20)
        undone = do(store, UndoDream(ME, done.ids[0]), 30)
        assert (undone.left, undone.count) == ((again,), 0)
        assert memory(store, again).superseded_by == tea
        assert (memory(store, tea).duplicates, memory(store, tea).tags) == (1, ("Green",))

    def test_of_one_that_was_purged_the_survivor_keeps_what_it_took_over(self, store: Repository) -> None:
        tea, again = notes(store, "Ada drinks tea", "Ada drinks the tea")
        record_usage(store, tea)
        record_usage(store, again, second=5)
        done = dream(store, 10, merged=((again, tea),))
        do(store, Forget(ME, ids=(again,)), 20)
        do(store, Purge(at(30)), 40)
        assert do(store, UndoDream(ME, done.ids[0]), 50).left == (again,)
        assert memory(store, tea).duplicates == 1
        with store.read() as view:
            assert ranking_facts(MemoryRows(view), [tea], "", None, us(50)).access_count.tolist() == [2]

    def test_an_error_does_not_come_back_where_its_correction_was_corrected(self, store: Repository) -> None:
        copy, right, newest = notes(store, "Ada: in Rome", "Ada is in Oslo", "Ada is in Bergen")
        ada = put_ada(store, "in Rome")
        wrong = ada.added[0].id
        done = dream(store, 10, corrected=((copy, right),), corrected_observations=((wrong, right),))
        do(store, Supersede(ME, (right,), newest), 20)
        undone = do(store, UndoDream(ME, done.ids[0]), 30)
        assert (undone.left, undone.count) == ((copy, ada.ids[0]), 0)
        assert memory(store, copy).superseded_by == right
        assert memory(store, ada.ids[0]).in_force == ()

    def test_a_merged_observation_is_not_put_back_where_the_other_was_removed(
        self, store: Repository
    ) -> None:
        ada = put_ada(store, "likes tea", "tea!")
        tea, repeat = (added.id for added in ada.added)
        done = dream(store, 10, merged_observations=((repeat, tea),))
        do(store, RemoveObservations(ME, "Ada", ("likes tea",)), 20)
        assert do(store, UndoDream(ME, done.ids[0]), 30).left == ada.ids
        assert memory(store, ada.ids[0]).in_force == ()

    def test_an_observation_that_was_said_again_since_is_there_once(self, store: Repository) -> None:
        ada = put_ada(store, "likes tea", "tea!")
        tea, repeat = (added.id for added in ada.added)
        done = dream(store, 10, merged_observations=((repeat, tea),))
        do(store, AddObservations(ME, "Ada", (NewObservation("tea!"),)), 20)
        assert do(store, UndoDream(ME, done.ids[0]), 30).left == ada.ids
        assert [each.content for each in memory(store, ada.ids[0]).in_force] == ["likes tea", "tea!"]

    def test_an_older_observation_that_was_restored_by_hand_has_no_twin_either(
        self, store: Repository
    ) -> None:
        ada = put_ada(store, "likes tea", "tea!")
        older, newer = (added.id for added in ada.added)
        do(store, FlagSimilar("observation", newer, older, 0.9))
        dream(store, 10, merged_observations=((older, newer),))
        do(store, RestoreObservation(ME, older), 20)
        assert read_state(store, 30).twins == ()

    def test_an_observation_that_was_restored_is_known_to_have_been_corrected(
        self, store: Repository
    ) -> None:
        ada = put_ada(store, "is Bob")
        wrong = ada.added[0].id
        (right,) = notes(store, "Ada is Ada")
        dream(store, 10, corrected_observations=((wrong, right),))
        do(store, RestoreObservation(ME, wrong), 20)
        (back,) = memory(store, ada.ids[0]).in_force
        assert (back.content, back.corrected_by, back.superseded_at) == ("is Bob", right, None)

    def test_observations_are_retired_in_favour_of_one_another_or_of_a_memory(
        self, store: Repository
    ) -> None:
        ada = put_ada(store, "likes tea", "tea!", "is Bob")
        tea, repeat, wrong = (added.id for added in ada.added)
        (right,) = notes(store, "Ada is Ada")
        before = memory(store, ada.ids[0])
        done = dream(
            store, 10, merged_observations=((repeat, tea),), corrected_observations=((wrong, right),)
        )
        assert [each.content for each in memory(store, ada.ids[0]).in_force] == ["likes tea"]
        assert words(store, "Bob") == []
        assert do(store, UndoDream(ME, done.ids[0]), 20).left == ()
        assert memory(store, ada.ids[0]) == before
        assert words(store, "Bob") == [ada.ids[0]]

    def test_corrections_are_told_with_what_corrects_them(self, store: Repository) -> None:
        wrong, copy, right = notes(store, "Ada is in Rome", "Ada: in Rome", "Ada is in Oslo")
        do(store, Supersede(ME, (wrong,), right), 5)
        with store.read() as view:
            assert list(corrections(view, scope_id(view, ME), 10)) == [(wrong, right)]
            assert list(corrections(view, scope_id(view, YOU), 10)) == []
        done = dream(store, 10, corrected=((copy, right),))
        assert memory(store, copy).superseded_by == right
        with store.read() as view:
            assert list(corrections(view, scope_id(view, ME), 10)) == [(copy, right), (wrong, right)]
            assert list(corrections(view, scope_id(view, ME), 1)) == [(copy, right)]
        do(store, UndoDream(ME, done.ids[0]), 20)
        assert memory(store, copy).superseded_at is None

    def test_links_are_told_from_both_ends_while_both_are_in_force(self, store: Repository) -> None:
        one, two, three = notes(store, "one", "two", "three")
        done = dream(store, 10, links=((one, two, 0, 3), (two, three, 0, 5)))
        with store.read() as view:
            assert list(links_of(view, [two])) == [(two, one, 3), (two, three, 5)]
            assert list(links_of(view, [one, three])) == [(one, two, 3), (three, two, 5)]
        assert read_state(store).linked == {(one, two): 3, (two, three): 5}
        firmer = dream(store, 20, links=((one, two, 3, 4), (two, three, 1, 9)))
        with store.read() as view:
            assert list(links_of(view, [two])) == [(two, one, 4), (two, three, 5)]
        do(store, UndoDream(ME, firmer.ids[0]), 30)
        with store.read() as view:
            assert list(links_of(view, [one])) == [(one, two, 3)]
        do(store, Forget(ME, ids=(three,)))
        with store.read() as view:
            assert list(links_of(view, [two])) == [(two, one, 3)]
        do(store, Restore(ME, three))
        do(store, UndoDream(ME, done.ids[0]), 40)
        with store.read() as view:
            assert list(links_of(view, [one, two, three])) == []

    def test_dreams_are_listed_newest_first_with_their_journal(self, store: Repository) -> None:
        (one,) = notes(store, "one")
        first = do(store, CommitDream(ME, 7, ("place", "link"), '{"memories": 1}'), 10).ids[0]
        second = dream(store, 20, field_changes=(FieldChanges("depth", (one,), (2,), (3,)),)).ids[0]
        with store.read() as view:
            records = dream_records(view, scope_id(view, ME), 10)
            assert [each.id for each in records] == [second, first]
            assert (records[1].at, records[1].phases) == (at(10), ("place", "link"))
            assert (records[1].report, records[1].undone_at) == ({"memories": 1}, None)
            assert [each.id for each in dream_records(view, scope_id(view, ME), 1)] == [second]
            assert dream_records(view, scope_id(view, YOU), 10) == []
            journal = dream_journal(view, scope_id(view, ME), second)
            assert journal is not None
            assert journal["lived"] == [{"field": "depth", "ids": [one], "before": [2], "after": [3]}]
            assert dream_journal(view, scope_id(view, YOU), second) is None
            assert dream_journal(view, scope_id(view, ME), 99) is None
        do(store, UndoDream(ME, second), 30)
        with store.read() as view:
            assert [each.undone_at for each in dream_records(view, scope_id(view, ME), 10)] == [at(30), None]

    # Leases

    def test_a_lease_is_one_holders_until_its_time_is_over(self, store: Repository) -> None:
        assert do(store, TakeLease("dream", "one", 60)).created
        with store.read() as view:
            assert lease(view, "dream") == ("one", at(60))
            assert lease(view, "other") is None
        with pytest.raises(Conflict, match="try again"):
            do(store, TakeLease("dream", "two", 60), 59)
        assert not do(store, TakeLease("dream", "one", 60), 59).created  # extended
        with pytest.raises(Conflict):
            do(store, TakeLease("dream", "two", 60), 118)
        assert do(store, TakeLease("dream", "two", 60), 119).created
        with store.read() as view:
            assert lease(view, "dream") == ("two", at(179))
        # Only the holder can drop it.
        assert do(store, DropLease("dream", "one")).count == 0
        with pytest.raises(Conflict):
            do(store, TakeLease("dream", "one", 60), 120)
        assert do(store, DropLease("dream", "two")).count == 1
        assert do(store, TakeLease("dream", "one", 60), 120).created

    def test_a_dream_whose_lease_was_taken_over_writes_nothing(self, store: Repository) -> None:
        (one,) = notes(store, "one")
        do(store, TakeLease("dream", "slow", 60))
        do(store, TakeLease("dream", "quick", 60), 61)
        lived = (FieldChanges("strength", (one,), (1.0,), (0.5,)),)
        with pytest.raises(Conflict, match="nothing was changed"):
            dream(store, 62, field_changes=lived, holder="slow")
        assert memory(store, one).strength == 1.0
        with store.read() as view:
            assert dream_records(view, scope_id(view, ME), 10) == []
        assert dream(store, 63, field_changes=lived, holder="quick").count == 1
