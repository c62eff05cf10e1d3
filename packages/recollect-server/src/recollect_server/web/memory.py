"""Memory: one memory with everything around it, and the forms that change it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import NOTE_FIELDS, Kind, Memory, Observation, Status
from recollect.domain.results import MemoryVersion, SupersedeResult, WholeMemory
from recollect.operations.paging import row_id
from recollect.plugin import BrowseFilter, Internals, memory_version
from recollect.text.phrases import quantity, visible
from recollect_server.runner import MemoryRunner, Right
from recollect_server.web.templating import (
    MOST_SELECTED,
    SentForm,
    Undo,
    as_of,
    joined_ids,
    page,
    redirect,
    sent_form,
)

# Word diffs

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# Comparing takes the product of both lengths at worst; longer texts are compared line by line.
_MOST_PIECES = 2_000

DiffKind = Literal["same", "added", "removed"]


@dataclass(frozen=True, slots=True)
class DiffSpan:
    kind: DiffKind
    text: str


def word_diff(before: str, after: str) -> list[DiffSpan]:
    """The later wording with what it lost: the spans that are not removed give it exactly."""
    old, new = _pieces(before, after)
    if max(len(old), len(new)) > _MOST_PIECES:
        return [DiffSpan("removed", before), DiffSpan("added", after)]
    spans = groupby(_spans(old, new), key=lambda span: span.kind)
    joined = [DiffSpan(kind, "".join(span.text for span in those)) for kind, those in spans]
    return [span for span in joined if span.text]


def _pieces(before: str, after: str) -> tuple[Sequence[str], Sequence[str]]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) <= _MOST_PIECES:
        return old, new
    return before.splitlines(keepends=True), after.splitlines(keepends=True)


def _spans(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffSpan]:
    for tag, start, stop, new_start, new_stop in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            yield DiffSpan("same", "".join(old[start:stop]))
            continue
        yield DiffSpan("removed", "".join(old[start:stop]))
        yield DiffSpan("added", "".join(new[new_start:new_stop]))


# The screen

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


async def memory_screen(runner: MemoryRunner, request: Request) -> Response:
    id_, moment = memory_id_of(request), as_of(request)
    values = await runner.run(request, lambda memory: _look(memory, id_, moment))
    return await page(runner, request, "memory.html", **values)


def _look(memory: Engine, id_: int, moment: datetime | None) -> dict[str, Any]:
    whole = memory.browse.memory(id_, showings=_SHOWINGS, as_of=moment)
    if moment is not None:
        whole = _as_it_was(whole, moment)
    now = Internals(memory).now()
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
        "note_fields": NOTE_FIELDS,
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


# Changes

DESTROY_WORD = "destroy"
"""What one types to destroy a memory."""


def existing_memory(memory: Engine, id_: int) -> Memory:
    found = memory.get(id_)
    if found is None:
        raise NotFound(f"There is no memory {id_}; nothing was changed. Browse lists those there are.")
    return found


# Editing


@dataclass(frozen=True, slots=True)
class Edit:
    """What a form changes: arguments of `update`, and the fields of the form that takes it back."""

    arguments: Mapping[str, Any]
    former: tuple[tuple[str, str], ...]

    @property
    def names(self) -> str:
        labels = {"happened_at": "when it happened", "expires_at": "expiry"}
        return ", ".join(labels.get(name, name) for name in self.arguments)


async def edit_memory(runner: MemoryRunner, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)

    def edit(memory: Engine) -> tuple[Edit, str]:
        from recollect.plugin import memory_version  # noqa: PLC0415  # loads the engine

        found = existing_memory(memory, id_)
        made = edit_of(found, form, memory.zone)
        if not made.arguments:
            return made, ""
        version = form.get("version")
        writer = memory if version is None else Internals(memory).expecting(id_, [version])
        changed = writer.update(id_, **made.arguments)
        return made, memory_version(changed)

    made, version = await runner.run(request, edit, right=Right.WRITE)
    path = f"/memory/{id_}"
    if not version:
        return redirect(request, path, "Nothing was changed.", kind="warn")
    undo = Undo(f"{path}/edit", (*made.former, ("version", version)))
    return redirect(request, path, f"Saved #{id_}: {made.names}.", undo)


def edit_of(found: Memory, form: SentForm, zone: tzinfo) -> Edit:
    """Only what differs from what is stored. An empty field empties what can be empty."""
    arguments: dict[str, Any] = {}
    former: list[tuple[str, str]] = []

    def change(name: str, value: Any, before: str, *, field: str | None = None) -> None:
        arguments[name] = value
        former.append((field or name, before))

    text = _text_of(found, form)
    if text is not None and text != found.text:
        # Its former wording is kept, so the undo names it by its number: it may be long.
        change("text", text, str(len(found.former)), field="wording")
    for name in ("category", *NOTE_FIELDS):
        given, before = form.get(name), getattr(found, name) or ""
        if given is not None and given != before:
            change(name, given, before)
    tags = _tags_of(found, form)
    if tags != list(found.tags):
        change("tags", tags, "\n".join(found.tags), field="tag_lines")
    importance = form.get("importance")
    if importance and (share := _share_of(importance)) != round(found.importance, 2):
        change("importance", share, repr(found.importance))
    status = form.get("status")
    if status and status != found.status:
        change("status", status, str(found.status))
    for name, none in (("happened_at", "unknown"), ("expires_at", "never")):
        given_time, before = form.get(name), getattr(found, name)
        if given_time is not None and given_time != local_time(before, zone):
            wanted = _time_of(given_time, name, zone) if given_time else none
            change(name, wanted, "" if before is None else before.isoformat())
    return Edit(arguments, tuple(former))


def _text_of(found: Memory, form: SentForm) -> str | None:
    """What it shall say: a text, or one of its own former wordings, by number."""
    wording = form.get("wording")
    if wording is None:
        return None if form.get("text") is None else form.text("text")
    if not wording.isascii() or not wording.isdigit() or int(wording[:9]) >= len(found.former):
        raise InvalidInput(
            f"#{found.id} has no former wording {visible(wording[:9])!r}; nothing was changed."
        )
    return found.former[int(wording)].text


def _tags_of(found: Memory, form: SentForm) -> list[str]:
    """As people write them, with commas between; or one on each line, since a tag may hold a comma."""
    given, lines = form.get("tags"), form.get("tag_lines")
    if (given is None and lines is None) or given == ", ".join(found.tags):
        return list(found.tags)
    words = (given or "").split(",") if lines is None else lines.splitlines()
    return [word.strip() for word in words if word.strip()]


def _share_of(given: str) -> float:
    try:
        return float(given[:20])
    except ValueError:
        raise InvalidInput("importance: write a number from 0 to 1; nothing was changed.") from None


def _time_of(given: str, name: str, zone: tzinfo) -> datetime:
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise InvalidInput(
            f"{name}: {visible(given[:40])!r} is no time; write 2026-03-01T18:30. Nothing was changed."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=zone)


async def pin_memory(runner: MemoryRunner, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)
    pinned = form.get("pinned") == "1"
    await runner.run(request, lambda memory: memory.update(id_, pinned=pinned), right=Right.WRITE)
    undo = Undo(f"/memory/{id_}/pin", (("pinned", "0" if pinned else "1"),))
    said = f"Pinned #{id_}: it does not fade." if pinned else f"#{id_} is no longer pinned."
    return redirect(request, f"/memory/{id_}", said, undo)


# Correcting


async def correct_memory(runner: MemoryRunner, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)
    text, copies = form.text("text"), form.get("copies") == "1"
    by = form.ids("by")[:1]
    if not text and not by:
        raise InvalidInput("Write what holds instead; nothing was changed.")

    def supersede(memory: Engine) -> SupersedeResult:
        wrong = existing_memory(memory, id_)
        if by:
            # Its near copies stay: what puts it right may well be one of them, and was looked at alone.
            return memory.supersede(id_, existing_memory(memory, by[0]).id, copies=False)
        return memory.supersede(id_, {"text": text, "tags": wrong.tags}, copies=copies)

    done = await runner.run(request, supersede, right=Right.WRITE)
    retired = [each.id for each in done.retired if each.observation is None]
    observations = [each.observation for each in done.retired if each.observation is not None]
    fields = [
        ("retired", joined_ids(retired[:MOST_SELECTED])),
        ("observations", joined_ids(observations[:MOST_SELECTED])),
    ]
    if not by and not done.by.duplicates:  # else it was there before
        fields.append(("made", str(done.by.id)))
    more = len(done.retired) - 1
    also = f", and {quantity(more, 'near copy', 'near copies')} with it" if more else ""
    said = f"#{done.by.id} now stands in the place of #{id_}{also}."
    back = form.get("back")
    if back is not None:
        fields.append(("back", back))
    undo = Undo(f"/memory/{id_}/undo-supersede", tuple(fields))
    return redirect(request, form.back(f"/memory/{done.by.id}"), said, undo)


async def undo_supersede(runner: MemoryRunner, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)
    made, retired, observations = form.ids("made"), form.ids("retired"), form.ids("observations")

    def take_back(memory: Engine) -> None:
        memory.forget(made)
        for each in retired:
            memory.restore(each)
        for each in observations:
            memory.graph.restore_observation(each)

    await runner.run(request, take_back, right=Right.WRITE)
    return redirect(request, form.back(f"/memory/{id_}"), f"#{id_} is in force again.")


# What is known of an entity


async def edit_observations(runner: MemoryRunner, request: Request) -> Response:
    """Add, correct, remove or restore one observation."""
    id_, form = memory_id_of(request), await sent_form(request)
    path = f"/memory/{id_}"
    said, fields = await runner.run(request, lambda memory: _observe(memory, id_, form), right=Right.WRITE)
    return redirect(request, path, said, Undo(f"{path}/observations", fields) if fields else None)


_Done = tuple[str, tuple[tuple[str, str], ...]]


def _observe(memory: Engine, id_: int, form: SentForm) -> _Done:
    entity = existing_memory(memory, id_)
    if entity.kind is not Kind.ENTITY:
        raise InvalidInput(f"#{id_} is no entity, so it has no observations; nothing was changed.")
    change = form.get("change") or ""
    if change not in _OBSERVATION_CHANGES:
        raise InvalidInput(f"Say what to do with the observation: {', '.join(_OBSERVATION_CHANGES)}.")
    return _OBSERVATION_CHANGES[change](memory, entity, form)


def _added(memory: Engine, entity: Memory, form: SentForm) -> _Done:
    content = form.text("content")
    memory.graph.add_observations({entity.name: [content]})
    return "Added an observation.", (("change", "remove"), ("observation", str(_newest(memory, entity).id)))


def _corrected(memory: Engine, entity: Memory, form: SentForm) -> _Done:
    old, content = _observation(entity, form), form.text("content")
    if content == old.content:
        return "Nothing was changed.", ()
    memory.graph.add_observations({entity.name: [{"content": content, "supersedes": old.content}]})
    new = _newest(memory, entity)
    fields = (("change", "undo"), ("observation", str(old.id)), ("made", str(new.id)))
    return "Corrected an observation; the former one stays as history.", fields


def _removed(memory: Engine, entity: Memory, form: SentForm) -> _Done:
    old = _observation(entity, form)
    memory.graph.delete_observations({entity.name: [old.content]})
    return "Removed an observation.", (("change", "restore"), ("observation", str(old.id)))


def _restored(memory: Engine, entity: Memory, form: SentForm) -> _Done:
    old = _observation(entity, form)
    memory.graph.restore_observation(old.id)
    return "Restored an observation.", (("change", "remove"), ("observation", str(old.id)))


def _correction_undone(memory: Engine, entity: Memory, form: SentForm) -> _Done:
    old = _observation(entity, form)
    made = next((each for each in entity.in_force if [each.id] == form.ids("made")), None)
    if made is not None:
        memory.graph.delete_observations({entity.name: [made.content]})
    memory.graph.restore_observation(old.id)
    return "The former observation is in force again.", ()


_OBSERVATION_CHANGES: dict[str, Callable[[Engine, Memory, SentForm], _Done]] = {
    "add": _added,
    "correct": _corrected,
    "remove": _removed,
    "restore": _restored,
    "undo": _correction_undone,
}


def _observation(entity: Memory, form: SentForm) -> Observation:
    wanted: Sequence[int] = form.ids("observation")
    found = next((each for each in entity.observations if [each.id] == list(wanted)), None)
    if found is None:
        raise NotFound("That observation is not there; open the entity again. Nothing was changed.")
    return found


def _newest(memory: Engine, entity: Memory) -> Observation:
    return max(existing_memory(memory, entity.id).in_force, key=lambda each: each.id)


# Destroying


async def purge_screen(runner: MemoryRunner, request: Request) -> Response:
    """Asks, before a word is to be typed."""
    id_ = memory_id_of(request)
    found = await runner.run(request, lambda memory: existing_memory(memory, id_), right=Right.ADMIN)
    return await page(runner, request, "purge.html", memory=found, word=DESTROY_WORD, is_wrong=False)


async def purge_memory(runner: MemoryRunner, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)
    if (form.get("word") or "").lower() != DESTROY_WORD:
        found = await runner.run(request, lambda memory: existing_memory(memory, id_), right=Right.ADMIN)
        return await page(
            runner, request, "purge.html", status=400, memory=found, word=DESTROY_WORD, is_wrong=True
        )

    def destroy(memory: Engine) -> str | None:
        existing_memory(memory, id_)
        memory.forget([id_])
        return memory.purge(ids=[id_]).note

    note = await runner.run(request, destroy, right=Right.ADMIN)
    return redirect(request, "/browse", f"Destroyed #{id_} for good. {note or ''}".strip())
