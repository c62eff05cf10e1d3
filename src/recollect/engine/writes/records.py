"""Small records: tuned numbers, imported files, leases, named tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.changes import (
    CreateToken,
    Dismiss,
    DropLease,
    NoteImport,
    NoteTokenUse,
    Outcome,
    RevokeToken,
    TakeLease,
    TellOnce,
    TuneProfile,
)
from recollect.conditions import AnyOf, Compares, Equals
from recollect.errors import Conflict, InvalidInput
from recollect.records import NamedToken
from recollect.retrieval.answer_log import tuned_numbers
from recollect.retrieval.contents import (
    TOKENS,
    dismissed_setting,
    import_setting,
    named_tokens,
    tokens_text,
    topic_setting,
)
from recollect.retrieval.records import moment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.engine.writes.work import Work

MOST_TOKENS = 256
"""Of a store. A server compares what it is shown with each of them."""


def tune(work: Work, change: TuneProfile) -> Outcome:
    """Numbers that a profile is given in the place of its published ones; every set of them is kept."""
    scope = work.scope_id(change.scope)
    newest = tuned_numbers(work.rows, scope, change.profile)
    if (0 if newest is None else newest[0]) != change.after:
        raise Conflict(
            f"The profile {change.profile!r} was tuned by someone else meanwhile; look at it with "
            "`recollect tune history`, and try again. Nothing was changed."
        )
    version = work.add(
        "tuned",
        scope_id=scope,
        profile=change.profile,
        at=work.at,
        knobs=json.dumps(dict(change.knobs)),
        why=change.why,
        report=change.report,
    )
    return Outcome(ids=(version,), created=True, count=1)


def note_import(work: Work, change: NoteImport) -> Outcome:
    return _set_once(work, import_setting(change.scope, change.file))


def tell_once(work: Work, change: TellOnce) -> Outcome:
    return _set_once(work, topic_setting(change.topic))


def dismiss(work: Work, change: Dismiss) -> Outcome:
    name = dismissed_setting(change.scope, change.key)
    if change.dismissed:
        return _set_once(work, name)
    return Outcome(count=work.rows.remove("setting", (Equals("name", name),)))


def _set_once(work: Work, name: str) -> Outcome:
    known = work.first("setting", (Equals("name", name),), "name") is not None
    if not known:
        work.rows.put("setting", [{"name": name, "value": str(work.at)}])
    return Outcome(created=not known)


def take_lease(work: Work, change: TakeLease) -> Outcome:
    """Take it, or hold it for longer; `created` tells whether nobody, or somebody late, had it."""
    length = int(change.seconds * 1_000_000)
    until = work.at + length
    if holds_lease(work, change.name, change.holder):
        work.rows.patch("lease", (Equals("name", change.name),), {"until": until})
        return Outcome(count=1)
    # One that ends far ahead was taken before somebody set the clock back.
    late = AnyOf(((Compares("until", "<=", work.at),), (Compares("until", ">", until + length),)))
    work.rows.remove("lease", (Equals("name", change.name), late))
    if work.first("lease", (Equals("name", change.name),), "name") is not None:
        raise Conflict(f"Another process is at it ({change.name}); try again when it has finished.")
    work.rows.put("lease", [{"name": change.name, "holder": change.holder, "until": until}])
    return Outcome(created=True, count=1)


def drop_lease(work: Work, change: DropLease) -> Outcome:
    mine = (Equals("name", change.name), Equals("holder", change.holder))
    return Outcome(count=work.rows.remove("lease", mine))


def holds_lease(work: Work, name: str, holder: str) -> bool:
    return work.first("lease", (Equals("name", name), Equals("holder", holder)), "name") is not None


def create_token(work: Work, change: CreateToken) -> Outcome:
    tokens = _held_tokens(work)
    known = next((each for each in tokens if each.name == change.name), None)
    if known is not None and known.digest == change.digest:
        # The store did not confirm the first attempt, and was asked again.
        return Outcome(created=True, count=1)
    if known is not None:
        raise Conflict(
            f"There is a token {change.name!r} already; name this one otherwise, or revoke the other first: "
            f"recollect token revoke {change.name}"
        )
    if len(tokens) >= MOST_TOKENS:
        raise InvalidInput(
            f"There are {len(tokens)} tokens, and a store takes {MOST_TOKENS}; revoke what nobody uses: "
            "recollect token list"
        )
    new = NamedToken(change.name, change.digest, change.right, change.sees, moment(work.at))
    _put_tokens(work, (*tokens, new))
    return Outcome(created=True, count=1)


def revoke_token(work: Work, change: RevokeToken) -> Outcome:
    tokens = _held_tokens(work)
    kept = [each for each in tokens if each.name != change.name]
    if len(kept) < len(tokens):
        _put_tokens(work, kept)
    return Outcome(count=len(tokens) - len(kept))


def note_token_use(work: Work, change: NoteTokenUse) -> Outcome:
    tokens = _held_tokens(work)
    at = moment(work.at)
    used = [replace(each, used_at=at) if each.digest == change.digest else each for each in tokens]
    if used != list(tokens):
        _put_tokens(work, used)
    return Outcome()


def _held_tokens(work: Work) -> tuple[NamedToken, ...]:
    """All tokens, which nobody else changes until this transaction ends."""
    work.rows.put("setting", [{"name": TOKENS, "value": tokens_text(())}], keep=True)
    # Whoever has touched it first is waited for, and what it left is read then.
    work.rows.patch("setting", (Equals("name", TOKENS),), {"name": TOKENS})
    return named_tokens(work.rows)


def _put_tokens(work: Work, tokens: Iterable[NamedToken]) -> None:
    work.rows.put("setting", [{"name": TOKENS, "value": tokens_text(tokens)}])
