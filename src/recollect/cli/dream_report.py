"""A dream for a terminal: what a night did, as a person likes to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recollect.cli.dates import moment
from recollect.cli.dream_story import span
from recollect.cli.visible import one_line, visible
from recollect.cli.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from rich.console import RenderableType

    from recollect.cli.dream_story import Gate, Item, Section, Story

_SHOWN = 3
"""Memories of each sort, unless all are asked for; and of what would be lost."""
_LOST_SHOWN = 10
_SIGNS = {
    "stronger": ("▲", "green"),
    "faded": ("▼", "yellow"),
    "stabler": ("◆", "green"),
    "consolidated": ("●", "green"),
    "archived": ("○", "yellow"),
    "revived": ("●", "green"),
    "deeper": ("▲", "cyan"),
    "balanced": ("≈", "yellow"),
    "pruned": ("✗", "red"),
    "unique": ("●", "cyan"),
    "merged": ("⇒", "cyan"),
    "corrected": ("✗", "red"),
    "linked": ("∞", "cyan"),
}


def dreamed(story: Story, zone: tzinfo | None) -> Iterator[RenderableType]:
    if not story.memories:
        yield Text.assemble(("✓ ", "green"), "Nothing to dream of: the memory is empty.")
        return
    yield _headline(story, zone)
    yield Text(f"  {_told_of(story)}", "dim")
    if story.is_closed:
        yield Text("  This is what it would have done:", "dim")
    for section in story.sections:
        yield ""
        yield _title(section)
        if section.items:
            yield Padding(_items(section, story.in_full), (0, 0, 0, 4))
    if story.gate is not None:
        yield from _gate(story.gate, in_full=story.in_full)
    if story.left:
        yield ""
        yield Text(f"Changed meanwhile, and left as they are: {len(story.left):,}", "yellow")
        yield Padding(_named(story.left), (0, 0, 0, 4))
    if story.upkeep:
        yield ""
        yield Text("Worth a look", "bold")
        yield Padding(Text(visible(story.upkeep)), (0, 0, 0, 4))
    if story.changes:
        yield from _changes(story)
    yield ""
    yield from (Text(line, style) for line, style in _what_next(story))


def _headline(story: Story, zone: tzinfo | None) -> Text:
    when = moment(story.at, zone)
    if story.is_closed:
        return Text.assemble(("✗ ", "red"), ("The gate is closed: nothing was written.", "bold"))
    if story.dry_run:
        return Text.assemble(
            ("● ", "yellow"), ("What a dream would do now", "bold"), "; nothing was written."
        )
    if story.id is None:
        return Text.assemble(("✓ ", "green"), ("Slept well: nothing to do.", "bold"))
    undone = f"  undone {moment(story.undone_at, zone)}" if story.undone_at else ""
    return Text.assemble(("✓ ", "green"), (f"Dream {story.id}", "bold"), f"  {when}", (undone, "red"))


def _told_of(story: Story) -> str:
    """`48 memories, 12 answers since the last dream, 8 hours before`."""
    memories = counted(story.memories, "memory", "memories")
    answers = counted(story.answers, "answer") if story.answers else "no answer"
    if story.days is None:
        return f"The first dream: {memories}, {answers} until now."
    return f"{memories}, {answers} since the dream before, {span(story.days)} earlier."


def _shares(gate: Gate) -> str:
    asked = gate.questions - gate.made
    people = [f"{asked:,} asked by people"] if asked else []
    made = [f"{gate.made:,} made from memories' own words"] if gate.made else []
    return (
        f"Of what {counted(gate.questions, 'question')} should find ({', '.join(people + made)}), "
        f"{gate.before:.1%} is found now and {gate.after:.1%} after the dream."
    )


def _title(section: Section) -> Text:
    sign, style = _SIGNS[section.word]
    note = f"  {section.note}" if section.note else ""
    return Text.assemble((f"{sign} ", style), (section.title, "bold"), f" {section.total:,}", (note, "dim"))


def _items(section: Section, in_full: bool) -> Table:
    shown = section.items if in_full else section.items[:_SHOWN]
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    changes = any(item.change for item in shown)
    if changes:
        grid.add_column(no_wrap=True, style=_SIGNS[section.word][1])
    grid.add_column(ratio=1, overflow="ellipsis", no_wrap=not in_full)
    grid.add_column(no_wrap=True, style="dim", justify="right")
    for item in shown:
        first = [item.change] if changes else []
        grid.add_row(*first, Text(visible(one_line(item.text))), f"#{item.id}")
        if item.other is not None:
            other = f"#{item.other}" if item.other != item.id else ""
            grid.add_row(*[""] * len(first), Text(f"  {_joint(section)} {one_line(item.other_text)}"), other)
    more = section.total - len(shown)
    if more:
        grid.add_row(*([""] if changes else []), Text(f"and {more:,} more", "dim"), "")
    return grid


def _joint(section: Section) -> str:
    return {"merged": "→", "corrected": "corrected by", "linked": "—"}.get(section.word, "→")


def _named(items: tuple[Item, ...]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(ratio=1, overflow="ellipsis", no_wrap=True)
    grid.add_column(no_wrap=True, style="dim", justify="right")
    for item in items:
        grid.add_row(Text(one_line(item.text)), f"#{item.id}")
    return grid


def _gate(gate: Gate, *, in_full: bool) -> Iterator[RenderableType]:
    yield ""
    if gate.blame is not None:
        yield Text.assemble(("✗ ", "red"), (f"{gate.blame} would lose too much of what people find.", "bold"))
    elif not gate.questions:
        yield Text.assemble(("✓ ", "green"), ("The gate is open", "bold"), ("  nothing to ask yet", "dim"))
        return
    else:
        yield Text.assemble(("✓ ", "green"), ("The gate is open", "bold"))
    yield Padding(Text(_shares(gate), "dim"), (0, 0, 0, 2))
    if gate.lost:
        yield _lost(gate, in_full=in_full)


def _lost(gate: Gate, *, in_full: bool) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1), expand=True)
    table.add_column("Lost by", style="red", no_wrap=True)
    table.add_column("Question", ratio=1)
    table.add_column("No longer finds", ratio=1)
    table.add_column("", style="dim", justify="right", no_wrap=True)
    shown = gate.lost if in_full else gate.lost[:_LOST_SHOWN]
    for loss in shown:
        table.add_row(loss.phase, Text(one_line(loss.query)), Text(one_line(loss.text)), f"#{loss.memory}")
    if len(gate.lost) > len(shown):
        table.add_row("", Text(f"and {len(gate.lost) - len(shown):,} more", "dim"), "", "")
    return table


def _changes(story: Story) -> Iterator[RenderableType]:
    yield ""
    yield Text(f"Journal: {counted(len(story.changes), 'change')}", "bold")
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1), expand=True)
    table.add_column("", style="dim", justify="right", no_wrap=True)
    table.add_column("What", style="cyan")
    table.add_column("Before", overflow="fold")
    table.add_column("After", overflow="fold")
    table.add_column("Memory", ratio=1, overflow="ellipsis", no_wrap=True)
    for each in story.changes:
        table.add_row(f"#{each.id}", each.what, each.before, each.after, Text(one_line(each.text)))
    yield table


def _what_next(story: Story) -> Iterator[tuple[str, str]]:
    """The commands that go on from here."""
    if story.skipped:
        yield f"Left out, since people would have found less: {', '.join(story.skipped)}", "yellow"
    if story.gate is not None and story.gate.blame is not None:
        yield f"Dream without that phase: recollect dream --without {story.gate.blame}", ""
        yield "Dream all the same: recollect dream --no-gate", "dim"
    elif story.dry_run:
        yield "To dream: recollect dream", "dim"
    elif story.id is not None and story.undone_at is None:
        yield f"Take it back: recollect dream undo {story.id}", "dim"
