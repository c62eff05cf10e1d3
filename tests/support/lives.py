"""Random histories of a scope: writes, then every possible read.

Answers of two stores can be compared, because each id is replaced by its place among those of its scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from semantic import search_semantic

from recollect.domain.errors import RecollectError
from recollect.domain.records import Filter, Kind, Memory, Relation, Scope
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.ranking.profiles import PROFILES
from recollect.search.recording import UsageRecorder
from recollect.search.texts import memory_page
from recollect.services import Services

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.results import Answer, Context
    from recollect.stores.port import Clock
    from recollect.write.repository import Repository

ME = Scope("me", "assistant")
OTHERS = (Scope("you", "assistant"), Scope("me", "another"), Scope("you", "another"), Scope())
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODEL = HashingEmbedder(32)
NAMES = ("Ada", "Bob", "Tea")
TEXTS = (
    "Ada works at Google",
    "Ada is working at Google",
    "Ada works at Apple",
    "Bob likes green tea",
    "green tea and a pot",
    "the pot of Ada",
    "té verde en marzo",
    "東京 tea",
)
QUERIES = (
    "Ada works",
    "green tea",
    "where does Ada work",
    "what is tea",
    "tea in March",
    "Ada works at Google",
)
SESSIONS = ("today", "before")

names, texts, queries = st.sampled_from(NAMES), st.sampled_from(TEXTS), st.sampled_from(QUERIES)
sessions = st.sampled_from(SESSIONS)
places = st.integers(0, 5)
tags = st.lists(st.sampled_from(["home", "work"]), max_size=2, unique=True)
days = st.none() | st.integers(-400, 30).map(lambda number: START + timedelta(days=number))


@dataclass(frozen=True)
class Act:
    """One write. It names memories by their place among those of the scope."""

    what: str
    given: tuple[Any, ...] = ()


@dataclass
class Life:
    """One scope's view of a store, and what came of what it did."""

    engine: Engine
    results: list[object] = field(default_factory=list)

    def ids(self) -> list[int]:
        scope = self.engine.scope
        with self.engine._services.store.read() as view:
            return [
                one.id for one in memory_page(view, Filter(scope.owner, scope.agent, deleted=True), 0, 10_000)
            ]

    def live(self, act: Act) -> None:
        """Do it, and keep what it answers; what cannot be done is an answer, too."""
        ids = self.ids()

        def at(place: int) -> int:
            return ids[place % len(ids)] if ids else 0

        try:
            done = DEEDS[act.what][0](self.engine, at, *act.given)
        except RecollectError as error:
            done = type(error), str(error)
        self.engine._services.usage.settle(None)
        self.results.append(without_ids(done, self.ids()))


Deed = Callable[..., object]
"""Takes the engine, a function from a place to an id, and what the act was given."""
DEEDS: dict[str, tuple[Deed, tuple[st.SearchStrategy[Any], ...]]] = {
    "entity": (
        lambda engine, _, name, seen: engine.create_entities([{"name": name, "observations": seen}]),
        (names, st.lists(texts, max_size=2, unique=True)),
    ),
    "relate": (
        lambda engine, _, *ends: engine.graph.create_relations([(ends[0], "knows", ends[1])]),
        (names, names),
    ),
    "note": (
        lambda engine, _, text, tagged, happened: engine.remember(text, tags=tagged, happened_at=happened),
        (texts, tags, days),
    ),
    "message": (
        lambda engine, _, session, speaker, text: engine.add_messages(
            session, [{"content": text, "speaker": speaker}]
        ),
        (sessions, st.none() | names, texts),
    ),
    "correct": (lambda engine, at, place, text: engine.supersede(at(place), text), (places, texts)),
    "update": (lambda engine, at, place, text: engine.update(at(place), text=text), (places, texts)),
    "forget": (lambda engine, at, place: len(engine.forget([at(place)])), (places,)),
    "restore": (lambda engine, at, place: engine.restore(at(place)), (places,)),
    "recall": (lambda engine, _, query: engine.recall(query), (queries,)),
    "semantic": (lambda engine, _, query: search_semantic(engine, query), (queries,)),
    "open": (lambda engine, _, name: engine.graph.open_nodes([name]), (names,)),
    "keyed": (lambda engine, _, text: engine.remember(text, key="the same key"), (texts,)),
}
acts = st.one_of([st.tuples(*given).map(partial(Act, what)) for what, (_, given) in DEEDS.items()])
# The owner of each act: True for mine.
lives = st.lists(st.tuples(st.booleans(), acts), min_size=6, max_size=24)


@dataclass(frozen=True)
class Ask:
    """One way to ask."""

    query: str
    options: dict[str, Any]
    budget: int


asks = st.builds(
    Ask,
    queries,
    st.fixed_dictionaries(
        {
            "limit": st.sampled_from([None, 1, 3, 50]),
            "kinds": st.sets(st.sampled_from(Kind), min_size=1),
            "tags": tags,
            "session": st.none() | sessions,
            "as_of": st.none() | st.integers(-1, 26).map(lambda hours: START + timedelta(hours=hours)),
            "include_superseded": st.booleans(),
        }
    ),
    st.integers(1, 300),
)


# How texts name memories.
_NAMED = re.compile(r"(memory |restore |#)(\d+)", re.IGNORECASE)
# Ids of observations, and lists of ids of memories.
_OF_THE_STORE = {"observation", "similar_to", "added", "ids", "cursor"}


def without_ids(value: object, ids: Sequence[int]) -> object:  # noqa: PLR0911  # one for each form
    """A value with its ids replaced by places in the scope, and without ids of observations."""
    place = {id_: number for number, id_ in enumerate(ids)}
    match value:
        case Memory():
            return (
                place[value.id],
                value.name,
                value.text,
                value.tags,
                value.duplicates,
                value.revisions,
                [place[entity] for entity in value.mentions],
                None if value.superseded_by is None else place[value.superseded_by],
                None if value.similar_to is None else (place[value.similar_to], value.similarity),
                [(seen.content, seen.in_force, seen.similarity) for seen in value.observations],
            )
        case str():
            return _NAMED.sub(lambda found: f"{found[1]}{place.get(int(found[2]), '?')}", value)
        case dict():
            return {key: without_ids(item, ids) for key, item in value.items()}
        case list() | tuple():
            return [without_ids(item, ids) for item in value]
        case Relation():
            return value.source_name, value.type, value.target_name, value.until, value.deleted_at
    if is_dataclass(value):
        items = {
            name: getattr(value, name)
            for name, field in value.__dataclass_fields__.items()
            if field.compare and name not in _OF_THE_STORE
        }
        return {
            name: place.get(item, item) if name == "id" else without_ids(item, ids)
            for name, item in items.items()
        }
    return value


def answers(life: Life, ask: Ask) -> list[object]:
    """Everything that one can ask, without leaving a trace."""
    engine, ids = life.engine, life.ids()
    seen: list[object] = []
    for profile in PROFILES:
        answer: Answer = engine.search(ask.query, profile=profile, explain=True, **ask.options)
        seen.append(answer)
        context: Context = engine.context(
            ask.query,
            budget_tokens=ask.budget,
            session=ask.options["session"],
            profile=profile,
            as_of=ask.options["as_of"],
        )
        seen.append(context)
    seen.append(search_semantic(engine, ask.query, explain=True, record=False))
    seen.append(engine.graph.search_nodes(ask.query))
    seen.append(engine.context([{"content": ask.query, "role": "user"}], budget_tokens=ask.budget))
    seen += [engine.why_not(ask.query, id_, **ask.options) for id_ in ids[:4]]
    seen += [engine.history(id_) for id_ in ids[:3]]
    seen += [engine.sessions.list(), *(engine.sessions.turns(session, last=2) for session in SESSIONS)]
    return [without_ids(one, ids) for one in seen]


def opened_life(store: Repository, scope: Scope, clock: Clock) -> Life:
    signals = UsageRecorder(store, "today")
    return Life(Engine(Services(store, clock, lambda _: MODEL, "hashing", scope, signals)))


def both(act: Act) -> list[tuple[bool, Act]]:
    return [(False, act), (True, act)]


EVERYTHING = [
    *both(Act("entity", ("Ada", ["Ada works at Google"]))),
    *both(Act("note", ("Ada works at Google", ["work"], None))),
    *both(Act("note", ("Ada is working at Google", [], START - timedelta(days=300)))),
    *both(Act("message", ("today", "Ada", "green tea and a pot"))),
    *both(Act("keyed", ("Bob likes green tea",))),
    (False, Act("recall", ("green tea",))),
    (False, Act("recall", ("Ada works",))),
    (True, Act("recall", ("green tea",))),
    (False, Act("correct", (1, "Ada works at Apple"))),
    (False, Act("open", ("Ada",))),
]
# A context names by its id what corrects a turn of the session.
CORRECTED = [
    *both(Act("message", ("today", None, "Ada works at Google"))),
    (True, Act("correct", (0, "Ada works at Apple"))),
]
USUAL: dict[str, Any] = {"limit": None, "kinds": set(Kind), "tags": [], "session": None, "as_of": None}
