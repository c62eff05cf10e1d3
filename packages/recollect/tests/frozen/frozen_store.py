"""A store file that an earlier version wrote, and the facts that it must still tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import calls
from calls import PROFILE_NAMES, Clock, Memory, at, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE = "store-v5.db.gz"
MODEL = "potion"
NOW = "2026-03-01T12:00:00+00:00"
PAST = ("2025-11-20T00:00:00+00:00", "2026-01-10T00:00:00+00:00")
KEPT_DREAM = 3
"""The last one. The one before it was undone, and the first one stays."""
KEYED_NOTE = {"text": "The ferry to Tangier leaves at seven.", "tags": ["ferry"], "importance": 0.7}
KEYED_ENTITY = {"name": "Estrella", "type": "ferry", "observations": ["Sails to Tangier", "Built in 1999"]}
KEYED_TURNS = [
    {"role": "user", "speaker": "Anna", "content": "Please book the ferry for Friday.", "at": at(NOW)},
    {"role": "assistant", "content": "Done: two seats on Friday."},
]
OTHERS = "anna"
QUERIES = (
    "who maintains Tidebook?",
    "what is Marisol allergic to",
    "gate code of the harbour",
    "ferry to Tangier",
    "la caldera de la oficina",
    "what did we decide about the crane in December",
)


def _keyed() -> dict[str, Any]:
    return {**KEYED_NOTE, "key": "a key for a note"}


# Reads


def opened(path: Path) -> Memory:
    return calls.open_memory(path, Clock(at(NOW)), session="today", model=MODEL)


def _recalls(memory: Memory) -> list[Any]:
    asked = [
        (query, profile, moment) for query in QUERIES for profile in PROFILE_NAMES for moment in (None, *PAST)
    ]
    return [
        {
            "query": query,
            "profile": profile,
            "as_of": moment,
            "answer": _short(
                calls.recall(
                    memory,
                    query,
                    profile=profile,
                    limit=5,
                    as_of=None if moment is None else at(moment),
                    record=False,
                )
            ),
        }
        for query, profile, moment in asked
    ]


def _short(answer: Any) -> dict[str, Any]:
    whole: dict[str, Any] = plain(answer)
    whole["hits"] = [
        [
            hit["memory"]["id"],
            hit["memory"]["name"] or hit["memory"]["text"],
            hit["score"],
            hit["confidence"],
            hit["scores"],
        ]
        for hit in whole["hits"]
    ]
    return whole


def _analyzed(memory: Memory, profile: str) -> Any:
    read = plain(calls.tune_analyze(memory, profile))
    return {**read, "log": {name: value for name, value in read["log"].items() if name != "seed"}}


def _counts(memory: Memory) -> Any:
    read = plain(calls.counts(memory))
    return {name: value for name, value in read.items() if name not in {"bytes", "schema"}}


FACTS: dict[str, Callable[[Memory], Any]] = {
    "recalls": _recalls,
    "recalls of another": lambda memory: _short(
        calls.recall(calls.scoped(memory, OTHERS), "locker", record=False)
    ),
    "analysis of recollect": lambda memory: _analyzed(memory, "recollect"),
    "analysis of limbic": lambda memory: _analyzed(memory, "limbic"),
    "log of recollect": lambda memory: calls.logged(memory, "recollect"),
    "log of limbic": lambda memory: calls.logged(memory, "limbic"),
    "proposal for limbic": lambda memory: calls.tune_run(memory, "limbic", dry_run=True),
    "tunings": calls.tune_history,
    "numbers": lambda memory: calls.tune_numbers(memory, "recollect"),
    "dreams": calls.dreams,
    "journal": lambda memory: calls.dream_journal(memory, KEPT_DREAM),
    "histories": lambda memory: {
        str(id_): calls.history(memory, id_).events for id_ in range(1, 50) if calls.get(memory, id_)
    },
    "sessions": calls.sessions,
    "counts": _counts,
    "official export": lambda memory: calls.exported(memory, "official").splitlines(),
    "full export": lambda memory: calls.exported(memory, "full").splitlines(),
}


def fact(memory: Memory, name: str) -> Any:
    return plain(FACTS[name](memory))


def refused(memory: Memory) -> bool:
    """Whether a key that was used for something else is refused."""
    try:
        calls.remember(memory, "Something else.", key=_keyed()["key"])
    except Exception as error:
        if calls.is_conflict(error):
            return True
        raise
    return False


def undo(memory: Memory) -> Any:
    return plain(calls.undo_dream(memory, KEPT_DREAM))


def receipts(memory: Memory) -> dict[str, Any]:
    """The answers to idempotency keys that were used before."""
    return {
        "note": plain(calls.remember(memory, **_keyed())),
        "entity": plain(calls.create_entities(memory, [KEYED_ENTITY], key="a key for an entity")),
        "turns": plain(
            calls.add_messages(memory, "booking", KEYED_TURNS, key="a key for turns", extract=False)
        ),
    }


def waked(memory: Memory) -> dict[str, Any]:
    """Embed the pending texts, and find them by meaning."""
    return {
        "reindexed": plain(calls.reindex(memory)),
        "counts": _counts(memory),
        "found": _short(calls.recall(memory, "bad weather last winter", limit=4, record=False)),
    }


def changed_rows(
    before: dict[str, list[Any]], after: dict[str, list[Any]]
) -> dict[str, dict[str, list[Any]]]:
    """By table: the rows that went, and those that came."""
    return {
        name: {
            "gone": [row for row in before[name] if row not in after[name]],
            "come": [row for row in after[name] if row not in before[name]],
        }
        for name in before
        if before[name] != after[name]
    }
