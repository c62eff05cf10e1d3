"""`recollect token`: who may use the server over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Call, command, group
from recollect.cli.rendering import Column, Message, Result, Verbatim, picked

if TYPE_CHECKING:
    from recollect.records import NamedToken, Scope

_NAME = click.argument("name", metavar="NAME")


@command(
    "create",
    "recollect token create laptop",
    "recollect token create dashboard --right read",
    "recollect token create cook --owner ana --agent cook --right write",
    "recollect token create ops --right admin --json",
)
@_NAME
@click.option(
    "--right",
    type=click.Choice(("read", "write", "admin")),
    default="write",
    show_default=True,
    help="What its holder may do; each includes those before it.",
)
def token_create_command(call: Call, name: str, right: str) -> Result:
    """Make a token, and print it this once.

    With --owner it sees that owner's memory alone, with --agent too that agent's alone; without either, every
    scope. --owner '' leaves out an owner that your settings name.

    Only its hash is kept: what is lost is revoked and made anew. A running server takes it at once.
    """
    settings, _ = call.settings()
    sees = _scope(settings.owner, settings.agent)
    token = call.memory().tokens.create(name, right=right, sees=sees)
    data = {"name": name, "token": token, "right": right, **_scope_data(sees)}
    hint = (
        f"The token {name!r} may {right} in {_scope_words(sees)}. Keep it now: it is not shown again. "
        "Clients send it as `Authorization: Bearer TOKEN`."
    )
    return Result(data, [Verbatim(token)], hints=[hint])


@command("list", "recollect token list", "recollect token list --json")
def token_list_command(call: Call) -> Result:
    """List the tokens: what each may do, and when it was last used.

    The last use is noted every five minutes at most.
    """
    tokens = call.memory().tokens.list()
    data = {"tokens": [_data(each) for each in tokens]}
    if not tokens:
        none = "There are no tokens yet; `recollect token create NAME` makes one."
        return Result(data, [Message(none, mark="note")])
    rows = [
        (each.name, each.right, _scope_words(each.sees), each.created_at, each.used_at) for each in tokens
    ]
    return Result.table(data, [Column("name", role="name"), "right", "sees", "made", "last used"], rows)


@command("revoke", "recollect token revoke laptop")
@_NAME
def token_revoke_command(call: Call, name: str) -> Result:
    """Take a token back.

    Running servers refuse it within a second or two, and end its sessions in the dashboard and over MCP.
    """
    call.memory().tokens.revoke(name)
    return Result.message(f"Revoked the token {name!r}.", {"revoked": name})


@group(
    "token",
    (token_create_command, token_list_command, token_revoke_command),
    "recollect token create laptop",
    "recollect token list",
    "recollect token revoke laptop",
)
def token_command(_: Call) -> None:
    """Create, list and revoke tokens for `serve --http`."""


def _scope(owner: str, agent: str) -> Scope | None:
    from recollect.records import Scope

    return Scope(owner, agent or None) if owner or agent else None


def _scope_words(sees: Scope | None) -> str:
    if sees is None:
        return "every scope"
    owner = f"the memory of {sees.owner}" if sees.owner else "the memory of no owner"
    return f"{owner}, agent {sees.agent}" if sees.agent else owner


def _scope_data(sees: Scope | None) -> dict[str, Any]:
    return {"owner": None if sees is None else sees.owner, "agent": None if sees is None else sees.agent}


def _data(token: NamedToken) -> dict[str, Any]:
    return {**picked(token, "name", "right", "created_at", "used_at"), **_scope_data(token.sees)}
