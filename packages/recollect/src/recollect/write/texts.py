"""Writes of notes and messages, and of the vectors of passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from recollect.domain.changes import Change, NewText, Outcome, PutText, PutVectors, TextVectors, UseModel
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.numbers import sign_bytes
from recollect.domain.records import NOTE_FIELDS, Kind, Model
from recollect.domain.tables import IN_FORCE, Equals, Not, OneOf, is_null
from recollect.search.rows import json_or_none, stamp, stamp_or_none
from recollect.search.texts import MODEL_CHOICE, last_positions
from recollect.text.near_duplicates import text_key
from recollect.text.passages import passage_spans
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.stores.port import Snapshot
    from recollect.write.work import Work


# Vectors of passages, and the model in use


def put_vectors(work: Work, change: PutVectors) -> Outcome:
    """Store vectors and token signs of passages that still exist. A store's first model is put in use."""
    used = work.first("model", (Equals("in_use", 1),), "name")
    if change.searched and used is not None and used[0] != change.model.name:
        raise Conflict(f"Searches now use {used[0]}, not {change.model.name}; embed the texts with that.")
    model, in_use = _known_or_new_model(work, change.model)
    if used is None and in_use:
        _save_model_choice(work, automatic=change.automatic)
    each = sign_bytes(change.model.dims)
    for passage, blob in change.tokens:
        if len(blob) % each:
            raise InvalidInput(
                f"The tokens of passage {passage} have {len(blob)} bytes, and {change.model.name} makes "
                f"{each} for each token."
            )
    expected = 4 * change.model.dims
    for passage, blob in change.vectors:
        if len(blob) != expected:
            raise InvalidInput(
                f"The vector of passage {passage} has {len(blob)} bytes, and {change.model.name} makes "
                f"{expected}."
            )
    vectors = dict(reversed(change.vectors))
    ids = list(vectors)
    there = set(work.ids("passage", (OneOf("id", {*ids, *dict(change.tokens)}),)))
    signs = [(passage, blob) for passage, blob in change.tokens if passage in there]
    known = work.rows.rows("vector", ("passage_id",), (Equals("model_id", model), OneOf("passage_id", ids)))
    there.difference_update(id_ for (id_,) in known)
    new = [(passage, vectors[passage]) for passage, _ in change.vectors if passage in there]
    _put_vector_rows(work, model, new, signs)
    if in_use:
        work.rows.remove("pending_vector", (OneOf("passage_id", ids),))
    return Outcome(count=len(new), created=used is None and in_use)


def _put_given_vectors(work: Work, passages: Sequence[int], embedded: TextVectors) -> bool:
    """Store the vectors of new passages. Return False if they do not fit the model in use."""
    used = work.first("model", (Equals("in_use", 1),), "id", "name", "dims")
    if used is None or used[1] != embedded.model or len(passages) != len(embedded.vectors):
        return False
    model, _, dims = used
    if any(len(blob) != 4 * dims for blob in embedded.vectors):
        return False
    signs = [each for each in zip(passages, embedded.tokens, strict=True) if each[1] is not None]
    _put_vector_rows(work, model, zip(passages, embedded.vectors, strict=True), signs)
    return True


def _put_vector_rows(
    work: Work, model: int, vectors: Iterable[tuple[int, bytes]], signs: Iterable[tuple[int, bytes | None]]
) -> None:
    tokens = [{"passage_id": passage, "model_id": model, "signs": blob} for passage, blob in signs]
    work.rows.put("passage_tokens", tokens, keep=True)
    rows = [{"model_id": model, "passage_id": passage, "embedding": blob} for passage, blob in vectors]
    work.rows.put("vector", rows)


def use_model(work: Work, change: UseModel) -> Outcome:
    """Put a model in use, and delete all other models with their vectors."""
    work.rows.lock_scopes(None)
    model, _ = _known_or_new_model(work, change.model)
    work.rows.patch("model", (Equals("in_use", 1),), {"in_use": 0})
    work.set("model", model, in_use=1)
    _save_model_choice(work, automatic=change.automatic)
    dropped = work.rows.remove("vector", (Not(Equals("model_id", model)),))
    work.rows.remove("passage_tokens", (Not(Equals("model_id", model)),))
    work.rows.remove("model", (Not(Equals("id", model)),))
    # Queue the passages that lack a vector of this model.
    work.rows.remove("pending_vector", ())
    there = {id_ for (id_,) in work.rows.rows("vector", ("passage_id",), (Equals("model_id", model),))}
    work.rows.put(
        "pending_vector", [{"passage_id": id_} for id_ in work.ids("passage", ()) if id_ not in there]
    )
    return Outcome(count=dropped)


def _save_model_choice(work: Work, *, automatic: bool) -> None:
    if automatic:
        work.rows.put("setting", [{"name": MODEL_CHOICE, "value": "automatic"}])
    else:
        work.rows.remove("setting", (Equals("name", MODEL_CHOICE),))


def _known_or_new_model(work: Work, model: Model) -> tuple[int, bool]:
    """Return the id of a model, and whether it is in use. Add the model if it is unknown."""
    row = work.first("model", (Equals("name", model.name),), "id", "dims", "in_use")
    if row is not None:
        id_, dims, in_use = row
        if dims != model.dims:
            raise InvalidInput(f"{model.name} makes vectors of {dims} numbers here, not {model.dims}.")
        return int(id_), bool(in_use)
    first = work.first("model", (), "id") is None
    id_ = work.add("model", name=model.name, dims=model.dims, centre=model.centre, in_use=int(first))
    if model.rotation is not None:
        expected = 2 * max(1, model.dims // 3) * model.dims
        if len(model.rotation) != expected:
            raise InvalidInput(
                f"The rotation of {model.name} has {len(model.rotation)} bytes, and one of its width has "
                f"{expected}."
            )
        work.rows.put("rotation", [{"model_id": id_, "packed": model.rotation}])
    return id_, first


# Notes and messages

# For fewer texts, an extra query would take longer than it saves.
_MANY = 8


def expect_batch(work: Work, batch: Sequence[Change]) -> None:
    """If a batch has many texts of one scope, look them all up with one query."""
    new = [change for change in batch if isinstance(change, PutText)]
    if len(new) >= _MANY and len({change.scope for change in new}) == 1:
        work.look_up_texts(new[0].scope, {text_key(change.text.text) for change in new})


def put_text(work: Work, change: PutText) -> Outcome:
    scope, new = work.scope_id(change.scope), change.text
    if new.kind is Kind.ENTITY:
        raise InvalidInput("An entity is not a text; create it with its name and type.")
    about = [work.entity(scope, name) for name in new.about]
    again = _same_source(work, scope, new)
    if again is not None:
        return Outcome(ids=(again,))
    known = note_by_ref(work.rows, scope, new)
    if known is not None:
        _store_again(work, scope, known, new)
        _set_about(work, known, about)
        return Outcome(ids=(known,))
    text_hash = text_key(new.text)
    twin = twin_of(work.rows, scope, new) if work.may_have_text(change.scope, text_hash) else None
    if twin is None:
        memory = _insert(work, scope, new, text_hash, change.similar)
        passages = work.add_passages(memory, passage_spans(new.text))
        if change.embedded is not None and _put_given_vectors(work, passages, change.embedded):
            work.skip_vectors(passages)
        work.touch(memory, scope, text=True)
    else:
        memory = twin
        _repeat(work, twin, new)
    tag(work, memory, new.tags)
    _set_about(work, memory, about)
    return Outcome(ids=(memory,), created=twin is None)


def _set_about(work: Work, memory: int, entities: Iterable[int]) -> None:
    """Link a text to the entities that the caller named."""
    mentioned = [
        {"memory_id": memory, "entity_id": entity, "explicit": 1} for entity in dict.fromkeys(entities)
    ]
    work.rows.put("mention", mentioned)


def revise(work: Work, scope: int, memory: int, text: str) -> None:
    """Replace the text of a note or message. The former text stays as a revision, with its passages."""
    row = work.row("memory", memory, "kind", "text", "created_at", "revisions")
    assert row is not None  # noqa: S101  # the caller has just changed it
    kind, former, created_at, revisions = row
    if kind == Kind.ENTITY:
        raise InvalidInput("An entity has no text to update; add observations, or supersede one.")
    if former == text:
        return
    earlier = last_revised(work, memory)
    revision = work.add(
        "revision",
        memory_id=memory,
        text=former,
        since=created_at if earlier is None else earlier,
        until=work.at if earlier is None else max(work.at, earlier),
    )
    present = (Equals("memory_id", memory), is_null("revision_id"))
    work.rows.patch("passage", present, {"live": 0})
    work.rows.patch("passage", present, {"revision_id": revision})
    work.set(
        "memory",
        memory,
        text=text,
        text_key=text_key(text),
        revisions=revisions + 1,
        similar_to=None,
        similarity=None,
    )
    work.add_passages(memory, passage_spans(text), live=work.in_force("memory", memory))
    work.touch(memory, scope, text=True)


def last_revised(work: Work, memory: int) -> int | None:
    """Return when a text was last revised. Later changes must not get an earlier time from a wrong clock."""
    revised = work.rows.rows(
        "revision", ("until",), (Equals("memory_id", memory),), order=("until",), descending=True, limit=1
    )
    return int(revised[0][0]) if revised else None


def tag(work: Work, memory: int, tags: Iterable[str]) -> None:
    """Add tags. Tags that differ only in case or accents are the same."""
    rows = [{"memory_id": memory, "folded": fold(word), "tag": word} for word in tags]
    work.rows.put("tag", rows, keep=True)


def _same_source(work: Work, scope: int, new: NewText) -> int | None:
    """Return the stored message with the same session and source, current or not."""
    if new.kind is not Kind.MESSAGE or new.session is None or new.source is None:
        return None
    same = (Equals("session", new.session), Equals("source", new.source), Equals("kind", "message"))
    return work.first_id("memory", (Equals("scope_id", scope), *same))


def twin_of(snapshot: Snapshot, scope: int, new: NewText) -> int | None:
    """Return a current note with the same text and speaker, and the same time if one is given.

    Case, accents, spaces and outer punctuation are ignored. Messages have no twin: a conversation may repeat
    a turn. Notes with a `ref` or metadata have none either.
    """
    if new.kind is not Kind.NOTE or new.ref is not None or new.metadata is not None:
        return None
    happened = () if new.happened_at is None else (Equals("happened_at", stamp(new.happened_at)),)
    rows = snapshot.rows(
        "memory",
        ("id", "text"),
        (
            Equals("scope_id", scope),
            Equals("text_key", text_key(new.text)),
            Equals("kind", "note"),
            Equals("speaker", new.speaker),
            *happened,
            is_null("ref"),
            is_null("metadata"),
            *IN_FORCE,
        ),
    )
    return min(rows, key=lambda row: (row[1] != new.text, row[0]))[0] if rows else None


def note_by_ref(snapshot: Snapshot, scope: int, new: NewText) -> int | None:
    """Return the current note with the same `ref`, expired or not."""
    if new.ref is None or new.kind is not Kind.NOTE:
        return None
    named = (Equals("scope_id", scope), Equals("ref", new.ref), *IN_FORCE)
    return max((id_ for (id_,) in snapshot.rows("memory", ("id",), named)), default=None)


def _store_again(work: Work, scope: int, memory: int, new: NewText) -> None:
    """Overwrite a note that is stored again under its `ref`. Its former text stays as a revision."""
    work.set("memory", memory, updated_at=work.at, **_columns(work, new))
    work.rows.remove("tag", (Equals("memory_id", memory),))
    tag(work, memory, new.tags)
    work.rows.remove("mention", (Equals("memory_id", memory), Equals("explicit", 1)))
    # Index it again even if the text is the same: the speaker's name is indexed, too.
    work.touch(memory, scope, text=True)
    revise(work, scope, memory, new.text)


def _columns(work: Work, new: NewText) -> dict[str, Any]:
    """Return the columns that a caller sets both when it creates a note and when it stores it again."""
    return {
        "happened_at": stamp_or_none(new.happened_at),
        "category": new.category,
        "source": new.source,
        "session": new.session,
        "speaker": new.speaker,
        "importance": new.importance,
        "expires_at": expiry(work, new.expires_at),
        "metadata": json_or_none(new.metadata),
        **dict.fromkeys(NOTE_FIELDS),
        **dict(new.fields),
    }


def _repeat(work: Work, twin: int, new: NewText) -> None:
    row = work.row("memory", twin, "updated_at", "duplicates", "importance", "category", "source")
    assert row is not None  # noqa: S101  # the twin was just found
    updated_at, duplicates, importance, category, source = row
    work.set(
        "memory",
        twin,
        updated_at=max(updated_at, work.at),
        duplicates=duplicates + 1,
        importance=max(importance, new.importance),
        category=new.category if category is None else category,
        source=new.source if source is None else source,
        # The new expiry replaces the old one.
        expires_at=expiry(work, new.expires_at),
        **dict(new.fields),
    )


def expiry(work: Work, at: datetime | None) -> int | None:
    """Return the expiry of a note as stored; raise if it is past."""
    if at is not None and stamp(at) <= work.at:
        raise InvalidInput(f"The expiry {at:%Y-%m-%d %H:%M} is past; give a later time, or none.")
    return stamp_or_none(at)


def _insert(work: Work, scope: int, new: NewText, text_hash: int, similar: tuple[int, float] | None) -> int:
    created = work.at if new.created_at is None else stamp(new.created_at)
    if new.drawn_from is not None:
        origin = work.row("memory", new.drawn_from, "scope_id", "kind")
        if origin != (scope, "message"):
            raise NotFound(f"There is no message {new.drawn_from} that the note could be drawn from.")
    similar_to, similarity = (None, None) if similar is None else similar
    if similar_to is not None and not work.exists("memory", similar_to):
        similar_to = similarity = None
    position = None
    if new.kind is Kind.MESSAGE and new.session is not None:
        position = 1 + last_positions(work.rows, scope, [new.session]).get(new.session, 0)
    return work.add(
        "memory",
        kind=new.kind.value,
        scope_id=scope,
        created_at=created,
        updated_at=created,
        text=new.text,
        text_key=text_hash,
        position=position,
        role=new.role,
        undated=int(new.undated),
        drawn_from=new.drawn_from,
        similar_to=similar_to,
        similarity=similarity,
        ref=new.ref,
        **_columns(work, new),
    )
