"""The vectors of an entity's observations: those that the store has, and those that it still lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from recollect.engine.services import Services
from recollect.ports import Embedder, Progress, Snapshot, Vector
from recollect.records import Kind, Memory
from recollect.retrieval.contents import count_by_kind, memory_page
from recollect.retrieval.passages import passages_of, vectors_of
from recollect.text.passages import passage_spans, passage_text
from recollect.vectors import normalised

_PAGE = 200


def pages(
    services: Services, view: Snapshot, kind: Kind, progress: Progress | None = None
) -> Iterator[Sequence[Memory]]:
    """All memories of this scope and kind that a search could find now, by id, a page at a time."""
    where = services.found_now(kind)
    total = None if progress is None else count_by_kind(view, where).get(kind, 0)
    after = done = 0
    while page := memory_page(view, where, after, _PAGE):
        yield page
        after = page[-1].id
        done += len(page)
        if progress is not None:
            progress(done, total)


def stored_rows(view: Snapshot, entities: Sequence[Memory]) -> dict[int, Vector]:
    """By observation in force; of a long one, the mean of its passages. Those that wait are left out."""
    known = {
        (passage.memory, passage.text): passage.id
        for passage in passages_of(view, [entity.id for entity in entities])
    }
    pieces = {
        seen.id: [
            known.get((entity.id, passage_text(entity, seen, span)), 0)
            for span in passage_spans(seen.content)
        ]
        for entity in entities
        for seen in entity.in_force
    }
    vectors = vectors_of(view, [passage for found in pieces.values() for passage in found])
    return {
        id_: normalised(np.mean([vectors[passage] for passage in found], axis=0))
        for id_, found in pieces.items()
        if all(passage in vectors for passage in found)
    }


def completed(
    stored: Mapping[int, Vector], entities: Iterable[Memory], embedder: Embedder
) -> Mapping[int, Vector]:
    """With the rows that the store lacks; they are not kept."""
    lacking = [
        (seen.id, passage_text(entity, seen, (0, len(seen.content))))
        for entity in entities
        for seen in entity.in_force
        if seen.id not in stored
    ]
    if not lacking:
        return stored
    rows = embedder.documents([text for _, text in lacking])
    return {**stored, **{id_: row for (id_, _), row in zip(lacking, rows, strict=True)}}
