"""Apply changes in one transaction. A retry with the same key returns the receipt of the first try."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from datetime import datetime
from typing import Any

from recollect.domain import changes
from recollect.domain.changes import Added, Change, Outcome, Receipt
from recollect.domain.errors import Conflict, RecollectError
from recollect.domain.tables import Compares, OneOf
from recollect.ranking.candidates import DAY
from recollect.stores.port import Snapshot, Store, Transaction
from recollect.write import dreams, entities, lifecycle, texts, usage
from recollect.write.work import NO_DIGEST, Work, purged_key

Precondition = Callable[[Snapshot], None]
"""Reads the store before anything is written; raises to prevent the write."""
BeforeCommit = Callable[[Snapshot, Sequence[Outcome]], None]
"""Reads the written rows; raises to roll them back."""

# A retry comes within seconds, so older receipts are not needed.
_RECEIPTS_KEPT_US = 30 * DAY


def _adopt(work: Work, change: Change) -> Outcome:
    from recollect.write import adoption  # noqa: PLC0415  # few processes import

    # Ids are unique in the whole store.
    work.rows.lock_scopes(None)
    return adoption.RULES[type(change)](work, change)


_RULES: dict[type[Change], Callable[[Work, Any], Outcome]] = {
    changes.PutEntity: entities.put_entity,
    changes.AddObservations: entities.add_observations,
    changes.RemoveObservations: entities.remove_observations,
    changes.RestoreObservation: entities.restore_observation,
    changes.PutText: texts.put_text,
    changes.Relate: entities.relate,
    changes.EndRelation: entities.end_relation,
    changes.Unrelate: entities.unrelate,
    changes.Forget: lifecycle.forget,
    changes.Restore: lifecycle.restore,
    changes.Unmake: lifecycle.unmake,
    changes.Purge: lifecycle.purge,
    changes.PurgeMemories: lifecycle.purge_memories,
    changes.Amend: lifecycle.amend,
    changes.FlagSimilar: lifecycle.flag_similar,
    changes.Supersede: lifecycle.supersede_memory,
    changes.RecordUsage: usage.record_usage,
    changes.GiveFeedback: usage.give_feedback,
    changes.EmptyLog: lifecycle.empty_log,
    changes.TuneProfile: lifecycle.tune_profile,
    changes.NoteImport: lifecycle.set_once,
    changes.TellOnce: lifecycle.set_once,
    changes.Dismiss: lifecycle.set_once,
    changes.TakeLease: lifecycle.take_lease,
    changes.DropLease: lifecycle.drop_lease,
    changes.CreateToken: lifecycle.create_token,
    changes.RevokeToken: lifecycle.revoke_token,
    changes.NoteTokenUse: lifecycle.note_token_use,
    changes.PutVectors: texts.put_vectors,
    changes.UseModel: texts.use_model,
    **dict.fromkeys((changes.Adopt, changes.AdoptRelation, changes.AdoptLinks, changes.AdoptLearnt), _adopt),
    changes.CommitDream: dreams.write_dream,
    changes.UndoDream: dreams.write_undo,
}

# Fields added to changes after the first release. The default of each is empty or false.
_ADDED_FIELDS: dict[type[Change], tuple[str, ...]] = {
    changes.FlagSimilar: ("scope",),
    changes.PutVectors: ("searched", "automatic", "tokens", "scope"),
    changes.UseModel: ("automatic",),
}

# Fields that are computed from the others. A retry may compute other values.
_DERIVED_FIELDS: dict[type[Change], tuple[str, ...]] = {
    changes.PutText: ("embedded", "similar"),
    changes.Supersede: ("embedded", "observations", "copies"),
}


def apply(
    store: Store,
    batch: Sequence[Change],
    *,
    at: datetime,
    key: str | None = None,
    keep_going: bool = False,
    precondition: Precondition | None = None,
    before_commit: BeforeCommit | None = None,
) -> Receipt:
    """Apply all changes in one transaction, or none.

    A second call with the same key returns the first receipt and writes nothing, whatever the `precondition`.
    With `keep_going`, a change that cannot be applied is skipped, and its outcome says why. `before_commit`
    gets the outcomes, more than once if the store retries. Read the written rows there: after the commit, a
    failure to read would look like a failure to write.
    """
    digest = digest_of(batch) if key is not None else ""

    def work(rows: Transaction) -> Receipt:
        receipt = None if key is None else _earlier_receipt(rows, key, digest)
        if receipt is None:
            if precondition is not None:
                precondition(rows)
            receipt = write(rows)
        if before_commit is not None:
            before_commit(rows, receipt.outcomes)
        return receipt

    def write(rows: Transaction) -> Receipt:
        shared = Work(rows, at)
        texts.expect_batch(shared, batch)
        outcomes = tuple(
            _apply_one(shared, index, change, keep_going=keep_going) for index, change in enumerate(batch)
        )
        shared.finish()
        if key is not None:
            rows.remove("receipt", (Compares("at", "<", shared.at - _RECEIPTS_KEPT_US),))
            packed = json.dumps([asdict(outcome) for outcome in outcomes], ensure_ascii=False)
            rows.put("receipt", [{"key": key, "digest": digest, "at": shared.at, "outcomes": packed}])
        return Receipt(outcomes)

    # A change without a scope names ids, or affects all scopes.
    scopes: set[Any] = {getattr(change, "scope", None) for change in batch}
    return store.transact(work, None if None in scopes else scopes)


def _apply_one(work: Work, index: int, change: Change, *, keep_going: bool = False) -> Outcome:
    try:
        with work.rows.savepoint() if keep_going else nullcontext():
            return _RULES[type(change)](work, change)
    except RecollectError as error:
        if keep_going:
            work.note_removed_rows()
            return Outcome(error=str(error))
        error.change = index
        raise


def _earlier_receipt(rows: Transaction, key: str, digest: str) -> Receipt | None:
    known = OneOf("key", [key, purged_key(key)])
    found = rows.rows("receipt", ("digest", "outcomes"), (known,))
    if not found:
        return None
    if found[0][0] not in {digest, NO_DIGEST}:
        # The message does not name the key: the stored key contains the scope.
        raise Conflict(
            "This key was used for other changes before. A retry must repeat the same changes; other changes "
            "need another key. Nothing was written."
        )
    outcomes = []
    for plain in json.loads(found[0][1]):
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
        }
        values["added"] = tuple(Added(**observation) for observation in plain["added"])
        outcomes.append(Outcome(**values))
    return Receipt(tuple(outcomes), repeated=True)


def digest_of(batch: Sequence[Change]) -> str:
    """Return a digest of the changes: of their class names, their fields and the fields' values.

    Receipts store it, so these names must not change. A field that was added later counts only if it differs
    from its default (`_ADDED_FIELDS`). Otherwise a retry of an older write would look like another change.
    """
    digested = []
    for change in batch:
        plain = asdict(change)
        for name in _ADDED_FIELDS.get(type(change), ()):
            if not plain[name]:
                del plain[name]
        for name in _DERIVED_FIELDS.get(type(change), ()):
            del plain[name]
        # These fields were added to texts later, and several changes contain a text.
        for part in (plain, *(value for value in plain.values() if isinstance(value, dict))):
            for name in ("expires_at", "ref", "metadata"):
                if name in part and part[name] is None:
                    del part[name]
            if not part.get("fields", True):
                del part["fields"]
        digested.append([type(change).__name__, plain])
    text = json.dumps(digested, default=repr, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
