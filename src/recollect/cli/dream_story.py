"""A dream in words: its report, section by section, before it is known who reads it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from recollect.cli.wording import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from recollect.records import Memory


@dataclass(frozen=True, slots=True)
class Item:
    """One memory that a dream touched."""

    id: int
    text: str
    change: str = ""
    """`0.86 → 0.94`"""
    other: int | None = None
    """The memory that it was merged into, corrected by or linked to."""
    other_text: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    word: str
    """For a pipe, at the start of each line."""
    title: str
    total: int
    items: tuple[Item, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """What a question would no longer find."""

    query: str
    phase: str
    memory: int
    text: str


@dataclass(frozen=True, slots=True)
class Gate:
    questions: int
    made: int
    before: float
    after: float
    blame: str | None
    lost: tuple[Lost, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """One line of a dream's journal."""

    what: str
    id: int
    before: str
    after: str
    text: str


@dataclass(frozen=True, slots=True)
class Story:
    """What to tell of a dream."""

    at: datetime
    memories: int
    answers: int
    days: float | None
    """Since the dream before; None: it was the first."""
    sections: tuple[Section, ...]
    gate: Gate | None
    id: int | None = None
    """None: nothing was written."""
    dry_run: bool = False
    skipped: tuple[str, ...] = ()
    left: tuple[Item, ...] = ()
    """Changed by somebody meanwhile, so left as they are."""
    undone_at: datetime | None = None
    upkeep: str = ""
    changes: tuple[Changed, ...] = ()
    in_full: bool = False
    """Name all memories that the report names, rather than a few of each sort."""

    @property
    def is_closed(self) -> bool:
        """The gate was, so that nothing was written."""
        return self.gate is not None and self.gate.blame is not None


def named_in(report: Mapping[str, Any]) -> list[int]:
    """The memories that a report speaks of."""
    moved = chain(report["strongest"], report["weakest"], report["stablest"], report["deeper"])
    pairs = chain(report["merged"], report["corrected"], ([one, two] for one, two, _ in report["linked"]))
    lost = () if report["gate"] is None else report["gate"]["losses"]
    return sorted(
        {
            *(each["id"] for each in moved),
            *report["pruned"],
            *chain.from_iterable(pairs),
            *(entity for entity, _, _ in report["merged_observations"]),
            *(each["memory"] for each in lost),
        }
    )


def label(memory: Memory | None) -> str:
    """A memory in a few words."""
    if memory is None:
        return "(purged since)"
    said = memory.name or memory.text
    return shortened(f"{memory.speaker}: {said}" if memory.speaker else said, 200)


def sections(report: Mapping[str, Any], memories: Mapping[int, Memory]) -> Iterator[Section]:
    """Those that have something to tell, in the order of a night."""

    def item(id_: int, change: str = "", other: int | None = None, other_text: str = "") -> Item:
        named = other_text or (label(memories.get(other)) if other is not None else "")
        return Item(id_, label(memories.get(id_)), change, other, named)

    def moved(rows: Iterable[Mapping[str, Any]], digits: int = 2) -> tuple[Item, ...]:
        shown = [(row["id"], _change(row["before"], row["after"], digits)) for row in rows]
        return tuple(item(id_, change) for id_, change in shown if change)

    beside = report["interleaved"]
    yield Section(
        "stronger",
        "Grew stronger",
        report["stronger"],
        moved(report["strongest"]),
        f"{counted(beside, 'old memory', 'old memories')} replayed beside new ones" if beside else "",
    )
    fading = moved(report["weakest"])
    yield Section("faded", "Faded", report["faded"], fading, "" if fading else "each by less than 0.0001")
    yield Section(
        "stabler",
        "Will last longer",
        report["stabler"],
        moved(report["stablest"], 1),
        "days until a tenth of it is forgotten",
    )
    for word, title, note in (
        ("consolidated", "Settled", "new ones that were replayed, or lived through a day"),
        ("archived", "Archived", "very stale and weak; recall still finds them"),
        ("revived", "Came back", "were archived, and are in use again"),
    ):
        yield Section(word, title, report[word], note=note)
    deeper = report["deeper"]
    yield Section("deeper", "Went deeper", len(deeper), moved(deeper, 0))
    temper = report["temper"]
    yield Section(
        "balanced",
        "Tempered",
        int(temper < 1),
        note=f"rankings take traces to the power {temper:.2f}; as they are, people would find less",
    )
    yield Section(
        "pruned",
        "Pruned",
        len(report["pruned"]),
        tuple(item(id_) for id_ in report["pruned"]),
        "forgotten; `recollect restore ID` brings one back",
    )
    yield Section(
        "unique", "Spared", report["unique"], note="stale enough to be pruned, but nothing else says it"
    )
    merged = [item(gone, other=into) for gone, into in report["merged"]]
    merged += [_observed(memories.get(entity), *pair) for entity, *pair in report["merged_observations"]]
    yield Section("merged", "Merged", len(merged), tuple(merged), "said the same, and live on in the other")
    corrected = [item(gone, other=by) for gone, by in report["corrected"]]
    yield Section("corrected", "Corrected", len(corrected), tuple(corrected), "repeated an error")
    linked = [item(first, counted(weight, "answer"), second) for first, second, weight in report["linked"]]
    yield Section("linked", "Linked", report["links"], tuple(linked), "keep coming up together")


def gate(report: Mapping[str, Any], memories: Mapping[int, Memory]) -> Gate | None:
    asked = report["gate"]
    if asked is None:
        return None
    return Gate(
        questions=asked["questions"],
        made=asked["made"],
        before=asked["before"],
        after=asked["after"],
        blame=None if asked["blame"] is None else str(asked["blame"]),
        lost=tuple(
            Lost(loss["query"], str(loss["phase"]), loss["memory"], label(memories.get(loss["memory"])))
            for loss in asked["losses"]
        ),
    )


def in_brief(report: Mapping[str, Any]) -> str:
    """`9 stronger, 39 faded, 1 merged`: for a list of dreams."""
    counts = (
        ("stronger", report["stronger"]),
        ("faded", report["faded"]),
        ("settled", report["consolidated"]),
        ("archived", report["archived"]),
        ("revived", report["revived"]),
        ("deeper", len(report["deeper"])),
        ("pruned", len(report["pruned"])),
        ("merged", len(report["merged"]) + len(report["merged_observations"])),
        ("corrected", len(report["corrected"])),
        ("linked", report["links"]),
    )
    said = [f"{number:,} {word}" for word, number in counts if number]
    left_out = [f"without {', '.join(report['skipped'])}"] if report["skipped"] else []
    return ", ".join([*(said or ["nothing changed"]), *left_out])


def changes_in(journal: Mapping[str, Any], memories: Mapping[int, Memory]) -> Iterator[Changed]:
    """The journal, a line for each field of each memory."""

    def changed(what: str, id_: int, before: object, after: object) -> Changed:
        return Changed(what, id_, _figure(before), _figure(after), label(memories.get(id_)))

    for lived in journal["lived"]:
        for id_, before, after in zip(lived["ids"], lived["before"], lived["after"], strict=True):
            yield changed(lived["field"], id_, before, after)
    for pruned in journal["pruned"]:
        yield changed("pruned", pruned["id"], "in force", "forgotten")
    for merged in journal["merged"]:
        yield changed("merged", merged["gone"], "in force", f"superseded by #{merged['into']}")
    for gone, by in journal["corrected"]:
        yield changed("corrected", gone, "in force", f"superseded by #{by}")
    contents = {
        seen.id: f"{memory.name}: {seen.content}"
        for memory in memories.values()
        for seen in memory.observations
    }
    for name, by_whom in (("merged", "superseded by observation "), ("corrected", "corrected by #")):
        for gone, by in journal[f"{name}_observations"]:
            text = shortened(contents.get(gone, "(purged since)"), 200)
            yield Changed(f"{name} observation", gone, "in force", f"{by_whom}{by}", text)
    for first, second, before, after in journal["links"]:
        other = label(memories.get(second))
        text = f"{label(memories.get(first))} — #{second} {other}"
        yield Changed("link", first, _figure(before), _figure(after), text)


def changed_ids(journal: Mapping[str, Any]) -> list[int]:
    """The memories that a journal speaks of, but for owners of observations, which the report names."""
    return sorted(
        {
            *chain.from_iterable(lived["ids"] for lived in journal["lived"]),
            *(pruned["id"] for pruned in journal["pruned"]),
            *chain.from_iterable((merged["gone"], merged["into"]) for merged in journal["merged"]),
            *chain.from_iterable(journal["corrected"]),
            *chain.from_iterable(link[:2] for link in journal["links"]),
        }
    )


def span(days: float) -> str:
    """`5 minutes`, `3 hours`, `2.5 days`."""
    minutes = days * 24 * 60
    if minutes < 1:
        return "less than a minute"
    if minutes < 60:
        return counted(round(minutes), "minute")
    if minutes < 48 * 60:
        return counted(round(minutes / 60), "hour")
    return f"{days:.1f} days" if days < 10 else f"{days:,.0f} days"


def _observed(entity: Memory | None, gone: int, into: int) -> Item:
    """An observation that is merged, with the one that says it; the id is the entity's."""
    if entity is None:
        return Item(0, label(None))
    said = {seen.id: shortened(seen.content, 200) for seen in entity.observations}
    return Item(
        entity.id, f"{entity.name}: {said.get(gone, '')}", other=entity.id, other_text=said.get(into, "")
    )


def _change(before: float, after: float, digits: int) -> str:
    """As few digits as show that something changed; empty where four do not."""
    for places in (digits, 4):
        was, now = f"{before:.{places}f}", f"{after:.{places}f}"
        if was != now:
            return f"{was} → {now}"
    return ""


def _figure(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
