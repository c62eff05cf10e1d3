"""Records as rows in answers of operations, and as text for a language model."""

from __future__ import annotations

from dataclasses import field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from recollect.domain.changes import GENERIC
from recollect.domain.json_values import in_json, omitted, to_json
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Memory, Observation, Status
from recollect.domain.results import ConflictingMemory
from recollect.search.recall import memory_text
from recollect.text.phrases import origin_of, quoted
from recollect.text.tokens import content_words, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from recollect.domain.records import Relation
    from recollect.domain.results import Hit, RejectedRow
    from recollect.operations.operation import OperationCall, OperationReply

_Row = TypeVar("_Row")

# An answer to a write repeats texts that the caller knows; this much is enough to recognise them.
_BRIEF_LETTERS = 400


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """An observation with a kind or a correction."""

    content: str
    kind: str | None = omitted()
    superseded_at: Annotated[datetime | None, "When it was corrected"] = omitted()


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity in the official server's form, with its kinds, corrections and status if it has any."""

    name: str
    entityType: str
    observations: Annotated[
        list[str | ObservationRow], "The text of each, or an object where it has a kind or was corrected"
    ]
    status: Annotated[str | None, "Only if it is not active"] = omitted()


@dataclass(frozen=True, slots=True)
class RelationRow:
    """A relation in the official server's form, with its context and time span if it has any."""

    source: str = field(metadata=in_json(key="from"))
    to: str
    relationType: str
    context: str = omitted("")
    since: datetime | None = omitted()
    until: datetime | None = omitted()


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A memory in a list: text, time and speaker."""

    id: int
    kind: Kind
    text: str
    at: datetime | None
    memory: Memory = field(metadata=in_json(brief=True))


@dataclass(frozen=True, slots=True)
class HitRow:
    """A hit of a search: text, time, speaker and score."""

    id: int
    kind: Kind
    text: str
    score: float
    at: datetime | None
    memory: Memory = field(metadata=in_json(brief=True))
    confidence: float | None = omitted()
    conflicts_with: Annotated[
        tuple[ConflictingMemory, ...], "Memories in force that it seems to contradict"
    ] = omitted(())
    superseded: Annotated[list[str] | None, "Its observations before they were corrected"] = omitted()


def brief_text(text: str, most: int = _BRIEF_LETTERS) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def rounded(data: Any) -> Any:
    """Round all numbers in the data to three digits. Further digits would change with the clock."""
    match data:
        case float():
            return round(data, 3) if abs(data) >= 1 else float(f"{data:.3g}")
        case dict():
            return {name: rounded(value) for name, value in data.items()}
        case list():
            return [rounded(value) for value in data]
        case _:
            return data


def with_rejected(
    call: OperationCall, reply: OperationReply[Any], rejected: Iterable[RejectedRow]
) -> OperationReply[Any]:
    """Return the reply with the rejected rows, if the caller asked to keep going."""
    if not call.keep_going:
        return reply
    return replace(reply, result={**to_json(reply.result), "rejected": to_json(tuple(rejected))})


def row_of(form: type[_Row], record: object, **computed: object) -> _Row:
    """Build a `form` from the record's fields of the same names and the computed values."""
    names = [each.name for each in fields(form) if each.name not in computed]  # type: ignore[arg-type]  # a dataclass
    return form(**{name: getattr(record, name) for name in names}, **computed)


def entity_row(memory: Memory, observations: Iterable[Observation] | None = None) -> EntityRow:
    """Return an entity with these observations (default: those in force)."""
    shown = memory.in_force if observations is None else observations
    status = None if memory.status is Status.ACTIVE else memory.status
    return EntityRow(memory.name, memory.type, list(map(observation_row, shown)), status)


def observation_row(observation: Observation) -> str | ObservationRow:
    """Return only the text, as the official server does, unless there is a kind or a correction."""
    kind = None if observation.kind == GENERIC else observation.kind
    if kind is None and observation.superseded_at is None:
        return observation.content
    return ObservationRow(observation.content, kind, observation.superseded_at)


def relation_row(relation: Relation) -> RelationRow:
    ends = (relation.source_name, relation.target_name, relation.type)
    return RelationRow(*ends, relation.context, relation.since, relation.until)


def hit_row(hit: Hit, *, superseded: bool = False) -> HitRow:
    """Return the row of a hit. With `superseded`, include corrected observations of an entity."""
    memory = hit.memory
    corrected = [
        observation.content
        for observation in memory.observations
        if observation.superseded_at is not None and observation.deleted_at is None
    ]
    return HitRow(
        memory.id,
        memory.kind,
        memory_text(memory, hit.piece),
        rounded(hit.score),
        _time_of(memory),
        _as_listed(memory),
        rounded(hit.confidence),
        hit.conflicts_with,
        (corrected or None) if superseded else None,
    )


def listed_row(memory: Memory) -> ListedRow:
    """Return the row of a memory in a list: like a hit, without score and confidence."""
    text = memory_text(memory, None)
    return ListedRow(memory.id, memory.kind, text, _time_of(memory), _as_listed(memory))


def _time_of(memory: Memory) -> datetime | None:
    return None if memory.undated else memory.happened_at or memory.created_at


def _as_listed(memory: Memory) -> Memory:
    # For a message of a session, the source only serves to detect repeated imports.
    source = None if memory.session else memory.source
    return replace(memory, speaker=memory.speaker or memory.role, source=source)


def hit_lines(
    hits: Iterable[Mapping[str, Any]], notes: Iterable[str], without_hits: str = "Nothing was found."
) -> str:
    """Return hits as lines of text, which take far fewer tokens than JSON."""
    hits = list(hits)
    shown = {hit["id"] for hit in hits}
    lines = [_hit_line(hit, shown) for hit in hits] or [without_hits]
    return "\n".join((*lines, *(f"({note})" for note in notes)))


def _hit_line(hit: Mapping[str, Any], shown: Collection[int]) -> str:
    at = hit.get("at")
    when = "" if at is None else f" {_minute(at)}"
    origin = origin_of(hit.get("speaker"), hit.get("session"), hit.get("source"))
    status = [hit["status"]] if "status" in hit else []
    likely = [f"{100 * hit['confidence']:.0f} % likely"] if "confidence" in hit else []
    head = ", ".join((f"{hit['kind']}{when}", *origin, *status, *likely))
    superseded = f" (superseded by #{hit['superseded_by']})" if "superseded_by" in hit else ""
    former = "; ".join(map(quoted, hit.get("superseded", ())))
    before = f" (superseded: {former})" if former else ""
    return f"#{hit['id']} [{head}] {quoted(hit['text'])}{superseded}{before}{_conflicts(hit, shown)}"


def _minute(at: str) -> str:
    """Return `2026-03-01 09:05 UTC`, or only the day for midnight, which dates without a time have."""
    day, time = at[:10], at[11:16]
    return day if time == "00:00" else f"{day} {time} UTC"


def _conflicts(hit: Mapping[str, Any], shown: Collection[int]) -> str:
    """Return ` (older than #12)` or ` (newer than #3, #7 "…")`. Memories that are not hits are quoted."""
    others = [
        (f"#{other['id']}" + ("" if other["id"] in shown else f" {quoted(other['text'])}"), other["is_newer"])
        for other in hit.get("conflicts_with", ())
    ]
    newer = [named for named, is_newer in others if is_newer]
    older = [named for named, is_newer in others if not is_newer]
    said = [f" (older than {', '.join(newer)})"] if newer else []
    said += [f" (newer than {', '.join(older)})"] if older else []
    return "".join(said)


def best_observations_first(observations: Sequence[str], query: str, passage: str | None = None) -> list[str]:
    """Sort observations: first those in the passage that matched, then by words shared with the query."""
    query_terms = set(content_words(query))
    return sorted(
        observations,
        key=lambda text: (
            passage is None or text not in passage,
            -len(query_terms.intersection(words(text))),
        ),
    )


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A note or a message with its details."""

    id: int
    kind: Kind
    text: str
    created_at: datetime
    updated_at: datetime
    happened_at: datetime | None = field(metadata=in_json(omit=True))
    importance: float
    memory: Memory = field(metadata=in_json(brief=True))
    former_texts: tuple[str, ...] = omitted(())


def memory_row(memory: Memory) -> MemoryRow:
    texts = tuple(former.text for former in memory.former)
    shown = replace(memory, speaker=memory.speaker or memory.role)
    return row_of(MemoryRow, memory, memory=shown, former_texts=texts)
