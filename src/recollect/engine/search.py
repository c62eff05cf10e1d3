"""Searching by words and by meaning at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from recollect.engine.meaning import embedder_of
from recollect.engine.results import Answer, Hit, Place
from recollect.errors import InvalidInput, ModelUnavailable
from recollect.rank.fuse import reciprocal_ranks
from recollect.records import Filter, Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recollect.engine.parts import Parts
    from recollect.ports import Vector, View
    from recollect.records import Found, Model

# Each search brings three times what is asked for, so that what both found can rise.
_EXPANSION = 3
MOST_HITS = 1_000


def search(parts: Parts, query: str, limit: int, kinds: Collection[Kind]) -> Answer:
    if not 0 <= limit <= MOST_HITS:
        raise InvalidInput(f"A search gives 0 to {MOST_HITS:,} hits, not {limit}.")
    if limit == 0 or not query.strip():
        return Answer(query, (), "words")
    where = Filter(parts.scope.owner, parts.scope.agent, kinds=frozenset(kinds))
    model, vector, note = _vector(parts, query)
    while True:
        with parts.store.read() as view:
            if vector is None or _is_in_use(model, view):
                words = view.by_words(query, _EXPANSION * limit, where, "stemmed")
                meaning = view.by_meaning(vector, _EXPANSION * limit, where) if vector is not None else ()
                return Answer(query, _hits(view, words, meaning, limit), _mode(words, meaning), note)
        # Someone changed the model meanwhile, and vectors of two models are never compared.
        former = model
        model, vector, note = _vector(parts, query)
        if model == former:
            vector, note = (
                None,
                "The store's vectors are of another model than the one that answers its name.",
            )


def _vector(parts: Parts, query: str) -> tuple[Model | None, Vector | None, str | None]:
    """The query's vector, or why there is none. Embedded before the store is read, so nothing waits."""
    try:
        embedder = embedder_of(parts)
        vector = embedder.query(query)
    except ModelUnavailable as error:
        return None, None, str(error)
    return embedder.model, vector, None


def _is_in_use(model: Model | None, view: View) -> bool:
    """Or could be: a store without vectors has no model yet."""
    used = view.model()
    return used is None or (model is not None and used.name == model.name)


def _hits(view: View, words: Sequence[Found], meaning: Sequence[Found], limit: int) -> tuple[Hit, ...]:
    fused = reciprocal_ranks([[found.id for found in words], [found.id for found in meaning]])[:limit]
    wanted = [id_ for id_, _ in fused]
    memories = view.memories(wanted)
    places = {"words": _places(words), "meaning": _places(meaning)}
    passage_ids = {found.id: found.passage for found in meaning}
    passages = {passage.id: passage.text for passage in view.passages(wanted)}
    return tuple(
        Hit(
            memory=memories[id_],
            score=score,
            places={source: found[id_] for source, found in places.items() if id_ in found},
            passage=passages.get(passage_ids.get(id_) or 0),
        )
        for id_, score in fused
    )


def _places(found: Sequence[Found]) -> Mapping[int, Place]:
    return {hit.id: Place(rank, hit.score) for rank, hit in enumerate(found, start=1)}


def _mode(words: Sequence[Found], meaning: Sequence[Found]) -> Literal["hybrid", "meaning", "words"]:
    if words and meaning:
        return "hybrid"
    return "meaning" if meaning else "words"
