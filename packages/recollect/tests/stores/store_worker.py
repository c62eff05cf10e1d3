"""Processes that work on a store, to be run side by side or to be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from durable_world import (
    ALL,
    HERE,
    Ack,
    apply,
    before,
    entity,
    found_by_meaning,
    found_by_words,
    observe,
    thing,
    thing_name,
    vector_of,
    write_thing,
)
from night_world import dreamer
from watched_disk import record_disk

from recollect.domain.changes import Forget
from recollect.domain.errors import Conflict
from recollect.search.candidates import Search
from recollect.stores.sqlite.connection import prepare
from recollect.stores.sqlite.copying import restore_copy
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.vectors import cache as vector_cache
from recollect.stores.vectors import file as vector_file
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Say = Callable[[str], None]

SAFETY_SECONDS = 600
"""Longer than anything here takes: a process that hangs is killed, and its test fails."""
SHARED_FROM = 16
"""The number of vectors from which processes share a file, low enough for small stores."""


# Roles. Each reports through `say` what it has done, at once.


def write(say: Say, path: str, prefix: str, start: int) -> None:
    """Write one entity after another until killed."""
    with _store(path) as store:
        for number in count(start):
            name = thing_name(prefix, number)
            write_thing(store, name, before(name), lambda ack: say(" ".join(ack)), key=name)


def write_in_bulk(say: Say, path: str, prefix: str, size: int) -> None:
    """Write many entities in one transaction, as an import does, until killed."""
    with _store(path) as store:
        for batch in count():
            names = [thing_name(prefix, number) for number in range(batch * size, (batch + 1) * size)]
            apply(store, *(change for name in names for change in thing(name, before(name))))
            say(str((batch + 1) * size))


def scribble(say: Say, path: str) -> None:
    """Write entities without relations until killed."""
    with _store(path) as store:
        for number in count():
            apply(store, entity(f"scribble {number}"))
            say(str(number))


def create(say: Say, path: str) -> None:
    with _store(path):
        say("open")


def back_up(say: Say, path: str, target: str) -> None:
    with _store(path) as store:
        store.backup(target)
    say("done")


def restore(say: Say, backup: str, path: str) -> None:
    restore_copy(Path(backup), Path(path), 10_000)
    say("done")


def search(say: Say, path: str, text: str) -> None:
    with _store(path) as store, store.read() as view:
        say(str(Search(view, ALL).by_meaning(vector_of(text), 1)[0].id))


def create_each(say: Say, *paths: str) -> None:
    """Create a store at each path, at the same moment as other processes."""
    for path in paths:
        _meet(say)
        Repository(SqliteStore(path)).close()
    say("done")


def migrate(say: Say, path: str, *steps: str) -> None:
    _meet(say)
    prepare(Path(path), 10_000, steps)
    say("done")


def add_to(say: Say, path: str, prefix: str, content: str, times: int) -> None:
    """Create the same entities as other processes at the same moment, each with its own observation."""
    with _store(path) as store:
        for number in range(times):
            _meet(say)
            receipt = apply(store, entity(thing_name(prefix, number), content))
            say("created" if receipt.outcomes[0].created else "merged")


def share(say: Say, path: str, folder: str, me: str, others: str, things: int) -> None:
    """Write and forget, and check each time that all acknowledged writes of all processes are there."""
    with _store(path) as store, (Path(folder) / me).open("ab", buffering=0) as acks:
        watches = [_Watch(Path(folder) / other) for other in others.split(",")]
        _meet(say)

        def acknowledged(ack: Ack) -> None:
            acks.write(f"{' '.join(ack)}\n".encode())
            _must_find(store, ack)

        looks = 0
        for number in range(things):
            name = thing_name(me, number)
            write_thing(store, name, before(name), acknowledged)
            apply(store, observe("meeting", f"{name} was here"))
            if number % 4 == 0:
                write_thing(store, f"no{name}", None, lambda _: None)
                apply(store, Forget(HERE, names=(f"no{name}",)))
                acknowledged(Ack("gone", f"no{name}"))
            for ack in (ack for watch in watches for ack in watch.newest()):
                _must_find(store, ack)
                looks += 1
        say(str(looks))


def dream(say: Say, path: str, holder: str, second: int) -> None:
    """Dream once at this second, and report each step and the id of the dream."""
    with dreamer(path, second, holder) as engine:
        done = engine.dream(gate=False, progress=lambda stage, _: say(f"stage {stage}"))
        say(f"dreamt {done.id}")


def dream_together(say: Say, path: str, holder: str, second: int) -> None:
    """Dream at the same moment as others, and wait halfway until all have tried."""
    with dreamer(path, second, holder) as engine:
        _meet(say)

        def hold_on(stage: int, _: int | None) -> None:
            if stage == 1:
                _meet(say)

        try:
            say(f"dreamt {engine.dream(gate=False, progress=hold_on).id}")
        except Conflict as error:
            say("ready")
            sys.stdin.readline()
            say(str(error))


_OF_ONE = (write, write_in_bulk, scribble, create, back_up, restore, search, dream)
_OF_SEVERAL = (create_each, migrate, add_to, share, dream_together)
ROLES: dict[str, Callable[..., None]] = {role.__name__: role for role in (*_OF_ONE, *_OF_SEVERAL)}


class _Watch:
    """Return what another process had acknowledged since the last call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def newest(self) -> list[Ack]:
        """Check only the last two, so that checking does not take longer than writing."""
        text = self._path.read_bytes()[self._read :] if self._path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        return [Ack(*line.split()) for line in whole.decode().splitlines()[-2:]]


def _must_find(store: Repository, ack: Ack) -> None:
    found = (found_by_words if ack.what == "thing" else found_by_meaning)(store, ack.name)
    if (found == ack.name) == (ack.what == "gone"):
        raise AssertionError(f"{ack} was acknowledged, and the search gives {found}")


def _store(path: str) -> closing[Repository]:
    return closing(Repository(SqliteStore(path, busy_ms=SAFETY_SECONDS * 1_000)))


def _meet(say: Say) -> None:
    """Wait for all processes."""
    say("ready")
    sys.stdin.readline()


# Side by side


class Team:
    """Processes with the same role, which wait for each other where the role says so."""

    def __init__(self, role: str, members: Sequence[Sequence[object]]) -> None:
        self._members = [_start([role, *map(str, arguments)]) for arguments in members]

    def meet(self) -> None:
        """Let all processes continue at the same moment."""
        assert self.hear() == ["ready"] * len(self._members)
        for member in self._members:
            _in(member).write("go\n")
            _in(member).flush()

    def hear(self) -> list[str]:
        """Return the next message of each process."""
        return [_out(member).readline().strip() for member in self._members]

    def end(self) -> list[int]:
        """Return the exit code of each process."""
        return [member.wait(SAFETY_SECONDS) for member in self._members]

    def kill(self) -> None:
        for member in self._members:
            member.kill()
            member.wait()
            _in(member).close()
            _out(member).close()


@contextmanager
def team(role: str, members: Sequence[Sequence[object]]) -> Iterator[Team]:
    together = Team(role, members)
    try:
        yield together
    finally:
        together.kill()


# Killing


@dataclass(frozen=True)
class Life:
    """Return the messages of a process before its end, and whether it was killed."""

    said: tuple[str, ...]
    killed: bool

    @property
    def acks(self) -> list[Ack]:
        return [Ack(*line.split()) for line in self.said]


class Workshop:
    """Starts processes in milliseconds: forked from one that has imported everything."""

    def __init__(self) -> None:
        self._process = _start(["workshop"])

    def run(
        self,
        role: str,
        *arguments: object,
        die_at: int | None = None,
        kill_after: int | None = None,
        delay: float = 0.0,
    ) -> Life:
        """Run a role until it ends itself at the n-th disk access, or is killed after n messages."""
        end = {"die_at": die_at, "kill_after": kill_after, "delay": delay}
        order = {"role": role, "arguments": arguments, **end}
        _in(self._process).write(json.dumps(order) + "\n")
        _in(self._process).flush()
        told = json.loads(_out(self._process).readline())
        assert told["status"] in {0, -signal.SIGKILL}, told
        return Life(tuple(told["said"]), told["status"] != 0)

    def close(self) -> None:
        _in(self._process).close()
        self._process.wait(SAFETY_SECONDS)
        _out(self._process).close()


def _workshop() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(out)
            _live(order, into)
        os.close(into)
        print(json.dumps(_watch_over(child, out, order)), flush=True)  # noqa: T201


def _live(order: dict[str, Any], into: int) -> None:
    status = 1
    try:
        signal.alarm(SAFETY_SECONDS)
        with _mortal(order["die_at"]):
            ROLES[order["role"]](lambda text: os.write(into, f"{text}\n".encode()), *order["arguments"])
        status = 0
    except BaseException:  # noqa: BLE001  # a fork must never return into its parent's code
        traceback.print_exc()
    finally:
        os._exit(status)


@contextmanager
def _mortal(die_at: int | None) -> Iterator[None]:
    if die_at is None:
        yield
        return
    touches = count(1)

    def touch(_: object) -> None:
        if next(touches) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def write_all(file: IO[bytes], data: memoryview) -> None:
        # The cache's file is not written by SQLite, and a long write may be split.
        half = len(data) // 2
        file.write(data[:half])
        touch(file)
        file.write(data[half:])

    vector_file._write_all = write_all
    with record_disk(touch):
        yield


def _watch_over(child: int, out: int, order: dict[str, Any]) -> dict[str, Any]:
    said = b""
    limit = order["kill_after"]
    while True:
        if limit is not None and said.count(b"\n") >= limit:
            time.sleep(order["delay"])
            os.kill(child, signal.SIGKILL)
            limit = None
        more = os.read(out, 65_536)
        if not more:
            break
        said += more
    os.close(out)
    _, status = os.waitpid(child, 0)
    return {
        "said": said[: said.rfind(b"\n") + 1].decode().splitlines(),
        "status": os.waitstatus_to_exitcode(status),
    }


def _start(arguments: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _in(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdin is not None
    return process.stdin


def _out(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def _main(role: str, *arguments: str) -> None:
    vector_cache.WORTH_SHARING = SHARED_FROM
    if role == "workshop":
        _workshop()
        return
    if hasattr(signal, "alarm"):
        signal.alarm(SAFETY_SECONDS)
    ROLES[role](
        lambda text: print(text, flush=True),  # noqa: T201
        *(int(argument) if argument.isdecimal() else argument for argument in arguments),
    )


if __name__ == "__main__":
    _main(*sys.argv[1:])
