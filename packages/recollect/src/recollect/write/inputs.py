"""Parse the arguments of callers into records: from texts, tuples, mappings, or records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, TypeVar

from recollect.domain.changes import NewEntity, NewObservation, NewRelation, NewText, Turn
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import (
    METADATA_LIMIT,
    MOST_ROWS,
    clean_name,
    clean_ref,
    clean_share,
    clean_text,
    clean_type,
    right_names,
)
from recollect.domain.records import NOTE_FIELDS, AsOf, Kind, Status

ObservationLike = NewObservation | str | Mapping[str, Any]
NoteLike = NewText | str | Mapping[str, Any]
TurnLike = Turn | Mapping[str, Any]
EntityLike = NewEntity | str | Mapping[str, Any]
RelationLike = NewRelation | tuple[str, str, str] | Mapping[str, Any]


_Row = TypeVar("_Row")
_Record = TypeVar("_Record", NewEntity, NewObservation, NewRelation, Turn)
_NOTE = {
    *("text", "importance", "category", "happened_at", "tags", "about", "source", "speaker", "session"),
    *("expires_at", "ref", "metadata"),
    *NOTE_FIELDS,
}


def check_list(given: Iterable[_Row], what: str) -> Iterable[_Row]:
    """Return the items, but refuse a text or a mapping, which Python would split into letters or keys."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"{what} come as a list, even if there is only one.")
    if isinstance(given, Sized) and len(given) > MOST_ROWS:
        raise InvalidInput(
            f"{what}: a call takes at most {MOST_ROWS:,}, not {len(given):,}; make several calls. "
            "Nothing was written."
        )
    return given


def one_or_more(given: Iterable[str], what: str) -> Iterable[str]:
    """Return the texts; a single text counts as a list of one."""
    return (given,) if isinstance(given, str) else check_list(given, what)


def check_mapping(given: Mapping[str, _Row]) -> Mapping[str, _Row]:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"Give a list of texts for each name, in a mapping, not {type(given).__name__}.")
    return given


def entity_of(given: EntityLike) -> NewEntity:
    """Parse a NewEntity, a bare name, or a mapping with the official server's keys or ours."""
    if isinstance(given, str):
        given = NewEntity(given)
    elif isinstance(given, Mapping):
        given = _from_mapping(NewEntity, given, "entity", {"entityType": "type"})
    elif not isinstance(given, NewEntity):
        raise InvalidInput(f"An entity is a NewEntity, a name or a mapping, not {type(given).__name__}.")
    return replace(
        given,
        name=clean_name(given.name),
        type=clean_type(given.type),
        observations=observations_of(given.observations),
        status=None if given.status is None else Status.of(clean_type(given.status, "status")),
        importance=None if given.importance is None else clean_share(given.importance, "importance"),
    )


def observations_of(given: str | Sequence[ObservationLike]) -> tuple[NewObservation, ...]:
    """Return the observations; a single text counts as a list of one."""
    if isinstance(given, str):
        given = (given,)
    if not isinstance(given, Sequence):
        raise InvalidInput("Observations come as a list, even if there is only one.")
    return tuple(_observation_of(observation) for observation in given)


def relation_of(given: RelationLike) -> NewRelation:
    """Parse a NewRelation, a (source, type, target), or a mapping with the official server's keys or ours."""
    if isinstance(given, Mapping):
        given = _from_mapping(
            NewRelation, given, "relation", {"from": "source", "to": "target", "relationType": "type"}
        )
    elif isinstance(given, tuple):
        if len(given) != 3:
            raise InvalidInput(f"A relation is (source, type, target), not {len(given)} parts.")
        given = NewRelation(source=given[0], type=given[1], target=given[2])
    elif not isinstance(given, NewRelation):
        raise InvalidInput(
            f"A relation is a NewRelation, a (source, type, target) or a mapping, not {type(given).__name__}."
        )
    return replace(
        given,
        source=clean_name(given.source, "source of the relation"),
        target=clean_name(given.target, "target of the relation"),
        type=clean_type(given.type, "type of the relation"),
        context=clean_text(given.context, "context") if given.context else "",
        since=aware(given.since, "since"),
        until=aware(given.until, "until"),
    )


def note_of(given: NoteLike) -> NewText:
    """Parse a NewText, bare text, or a mapping with the arguments of `remember`."""
    if isinstance(given, str):
        given = NewText(Kind.NOTE, given)
    elif isinstance(given, Mapping):
        named = _check_keys(given, "note", _NOTE)
        known = {key: value for key, value in named.items() if value is not None}
        own = tuple((name, known.pop(name)) for name in NOTE_FIELDS if name in known)
        given = NewText(Kind.NOTE, **{"text": "", **known}, fields=own)
    elif not isinstance(given, NewText):
        raise InvalidInput(f"A note is text or a mapping, not {type(given).__name__}.")
    return replace(
        given,
        text=clean_text(given.text),
        importance=clean_share(given.importance, "importance"),
        happened_at=aware(given.happened_at, "happened_at"),
        expires_at=aware(given.expires_at, "expires_at"),
        tags=tags_of(given.tags),
        about=tuple(map(clean_name, one_or_more(given.about, "Entities of `about`"))),
        category=_label(given.category, "category"),
        source=_label(given.source, "source"),
        session=_label(given.session, "session"),
        role=_label(given.role, "role"),
        speaker=_label(given.speaker, "speaker"),
        ref=None if given.ref is None else clean_ref(given.ref),
        metadata=clean_metadata(given.metadata),
        fields=tuple((name, clean_name(value, name)) for name, value in given.fields),
    )


def turn_of(given: TurnLike) -> Turn:
    """Parse a Turn, or a mapping with role, speaker, content and at."""
    if isinstance(given, Mapping):
        given = _from_mapping(Turn, given, "message")
    elif not isinstance(given, Turn):
        raise InvalidInput(f"A message is a mapping with its content, not {type(given).__name__}.")
    return replace(
        given,
        content=clean_text(given.content, "content of the message"),
        at=aware(given.at, "at"),
        role=_label(given.role, "role"),
        speaker=_label(given.speaker, "speaker"),
        source=_label(given.source, "source"),
        metadata=clean_metadata(given.metadata),
    )


def clean_metadata(given: object) -> dict[str, Any] | None:
    """Return the JSON object after a round trip through JSON, as the store will return it."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InvalidInput(f"`metadata` is a mapping of names to JSON values, not {type(given).__name__}.")
    try:
        written = json.dumps(dict(given), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        written.encode()
    except (TypeError, ValueError, RecursionError) as error:  # half a surrogate pair is a ValueError, too
        raise InvalidInput(f"`metadata` cannot be written as JSON: {error}.") from error
    if len(written) > METADATA_LIMIT:
        raise InvalidInput(
            f"`metadata` takes {len(written):,} characters of JSON, but at most {METADATA_LIMIT:,} are "
            "allowed; store large values elsewhere, and only their address here."
        )
    kept: dict[str, Any] = json.loads(written)
    return kept


def ids_of(given: int | Iterable[int]) -> tuple[int, ...]:
    """Return the ids; a single id counts as a list of one."""
    ids = (given,) if isinstance(given, int) else tuple(check_list(given, "Ids"))
    wrong = [id_ for id_ in ids if isinstance(id_, bool) or not isinstance(id_, int)]
    if wrong:
        raise InvalidInput(f"An id is a whole number, not {wrong[0]!r}.")
    return ids


def tags_of(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(clean_type(tag, "tag") for tag in one_or_more(given, "Tags")))


def _label(given: object, what: str) -> str | None:
    return None if given is None or given == "" else clean_name(given, what)


def _observation_of(given: ObservationLike) -> NewObservation:
    if isinstance(given, str):
        given = NewObservation(given)
    elif isinstance(given, Mapping):
        given = _from_mapping(NewObservation, given, "observation")
    elif not isinstance(given, NewObservation):
        raise InvalidInput(
            f"An observation is a NewObservation, text or a mapping, not {type(given).__name__}."
        )
    if isinstance(given.supersedes, bool) or not isinstance(given.supersedes, int | str | None):
        raise InvalidInput(
            f"`supersedes` is the id or the text of an older observation, not {given.supersedes!r}."
        )
    return replace(
        given,
        content=clean_text(given.content, "observation"),
        kind=clean_type(given.kind, "kind of the observation"),
        happened_at=aware(given.happened_at, "happened_at"),
    )


def _from_mapping(
    record: type[_Record], given: Mapping[str, Any], what: str, other_names: Mapping[str, str] = {}
) -> _Record:
    known = _check_keys(given, what, {each.name for each in fields(record)}, other_names)
    required = {each.name: "" for each in fields(record) if each.default is MISSING}
    return record(**{**required, **known})


def _check_keys(
    given: Mapping[str, Any], what: str, keys: set[str], other_names: Mapping[str, str] = {}
) -> dict[str, Any]:
    """Return the mapping with our names. A value that is given under both its names is refused."""
    renamed = {
        key if other_names.get(key) in given else other_names.get(key, key): value
        for key, value in given.items()
    }
    unknown = set(renamed) - keys
    if unknown:
        article, wrong = "An" if what[0] in "aeiou" else "A", ", ".join(sorted(map(repr, unknown)))
        raise InvalidInput(
            f"{article} {what} has no {wrong}; {right_names(unknown, keys)}it has: {', '.join(sorted(keys))}."
        )
    return renamed


# Times. A day means its end in the user's time zone, wherever `as_of` is given.

_ISO_WEEK = re.compile(r"\d{4}-?W\d{2}")


def as_of_time(given: AsOf | None, zone: tzinfo) -> datetime | None:
    """Return the moment that `as_of` names, in UTC.

    A day means its last microsecond in `zone`. A week, such as 2026-W10, means the end of its Sunday. Texts
    without a zone are read in `zone`, but a `datetime` must have its own.
    """
    if given is None or isinstance(given, datetime):
        return aware(given, "as_of")
    if isinstance(given, str):
        given = _parsed(given, zone)
    if isinstance(given, datetime):
        return _in_utc(given)
    if not isinstance(given, date):
        raise InvalidInput(f"`as_of` must be a date, a datetime or an ISO text, not {type(given).__name__}.")
    return end_of_day(given, zone)


def end_of_day(day: date, zone: tzinfo) -> datetime:
    """Return the last microsecond of a day in a zone, in UTC."""
    if day == date.max:
        return _in_utc(datetime.combine(day, time.max, zone))
    # Not 23:59:59.999999: where the clock goes back at midnight, that time comes twice.
    return _in_utc(datetime.combine(day + timedelta(days=1), time(), zone)) - timedelta(microseconds=1)


def aware(when: datetime | None, what: str) -> datetime | None:
    """Return the time, or raise if it has no zone."""
    if when is None:
        return None
    if not isinstance(when, datetime):
        raise InvalidInput(f"`{what}` must be a datetime, not {type(when).__name__}.")
    if when.tzinfo is None:
        raise InvalidInput(
            f"`{what}` is {when}, without a time zone; give it one, as in ….replace(tzinfo=UTC)."
        )
    return when


def _parsed(text: str, zone: tzinfo) -> datetime | date:
    with suppress(ValueError, OverflowError):
        day = date.fromisoformat(text)
        return day + timedelta(days=6) if _ISO_WEEK.fullmatch(text) else day
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"`as_of` is {text[:40]!r}, not a time in ISO 8601; write 2026-03-01 or 2026-03-01T09:00:00Z."
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # near `datetime.min` or `datetime.max`
        return moment.replace(tzinfo=UTC)
