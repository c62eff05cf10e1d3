"""`recollect dream`: dream now, list, show and undo dreams."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from recollect.cli.command import REFUSED, Call, command, group, option
from recollect.cli.options import DRY_RUN, YES, confirm, iso_minute, memory_id
from recollect.cli.rendering import (
    SIGNS,
    Column,
    Paragraph,
    Result,
    Styled,
    Table,
    muted,
    picked,
    stacked,
    steps,
    titled,
)
from recollect.cli.views import label
from recollect.domain.errors import Conflict
from recollect.domain.lazy_dataclass import dataclass
from recollect.text.phrases import ellipsize, memories_text, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from recollect.cli.rendering import Block, Role, Words
    from recollect.domain.records import Memory
    from recollect.dreams.dreaming import DreamResult
    from recollect.engine import Engine


PHASES = (*("consolidate", "downscale", "merge", "correct", "prune"), *("place", "promote", "link", "report"))
_RECORD = ("id", "at", "undone_at", "phases", "report")
# The names of the stages, in order.
_STAGES = (
    "Reading memories",
    "Finding repeats",
    "Finding copies of errors",
    "Testing the plan",
    "Writing the report",
    "Storing",
)


@command(
    "history",
    "recollect dream history",
    "recollect dream history 3 --changes",
    "recollect dream history --json | jq '.dreams[0]'",
)
@click.argument("id_", metavar="[ID]", type=memory_id, required=False)
@option("--changes", "Include the journal: each field, before and after.")
@option("-n --limit", type=click.IntRange(1, 1000), default=20)
def dream_history_command(call: Call, id_: int | None, changes: bool, limit: int) -> Result:
    """List dreams, the newest first, or show what one changed."""
    memory, zone = call.memory(), call.zone
    if id_ is None:
        found = memory.dreams.history(limit)
        rows = [
            (
                *(str(each.id), iso_minute(each.at, zone), _brief_report(each.report)),
                iso_minute(each.undone_at, zone) if each.undone_at else "",
            )
            for each in found
        ]
        next_ = "To show one: recollect dream history ID"
        if not found:
            next_ = "No dreams yet. To dream: recollect dream"
        data = {"dreams": [picked(each, *_RECORD) for each in found]}
        return Result.table(data, ("Dream", "When", "Changes", "Undone"), rows, next_)
    record, journal = memory.dreams.journal(id_)
    named = _ids_in_report(record.report)
    memories = memory.get_many(sorted({*named, *(_ids_in_journal(journal) if changes else ())}))
    dream = _ShownDream(
        record.report,
        memories,
        record.at,
        record.id,
        undone_at=record.undone_at,
        journal=journal if changes else None,
        in_full=True,
    )
    shown = {**picked(record, *_RECORD), "memories": _texts(memories, named), "changes": journal}
    return Result(shown, _dream_view(dream, zone))


@command("undo", "recollect dream undo 3", "recollect dream undo 3 --later --yes   # and every dream since")
@click.argument("id_", metavar="ID", type=memory_id)
@option("--later", "Also undo the dreams after it.")
@YES
def dream_undo_command(call: Call, id_: int, later: bool, yes: bool) -> Result:
    """Undo a dream.

    Memories that changed since then keep their state, and the answer names them. A dream that later dreams
    build on can only be undone with them.
    """
    from recollect.admin import Internals

    memory = call.memory()
    record, _ = memory.dreams.journal(id_)
    since = [each for each in Internals(memory).dreams_undone_with(id_) if each != id_]
    if since and not later:
        raise Conflict(
            f"Dream {since[0]} came after dream {id_} and builds on it. To undo all of them: "
            f"recollect dream undo {id_} --later"
        )
    if record.undone_at is None:
        also = f" and the {quantity(len(since), 'dream')} since" if since else ""
        confirm(f"Undo dream {id_}{also}?", yes=yes)
    done = memory.dreams.undo(id_, later=later)
    memories = memory.get_many(done.left)
    left = [{"id": each, "text": label(memories.get(each))} for each in done.left]
    dreams = f"dream {done.ids[0]}" if len(done.ids) == 1 else f"dreams {', '.join(map(str, done.ids))}"
    kept = f"; kept {memories_text(len(left))} that changed since" if left else ""
    return Result.message(
        f"Undid {dreams}: {quantity(done.changes, 'change')} reverted{kept}.",
        {"undone": done.ids, "changes": done.changes, "left": left},
        [f"Kept, because it changed since: #{each['id']} {each['text']}" for each in left],
        "note" if left else "ok",
    )


@group(
    "dream",
    (dream_history_command, dream_undo_command),
    "recollect dream --dry-run",
    "recollect dream",
    "recollect dream --without prune --without merge",
    "recollect dream --phase link --phase report",
    "recollect dream undo 3",
    if_stopped="A dream is stored as a whole or not at all; `recollect dream history` lists stored dreams.",
)
@DRY_RUN
@option(
    "--phase PHASE...",
    f"Only this phase; repeatable: {', '.join(PHASES)}.",
    to="phases",
    type=click.Choice(PHASES),
)
@option("--without PHASE...", "Leave out this phase; repeatable.", type=click.Choice(PHASES))
@option("--no-gate")
def dream_command(
    call: Call, dry_run: bool, phases: tuple[str, ...], without: tuple[str, ...], no_gate: bool
) -> Result | None:
    """Strengthen what is used, fade the rest, merge repeats.

    Memories recalled since the last dream become stronger; the others fade a little. Repeats are merged, and
    memories that appear in the same answers are linked. `recollect dream undo` reverts all of it.

    Before it writes, the dream tests its plan with past questions. If they would find less, the dream changes
    nothing and exits with status 1.
    """
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        if dry_run or phases or without or no_gate:
            raise click.UsageError(
                "These options work only with `recollect dream` itself; leave them out here.", context
            )
        return None
    if not set(phases or PHASES) - set(without):
        raise click.UsageError("That leaves no phase; leave out fewer of them.", context)
    memory = call.memory()
    try:
        with steps(*_STAGES) as progress:
            done = memory.dream(
                phases=phases or None, without=without, dry_run=dry_run, gate=not no_gate, progress=progress
            )
    except Conflict as error:
        raise Conflict(
            "Another process is dreaming on this memory. Try again when it is done; nothing was changed."
        ) from error
    return dream_result(memory, done, call.zone, dry_run=dry_run)


def dream_result(memory: Engine, done: DreamResult, zone: tzinfo, *, dry_run: bool) -> Result:
    report = asdict(done.report)
    named = _ids_in_report(report)
    memories = memory.get_many(sorted({*named, *done.left}))
    dream = _ShownDream(report, memories, done.at, done.id, dry_run=dry_run, left=done.left)
    data = {
        "id": done.id,
        "at": done.at,
        "dry_run": dry_run,
        "written": done.id is not None,
        "gate_open": dream.blamed is None,
        "report": report,
        "left": done.left,
        "memories": _texts(memories, named),
    }
    return Result(data, list(_dream_view(dream, zone)), exit_code=REFUSED if dream.blamed else 0)


def _texts(memories: Mapping[int, Memory], ids: Iterable[int]) -> dict[str, str]:
    return {str(id_): memories[id_].name or memories[id_].text for id_ in sorted(ids) if id_ in memories}


# The view of a dream: the sections of its report, the gate, and the journal

_SHOWN = 3
"""Number of memories that each section names by default."""
_MAX_LOSSES_SHOWN = 10
_ROLES: dict[str, Role] = {
    **dict.fromkeys(("faded", "archived"), "changed"),
    **dict.fromkeys(("pruned", "corrected"), "bad"),
}
"""The style of a section; the other sections are green."""
_SECTIONS = {
    "stronger": ("Stronger", ""),
    "faded": ("Faded", ""),
    "stabler": ("Last longer", "days until a tenth of the strength is lost"),
    "consolidated": ("Settled", "replayed, or a day old"),
    "archived": ("Archived", "unused and weak; recall still finds them"),
    "revived": ("Revived", "archived before, and used again"),
    "deeper": ("Deeper", "in more lasting storage"),
    "pruned": ("Pruned", "forgotten; `recollect restore ID` brings one back"),
    "unique": ("Kept", "stale enough to prune, but nothing else says the same"),
    "merged": ("Merged", "repeats of another memory"),
    "corrected": ("Corrected", "repeated an error"),
    "linked": ("Linked", "often in the same answers"),
}
"""The sections of a report, in the order of the phases: title and note."""
_BRIEF = {"consolidated": "settled"}
_NOT_BRIEF = frozenset({"stabler", "unique"})


@dataclass(frozen=True, slots=True)
class _ShownDream:
    """The report of a dream, with the memories that it names."""

    report: Mapping[str, Any]
    memories: Mapping[int, Memory]
    at: datetime
    id: int | None
    """None if the dream wrote nothing."""
    dry_run: bool = False
    undone_at: datetime | None = None
    left: Sequence[int] = ()
    """Memories that changed during the dream, so that the dream skipped them."""
    journal: Mapping[str, Any] | None = None
    """The journal, if the view shows it."""
    in_full: bool = False
    """Whether to name all memories of the report, not only a few of each section."""

    @property
    def blamed(self) -> str | None:
        """The phase that the gate refused, if any. In that case nothing was written."""
        gate = self.report["gate"]
        return None if gate is None or gate["blame"] is None else str(gate["blame"])

    def label_of(self, id_: int) -> str:
        return label(self.memories.get(id_))


class _Section(NamedTuple):
    """Memories with the same change."""

    word: str
    title: str
    total: int
    rows: Sequence[tuple[Words, ...]] = ()
    """Each row has the id, the change, and the text with the related text below it."""
    note: str = ""


def _ids_in_report(report: Mapping[str, Any]) -> list[int]:
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


def _ids_in_journal(journal: Mapping[str, Any]) -> list[int]:
    """Return the ids of the journal's memories. Entities of its observations are in the report."""
    changed = [int(id_) for what, id_, *_ in _journal_changes(journal, {}) if "observation" not in what]
    return [*changed, *(second for _, second, *_ in journal["links"])]


def _brief_report(report: Mapping[str, Any]) -> str:
    """Return a summary for a list of dreams: `9 stronger, 39 faded, 1 merged`."""
    counts = [
        f"{each.total:,} {_BRIEF.get(each.word, each.word)}"
        for each in _sections(report, {})
        if each.total and each.word not in _NOT_BRIEF
    ]
    skipped = [f"without {', '.join(report['skipped'])}"] if report["skipped"] else []
    return ", ".join([*(counts or ["nothing changed"]), *skipped])


def _dream_view(dream: _ShownDream, zone: tzinfo) -> Iterator[Block]:
    report = dream.report
    yield from _header_view(dream, zone)
    sections = [each for each in _sections(report, dream.memories) if each.total]
    for section in sections:
        sign = Styled("● ", _ROLES.get(section.word, "good"))
        note = Styled(f"  {section.note}" if section.note else "", "muted")
        yield Paragraph()
        yield Paragraph((sign, Styled(section.title, "strong"), f" {section.total:,}", note))
        if section.rows:
            columns = (
                Column(role="muted", wrap="whole", right=True),
                Column(role=_ROLES.get(section.word, "good"), wrap="whole"),
                Column(),
            )
            most = None if dream.in_full else _SHOWN
            yield Table(columns, section.rows, True, 4, most, section.total)
    if report["gate"] is not None:
        yield from _gate_view(dream, report["gate"])
    if dream.left:
        yield titled(f"\nSkipped, since they changed during the dream: {len(dream.left):,}", "changed")
        ids_and_texts = (Column(role="muted", right=True), Column(wrap="cut"))
        yield Table(ids_and_texts, [(str(id_), dream.label_of(id_)) for id_ in dream.left], grid=True)
    if report["upkeep"]:
        yield titled("\nReport")
        lines = [(line,) for line in report["upkeep"].splitlines() if line.strip()]
        yield Table((Column(),), lines, grid=True, indent=4)
    if dream.journal is not None:
        changes = list(_journal_changes(dream.journal, dream.memories))
        yield titled(f"\nJournal: {quantity(len(changes), 'change')}")
        yield Table(("What", "id", "Before", "After", Column("Memory", fill=True)), changes)
    yield Paragraph()
    yield from _next_steps(dream)


def _header_view(dream: _ShownDream, zone: tzinfo) -> Iterator[Block]:
    report = dream.report
    if not report["memories"]:
        yield Paragraph((SIGNS["ok"], " Nothing to do: the memory is empty."))
        return
    if dream.blamed is not None:
        yield Paragraph((SIGNS["problem"], Styled(" The dream was refused: nothing was written.", "strong")))
    elif dream.dry_run:
        title = Styled(" What a dream would do now", "strong")
        yield Paragraph((SIGNS["note"], title, "; nothing was written."))
    elif dream.id is None:
        yield Paragraph((SIGNS["ok"], Styled(" Nothing to do.", "strong")))
    else:
        undone = f"  undone {iso_minute(dream.undone_at, zone)}" if dream.undone_at else ""
        title = Styled(f" Dream {dream.id}", "strong")
        yield Paragraph((SIGNS["ok"], title, f"  {iso_minute(dream.at, zone)}", Styled(undone, "bad")))
    memories = memories_text(report["memories"])
    answers = quantity(report["answers"], "answer") if report["answers"] else "no answers"
    basis = f"  First dream: {memories}, {answers} so far."
    if report["days"] is not None:
        basis = f"  {memories}, {answers} since the last dream, {_time_span(report['days'])} ago."
    yield from muted(basis, "  It would have done this:" if dream.blamed else "")


def _gate_view(dream: _ShownDream, gate: Mapping[str, Any]) -> Iterator[Block]:
    blamed, questions = dream.blamed, gate["questions"]
    yield Paragraph()
    if blamed is not None:
        blame = f" The phase {blamed} would lose too many answers."
        yield Paragraph((SIGNS["problem"], Styled(blame, "strong")))
    else:
        nothing = "" if questions else "  no questions yet"
        yield Paragraph((SIGNS["ok"], Styled(" Test passed", "strong"), Styled(nothing, "muted")))
    if questions:
        asked = questions - gate["made"]
        sources = [f"{asked:,} from your log"] if asked else []
        sources += [f"{gate['made']:,} made from memories"] if gate["made"] else []
        found = (
            f"{quantity(questions, 'question')} ({', '.join(sources)}): {gate['before']:.1%} of the "
            f"answers are found before the dream, {gate['after']:.1%} after it."
        )
        yield Paragraph(Styled(found, "muted"), 2)
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
        yield Table(columns, rows, most=None if dream.in_full else _MAX_LOSSES_SHOWN)


def _next_steps(dream: _ShownDream) -> Iterator[Paragraph]:
    skipped = dream.report["skipped"]
    if skipped:
        yield titled(f"Skipped phases, which would lose too many answers: {', '.join(skipped)}", "changed")
    if dream.blamed is not None:
        yield Paragraph(f"To leave out that phase: recollect dream --without {dream.blamed}")
        yield from muted("To dream anyway: recollect dream --no-gate")
    elif dream.dry_run:
        yield from muted("To dream: recollect dream")
    elif dream.id is not None and dream.undone_at is None:
        yield from muted(f"Undo: recollect dream undo {dream.id}")


# From the report and the journal


def _sections(report: Mapping[str, Any], memories: Mapping[int, Memory]) -> Iterator[_Section]:
    def row(id_: int, change: str = "", other: int | None = None, joint: str = "→") -> tuple[Words, ...]:
        text = label(memories.get(id_))
        below = "" if other is None else f"  {joint} {label(memories.get(other))}  #{other}"
        return str(id_), change, stacked(text, below)

    def moved_rows(rows: Iterable[Mapping[str, Any]], digits: int = 2) -> list[tuple[Words, ...]]:
        shown = [(each["id"], _change_text(each["before"], each["after"], digits)) for each in rows]
        return [row(id_, change) for id_, change in shown if change]

    def merged_observation(id_: int, gone: int, into: int) -> tuple[Words, ...]:
        """Return the row of a merged observation, which has the id of its entity."""
        entity = memories.get(id_)
        texts = {each.id: ellipsize(each.content, 200) for each in entity.observations} if entity else {}
        text = f"{entity.name}: {texts.get(gone, '')}" if entity else label(None)
        return str(id_), "", stacked(text, f"  → {texts.get(into, '')}")

    merged = [row(gone, other=into) for gone, into in report["merged"]]
    rows = {
        "stronger": moved_rows(report["strongest"]),
        "faded": moved_rows(report["weakest"]),
        "stabler": moved_rows(report["stablest"], 1),
        "deeper": moved_rows(report["deeper"], 0),
        "pruned": [row(id_) for id_ in report["pruned"]],
        "merged": [*merged, *(merged_observation(*each) for each in report["merged_observations"])],
        "corrected": [row(gone, "", by, "corrected by") for gone, by in report["corrected"]],
        "linked": [
            row(one, quantity(weight, "answer"), other, "—") for one, other, weight in report["linked"]
        ],
    }
    old = report["interleaved"]
    replayed = f"{quantity(old, 'old memory', 'old memories')} replayed with new ones" if old else ""
    notes = {"stronger": replayed, "faded": "" if rows["faded"] else "each by less than 0.0001"}
    counts = {**report, "linked": report["links"], "merged": rows["merged"]}
    for word, (title, note) in _SECTIONS.items():
        total = counts[word] if isinstance(counts[word], int) else len(counts[word])
        yield _Section(word, title, total, rows.get(word, ()), notes.get(word, note))


def _journal_changes(journal: Mapping[str, Any], memories: Mapping[int, Memory]) -> Iterator[tuple[str, ...]]:
    """Return a row for each changed field of each memory: field, id, before, after, text."""

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


def _change_text(before: float, after: float, digits: int) -> str:
    """Return `0.86 → 0.90`, with four decimals if `digits` show no change; empty if four show none."""
    for places in (digits, 4):
        was, now = f"{before:.{places}f}", f"{after:.{places}f}"
        if was != now:
            return f"{was} → {now}"
    return ""


def _time_span(days: float) -> str:
    """Return a duration as `5 minutes`, `3 hours` or `2.5 days`."""
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
