"""Operations on the store itself: its health, backups, what goes for good, and what comes in and out."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from recollect.errors import InvalidInput, ModelUnavailable
from recollect.serve.operations.browse import Cursor, PageLimit
from recollect.serve.operations.operation import (
    Many,
    OperationCall,
    OperationReply,
    RowId,
    Time,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import no_page, page_rows
from recollect.serve.operations.rows import PageRows, row_of

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.engine.results import PurgeResult
    from recollect.engine.upkeep.transfer import Export

# Characters; a larger file comes in with `recollect import`.
_LONGEST_IMPORT = 4_000_000
_MOST_PROBLEMS = 100
_EXPORT_PARTS = {"m": "memory", "r": "relation", "s": "scope", "u": "usage", "t": "tuned", "q": "recall"}
_EXPORT_PARTS |= {"a": "answer", "d": "dream"}
_PLACE = re.compile(rf"([{''.join(_EXPORT_PARTS)}])(\d{{1,18}})")
# In letters: a page ends here, whatever the limit; an answer of the log may have a hundred kilobytes.
_EXPORT_PAGE = 4_000_000


class CheckRow(TypedDict):
    check: str
    state: Annotated[str, described("ok, note or problem")]
    said: str
    advice: str


class DoctorOutput(TypedDict):
    checks: list[CheckRow]


@operation("Doctor", read_only=True, of_every_owner=True)
def _doctor(call: OperationCall) -> OperationReply[DoctorOutput]:
    """What is in order with the whole store and what is not, each with what to do about it."""
    return OperationReply({"checks": list(_checks(call.engine))})


def _check(check: str, state: str, said: str, advice: str = "") -> CheckRow:
    return {"check": check, "state": state, "said": said, "advice": advice}


def _checks(engine: Engine) -> Iterator[CheckRow]:
    upkeep = engine.upkeep
    damage = upkeep.verify(quick=True)
    if damage:
        said = f"{len(damage)} problems; the first: {damage[0].where}: {damage[0].what}"
        yield _check("damage", "problem", said, "recollect verify, then: recollect verify --repair")
    else:
        yield _check("damage", "ok", "all of it can be read, and texts are what was stored")
    counts, model = engine.counts(), engine.model
    held = f"{counts.notes:,} notes, {counts.messages:,} messages, {counts.entities:,} entities"
    yield _check("holds", "ok", f"{held}, {counts.forgotten:,} forgotten")
    if model is None:
        yield _check("model", "note", "no model yet: only words are searched", "recollect models")
    else:
        yield _check("model", "ok", f"{model.name}, {model.dims} numbers a vector")
    if counts.due:
        said = (
            f"{counts.due:,} of {counts.passages:,} passages wait for theirs; until then only words find them"
        )
        yield _check("vectors", "note", said, "recollect reindex")
    else:
        yield _check("vectors", "ok", f"all {counts.passages:,} passages have theirs")
    if without := upkeep.passages_without_tokens():
        said = f"{without:,} passages have no token vectors, and rank without them"
        yield _check("tokens", "note", said, "recollect reindex")
    if proposal := upkeep.model_proposal():
        yield _check("language", "note", proposal.reason, ", then: ".join(proposal.commands))
    missed, reason = upkeep.unrecorded_answers()
    if missed:
        said = f"{missed:,} answers could not be recorded{f': {reason}' if reason else ''}"
        advice = "Answers are right, but later rankings do not learn from them."
        yield _check("signals", "note", said, advice)
    if problem := upkeep.replica_problem():
        said = f"it left questions to the primary: {problem}"
        yield _check("replica", "note", said, "Answers are right; let it catch up.")
    state = upkeep.store_state()
    if state.read_only:
        yield _check("disk", "note", "the store is on a read-only disk: it can be read, not written")
    if state.kind == "file" and not state.backups:
        yield _check("backups", "note", "there is none beside the store", "Make one: recollect backup FILE.")
    last = next(iter(engine.dreams.history(1)), None)
    yield _check("dreams", "ok", "no dream yet" if last is None else f"the last one was {last.at:%Y-%m-%d}")


class ModelRow(TypedDict):
    name: str
    dims: int


class LeaseRow(TypedDict):
    name: str
    holder: str
    until: str
    holder_is_gone: bool


class BackupRow(TypedDict):
    name: str
    bytes: int
    at: str


class CountsRow(TypedDict):
    entities: int
    notes: int
    messages: int
    observations: int
    relations: int
    forgotten: int
    passages: int
    vectors: int
    due: Annotated[int, described("Passages that wait for a vector")]
    scopes: int
    bytes: int
    schema: int


class StoreStateOutput(TypedDict):
    kind: Annotated[str, described("file, server or memory")]
    read_only: bool
    counts: Annotated[CountsRow, described("Of every owner together")]
    model: ModelRow | None
    leases: list[LeaseRow]
    backups: Annotated[list[BackupRow], described("Those beside the store, the newest first")]
    has_replica: bool
    replica_problem: str | None


@operation("State of the store", read_only=True, of_every_owner=True)
def _store_state(call: OperationCall) -> OperationReply[StoreStateOutput]:
    """How large the whole store is, its model, what waits for a vector, who works on it, its backups."""
    state, model = call.engine.upkeep.store_state(), call.engine.model
    result = row_of(
        StoreStateOutput,
        state,
        counts=row_of(CountsRow, call.engine.counts()),
        model=None if model is None else row_of(ModelRow, model),
        leases=[row_of(LeaseRow, each) for each in state.leases],
        backups=[row_of(BackupRow, each) for each in state.backups],
    )
    return OperationReply(result)


class ProblemRow(TypedDict):
    what: str
    where: str
    repairable: bool


class VerifyOutput(TypedDict):
    problems: list[ProblemRow]
    total: int


# It is no short look: whoever begins it is not cut off.
@operation("Verify", idempotent=True, of_every_owner=True)
def _verify(
    call: OperationCall,
    quick: bool = Field(default=False, description="Only whether all can be read, and texts are as stored"),
) -> OperationReply[VerifyOutput]:
    """Everything that is wrong with the store. It changes nothing; `recollect verify --repair` mends it."""
    call.progress(0, 1)
    found = call.engine.upkeep.verify(quick=quick)
    call.progress(1, 1)
    rows = [row_of(ProblemRow, each) for each in found[:_MOST_PROBLEMS]]
    return OperationReply({"problems": rows, "total": len(found)})


class BackupOutput(TypedDict):
    backup: BackupRow


@operation("Back up", of_every_owner=True)
def _backup(call: OperationCall) -> OperationReply[BackupOutput]:
    """Copy the store into the folder of backups beside it, while others go on reading and writing."""
    made = call.engine.upkeep.backup_beside(call.progress)
    return OperationReply({"backup": row_of(BackupRow, made)})


class ReindexOutput(TypedDict):
    model: ModelRow
    embedded: int
    switched: bool


@operation("Reindex", idempotent=True, of_every_owner=True)
def _reindex(
    call: OperationCall,
    model: str | None = optional("Another model to switch to; everything is embedded anew then"),
) -> OperationReply[ReindexOutput]:
    """Embed what waits for a vector, or everything with another model. Search goes on meanwhile."""
    try:
        done = call.engine.reindex(model, call.progress)
    except ModelUnavailable as error:
        if model is None:
            raise
        # What the caller named is wrong, not the server.
        raise InvalidInput(f"{error} Nothing was changed.") from error
    return OperationReply(row_of(ReindexOutput, done, model=row_of(ModelRow, done.model)))


class PurgeOutput(TypedDict):
    purged: int
    note: NotRequired[str]


@operation("Purge", destructive=True, admin=True)
def _purge(
    call: OperationCall, ids: Many[RowId] = described("Forgotten memories of this owner")
) -> OperationReply[PurgeOutput]:
    """Destroy forgotten memories for good. There is no way back."""
    return _purged(call.engine.upkeep.purge_memories(ids))


@operation("Purge all that was forgotten", destructive=True, of_every_owner=True)
def _purge_forgotten(
    call: OperationCall, before: Time = described("What was forgotten before this")
) -> OperationReply[PurgeOutput]:
    """Destroy for good what was forgotten before a time, of every owner. There is no way back."""
    return _purged(call.engine.purge(before))


def _purged(done: PurgeResult) -> OperationReply[PurgeOutput]:
    result: PurgeOutput = {"purged": int(done)}
    if done.note:
        result["note"] = done.note
    return OperationReply(result)


class BadLineRow(TypedDict):
    line: int
    reason: str


class ImportFoundRow(TypedDict):
    """What an import would read; how much of it is new shows only when it is brought in."""

    entities: int
    observations: int
    texts: Annotated[int, described("Notes and messages")]
    relations: int
    forgotten: int
    learnt: Annotated[int, described("Lines of what was learnt from use")]
    owners: Annotated[list[str], described("Whose memories a full export holds; the empty name: nobody's")]


class ImportTextOutput(TypedDict):
    format: str
    lines: int
    entities_created: int
    entities_merged: int
    observations_added: int
    texts_created: int
    texts_known: int
    relations_created: int
    relations_known: int
    learnt: Annotated[int, described("Lines of what was learnt from use that brought something new")]
    learnt_known: int
    learnt_left_count: Annotated[int, described("What of it could not follow its memories")]
    learnt_left: list[BadLineRow]
    embedded: int
    bad_count: int
    bad_lines: list[BadLineRow]
    note: str | None
    found: Annotated[ImportFoundRow | None, described("With `dry_run`, what the lines hold")]


@operation("Import", idempotent=True, of_every_owner=True)
def _import_text(
    call: OperationCall,
    jsonl: str = Field(max_length=_LONGEST_IMPORT, description="The file's lines, each a JSON object"),
    format: Literal["auto", "official", "full"] = "auto",
    keep_going: bool = Field(default=True, description="Leave out lines that cannot be read, and name them"),
    dry_run: bool = Field(default=False, description="Only tell what the lines hold; nothing is written"),
) -> OperationReply[ImportTextOutput]:
    """Bring in the official memory server's JSONL, or a full export of ours, as `recollect import` does. The
    full one goes to the owners that it names. Bringing in the same again changes nothing.
    """
    from recollect.transfer import import_file  # noqa: PLC0415  # few sessions bring something in

    if dry_run:
        return OperationReply(_would_import(call, jsonl))
    report = import_file(
        call.engine,
        io.StringIO(jsonl),
        format=format,
        keep_going=keep_going,
        progress=call.progress,
        embed_progress=call.progress,
    )
    bad = [row_of(BadLineRow, each) for each in report.bad_lines]
    left = [row_of(BadLineRow, each) for each in report.learnt_left]
    return OperationReply(row_of(ImportTextOutput, report, bad_lines=bad, learnt_left=left, found=None))


def _would_import(call: OperationCall, jsonl: str) -> ImportTextOutput:
    from recollect.transfer.previewing import import_preview  # noqa: PLC0415  # the same

    preview = import_preview(io.StringIO(jsonl), call.progress)
    return {
        "format": preview.format,
        "lines": preview.lines,
        "entities_created": 0,
        "entities_merged": 0,
        "observations_added": 0,
        "texts_created": 0,
        "texts_known": 0,
        "relations_created": 0,
        "relations_known": 0,
        "learnt": 0,
        "learnt_known": 0,
        "learnt_left_count": 0,
        "learnt_left": [],
        "embedded": 0,
        "bad_count": preview.bad_count,
        "bad_lines": [row_of(BadLineRow, each) for each in preview.bad_lines],
        "note": "Nothing was imported: this was a dry run.",
        "found": row_of(ImportFoundRow, preview),
    }


class ExportOutput(PageRows):
    lines: Annotated[
        list[str], described("Lines of JSON; those of all pages, one after another, are the file")
    ]


@operation("Export", read_only=True)
def _export(
    call: OperationCall,
    format: Literal["official", "full"] = "full",
    limit: PageLimit = 500,
    cursor: Cursor | None = None,
    learning: bool = Field(
        default=True, description="Of `full`: with what was asked, and what was learnt from it"
    ),
) -> OperationReply[ExportOutput]:
    """What this owner's memory holds, page by page, as `import_text` takes it: `full` is everything,
    forgotten things and what was learnt from use too; `official` is the graph as the official memory server
    has it. What is written meanwhile may be on a later page.
    """
    from recollect.transfer.full import full_header, full_line  # noqa: PLC0415  # few sessions export
    from recollect.transfer.official import official_line  # noqa: PLC0415  # the same

    place = _PLACE.fullmatch(cursor or "m0")
    if place is None:
        raise no_page(cursor or "")
    part, after = place[1], int(place[2])
    full = format == "full"
    parts = list(_EXPORT_PARTS) if full and learning else ["m", "r"]
    if part not in parts:
        raise no_page(cursor or "")
    header = [full_header(learning=learning).rstrip("\n")] if full and cursor is None else []
    lines: list[str] = []
    size = 0
    with call.engine.upkeep.export() as found:
        for last, record in islice(_numbered(found, part, after, full=full), limit):
            written = full_line(record, learning=learning) if full else official_line(record)
            lines.append(written.rstrip("\n"))
            after, size = last, size + len(written)
            if size >= _EXPORT_PAGE:
                break
    # Each part begins on a page of its own, since it names memories of any page.
    ends = len(lines) < limit and size < _EXPORT_PAGE
    rest = parts[parts.index(part) + 1 :]
    next_: str | None = f"{part}{after}"
    if ends:
        next_ = f"{rest[0]}0" if rest else None
    return OperationReply({"lines": [*header, *lines], **page_rows(next_, None)})


def _numbered(found: Export, part: str, after: int, *, full: bool) -> Iterator[tuple[int, Any]]:
    """The records of a part, each with the number after which the next page begins."""
    if part == "m":
        return ((each.id, each) for each in (found.memories(after) if full else found.entities(after)))
    if part == "r":
        links = found.relations(after) if full else found.relations_in_force(after)
        return ((each.id, each) for each in links)
    name: Any = _EXPORT_PARTS[part]
    return found.learnt(name, after)
