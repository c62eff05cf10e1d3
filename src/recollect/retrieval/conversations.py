"""Conversations as a store holds them: which there are, their turns, and where a message stands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from recollect.conditions import Compares, Condition, Equals, KeyIn, OneOf, is_null, is_set
from recollect.ports import Snapshot
from recollect.records import Memory, Session
from recollect.retrieval.filters import allowed
from recollect.retrieval.records import memories_where, moment

if TYPE_CHECKING:
    from recollect.query import Filter


def sessions_of(snapshot: Snapshot, scope: int) -> list[Session]:
    """The conversations of a scope, the one with the newest turn first."""
    rows = snapshot.rows(
        "memory",
        ("session", "created_at", "speaker", "role"),
        (
            Equals("scope_id", scope),
            Equals("kind", "message"),
            is_set("session"),
            is_null("deleted_at"),
        ),
        order=("session", "position"),
    )
    times: dict[str, list[int]] = {}
    speakers: dict[str, dict[str, None]] = {}
    for session, created_at, speaker, role in rows:
        times.setdefault(session, []).append(created_at)
        if speaker is not None or role is not None:
            speakers.setdefault(session, {})[speaker if speaker is not None else role] = None
    return [
        Session(name, len(at), moment(min(at)), moment(max(at)), tuple(speakers.get(name, ())))
        for name, at in sorted(times.items(), key=lambda pair: (-max(pair[1]), pair[0]))
    ]


def turns_of(snapshot: Snapshot, scope: int, session: str, first: int, last: int) -> list[Memory]:
    """The messages of a session at these positions, both included, in order; forgotten ones left out."""
    return memories_where(
        snapshot,
        (
            Equals("scope_id", scope),
            Equals("session", session),
            Equals("kind", "message"),
            Compares("position", ">=", first),
            Compares("position", "<=", last),
            is_null("deleted_at"),
        ),
        order=("position", "id"),
    )


def last_positions(snapshot: Snapshot, scope: int, sessions: Sequence[str]) -> dict[str, int]:
    """The position of each session's last message."""
    rows = snapshot.rows(
        "memory",
        ("session", "position"),
        (Equals("scope_id", scope), is_set("position")),
        order=("position",),
        newest_first=True,
        limit=1,
        each=OneOf("session", sessions),
    )
    return {session: position for session, position in rows}  # noqa: C416  # a row is of any length


def messages_at(scope: int, places: Sequence[tuple[str, int]], where: Filter) -> tuple[Condition, ...]:
    """Conditions: the messages at these places of their conversations that the filter lets through."""
    return (
        Equals("scope_id", scope),
        KeyIn(("session", "position"), places),
        Equals("kind", "message"),
        *allowed(where, [scope])[1:],
    )


@lru_cache(maxsize=1 << 16)
def conversation(scope: int, session: str) -> int:
    """A number that stands for a conversation, never 0."""
    return int.from_bytes(blake2b(f"{scope}:{session}".encode(), digest_size=7).digest(), "big") + 1
