"""Requests of mem0's clients: metadata, filters and their limits."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import product
from operator import ge, gt, le, lt
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import DEFAULT_LIMIT, MOST_HITS, NAME_LIMIT, TYPE_LIMIT
from recollect.plugin import fold

# Metadata

MOST_KEYS = 50
LONGEST_KEY = 60
LONGEST_METADATA = 10_000
"""Maximum length of all tags together."""
# JSON quoting at most doubles a piece and adds two quotation marks.
_PIECE_LENGTH = 60
_PIECE = re.compile(r"(\d+)/\d+=(.*)", re.DOTALL)


def metadata_tags(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Encode metadata as tags. A long value takes several tags: `key=1/3="…"`."""
    if len(metadata) > MOST_KEYS:
        raise InvalidInput(f"`metadata` has {len(metadata)} keys; use at most {MOST_KEYS}.")
    if len({fold(key) for key in metadata}) < len(metadata):
        raise InvalidInput("Two keys of `metadata` differ by case or accents alone; rename one of them.")
    tags = [tag for key, value in metadata.items() for tag in _tags(key, value)]
    if sum(map(len, tags)) > LONGEST_METADATA:
        raise InvalidInput(
            f"`metadata` takes more than {LONGEST_METADATA:,} characters; put long texts into the memory."
        )
    return tuple(tags)


def metadata_of(tags: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """Split tags into metadata and plain tags."""
    found: dict[str, Any] = {}
    plain: list[str] = []
    pieces: dict[str, dict[int, str]] = {}
    for tag in tags:
        key, _, text = tag.partition("=")
        piece = _PIECE.fullmatch(text)
        if not _is_key(key):
            plain.append(tag)
            continue
        try:
            if piece is not None:
                pieces.setdefault(key, {})[int(piece[1])] = str(_value(piece[2]))
            else:
                found.setdefault(key, _value(text))
        except (ValueError, RecursionError):
            plain.append(tag)
    for key, texts in pieces.items():
        try:
            found[key] = _value("".join(texts[place] for place in sorted(texts)))
        except (ValueError, RecursionError):  # a piece is missing
            plain += [tag for tag in tags if tag.startswith(f"{key}=")]
    return found, plain


def merged_tags(tags: Iterable[str], metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags with the values of these metadata keys replaced."""
    before, plain = metadata_of(tags)
    keys = {fold(key) for key in metadata}
    kept = {key: value for key, value in before.items() if fold(key) not in keys}
    return (*plain, *metadata_tags({**kept, **metadata}))


def _tags(key: str, value: Any) -> list[str]:
    if not _is_key(key):
        raise InvalidInput(
            f"A key of `metadata` has 1 to {LONGEST_KEY} characters, no space around it, and no '='; "
            f"rename {key[:LONGEST_KEY]!r}."
        )
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        if not unicodedata.is_normalized("NFC", text):  # tags are stored in NFC, so other text is escaped
            text = json.dumps(value, separators=(",", ":"))
    except (ValueError, RecursionError):
        raise InvalidInput(f"`metadata` of {key!r} cannot be stored as JSON; simplify it.") from None
    if len(key) + 1 + len(text) <= TYPE_LIMIT:
        return [f"{key}={text}"]
    pieces = [text[start : start + _PIECE_LENGTH] for start in range(0, len(text), _PIECE_LENGTH)]
    return [
        f"{key}={place}/{len(pieces)}={json.dumps(piece, ensure_ascii=False)}"
        for place, piece in enumerate(pieces, start=1)
    ]


def _is_key(name: str) -> bool:
    is_clean = name == unicodedata.normalize("NFC", name).strip() and "=" not in name
    return is_clean and 0 < len(name) <= LONGEST_KEY


def _value(text: str) -> Any:
    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


# Filters

MOST_CONDITIONS = 100
_MAX_DEPTH = 10
_JUNCTIONS = {"AND": "and", "OR": "or", "NOT": "not"}
_ALIASES = {
    "memory_id": "id",
    "memory_ids": "id",
    "keywords": "memory",
    "text": "memory",
    "category": "categories",
}
_TIMES = frozenset(("created_at", "updated_at", "timestamp", "expiration_date"))
_FIELDS = _TIMES | {"id", "memory", "user_id", "agent_id", "app_id", "run_id", "categories"}
ANYTHING = "*"
"""A filter value that matches any value."""

Row = Mapping[str, Any]
UserAndAgent = tuple[str | None, str | None]
"""A user and an agent; None means any."""


@dataclass(frozen=True, slots=True)
class FieldTest:
    """A condition on a field of a row; `metadata.topic` is a metadata key."""

    field: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Junction:
    """A group of conditions: all hold (`and`), one holds (`or`), or none holds (`not`)."""

    word: Literal["and", "or", "not"]
    parts: tuple[RowFilter, ...]


RowFilter = FieldTest | Junction


def row_filter(given: Mapping[str, Any]) -> RowFilter:
    """Parse filters. Fields side by side must all hold."""
    found = _junction("and", given, 0)
    if sum(1 for _ in _tests(found)) > MOST_CONDITIONS:
        raise InvalidInput(f"`filters` has more than {MOST_CONDITIONS} conditions; use fewer.")
    return found


def holds(tree: RowFilter, row: Row) -> bool:
    match tree:
        case FieldTest(field, operator, value):
            _, is_metadata, key = field.partition("metadata.")
            known = row["metadata"].get(key) if is_metadata else row.get(field)
            if value == ANYTHING:
                return (known is not None and known != []) is (operator == "eq")
            try:
                return bool(_OPERATORS[operator](known, value, field in _TIMES))
            except TypeError:  # values of different types
                return False
        case Junction("and", parts):
            return all(holds(part, row) for part in parts)
        case Junction("or", parts):
            return any(holds(part, row) for part in parts)
        case Junction(_, parts):
            return not any(holds(part, row) for part in parts)


def places(tree: RowFilter) -> frozenset[UserAndAgent]:
    """Return the users and agents to which matching rows can belong."""
    match tree:
        case FieldTest("user_id", "eq" | "in", value):
            return frozenset((str(user), None) for user in _as_list(value))
        case FieldTest("agent_id", "eq" | "in", value) if value != ANYTHING:
            return frozenset((None, str(agent)) for agent in _as_list(value))
        case Junction("or", parts):
            return frozenset(place for part in parts for place in places(part))
        case Junction("and", parts):
            # Intersect step by step, so that the set stays small.
            found = frozenset[UserAndAgent]([(None, None)])
            for part in parts:
                pairs = product(found, places(part))
                found = frozenset(place for pair in pairs if (place := _both(*pair)) is not None)
            return found
        case _:
            return frozenset([(None, None)])


def needed(tree: RowFilter, field: str) -> str | None:
    """Return the value that a field has in every matching row, if the filter fixes one."""
    found = [test.value for test in _all_needed(tree) if test.field == field]
    return str(found[0]) if found and found[0] != ANYTHING else None


def all_needed(tree: RowFilter) -> dict[str, Any] | None:
    """Return the required value of each field; None if the filter has other conditions."""
    needs = list(_all_needed(tree))
    if len(needs) < sum(1 for _ in _tests(tree)) or any(test.value in (None, ANYTHING) for test in needs):
        return None
    return {test.field: test.value for test in needs}


def needed_tags(tree: RowFilter) -> tuple[str, ...]:
    """Return the tags of every matching note, which narrow a search."""
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
    """Whether the filter names only users and agents."""
    return all(test.field in {"user_id", "agent_id"} for test in _tests(tree))


def _junction(word: Literal["and", "or", "not"], given: object, depth: int) -> RowFilter:
    if depth > _MAX_DEPTH:
        raise InvalidInput(f"`filters` are nested more than {_MAX_DEPTH} deep; write them flatter.")
    if isinstance(given, Mapping):
        parts = [part for name, value in given.items() for part in _parse_field(str(name), value, depth)]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        parts = [_junction("and", each, depth + 1) for each in given]
    else:
        raise InvalidInput(f"A part of `filters` must be an object or a list of objects, not {given!r:.80}.")
    # A list after NOT excludes each entry; an object excludes rows with all of its fields.
    if word == "not" and isinstance(given, Mapping):
        return Junction("not", (Junction("and", tuple(parts)),))
    return parts[0] if word == "and" and len(parts) == 1 else Junction(word, tuple(parts))


def _parse_field(name: str, value: Any, depth: int) -> Iterator[RowFilter]:
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
        raise InvalidInput(f"`filters` has {wrong} for {name!r}; use one of: {', '.join(_OPERATORS)}.")
    else:
        given = [("in" if isinstance(wanted, list) else "eq", wanted)]
    for operator, value in given:
        if operator in {"in", "nin"} and not isinstance(value, list):
            raise InvalidInput(f"`filters`: {operator!r} takes a list, not {value!r:.80}.")
        if field == "user_id" and ANYTHING in _as_list(value):
            raise InvalidInput("`filters` must name the users; one search cannot go through all users.")
        if field in _TIMES and value is not None and value != ANYTHING:
            for each in _as_list(value):
                moment_given(each)
        yield FieldTest(field, operator, value)


def _as_list(value: Any) -> list[Any]:
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
    """Return what two pairs of user and agent have in common; None if nothing."""
    for first, second in zip(one, other, strict=True):
        if first is not None and second is not None and first != second:
            return None
    return one[0] or other[0], one[1] or other[1]


def _equal(known: Any, value: Any, is_time: bool) -> bool:
    if is_time and known is not None and value is not None:
        return moment_given(value) <= moment_given(known) <= moment_given(value, is_end=True)
    if isinstance(known, list) and not isinstance(value, list):
        return value in known
    return bool(known == value) and isinstance(known, bool) is isinstance(value, bool)


def _among(known: Any, values: list[Any], is_time: bool) -> bool:
    return any(_equal(known, value, is_time) for value in values)


def _ordered(compares: Callable[[Any, Any], bool], *, is_end: bool) -> Callable[[Any, Any, bool], bool]:
    """Return a comparison. With `is_end`, a day means its end, as in `lte: 2026-01-31`."""

    def compared(known: Any, value: Any, is_time: bool) -> bool:
        if known is None:
            return False
        if is_time:
            return compares(moment_given(known), moment_given(value, is_end=is_end))
        return compares(known, value)

    return compared


def _contains_any_case(known: Any, value: Any, _: bool) -> bool:
    if isinstance(known, list):
        return str(value).casefold() in (str(each).casefold() for each in known)
    return known is not None and str(value).casefold() in str(known).casefold()


_OPERATORS: Mapping[str, Callable[[Any, Any, bool], bool]] = {
    "eq": _equal,
    "ne": lambda known, value, is_time: not _equal(known, value, is_time),
    "in": _among,
    "nin": lambda known, values, is_time: not _among(known, values, is_time),
    "gt": _ordered(gt, is_end=True),
    "gte": _ordered(ge, is_end=False),
    "lt": _ordered(lt, is_end=False),
    "lte": _ordered(le, is_end=True),
    "contains": lambda known, value, _: known is not None and value in known,
    "icontains": _contains_any_case,
}


def moment_given(given: Any, *, is_end: bool = False) -> datetime:
    """Parse ISO 8601 or seconds since 1970. A day means its start, or with `is_end` its end."""
    try:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return datetime.fromtimestamp(given, UTC)
        found = datetime.fromisoformat(str(given))
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"{given!r:.80} is not a time; write it as 2026-01-31, as 2026-01-31T09:00:00Z or in seconds "
            "since 1970."
        ) from None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    is_day = len(str(given)) <= len("2026-01-31") and found.time() == time()
    return found + timedelta(days=1, microseconds=-1) if is_day and is_end else found


# Requests

MOST_MESSAGES = 1_000
MOST_IN_BATCH = 1_000
MOST_ROWS_PER_PAGE = 1_000
MOST_LISTED = 10_000
# Options of clients that have no effect here, about answer formats and accounts of the platform.
_WITHOUT_EFFECT = {"version", "api_version", "output_format", "async_mode", "source", "keyword_search"}
_WITHOUT_EFFECT |= {"org_id", "project_id"}

_Given = TypeVar("_Given", bound="_Request")


def _text_of_number(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Id = Annotated[str, BeforeValidator(_text_of_number), Field(min_length=1, max_length=NAME_LIMIT)]
Texts = Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]
_Rows = Annotated[int | None, Field(ge=1, le=MOST_ROWS_PER_PAGE)]
_Hits = Annotated[int | None, Field(ge=1, le=MOST_HITS)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="allow")

    @property
    def ignored(self) -> list[str]:
        """Return the given options that have no effect here."""
        extra = self.model_extra or {}
        return sorted(
            name for name, value in extra.items() if value is not None and name not in _WITHOUT_EFFECT
        )


class _ScopedRequest(_Request):
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    run_id: Id | None = None
    filters: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None

    @property
    def filter(self) -> dict[str, Any]:
        ids = {name: getattr(self, name) for name in ("user_id", "agent_id", "app_id", "run_id")}
        ids_given = {name: value for name, value in ids.items() if value is not None}
        return {"AND": [ids_given, self.filters or {}]}


class Mem0Message(_Request):
    role: str = Field(default="user", max_length=NAME_LIMIT)
    name: str | None = Field(default=None, max_length=NAME_LIMIT)
    content: str | list[dict[str, Any]] | dict[str, Any]

    @property
    def text(self) -> str:
        """The text; for a message in parts, its text parts."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else [self.content]
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        if not texts:
            raise InvalidInput("A message without text cannot be remembered; describe its pictures in words.")
        return "\n".join(texts)


class AddRequest(_ScopedRequest):
    messages: list[Mem0Message] = Field(min_length=1, max_length=MOST_MESSAGES)
    infer: bool | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = None

    def id_of(self, name: str) -> str | None:
        """Read ids from the filters, where newer clients put them."""
        given: str | None = getattr(self, name)
        return given or needed(row_filter(self.filters or {}), name)


class SearchRequest(_ScopedRequest):
    query: str
    top_k: _Hits = None
    limit: _Hits = None
    threshold: float | None = Field(default=None, ge=0, le=1)
    rerank: bool | None = None
    fields: list[str] | None = None
    categories: Texts | None = None

    @property
    def most(self) -> int:
        return self.top_k or self.limit or DEFAULT_LIMIT


class ListRequest(_ScopedRequest):
    page: int = Field(default=1, ge=1)
    page_size: _Rows = None
    limit: _Rows = None
    top_k: _Rows = None
    start_date: str | None = None
    end_date: str | None = None
    fields: list[str] | None = None
    categories: Texts | None = None

    @property
    def size(self) -> int:
        return self.page_size or self.top_k or self.limit or 100


class DeleteAllRequest(_ScopedRequest):
    """A request to delete memories."""


class UpdateRequest(_Request):
    text: str | None = None
    memory: str | None = None
    data: str | None = None
    metadata: dict[str, Any] | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = None

    @property
    def new_text(self) -> str | None:
        """The new text. The name of its field depends on mem0's version."""
        return self.text or self.memory or self.data


class BatchRow(UpdateRequest):
    memory_id: Id


class BatchRequest(_Request):
    memories: list[BatchRow] = Field(min_length=1, max_length=MOST_IN_BATCH)


class FeedbackRequest(_Request):
    memory_id: Id
    feedback: str | None = None


def request_of(form: type[_Given], given: Mapping[str, Any]) -> _Given:
    try:
        return form.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"`{place}`: {first['msg']}. Nothing was done.") from None


def body_of(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body) if body else {}
    except (ValueError, RecursionError):
        raise InvalidInput("The body is not JSON; send an object.") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"The body is a {type(found).__name__}; send an object.")
    if isinstance(messages := found.get("messages"), str | dict):
        message = {"role": "user", "content": messages} if isinstance(messages, str) else messages
        found["messages"] = [message]
    return found


def parameters_of(given: Mapping[str, str]) -> dict[str, Any]:
    """Parse URL parameters. mem0's client writes filters there as Python literals."""
    found: dict[str, Any] = dict(given)
    for name in ("filters", "metadata"):
        if name in found:
            found[name] = _object(name, found[name])
    return found


def _object(name: str, text: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, dict):
            return found
    raise InvalidInput(f"`{name}` is not a JSON object.")
