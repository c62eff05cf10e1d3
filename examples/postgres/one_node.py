"""Run one PostgreSQL server in a folder for Recollect. Ctrl-C stops it; the data stays."""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path

from nodes import Node

_PORT = 54329


def default_folder(name: str) -> Path:
    """Return the folder for the data. Under root, the server runs as "nobody" and cannot read /root."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib") / f"recollect-{name}"
    return Path.home() / ".local" / "share" / f"recollect-{name}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=default_folder("postgres"), help="folder for the data")
    parser.add_argument("--port", type=int, default=_PORT)
    parser.add_argument("--stop", action="store_true", help="stop the server that runs in the folder")
    given = parser.parse_args()
    node = Node(given.folder.absolute(), given.port)
    if given.stop:
        print("Stopped." if node.stop_from_outside() else f"No server runs in {node.folder}.")
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not node.data.exists():
        print(f"Creating a server in {node.folder} …", flush=True)
        node.create()
    try:
        node.start().createdb("recollect")
        print(
            f"""Ready: {node.url("recollect")}

  recollect --store {node.url("recollect")} remember "The kettle is in the left cupboard"
  recollect --store {node.url("recollect")} recall "Where is the kettle?"

Ctrl-C stops it; the data stays in {node.folder}.""",
            flush=True,
        )
        if node.process is not None:
            node.process.wait()
    except KeyboardInterrupt:
        print("\nStopping …", flush=True)
    finally:
        node.stop()


if __name__ == "__main__":
    main()
