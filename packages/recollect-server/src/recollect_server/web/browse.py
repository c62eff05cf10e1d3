"""Browse: list memories by filters, page by page; forget and restore them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, get_args
from urllib.parse import urlencode

from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Memory, memory_at
from recollect.operations.paging import row_id
from recollect.plugin import BrowseFilter, EntityOrder, Internals, Order, State, TimeOf
from recollect.text.phrases import memories_text, visible
from recollect_server.runner import Right
from recollect_server.web.drawings import TEXTS
from recollect_server.web.templating import Screen, SentForm, Undo, joined_ids

# Browsing

_PAGE_ROWS = 50
# Pages read at most to fill one page of a past view, which drops memories of other states.
_MAX_PAGES = 20
_LONGEST_FIELD = 500


@dataclass(frozen=True, slots=True)
class BrowseForm:
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
        """The order: conversations oldest first, entities by name, other memories newest first."""
        usual = "oldest" if self.session else "name" if self.kind == "entity" else "newest"
        return self.order or usual

    @property
    def is_sortable_by_name(self) -> bool:
        """Whether a list sorted by name supports all filters of the form."""
        others = (self.category, self.tag, self.session, self.entity, self.pinned, self.since, self.until)
        return self.state == "in_force" and not any(others)

    def query(self, **changes: str) -> str:
        given = {name: getattr(self, name) for name in _FIELDS} | changes
        usual = {"state": "in_force"}
        return urlencode({name: each for name, each in given.items() if each != usual.get(name, "")})


_FIELDS = tuple(BrowseForm.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class BrowsedPage:
    rows: Sequence[Any]
    cursor: str | None = None
    note: str | None = None
    total: int | None = None


def browse_form(params: Mapping[str, str]) -> BrowseForm:
    # Browsers send untouched fields as empty text.
    given = {name: params[name].strip() for name in _FIELDS if params.get(name, "").strip()}
    for name, value in given.items():
        if len(value) > _LONGEST_FIELD:
            raise InvalidInput(f"{name}: write at most {_LONGEST_FIELD} characters.")
    asked = BrowseForm(**given)
    allowed: dict[str, Iterable[str]] = {
        "kind": TEXTS["views"],
        "state": get_args(State),
        "order": ("", *get_args(Order), *get_args(EntityOrder)),
        "time": ("", *get_args(TimeOf)),
    }
    for name, words in allowed.items():
        value = getattr(asked, name)
        if value not in words:
            known = ", ".join(filter(None, words))
            raise InvalidInput(f"{name}: {visible(value[:40])!r} is unknown. Choose one of: {known}.")
    return asked


async def browse_screen(screen: Screen) -> Response:
    asked, moment = browse_form(screen.params), screen.as_of
    names = {"sessions": _sessions, "tags": _names, "categories": _names}
    load_page, entity = names.get(asked.kind, _memories), _entity_id(asked.entity)
    found, about = await screen.run(
        lambda memory: (load_page(memory, asked, moment), None if entity is None else memory.get(entity))
    )
    cursor = found.cursor
    return await screen.page(
        "browse.html",
        asked=asked,
        found=found,
        about=about,
        more=None if cursor is None else screen.url(f"/browse?{asked.query(cursor=cursor)}"),
        orders=TEXTS["orders"] | (TEXTS["entity_orders"] if asked.kind == "entity" else {}),
        back=f"/browse?{asked.query()}",
    )


# Memories


def _memories(memory: Engine, asked: BrowseForm, moment: datetime | None) -> BrowsedPage:
    by_name = asked.sort in TEXTS["entity_orders"]
    if by_name and asked.is_sortable_by_name and asked.kind == "entity" and moment is None:
        return _entities(memory, asked)
    wanted, order = _filter(asked, memory.zone, moment), "newest" if by_name else asked.sort
    note = (
        "Sorted by newest: only current entities can be sorted by name." if asked.order and by_name else None
    )
    rows: list[dict[str, Any]] = []
    cursor: str | None = asked.cursor or None
    for _ in range(1 if moment is None else _MAX_PAGES):
        found = memory.browse.page(wanted, order=order, limit=_PAGE_ROWS - len(rows), after=cursor)  # type: ignore[arg-type]  # it was checked
        cursor, note = found.cursor, found.note or note
        rows += [{"memory": each, "counts": None} for each in _view_at(found.memories, moment, asked.state)]
        if cursor is None or len(rows) >= _PAGE_ROWS:
            break
    return BrowsedPage(rows, cursor, note)


def _entities(memory: Engine, asked: BrowseForm) -> BrowsedPage:
    start = _start(asked)
    found = memory.browse.entities(
        contains=asked.words or None,
        order=asked.sort,  # type: ignore[arg-type]  # it was checked
        start=start,
        limit=_PAGE_ROWS + 1,
    )
    rows = [{"memory": each.entity, "counts": each} for each in found[:_PAGE_ROWS]]
    return BrowsedPage(rows, str(start + _PAGE_ROWS) if len(found) > _PAGE_ROWS else None)


def _filter(asked: BrowseForm, zone: tzinfo, moment: datetime | None) -> BrowseFilter:
    since = _bound(asked.since, "since", zone)
    until = _bound(asked.until, "until", zone, is_end=True)
    time_of: Any = asked.time or "happened"
    if moment is not None and since is None and until is None:
        # This skips most later memories; `_view_at` drops the rest.
        until, time_of = moment + timedelta(microseconds=1), "stored"
    return BrowseFilter(
        kinds=frozenset([Kind(asked.kind)] if asked.kind else Kind),
        # A memory that is forgotten now may have been current then.
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


def _view_at(found: Sequence[Memory], moment: datetime | None, state: str) -> list[Memory]:
    """Return the memories that had that state at the moment, as they were then."""
    if moment is None:
        return list(found)
    known = [memory_at(each, moment) for each in found if each.created_at <= moment]
    return [each for each in known if state in ("all", _state_at(each, moment))]


def absence_at(memory: Memory, moment: datetime) -> str | None:
    """Return why a memory was not current at that moment, if it was restored later."""
    return next((each.why for each in memory.absences if each.since <= moment < each.until), None)


def _state_at(memory: Memory, moment: datetime) -> str:
    absence = absence_at(memory, moment)
    if absence is not None:
        return absence
    if memory.deleted_at is not None:
        return "forgotten"
    if memory.superseded_at is not None:
        return "superseded"
    return "expired" if memory.expires_at is not None and memory.expires_at <= moment else "in_force"


def _bound(given: str, name: str, zone: tzinfo, *, is_end: bool = False) -> datetime | None:
    """Parse a day in the user's zone, or a moment. An end includes its whole day."""
    if not given:
        return None
    try:
        if len(given) == len("2026-03-01"):
            day = date.fromisoformat(given) + timedelta(days=1 if is_end else 0)
            return datetime.combine(day, time(), zone)
        found = datetime.fromisoformat(given)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name}: {visible(given[:40])!r} is not a date. Write it as 2026-03-01."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _entity_id(given: str) -> int | None:
    if not given:
        return None
    found = row_id(given)
    if found is None:
        raise InvalidInput("entity: write the id of an entity. Its page shows the id.")
    return found


# Sessions, tags and categories


def _start(asked: BrowseForm) -> int:
    if not asked.cursor:
        return 0
    found = row_id(asked.cursor)
    if found is None:
        raise InvalidInput("cursor: there is no such page. Go back to the first page.")
    return found


def _sessions(memory: Engine, asked: BrowseForm, _: datetime | None) -> BrowsedPage:
    start = _start(asked)
    found, total = Internals(memory).session_page(start, _PAGE_ROWS)
    last = start + len(found)
    return BrowsedPage(found, str(last) if last < total else None, total=total)


def _names(memory: Engine, asked: BrowseForm, _: datetime | None) -> BrowsedPage:
    every = memory.browse.tags() if asked.kind == "tags" else memory.browse.categories()
    if asked.words:
        every = [each for each in every if asked.words.casefold() in each.name.casefold()]
    start = _start(asked)
    last = start + _PAGE_ROWS
    return BrowsedPage(every[start:last], str(last) if last < len(every) else None, total=len(every))


# Forgetting and restoring

_NONE_SELECTED = (
    "No memory is selected. Check the boxes of the memories first; the key x checks the focused one."
)


async def forget_memories(screen: Screen) -> Response:
    form = await screen.form()
    ids, back = _selected(form), form.back("/browse")
    gone = await screen.run(lambda memory: memory.forget(ids), right=Right.WRITE)
    if not gone:
        return screen.redirect(back, "This was forgotten already. Nothing was changed.", kind="warn")
    undo = Undo("/browse/restore", (("id", joined_ids(gone)), ("back", back)))
    return screen.redirect(back, f"Forgot {_ids_text(gone)}. Searches skip forgotten memories.", undo)


async def restore_memories(screen: Screen) -> Response:
    """Restore one by one, so that one refusal does not stop the others."""
    form = await screen.form()
    ids, back = _selected(form), form.back("/browse")
    forgotten: list[int] = []
    superseded: dict[int, int] = {}
    refused: list[str] = []

    def restore(memory: Engine) -> None:
        known = memory.get_many(ids)
        for id_ in ids:
            try:
                memory.restore(id_)
            except RecollectError as error:
                refused.append(str(error))
                continue
            before = known[id_]
            if before.deleted_at is not None or before.superseded_by is None:
                forgotten.append(id_)
            else:
                superseded[id_] = before.superseded_by

    await screen.run(restore, right=Right.WRITE)
    problems = " ".join(refused[:3])
    if not forgotten and not superseded:
        return screen.redirect(back, problems, kind="bad")
    pairs = ",".join(f"{id_}:{by}" for id_, by in superseded.items())
    fields = (("forgotten", joined_ids(forgotten)), ("superseded", pairs), ("back", back))
    said = f"Restored {_ids_text([*forgotten, *superseded])}. {problems}".strip()
    undo = Undo("/browse/undo-restore", fields)
    return screen.redirect(back, said, undo, kind="warn" if problems else "good")


async def undo_restore(screen: Screen) -> Response:
    form = await screen.form()
    forgotten, superseded = form.ids("forgotten"), form.pairs("superseded")

    def undo(memory: Engine) -> None:
        memory.forget(forgotten)
        for id_, by in superseded:
            memory.supersede(id_, by, copies=False)

    await screen.run(undo, right=Right.WRITE)
    return screen.redirect(form.back("/browse"), "Undone.")


def _selected(form: SentForm) -> Sequence[int]:
    ids = form.ids("id")
    if not ids:
        raise InvalidInput(_NONE_SELECTED)
    return ids


def _ids_text(ids: Sequence[int]) -> str:
    return f"#{ids[0]}" if len(ids) == 1 else memories_text(len(ids))
