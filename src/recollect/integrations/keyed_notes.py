"""Notes that a framework keeps under its own keys, with its JSON in their metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from recollect.engine.engine import Engine
from recollect.engine.limits import MOST_HITS, MOST_PER_PAGE
from recollect.engine.results import Answer, Hit
from recollect.records import Kind, Memory
from recollect.text.limits import QUERY_LIMIT


@dataclass(frozen=True, slots=True)
class KeyedNote:
    """What to keep under a key."""

    key: str
    text: str
    """What searches find it by."""
    metadata: Mapping[str, Any]
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeyedNotes:
    """The notes of one framework in one scope; `program` is their category and the prefix of their refs."""

    memory: Engine
    program: str

    def key(self, note: Memory) -> str:
        return (note.ref or "").removeprefix(f"{self.program}:")

    def is_own(self, note: Memory) -> bool:
        """Whether it was put here: a note that superseded one of these has their category, but no key."""
        return (note.ref or "").startswith(self._ref(""))

    def put(self, notes: Iterable[KeyedNote]) -> None:
        """All of them or none; of several under one key, the last."""
        last = {note.key: note for note in notes}
        if last:
            self.memory.remember_many(
                {
                    "text": note.text,
                    "ref": self._ref(note.key),
                    "category": self.program,
                    "metadata": note.metadata,
                    "expires_at": note.expires_at,
                }
                for note in last.values()
            )

    def get(self, keys: Iterable[str]) -> dict[str, Memory]:
        """Those that are there, by key."""
        found: dict[str, Memory] = {}
        refs = [self._ref(key) for key in dict.fromkeys(keys)]
        for start in range(0, len(refs), MOST_PER_PAGE):
            page = self.memory.list(refs=refs[start : start + MOST_PER_PAGE], limit=MOST_PER_PAGE)
            for note in page.memories:
                found.setdefault(self.key(note), note)
        return found

    def delete(self, keys: Iterable[str]) -> int:
        """Forget those that are there, so that `restore` can bring them back; returns how many."""
        ids = [note.id for note in self.get(keys).values()]
        return len(self.memory.forget(ids)) if ids else 0

    def newest_first(self, *, expired: bool = False, page: int = MOST_PER_PAGE) -> Iterator[Memory]:
        """All of them, with those that expired or not; read in pages of so many."""
        after: int | None = 0
        while after is not None:
            found = self.memory.list(
                category=self.program, limit=page, after=after, include_superseded=expired
            )
            yield from (note for note in found.memories if self.is_own(note) and note.superseded_at is None)
            after = found.cursor

    def search(
        self,
        query: str,
        wanted: Callable[[Memory], bool] | None,
        others: Callable[[], Iterator[Memory]],
        limit: int,
        offset: int = 0,
    ) -> Sequence[tuple[Memory, Hit | None]]:
        """The best for a query, best first; then `others`, which no search found, until the limit is full.

        What is not `wanted` is left out of the first thousand that the search finds.
        """

        def kept(answer: Answer) -> list[Hit]:
            own = (hit for hit in answer.hits if self.is_own(hit.memory))
            return [hit for hit in own if wanted is None or wanted(hit.memory)]

        end = offset + limit
        answer = self._recall(query, min(end, MOST_HITS))
        found = kept(answer)
        if len(found) < min(end, MOST_HITS) <= len(answer.hits):
            answer = self._recall(query, MOST_HITS)
            found = kept(answer)
        shown: list[tuple[Memory, Hit | None]] = [(hit.memory, hit) for hit in found[offset:end]]
        if len(found) < end:
            ids = {hit.memory.id for hit in found}
            rest = (note for note in others() if note.id not in ids)
            shown += [(note, None) for note in islice(rest, max(0, offset - len(found)), end - len(found))]
        self._record_shown(
            [hit.memory for _, hit in shown if hit],
            answer if len(found) == len(answer.hits) and not offset else None,
        )
        return shown

    def _recall(self, query: str, limit: int) -> Answer:
        """Noted later, once it is known what of it is shown."""
        return self.memory.recall(
            query[:QUERY_LIMIT],
            kinds=(Kind.NOTE,),
            category=self.program,
            limit=limit,
            record=False,
            noted_later=True,
        )

    def _record_shown(self, notes: Sequence[Memory], answer: Answer | None) -> None:
        """As `recall` does by itself; of what is not the beginning of an answer, only that it was used."""
        if answer is not None:
            self.memory.record_shown([note.id for note in notes], answer)
            return
        for scope in dict.fromkeys(note.scope for note in notes):
            theirs = self.memory.scoped(scope.owner, scope.agent)
            theirs.record_shown([note.id for note in notes if note.scope == scope])

    def _ref(self, key: str) -> str:
        return f"{self.program}:{key}"
