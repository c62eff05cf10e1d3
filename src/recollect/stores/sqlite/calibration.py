"""What confidence asks of the store: how many texts hold a word, and what was learnt before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.records import Calibrated
from recollect.stores.sqlite import word_index
from recollect.stores.sqlite.rows import moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from recollect.records import Scope


def calibration(connection: apsw.Connection, scope: Scope, model: str) -> Calibrated | None:
    row = connection.execute(
        "SELECT at, memories, value FROM calibration "
        "WHERE scope_id = (SELECT id FROM scope WHERE owner = ? AND agent = ?) AND model = ?",
        (scope.owner, scope.agent, model),
    ).fetchone()
    return None if row is None else Calibrated(moment(row[0]), int(row[1]), str(row[2]))


def holders(connection: apsw.Connection, scope: int, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
    """A word that stands nowhere as it is counts as often as its stem does; scope 0 has no texts."""
    if not scope:
        return 0, {}
    texts, _ = word_index.size(connection, f"words_{scope}")
    return texts, word_index.holders(connection, scope, words)
