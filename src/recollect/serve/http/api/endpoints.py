"""The REST API's table: which method and path calls which operation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from recollect.lazy_dataclass import dataclass

ROOT = "/v1"
_PARAMETER = re.compile(r"\{(\w+)\}")

Resource = Literal["memory", "entity"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method and a path that call an operation.

    A part of the path such as `{id}`, the query of a GET, and the JSON body of the others are its arguments.
    """

    method: str
    path: str
    """Below `/v1`."""
    operation: str
    tag: str
    """The heading in the documentation."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """For a part of the path whose argument has another name, that name. An argument that is a list gets it
    as its only entry."""
    resource: Resource | None = None
    """What the path names: a GET of it answers with an ETag, and a change of it heeds `If-Match`."""
    location: str | None = None
    """Where to find what it creates, with the result's fields in braces; it answers 201 then."""
    takes_key: bool = False
    """Whether an `Idempotency-Key` keeps a retry from writing twice."""
    name: str = ""
    """Its id in the documentation, where a second endpoint calls the same operation."""

    @property
    def operation_id(self) -> str:
        return self.name or self.operation

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names in the path."""
        return tuple(_PARAMETER.findall(self.path))

    def argument(self, parameter: str) -> str:
        return self.arguments.get(parameter, parameter)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("POST", "/recall", "recall", "Search"),
    Endpoint("POST", "/context", "context", "Search"),
    Endpoint("POST", "/explain", "explain", "Search"),
    Endpoint("POST", "/why-not", "why_not", "Search"),
    Endpoint("POST", "/why-not/full", "why_not_in_full", "Search"),
    Endpoint("POST", "/feedback", "feedback", "Search"),
    Endpoint("GET", "/memories", "list_memories", "Memories"),
    Endpoint("POST", "/memories", "remember", "Memories", location="/memories/{id}", takes_key=True),
    Endpoint("GET", "/memories/{id}", "get_memory", "Memories", resource="memory"),
    Endpoint("PATCH", "/memories/{id}", "update", "Memories", resource="memory"),
    Endpoint("DELETE", "/memories/{id}", "forget", "Memories", {"id": "ids"}, "memory"),
    Endpoint("POST", "/memories/forget", "forget", "Memories", name="forget_many"),
    Endpoint("POST", "/memories/batch", "remember_many", "Memories", takes_key=True),
    Endpoint(
        "POST",
        "/memories/{id}/superseded-by",
        "supersede",
        "Memories",
        {"id": "old"},
        "memory",
        takes_key=True,
        name="supersede_by",
    ),
    Endpoint("GET", "/memories/{id}/history", "history", "Memories"),
    Endpoint("GET", "/browse", "browse", "Memories"),
    Endpoint("GET", "/timeline", "timeline", "Memories"),
    Endpoint("GET", "/tags", "list_tags", "Memories"),
    Endpoint("GET", "/categories", "list_categories", "Memories"),
    Endpoint("POST", "/memories/{id}/restore", "restore", "Memories", resource="memory"),
    Endpoint(
        "POST",
        "/memories/{id}/supersede",
        "remember",
        "Memories",
        {"id": "supersedes"},
        "memory",
        "/memories/{id}",
        takes_key=True,
        name="supersede",
    ),
    Endpoint("POST", "/sessions/{session}/messages", "add_messages", "Sessions", takes_key=True),
    Endpoint("DELETE", "/sessions/{session}", "clear_session", "Sessions"),
    Endpoint("GET", "/sessions", "list_sessions", "Sessions"),
    Endpoint("GET", "/sessions/{session}/messages", "session_messages", "Sessions"),
    Endpoint("POST", "/reflections", "add_reflection", "Reflections", location="/memories/{id}"),
    Endpoint("POST", "/reflections/search", "search_reflections", "Reflections"),
    Endpoint("GET", "/entities", "search_nodes", "Entities"),
    Endpoint("POST", "/entities", "create_entities", "Entities", takes_key=True),
    Endpoint("POST", "/entities/search", "search_semantic", "Entities"),
    Endpoint("GET", "/entities/list", "list_entities", "Entities"),
    Endpoint("POST", "/entities/open", "open_nodes", "Entities"),
    Endpoint("POST", "/entities/delete", "delete_entities", "Entities"),
    Endpoint(
        "GET", "/entities/{name}", "open_nodes", "Entities", {"name": "names"}, "entity", name="open_entity"
    ),
    Endpoint(
        "DELETE",
        "/entities/{name}",
        "delete_entities",
        "Entities",
        {"name": "entityNames"},
        "entity",
        name="delete_entity",
    ),
    Endpoint("PUT", "/entities/{name}/status", "set_status", "Entities", {"name": "entityName"}, "entity"),
    Endpoint("GET", "/entities/{name}/neighbours", "neighbours", "Entities"),
    Endpoint("POST", "/observations", "add_observations", "Entities", takes_key=True),
    Endpoint("POST", "/observations/delete", "delete_observations", "Entities"),
    Endpoint("POST", "/relations", "create_relations", "Relations", takes_key=True),
    Endpoint("POST", "/relations/end", "end_relation", "Relations"),
    Endpoint("POST", "/relations/delete", "delete_relations", "Relations"),
    Endpoint("GET", "/graph", "read_graph", "Graph"),
    Endpoint("GET", "/graph/paths", "find_paths", "Graph"),
    Endpoint("POST", "/dreams", "dream", "Dreams"),
    Endpoint("POST", "/dreams/preview", "preview_dream", "Dreams"),
    Endpoint("POST", "/dreams/{id}/undo", "undo_dream", "Dreams"),
    Endpoint("GET", "/dreams", "list_dreams", "Dreams"),
    Endpoint("GET", "/dreams/forecast", "forecast", "Dreams"),
    Endpoint("GET", "/dreams/{id}", "get_dream", "Dreams"),
    Endpoint("GET", "/settle/{kind}", "to_settle", "Settle"),
    Endpoint("POST", "/settle", "settle", "Settle"),
    Endpoint("POST", "/settle/undo", "undo_settling", "Settle"),
    Endpoint("GET", "/answers", "list_answers", "Answers"),
    Endpoint("GET", "/answers/{id}", "get_answer", "Answers"),
    Endpoint("GET", "/answers/{id}/replay", "replay_answer", "Answers"),
    Endpoint("POST", "/answers/empty", "empty_log", "Answers"),
    Endpoint("POST", "/quality/self-test", "self_test", "Quality"),
    Endpoint("GET", "/quality/confidence", "confidence_curve", "Quality"),
    Endpoint("GET", "/tuning", "tuning_state", "Tuning"),
    Endpoint("GET", "/tuning/analysis", "analyze_tuning", "Tuning"),
    Endpoint("GET", "/tuning/history", "tuning_history", "Tuning"),
    Endpoint("POST", "/tuning/run", "run_tuning", "Tuning"),
    Endpoint("POST", "/tuning/set", "set_numbers", "Tuning"),
    Endpoint("POST", "/tuning/reset", "reset_numbers", "Tuning"),
    Endpoint("POST", "/tuning/rollback", "rollback_tuning", "Tuning"),
    Endpoint("GET", "/stats", "stats", "Upkeep"),
    Endpoint("GET", "/upkeep/report", "consolidation_report", "Upkeep"),
    Endpoint("GET", "/upkeep/duplicates", "find_duplicate_observations", "Upkeep"),
    Endpoint("GET", "/upkeep/splits", "find_split_candidates", "Upkeep"),
    Endpoint("GET", "/entities/{name}/split", "analyze_entity_split", "Upkeep", {"name": "entity_name"}),
    Endpoint(
        "GET", "/entities/{name}/split/proposal", "propose_entity_split", "Upkeep", {"name": "entity_name"}
    ),
    Endpoint(
        "POST", "/entities/{name}/split", "execute_entity_split", "Upkeep", {"name": "entity_name"}, "entity"
    ),
    Endpoint("POST", "/upkeep/splits/undo", "undo_entity_split", "Upkeep"),
    Endpoint("GET", "/upkeep/doctor", "doctor", "Upkeep"),
    Endpoint("GET", "/upkeep/store", "store_state", "Upkeep"),
    Endpoint("POST", "/upkeep/verify", "verify", "Upkeep"),
    Endpoint("POST", "/upkeep/backup", "backup", "Upkeep"),
    Endpoint("POST", "/upkeep/reindex", "reindex", "Upkeep"),
    Endpoint("POST", "/upkeep/purge", "purge", "Upkeep"),
    Endpoint("POST", "/upkeep/purge-forgotten", "purge_forgotten", "Upkeep"),
    Endpoint("POST", "/upkeep/import", "import_text", "Upkeep"),
    Endpoint("GET", "/upkeep/export", "export", "Upkeep"),
    Endpoint("POST", "/upkeep/migrate", "migrate", "Upkeep"),
    Endpoint("GET", "/server/latencies", "latencies", "Server"),
    Endpoint("GET", "/tokens", "list_tokens", "Server"),
    Endpoint("POST", "/tokens", "create_token", "Server"),
    Endpoint("DELETE", "/tokens/{name}", "revoke_token", "Server"),
)
"""Every endpoint, by tag."""
