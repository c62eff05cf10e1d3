"""Entities one relation away from those that a query names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.records import Found
from recollect.stores.sqlite.rows import many
from recollect.stores.sqlite.standing import allowed
from recollect.stores.sqlite.write.mentions import named_in
from recollect.text.stems import coarse_stem
from recollect.text.tokens import content_words, words

if TYPE_CHECKING:
    import apsw

    from recollect.records import Filter

# Of an entity that is tied to everything, the relations that were made last.
_MOST_RELATIONS = 1_000
# What an entity gets whose relation the query does not speak of: it may be asked for all the same.
_UNSAID = 0.25


def linked(connection: apsw.Connection, scope: int, text: str, where: Filter, now: int) -> list[Found]:
    """Whom the named ones are tied to by relations in force: 1 where the query says the relation, in part so
    much as it says of it, and a quarter at the least. The named ones themselves are left out."""
    named = named_in(connection, scope, text)
    if not named:
        return []
    condition, bindings = allowed(where, [scope])
    rows = connection.execute(
        "SELECT m.id, r.type FROM (SELECT id, target_id AS other, type, until, deleted_at, created_at "
        "FROM relation WHERE source_id IN (SELECT value FROM json_each(?1)) "
        "UNION ALL SELECT id, source_id, type, until, deleted_at, created_at "
        "FROM relation WHERE target_id IN (SELECT value FROM json_each(?1))) AS r "
        "JOIN memory AS m ON m.id = r.other "
        "WHERE r.deleted_at IS NULL AND r.created_at <= ?2 AND (r.until IS NULL OR r.until > ?2) "
        f"AND m.id NOT IN (SELECT value FROM json_each(?1)) AND {_numbered(condition)} "
        f"ORDER BY r.id DESC LIMIT {_MOST_RELATIONS}",
        (many(sorted(named)), now, *bindings),
    )
    said = {coarse_stem(word) for word in words(text)}
    best: dict[int, float] = {}
    for id_, type_ in rows:
        best[id_] = max(best.get(id_, 0.0), _UNSAID, _share_said(type_, said))
    return [Found(id_, share) for id_, share in best.items()]


def _share_said(type_: str, said: set[str]) -> float:
    """How much of a relation's type, `worked_with`, a query says."""
    telling = {coarse_stem(word) for word in content_words(type_.replace("_", " "))}
    return len(telling & said) / len(telling) if telling else 0.0


def _numbered(condition: str) -> str:
    """A condition whose marks follow on the two that are numbered."""
    parts = condition.split("?")
    return "".join(f"{part}?{place}" for place, part in enumerate(parts[:-1], start=3)) + parts[-1]
