"""Finding an entity by the name that a caller gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.text.tokens import fold

if TYPE_CHECKING:
    import apsw

    from recollect.stores.sqlite.rows import Row

_LIVE = "scope_id = ? AND kind = 'entity' AND deleted_at IS NULL"
# Named, since the planner takes any index that knows the scope and the kind for as good.
FOLDED = "INDEXED BY entity_by_folded_name"


def exact_entity(connection: apsw.Connection, scope: int, name: str) -> int | None:
    row = connection.execute(f"SELECT id FROM memory WHERE {_LIVE} AND name = ?", (scope, name)).fetchone()
    return None if row is None else int(row[0])


def find_entity(connection: apsw.Connection, scope: int, name: str) -> int | None:
    """The live entity of exactly this name, else the only one that differs in case or accents."""
    exact = exact_entity(connection, scope, name)
    if exact is not None:
        return exact
    alike: list[Row] = list(
        connection.execute(
            f"SELECT id FROM memory {FOLDED} WHERE {_LIVE} AND folded_name = ? LIMIT 2", (scope, fold(name))
        )
    )
    return alike[0][0] if len(alike) == 1 else None


def like_named(connection: apsw.Connection, scope: int, name: str) -> list[str]:
    """Names that differ from this one in case or accents only."""
    rows = connection.execute(
        f"SELECT name FROM memory {FOLDED} WHERE {_LIVE} AND folded_name = ? ORDER BY id LIMIT 5",
        (scope, fold(name)),
    )
    return [other for (other,) in rows]
