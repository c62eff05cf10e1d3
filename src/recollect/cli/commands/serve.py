"""`recollect serve` and `recollect ui`: serve a memory to AI clients, programs and browsers."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from recollect.cli.command import Call, command
from recollect.cli.rendering import warn
from recollect.extras import needs_extra

if TYPE_CHECKING:
    from ssl import SSLContext

    from recollect.engine.engine import Engine
    from recollect.serve.http.access_policy import AccessPolicy
    from recollect.settings import Settings

_HTTP_ONLY = ("host", "port", "token", "no_token", "allow_host", "tls_cert", "tls_key")
_PORT = 7438
_FILE = click.Path(dir_okay=False, path_type=Path)
_EXTRA = "mcp"


@command(
    "serve",
    "recollect serve",
    "recollect serve --tools recall-only",
    "recollect serve --http --port 7438",
    "recollect serve --http --host 0.0.0.0 --allow-host box.local",
    "recollect serve --http --tls-cert box.pem --tls-key box.key --host 0.0.0.0 --allow-host box.local",
    "recollect serve --import memory.jsonl",
    "recollect serve --openapi > openapi.json",
)
@click.option(
    "--http", is_flag=True, help="Streamable HTTP, for several clients, instead of standard input and output."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen on.")
@click.option(
    "--port", default=_PORT, show_default=True, type=click.IntRange(0, 65535), help="With --http: the port."
)
@click.option(
    "--allow-host",
    metavar="NAME",
    multiple=True,
    help="With --http: a name or address by which clients reach this machine; may be given more than once.",
)
@click.option(
    "--token", help="With --http: what clients must show. [RECOLLECT_TOKEN]; else one is made and kept."
)
@click.option(
    "--no-token", is_flag=True, help="With --http: let in whoever reaches the port, on this machine only."
)
@click.option("--tls-cert", type=_FILE, help="With --http: serve HTTPS with this certificate, a PEM file.")
@click.option("--tls-key", type=_FILE, help="With --http: the certificate's key, a PEM file.")
@click.option("--tools", metavar="SET", help="default, recall-only, all, or names with commas between.")
@click.option(
    "--import",
    "official",
    metavar="[FILE]",
    is_flag=False,
    flag_value="MEMORY_FILE_PATH",
    type=_FILE,
    help="Bring in the official server's file on the first start, while there are no entities; without FILE, "
    "the one that MEMORY_FILE_PATH names.",
)
@click.option(
    "--openapi",
    is_flag=True,
    help="Print the HTTP API's OpenAPI document, to generate clients from, and end.",
)
def serve_command(
    call: Call,
    http: bool,
    openapi: bool,
    tools: str | None,
    official: Path | None,
    token: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    **access: Any,
) -> None:
    """Serve the memory to AI clients, by the Model Context Protocol.

    Without --http it speaks on standard input and output, as clients expect of a server that they start; it
    ends when they go. `recollect mcp install CLIENT` sets a client up. With --http it serves several, and the
    dashboard; `recollect token` says who may do what.
    """
    _refuse_idle_options(http=http)
    if openapi:
        with needs_extra("The HTTP API", _EXTRA):
            from recollect.serve.http.api.openapi import openapi_bytes

        click.echo(openapi_bytes())
        return
    from recollect.serve import quick_start

    # Loaded only here: the protocol is half a second, and no other command speaks it.
    with needs_extra("The server", _EXTRA), quick_start():
        from recollect.serve.hook_answers import answering_hooks
        from recollect.serve.lazy_engine import LazyEngine
        from recollect.serve.mcp.stdio import serve_stdio
        from recollect.serve.operations.catalogue import chosen

    settings, _ = call.settings()
    offered = chosen(tools or settings.tools)
    tls = _tls(tls_cert or settings.tls_cert, tls_key or settings.tls_key) if http else None
    policy = _access_policy(settings, token, tls=tls is not None, **access) if http else None

    with LazyEngine(lambda: _opened(call, official)) as memory, answering_hooks(settings, memory.engine):
        if policy is not None:
            with needs_extra("The server", _EXTRA):
                from recollect.serve.http.app import serve_http  # a web server, which few starts need

            memory.engine()
            ours = token is None and settings.token is None
            announce = partial(_announce, settings, policy, ours=ours)
            serve_http(memory, offered, policy, announce, tls=tls)
            return
        if sys.stdin.isatty():
            warn(
                "Waiting for a client on standard input; Ctrl-D ends. `recollect mcp install CLIENT` sets "
                "one up that starts this by itself; --http serves several."
            )
        serve_stdio(memory, offered)


@command("ui", "recollect ui", "recollect ui --port 8000", "recollect ui --no-browser")
@click.option(
    "--port", default=_PORT, show_default=True, type=click.IntRange(0, 65535), help="Where to serve it."
)
@click.option("--no-browser", is_flag=True, help="Only print the link.")
def ui_command(call: Call, port: int, no_browser: bool) -> None:
    """Open the dashboard in the browser, signed in.

    It is served on this machine alone, until Ctrl-C; where a server of this memory is on the port already,
    that one is used. The link signs one browser in, once, within five minutes.
    """
    from recollect.serve import quick_start

    with needs_extra("The dashboard", _EXTRA), quick_start():
        from recollect.serve.http.browser_sessions import BrowserSessions
        from recollect.serve.http.running_server import link_of_running_server
        from recollect.serve.lazy_engine import LazyEngine
        from recollect.serve.operations.catalogue import chosen

    settings, _ = call.settings()
    policy = _access_policy(settings, None, "127.0.0.1", port, (), no_token=False)

    def show(link: str) -> None:
        warn(f"Sign in once, within five minutes: {link}")
        if not no_browser:
            import webbrowser

            webbrowser.open(link)

    with LazyEngine(lambda: _opened(call, None)) as memory:
        running = link_of_running_server(policy, memory.engine().upkeep.store_id()) if port else None
        if running is not None:
            show(running)
            return
        with needs_extra("The dashboard", _EXTRA):
            from recollect.serve.http.app import serve_http
            from recollect.serve.http.authentication import OWN
            from recollect.serve.http.sign_in import once_path

        sessions = BrowserSessions()

        def announce(at: int) -> None:
            warn(f"Serving {settings.store} at {policy.url(at, '/')} until Ctrl-C.")
            show(policy.url(at, once_path(sessions.link(OWN))))

        serve_http(memory, chosen(settings.tools), policy, announce, sessions=sessions)


def _opened(call: Call, official: Path | None) -> Engine:
    """The memory, for a server that stays."""
    from recollect.bootstrap import beside  # loads the engine
    from recollect.serve.official_import import import_official_file

    settings, _ = call.settings()
    memory = call.open_memory(create=True, dreams=True)
    import_official_file(memory, beside(settings, "-importing"), official or settings.import_from, warn)
    memory.upkeep.embed_in_background()
    return memory


def _tls(cert: Path | None, key: Path | None) -> SSLContext | None:
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise click.UsageError(
            "A certificate needs its key, and a key its certificate: name both, --tls-cert and --tls-key.",
            click.get_current_context(),
        )
    from recollect.serve.http.tls import tls_context  # few servers serve HTTPS

    return tls_context(cert, key)


def _refuse_idle_options(*, http: bool) -> None:
    context = click.get_current_context()
    given = {name for name in _HTTP_ONLY if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if given and not http:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in _HTTP_ONLY if name in given)
        raise click.UsageError(f"Only with --http: {options}. Add --http, or leave it out.", context)
    if given >= {"token", "no_token"}:
        raise click.UsageError("--token and --no-token contradict each other; leave one out.", context)


def _access_policy(
    settings: Settings,
    token: str | None,
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    no_token: bool,
    tls: bool = False,
) -> AccessPolicy:
    from recollect.serve.http.access_policy import AccessPolicy  # --help needs none
    from recollect.settings import checked_hosts, checked_token

    hosts = (*settings.allow_hosts, *checked_hosts(allow_host))
    token = settings.token if token is None else token
    if no_token:
        return AccessPolicy(host, port, None, hosts, tls)
    if token is not None:
        return AccessPolicy(host, port, checked_token(token), hosts, tls)
    from recollect.bootstrap import kept_token  # loads the engine

    return AccessPolicy(host, port, kept_token(settings), hosts, tls)


def _announce(settings: Settings, policy: AccessPolicy, port: int, *, ours: bool) -> None:
    """On standard error. A token that the user set is theirs to know, and stays out of logs."""
    warn(f"Serving {settings.store} at {policy.url(port)}")
    if policy.token is None:
        warn("Anyone on this machine may come in.")
    elif ours:
        warn(f"Authorization: Bearer {policy.token}")
    else:
        warn("Clients must show the token that you set, as `Authorization: Bearer TOKEN`.")
    if policy.is_everywhere and not policy.allowed:
        from socket import gethostname

        warn(
            "Clients on other machines are let in only by a name that you allow: "
            f"--allow-host {gethostname()}, or whatever name or address they use for this machine."
        )
