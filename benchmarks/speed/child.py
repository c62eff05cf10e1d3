"""One of several processes on a store: it opens the store, reports that, waits for the start, and measures.

python child.py first STORE             time to open and to the first answer
python child.py call STORE WHAT N S P   N threads recall, remember or add by hand for S s; P is its number
python child.py lock STORE              how long other processes held the write lock, until its input ends
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw
from by_hand import ByHand
from sentences import Sentences
from stand_in import opened, settle, stand_in
from timing import Way, milliseconds, timed

_QUESTIONS = 200
_LOOK_EVERY = 0.0005
_TOLD = " So asked "


def first_answer(store: Path | str) -> dict[str, float]:
    """Measure opening and the first answer, after an answer from another store: so imports do not count."""
    question = Sentences().queries(1)[0]
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "other.db") as other:
        other.remember("The keys are in the drawer.")
        other.recall(question)
    before = stand_in().cpu, stand_in().wall
    with timed() as opening:
        engine = opened(store)
    with timed() as first:
        engine.recall(question, record=False)
    with timed() as second:
        engine.recall(question, record=False)
    aside = stand_in().cpu - before[0], stand_in().wall - before[1]
    engine.close()
    return {
        "open_cpu_ms": milliseconds(opening.cpu),
        "open_wall_ms": milliseconds(opening.wall),
        "answer_cpu_ms": milliseconds(opening.cpu + first.cpu - aside[0] / 2),
        "answer_wall_ms": milliseconds(opening.wall + first.wall - aside[1] / 2),
        "second_cpu_ms": milliseconds(second.cpu - aside[0] / 2),
        "peak_mb": _peak_mb(),
    }


def _peak_mb() -> int:
    """Return the peak memory of this process. `getrusage` would include the process that started it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM:"))
    return int(peak.split()[1]) // 1024


def calling(store: Path | str, what: str, threads: int, seconds: float, part: int) -> dict[str, object]:
    """Call in threads. `by hand` writes to the hand-made store, `remember apart` to a scope of its own."""
    questions = Sentences().queries(_QUESTIONS)
    if what == "by hand":
        hand = ByHand(Path(store))
        told = _called(
            lambda text: hand.add([text], stand_in().documents([text])), questions, 1, seconds, part
        )
        hand.close()
        return told
    with opened(store) as shared:
        engine = shared.scoped(f"client {part}") if what == "remember apart" else shared
        engine.recall(questions[0])
        settle(engine)
        call: Way = (lambda text: engine.recall(_asked(text))) if what == "recall" else engine.remember
        return _called(call, questions, threads, seconds, part, partial(settle, engine))


def _called(
    call: Way,
    questions: list[str],
    threads: int,
    seconds: float,
    part: int,
    settle_: Callable[[], object] = lambda: None,
) -> dict[str, object]:
    print("ready", flush=True)
    sys.stdin.readline()
    waits: list[list[float]] = [[] for _ in range(threads)]
    until = time.perf_counter() + seconds
    each = [
        threading.Thread(target=_call, args=(call, questions, part * 100 + place, until, waits[place]))
        for place in range(threads)
    ]
    with timed() as whole:
        for thread in each:
            thread.start()
        for thread in each:
            thread.join()
        settle_()
    return {
        "waits": [round(wait, 6) for own in waits for wait in own],
        "cpu": whole.cpu,
        "wall": whole.wall,
    }


def _asked(text: str) -> str:
    """Return the question in a text."""
    return text.partition(_TOLD)[0]


def _call(call: Way, questions: list[str], part: int, until: float, waits: list[float]) -> None:
    """Yield texts that all differ, so that none is stored as a duplicate."""
    turn = 0
    while time.perf_counter() < until:
        text = f"{questions[(turn + 7 * part) % len(questions)]}{_TOLD}{part} in turn {turn}."
        start = time.perf_counter()
        call(text)
        waits.append(time.perf_counter() - start)
        turn += 1


def watching_lock(store: Path) -> dict[str, float]:
    """Try to begin writes repeatedly: from a refusal to the next success, another process held the lock."""
    connection = apsw.Connection(str(store))
    connection.set_busy_timeout(0)
    ended = threading.Event()
    threading.Thread(target=_until_told, args=(ended,), daemon=True).start()
    print("ready", flush=True)
    holds: list[float] = []
    since: float | None = None
    while not ended.is_set():
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            if since is not None:
                holds.append(time.perf_counter() - since)
            since = None
        except apsw.BusyError:
            since = time.perf_counter() if since is None else since
        time.sleep(_LOOK_EVERY)
    connection.close()
    return {
        "longest_hold_ms": milliseconds(max(holds, default=0.0)),
        "holds": len(holds),
        "held_ms": milliseconds(sum(holds)),
    }


def _until_told(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


def _place(store: str) -> Path | str:
    return store if "://" in store else Path(store)


def main() -> None:
    task, store, *rest = sys.argv[1:]
    match task:
        case "first":
            result: object = first_answer(_place(store))
        case "call":
            what, threads, seconds, part = rest
            result = calling(_place(store), what, int(threads), float(seconds), int(part))
        case _:
            result = watching_lock(Path(store))
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
