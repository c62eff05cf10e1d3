"""MCP servers side by side: start-up, waiting times, throughput, lost writes, and memory of a process.

    python benchmarks/speed/mcp_servers.py --sizes 1k,50k --json results.json

One client (the SDK's, over standard input and output, with the `initialize` handshake) drives every server,
so its own cost is in every number; `ping` says how much that is. The official server needs node; npm installs
it into a temporary folder, unless `--official` names its index.js. The Python peer is installed by pip into a
temporary folder, unless `--peer` gives its command. What cannot be installed is skipped; the results say so.

Entities have three observations each; there are half as many relations. Each part that writes, and each that
measures waiting, works on fresh copies of the filled stores.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import anyio
from facts import facts, write_json
from filling import copies, fill, world
from servers import Server, official, ours, peer
from serving import AT_ONCE, BATCHES, BATCHES_OF_FIVE, Row, asked, memory, start_up, throughput, waiting
from timing import number, tell

START_UPS = 7


async def measured(
    size: int, servers: Sequence[Server], folder: Path, options: argparse.Namespace
) -> AsyncIterator[Row]:
    made = world(size)
    filled: list[Server] = []
    row: Row = {}
    for place, server in enumerate(servers):
        home = folder / f"{size}-{place}"
        home.mkdir()
        tell(f"{size:,}: filling {server.name}")
        row[server.name] = await fill(server.at(home), made)
        filled.append(server.at(home))
    yield {"size": size, "what": "fill"} | row
    tell(f"{size:,}: start-up")
    tools, first = await start_up(filled, made, options.start_ups)
    yield {"size": size, "what": "start to tools/list"} | tools
    yield {"size": size, "what": "start to first recall (search_nodes)"} | first
    tell(f"{size:,}: memory")
    yield {"size": size, "what": "memory"} | {server.name: await memory(server, made) for server in filled}
    for what, call in asked(made).items():
        tell(f"{size:,}: {what}")
        with copies(filled) as copied:
            yield {"size": size, "what": what} | await waiting(copied, call)
    for clients, batches in ((1, BATCHES), (AT_ONCE, BATCHES_OF_FIVE)):
        row = {}
        for server in filled:
            tell(f"{size:,}: {clients} clients write to {server.name}")
            with copies([server]) as (copied_,):
                row[server.name] = await throughput(copied_, made, clients, batches)
        yield {"size": size, "what": f"create_entities, tens, clients: {clients}"} | row


async def run(options: argparse.Namespace, folder: Path) -> None:
    found = {
        "official": official(options.official, folder / "npm"),
        "python peer": peer(options.peer, folder / "peer"),
    }
    others = [server for server, _ in found.values() if server is not None]
    known = facts("recollect-memory", "mcp", "onnxruntime") | {
        name: said for name, (_, said) in found.items()
    }
    # Of others, before we begin: what is more than nothing slows every server here.
    known["load_before"] = " ".join(f"{load:.2f}" for load in os.getloadavg())
    results: list[Row] = []
    does = {server.name: server.does for server in (ours(None), ours("potion"), *others)}
    for size in map(number, options.sizes.split(",")):
        models = (None, "potion") if size <= number(options.embed_up_to) else ("potion",)
        servers = [*map(ours, models), *others]
        async for row in measured(size, servers, folder, options):
            results.append(row)
            _show(row)
            if options.json:  # after each row: a long run may be stopped
                write_json(Path(options.json), {"facts": known, "servers": does, "results": results})
    print(f"\n{table(results)}")


def _show(row: Row) -> None:
    print(f"{row['size']:>7,}  {row['what']}")
    for name, told in row.items():
        if isinstance(told, dict):
            print(
                f"         {name:<18}", "  ".join(f"{key} {value}" for key, value in told.items()), flush=True
            )


def table(results: Sequence[Row]) -> str:
    """One line for each measure, one column for each server."""
    names = list(
        dict.fromkeys(name for row in results for name, told in row.items() if isinstance(told, dict))
    )
    lines = [("entities", "what", *names)]
    for row in results:
        for what, cell in _cells(row["what"]):
            told = (row.get(name) for name in names)
            lines.append((f"{row['size']:,}", what, *("" if one is None else cell(one) for one in told)))
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cells(what: str) -> list[tuple[str, Callable[[Row], str]]]:
    if what == "fill":
        return [("filling, s", lambda told: f"{told['seconds']:g}")]
    if what == "memory":
        return [
            ("memory: resident / private, MB", lambda told: f"{told['rss_mb']:g} / {told['private_mb']:g}"),
            ("memory that a second process adds, MB", lambda told: f"{told['second_adds_mb']:g}"),
        ]
    if what.startswith("start"):
        return [(f"{what}, ms", lambda told: f"{told['median_ms']:.0f}")]
    if "clients" in what:
        return [(f"{what}, kept/s", lambda told: f"{told['kept_per_second']:.0f}{_short_of(told)}")]
    return [(f"{what}, p50 / p95 ms", lambda told: f"{told['p50_ms']:.1f} / {told['p95_ms']:.1f}")]


def _short_of(told: Row) -> str:
    lost = f"lost {told['lost']} of {told['acknowledged']}" if told["lost"] else ""
    refused = f"{told['calls_refused']} calls refused" if "calls_refused" in told else ""
    return f" ({', '.join(filter(None, (lost, refused)))})" if lost or refused else ""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="1k,50k", help="how many entities")
    parser.add_argument("--official", help="the official server's index.js; npm installs it if not given")
    parser.add_argument(
        "--peer", help="the peer's command, {store} for its file; pip installs it if not given"
    )
    parser.add_argument(
        "--embed-up-to",
        default="5k",
        help="the default model to this many entities (it embeds some 150 texts a second), potion beyond",
    )
    parser.add_argument("--start-ups", type=int, default=START_UPS, help="of each server; the median counts")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="where to put the stores; the disk that is measured")
    return parser.parse_args()


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=options.folder) as folder:
        anyio.run(run, options, Path(folder))


if __name__ == "__main__":
    main()
