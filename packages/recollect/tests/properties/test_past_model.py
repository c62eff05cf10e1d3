"""Whatever happens, a question about a past moment is answered as it would have been at that moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from hypothesis_profiles import tries
from stories import EMBEDDER, Story, refused

from recollect.domain.changes import (
    AddObservations,
    Amend,
    Change,
    Forget,
    NewEntity,
    NewObservation,
    NewText,
    Outcome,
    Purge,
    PutEntity,
    PutText,
    RemoveObservations,
    Restore,
    Supersede,
)
from recollect.domain.errors import Conflict, InvalidInput, NotFound, RecollectError
from recollect.domain.records import Filter, Kind, Scope, memory_at
from recollect.search.candidates import Search
from recollect.search.entities import entities_named
from recollect.search.rows import memories_by_id, scope_id
from recollect.search.texts import memory_page, model_in_use

ME = Scope()
START = datetime(2026, 3, 1, tzinfo=UTC)
WORDS = [f"word{number}" for number in range(4)]
QUERY = EMBEDDER.query(" ".join(WORDS[:2]))
QUERY_TOKENS = EMBEDDER.documents(WORDS[:2])

TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
KINDS = st.sampled_from([Kind.NOTE, Kind.MESSAGE])
NAMES = st.sampled_from(["Ada", "Bob"])


@dataclass
class Thing:
    """The model of a memory: only its present state."""

    kind: Kind
    text: str = ""
    name: str = ""
    contents: dict[str, int] = field(default_factory=dict)
    """Observations, each with when it was made."""
    removed: list[tuple[str, int, int]] = field(default_factory=list)
    """Removed observations, each with the times of its creation and removal. A purge destroys them."""
    retired: bool = False
    gone_at: int | None = None

    @property
    def lives(self) -> bool:
        return not self.retired and self.gone_at is None

    @property
    def all_text(self) -> str:
        return self.text if self.kind is not Kind.ENTITY else " ".join(self.contents)


@dataclass(frozen=True)
class Then:
    """The state at a moment: memories, their texts, and the cosines that the store found."""

    all_text: dict[int, str]
    near: dict[int, float]
    tokens: dict[int, float]
    """How well the words of each match the query's."""


class PastStory(Story):
    """The model keeps a picture of every moment, and the store is asked about them all."""

    def __init__(self) -> None:
        super().__init__()
        self.things: dict[int, Thing] = {}
        self.pictures: list[Then] = []

    def check_end(self) -> None:
        for second in range(len(self.pictures)):
            self.ask_about(second)
        self.ask_for_all()

    # The model

    def find_entity(self, name: str) -> Thing | None:
        return next(
            (thing for thing in self.things.values() if thing.name == name and thing.gone_at is None), None
        )

    def twin(self, text: str) -> int | None:
        return next(
            (
                id_
                for id_, thing in sorted(self.things.items())
                if thing.lives and thing.kind is Kind.NOTE and thing.text == text
            ),
            None,
        )

    def do(self, *changes: Change) -> list[Outcome]:
        return list(self.store.apply(changes, at=_at(len(self.pictures))).outcomes)

    def end_moment(self) -> None:
        """Everything gets its vectors, and the moment is over."""
        self.do(self.pending_vectors())
        with self.store.read() as view:
            near, scores = scores_of(Search(view, Filter()))
        said = {id_: thing.all_text for id_, thing in self.things.items() if thing.lives}
        assert near.keys() == said.keys() == scores.keys()
        self.pictures.append(Then(said, near, scores))

    # The story

    @rule(kind=KINDS, text=TEXTS)
    def write(self, kind: Kind, text: str) -> None:
        (outcome,) = self.do(PutText(ME, NewText(kind, text, session="s")))
        self.add_to_model(kind, text, outcome)
        self.end_moment()

    def add_to_model(self, kind: Kind, text: str, outcome: Outcome) -> None:
        twin = self.twin(text) if kind is Kind.NOTE else None
        assert outcome.created == (twin is None)
        if twin is None:
            self.things[outcome.ids[0]] = Thing(kind, text)
        else:
            assert outcome.ids[0] == twin

    @rule(name=NAMES, contents=st.lists(st.sampled_from(WORDS), max_size=2, unique=True))
    def observe(self, name: str, contents: list[str]) -> None:
        new = NewEntity(name, observations=tuple(map(NewObservation, contents)))
        (outcome,) = self.do(PutEntity(ME, new))
        thing = self.find_entity(name)
        if thing is None:
            thing = self.things[outcome.ids[0]] = Thing(Kind.ENTITY, name=name)
        thing.contents = {content: len(self.pictures) for content in contents} | thing.contents
        self.end_moment()

    @rule(name=NAMES, old=st.sampled_from(WORDS), new=st.sampled_from(WORDS))
    def correct(self, name: str, old: str, new: str) -> None:
        thing = self.find_entity(name)
        if thing is not None and old in thing.contents and new not in thing.contents:
            self.do(AddObservations(ME, name, (NewObservation(new, supersedes=old),)))
            del thing.contents[old]
            thing.contents[new] = len(self.pictures)
            self.end_moment()

    @rule(name=NAMES, content=st.sampled_from(WORDS))
    def remove(self, name: str, content: str) -> None:
        self.do(RemoveObservations(ME, name, (content,)))
        thing = self.find_entity(name)
        if thing is not None and content in thing.contents:
            thing.removed.append((content, thing.contents.pop(content), len(self.pictures)))
        self.end_moment()

    @precondition(lambda self: self.things)
    @rule(data=st.data(), texts=st.lists(TEXTS, min_size=1, max_size=2))
    def amend(self, data: st.DataObject, texts: list[str]) -> None:
        """Perhaps twice at one moment: then the former of the two was never to be read."""
        id_ = data.draw(st.sampled_from(sorted(self.things)))
        thing = self.things[id_]
        if thing.retired:
            return  # a wording that was never in force gets no vector
        wrong = thing.kind is Kind.ENTITY and thing.gone_at is None
        with refused(NotFound, thing.gone_at is not None), refused(InvalidInput, wrong):
            self.do(*(Amend(ME, id_, text=text) for text in texts))
            thing.text = texts[-1]
        self.end_moment()

    @precondition(lambda self: self.things)
    @rule(data=st.data(), text=st.none() | TEXTS)
    def supersede(self, data: st.DataObject, text: str | None) -> None:
        texts = sorted(id_ for id_, thing in self.things.items() if thing.kind is not Kind.ENTITY)
        if not texts:
            return
        ids = data.draw(st.lists(st.sampled_from(texts), min_size=1, max_size=2, unique=True))
        by = data.draw(st.sampled_from(texts)) if text is None else self.twin(text)
        named = [*ids, *([] if by is None else [by])]
        fine = all(self.things[id_].lives for id_ in named) and by not in ids
        change = Supersede(ME, tuple(ids), NewText(Kind.NOTE, text) if text is not None else by or 0)
        with refused(RecollectError, not fine):
            (outcome,) = self.do(change)
            if text is not None:
                self.add_to_model(Kind.NOTE, text, outcome)
            for id_ in ids:
                self.things[id_].retired = True
        self.end_moment()

    @rule(name=NAMES, data=st.data())
    def retire_an_observation(self, name: str, data: st.DataObject) -> None:
        thing = self.find_entity(name)
        texts = [id_ for id_, each in self.things.items() if each.lives and each.kind is not Kind.ENTITY]
        if thing is None or not thing.contents or not texts:
            return
        content = data.draw(st.sampled_from(sorted(thing.contents)))
        with self.store.read() as view:
            (entity,) = entities_named(view, scope_id(view, ME), [name]).values()
            known = {seen.content: seen.id for seen in memories_by_id(view, [entity])[entity].in_force}
        self.do(Supersede(ME, (), texts[0], observations=(known[content],)))
        del thing.contents[content]
        self.end_moment()

    @precondition(lambda self: self.things)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.things)))
        thing = self.things[id_]
        (outcome,) = self.do(Forget(ME, (id_,)))
        assert outcome.count == (thing.gone_at is None)
        thing.gone_at = len(self.pictures) if thing.gone_at is None else thing.gone_at
        self.end_moment()

    @precondition(lambda self: self.things)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        id_ = data.draw(st.sampled_from(sorted(self.things)))
        thing = self.things[id_]
        taken = thing.gone_at is not None and bool(thing.name) and self.find_entity(thing.name) is not None
        with refused(NotFound, thing.lives), refused(Conflict, taken):
            self.do(Restore(ME, id_))
            if thing.gone_at is None:
                thing.retired = False
            thing.gone_at = None
        self.end_moment()

    @rule(ago=st.integers(0, 10))
    def purge(self, ago: int) -> None:
        before = len(self.pictures) - ago
        self.do(Purge(_at(before)))
        gone = {
            id_ for id_, thing in self.things.items() if thing.gone_at is not None and thing.gone_at < before
        }
        for id_ in gone:
            del self.things[id_]
            for then in self.pictures:
                then.all_text.pop(id_, None)
                then.near.pop(id_, None)
                then.tokens.pop(id_, None)
        for id_, thing in self.things.items():
            lost = [each for each in thing.removed if each[2] < before]
            thing.removed = [each for each in thing.removed if each not in lost]
            for content, made, removed in lost:
                self.unsay(id_, content, range(made, removed))
        self.end_moment()

    def unsay(self, id_: int, content: str, seconds: range) -> None:
        """Take an observation out of the pictures of a time; how near its entity was then is not known."""
        for then in (self.pictures[second] for second in seconds):
            if id_ in then.all_text:
                then.all_text[id_] = " ".join(word for word in then.all_text[id_].split() if word != content)
                then.near.pop(id_, None)
                then.tokens.pop(id_, None)

    @precondition(lambda self: self.pictures)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        self.ask_about(data.draw(st.integers(0, len(self.pictures) - 1)))

    # Laws

    def ask_about(self, second: int) -> None:
        then, where = self.pictures[second], Filter(as_of=_at(second))
        sure = self.things.keys()
        with self.store.read() as view:
            for word in WORDS:
                expected = {id_ for id_, said in then.all_text.items() if word in said.split()}
                for index in ("plain", "stemmed"):
                    found = {hit.id for hit in Search(view, where).by_words(word, 100, index)}
                    assert found & sure == expected & sure
                    assert expected <= found
            near, tokens = scores_of(Search(view, where))
            page = {memory.id: memory for memory in memory_page(view, where, 0, 1_000)}
        assert near.keys() == page.keys() >= then.all_text.keys()
        assert {id_: near[id_] for id_ in then.near} == then.near
        assert {id_: tokens[id_] for id_ in then.tokens} == then.tokens
        assert near.keys() & sure == then.all_text.keys() & sure
        for id_, said in then.all_text.items():
            read = memory_at(page[id_], _at(second))
            heard = read.text or " ".join(seen.content for seen in read.in_force)
            assert sorted(heard.split()) == sorted(said.split())

    def ask_for_all(self) -> None:
        """With what was superseded: all but what was forgotten, as it reads now."""
        where = Filter(superseded=True, kinds=frozenset({Kind.NOTE, Kind.MESSAGE}))
        there = {
            id_: thing.text
            for id_, thing in self.things.items()
            if thing.gone_at is None and thing.kind is not Kind.ENTITY
        }
        with self.store.read() as view:
            assert {memory.id: memory.text for memory in memory_page(view, where, 0, 1_000)} == there
            for word in WORDS:
                found = {hit.id for hit in Search(view, where).by_words(word, 100)}
                assert found == {id_ for id_, text in there.items() if word in text.split()}
            if model_in_use(view) is not None:
                assert {hit.id for hit in Search(view, where).by_meaning(QUERY, 100)} == there.keys()


def scores_of(search: Search) -> tuple[dict[int, float], dict[int, float]]:
    """By memory, how near it is, and how well its words match the query's."""
    hits = search.by_meaning(QUERY, 100)
    nearest = {hit.id: hit.passage for hit in hits if hit.passage is not None}
    tokens = search.token_scores(QUERY_TOKENS, [hit.id for hit in hits], nearest)
    return {hit.id: hit.score for hit in hits}, tokens


def _at(second: int) -> datetime:
    return START + timedelta(seconds=second)


PastStory.TestCase.settings = settings(max_examples=tries(25), stateful_step_count=30)
TestPastStory = PastStory.TestCase
