"""Any sequence of writes leaves the same content in a store as in a few Python lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule
from hypothesis_profiles import tries
from stories import EMBEDDER, Story, refused

from recollect.domain.changes import (
    AddObservations,
    Change,
    EndRelation,
    Forget,
    NewEntity,
    NewObservation,
    NewRelation,
    Outcome,
    Purge,
    PutEntity,
    Relate,
    RemoveObservations,
    Restore,
    RestoreObservation,
    Unrelate,
)
from recollect.domain.errors import Conflict, NotFound
from recollect.domain.records import Filter, Scope
from recollect.search.candidates import Search
from recollect.search.entities import entities_named
from recollect.search.rows import relations_of, scope_id
from recollect.search.texts import memory_page, model_in_use, store_counts

ME = Scope()
START = datetime(2026, 3, 1, tzinfo=UTC)
INVERSE = {"contains": "part_of", "part_of": "contains"}
FOLDED = {"Ada": "ada", "ada": "ada", "Café": "cafe", "Cafe": "cafe", "Bob": "bob"}

NAMES = st.sampled_from(sorted(FOLDED))
WORDS = [f"word{number}" for number in range(6)]
CONTENTS = st.lists(st.sampled_from(WORDS), max_size=3)
TYPES = st.sampled_from(["knows", "contains", "part_of"])
SORTS = st.sampled_from(["person", "place", "unknown"])


@dataclass
class ModelObservation:
    """An observation of the model."""

    content: str
    superseded: bool = False
    removed_at: int | None = None

    @property
    def in_force(self) -> bool:
        return not self.superseded and self.removed_at is None


@dataclass
class Thing:
    """An entity of the model; observations by id."""

    name: str
    type: str = "unknown"
    seen: dict[int, ModelObservation] = field(default_factory=dict)
    gone_at: int | None = None

    @property
    def contents(self) -> list[str]:
        return [seen.content for seen in self.seen.values() if seen.in_force]


@dataclass
class Link:
    """A relation of the model: to be seen while both its ends are, unless it was removed by itself."""

    source: int
    target: int
    type: str
    ended: bool = False
    removed_at: int | None = None


class StoreStory(Story):
    """Each rule does the same to both, and expects the same refusal of both."""

    def __init__(self) -> None:
        super().__init__()
        self.second = 0
        self.things: dict[int, Thing] = {}
        self.links: dict[int, Link] = {}

    def check_end(self) -> None:
        self.searches_agree()

    # The model

    def exact(self, name: str) -> int | None:
        return next((id_ for id_, thing in self.alive() if thing.name == name), None)

    def find(self, name: str) -> int | None:
        alike = [id_ for id_, thing in self.alive() if FOLDED[thing.name] == FOLDED[name]]
        exact = self.exact(name)
        return exact if exact is not None else alike[0] if len(alike) == 1 else None

    def alive(self) -> list[tuple[int, Thing]]:
        return [(id_, thing) for id_, thing in self.things.items() if thing.gone_at is None]

    def visible(self) -> dict[int, Link]:
        living = {id_ for id_, _ in self.alive()}
        return {
            id_: link
            for id_, link in self.links.items()
            if link.removed_at is None and {link.source, link.target} <= living
        }

    def holding(self, source: int | None, type_: str, target: int | None) -> int | None:
        return next(
            (
                id_
                for id_, link in self.visible().items()
                if (link.source, link.type, link.target, link.ended) == (source, type_, target, False)
            ),
            None,
        )

    def observe(self, thing: Thing, outcome: Outcome, contents: list[str], old: str | None = None) -> None:
        new = [text for text in dict.fromkeys(contents) if text not in thing.contents]
        assert [added.content for added in outcome.added] == new
        thing.seen |= {added.id: ModelObservation(added.content) for added in outcome.added}
        for seen in thing.seen.values():
            if seen.in_force and seen.content == old:
                seen.superseded = True

    def do(self, change: Change) -> Outcome:
        return self.store.apply([change], at=self.now()).outcomes[0]

    def now(self) -> datetime:
        self.second += 1
        return START + timedelta(seconds=self.second)

    # The story

    @rule(name=NAMES, sort=SORTS, contents=CONTENTS)
    def put(self, name: str, sort: str, contents: list[str]) -> None:
        self.told_put(name, sort, contents, self.do(put(name, sort, contents)))

    def told_put(self, name: str, sort: str, contents: list[str], outcome: Outcome) -> None:
        standing = self.exact(name)
        assert outcome.created == (standing is None)
        if standing is None:
            assert outcome.ids[0] not in self.things
            self.things[outcome.ids[0]] = Thing(name, sort)
        else:
            assert outcome.ids == (standing,)
            self.told_type(self.things[standing], sort, outcome)
        self.observe(self.things[outcome.ids[0]], outcome, contents)

    def told_type(self, thing: Thing, sort: str, outcome: Outcome) -> None:
        another = sort not in {"unknown", thing.type}
        takes = another and thing.type == "unknown"
        assert outcome.took_type == (sort if takes else None)
        assert outcome.kept_type == (thing.type if another and not takes else None)
        if takes:
            thing.type = sort

    @rule(name=NAMES, contents=CONTENTS)
    def add(self, name: str, contents: list[str]) -> None:
        found = self.find(name)
        with refused(NotFound, found is None):
            outcome = self.do(add(name, contents))
            assert outcome.ids == (found,)
            self.observe(self.things[outcome.ids[0]], outcome, contents)

    @rule(name=NAMES, content=st.sampled_from(WORDS), old=st.sampled_from(WORDS))
    def correct(self, name: str, content: str, old: str) -> None:
        found = self.find(name)
        known = self.things[found].contents if found is not None else []
        # A known observation needs no other to correct; a new one must name a known one.
        with refused(NotFound, found is None or (content not in known and old not in known)):
            change = AddObservations(ME, name, (NewObservation(content, supersedes=old),))
            outcome = self.do(change)
            self.observe(self.things[outcome.ids[0]], outcome, [content], old if old != content else None)

    @rule(name=NAMES, contents=CONTENTS)
    def remove(self, name: str, contents: list[str]) -> None:
        found = self.find(name)
        outcome = self.do(RemoveObservations(ME, name, tuple(contents)))
        seen = self.things[found].seen.values() if found is not None else ()
        gone = [one for one in seen if one.in_force and one.content in contents]
        assert outcome.count == len(gone)
        for one in gone:
            one.removed_at = self.second

    @precondition(lambda self: any(thing.seen for thing in self.things.values()))
    @rule(data=st.data())
    def bring_back(self, data: st.DataObject) -> None:
        choices = [(id_, entity) for entity, thing in self.things.items() for id_ in thing.seen]
        id_, entity = data.draw(st.sampled_from(choices))
        thing = self.things[entity]
        seen = thing.seen[id_]
        gone = seen.removed_at is not None or seen.superseded
        with refused(NotFound, not gone):
            clash = thing.gone_at is not None or seen.content in thing.contents
            with refused(Conflict, gone and clash):
                self.do(RestoreObservation(ME, id_))
                seen.removed_at = None
                seen.superseded = False

    @rule(source=NAMES, type_=TYPES, goal=NAMES, create=st.booleans())
    def relate(self, source: str, type_: str, goal: str, create: bool) -> None:
        change = Relate(ME, NewRelation(source, goal, type_), create)
        known = self.find(source) is not None and self.find(goal) is not None
        with refused(NotFound, not known and not create):
            self.told_relate(source, type_, goal, self.do(change))

    def told_relate(self, source: str, type_: str, target: str, outcome: Outcome) -> None:
        made = []
        for name, id_ in zip((source, target), outcome.ids, strict=True):
            if self.find(name) is None:
                self.things[id_] = Thing(name)
                made.append(name)
            assert self.find(name) == id_
        assert outcome.also_created == tuple(made)
        start, stop = outcome.ids
        assert outcome.created == (self.holding(start, type_, stop) is None)
        pairs = [(start, type_, stop)]
        if type_ in INVERSE:
            pairs.append((stop, INVERSE[type_], start))
        assert len(outcome.relations) == len(pairs)
        for id_, pair in zip(outcome.relations, pairs, strict=True):
            standing = self.holding(*pair[:2], pair[2])
            assert standing in {None, id_}
            if standing is None:
                self.links[id_] = Link(pair[0], pair[2], pair[1])

    @rule(source=NAMES, type_=TYPES, goal=NAMES)
    def end(self, source: str, type_: str, goal: str) -> None:
        start, stop = self.find(source), self.find(goal)
        holding = self.holding(start, type_, stop)
        with refused(NotFound, holding is None):
            self.do(EndRelation(ME, source, goal, type_))
            for id_ in (holding, self.holding(stop, INVERSE.get(type_, ""), start)):
                if id_ is not None:
                    self.links[id_].ended = True

    @rule(source=NAMES, type_=TYPES, goal=NAMES)
    def unrelate(self, source: str, type_: str, goal: str) -> None:
        start, stop = self.find(source), self.find(goal)
        ends = {(start, type_, stop), (stop, INVERSE.get(type_), start)}
        gone = [link for link in self.visible().values() if (link.source, link.type, link.target) in ends]
        assert self.do(Unrelate(ME, source, goal, type_)).count == len(gone)
        for link in gone:
            link.removed_at = self.second

    @rule(names=st.lists(NAMES, min_size=1, max_size=2))
    def forget(self, names: list[str]) -> None:
        wanted = list(dict.fromkeys(id_ for id_ in map(self.exact, names) if id_ is not None))
        assert self.do(Forget(ME, names=tuple(names))).ids == tuple(wanted)
        for id_ in wanted:
            self.things[id_].gone_at = self.second

    @precondition(lambda self: self.things)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.things)))
        thing = self.things[id_]
        taken = thing.gone_at is not None and self.exact(thing.name) is not None
        with refused(NotFound, thing.gone_at is None), refused(Conflict, taken):
            self.do(Restore(ME, id_))
            thing.gone_at = None

    @rule(ago=st.integers(0, 20))
    def purge(self, ago: int) -> None:
        before = self.second - ago
        count = self.do(Purge(START + timedelta(seconds=before))).count
        gone = {id_ for id_, thing in self.things.items() if _earlier(thing.gone_at, before)}
        assert count == len(gone)
        self.things = {id_: thing for id_, thing in self.things.items() if id_ not in gone}
        for thing in self.things.values():
            thing.seen = {
                id_: seen for id_, seen in thing.seen.items() if not _earlier(seen.removed_at, before)
            }
        self.links = {
            id_: link
            for id_, link in self.links.items()
            if not {link.source, link.target} & gone and not _earlier(link.removed_at, before)
        }

    @rule(
        puts=st.lists(st.tuples(NAMES, SORTS, CONTENTS), max_size=3),
        adds=st.lists(st.tuples(NAMES, CONTENTS), max_size=3),
        links=st.lists(st.tuples(NAMES, TYPES, NAMES), max_size=3),
    )
    def batch_that_keeps_going(
        self,
        puts: list[tuple[str, str, list[str]]],
        adds: list[tuple[str, list[str]]],
        links: list[tuple[str, str, str]],
    ) -> None:
        lost = AddObservations(ME, "Ada", (NewObservation("new"), NewObservation("x", supersedes="nothing")))
        changes: list[Change] = [
            *(add(*each) for each in adds),
            *(Relate(ME, NewRelation(source, target, type_)) for source, type_, target in links),
            lost,
            *(put(*each) for each in puts),
        ]
        outcomes = iter(self.store.apply(changes, at=self.now(), keep_going=True).outcomes)
        for name, contents in adds:
            outcome, found = next(outcomes), self.find(name)
            assert (outcome.error is None) == (found is not None)
            if found is not None:
                self.observe(self.things[found], outcome, contents)
        for source, type_, target in links:
            outcome = next(outcomes)
            known = self.find(source) is not None and self.find(target) is not None
            assert (outcome.error is None) == known
            if known:
                self.told_relate(source, type_, target, outcome)
        assert next(outcomes).error is not None
        for name, sort, contents in puts:
            self.told_put(name, sort, contents, next(outcomes))

    @rule(name=NAMES, contents=CONTENTS)
    def batch_that_fails_whole(self, name: str, contents: list[str]) -> None:
        lost = Relate(ME, NewRelation("Nobody", "Nowhere", "knows"))
        with pytest.raises(NotFound):
            self.store.apply(
                [put(name, "place", contents), Forget(ME, names=tuple(FOLDED)), lost], at=self.now()
            )

    @rule()
    def embed(self) -> None:
        if (waiting := self.pending_vectors()).vectors:
            self.do(waiting)
        self.searches_agree()

    # Laws

    @invariant()
    def graph_is_the_same(self) -> None:
        with self.store.read() as view:
            page = memory_page(view, Filter(deleted=True), 0, 1_000)
            found = relations_of(view, list(self.things))
            names = entities_named(view, scope_id(view, ME), list(FOLDED))
        assert {memory.id: (memory.name, memory.type, memory.deleted_at is None) for memory in page} == {
            id_: (thing.name, thing.type, thing.gone_at is None) for id_, thing in self.things.items()
        }
        for memory in page:
            thing = self.things[memory.id]
            assert {seen.id: (seen.content, seen.in_force) for seen in memory.observations} == {
                id_: (seen.content, seen.in_force) for id_, seen in thing.seen.items()
            }
        assert {
            relation.id: Link(relation.source, relation.target, relation.type, relation.until is not None)
            for relation in found
        } == self.visible()
        assert names == {name: self.find(name) for name in FOLDED if self.find(name) is not None}

    def searches_agree(self) -> None:
        with self.store.read() as view:
            for sort in ("person", "place", "unknown"):
                of_it = {id_ for id_, thing in self.alive() if thing.type == sort}
                assert {found.id for found in Search(view, Filter()).by_words(sort, 100)} == of_it
            for word in WORDS:
                holders = {id_ for id_, thing in self.alive() if word in thing.contents}
                assert {found.id for found in Search(view, Filter()).by_words(word, 100)} == holders
                if store_counts(view).due == 0 and model_in_use(view) is not None:
                    near = Search(view, Filter()).by_meaning(EMBEDDER.query(word), 100)
                    assert {found.id for found in near} == {id_ for id_, _ in self.alive()}
                    assert holders <= {found.id for found in near if found.score > 0}


def put(name: str, sort: str, contents: list[str]) -> PutEntity:
    return PutEntity(ME, NewEntity(name, sort, tuple(map(NewObservation, contents))))


def add(name: str, contents: list[str]) -> AddObservations:
    return AddObservations(ME, name, tuple(map(NewObservation, contents)))


def _earlier(when: int | None, before: int) -> bool:
    return when is not None and when < before


StoreStory.TestCase.settings = settings(max_examples=tries(25), stateful_step_count=30)
TestStoreStory = StoreStory.TestCase
