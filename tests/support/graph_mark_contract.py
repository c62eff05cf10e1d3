"""The contract of every store for the mark of a graph: it changes exactly when the graph does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store_contract import ME, YOU, at

from recollect.domain.changes import (
    AddObservations,
    Amend,
    EndRelation,
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
    Unrelate,
)
from recollect.domain.records import Filter, Kind, Scope, Status
from recollect.ranking.factors import microseconds
from recollect.search.entities import graph_mark
from recollect.search.rows import memories_by_id, relations_of, scope_id
from recollect.search.texts import memory_page

if TYPE_CHECKING:
    from recollect.domain.changes import Change, Outcome
    from recollect.write.repository import Repository


def entity(name: str, *contents: str, type_: str = "unknown", scope: Scope = ME) -> PutEntity:
    return PutEntity(scope, NewEntity(name, type_, tuple(map(NewObservation, contents))))


class WatchedStore:
    """A store, looked at after each change."""

    def __init__(self, store: Repository) -> None:
        self.store = store
        self.second = 0.0
        self.graph, self.mark = self.read()

    def read(self) -> tuple[object, int]:
        """The content of the graph through other reads, and its mark."""
        with self.store.read() as view:
            entities = memory_page(view, Filter(kinds=frozenset({Kind.ENTITY})), 0, 1000)
            relations = relations_of(view, [each.id for each in entities])
            said = [
                (each.name, each.type, each.status, [(seen.content, seen.kind) for seen in each.in_force])
                for each in entities
            ]
            related = [
                (each.source_name, each.type, each.target_name, each.context, each.since, each.until)
                for each in relations
                if each.until is None or each.until > at(self.second)
            ]
            return (said, related), graph_mark(view, scope_id(view, ME), microseconds(at(self.second)))

    def do(self, change: Change, *, differs: bool) -> Outcome:
        """Make a change, and check that graph and mark change exactly if the test says so."""
        self.second += 1
        (outcome,) = self.store.apply([change], at=at(self.second)).outcomes
        graph, mark = self.read()
        assert (graph != self.graph) is differs, change
        assert (mark != self.mark) is differs, change
        self.graph, self.mark = graph, mark
        return outcome


class GraphMarkContract:
    def test_the_mark_follows_entities_and_observations(self, store: Repository) -> None:
        watched = WatchedStore(store)
        ada = watched.do(entity("Ada", "sails"), differs=True).ids[0]
        watched.do(entity("Ada", "sails"), differs=False)
        watched.do(entity("Ada", type_="person"), differs=True)
        watched.do(entity("Ada", type_="captain"), differs=False)
        watched.do(AddObservations(ME, "Ada", (NewObservation("rows"),)), differs=True)
        replaced = NewObservation("rows on Sundays", supersedes="rows")
        watched.do(AddObservations(ME, "Ada", (replaced,)), differs=True)
        old = next(seen for seen in self.memory(store, ada) if seen[1] == "rows")
        watched.do(RestoreObservation(ME, old[0]), differs=True)
        watched.do(RemoveObservations(ME, "Ada", ("rows",)), differs=True)
        watched.do(Amend(ME, ada, status=Status.PAUSED), differs=True)
        watched.do(Amend(ME, ada, importance=0.9), differs=False)

    def test_the_mark_follows_what_is_forgotten_and_comes_back(self, store: Repository) -> None:
        watched = WatchedStore(store)
        ada = watched.do(entity("Ada", "sails"), differs=True).ids[0]
        watched.do(entity("Bo"), differs=True)
        watched.do(Relate(ME, NewRelation("Ada", "Bo", "knows")), differs=True)
        full = watched.mark
        watched.do(Forget(ME, names=("Ada",)), differs=True)
        watched.do(Restore(ME, ada), differs=True)
        assert watched.mark == full
        watched.do(Forget(ME, names=("Ada",)), differs=True)
        watched.do(Purge(at(100)), differs=False)

    def test_the_mark_follows_relations(self, store: Repository) -> None:
        watched = WatchedStore(store)
        watched.do(entity("Ada"), differs=True)
        knows = NewRelation("Ada", "Bo", "knows")
        watched.do(Relate(ME, knows, create_missing=True), differs=True)
        watched.do(Relate(ME, knows), differs=False)
        watched.do(EndRelation(ME, "Ada", "Bo", "knows", at(0)), differs=True)
        watched.do(Relate(ME, knows), differs=True)
        watched.do(Unrelate(ME, "Ada", "Bo", "knows"), differs=True)
        until = NewRelation("Ada", "Bo", "hires", until=at(50))
        watched.do(Relate(ME, until), differs=True)
        watched.do(Relate(ME, NewRelation("Ada", "Bo", "trusts")), differs=True)
        watched.do(EndRelation(ME, "Ada", "Bo", "trusts", at(900)), differs=True)
        watched.second = 60
        watched.do(PutText(ME, NewText(Kind.NOTE, "Time has passed")), differs=True)

    def test_the_mark_tells_swapped_rows_apart(self, store: Repository) -> None:
        watched = WatchedStore(store)
        ids = [watched.do(entity(name), differs=True).ids[0] for name in "abcd"]
        # 1 and 4 add up to as much as 2 and 3.
        store.apply([Forget(ME, ids=(ids[1], ids[2]))], at=at(10))
        outer = watched.read()[1]
        store.apply([Restore(ME, ids[1]), Restore(ME, ids[2])], at=at(11))
        store.apply([Forget(ME, ids=(ids[0], ids[3]))], at=at(12))
        assert watched.read()[1] != outer

    def test_the_mark_stays_while_only_other_things_change(self, store: Repository) -> None:
        watched = WatchedStore(store)
        ada = watched.do(entity("Ada", "sails"), differs=True).ids[0]
        first = watched.do(PutText(ME, NewText(Kind.NOTE, "Ada sails")), differs=False).ids[0]
        watched.do(PutText(ME, NewText(Kind.MESSAGE, "Hello", session="s")), differs=False)
        watched.do(RecordUsage(ME, (ada, first), "s"), differs=False)
        correction = NewText(Kind.NOTE, "Ada rows")
        watched.do(Supersede(ME, (first,), correction), differs=False)
        watched.do(entity("Ada", "rows", scope=YOU), differs=False)
        watched.do(Forget(ME, ids=(first,)), differs=False)

    def test_a_correction_that_retires_an_observation_changes_the_mark(self, store: Repository) -> None:
        watched = WatchedStore(store)
        ada = watched.do(entity("Ada", "sails"), differs=True).ids[0]
        ((observation, _),) = self.memory(store, ada)
        watched.do(
            Supersede(ME, (), NewText(Kind.NOTE, "Ada rows"), observations=(observation,)), differs=True
        )

    def memory(self, store: Repository, id_: int) -> list[tuple[int, str]]:
        with store.read() as view:
            return [(seen.id, seen.content) for seen in memories_by_id(view, [id_])[id_].observations]
