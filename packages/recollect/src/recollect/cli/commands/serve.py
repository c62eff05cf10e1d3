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
    "recollect serve --http --tls-cert box.pem --tls-key box.key",
    "recollect serve --import memory.jsonl",
    "recollect serve --openapi > openapi.json",
)
@option("--http", "Serve several clients over HTTP, and the dashboard.")
@option("--host TEXT", "With --http: address to listen on.", default="127.0.0.1")
@option("--port", "With --http: port.", default=_PORT, type=click.IntRange(0, 65535))
@option("--allow-host NAME...", "With --http: name by which clients reach this machine; repeatable.")
@option("--token TEXT")
@option("--no-token")
@option("--tls-cert", "With --http: certificate for HTTPS, a PEM file.", type=_FILE)
@option("--tls-key", "With --http: key of the certificate, a PEM file.", type=_FILE)
@option("--tools SET", "Tools: default, recall-only, all, or names with commas.")
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
    """Serve the memory to AI clients over MCP, or over HTTP.

    Without --http, it speaks MCP on standard input and output, and ends with its client.
    `recollect mcp install CLIENT` makes a client start it. With --http, it serves several clients, a REST API
    and the dashboard. `recollect token` manages their rights.

    The setting `token` replaces the generated token; `--no-token` admits every program on this machine.
    `--import [FILE]` imports the official server's file at the first start. `--openapi` prints the OpenAPI
    document.
    """
    _check_http_options(http=http)
    if http or openapi:
        what = "`recollect serve --http`"
        loaded = load_registered("recollect.commands", "serve-http", what=what, extra="server")
        given = {"openapi": openapi, "tools": tools, "official": official, **access}
        click.get_current_context().invoke(loaded, **given)
        return
    from recollect.mcp.starting import quick_start

    # Loaded here, because it takes half a second and no other command needs it.
    with needs_extra("The server", "mcp"), quick_start():
        from recollect.mcp.stdio import LazyEngine, answering_hooks, serve_stdio
        from recollect.operations.catalogue import tools_named

    settings, _ = call.settings()
    offered = tools_named(tools or settings.tools)
    opened = LazyEngine(lambda: call.open_served_memory(official))
    with opened as memory, answering_hooks(settings, memory.engine):
        if sys.stdin.isatty():
            warn(
                "Waiting for a client on standard input; Ctrl-D ends it. Clients start this command "
                "themselves after: recollect mcp install CLIENT"
            )
        serve_stdio(memory, offered)


ui_command: ExtraCommand = ExtraCommand("ui", "Open the dashboard in the browser, signed in.", extra="server")
token_command: ExtraCommand = ExtraCommand(
    "token", "Create, list and revoke tokens for `serve --http`.", extra="server"
)


def _check_http_options(*, http: bool) -> None:
    context = click.get_current_context()
    given = {name for name in _HTTP_ONLY if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if given and not http:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in _HTTP_ONLY if name in given)
        raise click.UsageError(f"These options need --http: {options}.", context)
    if given >= {"token", "no_token"}:
        raise click.UsageError("Give --token or --no-token, not both.", context)
