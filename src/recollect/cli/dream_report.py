"""What a dream did, as rows: its report by section, the gate, and the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from recollect.cli.memory_view import label
from recollect.cli.phrases import ellipsize, one_line, quantity
from recollect.cli.results import SIGNS, Block, Cell, Column, Message, Paragraph, Role, Styled, Table, muted
from recollect.cli.times import iso_minute, iso_second

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime, tzinfo

    from recollect.records import Memory

_SHOWN = 3
"""Memories of each section, unless all are asked for."""
_LOST_SHOWN = 10
_ROLES: dict[str, Role] = {
    **dict.fromkeys(("faded", "archived", "balanced"), "changed"),
    **dict.fromkeys(("pruned", "corrected"), "bad"),
}
"""How a section looks; the others are good news."""
_BRIEF = {"consolidated": "settled"}
_NOT_BRIEF = frozenset({"stabler", "balanced", "unique"})
_BEFORE_OTHER = {"corrected": "corrected by", "linked": "—"}


@dataclass(frozen=True, slots=True)
class ShownDream:
    """A dream's plain report, with the memories that it names."""

    report: Mapping[str, Any]
    memories: Mapping[int, Memory]
    at: datetime
    id: int | None
    """None: nothing was written."""
    dry_run: bool = False
    undone_at: datetime | None = None
    left: Sequence[int] = ()
    """Changed by somebody meanwhile, so left as they are."""
    journal: Mapping[str, Any] | None = None
    """Shown line by line, if given."""
    in_full: bool = False
    """Name all memories that the report names, rather than a few of each section."""

    @property
    def blamed(self) -> str | None:
        """The phase for which nothing was written."""
        gate = self.report["gate"]
        return None if gate is None or gate["blame"] is None else str(gate["blame"])

    @property
    def sections(self) -> list[_Section]:
        return [each for each in _sections(self.report, self.memories) if each.total]

    def label_of(self, id_: int) -> str:
        return label(self.memories.get(id_))


@dataclass(frozen=True, slots=True)
class _Item:
    """One memory that a dream touched."""

    id: int
    text: str
    change: str = ""
    """`0.86 → 0.94`"""
    other: int | None = None
    """The memory that it was merged into, corrected by or linked to."""
    other_text: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """Memories that the dream treated alike."""

    word: str
    """For a pipe, at the start of each line."""
    title: str
    total: int
    items: Sequence[_Item] = ()
    note: str = ""


def ids_in_report(report: Mapping[str, Any]) -> list[int]:
    moved = chain(report["strongest"], report["weakest"], report["stablest"], report["deeper"])
    pairs = chain(report["merged"], report["corrected"], (row[:2] for row in report["linked"]))
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


def ids_in_journal(journal: Mapping[str, Any]) -> list[int]:
    """The memories, without the owners of observations, which the report names."""
    return sorted(
        {
            *chain.from_iterable(lived["ids"] for lived in journal["lived"]),
            *(pruned["id"] for pruned in journal["pruned"]),
            *chain.from_iterable((merged["gone"], merged["into"]) for merged in journal["merged"]),
            *chain.from_iterable(journal["corrected"]),
            *chain.from_iterable(link[:2] for link in journal["links"]),
        }
    )


def brief_report(report: Mapping[str, Any]) -> str:
    """`9 stronger, 39 faded, 1 merged`: for a list of dreams."""
    counts = [
        f"{each.total:,} {_BRIEF.get(each.word, each.word)}"
        for each in _sections(report, {})
        if each.total and each.word not in _NOT_BRIEF
    ]
    skipped = [f"without {', '.join(report['skipped'])}"] if report["skipped"] else []
    return ", ".join([*(counts or ["nothing changed"]), *skipped])


# For a terminal


def dream_view(dream: ShownDream, zone: tzinfo) -> Iterator[Block]:
    report = dream.report
    if not report["memories"]:
        yield Message("Nothing to dream of: the memory is empty.")
        return
    yield Paragraph(_headline(dream, zone))
    yield from muted(f"  {_basis(report)}")
    if dream.blamed is not None:
        yield from muted("  This is what it would have done:")
    for section in dream.sections:
        note = Styled(f"  {section.note}" if section.note else "", "muted")
        title = Styled(section.title, "strong")
        yield Paragraph()
        sign = Styled("● ", _ROLES.get(section.word, "good"))
        yield Paragraph((sign, title, f" {section.total:,}", note))
        if section.items:
            yield _items_table(section, in_full=dream.in_full)
    yield from _gate_view(dream)
    if dream.left:
        yield Paragraph()
        yield Paragraph(Styled(f"Changed meanwhile, and left as they are: {len(dream.left):,}", "changed"))
        rows = [(dream.label_of(id_), f"#{id_}") for id_ in dream.left]
        yield Table(
            (Column(wrap="cut", fill=True), Column(role="muted", right=True)), rows, indent=4, grid=True
        )
    if report["upkeep"]:
        yield Paragraph()
        yield Paragraph(Styled("Worth a look", "strong"))
        yield Paragraph(report["upkeep"], indent=4)
    if dream.journal is not None:
        yield from _journal_view(dream, dream.journal)
    yield Paragraph()
    yield from _next_steps(dream)


def _headline(dream: ShownDream, zone: tzinfo) -> tuple[str | Styled, ...]:
    if dream.blamed is not None:
        return SIGNS["problem"], " ", Styled("The gate is closed: nothing was written.", "strong")
    if dream.dry_run:
        title = Styled("What a dream would do now", "strong")
        return SIGNS["note"], " ", title, "; nothing was written."
    if dream.id is None:
        return SIGNS["ok"], " ", Styled("Slept well: nothing to do.", "strong")
    undone = f"  undone {iso_minute(dream.undone_at, zone)}" if dream.undone_at else ""
    title = Styled(f"Dream {dream.id}", "strong")
    return SIGNS["ok"], " ", title, f"  {iso_minute(dream.at, zone)}", Styled(undone, "bad")


def _basis(report: Mapping[str, Any]) -> str:
    """`48 memories, 12 answers since the dream before, 8 hours earlier.`"""
    memories = quantity(report["memories"], "memory", "memories")
    answers = quantity(report["answers"], "answer") if report["answers"] else "no answer"
    if report["days"] is None:
        return f"The first dream: {memories}, {answers} until now."
    return f"{memories}, {answers} since the dream before, {_time_span(report['days'])} earlier."


def _items_table(section: _Section, *, in_full: bool) -> Table:
    shown = section.items if in_full else section.items[:_SHOWN]
    rows: list[tuple[Cell, ...]] = []
    for item in shown:
        rows.append((item.change, one_line(item.text), f"#{item.id}"))
        if item.other is not None:
            joint = _BEFORE_OTHER.get(section.word, "→")
            other_id = f"#{item.other}" if item.other != item.id else ""
            rows.append(("", f"  {joint} {one_line(item.other_text)}", other_id))
    if section.total > len(shown):
        rows.append(("", Styled(f"and {section.total - len(shown):,} more", "muted"), ""))
    columns = [
        Column(role=_ROLES.get(section.word, "good"), wrap="whole"),
        Column(wrap="fold" if in_full else "cut", fill=True),
        Column(role="muted", wrap="whole", right=True),
    ]
    if not any(item.change for item in shown):
        columns, rows = columns[1:], [row[1:] for row in rows]
    return Table(columns, rows, grid=True, indent=4)


def _gate_view(dream: ShownDream) -> Iterator[Block]:
    gate = dream.report["gate"]
    if gate is None:
        return
    yield Paragraph()
    if dream.blamed is not None:
        blame = f"{dream.blamed} would lose too much of what people find."
        yield Paragraph((SIGNS["problem"], " ", Styled(blame, "strong")))
    else:
        nothing = "" if gate["questions"] else "  nothing to ask yet"
        title = Styled("The gate is open", "strong")
        yield Paragraph((SIGNS["ok"], " ", title, Styled(nothing, "muted")))
    if gate["questions"]:
        yield Paragraph(Styled(_shares_found(gate), "muted"), indent=2)
    if gate["losses"]:
        shown = gate["losses"] if dream.in_full else gate["losses"][:_LOST_SHOWN]
        rows = [
            (str(loss["phase"]), loss["query"], dream.label_of(loss["memory"]), f"#{loss['memory']}")
            for loss in shown
        ]
        if len(gate["losses"]) > len(shown):
            rows.append(("", f"and {len(gate['losses']) - len(shown):,} more", "", ""))
        columns = (
            Column("Lost by", "bad", "whole"),
            Column("Question", fill=True),
            Column("No longer finds", fill=True),
            Column("", "muted", "whole", right=True),
        )
        yield Table(columns, rows)


def _shares_found(gate: Mapping[str, Any]) -> str:
    asked = gate["questions"] - gate["made"]
    sources = [f"{asked:,} asked by people"] if asked else []
    sources += [f"{gate['made']:,} made from memories' own words"] if gate["made"] else []
    return (
        f"Of what {quantity(gate['questions'], 'question')} should find ({', '.join(sources)}), "
        f"{gate['before']:.1%} is found now and {gate['after']:.1%} after the dream."
    )


def _journal_view(dream: ShownDream, journal: Mapping[str, Any]) -> Iterator[Block]:
    changes = list(_journal_changes(journal, dream.memories))
    yield Paragraph()
    yield Paragraph(Styled(f"Journal: {quantity(len(changes), 'change')}", "strong"))
    columns = (
        Column("", "muted", "whole", right=True),
        Column("What", "name"),
        "Before",
        "After",
        Column("Memory", wrap="cut", fill=True),
    )
    yield Table(columns, [(f"#{id_}", what, *rest) for what, id_, *rest in changes])


def _next_steps(dream: ShownDream) -> Iterator[Paragraph]:
    """The commands that go on from here."""
    skipped = dream.report["skipped"]
    if skipped:
        left_out = f"Left out, since people would have found less: {', '.join(skipped)}"
        yield Paragraph(Styled(left_out, "changed"))
    if dream.blamed is not None:
        yield Paragraph(f"Dream without that phase: recollect dream --without {dream.blamed}")
        yield from muted("Dream all the same: recollect dream --no-gate")
    elif dream.dry_run:
        yield from muted("To dream: recollect dream")
    elif dream.id is not None and dream.undone_at is None:
        yield from muted(f"Take it back: recollect dream undo {dream.id}")


# For a pipe


def dream_lines(dream: ShownDream, zone: tzinfo) -> Iterator[tuple[str, ...]]:
    report, gate = dream.report, dream.report["gate"]
    yield "dream", _state(dream), iso_second(dream.at, zone), str(report["memories"]), str(report["answers"])
    sections = dream.sections
    yield from (("count", section.word, str(section.total)) for section in sections)
    for section in sections:
        for item in section.items:
            other = "" if item.other is None else str(item.other)
            yield section.word, str(item.id), item.change, other, item.text
    if gate is not None:
        state = "open" if dream.blamed is None else "closed"
        shares = (repr(gate["before"]), repr(gate["after"]))
        yield "gate", state, str(gate["questions"]), *shares, dream.blamed or ""
        for loss in gate["losses"]:
            id_ = loss["memory"]
            yield "lost", str(loss["phase"]), str(id_), loss["query"], dream.label_of(id_)
    yield from (("left", str(id_), dream.label_of(id_)) for id_ in dream.left)
    yield from (("skipped", phase) for phase in report["skipped"])
    yield from (("report", line) for line in (report["upkeep"] or "").splitlines() if line.strip())
    if dream.journal is not None:
        yield from (("change", *each) for each in _journal_changes(dream.journal, dream.memories))


def _state(dream: ShownDream) -> str:
    """Its id, or why it has none."""
    if dream.id is not None:
        return str(dream.id)
    return "refused" if dream.blamed is not None else "dry run" if dream.dry_run else "nothing to do"


# From the report and the journal


def _sections(report: Mapping[str, Any], memories: Mapping[int, Memory]) -> Iterator[_Section]:
    """In the order in which a dream works."""

    def item(id_: int, change: str = "", other: int | None = None) -> _Item:
        other_text = label(memories.get(other)) if other is not None else ""
        return _Item(id_, label(memories.get(id_)), change, other, other_text)

    def moved(rows: Iterable[Mapping[str, Any]], digits: int = 2) -> list[_Item]:
        shown = [(row["id"], _change(row["before"], row["after"], digits)) for row in rows]
        return [item(id_, change) for id_, change in shown if change]

    replayed = report["interleaved"]
    note = f"{quantity(replayed, 'old memory', 'old memories')} replayed beside new ones" if replayed else ""
    yield _Section("stronger", "Grew stronger", report["stronger"], moved(report["strongest"]), note)
    fading = moved(report["weakest"])
    yield _Section("faded", "Faded", report["faded"], fading, "" if fading else "each by less than 0.0001")
    note = "days until a tenth of it is forgotten"
    yield _Section("stabler", "Will last longer", report["stabler"], moved(report["stablest"], 1), note)
    for word, title, note in (
        ("consolidated", "Settled", "new ones that were replayed, or are a day old"),
        ("archived", "Archived", "very stale and weak; recall still finds them"),
        ("revived", "Came back", "were archived, and are in use again"),
    ):
        yield _Section(word, title, report[word], note=note)
    yield _Section("deeper", "Went deeper", len(report["deeper"]), moved(report["deeper"], 0))
    temper = report["temper"]
    note = f"rankings take traces to the power {temper:.2f}; as they are, people would find less"
    yield _Section("balanced", "Tempered", int(temper < 1), note=note)
    pruned = [item(id_) for id_ in report["pruned"]]
    note = "forgotten; `recollect restore ID` brings one back"
    yield _Section("pruned", "Pruned", len(pruned), pruned, note)
    note = "stale enough to be pruned, but nothing else says it"
    yield _Section("unique", "Spared", report["unique"], note=note)
    merged = [item(gone, other=into) for gone, into in report["merged"]]
    merged += [_merged_observation(memories.get(id_), *pair) for id_, *pair in report["merged_observations"]]
    yield _Section("merged", "Merged", len(merged), merged, "said the same, and live on in the other")
    corrected = [item(gone, other=by) for gone, by in report["corrected"]]
    yield _Section("corrected", "Corrected", len(corrected), corrected, "repeated an error")
    linked = [item(first, quantity(weight, "answer"), second) for first, second, weight in report["linked"]]
    yield _Section("linked", "Linked", report["links"], linked, "keep coming up together")


def _merged_observation(entity: Memory | None, gone: int, into: int) -> _Item:
    """An observation that is merged, with the one that says it; the id is the entity's."""
    if entity is None:
        return _Item(0, label(None))
    texts = {each.id: ellipsize(each.content, 200) for each in entity.observations}
    return _Item(entity.id, f"{entity.name}: {texts.get(gone, '')}", "", entity.id, texts.get(into, ""))


def _journal_changes(journal: Mapping[str, Any], memories: Mapping[int, Memory]) -> Iterator[tuple[str, ...]]:
    """For each field of each memory: what, id, before, after, text."""

    def changed(what: str, id_: int, before: object, after: object) -> tuple[str, ...]:
        return what, str(id_), _figure(before), _figure(after), label(memories.get(id_))

    for lived in journal["lived"]:
        for id_, before, after in zip(lived["ids"], lived["before"], lived["after"], strict=True):
            yield changed(lived["field"], id_, before, after)
    for pruned in journal["pruned"]:
        yield changed("pruned", pruned["id"], "in force", "forgotten")
    for merged in journal["merged"]:
        yield changed("merged", merged["gone"], "in force", f"superseded by #{merged['into']}")
    for gone, by in journal["corrected"]:
        yield changed("corrected", gone, "in force", f"superseded by #{by}")
    texts = {
        each.id: f"{memory.name}: {each.content}"
        for memory in memories.values()
        for each in memory.observations
    }
    for name, ending in (("merged", "superseded by observation "), ("corrected", "corrected by #")):
        for gone, by in journal[f"{name}_observations"]:
            text = ellipsize(texts.get(gone, "(purged since)"), 200)
            yield f"{name} observation", str(gone), "in force", f"{ending}{by}", text
    for first, second, before, after in journal["links"]:
        text = f"{label(memories.get(first))} — #{second} {label(memories.get(second))}"
        yield "link", str(first), _figure(before), _figure(after), text


def _change(before: float, after: float, digits: int) -> str:
    """As few digits as show that something changed; empty where four do not."""
    for places in (digits, 4):
        was, now = f"{before:.{places}f}", f"{after:.{places}f}"
        if was != now:
            return f"{was} → {now}"
    return ""


def _time_span(days: float) -> str:
    """`5 minutes`, `3 hours`, `2.5 days`."""
    minutes = days * 24 * 60
    if minutes < 1:
        return "less than a minute"
    if minutes < 60:
        return quantity(round(minutes), "minute")
    if minutes < 48 * 60:
        return quantity(round(minutes / 60), "hour")
    return f"{days:.1f} days" if days < 10 else f"{days:,.0f} days"


def _figure(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
