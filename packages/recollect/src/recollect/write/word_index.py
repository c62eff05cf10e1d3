"""Update a scope's word index and mentions in the transaction that changes its memories.

A new document is one row. From time to time, new rows are merged into the postings of their terms. Searches
read the postings and the rows that are not merged yet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from recollect.domain.records import Kind
from recollect.domain.tables import Equals, KeyIn, Not, OneOf, is_null
from recollect.search.entities import has_entities, live_entities, named_in_each, person_called
from recollect.search.words import (
    TERM_ID,
    IndexSize,
    Phrase,
    Postings,
    TermIndex,
    appended_block,
    index_size,
    join_postings,
    pack_block,
    pair_phrases,
    postings_of,
    select_rows,
    split_into_blocks,
    unmerged,
    unpack_block,
)
from recollect.stores.port import Transaction
from recollect.text.names import NameText, first_name
from recollect.text.tokens import has_unspaced, letter_pairs, porter_stem, words

if TYPE_CHECKING:
    from recollect.search.texts import Document


_MOST_UNMERGED = 512
# A document with more terms is merged immediately, since every search reads all unmerged documents.
_LONG_DOCUMENT = 1_000
# These bound the memory in use: characters split into terms at a time, and terms merged at a time.
_CHARACTERS_AT_ONCE = 65_536
_TERMS_AT_ONCE = 16_384

_Item = TypeVar("_Item")


def write_documents(rows: Transaction, scope: int, documents: Sequence[Document]) -> None:
    """Index documents, replacing those with the same id."""
    erase_documents(rows, [document.id for document in documents])
    for some in _split(documents, lambda document: len(document.body), _CHARACTERS_AT_ONCE):
        _add_documents(rows, scope, some)


def _split(
    items: Sequence[_Item], size_of: Callable[[_Item], int], max_size: int
) -> Iterator[Sequence[_Item]]:
    """Split items into parts. Each ends with the item that makes it larger than `max_size`."""
    start = size = 0
    for stop, item in enumerate(items, start=1):
        size += size_of(item)
        if size > max_size or stop == len(items):
            yield items[start:stop]
            start, size = stop, 0


def _add_documents(rows: Transaction, scope: int, documents: Sequence[Document]) -> None:
    terms = [document_terms(document) for document in documents]
    word_ids, pair_ids = (
        _term_ids(rows, scope, {term for each in terms for term in each[pair]}, pair=pair) for pair in (0, 1)
    )
    added, sizes = [], []
    for document, (in_words, in_pairs) in zip(documents, terms, strict=True):
        added.append(
            {
                "memory_id": document.id,
                "scope_id": scope,
                "kind": document.kind.value,
                "merged": 0,
                "words": np.array([word_ids[word] for word in in_words], TERM_ID).tobytes(),
                "pairs": np.array([pair_ids[pair] for pair in in_pairs], TERM_ID).tobytes(),
            }
        )
        sizes.append((document.kind, len(in_words), len(in_pairs)))
    rows.put("document", added)
    size = _changed_size(index_size(rows, scope), sizes, 1)
    size = size._replace(unmerged=size.unmerged + len(documents))
    if size.unmerged > _MOST_UNMERGED or any(some + more > _LONG_DOCUMENT for _, some, more in sizes):
        _merge(rows, scope)
        size = size._replace(unmerged=0)
    _put_size(rows, scope, size)


def erase_documents(rows: Transaction, ids: Sequence[int]) -> None:
    """Remove documents from the index of any scope, and terms that no other document has."""
    if not ids:
        return
    columns = ("scope_id", "memory_id", "kind", "merged", "words", "pairs")
    former = rows.rows("document", columns, (OneOf("memory_id", ids),), order=("scope_id", "memory_id"))
    for scope, group in groupby(former, itemgetter(0)):
        terms: set[int] = set()
        merged: dict[int, list[int]] = {}
        gone, sizes, waiting = [], [], 0
        for _, id_, kind, is_merged, in_words, in_pairs in group:
            own = set(np.frombuffer(in_words + in_pairs, TERM_ID).tolist())
            terms |= own
            for term in own if is_merged else ():
                merged.setdefault(term, []).append(id_)
            gone.append(id_)
            sizes.append((Kind(kind), _term_count(in_words), _term_count(in_pairs)))
            waiting += not is_merged
        _remove_postings(rows, merged)
        rows.remove("document", (OneOf("memory_id", gone),))
        _drop_unused_terms(rows, scope, terms)
        size = _changed_size(index_size(rows, scope), sizes, -1)
        _put_size(rows, scope, size._replace(unmerged=size.unmerged - waiting))


def clear_index(rows: Transaction, scope: int) -> None:
    """Delete a scope's index, to build it again."""
    rows.remove("document", (Equals("scope_id", scope),))
    rows.remove("term", (Equals("scope_id", scope),))
    _put_size(rows, scope, IndexSize())


def document_terms(document: Document) -> tuple[list[str], list[str]]:
    """Return the words and the pairs of letters of a document."""
    texts = (document.name, document.type, document.body)
    return (
        [word for text in texts for word in words(text)],
        [pair for text in texts for pair in letter_pairs(text)],
    )


def _term_count(packed: bytes) -> int:
    return len(packed) // TERM_ID.itemsize


def _term_ids(rows: Transaction, scope: int, terms: Collection[str], *, pair: int) -> dict[str, int]:
    """Return the id of each term. A new term is added."""
    if not terms:
        return {}
    stems = {term: term if pair else porter_stem(term) for term in terms}
    where = (Equals("scope_id", scope), Equals("pair", pair), OneOf("stem", sorted(set(stems.values()))))
    known: dict[str, int] = {term: id_ for id_, term in rows.rows("term", ("id", "term"), where)}
    new = sorted(term for term in terms if term not in known)
    ids = rows.put(
        "term", [{"scope_id": scope, "pair": pair, "stem": stems[term], "term": term} for term in new]
    )
    return known | dict(zip(new, ids, strict=True))


def _put_size(rows: Transaction, scope: int, size: IndexSize) -> None:
    rows.patch("scope", (Equals("id", scope),), size._asdict())


def _changed_size(size: IndexSize, documents: Iterable[tuple[Kind, int, int]], sign: int) -> IndexSize:
    """Add documents (sign 1) or subtract them (-1), given as kind, number of words and of pairs."""
    for kind, in_words, in_pairs in documents:
        size = IndexSize(
            documents=size.documents + sign,
            words=size.words + sign * in_words,
            paired=size.paired + sign * (in_pairs > 0),
            pairs=size.pairs + sign * in_pairs,
            unmerged=size.unmerged,
            entities=size.entities + sign * (kind is Kind.ENTITY),
            messages=size.messages + sign * (kind is Kind.MESSAGE),
        )
    return size


def _merge(rows: Transaction, scope: int) -> None:
    """Merge the newest documents into the postings."""
    waiting = rows.rows("document", ("memory_id", "words", "pairs"), unmerged(scope))
    for some in _split(waiting, lambda row: _term_count(row[1]) + _term_count(row[2]), _TERMS_AT_ONCE):
        _add_postings(rows, postings_of(some))
    rows.patch("document", (OneOf("memory_id", [row[0] for row in waiting]),), {"merged": 1})


def _add_postings(rows: Transaction, new: Mapping[int, Postings]) -> None:
    places = _group_by_block(rows, {term: postings.ids.tolist() for term, postings in new.items()})
    old = _blocks(rows, places)
    put, gone = [], []
    for term, postings in new.items():
        by_block = places[term]
        for first, members in by_block.items():
            part = postings if len(by_block) == 1 else select_rows(postings, np.array(members))
            before = old.get((term, first))
            if before is None:
                whole = part
            else:
                longer = appended_block(first, *before, part)
                if longer is not None:
                    count = before[0] + len(part.ids)
                    put.append({"term_id": term, "first_id": first, "count": count, "packed": longer})
                    continue
                whole = join_postings([unpack_block(first, *before), part])
            put += [_block_row(term, block) for block in split_into_blocks(whole)]
            if whole.ids[0] < first:
                gone.append((term, first))
    _replace_blocks(rows, gone, put)


def _remove_postings(rows: Transaction, documents: Mapping[int, Sequence[int]]) -> None:
    """Remove these documents from the postings of each term."""
    places = _group_by_block(rows, documents)
    put, gone = [], []
    for (term, first), packed in _blocks(rows, places).items():
        block = unpack_block(first, *packed)
        removed = np.array(documents[term], np.int64)
        kept = np.flatnonzero(~np.isin(block.ids, removed))
        if not len(kept) or block.ids[kept[0]] != first:
            gone.append((term, first))
        if len(kept):
            put.append(_block_row(term, select_rows(block, kept)))
    _replace_blocks(rows, gone, put)


def _replace_blocks(
    rows: Transaction, gone: Sequence[tuple[int, int]], put: Sequence[dict[str, object]]
) -> None:
    if gone:
        rows.remove("posting", (KeyIn(("term_id", "first_id"), gone),))
    rows.put("posting", put)


def _group_by_block(
    rows: Transaction, documents: Mapping[int, Sequence[int]]
) -> dict[int, dict[int, list[int]]]:
    """Group each term's documents by block: by term, then by the first id of the block (0: a new block)."""
    known = rows.rows("posting", ("term_id", "first_id"), (OneOf("term_id", list(documents)),))
    firsts = {term: [first for _, first in blocks] for term, blocks in groupby(known, itemgetter(0))}
    places: dict[int, dict[int, list[int]]] = {}
    for term, ids in documents.items():
        blocks = firsts.get(term)
        if not blocks or len(blocks) == 1:
            places[term] = {blocks[0] if blocks else 0: list(range(len(ids)))}
            continue
        which = np.maximum(np.searchsorted(blocks, ids, side="right") - 1, 0).tolist()
        by_block: dict[int, list[int]] = {}
        for place, block in enumerate(which):
            by_block.setdefault(blocks[block], []).append(place)
        places[term] = by_block
    return places


def _blocks(
    rows: Transaction, places: Mapping[int, Mapping[int, object]]
) -> dict[tuple[int, int], tuple[int, bytes]]:
    """Return each block's number of documents and its bytes, by term and first id."""
    keys = [(term, first) for term, blocks in places.items() for first in blocks if first]
    columns = ("term_id", "first_id", "count", "packed")
    found = rows.rows("posting", columns, (KeyIn(("term_id", "first_id"), keys),)) if keys else []
    return {(term, first): (count, packed) for term, first, count, packed in found}


def _block_row(term: int, block: Postings) -> dict[str, object]:
    first = int(block.ids[0])
    return {"term_id": term, "first_id": first, "count": len(block.ids), "packed": pack_block(block)}


def _drop_unused_terms(rows: Transaction, scope: int, terms: Collection[int]) -> None:
    """Delete the terms that no document contains any more."""
    used = {term for (term,) in rows.rows("posting", ("term_id",), (OneOf("term_id", list(terms)),))}
    unposted = np.array([term for term in terms if term not in used], np.int64)
    if len(unposted):
        waiting = rows.rows("document", ("words", "pairs"), unmerged(scope))
        waiting_terms = np.frombuffer(b"".join(packed for row in waiting for packed in row), TERM_ID)
        rows.remove("term", (OneOf("id", unposted[~np.isin(unposted, waiting_terms)].tolist()),))


# Mentions: links from texts to the entities that they name

# Maximum number of earlier texts, newest first, that are searched for a new entity's name.
_MOST_EARLIER = 2_000
_BATCH = 500
_IS_TEXT = Not(Equals("kind", "entity"))


def link_texts(rows: Transaction, scope: int, ids: Sequence[int]) -> None:
    """Recompute which entities these texts name. Keep links that a caller gave."""
    if ids and not has_entities(rows, scope):
        _replace_links(rows, ids, ())  # also links of forgotten texts, which may come back
        return
    for start in range(0, len(ids), _BATCH):
        some = ids[start : start + _BATCH]
        texts = _name_texts(rows, some)
        named = named_in_each(rows, scope, list(texts.values()))
        found = [(id_, entity) for id_, each in zip(texts, named, strict=True) for entity in sorted(each)]
        _replace_links(rows, some, found)


def _replace_links(rows: Transaction, ids: Sequence[int], links: Iterable[tuple[int, int]]) -> None:
    """Replace the computed links of texts. Keep links that a caller gave."""
    rows.remove("mention", (Equals("explicit", 0), OneOf("memory_id", ids)))
    _put_links(rows, links)


def _put_links(rows: Transaction, links: Iterable[tuple[int, int]]) -> None:
    mentions = [{"memory_id": id_, "entity_id": entity, "explicit": 0} for id_, entity in links]
    rows.put("mention", mentions, keep=True)


def link_entities(rows: Transaction, scope: int, ids: Sequence[int]) -> None:
    """Link earlier texts to new entities that they name. Keep their links by first name."""
    has_texts = ids and any(
        rows.rows("memory", ("id",), (Equals("scope_id", scope), Equals("kind", kind)), limit=1)
        for kind in ("note", "message")
    )
    if not has_texts:
        return
    found: set[int] = set()
    for name, type_ in rows.rows("memory", ("name", "type"), (OneOf("id", ids), *live_entities(scope))):
        names = [name]
        first = first_name(name, type_)
        if first is not None and person_called(rows, scope, first) is not None:
            names.append(first)
        for candidates in (ids for each in names for ids in _texts_with(rows, scope, each)):
            texts = rows.rows(
                "memory", ("id",), (OneOf("id", candidates), _IS_TEXT), descending=True, limit=_MOST_EARLIER
            )
            found.update(id_ for (id_,) in texts)
    kept = _linked_by_first_name(rows, sorted(found))
    link_texts(rows, scope, sorted(found))
    _put_links(rows, kept)


def _linked_by_first_name(rows: Transaction, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return the links of these texts that rest on a first name only."""
    links = rows.rows("mention", ("memory_id", "entity_id"), (Equals("explicit", 0), OneOf("memory_id", ids)))
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
    kept = []
    for id_, entity in links:
        if id_ in texts and entity in entities:
            folded, first = entities[entity]
            places = {place.name for place in texts[id_].places([first])}
            if first in places and folded not in places:
                kept.append((id_, entity))
    return kept


def _texts_with(rows: Transaction, scope: int, name: str) -> list[list[int]]:
    """Return the documents that may contain a name: one list by words, one by pairs of letters."""
    index = TermIndex(rows, scope)
    folded = [index.postings(Phrase((word,)), "plain").ids for word in words(name)]
    # The name may be part of a longer token.
    paired = pair_phrases(name) if has_unspaced(name) else ()
    in_pairs = [index.postings(phrase, "pairs").ids for phrase in paired]
    return [reduce(np.intersect1d, each).tolist() for each in (folded, in_pairs) if each]


def _name_texts(rows: Transaction, ids: Sequence[int]) -> dict[int, NameText]:
    live_texts = (OneOf("id", ids), _IS_TEXT, is_null("deleted_at"))
    return {
        id_: NameText.of(f"{speaker}: {text}" if speaker else text)
        for id_, speaker, text in rows.rows("memory", ("id", "speaker", "text"), live_texts)
    }
