"""Store notes under a framework's own keys, with its JSON as metadata, and filter by the metadata."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from recollect import Answer, Engine, Hit, InvalidInput, Kind, Memory
from recollect.domain.limits import MOST_HITS, MOST_PER_PAGE, QUERY_LIMIT
from recollect.domain.records import RecallOptions
from recollect_integrations.adapter import all_pages, notes_by_ref


@dataclass(frozen=True, slots=True)
class KeyedNote:
    """A text and metadata to keep under a key."""

    key: str
    text: str
    """The text that searches read."""
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
        """Whether this framework stored the note. A note that superseded such a note has no key."""
        return (note.ref or "").startswith(self._ref(""))

    def put(self, notes: Iterable[KeyedNote]) -> None:
        """Store all notes or none. Of several notes with one key, the last is stored."""
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
        """Return the existing notes by key."""
        found: dict[str, Memory] = {}
        for note in notes_by_ref(self.memory, map(self._ref, keys)):
            found.setdefault(self.key(note), note)
        return found

    def delete(self, keys: Iterable[str]) -> int:
        """Forget the existing notes with these keys, and return their number. `restore` restores them."""
        ids = [note.id for note in self.get(keys).values()]
        return len(self.memory.forget(ids)) if ids else 0

    def newest_first(self, *, expired: bool = False, page: int = MOST_PER_PAGE) -> Iterator[Memory]:
        """List all notes, in pages; `expired` includes expired ones."""
        notes = all_pages(self.memory, page=page, category=self.program, include_superseded=expired)
        return (note for note in notes if self.is_own(note) and note.superseded_at is None)

    def search(
        self,
        query: str,
        wanted: Callable[[Memory], bool] | None,
        others: Callable[[], Iterator[Memory]],
        limit: int,
        offset: int = 0,
    ) -> Sequence[tuple[Memory, Hit | None]]:
        """Return the best notes for a query, then those of `others` that it did not find, up to the limit.

        Only the first thousand hits are tested with `wanted`.
        """

        def own_hits(answer: Answer) -> list[Hit]:
            own = (hit for hit in answer.hits if self.is_own(hit.memory))
            return [hit for hit in own if wanted is None or wanted(hit.memory)]

        end = offset + limit
        answer = self._recall(query, min(end, MOST_HITS))
        found = own_hits(answer)
        if len(found) < min(end, MOST_HITS) <= len(answer.hits):
            answer = self._recall(query, MOST_HITS)
            found = own_hits(answer)
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
        """Recall without recording; `_record_shown` records the hits that are shown."""
        return self.memory.recall(
            query[:QUERY_LIMIT],
            kinds=(Kind.NOTE,),
            limit=limit,
            options=RecallOptions(category=self.program, defer_recording=True),
        )

    def _record_shown(self, notes: Sequence[Memory], answer: Answer | None) -> None:
        """Record hits as `recall` does. Without `answer`, they are not its first hits: record only usage."""
        if answer is not None:
            self.memory.record_shown([note.id for note in notes], answer)
            return
        for scope in dict.fromkeys(note.scope for note in notes):
            scoped = self.memory.scoped(scope.owner, scope.agent)
            scoped.record_shown([note.id for note in notes if note.scope == scope])

    def _ref(self, key: str) -> str:
        return f"{self.program}:{key}"


_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_ORDER)


def check_filter(wanted: object) -> None:
    """Raise `InvalidInput` for an unknown operator at any depth."""
    if isinstance(wanted, Mapping):
        for name, inner in wanted.items():
            if str(name).startswith("$") and name not in _OPERATORS:
                raise InvalidInput(f"Unknown filter operator {name!r}; use one of: {', '.join(_OPERATORS)}.")
            check_filter(inner)
    elif isinstance(wanted, list | tuple):
        for inner in wanted:
            check_filter(inner)


def matches_filter(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether each named field has the wanted value; a missing field counts as None."""
    return all(_matches(value.get(name), inner) for name, inner in wanted.items())


def _matches(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_compares(value, name, bound) for name, bound in wanted.items())
        return isinstance(value, Mapping) and matches_filter(value, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(_matches(one, inner) for one, inner in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _compares(value: Any, name: str, bound: Any) -> bool:
    if name == "$eq":
        return bool(value == bound)
    if name == "$ne":
        return bool(value != bound)
    try:
        return _ORDER[name](float(value), float(bound))
    except (TypeError, ValueError):
        return False  # values that are not numbers have no order
