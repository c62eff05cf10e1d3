"""Passages and their vectors: what the model in use has read, and what still waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from recollect.conditions import Compares, Condition, Equals, OneOf
from recollect.ports import RowsQuery, Snapshot, Vector
from recollect.records import Memory, Model, Passage
from recollect.retrieval.records import memories_by_id
from recollect.tables import Row
from recollect.text.passages import passage_text
from recollect.vectors import unpack_vector

MODEL_CHOICE = "model_choice"
"""The setting that says that the model in use was chosen by the texts; where it lacks, somebody named it."""
_COLUMNS = ("id", "memory_id", "observation_id", "start", "stop", "revision_id")
# Of the texts that were written last, so many are looked at for whether they wait for a vector.
_NEWEST_DUE = 2_000


MODEL_IN_USE = RowsQuery("model", ("id", "name", "dims", "centre"), (Equals("in_use", 1),))


def model_row(snapshot: Snapshot) -> tuple[int, Model] | None:
    return model_of(snapshot.several([MODEL_IN_USE])[0])


def model_of(rows: Sequence[Row]) -> tuple[int, Model] | None:
    """The row of a model, and the model; None where there is none in use."""
    return (rows[0][0], Model(*rows[0][1:])) if rows else None


def model_in_use(snapshot: Snapshot) -> Model | None:
    """The model whose vectors searches use."""
    row = model_row(snapshot)
    return None if row is None else row[1]


def vectors_of(
    snapshot: Snapshot, passages: Sequence[int], model: tuple[int, Model] | None = None
) -> dict[int, Vector]:
    """Vectors of the model in use, by passage. Who knows the model's row gives it along."""
    model = model or model_row(snapshot)
    if model is None:
        return {}
    rows = snapshot.rows(
        "vector", ("passage_id", "embedding"), (Equals("model_id", model[0]), OneOf("passage_id", passages))
    )
    return {passage: unpack_vector(blob) for passage, blob in rows}


def memory_vectors(
    snapshot: Snapshot, ids: Sequence[int], model: tuple[int, Model] | None = None
) -> dict[int, list[Vector]]:
    """Vectors of the live passages of these memories, by memory, the first passage first."""
    rows = snapshot.rows("passage", ("id", "memory_id"), (OneOf("memory_id", ids), Equals("live", 1)))
    vectors = vectors_of(snapshot, [passage for passage, _ in rows], model)
    found: dict[int, list[Vector]] = {}
    for passage, memory in rows:
        if passage in vectors:
            found.setdefault(memory, []).append(vectors[passage])
    return found


def passages_of(
    snapshot: Snapshot, ids: Sequence[int], memories: Mapping[int, Memory] | None = None
) -> list[Passage]:
    """The live passages of these memories, by id. Who has read the memories gives them along."""
    return _passages(snapshot, (OneOf("memory_id", ids), Equals("live", 1)), memories)


def passages_by_id(
    snapshot: Snapshot, passages: Sequence[int], memories: Mapping[int, Memory] | None = None
) -> list[Passage]:
    """Those that exist, by id."""
    return _passages(snapshot, (OneOf("id", passages),), memories) if passages else []


def passage_rows(passages: Sequence[int]) -> RowsQuery:
    """The question for the rows that `passages_from` reads."""
    return RowsQuery("passage", _COLUMNS, (OneOf("id", passages),))


def pending_passages(
    snapshot: Snapshot, model: Model, after: int, limit: int, *, past: bool = False
) -> list[Passage]:
    """Live passages that have no vector of this model, by ascending id above `after`.

    With `past`, also those of what was said before, as far as they wait for the model in use.
    """
    live = () if past else (Equals("live", 1),)
    in_use = model_in_use(snapshot)
    waiting = in_use is None or in_use.name == model.name
    found: list[Passage] = []
    while len(found) < limit:
        ids = _due(snapshot, after, limit) if waiting else _lacking(snapshot, "vector", model, after, limit)
        if not ids:
            break
        found += _passages(snapshot, (OneOf("id", ids), *live), None)
        after = ids[-1]
    return found[:limit]


def passages_without_tokens(snapshot: Snapshot, model: Model, after: int, limit: int) -> list[Passage]:
    """Live passages of whose tokens the store has nothing by this model, by ascending id above `after`."""
    return passages_by_id(snapshot, _lacking(snapshot, "passage_tokens", model, after, limit))


def count_without_tokens(snapshot: Snapshot) -> int:
    """How many live passages have a vector of the model in use, and no tokens."""
    model = model_row(snapshot)
    if model is None:
        return 0
    live = {id_ for (id_,) in snapshot.rows("passage", ("id",), (Equals("live", 1),))}
    own = (Equals("model_id", model[0]),)
    with_vector = {id_ for (id_,) in snapshot.rows("vector", ("passage_id",), own)}
    with_tokens = {id_ for (id_,) in snapshot.rows("passage_tokens", ("passage_id",), own)}
    return len((live & with_vector) - with_tokens)


def has_pending(snapshot: Snapshot, scopes: Sequence[int]) -> bool:
    """Whether one of the texts that these scopes got last has no vector yet."""
    # Among the newest alone: another scope may have ten thousand that wait.
    newest = snapshot.rows("due", ("passage_id",), newest_first=True, limit=_NEWEST_DUE)
    if not newest:
        return False
    passages = snapshot.rows(
        "passage", ("memory_id",), (OneOf("id", [id_ for (id_,) in newest]), Equals("live", 1))
    )
    ours = (OneOf("id", {id_ for (id_,) in passages}), OneOf("scope_id", scopes))
    return bool(snapshot.rows("memory", ("id",), ours, limit=1))


def _due(snapshot: Snapshot, after: int, limit: int) -> list[int]:
    rows = snapshot.rows("due", ("passage_id",), (Compares("passage_id", ">", after),), limit=limit)
    return [id_ for (id_,) in rows]


def _lacking(
    snapshot: Snapshot, table: Literal["vector", "passage_tokens"], model: Model, after: int, limit: int
) -> list[int]:
    """The next passages that have no row of this model in the table; empty at the end."""
    known = snapshot.rows("model", ("id",), (Equals("name", model.name),))
    while True:
        rows = snapshot.rows("passage", ("id",), (Compares("id", ">", after), Equals("live", 1)), limit=limit)
        ids = [id_ for (id_,) in rows]
        if not ids or not known:
            return ids
        own = (Equals("model_id", known[0][0]), OneOf("passage_id", ids))
        done = {id_ for (id_,) in snapshot.rows(table, ("passage_id",), own)}
        after = ids[-1]
        missing = [id_ for id_ in ids if id_ not in done]
        if missing:
            return missing


def _passages(
    snapshot: Snapshot, where: tuple[Condition, ...], memories: Mapping[int, Memory] | None
) -> list[Passage]:
    return passages_from(snapshot, snapshot.rows("passage", _COLUMNS, where), memories)


def passages_from(
    snapshot: Snapshot, rows: Sequence[Row], memories: Mapping[int, Memory] | None
) -> list[Passage]:
    wanted = {row[1] for row in rows}
    if memories is None or not wanted <= memories.keys():
        memories = memories_by_id(snapshot, sorted(wanted))
    revisions = [row[5] for row in rows if row[5] is not None]
    former: dict[int, str] = {}
    if revisions:
        former = dict(snapshot.rows("revision", ("id", "text"), (OneOf("id", revisions),)))
    passages = []
    for id_, memory_id, observation_id, start, stop, revision in rows:
        memory = memories[memory_id]
        if revision is not None:
            memory = replace(memory, text=former[revision])
        about = next((seen for seen in memory.observations if seen.id == observation_id), None)
        whole = memory.text if about is None else about.content
        piece = whole[start:stop] if (start, stop) not in {(0, 0), (0, len(whole))} else None
        text = passage_text(memory, about, (start, stop))
        passages.append(Passage(id_, memory_id, memory.scope, text, piece))
    return passages
