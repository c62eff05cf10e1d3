"""Commands that look at memories: find, graph, show, history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.memory_view import (
    facts_line,
    heading,
    memory_fields,
    speaker_of,
    strength_fields,
)
from recollect.cli.options import limit_option
from recollect.cli.phrases import ellipsize, one_line, quantity
from recollect.cli.resolve import memory_if_any, memory_of, not_found
from recollect.cli.results import Card, Column, Paragraph, Result, Styled, Table, right_aligned
from recollect.cli.shapes import graph_data, links_data, memory_data, picked
from recollect.cli.times import iso_day, iso_minute, iso_second
from recollect.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from recollect.cli.call import Call
    from recollect.cli.results import Block, Cell, Role, Words
    from recollect.engine.engine import Engine
    from recollect.engine.results import Graph
    from recollect.records import Memory, Observation, Relation

    Links = Sequence[tuple[Memory, int]]


@dataclass(frozen=True, slots=True)
class _Text:
    """A note or a message, with what belongs to it."""

    memory: Memory
    mentions: Sequence[Memory]
    """The entities that it names."""
    around: Sequence[Memory]
    """The turns of its conversation near it, itself among them."""
    links: Links


_BEGINS = ("created", "noted", "said", "observed", "related")
_CHANGES = ("updated", "supersedes")


@command("find", "recollect find tide", "recollect find 灯台 --limit 5")
@click.argument("text", nargs=-1, required=True)
@limit_option(50, "Entities at most.")
def find_command(call: Call, text: tuple[str, ...], limit: int) -> Result:
    """List entities that contain these words or this text.

    Looks in names, types and observations: for the words first, then for the text as it is, even inside a
    word. It does not go by meaning; `recollect search` does.
    """
    query = " ".join(text)
    found = call.memory().graph.search_nodes(query, limit=limit)
    return Result(graph_data(found), _list_view(found, query), _graph_lines(found))


@command("graph", "recollect graph", "recollect graph --limit 500 --json > page.json")
@limit_option(100, "Entities on a page.")
@click.option("--after", type=click.IntRange(0), default=0, metavar="ID", help="Begin after this entity.")
def graph_command(call: Call, limit: int, after: int) -> Result:
    """List the graph, a page at a time, oldest entities first."""
    page = call.memory().graph.read_graph(limit=limit, after=after)
    more = None if page.cursor is None else f"recollect graph --limit {limit} --after {page.cursor}"
    warnings = [] if more is None or call.is_terminal else [f"there is more: {more}"]
    return Result(graph_data(page), _list_view(page, "", more), _graph_lines(page), warnings)


@command(
    "show",
    "recollect show 'Marisol Vega' Tidebook",
    "recollect show 12 17",
    "recollect show Tidebook --history",
)
@click.argument("names", metavar="NAME|ID...", nargs=-1, required=True)
@click.option("--history", is_flag=True, help="Also what was replaced, and relations that ended.")
def show_command(call: Call, names: tuple[str, ...], history: bool) -> Result:
    """Show entities, notes and messages in full.

    A name is found in any case and without its accents, where only one entity fits. A number is an id, unless
    an entity has that name; `#12` always is one.

    An entity is shown with its relations, a message with the turns around it, and each with what dreams
    made of it: its strength, and what it is linked to. In a pipe, each line begins with what it is: entity,
    observation, relation; note, message, mentions, near; field, linked.
    """
    memory = call.memory()
    found = {name: memory_if_any(memory, name) for name in names}
    missing = [name for name, each in found.items() if each is None]
    if len(missing) == len(found):
        raise NotFound(not_found(*missing))
    there = [each for each in found.values() if each is not None]
    graph = memory.graph.open_nodes([each.name for each in there if _is_open_entity(each)], history=history)
    texts = [_read_text(memory, each) for each in there if not _is_open_entity(each)]
    links = {each.id: memory.dreams.links(each.id) for each in graph.entities}
    data = {
        **graph_data(graph),
        "entities": [{**memory_data(each), "links": links_data(links[each.id])} for each in graph.entities],
        "texts": [
            {
                **memory_data(each.memory),
                "mentions": [picked(named, "id", "name") for named in each.mentions],
                "around": [memory_data(turn) for turn in each.around],
                "links": links_data(each.links),
            }
            for each in texts
        ],
    }
    zone = call.zone
    view = [
        *(_entity_card(each, graph, zone, links[each.id], history=history) for each in graph.entities),
        *(_text_card(text, zone) for text in texts),
    ]
    lines = [
        *_graph_lines(graph, history=history),
        *_entity_lines(graph, links),
        *(line for text in texts for line in _text_lines(text, zone)),
    ]
    return Result(data, view, lines, warnings=[not_found(*missing)] if missing else [])


@command("history", "recollect history 12", "recollect history 'Marisol Vega' --json")
@click.argument("memory", metavar="ID|NAME")
def history_command(call: Call, memory: str) -> Result:
    """List what happened to a memory, oldest first.

    What it said before, what corrected it, what it corrected, and for an entity its observations and
    relations.

    In a pipe, the fields of a line are: time, what happened, about what.
    """
    engine = call.memory()
    found = engine.history(memory_of(engine, memory).id)
    zone = call.zone
    rows = [(iso_minute(each.at, zone), _event(each.what), each.detail) for each in found.events]
    columns = (Column(role="muted", wrap="whole"), Column(wrap="whole"), Column())
    return Result(
        {"memory": memory_data(found.memory), "events": found.events},
        [Paragraph(heading(found.memory, zone)), Table(columns, rows, grid=True)],
        [(iso_second(each.at, zone), each.what, each.detail) for each in found.events],
    )


def _event(what: str) -> Words:
    role: Role = "good" if what in _BEGINS else "changed" if what in _CHANGES else "bad"
    return Styled("● ", role), what


# Lists of entities


def _list_view(graph: Graph, query: str, next_page: str | None = None) -> Iterator[Block]:
    if not graph.entities:
        yield Paragraph(Styled("No entities here.", "changed"))
        return
    columns = (
        Column("id", "muted", right=True),
        Column("Entity", "name", max_width=32),
        Column("Type", max_width=16),
        *right_aligned("Known"),
        Column("Contains", fill=True) if query else Column("Latest", "muted", wrap="cut", fill=True),
    )
    rows = [
        (str(each.id), one_line(each.name), one_line(each.type), str(len(each.in_force)), _known(each, query))
        for each in graph.entities
    ]
    yield Table(columns, rows)
    # An automatic inverse says nothing that its relation does not.
    stated = [each for each in graph.relations if each.inverse_of is None]
    if stated:
        ends = (Column("From", "name"), Column("Relation"), Column("To", "name"))
        triples = ((each.source_name, each.type, each.target_name) for each in stated)
        yield Table(ends, [tuple(map(one_line, each)) for each in triples])
    if next_page is not None:
        yield Paragraph((Styled("There is more: ", "muted"), next_page))


def _known(entity: Memory, query: str) -> Words:
    """The observation that contains the query; where none does, the latest."""
    from recollect.cli.excerpts import highlighted, matching_observation  # loads the grammar of words

    matching = matching_observation(entity, query) if query else None
    if matching is not None:
        return highlighted(matching, query)
    return Styled(one_line(entity.in_force[-1].content) if entity.in_force else "", "muted")


def _graph_lines(graph: Graph, *, history: bool = False) -> Iterator[tuple[str, ...]]:
    """Each line begins with what it is, so that `grep ^relation` does what one hopes."""
    for entity in graph.entities:
        yield "entity", entity.name, entity.type, entity.status
        yield from (("observation", entity.name, each.content) for each in entity.in_force)
        for each in entity.observations if history else ():
            if each.superseded_at is not None and each.deleted_at is None:
                yield "replaced", entity.name, each.content, each.superseded_at.isoformat()
    for relation in graph.relations:
        span = [f"{word} {at.isoformat()}" for word, at in _span(relation) if at is not None]
        about = [relation.context] if relation.context else []
        yield "relation", relation.source_name, relation.type, relation.target_name, *about, *span


# Entities in full


def _is_open_entity(memory: Memory) -> bool:
    """An entity that is not forgotten: the graph shows it, with its relations."""
    return bool(memory.name) and memory.deleted_at is None


def _entity_card(entity: Memory, graph: Graph, zone: tzinfo, links: Links, *, history: bool) -> Card:
    columns = (Column(width=1), Column(fill=True), Column(role="muted", wrap="whole", right=True))
    rows: list[tuple[Cell, ...]] = []
    for each in entity.observations:
        if each.in_force:
            rows.append((Styled("•", "name"), each.content, _about(each, zone)))
        elif history and each.deleted_at is None:
            rows.append((Styled("✗", "bad"), Styled(each.content, "struck"), _about(each, zone)))
    if not entity.in_force:
        rows.append(("", Styled("nothing is known about it yet", "muted"), ""))
    touching = _touching(entity, graph.relations)
    widest = max((len(one_line(each.type)) for each in touching), default=0)
    if touching:
        rows.append(("", "", ""))
    rows += [_arrow(each, entity, widest, zone) for each in touching]
    fields = [*strength_fields(entity), *_linked_fields(links)]
    return Card(
        Styled(one_line(entity.name), "entity"),
        facts_line(entity, zone),
        [Table(columns, rows, grid=True), *_field_table(fields)],
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


def _about(observation: Observation, zone: tzinfo) -> str:
    """`decision · 2026-03-01 · #7`: its kind where it has one, its first or last day, its id."""
    kind = [] if observation.kind == "generic" else [one_line(observation.kind)]
    began = iso_day(observation.happened_at or observation.created_at, zone)
    ended = observation.superseded_at
    span = began if ended is None else f"until {iso_day(ended, zone)}"
    return " · ".join([*kind, span, f"#{observation.id}"])


def _arrow(relation: Relation, entity: Memory, widest: int, zone: tzinfo) -> tuple[Words, ...]:
    outward = relation.source == entity.id
    other = relation.target_name if outward else relation.source_name
    context = f"  {one_line(relation.context)}" if relation.context else ""
    type_ = Styled(one_line(relation.type).ljust(widest), "good")
    span = " ".join(f"{word} {iso_day(at, zone)}" for word, at in _span(relation) if at is not None)
    arrow = Styled("→" if outward else "←", "good")
    return arrow, (type_, f"  {one_line(other)}", Styled(context, "muted")), span


def _span(relation: Relation) -> tuple[tuple[str, datetime | None], ...]:
    return ("since", relation.since), ("until", relation.until)


def _entity_lines(graph: Graph, links: Mapping[int, Links]) -> Iterator[tuple[str, ...]]:
    for entity in graph.entities:
        yield from (("field", entity.name, *each) for each in strength_fields(entity))
        yield from _linked_lines(entity.name, links[entity.id])


# Notes and messages in full


def _read_text(engine: Engine, memory: Memory) -> _Text:
    engine.get(memory.id, record=True)  # counted as used, as an entity is that is opened
    named = engine.get_many(memory.mentions)
    around = engine.sessions.neighbours(memory.id) if memory.position is not None else ()
    mentions = [named[id_] for id_ in memory.mentions if id_ in named]
    return _Text(memory, mentions, around, engine.dreams.links(memory.id))


def _text_card(text: _Text, zone: tzinfo) -> Card:
    memory, around = text.memory, text.around
    gone = memory.deleted_at is not None or memory.superseded_at is not None
    fields = [*memory_fields(memory, zone)]
    if text.mentions:
        fields.append(("mentions", ", ".join(each.name for each in text.mentions)))
    blocks: list[Block] = [Paragraph(Styled(memory.text or memory.name, "muted" if gone else ""))]
    blocks += _field_table([*fields, *_linked_fields(text.links)])
    if len(around) > 1:
        columns = (Column(width=1), Column(wrap="whole"), Column())
        blocks += [
            Paragraph(),
            Table(columns, [_turn(turn, turn.id == memory.id) for turn in around], grid=True),
        ]
    title = Styled(one_line(speaker_of(memory) or memory.kind), "speaker")
    return Card(title, f"{memory.kind} · #{memory.id}", blocks)


def _turn(turn: Memory, is_shown: bool) -> tuple[Styled, ...]:
    role: Role = "strong" if is_shown else "muted"
    text = Styled(ellipsize(turn.text, 120), role)
    return Styled("▸" if is_shown else "", "speaker"), Styled(one_line(speaker_of(turn)), role), text


def _text_lines(text: _Text, zone: tzinfo) -> Iterator[tuple[str, ...]]:
    memory = text.memory
    id_ = str(memory.id)
    yield memory.kind, id_, speaker_of(memory), memory.text or memory.name
    yield from (("field", id_, *each) for each in memory_fields(memory, zone))
    yield from (("mentions", id_, str(each.id), each.name) for each in text.mentions)
    yield from _linked_lines(id_, text.links)
    for turn in text.around:
        if turn.id != memory.id:
            yield "near", id_, str(turn.id), speaker_of(turn), turn.text


def _field_table(fields: Sequence[tuple[str, str]]) -> list[Block]:
    columns = (Column(role="muted", wrap="whole"), Column())
    return [Paragraph(), Table(columns, fields, grid=True)] if fields else []


def _linked_fields(links: Links) -> Iterator[tuple[str, str]]:
    """What keeps coming up together with a memory, the most often first."""
    for place, (other, weight) in enumerate(links):
        text = ellipsize(other.name or other.text, 100)
        yield "" if place else "comes up with", f"{text}  #{other.id}, {quantity(weight, 'answer')}"


def _linked_lines(of: str, links: Links) -> Iterator[tuple[str, ...]]:
    for other, weight in links:
        yield "linked", of, str(other.id), str(weight), other.name or other.text
