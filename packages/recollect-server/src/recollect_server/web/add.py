"""Add: forms for a note, an entity or a relation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from recollect import Engine
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.text.phrases import quantity
from recollect_server.runner import Right
from recollect_server.web.memory import parsed_local_time
from recollect_server.web.templating import Screen, SentForm, Undo, joined_ids

# Number of entity names that the form suggests.
_MAX_NAMES = 200


async def add_screen(screen: Screen) -> Response:
    return await _form_page(screen, screen.params.get("kind") or "note", screen.params.get)


async def add_memory(screen: Screen) -> Response:
    """Add a memory and show it. If it is refused, show the form again with its values."""
    form = await screen.form()
    kind = form.get("kind") or ""
    add = _adder(kind)
    try:
        said, id_, undo = await screen.run(lambda memory: add(memory, form), right=Right.WRITE)
    except (InvalidInput, NotFound, Conflict) as error:
        return await _form_page(screen, kind, form.get, problem=str(error))
    return screen.redirect(f"/memory/{id_}", said, undo)


async def remove_relation(screen: Screen) -> Response:
    """Delete a new relation, and forget the entities that were created for it."""
    form = await screen.form()
    relation = (form.text("source"), form.text("type"), form.text("target"))

    def remove(memory: Engine) -> None:
        memory.graph.delete_relations([{"from": relation[0], "relationType": relation[1], "to": relation[2]}])
        memory.forget(form.ids("made"))

    await screen.run(remove, right=Right.WRITE)
    return screen.redirect(form.back("/browse"), f"Removed the relation {' '.join(relation)}.")


async def _form_page(
    screen: Screen, kind: str, given: Callable[[str], str | None], problem: str | None = None
) -> Response:
    _adder(kind)
    names: list[str] = []
    if kind == "relation":
        found = await screen.run(lambda memory: memory.browse.entities(limit=_MAX_NAMES))
        names = [each.entity.name for each in found]
    values: dict[str, Any] = {"given": lambda name: given(name) or "", "names": names, "kinds": list(_ADDERS)}
    return await screen.page("add.html", status=400 if problem else 200, kind=kind, problem=problem, **values)


_Added = tuple[str, int, Undo | None]


def _add_note(memory: Engine, form: SentForm) -> _Added:
    happened_at = form.get("happened_at")
    done = memory.remember(
        form.text("text"),
        tags=[tag.strip() for tag in form.text("tags").split(",") if tag.strip()],
        category=form.get("category") or None,
        happened_at=parsed_local_time(happened_at, "happened_at", memory.zone) if happened_at else None,
    )
    if not done.created:
        return f"#{done.id} says this already, so it was not added again.", done.id, None
    return f"Added note #{done.id}.", done.id, _forget(done.id)


def _add_entity(memory: Engine, form: SentForm) -> _Added:
    lines = [line.strip() for line in form.text("observations").splitlines() if line.strip()]
    entity = {"name": form.text("name"), "entityType": form.get("type") or "unknown", "observations": lines}
    (done,) = memory.create_entities([entity]).entities
    if done.created:
        return f"Added entity {done.name}.", done.id, _forget(done.id)
    return f"{done.name} exists already; added {quantity(len(done.added), 'observation')}.", done.id, None


def _add_relation(memory: Engine, form: SentForm) -> _Added:
    names = {name: form.text(name) for name in ("source", "type", "target")}
    relation = {"from": names["source"], "relationType": names["type"], "to": names["target"]}
    create_missing = bool(form.get("create_missing"))
    (done,) = memory.graph.create_relations([relation], create_missing=create_missing).relations
    found = {each.name: each.id for each in memory.graph.open_nodes([done.source, done.target]).entities}
    id_ = found[done.source]
    if not done.created:
        return "This relation exists already.", id_, None
    made = joined_ids(found[name] for name in done.also_created)
    fields = (("source", done.source), ("type", done.type), ("target", done.target), ("made", made))
    undo = Undo("/add/undo-relation", (*fields, ("back", f"/memory/{id_}")))
    return f"Added the relation {done.source} {done.type} {done.target}.", id_, undo


def _forget(id_: int) -> Undo:
    return Undo("/browse/forget", (("id", str(id_)), ("back", f"/memory/{id_}")))


_ADDERS = {"note": _add_note, "entity": _add_entity, "relation": _add_relation}


def _adder(kind: str) -> Callable[[Engine, SentForm], _Added]:
    if kind not in _ADDERS:
        raise InvalidInput(f"kind: choose one of {', '.join(_ADDERS)}.")
    return _ADDERS[kind]
