"""Records as the rows that operations answer with, and as the text that a language model reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

from recollect.changes import GENERIC
from recollect.engine.memory_text import memory_text
from recollect.records import Kind, Observation, Status
from recollect.serve.operations.operation import described
from recollect.text.tokens import content_words, words
from recollect.text.untrusted import origin_of, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from recollect.engine.results import ConflictingMemory, Hit, RejectedRow, Remembered
    from recollect.records import Memory, Relation
    from recollect.serve.operations.operation import OperationCall, OperationReply

_Row = TypeVar("_Row")

# An answer to a write repeats what the caller knows: enough of it to recognise it by.
_BRIEF_LETTERS = 400
_CONFLICT_LETTERS = 120
_MOST_NAMES = 50


class ObservationRow(TypedDict):
    """An observation that has more to say than its text."""

    content: str
    kind: NotRequired[str]
    superseded_at: NotRequired[Annotated[str, described("It was corrected then")]]


class EntityRow(TypedDict):
    """An entity in the official server's form, with what that has no place for where there is any."""

    name: str
    entityType: str
    observations: Annotated[
        list[str | ObservationRow],
        described("The text of each, or an object where it has a kind or was corrected"),
    ]
    status: NotRequired[Annotated[str, described("Where it is not active")]]


RelationRow = TypedDict(
    "RelationRow",
    {
        "from": str,
        "to": str,
        "relationType": str,
        "context": NotRequired[str],
        "since": NotRequired[str],
        "until": NotRequired[str],
    },
)
"""A relation in the official server's form, with its context and span where it has any."""


class LeftOutRow(TypedDict):
    """A row of a batch that could not be stored."""

    index: Annotated[int, described("Its place in the batch, from 0")]
    reason: str


class ConflictRow(TypedDict):
    """A memory that says otherwise."""

    id: int
    text: str
    is_newer: Annotated[bool, described("It is the later one, so that it counts")]
    at: NotRequired[str]


class HitRow(TypedDict):
    """One hit of a search: what it says, when and by whom, and how good it is."""

    id: int
    kind: Kind
    text: str
    score: float
    confidence: NotRequired[float]
    at: NotRequired[str | None]
    name: NotRequired[str]
    speaker: NotRequired[str]
    session: NotRequired[str]
    source: NotRequired[str]
    category: NotRequired[str]
    tags: NotRequired[list[str]]
    status: NotRequired[Annotated[str, described("Where it is not active")]]
    superseded_by: NotRequired[int]
    expires_at: NotRequired[str]
    conflicts_with: NotRequired[
        Annotated[list[ConflictRow], described("Memories in force that it seems to contradict")]
    ]
    superseded: NotRequired[
        Annotated[list[str], described("What its observations said before they were corrected")]
    ]


class SimilarRow(TypedDict):
    id: int
    text: str
    similarity: float


class PageRows(TypedDict):
    """What the answer of an operation with pages holds beside its rows."""

    cursor: NotRequired[Annotated[str, described("Pass it on for what comes after; absent at the end")]]
    note: NotRequired[Annotated[str, described("What was left out, and how to get it")]]


def brief_text(text: str, most: int = _BRIEF_LETTERS) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def rounded(data: Any) -> Any:
    """With numbers to three digits: what moves beyond them is the clock, and no caller asked for the time."""
    match data:
        case float():
            return round(data, 3) if abs(data) >= 1 else float(f"{data:.3g}")
        case dict():
            return {name: rounded(value) for name, value in data.items()}
        case list():
            return [rounded(value) for value in data]
        case _:
            return data


def iso_time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def with_rejected(
    call: OperationCall, reply: OperationReply[Any], rejected: Iterable[RejectedRow]
) -> OperationReply[Any]:
    """With the rows that were left out, for a caller who asked to keep going."""
    if not call.keep_going:
        return reply
    rows = [row_of(LeftOutRow, each) for each in rejected]
    return replace(reply, result={**reply.result, "rejected": rows})


def row_of(form: type[_Row], record: object, **computed: object) -> _Row:
    """The record's fields that the form names, beside what is computed."""
    names = [name for name in form.__annotations__ if name not in computed]
    return cast("_Row", {name: _plain(getattr(record, name)) for name in names} | computed)


def _plain(value: object) -> object:
    match value:
        case tuple():
            return list(map(_plain, value))
        case Observation():
            return value.content
        case datetime():
            return iso_time(value)
        case _:
            return value


def entity_row(memory: Memory, observations: Iterable[Observation] | None = None) -> EntityRow:
    """With these observations; with those in force, where none are given."""
    shown = memory.in_force if observations is None else observations
    row: EntityRow = {
        "name": memory.name,
        "entityType": memory.type,
        "observations": list(map(observation_row, shown)),
    }
    return row if memory.status is Status.ACTIVE else {**row, "status": memory.status}


def observation_row(observation: Observation) -> str | ObservationRow:
    """The text alone, as the official server has it, where there is no more to say."""
    more = _known(
        kind=None if observation.kind == GENERIC else observation.kind,
        superseded_at=_plain(observation.superseded_at),
    )
    return cast("ObservationRow", {"content": observation.content, **more}) if more else observation.content


def relation_row(relation: Relation) -> RelationRow:
    row = {"from": relation.source_name, "to": relation.target_name, "relationType": relation.type}
    span = {"since": _plain(relation.since), "until": _plain(relation.until)}
    return cast("RelationRow", {**row, **_known(context=relation.context, **span)})


def hit_row(hit: Hit, *, superseded: bool = False) -> HitRow:
    """With `superseded`, also what an entity's observations said before they were corrected."""
    memory = hit.memory
    corrected = [
        observation.content
        for observation in memory.observations
        if observation.superseded_at is not None and observation.deleted_at is None
    ]
    row = {
        "id": memory.id,
        "kind": memory.kind,
        "text": memory_text(memory, hit.piece),
        "score": rounded(hit.score),
        "at": None if memory.undated else iso_time(memory.happened_at or memory.created_at),
    }
    known = _known(
        confidence=rounded(hit.confidence),
        name=memory.name,
        speaker=memory.speaker or memory.role,
        session=memory.session,
        # Of a session's messages it is only a mark, by which an import knows them again.
        source=None if memory.session else memory.source,
        category=memory.category,
        tags=list(memory.tags),
        status=None if memory.status is Status.ACTIVE else memory.status,
        superseded_by=memory.superseded_by,
        expires_at=_plain(memory.expires_at),
        conflicts_with=[conflict_row(other) for other in hit.conflicts_with],
        superseded=corrected if superseded else None,
    )
    return cast("HitRow", row | known)


def listed_row(memory: Memory) -> Any:
    """A memory of a list: as a hit, without what only a question gives."""
    at = {} if memory.undated else {"at": iso_time(memory.happened_at or memory.created_at)}
    known = _known(
        name=memory.name,
        speaker=memory.speaker or memory.role,
        session=memory.session,
        category=memory.category,
        tags=list(memory.tags),
        status=None if memory.status is Status.ACTIVE else memory.status,
        superseded_by=memory.superseded_by,
        expires_at=_plain(memory.expires_at),
    )
    return {"id": memory.id, "kind": memory.kind, "text": memory_text(memory, None), **at, **known}


def conflict_row(other: ConflictingMemory) -> ConflictRow:
    row = {"id": other.id, "text": brief_text(other.text, _CONFLICT_LETTERS), "is_newer": other.is_newer}
    return cast("ConflictRow", row | _known(at=None if other.at is None else iso_time(other.at)))


def _known(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def hit_lines(hits: Iterable[HitRow], notes: Iterable[str]) -> str:
    """Hits as lines: far fewer tokens than JSON, and as clear."""
    hits = list(hits)
    shown = {hit["id"] for hit in hits}
    lines = [_hit_line(hit, shown) for hit in hits] or ["Nothing was found."]
    return "\n".join((*lines, *(f"({note})" for note in notes)))


def _hit_line(hit: HitRow, shown: Collection[int]) -> str:
    at = hit.get("at")
    when = "" if at is None else f" {_minute(at)}"
    origin = origin_of(hit.get("speaker"), hit.get("session"), hit.get("source"))
    status = [hit["status"]] if "status" in hit else []
    sure = [f"{hit['confidence']:.0%} sure"] if "confidence" in hit else []
    head = ", ".join((f"{hit['kind']}{when}", *origin, *status, *sure))
    superseded = f" (superseded by #{hit['superseded_by']})" if "superseded_by" in hit else ""
    former = "; ".join(map(quoted, hit.get("superseded", ())))
    before = f" (superseded: {former})" if former else ""
    return f"#{hit['id']} [{head}] {quoted(hit['text'])}{superseded}{before}{_conflicts(hit, shown)}"


def _minute(at: str) -> str:
    """`2026-03-01 09:05 UTC`; of midnight the day alone, since that is what a date without a time becomes."""
    day, time = at[:10], at[11:16]
    return day if time == "00:00" else f"{day} {time} UTC"


def _conflicts(hit: HitRow, shown: Collection[int]) -> str:
    """` (older than #12)`, ` (newer than #3, #7 "…")`: what is not among the hits is quoted."""
    others = [
        (
            f"#{other['id']}" + ("" if other["id"] in shown else f" {quoted(other['text'])}"),
            other["is_newer"],
        )
        for other in hit.get("conflicts_with", ())
    ]
    newer = [named for named, is_newer in others if is_newer]
    older = [named for named, is_newer in others if not is_newer]
    said = [f" (older than {', '.join(newer)})"] if newer else []
    said += [f" (newer than {', '.join(older)})"] if older else []
    return "".join(said)


def best_observations_first(observations: Sequence[str], query: str, passage: str | None = None) -> list[str]:
    """What was found by meaning, then what shares most words with the query."""
    query_terms = set(content_words(query))
    return sorted(
        observations,
        key=lambda text: (
            passage is None or text not in passage,
            -len(query_terms.intersection(words(text))),
        ),
    )


def noted_row(note: Remembered) -> Any:
    """What became of a note, and what it nearly repeats."""
    mentions = [name[:_BRIEF_LETTERS] for name in note.mentions[:_MOST_NAMES]]
    row: dict[str, object] = {"id": note.id, "created": note.created, "mentions": mentions}
    if note.contradicts:
        row["contradicts"] = [conflict_row(other) for other in note.contradicts]
    if note.similar is None:
        return row
    text, similarity = brief_text(note.similar.text), round(note.similar.similarity, 3)
    return {**row, "similar": row_of(SimilarRow, note.similar, text=text, similarity=similarity)}


def memory_row(memory: Memory) -> dict[str, object]:
    """A note or a message, with what is known about it."""
    names = (
        "id kind text created_at updated_at happened_at session category source tags importance "
        "superseded_by expires_at"
    )
    return _known(
        **{name: _plain(getattr(memory, name)) for name in names.split()},
        speaker=memory.speaker or memory.role,
        former_texts=[former.text for former in memory.former],
    )
