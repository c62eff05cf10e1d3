"""The tools beyond the default set: correcting, forgetting, explaining and looking after the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import NotFound
from recollect.records import Kind, Status
from recollect.serve import wire
from recollect.serve.memory_tools import LARGEST_ID, PROFILE, WHEN, when
from recollect.serve.shapes import flag, listed, maybe, number, one_of, table, text, whole
from recollect.serve.tool import Reply, Tool

if TYPE_CHECKING:
    from recollect.serve.tool import Call

_ID = whole("The id of a memory, as `recall` shows it after #", minimum=1, maximum=LARGEST_ID)
_EVENT = table(at=text(), what=text(), detail=text())
_STEP = table(
    step=text(), effect=text(), value=number(), numbers=listed(number()), score=number("The score after it")
)


def _forget(call: Call) -> Reply:
    gone = call.engine.forget(call.given["ids"])
    missing = [id_ for id_ in call.given["ids"] if id_ not in gone]
    said = f"Forgotten: {', '.join(f'#{id_}' for id_ in gone) or 'nothing'}."
    also = f"Not there: {', '.join(f'#{id_}' for id_ in missing)}." if missing else None
    return Reply({"forgotten": list(gone)}, said, also)


def _restore(call: Call) -> Reply:
    memory = call.engine.restore(call.given["id"])
    return Reply({"id": memory.id}, f"#{memory.id} is back.")


def _history(call: Call) -> Reply:
    found = call.engine.history(call.given["id"])
    events = [
        {"at": wire.time(event.at), "what": event.what, "detail": event.detail} for event in found.events
    ]
    lines = [f"{event['at']} {event['what']}: {event['detail']}" for event in events]
    return Reply({"id": found.memory.id, "events": events}, "\n".join(lines))


def _explain(call: Call) -> Reply:
    answer = call.engine.search(
        call.given["query"],
        limit=call.get("limit", 5),
        profile=call.get("profile", "recollect"),
        explain=True,
    )
    hits = [
        {
            **wire.hit(hit),
            "explanation": [
                {
                    "step": reason.step,
                    "effect": reason.effect,
                    "value": reason.value,
                    "numbers": list(reason.numbers),
                    "score": reason.score,
                }
                for reason in hit.reasons
            ],
        }
        for hit in answer.hits
    ]
    return Reply({"profile": answer.profile, "hits": hits})


def _why_not(call: Call) -> Reply:
    memory: int | str = call.get("id") or call.get("name", "")
    if not memory:
        raise NotFound("Name the memory by its `id`, or an entity by its `name`.")
    found = call.engine.why_not(
        call.given["query"], memory, limit=call.get("limit"), profile=call.get("profile", "recollect")
    )
    data = {"verdict": found.verdict, "advice": list(found.advice)}
    return Reply(data, "\n".join((found.verdict, *found.advice)))


def _stats(call: Call) -> Reply:
    counts = call.engine.how_many()
    model = call.engine.model()
    data: dict[str, Any] = {
        "entities": counts.get(Kind.ENTITY, 0),
        "notes": counts.get(Kind.NOTE, 0),
        "messages": counts.get(Kind.MESSAGE, 0),
        "model": None if model is None else model.name,
    }
    return Reply(data)


def _end_relation(call: Call) -> Reply:
    at = call.get("at")
    given = call.given
    call.engine.end_relation(
        given["from"], given["relationType"], given["to"], at=None if at is None else when(at, "at")
    )
    said = f"{given['from']} {given['relationType']} {given['to']} has ended; it stays as history."
    return Reply({"success": True, "message": said}, said)


def _set_status(call: Call) -> Reply:
    status = call.engine.set_status(call.given["entityName"], call.given["status"])
    said = f"{call.given['entityName']} is {status} now."
    return Reply({"success": True, "message": said}, said)


def _add_messages(call: Call) -> Reply:
    messages = [
        {**message, "at": when(message["at"], "at")} if message.get("at") is not None else message
        for message in call.given["messages"]
    ]
    told = call.engine.add_messages(call.given["session"], messages, extract=call.get("extract", True))
    data = {
        "session": told.session,
        "ids": list(told.ids),
        "notes": [{"id": note.id, "text": note.text} for note in told.notes],
    }
    said = f"{told.created} messages stored; {len(told.notes)} notes drawn out of them."
    return Reply(data, said, told.note)


_DONE = table(success=flag(), message=text())

MORE_TOOLS = (
    Tool(
        "add_messages",
        "Save messages",
        "Save raw turns of a conversation, in order, under the name of a session. What is worth keeping "
        "in them also becomes notes. For single facts use `remember`.",
        table(
            needs=("session", "messages"),
            session=text("The conversation's name"),
            messages=listed(table(needs=("content",), role=text(), speaker=text(), content=text(), at=WHEN)),
            extract=flag("Draw notes out of them; true if not given"),
        ),
        table(session=text(), ids=listed(whole()), notes=listed(table(id=whole(), text=text()))),
        _add_messages,
    ),
    Tool(
        "forget",
        "Forget",
        "Forget memories of any kind by id, when the user asks for it or something should never have been"
        " saved. For what has changed, `remember` with `supersedes` instead. `restore` brings them back.",
        table(ids=listed(_ID)),
        table(forgotten=listed(whole())),
        _forget,
        destroys=True,
        repeats=True,
    ),
    Tool(
        "restore",
        "Restore",
        "Bring back a memory that was forgotten or superseded.",
        table(id=_ID),
        table(id=whole()),
        _restore,
    ),
    Tool(
        "history",
        "History",
        "What happened to a memory: what it said before, what corrected it, when. Use it when asked how "
        "something came to be known or changed.",
        table(id=_ID),
        table(id=whole(), events=listed(_EVENT)),
        _history,
        reads=True,
        repeats=True,
    ),
    Tool(
        "explain",
        "Explain a ranking",
        "Why memories stand where they do for a query: every step that made the score.",
        table(
            needs=("query",),
            query=text(),
            limit=whole(minimum=1, maximum=20),
            profile=PROFILE,
        ),
        table(
            profile=text(),
            hits=listed(
                {
                    **table(),
                    "additionalProperties": True,
                    "properties": {"id": whole(), "score": number(), "explanation": listed(_STEP)},
                    "required": ["id", "score", "explanation"],
                }
            ),
        ),
        _explain,
        reads=True,
        repeats=True,
    ),
    Tool(
        "why_not",
        "Why not",
        "Why a memory was not found for a query, and what would lift it.",
        table(
            needs=("query",),
            query=text(),
            id=_ID,
            name=text("Instead of an id: an entity's name"),
            limit=whole(minimum=1, maximum=50),
            profile=PROFILE,
        ),
        table(verdict=text(), advice=listed(text())),
        _why_not,
        reads=True,
        repeats=True,
    ),
    Tool(
        "end_relation",
        "End a relation",
        "Say that a relation holds no more, as when someone leaves a job. It stays as history.",
        table(
            {"from": text(), "to": text(), "relationType": text(), "at": WHEN},
            needs=("from", "to", "relationType"),
        ),
        _DONE,
        _end_relation,
    ),
    Tool(
        "set_status",
        "Set a status",
        "Mark an entity as active, paused, completed or archived; what is not active ranks lower.",
        table(entityName=text(), status=one_of(*Status)),
        _DONE,
        _set_status,
        repeats=True,
    ),
    Tool(
        "stats",
        "Statistics",
        "How much the memory holds.",
        table(needs=()),
        table(
            entities=whole(),
            notes=whole(),
            messages=whole(),
            model=maybe(text()),
        ),
        _stats,
        reads=True,
        repeats=True,
    ),
)
