"""Replies for a terminal: colours, columns, and nothing that a person has to decode."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from rich.box import ROUNDED, SIMPLE_HEAD
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from recollect.cli.dates import day, span
from recollect.cli.dream_report import dreamed
from recollect.cli.forecast_chart import foretold
from recollect.cli.headings import facts, heading, life
from recollect.cli.matched import doubt, found_in, likely, matched, stems, why
from recollect.cli.missed import missed
from recollect.cli.recipes import compared, profiled
from recollect.cli.replies import (
    Checkup,
    Compared,
    Done,
    Dreamed,
    Foretold,
    Found,
    Listed,
    Missed,
    Opened,
    Profiled,
    Rows,
    Sheets,
    Talk,
    Timeline,
)
from recollect.cli.texts import linked, pairs, talk, text_card, timeline
from recollect.cli.visible import one_line, visible
from recollect.cli.waterfall import figure, longest, waterfall
from recollect.cli.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from rich.console import RenderableType

    from recollect.cli.replies import Check, Links, Mark, Reply
    from recollect.engine.results import Answer, Graph, Hit
    from recollect.records import Memory, Observation, Relation

_MARKS: dict[Mark, tuple[str, str]] = {"ok": ("✓", "green"), "note": ("●", "yellow"), "problem": ("✗", "red")}


def print_tables(reply: Reply, *, color: bool | None) -> None:
    """`color`: False for tables without it, True for a terminal's look even where there is none."""
    console = Console(
        highlight=False,
        soft_wrap=False,
        force_terminal=True if color else None,
        no_color=True if color is False else None,
    )
    for block in _blocks(reply):
        console.print(block)


def _blocks(reply: Reply) -> Iterator[RenderableType]:  # noqa: PLR0912  # one case for each reply
    match reply:
        case Done(message, _, details, mark):
            yield _marked(mark, Text(visible(message)), *(Text(visible(line), "dim") for line in details))
        case Found(answer, zone):
            yield from _found(answer, zone)
        case Missed(why_not, zone):
            yield from missed(why_not, zone)
        case Listed(graph, next_page, query):
            yield from _listed(graph, next_page, query)
        case Profiled(profile, numbers):
            yield from profiled(profile, numbers)
        case Compared(first, second, differences):
            yield from compared(first, second, differences)
        case Opened(graph, history, texts, zone, links):
            for entity in graph.entities:
                yield _card(entity, graph, zone, history=history, links=links.get(entity.id, ()))
            yield from (text_card(text, zone) for text in texts)
        case Talk(_, turns, zone):
            yield from talk(turns, zone)
        case Timeline(told, zone):
            yield from timeline(told, zone)
        case Dreamed(story, _, zone):
            yield from dreamed(story, zone)
        case Foretold(outlook, at, zone):
            yield from foretold(outlook, at, zone)
        case Rows():
            yield from _rows(reply)
        case Sheets(title, _, sheets, notes):
            yield Text(visible(title), "bold")
            for _, sheet in sheets:
                yield from _rows(sheet)
            yield from (Text(visible(note), "dim") for note in notes)
        case Checkup(checks):
            yield from _checkup(checks, reply.problems)
        case _:
            assert_never(reply)


def _marked(mark: Mark, *lines: RenderableType) -> Table:
    sign, style = _MARKS[mark]
    grid = Table.grid(padding=(0, 1))
    grid.add_row(Text(sign, style), Group(*lines))
    return grid


# Search


def _found(answer: Answer, zone: tzinfo | None) -> Iterator[RenderableType]:
    if answer.time is not None:
        yield Text(f"{one_line(answer.time.words)}: {span(answer.time)}", "dim")
    if answer.doubtful and (answer.hits or answer.withheld):
        yield Text(doubt(answer), "yellow")
    elif not answer.hits and answer.withheld:
        yield Text(
            f"{counted(answer.withheld, 'hit')} less likely than that {_are(answer.withheld)} not shown."
        )
    elif not answer.hits:
        yield Text(f"Nothing found for “{one_line(answer.query)}”.", "yellow")
    # One scale for all, so that the bars of two hits compare.
    full = longest([hit.reasons for hit in answer.hits])
    for rank, hit in enumerate(answer.hits, start=1):
        if rank > 1:
            yield ""
        yield _hit(rank, hit, answer, zone)
        if hit.reasons:
            yield Padding(waterfall(hit.reasons, full), (0, 0, 0, 5))
    if full:
        yield Text(f"\nRanked by {answer.profile}; bars from 0 to {figure(full)}.", "dim")
    if answer.left_out:
        yield Text(f"\n{counted(answer.left_out, 'more hit')} did not fit the budget.", "dim")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _hit(rank: int, hit: Hit, answer: Answer, zone: tzinfo | None) -> Table:
    query = answer.query
    # A guess stands back.
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.style = "dim" if answer.doubtful else ""
    grid.add_column(width=3, justify="right", style="dim")
    grid.add_column(ratio=1)
    grid.add_column(justify="right", style="dim", no_wrap=True)
    passage = _highlighted(matched(hit, query), query)
    lines = [heading(hit.memory, zone), *([passage] if passage else []), Text(why(hit), "dim")]
    grid.add_row(str(rank), Group(*lines), "\n".join(filter(None, (f"score {hit.score:.4f}", likely(hit)))))
    return grid


def _highlighted(passage: str, query: str) -> Text:
    text = Text(visible(passage))
    if stems(query):
        begins = "|".join(map(re.escape, stems(query)))
        text.highlight_regex(rf"(?i)\b(?:{begins})\w*", "bold yellow")
    return text


# The graph


def _listed(graph: Graph, next_page: str | None, query: str) -> Iterator[RenderableType]:
    if not graph.entities:
        yield Text("No entities here.", "yellow")
        return
    yield _entities(graph.entities, query)
    # An automatic inverse says nothing that its relation does not.
    stated = [relation for relation in graph.relations if relation.inverse_of is None]
    if stated:
        yield _relations(stated)
    if next_page is not None:
        yield Text.assemble(("There is more: ", "dim"), next_page)


def _entities(entities: Sequence[Memory], query: str) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1), expand=True)
    table.add_column("id", justify="right", style="dim")
    table.add_column("Entity", style="cyan", overflow="fold", max_width=32)
    table.add_column("Type", max_width=16)
    table.add_column("Known", justify="right")
    if query:
        table.add_column("Says", ratio=1)
    else:
        table.add_column("Latest", ratio=1, no_wrap=True, overflow="ellipsis", style="dim")
    for entity in entities:
        known = entity.in_force
        table.add_row(
            str(entity.id),
            Text(one_line(entity.name)),
            Text(one_line(entity.type)),
            str(len(known)),
            _one_of(entity, query),
        )
    return table


def _one_of(entity: Memory, query: str) -> Text:
    """The observation that holds what was sought; where none does, the latest."""
    held = found_in(entity, query) if query else None
    if held is not None:
        return _highlighted(held, query)
    known = entity.in_force
    return Text(one_line(known[-1].content) if known else "", "dim")


def _relations(relations: Sequence[Relation]) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1))
    table.add_column("From", style="cyan", overflow="fold")
    table.add_column("Relation", overflow="fold")
    table.add_column("To", style="cyan", overflow="fold")
    for relation in relations:
        table.add_row(
            Text(one_line(relation.source_name)),
            Text(one_line(relation.type)),
            Text(one_line(relation.target_name)),
        )
    return table


def _card(entity: Memory, graph: Graph, zone: tzinfo | None, *, history: bool, links: Links) -> Panel:
    grid = Table.grid(padding=(0, 2, 0, 0), expand=True)
    grid.add_column(width=1)
    grid.add_column(ratio=1)
    grid.add_column(justify="right", style="dim", no_wrap=True)
    for observation in entity.observations:
        if observation.in_force:
            grid.add_row(Text("•", "cyan"), Text(visible(observation.content)), _about(observation, zone))
        elif history and observation.deleted_at is None:
            grid.add_row(
                Text("✗", "red"), Text(visible(observation.content), "dim strike"), _about(observation, zone)
            )
    if not entity.in_force:
        grid.add_row("", Text("nothing is known about it yet", "dim italic"), "")
    touching = _touching(entity, graph.relations)
    if touching:
        grid.add_row("", "", "")
    widest = max((len(one_line(each.type)) for each in touching), default=0)
    for relation in touching:
        grid.add_row(*_arrow(relation, entity, widest, zone))
    known = [*life(entity), *linked(links)]
    return Panel(
        Padding(Group(grid, "", pairs(known)) if known else grid, (0, 1)),
        box=ROUNDED,
        title=Text(one_line(entity.name), "bold cyan"),
        title_align="left",
        subtitle=Text(facts(entity), "dim"),
        subtitle_align="right",
        border_style="dim",
    )


def _touching(entity: Memory, relations: Sequence[Relation]) -> list[Relation]:
    """Its relations; of one and its automatic inverse, only the one that starts here."""
    with_inverse = {each.inverse_of for each in relations}
    return [
        each
        for each in relations
        if each.source == entity.id
        or (each.target == entity.id and each.inverse_of is None and each.id not in with_inverse)
    ]


def _about(observation: Observation, zone: tzinfo | None) -> str:
    """`decision · 2026-03-01 · #7`: its kind where it has one, its day or its last one, its id."""
    kind = [] if observation.kind == "generic" else [one_line(observation.kind)]
    began = day(observation.happened_at or observation.created_at, zone)
    ended = observation.superseded_at
    return " · ".join([*kind, began if ended is None else f"until {day(ended, zone)}", f"#{observation.id}"])


def _arrow(relation: Relation, entity: Memory, widest: int, zone: tzinfo | None) -> tuple[Text, Text, str]:
    outward = relation.source == entity.id
    other = relation.target_name if outward else relation.source_name
    context = f"  {one_line(relation.context)}" if relation.context else ""
    span = Text.assemble(
        (one_line(relation.type).ljust(widest), "green"), "  ", one_line(other), (context, "dim")
    )
    named = (("since", relation.since), ("until", relation.until))
    held = " ".join(f"{word} {day(at, zone)}" for word, at in named if at is not None)
    return Text("→" if outward else "←", "green"), span, held


# Small tables


def _rows(reply: Rows) -> Iterator[RenderableType]:
    if reply.title:
        yield Text(visible(reply.title), "bold")
    table = Table(box=SIMPLE_HEAD, show_header=any(reply.columns), header_style="bold", padding=(0, 1))
    for place, column in enumerate(reply.columns):
        first = place == 0
        table.add_column(
            column,
            style="cyan" if first else "",
            overflow="fold",
            no_wrap=first,
            justify="right" if place in reply.right else "left",
        )
    for row in reply.rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    if reply.rows:
        yield table
    if reply.footer:
        yield Text(visible(reply.footer), "dim")


def _checkup(checks: Sequence[Check], problems: int) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for check in checks:
        sign, style = _MARKS[check.mark]
        remedy = [Text(f"→ {visible(check.remedy)}", "yellow")] if check.remedy else []
        grid.add_row(Text(sign, style), Text(check.what, "bold"), Group(Text(visible(check.said)), *remedy))
    yield grid
    yield ""
    ending = "1 problem" if problems == 1 else f"{problems} problems"
    yield Text("All is well.", "green") if not problems else Text(f"{ending} found.", "red")
