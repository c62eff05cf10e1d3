"""The questions for the frozen world, and the format of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import calls
from calls import PROFILE_NAMES, Memory, at, plain
from frozen_world import BEFORE_THE_DREAM, BEFORE_THE_MOVE

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXPLAINED = 4
"""Hits whose reasons are written down; of the others, all but those. It halves the file."""

QUERIES = (
    "who leads Tidebook",
    "what is Marisol allergic to?",
    "nuts",
    "deadline of Tidebook",
    "where does Marisol live",
    "boiler",
    "la caldera de la oficina",
    "what happened yesterday with the boiler",
    "¿quién cuida del perro de Lucas?",
    "cumpleaños de Lucas",
    "when is Jun's birthday",
    "database with full-text search",
    "¿qué es SQLite?",
    "coffee in the office",
    "lighthouse",
    "faro",
    "el velero de Marisol en el puerto",
    "what did we say about the release last week",
    "what did Marisol say about fish in June 2025",
    "gate code",
    "crane at the shipyard",
    "explain the relation between Marisol and the boat and everything that Lucas has to do with it",
    "tide tables",
    "who pays for the lamps",
    "quantum chromodynamics",
    "灯台",
)

# Each for the profiles named: `all`, or the default alone.
OPTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("all", "crane at the shipyard", {"limit": 3}),
    ("all", "crane at the shipyard", {"limit": 25}),
    ("all", "Marisol", {"kinds": ["note"]}),
    ("all", "Marisol", {"kinds": ["entity", "message"], "limit": 5}),
    ("all", "release on Thursday", {"session": "release"}),
    ("all", "what could I cook", {"session": "viaje"}),
    ("all", "where does Marisol live", {"as_of": BEFORE_THE_MOVE}),
    ("all", "gate code", {"as_of": BEFORE_THE_MOVE}),
    ("all", "who leads Tidebook", {"as_of": BEFORE_THE_DREAM}),
    ("default", "Porto", {"as_of": "2025-06-10T00:00:00+00:00"}),
    ("default", "boiler", {"tags": ["Office"]}),
    ("default", "boiler", {"tags": ["office", "boiler"]}),
    ("all", "Marisol moves to Porto", {"include_superseded": True}),
    ("default", "coffee in the office", {"include_superseded": True, "limit": 4}),
    ("default", "harbour meeting", {"budget_tokens": 60}),
    ("default", "tide tables", {"budget_tokens": 200, "limit": 20}),
    ("default", "who leads Tidebook", {"min_confidence": 0.5}),
    ("default", "who leads Tidebook", {"min_confidence": 0.9, "profile": "limbic"}),
    ("default", "quantum chromodynamics", {"abstain": True}),
    ("default", "nuts", {"abstain": True}),
    ("default", "nuts", {"limit": 0}),
    ("default", "   ", {}),
)

CONTEXTS: tuple[tuple[Any, dict[str, Any]], ...] = (
    ("what may I cook for Marisol?", {"budget_tokens": 300}),
    ("what may I cook for Marisol?", {"budget_tokens": 40}),
    ("la caldera de la oficina", {"profile": "limbic", "budget_tokens": 200}),
    ("when is the release?", {"session": "release", "budget_tokens": 250}),
    ("where does Marisol live", {"as_of": BEFORE_THE_MOVE, "budget_tokens": 200}),
    (
        [
            {"role": "user", "content": "I am meeting Jun for dinner", "at": "2026-02-28T19:00:00+00:00"},
            {"role": "assistant", "content": "Where?"},
            {"role": "user", "speaker": "Marisol", "content": "At home, and fish?"},
        ],
        {"budget_tokens": 220},
    ),
)

WHY_NOT: tuple[tuple[str, int | str, dict[str, Any]], ...] = (
    ("boiler", "Tidebook", {}),
    ("who leads Tidebook", "Almanac", {"profile": "limbic", "limit": 3}),
    ("who leads Tidebook", "Almanac", {"profile": "mnemosyne", "limit": 3}),
    ("who leads Tidebook", "Postgres", {"profile": "reverie", "limit": 3}),
    ("tide tables", "Bruma", {"profile": "cognis", "limit": 3}),
    ("crane at the shipyard", "Faro Viejo", {"limit": 5}),
    ("Porto", 46, {}),
    ("Porto", 46, {"as_of": BEFORE_THE_MOVE}),
    ("crate at the station", 117, {}),
    ("release", "Jun Watanabe", {"kinds": ["note"]}),
)


def all_questions() -> Iterator[dict[str, Any]]:
    """Every question with its arguments, in the order of the file."""
    for query in QUERIES:
        for profile in PROFILE_NAMES:
            yield {"query": query, "profile": profile}
    for which, query, options in OPTIONS:
        for profile in PROFILE_NAMES if which == "all" else PROFILE_NAMES[:1]:
            yield {"query": query, "profile": profile, **options}


def answered(memory: Memory, question: dict[str, Any]) -> dict[str, Any]:
    """The whole answer, with memories as ids. For questions about the past, with their texts of then."""
    given = {**_timed(question), "explain": "limit" not in question, "record": False}
    past = "as_of" in given
    answer = calls.recall(memory, given.pop("query"), **given)
    whole: dict[str, Any] = plain(answer)
    whole["doubtful"] = answer.doubtful
    hits = whole.pop("hits")
    whole["steps"] = _steps(hits)
    whole["hits"] = [_hit(hit, past=past, explained=place < _EXPLAINED) for place, hit in enumerate(hits)]
    return whole


def _steps(hits: list[dict[str, Any]]) -> list[list[Any]]:
    """Each step with its effect and its numbers: the same for every hit."""
    of_each = [[[each["step"], each["effect"], each["numbers"]] for each in hit["reasons"]] for hit in hits]
    assert all(steps == of_each[0] for steps in of_each)
    return of_each[0] if of_each else []


def _hit(hit: dict[str, Any], *, past: bool, explained: bool) -> dict[str, Any]:
    """With its memory's id, and without what is empty. A reason: what a step found, and the score then."""
    memory = hit["memory"]
    short = {
        "id": memory["id"],
        **{name: value for name, value in hit.items() if name not in {"memory", "reasons"}},
        "read": [memory["text"], *(each["content"] for each in memory["observations"])] if past else [],
        "places": {name: [place["rank"], place["score"]] for name, place in hit["places"].items()},
        "reasons": [[each["value"], each["score"]] for each in hit["reasons"]] if explained else [],
    }
    return {name: value for name, value in short.items() if value not in (None, [], {})}


def packed(memory: Memory, asked_: Any, options: dict[str, Any]) -> Any:
    turns = asked_ if isinstance(asked_, str) else [_timed(turn) for turn in asked_]
    return plain(calls.context(memory, turns, **_timed(options)))


def missed(memory: Memory, query: str, id_: int | str, options: dict[str, Any]) -> Any:
    found = plain(calls.why_not(memory, query, id_, **_timed(options)))
    found["memory"] = found["memory"]["id"]
    return found


def _timed(given: dict[str, Any]) -> dict[str, Any]:
    """With moments in the place of their texts."""
    return {name: at(value) if name in {"at", "as_of"} else value for name, value in given.items()}
