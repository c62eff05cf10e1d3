"""Read Graphiti's and Zep's graphs as JSON: entities, facts between them with time spans, and episodes.

They have no standard export file. We read the JSON of their types and APIs, as lists of nodes, edges and
episodes. All may be in one file, under the usual names or as one list, or each in its own file of a folder.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from recollect.transfer.importers import (
    BadRow,
    ForeignEntity,
    ForeignFormat,
    ForeignItem,
    ForeignMessage,
    ForeignNote,
    ForeignObservation,
    ForeignRelation,
    ForeignSource,
    NotImported,
)
from recollect_importers.fields import checked_objects, list_of, make_record, moment_of, object_of, text_value

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENTITY, _FACT, _EPISODE, _COMMUNITY, _LINK, _OTHER = range(6)
_Row = dict[str, Any]
_OBSERVATION = "content=fact kind='fact' created_at happened_at=valid_at superseded_at=invalid_at|expired_at"
# A fact ends at `invalid_at`, or else when the graph learnt of its end.
_RELATION = "context=fact created_at since=valid_at until=invalid_at|expired_at"
# Names of lists, for rows whose own fields do not show their kind.
_LISTS = re.compile(r"(entit|node|edge|fact|episod|message|communit|saga)", re.IGNORECASE)
_SPEAKER = re.compile(r"([^\n:]{1,60}?)(?: ?\(([^()\n]{1,30})\))?: (?=\S)")
_ROLES = frozenset({"user", "assistant", "system", "tool"})
# Labels that any node may have.
_COMMON_LABELS = frozenset({"Entity", "Node"})
_NO_OWNER = frozenset({"_", "\\_"})
# One of these distinguishes an episode from another message with an id.
_EPISODE_KEYS = frozenset(
    {"source", "source_description", "group_id", "role_type", "valid_at", "processed", "thread_id"}
)


def _recognises(source: ForeignSource) -> bool:
    return any(
        _row_kind(row, name) in (_ENTITY, _FACT, _EPISODE)
        for name, rows in _lists(source)
        for row in rows[:1]
    )


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    by_kind: defaultdict[int, list[_Row]] = defaultdict(list)
    for name, rows in _lists(source):
        for each in checked_objects(rows, f"{name}, row"):
            if isinstance(each, BadRow):
                yield each
            else:
                by_kind[_row_kind(each, name)].append(each)
    names = {text_value(row["uuid"]): text_value(row.get("name")) for row in by_kind[_ENTITY]}
    yield from _entities(by_kind[_ENTITY], by_kind[_FACT])
    for row in by_kind[_FACT]:
        yield _relation(row, names)
    for row in by_kind[_EPISODE]:
        yield _message(row)
    communities = {row["uuid"]: list[str]() for row in by_kind[_COMMUNITY]}
    links = 0
    for row in by_kind[_LINK]:
        members = communities.get(row["source_node_uuid"])
        links += members is None
        if members is not None and (member := names.get(row["target_node_uuid"])):
            members.append(member)
    for row in by_kind[_COMMUNITY]:
        summary = text_value(row.get("summary"))
        yield make_record(
            ForeignNote,
            row,
            "key=uuid created_at category='community'",
            text=f"{row['name']}: {summary}" if summary else row["name"],
            about=tuple(communities[row["uuid"]]),
            owner=_owner(row),
        )
    if sources := sum(len(list_of(row.get("episodes"))) for row in by_kind[_FACT]):
        yield NotImported("links from facts to their episodes", count=sources)
    if links:
        yield NotImported("links from episodes to the entities they mention", count=links)
    for row in by_kind[_OTHER]:
        yield NotImported("rows of other kinds", text_value(row.get("name")) or ", ".join(list(row)[:4]))


def _lists(source: ForeignSource) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of rows with their names; for a folder, those of its JSON files."""
    if source.is_folder:
        for file in sorted(source.path.glob("*.json")):
            if _LISTS.search(file.stem):
                yield from _lists(ForeignSource(file))
        return
    match source.document:
        case list(rows):
            yield source.path.name, rows
        case dict(document):
            # The lists may be inside `graph` or `data`.
            inner = next((document[key] for key in ("graph", "data") if key in document), document)
            named = inner if isinstance(inner, dict) else document
            for name, rows in named.items():
                if isinstance(rows, list) and rows and _LISTS.search(name):
                    yield name, rows


def _row_kind(row: object, list_name: str) -> int:
    kind = _OTHER
    match row:
        case {"source_node_uuid": str(), "target_node_uuid": str(), **others}:
            kind = _FACT if isinstance(others.get("fact"), str) else _LINK
        case {"uuid": str(), "content": str(), **others} if _EPISODE_KEYS & others.keys():
            kind = _EPISODE
        case {"uuid": str(), "name": str()} if "communit" in list_name.lower():
            kind = _COMMUNITY  # it looks like an entity without attributes
        case {"uuid": str(), "name": str(), "summary": str() | None, **others}:
            is_saga = "first_episode_uuid" in others
            kind = _ENTITY if not is_saga and {"labels", "attributes"} & others.keys() else _OTHER
    return kind


def _entities(nodes: list[_Row], facts: list[_Row]) -> Iterator[ForeignItem]:
    """Merge nodes with the same name and owner. A fact becomes an observation of its source entity."""
    facts_by_source: defaultdict[str, list[_Row]] = defaultdict(list)
    for fact in facts:
        facts_by_source[fact["source_node_uuid"]].append(fact)
    groups: defaultdict[tuple[str, str], list[_Row]] = defaultdict(list)
    for node in nodes:
        groups[_owner(node), text_value(node["name"])].append(node)
    for (owner, name), group in groups.items():
        given = [label for node in group for label in list_of(node.get("labels"))]
        labels = [label for label in given if isinstance(label, str) and label not in _COMMON_LABELS]
        times = [time for node in group if (time := moment_of(node.get("created_at")))]
        observations = [each for node in group for each in _observations(node, facts_by_source[node["uuid"]])]
        yield ForeignEntity(
            name=name,
            type=labels[0].lower() if labels else "",
            tags=tuple(dict.fromkeys(labels[1:])),
            observations=tuple({each.content: each for each in reversed(observations)}.values())[::-1],
            created_at=min(times, default=None),
            owner=owner,
        )


def _observations(node: _Row, facts: list[_Row]) -> Iterator[ForeignObservation]:
    if summary := text_value(node.get("summary")).strip():
        yield ForeignObservation(summary, kind="summary")
    for key, value in object_of(node.get("attributes")).items():
        if value not in (None, "", [], {}):
            yield ForeignObservation(f"{key}: {value}", kind="attribute")
    for fact in facts:
        if text := text_value(fact["fact"]).strip():
            yield make_record(ForeignObservation, fact, _OBSERVATION, content=text)


def _relation(fact: _Row, names: dict[str, str]) -> ForeignItem:
    ends = [names.get(fact[key]) for key in ("source_node_uuid", "target_node_uuid")]
    if None in ends:
        return BadRow(f"fact {text_value(fact.get('uuid'))}", "One of its two nodes is missing.")
    source, target = map(str, ends)
    return make_record(
        ForeignRelation,
        fact,
        _RELATION,
        source=source,
        type=text_value(fact.get("name")).lower() or "relates_to",
        target=target,
        owner=_owner(fact),
    )


def _message(row: _Row) -> ForeignItem:
    content, role, speaker = row["content"], text_value(row.get("role_type")), text_value(row.get("name"))
    source = text_value(row.get("source"))
    given = text_value(row.get("role"))
    if given and not role and given.lower() in _ROLES:
        role = given
    elif given:
        speaker = given
    said = _SPEAKER.match(content)
    # An episode with several turns stays one message.
    if source == "message" and said and len(_SPEAKER.findall(content)) == 1:
        content, speaker = content[said.end() :], said[1].strip()
        role = said[2] or (speaker.lower() if speaker.lower() in _ROLES else role)
    elif source:
        speaker = ""  # outside of conversations, `name` is a title
    description = " ".join(text_value(row.get("source_description")).split())
    session = row.get("thread_id") or row.get("session_id") or row.get("group_id") or "episodes"
    return make_record(
        ForeignMessage,
        row,
        "key=uuid created_at=valid_at|created_at",
        session=f"graphiti:{session}",
        text=content,
        role=role,
        speaker="" if speaker.lower() == role else speaker,
        tags=tuple(filter(None, (source if source != "message" else "", description[:100]))),
        owner=_owner(row),
    )


def _owner(row: _Row) -> str:
    """Return the owner of a part of the graph. Some databases use a placeholder for no owner."""
    owner = text_value(row.get("user_id") or row.get("group_id"))
    return "" if owner in _NO_OWNER else owner


FORMAT = ForeignFormat("graphiti", "a graph of Graphiti or Zep as JSON", _recognises, _read)
