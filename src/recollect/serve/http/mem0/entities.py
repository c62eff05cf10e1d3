"""mem0's entities: the users and agents that have memories, and how to be rid of all of one, or of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, NotFound
from recollect.serve.http.mem0.notes import forget_run

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.records import Scope
    from recollect.serve.http.caller import Caller
    from recollect.serve.http.mem0.rows import Mem0Row

_KINDS = ("user", "agent", "app", "run")


def entities(caller: Caller, memory: Engine) -> Mem0Row:
    """Users and agents with the number of their notes, by name."""
    counts: dict[tuple[str, str], int] = {}
    for scope, notes in _seen(caller, memory).items():
        for kind, name in (("user", scope.owner), ("agent", scope.agent)):
            if name:
                counts[kind, name] = counts.get((kind, name), 0) + notes
    rows = [
        {"id": name, "name": name, "type": kind, "total_memories": count}
        for (kind, name), count in sorted(counts.items(), key=lambda each: (each[0][0] != "user", each[0]))
    ]
    return {"count": len(rows), "next": None, "previous": None, "results": rows}


def delete_entity(caller: Caller, memory: Engine, kind: str, name: str) -> Mem0Row:
    """Forget all that a user or an agent has, or a run; nothing is wrong where there is nothing left."""
    if kind not in _KINDS:
        raise NotFound(f"There is no kind of entity {kind[:40]!r}; there are: {', '.join(_KINDS)}.")
    if kind == "app":
        raise InvalidInput("An app is metadata here; `delete_all(app_id=…)` deletes what has it.")
    count = 0
    for scope in _seen(caller, memory):
        own = memory.scoped(scope.owner, scope.agent)
        if kind == "run":
            count += forget_run(own, name)
        elif name == (scope.owner if kind == "user" else scope.agent):
            count += own.upkeep.forget_all()
    return {"message": f"{count} memories were deleted; `recollect restore` brings each back."}


def reset(caller: Caller, memory: Engine) -> Mem0Row:
    """Forget everything that the caller sees. Nothing is destroyed."""
    seen = _seen(caller, memory)
    count = sum(memory.scoped(scope.owner, scope.agent).upkeep.forget_all() for scope in seen)
    return {"message": f"{count} memories were deleted; `recollect restore` brings each back."}


def _seen(caller: Caller, memory: Engine) -> dict[Scope, int]:
    """The scopes that a caller sees, with the number of their notes."""
    return {
        scope: notes
        for scope, notes in memory.upkeep.notes_by_scope().items()
        if caller.scope is None
        or (scope.owner == caller.scope.owner and caller.scope.agent in (None, scope.agent))
    }
