"""Our own format, which keeps everything: a header, every memory with its observations, every relation, and
what was learnt from use.

Keys are in the order of the records' fields, which are listed in `records` alone. A field with its
default value is left out. Times are ISO 8601 in UTC, to the microsecond. Nothing in the file depends on
when or where it was written, so two exports of the same memories are equal byte for byte. Vectors are not
in it: they are made from the texts.

Version 1 is the same without what was learnt; an export that is asked to leave that out still is of it.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import MISSING, fields, replace
from datetime import UTC, date, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args, get_type_hints

from recollect.errors import InvalidInput
from recollect.learnt import (
    LEARNT_PARTS,
    Learnt,
    LearntCalibration,
    LearntDismissal,
    LearntFeedback,
    LearntPart,
    LearntRecall,
    LinkedMemory,
    SeenTogether,
)
from recollect.records import Absence, Kind, Memory, Observation, Relation, Revision, Scope
from recollect.text.limits import clean_name, clean_text, clean_type
from recollect.transfer.json_lines import LineFormat, read_object, write_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel, ValidationError, ValidationInfo

    from recollect.transfer.files import FileLine

VERSION = 2
_WITHOUT_LEARNT = 1
# The largest whole number that every reader of JSON gets right; an id beyond it would also use up SQLite's.
_LARGEST = 2**53 - 1
_PARTS: dict[str, type[Any]] = {
    "observations": Observation,
    "former": Revision,
    "absences": Absence,
    "together": SeenTogether,
    "links": LinkedMemory,
    "calibrations": LearntCalibration,
    "dismissed": LearntDismissal,
    "feedback": LearntFeedback,
}
_PART_NAMES = {"observations": "observation", "former": "former text", "absences": "absence"}
_RECORD_NAMES: dict[type[Any], str] = {
    Memory: "memory",
    Relation: "relation",
    **{kind: part for part, kind in LEARNT_PARTS.items()},
}
# Far above any answer or dream that we pack; below it, a few kilobytes of a file cannot fill the memory.
_MOST_UNPACKED_BYTES = 256_000_000
# A field that would repeat another one.
_SAME_AS = {"updated_at": "created_at"}
# What follows from the rest: names from ids.
_NOT_WRITTEN = {"source_name", "target_name"}


def full_header(*, learning: bool = True) -> str:
    return write_object({"recollect": VERSION if learning else _WITHOUT_LEARNT})


def is_header(content: bytes | None) -> bool:
    """Whether a file that begins with this line is of our format, of whatever version."""
    try:
        return "recollect" in read_object(content)
    except InvalidInput:
        return False


def check_header(first: FileLine | None) -> int:
    """The version of the format; `InvalidInput` for one that is not known here."""
    if first is None:
        raise InvalidInput("The file is empty; a full export has at least its first line.")
    plain = read_object(first.content)
    if "recollect" not in plain:
        raise InvalidInput(
            'The file does not begin with {"recollect":1}, so it is no full export; '
            "import it as the official server's format."
        )
    version = plain["recollect"]
    if version not in {_WITHOUT_LEARNT, VERSION} or isinstance(version, bool):
        raise InvalidInput(
            f"The file is of format {version!r}, and this Recollect knows {_WITHOUT_LEARNT} and {VERSION}: "
            "pip install --upgrade recollect-memory"
        )
    return cast("int", version)


def full_line(record: Memory | Relation | Learnt, *, learning: bool = True) -> str:
    if isinstance(record, Memory) and not learning:
        # They follow from the texts, nearly: not for what was out of force when an entity came.
        record = replace(record, mentions=())
    return write_object({"record": _RECORD_NAMES[type(record)], **plain_fields(record)})


def plain_fields(record: Any) -> dict[str, Any]:
    """The fields of a record as JSON, those with their default value left out."""
    plain: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        default = getattr(record, _SAME_AS[field.name]) if field.name in _SAME_AS else field.default
        if field.name in _NOT_WRITTEN or (value == default and type(value) is type(default)):
            continue
        if isinstance(value, Scope):
            plain |= {part: name for part, name in (("owner", value.owner), ("agent", value.agent)) if name}
        elif isinstance(value, datetime):
            written = value.astimezone(UTC).isoformat(timespec="microseconds")
            plain[field.name] = written.replace("+00:00", "Z")
        elif isinstance(value, bytes):
            plain[field.name] = base64.b64encode(value).decode("ascii")
        elif field.name == "days":
            plain[field.name] = [day.isoformat() for day in value]
        elif field.name in _PARTS:
            plain[field.name] = [plain_fields(part) for part in value]
        else:
            plain[field.name] = list(value) if isinstance(value, tuple) else value
    return plain


def _memory(plain: dict[str, Any]) -> tuple[Memory, None]:
    values = _validated(Memory, plain)
    memory = Memory(
        scope=Scope(values.pop("owner", ""), values.pop("agent", "")),
        **{"updated_at": values["created_at"], **values},
    )
    if memory.kind is Kind.ENTITY:
        if memory.text or memory.former:
            raise InvalidInput("An entity has observations, and no `text`.")
        return replace(memory, name=clean_name(memory.name)), None
    if memory.name or memory.observations:
        raise InvalidInput(f"A {memory.kind} has a `text`, and neither a name nor observations.")
    clean_text(memory.text)
    return memory, None


def _relation(plain: dict[str, Any]) -> tuple[Relation, None]:
    return Relation(source_name="", target_name="", **_validated(Relation, plain)), None


def _learnt(part: LearntPart, plain: dict[str, Any]) -> tuple[Learnt, None]:
    kind: Any = LEARNT_PARTS[part]
    values = _validated(kind, plain)
    if "owner" in _row_model(kind).model_fields:
        values["scope"] = Scope(values.pop("owner", ""), values.pop("agent", ""))
    learnt: Learnt = kind(**values)
    if isinstance(learnt, LearntRecall) and learnt.places and len(learnt.places) != len(learnt.memories):
        raise InvalidInput("The recall has different numbers of `places` and `memories`.")
    return learnt, None


FULL = LineFormat(
    "record",
    {
        "memory": _memory,
        "relation": _relation,
        **{part: partial(_learnt, part) for part in LEARNT_PARTS},
    },
    headed=True,
)


def _validated(record: Any, plain: dict[str, Any]) -> dict[str, Any]:
    """The values of a record's fields; `InvalidInput` says which of them is wrong, and how."""
    from pydantic import ValidationError  # noqa: PLC0415  # exports need none

    try:
        return _values(_row_model(record).model_validate(plain))
    except ValidationError as error:
        raise InvalidInput(_reason(error, _RECORD_NAMES[record])) from None


def _values(row: BaseModel) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in row.model_fields_set}
    for name, record in _PARTS.items():
        if name in values:
            values[name] = tuple(record(**_values(part)) for part in values[name])
    return values


@cache
def _row_model(record: Any) -> type[BaseModel]:
    """What a row of the file may hold: the fields of the record, checked by their types."""
    from pydantic import ConfigDict, create_model  # noqa: PLC0415  # exports need none

    types = _field_types()
    hints = get_type_hints(record)
    rows: dict[str, Any] = {}
    if "scope" in hints:
        rows = {"owner": (types["label"], ""), "agent": (types["label"], "")}
    for field in fields(record):
        if field.name in _NOT_WRITTEN or field.name == "scope":
            continue
        hint = hints[field.name]
        # A field that may be absent is absent, and never null.
        plain = next((each for each in get_args(hint) if each is not type(None)), hint)
        if field.name in _PARTS:
            type_ = list[_row_model(_PARTS[field.name])]  # type: ignore[arg-type, misc, valid-type]  # made at run time
        else:
            own = types.get(f"{record.__name__}.{field.name}") or types.get(field.name)
            type_ = own or types.get(plain) or plain
        needed = field.default is MISSING and field.name not in _SAME_AS
        rows[field.name] = (type_, ... if needed else None)
    model: type[BaseModel] = create_model(record.__name__, __config__=ConfigDict(extra="forbid"), **rows)
    return model


@cache
def _field_types() -> dict[Any, Any]:
    """The check of a field: by its record and name, else by its name, else by its type."""
    from pydantic import AfterValidator, Field, PlainValidator, Strict, StrictBool  # noqa: PLC0415

    def whole(least: int, most: int = _LARGEST) -> Any:
        return Annotated[int, Strict(), Field(ge=least, le=most)]

    def number(least: float | None = None, most: float | None = None, above: float | None = None) -> Any:
        return Annotated[float, Strict(), Field(allow_inf_nan=False, ge=least, le=most, gt=above)]

    def cleaned(clean: Callable[[object, str], str], *, may_be_empty: bool = False) -> Any:
        def check(value: object, info: ValidationInfo) -> str:
            empty = may_be_empty and isinstance(value, str) and not value.strip()
            return cast("str", value) if empty else clean(value, f"`{info.field_name}`")

        return Annotated[str, PlainValidator(check)]

    id_, type_name = whole(1), cleaned(clean_type)
    label, text = cleaned(clean_text, may_be_empty=True), cleaned(clean_text)
    exact = Annotated[str, PlainValidator(_exact)]
    ids = Annotated[list[id_], AfterValidator(tuple)]  # type: ignore[valid-type]  # made at run time
    learnt: dict[Any, Any] = {
        f"{kind.__name__}.{field.name}": exact
        for kind in (*LEARNT_PARTS.values(), LearntCalibration, LearntDismissal)
        for field in fields(kind)
        if str(field.type) in {"str", "str | None"}
    }
    learnt |= {
        "LearntFeedback.kind": Literal["opened", "recalled", "said"],
        "LearntFeedback.grade": number(-1, 1),
        "LearntNumbers.why": Literal["run", "set", "reset", "rollback"],
        "LearntSetting.name": Literal["trial_seed", "unnoted"],
        "LearntSetting.value": exact,
        "LearntScope.temper": number(0, 1),
        "LearntAnswer.arm": Literal["ours", "baseline", "interleaved"],
        "LearntCalibration.memories": whole(0),
        "LearntRecall.memories": ids,
        "LearntRecall.places": ids,
        "ordinal": whole(0),
        "size": whole(0),
        "before": whole(0),
        "version": whole(0),
        "through": whole(0),
        "shown": ids,
        "ranked": ids,
        "baseline": ids,
        "days": Annotated[list[Annotated[date, PlainValidator(_day)]], AfterValidator(tuple)],
        bytes: Annotated[bytes, PlainValidator(_packed)],
    }
    return {
        **learnt,
        "label": label,
        "Observation.content": text,
        "Observation.kind": type_name,
        "Revision.text": text,
        "Absence.why": Literal["forgotten", "superseded"],
        "type": type_name,
        "position": whole(-_LARGEST),
        "depth": whole(1, 3),
        "revisions": whole(0),
        "duplicates": whole(0),
        "strength": number(0, 1),
        "importance": number(0, 1),
        "stability": number(above=0),
        "tags": Annotated[list[type_name], AfterValidator(tuple)],  # type: ignore[valid-type]  # made at run time
        "about": ids,
        "mentions": ids,
        int: id_,
        float: number(),
        bool: StrictBool,
        str: label,
        datetime: Annotated[datetime, PlainValidator(_time)],
    }


def _exact(value: object) -> str:
    """Any text that a store can hold, as it is: it is nothing that anybody typed in here."""
    if not isinstance(value, str):
        raise ValueError("it must be a text")  # noqa: TRY004  # what pydantic tells the reader
    if "\0" in value or (not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise ValueError("it holds a NUL or half of a surrogate pair")
    return value


def _day(value: object) -> date:
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError("it must be a day such as 2026-01-31") from None


def _packed(value: object) -> bytes:
    """What we pack is compressed; what unpacks beyond measure is none of ours."""
    try:
        raw = base64.b64decode(value if isinstance(value, str) else "?", validate=True)
        unpacker = zlib.decompressobj()
        left = _MOST_UNPACKED_BYTES
        piece = unpacker.decompress(raw, 1 << 20)
        while piece and left > 0:
            left -= len(piece)
            piece = unpacker.decompress(unpacker.unconsumed_tail, 1 << 20)
    except (binascii.Error, zlib.error, ValueError):
        raise ValueError("it must be compressed bytes in base64") from None
    if left <= 0 or not unpacker.eof:
        raise ValueError("it must be compressed bytes, whole and of a usual size")
    return raw


def _time(value: object) -> datetime:
    try:
        when = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise ValueError("it must be a time such as 2026-01-31T12:00:00.000000Z")
    try:
        return when.astimezone(UTC)
    except OverflowError:
        raise ValueError("it must be in the years 1 to 9999") from None


def _reason(error: ValidationError, what: str) -> str:
    """The first problem of a row: what is missing, else what is unknown, else what is wrong."""
    order = ("missing", "extra_forbidden")
    problems = error.errors(include_url=False, include_context=False)
    first = min(problems, key=lambda each: order.index(each["type"]) if each["type"] in order else 2)
    path = [each for each in first["loc"] if isinstance(each, str)]
    owner = _PART_NAMES.get(path[0], path[0]) if len(path) > 1 else what
    same = [
        each for each in problems if each["type"] == first["type"] and each["loc"][:-1] == first["loc"][:-1]
    ]
    names = sorted(str(each["loc"][-1]) for each in same)
    match first["type"]:
        case "missing":
            return f"The {owner} has no {', '.join(f'`{name}`' for name in names)}."
        case "extra_forbidden":
            # Never passed over: it would be lost on the way.
            return f"The {owner} has {', '.join(map(ascii, names))}, which is unknown here."
        case _:
            why = first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
            return f"`{path[-1]}` is {json.dumps(first['input'])[:40]}, but {why}."
