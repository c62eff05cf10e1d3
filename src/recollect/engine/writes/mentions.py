"""Which entities texts speak of: found by name, in the transaction that brings the text or the entity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from recollect.conditions import Equals, Not, OneOf, is_null
from recollect.ports import Transaction
from recollect.retrieval.entities import has_entities, live_entities, named_in_each, person_called
from recollect.retrieval.term_index import Phrase, TermIndex
from recollect.retrieval.term_search import pair_phrases
from recollect.text.names import NameText, first_name
from recollect.text.tokens import has_unspaced, words

# Of texts that were there before an entity, so many are searched for its name, the newest.
_MOST_EARLIER = 2_000
_BATCH = 500
_IS_TEXT = Not(Equals("kind", "entity"))


def link_texts(rows: Transaction, scope: int, ids: Sequence[int]) -> None:
    """Find anew which entities these texts name; what the caller told stays."""
    if not ids:
        return
    if not has_entities(rows, scope):
        _unlink(rows, ids)  # of what is forgotten now and may come back
        return
    for start in range(0, len(ids), _BATCH):
        _link(rows, scope, ids[start : start + _BATCH])


def _link_again(rows: Transaction, scope: int, ids: Sequence[int]) -> None:
    """Find anew which entities these texts name; those found by a first name stay, whoever has it now."""
    kept = _linked_by_first_name(rows, ids)
    link_texts(rows, scope, ids)
    rows.put(
        "mention", [{"memory_id": id_, "entity_id": entity, "told": 0} for id_, entity in kept], keep=True
    )


def link_entities(rows: Transaction, scope: int, ids: Sequence[int]) -> None:
    """Look in the texts that were there before for the names of these new entities."""
    if not ids or not _has_texts(rows, scope):
        return
    found: set[int] = set()
    names = rows.rows("memory", ("name", "type"), (OneOf("id", ids), *live_entities(scope)))
    for name in _searched_names(rows, scope, names):
        for holding in _texts_with(rows, scope, name):
            texts = rows.rows(
                "memory", ("id",), (OneOf("id", holding), _IS_TEXT), newest_first=True, limit=_MOST_EARLIER
            )
            found.update(id_ for (id_,) in texts)
    _link_again(rows, scope, sorted(found))


def _searched_names(rows: Transaction, scope: int, names: Sequence[Sequence[str]]) -> Iterator[str]:
    """Each name, and its first name where that means nobody else."""
    for name, type_ in names:
        yield name
        first = first_name(name, type_)
        if first is not None and person_called(rows, scope, first) is not None:
            yield first


def _linked_by_first_name(rows: Transaction, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Of these texts' links, those to a person of whom the text says the first name alone."""
    links = rows.rows("mention", ("memory_id", "entity_id"), (Equals("told", 0), OneOf("memory_id", ids)))
    entities = {
        id_: (folded, first)
        for id_, folded, name, type_ in rows.rows(
            "memory",
            ("id", "folded_name", "name", "type"),
            (OneOf("id", {entity for _, entity in links}), is_null("deleted_at")),
        )
        if (first := first_name(name, type_)) is not None
    }
    texts = _name_texts(rows, [id_ for id_, entity in links if entity in entities])
    return [
        (id_, entity)
        for id_, entity in links
        if id_ in texts and entity in entities and _says_first_name_alone(texts[id_], *entities[entity])
    ]


def _says_first_name_alone(text: NameText, folded_name: str, first: str) -> bool:
    places = {place.name for place in text.places([first])}
    return first in places and folded_name not in places


def _texts_with(rows: Transaction, scope: int, name: str) -> list[list[int]]:
    """By each way to read a text, the documents that may contain a name."""
    index = TermIndex(rows, scope)
    folded = [index.postings(Phrase((word,)), "plain").ids for word in words(name)]
    # It may stand inside what counts as a word.
    paired = pair_phrases(name) if has_unspaced(name) else ()
    in_pairs = [index.postings(phrase, "pairs").ids for phrase in paired]
    return [reduce(np.intersect1d, each).tolist() for each in (folded, in_pairs) if each]


def _unlink(rows: Transaction, ids: Sequence[int]) -> None:
    rows.remove("mention", (Equals("told", 0), OneOf("memory_id", ids)))


def _has_texts(rows: Transaction, scope: int) -> bool:
    return any(
        rows.rows("memory", ("id",), (Equals("scope_id", scope), Equals("kind", kind)), limit=1)
        for kind in ("note", "message")
    )


def _name_texts(rows: Transaction, ids: Sequence[int]) -> dict[int, NameText]:
    live_texts = (OneOf("id", ids), _IS_TEXT, is_null("deleted_at"))
    return {
        id_: NameText.of(f"{speaker}: {text}" if speaker else text)
        for id_, speaker, text in rows.rows("memory", ("id", "speaker", "text"), live_texts)
    }


def _link(rows: Transaction, scope: int, ids: Sequence[int]) -> None:
    texts = _name_texts(rows, ids)
    named = named_in_each(rows, scope, list(texts.values()))
    _unlink(rows, ids)
    rows.put(
        "mention",
        [
            {"memory_id": id_, "entity_id": entity, "told": 0}
            for id_, entities in zip(texts, named, strict=True)
            for entity in sorted(entities)
        ],
        keep=True,
    )
