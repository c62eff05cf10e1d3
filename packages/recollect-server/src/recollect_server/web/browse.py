"""Browse: list memories by filters, a page at a time; forget and restore them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Memory, memory_at
from recollect.domain.results import EntityCounts
from recollect.operations.paging import row_id
from recollect.plugin import BrowseFilter, EntityOrder, Internals, Order, State, TimeOf
from recollect.text.phrases import memories_text, visible
from recollect_server.runner import MemoryRunner, Right
from recollect_server.web.drawings import TEXTS
from recollect_server.web.templating import Undo, as_of, joined_ids, kept_url, page, redirect, sent_form

# Browsing

_ROWS = 50
# How far one looks for what was in force at a moment: what went since is not on the page.
_MOST_PAGES = 20
_LONGEST_FIELD = 500


@dataclass(frozen=True, slots=True)
class BrowseForm:
    """The form, as it was filled in."""

    kind: str = ""
    words: str = ""
    state: str = "in_force"
    order: str = ""
    category: str = ""
    tag: str = ""
    session: str = ""
    entity: str = ""
    pinned: str = ""
    since: str = ""
    until: str = ""
    time: str = ""
    cursor: str = ""

    @property
    def sort(self) -> str:
        """A conversation is read from its beginning, and names are looked up."""
        usual = "oldest" if self.session else "name" if self.kind == "entity" else "newest"
        return self.order or usual

    @property
    def is_plain(self) -> bool:
        """Nothing is asked for that a list of entities by name cannot tell."""
        others = (self.category, self.tag, self.session, self.entity, self.pinned, self.since, self.until)
        return self.state == "in_force" and not any(others)

    def query(self, **changes: str) -> str:
        """As the address of a page has it."""
        given = {name: getattr(self, name) for name in _FIELDS} | changes
        usual = {"state": "in_force"}
        return urlencode({name: each for name, each in given.items() if each != usual.get(name, "")})


_FIELDS = tuple(BrowseForm.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class BrowseRow:
    memory: Memory
    counts: EntityCounts | None = None


@dataclass(frozen=True, slots=True)
class BrowsedPage:
    rows: Sequence[Any]
    cursor: str | None = None
    note: str | None = None
    total: int | None = None


def browse_form(request: Request) -> BrowseForm:
    params = request.query_params
    # A browser sends a field that was left alone as the empty text.
    given = {name: params[name].strip() for name in _FIELDS if params.get(name, "").strip()}
    for name, value in given.items():
        if len(value) > _LONGEST_FIELD:
            raise InvalidInput(f"{name}: write at most {_LONGEST_FIELD} characters.")
    asked = BrowseForm(**given)
    _one_of("kind", asked.kind, TEXTS["views"])
    _one_of("state", asked.state, get_args(State))
    _one_of("order", asked.order, ("", *get_args(Order), *get_args(EntityOrder)))
    _one_of("time", asked.time, ("", *get_args(TimeOf)))
    return asked


def _one_of(name: str, given: str, allowed: Any) -> None:
    if given not in allowed:
        words = ", ".join(word for word in allowed if word)
        raise InvalidInput(f"{name}: there is no {visible(given[:40])!r}; there are {words}.")


async def browse_screen(runner: MemoryRunner, request: Request) -> Response:
    asked, moment = browse_form(request), as_of(request)
    names = {"sessions": _sessions, "tags": _names, "categories": _names}
    look = names.get(asked.kind, _memories)
    found, about = await runner.run(
        request, lambda memory: (look(memory, asked, moment), _entity(memory, asked.entity))
    )
    more = None
    if found.cursor is not None:
        more = kept_url(request, f"/browse?{asked.query(cursor=found.cursor)}")
    return await page(
        runner,
        request,
        "browse.html",
        asked=asked,
        found=found,
        about=about,
        more=more,
        orders=TEXTS["orders"] | (TEXTS["entity_orders"] if asked.kind == "entity" else {}),
        back=f"/browse?{asked.query()}",
    )


# Memories


def _memories(memory: Engine, asked: BrowseForm, moment: datetime | None) -> BrowsedPage:
    by_name = asked.sort in TEXTS["entity_orders"]
    if by_name and asked.is_plain and asked.kind == "entity" and moment is None:
        return _entities(memory, asked)
    wanted, order = _filter(asked, memory.zone, moment), "newest" if by_name else asked.sort
    note = (
        "Sorted by newest: only entities in force can be sorted by name." if asked.order and by_name else None
    )
    rows: list[BrowseRow] = []
    cursor: str | None = asked.cursor or None
    for _ in range(1 if moment is None else _MOST_PAGES):
        found = memory.browse.page(wanted, order=order, limit=_ROWS - len(rows), after=cursor)  # type: ignore[arg-type]  # it was checked
        cursor, note = found.cursor, found.note or note
        rows += [BrowseRow(each) for each in _at(found.memories, moment, asked.state)]
        if cursor is None or len(rows) >= _ROWS:
            break
    return BrowsedPage(rows, cursor, note)


def _entities(memory: Engine, asked: BrowseForm) -> BrowsedPage:
    start = _start(asked)
    found = memory.browse.entities(
        contains=asked.words or None,
        order=asked.sort,  # type: ignore[arg-type]  # it was checked
        start=start,
        limit=_ROWS + 1,
    )
    rows = [BrowseRow(each.entity, each) for each in found[:_ROWS]]
    return BrowsedPage(rows, str(start + _ROWS) if len(found) > _ROWS else None)


def _filter(asked: BrowseForm, zone: tzinfo, moment: datetime | None) -> BrowseFilter:
    since = _bound(asked.since, "since", zone)
    until = _bound(asked.until, "until", zone, is_end=True)
    time_of: Any = asked.time or "happened"
    if moment is not None and since is None and until is None:
        # Sooner at what was known then; `_at` leaves out the rest.
        until, time_of = moment + timedelta(microseconds=1), "stored"
    return BrowseFilter(
        kinds=frozenset([Kind(asked.kind)] if asked.kind else Kind),
        # What is gone now may have been in force then.
        state=asked.state if moment is None else "all",  # type: ignore[arg-type]  # it was checked
        category=asked.category or None,
        tags=frozenset([asked.tag] if asked.tag else ()),
        session=asked.session or None,
        entity=_entity_id(asked.entity),
        pinned=True if asked.pinned else None,
        contains=asked.words or None,
        since=since,
        until=until,
        time=time_of,
    )


def _at(found: Sequence[Memory], moment: datetime | None, state: str) -> list[Memory]:
    """As they read at a moment, those that were in that state then."""
    if moment is None:
        return list(found)
    known = [memory_at(each, moment) for each in found if each.created_at <= moment]
    return [each for each in known if state in ("all", _state_at(each, moment))]


def _state_at(memory: Memory, moment: datetime) -> str:
    away = next((each.why for each in memory.absences if each.since <= moment < each.until), None)
    if away is not None:
        return away
    if memory.deleted_at is not None:
        return "forgotten"
    if memory.superseded_at is not None:
        return "superseded"
    return "expired" if memory.expires_at is not None and memory.expires_at <= moment else "in_force"


def _bound(given: str, name: str, zone: tzinfo, *, is_end: bool = False) -> datetime | None:
    """A day of the user's, or a moment; as an end, a day counts whole."""
    if not given:
        return None
    try:
        if len(given) == len("2026-03-01"):
            day = date.fromisoformat(given) + timedelta(days=1 if is_end else 0)
            return datetime.combine(day, time(), zone)
        found = datetime.fromisoformat(given)
    except (ValueError, OverflowError):
        raise InvalidInput(f"{name}: {visible(given[:40])!r} is no day; write 2026-03-01.") from None
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _entity_id(given: str) -> int | None:
    if not given:
        return None
    found = row_id(given)
    if found is None:
        raise InvalidInput("entity: write the id of an entity, as its page shows it.")
    return found


def _entity(memory: Engine, given: str) -> Memory | None:
    id_ = _entity_id(given)
    return None if id_ is None else memory.get(id_)


# Sessions, tags and categories


def _start(asked: BrowseForm) -> int:
    if not asked.cursor:
        return 0
    found = row_id(asked.cursor)
    if found is None:
        raise InvalidInput("cursor: there is no such page; go back to the first one.")
    return found


def _sessions(memory: Engine, asked: BrowseForm, _: datetime | None) -> BrowsedPage:
    start = _start(asked)
    found, total = Internals(memory).session_page(start, _ROWS)
    last = start + len(found)
    return BrowsedPage(found, str(last) if last < total else None, total=total)


def _names(memory: Engine, asked: BrowseForm, _: datetime | None) -> BrowsedPage:
    every = memory.browse.tags() if asked.kind == "tags" else memory.browse.categories()
    if asked.words:
        every = [each for each in every if asked.words.casefold() in each.name.casefold()]
    start = _start(asked)
    last = start + _ROWS
    return BrowsedPage(every[start:last], str(last) if last < len(every) else None, total=len(every))


# Forgetting and restoring

_NONE_SELECTED = "Nothing is selected. Check the boxes of the memories first; `x` checks the one at hand."


async def forget_memories(runner: MemoryRunner, request: Request) -> Response:
    form = await sent_form(request)
    ids, back = _selected(form.ids("id")), form.back("/browse")
    gone = await runner.run(request, lambda memory: memory.forget(ids), right=Right.WRITE)
    if not gone:
        return redirect(request, back, "It was forgotten before, so nothing was changed.", kind="warn")
    undo = Undo("/browse/restore", (("id", joined_ids(gone)), ("back", back)))
    return redirect(request, back, f"Forgot {_named(gone)}. No search finds it now.", undo)


async def restore_memories(runner: MemoryRunner, request: Request) -> Response:
    form = await sent_form(request)
    ids, back = _selected(form.ids("id")), form.back("/browse")
    forgotten, superseded, refused = await runner.run(
        request, lambda memory: _restore(memory, ids), right=Right.WRITE
    )
    problems = " ".join(refused[:3])
    if not forgotten and not superseded:
        return redirect(request, back, problems, kind="bad")
    pairs = ",".join(f"{id_}:{by}" for id_, by in superseded.items())
    fields = (("forgotten", joined_ids(forgotten)), ("superseded", pairs), ("back", back))
    undo = Undo("/browse/undo-restore", fields)
    said = f"Restored {_named([*forgotten, *superseded])}. {problems}".strip()
    return redirect(request, back, said, undo, kind="warn" if problems else "good")


async def undo_restore(runner: MemoryRunner, request: Request) -> Response:
    form = await sent_form(request)
    forgotten, superseded, back = form.ids("forgotten"), form.pairs("superseded"), form.back("/browse")

    def take_back(memory: Engine) -> None:
        memory.forget(forgotten)
        for id_, by in superseded:
            memory.supersede(id_, by, copies=False)

    await runner.run(request, take_back, right=Right.WRITE)
    return redirect(request, back, "It is as it was before.")


def _restore(memory: Engine, ids: Iterable[int]) -> tuple[list[int], dict[int, int], list[str]]:
    """Restore one by one, so that one whose name is taken meanwhile holds up no other.

    Return those that had been forgotten, those that had been superseded with by what, and the problems.
    """
    known = memory.get_many(ids)
    forgotten: list[int] = []
    superseded: dict[int, int] = {}
    problems: list[str] = []
    for id_ in ids:
        try:
            memory.restore(id_)
        except RecollectError as error:
            problems.append(str(error))
            continue
        before = known[id_]
        if before.deleted_at is not None or before.superseded_by is None:
            forgotten.append(id_)
        else:
            superseded[id_] = before.superseded_by
    return forgotten, superseded, problems


def _selected(ids: Sequence[int]) -> Sequence[int]:
    if not ids:
        raise InvalidInput(_NONE_SELECTED)
    return ids


def _named(ids: Sequence[int]) -> str:
    return f"#{ids[0]}" if len(ids) == 1 else memories_text(len(ids))
