"""The REST API's table: which method and path calls which operation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal
from urllib.parse import unquote

from starlette.requests import Request

from recollect.domain.lazy_dataclass import dataclass
from recollect_server.problems import ProblemFound

# The table

ROOT = "/v1"
_PARAMETER = re.compile(r"\{(\w+)(?:=(\w+))?\}")

Resource = Literal["memory", "entity"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method and a path that call an operation.

    A part of the path such as `{id}`, the query of a GET, and the JSON body of the others are its arguments.
    """

    route: str
    """The method, and the path below `/v1`. `{id=ids}` in it is the operation's argument `ids`; where that
    is a list, its only entry."""
    operation: str
    tag: str = ""
    name: str = ""
    """Its id in the documentation, where a second endpoint calls the same operation."""
    resource: Resource | None = None
    """The kind of thing in the path: a GET answers with its ETag, and a change obeys `If-Match`."""
    location: str | None = None
    """Where to find what it creates, with the result's fields in braces; it answers 201 then."""
    takes_key: bool = False
    """Whether an `Idempotency-Key` keeps a retry from writing twice."""

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        return _PARAMETER.sub(r"{\1}", self.route.partition(" ")[2])

    @property
    def operation_id(self) -> str:
        return self.name or self.operation

    @property
    def takes_body(self) -> bool:
        return self.method in {"POST", "PUT", "PATCH"}

    @property
    def takes_query(self) -> bool:
        """Whether its arguments are in the query. A DELETE has those of its path alone."""
        return self.method == "GET"

    @property
    def arguments(self) -> dict[str, str]:
        return {name: argument or name for name, argument in _PARAMETER.findall(self.route)}


_BY_TAG = {
    "Search": (
        Endpoint("POST /recall", "recall"),
        Endpoint("POST /context", "context"),
        Endpoint("POST /explain", "explain"),
        Endpoint("POST /why-not", "why_not"),
        Endpoint("POST /feedback", "feedback"),
    ),
    "Memories": (
        Endpoint("GET /memories", "list_memories"),
        Endpoint("POST /memories", "remember", location="/memories/{id}", takes_key=True),
        Endpoint("GET /memories/{id}", "get_memory", resource="memory"),
        Endpoint("PATCH /memories/{id}", "update", resource="memory"),
        Endpoint("DELETE /memories/{id=ids}", "forget", resource="memory"),
        Endpoint("POST /memories/forget", "forget", name="forget_many"),
        Endpoint("POST /memories/batch", "remember_many", takes_key=True),
        Endpoint(
            "POST /memories/{id=old}/superseded-by",
            "supersede",
            name="supersede_by",
            resource="memory",
            takes_key=True,
        ),
        Endpoint("GET /memories/{id}/history", "history"),
        Endpoint("GET /browse", "browse"),
        Endpoint("GET /timeline", "timeline"),
        Endpoint("GET /tags", "list_tags"),
        Endpoint("GET /categories", "list_categories"),
        Endpoint("POST /memories/{id}/restore", "restore", resource="memory"),
        Endpoint(
            "POST /memories/{id=supersedes}/supersede",
            "remember",
            name="supersede",
            resource="memory",
            location="/memories/{id}",
            takes_key=True,
        ),
    ),
    "Sessions": (
        Endpoint("POST /sessions/{session}/messages", "add_messages", takes_key=True),
        Endpoint("DELETE /sessions/{session}", "clear_session"),
        Endpoint("GET /sessions", "list_sessions"),
        Endpoint("GET /sessions/{session}/messages", "session_messages"),
    ),
    "Reflections": (
        Endpoint("POST /reflections", "add_reflection", location="/memories/{id}"),
        Endpoint("POST /reflections/search", "search_reflections"),
    ),
    "Entities": (
        Endpoint("GET /entities", "search_nodes"),
        Endpoint("POST /entities", "create_entities", takes_key=True),
        Endpoint("POST /entities/search", "search_semantic"),
        Endpoint("GET /entities/list", "list_entities"),
        Endpoint("POST /entities/open", "open_nodes"),
        Endpoint("POST /entities/delete", "delete_entities"),
        Endpoint("GET /entities/{name=names}", "open_nodes", name="open_entity", resource="entity"),
        Endpoint(
            "DELETE /entities/{name=entityNames}", "delete_entities", name="delete_entity", resource="entity"
        ),
        Endpoint("PUT /entities/{name=entityName}/status", "set_status", resource="entity"),
        Endpoint("GET /entities/{name}/neighbours", "neighbours"),
        Endpoint("POST /observations", "add_observations", takes_key=True),
        Endpoint("POST /observations/delete", "delete_observations"),
    ),
    "Relations": (
        Endpoint("POST /relations", "create_relations", takes_key=True),
        Endpoint("POST /relations/end", "end_relation"),
        Endpoint("POST /relations/delete", "delete_relations"),
    ),
    "Graph": (
        Endpoint("GET /graph", "read_graph"),
        Endpoint("GET /graph/paths", "find_paths"),
    ),
    "Dreams": (
        Endpoint("POST /dreams", "dream"),
        Endpoint("POST /dreams/preview", "preview_dream"),
        Endpoint("POST /dreams/{id}/undo", "undo_dream"),
        Endpoint("GET /dreams", "list_dreams"),
        Endpoint("GET /dreams/{id}", "get_dream"),
    ),
    "Settle": (
        Endpoint("GET /settle/{kind}", "to_settle"),
        Endpoint("POST /settle", "settle"),
        Endpoint("POST /settle/undo", "undo_settling"),
    ),
    "Answers": (
        Endpoint("GET /answers", "list_answers"),
        Endpoint("GET /answers/{id}", "get_answer"),
        Endpoint("GET /answers/{id}/replay", "replay_answer"),
        Endpoint("POST /answers/empty", "empty_log"),
    ),
    "Quality": (
        Endpoint("POST /quality/self-test", "self_test"),
        Endpoint("GET /quality/confidence", "confidence_curve"),
    ),
    "Tuning": (
        Endpoint("GET /tuning", "tuning_state"),
        Endpoint("GET /tuning/analysis", "analyze_tuning"),
        Endpoint("GET /tuning/history", "tuning_history"),
        Endpoint("POST /tuning/run", "run_tuning"),
        Endpoint("POST /tuning/set", "set_numbers"),
        Endpoint("POST /tuning/reset", "reset_numbers"),
        Endpoint("POST /tuning/rollback", "rollback_tuning"),
    ),
    "Upkeep": (
        Endpoint("GET /stats", "stats"),
        Endpoint("GET /upkeep/report", "consolidation_report"),
        Endpoint("GET /upkeep/duplicates", "find_duplicate_observations"),
        Endpoint("GET /upkeep/splits", "find_split_candidates"),
        Endpoint("GET /entities/{name=entity_name}/split", "analyze_entity_split"),
        Endpoint("GET /entities/{name=entity_name}/split/proposal", "propose_entity_split"),
        Endpoint("POST /entities/{name=entity_name}/split", "execute_entity_split", resource="entity"),
        Endpoint("POST /upkeep/splits/undo", "undo_entity_split"),
        Endpoint("GET /upkeep/doctor", "doctor"),
        Endpoint("GET /upkeep/store", "store_state"),
        Endpoint("POST /upkeep/verify", "verify"),
        Endpoint("POST /upkeep/backup", "backup"),
        Endpoint("POST /upkeep/reindex", "reindex"),
        Endpoint("POST /upkeep/purge", "purge"),
        Endpoint("POST /upkeep/purge-forgotten", "purge_forgotten"),
        Endpoint("POST /upkeep/import", "import_text"),
        Endpoint("GET /upkeep/export", "export"),
        Endpoint("POST /upkeep/migrate", "migrate"),
    ),
    "Server": (
        Endpoint("GET /server/latencies", "latencies"),
        Endpoint("GET /tokens", "list_tokens"),
        Endpoint("POST /tokens", "create_token"),
        Endpoint("DELETE /tokens/{name}", "revoke_token"),
    ),
}
ENDPOINTS = tuple(replace(each, tag=tag) for tag, endpoints in _BY_TAG.items() for each in endpoints)


_TEMPLATES = [(each, each.path.split("/")[1:]) for each in ENDPOINTS]


# Matching a request


def match(request: Request) -> tuple[Endpoint, Mapping[str, str]]:
    """The endpoint, and what its path names.

    In the path as it was sent, a name may have a slash in it, written as %2F.
    """
    raw = request.scope.get("raw_path") or request.url.path.encode()
    parts = [unquote(part) for part in raw.decode("latin-1").partition("?")[0].split("/")[2:]]
    found = [each for each in _TEMPLATES if _fits(each[1], parts)]
    # A fixed word comes before a parameter.
    found.sort(key=lambda each: [part.startswith("{") for part in each[1]])
    method = "GET" if request.method == "HEAD" else request.method
    for endpoint, template in found:
        if endpoint.method == method:
            named = zip(template, parts, strict=True)
            return endpoint, {name[1:-1]: part for name, part in named if name.startswith("{")}
    if not found:
        raise ProblemFound(
            404, "not-found", f"The API has nothing at this path; /openapi.json lists what {ROOT} has."
        )
    allowed = ", ".join(sorted({endpoint.method for endpoint, _ in found}))
    raise ProblemFound(
        405, "method-not-allowed", f"This path takes {allowed}.", headers=(("Allow", allowed),)
    )


def _fits(template: Sequence[str], parts: Sequence[str]) -> bool:
    return len(template) == len(parts) and all(
        bool(part) if name.startswith("{") else name == part
        for name, part in zip(template, parts, strict=True)
    )
