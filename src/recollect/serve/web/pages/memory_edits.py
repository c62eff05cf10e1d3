"""What a person changes on the screen of one memory; every change but destroying has an undo."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.records import Kind
from recollect.serve.http.caller import Right
from recollect.serve.web.pages.forms import MOST_SELECTED, joined_ids, sent_form
from recollect.serve.web.pages.memory import local_time, memory_id_of
from recollect.serve.web.templating import Undo, page, redirect
from recollect.text.phrases import quantity
from recollect.text.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import tzinfo

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.engine.results import SupersedeResult
    from recollect.records import Memory, Observation
    from recollect.serve.http.face import Face
    from recollect.serve.web.pages.forms import SentForm

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


async def edit_memory(face: Face, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)

    def edit(memory: Engine) -> tuple[Edit, str]:
        from recollect.engine.versions import memory_version  # noqa: PLC0415  # loads the engine

        found = existing_memory(memory, id_)
        made = edit_of(found, form, memory.zone)
        if not made.arguments:
            return made, ""
        version = form.get("version")
        writer = memory if version is None else memory.upkeep.expecting(id_, [version])
        changed = writer.update(id_, **made.arguments)
        return made, memory_version(changed)

    made, version = await face.run(request, edit, right=Right.WRITE)
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
    category = form.get("category")
    if category is not None and category != (found.category or ""):
        change("category", category, found.category or "")
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


async def pin_memory(face: Face, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)
    pinned = form.get("pinned") == "1"
    await face.run(request, lambda memory: memory.update(id_, pinned=pinned), right=Right.WRITE)
    undo = Undo(f"/memory/{id_}/pin", (("pinned", "0" if pinned else "1"),))
    said = f"Pinned #{id_}: it does not fade." if pinned else f"#{id_} is no longer pinned."
    return redirect(request, f"/memory/{id_}", said, undo)


# Correcting


async def correct_memory(face: Face, request: Request) -> Response:
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

    done = await face.run(request, supersede, right=Right.WRITE)
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


async def undo_supersede(face: Face, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)
    made, retired, observations = form.ids("made"), form.ids("retired"), form.ids("observations")

    def take_back(memory: Engine) -> None:
        memory.forget(made)
        for each in retired:
            memory.restore(each)
        for each in observations:
            memory.graph.restore_observation(each)

    await face.run(request, take_back, right=Right.WRITE)
    return redirect(request, form.back(f"/memory/{id_}"), f"#{id_} is in force again.")


# What is known of an entity


async def edit_observations(face: Face, request: Request) -> Response:
    """Add, correct, remove or restore one observation."""
    id_, form = memory_id_of(request), await sent_form(request)
    path = f"/memory/{id_}"
    said, fields = await face.run(request, lambda memory: _observe(memory, id_, form), right=Right.WRITE)
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


async def purge_screen(face: Face, request: Request) -> Response:
    """Asks, before a word is to be typed."""
    id_ = memory_id_of(request)
    found = await face.run(request, lambda memory: existing_memory(memory, id_), right=Right.ADMIN)
    return await page(face, request, "purge.html", memory=found, word=DESTROY_WORD, is_wrong=False)


async def purge_memory(face: Face, request: Request) -> Response:
    id_, form = memory_id_of(request), await sent_form(request)
    if (form.get("word") or "").lower() != DESTROY_WORD:
        found = await face.run(request, lambda memory: existing_memory(memory, id_), right=Right.ADMIN)
        return await page(
            face, request, "purge.html", status=400, memory=found, word=DESTROY_WORD, is_wrong=True
        )

    def destroy(memory: Engine) -> str | None:
        existing_memory(memory, id_)
        memory.forget([id_])
        return memory.upkeep.purge_memories([id_]).note

    note = await face.run(request, destroy, right=Right.ADMIN)
    return redirect(request, "/browse", f"Destroyed #{id_} for good. {note or ''}".strip())
