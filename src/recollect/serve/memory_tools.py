"""Notes, recall and context as tools."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.engine.limits import DEFAULT_LIMIT, MOST_HITS
from recollect.engine.said import within
from recollect.errors import InvalidInput
from recollect.records import Kind
from recollect.serve import wire
from recollect.serve.paging import after
from recollect.serve.shapes import flag, listed, maybe, number, one_of, table, text, whole
from recollect.serve.tool import Reply, Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.serve.tool import Call

RECALL_BUDGET = 2_000
_MOST_LIKE = 5
LARGEST_ID = 2**63 - 1
WHEN = text("A time in ISO 8601, such as 2026-03-01T09:00:00Z; a date alone begins at midnight, UTC")
PROFILE = text("How to rank: recollect, limbic, mnemosyne, reverie or cognis; the first is best for most")
_HIT = table(
    needs=("id", "kind", "text", "score"),
    id=whole(),
    kind=one_of(*Kind),
    text=text(),
    score=number(),
    at=maybe(text()),
    name=text(),
    speaker=text(),
    session=text(),
    category=text(),
    tags=listed(text()),
    superseded_by=whole(),
)


def _remember(call: Call) -> Reply:
    given = dict(call.given)
    if "happened_at" in given:
        given["happened_at"] = when(given["happened_at"], "happened_at")
    supersedes = given.pop("supersedes", None)
    if supersedes is not None:
        return _correct(call, supersedes, given)
    note = call.engine.remember(given.pop("text"), **given)
    also = None
    if note.similar is not None:
        also = (
            f"It nearly repeats #{note.similar.id}: “{note.similar.text}”. If it corrects it, call "
            f"`remember` with supersedes={note.similar.id}."
        )
    said = f"Remembered as #{note.id}." if note.created else f"#{note.id} says so already; counted."
    return Reply(wire.remembered(note), said, also)


def _named(call: Call, ids: Sequence[int]) -> list[str]:
    return [entity.name for id_ in ids if (entity := call.engine.get(id_)) is not None]


def _correct(call: Call, old: int, note: dict[str, Any]) -> Reply:
    done = call.engine.supersede(old, note)
    gone = [retired.id for retired in done.retired]
    left = ", ".join(f"#{alike.id} “{alike.text}”" for alike in done.similar[:_MOST_LIKE])
    return Reply(
        {"id": done.by.id, "created": True, "mentions": _named(call, done.by.mentions), "retired": gone},
        f"Remembered as #{done.by.id}; retired: {', '.join(f'#{id_}' for id_ in gone)}.",
        f"Left in force, though alike: {left}. Supersede what is wrong of it, too." if left else None,
    )


def _recall(call: Call) -> Reply:
    given = dict(call.given)
    if "as_of" in given:
        given["as_of"] = when(given["as_of"], "as_of")
    query = given.pop("query")
    skipped, limit = after(call), given.pop("limit", DEFAULT_LIMIT)
    given.pop("cursor", None)
    if skipped + limit > MOST_HITS:
        raise InvalidInput(f"A search reaches {MOST_HITS} hits; ask more narrowly instead of paging on.")
    budget = given.pop("budget_tokens", RECALL_BUDGET)
    if skipped:
        # A later page asks for all before it again, which the caller has seen and does not see anew.
        answer = call.engine.recall(query, limit=skipped + limit, record=False, **given)
        rest = answer.hits[skipped:]
        shown = within(rest, budget)
        page = replace(answer, hits=shown, left_out=len(rest) - len(shown))
    else:
        page = call.engine.recall(query, limit=limit, budget_tokens=budget, **given)
    data: dict[str, Any] = {"hits": list(map(wire.hit, page.hits)), "left_out": page.left_out}
    if len(page.hits) + page.left_out == limit:
        data["cursor"] = str(skipped + limit)
    if page.note:
        data["note"] = page.note
    return Reply(data, wire.answer(page))


def _context(call: Call) -> Reply:
    messages = call.get("messages")
    asked = [_turn(message) for message in messages] if messages else call.get("query")
    if not asked:
        raise InvalidInput("Give a `query`, or the last `messages` of the conversation.")
    found = call.engine.context(
        asked, budget_tokens=call.get("budget_tokens", 1_000), session=call.get("session")
    )
    data = {
        "text": found.text,
        "memories": [item.id for item in found.memories if item.id is not None],
        "tokens": found.tokens,
        "left_out": found.left_out,
    }
    return Reply(data, found.text or "Nothing is known about this yet.")


def _turn(message: dict[str, Any]) -> dict[str, Any]:
    at = message.get("at")
    return {**message, "at": when(at, "at")} if at is not None else message


def when(given: str, what: str) -> datetime:
    try:
        moment = datetime.fromisoformat(given)
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"`{what}` is {given[:40]!r}, which is no time in ISO 8601; "
            "write 2026-03-01 or 2026-03-01T09:00:00Z."
        ) from None


MEMORY_TOOLS = (
    Tool(
        "remember",
        "Remember",
        "Save a fact, preference, decision, plan or event as a note, in one self-contained sentence that "
        "names who and what. Do it whenever you learn something that will matter in a later conversation."
        " To correct something, pass its id as `supersedes`: it and its near-copies are retired.",
        table(
            needs=("text",),
            text=text("What to remember, in one or a few sentences"),
            category=text("What sort of note it is, such as preferences, plans_goals, work_career"),
            importance=number("From 0 to 1; 0.5 if not given", minimum=0, maximum=1),
            happened_at=WHEN,
            tags=listed(text(), "Words to filter by later"),
            about=listed(text(), "Names of entities that it is about; they must exist"),
            source=text("Where it comes from"),
            supersedes=whole("The id of a memory that this one corrects", minimum=1, maximum=LARGEST_ID),
        ),
        table(
            needs=("id", "created", "mentions"),
            id=whole(),
            created=flag("False: it was known, and its count went up"),
            mentions=listed(text()),
            similar=table(id=whole(), text=text(), similarity=number()),
            retired=listed(whole()),
        ),
        _remember,
        repeats=False,
    ),
    Tool(
        "recall",
        "Recall",
        "Search everything remembered (notes, entities, past messages) by meaning, words and time, best "
        "first. Use it before you answer anything that may depend on earlier conversations: people, "
        "preferences, decisions, plans, what was said and when. Questions in natural language work best; "
        "“last week” or “in March” are understood.",
        table(
            needs=("query",),
            query=text("What you want to know, as a question"),
            limit=whole("At most so many; 10 if not given", minimum=1, maximum=50),
            cursor=text("The `cursor` of the last answer, for what comes after it"),
            kinds=listed(one_of(*Kind), "Only these kinds"),
            tags=listed(text(), "Only what has all of these tags"),
            as_of=WHEN,
            session=text("Of raw messages, only those of this session"),
            include_superseded=flag("Also what was corrected since"),
            profile=PROFILE,
            budget_tokens=whole(f"At most about so many tokens; {RECALL_BUDGET} if not given", minimum=50),
        ),
        table(
            needs=("hits", "left_out"),
            hits=listed(_HIT),
            left_out=whole("Hits beyond the budget"),
            cursor=text("Pass it on as `cursor` for what comes after; absent at the end"),
            note=text(),
        ),
        _recall,
        reads=True,
        repeats=True,
    ),
    Tool(
        "context",
        "Context",
        "Get what is worth reading before you answer, ready to use: what is known about the question and "
        "the recent turns, dated and sourced, within a budget of tokens. Call it at the start of a "
        "conversation or task.",
        table(
            needs=(),
            query=text("What the conversation is about"),
            messages=listed(
                table(needs=("content",), role=text(), speaker=text(), content=text(), at=WHEN),
                "Instead of a query: the last messages of the conversation",
            ),
            session=text("The session whose recent turns to include"),
            budget_tokens=whole("At most about so many tokens; 1000 if not given", minimum=50),
        ),
        table(text=text(), memories=listed(whole()), tokens=whole(), left_out=whole()),
        _context,
        reads=True,
        repeats=True,
    ),
)
