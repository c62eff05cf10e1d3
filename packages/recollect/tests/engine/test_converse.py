"""Conversations through the façade: turns in order, sessions, neighbours, and notes drawn from them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from recollect.domain.changes import Turn
from recollect.domain.errors import Conflict, ExtractionFailed, InvalidInput, NotFound
from recollect.domain.records import Kind, Memory, Statement
from recollect.engine import Engine
from recollect.models.extractors import Rules
from recollect.ranking.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import FixedClock

    from recollect.stores.port import Extractor

# A Wednesday.
SAID_AT = datetime(2026, 2, 25, 15, 30, tzinfo=UTC)
SAID = ["Hello there", "Good afternoon", "The kettle leaks", "Since when?", "Since Monday"]
ADA, ASSISTANT = {"role": "user", "speaker": "Ada"}, {"role": "assistant"}
TALK = [
    {**(ASSISTANT if minute % 2 else ADA), "content": text, "at": SAID_AT + timedelta(minutes=minute)}
    for minute, text in enumerate(SAID)
]


pytestmark = pytest.mark.usefixtures("nothing_is_out_of_step")


class Telling:
    """An extractor with one prepared answer for each call. After the last one, its server is away."""

    name = "telling"

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)

    def statements(self, messages: Sequence[Memory], context: Sequence[Memory] = ()) -> Sequence[Statement]:
        if not self.answers:
            raise ExtractionFailed("telling at nowhere did not answer.")
        stray = Statement(999, "about a message that was not given", "misc")
        return [stray, *(Statement(messages[0].id, text, "misc") for text in self.answers.pop(0))]


def drawing(engine: Engine, extractor: Extractor) -> Engine:
    return Engine(replace(engine._services, extractor=lambda: extractor))


def in_session(engine: Engine, session: str) -> Engine:
    return Engine(replace(engine._services, session=session))


def stored_memory(engine: Engine, id_: int) -> Memory:
    memory = engine.get(id_)
    assert memory is not None
    return memory


def texts_of(memories: Sequence[Memory]) -> list[str]:
    return [memory.text for memory in memories]


def texts(engine: Engine, query: str, **options: Any) -> set[str]:
    return {hit.memory.text for hit in engine.search(query, limit=50, **options).hits}


# Storing turns


def test_turns_are_stored_in_order_with_who_said_them_and_when(engine: Engine) -> None:
    told = engine.add_messages("monday", TALK)
    assert (told.session, told.created, told.notes, told.rejected, told.note) == ("monday", 5, (), (), None)
    messages = engine.sessions.turns("monday")
    assert [message.id for message in messages] == list(told.ids)
    assert [message.position for message in messages] == [1, 2, 3, 4, 5]
    assert texts_of(messages) == SAID
    assert [(one.role, one.speaker, one.created_at) for one in messages[:2]] == [
        ("user", "Ada", SAID_AT),
        ("assistant", None, SAID_AT + timedelta(minutes=1)),
    ]
    assert {(message.kind, message.session) for message in messages} == {(Kind.MESSAGE, "monday")}
    with pytest.raises(InvalidInput, match="session is empty"):
        engine.add_messages(" ", TALK)
    with pytest.raises(InvalidInput, match="come as a list"):
        engine.add_messages("s", TALK[0])  # type: ignore[arg-type]
    engine.add_messages("new", [{"speaker": "Bob", "content": "hi", "at": SAID_AT + timedelta(days=1)}])
    new, old = engine.sessions.list()
    assert (new.name, new.turns, new.speakers) == ("new", 1, ("Bob",))
    assert (old.name, old.turns, old.speakers) == ("monday", 5, ("Ada", "assistant"))
    assert (old.first_at, old.last_at) == (SAID_AT, SAID_AT + timedelta(minutes=4))


def test_a_turn_without_a_time_is_of_now_and_one_from_elsewhere_is_undated(
    engine: Engine, clock: FixedClock
) -> None:
    told = engine.add_messages("s", [Turn("hello"), Turn("imported", source="a file")])
    now, then = (stored_memory(engine, id_) for id_ in told.ids)
    assert (now.created_at, now.undated) == (clock(), False)
    assert then.undated


def test_a_later_batch_goes_on_where_the_session_ended(engine: Engine) -> None:
    engine.add_messages("a", TALK[:2])
    engine.add_messages("b", TALK[:1])
    engine.add_messages("a", TALK[2:])
    assert [message.position for message in engine.sessions.turns("a")] == [1, 2, 3, 4, 5]
    assert [message.position for message in engine.sessions.turns("b")] == [1]
    assert texts_of(engine.sessions.turns("a", last=2)) == ["Since when?", "Since Monday"]
    assert texts_of(engine.sessions.turns("a", last=99)) == SAID
    for last in (0, -1, 1_001):
        with pytest.raises(InvalidInput, match=f"1 to 1,000, not {last}"):
            engine.sessions.turns("s", last=last)


def test_a_wrong_turn_stops_the_batch_or_is_left_out_and_named(
    engine: Engine, subtests: pytest.Subtests
) -> None:
    wrong_turns: dict[str, Any] = {
        "A message is a mapping with its content, not str": "hello",
        "content of the message is empty": {"content": ""},
        "message is empty": {"role": "user"},
        "A message has no 'mood'": {"content": "x", "mood": "good"},
        "without a time zone": {"content": "x", "at": SAID_AT.replace(tzinfo=None)},
        "must be a datetime": {"content": "x", "at": "today"},
    }
    for told, wrong in wrong_turns.items():
        with subtests.test(told=told):
            rows = [{"content": "first"}, wrong, {"content": "last"}]
            with pytest.raises(InvalidInput, match=rf"Row 1: .*{told}.*Nothing was written\."):
                engine.add_messages(told, rows)
            assert engine.sessions.turns(told) == []
            done = engine.add_messages(told, rows, keep_going=True)
            assert [row.index for row in done.rejected] == [1]
            assert (done.created, texts_of(engine.sessions.turns(told))) == (2, ["first", "last"])


def test_the_same_key_is_answered_and_not_repeated(engine: Engine) -> None:
    first = engine.add_messages("s", TALK, key="k")
    assert engine.add_messages("s", TALK, key="k") == first
    assert len(engine.sessions.turns("s")) == 5
    with pytest.raises(Conflict):
        engine.add_messages("s", TALK[:1], key="k")


# Looking at sessions


def test_a_message_knows_its_neighbours(engine: Engine) -> None:
    told = engine.add_messages("s", TALK)
    engine.add_messages("another", TALK)
    middle = told.ids[2]
    assert [one.id for one in engine.sessions.neighbours(middle, before=1, after=1)] == list(told.ids[1:4])
    assert [one.id for one in engine.sessions.neighbours(middle, before=0, after=0)] == [middle]
    assert [one.id for one in engine.sessions.neighbours(told.ids[0])] == list(told.ids[:3])
    assert [one.id for one in engine.sessions.neighbours(told.ids[4])] == list(told.ids[2:])


def test_a_forgotten_turn_is_passed_over(engine: Engine) -> None:
    told = engine.add_messages("s", TALK)
    engine.forget([told.ids[1]])
    assert [one.id for one in engine.sessions.turns("s")] == [told.ids[0], *told.ids[2:]]
    assert engine.sessions.list()[0].turns == 4
    engine.add_messages("s", [{"content": "more"}])
    assert engine.sessions.turns("s")[-1].position == 6


def test_only_messages_have_neighbours_and_only_in_their_scope(engine: Engine) -> None:
    note = engine.remember("tea").id
    told = engine.add_messages("s", TALK)
    with pytest.raises(InvalidInput, match="not a message of a session"):
        engine.sessions.neighbours(note)
    with pytest.raises(NotFound):
        engine.scoped("someone").sessions.neighbours(told.ids[0])
    engine.scoped("someone").add_messages("short", TALK[:1])
    engine.add_messages("short", TALK)
    assert texts_of(engine.scoped("someone").sessions.turns("short", last=2)) == ["Hello there"]
    assert engine.scoped("someone").sessions.turns("s") == []
    assert [one.turns for one in engine.scoped("someone").sessions.list()] == [1]


# Immediate recall


@pytest.mark.parametrize("profile", PROFILES)
def test_a_current_session_sees_its_own_messages_and_the_notes_and_entities_of_all(
    engine: Engine, profile: str
) -> None:
    engine.add_messages("now", [{"content": "kettle of this talk"}])
    engine.add_messages("before", [{"content": "kettle of the last talk"}])
    engine.remember_many(["kettle in a note", {"text": "kettle noted in a talk", "session": "before"}])
    engine.create_entities([{"name": "kettle", "observations": ["made of steel"]}])
    everywhere = {"kettle in a note", "kettle noted in a talk", ""}
    both = {"kettle of this talk", "kettle of the last talk"}
    assert texts(engine, "kettle", profile=profile, session="now") == everywhere | {"kettle of this talk"}
    assert texts(engine, "kettle", profile=profile) == everywhere | both
    opened = in_session(engine, "before")
    assert texts(opened, "kettle", profile=profile) == everywhere | {"kettle of the last talk"}
    # The argument outranks the session that the memory was opened with.
    assert texts(opened, "kettle", profile=profile, session="now") == everywhere | {"kettle of this talk"}
    assert texts(engine, "kettle", profile=profile, session="nobody's") == everywhere
    assert texts(engine, "kettle", profile=profile, session="now", kinds=["message"]) == {
        "kettle of this talk"
    }


@pytest.mark.parametrize("profile", ["recollect", "cognis"])
def test_the_query_itself_is_dropped_from_its_own_session_alone(engine: Engine, profile: str) -> None:
    for session in ("now", "before"):
        engine.add_messages(session, [{"content": "where is the kettle"}, {"content": "the kettle is here"}])
    assert texts(engine, "where is the kettle", profile=profile, session="now") == {"the kettle is here"}
    engine.remember("where is the kettle")
    both = {"the kettle is here", "where is the kettle"}
    assert texts(engine, "where is the kettle", profile=profile, session="now") == both
    # A memory that was opened in a session takes that one.
    opened = in_session(engine, "before")
    talk = {"kinds": ["message"], "profile": profile}
    assert texts(opened, "where is the kettle", **talk) == {"the kettle is here"}
    assert texts(opened, "where is the kettle", session="now", **talk) == {"the kettle is here"}


# Extracted notes


def test_the_rules_draw_notes_that_point_to_their_messages(engine: Engine) -> None:
    engine.create_entities(["Ada", "Berlin"])
    engine = drawing(engine, Rules())
    told = engine.add_messages(
        "talk",
        [
            {"role": "user", "speaker": "Ada", "content": "Hi! I'm vegan. I live in Berlin.", "at": SAID_AT},
            {"role": "assistant", "content": "I live in the cloud.", "at": SAID_AT},
            {"role": "user", "speaker": "Bob", "content": "We chose Oslo yesterday.", "at": SAID_AT},
        ],
    )
    vegan, berlin, oslo = told.notes
    drawn = ["I'm vegan.", "I live in Berlin.", "We chose Oslo yesterday."]
    assert [(note.text, note.created) for note in told.notes] == [(text, True) for text in drawn]
    for note, place, speaker in ((vegan, 0, "Ada"), (berlin, 0, "Ada"), (oslo, 2, "Bob")):
        memory = stored_memory(engine, note.id)
        assert memory.kind is Kind.NOTE
        assert (memory.drawn_from, memory.speaker) == (told.ids[place], speaker)
        assert (memory.session, memory.created_at) == ("talk", SAID_AT)
        assert memory.category == note.category
    assert vegan.category == "wellness"
    assert set(berlin.mentions) == {"Ada", "Berlin"}
    happened = stored_memory(engine, oslo.id).happened_at
    assert happened is not None
    assert happened.date() == SAID_AT.date() - timedelta(days=1)
    assert told.note is None
    # The note is found from every session, and by the name of the speaker.
    assert texts(engine, "who lives in Berlin", session="now", kinds=["note"]) >= {"I live in Berlin."}
    assert engine.search("Ada Berlin", kinds=["note"]).hits[0].memory.id == berlin.id
    # Drawing again passes over what was drawn.
    assert engine.sessions.extract("talk") == ()
    assert (engine.counts().notes, stored_memory(engine, vegan.id).duplicates) == (3, 0)
    with pytest.raises(InvalidInput, match="no session named 'nowhere'; `sessions` lists"):
        engine.sessions.extract("nowhere")


def test_yesterday_is_told_from_where_the_user_is(engine: Engine) -> None:
    tokyo = timezone(timedelta(hours=9))
    engine = Engine(replace(engine._services, zone=tokyo, extractor=Rules))
    # In Tokyo it is five in the morning of the 26th.
    said_at = datetime(2026, 2, 25, 20, tzinfo=UTC)
    (note,) = engine.add_messages("s", [{"content": "I moved to Oslo yesterday.", "at": said_at}]).notes
    memory = stored_memory(engine, note.id)
    assert memory.happened_at == datetime(2026, 2, 25, tzinfo=tokyo)
    assert memory.created_at == said_at


def test_turns_that_come_one_by_one_leave_the_notes_of_turns_that_come_together(engine: Engine) -> None:
    engine = drawing(engine, Rules())
    talk = [("Ada", "My sister Laura called."), ("Bob", "How is she?"), ("Ada", "She moved to Oslo in May.")]
    told = [engine.add_messages("s", [{"speaker": who, "content": text}]) for who, text in talk]
    (note,) = told[-1].notes
    assert note.text == "My sister Laura moved to Oslo in May."
    assert (stored_memory(engine, note.id).speaker, stored_memory(engine, note.id).drawn_from) == (
        "Ada",
        told[-1].ids[0],
    )
    # All of them together leave nothing more.
    assert engine.sessions.extract("s") == ()


@pytest.mark.parametrize("profile", ["recollect", "cognis", "mnemosyne"])
def test_a_message_and_its_note_are_not_both_shown(engine: Engine, profile: str) -> None:
    engine = drawing(engine, Rules())
    told = engine.add_messages("s", [{"speaker": "Ada", "content": "Hi! How are you? I live in Berlin."}])
    (hit,) = engine.search("I live in Berlin", profile=profile).hits
    assert hit.memory.id in {told.ids[0], told.notes[0].id}


def test_nothing_is_drawn_where_the_caller_says_so_and_later_it_can_be(engine: Engine) -> None:
    engine = drawing(engine, Rules())
    told = engine.add_messages("s", [{"content": "I live in Berlin."}], extract=False)
    assert (told.notes, engine.counts().notes) == ((), 0)
    (note,) = engine.sessions.extract("s")
    assert (note.text, note.created) == ("I live in Berlin.", True)
    assert stored_memory(engine, note.id).drawn_from == told.ids[0]
    # Messages that come again are drawn from, unless they were.
    turns = [{"content": "I live in Rome.", "source": "export:1"}]
    first = engine.add_messages("t", turns, extract=False)
    again = engine.add_messages("t", turns)
    assert (again.ids, again.created) == (first.ids, 0)
    assert [note.text for note in again.notes] == ["I live in Rome."]
    assert engine.add_messages("t", turns).notes == ()


def test_drawing_again_brings_back_nothing_that_was_corrected_or_forgotten(engine: Engine) -> None:
    engine = drawing(engine, Rules())
    told = engine.add_messages(
        "s",
        [
            {"speaker": "Ada", "content": "I live in Berlin."},
            {"speaker": "Ada", "content": "I have a cat. Anna and Boris and Carla and Doris live in Paris."},
        ],
    )
    berlin, *others = told.notes
    done = engine.supersede(berlin.id, "I live in Oslo.")
    assert told.ids[0] in {one.id for one in done.retired}
    engine.forget([note.id for note in others])
    assert engine.sessions.extract("s") == ()
    assert texts(engine, "where does Ada live", kinds=["note"]) == {"I live in Oslo."}


def test_messages_stay_where_the_extractor_fails_and_the_note_says_so(engine: Engine) -> None:
    engine = drawing(engine, Telling())
    told = engine.add_messages("s", [{"speaker": "Ada", "content": "I live in Berlin."}])
    assert (told.created, told.notes) == (1, ())
    assert told.note is not None
    assert "messages are stored" in told.note
    assert "telling at nowhere did not answer" in told.note
    assert texts(engine, "Berlin") == {"I live in Berlin."}
    with pytest.raises(ExtractionFailed):
        engine.sessions.extract("s")
    assert texts_of(engine.sessions.turns("s")) == ["I live in Berlin."]


def test_a_retry_draws_what_the_first_try_could_not(engine: Engine) -> None:
    failed = drawing(engine, Telling()).add_messages("s", [{"content": "I live in Berlin."}], key="k")
    assert failed.note is not None
    again = drawing(engine, Rules()).add_messages("s", [{"content": "I live in Berlin."}], key="k")
    assert (again.ids, [note.text for note in again.notes]) == (failed.ids, ["I live in Berlin."])
    # Another retry counts no note twice.
    assert drawing(engine, Rules()).add_messages("s", [{"content": "I live in Berlin."}], key="k") == again
    assert stored_memory(engine, again.notes[0].id).duplicates == 0


def test_a_retry_of_an_extractor_that_changed_its_mind_keeps_the_first_notes(engine: Engine) -> None:
    engine = drawing(engine, Telling(["one thing"], ["another thing"]))
    engine.add_messages("s", [{"content": "hello"}], key="k")
    again = engine.add_messages("s", [{"content": "hello"}], key="k")
    assert (again.notes, engine.counts().notes) == ((), 1)
    assert texts(engine, "thing", kinds=["note"]) == {"one thing"}


def test_a_session_is_found_by_its_name_as_it_was_given(engine: Engine) -> None:
    for given in (" monday ", "cafe\u0301"):
        engine.add_messages(given, [{"content": "I am allergic to peanuts."}])
        assert [turn.text for turn in engine.sessions.turns(given)] == ["I am allergic to peanuts."]
        assert engine.list(kinds=["message"], session=given).memories == tuple(engine.sessions.turns(given))
        found = engine.recall("peanuts", kinds=["message"], session=given).hits
        assert [hit.memory.id for hit in found] == [turn.id for turn in engine.sessions.turns(given)]
        assert [turn.text for turn in engine.context("peanuts", session=given).turns] == [
            "I am allergic to peanuts."
        ]
        engine.sessions.extract(given)
        engine.sessions.forget(given)
        assert engine.sessions.turns(given) == []
