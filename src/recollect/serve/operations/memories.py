"""Operations on notes, messages and memories of any kind."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from recollect.engine.limits import DEFAULT_LIMIT
from recollect.errors import InvalidInput, NotFound
from recollect.ranking.confidence_label import ConfidenceLabel, confidence_label
from recollect.records import Kind
from recollect.serve.operations.arguments import (
    LARGEST_ID,
    Arguments,
    Many,
    MemoryId,
    at_most,
    budget_from,
    described,
    next_page,
    optional,
)
from recollect.serve.operations.operation import OperationCall, OperationReply, continuation_text, operation
from recollect.serve.operations.paging import BUDGET, fit_page, list_page, name_list
from recollect.serve.operations.rows import (
    HitRow,
    PageRows,
    SimilarRow,
    brief_text,
    hit_lines,
    hit_row,
    iso_time,
    mentioned_names,
    similar_row,
)
from recollect.serve.operations.search_pages import find, hits_page

if TYPE_CHECKING:
    from collections.abc import Iterator

RECALL_BUDGET = 2_000
CONTEXT_BUDGET = 1_000
_MOST_SIMILAR = 5
_MOST_EVENTS = 50
_MOST_IDS = 50

AnyKind = Annotated[Kind, Field(strict=False)]
WHEN = "A time in ISO 8601, such as 2026-03-01T09:00:00Z; a date alone begins at midnight, UTC"
PROFILE = "How to rank: recollect, limbic, mnemosyne, reverie or cognis; the first is best for most"


@contextmanager
def naming_ids() -> Iterator[None]:
    """Whoever names an id that is not there learns where ids come from."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"{error} Ids stand after # in what `recall` answers.") from error


def time_argument(text: str, field: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"`{field}` is {text[:40]!r}, which is no time in ISO 8601; "
            "write 2026-03-01 or 2026-03-01T09:00:00Z."
        ) from None


class RememberArguments(Arguments):
    text: str = described("What to remember, in one or a few sentences")
    category: str | None = optional("What sort of note it is, such as preferences, plans_goals, work_career")
    importance: float | None = optional("From 0 to 1; 0.5 if not given", ge=0, le=1)
    happened_at: str | None = optional(WHEN)
    tags: Many[str] | None = optional("Words to filter by later")
    about: Many[str] | None = optional("Names of entities that it is about; they must exist")
    source: str | None = optional("Where it comes from")
    supersedes: int | None = optional("The id of a memory that this one corrects", ge=1, le=LARGEST_ID)


class RememberOutput(TypedDict):
    id: int
    created: Annotated[bool, described("False: it was known, and its count went up")]
    mentions: list[str]
    similar: NotRequired[SimilarRow]
    retired: NotRequired[list[int]]


@operation("remember", "Remember")
def _remember(call: OperationCall[RememberArguments]) -> OperationReply[RememberOutput]:
    """Save a fact, preference, decision, plan or event as a note, in one self-contained sentence that names
    who and what. Do it whenever you learn something that will matter in a later conversation. To correct
    something, pass its id as `supersedes`: it and its near-copies are retired.
    """
    note = call.arguments.model_dump(exclude_none=True, exclude={"supersedes"})
    if "happened_at" in note:
        note["happened_at"] = time_argument(note["happened_at"], "happened_at")
    if call.arguments.supersedes is not None:
        return _correct(call, call.arguments.supersedes, note)
    done = call.engine.remember(note.pop("text"), **note)
    result: RememberOutput = {
        "id": done.id,
        "created": done.created,
        "mentions": mentioned_names(done),
    }
    remark = None
    if done.similar is not None:
        result["similar"] = similar_row(done.similar)
        remark = (
            f"It nearly repeats #{done.similar.id}: “{brief_text(done.similar.text)}”. If it corrects it, "
            f"call `remember` with supersedes={done.similar.id}."
        )
    text = f"Remembered as #{done.id}." if done.created else f"#{done.id} says so already; counted."
    return OperationReply(result, text, remark)


def _correct(
    call: OperationCall[RememberArguments], old: int, note: dict[str, Any]
) -> OperationReply[RememberOutput]:
    with naming_ids():
        done = call.engine.supersede(old, note)
    retired = [each.id for each in done.retired]
    mentions = [
        entity.name[:80] for id_ in done.by.mentions[:50] if (entity := call.engine.get(id_)) is not None
    ]
    similar = ", ".join(f"#{each.id} “{brief_text(each.text)}”" for each in done.similar[:_MOST_SIMILAR])
    return OperationReply(
        {"id": done.by.id, "created": True, "mentions": mentions, "retired": retired},
        f"Remembered as #{done.by.id}; retired: {', '.join(f'#{id_}' for id_ in retired)}.",
        f"Left in force, though alike: {similar}. Supersede what is wrong of it, too." if similar else None,
    )


class RecallArguments(Arguments):
    query: str = described("What you want to know, as a question")
    limit: int | None = at_most(50, DEFAULT_LIMIT)
    cursor: str | None = next_page()
    kinds: Many[AnyKind] | None = optional("Only these kinds")
    tags: Many[str] | None = optional("Only what has all of these tags")
    as_of: str | None = optional("Answer from the memory as it stood then: a time in ISO 8601")
    session: str | None = optional("Of raw messages, only those of this session")
    include_superseded: bool = Field(default=False, description="Also what was corrected since, marked so")
    profile: str | None = optional(PROFILE)
    min_confidence: float | None = optional("Only hits at least as likely to be relevant", ge=0, le=1)
    budget_tokens: int | None = optional(
        f"At most about so many tokens; {RECALL_BUDGET} if not given", ge=150
    )


class RecallOutput(PageRows):
    hits: list[HitRow]
    left_out: Annotated[int, described("Hits that did not fit the budget")]
    answer: ConfidenceLabel


@operation("recall", "Recall", read_only=True)
def _recall(call: OperationCall[RecallArguments]) -> OperationReply[RecallOutput]:
    """Search everything remembered (notes, entities, past messages) by meaning, words and time, best first.
    Use it before you answer anything that may depend on earlier conversations: people, preferences,
    decisions, plans, what was said and when. Questions in natural language work best; “last week” or “in
    March” are understood.
    """
    given = call.arguments
    options = given.model_dump(
        exclude_none=True, exclude={"query", "limit", "cursor", "budget_tokens", "as_of"}
    )
    as_of = None if given.as_of is None else time_argument(given.as_of, "as_of")
    found = find(
        call,
        lambda limit: call.engine.recall(
            given.query, limit=limit, as_of=as_of, record=False, noted_later=True, **options
        ),
    )
    page = hits_page(
        call, found, lambda hit: hit_row(hit, superseded=given.include_superseded), RECALL_BUDGET
    )
    # Who asks about the past must not change it; and who pages on has not asked anew.
    if as_of is None and given.cursor is None:
        call.engine.record_shown([hit["id"] for hit in page.rows], found.answer)
    likelihood = confidence_label(found.answer.confidence or 0.0)
    notes = page.notes
    if page.rows and likelihood == "unlikely":
        notes = ["Nothing here seems to answer that; these are the nearest.", *notes]
    result: RecallOutput = {
        "hits": page.rows,
        "left_out": page.left_out,
        **page.more,
        "answer": likelihood,
    }
    return OperationReply(result, hit_lines(page.rows, notes))


class MessageRow(TypedDict):
    """One turn of a conversation."""

    role: NotRequired[str]
    speaker: NotRequired[str]
    content: str
    at: NotRequired[Annotated[str, described(WHEN)]]


def _turn(message: MessageRow) -> dict[str, Any]:
    return {**message, "at": time_argument(message["at"], "at")} if "at" in message else {**message}


class ContextArguments(Arguments):
    query: str | None = optional("What the conversation is about")
    messages: Many[MessageRow] | None = optional("Instead of a query: the last messages of the conversation")
    session: str | None = optional("The session whose recent turns to include")
    budget_tokens: int = Field(
        default=CONTEXT_BUDGET,
        ge=50,
        description=f"At most about so many tokens; {CONTEXT_BUDGET} if not given",
    )


class ContextOutput(TypedDict):
    text: str
    memories: list[int]
    tokens: int
    left_out: int


@operation("context", "Context", read_only=True)
def _context(call: OperationCall[ContextArguments]) -> OperationReply[ContextOutput]:
    """Get what is worth reading before you answer, ready to use: what is known about the question and the
    recent turns, dated and sourced, within a budget of tokens. Call it at the start of a conversation or
    task.
    """
    given = call.arguments
    asked = list(map(_turn, given.messages)) if given.messages else given.query
    if not asked:
        raise InvalidInput("Give a `query`, or the last `messages` of the conversation.")
    # The result has the ids beside the text, and as JSON a line break in it costs one more.
    budget = given.budget_tokens - given.budget_tokens // 8
    context = call.engine.context(asked, budget_tokens=budget, session=given.session)
    return OperationReply(
        {
            "text": context.text,
            "memories": [item.id for item in context.memories if item.id is not None],
            "tokens": context.tokens,
            "left_out": context.left_out,
        },
        context.text or "Nothing is known about this yet.",
    )


class AddMessagesArguments(Arguments):
    session: str = described("The conversation's name")
    messages: Many[MessageRow]
    extract: bool = Field(default=True, description="Draw notes out of them; true if not given")


class NoteRow(TypedDict):
    id: int
    text: str


class AddMessagesOutput(TypedDict):
    session: str
    ids: list[int]
    notes: list[NoteRow]
    note: NotRequired[str]


@operation("add_messages", "Save messages")
def _add_messages(call: OperationCall[AddMessagesArguments]) -> OperationReply[AddMessagesOutput]:
    """Save raw turns of a conversation, in order, under the name of a session. What is worth keeping in them
    also becomes notes. For single facts use `remember`.
    """
    given = call.arguments
    done = call.engine.add_messages(
        given.session, list(map(_turn, given.messages)), extract=given.extract, progress=call.progress
    )
    ids = fit_page(done.ids, BUDGET // 2, shared=False)
    notes = fit_page([{"id": note.id, "text": note.text} for note in done.notes], BUDGET // 2, shared=False)
    result: AddMessagesOutput = {"session": done.session, "ids": ids.rows, "notes": notes.rows}
    if ids.left_out or notes.left_out or notes.shortened:
        result["note"] = f"All were saved; only what fits {BUDGET} tokens is repeated here."
    text = f"{done.created} messages stored; {len(done.notes)} notes drawn out of them."
    return OperationReply(result, text, done.note)


class ForgetArguments(Arguments):
    ids: Many[MemoryId]


class ForgetOutput(TypedDict):
    forgotten: list[int]
    note: NotRequired[str]


@operation("forget", "Forget", destructive=True, idempotent=True)
def _forget(call: OperationCall[ForgetArguments]) -> OperationReply[ForgetOutput]:
    """Forget memories of any kind by id, when the user asks for it or something should never have been saved.
    For what has changed, `remember` with `supersedes` instead. `restore` brings them back.
    """
    forgotten = call.engine.forget(call.arguments.ids)
    missing = [f"#{id_}" for id_ in dict.fromkeys(call.arguments.ids) if id_ not in set(forgotten)]
    page = fit_page(forgotten, BUDGET, shared=False)
    result: ForgetOutput = {"forgotten": page.rows}
    if page.left_out:
        result["note"] = f"{page.left_out} more were forgotten."
    return OperationReply(
        result,
        f"Forgotten: {name_list([f'#{id_}' for id_ in forgotten], _MOST_IDS) or 'nothing'}.",
        f"Not there: {name_list(missing)}. Ids stand after # in what `recall` answers." if missing else None,
    )


class RestoreArguments(Arguments):
    id: MemoryId


class RestoreOutput(TypedDict):
    id: int


@operation("restore", "Restore")
def _restore(call: OperationCall[RestoreArguments]) -> OperationReply[RestoreOutput]:
    """Bring back a memory that was forgotten or superseded."""
    try:
        memory = call.engine.restore(call.arguments.id)
    except NotFound as error:
        raise NotFound(
            f"{error} `forget` and `delete_entities` answer with the ids that it takes, and `recall` with "
            "`include_superseded` shows what was superseded."
        ) from error
    return OperationReply({"id": memory.id}, f"#{memory.id} is back.")


class HistoryArguments(Arguments):
    id: MemoryId
    limit: int | None = at_most(1_000, _MOST_EVENTS)
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(100)


class EventRow(TypedDict):
    at: str
    what: str
    detail: str


class HistoryOutput(PageRows):
    id: int
    events: list[EventRow]


@operation("history", "History", read_only=True)
def _history(call: OperationCall[HistoryArguments]) -> OperationReply[HistoryOutput]:
    """What happened to a memory: what it said before, what corrected it, when. Use it when asked how
    something came to be known or changed.
    """
    with naming_ids():
        history = call.engine.history(call.arguments.id)
    rows: list[EventRow] = [
        {"at": iso_time(event.at), "what": event.what, "detail": event.detail} for event in history.events
    ]
    events, more = list_page(call.arguments, rows, _MOST_EVENTS)
    lines = [f"{event['at']} {event['what']}: {event['detail']}" for event in events]
    text = "\n".join(lines) or "Nothing more happened to it."
    return OperationReply({"id": history.memory.id, "events": events, **more}, text, continuation_text(more))
