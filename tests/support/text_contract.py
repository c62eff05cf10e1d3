"""The contract of every store for notes, messages, corrections and the past, through the port only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from store_contract import (
    BLUE,
    GREEN,
    ME,
    RED,
    TINY,
    YOU,
    WholeStore,
    at,
    colour,
    do,
    embed,
    entity,
    facts,
    ids_by_name,
    in_force,
    memory,
    near,
    one,
    put,
    words,
)

from recollect.domain.changes import (
    AddObservations,
    Amend,
    FlagSimilar,
    Forget,
    NewObservation,
    NewText,
    Outcome,
    Purge,
    PutText,
    PutVectors,
    RemoveObservations,
    Restore,
    RestoreObservation,
    Supersede,
    UseModel,
)
from recollect.domain.errors import Conflict, InvalidInput, NotFound, RecollectError
from recollect.domain.numbers import pack_vector
from recollect.domain.records import Filter, Kind, Model, Scope, Session, memory_at
from recollect.domain.tables import IN_FORCE, Equals, OneOf
from recollect.ranking.candidates import NEVER
from recollect.ranking.factors import microseconds
from recollect.search.candidates import Search
from recollect.search.entities import entities_containing
from recollect.search.rows import ids_superseded_by, memories_by_id, scope_id
from recollect.search.texts import (
    all_scopes,
    last_positions,
    memory_page,
    passages_by_id,
    passages_of,
    pending_passages,
    sessions_of,
    store_counts,
    turns_of,
)

if TYPE_CHECKING:
    from recollect.domain.changes import Change
    from recollect.domain.records import Memory
    from recollect.stores.port import Vector
    from recollect.write.repository import Repository

NOTES = frozenset({Kind.NOTE})
TALK = frozenset({Kind.MESSAGE})


def put_text(
    store: Repository, text: str, second: float = 0, kind: Kind = Kind.NOTE, scope: Scope = ME, **fields: Any
) -> int:
    return one(store, PutText(scope, NewText(kind, text, **fields)), second).ids[0]


def put_message(
    store: Repository, text: str, session: str, second: float = 0, scope: Scope = ME, **fields: Any
) -> int:
    return put_text(store, text, second, Kind.MESSAGE, scope, session=session, **fields)


def corrected(store: Repository, *wrong: int, by: int | str, second: float = 60) -> int:
    """Supersede a text, and return the id of the correction."""
    right = by if isinstance(by, int) else NewText(Kind.NOTE, by)
    return one(store, Supersede(ME, wrong, right), second).ids[0]


def as_of(second: float, **fields: Any) -> Filter:
    return Filter(as_of=at(second), **fields)


def pages(store: Repository, where: Filter | None = None) -> list[int]:
    with store.read() as view:
        return [each.id for each in memory_page(view, where or Filter(), 0, 1_000)]


def ids_near(store: Repository, query: Vector, where: Filter | None = None) -> list[int]:
    return [found.id for found in near(store, query, 100, where)]


def red(store: Repository, where: Filter) -> set[int]:
    """The memories that word search finds for red; vector search and a page must find the same."""
    found = set(words(store, "red", where=where))
    assert set(ids_near(store, RED, where)) == found == set(pages(store, where))
    return found


def mentioning(store: Repository, entity_id: int, limit: int = 100) -> list[int]:
    """Return the current texts that mention an entity, newest first."""
    with store.read() as view:
        texts = [id_ for (id_,) in view.rows("mention", ("memory_id",), (Equals("entity_id", entity_id),))]
        in_force = (OneOf("id", texts), *IN_FORCE)
        return [id_ for (id_,) in view.rows("memory", ("id",), in_force, descending=True, limit=limit)]


def turns(
    store: Repository, session: str, first: int = 1, last: int = 100, scope: Scope = ME
) -> list[Memory]:
    with store.read() as view:
        return list(turns_of(view, scope_id(view, scope), session, first, last))


def sessions(store: Repository, scope: Scope = ME) -> list[Session]:
    with store.read() as view:
        return list(sessions_of(view, scope_id(view, scope)))


def last_position(store: Repository, session: str, scope: Scope = ME) -> int:
    with store.read() as view:
        return last_positions(view, scope_id(view, scope), [session]).get(session, 0)


def superseded_ids(store: Repository, id_: int) -> list[int]:
    with store.read() as view:
        return list(ids_superseded_by(view, id_))


def everything(store: Repository) -> list[Memory]:
    with store.read() as view:
        return list(memory_page(view, None, 0, 10_000))


NAMED = {
    "Ada": ("I met Ada yesterday", "ADA!", "ada's hat", "a letter (Ada) to nobody"),
    "José": ("jose and maria",),
    "Jose": ("JOSÉ y María",),
    "Ada Lovelace": ("ada\n  lovelace wrote",),
    "C++": ("I write C++ now",),
    "C": ("I write C, mostly",),
    ".NET": ("a .net library",),
    "@ada": ("ask @ada about it",),
    "Node.js": ("we use node.js.",),
    "O'Brien": ("O'Brien's house",),
    "3M": ("made by 3m",),
    "Will": ("ask Will about it",),
    "May": ("May said so",),
    "東京": ("東京の天気", "私は東京都に住む"),
    "京都": ("私は京都に住む",),
    "猫": ("黒い猫がいる",),
    "Толстой": ("читал толстой вчера",),
}
NOT_NAMED = {
    "Ada": ("Canada is large, and Adam is small", "ada_lovelace.py"),
    "Ada Lovelace": ("Ada wrote to Lovelace",),
    "C": ("I write C++ and C# now",),
    "Will": ("you will see",),
    "May": ("you may go",),
    "東京": ("京都の天気",),
}


def _named_or_not() -> list[tuple[str, str, bool]]:
    tables = ((NAMED, True), (NOT_NAMED, False))
    return [(name, text, is_) for table, is_ in tables for name, texts in table.items() for text in texts]


class TextContract(WholeStore):
    # Twins and repeats

    @pytest.mark.parametrize(
        "other", ["Ada moved to Malaga in May.", "Ada moved, to Málaga.", "Bob moved to Málaga.", "?!"]
    )
    def test_a_note_of_other_words_or_inner_marks_is_another(self, store: Repository, other: str) -> None:
        first = put_text(store, "Ada moved to Málaga.")
        assert put_text(store, other) != first

    def test_a_repeat_with_an_earlier_time_does_not_turn_the_clock_back(self, store: Repository) -> None:
        first = put_text(store, "Tea is green", 50)
        put_text(store, "Tea is green", 20)
        assert (memory(store, first).updated_at, memory(store, first).duplicates) == (at(50), 1)

    def test_what_is_gone_or_retired_or_elsewhere_has_no_twin(self, store: Repository) -> None:
        forgotten = put_text(store, "Tea is green")
        do(store, Forget(ME, (forgotten,)))
        retired = put_text(store, "Tea is green")
        corrected(store, retired, by="Tea is black")
        elsewhere = put_text(store, "Tea is green", scope=YOU)
        assert len({forgotten, retired, elsewhere, put_text(store, "Tea is green")}) == 4

    def test_an_updated_note_has_the_twins_of_its_new_words_alone(self, store: Repository) -> None:
        note = put_text(store, "Tea is green")
        do(store, Amend(ME, note, text="Tea is black"))
        assert put_text(store, "tea is BLACK") == note
        assert put_text(store, "Tea is green") != note

    def test_a_message_brought_again_by_its_source_is_not_stored_twice(self, store: Repository) -> None:
        first = put_message(store, "hello", "s", source="export:1")
        before = memory(store, first)
        # Whatever the export says now.
        assert one(
            store, PutText(ME, NewText(Kind.MESSAGE, "hello!", session="s", source="export:1")), 9
        ) == Outcome(ids=(first,))
        assert memory(store, first) == before
        others = {
            put_message(store, "hello", "s", source="export:2"),
            put_message(store, "hello", "t", source="export:1"),
            put_message(store, "hello", "s", source="export:1", scope=YOU),
            put_message(store, "hello", "s"),
            put_message(store, "hello", "s"),
        }
        assert len(others | {first}) == 6

    def test_a_message_that_was_forgotten_does_not_return_with_its_source(self, store: Repository) -> None:
        first = put_message(store, "my secret", "s", source="export:1")
        do(store, Forget(ME, (first,)))
        assert put_message(store, "my secret", "s", source="export:1") == first
        assert words(store, "secret") == []

    # Conversations

    def test_positions_count_within_a_session_of_a_scope(self, store: Repository) -> None:
        ids = [
            put_message(store, "a", "s"),
            put_message(store, "b", "t"),
            put_message(store, "c", "s"),
            put_message(store, "d", "s", scope=YOU),
            put_message(store, "e", "s", scope=Scope("", "agent")),
            put_message(store, "f", "s"),
        ]
        assert [memory(store, id_).position for id_ in ids] == [1, 1, 2, 1, 1, 3]
        assert (last_position(store, "s"), last_position(store, "t"), last_position(store, "u")) == (3, 1, 0)
        assert (last_position(store, "s", YOU), last_position(store, "s", Scope("nobody"))) == (1, 0)
        # A note of a session takes no position.
        assert memory(store, put_text(store, "g", session="s")).position is None
        assert (last_position(store, "s"), memory(store, put_message(store, "h", "s")).position) == (3, 4)
        assert [turn.text for turn in turns(store, "s")] == ["a", "c", "f", "h"]

    def test_turns_are_read_in_order_between_two_positions(self, store: Repository) -> None:
        for text in "abcde":
            put_message(store, text, "s")
        put_message(store, "x", "s", scope=YOU)
        put_message(store, "y", "t")
        assert [turn.text for turn in turns(store, "s", 2, 4)] == ["b", "c", "d"]
        assert [turn.text for turn in turns(store, "s", 4, 2)] == []
        assert [turn.text for turn in turns(store, "s", 5, 9)] == ["e"]
        assert [turn.text for turn in turns(store, "s", scope=YOU)] == ["x"]
        assert turns(store, "nothing") == []

    def test_sessions_are_told_by_their_turns_the_newest_first(self, store: Repository) -> None:
        put_message(store, "one", "old", 10, speaker="Ada", role="user")
        put_message(store, "two", "old", 20, role="assistant")
        put_message(store, "three", "old", 30, speaker="Ada", role="user")
        put_message(store, "four", "new", 40)
        put_message(store, "elsewhere", "other", 50, scope=YOU)
        gone = put_message(store, "gone", "gone", 60)
        do(store, Forget(ME, (gone,)), second=61)
        old = Session("old", 3, at(10), at(30), ("Ada", "assistant"))
        assert sessions(store) == [Session("new", 1, at(40), at(40), ()), old]

    def test_a_turn_keeps_the_time_it_was_said(self, store: Repository) -> None:
        first = put_message(store, "a", "s", 100, created_at=at(-500))
        assert (memory(store, first).created_at, memory(store, first).undated) == (at(-500), False)
        assert sessions(store)[0].first_at == at(-500)
        # A turn without a known time has none for ranking.
        known, unknown = put_message(store, "b", "s", 5), put_message(store, "c", "s", 5, undated=True)
        assert (memory(store, unknown).undated, memory(store, unknown).created_at) == (True, at(5))
        assert facts(store, known, unknown).created_at.tolist() == [microseconds(at(5)), NEVER]

    def test_a_note_knows_the_message_it_was_drawn_from(self, store: Repository) -> None:
        message = put_message(store, "I moved to Rome, by the way", "s")
        note = put_text(store, "Ada lives in Rome", drawn_from=message)
        other = put_text(store, "Rome is old")
        assert memory(store, note).drawn_from == message
        assert facts(store, message, note, other).origin.tolist() == [message, message, other]
        elsewhere, before = put_message(store, "hello", "s", scope=YOU), everything(store)
        for wrong in (note, elsewhere, 10_000):
            with pytest.raises(NotFound, match=f"message {wrong}"):
                put_text(store, "drawn", drawn_from=wrong)
        assert everything(store) == before
        do(store, Forget(ME, (message,)), second=1)
        assert memory(store, note).drawn_from == message
        # A purged message leaves only its note.
        do(store, Purge(at(2)), second=3)
        assert memory(store, note).drawn_from is None
        assert facts(store, note).origin.tolist() == [note]

    def test_a_near_repeat_is_flagged_until_the_note_says_something_else(self, store: Repository) -> None:
        old, new = put_text(store, "Ada likes tea"), put_text(store, "Ada really likes tea")
        assert one(store, FlagSimilar("memory", new, old, 0.91)).count == 1
        assert (memory(store, new).similar_to, memory(store, new).similarity) == (old, 0.91)
        assert memory(store, old).similar_to is None
        assert one(store, FlagSimilar("memory", new, 10_000, 0.99)).count == 0
        assert memory(store, new).similar_to == old
        do(store, Amend(ME, new, text="Ada prefers coffee"))
        assert (memory(store, new).similar_to, memory(store, new).similarity) == (None, None)

    # Tags

    def test_only_what_has_all_the_tags_is_found_by_words_meaning_and_page(self, store: Repository) -> None:
        both = put_text(store, "red tea", tags=("Kitchen", "Año"))
        one_tag = put_text(store, "red soup", tags=("kitchen",))
        message = put_message(store, "red talk", "s", tags=("año", "KITCHEN", "more"))
        bare = put_text(store, "red wall")
        embed(store, colour)
        for tags, expected in (
            (["kitchen"], {both, one_tag, message}),
            (["KITCHEN", "ano"], {both, message}),
            (["kitchen", "Kitchen"], {both, one_tag, message}),
            (["more", "año"], {message}),
            (["kitchens"], set()),
            ([], {both, one_tag, message, bare}),
        ):
            assert red(store, Filter(tags=frozenset(tags))) == expected

    def test_only_texts_of_a_category_a_speaker_and_about_an_entity_are_found(
        self, store: Repository
    ) -> None:
        ada = put(store, "Ada")
        bob = put(store, "Bob")
        plain = put_text(store, "red wall")
        thought = put_text(store, "red thought", category="reflection", speaker="Eve", about=("Ada",))
        other = put_text(store, "red idea of Bob", category="reflection", speaker="eve")
        message = put_message(store, "red talk", "s", category="reflection", speaker="Eve", about=("Bob",))
        embed(store, colour)
        for where, expected in (
            (Filter(category="reflection"), {thought, other, message}),
            (Filter(category="Reflection"), set()),
            (Filter(speaker="Eve"), {thought, message}),
            (Filter(about=ada), {thought}),
            # Given as `about`, or named in the text.
            (Filter(about=bob), {other, message}),
            (Filter(category="reflection", speaker="Eve", kinds=NOTES), {thought}),
            (Filter(category="reflection", about=bob, speaker="eve"), {other}),
            (Filter(owner="you", category="reflection"), set()),
        ):
            assert red(store, where) == expected
        assert plain in words(store, "red")

    def test_an_entity_takes_no_tags_and_no_text(self, store: Repository) -> None:
        ada = put(store, "Ada")
        before = memory(store, ada)
        for change in (Amend(ME, ada, tags=("a",)), Amend(ME, ada, text="tea")):
            with pytest.raises(InvalidInput, match="An entity has no"):
                do(store, change, second=5)
        assert memory(store, ada) == before

    # Sessions and time as filters

    def test_messages_are_those_of_the_current_session_and_all_else_is_of_any(
        self, store: Repository
    ) -> None:
        ada = put(store, "Ada", "red hair")
        note, note_of_t = put_text(store, "red note"), put_text(store, "red leaf", session="t")
        here, there = put_message(store, "red here", "s"), put_message(store, "red there", "t")
        embed(store, colour)

        for where, expected in (
            (Filter(current="s"), {ada, note, note_of_t, here}),
            (Filter(current="none such"), {ada, note, note_of_t}),
            (Filter(current=None), {ada, note, note_of_t, here, there}),
            (Filter(current="s", kinds=TALK), {here}),
            (Filter(current="s", kinds=NOTES), {note, note_of_t}),
            (Filter(current="s", session="t"), {note_of_t}),
            (Filter(current="t", session="t"), {note_of_t, there}),
        ):
            assert red(store, where) == expected

    def test_a_span_begins_with_its_first_moment_and_ends_before_its_last(self, store: Repository) -> None:
        put(store, "Ada", NewObservation("red hair", happened_at=at(15)), second=15)
        ids = [put_text(store, f"red {second}", second) for second in (9, 10, 15, 20, 21)]
        told = put_text(store, "red told later", 100, happened_at=at(12))
        early = put_text(store, "red told at the time of another", 15, happened_at=at(500))
        embed(store, colour)
        where = Filter(span=(microseconds(at(10)), microseconds(at(20))))
        assert red(store, where) == {ids[1], ids[2], told}
        assert early in words(store, "red")

    # Revisions

    def test_the_passage_that_speaks_for_a_former_text_is_the_former_text(self, store: Repository) -> None:
        note = put_text(store, "red wine", 10)
        embed(store, colour)
        do(store, Amend(ME, note, text="green tea"), second=20)
        with store.read() as view:
            assert [passage.text for passage in pending_passages(view, TINY, 0, 10)] == ["green tea"]
            assert (store_counts(view).passages, store_counts(view).due) == (1, 1)
        embed(store, colour)
        (hit,) = near(store, RED, 10, as_of(15))
        assert hit.passage is not None
        with store.read() as view:
            (passage,) = passages_by_id(view, [hit.passage])
            (present,) = passages_of(view, [note])
        assert (passage.memory, passage.text, present.text) == (note, "red wine", "green tea")
        # After it is forgotten and restored, it has its last text.
        do(store, Forget(ME, (note,)), second=30)
        do(store, Restore(ME, note), second=40)
        assert (words(store, "wine"), words(store, "tea")) == ([], [note])
        assert [hit.score for hit in near(store, GREEN)] == pytest.approx([1])

    def test_a_long_text_is_kept_whole_through_a_revision(self, store: Repository) -> None:
        long = "\n".join(f"Day {day}: the tea was {'red' if day == 90 else 'cold'}." for day in range(100))
        note = put_text(store, long, 10)
        embed(store, colour)
        do(store, Amend(ME, note, text="short"), second=20)
        embed(store, colour)
        assert memory(store, note).former[0].text == long
        assert near(store, RED, 10, as_of(15))[0].score == pytest.approx(1)
        assert words(store, "Day 99", where=as_of(15)) == [note]

    # Corrections

    def test_a_superseded_note_is_gone_and_its_correction_found(self, store: Repository) -> None:
        wrong = put_text(store, "red: Ada works at Google", 10)
        other = put_text(store, "red: Bob works at Google", 10)
        outcome = one(store, Supersede(ME, (wrong,), NewText(Kind.NOTE, "green: Ada works at Microsoft")), 60)
        right = outcome.ids[0]
        assert outcome == Outcome(ids=(right, wrong), created=True, count=1)
        embed(store, colour)
        retired = memory(store, wrong)
        assert (retired.superseded_by, retired.superseded_at, retired.deleted_at) == (right, at(60), None)
        assert words(store, "Google") == [other]
        assert wrong not in words(store, "Ada works at Google")
        assert wrong not in ids_near(store, RED)
        assert sorted(pages(store)) == [other, right]
        assert (superseded_ids(store, right), superseded_ids(store, other)) == ([wrong], [])

    def test_a_superseded_note_weighs_nothing_on_the_others(self, store: Repository) -> None:
        def score() -> list[float]:
            with store.read() as view:
                return [hit.score for hit in Search(view, Filter()).by_words("green tea", 10, "plain")]

        put_text(store, "green tea is hot")
        put_text(store, "a wall")
        before = score()
        wrong = put_text(store, "green green tea tea")
        assert score() != before
        wall = put_text(store, "another wall altogether")
        do(store, Forget(ME, (wall,)))
        do(store, Supersede(ME, (wrong,), put_text(store, "a wall")))
        assert score() == before

    def test_pages_follow_the_moment_too(self, store: Repository) -> None:
        wrong = put_text(store, "Ada works at Google", 10)
        right = corrected(store, wrong, by="Ada works at Microsoft", second=60)
        gone = put_text(store, "tea", 70)
        do(store, Forget(ME, (gone,)), second=80)
        assert pages(store) == [right]
        assert pages(store, Filter(superseded=True)) == [wrong, right]
        assert pages(store, Filter(deleted=True)) == [wrong, right, gone]
        seen = {9: [], 59: [wrong], 60: [right], 79: [right, gone], 80: [right]}
        assert {second: pages(store, as_of(second)) for second in seen} == seen

    def test_what_cannot_be_superseded_is_refused_and_nothing_is_written(self, store: Repository) -> None:
        live, other = put_text(store, "Ada is in Rome"), put_text(store, "Ada is in Oslo")
        retired = put_text(store, "Ada is in Paris")
        later = corrected(store, retired, by="Ada is in London")
        gone = put_text(store, "Ada is in Bern")
        do(store, Forget(ME, (gone,)))
        theirs = put_text(store, "Ada is in Lima", scope=YOU)
        new = NewText(Kind.NOTE, "Ada is in Madrid")
        twin = NewText(Kind.NOTE, "ada is in rome.")
        before = everything(store)
        refused: list[tuple[Supersede, type[RecollectError], str]] = [
            (Supersede(ME, (live,), live), InvalidInput, "supersede itself"),
            (Supersede(ME, (live,), twin), InvalidInput, "supersede itself"),
            (Supersede(ME, (10_000,), new), NotFound, "no memory 10000"),
            (Supersede(ME, (live,), 10_000), NotFound, "no memory 10000"),
            (Supersede(ME, (gone,), new), NotFound, f"no memory {gone}"),
            (Supersede(ME, (live,), gone), NotFound, f"no memory {gone}"),
            (Supersede(ME, (theirs,), new), NotFound, f"no memory {theirs}"),
            (Supersede(ME, (live,), theirs), NotFound, f"no memory {theirs}"),
            (Supersede(ME, (live, retired), new), Conflict, f"by memory {later}"),
            (Supersede(ME, (live,), retired), Conflict, f"use memory {later} instead"),
            (Supersede(ME, (live, other), new, observations=(10_000,)), NotFound, "observation 10000"),
            (Supersede(ME, (live,), NewText(Kind.NOTE, "new", about=("Nobody",))), NotFound, "'Nobody'"),
        ]
        for change, error, message in refused:
            with pytest.raises(error, match=message):
                do(store, change, second=90)
        assert everything(store) == before
        assert set(words(store, "Ada Madrid")) == {live, other, later}

    def test_a_superseded_note_may_still_be_worded_anew(self, store: Repository) -> None:
        wrong = put_text(store, "red wine", 10)
        corrected(store, wrong, by="green tea", second=20)
        do(store, Amend(ME, wrong, text="blue milk"), second=30)
        assert words(store, "wine milk") == []
        assert words(store, "milk", where=Filter(superseded=True)) == [wrong]
        assert words(store, "wine", where=Filter(superseded=True)) == []
        assert words(store, "wine", where=as_of(15)) == [wrong]
        do(store, Restore(ME, wrong), second=40)
        assert words(store, "milk") == [wrong]

    def test_a_correction_retires_observations_with_it(self, store: Repository) -> None:
        wrong = put_text(store, "Ada works at Google", 10)
        outcome = one(store, entity("Ada", "works at Google", "likes tea"), 10)
        ada, observation = outcome.ids[0], outcome.added[0].id
        change = Supersede(
            ME, (wrong,), NewText(Kind.NOTE, "Ada works at Microsoft"), observations=(observation,)
        )
        done = one(store, change, 60)
        assert (done.ids[1:], done.count) == ((wrong,), 2)
        retired = memory(store, ada).observations[0]
        replaced = (retired.superseded_at, retired.superseded_by, retired.corrected_by)
        assert replaced == (at(60), None, done.ids[0])
        assert (in_force(store, ada), memory(store, ada).updated_at) == (["likes tea"], at(60))
        assert words(store, "Google") == []
        assert set(words(store, "Google", where=as_of(59))) == {wrong, ada}
        assert set(words(store, "Google", where=Filter(superseded=True))) == {wrong, ada}
        with pytest.raises(NotFound, match=f"observation {observation}"):
            do(store, Supersede(ME, (), done.ids[0], observations=(observation,)))
        theirs = one(store, entity("Ada", "works at Google", scope=YOU))
        with pytest.raises(NotFound, match="observation"):
            do(store, Supersede(ME, (), done.ids[0], observations=(theirs.added[0].id,)))
        assert in_force(store, theirs.ids[0]) == ["works at Google"]

    def test_a_superseded_entity_rests_with_all_it_gains_until_it_returns(self, store: Repository) -> None:
        ada = put(store, "Ada", "red hair")
        right = put(store, "Ada Lovelace", "green hair")
        embed(store, colour)
        do(store, Supersede(ME, (ada,), right), second=10)
        added = one(store, AddObservations(ME, "Ada", (NewObservation("red shoes"),)), 20)
        embed(store, colour)
        do(store, RemoveObservations(ME, "Ada", ("red shoes",)), second=21)
        do(store, RestoreObservation(ME, added.added[0].id), second=22)
        assert list(store.verify()) == []
        assert (words(store, "red"), ids_near(store, RED)) == ([], [right])
        with store.read() as view:
            assert list(entities_containing(view, "ada", 10, Filter())) == [right]
        do(store, Restore(ME, ada), second=30)
        embed(store, colour)
        assert words(store, "shoes") == [ada]
        assert ids_near(store, RED) == [ada, right]

    def test_purging_a_correction_leaves_what_it_retired_retired(self, store: Repository) -> None:
        wrong = put_text(store, "Ada works at Google")
        outcome = one(store, entity("Ada", "works at Google"))
        right = one(
            store,
            Supersede(ME, (wrong,), NewText(Kind.NOTE, "Microsoft"), observations=(outcome.added[0].id,)),
            10,
        ).ids[0]
        do(store, Forget(ME, (right,)), second=20)
        do(store, Purge(at(30)), second=40)
        retired = memory(store, wrong)
        assert (retired.superseded_by, retired.superseded_at) == (None, at(10))
        (observation,) = memory(store, outcome.ids[0]).observations
        assert (observation.corrected_by, observation.superseded_at) == (None, at(10))
        assert words(store, "Google") == []
        with pytest.raises(Conflict, match="restore it first"):
            do(store, Supersede(ME, (wrong,), NewText(Kind.NOTE, "other")))
        do(store, Restore(ME, wrong))
        assert words(store, "Google") == [wrong]

    # The past of entities

    def test_an_entity_reads_as_it_stood(self, store: Repository) -> None:
        ada = put(store, "Ada", "lives in Paris", second=10)
        do(
            store,
            AddObservations(ME, "Ada", (NewObservation("lives in Rome", supersedes="lives in Paris"),)),
            second=20,
        )
        do(store, AddObservations(ME, "Ada", (NewObservation("likes tea"),)), second=30)
        do(store, RemoveObservations(ME, "Ada", ("likes tea",)), second=40)

        def words_seen(second: float) -> set[str]:
            asked, where = ("Paris", "Rome", "tea"), as_of(second)
            told = {word for word in asked if words(store, word, where=where) == [ada]}
            with store.read() as view:
                inside = {word for word in asked if list(entities_containing(view, word, 9, where)) == [ada]}
            read = {one.content for one in memory_at(memory(store, ada), at(second)).in_force}
            assert told == inside == {content.split()[-1] for content in read}
            return told

        assert words(store, "Ada", where=as_of(9)) == []
        assert [words(store, "Ada", where=as_of(second)) for second in (10, 25, 45)] == [[ada]] * 3
        for last_word, seconds in (("Paris", (10, 19)), ("Rome", (20, 29, 40, 99)), ("Rome tea", (30, 39))):
            assert [words_seen(second) for second in seconds] == [set(last_word.split())] * len(seconds)

    def test_the_meaning_of_an_entity_is_that_of_the_time(self, store: Repository) -> None:
        ada = put(store, "Ada", "red hat", second=10)
        embed(store, colour)
        do(store, AddObservations(ME, "Ada", (NewObservation("green hat", supersedes="red hat"),)), second=20)
        embed(store, colour)

        def best(query: Vector, second: float) -> float:
            (hit,) = near(store, query, 10, as_of(second))
            assert hit.id == ada
            return hit.score

        # Its name alone resembles each colour: 1 / √3.
        assert [best(RED, 15), best(GREEN, 15)] == pytest.approx([1, 3**-0.5], abs=1e-6)
        assert [best(RED, 20), best(GREEN, 20)] == pytest.approx([3**-0.5, 1], abs=1e-6)
        assert near(store, RED, 10, as_of(9)) == []

    def test_a_moment_without_a_zone_is_refused(self, store: Repository) -> None:
        put_text(store, "red wall")
        where = Filter(as_of=at(5).replace(tzinfo=None))
        with pytest.raises(InvalidInput, match="time zone"):
            words(store, "red", where=where)

    def test_the_past_is_filtered_like_the_present(self, store: Repository) -> None:
        note = put_text(store, "red note", 10, tags=("kitchen",), category="leaves")
        here = put_message(store, "red here", "s", 10, tags=("kitchen",))
        there = put_message(store, "red there", "t", 10)
        ada = put(store, "Ada", "red hat", second=10)
        theirs = put_text(store, "red theirs", 10, scope=YOU)
        embed(store, colour)
        retired = corrected(store, note, here, there, by="green", second=20)
        do(store, RemoveObservations(ME, "Ada", ("red hat",)), second=20)
        embed(store, colour)
        for fields, expected in (
            ({}, {note, here, there, ada}),
            ({"kinds": NOTES}, {note}),
            ({"kinds": TALK}, {here, there}),
            ({"kinds": frozenset({Kind.ENTITY})}, {ada}),
            ({"tags": frozenset({"KITCHEN"})}, {note, here}),
            ({"session": "s"}, {here}),
            ({"category": "leaves"}, {note}),
            ({"current": "t"}, {note, there, ada}),
            ({"span": (microseconds(at(10)), microseconds(at(11)))}, {note, here, there}),
            ({"span": (microseconds(at(11)), microseconds(at(99)))}, set()),
            ({"owner": "you"}, {theirs}),
        ):
            assert red(store, as_of(15, **fields)) == expected
        assert set(words(store, "green")) == {retired}

    def test_the_moment_counts_the_best_of_past_and_present_together(self, store: Repository) -> None:
        changed = put_text(store, "tea tea tea", 10)
        same = [put_text(store, f"tea number {number} with many other words", 10) for number in range(5)]
        do(store, Amend(ME, changed, text="coffee"), second=20)
        assert words(store, "tea", k=3, where=as_of(15)) == [changed, *same[:2]]
        assert words(store, "tea", k=3) == same[:3]

    def test_letters_of_scripts_without_spaces_are_found_in_the_past(self, store: Repository) -> None:
        note = put_text(store, "東京都の天気は晴れ", 10)
        other = put_text(store, "кот сидит на стуле", 10)
        third = put_text(store, "токарь и котёл", 10)
        corrected(store, note, other, third, by="nothing of it", second=20)
        assert words(store, "京都", where=as_of(15)) == [note]
        assert words(store, "気", where=as_of(15)) == [note]
        assert words(store, "кот", where=as_of(15)) == words(store, "кот", where=Filter(superseded=True))
        assert words(store, "кот", where=as_of(15))[0] == other
        assert words(store, "тока", where=as_of(15)) == [third]

    # Mentions

    @pytest.mark.parametrize(("name", "text", "is_named"), _named_or_not())
    def test_a_name_is_found_as_whole_words_whichever_came_first(
        self, store: Repository, name: str, text: str, is_named: bool
    ) -> None:
        earlier = put_text(store, text)
        in_talk = put_message(store, text, "s")
        named_ = put(store, name)
        later = put_text(store, f"{text} (again)")
        expected = (named_,) if is_named else ()
        for id_ in (earlier, in_talk, later):
            assert (memory(store, id_).mentions, memory(store, id_).about) == (expected, ())
        assert mentioning(store, named_) == ([later, in_talk, earlier] if is_named else [])

    def test_of_names_that_differ_in_case_the_one_written_so_is_meant(self, store: Repository) -> None:
        upper, lower = put(store, "Ada"), put(store, "ada")
        assert memory(store, put_text(store, "I met Ada")).mentions == (upper,)
        assert memory(store, put_text(store, "I met ada in Canada")).mentions == (lower,)
        assert memory(store, put_text(store, "I saw ADA in Canada")).mentions == ()

    def test_what_a_text_is_about_is_told_beside_what_it_names(self, store: Repository) -> None:
        ada, bob = put(store, "Ada"), put(store, "Bob")
        note = put_text(store, "She met Bob", about=("ada",))
        assert (memory(store, note).mentions, memory(store, note).about) == ((ada, bob), (ada,))
        do(store, Amend(ME, note, text="She met nobody"))
        assert (memory(store, note).mentions, memory(store, note).about) == ((ada,), (ada,))
        assert (mentioning(store, ada), mentioning(store, bob)) == ([note], [])

    def test_an_ambiguous_name_of_what_it_is_about_is_refused_with_the_candidates(
        self, store: Repository
    ) -> None:
        put(store, "Ada")
        put(store, "ada")
        with pytest.raises(NotFound, match="'Ada' or 'ada'"):
            put_text(store, "She met him", about=("ADA",))

    def test_a_forgotten_entity_is_not_spoken_of_until_it_returns(self, store: Repository) -> None:
        ada, bob = put(store, "Ada"), put(store, "Bob")
        note = put_text(store, "Ada met Bob")
        told = put_text(store, "They met", about=("Ada",))
        do(store, Forget(ME, (ada,)))
        meanwhile = put_text(store, "Where is Ada?")
        assert memory(store, note).mentions == (bob,)
        assert (memory(store, told).mentions, memory(store, told).about) == ((), ())
        assert memory(store, meanwhile).mentions == ()
        do(store, Restore(ME, ada))
        assert memory(store, note).mentions == (ada, bob)
        assert memory(store, told).about == (ada,)
        assert memory(store, meanwhile).mentions == (ada,)

    @pytest.mark.parametrize("others", [True, False])
    def test_what_a_text_no_longer_says_does_not_return_with_its_entity(
        self, store: Repository, others: bool
    ) -> None:
        ada = put(store, "Ada")
        if others:
            put(store, "Somebody")
        note = put_text(store, "I met Ada")
        do(store, Forget(ME, (ada,)))
        do(store, Amend(ME, note, text="I met nobody"))
        do(store, Restore(ME, ada))
        assert memory(store, note).mentions == ()

    def test_the_text_that_returns_knows_the_names_made_meanwhile(self, store: Repository) -> None:
        forgotten, retired = put_text(store, "Ada met Bob"), put_text(store, "Bob met Ada")
        do(store, Forget(ME, (forgotten,)))
        corrected(store, retired, by="nobody met")
        ada = put(store, "Ada")
        assert mentioning(store, ada) == []
        do(store, Restore(ME, forgotten), Restore(ME, retired))
        assert mentioning(store, ada) == [retired, forgotten]

    def test_a_namesake_of_a_purged_entity_starts_with_the_texts_that_name_it(
        self, store: Repository
    ) -> None:
        put(store, "Ada")
        note = put_text(store, "I met Ada")
        told = put_text(store, "I met her", about=("Ada",))
        do(store, Forget(ME, names=("Ada",)), second=1)
        do(store, Purge(at(2)), second=3)
        assert memory(store, told).mentions == ()
        again = put(store, "Ada")
        assert (memory(store, note).mentions, memory(store, told).mentions) == ((again,), ())

    # Purging

    def test_purging_a_note_takes_all_that_was_its(self, store: Repository) -> None:
        ada = put(store, "Ada")
        note = put_text(store, "red Ada", 1, tags=("kitchen",), about=("Ada",))
        twin = put_text(store, "red Ada and more", 1)
        embed(store, colour)
        do(store, FlagSimilar("memory", twin, note, 0.9), Amend(ME, note, text="green Ada"), second=5)
        embed(store, colour)
        do(store, Forget(ME, (note,)), second=10)
        assert list(store.verify()) == []
        assert one(store, Purge(at(11)), 12).count == 1
        assert list(store.verify()) == []
        with store.read() as view:
            assert note not in memories_by_id(view, [note])
            assert store_counts(view).passages == 2  # Ada's name, and the twin
        assert memory(store, twin).similar_to is None
        assert mentioning(store, ada) == [twin]
        assert words(store, "red", where=as_of(2)) == [twin]
        assert ids_near(store, RED, as_of(2)) == [twin, ada]

    def test_purging_an_entity_leaves_its_texts(self, store: Repository) -> None:
        note = put_text(store, "I met Ada", about=())
        do(store, entity("Ada"), Forget(ME, names=("Ada",)))
        do(store, Purge(at(1)), second=2)
        assert (memory(store, note).mentions, words(store, "Ada")) == ((), [note])
        # A superseded memory is not purged unless it is forgotten.
        corrected(store, note, by="green", second=3)
        assert one(store, Purge(at(100)), 100).count == 0
        assert memory(store, note).text == "I met Ada"

    # Batches, keys, repair

    def test_keep_going_leaves_out_texts_and_corrections_that_fail(self, store: Repository) -> None:
        wrong = put_text(store, "Ada is in Paris")
        changes: list[Change] = [
            PutText(ME, NewText(Kind.NOTE, "lost", about=("Nobody",))),
            Supersede(ME, (wrong, 10_000), NewText(Kind.NOTE, "Ada is in Rome")),
            entity("Ada"),
            PutText(ME, NewText(Kind.NOTE, "Ada is well")),
            Supersede(ME, (wrong,), NewText(Kind.NOTE, "Ada is in Oslo")),
            Amend(ME, 10_000, text="lost"),
            PutText(Scope("new"), NewText(Kind.NOTE, "lost", drawn_from=1)),
            PutText(Scope("newer"), NewText(Kind.NOTE, "kept")),
        ]
        outcomes = store.apply(changes, at=at(5), keep_going=True).outcomes
        assert [index for index, outcome in enumerate(outcomes) if outcome.error is None] == [2, 3, 4, 7]
        ada = ids_by_name(store, "Ada")["Ada"]
        well, oslo = outcomes[3].ids[0], outcomes[4].ids[0]
        assert mentioning(store, ada) == [oslo, well]
        assert words(store, "Rome Paris lost") == []
        assert memory(store, wrong).superseded_by == oslo
        with store.read() as view:
            assert Scope("new") not in all_scopes(view)
            assert len(Search(view, Filter("newer")).by_words("kept", 9)) == 1

    def test_thousands_of_texts_go_in_at_once_and_out_again(self, store: Repository) -> None:
        names = [f"Name{number:03}" for number in range(50)]
        put_all = do(
            store,
            *(PutText(ME, NewText(Kind.NOTE, f"{names[at_ % 50]} did {at_}")) for at_ in range(1_100)),
            *(entity(name) for name in names),
            *(
                PutText(ME, NewText(Kind.MESSAGE, f"{names[at_ % 50]} said {at_}", session="s"))
                for at_ in range(1_100)
            ),
        )
        ids = [outcome.ids[0] for outcome in put_all.outcomes]
        notes, entities, messages = ids[:1_100], ids[1_100:1_150], ids[1_150:]
        assert mentioning(store, entities[7], 1_000) == sorted(
            [*notes[7::50], *messages[7::50]], reverse=True
        )
        assert last_position(store, "s") == 1_100
        assert [turn.id for turn in turns(store, "s", 1_099, 1_100)] == messages[-2:]
        right = corrected(store, *notes, by="nobody did anything", second=60)
        assert one(store, Forget(ME, tuple(messages)), 61).count == 1_100
        assert mentioning(store, entities[7]) == []
        assert len(superseded_ids(store, right)) == 1_100
        assert sorted(words(store, "Name007", 5_000, as_of(59))) == sorted(
            [entities[7], *notes[7::50], *messages[7::50]]
        )

    def test_repairing_what_is_whole_keeps_past_and_present(self, store: Repository) -> None:
        put(store, "Ada", "likes red tea")
        note = put_text(store, "red Ada", 10, tags=("a",))
        wrong = put_text(store, "red wall", 10)
        embed(store, colour)
        do(store, Amend(ME, note, text="green Ada"), second=20)
        corrected(store, wrong, by="green wall", second=20)
        embed(store, colour)
        before = everything(store)

        def answers() -> list[object]:
            with store.read() as view:
                return [
                    [Search(view, where).by_words("red tea Ada", 10), Search(view, where).by_meaning(RED, 10)]
                    for where in (Filter(), as_of(15), Filter(superseded=True))
                ]

        answered = answers()
        assert list(store.repair()) == []
        assert everything(store) == before
        assert answers() == answered

    def test_another_model_reads_what_is_live(self, store: Repository) -> None:
        note = put_text(store, "red", 10)
        embed(store, colour)
        do(store, Amend(ME, note, text="green"), second=20)
        other = Model("other", 3)
        with store.read() as view:
            assert [passage.text for passage in pending_passages(view, other, 0, 10)] == ["green"]
            (passage,) = pending_passages(view, other, 0, 10)
        do(store, PutVectors(other, ((passage.id, pack_vector(BLUE)),)), UseModel(other))
        assert [hit.score for hit in near(store, BLUE)] == pytest.approx([1])
        assert ids_near(store, RED, as_of(15)) == []
