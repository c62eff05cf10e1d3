"""Commands that show memories: list, graph, show."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from recollect.cli.command import Call, command, option
from recollect.cli.options import (
    AFTER,
    complete_entity,
    filter_options,
    iso_day,
    limit_option,
    memory_if_any,
    memory_of,
    names_containing,
    not_found,
    other_owners,
)
from recollect.cli.rendering import Card, Column, Paragraph, Result, Styled, Table, picked, titled
from recollect.cli.views import (
    entity_fields,
    facts_line,
    heading,
    label,
    memory_data,
    memory_fields,
    speaker_of,
)
from recollect.domain.errors import NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.text.phrases import ellipsize, one_line, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from recollect.cli.rendering import Block, Role, Words
    from recollect.domain.records import Memory, Observation, Relation
    from recollect.domain.results import Graph
    from recollect.engine import Engine

    Links = Sequence[tuple[Memory, int]]


@dataclass(frozen=True, slots=True)
class _Text:
    """A note or a message, with the entities that it names and the turns around it."""

    memory: Memory
    mentions: Sequence[Memory]
    around: Sequence[Memory]
    links: Links


@command(
    "graph",
    "recollect graph",
    "recollect graph 'Marisol Vega' --depth 2",
    "recollect graph 'Marisol Vega' SQLite",
    "recollect graph --limit 500 --json > page.json",
)
@click.argument("names", metavar="[NAME [OTHER]]", nargs=-1, shell_complete=complete_entity)
@option("--find TEXT")
@option("--depth", "Most relations to follow (default: 1; paths: 4).", type=click.IntRange(1, 6))
@limit_option(None, "Entities (default: 100) or paths (10).")
@AFTER
def graph_command(
    call: Call, names: tuple[str, ...], find: str | None, depth: int | None, limit: int | None, after: int
) -> Result:
    """List entities, neighbours of one, or paths between two.

    Without a name, it lists entities with their relations, the oldest first. With one name, it lists the
    entities that relations connect to it; with two, the chains of relations from one to the other.

    To look up an entity by its name, or a part of it: recollect show NAME
    """
    graph = call.memory().graph
    if find is not None:
        query = " ".join((find, *names))
        found = graph.search_nodes(query, limit=limit or 50)
        return Result(_graph_data(found), _list_view(found, query))
    match names:
        case ():
            limit = limit or 100
            page = graph.read_graph(limit=limit, after=after)
            result = Result(_graph_data(page), _list_view(page))
            return _with_next_page(result, f"recollect graph --limit {limit}", page.cursor)
        case (name,):
            around = graph.neighbours_of(name, depth=depth or 1)
            data = [
                {**picked(each, "id", "name", "type"), "distance": away} for each, away in around.entities
            ]
            footer = "" if data else f"{name} has no relations."
            if around.is_cut:
                footer = "There are too many to list; use a smaller --depth."
            return Result.table(
                {"neighbours": data, "is_cut": around.is_cut},
                ("Away", "Entity", "Type"),
                [(away, one_line(each.name), one_line(each.type)) for each, away in around.entities],
                footer,
            )
        case (source, target):
            ways = graph.paths(source, target, depth=depth or 4, limit=min(limit or 10, 100))
            paths = [[_triple(each) for each in path] for path in ways.paths]
            empty = f"There is no path from {source} to {target} within {quantity(depth or 4, 'relation')}."
            return Result.table(
                {"paths": [[each._asdict() for each in path] for path in paths], "is_cut": ways.is_cut},
                ("Length", "Path"),
                [(len(path), " · ".join(one_line(" ".join(each)) for each in path)) for path in paths],
                "There are more paths." if ways.is_cut else "" if paths else empty,
            )
        case _:
            raise click.UsageError("Give at most two names; put a name with spaces in quotes.")


def _with_next_page(result: Result, command_: str, cursor: int | None) -> Result:
    """Add the command for the next page, if there is one."""
    if cursor is None:
        return result
    more = f"{command_} --after {cursor}"
    return replace(result, view=[*result.view, Paragraph((Styled("There is more: ", "muted"), more))])


@command(
    "list",
    "recollect list",
    "recollect list --kind note --kind message --tag kitchen",
    "recollect list --limit 1000 --json > notes.json",
)
@filter_options(kinds="Kind (default: note); repeatable.", session="Only this session.")
@option("--category NAME", "Only notes of this category.")
@limit_option(100, "Memories on a page.")
@AFTER
def list_command(call: Call, kinds: tuple[str, ...], limit: int, after: int, **where: Any) -> Result:
    """List notes, the newest first.

    The newest is the one stored last. If something happened or was said on another day, that day has its own
    column. `--kind` lists entities and messages. To search, use `recollect recall`.
    """
    memory = call.memory()
    page = memory.list(kinds=kinds or ("note",), limit=limit, after=after, **where)
    asked = [f"--kind {kind}" for kind in kinds] + [f"--tag {shlex.quote(tag)}" for tag in where["tags"]]
    asked += [f"--{name} {shlex.quote(where[name])}" for name in ("category", "session") if where[name]]
    asked += ["--superseded"] if where["include_superseded"] else []
    zone = call.zone
    # Imported notes keep their dates, so newer ids can have older dates.
    memories = sorted(page.memories, key=lambda each: (each.created_at, each.id), reverse=True)
    dates = [_stored_and_happened(each, zone) for each in memories]
    shown = [place for place in (0, 1) if any(each[place] for each in dates)]
    titles = [Column(("Stored", "Happened")[place], "muted", wrap="whole") for place in shown]
    columns = (Column("ID", "muted", right=True), *titles, Column("Text"))
    rows = [
        (str(each.id), *(days[place] for place in shown), one_line(label(each)))
        for each, days in zip(memories, dates, strict=True)
    ]
    view = Table(columns, rows) if rows else titled("There are no such memories.", "changed")
    data = {"memories": [memory_data(each) for each in page.memories], "cursor": page.cursor}
    next_page = " ".join(("recollect list", *asked, f"--limit {limit}"))
    hints = [] if rows else [other_owners(memory)]
    return _with_next_page(Result(data, [view], hints=hints), next_page, page.cursor)


def _stored_and_happened(memory: Memory, zone: tzinfo | None) -> tuple[str, str]:
    """Return the day of storing, and the day of the event if it differs.

    A message has only the day on which it was said.
    """
    created = "unknown" if memory.undated else iso_day(memory.created_at, zone)
    if memory.kind == "message":
        return "", created
    happened = iso_day(memory.happened_at, zone) if memory.happened_at else created
    return created, "" if happened == created else happened


@command(
    "show",
    "recollect show 'Marisol Vega' Tidebook",
    "recollect show 12 17",
    "recollect show Tidebook --history",
    "recollect show 12 --events",
)
@click.argument("names", metavar="NAME|ID...", nargs=-1, required=True, shell_complete=complete_entity)
@option("--history", "Include replaced observations and ended relations.")
@option("--events", "Only the events of one memory, oldest first.")
def show_command(call: Call, names: tuple[str, ...], history: bool, events: bool) -> Result:
    """Show a memory in full, by name or by id.

    NAME is an entity's name, in any case and with or without accents; a part of it is enough if only one
    name contains it. A number is an id, unless an entity has that name; `#12` is always an id.

    An entity is shown with its relations, a message with the turns around it. Each shows its strength and
    its links, if a dream has changed them.

    --events lists how the text changed, what replaced it and what it replaced; for an entity, also its
    observations and relations.
    """
    from recollect.admin import Internals

    memory, zone = call.memory(records=not events), call.zone
    if events:
        if len(names) > 1:
            raise click.UsageError("--events takes one memory.")
        past = memory.history(memory_of(memory, names[0]).id)
        happened = [(each.at.astimezone(zone), each.what, each.detail) for each in past.events]
        columns = (Column(role="muted", wrap="whole"), Column(role="name", wrap="whole"), Column())
        return Result(
            {"memory": memory_data(past.memory), "events": past.events},
            [Paragraph(heading(past.memory, zone)), Table(columns, happened, grid=True)],
        )
    found = {name: memory_if_any(memory, name) or _find_by_part_of_name(memory, name) for name in names}
    missing = [name for name, each in found.items() if each is None]
    if len(missing) == len(found):
        raise NotFound(not_found(memory, *missing))
    there = [each for each in found.values() if each is not None]
    # The graph shows entities that are not forgotten, with their relations.
    open_entities = [each.name for each in there if each.name and each.deleted_at is None]
    graph = memory.graph.open_nodes(open_entities, history=history)
    texts = []
    for each in there:
        if not each.name or each.deleted_at:
            memory.get(each.id, record=True)  # recorded as used, like an opened entity
            named = memory.get_many(each.mentions)
            mentions = [named[id_] for id_ in each.mentions if id_ in named]
            around = memory.sessions.neighbours(each.id) if each.position is not None else ()
            texts.append(_Text(each, mentions, around, Internals(memory).links(each.id)))
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
    return Result(data, view, warnings=[not_found(memory, *missing)] if missing else [])


def _find_by_part_of_name(memory: Engine, text: str) -> Memory | None:
    """Return the entity whose name contains this text, if there is only one."""
    near = [] if text.lstrip("#").isdecimal() else names_containing(memory, text)
    return memory_if_any(memory, near[0]) if len(near) == 1 else None


def _graph_data(graph: Graph) -> dict[str, Any]:
    return {
        "entities": [memory_data(entity) for entity in graph.entities],
        "relations": [
            {
                "id": each.id,
                **_triple(each)._asdict(),
                **picked(each, "context", "since", "until", "created_at"),
            }
            for each in graph.relations
        ],
        "cursor": graph.cursor,
    }


def _links_data(links: Links) -> list[dict[str, Any]]:
    return [{"id": other.id, "text": other.name or other.text, "answers": weight} for other, weight in links]


# Lists of entities


def _list_view(graph: Graph, query: str = "") -> Iterator[Block]:
    from recollect.cli.views import highlighted, matching_observation  # loads the grammar of words

    if not graph.entities:
        yield titled("There are no such entities.", "changed")
        return
    columns = (
        Column("ID", "muted", right=True),
        Column("Entity", "name", max_width=32),
        Column("Type", max_width=16),
        Column("Known", right=True),
        Column("Contains", fill=True) if query else Column("Latest", "muted", wrap="cut", fill=True),
    )
    rows: list[tuple[Words, ...]] = []
    for each in graph.entities:
        matching = matching_observation(each, query) if query else None
        latest = Styled(one_line(each.in_force[-1].content) if each.in_force else "", "muted")
        shown = latest if matching is None else highlighted(matching, query)
        rows.append((str(each.id), one_line(each.name), one_line(each.type), str(len(each.in_force)), shown))
    yield Table(columns, rows)
    # Leave out automatic inverses, which repeat their relations.
    stated = [each for each in graph.relations if each.inverse_of is None]
    if stated:
        ends = (Column("From", "name"), Column("Relation"), Column("To", "name"))
        yield Table(ends, [tuple(map(one_line, _triple(each))) for each in stated])


class _Triple(NamedTuple):
    source: str
    type: str
    target: str


def _triple(relation: Relation) -> _Triple:
    return _Triple(relation.source_name, relation.type, relation.target_name)


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
        rows.append(("", Styled("no observations yet", "muted"), ""))
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
    for relation in touching:
        is_outward = relation.source == entity.id
        other = relation.target_name if is_outward else relation.source_name
        context = Styled(f"  {one_line(relation.context)}" if relation.context else "", "muted")
        type_ = Styled(one_line(relation.type).ljust(widest), "good")
        span = (("since", relation.since), ("until", relation.until))
        times = " ".join(f"{word} {iso_day(at, zone)}" for word, at in span if at)
        arrow = Styled("→" if is_outward else "←", "good")
        rows.append((arrow, (type_, f"  {one_line(other)}", context), times))
    fields = _field_table([*entity_fields(entity), *_linked_fields(links)])
    title = Styled(one_line(entity.name), "entity")
    return Card(title, facts_line(entity, zone), [Table(columns, rows, grid=True), *fields])


def _about(observation: Observation, zone: tzinfo) -> str:
    """Return its kind, first or last day, and id, such as `decision · 2026-03-01 · observation 7`."""
    kind = [] if observation.kind == "generic" else [one_line(observation.kind)]
    ended = observation.superseded_at
    began = iso_day(observation.happened_at or observation.created_at, zone)
    day = f"until {iso_day(ended, zone)}" if ended else began
    return " · ".join([*kind, day, f"observation {observation.id}"])


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
    speaker = one_line(speaker_of(memory))
    subtitle = f"{memory.kind} · #{memory.id}" if speaker else f"#{memory.id}"
    return Card(Styled(speaker or memory.kind, "speaker"), subtitle, blocks)


def _field_table(fields: Sequence[tuple[str, str]]) -> list[Block]:
    columns = (Column(role="muted", wrap="whole"), Column())
    return [Paragraph(), Table(columns, fields, grid=True)] if fields else []


def _linked_fields(links: Links) -> Iterator[tuple[str, str]]:
    """Return memories that appear in the same answers, the most frequent first."""
    for place, (other, weight) in enumerate(links):
        text = ellipsize(other.name or other.text, 100)
        yield "" if place else "comes up with", f"{text}  #{other.id}, {quantity(weight, 'answer')}"
