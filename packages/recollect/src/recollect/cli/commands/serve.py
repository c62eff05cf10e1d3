"""`recollect serve` and `recollect ui`: serve a memory to AI clients, programs and browsers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from recollect.cli.command import Call, ExtraCommand, command, option
from recollect.cli.rendering import warn
from recollect.domain.errors import load_registered, needs_extra

_HTTP_ONLY = ("host", "port", "token", "no_token", "allow_host", "tls_cert", "tls_key")
_PORT = 7438
_FILE = click.Path(dir_okay=False, path_type=Path)


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
@option("--http", "Streamable HTTP, for several clients, instead of standard input and output.")
@option("--host TEXT", "With --http: the address to listen on.", default="127.0.0.1")
@option("--port", "With --http: the port.", default=_PORT, type=click.IntRange(0, 65535))
@option(
    "--allow-host NAME...",
    "With --http: a name or address by which clients reach this machine; may be given more than once.",
)
@option("--token TEXT")
@option("--no-token")
@option("--tls-cert", "With --http: serve HTTPS with this certificate, a PEM file.", type=_FILE)
@option("--tls-key", "With --http: the certificate's key, a PEM file.", type=_FILE)
@option("--tools SET", "default, recall-only, all, or names with commas between.")
@click.option(
    "--import",
    "official",
    metavar="[FILE]",
    is_flag=False,
    flag_value="MEMORY_FILE_PATH",
    type=_FILE,
    hidden=True,
)
@option("--openapi")
def serve_command(
    call: Call, http: bool, openapi: bool, tools: str | None, official: Path | None, **access: Any
) -> None:
    """Serve the memory to AI clients, by the Model Context Protocol.

    Without --http it speaks on standard input and output, as clients expect of a server that they start; it
    ends when they go. `recollect mcp install CLIENT` sets a client up. With --http it serves several, and the
    dashboard; `recollect token` says who may do what.

    The setting `token` replaces the generated token; `--no-token` lets in every program on this machine.
    `--import [FILE]` brings in the official server's file on the first start, and `--openapi` prints the
    HTTP API's document.
    """
    _refuse_idle_options(http=http)
    if http or openapi:
        what = "`recollect serve --http`"
        loaded = load_registered("recollect.commands", "serve-http", what=what, extra="server")
        given = {"openapi": openapi, "tools": tools, "official": official, **access}
        click.get_current_context().invoke(loaded, **given)
        return
    from recollect.mcp.starting import quick_start

    # Loaded only here: the protocol is half a second, and no other command speaks it.
    with needs_extra("The server", "mcp"), quick_start():
        from recollect.mcp.stdio import LazyEngine, answering_hooks, serve_stdio
        from recollect.operations.catalogue import chosen

    settings, _ = call.settings()
    offered = chosen(tools or settings.tools)
    opened = LazyEngine(lambda: call.open_served_memory(official))
    with opened as memory, answering_hooks(settings, memory.engine):
        if sys.stdin.isatty():
            warn(
                "Waiting for a client on standard input; Ctrl-D ends. `recollect mcp install CLIENT` sets "
                "one up that starts this by itself; --http serves several."
            )
        serve_stdio(memory, offered)


ui_command: ExtraCommand = ExtraCommand("ui", "Open the dashboard in the browser, signed in.", extra="server")
token_command: ExtraCommand = ExtraCommand(
    "token", "Create, list and revoke tokens for `serve --http`.", extra="server"
)


def _refuse_idle_options(*, http: bool) -> None:
    context = click.get_current_context()
    given = {name for name in _HTTP_ONLY if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if given and not http:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in _HTTP_ONLY if name in given)
        raise click.UsageError(f"Only with --http: {options}. Add --http, or leave it out.", context)
    if given >= {"token", "no_token"}:
        raise click.UsageError("--token and --no-token contradict each other; leave one out.", context)
