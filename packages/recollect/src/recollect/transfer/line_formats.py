"""Read and write formats with one record per line: our full format, and the official server's."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from array import array
from bisect import bisect_right
from collections import defaultdict
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from datetime import UTC, date, datetime
from functools import cache, partial
from itertools import groupby, islice
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args, get_type_hints

from recollect.domain.changes import (
    Adopt,
    AdoptLearnt,
    AdoptLinks,
    AdoptRelation,
    NewEntity,
    NewObservation,
    NewRelation,
    PutEntity,
    Relate,
)
from recollect.domain.errors import InvalidInput
from recollect.domain.learnt import (
    LEARNT_PARTS,
    Learnt,
    LearntAnswer,
    LearntCalibration,
    LearntDismissal,
    LearntFeedback,
    LearntNumbers,
    LearntPair,
    LearntPart,
    LearntRecall,
    LearntSetting,
    LearntUsage,
    LinkedMemory,
)
from recollect.domain.limits import clean_name, clean_text, clean_type
from recollect.domain.records import Absence, Kind, Memory, Observation, Relation, Revision, Scope
from recollect.transfer.files import LineFormat, read_object, write_object
from recollect.transfer.reports import BadLine, Dangling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import BaseModel, ValidationError, ValidationInfo

    from recollect.transfer.files import FileLine, NumberedRecord
    from recollect.transfer.moved_rows import Import
    from recollect.transfer.reports import Tally

VERSION = 2
_WITHOUT_LEARNT = 1
# The largest integer that every JSON reader handles. An id near SQLite's maximum would also leave no new ids.
_LARGEST = 2**53 - 1
_PARTS: dict[str, type[Any]] = {
    "observations": Observation,
    "former": Revision,
    "absences": Absence,
    "together": LearntPair,
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
# More than any packed answer or dream needs, but too little for a small file to fill the RAM.
_MOST_UNPACKED_BYTES = 256_000_000
# Fields that are left out if they equal another field.
_SAME_AS = {"updated_at": "created_at"}
# Names that follow from ids.
_NOT_WRITTEN = {"source_name", "target_name"}


def full_header(*, learning: bool = True) -> str:
    return write_object({"recollect": VERSION if learning else _WITHOUT_LEARNT})


def is_header(content: bytes | None) -> bool:
    """Whether this is the first line of our format, in any version."""
    try:
        return "recollect" in read_object(content)
    except InvalidInput:
        return False


def check_header(first: FileLine | None) -> int:
    """Return the version of our format; raise `InvalidInput` if it is unknown or the header is missing."""
    if first is None:
        raise InvalidInput("The file is empty; a full export has at least its first line.")
    plain = read_object(first.content)
    if "recollect" not in plain:
        raise InvalidInput(
            'The file does not begin with a line such as {"recollect":2}, so it is not a full export; '
            "import it as the official server's format."
        )
    version = plain["recollect"]
    if version not in {_WITHOUT_LEARNT, VERSION} or isinstance(version, bool):
        raise InvalidInput(
            f"The file has format {version!r}, and this Recollect reads {_WITHOUT_LEARNT} and {VERSION}; "
            "update it: pip install --upgrade recollect-memory"
        )
    return cast("int", version)


def full_line(record: Memory | Relation | Learnt, *, learning: bool = True) -> str:
    if isinstance(record, Memory) and not learning:
        # Mentions follow from the texts, except for texts that were not current when an entity was added.
        record = replace(record, mentions=())
    return write_object({"record": _RECORD_NAMES[type(record)], **plain_fields(record)})


def plain_fields(record: Any) -> dict[str, Any]:
    """Return the fields of a record as JSON values, without those that have their default."""
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
    values = _validate(Memory, plain)
    memory = Memory(**{"updated_at": values["created_at"], **values})
    if memory.kind is Kind.ENTITY:
        if memory.text or memory.former:
            raise InvalidInput("An entity has observations, and no `text`.")
        return replace(memory, name=clean_name(memory.name)), None
    if memory.name or memory.observations:
        raise InvalidInput(f"A {memory.kind} has a `text`, and neither a name nor observations.")
    clean_text(memory.text)
    return memory, None


def _relation(plain: dict[str, Any]) -> tuple[Relation, None]:
    return Relation(source_name="", target_name="", **_validate(Relation, plain)), None


def _learnt_record(part: LearntPart, plain: dict[str, Any]) -> tuple[Learnt, None]:
    kind: Any = LEARNT_PARTS[part]
    learnt: Learnt = kind(**_validate(kind, plain))
    if isinstance(learnt, LearntRecall) and learnt.places and len(learnt.places) != len(learnt.memories):
        raise InvalidInput("The recall has different numbers of `places` and `memories`.")
    return learnt, None


FULL = LineFormat(
    "record",
    {
        "memory": _memory,
        "relation": _relation,
        **{part: partial(_learnt_record, part) for part in LEARNT_PARTS},
    },
    headed=True,
)


def _validate(record: Any, plain: dict[str, Any]) -> dict[str, Any]:
    """Check and convert a record's fields; raise `InvalidInput` for a wrong one."""
    from pydantic import ValidationError  # noqa: PLC0415  # exports do not need it

    try:
        return _values(_row_model(record).model_validate(plain))
    except ValidationError as error:
        raise InvalidInput(_reason(error, _RECORD_NAMES[record])) from None


def _values(row: BaseModel) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in row.model_fields_set}
    for name, record in _PARTS.items():
        if name in values:
            values[name] = tuple(record(**_values(part)) for part in values[name])
    if "owner" in type(row).model_fields:
        values["scope"] = Scope(values.pop("owner", ""), values.pop("agent", ""))
    return values


@cache
def _row_model(record: Any) -> type[BaseModel]:
    """Build a Pydantic model that checks the fields of a record by their types."""
    from pydantic import ConfigDict, create_model  # noqa: PLC0415  # exports do not need it

    types = _field_types()
    hints = get_type_hints(record)
    rows: dict[str, Any] = {}
    if "scope" in hints:
        rows = {"owner": (types[str], ""), "agent": (types[str], "")}
    for field in fields(record):
        if field.name in _NOT_WRITTEN or field.name == "scope":
            continue
        hint = hints[field.name]
        # An optional field is absent or has a value; it is never null.
        plain = get_args(hint)[0] if type(None) in get_args(hint) else hint
        if field.name in _PARTS:
            type_ = list[_row_model(_PARTS[field.name])]  # type: ignore[arg-type, misc, valid-type]  # made at run time
        else:
            own = types.get(f"{record.__name__}.{field.name}") or types.get(field.name)
            type_ = own or types.get(plain) or plain
        is_required = field.default is MISSING and field.name not in _SAME_AS
        rows[field.name] = (type_, ... if is_required else None)
    model: type[BaseModel] = create_model(record.__name__, __config__=ConfigDict(extra="forbid"), **rows)
    return model


@cache
def _field_types() -> dict[Any, Any]:
    """Return checks of fields by `record.name`, by name, or by type."""
    from pydantic import AfterValidator, Field, PlainValidator, Strict, StrictBool  # noqa: PLC0415

    def whole(least: int, most: int = _LARGEST) -> Any:
        return Annotated[int, Strict(), Field(ge=least, le=most)]

    def number(least: float | None = None, most: float | None = None, above: float | None = None) -> Any:
        return Annotated[float, Strict(), Field(allow_inf_nan=False, ge=least, le=most, gt=above)]

    def clean_field(clean: Callable[[object, str], str], *, may_be_empty: bool = False) -> Any:
        def check(value: object, info: ValidationInfo) -> str:
            empty = may_be_empty and isinstance(value, str) and not value.strip()
            return cast("str", value) if empty else clean(value, f"`{info.field_name}`")

        return Annotated[str, PlainValidator(check)]

    id_, type_name = whole(1), clean_field(clean_type)
    label, text = clean_field(clean_text, may_be_empty=True), clean_field(clean_text)
    counts = ("ordinal", "size", "before", "version", "through", "revisions", "duplicates")
    # Texts in data learnt from use are not cleaned.
    exact = [
        f"{kind.__name__}.{field.name}"
        for kind in (*LEARNT_PARTS.values(), LearntCalibration, LearntDismissal)
        for field in fields(kind)
        if str(field.type) in {"str", "str | None"}
    ]
    return {
        **dict.fromkeys(exact, Annotated[str, PlainValidator(_exact)]),
        **dict.fromkeys((*counts, "LearntCalibration.memories"), whole(0)),
        **dict.fromkeys(("strength", "importance", "LearntScope.temper"), number(0, 1)),
        **dict.fromkeys(("Observation.content", "Revision.text"), text),
        **dict.fromkeys(("Observation.kind", "type"), type_name),
        "LearntFeedback.grade": number(-1, 1),
        "position": whole(-_LARGEST),
        "depth": whole(1, 3),
        "stability": number(above=0),
        tuple[int, ...]: Annotated[list[id_], AfterValidator(tuple)],  # type: ignore[valid-type]  # made at run time
        tuple[str, ...]: Annotated[list[type_name], AfterValidator(tuple)],  # type: ignore[valid-type]  # likewise
        tuple[date, ...]: Annotated[list[Annotated[date, PlainValidator(_day)]], AfterValidator(tuple)],
        int: id_,
        float: number(),
        bool: StrictBool,
        str: label,
        bytes: Annotated[bytes, PlainValidator(_check_packed)],
        datetime: Annotated[datetime, PlainValidator(_time)],
    }


def _exact(value: object) -> str:
    """Return the text unchanged if a store can keep it."""
    if not isinstance(value, str):
        raise ValueError("it must be a text")  # noqa: TRY004  # Pydantic reports only ValueError
    if "\0" in value or (not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise ValueError("it holds a NUL or half of a surrogate pair")
    return value


def _day(value: object) -> date:
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError("it must be a day such as 2026-01-31") from None


def _check_packed(value: object) -> bytes:
    """Decode base64; check that the bytes are compressed, and that they unpack to a usual size."""
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
    """Describe a problem of a row: missing fields, or else unknown ones, or else a wrong value."""
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
            # Never ignore an unknown field: its value would be lost.
            return f"The {owner} has {', '.join(map(ascii, names))}, which is unknown here."
        case _:
            why = first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
            return f"`{path[-1]}` is {json.dumps(first['input'])[:40]}, but {why}."


class IdMap:
    """Maps ids in the file to ids in the store."""

    def __init__(self) -> None:
        self._ids = array("q")
        self._here = array("q")
        self._sorted = True

    def add(self, id_: int, here: int) -> None:
        self._sorted = self._sorted and (not self._ids or id_ > self._ids[-1])
        self._ids.append(id_)
        self._here.append(here)

    def get(self, id_: int) -> int | None:
        """Return the id in the store; None if the file has no such row."""
        if not self._sorted:  # someone has reordered the file
            rows = sorted(zip(self._ids, self._here, strict=True))
            self._ids, self._here = (array("q", column) for column in zip(*rows, strict=True))
            self._sorted = True
        place = bisect_right(self._ids, id_) - 1
        return self._here[place] if place >= 0 and self._ids[place] == id_ else None


def _place_learnt(
    learnt: Learnt, memories: IdMap, versions: IdMap, *, fresh: bool
) -> tuple[Learnt | None, str | None]:
    """Return the value with ids of this store, and a note on what was left out.

    The value is None if nothing of it can be kept. `versions` maps versions of tuned parameters.
    """
    match learnt:
        case LearntUsage():
            here = memories.get(learnt.memory)
            if here is None:
                return None, f"Left out: the file has no memory {learnt.memory}."
            together = tuple(
                replace(each, memory=other)
                for each in learnt.together
                if (other := memories.get(each.memory)) not in {None, here}
            )
            links = tuple(
                replace(each, memory=other)
                for each in learnt.links
                if (other := memories.get(each.memory)) not in {None, here}
            )
            lost = len(learnt.together) + len(learnt.links) - len(together) - len(links)
            placed: Learnt = replace(learnt, memory=here, together=together, links=links)
            return placed, f"Left out: {lost} of its pairs, which are not in the file." if lost else None
        case LearntRecall():
            places: dict[int, int] = {}
            shown_at = learnt.places or range(1, len(learnt.memories) + 1)
            for memory, place in zip(learnt.memories, shown_at, strict=True):
                if (here := memories.get(memory)) is not None:
                    places.setdefault(here, place)
            if learnt.memories and not places:
                return None, f"Left out: the file has no memory {learnt.memories[0]}."
            lost = len(learnt.memories) - len(places)
            placed = replace(learnt, memories=tuple(places), places=tuple(places.values()))
            return placed, f"Left out: {lost} of its memories, which are not in the file." if lost else None
        case LearntAnswer():
            return _place_answer(learnt, memories, versions, fresh=fresh)
        case _:
            return learnt, None


def _place_answer(
    learnt: LearntAnswer, memories: IdMap, versions: IdMap, *, fresh: bool
) -> tuple[Learnt | None, str | None]:
    """Keep an answer only if the ids in its packed candidates are valid here, as in a `fresh` store."""
    version = versions.get(learnt.version) if learnt.version else 0
    if version is None:
        return None, f"Left out: the tuned numbers {learnt.version} that ranked it are not in this store."
    if fresh:
        feedback = tuple(each for each in learnt.feedback if memories.get(each.memory))
        lost = len(learnt.feedback) - len(feedback)
        reason = f"Left out: {lost} of its feedback, on memories not in the file." if lost else None
        return replace(learnt, version=version, feedback=feedback), reason
    from recollect.search.recording import unpack  # noqa: PLC0415  # loads NumPy; few imports need it

    ids = {*learnt.shown, *learnt.ranked, *learnt.baseline, *(each.memory for each in learnt.feedback)}
    with suppress(InvalidInput):  # written by another version; never ranked again
        ids.update(unpack(learnt.candidates)[0].facts.ids.tolist())
    if any(memories.get(id_) != id_ for id_ in ids):
        return None, "Left out: its memories have other ids here, and the answer uses the old ids."
    return replace(learnt, version=version), None


_LINKS_PER_WRITE = 1_000


class FullImport:
    """An importer of the records of a full export, each under its own id if that is free.

    Call `add_memories`, then `link`, then `add_rest`, then `link` again for the relations.
    """

    format = FULL
    memory_kind = "memory"

    def __init__(self, into: Import, tally: Tally, *, version: int = VERSION) -> None:
        self._into = into
        self._tally = tally
        self._fresh = into.is_fresh()
        self._keeps_mentions = self._fresh and version == VERSION
        self._memories = IdMap()
        self._relations = IdMap()
        self._versions = IdMap()
        """Versions of tuned parameters."""
        self._links: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        """Flat arrays by field of `AdoptLinks`: an id here, then the id in the file that it links to."""

    def add_memories(self, memories: Sequence[Memory]) -> None:
        adopted = self._into.apply([Adopt(each, self._fresh, self._keeps_mentions) for each in memories])
        for memory, outcome in zip(memories, adopted, strict=True):
            here = outcome.ids[0]
            self._memories.add(memory.id, here)
            self._link("superseded", here, memory.superseded_by)
            self._link("drawn", here, memory.drawn_from)
            self._link("similar", here, memory.similar_to)
            for entity in memory.about:
                self._link("about", here, entity)
            for entity in memory.mentions if self._keeps_mentions else ():
                self._link("mentions", here, entity)
            created, known = ("texts_created", "texts_known")
            if memory.kind is Kind.ENTITY:
                created, known = ("entities_created", "entities_merged")
            self._tally.counts[created if outcome.created else known] += 1
            self._tally.counts["observations_added"] += outcome.count
            self._tally.counts["types_taken"] += outcome.took_type is not None
            self._tally.counts["forgotten"] += bool(outcome.created) and memory.deleted_at is not None

    def add_rest(self, batch: Sequence[NumberedRecord]) -> None:
        self._add_relations([item for item in batch if isinstance(item.record, Relation)])
        learnt = (item for item in batch if not isinstance(item.record, Relation))
        # Write runs of one kind in the order of the file: answers follow the tuned parameters that they name.
        for _, run in groupby(learnt, key=lambda item: type(item.record)):
            self._add_learnt(list(run))

    def _add_relations(self, batch: Sequence[NumberedRecord]) -> None:
        placed = []
        for line, _, relation in batch:
            source, target = self._memories.get(relation.source), self._memories.get(relation.target)
            if source is None or target is None:
                missing = relation.source if source is None else relation.target
                self._dangling(line, relation, f"The file has no memory {missing}.")
            else:
                placed.append((line, relation, replace(relation, source=source, target=target)))
        changes = [AdoptRelation(here, self._fresh) for _, _, here in placed]
        outcomes = self._into.apply(changes, keep_going=True)
        for (line, relation, _), outcome in zip(placed, outcomes, strict=True):
            if outcome.error is not None:
                self._dangling(line, relation, outcome.error)
                continue
            self._relations.add(relation.id, outcome.relations[0])
            self._link("inverse", outcome.relations[0], relation.inverse_of)
            self._tally.counts["relations_created" if outcome.created else "relations_known"] += 1

    def _add_learnt(self, batch: Sequence[NumberedRecord]) -> None:
        placed = []
        for line, _, learnt in batch:
            here, reason = _place_learnt(learnt, self._memories, self._versions, fresh=self._fresh)
            if reason is not None:
                self._tally.add("learnt_left", BadLine(line, reason))
            if here is not None:
                placed.append((line, learnt, here))
        outcomes = self._into.apply([AdoptLearnt(here, self._fresh) for _, _, here in placed])
        for (line, learnt, _), outcome in zip(placed, outcomes, strict=True):
            if isinstance(learnt, LearntNumbers) and outcome.ids:
                self._versions.add(learnt.id, outcome.ids[0])
            if isinstance(learnt, LearntSetting):
                continue  # a setting only configures learning
            if outcome.error is not None:
                self._tally.add("learnt_left", BadLine(line, f"Left out: {outcome.error}."))
            elif not outcome.created:
                self._tally.counts["learnt_known"] += 1
            self._tally.counts["learnt"] += outcome.created

    def link(self) -> None:
        """Write the collected links between memories or relations, with ids of this store."""
        for name, flat in self._links.items():
            ids = self._relations if name == "inverse" else self._memories
            pairs = ((here, ids.get(there)) for here, there in zip(flat[::2], flat[1::2], strict=True))
            known = (pair for pair in pairs if pair[1] is not None)
            while batch := tuple(islice(known, _LINKS_PER_WRITE)):
                named: dict[str, Any] = {name: batch}
                self._into.apply([AdoptLinks(**named)])
        self._links.clear()

    def _link(self, name: str, here: int, there: int | None) -> None:
        if there is not None:
            self._links[name].extend((here, there))

    def _dangling(self, line: int, relation: Relation, reason: str) -> None:
        source, target = f"memory {relation.source}", f"memory {relation.target}"
        self._tally.add("dangling", Dangling(line, source, relation.type, target, reason))


# The official memory server's format: one entity or relation per line. If a relation names an entity that
# the file lacks, the import creates the entity.


def official_line(record: Memory | Relation) -> str:
    if isinstance(record, Relation):
        ends = {"from": record.source_name, "to": record.target_name}
        return write_object({"type": "relation", **ends, "relationType": record.type})
    contents = [observation.content for observation in record.in_force]
    known = {"name": record.name, "entityType": record.type, "observations": contents}
    return write_object({"type": "entity", **known})


def _official_entity(plain: dict[str, Any]) -> tuple[NewEntity, str | None]:
    """Read an entity, without invalid observations. Dropping the entity would also drop its relations."""
    name = clean_name(_value_of(plain, "name"), "`name`")
    type_ = plain.get("entityType", "")
    # The official server allows an empty type; we store `unknown`.
    empty = isinstance(type_, str) and not type_.strip()
    known = "unknown" if empty else clean_type(type_, "`entityType`")
    contents = plain.get("observations", [])
    if not isinstance(contents, list):
        raise InvalidInput(f"`observations` must be a list, not {type(contents).__name__}.")
    observations: list[NewObservation] = []
    wrong: list[str] = []
    for number, content in enumerate(contents, 1):
        try:
            observations.append(NewObservation(clean_text(content, f"text of observation {number}")))
        except InvalidInput as error:
            wrong.append(str(error))
    more = f" So were {len(wrong) - 1} more of its observations." if len(wrong) > 1 else ""
    left_out = f"{wrong[0]} It was left out, the entity was not.{more}" if wrong else None
    return NewEntity(name, known, tuple(observations)), left_out


def _official_relation(plain: dict[str, Any]) -> tuple[NewRelation, None]:
    relation = NewRelation(
        source=clean_name(_value_of(plain, "from"), "`from`"),
        target=clean_name(_value_of(plain, "to"), "`to`"),
        type=clean_type(_value_of(plain, "relationType"), "`relationType`"),
    )
    return relation, None


def _value_of(plain: dict[str, Any], key: str) -> object:
    if key not in plain:
        raise InvalidInput(f"The line has no `{key}`.")
    return plain[key]


class OfficialImport:
    """An import of entities and relations by name into the engine's scope."""

    format: LineFormat = LineFormat("type", {"entity": _official_entity, "relation": _official_relation})
    memory_kind = "entity"

    def __init__(self, into: Import, tally: Tally) -> None:
        self._into = into
        self._tally = tally

    def add_memories(self, entities: Sequence[NewEntity]) -> None:
        counts = self._tally.counts
        scope = self._into.services.scope
        # An entity that brings nothing new does not count as a duplicate.
        changes = [PutEntity(scope, entity, counts=False) for entity in entities]
        for outcome in self._into.apply(changes):
            counts["entities_created" if outcome.created else "entities_merged"] += 1
            counts["observations_added"] += len(outcome.added)
            counts["types_taken"] += outcome.took_type is not None
            counts["types_kept"] += outcome.kept_type is not None

    def add_rest(self, batch: Sequence[NumberedRecord]) -> None:
        scope = self._into.services.scope
        changes = [Relate(scope, item.record, create_missing=True) for item in batch]
        for outcome in self._into.apply(changes):
            self._tally.counts["relations_created" if outcome.created else "relations_known"] += 1
            self._tally.add("also_created", *outcome.also_created)

    def link(self) -> None:
        """Do nothing: this format has only relations, which name their entities."""
