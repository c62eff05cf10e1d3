"""What the full-text indexes hold of each memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.stores.sqlite import word_index
from recollect.stores.sqlite.rows import many
from recollect.stores.sqlite.word_index import Document

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw


def documents(connection: apsw.Connection, ids: Sequence[int]) -> list[Document]:
    """One for each of these memories that is live and in force."""
    rows = connection.execute(
        "SELECT m.id, CASE m.kind WHEN 'entity' THEN m.name ELSE coalesce(m.speaker, '') END, m.type, "
        "CASE m.kind WHEN 'entity' THEN coalesce((SELECT group_concat(content, ' | ') FROM ("
        "SELECT content FROM observation AS o WHERE o.memory_id = m.id AND o.deleted_at IS NULL "
        "AND o.superseded_at IS NULL ORDER BY o.id)), '') ELSE m.text END "
        "FROM memory AS m WHERE m.deleted_at IS NULL AND m.superseded_at IS NULL "
        "AND m.id IN (SELECT value FROM json_each(?))",
        (many(ids),),
    )
    return [Document(*row) for row in rows]


def index_words(connection: apsw.Connection, scope: int, ids: Sequence[int]) -> None:
    """Bring the scope's indexes into step with these memories. Doing it twice changes nothing."""
    live = documents(connection, ids)
    gone = set(ids) - {document.id for document in live}
    word_index.write(connection, scope, live)
    word_index.erase(connection, scope, sorted(gone))
