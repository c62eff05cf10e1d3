"""Operations that write notes and messages, and on single memories of any kind."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from recollect.engine.after_commit import attempt_follow_up, unfinished_note
from recollect.errors import NotFound
from recollect.serve.operations.operation import (
    BUDGET,
    Many,
    MemoryId,
    OperationCall,
    OperationReply,
    Pages,
    RowId,
    Time,
    continuation_text,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import fit_page, join_sentences, list_page, name_list
from recollect.serve.operations.rows import ConflictRow, PageRows, SimilarRow, brief_text, noted_row, row_of
from recollect.text.untrusted import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_SIMILAR = 5
_MOST_IDS = 50


@contextmanager
def naming_ids() -> Iterator[None]:
    """Whoever names an id that is not there learns where ids come from."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"{error} Ids stand after # in what `recall` answers.") from error


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
    text: str = described("What to remember, in one or a few sentences"),
    category: str | None = optional("What sort of note it is, such as preferences, plans_goals, work_career"),
    importance: float | None = optional("From 0 to 1; 0.5 if not given", ge=0, le=1),
    happened_at: Time | None = None,
    tags: Many[str] | None = optional("Words to filter by later"),
    about: Many[str] | None = optional("Names of entities that it is about; they must exist"),
    source: str | None = optional("Where it comes from"),
    supersedes: RowId | None = optional("The id of a memory that this one corrects"),
) -> OperationReply[RememberOutput]:
    """Save a fact, preference, decision, plan or event as a note, in one self-contained sentence that names
    who and what. Do it whenever you learn something that will matter in a later conversation. To correct
    something, pass its id as `supersedes`: it and its near-copies are retired.
    """
    note: dict[str, Any] = {
        "text": text,
        "category": category,
        "importance": 0.5 if importance is None else importance,
        "happened_at": happened_at,
        "tags": tags or (),
        "about": about or (),
        "source": source,
    }
    if supersedes is not None:
        return _correct(call, supersedes, note)
    done = call.engine.remember(**note)
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
        done = call.engine.supersede(old, note)
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
) -> OperationReply[AddReflectionOutput]:
    """Save a thought about how things went or what to do better: yours or the user's, apart from facts."""
    note = call.engine.upkeep.add_reflection(content, about=about, author=author, mood=mood)
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


@operation("Save messages")
def _add_messages(
    call: OperationCall,
    session: str = described("The conversation's name"),
    messages: Many[MessageRow] = Field(),
    extract: bool = Field(default=True, description="Draw notes out of them; true if not given"),
) -> OperationReply[AddMessagesOutput]:
    """Save raw turns of a conversation, in order, under the name of a session. What is worth keeping in them
    also becomes notes. For single facts use `remember`.
    """
    done = call.engine.add_messages(session, messages, extract=extract, progress=call.progress)
    ids = fit_page(done.ids, BUDGET // 2, shared=False)
    notes = fit_page([row_of(NoteRow, note) for note in done.notes], BUDGET // 2, shared=False)
    result: AddMessagesOutput = {"session": done.session, "ids": ids.rows, "notes": notes.rows}
    cut = None
    if ids.left_out or notes.left_out or notes.shortened:
        cut = f"All were saved; only what fits {BUDGET} tokens is repeated here."
    if note := join_sentences(cut, done.model_note):
        result["note"] = note
    text = f"{done.created} messages stored; {len(done.notes)} notes drawn out of them."
    return OperationReply(result, text, join_sentences(done.note, done.model_note))


class ForgetOutput(TypedDict):
    forgotten: list[int]
    note: NotRequired[str]


@operation("Forget", destructive=True, idempotent=True)
def _forget(call: OperationCall, ids: Many[MemoryId]) -> OperationReply[ForgetOutput]:
    """Forget memories of any kind by id, when the user asks for it or something should never have been saved.
    For what has changed, `remember` with `supersedes` instead. `restore` brings them back.
    """
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


class RestoreOutput(TypedDict):
    id: int


@operation("Restore")
def _restore(call: OperationCall, id: MemoryId) -> OperationReply[RestoreOutput]:
    """Bring back a memory that was forgotten or superseded."""
    try:
        memory = call.engine.restore(id)
    except NotFound as error:
        raise NotFound(
            f"{error} `forget` and `delete_entities` answer with the ids that it takes, and `recall` with "
            "`include_superseded` shows what was superseded."
        ) from error
    return OperationReply({"id": memory.id}, f"#{memory.id} is back.")


class EventRow(TypedDict):
    at: str
    what: str
    detail: str


class HistoryOutput(PageRows):
    id: int
    events: list[EventRow]


@operation("History", pages=Pages(1_000, 50, 100), read_only=True)
def _history(call: OperationCall, id: MemoryId) -> OperationReply[HistoryOutput]:
    """What happened to a memory: what it said before, what corrected it, when. Use it when asked how
    something came to be known or changed.
    """
    with naming_ids():
        history = call.engine.history(id)
    events, more = list_page(call.page, [row_of(EventRow, event) for event in history.events])
    lines = [f"{event['at']} {event['what']}: {quoted(event['detail'])}" for event in events]
    text = "\n".join(lines) or "Nothing more happened to it."
    return OperationReply({"id": history.memory.id, "events": events, **more}, text, continuation_text(more))
