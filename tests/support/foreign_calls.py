"""Bob's memory, and calls of every operation with his names and ids, which must reveal nothing to others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine import Engine

ForeignCall = tuple[str, dict[str, Any]]
"""The name of an operation and its arguments."""
SECRET = "zanzibar"  # noqa: S105  # a word to look for
"""Is in every text of Bob's, and in nothing that the calls say."""
_ACTIONS = ("supersede_older", "forget_older", "remove_newer", "keep")
_RELATION = {"from": "Pantry", "to": "House", "relationType": "is in"}


@dataclass(frozen=True)
class Bobs:
    """Names and ids of Bob's memories."""

    note: int
    forgotten: int
    message: int
    entity: int
    dream: int
    undo: dict[str, Any]
    """Takes back a split."""


def fill_bobs(engine: Engine) -> Bobs:
    """Bob's memory; `engine` is anybody's of the same store."""
    bob = engine.scoped("bob")
    note = bob.remember(f"The key to {SECRET} is under the mat", tags=["key"]).id
    bob.update(note, text=f"The key to {SECRET} is under the flower pot")
    forgotten = bob.remember(f"Forgotten {SECRET}").id
    bob.forget([forgotten])
    bob.create_entities(
        [
            {
                "name": "Pantry",
                "type": "room",
                "observations": [f"holds {each} {SECRET}" for each in ("rice", "tea", "flour", "the safe")],
            },
            {"name": "House", "type": "place", "observations": [f"stands in {SECRET}"]},
        ]
    )
    bob.graph.create_relations([("Pantry", "is in", "House")])
    bob.add_messages("kitchen", [{"content": f"Meet me in {SECRET}", "speaker": "Bob"}], extract=False)
    bob.upkeep.add_reflection(f"I miss {SECRET}", about=["Pantry"], session="kitchen")
    bob.recall("key")
    split = bob.upkeep.execute_split(
        "House", [{"name": "Attic", "observations": [f"stands in {SECRET}"], "type": "room"}]
    )
    dream = bob.dream()
    (message,) = bob.sessions.turns("kitchen")
    (pantry,) = bob.graph.open_nodes(["Pantry"]).entities
    return Bobs(note, forgotten, message.id, pantry.id, dream.id or 1, asdict(split.undo))


def foreign_calls(bobs: Bobs) -> list[ForeignCall]:
    """Every operation at least once; those that read, before and after those that write."""
    ids = [bobs.note, bobs.forgotten, bobs.message, bobs.entity]
    reads: list[ForeignCall] = [
        ("recall", {"query": "key", "limit": 50, "include_superseded": True}),
        ("recall", {"query": "meet", "session": "kitchen"}),
        ("context", {"query": "where is the key", "session": "kitchen"}),
        *(("history", {"id": each}) for each in ids),
        ("read_graph", {}),
        ("search_nodes", {"query": "rice"}),
        ("open_nodes", {"names": ["Pantry", "House", "Attic"], "include_superseded": True}),
        ("search_semantic", {"query": "rice", "limit": 50}),
        ("list_memories", {"kinds": ["note", "entity", "message"], "include_superseded": True}),
        ("list_memories", {"session": "kitchen"}),
        ("explain", {"query": "key"}),
        *(("why_not", {"query": "key", "id": each}) for each in ids),
        ("why_not", {"query": "rice", "name": "Pantry"}),
        ("neighbours", {"name": "Pantry", "depth": 3}),
        ("find_paths", {"from": "Pantry", "to": "House"}),
        ("stats", {}),
        ("search_reflections", {"query": "I miss", "session": "kitchen"}),
        ("search_reflections", {"query": "I miss", "about": "Pantry", "relation": _RELATION}),
        ("find_duplicate_observations", {"entity_name": "Pantry", "threshold": 0.1}),
        ("find_duplicate_observations", {}),
        ("consolidation_report", {"stale_days": 1}),
        ("find_split_candidates", {}),
        ("analyze_entity_split", {"entity_name": "Pantry"}),
        ("propose_entity_split", {"entity_name": "Pantry"}),
    ]
    writes: list[ForeignCall] = [
        *(("update", {"id": each, "text": "mine now", "pinned": True}) for each in ids),
        ("remember", {"text": "a better key", "supersedes": bobs.note}),
        ("remember", {"text": "about the room", "about": ["Pantry"]}),
        ("forget", {"ids": ids}),
        ("forget", {"query": "key"}),
        *(("restore", {"id": each}) for each in ids),
        ("feedback", {"helpful": True, "ids": ids, "query": "key"}),
        ("feedback", {"helpful": False, "names": ["Pantry"]}),
        ("add_observations", {"observations": [{"entityName": "Pantry", "contents": ["is mine"]}]}),
        ("create_relations", {"relations": [_RELATION]}),
        ("end_relation", _RELATION),
        ("delete_relations", {"relations": [_RELATION]}),
        ("set_status", {"entityName": "Pantry", "status": "archived"}),
        ("add_reflection", {"content": "hm", "about": ["Pantry"]}),
        ("add_reflection", {"content": "hm", "session": "kitchen", "relation": _RELATION}),
        (
            "execute_entity_split",
            {
                "entity_name": "Pantry",
                "approved_splits": [{"name": "Shelf", "observations": ["holds the safe"]}],
            },
        ),
        ("undo_entity_split", {"undo": bobs.undo}),
        ("undo_dream", {"id": bobs.dream}),
        ("migrate", {"source_path": "/etc/hostname"}),
        ("dream", {}),
        ("delete_observations", {"deletions": [{"entityName": "Pantry", "observations": ["holds tea"]}]}),
        ("clear_session", {"session": "kitchen"}),
        ("delete_entities", {"entityNames": ["Pantry", "House", "Attic"]}),
        # From here on, the caller has what is named as Bob's is.
        ("add_messages", {"session": "kitchen", "messages": [{"content": "Anyone here?"}]}),
        ("create_entities", {"entities": [{"name": "Pantry", "entityType": "x", "observations": ["mine"]}]}),
        ("create_entities", {"entities": [{"name": "House", "entityType": "x", "observations": []}]}),
    ]
    return [*reads, *writes, *reads]


def http_foreign_calls(bobs: Bobs, answers: Sequence[int], settle_keys: Sequence[str]) -> list[ForeignCall]:
    """The same of those that only HTTP offers."""
    ids = [bobs.note, bobs.forgotten, bobs.message, bobs.entity]
    reads: list[ForeignCall] = [
        *(("get_memory", {"id": each, "showings": 10}) for each in ids),
        ("browse", {"state": "all", "entity": bobs.entity}),
        ("browse", {"state": "all", "session": "kitchen"}),
        ("browse", {"state": "all", "contains": "key", "limit": 50}),
        ("timeline", {"state": "all", "unit": "day"}),
        ("list_tags", {}),
        ("list_categories", {}),
        ("list_sessions", {}),
        ("session_messages", {"session": "kitchen"}),
        ("list_entities", {"contains": "Pantry"}),
        ("list_dreams", {}),
        ("get_dream", {"id": bobs.dream}),
        *(
            ("to_settle", {"kind": kind, "dismissed": True})
            for kind in ("contradiction", "similar_notes", "similar_observations", "split", "stale")
        ),
        ("list_answers", {"memory": bobs.note}),
        *((name, {"id": each}) for name in ("get_answer", "replay_answer") for each in answers),
        ("self_test", {"sample": 5}),
        ("confidence_curve", {}),
        ("tuning_state", {}),
        ("analyze_tuning", {}),
        ("tuning_history", {}),
        ("doctor", {}),
        ("store_state", {}),
        ("export", {"format": "full"}),
        ("why_not", {"query": "key", "id": bobs.note, "detail": True}),
        ("preview_dream", {}),
        ("latencies", {}),
        ("list_tokens", {}),
    ]
    undo = {"action": "forget_older", "memories": ids, "observations": [1, 2, 3]}
    writes: list[ForeignCall] = [
        ("remember_many", {"notes": [{"text": "about the room", "about": ["Pantry"]}], "keep_going": True}),
        *(("supersede", {"old": each, "text": "mine now"}) for each in ids),
        ("supersede", {"old": bobs.note, "by": bobs.message}),
        *(("settle", {"key": key, "action": action}) for key in settle_keys for action in _ACTIONS),
        *(("undo_settling", {"undo": {**undo, "key": key}}) for key in settle_keys),
        ("run_tuning", {"dry_run": True}),
        ("set_numbers", {"numbers": [], "dry_run": True}),
        ("reset_numbers", {"dry_run": True}),
        ("rollback_tuning", {"dry_run": True}),
        ("empty_log", {}),
        ("verify", {"quick": True}),
        ("backup", {}),
        ("reindex", {}),
        ("purge", {"ids": ids}),
        ("purge_forgotten", {"before": "2100-01-01"}),
        ("create_token", {"name": "more", "right": "admin"}),
        ("revoke_token", {"name": "bob"}),
        ("import_text", {"jsonl": '{"type": "entity", "name": "Pantry", "entityType": "x"}'}),
    ]
    return [*reads, *writes, *reads]
