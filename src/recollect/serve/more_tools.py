"""The tools beyond the default set: correcting, forgetting, explaining and looking after the memory."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.errors import NotFound
from recollect.records import Filter, Kind, Status
from recollect.serve import wire
from recollect.serve.memory_tools import HIT, LARGEST_ID, PROFILE, WHEN, by_id, hits_of, when
from recollect.serve.paging import (
    BUDGET,
    BUDGET_TOKENS,
    CURSOR,
    MORE,
    at_most,
    budget_from,
    first_of,
    fit,
    listing,
    more,
    shortened,
)
from recollect.serve.shapes import extended, flag, listed, maybe, number, one_of, table, text, whole
from recollect.serve.tool import Reply, Tool
from recollect.text.limits import clean_name

if TYPE_CHECKING:
    from recollect.engine.results import Hit
    from recollect.serve.tool import Call

_ID = whole("The id of a memory, as `recall` shows it after #", minimum=1, maximum=LARGEST_ID)
_EVENT = table(at=text(), what=text(), detail=text())
_STEP = table(
    step=text(), effect=text(), value=number(), numbers=listed(number()), score=number("The score after it")
)
_MOST_EVENTS = 50
_MOST_EXPLAINED = 5
_MOST_IDS = 50


def _forget(call: Call) -> Reply:
    gone = call.engine.forget(call.given["ids"])
    missing = [id_ for id_ in dict.fromkeys(call.given["ids"]) if id_ not in set(gone)]
    said = f"Forgotten: {first_of([f'#{id_}' for id_ in gone], _MOST_IDS) or 'nothing'}."
    also = (
        f"Not there: {first_of([f'#{id_}' for id_ in missing])}. Ids stand after # in what `recall` answers."
        if missing
        else None
    )
    page = fit(list(gone), BUDGET, shared=False)
    note = {"note": f"{page.left} more were forgotten."} if page.left else {}
    return Reply({"forgotten": page.rows, **note}, said, also)


def _restore(call: Call) -> Reply:
    try:
        memory = call.engine.restore(call.given["id"])
    except NotFound as error:
        raise NotFound(
            f"{error} `forget` and `delete_entities` answer with the ids that it takes, and `recall` with "
            "`include_superseded` shows what was superseded."
        ) from error
    return Reply({"id": memory.id}, f"#{memory.id} is back.")


def _history(call: Call) -> Reply:
    with by_id():
        history = call.engine.history(call.given["id"])
    events = [
        {"at": wire.time(event.at), "what": event.what, "detail": event.detail} for event in history.events
    ]
    data = listing(call, "events", events, _MOST_EVENTS)
    lines = [f"{event['at']} {event['what']}: {event['detail']}" for event in data["events"]]
    text_ = "\n".join(lines) or "Nothing more happened to it."
    return Reply({"id": history.memory.id, **data}, text_, more(data))


def _explain(call: Call) -> Reply:
    wanted = {"limit": call.get("limit", _MOST_EXPLAINED)}
    profile = call.get("profile", "recollect")
    data, _ = hits_of(
        replace(call, given={**call.given, **wanted}),
        lambda limit: call.engine.search(call.given["query"], limit=limit, profile=profile, explain=True),
        _explained,
        BUDGET,
    )
    return Reply({"profile": profile, **data})


def _explained(hit: Hit) -> dict[str, Any]:
    steps = [
        {
            "step": reason.step,
            "effect": reason.effect,
            "value": reason.value,
            "numbers": list(reason.numbers),
            "score": reason.score,
        }
        for reason in hit.reasons
    ]
    return {**wire.hit(hit), "explanation": wire.rounded(steps)}


def _why_not(call: Call) -> Reply:
    memory: int | str = call.get("id") or call.get("name", "")
    if not memory:
        raise NotFound("Name the memory by its `id`, or an entity by its `name`.")
    with by_id() if isinstance(memory, int) else nullcontext():
        found = call.engine.why_not(
            call.given["query"], memory, limit=call.get("limit"), profile=call.get("profile", "recollect")
        )
    data = shortened({"verdict": found.verdict, "advice": list(found.advice)}, BUDGET)
    return Reply(data, "\n".join((data["verdict"], *data["advice"])))


def _stats(call: Call) -> Reply:
    engine = call.engine
    here = Filter(engine.scope.owner, engine.scope.agent)
    with engine.store.read() as view:
        live = view.how_many(here)
        ever = view.how_many(replace(here, superseded=True))
        counts, model = view.counts(), view.model()
        sessions = len(view.sessions(engine.scope))
    data: dict[str, Any] = {
        "entities": live.get(Kind.ENTITY, 0),
        "notes": live.get(Kind.NOTE, 0),
        "messages": live.get(Kind.MESSAGE, 0),
        "superseded": sum(ever.values()) - sum(live.values()),
        "sessions": sessions,
        "model": None if model is None else model.name,
        "store": {
            "observations": counts.observations,
            "relations": counts.relations,
            "forgotten": counts.forgotten,
            "scopes": counts.scopes,
            "texts_with_a_vector": counts.vectors,
            "texts_waiting_for_one": counts.due,
            "bytes": counts.bytes,
            "schema": counts.schema,
        },
    }
    return Reply(data)


def _end_relation(call: Call) -> Reply:
    at = call.get("at")
    given = call.given
    try:
        call.engine.graph.end_relation(
            given["from"], given["relationType"], given["to"], at=None if at is None else when(at, "at")
        )
    except NotFound as error:
        raise NotFound(_nothing_to_end(call, str(error))) from error
    said = f"{given['from']} {given['relationType']} {given['to']} has ended; it stays as history."
    return Reply({"success": True, "message": said}, said)


def _nothing_to_end(call: Call, why: str) -> str:
    """What is missing, and what the caller may have meant."""
    source, target = call.given["from"], call.given["to"]
    with call.engine.store.read() as view:
        absent = [name for name in (source, target) if not view.alike(clean_name(name), call.engine.scope)]
    if source in absent:
        return f"There is no entity named {source[:80]!r}, so nothing ends; `search_nodes` finds names."
    if target in absent:
        why = f"There is no entity named {target[:80]!r}, so nothing ends."
    return f"{why} {_standing(call, source)}".strip()


def _standing(call: Call, name: str) -> str:
    """The relations that an entity has; nothing, where the name could mean several."""
    graph = call.engine.graph.open_nodes([name], record=False)
    if not graph.entities:
        return ""
    told = [f"{one.source_name[:40]} {one.type[:40]} {one.target_name[:40]}" for one in graph.relations]
    return f"{name[:80]!r} has: {first_of(told) or 'no relations'}."


def _set_status(call: Call) -> Reply:
    status = call.engine.graph.set_status(call.given["entityName"], call.given["status"])
    said = f"{call.given['entityName']} is {status} now."
    return Reply({"success": True, "message": said}, said)


def _add_messages(call: Call) -> Reply:
    messages = [
        {**message, "at": when(message["at"], "at")} if message.get("at") is not None else message
        for message in call.given["messages"]
    ]
    told = call.engine.add_messages(
        call.given["session"], messages, extract=call.get("extract", True), progress=call.progress
    )
    ids = fit(list(told.ids), BUDGET // 2, shared=False)
    notes = fit([{"id": note.id, "text": note.text} for note in told.notes], BUDGET // 2, shared=False)
    data: dict[str, Any] = {"session": told.session, "ids": ids.rows, "notes": notes.rows}
    if ids.left or notes.left or notes.cut:
        data["note"] = f"All were saved; only what fits {BUDGET} tokens is repeated here."
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
        table(
            needs=("session", "ids", "notes"),
            session=text(),
            ids=listed(whole()),
            notes=listed(table(id=whole(), text=text())),
            note=text(),
        ),
        _add_messages,
    ),
    Tool(
        "forget",
        "Forget",
        "Forget memories of any kind by id, when the user asks for it or something should never have been"
        " saved. For what has changed, `remember` with `supersedes` instead. `restore` brings them back.",
        table(ids=listed(_ID)),
        table(needs=("forgotten",), forgotten=listed(whole()), note=text()),
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
        table(
            needs=("id",),
            id=_ID,
            limit=at_most(1_000, _MOST_EVENTS),
            cursor=CURSOR,
            budget_tokens=BUDGET_TOKENS,
        ),
        table(needs=("id", "events"), id=whole(), events=listed(_EVENT), **MORE),
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
            limit=at_most(20, _MOST_EXPLAINED),
            cursor=CURSOR,
            budget_tokens=budget_from(1_000),
            profile=PROFILE,
        ),
        table(
            needs=("profile", "hits", "left_out"),
            profile=text(),
            hits=listed(extended(HIT, explanation=listed(_STEP))),
            left_out=whole(),
            **MORE,
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
        "How much the memory holds, how large it is, and what still waits to be found by meaning.",
        table(needs=()),
        table(
            entities=whole(),
            notes=whole(),
            messages=whole(),
            superseded=whole("Corrected since, and kept as history"),
            sessions=whole(),
            model=maybe(text("The model that finds by meaning")),
            store=table(
                observations=whole(),
                relations=whole(),
                forgotten=whole("`restore` can bring them back"),
                scopes=whole("Owners and agents that share the file; the counts here are of all of them"),
                texts_with_a_vector=whole(),
                texts_waiting_for_one=whole(),
                bytes=whole(),
                schema=whole(),
            ),
        ),
        _stats,
        reads=True,
        repeats=True,
    ),
)
