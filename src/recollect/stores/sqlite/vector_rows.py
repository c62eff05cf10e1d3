"""Passages and vectors as rows, and the log by which caches learn of their deaths and returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.stores.sqlite.rows import first
from recollect.stores.sqlite.vector_prefix import width

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from recollect.records import Model

# Caches that are further behind than this many deaths and returns are quicker rebuilt than caught up.
_LOG_LIMIT = 50_000


def add_passage(
    connection: apsw.Connection,
    memory: int,
    observation: int | None,
    span: tuple[int, int],
    *,
    live: bool = True,
    revision: int | None = None,
) -> None:
    connection.execute(
        "INSERT INTO passage(memory_id, observation_id, start, stop, live, revision_id) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (memory, observation, *span, int(live), revision),
    )


def newest_passage(connection: apsw.Connection) -> int:
    """The id of the last passage there ever was."""
    rows = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passage'")
    return next((int(seq) for (seq,) in rows), 0)


def queue(connection: apsw.Connection, after: int) -> None:
    """Passages made since `after` wait for their vectors."""
    connection.execute("INSERT OR IGNORE INTO due SELECT id FROM passage WHERE id > ?", (after,))


def set_life(connection: apsw.Connection, condition: str, binding: int, *, live: bool) -> None:
    """Wake or silence the passages that match `condition`, and log their vectors."""
    _log(connection, f"{condition} AND live = {int(not live)}", binding)
    connection.execute(f"UPDATE passage SET live = ? WHERE {condition}", (int(live), binding))


def log_removal(connection: apsw.Connection, condition: str, binding: int) -> None:
    """Log the vectors of passages that are about to vanish."""
    _log(connection, condition, binding)


def put(connection: apsw.Connection, model: Model, vectors: Iterable[tuple[int, bytes]]) -> int:
    """Store vectors of passages that still exist; the first model ever seen comes into use."""
    model_id = _model_id(connection, model)
    expected = 4 * model.dims
    rows = list(vectors)
    for passage, blob in rows:
        if len(blob) != expected:
            raise InvalidInput(
                f"The vector of passage {passage} has {len(blob)} bytes, and {model.name} makes {expected}."
            )
    before = connection.total_changes()
    connection.executemany(
        "INSERT OR IGNORE INTO vector(model_id, passage_id, embedding) "
        "SELECT ?, id, ? FROM passage WHERE id = ?",
        [(model_id, blob, passage) for passage, blob in rows],
    )
    stored = connection.total_changes() - before
    if first(connection.execute("SELECT in_use FROM model WHERE id = ?", (model_id,))):
        connection.executemany("DELETE FROM due WHERE passage_id = ?", [(passage,) for passage, _ in rows])
    return stored


def use(connection: apsw.Connection, model: Model) -> int:
    """Search by this model's vectors from now on, and drop those of the others."""
    model_id = _model_id(connection, model)
    connection.execute("UPDATE model SET in_use = 0 WHERE in_use = 1")
    connection.execute("UPDATE model SET in_use = 1 WHERE id = ?", (model_id,))
    connection.execute("DELETE FROM vector WHERE model_id <> ?", (model_id,))
    dropped = connection.changes()
    connection.execute("DELETE FROM model WHERE id <> ?", (model_id,))
    note_due(connection)
    return dropped


def note_due(connection: apsw.Connection) -> None:
    """Find anew which passages lack a vector of the model in use."""
    connection.execute("DELETE FROM due")
    connection.execute(
        "INSERT INTO due SELECT p.id FROM passage AS p WHERE NOT EXISTS (SELECT 1 FROM vector AS v "
        "JOIN model ON model.id = v.model_id WHERE v.passage_id = p.id AND model.in_use = 1)"
    )


def trim_log(connection: apsw.Connection) -> None:
    connection.execute(
        "DELETE FROM vector_life WHERE seq <= (SELECT max(seq) FROM vector_life) - ?", (_LOG_LIMIT,)
    )


def _model_id(connection: apsw.Connection, model: Model) -> int:
    row = connection.execute("SELECT id, dims FROM model WHERE name = ?", (model.name,)).fetchone()
    if row is not None:
        if row[1] != model.dims:
            raise InvalidInput(f"{model.name} makes vectors of {row[1]} numbers here, not {model.dims}.")
        return int(row[0])
    newcomer = first(connection.execute("SELECT count(*) = 0 FROM model"))
    model_id = int(
        first(
            connection.execute(
                "INSERT INTO model(name, dims, centre, in_use) VALUES (?, ?, ?, ?) RETURNING id",
                (model.name, model.dims, model.centre, newcomer),
            )
        )
    )
    if model.rotation is not None:
        _put_rotation(connection, model_id, model, model.rotation)
    return model_id


def _put_rotation(connection: apsw.Connection, model_id: int, model: Model, rotation: bytes) -> None:
    expected = 2 * width(model.dims) * model.dims
    if len(rotation) != expected:
        raise InvalidInput(
            f"The rotation of {model.name} has {len(rotation)} bytes, and one of its width has {expected}."
        )
    connection.execute("INSERT INTO rotation VALUES (?, ?)", (model_id, rotation))


def _log(connection: apsw.Connection, condition: str, binding: int) -> None:
    connection.execute(
        "INSERT INTO vector_life(vector_id) SELECT v.id FROM passage AS p "
        "JOIN vector AS v ON v.passage_id = p.id "
        f"WHERE p.id IN (SELECT id FROM passage WHERE {condition})",
        (binding,),
    )
