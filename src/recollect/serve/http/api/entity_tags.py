"""Entity tags: which version of a memory or an entity a client read, and which it expects to change."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from recollect.engine.versions import memory_version
from recollect.errors import NotFound
from recollect.serve.http.problems import ProblemDetails, ProblemFound
from recollect.serve.operations.paging import row_id

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.records import Memory
    from recollect.serve.http.api.endpoints import Resource

_TAG = re.compile(r'(W/)?"([^"]*)"')
_LONGEST = 2_000


def entity_tag(version: str, body: bytes) -> str:
    """The version, which an edit must match, and a digest of all that is shown, which may change without it:
    an entity is shown with its relations.
    """
    return f'"{version}-{hashlib.blake2b(body, digest_size=8).hexdigest()}"'


def is_known(if_none_match: str | None, tag: str) -> bool:
    """Whether the client has what this tag stands for."""
    if not if_none_match:
        return False
    return if_none_match.strip() == "*" or tag in {f'"{each[2]}"' for each in _TAG.finditer(if_none_match)}


def expected_versions(if_match: str) -> tuple[str, ...] | None:
    """The versions that a client expects; None: any. A weak tag stands for none."""
    if if_match.strip() == "*":
        return None
    found = list(_TAG.finditer(if_match[:_LONGEST]))
    if not found:
        raise ProblemFound(
            ProblemDetails(
                400,
                "bad-request",
                "`If-Match` takes the ETag of an earlier answer, with its quotation marks, or *. "
                "Nothing was done.",
            )
        )
    return tuple(each[2].partition("-")[0] for each in found if not each[1])


def named_memory(engine: Engine, resource: Resource, name: str) -> Memory:
    """The memory that a path names, by its id or as an entity."""
    id_ = row_id(name) if resource == "memory" else engine.graph.entity_id(name)
    memory = None if id_ is None else engine.get(id_)
    if memory is None:
        raise NotFound(f"There is no memory {name[:80]}.")
    return memory


def version_of(engine: Engine, resource: Resource, name: str) -> str:
    return memory_version(named_memory(engine, resource, name))


def expecting(engine: Engine, resource: Resource, name: str, if_match: str) -> Engine:
    """The engine for one change, which fails where the version is another one by then."""
    versions = expected_versions(if_match)
    memory = named_memory(engine, resource, name)
    return engine if versions is None else engine.upkeep.expecting(memory.id, versions)
