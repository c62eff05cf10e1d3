"""The life that the frozen store file was written in, and the facts that it must still tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import calls
from calls import PROFILE_NAMES, Clock, Memory, at, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODEL = "potion"
BEGINS = "2025-11-01T08:00:00+00:00"
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

_MORE = (
    "tea or coffee for Jun",
    "when is the regatta",
    "is the lighthouse open on Monday",
    "where are the tide tables printed",
    "who takes Nilo to the vet",
    "when does the fish market open",
    "how do deliveries reach the shipyard",
    "lamp of the lighthouse",
    "Marisol's drink",
    "the quay while the crane is built",
    "project in Python",
    "horario del faro",
)
"""Asked as well, so that the tuner has enough questions to judge a choice on."""

_NOTES = (
    "Marisol Vega is allergic to nuts.",
    "The harbour gate code is 2291.",
    "La caldera de la oficina pierde agua.",
    "Tidebook is deployed on Thursdays.",
    "Jun Watanabe prefers tea to coffee.",
    "The crane of the shipyard was ordered in November.",
    "The regatta starts at the north quay.",
    "El faro está cerrado los lunes.",
    "The tide tables are printed in Cádiz.",
    "Lucas takes his dog Nilo to the vet in March.",
    "The office has two meeting rooms.",
    "The fish market opens at six in the morning.",
    "Deliveries to the shipyard come by train.",
    "The lamp of the lighthouse was replaced by an LED.",
)


def build(path: Path) -> None:
    """Live four months, with the model and without it, and close the file."""
    clock = Clock(at(BEGINS))
    with calls.open_memory(path, clock, session="monday", model=MODEL) as memory:
        _first_weeks(memory, clock)
    with calls.open_memory(path, clock, session="tuesday", model=MODEL) as memory:
        _december(memory, clock)
    with calls.open_memory(path, clock, session="wednesday", model=MODEL) as memory:
        _new_year(memory, clock)
    with calls.open_memory(path, clock, session="thursday", model=MODEL, installed=False) as memory:
        _without_a_model(memory, clock)


def _first_weeks(memory: Memory, clock: Clock) -> None:
    calls.create_entities(
        memory,
        [
            {
                "name": "Marisol Vega",
                "type": "person",
                "observations": [
                    "Leads the harbour team",
                    "Drinks oolong",
                    "drinks oolong.",
                    "Lives in Cádiz",
                ],
            },
            {
                "name": "Tidebook",
                "type": "project",
                "observations": ["Tells when to cross the sandbank", "Written in Python"],
            },
            {"name": "Jun Watanabe", "type": "person", "observations": ["Keeps the tide tables"]},
            {"name": "Old Pier", "type": "place", "observations": ["Torn down in 1998"]},
            {
                "name": "Harbour",
                "type": "place",
                "observations": [
                    "Has a north quay",
                    "Has a south quay",
                    "The crane lifts forty tons",
                    "The crane was painted yellow",
                ],
            },
        ],
    )
    clock.pass_days(0.1)
    calls.create_relations(
        memory,
        [
            ("Marisol Vega", "leads", "Tidebook"),
            ("Jun Watanabe", "maintains", "Tidebook"),
            ("Harbour", "contains", "Tidebook"),
            ("Old Pier", "part_of", "Harbour"),
        ],
    )
    calls.create_entities(memory, [{"name": "Quipu", "type": "thing", "observations": ["Knotted strings"]}])
    calls.create_relations(memory, [("Quipu", "part_of", "Museum")], create_missing=True)
    for text in _NOTES:
        clock.pass_days(0.5)
        calls.remember(memory, text, importance=0.4)
    clock.pass_days(1)
    calls.add_messages(
        memory,
        "planning",
        [
            {"role": "user", "speaker": "Marisol", "content": "I prefer to order the crane in December."},
            {"role": "assistant", "content": "Then the crane is ordered in December."},
            {"role": "user", "speaker": "Jun", "content": "The quay must be closed while it is built."},
        ],
    )
    calls.imported(
        memory, '{"type":"entity","name":"Bruma","entityType":"boat","observations":["Red sails"]}\n'
    )
    calls.note_import(memory, "/home/anna/conversations.json")
    clock.pass_days(1)
    other = calls.scoped(memory, OTHERS)
    calls.remember(other, "Anna's locker has the number 17.")
    calls.create_entities(other, [{"name": "Locker", "type": "thing", "observations": ["Green"]}])
    calls.remember(calls.scoped(memory, OTHERS, "bot"), "Anna wants short answers.")


def _december(memory: Memory, clock: Clock) -> None:
    """Asked, opened, asked again and judged; tuned; dreamt, and taken back."""
    clock.now = at("2025-12-01T09:00:00")
    for round_ in range(6):
        for profile in ("recollect", "limbic") if round_ < 4 else ("limbic",):
            for query in QUERIES if round_ < 4 else _MORE:
                clock.pass_days(0.05)
                answer = calls.recall(memory, query, profile=profile, limit=5)
                calls.settle(memory)
                clock.pass_days(0.01)
                _use(memory, answer, 2 if round_ > 3 else round_)
                calls.settle(memory)
    clock.pass_days(1)
    calls.tune_set(memory, {"cooccurrence.gamma": 0.05}, "limbic", exactly=True)
    calls.tune_set(memory, {"blend.meaning": 0.5, "blend.words": 0.5}, "recollect", exactly=True)
    calls.tune_set(memory, {"linked.weight": 0.3}, "recollect")
    clock.pass_days(1)
    calls.dream(memory, gate=False, without=["balance"])
    clock.pass_days(1)
    calls.dream(memory)
    clock.pass_days(1)
    calls.undo_dream(memory, 2)


def _use(memory: Memory, answer: Any, round_: int) -> None:
    """What a reader does: opens a hit, asks for it again in other words, or says how good it was."""
    ids = [hit.memory.id for hit in answer.hits]
    match round_:
        case 0:
            calls.get(memory, ids[min(1, len(ids) - 1)], record=True)
        case 1:
            calls.recall(memory, f"tell me: {answer.query}", profile=answer.profile, limit=3)
        case 2:
            calls.feedback(memory, ids[0], 1.0, answer)
            calls.feedback(memory, ids[-1], -0.5, answer)
        case _:
            pass


def _new_year(memory: Memory, clock: Clock) -> None:
    """Reworded, corrected, split, forgotten, restored; a dream that stays; a calibration; keys."""
    clock.now = at("2026-01-02T10:00:00")
    calls.update(memory, _id(memory, "The harbour gate code is 2291."), text="The harbour gate code is 8804.")
    clock.pass_days(1)
    crane = _id(memory, "The crane of the shipyard was ordered in November.")
    calls.supersede(memory, crane, "The crane of the shipyard was ordered in December.")
    clock.pass_days(1)
    calls.end_relation(memory, "Marisol Vega", "leads", "Tidebook")
    calls.add_observations(
        memory, {"Marisol Vega": [{"content": "Lives in Lisbon", "supersedes": "Lives in Cádiz"}]}
    )
    calls.execute_split(
        memory,
        "Harbour",
        [{"name": "Crane", "observations": ["The crane lifts forty tons", "The crane was painted yellow"]}],
    )
    clock.pass_days(1)
    rooms, market = (_id(memory, _NOTES[10]), _id(memory, _NOTES[11]))
    calls.forget(memory, [rooms, market])
    clock.pass_days(1)
    calls.restore(memory, market)
    calls.delete_entities(memory, ["Bruma"])
    calls.update(memory, _id(memory, _NOTES[0]), pinned=True, importance_tag="health", tags=["food"])
    calls.set_status(memory, "Jun Watanabe", "paused")
    calls.remember(memory, "Reminder: the tide tables are printed in Cádiz.", tags=["print"])
    calls.remember(memory, "The shipyard ordered the crane in November.")
    for query in ("who maintains Tidebook?", "print tide tables in Cádiz", "gate code of the harbour") * 4:
        clock.pass_days(1)
        calls.recall(memory, query, limit=4)
        calls.settle(memory)
    clock.now = at("2026-02-01T10:00:00")
    calls.calibrate(memory)
    keen = calls.dream_knobs(prune_staleness=15, prune_echo=0, prune_signal=1, prune_strength=1.1)
    calls.dream(memory, gate=False, knobs=keen)
    clock.now = at("2026-02-20T10:00:00")
    calls.leave_lease(memory, "a process that died")
    calls.recall(memory, "who maintains Tidebook?", limit=3)
    calls.settle(memory)
    calls.remember(memory, **_keyed())
    calls.create_entities(memory, [KEYED_ENTITY], key="a key for an entity")
    calls.add_messages(memory, "booking", KEYED_TURNS, key="a key for turns", extract=False)


def _keyed() -> dict[str, Any]:
    return {**KEYED_NOTE, "key": "a key for a note"}


def _without_a_model(memory: Memory, clock: Clock) -> None:
    clock.now = at("2026-02-28T10:00:00")
    calls.remember(memory, "The winter storm broke two windows of the lighthouse.")
    calls.create_entities(memory, [{"name": "Storm", "type": "event", "observations": ["In February"]}])


def _id(memory: Memory, text: str) -> int:
    return int(calls.remember(memory, text).id)


# Facts, all of them told without writing


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


def _counted(memory: Memory) -> Any:
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
    "counts": _counted,
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
    """What the keys give that were used before."""
    return {
        "note": plain(calls.remember(memory, **_keyed())),
        "entity": plain(calls.create_entities(memory, [KEYED_ENTITY], key="a key for an entity")),
        "turns": plain(
            calls.add_messages(memory, "booking", KEYED_TURNS, key="a key for turns", extract=False)
        ),
    }


def waked(memory: Memory) -> dict[str, Any]:
    """What waited for a vector gets one, and is found by meaning."""
    return {
        "reindexed": plain(calls.reindex(memory)),
        "counts": _counted(memory),
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
