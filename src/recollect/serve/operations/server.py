"""Operations on the server: who may use it over HTTP, and how long its calls took."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from typing_extensions import TypedDict

from recollect.errors import InvalidInput
from recollect.records import Scope
from recollect.serve.operations.browse import Cursor, PageLimit, next_place, place_of
from recollect.serve.operations.operation import (
    OperationCall,
    OperationReply,
    Time,
    described,
    operation,
    optional,
)
from recollect.serve.operations.paging import page_rows
from recollect.serve.operations.rows import PageRows, row_of


class TokenRow(TypedDict):
    name: str
    right: str
    owner: Annotated[str | None, described("Whose memory its holder sees; none: every owner's")]
    agent: str | None
    created_at: str
    used_at: Annotated[str | None, described("Its last use, to within a few minutes")]


class ListTokensOutput(TypedDict):
    tokens: list[TokenRow]


@operation("List tokens", read_only=True, of_every_owner=True)
def _list_tokens(call: OperationCall) -> OperationReply[ListTokensOutput]:
    """Who may use this store over HTTP, by name. The tokens themselves are kept nowhere."""
    rows = []
    for each in call.engine.tokens.list():
        owner, agent = (None, None) if each.sees is None else (each.sees.owner, each.sees.agent)
        rows.append(row_of(TokenRow, each, owner=owner, agent=agent))
    return OperationReply({"tokens": rows})


class CreateTokenOutput(TypedDict):
    name: str
    token: Annotated[str, described("Shown this once; it is kept only as its hash")]


@operation("Create a token", of_every_owner=True)
def _create_token(
    call: OperationCall,
    name: str = described("Up to 64 letters of ASCII, digits, dots, dashes and underscores"),
    right: Literal["read", "write", "admin"] = "write",
    owner: str | None = optional("The only owner that its holder sees; every owner if not given"),
    agent: str | None = optional("Of that owner, the only agent; all of them if not given"),
) -> OperationReply[CreateTokenOutput]:
    """Let somebody use this store over HTTP. The answer has the token, which nobody can show again."""
    if agent and owner is None:
        raise InvalidInput("An `agent` is one of an owner; give the `owner` too. No token was made.")
    sees = None if owner is None else Scope(owner, agent or None)
    return OperationReply({"name": name, "token": call.engine.tokens.create(name, right=right, sees=sees)})


class RevokeTokenOutput(TypedDict):
    revoked: str


@operation("Revoke a token", destructive=True, of_every_owner=True)
def _revoke_token(call: OperationCall, name: str) -> OperationReply[RevokeTokenOutput]:
    """Let nobody in by this token any more; servers notice within a second or two."""
    call.engine.tokens.revoke(name)
    return OperationReply({"revoked": name})


class LatencyRow(TypedDict):
    """The calls of one operation within a minute."""

    minute: Annotated[str, described("When it began")]
    operation: str
    calls: int
    median: Annotated[float, described("Seconds")]
    p95: Annotated[float, described("Seconds")]


class LatenciesOutput(PageRows):
    minutes: list[LatencyRow]


@operation("Latencies", read_only=True)
def _latencies(
    call: OperationCall,
    operation: str | None = optional("Only of this one, such as recall"),
    since: Time | None = optional("Only from this minute on"),
    limit: PageLimit = 500,
    cursor: Cursor | None = None,
) -> OperationReply[LatenciesOutput]:
    """How long the calls of this server took, minute by minute over the last day, the newest first. Minutes
    without calls are left out.
    """
    found = [
        each
        for each in reversed(call.latencies())
        if operation in (None, each.operation) and (since is None or each.minute >= since.timestamp())
    ]
    start = place_of(cursor)
    rows: list[LatencyRow] = [
        {**each._asdict(), "minute": datetime.fromtimestamp(each.minute, UTC).isoformat()}  # type: ignore[typeddict-item]  # the fields of the one are those of the other
        for each in found[start : start + limit]
    ]
    more = start + len(rows) < len(found)
    return OperationReply({"minutes": rows, **page_rows(next_place(start, len(rows), more=more), None)})
