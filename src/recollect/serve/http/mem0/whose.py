"""Whose memory a request of mem0's clients is about: `user_id` is our owner, `agent_id` our agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, NotFound
from recollect.records import Kind, Memory
from recollect.text.limits import clean_name

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.serve.http.caller import Caller
    from recollect.serve.http.mem0.filters import UserAndAgent

_MOST_PLACES = 20
_LONGEST_ID = 18


def memory_of_user(caller: Caller, memory: Engine, user: str | None, agent: str | None) -> Engine:
    """The memory of a user, or of one of their agents.

    Without an agent, what all agents of the user keep is read, and what is written belongs to none. A token
    that is bound to a scope sees that one alone.
    """
    user = None if user is None else clean_name(user, "user_id")
    agent = None if agent is None else clean_name(agent, "agent_id")
    if caller.scope is not None:
        return caller.engine(memory, user, agent)
    return memory.scoped(memory.scope.owner if user is None else user, agent)


def memories_at(caller: Caller, memory: Engine, asked: Iterable[UserAndAgent]) -> list[Engine]:
    """The memories in which to look for what a filter asks for, each scope once."""
    found: list[Engine] = []
    for user, agent in sorted(asked, key=lambda place: (place[0] or "", place[1] or "")):
        if user is None and agent is not None and caller.scope is None:
            # An agent that is named without a user may work for several.
            scopes = [scope for scope in memory.upkeep.notes_by_scope() if scope.agent == agent]
            found += [memory.scoped(scope.owner, scope.agent) for scope in scopes]
        else:
            found.append(memory_of_user(caller, memory, user, agent))
        if len(found) > _MOST_PLACES:
            raise InvalidInput(
                f"This asks for the memories of more than {_MOST_PLACES} users; name fewer with `user_id`."
            )
    wider = {each.scope.owner for each in found if each.scope.agent is None}
    kept = {each.scope: each for each in found if each.scope.agent is None or each.scope.owner not in wider}
    return list(kept.values())


def note_and_memory(
    caller: Caller, memory: Engine, given: str, *, forgotten: bool = False
) -> tuple[Memory, Engine]:
    """The note of an id, and the memory that it is in. mem0's clients name no user beside an id."""
    id_ = int(given) if given.isascii() and given.isdigit() and len(given) <= _LONGEST_ID else 0
    own = memory
    if caller.scope is None:
        scope = memory.upkeep.scope_of_memory(id_)
        own = memory if scope is None else memory.scoped(scope.owner, scope.agent)
    note = own.get(id_)
    is_gone = note is not None and note.deleted_at is not None and not forgotten
    if note is None or is_gone or note.kind is not Kind.NOTE:
        raise NotFound(f"There is no memory {given[:40]!r}; `get_all` lists those there are.")
    return note, own
