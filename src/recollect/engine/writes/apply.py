"""Changes applied in one transaction, with a receipt; the same key again gives the first receipt."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recollect.changes import (
    Added,
    AddObservations,
    Adopt,
    AdoptLinks,
    AdoptRelation,
    Amend,
    Calibrate,
    CommitDream,
    DropLease,
    EndRelation,
    FlagAlike,
    FlagSimilar,
    Forget,
    GiveFeedback,
    NoteImport,
    Outcome,
    Purge,
    PutEntity,
    PutText,
    PutVectors,
    Receipt,
    RecordUse,
    Relate,
    RemoveObservations,
    Restore,
    RestoreObservation,
    Supersede,
    TakeLease,
    TuneProfile,
    UndoDream,
    Unrelate,
    UseModel,
)
from recollect.conditions import Compares, Equals
from recollect.engine.writes import (
    adoption,
    answer_log,
    corrections,
    dreams,
    entities,
    lifecycle,
    records,
    relations,
    texts,
    usage,
    vectors,
)
from recollect.engine.writes.work import Work
from recollect.errors import Conflict, InvalidInput, RecollectError
from recollect.ranking.candidates import DAY
from recollect.retrieval.records import stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from recollect.changes import Change
    from recollect.ports import Store, Transaction

# A retry comes within seconds; a key that is a month old guards nothing.
_KEYS_KEPT_US = 30 * DAY

_RULES: dict[type[Change], Callable[[Work, Any], Outcome]] = {
    PutEntity: entities.put,
    AddObservations: entities.add_observations,
    RemoveObservations: entities.remove_observations,
    RestoreObservation: entities.restore_observation,
    FlagSimilar: entities.flag_similar,
    PutText: texts.put,
    Relate: relations.relate,
    EndRelation: relations.end,
    Unrelate: relations.unrelate,
    Forget: lifecycle.forget,
    Restore: lifecycle.restore,
    Purge: lifecycle.purge,
    Amend: lifecycle.amend,
    FlagAlike: lifecycle.flag_alike,
    Supersede: corrections.supersede,
    RecordUse: usage.record,
    GiveFeedback: answer_log.give,
    TuneProfile: records.tune,
    Calibrate: records.calibrate,
    NoteImport: records.note_import,
    TakeLease: records.take_lease,
    DropLease: records.drop_lease,
    PutVectors: vectors.put,
    UseModel: vectors.use,
    Adopt: adoption.adopt,
    AdoptRelation: adoption.adopt_relation,
    AdoptLinks: adoption.link,
    CommitDream: dreams.commit,
    UndoDream: dreams.undo,
}
# Names under which digests know changes, whatever their classes are called.
_NAMES: dict[type[Change], str] = {
    PutEntity: "PutEntity",
    AddObservations: "AddObservations",
    RemoveObservations: "RemoveObservations",
    RestoreObservation: "RestoreObservation",
    FlagSimilar: "FlagSimilar",
    PutText: "PutText",
    Relate: "Relate",
    EndRelation: "EndRelation",
    Unrelate: "Unrelate",
    Forget: "Forget",
    Restore: "Restore",
    Purge: "Purge",
    Amend: "Amend",
    FlagAlike: "FlagAlike",
    Supersede: "Supersede",
    RecordUse: "RecordUse",
    GiveFeedback: "GiveFeedback",
    TuneProfile: "TuneProfile",
    Calibrate: "Calibrate",
    NoteImport: "NoteImport",
    TakeLease: "TakeLease",
    DropLease: "DropLease",
    PutVectors: "PutVectors",
    UseModel: "UseModel",
    Adopt: "Adopt",
    AdoptRelation: "AdoptRelation",
    AdoptLinks: "AdoptLinks",
    CommitDream: "CommitDream",
    UndoDream: "UndoDream",
}


def apply(
    store: Store, changes: Sequence[Change], *, at: datetime, key: str | None = None, keep_going: bool = False
) -> Receipt:
    """Apply all changes in one transaction, or none.

    The same key again returns the first receipt and writes nothing. With `keep_going`, a change that cannot
    be applied is left out, and its outcome says why.
    """
    if at.tzinfo is None:
        raise InvalidInput(f"The time {at} names no time zone; pass an aware datetime.")
    digest = digest_of(changes) if key is not None else ""

    def work(rows: Transaction) -> Receipt:
        if key is not None:
            repeated = _repeated(rows, key, digest)
            if repeated is not None:
                return repeated
        shared = Work(rows, at)
        each = _tried if keep_going else _done
        outcomes = tuple(each(shared, index, change) for index, change in enumerate(changes))
        shared.finish()
        if key is not None:
            _remember_key(rows, key, digest, stamp(at), outcomes)
        return Receipt(outcomes)

    return store.transact(work)


def _done(work: Work, index: int, change: Change) -> Outcome:
    try:
        return _RULES[type(change)](work, change)
    except RecollectError as error:
        error.change = index
        raise


def _tried(work: Work, _: int, change: Change) -> Outcome:
    try:
        with work.rows.savepoint():
            return _RULES[type(change)](work, change)
    except RecollectError as error:
        work.undone()
        return Outcome(error=str(error))


def _repeated(rows: Transaction, key: str, digest: str) -> Receipt | None:
    found = rows.rows("applied", ("digest", "receipt"), (Equals("key", key),))
    if not found:
        return None
    if found[0][0] != digest:
        raise Conflict(f"The key {key!r} was used for other changes; a retry must repeat the same ones.")
    outcomes = tuple(_outcome_of(plain) for plain in json.loads(found[0][1]))
    return Receipt(outcomes, repeated=True)


def _remember_key(rows: Transaction, key: str, digest: str, at: int, outcomes: tuple[Outcome, ...]) -> None:
    rows.remove("applied", (Compares("at", "<", at - _KEYS_KEPT_US),))
    receipt = json.dumps([asdict(outcome) for outcome in outcomes], ensure_ascii=False)
    rows.put("applied", [{"key": key, "digest": digest, "at": at, "receipt": receipt}])


def digest_of(changes: Sequence[Change]) -> str:
    """Stored with a key, so it is made of names that stay: those of fields, and a name for each change."""
    plain = [[_NAMES[type(change)], asdict(change)] for change in changes]
    return hashlib.blake2b(
        json.dumps(plain, default=repr, sort_keys=True).encode(), digest_size=16
    ).hexdigest()


def _outcome_of(plain: dict[str, Any]) -> Outcome:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
    }
    fields["added"] = tuple(Added(**observation) for observation in plain["added"])
    return Outcome(**fields)
