"""mem0's routes for all versions of its clients, and their work on notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from recollect import Engine
from recollect.domain.errors import (
    Conflict,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    RecollectError,
    StoreUnavailable,
)
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import MOST_HITS, clean_name
from recollect.domain.records import Kind, Memory, RecallOptions, Scope
from recollect.domain.results import History, Hit, Remembered
from recollect.plugin import Internals
from recollect_server.mem0.requests import (
    MOST_LISTED,
    AddRequest,
    BatchRequest,
    DeleteAllRequest,
    FeedbackRequest,
    ListRequest,
    RowFilter,
    SearchRequest,
    UpdateRequest,
    UserAndAgent,
    all_needed,
    body_of,
    holds,
    is_only_of_places,
    merged_tags,
    metadata_of,
    metadata_tags,
    moment_given,
    needed,
    needed_tags,
    parameters_of,
    places,
    request_of,
    row_filter,
)
from recollect_server.runner import Caller, Forbidden, MemoryRunner, Right, TookTooLong, caller_of

# Routes

MEM0_PATH = "/mem0"
_VERSIONS = ("v1", "v2", "v3")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_STATUSES: tuple[tuple[type[RecollectError], int], ...] = (
    (InvalidInput, 400),
    (Forbidden, 403),
    (NotFound, 404),
    (Conflict, 409),
    (StoreUnavailable, 503),
    (ModelUnavailable, 503),
    (TookTooLong, 504),
)
_ACCOUNT = "recollect"
# Fields of a project, which are always empty here.
_INSTRUCTIONS = ("custom_instructions", "custom_categories")
# Routes of mem0's platform that its open-source server lacks.
_PLATFORM_ONLY = ("exports", "summary", "profiles", "webhooks", "orgs", "events")


@dataclass(frozen=True, slots=True)
class Mem0Call:
    method: str
    version: str | None
    parts: tuple[str, ...]
    parameters: Mapping[str, Any]
    body: Mapping[str, Any]

    @property
    def given(self) -> dict[str, Any]:
        return {**self.parameters, **self.body}


def mem0_routes(runner: MemoryRunner) -> list[BaseRoute]:
    async def answer(request: Request) -> Response:
        try:
            call = await _call_of(request)
            right, work = _work(call, caller_of(request))
            return _json(await runner.run(request, work, right=right), 200)
        except RecollectError as error:
            status = next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)
            return _json({"detail": str(error)}, status)

    return [Route(f"{MEM0_PATH}{{path:path}}", answer, methods=list(_METHODS))]


def _json(content: object, status: int) -> Response:
    # ASCII, since quoted input may contain a lone surrogate.
    return Response(json.dumps(content), status, media_type="application/json")


async def _call_of(request: Request) -> Mem0Call:
    # Split before decoding: a user's id may contain a slash.
    path = request.scope.get("raw_path", request.url.path.encode()).decode("latin-1").partition("?")[0]
    parts = [unquote(part) for part in path.split("/")[2:] if part]
    if parts[:1] == ["api"]:
        parts = parts[1:]
    version = parts.pop(0) if parts[:1] and parts[0] in _VERSIONS else None
    return Mem0Call(
        request.method,
        version,
        tuple(parts),
        parameters_of(request.query_params),
        body_of(await request.body()),
    )


def _work(call: Mem0Call, caller: Caller) -> tuple[Right, Callable[[Engine], Any]]:  # noqa: PLR0911  # one for each route

    def notes(memory: Engine) -> Mem0Notes:
        return Mem0Notes(caller, memory)

    match (call.method, *call.parts):
        case ("POST", "memories", "add") | ("POST", "memories") if _is_add(call):
            new = request_of(AddRequest, call.given)
            return Right.WRITE, lambda memory: notes(memory).add(new)
        case ("GET" | "POST", "memories"):
            listed = request_of(ListRequest, call.given)
            return Right.READ, lambda memory: notes(memory).list_page(listed)
        case ("POST", "search") | ("POST", "memories", "search"):
            sought = request_of(SearchRequest, call.given)
            return Right.READ, lambda memory: notes(memory).search(sought)
        case ("DELETE", "memories"):
            gone = request_of(DeleteAllRequest, call.given)
            return Right.WRITE, lambda memory: notes(memory).delete_all(gone)
        case ("GET", "memories", id_):
            return Right.READ, lambda memory: notes(memory).get(id_)
        case ("PUT" | "PATCH", "memories", id_):
            changed = request_of(UpdateRequest, call.body)
            clears = "expiration_date" in call.body and call.body["expiration_date"] is None
            return Right.WRITE, lambda memory: notes(memory).update(id_, changed, clears_expiry=clears)
        case ("DELETE", "memories", id_):
            return Right.WRITE, lambda memory: notes(memory).delete(id_)
        case ("GET", "memories", id_, "history"):
            return Right.READ, lambda memory: notes(memory).history(id_)
        case ("PUT" | "DELETE", "batch"):
            batch = request_of(BatchRequest, call.body)
            if call.method == "PUT":
                return Right.WRITE, lambda memory: notes(memory).update_batch(batch)
            return Right.WRITE, lambda memory: notes(memory).delete_batch(batch)
        case ("POST", "feedback"):
            graded = request_of(FeedbackRequest, call.body)
            return Right.WRITE, lambda memory: notes(memory).feedback(graded)
        case _:
            return _store_work(call, caller)


def _store_work(  # noqa: PLR0911  # one for each route
    call: Mem0Call, caller: Caller
) -> tuple[Right, Callable[[Engine], Any]]:
    match (call.method, *call.parts):
        case ("GET",) | ("GET", "ping"):
            # The client does not start without these two.
            return Right.READ, lambda _: {"status": "ok", "org_id": _ACCOUNT, "project_id": _ACCOUNT}
        case ("GET", "orgs", "organizations", _, "projects", _):
            return Right.READ, lambda _: {"id": _ACCOUNT, "name": _ACCOUNT, **dict.fromkeys(_INSTRUCTIONS)}
        case ("GET", "entities" | "users"):
            return Right.READ, lambda memory: entities(caller, memory)
        # mem0's client resets by deleting entities one by one, so each deletion needs the right of a reset.
        case ("DELETE", "entities", kind, name):
            return Right.ADMIN, lambda memory: delete_entity(caller, memory, kind, name)
        case ("POST", "reset"):
            return Right.ADMIN, lambda memory: reset(caller, memory)
        case ("GET", "configure"):
            return Right.READ, _configuration
        case ("POST", "configure"):
            message = "Nothing was changed: Recollect has settings of its own (`recollect --help`)."
            return Right.ADMIN, lambda _: {"message": message, "ignored": sorted(call.body)}
        case (_, first, *_) if first in _PLATFORM_ONLY or call.parts[-1] == "profile":
            raise NotFound(
                f"{first!r} exists only on mem0's hosted platform; the page on mem0 lists what "
                "Recollect supports."
            )
        case _:
            raise NotFound(
                f"mem0 has no {call.method} /{'/'.join(call.parts)[:80]} here; there are memories, search, "
                "entities, batch, feedback, reset and configure."
            )


def _is_add(call: Mem0Call) -> bool:
    """Whether a POST adds: the same path lists in newer versions of mem0."""
    return call.parts[-1] == "add" or call.version in {None, "v1"}


def _configuration(memory: Engine) -> dict[str, Any]:
    model = memory.model
    return {
        "version": "v1.1",
        "embedder": {"provider": "recollect", "config": {"model": None if model is None else model.name}},
    }


# Rows

Mem0Row = dict[str, Any]
NO_RUN = "mem0 (no run_id)"
"""The session of messages without a `run_id`."""
_EVENTS = {
    "noted": "ADD",
    "updated": "UPDATE",
    "restored": "ADD",
    "forgotten": "DELETE",
    "superseded": "DELETE",
    "merged": "DELETE",
}


def note_row(note: Memory, **more: Any) -> Mem0Row:
    metadata, tags = metadata_of(note.tags)
    category = () if note.category is None else (note.category,)
    return {
        "id": str(note.id),
        "memory": note.text,
        "user_id": note.scope.owner or None,
        "agent_id": note.scope.agent or None,
        "app_id": metadata.get("app_id"),
        "run_id": None if note.session == NO_RUN else note.session,
        "metadata": metadata,
        "categories": [*category, *tags],
        "created_at": _iso(note.created_at),
        "updated_at": _iso(note.updated_at),
        "timestamp": _iso(note.happened_at),
        "expiration_date": _iso(note.expires_at),
        **more,
    }


def history_rows(history: History) -> list[Mem0Row]:
    """Return the events of a note, oldest first. Forgetting and correcting count as DELETE."""
    rows: list[Mem0Row] = []
    text: str | None = None
    note = history.memory
    said = iter([*(former.text for former in note.former), note.text])
    for event in history.events:
        name = _EVENTS.get(event.what)
        if name is None:
            continue
        former = text
        if event.what in {"noted", "updated"}:
            text = next(said)
        rows.append(
            {
                "id": f"{note.id}-{len(rows) + 1}",
                "memory_id": str(note.id),
                "old_memory": None if name == "ADD" else former,
                "new_memory": None if name == "DELETE" else text,
                "event": name,
                "is_deleted": name == "DELETE",
                "user_id": note.scope.owner or None,
                "created_at": _iso(note.created_at),
                "updated_at": _iso(event.at),
            }
        )
    return rows


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat()


# Scopes

_MAX_PLACES = 20
_MAX_ID_DIGITS = 18


def memory_of_user(caller: Caller, memory: Engine, user: str | None, agent: str | None) -> Engine:
    """Return the memory of a user, or of one of their agents.

    Without an agent, reads see the memories of all agents of the user, and writes belong to no agent. A token
    that is bound to a scope sees only that scope.
    """
    user = None if user is None else clean_name(user, "user_id")
    agent = None if agent is None else clean_name(agent, "agent_id")
    if caller.scope is not None:
        return caller.engine(memory, user, agent)
    return memory.scoped(memory.scope.owner if user is None else user, agent)


def memories_at(caller: Caller, memory: Engine, asked: Iterable[UserAndAgent]) -> list[Engine]:
    """Return the memories that a filter can match, each scope once."""
    found: list[Engine] = []
    for user, agent in sorted(asked, key=lambda place: (place[0] or "", place[1] or "")):
        if user is None and agent is not None and caller.scope is None:
            # An agent without a user may belong to several users.
            scopes = [scope for scope in Internals(memory).notes_by_scope() if scope.agent == agent]
            found += [memory.scoped(scope.owner, scope.agent) for scope in scopes]
        else:
            found.append(memory_of_user(caller, memory, user, agent))
        if len(found) > _MAX_PLACES:
            raise InvalidInput(
                f"This asks for the memories of more than {_MAX_PLACES} users; name fewer with `user_id`."
            )
    wider = {each.scope.owner for each in found if each.scope.agent is None}
    kept = {each.scope: each for each in found if each.scope.agent is None or each.scope.owner not in wider}
    return list(kept.values())


def note_and_memory(
    caller: Caller, memory: Engine, given: str, *, forgotten: bool = False
) -> tuple[Memory, Engine]:
    """Find a note and its memory by id. mem0's clients send no user with an id."""
    id_ = int(given) if given.isascii() and given.isdigit() and len(given) <= _MAX_ID_DIGITS else 0
    own = memory
    if caller.scope is None:
        scope = Internals(memory).scope_of_memory(id_)
        own = memory if scope is None else memory.scoped(scope.owner, scope.agent)
    note = own.get(id_)
    is_gone = note is not None and note.deleted_at is not None and not forgotten
    if note is None or is_gone or note.kind is not Kind.NOTE:
        raise NotFound(f"There is no memory {given[:40]!r}; `get_all` lists the existing ones.")
    return note, own


# Notes

_GRADES = {"POSITIVE": 1.0, "NEGATIVE": -0.5, "VERY_NEGATIVE": -1.0}
_PER_PAGE = 500


@dataclass(frozen=True, slots=True)
class Mem0Notes:
    caller: Caller
    memory: Engine

    def add(self, asked: AddRequest) -> Mem0Row:
        """Store messages. With `infer`, also extract notes; without, store each message as a note."""
        user, agent, run = (asked.id_of(name) for name in ("user_id", "agent_id", "run_id"))
        app = asked.id_of("app_id")
        if not any((user, agent, run, app)) and self.caller.scope is None:
            raise InvalidInput("Say whose memory it is: `user_id`, `agent_id` or `run_id`.")
        own = memory_of_user(self.caller, self.memory, user, agent)
        metadata = {**(asked.metadata or {}), **({} if app is None else {"app_id": app})}
        metadata_tags(metadata)  # refuse invalid metadata before anything is written
        at = None if asked.timestamp is None else moment_given(asked.timestamp)
        expires_at = _expiry(asked.expiration_date)
        said = [message for message in asked.messages if message.role != "system"]
        noted: Sequence[Remembered] = ()
        note = None
        if asked.infer is not False:
            messages = [
                {"role": each.role, "speaker": each.name, "content": each.text, "at": at} for each in said
            ]
            done = own.add_messages(run or NO_RUN, messages)
            noted, note = done.notes, done.note
        elif said:
            common = {"session": run, "happened_at": at, "expires_at": expires_at}
            noted = own.remember_many(
                [{"text": each.text, "speaker": each.name, **common} for each in said]
            ).notes
        for each in noted:
            _set_metadata(own, each, metadata, None if asked.infer is False else expires_at)
        results = [
            {"id": str(each.id), "memory": each.text, "event": "ADD" if each.created else "NONE"}
            for each in noted
        ]
        return {"results": results, **_remarks(asked.ignored, note)}

    def get(self, given: str) -> Mem0Row:
        return note_row(note_and_memory(self.caller, self.memory, given)[0])

    def search(self, asked: SearchRequest) -> Mem0Row:
        """Search, best first; `score` is the likelihood that a memory answers the query."""
        tree = row_filter(_narrowed(asked.filter, asked.metadata, asked.categories))
        # Conditions other than user and agent are checked on the hits.
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
                    options=RecallOptions(rerank=asked.rerank, defer_recording=True),
                ),
            )
            for own in memories_at(self.caller, self.memory, places(tree))
        ]
        found = [
            (hit, answer)
            for _, answer in answers
            for hit in answer.hits
            if (asked.threshold is None or _score(hit) >= asked.threshold)
            and holds(tree, note_row(hit.memory))
        ]
        if len(answers) > 1:  # hits of several memories are sorted by score
            found.sort(key=lambda each: (-_score(each[0]), each[0].memory.id))
        found = found[: asked.most]
        for own, answer in answers:
            shown = [hit.memory.id for hit, of in found if of is answer]
            if shown:
                own.record_shown(shown, answer)
        rows = [note_row(hit.memory, score=round(_score(hit), 4)) for hit, _ in found]
        note = next((answer.note for _, answer in answers if answer.note), None)
        return {"results": _with_fields(rows, asked.fields), **_remarks(asked.ignored, note)}

    def list_page(self, asked: ListRequest) -> Mem0Row:
        within = {
            name: value
            for name, value in (("gte", asked.start_date), ("lte", asked.end_date))
            if value is not None
        }
        narrowed = _narrowed(asked.filter, asked.metadata, asked.categories)
        tree = row_filter({"AND": [narrowed, {"created_at": within}]} if within else narrowed)
        start = (asked.page - 1) * asked.size
        if start + asked.size > MOST_LISTED:
            raise InvalidInput(f"A list ends after {MOST_LISTED:,} memories; narrow it with `filters`.")
        memories = memories_at(self.caller, self.memory, places(tree))
        newest_first = merge(*(_all_notes(own, tree) for own in memories), key=attrgetter("id"), reverse=True)
        matching = (row for note in islice(newest_first, MOST_LISTED) if holds(tree, row := note_row(note)))
        if is_only_of_places(tree):  # the store can count these without reading
            rows = list(islice(matching, start + asked.size + 1))
            count = sum(Internals(own).count_memories().get(Kind.NOTE, 0) for own in memories)
        else:
            rows = list(matching)
            count = len(rows)
        page, link = rows[start : start + asked.size], f"?page={{}}&page_size={asked.size}"
        return {
            "count": count,
            "next": link.format(asked.page + 1) if start + asked.size < len(rows) else None,
            "previous": link.format(asked.page - 1) if asked.page > 1 else None,
            "results": _with_fields(page, asked.fields),
            **_remarks(asked.ignored),
        }

    def update(self, given: str, asked: UpdateRequest, *, clears_expiry: bool = False) -> Mem0Row:
        """Update a note. Its former text stays in the history; metadata is replaced."""
        note, own = note_and_memory(self.caller, self.memory, given)
        if clears_expiry and note.expires_at is not None:
            raise InvalidInput(
                "An expiration date cannot be removed; set a later one, or add the text again without one."
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
        """Delete everything of a user or agent, a run's messages and notes, or notes by other filters."""
        tree = row_filter(_narrowed(asked.filter, asked.metadata, None))
        needs = all_needed(tree)
        if needs == {}:
            raise InvalidInput("Say whose memories to delete: `user_id`, `agent_id`, `run_id` or `filters`.")
        count = 0
        for own in memories_at(self.caller, self.memory, places(tree)):
            if needs is not None and needs.keys() <= {"user_id", "agent_id"}:
                count += Internals(own).forget_all()
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
        # Check all ids first, so that a missing one changes nothing.
        for row in asked.memories:
            note_and_memory(self.caller, self.memory, row.memory_id)
        for place, row in enumerate(asked.memories):
            try:
                self.update(row.memory_id, row)
            except RecollectError as error:
                raise type(error)(
                    f"{error} This happened at memory {row.memory_id}; {place} before it were updated."
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
        return {"message": "The feedback was stored.", "id": str(note.id)}


def forget_run(own: Engine, run: str) -> int:
    run = clean_name(run, "run_id")
    count = 0
    while page := own.list(kinds=tuple(Kind), session=run, include_superseded=True, limit=_PER_PAGE).memories:
        count += len(own.forget([memory.id for memory in page]))
    return count


def _set_metadata(
    own: Engine, noted: Remembered, metadata: Mapping[str, Any], expires_at: datetime | None
) -> None:
    """Set the metadata and expiry of a note. A note that was stored before keeps its other keys."""
    if not metadata and expires_at is None:
        return
    note = own.get(noted.id)
    if note is None:  # another client deleted it
        return
    tags = merged_tags(note.tags, metadata) if metadata else None
    own.update(note.id, tags=tags, expires_at=expires_at)


def _expiry(day: str | None) -> datetime | None:
    """Return when a memory expires: at the end of the given day."""
    return None if day is None else moment_given(day, is_end=True)


def _all_notes(own: Engine, tree: RowFilter) -> Iterator[Memory]:
    """List notes, newest first, narrowed as far as the store can filter."""
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
    """Combine the filter and the other options. One of several categories is enough."""
    more = [{"metadata": dict(metadata)}] if metadata else []
    wanted = [{"OR": [{"categories": {"contains": each}} for each in categories]}] if categories else []
    return {"AND": [given, *more, *wanted]}


def _score(hit: Hit) -> float:
    return hit.score if hit.confidence is None else hit.confidence


def _with_fields(rows: list[Mem0Row], fields: Sequence[str] | None) -> list[Mem0Row]:
    if not fields:
        return rows
    wanted = {"id", *fields}
    return [{name: value for name, value in row.items() if name in wanted} for row in rows]


def _remarks(ignored: Sequence[str], note: str | None = None) -> Mem0Row:
    """Return remarks for the answer, which mem0's clients show."""
    remarks: Mem0Row = {"ignored": list(ignored), "note": note}
    return {name: value for name, value in remarks.items() if value}


# Entities

_KINDS = ("user", "agent", "app", "run")


def entities(caller: Caller, memory: Engine) -> Mem0Row:
    """List users and agents with their numbers of notes, by name."""
    counts: dict[tuple[str, str], int] = {}
    for scope, notes in _visible_scopes(caller, memory).items():
        for kind, name in (("user", scope.owner), ("agent", scope.agent)):
            if name:
                counts[kind, name] = counts.get((kind, name), 0) + notes
    rows = [
        {"id": name, "name": name, "type": kind, "total_memories": count}
        for (kind, name), count in sorted(counts.items(), key=lambda each: (each[0][0] != "user", each[0]))
    ]
    return {"count": len(rows), "next": None, "previous": None, "results": rows}


def delete_entity(caller: Caller, memory: Engine, kind: str, name: str) -> Mem0Row:
    """Forget everything of a user, an agent or a run. Deleting twice is not an error."""
    if kind not in _KINDS:
        raise NotFound(f"There is no kind of entity {kind[:40]!r}; there are: {', '.join(_KINDS)}.")
    if kind == "app":
        raise InvalidInput("An app is metadata here; `delete_all(app_id=…)` deletes its memories.")
    count = 0
    for scope in _visible_scopes(caller, memory):
        own = memory.scoped(scope.owner, scope.agent)
        if kind == "run":
            count += forget_run(own, name)
        elif name == (scope.owner if kind == "user" else scope.agent):
            count += Internals(own).forget_all()
    return {"message": f"{count} memories were deleted; `recollect restore` brings each back."}


def reset(caller: Caller, memory: Engine) -> Mem0Row:
    """Forget everything in the caller's scope. Nothing is purged."""
    seen = _visible_scopes(caller, memory)
    count = sum(Internals(memory.scoped(scope.owner, scope.agent)).forget_all() for scope in seen)
    return {"message": f"{count} memories were deleted; `recollect restore` brings each back."}


def _visible_scopes(caller: Caller, memory: Engine) -> dict[Scope, int]:
    return {
        scope: notes
        for scope, notes in Internals(memory).notes_by_scope().items()
        if caller.scope is None
        or (scope.owner == caller.scope.owner and caller.scope.agent in (None, scope.agent))
    }
