"""Memory: one memory with its history and relations, and the forms that change it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from difflib import SequenceMatcher
from typing import Any, Literal

from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import NOTE_FIELDS, Kind, Memory, Status
from recollect.domain.results import MemoryVersion, SupersedeResult, WholeMemory
from recollect.operations.paging import row_id
from recollect.plugin import BrowseFilter, Internals, memory_version
from recollect.text.phrases import quantity, visible
from recollect_server.runner import Right
from recollect_server.web.browse import absence_at
from recollect_server.web.templating import MOST_SELECTED, Screen, SentForm, Undo, joined_ids

# Word diffs

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# Comparing takes quadratic time at worst, so longer texts are compared line by line.
_MAX_PIECES = 2_000

DiffKind = Literal["same", "added", "removed"]


@dataclass(frozen=True, slots=True)
class DiffSpan:
    kind: DiffKind
    text: str


def word_diff(before: str, after: str) -> list[DiffSpan]:
    """Return both texts as spans. The spans that were not removed make up the later text."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > _MAX_PIECES:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(old), len(new)) > _MAX_PIECES:
        return [DiffSpan("removed", before), DiffSpan("added", after)]
    spans: list[DiffSpan] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, stop, new_start, new_stop in matcher.get_opcodes():
        if tag == "equal":
            spans.append(DiffSpan("same", "".join(old[start:stop])))
        else:
            spans.append(DiffSpan("removed", "".join(old[start:stop])))
            spans.append(DiffSpan("added", "".join(new[new_start:new_stop])))
    return [span for span in spans if span.text]


# The screen

_MAX_SHOWINGS = 20
_MAX_VERSIONS = 20
_MAX_MENTIONS = 6
# The format of an input of type datetime-local.
_LOCAL_TIME = "%Y-%m-%dT%H:%M"


@dataclass(frozen=True, slots=True)
class Wording:
    number: int
    """Counted from 0, the oldest. The last one is the current text."""
    version: MemoryVersion
    spans: Sequence[DiffSpan]


def _memory_id(screen: Screen) -> int:
    given = str(screen.request.path_params["id"])
    found = row_id(given)
    if found is None:
        raise NotFound(
            f"There is no memory {visible(given[:40])!r}; an id is a number. Browse lists all memories."
        )
    return found


async def memory_screen(screen: Screen) -> Response:
    id_, moment = _memory_id(screen), screen.as_of
    return await screen.page("memory.html", **await screen.run(lambda memory: _look(memory, id_, moment)))


def _look(memory: Engine, id_: int, moment: datetime | None) -> dict[str, Any]:
    whole = memory.browse.memory(id_, showings=_MAX_SHOWINGS, as_of=moment)
    if moment is not None:
        whole = _whole_at(whole, moment)
    found, now = whole.memory, moment or Internals(memory).now()
    mentioned_in: Sequence[Memory] = ()
    if found.kind is Kind.ENTITY:
        until = None if moment is None else moment + timedelta(microseconds=1)
        wanted = BrowseFilter(entity=found.id, until=until, time="stored")
        mentioned_in = memory.browse.page(wanted, limit=_MAX_MENTIONS).memories
    return {
        "whole": whole,
        "memory": found,
        "mentioned_in": mentioned_in,
        "wordings": _wordings(whole.versions),
        "older_wordings": max(len(whole.versions) - _MAX_VERSIONS, 0),
        "was_known": moment is None or found.created_at <= moment,
        "was_gone": None if moment is None else absence_at(found, moment),
        "is_expired": found.expires_at is not None and found.expires_at <= now,
        "now": now,
        "version": memory_version(found),
        "happened_at": local_time(found.happened_at, memory.zone),
        "expires_at": local_time(found.expires_at, memory.zone),
        "statuses": list(Status),
    }


def local_time(found: datetime | None, zone: tzinfo) -> str:
    """Format a time for a form field; empty without one."""
    return "" if found is None else found.astimezone(zone).strftime(_LOCAL_TIME)


def _wordings(versions: Sequence[MemoryVersion]) -> list[Wording]:
    befores = ["", *(each.text for each in versions)]
    wordings = [
        Wording(number, each, word_diff(before, each.text) if number else ())
        for number, (before, each) in enumerate(zip(befores, versions, strict=False))
        if number >= len(versions) - _MAX_VERSIONS
    ]
    return wordings[::-1]


def _whole_at(whole: WholeMemory, moment: datetime) -> WholeMemory:
    """Remove everything later than the moment. Similar and linked memories are known only for the present."""

    def known_then(others: Sequence[Memory]) -> tuple[Memory, ...]:
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
        mentions=known_then(whole.mentions),
        relations=tuple(
            replace(
                each, deleted_at=None if each.deleted_at and each.deleted_at > moment else each.deleted_at
            )
            for each in whole.relations
            if each.created_at <= moment
        ),
        drawn=known_then(whole.drawn),
        neighbours=known_then(whole.neighbours),
        similar=(),
        conflicts=(),
        links=(),
        showings=tuple(each for each in whole.showings if each.at <= moment),
    )


# Changes


def existing_memory(memory: Engine, id_: int) -> Memory:
    found = memory.get(id_)
    if found is None:
        raise NotFound(f"There is no memory {id_}. Nothing was changed. Browse lists all memories.")
    return found


# Editing

_LABELS = {"happened_at": "when it happened", "expires_at": "expiry"}


async def edit_memory(screen: Screen) -> Response:
    id_, form = _memory_id(screen), await screen.form()
    path, version = f"/memory/{id_}", form.get("version")

    def edit(memory: Engine) -> tuple[str, Undo] | None:
        arguments, former = plan_edit(existing_memory(memory, id_), form, memory.zone)
        if not arguments:
            return None
        writer = memory if version is None else Internals(memory).expecting(id_, [version])
        changed = writer.update(id_, **arguments)
        names = ", ".join(_LABELS.get(name, name) for name in arguments)
        undo = Undo(f"{path}/edit", (*former, ("version", memory_version(changed))))
        return f"Saved #{id_}: {names}.", undo

    done = await screen.run(edit, right=Right.WRITE)
    return (
        screen.redirect(path, *done) if done else screen.redirect(path, "Nothing was changed.", kind="warn")
    )


def plan_edit(found: Memory, form: SentForm, zone: tzinfo) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return arguments of `update` for the changed fields, and the fields of a form that undoes the edit.

    An empty field removes the value.
    """
    arguments: dict[str, Any] = {}
    former: list[tuple[str, str]] = []

    def change(name: str, value: Any, before: str, *, field: str | None = None) -> None:
        arguments[name] = value
        former.append((field or name, before))

    text = _new_text(found, form)
    if text is not None and text != found.text:
        # The store keeps former texts, so the undo form names the text by its number.
        change("text", text, str(len(found.former)), field="wording")
    for name in ("category", *NOTE_FIELDS):
        given, before = form.get(name), getattr(found, name) or ""
        if given is not None and given != before:
            change(name, given, before)
    tags = _new_tags(found, form)
    if tags != list(found.tags):
        change("tags", tags, "\n".join(found.tags), field="tag_lines")
    if importance := form.get("importance"):
        try:
            number = float(importance[:20])
        except ValueError:
            raise InvalidInput("importance: write a number from 0 to 1; nothing was changed.") from None
        if number != round(found.importance, 2):
            change("importance", number, repr(found.importance))
    status = form.get("status")
    if status and status != found.status:
        change("status", status, str(found.status))
    for name, none in (("happened_at", "unknown"), ("expires_at", "never")):
        given_time, before = form.get(name), getattr(found, name)
        if given_time is not None and given_time != local_time(before, zone):
            wanted = parsed_local_time(given_time, name, zone) if given_time else none
            change(name, wanted, "" if before is None else before.isoformat())
    return arguments, former


def _new_text(found: Memory, form: SentForm) -> str | None:
    """Return the new text: as given, or a former text by its number."""
    wording = form.get("wording")
    if wording is None:
        return None if form.get("text") is None else form.text("text")
    if not wording.isascii() or not wording.isdigit() or int(wording[:9]) >= len(found.former):
        raise InvalidInput(f"#{found.id} has no former text {visible(wording[:9])!r}. Nothing was changed.")
    return found.former[int(wording)].text


def _new_tags(found: Memory, form: SentForm) -> list[str]:
    """Read tags separated by commas, or one per line, since a tag may contain a comma."""
    given, lines = form.get("tags"), form.get("tag_lines")
    if (given is None and lines is None) or given == ", ".join(found.tags):
        return list(found.tags)
    words = (given or "").split(",") if lines is None else lines.splitlines()
    return [word.strip() for word in words if word.strip()]


def parsed_local_time(given: str, name: str, zone: tzinfo) -> datetime:
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise InvalidInput(
            f"{name}: {visible(given[:40])!r} is not a time; write 2026-03-01T18:30. Nothing was changed."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=zone)


async def pin_memory(screen: Screen) -> Response:
    id_, form = _memory_id(screen), await screen.form()
    pinned = form.get("pinned") == "1"
    await screen.run(lambda memory: memory.update(id_, pinned=pinned), right=Right.WRITE)
    undo = Undo(f"/memory/{id_}/pin", (("pinned", "0" if pinned else "1"),))
    message = f"Pinned #{id_}. It does not fade." if pinned else f"#{id_} is no longer pinned."
    return screen.redirect(f"/memory/{id_}", message, undo)


# Correcting


async def correct_memory(screen: Screen) -> Response:
    id_, form = _memory_id(screen), await screen.form()
    text, copies = form.text("text"), form.get("copies") == "1"
    by = form.ids("by")[:1]
    if not text and not by:
        raise InvalidInput("Write the correct text. Nothing was changed.")

    def supersede(memory: Engine) -> SupersedeResult:
        wrong = existing_memory(memory, id_)
        if by:
            # Do not retire near-copies: the correction may be one of them.
            return memory.supersede(id_, existing_memory(memory, by[0]).id, copies=False)
        return memory.supersede(id_, {"text": text, "tags": wrong.tags}, copies=copies)

    done = await screen.run(supersede, right=Right.WRITE)
    retired = [each.id for each in done.retired if each.observation is None]
    observations = [each.observation for each in done.retired if each.observation is not None]
    fields = [
        ("retired", joined_ids(retired[:MOST_SELECTED])),
        ("observations", joined_ids(observations[:MOST_SELECTED])),
    ]
    if not by and not done.by.duplicates:  # the correction is new
        fields.append(("made", str(done.by.id)))
    more = len(done.retired) - 1
    copies_too = f" and {quantity(more, 'near copy', 'near copies')}" if more else ""
    message = f"#{done.by.id} now replaces #{id_}{copies_too}."
    if (back := form.get("back")) is not None:
        fields.append(("back", back))
    undo = Undo(f"/memory/{id_}/undo-supersede", tuple(fields))
    return screen.redirect(form.back(f"/memory/{done.by.id}"), message, undo)


async def undo_supersede(screen: Screen) -> Response:
    id_, form = _memory_id(screen), await screen.form()
    made, retired, observations = form.ids("made"), form.ids("retired"), form.ids("observations")

    def take_back(memory: Engine) -> None:
        memory.forget(made)
        for each in retired:
            memory.restore(each)
        for each in observations:
            memory.graph.restore_observation(each)

    await screen.run(take_back, right=Right.WRITE)
    return screen.redirect(form.back(f"/memory/{id_}"), f"#{id_} is current again.")


# Observations of an entity

_OBSERVATION_CHANGES = ("add", "correct", "remove", "restore", "undo")


async def edit_observations(screen: Screen) -> Response:
    id_, form = _memory_id(screen), await screen.form()
    path = f"/memory/{id_}"
    text, fields = await screen.run(lambda memory: _change_observations(memory, id_, form), right=Right.WRITE)
    undo = Undo(f"{path}/observations", tuple(fields.items())) if fields else None
    return screen.redirect(path, text, undo)


def _change_observations(memory: Engine, id_: int, form: SentForm) -> tuple[str, dict[str, str]]:
    """Change an observation. Return a message and the fields of the form that undoes it."""
    entity, graph = existing_memory(memory, id_), memory.graph
    if entity.kind is not Kind.ENTITY:
        raise InvalidInput(f"#{id_} is not an entity, so it has no observations. Nothing was changed.")
    change, content = form.get("change") or "", form.text("content")
    if change not in _OBSERVATION_CHANGES:
        raise InvalidInput(f"change: choose one of {', '.join(_OBSERVATION_CHANGES)}.")

    def newest() -> str:
        return str(max(each.id for each in existing_memory(memory, id_).in_force))

    if change == "add":
        graph.add_observations({entity.name: [content]})
        return "Added an observation.", {"change": "remove", "observation": newest()}
    old = next((each for each in entity.observations if [each.id] == list(form.ids("observation"))), None)
    if old is None:
        raise NotFound("That observation no longer exists. Open the entity again. Nothing was changed.")
    if change == "correct":
        if content == old.content:
            return "Nothing was changed.", {}
        graph.add_observations({entity.name: [{"content": content, "supersedes": old.content}]})
        fields = {"change": "undo", "observation": str(old.id), "made": newest()}
        return "Corrected an observation. The former one stays in the history.", fields
    if change == "remove":
        graph.delete_observations({entity.name: [old.content]})
        return "Removed an observation.", {"change": "restore", "observation": str(old.id)}
    if change == "undo":
        made = next((each for each in entity.in_force if [each.id] == form.ids("made")), None)
        if made is not None:
            graph.delete_observations({entity.name: [made.content]})
    graph.restore_observation(old.id)
    if change == "undo":
        return "The former observation is current again.", {}
    return "Restored an observation.", {"change": "remove", "observation": str(old.id)}


# Purging

_PURGE_WORD = "purge"


async def purge_screen(screen: Screen) -> Response:
    id_ = _memory_id(screen)
    found = await screen.run(lambda memory: existing_memory(memory, id_), right=Right.ADMIN)
    is_wrong = screen.request.method == "POST"
    status = 400 if is_wrong else 200
    return await screen.page("purge.html", status=status, memory=found, word=_PURGE_WORD, is_wrong=is_wrong)


async def purge_memory(screen: Screen) -> Response:
    id_, form = _memory_id(screen), await screen.form()
    if (form.get("word") or "").lower() != _PURGE_WORD:
        return await purge_screen(screen)

    def purge(memory: Engine) -> str | None:
        existing_memory(memory, id_)
        memory.forget([id_])
        return memory.purge(ids=[id_]).note

    note = await screen.run(purge, right=Right.ADMIN)
    return screen.redirect("/browse", f"Purged #{id_} for good. {note or ''}".strip())
