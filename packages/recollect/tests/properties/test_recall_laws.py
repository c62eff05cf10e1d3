"""Laws of recall over random stores: real files, every profile, a model that compares words."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.changes import Adopt, AdoptRelation, RecordUsage
from recollect.domain.records import Kind, Memory, Observation, Relation, Scope, Status
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.ranking.candidates import Reason, recompute_score
from recollect.ranking.profiles import PROFILES
from recollect.search.facts import ranking_facts
from recollect.search.recording import UsageRecorder
from recollect.search.rows import MemoryRows
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.domain.results import Answer, Hit

ME, YOU = Scope(), Scope("you")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODEL = HashingEmbedder(32)
WORDS = ("tea", "teas", "leaf", "cup", "el", "the", "té", "東京", "pot", "work")
SESSION = "today"

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
# From two years ago to a month ahead, to the hour.
times = st.integers(-24 * 730, 24 * 30).map(lambda hours: NOW + timedelta(hours=hours))
queries = st.one_of(
    texts,
    st.sampled_from(["", " ", "zzz", "what is tea", "explain the relation between tea and work", "x" * 500]),
)
limits = st.one_of(st.none(), st.integers(0, 12), st.just(1_000))
few = settings(max_examples=tries(15), suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class World:
    """The content of a store: memories and relations by id, and when each was shown."""

    memories: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    uses: tuple[tuple[tuple[int, ...], datetime], ...]


@st.composite
def memories(draw: st.DrawFn, id_: int, scope: Scope) -> Memory:
    kind = draw(st.sampled_from(Kind))
    created = draw(times)
    memory = Memory(
        id=id_,
        kind=kind,
        scope=scope,
        created_at=created,
        updated_at=draw(times),
        happened_at=draw(st.none() | times),
        status=draw(st.sampled_from(Status)),
        strength=draw(st.sampled_from([0.0, 0.3, 1.0])),
        depth=draw(st.integers(1, 3)),
        spread=draw(st.sampled_from([1, 2, 50])),
        stability=draw(st.sampled_from([0.01, 1.0, 400.0])),
        importance=draw(st.sampled_from([0.0, 0.5, 1.0])),
        deleted_at=draw(st.sampled_from([None, None, None, NOW])),
    )
    if kind is Kind.ENTITY:
        contents = draw(st.lists(texts, max_size=3, unique=True))
        kinds = st.sampled_from(["generic", "metadata"])
        seen = tuple(
            Observation(100 * id_ + place, content, draw(kinds), created)
            for place, content in enumerate(contents)
        )
        return replace(memory, name=f"{draw(texts)} {id_}", type=draw(texts), observations=seen)
    session = draw(st.sampled_from([SESSION, "before"])) if kind is Kind.MESSAGE else None
    return replace(memory, text=draw(texts), session=session)


@st.composite
def worlds(draw: st.DrawFn, scope: Scope = ME, first: int = 1) -> World:
    held = [draw(memories(first + number, scope)) for number in range(draw(st.integers(0, 7)))]
    entities = [memory for memory in held if memory.kind is Kind.ENTITY and memory.deleted_at is None]
    relations = []
    if len(entities) > 1:
        for place in range(draw(st.integers(0, 4))):
            source, target = draw(st.permutations(entities))[:2]
            ended = draw(st.sampled_from([None, NOW - timedelta(days=1)]))
            ends = (source.id, target.id, source.name, target.name)
            since = NOW - timedelta(days=9)
            relations.append(Relation(100 * first + place, *ends, f"knows {place}", since, until=ended))
    ids = st.lists(st.sampled_from([memory.id for memory in held]), min_size=1, unique=True) if held else None
    seen = draw(st.lists(st.tuples(ids.map(tuple), times), max_size=5)) if ids is not None else []
    return World(tuple(held), tuple(relations), tuple(seen))


@contextmanager
def opened(*told: World) -> Iterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        store = Repository(SqliteStore(Path(folder) / "memory.db"))
        signals = UsageRecorder(store, SESSION)
        with Engine(Services(store, lambda: NOW, lambda _: MODEL, "hashing", ME, signals)) as engine:
            for world in told:
                tell(engine, world)
            yield engine


def tell(engine: Engine, world: World) -> None:
    adopted = [Adopt(memory, fresh=True) for memory in world.memories]
    related = [AdoptRelation(relation, fresh=True) for relation in world.relations]
    engine._services.store.apply([*adopted, *related], at=NOW)
    for ids, at in world.uses:
        scope = world.memories[0].scope
        engine._services.store.apply([RecordUsage(scope, ids, "before")], at=at)
    engine.reindex()


def ask(engine: Engine, query: str, limit: int | None = None) -> list[Answer]:
    return [engine.search(query, limit=limit, profile=profile, explain=True) for profile in PROFILES]


@few
@given(world=worlds(), query=queries, limit=limits)
def test_reasons_recombine_exactly_lists_are_in_order_and_nothing_is_nan(
    world: World, query: str, limit: int | None
) -> None:
    live = {memory.id for memory in world.memories if memory.deleted_at is None}
    with opened(world) as engine:
        for answer in ask(engine, query, limit):
            assert len(answer.hits) <= (10 if limit is None else limit)
            assert {hit.memory.id for hit in answer.hits} <= live
            keys = [(-hit.score, hit.memory.id) for hit in answer.hits]
            assert keys == sorted(set(keys))
            for hit in answer.hits:
                numbers = [hit.score, *hit.scores.values(), *(place.score for place in hit.places.values())]
                assert np.isfinite(numbers).all()
                assert recompute_score(hit.reasons) == hit.score
                text = json.dumps([asdict(reason) for reason in hit.reasons], allow_nan=False)
                assert recompute_score(Reason(**reason) for reason in json.loads(text)) == hit.score
        again = ask(engine, query, limit)
        assert again == ask(engine, query, limit)


@few
@given(world=worlds(), query=queries, data=st.data())
def test_the_order_in_which_memories_arrive_does_not_matter(
    world: World, query: str, data: st.DataObject
) -> None:
    """The same memories under the same ids, adopted and accessed in another order."""
    turned = World(
        tuple(data.draw(st.permutations(world.memories))),
        tuple(data.draw(st.permutations(world.relations))),
        tuple(data.draw(st.permutations(world.uses))),
    )
    with opened(world) as one, opened(turned) as other:
        assert plain(ask(one, query)) == plain(ask(other, query))


EQUAL_UP_TO = {"recollect": 20, "mnemosyne": 6, "reverie": 100, "cognis": 10}
"""The largest limit for which a profile fetches as many candidates as for the smallest."""


@settings(max_examples=tries(4), suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**16), query=texts, limit=st.integers(1, 99))
def test_while_limits_fetch_equally_many_the_shorter_answer_begins_the_longer(
    seed: int, query: str, limit: int
) -> None:
    """More memories than any search fetches, so that what is not fetched could have come first."""
    random = Random(seed)  # noqa: S311  # it keeps no secret
    told = []
    for id_ in range(1, 131):
        created, updated = (NOW - timedelta(hours=random.randrange(2_000)) for _ in range(2))
        text = " ".join(random.choices(WORDS, k=random.randint(1, 6)))
        importance = random.choice([0.0, 0.5, 1.0])
        told.append(Memory(id_, Kind.NOTE, ME, created, updated, importance=importance, text=text))
    with opened(World(tuple(told), (), ())) as engine:
        for profile, most in EQUAL_UP_TO.items():
            longer = engine.search(query, limit=most, profile=profile, explain=True).hits
            for shorter in (1, 1 + limit % most):
                hits = engine.search(query, limit=shorter, profile=profile, explain=True).hits
                assert plain_hits(hits) == plain_hits(longer[:shorter])


@few
@given(world=worlds(), yours=worlds(YOU, first=1_000), query=queries)
def test_another_owners_memories_and_signals_change_nothing(world: World, yours: World, query: str) -> None:
    with opened(world) as engine:
        before = ask(engine, query)
        tell(engine, yours)
        engine.scoped("you").recall("tea leaf cup")
        assert ask(engine, query) == before


@few
@given(world=worlds(), query=texts, at=st.integers(0, 6), times_seen=st.integers(1, 9))
def test_being_seen_never_lowers_a_memorys_own_limbic_score(
    world: World, query: str, at: int, times_seen: int
) -> None:
    """Seen alone and just now, everything else being equal: the query, its time, the other signals.

    Its count rises, its last access is the latest there can be, and its days do not become fewer, so each
    factor of its own score stays or rises; those of the others' stay or fall, except where the first
    memory to be seen on a second day makes days count for all of them.
    """
    with opened(world) as engine:

        def limbic() -> dict[int, tuple[float, int]]:
            hits = engine.search(query, limit=1_000, profile="limbic").hits
            with engine._services.store.read() as view:
                days = ranking_facts(
                    MemoryRows(view), sorted(hit.memory.id for hit in hits), "", None, 0
                ).access_days
            return {hit.memory.id: (hit.scores["limbic_score"], int(days.max(initial=0))) for hit in hits}

        before = limbic()
        if not before:
            return
        chosen = sorted(before)[at % len(before)]
        for _ in range(times_seen):
            engine._services.store.apply([RecordUsage(ME, (chosen,), SESSION)], at=NOW)
        after = limbic()
        assert set(after) == set(before)
        for id_, (score, most_days) in before.items():
            if id_ == chosen:
                assert after[id_][0] >= score * (1 - 1e-12)
            elif most_days > 1 or after[id_][1] <= 1:
                assert after[id_][0] <= score * (1 + 1e-12)


def plain(answers: Sequence[Answer]) -> list[list[object]]:
    """Answers as a caller sees them, without the ids of observations, which depend on the order of writes."""
    return [plain_hits(answer.hits) for answer in answers]


def plain_hits(hits: Sequence[Hit]) -> list[object]:
    return [(hit.memory.id, hit.score, hit.places, hit.scores, hit.reasons, hit.passage) for hit in hits]
