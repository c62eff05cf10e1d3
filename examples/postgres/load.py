"""Write to and read from a store, then count the texts that were lost or written twice.

To watch a failover, run it with a store's URL and kill the primary meanwhile.
"""

from __future__ import annotations

import argparse
import secrets
import threading
import time
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import psycopg

import recollect
from recollect.stores.url import parse_store_url

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Load:
    """Writers, two per owner, and readers. Each opens the store by itself."""

    url: str
    writers: int = 8
    readers: int = 2
    acknowledged: dict[str, float] = field(default_factory=dict)
    """Acknowledged texts, with their times."""
    slowest: float = 0.0
    """Longest duration of a write, in seconds."""
    write_errors: list[str] = field(default_factory=list)
    reads: int = 0
    read_errors: list[str] = field(default_factory=list)
    crashes: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._end = threading.Event()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    @property
    def owners(self) -> list[str]:
        return [f"owner {number}" for number in range((self.writers + 1) // 2)]

    def start(self) -> Load:
        works = [(self._write, number) for number in range(self.writers)]
        works += [(self._read, number) for number in range(self.readers)]
        for work, number in works:
            thread = threading.Thread(target=self._run_until_stopped, args=(work, number), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def stop(self) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, count: int) -> None:
        """Wait until `count` more texts are acknowledged."""
        goal = len(self.acknowledged) + count
        while len(self.acknowledged) < goal and not self.crashes:
            time.sleep(0.01)

    def longest_gap(self, since: float = 0.0) -> float:
        """Return the longest time, in seconds, in which no text was acknowledged."""
        times = sorted(at for at in self.acknowledged.values() if at >= since)
        return max((after - before for before, after in pairwise(times)), default=0.0)

    def _run_until_stopped(self, work: Callable[[recollect.Engine, int], None], number: int) -> None:
        try:
            owner = self.owners[number // 2 % len(self.owners)]
            with recollect.open(self.url, owner=owner, model="none") as memory:
                while not self._end.is_set():
                    work(memory, number)
        except BaseException as error:  # noqa: BLE001  # the caller checks `crashes`
            self.crashes.append(error)

    def _write(self, memory: recollect.Engine, number: int) -> None:
        text = f"{secrets.token_hex(8)} by writer {number}"
        began = time.monotonic()
        try:
            memory.remember(text)
        except recollect.StoreUnavailable as error:
            self.write_errors.append(str(error))
            return
        now = time.monotonic()
        with self._lock:
            self.acknowledged[text] = now
            self.slowest = max(self.slowest, now - began)

    def _read(self, memory: recollect.Engine, number: int) -> None:
        try:
            memory.recall(f"writer {number}", limit=5)
        except recollect.StoreUnavailable as error:
            self.read_errors.append(str(error))
        with self._lock:
            self.reads += 1
        time.sleep(0.05)


@dataclass(frozen=True)
class Account:
    """Comparison of the store's texts with the acknowledged ones."""

    acknowledged: int
    lost: int
    """Acknowledged texts that are missing."""
    duplicates: int
    """Texts that were written once but are stored or counted twice."""
    unacknowledged: int
    """Stored texts whose caller got an error."""
    partial: int
    """Memories without their words in the index, or words without their memory."""
    wrong_counts: int
    """Scopes whose change number is not the number of their transactions."""


def account(load: Load) -> Account:
    location = parse_store_url(load.url)
    schema = location.schema
    with psycopg.connect(location.server) as connection:
        connection.execute("SELECT set_config('recollect.scopes', '*', true)")
        stored = connection.execute(f"SELECT text, 1 + duplicates FROM {schema}.memory").fetchall()
        partial = connection.execute(
            f"SELECT count(*) FROM {schema}.memory AS m FULL JOIN {schema}.document AS d "
            "ON d.scope_id = m.scope_id AND d.memory_id = m.id WHERE m.id IS NULL OR d.memory_id IS NULL"
        ).fetchone()
        apart = connection.execute(
            f"SELECT count(*) FROM {schema}.scope AS s WHERE change <> "
            f"(SELECT max(change) FROM {schema}.commit_mark AS c WHERE c.scope_id = s.id) OR change < 10000 "
            f"AND change <> (SELECT count(*) FROM {schema}.commit_mark AS c WHERE c.scope_id = s.id)"
        ).fetchone()
    counts: dict[str, int] = {}
    for text, count in stored:
        counts[text] = counts.get(text, 0) + count
    return Account(
        acknowledged=len(load.acknowledged),
        lost=sum(text not in counts for text in load.acknowledged),
        duplicates=sum(count > 1 for count in counts.values()),
        unacknowledged=sum(text not in load.acknowledged for text in counts),
        partial=partial[0] if partial else -1,
        wrong_counts=apart[0] if apart else -1,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="URL of an empty store: postgresql://…")
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    load = Load(given.url).start()
    time.sleep(given.seconds)
    load.stop()
    if load.crashes:
        raise SystemExit(str(load.crashes[0]))
    print(asdict(account(load)))
    print(f"longest time without a write: {load.longest_gap():.2f} s")
    print(f"failed writes: {len(load.write_errors)}; failed reads: {len(load.read_errors)} of {load.reads}")


if __name__ == "__main__":
    main()
