"""Named tokens: creating and revoking one, and noting that it was used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.changes import CreateToken, NoteTokenUse, Outcome, RevokeToken
from recollect.conditions import Equals
from recollect.errors import Conflict, InvalidInput
from recollect.records import NamedToken
from recollect.retrieval.named_tokens import TOKENS, named_tokens, tokens_text
from recollect.retrieval.records import moment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.engine.writes.work import Work

MOST_TOKENS = 256
"""Of a store. A server compares what it is shown with each of them."""


def create(work: Work, change: CreateToken) -> Outcome:
    tokens = _held(work)
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
    _put(work, (*tokens, new))
    return Outcome(created=True, count=1)


def revoke(work: Work, change: RevokeToken) -> Outcome:
    tokens = _held(work)
    kept = [each for each in tokens if each.name != change.name]
    if len(kept) < len(tokens):
        _put(work, kept)
    return Outcome(count=len(tokens) - len(kept))


def note_use(work: Work, change: NoteTokenUse) -> Outcome:
    tokens = _held(work)
    at = moment(work.at)
    used = [replace(each, used_at=at) if each.digest == change.digest else each for each in tokens]
    if used != list(tokens):
        _put(work, used)
    return Outcome()


def _held(work: Work) -> tuple[NamedToken, ...]:
    """All tokens, which nobody else changes until this transaction ends."""
    work.rows.put("setting", [{"name": TOKENS, "value": tokens_text(())}], keep=True)
    # Whoever has touched it first is waited for, and what it left is read then.
    work.rows.patch("setting", (Equals("name", TOKENS),), {"name": TOKENS})
    return named_tokens(work.rows)


def _put(work: Work, tokens: Iterable[NamedToken]) -> None:
    work.rows.put("setting", [{"name": TOKENS, "value": tokens_text(tokens)}])
