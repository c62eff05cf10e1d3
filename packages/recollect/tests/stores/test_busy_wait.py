"""Waiting for a lock: the longest waiter asks most often, and no wait is endless."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.stores.sqlite.connection import BusyWait, connect, pause_after, prepare


class Hands:
    """A clock that advances only in `sleep`."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)


@given(st.floats(0, 20), st.floats(0, 20))
def test_who_has_waited_longer_pauses_no_longer(one: float, other: float) -> None:
    assert pause_after(max(one, other)) <= pause_after(min(one, other))
    assert 0 < pause_after(one) <= 0.02


def test_who_has_waited_a_second_asks_ten_times_as_often_as_a_newcomer() -> None:
    hands = Hands()
    wait = BusyWait(10.0, lambda: hands.now, hands.sleep)
    asked = 0
    while wait(asked):
        asked += 1
    assert hands.now == pytest.approx(110.0)
    assert sum(pause for pause in hands.pauses if pause > 0.002) < 1.1
    # A new waiter asks at most 50 to 100 times in its first second, and later a thousand times or more.
    assert len(hands.pauses) > 9_000


def test_each_lock_is_waited_for_from_the_beginning_and_none_without_patience() -> None:
    hands = Hands()
    wait = BusyWait(10.0, lambda: hands.now, hands.sleep)
    assert wait(0)
    hands.now += 20
    assert not wait(1)
    assert wait(0)
    assert hands.pauses[-1] > 0.009
    hands = Hands()
    assert not BusyWait(0.0, lambda: hands.now, hands.sleep)(0)
    assert hands.pauses == []


def test_connections_wait_so(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    prepare(path, 60_000)
    first, second = (connect(path, 60_000, writes=True) for _ in range(2))
    hasty = connect(path, 0, writes=True)
    first.execute("BEGIN IMMEDIATE")
    with pytest.raises(apsw.BusyError):
        hasty.execute("BEGIN IMMEDIATE")
    waits = threading.Event()
    done = threading.Event()

    def write() -> None:
        waits.set()
        second.execute("BEGIN IMMEDIATE")
        second.execute("COMMIT")
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    waits.wait()
    assert not done.is_set()
    first.execute("COMMIT")
    thread.join()
    assert done.is_set()
    for connection in (first, second, hasty):
        connection.close()
