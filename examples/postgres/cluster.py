"""Three PostgreSQL servers on this machine: a primary and two standbys, one of which confirms every commit.

This is a toy. Patroni or a managed service also choose a primary if the network fails and not a server.
It shows what Recollect needs: the addresses of all servers in one URL.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
from nodes import Node, free_port

_NAMES = ("node1", "node2", "node3")
_DATABASE = "recollect"
_LOOK_SECONDS = 0.1


@dataclass
class Cluster:
    """Servers by name; in a new cluster the first one is the primary."""

    nodes: dict[str, Node]
    primary: str = _NAMES[0]

    def url(self) -> str:
        """Return a URL with all servers; a client connects to the one that accepts writes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes.values())
        return f"postgresql://postgres@{hosts}/{_DATABASE}?target_session_attrs=read-write"

    @property
    def standbys(self) -> list[str]:
        return [name for name in self.nodes if name != self.primary]

    def start(self) -> Cluster:
        """Start all servers; create those that do not exist."""
        kept = {name for name, node in self.nodes.items() if node.data.exists()}
        if not kept:
            self.nodes[self.primary].create()
        else:
            # The server that was promoted last has no standby.signal.
            self.primary = next(
                name for name in self.nodes
                if name in kept and not (self.nodes[name].data / "standby.signal").exists()
            )  # fmt: skip
        primary = self.nodes[self.primary].start()
        for name in self.standbys:
            standby = self.nodes[name]
            (standby if name in kept else standby.copy_of(primary)).start()
        self.wait_for_standbys()
        primary.createdb(_DATABASE)
        return self

    def wait_for_standbys(self, at_least: int = 2) -> None:
        """Wait until this many standbys follow the primary."""
        while True:
            with psycopg.connect(self.nodes[self.primary].url()) as connection:
                row = connection.execute(
                    "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
                ).fetchone()
            if row is not None and row[0] >= at_least:
                return
            time.sleep(_LOOK_SECONDS)

    def primary_is_dead(self) -> bool:
        process = self.nodes[self.primary].process
        return process is None or process.poll() is not None

    def fail_over(self) -> str:
        """Promote the standby that has received the most data, and return its name.

        A commit is acknowledged once one standby has it, so both standbys must be asked. With one of them
        unreachable, acknowledged commits could be missing from the other.
        """
        had = {name: _received(self.nodes[name]) for name in self.standbys}
        chosen = max(had, key=lambda name: had[name])
        self.nodes[chosen].promote()
        self.primary = chosen
        return chosen

    def rejoin(self, name: str) -> None:
        """Restart a dead server as a standby with a fresh copy; it loses only unacknowledged commits."""
        self.nodes[name].copy_of(self.nodes[self.primary]).start()

    def watch(self) -> str:
        """Wait until the primary dies, promote a standby, and return the name of the dead server."""
        while not self.primary_is_dead():
            time.sleep(_LOOK_SECONDS)
        dead = self.primary
        self.fail_over()
        return dead

    def stop(self) -> None:
        for name in (self.primary, *self.standbys):
            self.nodes[name].stop()

    def kill(self) -> None:
        for node in self.nodes.values():
            node.kill()


def cluster(folder: Path, first_port: int | None = None, settings: dict[str, str] | None = None) -> Cluster:
    """Return a cluster of three servers in a folder, not started yet."""
    ports = {
        name: free_port() if first_port is None else first_port + place for place, name in enumerate(_NAMES)
    }
    more = settings or {}
    return Cluster(
        {name: Node(folder / name, ports[name], {**_settings(name, ports), **more}) for name in ports}
    )


def _settings(name: str, ports: dict[str, int]) -> dict[str, str]:
    others = [str(port) for other, port in ports.items() if other != name]
    return {
        "cluster_name": name,
        # Before a commit is acknowledged, one of the two standbys has it on its disk.
        "synchronous_standby_names": f"ANY 1 ({', '.join(ports)})",
        "synchronous_commit": "on",
        # A standby follows the current primary, and finds a new one soon after a failover.
        "primary_conninfo": f"host={','.join('127.0.0.1' for _ in others)} port={','.join(others)} "
        f"user=postgres application_name={name} target_session_attrs=primary connect_timeout=2",
        "wal_retrieve_retry_interval": "100ms",
        "recovery_target_timeline": "latest",
        "hot_standby": "on",
        "wal_keep_size": "512MB",
        "max_connections": "200",
        "shared_buffers": "64MB",
    }


def _received(standby: Node) -> int:
    with psycopg.connect(standby.url()) as connection:
        row = connection.execute(
            "SELECT greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0'::pg_lsn"
        ).fetchone()
    return int(row[0]) if row is not None else 0
