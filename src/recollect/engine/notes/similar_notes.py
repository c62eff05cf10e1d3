"""Notes that nearly repeat one that was there: flagged, never dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.changes import FlagSimilar
from recollect.conditions import Equals, OneOf
from recollect.engine.results import SimilarMemory
from recollect.engine.services import Services
from recollect.ports import Snapshot
from recollect.records import Kind, Memory
from recollect.retrieval.passages import memory_vectors
from recollect.retrieval.search import Search
from recollect.text.near_duplicates import has_meaning, near_duplicate

_COMPARED = 8
# Of very many notes at once, what repeats another is left to the reports that look for duplicates.
MOST_NEW = 50


def flag_similar_notes(services: Services, new: Sequence[Memory]) -> dict[int, SimilarMemory]:
    """For each new note, the older one that is most like it, if any is; noted on the note."""
    if not 0 < len(new) <= MOST_NEW:
        return {}
    with services.store.read() as view:
        found = {note.id: alike for note in new if (alike := closest(view, services, note)) is not None}
    if found:
        flags = [FlagSimilar("memory", id_, alike.id, alike.similarity) for id_, alike in found.items()]
        services.write(flags)
    return found


def closest(view: Snapshot, services: Services, note: Memory) -> SimilarMemory | None:
    """The older note that is most like it: by the meaning of their passages, or by containing its words."""
    return max(nearby(view, services, note), key=lambda alike: (alike.similarity, -alike.id), default=None)


def nearby(view: Snapshot, services: Services, note: Memory) -> Iterable[SimilarMemory]:
    search = Search(view, services.where(Kind.NOTE))
    cosines: dict[int, float] = {}
    if has_meaning(note.text):
        for vector in memory_vectors(view, [note.id], search.model).get(note.id, ())[:1]:
            cosines = {hit.id: hit.score for hit in search.by_meaning(vector, _COMPARED)}
    # What holds this note's words is near it in meaning, too; a search by all of them costs far more.
    by_words = [] if cosines else [hit.id for hit in search.by_words(note.text, _COMPARED)]
    older = OneOf("id", [id_ for id_ in (*cosines, *by_words) if id_ < note.id])
    same_speaker = Equals("speaker", note.speaker)
    for id_, text in view.rows("memory", ("id", "text"), (older, same_speaker)):
        cosine = min(1.0, cosines.get(id_, 0.0))
        if (similarity := near_duplicate(note.text, text, cosine)) is not None:
            yield SimilarMemory(id_, text, similarity)
