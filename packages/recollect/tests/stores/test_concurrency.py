"""Many processes with one store: no write is lost, none is locked out, none reads stale data."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from durable_world import (
    AT,
    HERE,
    Ack,
    apply,
    assert_whole,
    before,
    entities,
    entity,
    found_by_meaning,
    found_by_words,
    read_acks,
    thing_name,
    write_thing,
)
from store_worker import team

from recollect.domain.changes import AddObservations, NewObservation
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("real_stores")

PROCESSES = 6
THINGS = 24


def test_six_processes_write_and_read_and_nothing_is_lost_locked_out_or_stale(tmp_path: Path) -> None:
    path, folder = tmp_path / "store.db", tmp_path / "acks"
    folder.mkdir()
    store = Repository(SqliteStore(path))
    apply(store, entity("meeting"))
    store.close()
    everyone = [f"w{number}" for number in range(PROCESSES)]
    members = [
        (path, folder, me, ",".join(other for other in everyone if other != me), THINGS) for me in everyone
    ]
    with team("share", members) as together:
        together.meet()
        looks = together.hear()
        # A process that was locked out, or did not find an acknowledged write, ends with an error.
        assert together.end() == [0] * PROCESSES
    acks = [ack for me in everyone for ack in read_acks(folder / me)]
    # Two for each entity, and one more for each fourth, when one is forgotten.
    assert len(acks) == PROCESSES * (THINGS * 2 + THINGS // 4)
    # The checks count only if the processes ran at the same time.
    assert sum(map(int, looks)) > 0
    present = assert_whole(path, acks)
    assert {seen.content for seen in present["meeting"].in_force} == {
        f"{thing_name(me, number)} was here" for me in everyone for number in range(THINGS)
    }


def test_five_processes_create_the_same_file_at_the_same_moment(tmp_path: Path) -> None:
    paths = [tmp_path / f"store{number}.db" for number in range(4)]
    with team("create_each", [paths] * 5) as together:
        for _ in paths:
            together.meet()
        assert together.hear() == ["done"] * 5
        assert together.end() == [0] * 5
    for path in paths:
        assert_whole(path)


def test_two_processes_that_create_the_same_entity_make_one_with_both_observations(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Repository(SqliteStore(path)).close()
    rounds = 10
    with team("add_to", [(path, "same", content, rounds) for content in ("left", "right")]) as together:
        for _ in range(rounds):
            together.meet()
            assert sorted(together.hear()) == ["created", "merged"]
        assert together.end() == [0, 0]
    present = assert_whole(path)
    assert {name: {seen.content for seen in memory.in_force} for name, memory in present.items()} == {
        thing_name("same", number): {"left", "right"} for number in range(rounds)
    }


def test_threads_share_one_store(tmp_path: Path) -> None:
    store = Repository(SqliteStore(tmp_path / "store.db"))
    apply(store, entity("meeting"))
    acks: list[Ack] = []
    missed: list[object] = []

    def work(me: str) -> None:
        def acknowledged(ack: Ack) -> None:
            acks.append(ack)
            other = acks[len(acks) // 2]
            for seen in (ack, other):
                found = (found_by_words if seen.what == "thing" else found_by_meaning)(store, seen.name)
                if found != seen.name:
                    missed.append((seen, found))

        try:
            for number in range(20):
                name = thing_name(me, number)
                write_thing(store, name, before(name), acknowledged)
                store.apply([AddObservations(HERE, "meeting", (NewObservation(f"{name} was here"),))], at=AT)
        except BaseException as error:  # noqa: BLE001  # a thread's failure must reach the test
            missed.append(error)

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missed == []
    assert len(acks) == 6 * 20 * 2
    assert len(entities(store)["meeting"].in_force) == 6 * 20
    store.close()
    assert_whole(tmp_path / "store.db", acks)


def test_another_program_that_looks_into_the_file_takes_no_write_away(tmp_path: Path) -> None:
    # Opening a store a second time in one process once released the locks of the first. An older SQLite then
    # took the log for abandoned, and deleted it under the open store.
    path = tmp_path / "store.db"
    first = Repository(SqliteStore(path))
    apply(first, entity("an0"))
    second = Repository(SqliteStore(path))
    look = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM memory'); c.close()"
    )
    subprocess.run([sys.executable, "-c", look, path], check=True)
    apply(first, entity("an1"))
    apply(second, entity("an2"))
    count = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute('SELECT name FROM memory'))"
    seen = subprocess.run([sys.executable, "-c", count, path], check=True, capture_output=True, text=True)
    assert seen.stdout.split() == ["('an0',)", "('an1',)", "('an2',)"]
    second.close()
    first.close()
    assert set(assert_whole(path)) == {"an0", "an1", "an2"}
