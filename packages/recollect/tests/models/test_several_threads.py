"""Embedding several texts at once: threads, order and priority."""

from __future__ import annotations

import threading
from threading import Barrier, Event, Thread

import pytest
from conftest import PATIENCE_SECONDS

from recollect.models.packaged import TextThreads, usable_cores

TEXTS = ["a", "bbbb", "cc", "", "ddd"]


def test_several_texts_are_read_at_once_and_one_by_the_caller() -> None:
    both = Barrier(2, timeout=PATIENCE_SECONDS)
    # Read one after the other, the first would wait for the second until the barrier breaks.
    assert sorted(TextThreads(2).map(lambda _: both.wait(), ["a", "b"])) == [0, 1]
    assert TextThreads(4).map(lambda _: threading.get_ident(), ["a"]) == [threading.get_ident()]
    assert usable_cores() >= 1
    for most in (1, 2, 4, 9):
        assert TextThreads(most).map(str.upper, TEXTS) == ["A", "BBBB", "CC", "", "DDD"]


def test_where_no_thread_can_be_started_the_caller_reads_all_the_longest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    begun: list[str] = []
    TextThreads(2).map(begun.append, TEXTS)
    assert begun == ["bbbb", "ddd", "cc", "a", ""]
    assert TextThreads(4).map(str.upper, TEXTS) == ["A", "BBBB", "CC", "", "DDD"]


def test_while_somebody_asks_helpers_take_no_text() -> None:
    threads = TextThreads(4)
    with threads.given_way():
        readers = threads.map(lambda _: threading.get_ident(), TEXTS)
    assert set(readers) == {threading.get_ident()}


def test_a_helper_stops_once_somebody_asks() -> None:
    threads = TextThreads(2)
    mine = threading.get_ident()
    both, helper_left = Barrier(2, timeout=PATIENCE_SECONDS), Event()
    readers: list[int] = []

    def read(text: str) -> None:
        readers.append(threading.get_ident())
        if text == "both":
            both.wait()
        if threading.get_ident() != mine:
            asking.start()
            assert asked.wait(PATIENCE_SECONDS)
            helper_left.set()
        else:
            assert helper_left.wait(PATIENCE_SECONDS)

    asked, done = Event(), Event()

    def ask() -> None:
        with threads.given_way():
            asked.set()
            done.wait(PATIENCE_SECONDS)

    asking = Thread(target=ask)
    threads.map(read, ["both", "both", "c", "d", "e"])
    done.set()
    asking.join()
    assert len(readers) == 5
    assert sum(reader != mine for reader in readers) == 1


@pytest.mark.parametrize("reader", ["the caller", "a helper"])
def test_an_error_of_any_thread_reaches_the_caller(reader: str) -> None:
    mine = threading.get_ident()
    both = Barrier(2, timeout=PATIENCE_SECONDS)

    def read(_: str) -> None:
        both.wait()
        if (threading.get_ident() == mine) == (reader == "the caller"):
            raise ValueError(reader)

    with pytest.raises(ValueError, match=reader):
        TextThreads(2).map(read, ["a", "b"])


def test_no_thread_is_left_behind() -> None:
    both = Barrier(2, timeout=PATIENCE_SECONDS)
    helpers: list[Thread] = []

    def read(_: str) -> None:
        helpers.append(threading.current_thread())
        both.wait()

    TextThreads(2).map(read, ["a", "b"])
    helpers.remove(threading.current_thread())
    assert [helper.is_alive() for helper in helpers] == [False]
