"""Changes applied in one transaction, with a receipt; the same key again gives the first receipt."""

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
"""Reads what there is before anything is written, and may raise to have nothing written."""
BeforeCommit = Callable[[Snapshot, Sequence[Outcome]], None]
"""Reads what was written, and may raise to have none of it."""

# A retry comes within seconds; a key that is a month old guards nothing.
_KEYS_KEPT_US = 30 * DAY


def _adopt(work: Work, change: Change) -> Outcome:
    from recollect.write import adoption  # noqa: PLC0415  # few processes import

    # Whether an id is free is asked of the whole store.
    work.rows.lock_scopes(None)
    return adoption.RULES[type(change)](work, change)


_RULES: dict[type[Change], Callable[[Work, Any], Outcome]] = {
    changes.PutEntity: entities.put_entity,
    changes.AddObservations: entities.add_observations,
    changes.RemoveObservations: entities.remove_observations,
    changes.RestoreObservation: entities.restore_observation,
    changes.PutText: texts.put_text,
    changes.Relate: entities.relate,
    changes.EndRelation: entities.end,
    changes.Unrelate: entities.unrelate,
    changes.Forget: lifecycle.forget,
    changes.Restore: lifecycle.restore,
    changes.Unmake: lifecycle.unmake,
    changes.Purge: lifecycle.purge,
    changes.PurgeMemories: lifecycle.purge_memories,
    changes.Amend: lifecycle.amend,
    changes.FlagSimilar: lifecycle.flag_similar,
    changes.Supersede: lifecycle.supersede_memory,
    changes.RecordUsage: usage.record,
    changes.GiveFeedback: usage.give_feedback,
    changes.EmptyLog: lifecycle.empty_log,
    changes.TuneProfile: lifecycle.tune,
    changes.NoteImport: lifecycle.set_once,
    changes.TellOnce: lifecycle.set_once,
    changes.Dismiss: lifecycle.set_once,
    changes.TakeLease: lifecycle.take_lease,
    changes.DropLease: lifecycle.drop_lease,
    changes.CreateToken: lifecycle.create_token,
    changes.RevokeToken: lifecycle.revoke_token,
    changes.NoteTokenUse: lifecycle.note_token_use,
    changes.PutVectors: texts.put_vectors,
    changes.UseModel: texts.use,
    **dict.fromkeys((changes.Adopt, changes.AdoptRelation, changes.AdoptLinks, changes.AdoptLearnt), _adopt),
    changes.CommitDream: dreams.commit,
    changes.UndoDream: dreams.undo,
}

# Fields that changes got after the first release, each with an empty or false value as its usual one.
_ADDED_FIELDS: dict[type[Change], tuple[str, ...]] = {
    changes.FlagSimilar: ("scope",),
    changes.PutVectors: ("searched", "automatic", "tokens", "scope"),
    changes.UseModel: ("automatic",),
}

# Fields that are worked out from the others, and that a retry may work out otherwise.
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

    The same key again returns the first receipt and writes nothing, whatever the `precondition`. With
    `keep_going`, a change that cannot be applied is left out, and its outcome says why. `before_commit` is
    called with the outcomes while nothing is committed yet, perhaps more than once: what has to be read of
    them is read there, since after the commit a failure to read would look like a failure to write.
    """
    digest = digest_of(batch) if key is not None else ""

    def work(rows: Transaction) -> Receipt:
        receipt = None if key is None else _repeated(rows, key, digest)
        if receipt is None:
            if precondition is not None:
                precondition(rows)
            receipt = write(rows)
        if before_commit is not None:
            before_commit(rows, receipt.outcomes)
        return receipt

    def write(rows: Transaction) -> Receipt:
        shared = Work(rows, at)
        texts.expect(shared, batch)
        outcomes = tuple(
            _apply_one(shared, index, change, keep_going=keep_going) for index, change in enumerate(batch)
        )
        shared.finish()
        if key is not None:
            rows.remove("receipt", (Compares("at", "<", shared.at - _KEYS_KEPT_US),))
            packed = json.dumps([asdict(outcome) for outcome in outcomes], ensure_ascii=False)
            rows.put("receipt", [{"key": key, "digest": digest, "at": shared.at, "outcomes": packed}])
        return Receipt(outcomes)

    # Changes without a scope go by ids, or hold for all scopes.
    scopes: set[Any] = {getattr(change, "scope", None) for change in batch}
    return store.transact(work, None if None in scopes else scopes)


def _apply_one(work: Work, index: int, change: Change, *, keep_going: bool = False) -> Outcome:
    try:
        with work.rows.savepoint() if keep_going else nullcontext():
            return _RULES[type(change)](work, change)
    except RecollectError as error:
        if keep_going:
            work.rows_went()
            return Outcome(error=str(error))
        error.change = index
        raise


def _repeated(rows: Transaction, key: str, digest: str) -> Receipt | None:
    known = OneOf("key", [key, purged_key(key)])
    found = rows.rows("receipt", ("digest", "outcomes"), (known,))
    if not found:
        return None
    if found[0][0] not in {digest, NO_DIGEST}:
        # Without the key: its form in the store has the scope in it.
        raise Conflict(
            "This key was used for other changes before. A retry must repeat the same ones; for others, use "
            "another key. Nothing was written."
        )
    outcomes = []
    for plain in json.loads(found[0][1]):
        told: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
        }
        told["added"] = tuple(Added(**observation) for observation in plain["added"])
        outcomes.append(Outcome(**told))
    return Receipt(tuple(outcomes), repeated=True)


def digest_of(batch: Sequence[Change]) -> str:
    """Stored with a key, so it is made of names that must stay: those of changes and of their fields.

    A field that is added to a change is left out where it has its usual value (`_ADDED_FIELDS`), or a retry
    with a key that was used before would be taken for another change.
    """
    digested = []
    for change in batch:
        plain = asdict(change)
        for name in _ADDED_FIELDS.get(type(change), ()):
            if not plain[name]:
                del plain[name]
        for name in _DERIVED_FIELDS.get(type(change), ()):
            del plain[name]
        # These fields were added to texts, which several changes contain.
        for part in (plain, *(value for value in plain.values() if isinstance(value, dict))):
            for name in ("expires_at", "ref", "metadata"):
                if name in part and part[name] is None:
                    del part[name]
            if not part.get("fields", True):
                del part["fields"]
        digested.append([type(change).__name__, plain])
    text = json.dumps(digested, default=repr, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
