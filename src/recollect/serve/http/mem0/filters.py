"""mem0's filters: a tree of conditions, read once and tried on rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import product
from typing import Any, Literal

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.serve.http.mem0.metadata import metadata_tags

MOST_CONDITIONS = 100
_DEEPEST = 10
_JUNCTIONS = {"AND": "and", "OR": "or", "NOT": "not"}
_ALIASES = {
    "memory_id": "id",
    "memory_ids": "id",
    "keywords": "memory",
    "text": "memory",
    "category": "categories",
}
_FIELDS = frozenset(
    ("id", "memory", "user_id", "agent_id", "app_id", "run_id", "categories", "created_at", "updated_at")
) | {"timestamp", "expiration_date"}
_TIMES = frozenset(("created_at", "updated_at", "timestamp", "expiration_date"))
ANYTHING = "*"
"""As a value: the field has one."""

Row = Mapping[str, Any]
UserAndAgent = tuple[str | None, str | None]
"""A user and an agent in whose memory something may be; None: any."""


@dataclass(frozen=True, slots=True)
class FieldTest:
    """One condition on a field of a row; `metadata.topic` is a key of its metadata."""

    field: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Junction:
    """All of its parts hold (`and`), one of them (`or`), or none (`not`)."""

    word: Literal["and", "or", "not"]
    parts: tuple[RowFilter, ...]


RowFilter = FieldTest | Junction


def row_filter(given: Mapping[str, Any]) -> RowFilter:
    """Several fields side by side must all hold."""
    found = _junction("and", given, 0)
    if sum(1 for _ in _tests(found)) > MOST_CONDITIONS:
        raise InvalidInput(f"`filters` may have {MOST_CONDITIONS} conditions; ask for less.")
    return found


def holds(tree: RowFilter, row: Row) -> bool:
    match tree:
        case FieldTest():
            return _passes(tree, row)
        case Junction("and", parts):
            return all(holds(part, row) for part in parts)
        case Junction("or", parts):
            return any(holds(part, row) for part in parts)
        case Junction(_, parts):
            return not any(holds(part, row) for part in parts)


def places(tree: RowFilter) -> frozenset[UserAndAgent]:
    """Where to look for rows that can pass."""
    match tree:
        case FieldTest("user_id", "eq" | "in", value):
            return frozenset((str(user), None) for user in _each(value))
        case FieldTest("agent_id", "eq" | "in", value) if value != ANYTHING:
            return frozenset((None, str(agent)) for agent in _each(value))
        case Junction("or", parts):
            return frozenset(place for part in parts for place in places(part))
        case Junction("and", parts):
            # One after another: of many alternatives, few places are left at each step.
            found = frozenset[UserAndAgent]([(None, None)])
            for part in parts:
                pairs = product(found, places(part))
                found = frozenset(place for pair in pairs if (place := _both(*pair)) is not None)
            return found
        case _:
            return frozenset([(None, None)])


def needed(tree: RowFilter, field: str) -> str | None:
    """The one value that a field of every row that passes has, if that is clear."""
    found = [test.value for test in _all_needed(tree) if test.field == field]
    return str(found[0]) if found and found[0] != ANYTHING else None


def all_needed(tree: RowFilter) -> dict[str, Any] | None:
    """The value that each field must have, where a filter asks for nothing else; None: it does."""
    needs = list(_all_needed(tree))
    if len(needs) < sum(1 for _ in _tests(tree)) or any(test.value in (None, ANYTHING) for test in needs):
        return None
    return {test.field: test.value for test in needs}


def needed_tags(tree: RowFilter) -> tuple[str, ...]:
    """The tags that every note that passes has: a search can look among those alone."""
    found: list[str] = []
    for test in _all_needed(tree):
        _, is_metadata, key = test.field.partition("metadata.")
        if test.field == "app_id":
            is_metadata, key = "metadata.", "app_id"
        if is_metadata and test.value != ANYTHING and test.value is not None:
            tags = metadata_tags({key: test.value})
            found += tags if len(tags) == 1 else ()
    return tuple(found)


def is_only_of_places(tree: RowFilter) -> bool:
    """Whether it asks for whose a memory is, and nothing else."""
    return all(test.field in {"user_id", "agent_id"} for test in _tests(tree))


def _junction(word: Literal["and", "or", "not"], given: object, depth: int) -> RowFilter:
    if depth > _DEEPEST:
        raise InvalidInput(f"`filters` are nested more than {_DEEPEST} deep; write them flatter.")
    if isinstance(given, Mapping):
        parts = [part for name, value in given.items() for part in _named(str(name), value, depth)]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        parts = [_junction("and", each, depth + 1) for each in given]
    else:
        raise InvalidInput(f"A part of `filters` is an object or a list of them, not {given!r:.80}.")
    # A list after NOT excludes each of its entries; an object, what has all of its fields.
    if word == "not" and isinstance(given, Mapping):
        return Junction("not", (Junction("and", tuple(parts)),))
    return parts[0] if word == "and" and len(parts) == 1 else Junction(word, tuple(parts))


def _named(name: str, value: Any, depth: int) -> Iterator[RowFilter]:
    junction = _JUNCTIONS.get(name.removeprefix("$").upper())
    if junction is not None:
        yield _junction(junction, value, depth + 1)  # type: ignore[arg-type]  # one of the three words
    elif name == "metadata" and isinstance(value, Mapping):
        for key, wanted in value.items():
            yield from _tests_of(f"metadata.{key}", wanted)
    else:
        field = _ALIASES.get(name, name)
        yield from _tests_of(field if field in _FIELDS else f"metadata.{field}", value)


def _tests_of(field: str, wanted: Any) -> Iterator[FieldTest]:
    if isinstance(wanted, Mapping) and wanted and all(str(name) in _OPERATORS for name in wanted):
        given = [(str(name), value) for name, value in wanted.items()]
    elif isinstance(wanted, Mapping):
        wrong, name = ", ".join(repr(str(each)) for each in wanted), field.removeprefix("metadata.")
        raise InvalidInput(f"`filters` has {wrong} for {name!r}; there are: {', '.join(_OPERATORS)}.")
    else:
        given = [("in" if isinstance(wanted, list) else "eq", wanted)]
    for operator, value in given:
        if operator in {"in", "nin"} and not isinstance(value, list):
            raise InvalidInput(f"`filters`: {operator!r} takes a list, not {value!r:.80}.")
        if field == "user_id" and ANYTHING in _each(value):
            raise InvalidInput("`filters`: name the users; there is no search through all of them at once.")
        if field in _TIMES and value is not None and value != ANYTHING:
            for each in _each(value):
                moment_given(each)
        yield FieldTest(field, operator, value)


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _tests(tree: RowFilter) -> Iterator[FieldTest]:
    match tree:
        case FieldTest():
            yield tree
        case Junction(_, parts):
            for part in parts:
                yield from _tests(part)


def _all_needed(tree: RowFilter) -> Iterator[FieldTest]:
    match tree:
        case FieldTest(_, "eq", _):
            yield tree
        case Junction("and", parts):
            for part in parts:
                yield from _all_needed(part)


def _both(one: UserAndAgent, other: UserAndAgent) -> UserAndAgent | None:
    """What is in both places; None: nothing is."""
    for first, second in zip(one, other, strict=True):
        if first is not None and second is not None and first != second:
            return None
    return one[0] or other[0], one[1] or other[1]


def _passes(test: FieldTest, row: Row) -> bool:
    _, is_metadata, key = test.field.partition("metadata.")
    known = row["metadata"].get(key) if is_metadata else row.get(test.field)
    if test.value == ANYTHING:
        return (known is not None and known != []) is (test.operator == "eq")
    try:
        return bool(_OPERATORS[test.operator](known, test.value, test.field in _TIMES))
    except TypeError:  # two things that do not compare
        return False


def _equal(known: Any, value: Any, is_time: bool) -> bool:
    if is_time and known is not None and value is not None:
        return moment_given(value) <= moment_given(known) <= moment_given(value, is_end=True)
    if isinstance(known, list) and not isinstance(value, list):
        return value in known
    return bool(known == value) and isinstance(known, bool) is isinstance(value, bool)


def _among(known: Any, values: list[Any], is_time: bool) -> bool:
    return any(_equal(known, value, is_time) for value in values)


def _ordered(compares: Callable[[Any, Any], bool], *, is_end: bool) -> Callable[[Any, Any, bool], bool]:
    """`is_end`: a day stands for its end, as in `lte: 2026-01-31`."""

    def compared(known: Any, value: Any, is_time: bool) -> bool:
        if known is None:
            return False
        if is_time:
            return compares(moment_given(known), moment_given(value, is_end=is_end))
        return compares(known, value)

    return compared


def _contains(known: Any, value: Any, _: bool) -> bool:
    return known is not None and value in known


def _contains_any_case(known: Any, value: Any, _: bool) -> bool:
    if isinstance(known, list):
        return str(value).casefold() in (str(each).casefold() for each in known)
    return known is not None and str(value).casefold() in str(known).casefold()


_OPERATORS: Mapping[str, Callable[[Any, Any, bool], bool]] = {
    "eq": _equal,
    "ne": lambda known, value, is_time: not _equal(known, value, is_time),
    "in": _among,
    "nin": lambda known, values, is_time: not _among(known, values, is_time),
    "gt": _ordered(lambda known, value: bool(known > value), is_end=True),
    "gte": _ordered(lambda known, value: bool(known >= value), is_end=False),
    "lt": _ordered(lambda known, value: bool(known < value), is_end=False),
    "lte": _ordered(lambda known, value: bool(known <= value), is_end=True),
    "contains": _contains,
    "icontains": _contains_any_case,
}


def moment_given(given: Any, *, is_end: bool = False) -> datetime:
    """A time as ISO 8601 or in seconds since 1970; a day is its beginning, or its end."""
    try:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return datetime.fromtimestamp(given, UTC)
        found = datetime.fromisoformat(str(given))
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"{given!r:.80} is no time; write it as 2026-01-31, as 2026-01-31T09:00:00Z or in seconds since "
            "1970."
        ) from None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    is_day = len(str(given)) <= len("2026-01-31") and found.time() == time()
    return found + timedelta(days=1, microseconds=-1) if is_day and is_end else found
