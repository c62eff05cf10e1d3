"""Operations that write notes and messages, and on single memories of any kind."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field, PlainValidator, WithJsonSchema
from typing_extensions import TypedDict

from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.json_values import in_json, inlined, omitted, to_json
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import NOTE_FIELDS, Kind, Status
from recollect.domain.results import HistoryEvent, Remembered, RememberedBatch, SupersedeResult
from recollect.operations.operation import (
    BUDGET,
    Endpoint,
    Expiry,
    LaterTime,
    Many,
    OperationCall,
    OperationReply,
    Pages,
    PastTime,
    RowId,
    Time,
    described,
    operation,
    optional,
)
from recollect.operations.paging import PageEnd, fit_page, join_sentences, list_page, name_list, position
from recollect.operations.rows import ListedRow, brief_text, hit_lines, hit_row, listed_row, with_rejected
from recollect.services import attempt_follow_up, unfinished_note
from recollect.text.phrases import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator


_MOST_SIMILAR = 5
_MOST_IDS = 50
_SHOWN_BUDGET = 2_000


@contextmanager
def naming_ids() -> Iterator[None]:
    """Add to a `NotFound` error how to find ids."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"{error} `recall` shows ids after #.") from error


RelationKey = TypedDict("RelationKey", {"from": str, "to": str, "relationType": str})
"""The names that identify a relation."""


def relation_triple(given: RelationKey) -> tuple[str, str, str]:
    return given["from"], given["relationType"], given["to"]


def _status(word: object) -> Status:
    try:
        return Status.of(word)  # type: ignore[arg-type]  # a wrong type acts like a wrong word
    except (AttributeError, InvalidInput):
        raise ValueError(f"no status; say {', '.join(Status)}, or the same in Spanish") from None


StatusWord = Annotated[
    Status,
    PlainValidator(_status),
    WithJsonSchema({"type": "string", "description": "active, paused, completed or archived"}),
]
"""Clients read the English words. The Spanish ones are accepted, too."""


@dataclass(frozen=True, slots=True)
class NoteWritten:
    note: Remembered = field(metadata=in_json(inline=True))
    retired: list[int] | None = omitted()


@operation(
    "Remember",
    http=(
        Endpoint("POST /memories", location="/memories/{id}", takes_key=True),
        Endpoint(
            "POST /memories/{id=supersedes}/supersede",
            name="supersede",
            resource="memory",
            location="/memories/{id}",
            takes_key=True,
        ),
    ),
    tools="default",
)
def _remember(
    call: OperationCall,
    text: str,
    category: str | None = optional("Such as preferences, work_career"),
    importance: float | None = Field(default=None, ge=0, le=1),
    happened_at: Time | None = None,
    tags: Many[str] | None = None,
    about: Many[str] | None = optional("Names of entities that exist"),
    source: str | None = None,
    supersedes: RowId | None = None,
    expires_at: LaterTime | None = None,
    **fields: str | None,
) -> OperationReply[NoteWritten]:
    """Save a fact, preference, decision, plan or event in one self-contained sentence that names who and
    what, whenever you learn something that will matter later. To correct a memory, pass its id as
    `supersedes`.
    """
    note: dict[str, Any] = {
        "text": text,
        "category": category,
        "importance": 0.5 if importance is None else importance,
        "happened_at": happened_at,
        "tags": tags or (),
        "about": about or (),
        "source": source,
        "expires_at": expires_at,
        **fields,
    }
    if supersedes is not None:
        return _correct(call, supersedes, note)
    done = call.engine.remember(**note, key=call.key)
    remark = None
    if done.contradicts:
        other = done.contradicts[0]
        remark = (
            f"It seems to contradict #{other.id}: {quoted(brief_text(other.text))}. Both are kept. If the "
            f"new note replaces it, call `remember` again with the same text and supersedes={other.id}."
        )
    elif done.similar is not None:
        remark = (
            f"It nearly repeats #{done.similar.id}: {quoted(brief_text(done.similar.text))}. If the "
            f"new note corrects it, call `remember` with supersedes={done.similar.id}."
        )
    reply = f"Remembered as #{done.id}." if done.created else f"Already stored as #{done.id}; repeat counted."
    return OperationReply(NoteWritten(done), reply, join_sentences(remark, done.model_note))


def _correct(call: OperationCall, old: int, note: dict[str, Any]) -> OperationReply[NoteWritten]:
    with naming_ids():
        done = call.engine.supersede(old, note, key=call.key)
    retired = [each.id for each in done.retired]
    named, _ = attempt_follow_up(lambda: call.engine.get_many(done.by.mentions[:50]))
    named = named or {}
    mentions = [named[id_].name[:80] for id_ in done.by.mentions[:50] if id_ in named]
    similar = ", ".join(
        f"#{each.id} {quoted(brief_text(each.text))}" for each in done.similar[:_MOST_SIMILAR]
    )
    note_ = join_sentences(unfinished_note(done.note), done.model_note)
    written = Remembered(done.by.id, done.by.text, True, mentions=tuple(mentions), model_note=note_)
    left = f"Similar and still in force: {similar}. Supersede those that are wrong, too." if similar else None
    return OperationReply(
        NoteWritten(written, retired),
        f"Remembered as #{done.by.id}; retired: {', '.join(f'#{id_}' for id_ in retired)}.",
        join_sentences(left, note_),
    )


@operation("Add a reflection", http=Endpoint("POST /reflections", location="/memories/{id}"), tools="all")
def _add_reflection(
    call: OperationCall,
    content: str,
    about: Many[str] = Field(default=[], description="Names of the entities it is about"),
    author: str | None = optional("Author of the reflection"),
    mood: str | None = optional("Such as frustration, satisfaction, curiosity, doubt, insight"),
    session: str | None = optional("The conversation that it is about"),
    relation: RelationKey | None = optional("The relation that it is about"),
) -> OperationReply[Remembered]:
    """Save a thought about how things went or what to do better: yours or the user's, apart from facts. The
    entities, conversation or relation that it is about must exist.
    """
    note = call.engine.upkeep.add_reflection(
        content,
        about=about,
        author=author,
        mood=mood,
        session=session,
        relation=None if relation is None else relation_triple(relation),
    )
    return OperationReply(note, f"Reflection #{note.id} saved.", unfinished_note(note.model_note))


class MessageRow(TypedDict):
    role: NotRequired[str]
    speaker: NotRequired[str]
    content: str
    at: NotRequired[Time]


@dataclass(frozen=True, slots=True)
class DrawnNote:
    id: int
    text: str


@dataclass(frozen=True, slots=True)
class SavedMessages:
    session: str
    ids: list[int]
    notes: list[DrawnNote]
    note: str | None = omitted()


@operation(
    "Save messages",
    http=Endpoint("POST /sessions/{session}/messages", takes_key=True),
    tools="default",
    keeps_going=True,
)
def _add_messages(
    call: OperationCall,
    session: str,
    messages: Many[MessageRow],
    extract: bool = Field(default=True, description="Also extract notes from them"),
) -> OperationReply[SavedMessages]:
    """Save raw turns of a conversation, in order, under the name of a session. For single facts use
    `remember`.
    """
    done = call.engine.add_messages(
        session, messages, extract=extract, keep_going=call.keep_going, key=call.key, progress=call.progress
    )
    ids = fit_page(done.ids, BUDGET // 2, shared=False)
    notes = fit_page([DrawnNote(note.id, note.text) for note in done.notes], BUDGET // 2, shared=False)
    cut = None
    if ids.left_out or notes.left_out or notes.shortened:
        cut = f"All were saved; only what fits {BUDGET} tokens is repeated here."
    result = SavedMessages(done.session, ids.rows, notes.rows, join_sentences(cut, done.model_note))
    text = f"{done.created} messages stored; {len(done.notes)} notes extracted from them."
    reply = OperationReply(result, text, join_sentences(done.note, done.model_note))
    return with_rejected(call, reply, done.rejected)


@dataclass(frozen=True, slots=True)
class Forgettable:
    id: int
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    forgotten: list[int]
    would_forget: Annotated[list[Forgettable] | None, "The hits of the query; nothing is forgotten yet"] = (
        omitted()
    )
    note: str | None = omitted()


@operation(
    "Forget",
    http=(
        Endpoint("DELETE /memories/{id=ids}", resource="memory"),
        Endpoint("POST /memories/forget", name="forget_many"),
    ),
    tools="default",
    destructive=True,
    idempotent=True,
)
def _forget(
    call: OperationCall, ids: Many[RowId] | None = None, query: str | None = None
) -> OperationReply[Forgotten]:
    """Forget memories when the user asks for it. Requires `ids`, or a `query`, which only shows what it would
    forget. If a fact has changed, use `remember` with `supersedes` instead.
    """
    if (ids is None) == (query is None):
        raise InvalidInput("Give either `ids`, or a `query` to see what there is to forget.")
    if ids is None:
        return _forgettable(call, query or "")
    forgotten = call.engine.forget(ids)
    missing = [f"#{id_}" for id_ in dict.fromkeys(ids) if id_ not in set(forgotten)]
    page = fit_page(forgotten, BUDGET, shared=False)
    note = f"{page.left_out} more were forgotten." if page.left_out else None
    return OperationReply(
        Forgotten(page.rows, note=note),
        f"Forgotten: {name_list([f'#{id_}' for id_ in forgotten], _MOST_IDS) or 'nothing'}.",
        f"Not found: {name_list(missing)}. `recall` shows ids after #." if missing else None,
    )


def _forgettable(call: OperationCall, query: str) -> OperationReply[Forgotten]:
    """Return the hits of a query to choose from. Nothing is forgotten, since a search may find too much."""
    if not query.strip():
        raise InvalidInput("The `query` is empty; say in words what to forget.")
    hits = [to_json(hit_row(hit)) for hit in call.engine.search(query).hits]
    page = fit_page([Forgettable(hit["id"], hit["kind"], hit["text"]) for hit in hits], _SHOWN_BUDGET)
    shown = [hit for hit, _ in zip(hits, page.rows, strict=False)]
    next_step = "Nothing was forgotten yet; call `forget` with the ids of those to forget."
    texts = hit_lines([{**hit, "text": row["text"]} for hit, row in zip(shown, page.rows, strict=True)], ())
    return OperationReply(Forgotten([], page.rows, next_step), texts, next_step if page.rows else None)


@dataclass(frozen=True, slots=True)
class MemoryId:
    id: int


@operation("Restore", http=Endpoint("POST /memories/{id}/restore", resource="memory"), tools="all")
def _restore(call: OperationCall, id: RowId) -> OperationReply[MemoryId]:
    """Bring back a memory that was forgotten or superseded."""
    try:
        memory = call.engine.restore(id)
    except NotFound as error:
        raise NotFound(
            f"{error} `forget` and `delete_entities` return the ids that it takes, and `recall` with "
            "`include_superseded` shows what was superseded."
        ) from error
    return OperationReply(MemoryId(memory.id), f"Restored #{memory.id}.")


@operation(
    "Update", http=Endpoint("PATCH /memories/{id}", resource="memory"), tools="default", idempotent=True
)
def _update(
    call: OperationCall,
    id: RowId,
    text: str | None = None,
    importance: float | None = Field(default=None, ge=0, le=1),
    category: str | None = None,
    happened_at: PastTime | None = None,
    tags: Many[str] | None = None,
    status: StatusWord | None = None,
    pinned: bool | None = None,
    expires_at: Expiry | None = None,
    **fields: Any,
) -> OperationReply[MemoryId]:
    """Change the given fields of a memory; a former text stays as history. If a fact is no longer true, use
    `remember` with `supersedes` instead.
    """
    with naming_ids():
        memory = call.engine.update(
            id,
            text=text,
            importance=importance,
            category=category,
            happened_at=happened_at,
            tags=tags,
            status=status,
            pinned=pinned,
            expires_at=expires_at,
            **fields,
        )
    return OperationReply(MemoryId(memory.id), f"Updated #{memory.id}.")


@dataclass(frozen=True, slots=True)
class ClearedSession:
    session: str
    forgotten: Annotated[int, "Messages, and notes extracted from them"]


@operation("Clear a session", http="DELETE /sessions/{session}", tools="all", destructive=True)
def _clear_session(call: OperationCall, session: str) -> OperationReply[ClearedSession]:
    """Forget a whole conversation and the notes extracted from it, when the user asks for it."""
    try:
        gone = len(call.engine.sessions.forget(session))
    except NotFound as error:
        raise NotFound(
            f"There is no session named {session!r}; `list_memories` with `kinds` [message] shows "
            "messages with their sessions."
        ) from error
    memories = "memory" if gone == 1 else "memories"
    return OperationReply(ClearedSession(session, gone), f"Forgot {gone} {memories} of {quoted(session)}.")


@dataclass(frozen=True, slots=True)
class ListedMemories:
    memories: list[ListedRow]
    more: PageEnd = inlined()


@operation("List memories", http="GET /memories", tools="all", pages=Pages(1_000, 50, 150), read_only=True)
def _list_memories(
    call: OperationCall,
    kinds: Many[Annotated[Kind, Field(strict=False)]] | None = optional("Notes if not given"),
    category: str | None = None,
    tags: Many[str] | None = optional("Only what has all of these"),
    session: str | None = None,
    include_superseded: bool = False,
) -> ListedMemories:
    """List what is remembered, the newest first, page by page. To find something, ask `recall`."""
    found = call.engine.list(
        kinds=(Kind.NOTE,) if kinds is None else kinds,
        category=category,
        tags=tags or (),
        session=session,
        include_superseded=include_superseded,
        limit=call.page.size,
        after=position(call.page),
    )
    page = fit_page([listed_row(memory) for memory in found.memories], call.page.budget, shared=False)
    last = page.rows[-1]["id"] if page.left_out else found.cursor
    return ListedMemories(page.rows, PageEnd(None if last is None else str(last), page.note()))


@dataclass(frozen=True, slots=True)
class HistoryPage:
    id: int
    events: list[HistoryEvent]
    more: PageEnd = inlined()


@operation(
    "History", http="GET /memories/{id}/history", tools="default", pages=Pages(1_000, 50, 100), read_only=True
)
def _history(call: OperationCall, id: RowId) -> OperationReply[HistoryPage]:
    """List the changes of a memory: former texts, corrections and their times."""
    with naming_ids():
        history = call.engine.history(id)
    events, more = list_page(call.page, history.events)
    lines = [f"{event['at']} {event['what']}: {quoted(event['detail'])}" for event in events]
    text = "\n".join(lines) or "Nothing more happened to it."
    return OperationReply(HistoryPage(history.memory.id, events, more), text, more.text)


# Operations of the Python API that MCP does not offer: many notes at once, corrections with copies.

_MOST_NOTES = 1_000


NewNoteRow = TypedDict(
    "NewNoteRow",
    {
        "text": str,
        "category": NotRequired[str],
        "importance": NotRequired[Annotated[float, Field(ge=0, le=1)]],
        "happened_at": NotRequired[Time],
        "expires_at": NotRequired[LaterTime],
        "tags": NotRequired[Many[str]],
        "about": NotRequired[Many[str]],
        "source": NotRequired[str],
        **dict.fromkeys(NOTE_FIELDS, NotRequired[str]),  # type: ignore[misc]  # known at run time only
    },
)


@operation("Remember many", http=Endpoint("POST /memories/batch", takes_key=True))
def _remember_many(
    call: OperationCall,
    notes: Many[NewNoteRow] = Field(max_length=_MOST_NOTES),
    keep_going: bool = Field(default=False, description="Skip notes that cannot be stored, and report them"),
) -> RememberedBatch:
    """Save many notes at once: all of them, or none, unless `keep_going`."""
    return call.engine.remember_many(notes, keep_going=keep_going, key=call.key)


@operation(
    "Supersede",
    http=Endpoint(
        "POST /memories/{id=old}/superseded-by", name="supersede_by", resource="memory", takes_key=True
    ),
)
def _supersede(
    call: OperationCall,
    old: RowId = described("The memory that is no longer true"),
    by: RowId | None = optional("The memory that replaces it"),
    text: str | None = optional("Or the text of a new note that replaces it"),
    copies: bool = Field(default=True, description="Retire near-copies of the old one, too"),
) -> SupersedeResult:
    """Retire a note or message in favour of another one, or of a new note. `restore` undoes it."""
    if (by is None) == (text is None):
        raise InvalidInput("Give either `by` or `text`; nothing was changed.")
    with naming_ids():
        new = by if by is not None else text or ""
        return call.engine.supersede(old, new, copies=copies, key=call.key)
