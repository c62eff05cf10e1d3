"""What mem0's clients do with memories: add, get, list, search, update, delete, history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from recollect.engine.limits import MOST_HITS
from recollect.errors import InvalidInput, RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.records import Kind
from recollect.serve.http.mem0.filters import (
    RowFilter,
    all_needed,
    holds,
    is_only_of_places,
    moment_given,
    needed,
    needed_tags,
    places,
    row_filter,
)
from recollect.serve.http.mem0.metadata import merged_tags, metadata_of, metadata_tags
from recollect.serve.http.mem0.requests import (
    MOST_LISTED,
    AddRequest,
    BatchRequest,
    DeleteAllRequest,
    FeedbackRequest,
    ListRequest,
    SearchRequest,
    UpdateRequest,
)
from recollect.serve.http.mem0.rows import NO_RUN, Mem0Row, history_rows, note_row
from recollect.serve.http.mem0.whose import memories_at, memory_of_user, note_and_memory
from recollect.text.limits import clean_name

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.engine.engine import Engine
    from recollect.engine.results import Answer, Hit, Remembered
    from recollect.records import Memory
    from recollect.serve.http.caller import Caller

_GRADES = {"POSITIVE": 1.0, "NEGATIVE": -0.5, "VERY_NEGATIVE": -1.0}
_PER_PAGE = 500


@dataclass(frozen=True, slots=True)
class Mem0Notes:
    """The notes that a caller sees, in mem0's words."""

    caller: Caller
    memory: Engine

    def add(self, asked: AddRequest) -> Mem0Row:
        """With `infer`, store the messages, and as notes what is worth keeping; without, each is a note."""
        user, agent, run = (asked.id_of(name) for name in ("user_id", "agent_id", "run_id"))
        app = asked.id_of("app_id")
        if not any((user, agent, run, app)) and self.caller.scope is None:
            raise InvalidInput("Say whose memory it is: `user_id`, `agent_id` or `run_id`.")
        own = memory_of_user(self.caller, self.memory, user, agent)
        metadata = {**(asked.metadata or {}), **({} if app is None else {"app_id": app})}
        metadata_tags(metadata)  # what cannot be kept is told before anything is written
        at = None if asked.timestamp is None else moment_given(asked.timestamp)
        expires_at = _expiry(asked.expiration_date)
        if asked.infer is False:
            noted, note = _noted(own, asked, run, at, expires_at), None
        else:
            messages = [
                {
                    "role": message.role,
                    "speaker": message.name,
                    "content": message.text,
                    "at": at,
                }
                for message in asked.messages
                if message.role != "system"
            ]
            done = own.add_messages(run or NO_RUN, messages)
            noted, note = done.notes, done.note
        for each in noted:
            _complete(own, each, metadata, None if asked.infer is False else expires_at)
        results = [
            {"id": str(each.id), "memory": each.text, "event": "ADD" if each.created else "NONE"}
            for each in noted
        ]
        return {"results": results, **_remarks(asked.ignored, note)}

    def get(self, given: str) -> Mem0Row:
        return note_row(note_and_memory(self.caller, self.memory, given)[0])

    def search(self, asked: SearchRequest) -> Mem0Row:
        """Best first; `score` is how likely a memory is what was asked for."""
        tree = row_filter(_narrowed(asked.filter, asked.metadata, asked.categories))
        # Beyond whose it is, a filter is tried on what was found.
        most = asked.most if is_only_of_places(tree) and asked.threshold is None else MOST_HITS
        tags = needed_tags(tree)
        answers = [
            (
                own,
                own.recall(
                    asked.query,
                    limit=most,
                    kinds=(Kind.NOTE,),
                    tags=tags,
                    rerank=asked.rerank,
                    record=False,
                    noted_later=True,
                ),
            )
            for own in memories_at(self.caller, self.memory, places(tree))
        ]
        found = [
            (hit, own, answer)
            for own, answer in answers
            for hit in answer.hits
            if (asked.threshold is None or _score(hit) >= asked.threshold)
            and holds(tree, note_row(hit.memory))
        ]
        if len(answers) > 1:  # what several memories found is told apart by the scores alone
            found.sort(key=lambda each: (-_score(each[0]), each[0].memory.id))
        found = found[: asked.most]
        _record_shown(found, answers)
        rows = [note_row(hit.memory, score=round(_score(hit), 4)) for hit, _, _ in found]
        note = next((answer.note for _, answer in answers if answer.note), None)
        return {"results": _with_fields(rows, asked.fields), **_remarks(asked.ignored, note)}

    def list_page(self, asked: ListRequest) -> Mem0Row:
        """One page, the newest first."""
        within = {
            name: value
            for name, value in (("gte", asked.start_date), ("lte", asked.end_date))
            if value is not None
        }
        narrowed = _narrowed(asked.filter, asked.metadata, asked.categories)
        tree = row_filter({"AND": [narrowed, {"created_at": within}]} if within else narrowed)
        start = (asked.page - 1) * asked.size
        if start + asked.size > MOST_LISTED:
            raise InvalidInput(f"A list goes through {MOST_LISTED:,} memories; narrow it with `filters`.")
        memories = memories_at(self.caller, self.memory, places(tree))
        newest_first = merge(*(_all_notes(own, tree) for own in memories), key=attrgetter("id"), reverse=True)
        matching = (row for note in islice(newest_first, MOST_LISTED) if holds(tree, row := note_row(note)))
        if is_only_of_places(tree):  # the store can count them without reading them
            rows = list(islice(matching, start + asked.size + 1))
            count = sum(own.upkeep.how_many().get(Kind.NOTE, 0) for own in memories)
        else:
            rows = list(matching)
            count = len(rows)
        page = rows[start : start + asked.size]
        return {
            "count": count,
            "next": _page_link(asked, asked.page + 1) if start + asked.size < len(rows) else None,
            "previous": _page_link(asked, asked.page - 1) if asked.page > 1 else None,
            "results": _with_fields(page, asked.fields),
            **_remarks(asked.ignored),
        }

    def update(self, given: str, asked: UpdateRequest, *, clears_expiry: bool = False) -> Mem0Row:
        """A former text is kept in the history; metadata takes the place of what there was."""
        note, own = note_and_memory(self.caller, self.memory, given)
        if clears_expiry and note.expires_at is not None:
            raise InvalidInput(
                "An expiration date cannot be taken off; set a later one, or add the text again without one."
            )
        changes: dict[str, Any] = {
            "text": asked.new_text,
            "happened_at": None if asked.timestamp is None else moment_given(asked.timestamp),
            "expires_at": _expiry(asked.expiration_date),
        }
        if asked.metadata is not None:
            changes["tags"] = (*metadata_of(note.tags)[1], *metadata_tags(asked.metadata))
        changes = {name: value for name, value in changes.items() if value is not None}
        if not changes and not clears_expiry:
            raise InvalidInput("Say what to update: text, metadata, timestamp or expiration_date.")
        updated = own.update(note.id, **changes) if changes else note
        return note_row(updated, text=updated.text, message="The memory was updated.")

    def delete(self, given: str) -> Mem0Row:
        note, own = note_and_memory(self.caller, self.memory, given)
        own.forget([note.id])
        return {"message": "The memory was deleted; `recollect restore` brings it back.", "id": str(note.id)}

    def delete_all(self, asked: DeleteAllRequest) -> Mem0Row:
        """Of a user or an agent, everything; of a run, its messages, too; by other filters, notes alone."""
        tree = row_filter(_narrowed(asked.filter, asked.metadata, None))
        needs = all_needed(tree)
        if needs == {}:
            raise InvalidInput("Say whose memories to delete: `user_id`, `agent_id`, `run_id` or `filters`.")
        count = 0
        for own in memories_at(self.caller, self.memory, places(tree)):
            if needs is not None and needs.keys() <= {"user_id", "agent_id"}:
                count += own.upkeep.forget_all()
            elif needs is not None and needs.keys() <= {"user_id", "agent_id", "run_id"}:
                count += forget_run(own, str(needs["run_id"]))
            else:
                those = [note.id for note in _all_notes(own, tree) if holds(tree, note_row(note))]
                count += len(own.forget(those)) if those else 0
        return {"message": f"{count} memories were deleted; `recollect restore` brings each back."}

    def history(self, given: str) -> list[Mem0Row]:
        note, own = note_and_memory(self.caller, self.memory, given, forgotten=True)
        return history_rows(own.history(note.id))

    def update_batch(self, asked: BatchRequest) -> Mem0Row:
        # Nothing is done where one of them is not there.
        for row in asked.memories:
            note_and_memory(self.caller, self.memory, row.memory_id)
        for place, row in enumerate(asked.memories):
            try:
                self.update(row.memory_id, row)
            except RecollectError as error:
                raise type(error)(
                    f"{error} This is of memory {row.memory_id}; {place} were updated."
                ) from error
        return {"message": f"{len(asked.memories)} memories were updated."}

    def delete_batch(self, asked: BatchRequest) -> Mem0Row:
        found = [note_and_memory(self.caller, self.memory, row.memory_id) for row in asked.memories]
        for note, own in found:
            own.forget([note.id])
        return {"message": f"{len(found)} memories were deleted; `recollect restore` brings each back."}

    def feedback(self, asked: FeedbackRequest) -> Mem0Row:
        note, own = note_and_memory(self.caller, self.memory, asked.memory_id)
        word = (asked.feedback or "").upper()
        if word and word not in _GRADES:
            raise InvalidInput(f"`feedback` is one of {', '.join(_GRADES)}, not {word[:40]!r}.")
        own.feedback(note.id, _GRADES.get(word, 0.0))
        return {"message": "The feedback was kept.", "id": str(note.id)}


def forget_run(own: Engine, run: str) -> int:
    """A run's messages and notes."""
    run = clean_name(run, "run_id")
    count = 0
    while page := own.list(kinds=tuple(Kind), session=run, include_superseded=True, limit=_PER_PAGE).memories:
        count += len(own.forget([memory.id for memory in page]))
    return count


def _noted(
    own: Engine, asked: AddRequest, run: str | None, at: datetime | None, expires_at: datetime | None
) -> Sequence[Remembered]:
    notes = [
        {"text": message.text, "session": run, "speaker": message.name, "at": at, "expires_at": expires_at}
        for message in asked.messages
        if message.role != "system"
    ]
    return own.remember_many(notes).notes if notes else ()


def _complete(
    own: Engine, noted: Remembered, metadata: Mapping[str, Any], expires_at: datetime | None
) -> None:
    """Give a note its metadata. Said again, it keeps what it had under other keys."""
    if not metadata and expires_at is None:
        return
    note = own.get(noted.id)
    if note is None:  # gone since
        return
    tags = merged_tags(note.tags, metadata) if metadata else None
    own.update(note.id, tags=tags, expires_at=expires_at)


def _expiry(day: str | None) -> datetime | None:
    """A memory lasts through the day that is named."""
    return None if day is None else moment_given(day, is_end=True)


def _all_notes(own: Engine, tree: RowFilter) -> Iterator[Memory]:
    """The newest first, as far as the store itself can tell which."""
    run = needed(tree, "run_id")
    session = None if run is None else clean_name(run, "run_id")
    after: int | None = 0
    while after is not None:
        page = own.list(tags=needed_tags(tree), session=session, limit=_PER_PAGE, after=after)
        yield from page.memories
        after = page.cursor


def _narrowed(
    given: Mapping[str, Any], metadata: Mapping[str, Any] | None, categories: Sequence[str] | None
) -> dict[str, Any]:
    """A filter, and what stands beside it. Of several categories, one is enough."""
    more = [{"metadata": dict(metadata)}] if metadata else []
    wanted = [{"OR": [{"categories": {"contains": each}} for each in categories]}] if categories else []
    return {"AND": [given, *more, *wanted]}


def _score(hit: Hit) -> float:
    return hit.score if hit.confidence is None else hit.confidence


def _record_shown(
    found: Sequence[tuple[Hit, Engine, Answer]], answers: Sequence[tuple[Engine, Answer]]
) -> None:
    for own, answer in answers:
        shown = [hit.memory.id for hit, _, of in found if of is answer]
        if shown:
            own.record_shown(shown, answer)


def _with_fields(rows: list[Mem0Row], fields: Sequence[str] | None) -> list[Mem0Row]:
    if not fields:
        return rows
    wanted = {"id", *fields}
    return [{name: value for name, value in row.items() if name in wanted} for row in rows]


def _page_link(asked: ListRequest, page: int) -> str:
    return f"?page={page}&page_size={asked.size}"


def _remarks(ignored: Sequence[str], note: str | None = None) -> Mem0Row:
    """What a caller should know beside the answer; mem0's clients pass it on."""
    return {
        **({"ignored": list(ignored)} if ignored else {}),
        **({"note": note} if note else {}),
    }
