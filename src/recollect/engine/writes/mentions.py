"""Which entities texts speak of: found by name, in the transaction that brings the text or the entity."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.conditions import Equals, Not, OneOf, is_null
from recollect.ports import Phrase, Transaction
from recollect.retrieval.entities import has_entities, live_entities, named_in_each
from recollect.retrieval.term_search import pair_phrases
from recollect.text.names import NameText
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


def link_entities(rows: Transaction, scope: int, ids: Sequence[int]) -> None:
    """Look in the texts that were there before for the names of these new entities."""
    if not ids or not _has_texts(rows, scope):
        return
    found: set[int] = set()
    for (name,) in rows.rows("memory", ("name",), (OneOf("id", ids), *live_entities(scope))):
        for holding in _texts_with(rows, scope, str(name)):
            texts = rows.rows(
                "memory", ("id",), (OneOf("id", holding), _IS_TEXT), newest_first=True, limit=_MOST_EARLIER
            )
            found.update(id_ for (id_,) in texts)
    link_texts(rows, scope, sorted(found))


def _texts_with(rows: Transaction, scope: int, name: str) -> list[Sequence[int]]:
    """By each index that may know, the documents that may contain a name."""
    found: list[Sequence[int]] = []
    folded = words(name)
    if folded:
        found.append(rows.postings(Phrase(tuple(folded)), scope, "plain"))
    if has_unspaced(name):  # it may stand inside what the index takes for a word
        pieces = [set(rows.postings(phrase, scope, "pairs")) for phrase in pair_phrases(name)]
        if pieces:
            found.append(sorted(set.intersection(*pieces)))
    return found


def _unlink(rows: Transaction, ids: Sequence[int]) -> None:
    rows.remove("mention", (Equals("told", 0), OneOf("memory_id", ids)))


def _has_texts(rows: Transaction, scope: int) -> bool:
    return any(
        rows.rows("memory", ("id",), (Equals("scope_id", scope), Equals("kind", kind)), limit=1)
        for kind in ("note", "message")
    )


def _link(rows: Transaction, scope: int, ids: Sequence[int]) -> None:
    texts = {
        id_: NameText.of(f"{speaker}: {text}" if speaker else text)
        for id_, speaker, text in rows.rows(
            "memory", ("id", "speaker", "text"), (OneOf("id", ids), _IS_TEXT, is_null("deleted_at"))
        )
    }
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
