"""Memories of another program are stored once, however often they are imported, on every store."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollect.admin import Internals
from recollect.domain.records import Kind, Revision, Scope
from recollect.engine import Engine
from recollect.transfer import export_file
from recollect.transfer.foreign import ForeignImport, Placing
from recollect.transfer.importers import (
    BadRow,
    ForeignEntity,
    ForeignItem,
    ForeignMessage,
    ForeignNote,
    ForeignObservation,
    ForeignRelation,
    NotImported,
)
from recollect.transfer.moved_rows import importing
from recollect.transfer.reports import Tally


def day(number: int) -> datetime:
    return datetime(2025, 6, number, tzinfo=UTC)


TEA = ForeignNote(
    key="n1",
    text="Ana drinks tea",
    created_at=day(1),
    updated_at=day(2),
    category="habit",
    tags=("drinks",),
    metadata={"cups": 3},
    importance=0.8,
    about=("Ana",),
    former=(Revision("Ana drinks coffee", day(1), day(2)),),
)
TALL = ForeignObservation("is tall", created_at=day(1), superseded_at=day(3), superseded_by="is very tall")
WORLD: tuple[ForeignItem, ...] = (
    ForeignRelation("Ana", "lives_in", "Lisbon", created_at=day(1), since=day(1), until=day(20)),
    ForeignRelation("Bo", "sails", "Gaviota", created_at=day(1)),
    ForeignRelation("Ana", "knows", "Bo", created_at=day(1)),
    ForeignEntity("Ana", "person", (TALL, ForeignObservation("is very tall", created_at=day(3))), day(1)),
    TEA,
    ForeignNote("n2", "The ferry leaves at nine", day(3), superseded_by="n3", superseded_at=day(4)),
    ForeignNote("n3", "The ferry leaves at ten", day(4)),
    ForeignNote("n4", "The key is under the mat", day(5), forgotten_at=day(6)),
    ForeignNote("n5", "Ana is on leave", day(5), expires_at=day(9)),
    ForeignNote("n6", "Bo sails", day(5)),
    ForeignMessage("talk", "m1", "Hello", "user", "Ana", day(7)),
    ForeignMessage("talk", "m2", "Hello", "user", "Ana", day(7)),
)


@pytest.fixture
def memory(make_engine: Callable[[], Engine]) -> Engine:
    return make_engine()


def bring(
    memory: Engine, *items: ForeignItem, merge_owners: bool = False, after: timedelta = timedelta()
) -> Tally:
    into = importing(memory)
    placing = Placing("peer", memory.scope, into.at + after, merge_owners)
    tally = Tally()
    writer = ForeignImport(into, placing, tally)
    writer.add(placing.records(items))
    writer.finish()
    return tally


def everything(memory: Engine) -> str:
    out = io.StringIO()
    export_file(memory, out, format="full")
    return out.getvalue()


def test_what_comes_has_its_times_tags_links_and_state(memory: Engine) -> None:
    bring(memory, *WORLD)
    (ana,) = memory.graph.open_nodes(["Ana"]).entities
    tall, very = ana.observations
    assert (ana.type, tall.superseded_by, tall.superseded_at) == ("person", very.id, day(3))
    notes = {note.text: note for note in memory.list(include_superseded=True).memories}
    tea, nine, ten = (
        notes[text] for text in ("Ana drinks tea", "The ferry leaves at nine", "The ferry leaves at ten")
    )
    assert (tea.created_at, tea.updated_at, tea.category, tea.importance) == (day(1), day(2), "habit", 0.8)
    assert (tea.tags, tea.metadata) == (("drinks",), {"cups": 3})
    assert (tea.about, tea.former) == ((ana.id,), TEA.former)
    assert (nine.superseded_by, nine.superseded_at) == (ten.id, day(4))
    assert "The key is under the mat" not in notes  # it is forgotten, and can be restored
    assert [turn.created_at for turn in memory.sessions.turns("talk")] == [day(7), day(7)]
    lives, _ = memory.graph.open_nodes(["Ana"], history=True).relations
    assert (lives.target_name, lives.since, lives.until) == ("Lisbon", day(1), day(20))
    hits = memory.recall("when does the ferry leave").hits
    assert "The ferry leaves at ten" in {hit.memory.text for hit in hits}


def test_an_import_that_was_stopped_is_finished_by_the_next(memory: Engine) -> None:
    placing = Placing("peer", memory.scope, importing(memory).at)
    ForeignImport(importing(memory), placing, Tally()).add(placing.records(WORLD))  # and no more
    bring(memory, *WORLD)
    notes = {note.text: note for note in memory.list(include_superseded=True).memories}
    assert notes["The ferry leaves at nine"].superseded_by == notes["The ferry leaves at ten"].id
    assert notes["Ana drinks tea"].about == (Internals(memory).entity_id("Ana"),)
    assert len(memory.graph.open_nodes(["Ana", "Bo"], history=True).relations) == 3


def test_a_later_state_of_the_source_adds_what_is_new(memory: Engine) -> None:
    bring(memory, *WORLD)
    later = bring(
        memory,
        *(item for item in WORLD if getattr(item, "key", "") not in ("n1", "n3")),
        replace(TEA, text="Ana drinks mate", updated_at=day(8), tags=("maté",), metadata={"cups": 4}),
        ForeignNote("n3", "The ferry leaves at ten", day(4), superseded_by="n7", superseded_at=day(9)),
        ForeignNote("n7", "The ferry leaves at noon", day(9)),
        ForeignEntity("Ana", "person", (ForeignObservation("has a boat"),)),
        ForeignMessage("talk", "m3", "Bye", "user", "Ana", day(8)),
    )
    counts = later.counts
    assert (counts["notes_new"], counts["notes_changed"], counts["messages_new"]) == (1, 2, 1)
    assert (counts["entities_new"], counts["observations_new"]) == (0, 1)
    notes = {note.text: note for note in memory.list(include_superseded=True).memories}
    mate = notes["Ana drinks mate"]
    assert [former.text for former in mate.former] == ["Ana drinks coffee", "Ana drinks tea"]
    assert (mate.tags, mate.metadata, mate.importance) == (("maté",), {"cups": 4}, 0.8)
    assert notes["The ferry leaves at ten"].superseded_by == notes["The ferry leaves at noon"].id


def test_what_was_changed_or_forgotten_here_stays_so(memory: Engine) -> None:
    bring(memory, *WORLD)
    by_text = {note.text: note.id for note in memory.list().memories}
    memory.forget([by_text["The ferry leaves at ten"], Internals(memory).entity_id("Ana")])
    memory.update(by_text["Bo sails"], text="Bo rows")
    memory.graph.delete_relations([("Bo", "sails", "Gaviota")])
    more = (replace(TEA, forgotten_at=day(9)), ForeignNote("n6", "Bo swims", day(5), updated_at=day(6)))
    rest = (item for item in WORLD if getattr(item, "key", "") not in ("n1", "n6"))
    again = bring(memory, *rest, *more, ForeignEntity("Bo", "", (ForeignObservation("is back"),)))
    assert {note.text for note in memory.list().memories} == {"Ana drinks tea", "Bo rows"}
    assert Internals(memory).existing_names(["Ana"]) == set()
    assert memory.graph.open_nodes(["Bo", "Ana"]).relations == ()
    left = again.fields()["left"]
    assert [reason.split(": ")[1] for reason in left] == [
        "the source has since forgotten it; it stays here.",
        "it changed here later than in the source.",
    ]


def test_what_was_changed_here_of_an_undated_note_stays_so(memory: Engine) -> None:
    note = ForeignNote("n", "Ana sails", importance=0.3)
    bring(memory, note)
    (here,) = memory.list().memories
    memory.update(here.id, tags=["mine"], importance=0.9)
    again = bring(memory, note, after=timedelta(days=1))
    assert again.counts["notes_changed"] == 0
    (here,) = memory.list().memories
    assert (here.tags, here.importance) == (("mine",), 0.9)


def test_every_wording_comes_from_a_source_that_dates_no_changes(memory: Engine) -> None:
    for created_at in (day(1), None):
        key = f"made {created_at}"
        for text in ("Ana sails", "Ana rows", "Ana swims"):
            bring(memory, ForeignNote(key, f"{text}, {key}", created_at))
    assert {note.text.split(",")[0] for note in memory.list().memories} == {"Ana swims"}


def test_an_entity_that_only_a_relation_names_stays_forgotten(memory: Engine) -> None:
    bring(memory, *WORLD)
    memory.forget([Internals(memory).entity_id("Gaviota")])
    before = everything(memory)
    again = bring(memory, *WORLD)
    # Nor does anything else change.
    assert everything(memory) == before
    sorts = ("entities", "observations", "notes", "messages", "relations")
    assert not any(again.counts[f"{sort}_new"] for sort in sorts)
    bring(memory, ForeignEntity("Lisbon", "city"))
    assert [each.type for each in memory.graph.open_nodes(["Lisbon"]).entities] == ["city"]


def test_a_key_that_a_source_has_twice_is_one_note(memory: Engine) -> None:
    twice = (ForeignNote("n", "Ana sails"), ForeignNote("n", "Ana sails"), ForeignNote("n", "Ana rows"))
    first = bring(memory, *twice)
    again = bring(memory, *twice)
    assert [note.text for note in memory.list().memories] == ["Ana sails"]
    assert (first.counts["notes_new"], again.counts["notes_changed"]) == (1, 0)


def test_owners_keep_what_is_theirs_unless_all_goes_to_one(memory: Engine) -> None:
    theirs = (ForeignNote("a", "mine", owner="ana"), ForeignNote("a", "its", owner="ana", agent="bot"))
    for _ in range(2):
        bring(memory, *theirs)
    assert memory.list().memories == ()
    assert [note.text for note in memory.scoped("ana").list().memories] == ["mine"]
    assert [note.scope for note in memory.scoped("ana", "bot").list().memories] == [Scope("ana", "bot")]
    bring(memory, *theirs, merge_owners=True)
    assert {note.text for note in memory.list().memories} == {"mine", "its"}


def test_what_a_store_would_refuse_is_a_bad_row_and_the_rest_comes(memory: Engine) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    items: list[ForeignItem] = [
        ForeignNote("empty", "  "),
        ForeignNote("odd", "fine", importance=7.0),
        ForeignEntity("Bo", "", (ForeignObservation(""), ForeignObservation("rows"))),
        ForeignNote("odd metadata", "fine", metadata={"good": [1], "odd": float("nan")}),
        ForeignRelation("", "knows", "Bo"),
    ]
    records = list(Placing("peer", Scope(), at).records(items))
    bad = [record.place for record in records if isinstance(record, BadRow)]
    assert bad == ["note empty", "note odd", "entity Bo, observation 1", "relation  knows Bo"]
    assert [record.what for record in records if isinstance(record, NotImported)] == [
        "metadata that is too long or not JSON"
    ]
    writer = ForeignImport(importing(memory), Placing("peer", Scope(), at), Tally())
    writer.add(records)
    writer.finish()
    found = memory.list(kinds=(Kind.NOTE, Kind.ENTITY)).memories
    assert {each.name or each.text: each.metadata for each in found} == {"Bo": None, "fine": {"good": [1]}}
