"""Our own format, which keeps everything: a header, every memory with its observations, every relation.

Keys stand in the order of the records' fields. A field that has its usual value is left out. Times are
ISO 8601 in UTC, to the microsecond. Nothing in the file depends on when or where it was written, so two
exports of the same memories are equal byte for byte. Vectors are not in it: they are made from the texts.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.errors import InvalidInput
from recollect.records import (
    Absence,
    Consolidation,
    Kind,
    Memory,
    Observation,
    Relation,
    Revision,
    Scope,
    Status,
)
from recollect.text.limits import clean_name, clean_share, clean_text, clean_type
from recollect.transfer.plain import line_of, object_of
from recollect.transfer.reading import Read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VERSION = 1
_Record = TypeVar("_Record", Observation, Revision, Absence, Memory, Relation)
_LISTED = {"observations", "former", "absences"}
_Choice = TypeVar("_Choice", bound=StrEnum)
# The largest whole number that every reader of JSON gets right; an id beyond it would also use up SQLite's.
_LARGEST = 2**53 - 1

Record = Memory | Relation


def header() -> str:
    return line_of({"recollect": VERSION})


def is_header(content: bytes | None) -> bool:
    """Whether a file that begins with this line is of our format, of whatever version."""
    try:
        return "recollect" in object_of(content)
    except InvalidInput:
        return False


def check_header(content: bytes | None) -> None:
    plain = object_of(content)
    if "recollect" not in plain:
        raise InvalidInput(
            'The file does not begin with {"recollect":1}, so it is no full export; '
            "import it as the official server's format."
        )
    version = plain["recollect"]
    if version != VERSION or isinstance(version, bool):
        raise InvalidInput(
            f"The file is of format {version!r}, and this Recollect knows {VERSION}: "
            "pip install --upgrade recollect"
        )


def memory_line(memory: Memory) -> str:
    return line_of({"record": "memory", **_plain(memory)})


def relation_line(relation: Relation) -> str:
    return line_of({"record": "relation", **_plain(relation)})


def parsed(content: bytes | None) -> Read[Record]:
    plain = object_of(content)
    match plain.pop("record", None):
        case "memory":
            return Read(_memory(plain))
        case "relation":
            return Read(_relation(plain))
        case None:
            raise InvalidInput("The line has no `record`; it is memory or relation.")
        case other:
            raise InvalidInput(f"The line's `record` is {str(other)[:40]!a}; it is memory or relation.")


def parsed_relation(content: bytes | None) -> Read[Relation | None]:
    """None for a memory, without a look at what it holds."""
    plain = object_of(content)
    return Read(_relation(plain) if plain.pop("record", None) == "relation" else None)


# Records to plain values

# A field that would repeat another one.
_SAME_AS = {"updated_at": "created_at"}
# What follows from the rest: names from ids, and mentions from texts, but for those that the caller told.
_NOT_WRITTEN = {"source_name", "target_name", "mentions"}


def _plain(record: _Record) -> dict[str, object]:
    plain: dict[str, object] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        usual = getattr(record, _SAME_AS[field.name]) if field.name in _SAME_AS else field.default
        if field.name in _NOT_WRITTEN or (value == usual and type(value) is type(usual)):
            continue
        if isinstance(value, Scope):
            plain |= {part: name for part, name in (("owner", value.owner), ("agent", value.agent)) if name}
        elif isinstance(value, datetime):
            plain[field.name] = (
                value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
            )
        elif field.name in _LISTED:
            plain[field.name] = [_plain(part) for part in value]
        elif isinstance(value, tuple):
            plain[field.name] = list(value)
        else:
            plain[field.name] = value
    return plain


# Plain values to records


def _memory(plain: dict[str, Any]) -> Memory:
    scope = Scope(_label(plain.pop("owner", ""), "owner"), _label(plain.pop("agent", ""), "agent"))
    kind = _choice(Kind, plain.pop("kind", None), "kind")
    observations = _list(plain.pop("observations", []), "observations")
    former = _list(plain.pop("former", []), "former")
    absences = _list(plain.pop("absences", []), "absences")
    read = _read(plain, _MEMORY_FIELDS, {"id", "created_at"}, "memory")
    memory = Memory(
        kind=kind,
        scope=scope,
        observations=tuple(_observation(observation) for observation in observations),
        former=tuple(map(_revision, former)),
        absences=tuple(map(_absence, absences)),
        **{"updated_at": read["created_at"], **read},
    )
    if kind is Kind.ENTITY:
        if memory.text or memory.former:
            raise InvalidInput("An entity has observations, and no `text`.")
        return replace(memory, name=clean_name(memory.name))
    if memory.name or memory.observations:
        raise InvalidInput(f"A {kind} has a `text`, and neither a name nor observations.")
    clean_text(memory.text)
    return memory


def _observation(plain: object) -> Observation:
    if not isinstance(plain, dict):
        raise InvalidInput("An observation must be an object.")
    needed = {"id", "content", "kind", "created_at"}
    return Observation(**_read(plain, _OBSERVATION_FIELDS, needed, "observation"))


def _revision(plain: object) -> Revision:
    if not isinstance(plain, dict):
        raise InvalidInput("A former text must be an object.")
    return Revision(**_read(plain, _REVISION_FIELDS, set(_REVISION_FIELDS), "former text"))


def _absence(plain: object) -> Absence:
    if not isinstance(plain, dict):
        raise InvalidInput("An absence must be an object.")
    return Absence(**_read(plain, _ABSENCE_FIELDS, set(_ABSENCE_FIELDS), "absence"))


def _reason(value: object, name: str) -> str:
    if value not in {"forgotten", "superseded"}:
        raise InvalidInput(f"`{name}` must be forgotten or superseded, not {str(value)[:40]!a}.")
    return str(value)


def _list(value: object, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"`{name}` must be a list.")
    return value


def _relation(plain: dict[str, Any]) -> Relation:
    needed = {"id", "source", "target", "type", "created_at"}
    return Relation(source_name="", target_name="", **_read(plain, _RELATION_FIELDS, needed, "relation"))


def _read(
    plain: Mapping[str, Any], known: Mapping[str, Callable[[Any, str], object]], needed: set[str], what: str
) -> dict[str, Any]:
    missing = needed - set(plain)
    if missing:
        raise InvalidInput(f"The {what} has no {', '.join(f'`{name}`' for name in sorted(missing))}.")
    unknown = set(plain) - set(known)
    if unknown:
        # Never passed over: it would be lost on the way.
        raise InvalidInput(f"The {what} has {', '.join(map(ascii, sorted(unknown)))}, which is unknown here.")
    return {name: known[name](value, name) for name, value in plain.items()}


def _time(value: object, name: str) -> datetime:
    try:
        when = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise InvalidInput(f"`{name}` must be a time such as 2026-01-31T12:00:00.000000Z, not {value!a}.")
    try:
        return when.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"`{name}` is {value!a}, which is outside the years 1 to 9999.") from None


def _id(value: object, name: str) -> int:
    return _whole(value, name, least=1)


def _count(value: object, name: str) -> int:
    return _whole(value, name, least=0)


def _whole(value: object, name: str, *, least: int, most: int = _LARGEST) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(f"`{name}` must be a whole number from {least} to {most}, not {str(value)[:40]}.")
    return value


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"`{name}` must be a number, not {str(value)[:40]}.")
    return float(value)


def _above_zero(value: object, name: str) -> float:
    number = _number(value, name)
    if number <= 0:
        raise InvalidInput(f"`{name}` must be above 0, not {number}.")
    return number


def _choice(choices: type[_Choice], value: object, name: str) -> _Choice:
    try:
        return choices(value)  # type: ignore[arg-type]  # whatever it is, the enumeration says if it knows it
    except ValueError:
        raise InvalidInput(
            f"`{name}` must be one of {', '.join(choices)}, not {str(value)[:40]!a}."
        ) from None


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"`{name}` must be true or false.")
    return value


def _label(value: object, name: str) -> str:
    """Text that may be empty."""
    return value if isinstance(value, str) and not value.strip() else clean_text(value, f"`{name}`")


def _text(value: object, name: str) -> str:
    return clean_text(value, f"`{name}`")


def _type(value: object, name: str) -> str:
    return clean_type(value, f"`{name}`")


_OBSERVATION_FIELDS: Mapping[str, Callable[[Any, str], object]] = {
    "id": _id,
    "content": _text,
    "kind": _type,
    "created_at": _time,
    "happened_at": _time,
    "superseded_by": _id,
    "superseded_at": _time,
    "similar_to": _id,
    "similarity": _number,
    "corrected_by": _id,
    "deleted_at": _time,
}
_ABSENCE_FIELDS: Mapping[str, Callable[[Any, str], object]] = {
    "why": _reason,
    "since": _time,
    "until": _time,
}
_REVISION_FIELDS: Mapping[str, Callable[[Any, str], object]] = {"text": _text, "since": _time, "until": _time}
_MEMORY_FIELDS: Mapping[str, Callable[[Any, str], object]] = {
    "id": _id,
    "created_at": _time,
    "updated_at": _time,
    "happened_at": _time,
    "name": _label,
    "type": _type,
    "text": _label,
    "category": _label,
    "source": _label,
    "session": _label,
    "position": lambda value, name: _whole(value, name, least=-_LARGEST),
    "role": _label,
    "speaker": _label,
    "undated": _flag,
    "drawn_from": _id,
    "tags": lambda value, name: tuple(_type(tag, name) for tag in _list(value, name)),
    "about": lambda value, name: tuple(_id(entity, name) for entity in _list(value, name)),
    "similar_to": _id,
    "similarity": _number,
    "status": lambda value, name: _choice(Status, value, name),
    "consolidation": lambda value, name: _choice(Consolidation, value, name),
    "strength": clean_share,
    "depth": lambda value, name: _whole(value, name, least=1, most=3),
    "spread": _id,
    "stability": _above_zero,
    "importance": clean_share,
    "importance_tag": _label,
    "pinned": _flag,
    "revisions": _count,
    "duplicates": _count,
    "superseded_by": _id,
    "superseded_at": _time,
    "deleted_at": _time,
}
_RELATION_FIELDS: Mapping[str, Callable[[Any, str], object]] = {
    "id": _id,
    "source": _id,
    "target": _id,
    "type": _type,
    "created_at": _time,
    "context": _label,
    "since": _time,
    "until": _time,
    "inverse_of": _id,
    "deleted_at": _time,
}
