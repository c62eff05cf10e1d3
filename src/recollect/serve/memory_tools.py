"""Notes, recall and context as tools."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recollect.engine.limits import DEFAULT_LIMIT
from recollect.errors import InvalidInput, NotFound
from recollect.rank.confidence_label import confidence_label
from recollect.records import Kind
from recollect.serve import wire
from recollect.serve.paging import CURSOR, MORE, at_most, fit, found, shortened
from recollect.serve.shapes import flag, listed, maybe, number, one_of, table, text, whole
from recollect.serve.tool import Reply, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recollect.engine.results import Answer, Hit
    from recollect.serve.tool import Call

RECALL_BUDGET = 2_000
CONTEXT_BUDGET = 1_000
_MOST_LIKE = 5
LARGEST_ID = 2**63 - 1
WHEN = text("A time in ISO 8601, such as 2026-03-01T09:00:00Z; a date alone begins at midnight, UTC")
AS_OF = text("Answer from the memory as it stood then: a time in ISO 8601")
PROFILE = text("How to rank: recollect, limbic, mnemosyne, reverie or cognis; the first is best for most")
HIT = table(
    needs=("id", "kind", "text", "score"),
    id=whole(),
    kind=one_of(*Kind),
    text=text(),
    score=number(),
    confidence=number(),
    at=maybe(text()),
    name=text(),
    speaker=text(),
    session=text(),
    category=text(),
    tags=listed(text()),
    superseded_by=whole(),
    superseded=listed(text(), "What its observations said before they were corrected"),
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
            f"It nearly repeats #{note.similar.id}: “{wire.brief(note.similar.text)}”. If it corrects it, "
            f"call `remember` with supersedes={note.similar.id}."
        )
    said = f"Remembered as #{note.id}." if note.created else f"#{note.id} says so already; counted."
    return Reply(wire.remembered(note), said, also)


def _named(call: Call, ids: Sequence[int]) -> list[str]:
    return [entity.name[:80] for id_ in ids[:50] if (entity := call.engine.get(id_)) is not None]


def _correct(call: Call, old: int, note: dict[str, Any]) -> Reply:
    with by_id():
        done = call.engine.supersede(old, note)
    gone = [retired.id for retired in done.retired]
    left = ", ".join(f"#{alike.id} “{wire.brief(alike.text)}”" for alike in done.similar[:_MOST_LIKE])
    return Reply(
        {"id": done.by.id, "created": True, "mentions": _named(call, done.by.mentions), "retired": gone},
        f"Remembered as #{done.by.id}; retired: {', '.join(f'#{id_}' for id_ in gone)}.",
        f"Left in force, though alike: {left}. Supersede what is wrong of it, too." if left else None,
    )


@contextmanager
def by_id() -> Iterator[None]:
    """Whoever names an id that is not there learns where ids come from."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"{error} Ids stand after # in what `recall` answers.") from error


def _recall(call: Call) -> Reply:
    given = {name: call.given[name] for name in _FILTERS if call.get(name) is not None}
    if "as_of" in given:
        given["as_of"] = when(given["as_of"], "as_of")
    superseded = call.get("include_superseded", False)
    answers: list[Answer] = []

    def ask(limit: int | None) -> Answer:
        asked = call.given["query"]
        answers.append(call.engine.recall(asked, limit=limit, record=False, noted_later=True, **given))
        return answers[-1]

    data, notes = hits_of(
        call,
        ask,
        lambda hit: wire.hit(hit, superseded=superseded),
        RECALL_BUDGET,
    )
    # Who asks about the past must not change it; and who pages on has not asked anew.
    if "as_of" not in given and call.get("cursor") is None:
        call.engine.record_shown([hit["id"] for hit in data["hits"]], answers[-1])
    data["answer"] = confidence_label(answers[-1].confidence or 0.0)
    if data["hits"] and data["answer"] == "unlikely":
        notes = [_GUESSES, *notes]
    return Reply(data, wire.lines(data["hits"], *notes))


_FILTERS = ("kinds", "tags", "as_of", "session", "include_superseded", "profile", "min_confidence")
_GUESSES = "Nothing here seems to answer that; these are the nearest."


def hits_of(
    call: Call, search: Callable[[int | None], Answer], plain: Callable[[Hit], dict[str, Any]], budget: int
) -> tuple[dict[str, Any], list[str]]:
    """A page of what a search finds, within the budget, and what there is to say about it."""
    asked(call)
    answers: list[Answer] = []

    def ask(limit: int | None) -> Sequence[Hit]:
        answers.append(search(limit))
        return answers[-1].hits

    reach, rest = found(call, ask, lambda hit: hit.memory.id)
    limit = call.get("limit", DEFAULT_LIMIT)
    hits = rest[:limit]
    rows = list(map(plain, hits))

    unsaid: dict[int, int] = {}

    def shorten(place: int, room: int) -> dict[str, Any]:
        lines = _telling(hits[place], answers[-1].query)
        row = dict(shortened({**rows[place], "text": "\n".join(lines)}, room))
        unsaid[place] = _unsaid(lines, len(row["text"]))
        return row

    page = fit(rows, call.get("budget_tokens", budget), shorten)
    data: dict[str, Any] = {"hits": page.rows, "left_out": page.left}
    onward = None
    if page.left or len(hits) == limit:
        data["cursor"] = reach.onward(len(page.rows))
        onward = f"There may be more: cursor {data['cursor']!r}."
    missing = sum(count for place, count in unsaid.items() if place < len(page.rows))
    told = [
        f"{missing} observations of entities are not shown." if missing else None,
        page.note(call),
        answers[-1].note,
    ]
    if any(told):
        data["note"] = " ".join(filter(None, told))
    return data, [note for note in (*told, onward) if note]


def asked(call: Call) -> str:
    """The query, which must say something."""
    query = str(call.given["query"])
    if not query.strip():
        raise InvalidInput("The `query` is empty; say in words what you look for.")
    return query


def _telling(hit: Hit, query: str) -> list[str]:
    """What a hit says; of an entity, what answers the query first, so that a cut takes the rest."""
    memory = hit.memory
    if memory.kind is not Kind.ENTITY:
        return [str(wire.hit(hit)["text"])]
    facts = wire.telling([seen.content for seen in memory.in_force], query, hit.passage)
    return [f"{memory.name} ({memory.type})", *facts]


def _unsaid(lines: Sequence[str], letters: int) -> int:
    """How many of an entity's observations, which follow its name, a text of so many letters lacks."""
    end = 0
    for place, line in enumerate(lines):
        end += len(line) + 1
        if end > letters:
            return len(lines) - max(place, 1)
    return 0


def _context(call: Call) -> Reply:
    messages = call.get("messages")
    asked = [_turn(message) for message in messages] if messages else call.get("query")
    if not asked:
        raise InvalidInput("Give a `query`, or the last `messages` of the conversation.")
    budget = call.get("budget_tokens", CONTEXT_BUDGET)
    # The data has the ids beside the text, and as JSON a line break in it costs one more.
    context = call.engine.context(asked, budget_tokens=budget - budget // 8, session=call.get("session"))
    data = {
        "text": context.text,
        "memories": [item.id for item in context.memories if item.id is not None],
        "tokens": context.tokens,
        "left_out": context.left_out,
    }
    return Reply(data, context.text or "Nothing is known about this yet.")


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
            limit=at_most(50, DEFAULT_LIMIT),
            cursor=CURSOR,
            kinds=listed(one_of(*Kind), "Only these kinds"),
            tags=listed(text(), "Only what has all of these tags"),
            as_of=AS_OF,
            session=text("Of raw messages, only those of this session"),
            include_superseded=flag("Also what was corrected since, marked so"),
            profile=PROFILE,
            min_confidence=number("Only hits at least as likely to be relevant", minimum=0, maximum=1),
            budget_tokens=whole(f"At most about so many tokens; {RECALL_BUDGET} if not given", minimum=150),
        ),
        table(
            needs=("hits", "left_out", "answer"),
            hits=listed(HIT),
            answer=one_of("likely", "possible", "unlikely"),
            left_out=whole("Hits that did not fit the budget"),
            **MORE,
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
            budget_tokens=whole(f"At most about so many tokens; {CONTEXT_BUDGET} if not given", minimum=50),
        ),
        table(text=text(), memories=listed(whole()), tokens=whole(), left_out=whole()),
        _context,
        reads=True,
        repeats=True,
    ),
)
