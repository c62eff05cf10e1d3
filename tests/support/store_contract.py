"""The contract of every store, through the port only."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recollect.domain.changes import (
    AddObservations,
    Amend,
    EndRelation,
    FlagSimilar,
    Forget,
    NewEntity,
    NewObservation,
    NewRelation,
    NewText,
    NoteImport,
    Outcome,
    Purge,
    PutEntity,
    PutText,
    PutVectors,
    RecordUsage,
    Relate,
    RemoveObservations,
    Restore,
    RestoreObservation,
    Unrelate,
    UseModel,
)
from recollect.domain.errors import Conflict, InvalidInput, NotFound, RecollectError, StoreUnavailable
from recollect.domain.numbers import normalised, pack_signs, pack_vector
from recollect.domain.records import Filter, Kind, Memory, Model, Relation, Scope, Status
from recollect.domain.tables import Equals, Not, OneOf
from recollect.ranking.candidates import NEVER
from recollect.ranking.factors import microseconds
from recollect.search.candidates import Search
from recollect.search.entities import entities_containing, entities_named, matching_names, names_alike
from recollect.search.facts import cooccurrences, ranking_facts
from recollect.search.rows import MemoryRows, memories_by_id, relations_of, scope_id
from recollect.search.texts import (
    all_scopes,
    count_without_tokens,
    memory_page,
    model_in_use,
    passages_by_id,
    passages_of,
    passages_without_tokens,
    pending_passages,
    relation_page,
    store_counts,
    vectors_of,
    was_imported,
)
from recollect.search.words import affordable_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recollect.domain.changes import Change, Receipt
    from recollect.domain.records import Found
    from recollect.ranking.candidates import Facts
    from recollect.search.words import Analyser
    from recollect.stores.port import Vector
    from recollect.write.repository import Repository

    Opened = Callable[[Path], Repository]

ME = Scope()
YOU = Scope("you")
TINY = Model("tiny", 3)
OTHER = Model("other", 3)
TOKYO = "東京都の天気"


def at(second: float) -> datetime:
    """The time of the fixed clock after a number of seconds."""
    return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=second)


def do(store: Repository, *changes: Change, second: float = 0, key: str | None = None) -> Receipt:
    return store.apply(changes, at=at(second), key=key)


def one(store: Repository, change: Change, second: float = 0) -> Outcome:
    (outcome,) = do(store, change, second=second).outcomes
    return outcome


def entity(
    name: str, *observations: str | NewObservation, scope: Scope = ME, type_: str = "thing"
) -> PutEntity:
    given = tuple(seen if isinstance(seen, NewObservation) else NewObservation(seen) for seen in observations)
    return PutEntity(scope, NewEntity(name, type_, given))


def put(
    store: Repository, name: str, *observations: str | NewObservation, scope: Scope = ME, second: float = 0
) -> int:
    return one(store, entity(name, *observations, scope=scope), second).ids[0]


def note(
    store: Repository, text: str, kind: Kind = Kind.NOTE, session: str | None = None, scope: Scope = ME
) -> int:
    return one(store, PutText(scope, NewText(kind, text, session=session))).ids[0]


def relate(
    source: str, type_: str, target: str, *, create_missing: bool = False, scope: Scope = ME
) -> Relate:
    return Relate(scope, NewRelation(source, target, type_), create_missing)


def memory(store: Repository, id_: int) -> Memory:
    with store.read() as view:
        return memories_by_id(view, [id_])[id_]


def passage_texts(store: Repository, id_: int) -> list[str]:
    with store.read() as view:
        return [passage.text for passage in passages_of(view, [id_])]


def in_force(store: Repository, id_: int) -> list[str]:
    return [seen.content for seen in memory(store, id_).in_force]


def relations(store: Repository, *ids: int, deleted: bool = False) -> list[Relation]:
    with store.read() as view:
        return list(relations_of(view, ids, deleted=deleted))


def triples(store: Repository, *ids: int) -> set[tuple[str, str, str]]:
    """Return the current relations."""
    found = relations(store, *ids)
    return {(seen.source_name, seen.type, seen.target_name) for seen in found if seen.until is None}


def ids_by_name(store: Repository, *names: str, scope: Scope = ME) -> dict[str, int]:
    with store.read() as view:
        return dict(entities_named(view, scope_id(view, scope), names))


def words(
    store: Repository, text: str, k: int = 10, where: Filter | None = None, index: Analyser = "plain"
) -> list[int]:
    return [found.id for found in scored(store, text, k, where, index)]


def scored(
    store: Repository, text: str, k: int = 10, where: Filter | None = None, index: Analyser = "plain"
) -> list[Found]:
    with store.read() as view:
        return list(Search(view, where or Filter()).by_words(text, k, index))


def assert_found(
    store: Repository,
    subtests: pytest.Subtests,
    queries: Mapping[str, Sequence[str]],
    noise: str,
    index: Analyser = "plain",
) -> None:
    """Check that each query finds its text, among other texts."""
    for number, (text, asked) in enumerate(queries.items()):
        scope = Scope(f"{index} {number}")
        found = put(store, "it", text, scope=scope)
        put(store, "noise", noise, scope=scope)
        for query in asked:
            with subtests.test(text=text, query=query, index=index):
                assert words(store, query, where=Filter(scope.owner), index=index) == [found]


def towards(*numbers: float) -> Vector:
    vector: Vector = normalised(np.array(numbers))
    return vector


def embed(store: Repository, vector_of: Callable[[str], Vector], model: Model = TINY) -> int:
    """Embed every passage without a vector, and return how many there were."""
    with store.read() as view:
        waiting = pending_passages(view, model, 0, 1_000)
    vectors = tuple((passage.id, pack_vector(vector_of(passage.text))) for passage in waiting)
    do(store, PutVectors(model, vectors))
    return len(vectors)


def embed_tokens(store: Repository, vector_of: Callable[[str], Vector], model: Model = TINY) -> None:
    """Embed passages, with each passage's vector as that of its only token."""
    with store.read() as view:
        waiting = pending_passages(view, model, 0, 1_000)
    rows = [(passage.id, vector_of(passage.text)) for passage in waiting]
    vectors = tuple((passage, pack_vector(row)) for passage, row in rows)
    tokens = tuple((passage, pack_signs(row[None])) for passage, row in rows)
    do(store, PutVectors(model, vectors, tokens=tokens))


def token_scores(
    store: Repository, tokens: Sequence[Vector], *ids: int, nearest: Mapping[int, int] | None = None
) -> dict[int, float]:
    with store.read() as view:
        return Search(view, Filter()).token_scores(np.stack(tokens), ids, nearest or {})


def colour(text: str) -> Vector:
    """Vectors of red, green and blue texts. All others resemble each of them a little."""
    for index, name in enumerate(("red", "green", "blue")):
        if name in text:
            return towards(*(1.0 if place == index else 0.0 for place in range(3)))
    return towards(1, 1, 1)


def near(store: Repository, query: Vector, k: int = 10, where: Filter | None = None) -> list[Found]:
    with store.read() as view:
        return list(Search(view, where or Filter()).by_meaning(query, k))


def facts(store: Repository, *ids: int, query: str = "", session: str | None = None) -> Facts:
    with store.read() as view:
        return ranking_facts(MemoryRows(view), ids, query, session, microseconds(at(3600)))


def together(store: Repository, *ids: int) -> list[tuple[int, int, int, int]]:
    """Return pairs as positions in the sorted ids, with count and last second."""
    with store.read() as view:
        pairs = cooccurrences(view, ids)
    seconds = [(last - microseconds(at(0))) // 1_000_000 for last in pairs.last.tolist()]
    return list(zip(pairs.first.tolist(), pairs.second.tolist(), pairs.count.tolist(), seconds, strict=True))


RED, GREEN, BLUE = towards(1, 0, 0), towards(0, 1, 0), towards(0, 0, 1)


class WholeStore:
    """Every test ends with a clean `verify`. Subclasses supply the fixture `store`."""

    @pytest.fixture(autouse=True)
    def nothing_is_out_of_step(self, store: Repository) -> Iterator[None]:
        yield
        assert list(store.verify()) == []


class StoreContract(WholeStore):
    """Subclasses supply the fixture `opened`, which opens the store of a path."""

    # Entities and observations

    def test_an_entity_is_created_with_its_observations(self, store: Repository) -> None:
        seen = (NewObservation("writes programs", "fact", happened_at=at(-100)), NewObservation("likes tea"))
        new = NewEntity("Ada", "person", seen, status=Status.PAUSED, importance=0.9)
        outcome = one(store, PutEntity(ME, new))
        assert (outcome.created, outcome.names) == (True, ("Ada",))
        assert [added.content for added in outcome.added] == ["writes programs", "likes tea"]
        ada = memory(store, outcome.ids[0])
        assert (ada.kind, ada.name, ada.type, ada.scope) == (Kind.ENTITY, "Ada", "person", ME)
        assert (ada.status, ada.importance) == (Status.PAUSED, 0.9)
        assert (ada.created_at, ada.updated_at, ada.deleted_at) == (at(0), at(0), None)
        assert [
            (seen.content, seen.kind, seen.happened_at, seen.created_at) for seen in ada.observations
        ] == [("writes programs", "fact", at(-100), at(0)), ("likes tea", "generic", None, at(0))]
        assert [seen.id for seen in ada.observations] == [added.id for added in outcome.added]

    def test_a_new_memory_has_the_lifecycle_of_the_specification(self, store: Repository) -> None:
        for id_ in (put(store, "Ada"), note(store, "a note"), note(store, "hello", Kind.MESSAGE, "s")):
            new = memory(store, id_)
            assert (new.status, new.consolidation) == (Status.ACTIVE, "staged")
            assert (new.strength, new.depth, new.spread, new.stability) == (1.0, 2, 1, 1.0)
            assert (new.importance, new.importance_tag, new.pinned) == (0.5, None, False)
            assert (new.revisions, new.duplicates) == (0, 0)

    def test_a_mere_repeat_is_counted_and_touches_only_the_time_of_update(self, store: Repository) -> None:
        ada = put(store, "Ada", "likes tea")
        assert one(store, entity("Ada", "likes tea"), second=7) == Outcome(ids=(ada,), names=("Ada",))
        repeated = memory(store, ada)
        assert (repeated.duplicates, repeated.created_at, repeated.updated_at) == (1, at(0), at(7))

    def test_an_import_that_is_run_again_changes_nothing(self, store: Repository) -> None:
        ada = put(store, "Ada", "likes tea")
        before = memory(store, ada)
        again = NewEntity("Ada", observations=(NewObservation("likes tea"),))
        one(store, PutEntity(ME, again, counts=False), 9)
        assert memory(store, ada) == before

    def test_observations_are_added_to_an_entity_that_exists(self, store: Repository) -> None:
        ada = put(store, "Ada", "likes tea")
        new = (NewObservation("likes tea"), NewObservation("moved", "state"))
        outcome = one(store, AddObservations(ME, "Ada", new), second=3)
        assert (outcome.ids, outcome.created) == ((ada,), False)
        assert [added.content for added in outcome.added] == ["moved"]
        assert [seen.kind for seen in memory(store, ada).observations] == ["generic", "state"]
        assert memory(store, ada).updated_at == at(3)

    @pytest.mark.parametrize("by", ["id", "content"])
    def test_a_superseded_observation_stays_with_its_time_and_its_successor(
        self, store: Repository, by: str
    ) -> None:
        outcome = one(store, entity("Ada", "lives in Paris", "likes tea"))
        ada, old = outcome.ids[0], outcome.added[0]
        rome = NewObservation("lives in Rome", supersedes=old.id if by == "id" else old.content)
        new = one(store, AddObservations(ME, "Ada", (rome,)), second=60).added[0]
        paris = next(seen for seen in memory(store, ada).observations if seen.id == old.id)
        assert (paris.superseded_by, paris.superseded_at, paris.deleted_at) == (new.id, at(60), None)
        assert not paris.in_force
        assert in_force(store, ada) == ["likes tea", "lives in Rome"]
        assert (words(store, "Paris"), words(store, "Rome")) == ([], [ada])

    def test_superseding_what_is_not_in_force_is_an_error_that_writes_nothing(
        self, store: Repository
    ) -> None:
        ada = put(store, "Ada", "lives in Paris")
        other = one(store, entity("Bob", "lives in Oslo")).added[0]
        for gone in ("lives in Berlin", other.id, 10_000):
            with pytest.raises(NotFound, match="Ada"):
                do(store, AddObservations(ME, "Ada", (NewObservation("new", supersedes=gone),)))
        assert in_force(store, ada) == ["lives in Paris"]

    def test_observations_are_removed_by_content_silently_where_absent(self, store: Repository) -> None:
        ada = put(store, "Ada", "likes tea", "plays chess")
        assert one(store, RemoveObservations(ME, "Ada", ("plays chess", "flies")), 4).count == 1
        assert one(store, RemoveObservations(ME, "Nobody", ("plays chess",))).count == 0
        assert in_force(store, ada) == ["likes tea"]
        removed = memory(store, ada).observations[1]
        assert (removed.content, removed.deleted_at) == ("plays chess", at(4))
        assert words(store, "chess") == []

    def test_restoring_an_observation_says_why_it_cannot(self, store: Repository) -> None:
        outcome = one(store, entity("Ada", "likes tea"))
        ada, tea = outcome.ids[0], outcome.added[0].id
        with pytest.raises(NotFound):
            do(store, RestoreObservation(ME, tea))  # it is there
        do(store, RemoveObservations(ME, "Ada", ("likes tea",)))
        with pytest.raises(NotFound):
            do(store, RestoreObservation(YOU, tea))  # not yours
        do(store, AddObservations(ME, "Ada", (NewObservation("likes tea"),)))
        with pytest.raises(Conflict):
            do(store, RestoreObservation(ME, tea))  # its equal is in force
        do(store, RemoveObservations(ME, "Ada", ("likes tea",)), Forget(ME, ids=(ada,)))
        with pytest.raises(Conflict, match="Ada"):
            do(store, RestoreObservation(ME, tea))  # its entity is forgotten

    def test_a_near_repeat_is_flagged_on_the_later_observation(self, store: Repository) -> None:
        outcome = one(store, entity("Ada", "likes tea", "likes green tea a lot"))
        first, second = outcome.added
        assert one(store, FlagSimilar("observation", second.id, first.id, 0.9)).count == 1
        assert one(store, FlagSimilar("observation", second.id, 10_000, 0.9)).count == 0
        flagged = memory(store, outcome.ids[0]).observations[1]
        assert (flagged.similar_to, flagged.similarity, flagged.in_force) == (first.id, 0.9, True)

    def test_status_importance_and_pin_are_amended_one_by_one(self, store: Repository) -> None:
        ada = put(store, "Ada")
        do(store, Amend(ME, ada, status=Status.PAUSED), second=1)
        do(store, Amend(ME, ada, importance=0.0, pinned=True), second=2)
        amended = memory(store, ada)
        assert (amended.status, amended.importance, amended.pinned) == (Status.PAUSED, 0.0, True)
        assert amended.updated_at == at(2)
        do(store, Amend(ME, ada, pinned=False))
        assert memory(store, ada).pinned is False
        with pytest.raises(NotFound):
            do(store, Amend(YOU, ada, pinned=True))

    # Notes and messages

    def test_a_text_keeps_all_that_was_said_of_it_and_an_entity_is_none(self, store: Repository) -> None:
        new = NewText(
            Kind.MESSAGE, "see you", "talk", "chat", "s", "user", "Ada", 0.25, at(-500), created_at=at(-5)
        )
        kept = memory(store, one(store, PutText(ME, new)).ids[0])
        assert (kept.text, kept.category, kept.source, kept.session) == ("see you", "talk", "chat", "s")
        assert (kept.role, kept.speaker, kept.importance) == ("user", "Ada", 0.25)
        assert (kept.happened_at, kept.created_at) == (at(-500), at(-5))
        with pytest.raises(InvalidInput):
            do(store, PutText(ME, NewText(Kind.ENTITY, "Ada")))

    # Names

    def test_the_exact_name_wins_and_an_ambiguous_one_is_refused_with_the_candidates(
        self, store: Repository
    ) -> None:
        upper, lower = put(store, "Alice"), put(store, "alice")
        assert ids_by_name(store, "Alice", "alice", "ALICE") == {"Alice": upper, "alice": lower}
        with store.read() as view:
            assert names_alike(view, scope_id(view, ME), "ALICE") == ["Alice", "alice"]
            assert names_alike(view, scope_id(view, ME), "Alic") == []
        with pytest.raises(NotFound, match=r"'Alice' or 'alice'"):
            do(store, AddObservations(ME, "ALICE", (NewObservation("who?"),)))

    def test_names_are_found_by_a_part_of_them_those_that_begin_so_first(self, store: Repository) -> None:
        for name in ("Green oolong", "Oolong tea", "OOLONG", "Ferry", "Über oolong"):
            put(store, name)
        do(store, Forget(ME, names=("OOLONG",)))
        put(store, "Oolong elsewhere", scope=YOU)
        where = Filter(ME.owner, ME.agent)
        with store.read() as view:
            assert matching_names(view, "ool", 9, where) == (["Oolong tea", "Green oolong", "Über oolong"], 3)
            assert matching_names(view, "UBER", 9, where) == (["Über oolong"], 1)
            assert matching_names(view, "ool", 1, where) == (["Oolong tea"], 3)
            assert matching_names(view, "", 2, where) == (["Ferry", "Green oolong"], 4)
            for nothing in ("zz", "%", "\0", "\ud800"):
                assert matching_names(view, nothing, 9, where) == ([], 0)

    # Relations

    def test_a_relation_keeps_its_context_and_span(self, store: Repository) -> None:
        ada, bob = put(store, "Ada"), put(store, "Bob")
        new = NewRelation("Ada", "Bob", "knows", "from school", since=at(-100), until=at(-10))
        outcome = one(store, Relate(ME, new), second=2)
        assert (outcome.created, outcome.ids, outcome.names) == (True, (ada, bob), ("Ada", "Bob"))
        (kept,) = relations(store, ada)
        said = ("Ada", "Bob", "knows", at(2), "from school", at(-100), at(-10))
        assert kept == Relation(outcome.relations[0], ada, bob, *said)
        assert relations(store, bob) == [kept]

    def test_declared_pairs_get_their_inverse_and_end_with_it(self, store: Repository) -> None:
        pairs = {"contains": "part_of", "part_of": "contains", "contiene": "parte_de", "parte_de": "contiene"}
        for type_, inverse in pairs.items():
            house, room = f"House {type_}", f"Room {type_}"
            id_, _ = put(store, house), put(store, room)
            made = one(store, relate(house, type_, room))
            assert triples(store, id_) == {(house, type_, room), (room, inverse, house)}
            by_id = {seen.id: seen for seen in relations(store, id_)}
            assert by_id[made.relations[1]].inverse_of == made.relations[0]
            # said from the other side, it is the same
            assert one(store, relate(room, inverse, house)).created is False
            assert len(relations(store, id_)) == 2
            # ended from one side or from the other, both end, and both are kept
            source, said, target = (house, type_, room) if type_ == "contains" else (room, inverse, house)
            assert one(store, EndRelation(ME, source, target, said, at(50)), second=60).count == 2
            assert [seen.until for seen in relations(store, id_)] == [at(50), at(50)]
            with pytest.raises(NotFound):
                do(store, EndRelation(ME, source, target, said))

    def test_a_span_runs_forwards_and_ends_now_unless_told_when(self, store: Repository) -> None:
        ada, _ = put(store, "Ada"), put(store, "Bob")
        with pytest.raises(InvalidInput):
            do(store, Relate(ME, NewRelation("Ada", "Bob", "knows", since=at(10), until=at(5))))
        do(store, Relate(ME, NewRelation("Ada", "Bob", "knows", since=at(10))))
        with pytest.raises(InvalidInput):
            do(store, EndRelation(ME, "Ada", "Bob", "knows", at(5)))
        assert [seen.until for seen in relations(store, ada)] == [None]
        do(store, EndRelation(ME, "ada", "BOB", "knows"), second=30)
        assert [seen.until for seen in relations(store, ada)] == [at(30)]

    def test_passages_are_made_anew_with_the_type_that_was_taken(self, store: Repository) -> None:
        ada = one(store, entity("Ada", "red wine", "green tea", type_="unknown")).ids[0]
        do(store, RemoveObservations(ME, "Ada", ("green tea",)))
        embed(store, colour)
        before = passage_texts(store, ada)
        do(store, entity("Ada", "blue ink", type_="person"), second=1)
        assert (before, passage_texts(store, ada)) == (
            ["Ada", "Ada: red wine"],
            ["Ada (person)", "Ada (person): red wine", "Ada (person): blue ink"],
        )
        with store.read() as view:
            assert store_counts(view).due == 3
        assert near(store, RED) == []  # until it is embedded again
        embed(store, colour)
        assert [found.id for found in near(store, RED)] == [ada]
        assert list(store.verify()) == []

    def test_a_file_that_was_brought_in_is_known_to_its_scope(self, store: Repository) -> None:
        assert one(store, NoteImport(ME, "/a/memory.jsonl")).created
        assert not one(store, NoteImport(ME, "/a/memory.jsonl"), second=1).created
        with store.read() as view:
            assert was_imported(view, ME, "/a/memory.jsonl")
            assert not was_imported(view, ME, "/a/other.jsonl")
            assert not was_imported(view, YOU, "/a/memory.jsonl")

    # Forgetting, restoring, purging

    def test_a_forgotten_memory_is_kept_out_of_sight(self, store: Repository) -> None:
        ada, tea = put(store, "Ada", "likes tea"), note(store, "tea time")
        embed(store, colour)
        assert one(store, Forget(ME, ids=(tea,), names=("Ada", "Nobody")), second=9).ids == (tea, ada)
        assert memory(store, ada).deleted_at == memory(store, tea).deleted_at == at(9)
        with store.read() as view:
            assert list(memory_page(view, Filter(), 0, 10)) == []
            assert [seen.id for seen in memory_page(view, Filter(deleted=True), 0, 10)] == [ada, tea]
            assert entities_containing(view, "tea", 10, Filter()) == []
            assert passages_of(view, [ada, tea]) == []
        assert words(store, "tea") == []
        assert near(store, RED) == []

    def test_forgetting_is_silent_on_what_is_absent_or_not_yours(self, store: Repository) -> None:
        ada = put(store, "Ada")
        assert one(store, Forget(YOU, ids=(ada,), names=("Ada",))).ids == ()
        assert one(store, Forget(ME, ids=(ada + 1,))).ids == ()
        do(store, Forget(ME, ids=(ada,)), second=1)
        assert one(store, Forget(ME, ids=(ada,)), second=2).ids == ()
        assert memory(store, ada).deleted_at == at(1)

    def test_a_relation_survives_any_number_of_departures(self, store: Repository) -> None:
        house, room = put(store, "House"), put(store, "Room")
        do(store, relate("House", "contains", "Room"))
        everything = triples(store, house)
        steps: list[Change] = [
            Forget(ME, ids=(house,)),
            Forget(ME, ids=(room,)),
            Restore(ME, room),
            Forget(ME, ids=(room,)),
            Restore(ME, house),
            Forget(ME, ids=(house,)),
            Restore(ME, room),
            Restore(ME, house),
        ]
        for second, step in enumerate(steps, start=1):
            assert triples(store, house) == (everything if second == 1 else set())
            do(store, step, second=second)
        assert triples(store, house) == everything

    def test_relations_remade_and_forgotten_at_one_moment_do_not_block_the_return(
        self, store: Repository
    ) -> None:
        """A transaction has one time, so it cannot tell explicit deletions from implied ones."""
        ada, _ = put(store, "Ada"), put(store, "Bob")
        do(store, relate("Ada", "knows", "Bob"))
        knows = relate("Ada", "knows", "Bob")
        do(store, Unrelate(ME, "Ada", "Bob", "knows"), knows, Forget(ME, ids=(ada,)), second=1)
        do(store, Restore(ME, ada), second=2)
        assert triples(store, ada) == {("Ada", "knows", "Bob")}
        assert len(relations(store, ada)) == 1

    def test_restoring_what_is_not_forgotten_or_not_yours_is_an_error(self, store: Repository) -> None:
        ada = put(store, "Ada")
        with pytest.raises(NotFound):
            do(store, Restore(ME, ada))
        do(store, Forget(ME, ids=(ada,)))
        with pytest.raises(NotFound):
            do(store, Restore(YOU, ada))
        with pytest.raises(NotFound):
            do(store, Restore(ME, ada + 1))

    def test_purge_destroys_only_what_was_forgotten_before(self, store: Repository) -> None:
        early, late = put(store, "Early", "red"), put(store, "Late", "red")
        kept = put(store, "Kept", "red", "x")
        do(store, relate("Early", "knows", "Kept"), relate("Late", "knows", "Kept"))
        embed(store, colour)
        do(store, Forget(ME, ids=(early,)), second=10)
        do(store, RemoveObservations(ME, "Kept", ("x",)), second=10)
        do(store, Forget(ME, ids=(late,)), second=20)
        assert one(store, Purge(at(20)), second=30).count == 1
        with store.read() as view:
            assert set(memories_by_id(view, [early, late, kept])) == {late, kept}
            assert store_counts(view).forgotten == 1
        assert [seen.content for seen in memory(store, kept).observations] == ["red"]
        assert len(relations(store, kept, deleted=True)) == 1
        with pytest.raises(NotFound):
            do(store, Restore(ME, early))
        do(store, Restore(ME, late), second=40)
        assert triples(store, kept) == {("Late", "knows", "Kept")}
        assert {found.id for found in near(store, RED)} == {late, kept}

    def test_a_purged_id_is_never_given_again_and_its_history_stays_readable(self, store: Repository) -> None:
        last = put(store, "Last")
        do(store, Forget(ME, ids=(last,)))
        do(store, Purge(at(10)))
        assert put(store, "Next") > last
        ada = put(store, "Ada", "v1")
        do(store, AddObservations(ME, "Ada", (NewObservation("v2", supersedes="v1"),)), second=1)
        do(store, RemoveObservations(ME, "Ada", ("v2",)), second=2)
        do(store, Purge(at(3)), second=4)
        (left,) = memory(store, ada).observations
        assert (left.content, left.superseded_at, left.superseded_by) == ("v1", at(1), None)

    # Writing

    def test_apply_is_all_or_nothing_and_names_the_change_that_failed(self, store: Repository) -> None:
        put(store, "Ada")
        with pytest.raises(NotFound) as caught:
            do(
                store,
                entity("Bob", "plays chess"),
                AddObservations(ME, "Ada", (NewObservation("likes tea"),)),
                AddObservations(ME, "Nobody", (NewObservation("lost"),)),
                entity("Carol"),
            )
        assert caught.value.change == 2
        assert ids_by_name(store, "Ada", "Bob", "Carol").keys() == {"Ada"}
        assert words(store, "tea") == words(store, "chess") == []

    def test_a_failed_write_in_a_new_scope_leaves_no_scope(self, store: Repository) -> None:
        with pytest.raises(NotFound):
            do(store, AddObservations(YOU, "Nobody", (NewObservation("lost"),)))
        with store.read() as view:
            assert YOU not in all_scopes(view)
        put(store, "Ada", scope=YOU)
        assert ids_by_name(store, "Ada", scope=YOU)

    def test_keep_going_survives_a_failure_that_began_a_scope(self, store: Repository) -> None:
        third = Scope("third")
        receipt = store.apply(
            [
                AddObservations(YOU, "Nobody", (NewObservation("lost"),)),
                entity("Ada", "likes tea", scope=third),
                entity("Bob", "likes tea", scope=YOU),
            ],
            at=at(0),
            keep_going=True,
        )
        assert [outcome.error is None for outcome in receipt.outcomes] == [False, True, True]
        assert words(store, "tea", where=Filter("third")) == [receipt.outcomes[1].ids[0]]
        assert words(store, "tea", where=Filter("you")) == [receipt.outcomes[2].ids[0]]

    def test_the_same_key_again_is_answered_and_not_repeated(self, store: Repository) -> None:
        changes: list[Change] = [
            entity("Ada", "likes tea"),
            relate("Ada", "contains", "Bob", create_missing=True),
            Forget(ME, names=("Ada",)),
        ]
        first = store.apply(changes, at=at(0), key="k")
        again = store.apply(changes, at=at(50), key="k")
        assert (first.repeated, again.repeated) == (False, True)
        assert again.outcomes == first.outcomes
        with store.read() as view:
            assert store_counts(view).forgotten == 1
        # without a key, it is done again
        assert store.apply(changes, at=at(60)).outcomes[0].created

    def test_a_failed_write_does_not_use_up_its_key(self, store: Repository) -> None:
        change = AddObservations(ME, "Ada", (NewObservation("likes tea"),))
        with pytest.raises(NotFound):
            do(store, change, key="k")
        put(store, "Ada")
        assert do(store, change, key="k").outcomes[0].added

    def test_the_receipt_of_a_partial_write_is_remembered_with_its_errors(self, store: Repository) -> None:
        changes: list[Change] = [relate("Ada", "knows", "Bob"), entity("Ada")]
        first = store.apply(changes, at=at(0), key="k", keep_going=True)
        again = store.apply(changes, at=at(1), key="k", keep_going=True)
        assert again.outcomes == first.outcomes
        assert again.outcomes[0].error is not None

    def test_times_are_kept_to_the_microsecond_whatever_their_zone(self, store: Repository) -> None:
        madrid = timezone(timedelta(hours=2))
        moment = datetime(2026, 3, 1, 14, 0, 0, 123457, tzinfo=madrid)
        far = datetime(1815, 12, 10, tzinfo=UTC)
        outcome = store.apply([entity("Ada", NewObservation("born", happened_at=far))], at=moment).outcomes[0]
        ada = memory(store, outcome.ids[0])
        assert ada.created_at == moment
        assert ada.created_at.utcoffset() == timedelta(0)
        assert ada.observations[0].happened_at == far

    def test_a_closed_store_says_so(self, opened: Opened, tmp_path: Path) -> None:
        copy = opened(tmp_path / "copy.db")
        copy.close()
        copy.close()
        with pytest.raises(StoreUnavailable):
            do(copy, entity("Ada"))
        with pytest.raises(StoreUnavailable), copy.read():
            pass

    # Reading

    def test_a_view_stays_at_its_moment_while_others_write(self, store: Repository) -> None:
        ada, bob = put(store, "Ada", "red tea"), put(store, "Bob", "tea")
        do(store, relate("Ada", "knows", "Bob"))
        embed(store, colour)
        with store.read() as view:

            def read_everything() -> tuple[object, ...]:
                found = Search(view, Filter()).by_words("tea", 10), Search(view, Filter()).by_meaning(RED, 10)
                return store_counts(view), memories_by_id(view, [ada, bob]), relations_of(view, [ada]), *found

            before = read_everything()

            def write() -> None:
                do(store, entity("Ada", "green tea"), Forget(ME, ids=(bob,)), entity("Eve", "tea"), second=9)
                embed(store, colour)
                # a search in another process updates every cache
                assert {found.id for found in near(store, RED)} == {ada, bob + 1}

            writer = threading.Thread(target=write)
            writer.start()
            writer.join()
            assert read_everything() == before
        assert {found.id for found in scored(store, "tea")} == {ada, bob + 1}

    def test_many_threads_read_whole_states_while_one_writes(self, store: Repository) -> None:
        """Each write adds a pair. No reader may see half of one."""
        torn: list[int] = []
        done = threading.Event()

        def read_pairs() -> None:
            while not done.is_set():
                with store.read() as view:
                    pairs = (
                        len(memory_page(view, Filter(), 0, 100)),
                        len(Search(view, Filter()).by_words("twin", 100)),
                        store_counts(view).entities,
                    )
                    if pairs[0] % 2 or len(set(pairs)) > 1:
                        torn.append(pairs[0])

        readers = [threading.Thread(target=read_pairs) for _ in range(3)]
        for reader in readers:
            reader.start()
        for number in range(15):
            do(store, entity(f"left {number}", "twin"), entity(f"right {number}", "twin"))
        done.set()
        for reader in readers:
            reader.join()
        assert torn == []
        assert len(words(store, "twin", 100)) == 30

    def test_pages_go_by_id_and_meet_every_memory_once(self, store: Repository) -> None:
        ids = [put(store, f"e{number}") for number in range(5)]
        talk = note(store, "hello", Kind.MESSAGE, "s")
        put(store, "other", scope=YOU)
        seen: list[int] = []
        after = 0
        with store.read() as view:
            while page := memory_page(view, Filter(), after, 2):
                assert len(page) <= 2
                seen += [found.id for found in page]
                after = page[-1].id
            entities = memory_page(view, Filter(kinds=frozenset({Kind.ENTITY})), 0, 100)
            session = memory_page(view, Filter(session="s"), 0, 100)
            nothing = memory_page(view, Filter(kinds=frozenset()), 0, 100)
        assert seen == [*ids, talk]
        assert [found.id for found in entities] == ids
        assert [found.id for found in session] == [talk]
        assert list(nothing) == []

    def test_without_a_filter_pages_hold_every_scope_and_what_was_forgotten(self, store: Repository) -> None:
        ids = [put(store, "a"), put(store, "b", scope=YOU), put(store, "c")]
        do(store, relate("a", "contains", "c"), Forget(ME, ids=(ids[2],)))
        with store.read() as view:
            assert [found.id for found in memory_page(view, None, 0, 100)] == ids
            assert [found.id for found in memory_page(view, None, ids[0], 1)] == ids[1:2]
            everything = relation_page(view, None, 0, 100)
            assert [seen.type for seen in everything] == ["contains", "part_of"]
            assert list(relation_page(view, None, everything[0].id, 100)) == list(everything[1:])

    def test_relations_are_paged_as_far_as_both_ends_may_be_seen(self, store: Repository) -> None:
        for scope in (ME, YOU):
            for name in "abc":
                put(store, name, scope=scope)
            do(store, relate("a", "to", "b", scope=scope), relate("a", "to", "c", scope=scope))
        do(store, EndRelation(ME, "a", "b", "to"), Forget(ME, names=("c",)))
        with store.read() as view:
            mine = relation_page(view, Filter(), 0, 100)
            yours = relation_page(view, Filter("you"), 0, 100)
            first = relation_page(view, Filter("you"), 0, 1)
        assert [(seen.target_name, seen.until is None) for seen in mine] == [("b", False)]
        assert [seen.target_name for seen in yours] == ["b", "c"]
        assert list(first) == list(yours[:1])

    def test_absent_ids_are_passed_over(self, store: Repository) -> None:
        ada = put(store, "Ada")
        with store.read() as view:
            assert set(memories_by_id(view, [ada, 999, ada])) == {ada}
            assert memories_by_id(view, []) == {}
            assert relations_of(view, [999]) == []
            assert passages_of(view, [999]) == []
            assert vectors_of(view, [999]) == {}

    def test_counts_follow_every_change(self, store: Repository) -> None:
        put(store, "Ada", "likes tea", "plays chess")
        put(store, "Bob", scope=YOU)
        note(store, "a note")
        note(store, "hello", Kind.MESSAGE, "s")
        do(store, entity("Eve"), relate("Ada", "contains", "Eve"))
        with store.read() as view:
            counts = store_counts(view, store.size())
        assert (counts.entities, counts.notes, counts.messages, counts.scopes) == (3, 1, 1, 2)
        assert (counts.observations, counts.relations, counts.forgotten) == (2, 2, 0)
        # three entities, two observations, a note and a message
        assert (counts.passages, counts.vectors, counts.due) == (7, 0, 7)
        assert counts.bytes > 0
        embed(store, colour)
        do(store, RemoveObservations(ME, "Ada", ("likes tea",)), Forget(ME, names=("Eve",)), entity("New"))
        with store.read() as view:
            counts = store_counts(view)
        assert (counts.entities, counts.observations, counts.relations, counts.forgotten) == (3, 1, 0, 1)
        # gone: Eve and the tea; new: New
        assert (counts.passages, counts.vectors, counts.due) == (6, 5, 1)

    # Search by words

    def test_case_accents_and_compatibility_forms_do_not_matter(
        self, store: Repository, subtests: pytest.Subtests
    ) -> None:
        queries = {
            "Café con leche": ("cafe", "CAFÉ"),
            "cafe con leche": ("CAFÉ",),
            "El niño comió piñones": ("nino", "¿comió?"),
            "ESPAÑA": ("españa",),
            "Straße nach Köln": ("straße", "STRASSE"),
            "the ﬁle": ("ﬁle", "file"),
            "ｃａｆｅ": ("cafe", "ｃａｆｅ"),
            "Kleenex™ box": ("kleenex™",),
            "Piso 1º, E = mc²": ("1º", "mc²"),
            "cafe\u0301": ("café",),
            "ΑΘΉΝΑ, Σίσυφος": ("αθήνα", "ΣΊΣΥΦΟΣ"),
            "Москва слезам не верит": ("москва",),
            "İstanbul": ("istanbul",),
            "हिन्दी भाषा": ("हिन्दी",),
            "한국어 공부": ("한국어",),
            "שלום עולם": ("עולם",),
            "Tiếng Việt": ("viet",),
        }
        for index in ("plain", "stemmed"):
            assert_found(store, subtests, queries, "something else entirely", index)

    def test_text_without_spaces_is_found_by_any_part_of_it(
        self, store: Repository, subtests: pytest.Subtests
    ) -> None:
        # Inside a word, across word boundaries; one letter at the end, at the start, inside.
        parts = ("東京", "京都", "東京都の天気", "気", "東", "都", "天気はどう")
        queries = {
            TOKYO: parts,
            "カフェで会う": ("カフェ",),
            "ﾊﾝｶｸｶﾅ": ("ハンカク",),
            "我喜欢喝茶": ("喝茶",),
            "ภาษาไทยง่าย": ("ไทย",),
            "서울특별시": ("특별",),
            "葛\U000e0100城市": ("葛城",),  # a variation selector is not a letter
        }
        assert_found(store, subtests, queries, "大阪 ソウル 北")

    def test_emoji_are_found(self, store: Repository) -> None:
        party, heart = put(store, "a", "launch 🎉"), put(store, "b", "I ❤️ it")
        put(store, "c", "☀️ sunny 🇪🇸")
        assert words(store, "🎉") == [party]
        assert words(store, "🎉🎉🎉!!") == [party]
        assert words(store, "❤️") == [heart]
        assert words(store, "❤") == [heart]
        assert words(store, "🚀") == []
        assert sorted(words(store, "🎉 ❤")) == [party, heart]

    def test_no_character_of_a_query_is_syntax(self, store: Repository, subtests: pytest.Subtests) -> None:
        operators = ("tea -chess", "NEAR(tea chess)", "tea AND chess", "tea OR chess", "tea NOT tea")
        signs = (
            "tea*",
            "-tea",
            "(tea",
            "tea)",
            "^tea",
            "tea^2",
            "'tea'",
            'tea"',
            '""tea""',
            "tea\\",
            "%tea_",
        )
        others = ("body: tea", "name:tea", "{name} : tea", "tea + chess", "tea; DROP TABLE memory; --")
        letters = ("tea\0tea", "tea \ud800", "\u202etea", "tea\n\ttea", 'say "tea"', "NOT tea")
        queries: dict[str, Sequence[str]] = {"tea": (*operators, *signs, *others, *letters)}
        # Operators are words, too.
        queries |= {word: (word,) for word in ("and", "or", "not", "near", "AND", "NEAR")}
        assert_found(store, subtests, queries, "nothing")
        assert_found(store, subtests, {"tea": queries["tea"]}, "nothing", "stemmed")

    def test_signs_names_types_and_speakers_are_searched_and_stems_by_the_stemmed_index(
        self, store: Repository
    ) -> None:
        cpp, csharp = put(store, "C++", "a language"), put(store, "C#", "a language")
        assert set(words(store, "C++")) == {cpp, csharp}
        assert words(store, "f(x):=y^2") == []
        net = put(store, ".NET", "a platform")
        assert words(store, ".net") == [net]
        by_name, by_type = put(store, "Kettle"), one(store, entity("x", type_="kettle")).ids[0]
        by_speaker = one(store, PutText(ME, NewText(Kind.MESSAGE, "hello", speaker="Kettle"))).ids[0]
        assert set(words(store, "kettle")) == {by_name, by_type, by_speaker}
        found = put(store, "it", "she was running and configured connections")
        for query in ("run", "configure", "connection", "connect"):
            assert words(store, query) == []
            assert words(store, query, index="stemmed") == [found]

    def test_a_query_without_words_or_without_room_finds_nothing(self, store: Repository) -> None:
        put(store, "it", "tea")
        for query in ("", " ", "\n\t", "!?", "…", "\0", "\ud800", "()", '""', "***"):
            assert words(store, query) == words(store, query, index="stemmed") == []
        assert words(store, "tea", k=0) == []

    def test_a_query_of_ten_thousand_letters_is_a_query(self, store: Repository) -> None:
        first, last, cjk = put(store, "a", "alpha"), put(store, "b", "omega"), put(store, "c", TOKYO)
        filler = " ".join(f"filler{number}" for number in range(1_100))
        query = f"alpha {filler} omega"
        assert len(query) > 10_000
        assert words(store, query) == [first, last]
        assert words(store, "x" * 10_000) == []
        assert words(store, "東京" * 5_000) == [cjk]
        assert words(store, '"' * 10_000) == []

    def test_questions_find_what_they_are_about_and_stop_words_alone_themselves(
        self, store: Repository
    ) -> None:
        found = put(store, "SQLite", "a database in one file")
        put(store, "noise", "es lo que es, this is what it is")
        said = put(store, "a", "to be or not to be")
        questions = ("qué es SQLite", "what is SQLite?", "¿Cómo funciona SQLite?", "tell me about the SQLite")
        for query in questions:
            assert words(store, query)[0] == found
        assert words(store, "to be") == [said]

    def test_a_short_list_is_the_beginning_of_a_long_one(self, store: Repository) -> None:
        for number in range(30):
            tea, chai, cjk = number % 5, (number * 7) % 4, "茶を飲" if number % 3 else ""
            put(store, f"e{number}", " ".join(["x"] * number + ["tea"] * tea + ["чай"] * chai) + cjk)
        for query in ("tea", "чай", "tea чай", "茶を飲む tea"):
            everything = scored(store, query, 100)
            assert everything
            assert [scored(store, query, k) for k in (1, 2, 5, 10)] == [everything[:k] for k in (1, 2, 5, 10)]

    def test_filters_apply_inside_the_search_so_that_k_stays_k(self, store: Repository) -> None:
        for number in range(40):
            put(store, f"noise {number}", "tea tea tea")
        notes = [note(store, f"tea {number}, among many other words") for number in range(3)]
        talk = [note(store, f"tea {number} or so, I would say", Kind.MESSAGE, "s") for number in range(3)]
        for number in range(40):
            note(store, f"tea tea {number}", Kind.MESSAGE, "t")
            put(store, f"yours {number}", "tea tea", scope=YOU)
        agent = put(store, "agent's", "a long text that holds tea once", scope=Scope("", "helper"))
        assert set(words(store, "tea", 3, Filter(kinds=frozenset({Kind.NOTE})))) == set(notes)
        assert set(words(store, "tea", 3, Filter(session="s"))) == set(talk)
        messages = Filter(kinds=frozenset({Kind.MESSAGE}), session="s")
        assert set(words(store, "tea", 3, messages)) == set(talk)
        assert words(store, "tea", 3, Filter(agent="helper")) == [agent]
        assert agent in words(store, "tea", 500, Filter(agent=None))
        assert len(words(store, "tea", 500, Filter(agent=None))) == 40 + 3 + 3 + 40 + 1
        assert words(store, "tea", 3, Filter(session="u")) == []
        assert words(store, "tea", 3, Filter("nobody")) == []
        assert words(store, "tea", 3, Filter(kinds=frozenset())) == []

    def test_words_that_nearly_every_text_holds_neither_hide_the_rare_nor_starve_a_filter(
        self, store: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # A tenth of the budget, which a tenth of the texts exceeds.
        monkeypatch.setattr(affordable_terms, "__defaults__", (1_000,))
        crowd = [PutText(ME, NewText(Kind.NOTE, f"common {number}")) for number in range(1_050)]
        do(store, *crowd)
        rare, common = note(store, "common and rare"), put(store, "Ada", "common")
        assert words(store, "common rare")[0] == rare
        assert len(words(store, "common")) == 10
        entities = Filter(kinds=frozenset({Kind.ENTITY}))
        assert words(store, "common rare", where=entities) == [common]
        assert words(store, "common", where=entities) == [common]

    def test_the_index_follows_every_change_of_the_text(self, store: Repository) -> None:
        ada = put(store, "Ada", "one")
        new = (NewObservation("two"), NewObservation("six", supersedes="one"))
        do(store, AddObservations(ME, "Ada", new))
        assert [words(store, text) for text in ("one", "two", "six")] == [[], [ada], [ada]]
        do(store, RemoveObservations(ME, "Ada", ("two",)))
        assert [words(store, text) for text in ("one", "two", "six")] == [[], [], [ada]]

    def test_another_scope_never_moves_a_score_by_words(self, store: Repository) -> None:
        for number in range(6):
            put(store, f"e{number}", f"tea {'cup ' * number} 東京 カフェ")
        queries = ("tea", "cup", "tea cup", "東京", "京 tea")
        indexes: tuple[Analyser, ...] = ("plain", "stemmed")
        before = [scored(store, query, index=index) for query in queries for index in indexes]
        for number in range(60):
            put(store, f"e{number}", f"cup tea 東京 {'long ' * number}", scope=YOU)
            put(store, f"e{number}", "tea " * number, scope=Scope("", "agent"))
        assert [scored(store, query, index=index) for query in queries for index in indexes] == before
        yours = {found.id for found in scored(store, "tea", 100, Filter("you"))}
        assert not yours & {found.id for found in scored(store, "tea", 100)}

    def test_text_is_found_where_it_stands_inside_words(self, store: Repository) -> None:
        found = put(store, "Lovelace", "100% pure_gold \\o/ [año] Éa*b? ^東京")
        put(store, "other", "nothing")
        with store.read() as view:
            plain = ("velac", "VELAC", "0% p", "e_g", "\\o", "thing")
            for inside in (*plain, "ÑO", "éA*B? ^", "[AÑ", "ño]", "東"):
                assert found in entities_containing(view, inside, 10, Filter())
            # No character is a wildcard.
            for absent in ("l%e", "pure-gold", "L_velace", "\0", "\ud800", "a?ñ", "é*b", "[ñ]", "É[a]"):
                assert entities_containing(view, absent, 10, Filter()) == []
            for long in ("x" * 100_000, "東" * 20_000, "é" * 20_000):
                assert entities_containing(view, long, 10, Filter()) == []
            assert entities_containing(view, "velac", 10, Filter("you")) == []

    # Search by meaning

    def test_the_nearest_come_first_and_ties_go_by_id(self, store: Repository) -> None:
        greens = [note(store, f"green {number}") for number in range(3)]
        red = note(store, "red")
        grey = note(store, "grey")
        embed(store, colour)
        found = near(store, GREEN)
        # green: 1; grey (1, 1, 1): 1/sqrt(3) = 0.577; red: 0
        assert [hit.id for hit in found] == [*greens, grey, red]
        assert [hit.score for hit in found] == pytest.approx([1, 1, 1, 3**-0.5, 0], abs=1e-6)

    def test_the_best_passage_speaks_for_its_memory(self, store: Repository) -> None:
        many = put(store, "many", "red one", "green one", "blue one")
        few = put(store, "few", "blue")
        embed(store, colour)
        found = near(store, GREEN)
        assert [hit.id for hit in found] == [many, few]
        assert found[0].score == pytest.approx(1)
        with store.read() as view:
            texts = {passage.id: passage.text for passage in passages_of(view, [many])}
        assert "green one" in texts[found[0].passage or 0]

    def test_cosines_of_named_memories_are_those_of_the_search(self, store: Repository) -> None:
        many = put(store, "many", "red one", "green one", "blue one")
        grey, gone, yours = note(store, "grey"), note(store, "green"), put(store, "yours", "red", scope=YOU)
        embed(store, colour)
        do(store, Forget(ME, ids=(gone,)))
        late = note(store, "not embedded yet")
        with store.read() as view:
            found = view.cosines(GREEN, [yours, late, many, gone, grey, 999])
            pairs = view.embedded_passages([many, gone, grey, late, 999])
            passages = passages_of(view, [many, grey])
            assert [*view.cosines(GREEN, []), *view.embedded_passages([])] == []
        assert sorted(found, key=lambda hit: hit.id) == found
        assert [hit.id for hit in found] == sorted([many, grey, yours])
        searched = {hit.id: hit for hit in near(store, GREEN)}
        assert [hit for hit in found if hit.id != yours] == [searched[many], searched[grey]]
        assert pairs == sorted((passage.id, passage.memory) for passage in passages)

    def test_conditions_that_few_of_the_nearest_meet_leave_the_nearest_that_do(
        self, store: Repository
    ) -> None:
        for number in range(40):
            one(store, PutText(ME, NewText(Kind.NOTE, f"red {number}", category="ana")))
        far = [
            one(store, PutText(ME, NewText(Kind.NOTE, f"grey {number}", category="bo"))).ids[0]
            for number in range(4)
        ]
        embed(store, colour)
        with store.read() as view:
            scopes = [scope for (scope,) in view.rows("scope", ("id",))]
            where = (Equals("category", "bo"),)
            assert [hit.id for hit in view.nearest(RED, 3, scopes, where)] == far[:3]
            assert [hit.id for hit in view.nearest(RED, 30, scopes, where)] == far
            less = (*where, Not(OneOf("id", far[:2])))
            assert [hit.id for hit in view.nearest(RED, 3, scopes, less)] == far[2:]
            assert [hit.id for hit in view.nearest(RED, 3, scopes, (OneOf("id", far[2:]), *less))] == far[2:]

    def test_many_passages_of_one_memory_take_one_place(self, store: Repository) -> None:
        put(store, "many", *(f"red {number}" for number in range(50)))
        others = [put(store, f"e{number}", "blue") for number in range(5)]
        embed(store, colour)
        found = near(store, RED, 4)
        assert len({hit.id for hit in found}) == 4
        assert [hit.id for hit in found[1:]] == others[:3]

    def test_a_long_text_is_found_by_each_of_its_parts(self, store: Repository) -> None:
        long = note(store, "red. " + "filler words here. " * 300 + "blue.")
        short = note(store, "grey")
        embed(store, colour)
        with store.read() as view:
            assert len(passages_of(view, [long])) > 3
        assert [hit.id for hit in near(store, BLUE)] == [long, short]
        assert [hit.id for hit in near(store, RED)] == [long, short]

    def test_meaning_is_filtered_inside_the_search_too(self, store: Repository) -> None:
        for number in range(30):
            put(store, f"noise {number}", "red")
            note(store, f"red {number}", Kind.MESSAGE, "t")
            put(store, f"yours {number}", "red", scope=YOU)
        notes = [note(store, f"blue {number}") for number in range(3)]
        talk = [note(store, f"blue {number}", Kind.MESSAGE, "s") for number in range(3)]
        agent = put(store, "agent's", "blue", scope=Scope("", "helper"))
        embed(store, colour)
        assert [hit.id for hit in near(store, RED, 3, Filter(kinds=frozenset({Kind.NOTE})))] == notes
        assert [hit.id for hit in near(store, RED, 3, Filter(session="s"))] == talk
        assert [hit.id for hit in near(store, RED, 3, Filter(agent="helper"))] == [agent]
        assert len(near(store, RED, 500, Filter(agent=None))) == 30 + 30 + 3 + 3 + 1
        assert near(store, RED, 3, Filter("nobody")) == []
        assert near(store, RED, 3, Filter(session="u")) == []
        assert near(store, RED, 3, Filter(kinds=frozenset())) == []
        assert near(store, RED, 0) == []

    def test_another_scope_never_moves_a_score_by_meaning(self, store: Repository) -> None:
        for number in range(6):
            put(store, f"e{number}", ("red", "green", "grey")[number % 3])
        embed(store, colour)
        queries = [RED, towards(0.3, 0.5, 0.1), towards(-1, 2, 0.25)]
        before = [near(store, query) for query in queries]
        for number in range(60):
            put(store, f"y{number}", "red", "green", scope=YOU)
        embed(store, colour)
        assert [near(store, query) for query in queries] == before

    def test_life_and_death_show_in_meaning_at_once(self, store: Repository) -> None:
        ada = put(store, "Ada", "red thing", "green thing")
        embed(store, colour)
        assert near(store, RED)[0].score == pytest.approx(1)
        do(store, AddObservations(ME, "Ada", (NewObservation("blue thing", supersedes="red thing"),)))
        embed(store, colour)
        # red now matches only the name, (1, 1, 1)
        assert near(store, RED)[0].score == pytest.approx(3**-0.5)
        do(store, RemoveObservations(ME, "Ada", ("green thing",)))
        assert near(store, GREEN)[0].score == pytest.approx(3**-0.5)
        do(store, Forget(ME, ids=(ada,)))
        assert near(store, BLUE) == []
        do(store, Restore(ME, ada))
        assert near(store, BLUE)[0].score == pytest.approx(1)
        assert near(store, RED)[0].score == pytest.approx(3**-0.5)

    def test_an_observation_that_returns_is_found_by_meaning_again(self, store: Repository) -> None:
        seen = one(store, entity("Ada", "red thing")).added[0]
        embed(store, colour)
        do(store, RemoveObservations(ME, "Ada", ("red thing",)))
        do(store, RestoreObservation(ME, seen.id))
        assert near(store, RED)[0].score == pytest.approx(1)
        assert embed(store, colour) == 0

    # Models and vectors

    def test_without_a_model_nothing_is_near_and_everything_waits(self, store: Repository) -> None:
        ada = put(store, "Ada", "red")
        with store.read() as view:
            assert model_in_use(view) is None
            assert Search(view, Filter()).by_meaning(RED, 10) == []
            waiting = pending_passages(view, TINY, 0, 10)
            assert list(waiting) == list(passages_of(view, [ada]))
            assert list(pending_passages(view, TINY, waiting[0].id, 10)) == list(waiting[1:])
            assert list(pending_passages(view, TINY, 0, 1)) == list(waiting[:1])

    def test_the_first_model_comes_into_use_and_nothing_waits_twice(self, store: Repository) -> None:
        put(store, "Ada", "red")
        assert embed(store, colour) == 2
        assert embed(store, colour) == 0
        with store.read() as view:
            assert model_in_use(view) == TINY
            passages = [passage.id for passage in pending_passages(view, OTHER, 0, 10)]
            kept = vectors_of(view, passages)
        assert sorted(kept) == passages
        assert kept[passages[1]] == pytest.approx(RED)

    def test_what_waits_tells_who_and_what_it_is_about(self, store: Repository) -> None:
        put(store, "Ada", "likes red")
        one(store, PutText(ME, NewText(Kind.MESSAGE, "see you", session="s", speaker="Bob")))
        with store.read() as view:
            texts = [passage.text for passage in pending_passages(view, TINY, 0, 10)]
        assert texts == ["Ada (thing)", "Ada (thing): likes red", 'Bob said, "see you"']

    def test_two_models_never_mix(self, store: Repository) -> None:
        first, second = note(store, "red"), note(store, "blue")
        embed(store, colour)
        # The other model reverses the colours.
        embed(store, lambda text: RED if "blue" in text else BLUE, OTHER)
        with store.read() as view:
            assert model_in_use(view) == TINY
            assert list(pending_passages(view, OTHER, 0, 10)) == []
        assert near(store, RED)[0].id == first
        do(store, UseModel(OTHER))
        with store.read() as view:
            assert model_in_use(view) == OTHER
            assert store_counts(view).due == 0
            assert len(pending_passages(view, TINY, 0, 10)) == 2
        assert near(store, RED)[0].id == second
        # Vectors that the former model makes now are kept apart.
        embed(store, colour)
        assert near(store, RED)[0].id == second

    def test_what_a_new_model_has_not_read_waits_and_is_not_near(self, store: Repository) -> None:
        first, second = note(store, "red"), note(store, "red too")
        embed(store, colour)
        with store.read() as view:
            waiting = pending_passages(view, OTHER, 0, 1)
        do(store, PutVectors(OTHER, ((waiting[0].id, pack_vector(RED)),)))
        do(store, UseModel(OTHER))
        assert [hit.id for hit in near(store, RED)] == [first]
        with store.read() as view:
            assert store_counts(view).due == 1
        embed(store, colour, OTHER)
        assert [hit.id for hit in near(store, RED)] == [first, second]

    def test_what_returns_after_a_change_of_model_waits_for_its_vector(self, store: Repository) -> None:
        gone = note(store, "red")
        note(store, "blue")
        embed(store, colour)
        do(store, Forget(ME, ids=(gone,)))
        embed(store, colour, OTHER)
        do(store, UseModel(OTHER))
        with store.read() as view:
            assert store_counts(view).due == 0
        do(store, Restore(ME, gone))
        with store.read() as view:
            assert [passage.memory for passage in pending_passages(view, OTHER, 0, 10)] == [gone]
        embed(store, colour, OTHER)
        assert near(store, RED)[0].id == gone

    def test_vectors_of_passages_that_are_gone_are_passed_over(self, store: Repository) -> None:
        ada = put(store, "Ada", "red")
        with store.read() as view:
            waiting = pending_passages(view, TINY, 0, 10)
        do(store, Forget(ME, ids=(ada,)))
        do(store, Purge(at(10)))
        vectors = tuple((passage.id, pack_vector(RED)) for passage in waiting)
        assert one(store, PutVectors(TINY, (*vectors, (10_000, pack_vector(RED))))).count == 0
        assert near(store, RED) == []

    def test_vectors_of_what_was_forgotten_meanwhile_serve_its_return(self, store: Repository) -> None:
        ada = note(store, "red")
        with store.read() as view:
            waiting = pending_passages(view, TINY, 0, 10)
        do(store, Forget(ME, ids=(ada,)))
        do(store, PutVectors(TINY, ((waiting[0].id, pack_vector(RED)),)))
        assert near(store, RED) == []
        do(store, Restore(ME, ada))
        assert [hit.id for hit in near(store, RED)] == [ada]

    def test_vectors_of_the_wrong_width_are_refused_whole(self, store: Repository) -> None:
        first, second = note(store, "red"), note(store, "blue")
        with store.read() as view:
            waiting = [passage.id for passage in pending_passages(view, TINY, 0, 10)]
        wrong = (waiting[0], pack_vector(RED)), (waiting[1], pack_vector(towards(1, 0)))
        with pytest.raises(InvalidInput, match="tiny"):
            do(store, PutVectors(TINY, wrong))
        embed(store, colour)
        with pytest.raises(InvalidInput, match="tiny"):
            do(store, PutVectors(Model("tiny", 2), ((waiting[0], pack_vector(towards(1, 0))),)))
        with pytest.raises(InvalidInput, match="tiny"):
            near(store, towards(1, 0))
        assert [hit.id for hit in near(store, RED)] == [first, second]

    # Tokens

    def test_the_best_passage_of_a_memory_speaks_for_its_tokens(self, store: Repository) -> None:
        ada, bob = put(store, "Ada", "red", "blue"), note(store, "green")
        embed_tokens(store, colour)
        # Red is +--, blue is --+, and the name, which is like all colours, +++. Green is -+-.
        root = 3**0.5
        assert token_scores(store, [RED], ada, bob) == pytest.approx({ada: 1 / root, bob: -1 / root})
        # The name has both; of green, one of two is found: (1 - 1) / 2.
        assert token_scores(store, [RED, GREEN], ada, bob) == pytest.approx({ada: 1 / root, bob: 0})

    def test_without_tokens_a_memory_has_no_token_score(self, store: Repository) -> None:
        first = note(store, "red")
        embed(store, colour)
        second = note(store, "blue")
        embed_tokens(store, colour)
        assert list(token_scores(store, [RED], first, second)) == [second]
        with store.read() as view:
            assert count_without_tokens(view) == 1
            (lacking,) = passages_without_tokens(view, TINY, 0, 10)
            assert lacking.memory == first
        do(store, PutVectors(TINY, (), tokens=((lacking.id, pack_signs(colour("red")[None])),)))
        assert list(token_scores(store, [RED], first, second)) == [first, second]
        with store.read() as view:
            assert count_without_tokens(view) == 0
            assert passages_without_tokens(view, TINY, 0, 10) == []

    def test_tokens_live_and_go_with_their_passage_and_their_model(self, store: Repository) -> None:
        first, second = note(store, "red"), note(store, "blue")
        embed_tokens(store, colour)
        do(store, Forget(ME, ids=(first,)))
        assert list(token_scores(store, [RED], first, second)) == [second]
        do(store, Restore(ME, first))
        assert list(token_scores(store, [RED], first, second)) == [first, second]
        do(store, Forget(ME, ids=(first,)))
        do(store, Purge(at(10)))
        with store.read() as view:
            assert view.count("passage_tokens")[None] == 1
        embed(store, colour, OTHER)
        do(store, UseModel(OTHER))
        with store.read() as view:
            assert view.count("passage_tokens")[None] == 0
        assert token_scores(store, [RED], second) == {}

    def test_of_a_memory_with_many_passages_the_nearest_is_compared_or_the_first(
        self, store: Repository
    ) -> None:
        ada = put(store, "Ada", "grey", "brown", "black", "green", "blue")
        embed_tokens(store, colour)
        with store.read() as view:
            passages = [passage.id for passage in passages_of(view, [ada])]
        root = 3**0.5
        assert len(passages) == 6
        # The first four resemble each colour a little; blue is the last.
        assert token_scores(store, [GREEN], ada) == pytest.approx({ada: 1 / root})
        assert token_scores(store, [GREEN], ada, nearest={ada: passages[-1]}) == pytest.approx(
            {ada: -1 / root}
        )

    def test_tokens_of_the_wrong_width_are_refused_and_of_passages_that_are_gone_passed_over(
        self, store: Repository
    ) -> None:
        note(store, "red")
        wide = Model("wide", 9)
        with store.read() as view:
            (waiting,) = pending_passages(view, wide, 0, 10)
        with pytest.raises(InvalidInput, match="have 3 bytes, and wide makes 2 for each token"):
            do(store, PutVectors(wide, (), tokens=((waiting.id, b"abc"),)))
        with store.read() as view:
            assert view.count("passage_tokens")[None] == 0
        do(store, PutVectors(TINY, (), tokens=((10_000, b"a"),)))
        with store.read() as view:
            assert view.count("passage_tokens")[None] == 0

    # Reads for the ranking

    def test_the_facts_of_new_memories_are_the_lifecycle_of_the_specification(
        self, store: Repository
    ) -> None:
        texts = note(store, "a note"), note(store, "hi", Kind.MESSAGE, "s")
        made = [*texts, put(store, "Ada", "tea", second=5)]
        known = facts(store, *made)
        assert known.ids.tolist() == made
        start = microseconds(at(0))
        assert known.created_at.tolist() == [start, start, start + 5_000_000]
        assert known.updated_at.tolist() == known.created_at.tolist()
        for column in (known.happened_at, known.last_access):
            assert column.tolist() == [NEVER] * 3
        for column in (known.access_count, known.access_days, known.degree, known.status):
            assert column.tolist() == [0] * 3
        assert (known.strength.tolist(), known.stability.tolist()) == ([1.0] * 3, [1.0] * 3)
        assert (known.depth.tolist(), known.spread.tolist()) == ([2] * 3, [1] * 3)
        assert (known.importance.tolist(), known.metadata_share.tolist()) == ([0.5] * 3, [0.0] * 3)
        assert known.echo.tolist() == [False] * 3
        assert len(set(known.content.tolist())) == 3

    def test_facts_come_by_ascending_id_and_leave_out_what_does_not_exist(self, store: Repository) -> None:
        first, second, third = (put(store, name) for name in ("Ada", "Bob", "Eve"))
        assert facts(store, third, 10_000, first, second).ids.tolist() == [first, second, third]
        nothing = facts(store)
        assert nothing.ids.tolist() == nothing.access_days.tolist() == nothing.metadata_share.tolist() == []

    def test_facts_follow_what_the_user_says(self, store: Repository) -> None:
        ada, bob = put(store, "Ada"), put(store, "Bob")
        do(store, Amend(ME, ada, status=Status.COMPLETED, importance=0.9), second=3)
        texts = (
            NewText(Kind.NOTE, "then", happened_at=at(-50), importance=0.25, created_at=at(-10)),
            NewText(Kind.MESSAGE, "then", session="s"),
        )
        then, said = (one(store, PutText(ME, text)).ids[0] for text in texts)
        known = facts(store, ada, bob, then, said)
        completed = tuple(Status).index(Status.COMPLETED)
        assert known.status.tolist() == [completed, 0, 0, 0]
        assert known.importance.tolist() == [0.9, 0.5, 0.25, 0.5]
        assert known.happened_at.tolist() == [NEVER, NEVER, microseconds(at(-50)), NEVER]
        assert known.created_at[2] == microseconds(at(-10))
        # two texts are equal, and no entity equals one
        assert known.content[2] == known.content[3]
        assert len({*known.content.tolist()}) == 3

    def test_what_says_the_same_has_the_same_content_and_an_echo_is_the_query_itself(
        self, store: Repository
    ) -> None:
        made = [
            note(store, "where is my cup", Kind.MESSAGE, "now"),
            note(store, "where is my cup", Kind.MESSAGE, "before"),
            note(store, "where is my cup"),
            note(store, "where is my cup?", Kind.MESSAGE, "now"),
        ]
        echoes = facts(store, *made, query="where is my cup", session="now").echo
        assert echoes.tolist() == [True, False, False, False]
        assert not facts(store, *made, query="where is my cup").echo.any()
        # Messages, since equal notes would be stored once.
        said = ("Tea is good.", "tea  is GOOD", "«Téa is good»!")
        same = [note(store, text, Kind.MESSAGE, "s") for text in said]
        other = [note(store, text) for text in ("Tea is not good.", "I write C", "I write C#", "I write C++")]
        contents = facts(store, *same, *other).content.tolist()
        assert len(set(contents[:3])) == 1
        assert len(set(contents)) == 5

    def test_the_share_of_metadata_is_of_the_observations_in_force(self, store: Repository) -> None:
        listing, prose = NewObservation("a.py b.py", "metadata"), NewObservation("prose")
        ada = put(store, "Ada", listing, prose, "more prose", NewObservation("c.py", "metadata"))
        bob = put(store, "Bob")
        assert facts(store, ada, bob).metadata_share.tolist() == [0.5, 0.0]
        do(store, AddObservations(ME, "Ada", (NewObservation("better prose", supersedes="prose"),)))
        assert facts(store, ada).metadata_share.tolist() == [0.5]
        do(store, RemoveObservations(ME, "Ada", ("more prose", "better prose")))
        assert facts(store, ada).metadata_share.tolist() == [1.0]

    def test_the_degree_counts_relations_in_force_to_live_entities(self, store: Repository) -> None:
        ada, bob, eve = (put(store, name) for name in ("Ada", "Bob", "Eve"))
        do(store, relate("Ada", "knows", "Bob"), relate("Ada", "likes", "Bob"), relate("Eve", "knows", "Ada"))
        assert facts(store, ada, bob, eve).degree.tolist() == [3, 2, 1]
        do(store, EndRelation(ME, "Ada", "Bob", "likes"), second=2)
        assert facts(store, ada, bob, eve).degree.tolist() == [2, 1, 1]
        do(store, Forget(ME, names=("Eve",)), second=3)
        assert facts(store, ada, bob).degree.tolist() == [1, 1]
        do(store, Restore(ME, eve), second=4)
        assert facts(store, ada, bob, eve).degree.tolist() == [2, 1, 1]
        do(store, Unrelate(ME, "Ada", "Bob", "knows"), second=5)
        assert facts(store, ada, bob, eve).degree.tolist() == [1, 0, 1]

    # Usage

    def test_use_counts_each_memory_once_and_notes_when(self, store: Repository) -> None:
        ada, bob, eve = (put(store, name) for name in ("Ada", "Bob", "Eve"))
        outcome = one(store, RecordUsage(ME, (bob, ada, bob), "s"), second=10)
        assert (outcome.ids, outcome.count) == ((bob, ada), 2)
        one(store, RecordUsage(ME, (ada,), "s"), second=20)
        known = facts(store, ada, bob, eve)
        assert known.access_count.tolist() == [2, 1, 0]
        assert known.last_access.tolist() == [microseconds(at(20)), microseconds(at(10)), NEVER]
        assert known.access_days.tolist() == [1, 1, 0]
        # A late record does not set the time back.
        one(store, RecordUsage(ME, (ada,), "s"), second=5)
        assert facts(store, ada).last_access.tolist() == [microseconds(at(20))]
        assert facts(store, ada).access_count.tolist() == [3]

    def test_days_of_use_are_distinct_days_of_utc(self, store: Repository) -> None:
        ada = put(store, "Ada")
        madrid = timezone(timedelta(hours=1))
        for when, days in (
            (at(0), 1),
            (at(86_399), 1),
            (at(86_400), 2),
            (datetime(2026, 3, 3, 0, 30, tzinfo=madrid), 2),  # 23:30 of the second, in UTC
            (datetime(1969, 12, 31, 23, tzinfo=UTC), 3),
            (datetime(1970, 1, 1, 1, tzinfo=UTC), 4),
        ):
            store.apply([RecordUsage(ME, (ada,), "s")], at=when)
            assert facts(store, ada).access_days.tolist() == [days]

    def test_pairs_are_counted_in_either_order_and_never_with_oneself(self, store: Repository) -> None:
        ada, bob, eve = (put(store, name) for name in ("Ada", "Bob", "Eve"))
        one(store, RecordUsage(ME, (eve, ada), "s"), second=1)
        one(store, RecordUsage(ME, (ada, eve, ada), "t"), second=7)
        one(store, RecordUsage(ME, (bob, bob), "t"), second=8)
        one(store, RecordUsage(ME, (bob, eve), "t"), second=9)
        assert together(store, ada, bob, eve) == [(0, 2, 2, 7), (1, 2, 1, 9)]
        # Only pairs of these ids, as their positions.
        assert together(store, eve, ada) == [(0, 1, 2, 7)]
        assert together(store, ada) == together(store) == []

    def test_passages_are_read_by_their_ids(self, store: Repository) -> None:
        ada, text = put(store, "Ada", "likes tea", "plays chess"), note(store, "a note")
        with store.read() as view:
            live = list(passages_of(view, [ada, text]))
            assert len(live) >= 3
            assert list(passages_by_id(view, [passage.id for passage in reversed(live)])) == live
            assert list(passages_by_id(view, [live[-1].id, 10_000])) == live[-1:]
            assert list(passages_by_id(view, [])) == []
            # whatever it read before
            memories_by_id(view, [text])
            assert list(passages_by_id(view, [live[0].id])) == live[:1]
            memories_by_id(view, [])
            assert list(passages_by_id(view, [passage.id for passage in live])) == live

    # Copies and repairs

    def test_a_backup_of_a_live_store_opens_equal(
        self, store: Repository, opened: Opened, tmp_path: Path
    ) -> None:
        ada = put(store, "Ada", "red tea")
        bob = put(store, "Bob", "tea", scope=YOU)
        do(store, relate("Ada", "contains", "Café", create_missing=True))
        note(store, "tea note")
        do(store, Forget(ME, names=("Café",)), second=3)
        embed(store, colour)
        told: list[tuple[int, int | None]] = []
        with store.read() as view:  # a concurrent reader
            store_counts(view)
            store.backup(str(tmp_path / "copy.db"), lambda done, total: told.append((done, total)))
        do(store, entity("Later", "tea"))
        assert told
        assert told[-1][0] == told[-1][1]
        copy = opened(tmp_path / "copy.db")
        try:
            assert list(copy.verify()) == []
            assert ids_by_name(copy, "Later") == {}
            do(store, Forget(ME, names=("Later",)))
            do(store, Purge(at(100)))
            do(copy, Purge(at(100)))
            for where in (Filter(deleted=True), Filter("you", deleted=True)):
                with store.read() as ours, copy.read() as theirs:
                    assert memory_page(theirs, where, 0, 100) == memory_page(ours, where, 0, 100)
            assert relations(copy, ada, bob, deleted=True) == relations(store, ada, bob, deleted=True)
            assert scored(copy, "tea") == scored(store, "tea")
            assert near(copy, RED) == near(store, RED)
        finally:
            copy.close()

    def test_a_backup_does_not_write_over_a_file(self, store: Repository, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("precious")
        with pytest.raises(RecollectError):
            store.backup(str(tmp_path / "mine.txt"))
        assert (tmp_path / "mine.txt").read_text() == "precious"

    def test_repairing_what_is_whole_changes_nothing(self, store: Repository) -> None:
        ada = put(store, "Ada", "red tea", "v1")
        do(store, AddObservations(ME, "Ada", (NewObservation("v2", supersedes="v1"),)), entity("Bob", "tea"))
        do(store, Forget(ME, names=("Bob",)))
        embed(store, colour)
        before = (scored(store, "tea"), near(store, RED), memory(store, ada))
        assert list(store.repair()) == []
        assert (scored(store, "tea"), near(store, RED), memory(store, ada)) == before

    def test_scopes_are_listed(self, store: Repository) -> None:
        put(store, "Ada")
        put(store, "Ada", scope=Scope("you", "helper"))
        with store.read() as view:
            assert set(all_scopes(view)) == {ME, Scope("you", "helper")}

    def test_scopes_do_not_see_one_another(self, store: Repository) -> None:
        mine, yours = put(store, "Ada", "red"), put(store, "Ada", "blue", scope=YOU)
        assert mine != yours
        assert ids_by_name(store, "Ada", "ada") == {"Ada": mine, "ada": mine}
        assert ids_by_name(store, "Ada", scope=YOU) == {"Ada": yours}
        do(store, Forget(ME, names=("Ada",)))
        assert ids_by_name(store, "Ada", scope=YOU) == {"Ada": yours}
        with pytest.raises(NotFound):
            do(store, relate("Ada", "knows", "Ada"))
