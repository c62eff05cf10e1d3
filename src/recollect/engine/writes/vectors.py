"""Vectors of passages, and the model whose vectors are searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.changes import Outcome, PutVectors, TextVectors, UseModel
from recollect.conditions import Equals, Not, OneOf
from recollect.errors import Conflict, InvalidInput
from recollect.records import Model
from recollect.retrieval.passages import MODEL_CHOICE
from recollect.vectors import sign_bytes

if TYPE_CHECKING:
    from recollect.engine.writes.work import Work


def put_vectors(work: Work, change: PutVectors) -> Outcome:
    """Store vectors and tokens of passages that still exist; the first model ever seen comes into use."""
    used = work.first("model", (Equals("in_use", 1),), "name")
    if change.searched and used is not None and used[0] != change.model.name:
        raise Conflict(f"Searches use {used[0]} by now, not {change.model.name}; embed the texts with that.")
    model, in_use = _model(work, change.model)
    if used is None and in_use:
        _note_choice(work, automatic=change.automatic)
    _check_tokens(change)
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
    signs = [
        {"passage_id": passage, "model_id": model, "signs": blob}
        for passage, blob in change.tokens
        if passage in there
    ]
    work.rows.put("passage_tokens", signs, keep=True)
    known = work.rows.rows("vector", ("passage_id",), (Equals("model_id", model), OneOf("passage_id", ids)))
    there.difference_update(id_ for (id_,) in known)
    new = [
        {"model_id": model, "passage_id": passage, "embedding": vectors[passage]}
        for passage, _ in change.vectors
        if passage in there
    ]
    work.rows.put("vector", new)
    if in_use:
        work.rows.remove("due", (OneOf("passage_id", ids),))
    return Outcome(count=len(new), created=used is None and in_use)


def give_vectors(work: Work, passages: Sequence[int], embedded: TextVectors) -> bool:
    """Store the vectors of new passages; False where searches use another model by now."""
    used = work.first("model", (Equals("in_use", 1),), "id", "name", "dims")
    if used is None or used[1] != embedded.model or len(passages) != len(embedded.vectors):
        return False
    model, _, dims = used
    if any(len(blob) != 4 * dims for blob in embedded.vectors):
        return False
    work.rows.put(
        "vector",
        [
            {"model_id": model, "passage_id": passage, "embedding": blob}
            for passage, blob in zip(passages, embedded.vectors, strict=True)
        ],
    )
    signs = zip(passages, embedded.tokens, strict=True)
    work.rows.put(
        "passage_tokens",
        [
            {"passage_id": passage, "model_id": model, "signs": blob}
            for passage, blob in signs
            if blob is not None
        ],
    )
    return True


def _check_tokens(change: PutVectors) -> None:
    each = sign_bytes(change.model.dims)
    for passage, blob in change.tokens:
        if len(blob) % each:
            raise InvalidInput(
                f"The tokens of passage {passage} have {len(blob)} bytes, and {change.model.name} makes "
                f"{each} for each token."
            )


def use(work: Work, change: UseModel) -> Outcome:
    """Search by this model's vectors from now on, and drop those of the others."""
    work.rows.hold(None)
    model, _ = _model(work, change.model)
    work.rows.patch("model", (Equals("in_use", 1),), {"in_use": 0})
    work.set("model", model, in_use=1)
    _note_choice(work, automatic=change.automatic)
    dropped = work.rows.remove("vector", (Not(Equals("model_id", model)),))
    work.rows.remove("passage_tokens", (Not(Equals("model_id", model)),))
    work.rows.remove("model", (Not(Equals("id", model)),))
    # Find anew which passages lack a vector of the model in use.
    work.rows.remove("due", ())
    there = {id_ for (id_,) in work.rows.rows("vector", ("passage_id",), (Equals("model_id", model),))}
    work.rows.put("due", [{"passage_id": id_} for id_ in work.ids("passage", ()) if id_ not in there])
    return Outcome(count=dropped)


def _note_choice(work: Work, *, automatic: bool) -> None:
    if automatic:
        work.rows.put("setting", [{"name": MODEL_CHOICE, "value": "automatic"}])
    else:
        work.rows.remove("setting", (Equals("name", MODEL_CHOICE),))


def _model(work: Work, model: Model) -> tuple[int, bool]:
    """The model's id, and whether it is in use."""
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
