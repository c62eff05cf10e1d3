"""Run three PostgreSQL servers with quorum commit, and promote a standby when the primary dies.

The watcher is a toy: it runs on the same machine as the servers and only notices dead processes. For a team,
run Patroni or a managed service. Recollect gets the same kind of URL, with all servers in it.
"""

from __future__ import annotations

import argparse
import signal
from pathlib import Path

from cluster import Cluster, cluster
from one_node import default_folder

_FIRST_PORT = 54331


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, default=default_folder("three-postgres"), help="folder for the data"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=_FIRST_PORT,
        help="port of the first server; the others get the next ports",
    )
    parser.add_argument("--stop", action="store_true", help="stop the servers that run in the folder")
    given = parser.parse_args()
    nodes = cluster(given.folder.absolute(), given.port)
    if given.stop:
        stopped = [name for name, node in nodes.nodes.items() if node.stop_from_outside()]
        print(f"Stopped: {', '.join(stopped)}." if stopped else f"No server runs in {given.folder}.")
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        nodes.start()
        print(
            f"""Ready: {nodes.url()}

  recollect --store '{nodes.url()}' remember "The kettle is in the left cupboard"
  recollect --store '{nodes.url()}' recall "Where is the kettle?"

Kill the primary and continue to write:
  {_kill_command(nodes)}

Ctrl-C stops all three; the data stays in {given.folder}.""",
            flush=True,
        )
        while True:
            dead = nodes.watch()
            print(f"{dead} died; {nodes.primary} is primary now.", flush=True)
            nodes.rejoin(dead)
            nodes.wait_for_standbys()
            print(f"{dead} is back as a standby. Again: {_kill_command(nodes)}", flush=True)
    except KeyboardInterrupt:
        print("\nStopping …", flush=True)
    finally:
        nodes.stop()


def _kill_command(nodes: Cluster) -> str:
    process = nodes.nodes[nodes.primary].process
    return "" if process is None else f"kill -9 {process.pid}   # {nodes.primary}"


if __name__ == "__main__":
    main()
