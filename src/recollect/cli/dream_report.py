"""What a dream did: its report by section, the gate, and the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.cli.memory_view import label
from recollect.cli.rendering import SIGNS, Column, Paragraph, Styled, Table, muted, stacked, titled
from recollect.cli.times import iso_minute
from recollect.lazy_dataclass import dataclass
from recollect.text.phrases import ellipsize, memories_text, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime, tzinfo

    from recollect.cli.rendering import Block, Role, Words
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

    def label_of(self, id_: int) -> str:
        return label(self.memories.get(id_))


class _Section(NamedTuple):
    """Memories that the dream treated alike."""

    word: str
    """For a pipe, at the start of each line."""
    title: str
    total: int
    rows: Sequence[tuple[Words, ...]] = ()
    """Id, change, the other's id, text; and for a terminal the text with the other's below it."""
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
    changed = [int(id_) for what, id_, *_ in _journal_changes(journal, {}) if "observation" not in what]
    return [*changed, *(second for _, second, *_ in journal["links"])]


def brief_report(report: Mapping[str, Any]) -> str:
    """`9 stronger, 39 faded, 1 merged`: for a list of dreams."""
    counts = [
        f"{each.total:,} {_BRIEF.get(each.word, each.word)}"
        for each in _sections(report, {})
        if each.total and each.word not in _NOT_BRIEF
    ]
    skipped = [f"without {', '.join(report['skipped'])}"] if report["skipped"] else []
    return ", ".join([*(counts or ["nothing changed"]), *skipped])


def dream_view(dream: ShownDream, zone: tzinfo) -> Iterator[Block]:
    report = dream.report
    yield from _beginning(dream, zone)
    sections = [each for each in _sections(report, dream.memories) if each.total]
    yield Table(("", ""), [(each.word, str(each.total)) for each in sections], "count", only="pipe")
    for section in sections:
        sign = Styled("● ", _ROLES.get(section.word, "good"))
        note = Styled(f"  {section.note}" if section.note else "", "muted")
        yield Paragraph()
        yield Paragraph((sign, Styled(section.title, "strong"), f" {section.total:,}", note))
        if section.rows:
            columns = (
                Column(role="muted", wrap="whole", right=True),
                Column(role=_ROLES.get(section.word, "good"), wrap="whole"),
                *[Column(only="pipe")] * 2,
                Column(fill=True, only="terminal"),
            )
            most = None if dream.in_full else _SHOWN
            yield Table(columns, section.rows, section.word, True, 4, most, section.total)
    if report["gate"] is not None:
        yield from _gate_view(dream, report["gate"])
    if dream.left:
        yield titled(f"\nChanged meanwhile, and left as they are: {len(dream.left):,}", "changed")
        columns = (Column(role="muted", right=True), Column(wrap="cut", fill=True))
        yield Table(columns, [(str(id_), dream.label_of(id_)) for id_ in dream.left], "left", grid=True)
    yield Table(("",), [(phase,) for phase in report["skipped"]], "skipped", only="pipe")
    if report["upkeep"]:
        yield titled("\nWorth a look")
        lines = [(line,) for line in report["upkeep"].splitlines() if line.strip()]
        yield Table((Column(),), lines, "report", grid=True, indent=4)
    if dream.journal is not None:
        changes = list(_journal_changes(dream.journal, dream.memories))
        yield titled(f"\nJournal: {quantity(len(changes), 'change')}")
        yield Table(("What", "id", "Before", "After", Column("Memory", fill=True)), changes, "change")
    yield Paragraph()
    yield from _next_steps(dream)


def _beginning(dream: ShownDream, zone: tzinfo) -> Iterator[Block]:
    report = dream.report
    ended = "refused" if dream.blamed else "dry run" if dream.dry_run else "nothing to do"
    first = (ended if dream.id is None else str(dream.id), dream.at.astimezone(zone))
    yield Table([""] * 4, [(*first, str(report["memories"]), str(report["answers"]))], "dream", only="pipe")
    if not report["memories"]:
        yield Paragraph((SIGNS["ok"], " Nothing to dream of: the memory is empty."))
        return
    if dream.blamed is not None:
        yield Paragraph((SIGNS["problem"], Styled(" The gate is closed: nothing was written.", "strong")))
    elif dream.dry_run:
        title = Styled(" What a dream would do now", "strong")
        yield Paragraph((SIGNS["note"], title, "; nothing was written."))
    elif dream.id is None:
        yield Paragraph((SIGNS["ok"], Styled(" Slept well: nothing to do.", "strong")))
    else:
        undone = f"  undone {iso_minute(dream.undone_at, zone)}" if dream.undone_at else ""
        title = Styled(f" Dream {dream.id}", "strong")
        yield Paragraph((SIGNS["ok"], title, f"  {iso_minute(dream.at, zone)}", Styled(undone, "bad")))
    memories = memories_text(report["memories"])
    answers = quantity(report["answers"], "answer") if report["answers"] else "no answer"
    basis = f"  The first dream: {memories}, {answers} until now."
    if report["days"] is not None:
        basis = f"  {memories}, {answers} since the dream before, {_time_span(report['days'])} earlier."
    yield from muted(basis, "  This is what it would have done:" if dream.blamed else "")


def _gate_view(dream: ShownDream, gate: Mapping[str, Any]) -> Iterator[Block]:
    blamed, questions = dream.blamed, gate["questions"]
    state = "closed" if blamed else "open"
    row = (state, str(questions), gate["before"], gate["after"], blamed or "")
    yield Table([""] * 5, [row], "gate", only="pipe")
    yield Paragraph()
    if blamed is not None:
        blame = f" {blamed} would lose too much of what people find."
        yield Paragraph((SIGNS["problem"], Styled(blame, "strong")))
    else:
        nothing = "" if questions else "  nothing to ask yet"
        yield Paragraph((SIGNS["ok"], Styled(" The gate is open", "strong"), Styled(nothing, "muted")))
    if questions:
        asked = questions - gate["made"]
        sources = [f"{asked:,} asked by people"] if asked else []
        sources += [f"{gate['made']:,} made from memories' own words"] if gate["made"] else []
        yield from muted(
            f"  Of what {quantity(questions, 'question')} should find ({', '.join(sources)}), "
            f"{gate['before']:.1%} is found now and {gate['after']:.1%} after the dream."
        )
    if gate["losses"]:
        rows = [
            (str(loss["phase"]), str(loss["memory"]), loss["query"], dream.label_of(loss["memory"]))
            for loss in gate["losses"]
        ]
        columns = (
            Column("Lost by", "bad", "whole"),
            Column("", "muted", "whole", right=True),
            Column("Question", fill=True),
            Column("No longer finds", fill=True),
        )
        yield Table(columns, rows, "lost", most=None if dream.in_full else _LOST_SHOWN)


def _next_steps(dream: ShownDream) -> Iterator[Paragraph]:
    """The commands that go on from here."""
    skipped = dream.report["skipped"]
    if skipped:
        yield titled(f"Left out, since people would have found less: {', '.join(skipped)}", "changed")
    if dream.blamed is not None:
        yield Paragraph(f"Dream without that phase: recollect dream --without {dream.blamed}")
        yield from muted("Dream all the same: recollect dream --no-gate")
    elif dream.dry_run:
        yield from muted("To dream: recollect dream")
    elif dream.id is not None and dream.undone_at is None:
        yield from muted(f"Take it back: recollect dream undo {dream.id}")


# From the report and the journal


def _sections(report: Mapping[str, Any], memories: Mapping[int, Memory]) -> Iterator[_Section]:
    """In the order in which a dream works."""

    def row(id_: int, change: str = "", other: int | None = None, joint: str = "→") -> tuple[Words, ...]:
        text = label(memories.get(id_))
        below = "" if other is None else f"  {joint} {label(memories.get(other))}  #{other}"
        return str(id_), change, "" if other is None else str(other), text, stacked(text, below)

    def moved(rows: Iterable[Mapping[str, Any]], digits: int = 2) -> list[tuple[Words, ...]]:
        shown = [(each["id"], _change(each["before"], each["after"], digits)) for each in rows]
        return [row(id_, change) for id_, change in shown if change]

    def merged_observation(id_: int, gone: int, into: int) -> tuple[Words, ...]:
        """The id is the entity's."""
        entity = memories.get(id_)
        texts = {each.id: ellipsize(each.content, 200) for each in entity.observations} if entity else {}
        text = f"{entity.name}: {texts.get(gone, '')}" if entity else label(None)
        return str(id_), "", str(id_), text, stacked(text, f"  → {texts.get(into, '')}")

    old = report["interleaved"]
    note = f"{quantity(old, 'old memory', 'old memories')} replayed beside new ones" if old else ""
    yield _Section("stronger", "Grew stronger", report["stronger"], moved(report["strongest"]), note)
    fading = moved(report["weakest"])
    yield _Section("faded", "Faded", report["faded"], fading, "" if fading else "each by less than 0.0001")
    note = "days until a tenth of it is forgotten"
    yield _Section("stabler", "Will last longer", report["stabler"], moved(report["stablest"], 1), note)
    note = "new ones that were replayed, or are a day old"
    yield _Section("consolidated", "Settled", report["consolidated"], note=note)
    note = "very stale and weak; recall still finds them"
    yield _Section("archived", "Archived", report["archived"], note=note)
    note = "were archived, and are in use again"
    yield _Section("revived", "Came back", report["revived"], note=note)
    yield _Section("deeper", "Went deeper", len(report["deeper"]), moved(report["deeper"], 0))
    temper = report["temper"]
    note = f"rankings take traces to the power {temper:.2f}; as they are, people would find less"
    yield _Section("balanced", "Tempered", int(temper < 1), note=note)
    pruned = [row(id_) for id_ in report["pruned"]]
    note = "forgotten; `recollect restore ID` brings one back"
    yield _Section("pruned", "Pruned", len(pruned), pruned, note)
    note = "stale enough to be pruned, but nothing else says it"
    yield _Section("unique", "Spared", report["unique"], note=note)
    merged = [row(gone, other=into) for gone, into in report["merged"]]
    merged += [merged_observation(*each) for each in report["merged_observations"]]
    yield _Section("merged", "Merged", len(merged), merged, "said the same, and live on in the other")
    corrected = [row(gone, "", by, "corrected by") for gone, by in report["corrected"]]
    yield _Section("corrected", "Corrected", len(corrected), corrected, "repeated an error")
    linked = [row(one, quantity(weight, "answer"), other, "—") for one, other, weight in report["linked"]]
    yield _Section("linked", "Linked", report["links"], linked, "keep coming up together")


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
