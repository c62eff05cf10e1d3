"""The command that serves a memory to AI clients."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import command

if TYPE_CHECKING:
    from recollect.cli.call import Call
    from recollect.engine.engine import Engine


@command(
    "serve",
    "recollect serve",
    "recollect serve --tools recall-only",
    "recollect serve --http --port 7438",
    "recollect serve --import memory.jsonl",
)
@click.option(
    "--http", is_flag=True, help="Streamable HTTP, for several clients, instead of standard input and output."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen on.")
@click.option(
    "--port", default=7438, show_default=True, type=click.IntRange(0, 65535), help="With --http: the port."
)
@click.option(
    "--token", help="With --http: what clients must show. [RECOLLECT_TOKEN]; else one is made and kept."
)
@click.option(
    "--no-token", is_flag=True, help="With --http: let in whoever reaches the port, on this machine only."
)
@click.option("--tools", metavar="SET", help="default, recall-only, all, or names with commas between.")
@click.option(
    "--import",
    "official",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Bring in the official server's file on the first start, while there are no entities.",
)
def serve(
    call: Call,
    http: bool,
    host: str,
    port: int,
    token: str | None,
    no_token: bool,
    tools: str | None,
    official: Path | None,
) -> None:
    """Serve the memory to AI clients, by the Model Context Protocol.

    Without --http it speaks on standard input and output, as clients expect of a server that they start; it
    ends when they go. `recollect mcp install CLIENT` sets a client up.
    """
    from recollect.serve.start import quick_start  # noqa: PLC0415

    # Loaded only here: the protocol is half a second, and no other command speaks it.
    with quick_start():
        from recollect.serve.catalogue import chosen  # noqa: PLC0415
        from recollect.serve.http import PATH, Door, serve_http  # noqa: PLC0415
        from recollect.serve.opening import Opening  # noqa: PLC0415
        from recollect.serve.stdio import serve_stdio  # noqa: PLC0415

    settings, _ = call.settings()
    offered = chosen(tools or settings.tools)

    def opened() -> Engine:
        memory = call.memory(create=True)
        _bring_in(call, memory, official or settings.import_from)
        return memory

    with Opening(opened) as memory:
        if not http:
            serve_stdio(memory, offered)
            return
        from recollect.bootstrap import token_of  # noqa: PLC0415  # loads the engine

        shown = None if no_token else token or token_of(settings)

        def listening(at: int) -> None:
            call.tell(f"Serving {settings.store} at http://{host}:{at}{PATH}")
            call.tell(
                "Anyone on this machine may come in." if shown is None else f"Authorization: Bearer {shown}"
            )

        memory.engine()
        serve_http(memory, offered, Door(host, port, shown), listening)


def _bring_in(call: Call, memory: Engine, official: Path | None) -> None:
    """The official server's file, once: while the memory never had an entity."""
    if official is None or _ever_had_entities(memory):
        return
    if not official.exists():
        call.tell(f"There is no file {official} to bring in; the memory starts without it.")
        return
    from recollect.transfer import import_file  # noqa: PLC0415  # few starts bring something in

    report = import_file(memory, official, embed=False)
    call.tell(
        f"Brought in {report.entities_created} entities from {official}; until `recollect reindex` has run, "
        "only words find them."
    )
    if report.bad_count:
        call.tell(f"{report.bad_count} lines could not be read; `recollect import {official}` names them.")


def _ever_had_entities(memory: Engine) -> bool:
    from recollect.records import Filter, Kind  # noqa: PLC0415  # --help needs none

    scope = memory.scope
    with memory.store.read() as view:
        return bool(view.page(Filter(scope.owner, scope.agent, frozenset({Kind.ENTITY}), deleted=True), 0, 1))
