"""The log by which caches learn of the deaths and returns of vectors, and passages that wait for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from recollect.conditions import Value

# Caches that are further behind than this many deaths and returns are quicker rebuilt than caught up.
_LOG_LIMIT = 50_000


def log_lives(connection: apsw.Connection, condition: str, bindings: Sequence[Value]) -> None:
    """Log the vectors of passages that die, come back or vanish; `condition` is SQL on the row `r`."""
    connection.execute(
        "INSERT INTO vector_life(vector_id) SELECT v.id FROM passage AS p "
        "JOIN vector AS v ON v.passage_id = p.id "
        f"WHERE p.id IN (SELECT r.id FROM passage AS r WHERE {condition})",
        bindings,
    )


def trim_log(connection: apsw.Connection) -> None:
    connection.execute(
        "DELETE FROM vector_life WHERE seq <= (SELECT max(seq) FROM vector_life) - ?", (_LOG_LIMIT,)
    )


def add_passage(
    connection: apsw.Connection, memory: int, observation: int | None, span: tuple[int, int]
) -> None:
    connection.execute(
        "INSERT INTO passage(memory_id, observation_id, start, stop) VALUES (?, ?, ?, ?)",
        (memory, observation, *span),
    )


def queue_missing(connection: apsw.Connection) -> None:
    """Find anew which passages lack a vector of the model in use."""
    connection.execute("DELETE FROM due")
    connection.execute(
        "INSERT INTO due SELECT p.id FROM passage AS p WHERE NOT EXISTS (SELECT 1 FROM vector AS v "
        "JOIN model ON model.id = v.model_id WHERE v.passage_id = p.id AND model.in_use = 1)"
    )
