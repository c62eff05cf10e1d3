"""The world that is ranked: nine months of notes, conversations and a graph, in English and Spanish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import calls
from calls import Clock, Memory, at

if TYPE_CHECKING:
    from pathlib import Path

BEGINS = "2025-06-02T09:00:00+00:00"
NOW = "2026-03-01T12:00:00+00:00"
BEFORE_THE_MOVE = "2025-09-01T00:00:00+00:00"
BEFORE_THE_DREAM = "2025-12-20T00:00:00+00:00"

_ENTITIES: list[dict[str, Any]] = [
    {
        "name": "Marisol Vega",
        "type": "person",
        "observations": [
            "Drinks oolong tea after lunch",
            "Leads the harbour team",
            {"content": "Lives in Cádiz", "happened_at": at("2021-04-01")},
            "Allergic to nuts",
            "allergic to nuts.",
            {"content": "id 4711, badge blue", "kind": "metadata"},
        ],
    },
    {
        "name": "Jun Watanabe",
        "type": "person",
        "observations": ["週末は灯台まで歩く", "Keeps the tide tables", "Plays the cello badly"],
    },
    {
        "name": "Tidebook",
        "type": "project",
        "observations": [
            "Says when it is safe to cross the sandbank",
            "Written in Python with SQLite",
            "The deadline is the end of May",
        ],
        "importance": 0.9,
    },
    {
        "name": "Almanac",
        "type": "project",
        "status": "archived",
        "observations": ["The first attempt at tide tables", "Written in Perl"],
    },
    {
        "name": "Bruma",
        "type": "boat",
        "observations": ["Un velero de nueve metros", "Amarrado en el puerto de Cádiz", "The sails are red"],
    },
    {
        "name": "Faro Viejo",
        "type": "place",
        "observations": ["El faro al final del espigón", "Cerrado los lunes", "The old lighthouse"],
    },
    {
        "name": "Lucas",
        "type": "person",
        "observations": ["Hermano de Marisol", "Tiene un perro llamado Nilo"],
    },
    {"name": "Nilo", "type": "dog", "observations": ["Un perro viejo", "Afraid of thunder"]},
    {
        "name": "SQLite",
        "type": "database",
        "observations": ["An embedded database with full-text search", "One file, no server"],
    },
    {
        "name": "Postgres",
        "type": "database",
        "status": "paused",
        "observations": ["A database server", "Considered for Tidebook"],
    },
    {
        "name": "Workshop",
        "type": "event",
        "observations": [
            "The room is on the second floor",
            "The room has a projector",
            "The room was booked by Jun",
            "Coffee is served at eleven",
            "Coffee comes from the corner café",
            "Coffee is paid by the harbour",
            "Speakers arrive by train",
            "Speakers stay at the inn",
        ],
    },
    {"name": "Old Pier", "type": "place", "observations": ["Torn down in 1998"]},
]

_RELATIONS: list[Any] = [
    ("Marisol Vega", "leads", "Tidebook"),
    ("Jun Watanabe", "works_on", "Tidebook"),
    ("Tidebook", "uses", "SQLite"),
    ("Tidebook", "replaces", "Almanac"),
    ("Tidebook", "contains", "Almanac"),
    ("Lucas", "brother_of", "Marisol Vega"),
    ("Lucas", "owns", "Nilo"),
    {
        "source": "Marisol Vega",
        "type": "owns",
        "target": "Bruma",
        "context": "bought together with Lucas",
        "since": at("2024-05-01"),
    },
    ("Faro Viejo", "parte_de", "Old Pier"),
    ("Jun Watanabe", "visits", "Faro Viejo"),
]

_NOTES: list[tuple[float, dict[str, Any]]] = [
    (0, {"text": "Marisol Vega is allergic to nuts; never bring walnut cake.", "importance": 0.95}),
    (1, {"text": "The boiler in the harbour office was serviced in May.", "tags": ["office", "boiler"]}),
    (3, {"text": "La caldera de la oficina pierde agua.", "tags": ["office", "caldera"], "importance": 0.7}),
    (4, {"text": "Jun's birthday is on the third of July; he wants a tide clock.", "importance": 0.8}),
    (7, {"text": "El cumpleaños de Lucas es el 12 de octubre.", "tags": ["familia"]}),
    (9, {"text": "Green tea should be brewed at eighty degrees, not boiled.", "importance": 0.2}),
    (15, {"text": "Full-text search in SQLite needs the FTS5 extension.", "category": "technical"}),
    (20, {"text": "The deadline of Tidebook is the end of May.", "tags": ["tidebook"], "importance": 0.6}),
    (31, {"text": "Marisol moves to Porto in May.", "category": "plans_goals", "tags": ["porto"]}),
    (40, {"text": "Nilo tiene cita con el veterinario el martes.", "happened_at": at("2025-07-15T10:00:00")}),
    (55, {"text": "The lighthouse keeper retired in 1987.", "happened_at": at("1987-06-01")}),
    (
        60,
        {"text": "We prefer dark roast coffee in the office.", "category": "preferences", "tags": ["office"]},
    ),
    (61, {"text": "We prefer dark roast coffee in the office!", "category": "preferences"}),
    (
        75,
        {
            "text": "The harbour gate code is 2291.",
            "importance": 1.0,
            "source": "letter of the harbour master",
        },
    ),
    (90, {"text": "Bruma needs new red sails before the regatta.", "about": ["Lucas"]}),
    (120, {"text": "The regatta takes place in the first week of September.", "tags": ["regatta"]}),
    (150, {"text": "Deployments of Tidebook happen on Thursdays.", "category": "technical"}),
    (170, {"text": "Lucas aprendió a navegar en el velero de su hermana."}),
    (200, {"text": "The winter storm broke two windows of the Faro Viejo.", "tags": ["storm"]}),
    (235, {"text": "Ask Jun before changing the tide tables.", "importance": 0.75}),
    (262, {"text": "The cello lesson moved to Friday evening."}),
    (270, {"text": "Yesterday the boiler failed again; a new one costs 4,200 euros.", "tags": ["boiler"]}),
]

_LONG = (
    "Minutes of the harbour meeting. The dredging of the channel was approved after a long discussion "
    "about its cost. The fishermen asked for a later start, since the spring run begins in March. The "
    "mayor promised a new crane for the shipyard and a roof for the fish market. "
    * 4
    + "Marisol asked who would pay for the lamps of the lighthouse; nobody knew. "
    "The next meeting is in April."
)

_TALKS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "kitchen": (
        "2025-06-20T18:00:00",
        [
            {"role": "user", "speaker": "Marisol", "content": "What could I cook for Jun on Saturday?"},
            {"role": "assistant", "content": "Does Jun eat fish? A sea bass with fennel would be quick."},
            {"role": "user", "speaker": "Marisol", "content": "He loves fish. I love rye bread with it."},
            {"role": "assistant", "content": "Then sea bass, fennel and rye bread it is."},
            {"role": "user", "speaker": "Marisol", "content": "And no walnuts, I am allergic to nuts."},
        ],
    ),
    "viaje": (
        "2025-10-03T08:30:00",
        [
            {"role": "user", "speaker": "Lucas", "content": "¿Cuándo sale el tren a Lisboa?"},
            {"role": "assistant", "content": "El tren a Lisboa sale a las nueve y diez."},
            {"role": "user", "speaker": "Lucas", "content": "Prefiero viajar por la mañana."},
            {"role": "user", "speaker": "Lucas", "content": "¿Y quién cuida de Nilo?"},
            {"role": "assistant", "content": "Marisol puede cuidar del perro hasta el domingo."},
        ],
    ),
    "release": (
        "2026-02-26T14:00:00",
        [
            {"role": "user", "speaker": "Jun", "content": "When do we release the next Tidebook?"},
            {"role": "assistant", "content": "The plan says Thursday, if the migration works."},
            {"role": "user", "speaker": "Jun", "content": "My goal is to learn Portuguese before Porto."},
            {"role": "user", "speaker": "Marisol", "content": "The migration failed on Postgres last night."},
            {"role": "assistant", "content": "Then SQLite stays, and the release is on Thursday."},
        ],
    ),
}

_THINGS = ("crane", "buoy", "net", "lamp", "rope", "anchor", "engine", "ladder", "radio", "crate")
_PLACES = ("shipyard", "market", "channel", "office", "north quay", "fish hall", "boathouse", "station")

_USED: list[tuple[float, str, str]] = [
    (100, "who leads Tidebook", "recollect"),
    (101, "nuts allergy", "recollect"),
    (103, "database with full-text search", "limbic"),
    (110, "who leads Tidebook", "limbic"),
    (121, "caldera de la oficina", "recollect"),
    (135, "regatta sails", "mnemosyne"),
    (140, "tide tables", "recollect"),
    (141, "tide tables", "recollect"),
    (160, "perro de Lucas", "reverie"),
    (180, "coffee in the office", "cognis"),
    (185, "who leads Tidebook", "recollect"),
    (195, "nuts allergy", "recollect"),
]
_OPENED: list[tuple[float, list[str]]] = [
    (102, ["Tidebook", "SQLite"]),
    (112, ["Tidebook", "Marisol Vega"]),
    (136, ["Tidebook", "SQLite", "Jun Watanabe"]),
    (181, ["Bruma", "Lucas"]),
    (240, ["Tidebook"]),
]


def build(memory: Memory, clock: Clock) -> None:
    """Live through all of it, from `BEGINS` to `NOW`."""
    days = _Days(clock)
    days.reach(0)
    calls.create_entities(memory, _ENTITIES)
    calls.create_relations(memory, _RELATIONS)
    calls.create_relations(memory, [("Bruma", "moored_at", "North Quay")], create_missing=True)
    told = sorted([*((day, "note", note) for day, note in _NOTES), *_others()], key=lambda each: each[0])
    ids: dict[str, int] = {}
    for day, what, given in told:
        days.reach(day)
        _live(memory, what, given, ids)
    days.end()


def _others() -> list[tuple[float, str, Any]]:
    """Events other than notes, by day."""
    filler = [(10 + 12 * number, "checks", thing) for number, thing in enumerate(_THINGS)]
    talks = [(_day(when), "talk", (name, when, turns)) for name, (when, turns) in _TALKS.items()]
    return [
        *filler,
        *talks,
        *((day, "ask", (query, profile)) for day, query, profile in _USED),
        *((day, "open", names) for day, names in _OPENED),
        (80.5, "long", None),
        (95.5, "move", None),
        (96.5, "reword", None),
        (130.5, "observe", None),
        (145.5, "end", None),
        (165.5, "forget", None),
        (190.5, "reflect", None),
        (155.5, "dream", None),
        (205.5, "dream", None),
        (230.5, "feedback", None),
        (250.5, "correct", None),
    ]


def _filler(thing: str, place: str) -> str:
    return f"The {thing} at the {place} was checked and works."


def _live(memory: Memory, what: str, given: Any, ids: dict[str, int]) -> None:
    match what:
        case "note":
            ids[given["text"]] = calls.remember(memory, **given).id
        case "checks":
            notes = [
                {"text": _filler(given, place), "importance": 0.3 + number / 20}
                for number, place in enumerate(_PLACES)
            ]
            for note in calls.remember_many(memory, notes).notes:
                ids[note.text] = note.id
        case "talk":
            name, when, turns = given
            moments = (at(when).timestamp() + 60 * place for place in range(len(turns)))
            stamped = [
                {**turn, "at": at("1970-01-01").fromtimestamp(moment, at(when).tzinfo)}
                for turn, moment in zip(turns, moments, strict=True)
            ]
            calls.add_messages(memory, name, stamped)
        case "ask":
            query, profile = given
            calls.recall(memory, query, profile=profile, limit=5)
            calls.settle(memory)
        case "open":
            calls.open_nodes(memory, given)
            calls.settle(memory)
        case _:
            _happen(memory, what, ids)


def _happen(memory: Memory, what: str, ids: dict[str, int]) -> None:
    match what:
        case "long":
            calls.remember(memory, _LONG, category="meeting")
        case "move":
            porto = ids["Marisol moves to Porto in May."]
            calls.supersede(memory, porto, {"text": "Marisol moves to Lisbon in June.", "tags": ["lisbon"]})
        case "reword":
            calls.update(
                memory,
                ids["The harbour gate code is 2291."],
                text="The harbour gate code is 8804.",
                pinned=True,
            )
            calls.update(memory, ids["Full-text search in SQLite needs the FTS5 extension."], importance=0.85)
        case "observe":
            calls.add_observations(
                memory,
                {
                    "Marisol Vega": [{"content": "Lives in Lisbon", "supersedes": "Lives in Cádiz"}],
                    "Tidebook": ["The deadline is at the end of May", "Used by forty skippers"],
                },
            )
        case "end":
            calls.end_relation(memory, "Marisol Vega", "leads", "Tidebook")
            calls.create_relations(memory, [("Jun Watanabe", "leads", "Tidebook")])
            calls.end_relation(memory, "Tidebook", "contains", "Almanac")
            calls.set_status(memory, "Bruma", "pausado")
        case "forget":
            calls.forget(memory, [ids[_filler("crate", "station")]])
            calls.forget(memory, [ids[_filler("buoy", "market")]])
            calls.restore(memory, ids[_filler("buoy", "market")])
            calls.delete_observations(memory, {"Old Pier": ["Torn down in 1998"]})
        case "reflect":
            calls.add_reflection(
                memory, "I should ask Jun more often.", about=["Jun Watanabe"], author="Otto", mood="doubt"
            )
        case "dream":
            calls.dream(memory, gate=False)
        case "feedback":
            answer = calls.recall(memory, "who leads Tidebook", limit=5)
            calls.settle(memory)
            calls.feedback(memory, answer.hits[0].memory.id, 1.0, answer)
        case "correct":
            coffee = ids["We prefer dark roast coffee in the office."]
            calls.supersede(memory, coffee, "We prefer light roast coffee in the office.")


def _day(when: str) -> float:
    return (at(when) - at(BEGINS)).total_seconds() / 86_400


class _Days:
    """Moves the clock to a day of the world; two things on one day are a second apart."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def reach(self, day: float) -> None:
        wanted = at(BEGINS)
        self._clock.now = max(wanted, self._clock.now)
        self._clock.pass_days(0)
        ahead = day - (self._clock.now - wanted).total_seconds() / 86_400
        self._clock.pass_days(ahead if ahead > 0 else 1 / 86_400)

    def end(self) -> None:
        self._clock.now = at(NOW)


def open_world(path: Path) -> Memory:
    """On a copy of the world, or on a new file to build it in."""
    return calls.open_memory(path, Clock(at(NOW)))
