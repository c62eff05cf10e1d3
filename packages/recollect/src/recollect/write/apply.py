"""Changes applied in one transaction, with a receipt; the same key again gives the first receipt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from recollect.domain import changes
from recollect.domain.changes import Added, Change, Outcome, Receipt
from recollect.domain.errors import Conflict, InvalidInput, RecollectError
from recollect.domain.records import Scope
from recollect.domain.tables import Compares, OneOf
from recollect.ranking.candidates import DAY
from recollect.search.rows import stamp
from recollect.stores.port import Snapshot, Store, Transaction
from recollect.write import adoption, dreams, entities, lifecycle, texts, usage
from recollect.write.work import NO_DIGEST, Work, purged_key

Precondition = Callable[[Snapshot], None]
"""Reads what there is before anything is written, and may raise to have nothing written."""
BeforeCommit = Callable[[Snapshot, Sequence[Outcome]], None]
"""Reads what was written, and may raise to have none of it."""

# A retry comes within seconds; a key that is a month old guards nothing.
_KEYS_KEPT_US = 30 * DAY


def _adopt_learnt(work: Work, change: changes.AdoptLearnt) -> Outcome:
    from recollect.write.learning import adopt_learnt  # noqa: PLC0415  # few processes import

    return adopt_learnt(work, change)


# For each change its rule, and the name under which stored digests know it, whatever its class is called.
_RULES: dict[type[Change], tuple[str, Callable[[Work, Any], Outcome]]] = {
    changes.PutEntity: ("PutEntity", entities.put_entity),
    changes.AddObservations: ("AddObservations", entities.add_observations),
    changes.RemoveObservations: ("RemoveObservations", entities.remove_observations),
    changes.RestoreObservation: ("RestoreObservation", entities.restore_observation),
    changes.PutText: ("PutText", texts.put_text),
    changes.Relate: ("Relate", entities.relate),
    changes.EndRelation: ("EndRelation", entities.end),
    changes.Unrelate: ("Unrelate", entities.unrelate),
    changes.Forget: ("Forget", lifecycle.forget),
    changes.Restore: ("Restore", lifecycle.restore),
    changes.Unmake: ("Unmake", lifecycle.unmake),
    changes.Purge: ("Purge", lifecycle.purge),
    changes.PurgeMemories: ("PurgeMemories", lifecycle.purge_memories),
    changes.Amend: ("Amend", lifecycle.amend),
    changes.FlagSimilar: ("FlagSimilar", lifecycle.flag_similar),
    changes.Supersede: ("Supersede", lifecycle.supersede_memory),
    changes.RecordUse: ("RecordUse", usage.record),
    changes.GiveFeedback: ("GiveFeedback", usage.give_feedback),
    changes.EmptyLog: ("EmptyLog", lifecycle.empty_log),
    changes.TuneProfile: ("TuneProfile", lifecycle.tune),
    changes.NoteImport: ("NoteImport", lifecycle.note_import),
    changes.TellOnce: ("TellOnce", lifecycle.tell_once),
    changes.Dismiss: ("Dismiss", lifecycle.dismiss),
    changes.TakeLease: ("TakeLease", lifecycle.take_lease),
    changes.DropLease: ("DropLease", lifecycle.drop_lease),
    changes.CreateToken: ("CreateToken", lifecycle.create_token),
    changes.RevokeToken: ("RevokeToken", lifecycle.revoke_token),
    changes.NoteTokenUse: ("NoteTokenUse", lifecycle.note_token_use),
    changes.PutVectors: ("PutVectors", texts.put_vectors),
    changes.UseModel: ("UseModel", texts.use),
    changes.Adopt: ("Adopt", adoption.adopt),
    changes.AdoptRelation: ("AdoptRelation", adoption.adopt_relation),
    changes.AdoptLinks: ("AdoptLinks", adoption.adopt_links),
    changes.AdoptLearnt: ("AdoptLearnt", _adopt_learnt),
    changes.CommitDream: ("CommitDream", dreams.commit),
    changes.UndoDream: ("UndoDream", dreams.undo),
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
    if at.tzinfo is None:
        raise InvalidInput(f"The time {at} names no time zone; pass an aware datetime.")
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
        each = _apply_or_skip if keep_going else _apply_one
        outcomes = tuple(each(shared, index, change) for index, change in enumerate(batch))
        shared.finish()
        if key is not None:
            _remember_key(rows, key, digest, stamp(at), outcomes)
        return Receipt(outcomes)

    return store.transact(work, _scopes_of(batch))


def _scopes_of(batch: Sequence[Change]) -> set[Scope] | None:
    """The scopes that the changes are made in; None where one names none, and goes by ids or for all."""
    scopes: set[Scope] = set()
    for change in batch:
        scope: Scope | None = getattr(change, "scope", None)
        if scope is None:
            return None
        scopes.add(scope)
    return scopes


def _apply_one(work: Work, index: int, change: Change) -> Outcome:
    _, rule = _RULES[type(change)]
    try:
        return rule(work, change)
    except RecollectError as error:
        error.change = index
        raise


def _apply_or_skip(work: Work, index: int, change: Change) -> Outcome:
    try:
        with work.rows.savepoint():
            return _apply_one(work, index, change)
    except RecollectError as error:
        work.rows_went()
        return Outcome(error=str(error))


def _repeated(rows: Transaction, key: str, digest: str) -> Receipt | None:
    known = OneOf("key", [key, purged_key(key)])
    found = rows.rows("applied", ("digest", "receipt"), (known,))
    if not found:
        return None
    if found[0][0] not in {digest, NO_DIGEST}:
        # Without the key: its form in the store has the scope in it.
        raise Conflict(
            "This key was used for other changes before. A retry must repeat the same ones; for others, use "
            "another key. Nothing was written."
        )
    outcomes = tuple(_outcome_of(plain) for plain in json.loads(found[0][1]))
    return Receipt(outcomes, repeated=True)


def _remember_key(rows: Transaction, key: str, digest: str, at: int, outcomes: tuple[Outcome, ...]) -> None:
    rows.remove("applied", (Compares("at", "<", at - _KEYS_KEPT_US),))
    receipt = json.dumps([asdict(outcome) for outcome in outcomes], ensure_ascii=False)
    rows.put("applied", [{"key": key, "digest": digest, "at": at, "receipt": receipt}])


def digest_of(batch: Sequence[Change]) -> str:
    """Stored with a key, so it is made of names that stay: those of fields, and a name for each change.

    A field that is added to a change is left out where it has its usual value (`_ADDED_FIELDS`), or a retry
    with a key that was used before would be taken for another change.
    """
    plain = [[_RULES[type(change)][0], _digested(change)] for change in batch]
    text = json.dumps(plain, default=repr, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _digested(change: Change) -> dict[str, Any]:
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
    return plain


def _outcome_of(plain: dict[str, Any]) -> Outcome:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
    }
    fields["added"] = tuple(Added(**observation) for observation in plain["added"])
    return Outcome(**fields)
