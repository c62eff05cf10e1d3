"""Commands of this package: `recollect serve --http`, `recollect ui` and `recollect token`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from recollect.bootstrap import kept_token
from recollect.cli.rendering import Column, Message, Verbatim, picked, warn
from recollect.domain.records import Scope
from recollect.mcp.starting import quick_start
from recollect.plugin import Call, Result, command, group
from recollect.settings import checked_hosts, checked_token
from recollect_server.access_policy import AccessPolicy

# Commands import the MCP library inside: that takes half a second, and `recollect token` does not need it.

if TYPE_CHECKING:
    from pathlib import Path
    from ssl import SSLContext

    from recollect.plugin import Tokens
    from recollect.settings import Settings

_PORT = 7438


@command("serve-http")
def serve_http_command(
    call: Call,
    openapi: bool,
    tools: str | None,
    official: Path | None,
    token: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    **access: Any,
) -> None:
    """Run `recollect serve` with --http or --openapi. The main package declares the options."""
    if openapi:
        from recollect_server.api.openapi import openapi_bytes

        click.echo(openapi_bytes())
        return
    with quick_start():
        from recollect.mcp.stdio import LazyEngine, answering_hooks
        from recollect.operations.catalogue import tools_named
        from recollect_server.app import serve_http
    settings, _ = call.settings()
    offered_tools = tools_named(tools or settings.tools)
    tls = _ssl_context(tls_cert or settings.tls_cert, tls_key or settings.tls_key)
    policy = _access_policy(settings, token, tls=tls is not None, **access)
    with (
        LazyEngine(lambda: call.open_served_memory(official)) as memory,
        answering_hooks(settings, memory.engine),
    ):
        memory.engine()
        announce = partial(_announce, settings, policy, generated=token is None and settings.token is None)
        serve_http(memory, offered_tools, policy, announce, tls=tls)


@command("ui", "recollect ui", "recollect ui --no-browser")
@click.option(
    "--port", default=_PORT, type=click.IntRange(0, 65535), metavar="N", show_default=True, help="Port."
)
@click.option("--no-browser", is_flag=True, help="Only print the link.")
def ui_command(call: Call, port: int, no_browser: bool) -> None:
    """Open the dashboard in the browser, signed in.

    The dashboard runs on this machine only, until Ctrl-C. If a server of this memory already runs on the
    port, the command opens that one. The link signs in one browser, once, within five minutes.
    """
    with quick_start():
        from recollect.mcp.stdio import LazyEngine
        from recollect.operations.catalogue import tools_named
        from recollect_server.authentication import SERVER_CREDENTIAL, BrowserSessions
        from recollect_server.sign_in import link_of_running_server, one_time_path

    settings, _ = call.settings()
    policy = _access_policy(settings, None, "127.0.0.1", port, (), no_token=False)

    def show(link: str) -> None:
        warn(f"Sign in once, within five minutes: {link}")
        if not no_browser:
            import webbrowser

            webbrowser.open(link)

    with LazyEngine(call.open_served_memory) as memory:
        running = link_of_running_server(policy, memory.engine().upkeep.store_state().id) if port else None
        if running is not None:
            show(running)
            return
        from recollect_server.app import serve_http

        sessions = BrowserSessions()

        def announce(at: int) -> None:
            warn(f"Serving {settings.store} at {policy.url(at, '/')} until Ctrl-C.")
            show(policy.url(at, one_time_path(sessions.link(SERVER_CREDENTIAL))))

        serve_http(memory, tools_named(settings.tools), policy, announce, sessions=sessions)


def _ssl_context(cert: Path | None, key: Path | None) -> SSLContext | None:
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise click.UsageError(
            "HTTPS needs a certificate and its key: give both --tls-cert and --tls-key.",
            click.get_current_context(),
        )
    from recollect_server.connections import tls_context  # few servers serve HTTPS

    return tls_context(cert, key)


def _access_policy(
    settings: Settings,
    token: str | None,
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    no_token: bool,
    tls: bool = False,
) -> AccessPolicy:
    hosts = (*settings.allow_hosts, *checked_hosts(allow_host))
    token = settings.token if token is None else token
    if no_token:
        return AccessPolicy(host, port, None, hosts, tls)
    token = kept_token(settings) if token is None else checked_token(token)
    return AccessPolicy(host, port, token, hosts, tls)


def _announce(settings: Settings, policy: AccessPolicy, port: int, *, generated: bool) -> None:
    """Print the addresses on standard error. A token that the user set is not printed."""
    warn(f"Serving {settings.store} over MCP at {policy.url(port)}")
    for name, path in (("Dashboard", "/"), ("REST API", "/v1"), ("API docs", "/docs")):
        warn(f"{name}: {policy.url(port, path)}")
    if policy.token is None:
        warn("No token is needed: anyone on this machine can read and change the memory.")
    elif generated:
        warn(f"Authorization: Bearer {policy.token}")
    else:
        warn("Clients must send the token that you set, as `Authorization: Bearer TOKEN`.")
    if policy.listens_everywhere and not policy.allowed_hosts:
        from socket import gethostname

        warn(
            "For clients on other machines, start the server with the host name that they use: "
            f"--allow-host {gethostname()}, or another name or address of this machine."
        )


# `recollect token`

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
    help="Rights of the token; each includes the ones before it.",
)
def token_create_command(call: Call, name: str, right: str) -> Result:
    """Create a token and print it once.

    With --owner, the token sees only that owner's memory; with --agent too, only that agent's. Without them,
    it sees every scope. Use --owner '' to ignore an owner from your settings.

    Only a hash is stored: if you lose the token, revoke it and create a new one. A running server accepts a
    new token at once.
    """
    settings, _ = call.settings()
    owner, agent = settings.owner, settings.agent
    scope = Scope(owner, agent or None) if owner or agent else None
    token = _tokens(call).create(name, right=right, sees=scope)
    data = {"name": name, "token": token, "right": right, **_scope_data(scope)}
    hint = (
        f"The token {name!r} has the right {right!r} in {_scope_words(scope)}. Copy it now: it is "
        "not shown again. Clients send it as `Authorization: Bearer TOKEN`."
    )
    return Result(data, [Verbatim(token)], hints=[hint])


def _tokens(call: Call) -> Tokens:
    from recollect.plugin import Tokens  # loads the engine

    return Tokens(call.memory())


@command("list", "recollect token list", "recollect token list --json")
def token_list_command(call: Call) -> Result:
    """List the tokens with their rights and last use.

    The last use is recorded at most every five minutes.
    """
    tokens = _tokens(call).list()
    fields = ("name", "right", "created_at", "used_at")
    data = {"tokens": [{**picked(each, *fields), **_scope_data(each.sees)} for each in tokens]}
    if not tokens:
        none = "There are no tokens yet. Create one with `recollect token create NAME`."
        return Result(data, [Message(none, mark="note")])
    rows = [
        (each.name, each.right, _scope_words(each.sees), each.created_at, each.used_at) for each in tokens
    ]
    return Result.table(data, [Column("Name", role="name"), "Right", "Scope", "Created", "Last used"], rows)


@command("revoke", "recollect token revoke laptop")
@_NAME
def token_revoke_command(call: Call, name: str) -> Result:
    """Revoke a token.

    Running servers refuse it within a second or two, and end its sessions in the dashboard and over MCP.
    """
    _tokens(call).revoke(name)
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


def _scope_words(scope: Scope | None) -> str:
    if scope is None:
        return "every scope"
    owner = f"the memory of {scope.owner}" if scope.owner else "the memory without an owner"
    return f"{owner}, agent {scope.agent}" if scope.agent else owner


def _scope_data(scope: Scope | None) -> dict[str, Any]:
    return {"owner": None if scope is None else scope.owner, "agent": None if scope is None else scope.agent}
