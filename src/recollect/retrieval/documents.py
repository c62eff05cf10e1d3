"""What the index of words holds of each memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recollect.conditions import IN_FORCE, OneOf, Where
from recollect.ports import Snapshot
from recollect.records import Kind

_KINDS = {kind.value: kind for kind in Kind}


class Document(NamedTuple):
    """What the index of words holds of one memory."""

    id: int
    kind: Kind
    name: str
    type: str
    body: str


def documents(
    snapshot: Snapshot,
    ids: Sequence[int],
    where: Where = IN_FORCE,
    observed: Where = IN_FORCE,
    former: Mapping[int, str] | None = None,
) -> list[Document]:
    """Of those of these memories that are in force, or of another moment, with the texts that they had."""
    columns = ("id", "kind", "name", "type", "speaker", "text")
    rows = snapshot.rows("memory", columns, (OneOf("id", ids), *where))
    entities = [id_ for id_, kind, *_ in rows if kind == Kind.ENTITY]
    contents: dict[int, list[str]] = {}
    if entities:
        for memory, content in snapshot.rows(
            "observation",
            ("memory_id", "content"),
            (OneOf("memory_id", entities), *observed),
            order=("memory_id", "id"),
        ):
            contents.setdefault(memory, []).append(content)
    return [
        Document(id_, Kind.ENTITY, name, type_, " | ".join(contents.get(id_, ())))
        if kind == Kind.ENTITY
        else Document(id_, _KINDS[kind], speaker or "", type_, (former or {}).get(id_, text))
        for id_, kind, name, type_, speaker, text in rows
    ]
