"""A silent server, or one without disk space: the caller gets a clear error in time."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest
from conftest import PATIENCE_SECONDS, FixedClock, engine_of
from load import Load, account
from nodes import Node

from recollect.domain.errors import StoreUnavailable
from recollect.stores.url import parse_store_url
from recollect.write.repository import Repository
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_QUICK = {"fsync": "off", "shared_buffers": "16MB"}
_IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(mkdtemp(prefix="recollect-silence-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _opened(url: str, busy_seconds: float) -> Repository:
    return Repository(PostgresStore(parse_store_url(url), busy_seconds=busy_seconds))


def _error_of(work: Callable[[], object]) -> str:
    """Return the error message; a hang fails the test."""
    with ThreadPoolExecutor(1) as thread:
        error = thread.submit(work).exception(PATIENCE_SECONDS)
    assert isinstance(error, StoreUnavailable), error
    return str(error)


# A stopped process accepts connections and never answers, as if the network were cut.


def _tells_of_silence(said: str) -> bool:
    return "cannot be reached" in said or "does not answer" in said


def test_a_silent_server_is_an_error_for_writers_readers_and_who_opens_it() -> None:
    with _folder() as folder:
        node = Node(folder, settings=_QUICK).create().start()
        try:
            with (
                closing(_opened(node.url(), busy_seconds=PATIENCE_SECONDS)) as patient,
                closing(_opened(node.url(), busy_seconds=2)) as store,
            ):
                engine_of(patient, FixedClock(), model="none").remember("Said while it listened")
                engine = engine_of(store, FixedClock(), model="none")
                with store.read() as view:
                    node.signal_all(signal.SIGSTOP)
                    assert _tells_of_silence(_error_of(lambda: view.count("memory")))
                assert _tells_of_silence(_error_of(lambda: engine.remember("Said to nobody")))
                assert _tells_of_silence(_error_of(store.version))
                assert _tells_of_silence(_error_of(lambda: _opened(node.url(), busy_seconds=2)))
                node.signal_all(signal.SIGCONT)
                engine_of(patient, FixedClock(), model="none").remember("Said when it listened again")
                assert store.version() == patient.version()
            load = Load(
                node.url(), acknowledged=_all("Said while it listened", "Said when it listened again")
            )
            after = account(load)
            assert (after.lost, after.duplicates, after.partial) == (0, 0, 0)
        finally:
            node.kill()


def _all(*texts: str) -> dict[str, float]:
    return dict.fromkeys(texts, 0.0)


_WRITE_ON = """
import sys, recollect
memory = recollect.open(sys.argv[1], model="none")
for text in sys.stdin:
    try:
        memory.remember(text.strip())
        print("kept", flush=True)
    except recollect.StoreUnavailable as error:
        print(f"error: {error}", flush=True)
"""


@contextmanager
def _network() -> Iterator[tuple[str, str, str]]:
    """A network namespace connected to this machine: its name, our interface, and our address."""
    if not _IS_ROOT or shutil.which("ip") is None:
        pytest.skip("a network namespace needs root and iproute2")
    name = f"rc{secrets.token_hex(3)}"
    ours, theirs, address = (
        f"{name}a",
        f"{name}b",
        f"10.{secrets.randbelow(200) + 20}.{secrets.randbelow(250)}",
    )
    steps = [
        f"ip netns add {name}",
        f"ip link add {ours} type veth peer name {theirs} netns {name}",
        f"ip addr add {address}.1/24 dev {ours}",
        f"ip link set {ours} up",
        f"ip -n {name} addr add {address}.2/24 dev {theirs}",
        f"ip -n {name} link set {theirs} up",
    ]
    try:
        for step in steps:
            done = subprocess.run(step.split(), capture_output=True, text=True, check=False)
            if done.returncode:
                pytest.skip(f"no network namespace can be made here: {done.stderr.strip()}")
        yield name, ours, f"{address}.1"
    finally:
        subprocess.run(["ip", "link", "del", ours], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def test_a_cut_network_is_an_error_and_a_mended_one_is_used_again() -> None:
    with _network() as (namespace, cable, address), _folder() as folder:
        node = Node(folder, settings={**_QUICK, "listen_addresses": f"127.0.0.1,{address}"}).create()
        with (node.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {address}/24 trust\n")
        node.start()
        url = node.url().replace("127.0.0.1", address)
        client = subprocess.Popen(
            ["ip", "netns", "exec", namespace, sys.executable, "-c", _WRITE_ON, url],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "RECOLLECT_BUSY_SECONDS": "5"},
        )  # fmt: skip

        def write(text: str) -> str:
            assert client.stdin is not None
            assert client.stdout is not None
            client.stdin.write(f"{text}\n")
            client.stdin.flush()
            return client.stdout.readline().strip()

        try:
            assert write("Before the cut") == "kept"
            subprocess.run(["ip", "link", "set", cable, "down"], check=True)
            assert write("During the cut").startswith("error: ")
            subprocess.run(["ip", "link", "set", cable, "up"], check=True)
            assert write("After the cut") == "kept"
            after = account(Load(node.url(), acknowledged=_all("Before the cut", "After the cut")))
            assert (after.lost, after.duplicates, after.partial) == (0, 0, 0)
        finally:
            client.kill()
            client.communicate()
            node.kill()


@contextmanager
def _small_disk(path: Path, megabytes: int) -> Iterator[None]:
    path.mkdir()
    if not _IS_ROOT:
        pytest.skip("mounting a small disk needs root")
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(path)]
    done = subprocess.run(mounting, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        shutil.chown(path, "nobody", "nogroup")
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def test_a_full_disk_refuses_the_write_whole_and_takes_it_when_there_is_room() -> None:
    with _folder() as folder, _small_disk(folder / "data", 120):
        # The log is on another disk: a server without space for its log stops.
        node = Node(folder, settings=_QUICK, wal=folder / "wal").create().start()
        try:
            with closing(_opened(node.url(), busy_seconds=PATIENCE_SECONDS)) as store:
                engine = engine_of(store, FixedClock(), model="none")
                kept = [engine.remember("There is room").text]
                filler = node.data / "filler"
                free = shutil.disk_usage(node.data).free
                filler.write_bytes(bytes(free - 300_000))
                refused = None
                while refused is None:
                    text = secrets.token_hex(20_000)
                    try:
                        engine.remember(text)
                        kept.append(text)
                    except StoreUnavailable as error:
                        refused = str(error)
                assert "no space left" in refused
                assert "Nothing was written" in refused
                load = Load(node.url(), acknowledged=_all(*kept))
                full = account(load)
                assert (full.lost, full.partial, full.unacknowledged) == (0, 0, 0)
                filler.unlink()
                engine.remember(text)
                load.acknowledged[text] = 0.0
                after = account(load)
                assert (after.lost, after.duplicates, after.partial, after.unacknowledged) == (0, 0, 0, 0)
        finally:
            node.kill()
