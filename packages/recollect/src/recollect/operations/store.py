"""Operations on the store itself: health, backups, purging, import and export."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from recollect.admin import BackupFile, Internals, StoreState, Tokens
from recollect.domain.errors import InvalidInput, ModelUnavailable
from recollect.domain.json_values import in_json, inlined, omitted
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Counts, Model, NamedToken, Problem, Scope
from recollect.domain.results import ReindexResult
from recollect.operations.browse import Cursor, PageLimit
from recollect.operations.operation import (
    Endpoint,
    Many,
    MinuteLatency,
    OperationCall,
    RowId,
    Time,
    described,
    operation,
    optional,
)
from recollect.operations.paging import PageEnd, no_page, page_of
from recollect.text.phrases import entities_text, quantity
from recollect.transfer import ImportPreview, ImportReport, import_file, import_preview
from recollect.transfer.line_formats import full_header, full_line, official_line
from recollect.transfer.moved_rows import exporting
from recollect.write.embedding import WORDS_ALONE

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.transfer.moved_rows import Export


# In characters. For larger files there is `recollect import`.
_LONGEST_IMPORT = 4_000_000
_MOST_PROBLEMS = 100
_EXPORT_PARTS = {"m": "memory", "r": "relation", "s": "scope", "u": "usage", "t": "tuned", "q": "recall"}
_EXPORT_PARTS |= {"a": "answer", "d": "dream"}
_PLACE = re.compile(rf"([{''.join(_EXPORT_PARTS)}])(\d{{1,18}})")
# Characters after which a page ends, whatever the limit: a logged answer may have a hundred kilobytes.
_EXPORT_PAGE = 4_000_000


@dataclass(frozen=True, slots=True)
class HealthCheck:
    check: str
    state: Literal["ok", "note", "problem"]
    said: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    checks: list[HealthCheck]


@operation("Doctor", http="GET /upkeep/doctor", read_only=True, of_every_owner=True)
def _doctor(call: OperationCall) -> Health:
    """Check the whole store. Each problem comes with advice."""
    return Health(list(store_checks(call.engine)))


def store_checks(engine: Engine) -> Iterator[HealthCheck]:
    """Yield the checks of an open store. `recollect doctor` adds checks of the machine and settings."""
    upkeep, within, counts, model = engine.upkeep, Internals(engine), engine.counts(), engine.model
    state, damage = upkeep.store_state(), upkeep.verify(quick=True)
    embed = "" if state.read_only or within.services.preferred_model == WORDS_ALONE else "recollect reindex"
    if damage:
        more = f", and {quantity(len(damage) - 1, 'problem')} more" if len(damage) > 1 else ""
        advice = f"recollect doctor --full{'' if state.read_only else ', then: recollect doctor --repair'}"
        yield HealthCheck("damage", "problem", f"{damage[0].where}: {damage[0].what}{more}", advice)
    else:
        yield HealthCheck("damage", "ok", "none found: everything can be read, and all checksums match")
    yield HealthCheck("holds", "ok", _contents(counts, within.count_sessions()))
    if model is None:
        said = "no model yet: only words are searched"
        yield HealthCheck("model", "note", said, "recollect reindex --list")
    else:
        yield HealthCheck("model", "ok", f"{model.name}, {model.dims} numbers a vector")
    passages = f"{counts.passages:,} passages"
    if counts.due:
        said = f"{counts.due:,} of {passages} have no vector yet; until then, only words find them"
        yield HealthCheck("vectors", "note", said, embed)
    else:
        yield HealthCheck("vectors", "ok", f"complete for {passages}")
    if without := within.passages_without_tokens():
        said = f"{without:,} of {passages} have no token vectors, and rank without them"
        yield HealthCheck("tokens", "note", said, embed)
    if proposal := upkeep.model_proposal():
        yield HealthCheck("language", "note", proposal.reason, embed and ", then: ".join(proposal.commands))
    missed, reason = within.unrecorded_answers()
    if missed:
        said = f"{quantity(missed, 'answer')} could not be recorded{f': {reason}' if reason else ' so far'}"
        advice = "Answers are right, but later rankings do not learn from them."
        yield HealthCheck("signals", "note", said, advice)
    if state.replica_problem:
        said = f"it sent questions to the primary: {state.replica_problem}"
        yield HealthCheck("replica", "note", said, "Answers are right; let it catch up.")
    if state.read_only:
        yield HealthCheck("disk", "note", "the store is read-only here: it can be read, not written")
    if state.kind == "file" and not state.backups:
        yield HealthCheck("backups", "ok", "none beside the store yet; `recollect backup FILE` makes one")
    last = next(iter(engine.dreams.history(1)), None)
    said = "no dream yet" if last is None else f"the last one was {last.at:%Y-%m-%d}"
    yield HealthCheck("dreams", "ok", said)


def _contents(counts: Counts, sessions: int) -> str:
    messages = f"{quantity(counts.messages, 'message')} in {quantity(sessions, 'session')}"
    held = (
        (counts.entities, entities_text(counts.entities)),
        (counts.observations, quantity(counts.observations, "observation")),
        (counts.relations, quantity(counts.relations, "relation")),
        (counts.notes, quantity(counts.notes, "note")),
        (counts.messages, messages),
        (counts.forgotten, f"{counts.forgotten:,} forgotten"),
    )
    return ", ".join(said for number, said in held if number) or "nothing yet"


@dataclass(frozen=True, slots=True)
class StoreReport:
    state: StoreState = field(metadata=in_json(inline=True))
    counts: Annotated[Counts, "Totals of all owners"]
    model: Model | None


@operation("State of the store", http="GET /upkeep/store", read_only=True, of_every_owner=True)
def _store_state(call: OperationCall) -> StoreReport:
    """Get the size of the whole store, its model, texts without vectors, open processes and backups."""
    engine = call.engine
    return StoreReport(engine.upkeep.store_state(), engine.counts(), engine.model)


@dataclass(frozen=True, slots=True)
class Verification:
    problems: Annotated[list[Problem], "The first problems"]
    total: int


# Not declared read-only, since this takes long and reads have a time limit.
@operation("Verify", http="POST /upkeep/verify", idempotent=True, of_every_owner=True)
def _verify(
    call: OperationCall,
    quick: bool = Field(default=False, description="Only check that all can be read and texts are intact"),
) -> Verification:
    """List all damage to the store. It changes nothing; to repair it, run `recollect doctor --repair`."""
    call.progress(0, 1)
    found = call.engine.upkeep.verify(quick=quick)
    call.progress(1, 1)
    return Verification(list(found[:_MOST_PROBLEMS]), len(found))


@operation("Back up", http="POST /upkeep/backup", of_every_owner=True)
def _backup(call: OperationCall) -> BackupFile:
    """Copy the store into the folder of backups beside it. Reads and writes continue."""
    return call.engine.upkeep.backup(progress=call.progress)


@operation("Reindex", http="POST /upkeep/reindex", idempotent=True, of_every_owner=True)
def _reindex(
    call: OperationCall, model: str | None = optional("Model to switch to; all texts are embedded again")
) -> ReindexResult:
    """Embed texts that have no vector yet, or all texts with another model. Searches continue."""
    try:
        return call.engine.reindex(model, call.progress)
    except ModelUnavailable as error:
        if model is None:
            raise
        # The error is in the argument `model`, not in the server.
        raise InvalidInput(f"{error} Nothing was changed.") from error


@dataclass(frozen=True, slots=True)
class Purged:
    purged: int
    note: str | None = omitted()


@operation("Purge", http="POST /upkeep/purge", destructive=True, admin=True)
def _purge(call: OperationCall, ids: Many[RowId] = described("Forgotten memories of this owner")) -> Purged:
    """Destroy forgotten memories. This cannot be undone."""
    done = call.engine.purge(ids=ids)
    return Purged(int(done), done.note)


@operation(
    "Purge all that was forgotten", http="POST /upkeep/purge-forgotten", destructive=True, of_every_owner=True
)
def _purge_forgotten(
    call: OperationCall, before: Time = described("Purge memories that were forgotten before this time")
) -> Purged:
    """Destroy all memories, of every owner, that were forgotten before a time. This cannot be undone."""
    done = call.engine.purge(before)
    return Purged(int(done), done.note)


@dataclass(frozen=True, slots=True)
class ImportedText:
    report: ImportReport = field(metadata=in_json(inline=True))
    found: Annotated[ImportPreview | None, "With `dry_run`, what the lines contain"] = None


@operation("Import", http="POST /upkeep/import", idempotent=True, of_every_owner=True)
def _import_text(
    call: OperationCall,
    jsonl: str = Field(max_length=_LONGEST_IMPORT, description="The file's lines, each a JSON object"),
    format: Literal["auto", "official", "full"] = "auto",
    keep_going: bool = Field(default=True, description="Skip lines that cannot be read, and report them"),
    dry_run: bool = Field(default=False, description="Only report what the lines contain; write nothing"),
) -> ImportedText:
    """Import the official memory server's JSONL or a full export of Recollect, as `recollect import` does. A
    full export goes to the owners that it names. Importing the same lines again changes nothing.
    """
    if dry_run:
        preview = import_preview(io.StringIO(jsonl), call.progress)
        report = ImportReport(
            preview.format,
            preview.lines,
            bad_lines=preview.bad_lines,
            bad_count=preview.bad_count,
            note="Nothing was imported: this was a dry run.",
        )
        return ImportedText(report, preview)
    report = import_file(
        call.engine,
        io.StringIO(jsonl),
        format=format,
        keep_going=keep_going,
        progress=call.progress,
        embed_progress=call.progress,
    )
    return ImportedText(report)


@dataclass(frozen=True, slots=True)
class ExportPage:
    lines: Annotated[list[str], "Lines of JSON; the lines of all pages in order are the file"]
    more: PageEnd = inlined()


@operation("Export", http="GET /upkeep/export", read_only=True)
def _export(
    call: OperationCall,
    format: Literal["official", "full"] = "full",
    limit: PageLimit = 500,
    cursor: Cursor | None = None,
    learning: bool = Field(
        default=True, description="With `full`: include questions and what was learnt from them"
    ),
) -> ExportPage:
    """Export this owner's memory, page by page, in a form that `import_text` accepts. `full` is everything,
    including forgotten memories and what was learnt from use. `official` is the graph in the format of the
    official memory server. Memories written during an export may be on a later page.
    """
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
    with exporting(call.engine) as found:
        for last, record in islice(_numbered(found, part, after, full=full), limit):
            written = full_line(record, learning=learning) if full else official_line(record)
            lines.append(written.rstrip("\n"))
            after, size = last, size + len(written)
            if size >= _EXPORT_PAGE:
                break
    # Each part begins on a new page, since it may refer to memories of any earlier page.
    ends = len(lines) < limit and size < _EXPORT_PAGE
    rest = parts[parts.index(part) + 1 :]
    next_: str | None = f"{part}{after}"
    if ends:
        next_ = f"{rest[0]}0" if rest else None
    return ExportPage([*header, *lines], PageEnd(next_))


def _numbered(found: Export, part: str, after: int, *, full: bool) -> Iterator[tuple[int, Any]]:
    """Return the records of a part, each with the number for the next page's cursor."""
    if part == "m":
        return ((each.id, each) for each in (found.memories(after) if full else found.entities(after)))
    if part == "r":
        links = found.relations(after) if full else found.relations_in_force(after)
        return ((each.id, each) for each in links)
    name: Any = _EXPORT_PARTS[part]
    return found.read_learnt(name, after)


# Operations on the server: access tokens and latencies.


@dataclass(frozen=True, slots=True)
class TokenList:
    tokens: list[NamedToken]


@operation("List tokens", http=Endpoint("GET /tokens", tag="Server"), read_only=True, of_every_owner=True)
def _list_tokens(call: OperationCall) -> TokenList:
    """List the access tokens for HTTP by name. The tokens themselves are not stored."""
    return TokenList(list(Tokens(call.engine).list()))


@dataclass(frozen=True, slots=True)
class CreatedToken:
    name: str
    token: Annotated[str, "Shown only once; the store keeps a hash"]


@operation("Create a token", http=Endpoint("POST /tokens", tag="Server"), of_every_owner=True)
def _create_token(
    call: OperationCall,
    name: str = described("Up to 64 letters of ASCII, digits, dots, dashes and underscores"),
    right: Literal["read", "write", "admin"] = "write",
    owner: str | None = optional("Limit the token to this owner (default: all owners)"),
    agent: str | None = optional("Limit the token to this agent of the owner (default: all agents)"),
) -> CreatedToken:
    """Create an access token for HTTP. The answer is the only place where the token is shown."""
    if agent and owner is None:
        raise InvalidInput("An `agent` belongs to an owner; give the `owner` too. No token was created.")
    sees = None if owner is None else Scope(owner, agent or None)
    return CreatedToken(name, Tokens(call.engine).create(name, right=right, sees=sees))


@dataclass(frozen=True, slots=True)
class RevokedToken:
    revoked: str


@operation(
    "Revoke a token",
    http=Endpoint("DELETE /tokens/{name}", tag="Server"),
    destructive=True,
    of_every_owner=True,
)
def _revoke_token(call: OperationCall, name: str) -> RevokedToken:
    """Revoke an access token. Servers reject it within two seconds."""
    Tokens(call.engine).revoke(name)
    return RevokedToken(name)


@dataclass(frozen=True, slots=True)
class Latencies:
    minutes: list[MinuteLatency]
    more: PageEnd = inlined()


@operation("Latencies", http="GET /server/latencies", read_only=True)
def _latencies(
    call: OperationCall,
    operation: str | None = optional("Only this operation, such as recall"),
    since: Time | None = optional("Only from this minute on"),
    limit: PageLimit = 500,
    cursor: Cursor | None = None,
) -> Latencies:
    """List how long the calls of this server took, minute by minute over the last day, the newest first.
    Minutes without calls are left out.
    """
    found = [
        each
        for each in reversed(call.latencies())
        if operation in (None, each.operation) and (since is None or each.minute >= since)
    ]
    return Latencies(*page_of(found, limit, cursor))
