"""Memory: one memory with everything around it, now or as it stood."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from recollect.engine.browse.pages import BrowseFilter
from recollect.engine.versions import memory_version
from recollect.errors import NotFound
from recollect.lazy_dataclass import dataclass
from recollect.records import Kind, Status
from recollect.serve.operations.paging import row_id
from recollect.serve.web.templating import as_of, page
from recollect.serve.web.word_diff import word_diff
from recollect.text.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, tzinfo

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.browse.results import MemoryVersion, WholeMemory
    from recollect.engine.engine import Engine
    from recollect.records import Memory
    from recollect.serve.http.face import Face
    from recollect.serve.web.word_diff import DiffSpan

_SHOWINGS = 20
_MOST_VERSIONS = 20
_MENTIONS = 6
# As an input of type datetime-local has it.
_LOCAL_TIME = "%Y-%m-%dT%H:%M"


@dataclass(frozen=True, slots=True)
class Wording:
    """A version beside the one before it."""

    number: int
    """From 0, the oldest; the last is what it says now."""
    version: MemoryVersion
    spans: Sequence[DiffSpan]


def memory_id_of(request: Request) -> int:
    given = str(request.path_params["id"])
    found = row_id(given)
    if found is None:
        raise NotFound(f"There is no memory {visible(given[:40])!r}; an id is a number, as Browse shows it.")
    return found


async def memory_screen(face: Face, request: Request) -> Response:
    id_, moment = memory_id_of(request), as_of(request)
    values = await face.run(request, lambda memory: _look(memory, id_, moment))
    return await page(face, request, "memory.html", **values)


def _look(memory: Engine, id_: int, moment: datetime | None) -> dict[str, Any]:
    whole = memory.browse.memory(id_, showings=_SHOWINGS, as_of=moment)
    if moment is not None:
        whole = _as_it_was(whole, moment)
    now = memory.upkeep.now()
    return {
        "whole": whole,
        "memory": whole.memory,
        "spoken_of": _spoken_of(memory, whole.memory, moment),
        "wordings": _wordings(whole.versions),
        "older_wordings": max(len(whole.versions) - _MOST_VERSIONS, 0),
        "was_known": moment is None or whole.memory.created_at <= moment,
        "was_gone": _was_gone(whole.memory, moment),
        "is_expired": whole.memory.expires_at is not None and whole.memory.expires_at <= (moment or now),
        "now": moment or now,
        "version": memory_version(whole.memory),
        "happened_at": local_time(whole.memory.happened_at, memory.zone),
        "expires_at": local_time(whole.memory.expires_at, memory.zone),
        "statuses": list(Status),
    }


def _spoken_of(memory: Engine, entity: Memory, moment: datetime | None) -> Sequence[Memory]:
    """The newest texts that speak of an entity."""
    if entity.kind is not Kind.ENTITY:
        return ()
    until = None if moment is None else moment + timedelta(microseconds=1)
    wanted = BrowseFilter(entity=entity.id, until=until, time="stored")
    return memory.browse.page(wanted, limit=_MENTIONS).memories


def local_time(found: datetime | None, zone: tzinfo) -> str:
    """As a form shows it; empty where there is none."""
    return "" if found is None else found.astimezone(zone).strftime(_LOCAL_TIME)


def _wordings(versions: Sequence[MemoryVersion]) -> list[Wording]:
    """The newest first, each with what changed."""
    befores = ["", *(each.text for each in versions)]
    made = [
        Wording(number, each, word_diff(before, each.text) if number else ())
        for number, (before, each) in enumerate(zip(befores, versions, strict=False))
        if number >= len(versions) - _MOST_VERSIONS
    ]
    return made[::-1]


def _was_gone(memory: Memory, moment: datetime | None) -> str | None:
    """Why it was away at that moment, though it came back since."""
    if moment is None:
        return None
    return next((each.why for each in memory.absences if each.since <= moment < each.until), None)


def _as_it_was(whole: WholeMemory, moment: datetime) -> WholeMemory:
    """Without what came later. What is alike and what comes up together is only known of now."""

    def known(others: Sequence[Memory]) -> tuple[Memory, ...]:
        return tuple(each for each in others if each.created_at <= moment)

    return replace(
        whole,
        versions=tuple(
            replace(each, until=None if each.until is None or each.until > moment else each.until)
            for each in whole.versions
            if each.since <= moment
        ),
        events=tuple(each for each in whole.events if each.at <= moment),
        supersedes=tuple(
            each
            for each in whole.supersedes
            if each.superseded_at is not None and each.superseded_at <= moment
        ),
        superseded_by=whole.superseded_by if whole.memory.superseded_by else None,
        mentions=known(whole.mentions),
        relations=tuple(
            replace(
                each, deleted_at=None if each.deleted_at and each.deleted_at > moment else each.deleted_at
            )
            for each in whole.relations
            if each.created_at <= moment
        ),
        drawn=known(whole.drawn),
        neighbours=known(whole.neighbours),
        similar=(),
        conflicts=(),
        links=(),
        showings=tuple(each for each in whole.showings if each.at <= moment),
    )
