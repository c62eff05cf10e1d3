"""Versions of a memory: whether somebody changed it since it was read."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from recollect.changes import (
    Change,
    DropLease,
    FlagSimilar,
    PutVectors,
    RecordUse,
    TakeLease,
    TellOnce,
    UseModel,
)
from recollect.errors import NotFound, Outdated
from recollect.retrieval.records import memories_by_id

if TYPE_CHECKING:
    from recollect.engine.writes.apply import Precondition
    from recollect.ports import Snapshot
    from recollect.records import Memory

# What the engine writes of its own accord before or after what a caller asked for.
_BOOKKEEPING = (PutVectors, UseModel, FlagSimilar, RecordUse, TellOnce, TakeLease, DropLease)
# What people say of a memory. What use and dreams make of it is none of their edits.
_EDITED = (
    *("id", "kind", "name", "type", "text", "category", "source", "session", "tags", "about", "happened_at"),
    *("importance", "importance_tag", "pinned", "status", "revisions"),
    *("superseded_by", "deleted_at", "expires_at", "metadata"),
)


def memory_version(memory: Memory) -> str:
    """The same until somebody edits the memory, in whatever process."""
    observations = [
        (one.id, one.content, one.kind, one.superseded_at, one.deleted_at) for one in memory.observations
    ]
    edited = repr([*(getattr(memory, name) for name in _EDITED), observations])
    return hashlib.blake2b(edited.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class ExpectedVersion:
    """The versions of a memory that a caller knows; the first change after that must find one of them."""

    def __init__(self, id_: int, versions: Collection[str]) -> None:
        self.id = id_
        self.versions = frozenset(versions)
        self.is_met = False
        """Set once the change is committed: what follows it finds what it wrote."""

    def precondition(self, changes: Sequence[Change]) -> Precondition | None:
        """What to check before these; None where they need no check."""
        if self.is_met or all(isinstance(change, _BOOKKEEPING) for change in changes):
            return None
        return self._check

    def _check(self, view: Snapshot) -> None:
        memory = memories_by_id(view, [self.id]).get(self.id)
        if memory is None:
            raise NotFound(f"There is no memory {self.id}.")
        if memory_version(memory) not in self.versions:
            raise Outdated(
                f"Memory {self.id} was changed since you read it. Nothing was written; read it again, and "
                "decide anew."
            )
