"""Notes through the façade: storing, repeating, linking, near-twins, long texts, updates, and batches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from recollect.admin import Internals
from recollect.domain.changes import NewText
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.limits import MOST_ROWS
from recollect.domain.records import Kind, Memory, RecallOptions, Status
from recollect.memories.browse import BrowseFilter
from recollect.models.registry import availability
from recollect.ranking.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conftest import FixedClock, MakeEngine

    from recollect.engine import Engine

ARCTIC = availability("arctic-memory")
NAIVE = datetime(2026, 3, 1)  # noqa: DTZ001  # what is tested
MARCH_2020 = datetime(2020, 3, 5, 9, tzinfo=UTC)


pytestmark = pytest.mark.usefixtures("nothing_is_out_of_step")


def stored_memory(engine: Engine, id_: int) -> Memory:
    memory = engine.get(id_)
    assert memory is not None
    return memory


def texts(engine: Engine, query: str, **options: Any) -> list[str]:
    return [hit.memory.text or hit.memory.name for hit in engine.search(query, **options).hits]


def notes(engine: Engine) -> int:
    return engine.counts().notes


# One note


def test_a_note_keeps_what_was_said_about_it(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities(["Ada"])
    done = engine.remember(
        "The kettle leaks.",
        importance=0.9,
        category="household",
        happened_at=MARCH_2020,
        tags=["kitchen", "to do", "kitchen"],
        about=["Ada"],
        source="a letter",
    )
    assert (done.created, done.text, done.category) == (True, "The kettle leaks.", "household")
    note = stored_memory(engine, done.id)
    assert note.kind is Kind.NOTE
    assert (note.importance, note.category, note.source) == (0.9, "household", "a letter")
    assert (note.happened_at, note.created_at, note.updated_at) == (MARCH_2020, clock(), clock())
    assert set(note.tags) == {"kitchen", "to do"}
    assert (note.revisions, note.duplicates, note.undated) == (0, 0, False)
    bare = engine.remember("  Ça va?\n\n\tno — e\u0301té\u200d 東京 🎉  ")
    note = stored_memory(engine, bare.id)
    assert note.text == "  Ça va?\n\n\tno — e\u0301té\u200d 東京 🎉  "
    assert (note.importance, note.category, note.happened_at, note.tags) == (0.5, None, None, ())
    assert (bare.mentions, bare.similar) == ((), None)
    there = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=9)))
    note = stored_memory(engine, engine.remember("new year in Tokyo", happened_at=there).id)
    assert note.happened_at == datetime(2025, 12, 31, 16, tzinfo=UTC)


def test_a_note_is_found_at_once_by_every_profile(engine: Engine) -> None:
    engine.remember("The kettle leaks.")
    for profile in PROFILES:
        assert texts(engine, "which kettle leaks", profile=profile) == ["The kettle leaks."], profile


def test_what_cannot_be_a_note_is_named_and_leaves_nothing(engine: Engine, subtests: pytest.Subtests) -> None:
    wrong_notes: list[tuple[dict[str, Any], str]] = [
        ({"text": ""}, "empty"),
        ({"text": " \u200d\n"}, "empty"),
        ({"text": "a\0b"}, "NUL"),
        ({"text": "\ud800"}, "surrogate"),
        ({"text": 7}, "must be text, not int"),
        ({"text": "x" * 1_000_001}, "split it"),
        *(({"importance": wrong}, "from 0 to 1") for wrong in (1.01, -0.1, float("nan"), True, "high")),
        ({"happened_at": NAIVE}, "without a time zone"),
        ({"happened_at": "2026-03-01"}, "must be a datetime, not str"),
        ({"tags": 7}, "come as a list"),
        ({"tags": [" "]}, "tag is empty"),
        ({"about": 7}, "come as a list"),
        ({"category": 7}, "must be text"),
        ({"source": "x" * 1_001}, "split it"),
    ]
    for wrong, told in wrong_notes:
        with subtests.test(told=told, wrong=str(wrong)[:40]), pytest.raises(InvalidInput, match=told):
            engine.remember(**{"text": "tea", **wrong})
    assert notes(engine) == 0


# Repeats


def test_the_same_words_again_raise_a_count_instead_of_making_a_twin(
    engine: Engine, clock: FixedClock
) -> None:
    first = engine.remember("The kettle leaks.")
    born = clock()
    spelt = "The kettle leaks.", "the KETTLE  leaks", " The kettlé leaks!!", "«The kettle leaks»"
    for times, again in enumerate((*spelt, "The\nkettle leaks."), start=1):
        clock.tick(3600)
        second = engine.remember(again)
        assert (second.id, second.created, second.text) == (first.id, False, "The kettle leaks.")
        note = stored_memory(engine, first.id)
        assert (note.duplicates, note.created_at, note.updated_at) == (times, born, clock())
    assert notes(engine) == 1
    assert texts(engine, "kettle") == ["The kettle leaks."]


def test_a_repeat_adds_its_tags_and_entities_and_keeps_the_rest(engine: Engine) -> None:
    engine.create_entities(["Ada", "Bob"])
    first = engine.remember("It leaks.", tags=["kitchen"], about=["Ada"], importance=0.9, category="house")
    again = engine.remember("It leaks.", tags=["Kitchen", "old"], about=["Bob"], importance=0.1, category="x")
    assert set(again.mentions) == {"Ada", "Bob"}
    note = stored_memory(engine, first.id)
    assert set(note.tags) == {"kitchen", "old"}
    assert (note.importance, note.category) == (0.9, "house")


def test_the_same_words_of_two_speakers_are_two_notes(engine: Engine) -> None:
    said = [{"text": "I like tea.", "speaker": speaker} for speaker in ("Ada", "Bob", "Ada")]
    ada, bob, again = engine.remember_many(said).notes
    assert [ada.created, bob.created, again.created] == [True, True, False]
    assert again.id == ada.id != bob.id
    assert [ada.similar, bob.similar] == [None, None]


# Mentions


def test_a_note_links_to_the_entities_it_names_and_makes_none(engine: Engine) -> None:
    engine.create_entities(["Ada", "New York", "York", "Node.js", "東京"])
    done = engine.remember("ada moved from new york to 東京タワー and writes node.js; Bob stayed")
    # `York` is only part of a longer name, and `Bob` is no entity yet.
    assert set(done.mentions) == {"Ada", "New York", "Node.js", "東京"}
    assert engine.counts().entities == 5
    assert not stored_memory(engine, done.id).about


def test_a_first_name_links_to_the_only_person_who_has_it(engine: Engine) -> None:
    engine.create_entities(["Ana Souza", "Anaheim"])
    for text in (
        "Ana called",
        "Yesterday Ana called",
        "I lost Ana's umbrella",
        "Ayer vino Ana con Luis",
        "It is for Ana.",
        "doña Ana llamó",
        "The keys: Ana has them",
    ):
        assert engine.remember(text).mentions == ("Ana Souza",), text
    # In another name, or without its capital, it is no mention.
    for text in (
        *("Ana Pereira called", "Santa Ana is hot", "Look at Doctor Maria Ana", "so ana called"),
        "Anabel called",
    ):
        assert engine.remember(text).mentions == (), text
    told = engine.add_messages("s", [{"speaker": "Ana", "content": "I moved to Lisbon"}], extract=False)
    assert len(stored_memory(engine, told.ids[0]).mentions) == 1
    engine.create_entities(["Ana"])
    assert engine.remember("Ana called today").mentions == ("Ana",)


def test_only_what_may_be_a_person_goes_by_its_first_name(engine: Engine) -> None:
    types = {"Ana Souza": "boat", "Ana Street": "unknown", "Ana lettuce": "unknown", "New Ana": "person"}
    for number, (name, type_) in enumerate(types.items()):
        own = engine.scoped(f"owner {number}")
        own.create_entities([{"name": name, "type": type_}])
        assert own.remember("Ana and New shoes").mentions == (), name


def test_a_first_name_that_two_have_means_neither_and_former_links_stay(engine: Engine) -> None:
    engine.create_entities(["Ana Souza"])
    before = engine.remember("Ana called, and then Ana Pereira did")
    (souza,) = stored_memory(engine, before.id).mentions
    engine.create_entities(["Ana Pereira"])
    # It names the new one in full, and keeps what it was linked to.
    assert len(stored_memory(engine, before.id).mentions) == 2
    assert souza in stored_memory(engine, before.id).mentions
    assert engine.remember("Ana called again").mentions == ()
    assert engine.remember("Ana Souza called too").mentions == ("Ana Souza",)


def test_a_person_who_comes_later_is_linked_to_the_notes_with_their_first_name(engine: Engine) -> None:
    first = engine.remember("Ana called")
    engine.create_entities(["Ana Souza"])
    assert len(stored_memory(engine, first.id).mentions) == 1
    second = engine.remember("Luis and Ana called")
    engine.create_entities(["Ana Pereira"])
    assert stored_memory(engine, second.id).mentions == stored_memory(engine, first.id).mentions


def test_about_names_entities_that_the_text_does_not(engine: Engine) -> None:
    engine.create_entities(["Ada"])
    done = engine.remember("She likes tea", about=["ada"])
    assert done.mentions == ("Ada",)
    assert stored_memory(engine, done.id).about == stored_memory(engine, done.id).mentions
    # It makes no entity, and nothing is written without one of this scope.
    other = engine.scoped("someone")
    with pytest.raises(NotFound, match="no entity named 'Ada'; create it first"):
        other.remember("She likes tea", about=["Ada"])
    assert other.remember("Ada likes tea").mentions == ()
    assert (notes(engine), engine.counts().entities) == (2, 1)


# Near-twins


@pytest.mark.parametrize("model", ["hashing", "none"])
def test_a_note_that_holds_another_is_flagged_and_both_are_kept(make_engine: MakeEngine, model: str) -> None:
    engine = make_engine(model=model)
    first = engine.remember("The red kettle leaks")
    second = engine.remember(
        "The red kettle leaks, says Ada, who found water on the kitchen floor this morning"
    )
    assert second.created
    assert second.similar is not None
    assert (second.similar.id, second.similar.text) == (first.id, "The red kettle leaks")
    assert 0.7 <= second.similar.similarity <= 1
    note = stored_memory(engine, second.id)
    assert (note.similar_to, note.similarity) == (first.id, second.similar.similarity)
    unlike = engine.remember("Taxes are due in April")
    assert (unlike.similar, stored_memory(engine, unlike.id).similar_to) == (None, None)
    assert engine.scoped("someone").remember("The red kettle leaks onto the kitchen floor").similar is None
    assert notes(engine) == 4


@pytest.mark.skipif(not ARCTIC.ready, reason=ARCTIC.reason)
def test_a_near_twin_in_other_words_is_flagged_by_its_meaning(make_engine: MakeEngine) -> None:
    engine = make_engine(model="arctic-memory")
    first = engine.remember("Ada moved to Berlin in spring")
    again = engine.remember("In spring Ada relocated to Berlin")
    other = engine.remember("The invoice of the plumber is overdue")
    assert again.similar is not None
    assert again.similar.id == first.id
    assert other.similar is None


# Long texts


def story(about: str) -> str:
    filler = " ".join(f"On day {day} the weather was mild and the walk was long." for day in range(40))
    return f"{filler} {about} {filler}"


def test_a_long_text_comes_back_as_one_memory_with_the_passage_that_matched(engine: Engine) -> None:
    said = story("The zeppelin landed beside the observatory.")
    done = engine.remember(said)
    engine.remember("a short one about the weather")
    for profile in PROFILES:
        hits = engine.search("zeppelin observatory", profile=profile).hits
        (hit,) = [hit for hit in hits if hit.memory.id == done.id]
        assert hit.memory.text == said
        assert hit.piece is not None
        assert "The zeppelin landed beside the observatory." in hit.piece
        assert hit.piece in said
        assert len(hit.piece) < len(said) / 2
    short = engine.search("short").hits[0]
    assert (short.piece, short.passage) == (None, "a short one about the weather")


# Updates


def test_updating_the_text_keeps_the_former_one_as_a_revision(engine: Engine, clock: FixedClock) -> None:
    id_ = engine.remember("The kettle leaks.").id
    first = clock()
    second = clock.tick(60)
    engine.update(id_, text="The kettle whistles.")
    third = clock.tick(60)
    note = engine.update(id_, text="The kettle is gone.")
    assert note.text == "The kettle is gone."
    assert [(old.text, old.since, old.until) for old in note.former] == [
        ("The kettle leaks.", first, second),
        ("The kettle whistles.", second, third),
    ]
    assert (note.revisions, note.created_at, note.updated_at) == (2, first, third)
    (hit,) = engine.search("kettle leaks").hits
    assert hit.passage == "The kettle is gone."
    assert engine.update(id_, text="The kettle is gone.").revisions == 2


def test_without_a_model_words_find_the_present_text_alone(make_engine: MakeEngine) -> None:
    engine = make_engine(model="none")
    batch = engine.remember_many(["The kettle leaks."])
    assert batch.note is not None
    assert "words alone" in batch.note
    assert texts(engine, "kettle") == ["The kettle leaks."]
    engine.update(batch.notes[0].id, text="The pot whistles.")
    assert texts(engine, "kettle") == []
    assert texts(engine, "pot") == ["The pot whistles."]


def test_an_update_changes_what_is_given_and_leaves_the_rest(engine: Engine) -> None:
    id_ = engine.remember("tea", importance=0.2, category="drinks", tags=["a"], happened_at=MARCH_2020).id
    note = engine.update(id_, importance=0.8)
    assert (note.importance, note.category, note.happened_at) == (0.8, "drinks", MARCH_2020)
    assert note.tags == ("a",)
    note = engine.update(id_, tags=["b", "c"], status="Archivada", pinned=True, category="leaves")
    assert (note.status, note.pinned, note.category) == (Status.ARCHIVED, True, "leaves")
    assert (set(note.tags), texts(engine, "tea", tags=["a"])) == ({"b", "c"}, [])
    assert (note.importance, note.text, note.revisions) == (0.8, "tea", 0)
    assert engine.update(id_, tags=[]).tags == ()
    note = engine.update(id_, category="", happened_at="unknown", importance=0.9)
    assert (note.category, note.happened_at, note.importance) == (None, None, 0.9)


def test_an_update_finds_anew_who_is_mentioned_and_what_is_alike(engine: Engine) -> None:
    engine.create_entities(["Ada", "Bob"])
    first = engine.remember("The red kettle leaks")
    id_ = engine.remember("Ada likes tea").id
    note = engine.update(
        id_, text="The red kettle leaks, says Bob, on the whole kitchen floor since this morning"
    )
    assert [stored_memory(engine, entity).name for entity in note.mentions] == ["Bob"]
    assert note.similar_to == first.id


def test_an_update_of_nothing_or_of_nobody_says_so(engine: Engine) -> None:
    id_ = engine.remember("tea").id
    with pytest.raises(InvalidInput, match="Say what to update"):
        engine.update(id_)
    with pytest.raises(NotFound, match="no memory 99"):
        engine.update(99, importance=0.1)
    with pytest.raises(NotFound):
        engine.scoped("someone").update(id_, text="coffee")
    entity = engine.create_entities(["Ada"]).entities[0].id
    with pytest.raises(InvalidInput, match="no text to update"):
        engine.update(entity, text="Bob")
    assert stored_memory(engine, entity).revisions == 0
    assert stored_memory(engine, id_).text == "tea"


# Tags


def test_tags_narrow_a_search_to_what_has_all_of_them(engine: Engine) -> None:
    engine.remember("tea one", tags=["Kitchen"])
    engine.remember("tea two", tags=["kitchen", "Año"])
    engine.remember("tea three", category="leaves")
    assert set(texts(engine, "tea", tags=["KITCHEN"])) == {"tea one", "tea two"}
    assert texts(engine, "tea", tags=["kitchen", "ano"]) == ["tea two"]
    assert texts(engine, "tea", tags=["garden"]) == []
    found = engine.recall("tea", options=RecallOptions(category="leaves"), limit=5).hits
    assert [hit.memory.text for hit in found] == ["tea three"]


# Batches


def test_many_notes_are_stored_in_order_from_texts_mappings_and_records(engine: Engine) -> None:
    batch = engine.remember_many(
        note for note in ("one tea", {"text": "two teas", "importance": 1}, NewText(Kind.NOTE, "three teas"))
    )
    assert [note.text for note in batch.notes] == ["one tea", "two teas", "three teas"]
    assert [note.id for note in batch.notes] == sorted(note.id for note in batch.notes)
    assert batch.rejected == ()
    assert stored_memory(engine, batch.notes[1].id).importance == 1.0


def test_one_wrong_row_stops_the_batch_and_nothing_is_written(engine: Engine) -> None:
    wrong_rows: list[tuple[Any, str]] = [
        ({"text": "x", "mood": "good"}, "A note has no 'mood'; it has: "),
        ({"text": "x", "about": ["Ada"]}, "There is no entity named 'Ada'"),
        (7, "A note is text or a mapping, not int"),
    ]
    for row, told in wrong_rows:
        with pytest.raises((InvalidInput, NotFound), match=rf"Row 1: {told}.* Nothing was written\."):
            engine.remember_many(["tea", row])
        assert notes(engine) == 0


def test_keeping_going_leaves_out_the_wrong_rows_and_names_them(engine: Engine) -> None:
    batch = engine.remember_many(
        ["tea", "", "pot", {"text": "x", "about": ["Ada"]}, {"text": "y", "importance": 2}, "cup"],
        keep_going=True,
    )
    assert [note.text for note in batch.notes] == ["tea", "pot", "cup"]
    assert [row.index for row in batch.rejected] == [1, 3, 4]
    assert "empty" in batch.rejected[0].reason
    assert "no entity named 'Ada'" in batch.rejected[1].reason
    assert notes(engine) == 3


@pytest.mark.slow
def test_a_batch_of_any_kind_has_a_limit_that_its_refusal_states(engine: Engine) -> None:
    too_many = [f"n{each}" for each in range(MOST_ROWS + 1)]
    many: dict[str, Callable[[Iterable[Any]], object]] = {
        "notes": engine.remember_many,
        "entities": engine.create_entities,
        "relations": engine.graph.create_relations,
        "messages": lambda given: engine.add_messages("today", given),
    }
    for name, write in many.items():
        with pytest.raises(InvalidInput, match="at most 100,000") as refused:
            write(too_many)
        assert "Nothing was written" in str(refused.value), name
    # One that does not know its own length is read no further than that.
    endless = (str(each) for each in count())
    with pytest.raises(InvalidInput, match="at most 100,000 rows"):
        engine.remember_many(endless)
    assert next(endless) == str(MOST_ROWS + 1)
    for names in (engine.forget, engine.get_many):
        with pytest.raises(InvalidInput, match="at most 100,000"):
            names(range(1, MOST_ROWS + 2))
    with pytest.raises(InvalidInput, match="Tags: a call takes at most 100,000"):
        engine.remember("tea", tags=too_many)
    assert Internals(engine).count_memories() == {}


def test_a_batch_is_a_list(engine: Engine) -> None:
    for wrong in ("tea", {"text": "tea"}, 7):
        with pytest.raises(InvalidInput, match="come as a list"):
            engine.remember_many(wrong)  # type: ignore[arg-type]


def test_the_same_key_is_answered_and_not_repeated(engine: Engine) -> None:
    first = engine.remember("tea", key="k")
    again = engine.remember("tea", key="k")
    assert again == first
    assert stored_memory(engine, first.id).duplicates == 0
    with pytest.raises(Conflict, match="used for other changes"):
        engine.remember("coffee", key="k")
    many = engine.remember_many(["one", "two"], key="many")
    assert engine.remember_many(["one", "two"], key="many") == many
    assert notes(engine) == 3


def test_a_key_older_than_the_purge_of_what_it_stored_says_so(engine: Engine, clock: FixedClock) -> None:
    engine.forget(
        [engine.remember("tea", key="k").id, *(n.id for n in engine.remember_many(["a"], key="l").notes)]
    )
    clock.tick(1)
    engine.purge(clock())
    with pytest.raises(NotFound, match="The note of key 'k' has been purged"):
        engine.remember("tea", key="k")
    assert engine.remember_many(["a"], key="l").notes == ()
    assert notes(engine) == 0


def test_a_key_belongs_to_its_scope(engine: Engine) -> None:
    """Two agents that count their calls use the same keys."""
    others = [engine.scoped("someone"), engine.scoped("", "an agent"), engine.scoped("some", "one")]
    for number, other in enumerate(others):
        assert other.remember(f"secret {number}", key="1").created
        other.remember_many(["tea"], key="2")
        other.create_entities(["Ada"], key="3")
        other.add_messages("talk", [{"content": "hello"}], key="4")
    assert engine.remember("mine", key="1").text == "mine"
    assert engine.remember_many(["tea"], key="2").notes[0].created
    assert engine.create_entities(["Ada"], key="3").entities[0].created
    assert engine.add_messages("talk", [{"content": "hello"}], key="4").created == 1


def test_the_same_words_of_another_day_are_another_note(engine: Engine) -> None:
    days = [datetime(2024, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)]
    first, second = (engine.remember("Went to the dentist", happened_at=day) for day in days)
    assert first.id != second.id
    again = engine.remember("Went to the dentist", happened_at=days[0], source="diary")
    assert (again.id, again.created) == (first.id, False)
    assert (stored_memory(engine, first.id).source, stored_memory(engine, first.id).duplicates) == (
        "diary",
        1,
    )


def test_what_is_no_list_of_ids_forgets_nothing(engine: Engine) -> None:
    ids = [engine.remember(f"note number {number}").id for number in range(3)]
    wrong_ids: list[Any] = ["12", True, [True], ["1"]]
    for wrong in wrong_ids:
        with pytest.raises(InvalidInput):
            engine.forget(wrong)
    assert all(stored_memory(engine, id_).deleted_at is None for id_ in ids)


def test_texts_about_an_entity_come_newest_first_and_in_force_alone(engine: Engine) -> None:
    engine.create_entities(["Ada", "Bob"])
    first = engine.remember("Ada has a kettle").id
    wrong = engine.remember("Ada lives in Rome").id
    engine.remember("Bob has a lamp")
    (message,) = engine.add_messages("s", [{"content": "I met Ada"}], extract=False).ids
    right = engine.supersede(wrong, "Ada lives in Oslo").by.id
    kinds = frozenset({Kind.NOTE, Kind.MESSAGE})
    wanted = BrowseFilter(kinds=kinds, entity=Internals(engine).entity_id("ada"))
    assert [memory.id for memory in engine.browse.page(wanted).memories] == [right, message, first]
    assert [memory.id for memory in engine.browse.page(wanted, limit=1).memories] == [right]
    with pytest.raises(NotFound):
        Internals(engine).entity_id("Nobody")
