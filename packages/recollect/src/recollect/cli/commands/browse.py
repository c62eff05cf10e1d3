"""Commands that look at memories: list, graph, show."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Call, command
from recollect.cli.options import (
    KINDS,
    complete_session,
    iso_day,
    limit_option,
    memory_if_any,
    memory_of,
    not_found,
)
from recollect.cli.rendering import Card, Column, Paragraph, Result, Styled, Table, picked, titled
from recollect.cli.views import (
    entity_fields,
    facts_line,
    heading,
    label,
    memory_data,
    memory_fields,
    shown_day,
    speaker_of,
    spoken_at,
)
from recollect.domain.errors import NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.text.phrases import ellipsize, one_line, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from recollect.cli.rendering import Block, Role, Words
    from recollect.domain.records import Memory, Observation, Relation
    from recollect.domain.results import Graph, GraphPaths, Neighbourhood
    from recollect.engine import Engine

    Links = Sequence[tuple[Memory, int]]


@dataclass(frozen=True, slots=True)
class _Text:
    """A note or a message, with the entities that it names and the turns around it, itself among them."""

    memory: Memory
    mentions: Sequence[Memory]
    around: Sequence[Memory]
    links: Links


@command(
    "graph",
    "recollect graph",
    "recollect graph --find tide",
    "recollect graph 'Marisol Vega' --depth 2",
    "recollect graph 'Marisol Vega' SQLite",
    "recollect graph --limit 500 --json > page.json",
)
@click.argument("names", metavar="[NAME [OTHER]]", nargs=-1)
@click.option("--find", metavar="TEXT", help="Only entities that contain these words or this text.")
@click.option("--depth", type=click.IntRange(1, 6), help="Relations at most (default: 1; between two, 4).")
@click.option("-n", "--limit", type=click.IntRange(1, 1000), help="Entities (default: 100) or ways (10).")
@click.option("--after", type=click.IntRange(0), default=0, hidden=True)
def graph_command(
    call: Call, names: tuple[str, ...], find: str | None, depth: int | None, limit: int | None, after: int
) -> Result:
    """List entities, those around one, or the ways between two.

    Without a name, it lists a page of entities with their relations, the oldest first. --find looks in names,
    types and observations: for the words first, then for the text as it is, even inside a word. It does not
    go by meaning; `recollect recall` does.

    In a pipe, the fields of a line for one NAME are: relations between, name, type. For two names, they are:
    number of relations, the chain of relations in force, in either direction.
    """
    graph = call.memory().graph
    if find is not None:
        query = " ".join((find, *names))
        found = graph.search_nodes(query, limit=limit or 50)
        return Result(_graph_data(found), _list_view(found, query), _graph_lines(found))
    match names:
        case ():
            return _graph_page(call, limit or 100, after)
        case (name,):
            return _neighbours(graph.neighbours_of(name, depth=depth or 1), name)
        case (source, target):
            ways = graph.paths(source, target, depth=depth or 4, limit=min(limit or 10, 100))
            return _paths(ways, f"from {source} to {target} within {quantity(depth or 4, 'relation')}")
        case _:
            raise click.UsageError("Give at most two names, each in quotes where it has blanks.")


def _graph_page(call: Call, limit: int, after: int) -> Result:
    page = call.memory().graph.read_graph(limit=limit, after=after)
    more = None if page.cursor is None else f"recollect graph --limit {limit} --after {page.cursor}"
    warnings = [] if more is None or call.is_terminal else [f"there is more: {more}"]
    return Result(_graph_data(page), _list_view(page, "", more), _graph_lines(page), warnings)


def _neighbours(found: Neighbourhood, name: str) -> Result:
    data = {
        "neighbours": [
            {**picked(entity, "id", "name", "type"), "distance": distance}
            for entity, distance in found.entities
        ],
        "is_cut": found.is_cut,
    }
    rows = [(distance, one_line(entity.name), one_line(entity.type)) for entity, distance in found.entities]
    footer = "" if rows else f"No relation leads to or from {name}."
    if found.is_cut:
        footer = "There are more than were looked at; ask with a smaller --depth."
    return Result.table(data, ("Away", "Entity", "Type"), rows, footer)


def _paths(found: GraphPaths, between: str) -> Result:
    data = {
        "paths": [
            [{"source": each.source_name, "type": each.type, "target": each.target_name} for each in path]
            for path in found.paths
        ],
        "is_cut": found.is_cut,
    }
    rows = [
        (len(path), " · ".join(one_line(" ".join(_triple(each))) for each in path)) for path in found.paths
    ]
    footer = "There are more ways." if found.is_cut else "" if rows else f"No way {between}."
    return Result.table(data, ("Long", "Way"), rows, footer)


@command(
    "list",
    "recollect list",
    "recollect list --kind note --kind message --tag kitchen",
    "recollect list --limit 1000 --json > notes.json",
)
@click.option(
    "-k", "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Notes if not given; repeatable."
)
@click.option("--category", metavar="NAME", help="Only notes of this sort.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only what has this tag; repeatable.")
@click.option(
    "--session", metavar="NAME", shell_complete=complete_session, help="Only what is of this session."
)
@click.option("--superseded", is_flag=True, help="Also what was superseded.")
@limit_option(100, "Memories on a page.")
@click.option("--after", type=click.IntRange(0), default=0, hidden=True)
def list_command(
    call: Call,
    kinds: tuple[str, ...],
    superseded: bool,
    limit: int,
    after: int,
    **where: Any,
) -> Result:
    """List notes, or memories of other kinds, the newest first.

    It searches nothing; `recollect recall` does.

    In a pipe, the fields of a line are: id, kind, time, who, text.
    """
    page = call.memory().list(
        kinds=kinds or ("note",), include_superseded=superseded, limit=limit, after=after, **where
    )
    asked = [f"--kind {kind}" for kind in kinds] + [f"--tag {shlex.quote(tag)}" for tag in where["tags"]]
    asked += [f"--{name} {shlex.quote(where[name])}" for name in ("category", "session") if where[name]]
    asked += ["--superseded"] if superseded else []
    more = (
        None
        if page.cursor is None
        else " ".join(("recollect list", *asked, f"--limit {limit} --after {page.cursor}"))
    )
    data = {"memories": [memory_data(each) for each in page.memories], "cursor": page.cursor}
    columns = (
        Column("id", "muted", right=True),
        Column("When", "muted", wrap="whole"),
        Column("Says", fill=True),
    )
    zone = call.zone
    rows = [(str(each.id), shown_day(each, zone), one_line(label(each))) for each in page.memories]
    view: list[Block] = [Table(columns, rows)] if rows else [titled("Nothing here.", "changed")]
    view += [] if more is None else [Paragraph((Styled("There is more: ", "muted"), more))]
    lines = [
        (str(each.id), each.kind, spoken_at(each, zone), speaker_of(each), each.text or each.name)
        for each in page.memories
    ]
    warnings = [] if more is None or call.is_terminal else [f"there is more: {more}"]
    return Result(data, view, lines, warnings)


@command(
    "show",
    "recollect show 'Marisol Vega' Tidebook",
    "recollect show 12 17",
    "recollect show Tidebook --history",
    "recollect show 12 --events",
)
@click.argument("names", metavar="NAME|ID...", nargs=-1, required=True)
@click.option("--history", is_flag=True, help="Also what was replaced, and relations that ended.")
@click.option("--events", is_flag=True, help="Only what happened to a memory, oldest first.")
def show_command(call: Call, names: tuple[str, ...], history: bool, events: bool) -> Result:
    """Show entities, notes and messages in full.

    A name is found in any case and without its accents, where only one entity fits. A number is an id, unless
    an entity has that name; `#12` always is one.

    An entity is shown with its relations, a message with the turns around it, and each with what dreams
    made of it: its strength, and what it is linked to. In a pipe, each line begins with what it is: entity,
    observation, relation; note, message, mentions, near; field, linked.

    --events lists what a memory said before, what corrected it, what it corrected, and for an entity its
    observations and relations. In a pipe, the fields of a line are: time, what happened, about what.
    """
    from recollect.admin import Internals

    memory, zone = call.memory(), call.zone
    if events:
        return _events(call, names)
    found = {name: memory_if_any(memory, name) for name in names}
    missing = [name for name, each in found.items() if each is None]
    if len(missing) == len(found):
        raise NotFound(not_found(*missing))
    there = [each for each in found.values() if each is not None]
    # The graph shows entities that are not forgotten, with their relations.
    open_entities = [each.name for each in there if each.name and each.deleted_at is None]
    graph = memory.graph.open_nodes(open_entities, history=history)
    texts = [_read_text(memory, each) for each in there if not each.name or each.deleted_at]
    links = {each.id: Internals(memory).links(each.id) for each in graph.entities}
    data = {
        **_graph_data(graph),
        "entities": [{**memory_data(each), "links": _links_data(links[each.id])} for each in graph.entities],
        "texts": [
            {
                **memory_data(each.memory),
                "mentions": [picked(named, "id", "name") for named in each.mentions],
                "around": [memory_data(turn) for turn in each.around],
                "links": _links_data(each.links),
            }
            for each in texts
        ],
    }
    view = [
        *(_entity_card(each, graph, zone, links[each.id], history=history) for each in graph.entities),
        *(_text_card(text, zone) for text in texts),
    ]
    lines = [*_graph_lines(graph, history=history)]
    for entity in graph.entities:
        lines += [("field", entity.name, *each) for each in entity_fields(entity)]
        lines += _linked_lines(entity.name, links[entity.id])
    for text in texts:
        lines += _text_lines(text, zone)
    return Result(data, view, lines, warnings=[not_found(*missing)] if missing else [])


def _events(call: Call, names: tuple[str, ...]) -> Result:
    if len(names) > 1:
        raise click.UsageError("--events takes one memory.")
    engine, zone = call.memory(), call.zone
    found = engine.history(memory_of(engine, names[0]).id)
    rows = [(each.at.astimezone(zone), each.what, each.detail) for each in found.events]
    columns = (Column(role="muted", wrap="whole"), Column(role="name", wrap="whole"), Column())
    return Result(
        {"memory": memory_data(found.memory), "events": found.events},
        [Paragraph(heading(found.memory, zone)), Table(columns, rows, grid=True)],
    )


def _graph_data(graph: Graph) -> dict[str, Any]:
    return {
        "entities": [memory_data(entity) for entity in graph.entities],
        "relations": [
            {
                "id": each.id,
                "source": each.source_name,
                "type": each.type,
                "target": each.target_name,
                **picked(each, "context", "since", "until", "created_at"),
            }
            for each in graph.relations
        ],
        "cursor": graph.cursor,
    }


def _links_data(links: Links) -> list[dict[str, Any]]:
    return [{"id": other.id, "text": other.name or other.text, "answers": weight} for other, weight in links]


# Lists of entities


def _list_view(graph: Graph, query: str, next_page: str | None = None) -> Iterator[Block]:
    if not graph.entities:
        yield titled("No entities here.", "changed")
        return
    columns = (
        Column("id", "muted", right=True),
        Column("Entity", "name", max_width=32),
        Column("Type", max_width=16),
        Column("Known", right=True),
        Column("Contains", fill=True) if query else Column("Latest", "muted", wrap="cut", fill=True),
    )
    rows = [
        (
            str(each.id),
            one_line(each.name),
            one_line(each.type),
            str(len(each.in_force)),
            _shown_observation(each, query),
        )
        for each in graph.entities
    ]
    yield Table(columns, rows)
    # An automatic inverse says nothing that its relation does not.
    stated = [each for each in graph.relations if each.inverse_of is None]
    if stated:
        ends = (Column("From", "name"), Column("Relation"), Column("To", "name"))
        yield Table(ends, [tuple(map(one_line, _triple(each))) for each in stated])
    if next_page is not None:
        yield Paragraph((Styled("There is more: ", "muted"), next_page))


def _triple(relation: Relation) -> tuple[str, str, str]:
    return relation.source_name, relation.type, relation.target_name


def _shown_observation(entity: Memory, query: str) -> Words:
    """The observation that contains the query; where none does, the latest."""
    from recollect.cli.views import highlighted, matching_observation  # loads the grammar of words

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
        span = (("since", relation.since), ("until", relation.until))
        times = [f"{word} {at.isoformat()}" for word, at in span if at is not None]
        yield "relation", *_triple(relation), *([relation.context] if relation.context else []), *times


# Memories in full


def _entity_card(entity: Memory, graph: Graph, zone: tzinfo, links: Links, *, history: bool) -> Card:
    columns = (Column(width=1), Column(fill=True), Column(role="muted", wrap="whole", right=True))
    rows: list[tuple[Words, ...]] = []
    for each in entity.observations:
        if each.in_force:
            rows.append((Styled("•", "name"), each.content, _about(each, zone)))
        elif history and each.deleted_at is None:
            rows.append((Styled("✗", "bad"), Styled(each.content, "struck"), _about(each, zone)))
    if not entity.in_force:
        rows.append(("", Styled("nothing is known about it yet", "muted"), ""))
    # Show the relation or its automatic inverse, whichever starts here.
    with_inverse = {each.inverse_of for each in graph.relations}
    touching = [
        each
        for each in graph.relations
        if each.source == entity.id
        or (each.target == entity.id and each.inverse_of is None and each.id not in with_inverse)
    ]
    if touching:
        rows.append(("", "", ""))
    widest = max((len(one_line(each.type)) for each in touching), default=0)
    rows += [_arrow(each, entity, widest, zone) for each in touching]
    fields = _field_table([*entity_fields(entity), *_linked_fields(links)])
    title = Styled(one_line(entity.name), "entity")
    return Card(title, facts_line(entity, zone), [Table(columns, rows, grid=True), *fields])


def _about(observation: Observation, zone: tzinfo) -> str:
    """`decision · 2026-03-01 · #7`: its kind where it has one, its first or last day, its id."""
    kind = [] if observation.kind == "generic" else [one_line(observation.kind)]
    ended = observation.superseded_at
    began = iso_day(observation.happened_at or observation.created_at, zone)
    return " · ".join([*kind, f"until {iso_day(ended, zone)}" if ended else began, f"#{observation.id}"])


def _arrow(relation: Relation, entity: Memory, widest: int, zone: tzinfo) -> tuple[Words, ...]:
    is_outward = relation.source == entity.id
    other = relation.target_name if is_outward else relation.source_name
    type_ = Styled(one_line(relation.type).ljust(widest), "good")
    context = Styled(f"  {one_line(relation.context)}" if relation.context else "", "muted")
    since = f"since {iso_day(relation.since, zone)}" if relation.since else ""
    until = f"until {iso_day(relation.until, zone)}" if relation.until else ""
    arrow = Styled("→" if is_outward else "←", "good")
    return arrow, (type_, f"  {one_line(other)}", context), f"{since} {until}".strip()


def _read_text(engine: Engine, memory: Memory) -> _Text:
    from recollect.admin import Internals

    engine.get(memory.id, record=True)  # counted as used, as an entity is that is opened
    named = engine.get_many(memory.mentions)
    around = engine.sessions.neighbours(memory.id) if memory.position is not None else ()
    mentions = [named[id_] for id_ in memory.mentions if id_ in named]
    return _Text(memory, mentions, around, Internals(engine).links(memory.id))


def _text_card(text: _Text, zone: tzinfo) -> Card:
    memory = text.memory
    gone = memory.deleted_at is not None or memory.superseded_at is not None
    named = [("mentions", ", ".join(each.name for each in text.mentions))] if text.mentions else []
    fields = [*memory_fields(memory, zone), *named, *_linked_fields(text.links)]
    blocks: list[Block] = [titled(memory.text or memory.name, "muted" if gone else "")]
    blocks += _field_table(fields)
    if len(text.around) > 1:
        columns = (Column(width=1), Column(wrap="whole"), Column())
        rows = []
        for turn in text.around:
            is_shown = turn.id == memory.id
            role: Role = "strong" if is_shown else "muted"
            said = Styled(one_line(speaker_of(turn)), role), Styled(ellipsize(turn.text, 120), role)
            rows.append((Styled("▸" if is_shown else "", "speaker"), *said))
        blocks += [Paragraph(), Table(columns, rows, grid=True)]
    title = Styled(one_line(speaker_of(memory) or memory.kind), "speaker")
    return Card(title, f"{memory.kind} · #{memory.id}", blocks)


def _text_lines(text: _Text, zone: tzinfo) -> Iterator[tuple[str, ...]]:
    memory, id_ = text.memory, str(text.memory.id)
    yield memory.kind, id_, speaker_of(memory), memory.text or memory.name
    yield from (("field", id_, *each) for each in memory_fields(memory, zone))
    yield from (("mentions", id_, str(each.id), each.name) for each in text.mentions)
    yield from _linked_lines(id_, text.links)
    others = (turn for turn in text.around if turn.id != memory.id)
    yield from (("near", id_, str(turn.id), speaker_of(turn), turn.text) for turn in others)


def _field_table(fields: Sequence[tuple[str, str]]) -> list[Block]:
    columns = (Column(role="muted", wrap="whole"), Column())
    return [Paragraph(), Table(columns, fields, grid=True)] if fields else []


def _linked_fields(links: Links) -> Iterator[tuple[str, str]]:
    """Memories that come up together with this one, the most frequent first."""
    for place, (other, weight) in enumerate(links):
        text = ellipsize(other.name or other.text, 100)
        yield "" if place else "comes up with", f"{text}  #{other.id}, {quantity(weight, 'answer')}"


def _linked_lines(of: str, links: Links) -> list[tuple[str, ...]]:
    return [("linked", of, str(other.id), str(weight), other.name or other.text) for other, weight in links]
