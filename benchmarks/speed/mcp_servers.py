"""MCP servers side by side: start-up, waiting times, throughput, lost writes, and memory of a process.

    python benchmarks/speed/mcp_servers.py --sizes 1k,50k --json results.json

One client (the SDK's, over standard input and output, with the `initialize` handshake) drives every server,
so its own cost is in every number; `ping` measures it. The official server needs node; npm installs
it into a temporary folder, unless `--official` names its index.js. The Python peer is installed by pip into a
temporary folder, unless `--peer` gives its command. What cannot be installed is skipped; the results say so.

Entities have three observations each; there are half as many relations. Writes and latencies are measured on
fresh copies of the filled stores.
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


async def measure(
    size: int, servers: Sequence[Server], folder: Path, options: argparse.Namespace
) -> AsyncIterator[Row]:
    data = world(size)
    filled: list[Server] = []
    row: Row = {}
    for place, server in enumerate(servers):
        home = folder / f"{size}-{place}"
        home.mkdir()
        tell(f"{size:,}: filling {server.name}")
        row[server.name] = await fill(server.at(home), data)
        filled.append(server.at(home))
    yield {"size": size, "what": "fill"} | row
    tell(f"{size:,}: start-up")
    tools, first = await start_up(filled, data, options.start_ups)
    yield {"size": size, "what": "start to tools/list"} | tools
    yield {"size": size, "what": "start to first recall (search_nodes)"} | first
    tell(f"{size:,}: memory")
    yield {"size": size, "what": "memory"} | {server.name: await memory(server, data) for server in filled}
    for what, call in asked(data).items():
        tell(f"{size:,}: {what}")
        with copies(filled) as copied:
            yield {"size": size, "what": what} | await waiting(copied, call)
    for clients, batches in ((1, BATCHES), (AT_ONCE, BATCHES_OF_FIVE)):
        row = {}
        for server in filled:
            tell(f"{size:,}: {clients} clients write to {server.name}")
            with copies([server]) as (copied_server,):
                row[server.name] = await throughput(copied_server, data, clients, batches)
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
    # The load of other programs before the start slows every server.
    known["load_before"] = " ".join(f"{load:.2f}" for load in os.getloadavg())
    results: list[Row] = []
    does = {server.name: server.does for server in (ours(None), ours("potion"), *others)}
    for size in map(number, options.sizes.split(",")):
        models = (None, "potion") if size <= number(options.embed_up_to) else ("potion",)
        servers = [*map(ours, models), *others]
        async for row in measure(size, servers, folder, options):
            results.append(row)
            _show(row)
            if options.json:  # after each row: a long run may be stopped
                write_json(Path(options.json), {"facts": known, "servers": does, "results": results})
    print(f"\n{table(results)}")


def _show(row: Row) -> None:
    print(f"{row['size']:>7,}  {row['what']}")
    for name, cell in row.items():
        if isinstance(cell, dict):
            print(
                f"         {name:<18}", "  ".join(f"{key} {value}" for key, value in cell.items()), flush=True
            )


def table(results: Sequence[Row]) -> str:
    """Return a table with a line for each measure and a column for each server."""
    names = list(
        dict.fromkeys(name for row in results for name, cell in row.items() if isinstance(cell, dict))
    )
    lines = [("entities", "what", *names)]
    for row in results:
        for what, cell in _cells(row["what"]):
            values = (row.get(name) for name in names)
            lines.append((f"{row['size']:,}", what, *("" if one is None else cell(one) for one in values)))
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cells(what: str) -> list[tuple[str, Callable[[Row], str]]]:
    if what == "fill":
        return [("filling, s", lambda row: f"{row['seconds']:g}")]
    if what == "memory":
        return [
            ("memory: resident / private, MB", lambda row: f"{row['rss_mb']:g} / {row['private_mb']:g}"),
            ("memory that a second process adds, MB", lambda row: f"{row['second_adds_mb']:g}"),
        ]
    if what.startswith("start"):
        return [(f"{what}, ms", lambda row: f"{row['median_ms']:.0f}")]
    if "clients" in what:
        return [(f"{what}, kept/s", lambda row: f"{row['kept_per_second']:.0f}{_losses(row)}")]
    return [(f"{what}, p50 / p95 ms", lambda row: f"{row['p50_ms']:.1f} / {row['p95_ms']:.1f}")]


def _losses(row: Row) -> str:
    lost = f"lost {row['lost']} of {row['acknowledged']}" if row["lost"] else ""
    refused = f"{row['calls_refused']} calls refused" if "calls_refused" in row else ""
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
        help="most entities for the default model (about 150 texts a second); beyond, potion embeds them",
    )
    parser.add_argument(
        "--start-ups", type=int, default=START_UPS, help="starts of each server (median shown)"
    )
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="folder of the stores, on the disk to measure")
    return parser.parse_args()


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=options.folder) as folder:
        anyio.run(run, options, Path(folder))


if __name__ == "__main__":
    main()
