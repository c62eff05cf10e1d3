"""Operations that write notes and messages, and on single memories of any kind."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field, PlainValidator, WithJsonSchema
from typing_extensions import TypedDict

from recollect.engine.after_commit import attempt_follow_up, unfinished_note
from recollect.errors import InvalidInput, NotFound
from recollect.records import Kind, Status
from recollect.serve.operations.operation import (
    BUDGET,
    Expiry,
    LaterTime,
    Many,
    OperationCall,
    OperationReply,
    Pages,
    PastTime,
    RowId,
    Time,
    continuation_text,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import (
    fit_page,
    join_sentences,
    list_page,
    name_list,
    page_rows,
    position,
)
from recollect.serve.operations.rows import (
    ConflictRow,
    PageRows,
    SimilarRow,
    brief_text,
    hit_lines,
    hit_row,
    listed_row,
    noted_row,
    row_of,
    with_rejected,
)
from recollect.text.untrusted import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_SIMILAR = 5
_MOST_IDS = 50
_SHOWN_BUDGET = 2_000


@contextmanager
def naming_ids() -> Iterator[None]:
    """Whoever names an id that is not there learns where ids come from."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"{error} Ids stand after # in what `recall` answers.") from error


RelationKey = TypedDict("RelationKey", {"from": str, "to": str, "relationType": str})
"""What names a relation."""


def relation_triple(given: RelationKey) -> tuple[str, str, str]:
    return given["from"], given["relationType"], given["to"]


def _status(word: object) -> Status:
    try:
        return Status.of(word)  # type: ignore[arg-type]  # a wrong type is told like a wrong word
    except (AttributeError, InvalidInput):
        raise ValueError(f"no status; say {', '.join(Status)}, or the same in Spanish") from None


StatusWord = Annotated[
    Status,
    PlainValidator(_status),
    WithJsonSchema({"type": "string", "description": "active, paused, completed or archived"}),
]
"""Clients read the English words; the Spanish ones are taken as well."""


class RememberOutput(TypedDict):
    id: int
    created: Annotated[bool, described("False: it was known, and its count went up")]
    mentions: list[str]
    similar: NotRequired[SimilarRow]
    contradicts: NotRequired[
        Annotated[list[ConflictRow], described("Notes in force that it seems to contradict")]
    ]
    retired: NotRequired[list[int]]
    note: NotRequired[Annotated[str, described("What its language means for the model that finds it")]]


@operation("Remember")
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
) -> OperationReply[RememberOutput]:
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
    }
    if supersedes is not None:
        return _correct(call, supersedes, note)
    done = call.engine.remember(**note, key=call.key)
    remark = None
    if done.contradicts:
        other = done.contradicts[0]
        remark = (
            f"It seems to contradict #{other.id}: {quoted(brief_text(other.text))}. Both are kept. If it "
            f"replaces it, call `remember` again with the same text and supersedes={other.id}."
        )
    elif done.similar is not None:
        remark = (
            f"It nearly repeats #{done.similar.id}: {quoted(brief_text(done.similar.text))}. If it "
            f"corrects it, call `remember` with supersedes={done.similar.id}."
        )
    told = f"Remembered as #{done.id}." if done.created else f"#{done.id} says so already; counted."
    row: RememberOutput = noted_row(done)
    if done.model_note:
        row["note"] = done.model_note
    return OperationReply(row, told, join_sentences(remark, done.model_note))


def _correct(call: OperationCall, old: int, note: dict[str, Any]) -> OperationReply[RememberOutput]:
    with naming_ids():
        done = call.engine.supersede(old, note, key=call.key)
    retired = [each.id for each in done.retired]
    named, _ = attempt_follow_up(lambda: call.engine.get_many(done.by.mentions[:50]))
    named = named or {}
    mentions = [named[id_].name[:80] for id_ in done.by.mentions[:50] if id_ in named]
    similar = ", ".join(
        f"#{each.id} {quoted(brief_text(each.text))}" for each in done.similar[:_MOST_SIMILAR]
    )
    row: RememberOutput = {"id": done.by.id, "created": True, "mentions": mentions, "retired": retired}
    if note_ := join_sentences(unfinished_note(done.note), done.model_note):
        row["note"] = note_
    left = f"Left in force, though alike: {similar}. Supersede what is wrong of it, too." if similar else None
    return OperationReply(
        row,
        f"Remembered as #{done.by.id}; retired: {', '.join(f'#{id_}' for id_ in retired)}.",
        join_sentences(left, note_),
    )


class AddReflectionOutput(TypedDict):
    id: int
    created: bool
    mentions: list[str]
    similar: NotRequired[SimilarRow]
    contradicts: NotRequired[list[ConflictRow]]


@operation("Add a reflection")
def _add_reflection(
    call: OperationCall,
    content: str,
    about: Many[str] = Field(default=[], description="Names of the entities it is about"),
    author: str | None = optional("Whose thought it is"),
    mood: str | None = optional("Such as frustration, satisfaction, curiosity, doubt, insight"),
    session: str | None = optional("The conversation that it is about"),
    relation: RelationKey | None = optional("The relation that it is about"),
) -> OperationReply[AddReflectionOutput]:
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
    return OperationReply(noted_row(note), f"Reflection #{note.id} saved.", unfinished_note(note.model_note))


class MessageRow(TypedDict):
    role: NotRequired[str]
    speaker: NotRequired[str]
    content: str
    at: NotRequired[Time]


class NoteRow(TypedDict):
    id: int
    text: str


class AddMessagesOutput(TypedDict):
    session: str
    ids: list[int]
    notes: list[NoteRow]
    note: NotRequired[str]


@operation("Save messages", keeps_going=True)
def _add_messages(
    call: OperationCall,
    session: str,
    messages: Many[MessageRow],
    extract: bool = Field(default=True, description="Also draw notes out of them"),
) -> OperationReply[AddMessagesOutput]:
    """Save raw turns of a conversation, in order, under the name of a session. For single facts use
    `remember`.
    """
    done = call.engine.add_messages(
        session,
        messages,
        extract=extract,
        keep_going=call.keep_going,
        key=call.key,
        progress=call.progress,
    )
    ids = fit_page(done.ids, BUDGET // 2, shared=False)
    notes = fit_page([row_of(NoteRow, note) for note in done.notes], BUDGET // 2, shared=False)
    result: AddMessagesOutput = {"session": done.session, "ids": ids.rows, "notes": notes.rows}
    cut = None
    if ids.left_out or notes.left_out or notes.shortened:
        cut = f"All were saved; only what fits {BUDGET} tokens is repeated here."
    if note := join_sentences(cut, done.model_note):
        result["note"] = note
    text = f"{done.created} messages stored; {len(done.notes)} notes drawn out of them."
    reply = OperationReply(result, text, join_sentences(done.note, done.model_note))
    return with_rejected(call, reply, done.rejected)


class ForgettableRow(TypedDict):
    id: int
    kind: Kind
    text: str


class ForgetOutput(TypedDict):
    forgotten: list[int]
    would_forget: NotRequired[
        Annotated[list[ForgettableRow], described("What a query finds; nothing of it is forgotten yet")]
    ]
    note: NotRequired[str]


@operation("Forget", destructive=True, idempotent=True)
def _forget(
    call: OperationCall,
    ids: Many[RowId] | None = None,
    query: str | None = None,
) -> OperationReply[ForgetOutput]:
    """Forget memories when the user asks for it. Requires `ids`, or a `query`, which only shows what it would
    forget. For what has changed, `remember` with `supersedes`.
    """
    if (ids is None) == (query is None):
        raise InvalidInput("Give either `ids`, or a `query` to see what there is to forget.")
    if ids is None:
        return _forgettable(call, query or "")
    forgotten = call.engine.forget(ids)
    missing = [f"#{id_}" for id_ in dict.fromkeys(ids) if id_ not in set(forgotten)]
    page = fit_page(forgotten, BUDGET, shared=False)
    result: ForgetOutput = {"forgotten": page.rows}
    if page.left_out:
        result["note"] = f"{page.left_out} more were forgotten."
    return OperationReply(
        result,
        f"Forgotten: {name_list([f'#{id_}' for id_ in forgotten], _MOST_IDS) or 'nothing'}.",
        f"Not there: {name_list(missing)}. Ids stand after # in what `recall` answers." if missing else None,
    )


def _forgettable(call: OperationCall, query: str) -> OperationReply[ForgetOutput]:
    """What a query finds, to choose from. Nothing is forgotten, since a search may find too much."""
    if not query.strip():
        raise InvalidInput("The `query` is empty; say in words what to forget.")
    hits = [hit_row(hit) for hit in call.engine.search(query).hits]
    rows: list[ForgettableRow] = [{name: hit[name] for name in ("id", "kind", "text")} for hit in hits]  # type: ignore[misc]
    page = fit_page(rows, _SHOWN_BUDGET)
    shown = [hit for hit, _ in zip(hits, page.rows, strict=False)]
    next_step = "Nothing was forgotten yet; call `forget` with the ids of those to forget."
    texts = hit_lines([{**hit, "text": row["text"]} for hit, row in zip(shown, page.rows, strict=True)], ())
    result: ForgetOutput = {"forgotten": [], "would_forget": page.rows, "note": next_step}
    return OperationReply(result, texts, next_step if page.rows else None)


class RestoreOutput(TypedDict):
    id: int


@operation("Restore")
def _restore(call: OperationCall, id: RowId) -> OperationReply[RestoreOutput]:
    """Bring back a memory that was forgotten or superseded."""
    try:
        memory = call.engine.restore(id)
    except NotFound as error:
        raise NotFound(
            f"{error} `forget` and `delete_entities` answer with the ids that it takes, and `recall` with "
            "`include_superseded` shows what was superseded."
        ) from error
    return OperationReply({"id": memory.id}, f"#{memory.id} is back.")


class UpdateOutput(TypedDict):
    id: int


@operation("Update", idempotent=True)
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
) -> OperationReply[UpdateOutput]:
    """Change what is given of a memory; a former text stays as history. For what is no longer true,
    `remember` with `supersedes`.
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
        )
    return OperationReply({"id": memory.id}, f"Updated #{memory.id}.")


class ClearSessionOutput(TypedDict):
    session: str
    forgotten: Annotated[int, described("Messages, and notes drawn out of them")]


@operation("Clear a session", destructive=True)
def _clear_session(call: OperationCall, session: str) -> OperationReply[ClearSessionOutput]:
    """Forget a whole conversation and the notes drawn out of it, when the user asks for it."""
    try:
        gone = len(call.engine.sessions.forget(session))
    except NotFound as error:
        raise NotFound(
            f"There is no session named {session!r}; `list_memories` with `kinds` [message] shows those "
            "there are."
        ) from error
    memories = "memory" if gone == 1 else "memories"
    return OperationReply(
        {"session": session, "forgotten": gone}, f"Forgot {gone} {memories} of {quoted(session)}."
    )


class ListedRow(TypedDict):
    id: int
    kind: Kind
    text: str
    at: NotRequired[str]
    name: NotRequired[str]
    speaker: NotRequired[str]
    session: NotRequired[str]
    category: NotRequired[str]
    tags: NotRequired[list[str]]
    status: NotRequired[str]
    superseded_by: NotRequired[int]
    expires_at: NotRequired[str]


class ListMemoriesOutput(PageRows):
    memories: list[ListedRow]


@operation("List memories", pages=Pages(1_000, 50, 150), read_only=True)
def _list_memories(
    call: OperationCall,
    kinds: Many[Annotated[Kind, Field(strict=False)]] | None = optional("Notes if not given"),
    category: str | None = None,
    tags: Many[str] | None = optional("Only what has all of these"),
    session: str | None = None,
    include_superseded: bool = False,
) -> OperationReply[ListMemoriesOutput]:
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
    more = page_rows(None if last is None else str(last), page.note())
    return OperationReply({"memories": page.rows, **more})


class EventRow(TypedDict):
    at: str
    what: str
    detail: str


class HistoryOutput(PageRows):
    id: int
    events: list[EventRow]


@operation("History", pages=Pages(1_000, 50, 100), read_only=True)
def _history(call: OperationCall, id: RowId) -> OperationReply[HistoryOutput]:
    """What happened to a memory: what it said before, what corrected it, when."""
    with naming_ids():
        history = call.engine.history(id)
    events, more = list_page(call.page, [row_of(EventRow, event) for event in history.events])
    lines = [f"{event['at']} {event['what']}: {quoted(event['detail'])}" for event in events]
    text = "\n".join(lines) or "Nothing more happened to it."
    return OperationReply({"id": history.memory.id, "events": events, **more}, text, continuation_text(more))
