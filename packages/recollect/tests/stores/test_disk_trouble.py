"""A full disk, a read-only folder, a locked file: clear errors, and no loss."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from textwrap import dedent

import pytest
from conftest import PATIENCE_SECONDS
from durable_world import (
    AT,
    apply,
    assert_whole,
    entities,
    entity,
    found_by_meaning,
    thing_name,
    write_things,
)
from store_worker import SHARED_FROM

from recollect.domain.errors import StoreUnavailable
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.vectors import cache as vector_cache
from recollect.write.repository import Repository

pytestmark = pytest.mark.usefixtures("real_stores")

LONG = "x" * 2_000_000


@pytest.fixture(autouse=True)
def shared_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", SHARED_FROM)


# Full


def test_a_full_file_refuses_the_write_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    file = SqliteStore(path)
    with closing(Repository(file)) as store:
        acks = write_things(store, "a", 0, 5)
        pages = file._writer.pragma("page_count")
        file._writer.pragma("max_page_count", pages)
        with pytest.raises(StoreUnavailable, match=r"no space left.*Nothing was written"):
            apply(store, entity("too much", LONG))
        # `keep_going` does not continue either.
        with pytest.raises(StoreUnavailable, match=r"no space left.*Nothing was written"):
            store.apply([entity("small", "fits"), entity("too much", LONG)], at=AT, keep_going=True)
        assert store.verify() == []
        assert set(entities(store)) == {thing_name("a", number) for number in range(5)}
        file._writer.pragma("max_page_count", 1_000_000)
        apply(store, entity("too much", LONG))
        acks += write_things(store, "b", 0, 5)
        assert "too much" in entities(store)
    assert_whole(path, acks)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no file's size")
def test_a_limit_that_the_system_sets_refuses_the_write_and_keeps_the_rest(tmp_path: Path) -> None:
    # The system does not let any file grow: writes fail half way, as on a failing disk.
    path = tmp_path / "store.db"
    with closing(Repository(SqliteStore(path))) as store:
        acks = write_things(store, "a", 0, 5)
    said = _run(
        """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        store = Repository(SqliteStore(path))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
        attempt(lambda: apply(store, entity("too much", "x" * 2_000_000)))
        attempt(lambda: store.backup(path + "-copy"))
        print(store.verify(), len(entities(store)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        attempt(lambda: apply(store, entity("an0", "is late")))
        print(store.verify(), len(entities(store)))
        store.close()
        """,
        path,
    )
    assert said[0].startswith("StoreUnavailable")
    assert said[1:] == ["fine", "[] 5", "fine", "[] 5"]
    present = assert_whole(path, acks)
    assert "is late" in {seen.content for seen in present["an0"].in_force}


@pytest.mark.skipif(sys.platform != "linux", reason="needs a mount of its own")
def test_a_full_disk_refuses_writes_and_backups_and_keeps_the_rest(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=16m tmpfs {disk}"
    _need("unshare", "-m", "sh", "-c", mount)
    said = _run(
        """
        from pathlib import Path
        store = Repository(SqliteStore(path))
        acks = write_things(store, "a", 0, 20)
        stuffing = Path(path).with_name("stuffing")
        with stuffing.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(65_536))
            except OSError:
                pass
        attempt(lambda: apply(store, entity("too much", "x" * 200_000)))
        attempt(lambda: store.backup(path + "-copy"))
        attempt(lambda: SqliteStore(path + "-other").close())
        store.store._cache.clear()
        # The cache has no room for its file, and does without.
        print(found_by_meaning(store, thing_name("a", 7)), store.store.cache_trouble is not None)
        print(store.verify(), lost_writes(store, acks), len(entities(store)))
        print([file.name for file in Path(path).parent.iterdir() if ".part" in file.name])
        store.close()
        store = Repository(SqliteStore(path))
        print(store.verify(), lost_writes(store, acks), len(entities(store)))
        stuffing.unlink()
        attempt(lambda: apply(store, entity("too much", "x" * 200_000)))
        attempt(lambda: store.backup(path + "-copy"))
        acks += write_things(store, "b", 0, 5)
        print(store.verify(), lost_writes(store, acks), len(entities(store)))
        store.close()
        """,
        disk / "store.db",
        before=("unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"),
    )
    assert "no space left" in said[0]
    assert said[1].startswith("StoreUnavailable")
    assert said[2].startswith("StoreUnavailable")
    assert said[3:] == [
        f"{thing_name('a', 7)} True",
        "[] [] 20",
        "[]",
        "[] [] 20",
        "fine",
        "fine",
        "[] [] 26",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no number of files")
def test_a_program_that_may_open_no_more_files_is_told_so_and_what_it_wrote_is_acknowledged(
    tmp_path: Path,
) -> None:
    said = _run(
        """
        import os, resource
        import recollect
        memory = recollect.open(path, model="hashing")
        memory.remember("The kettle stands on the stove")
        memory.recall("kettle", record=False)
        # Every connection that reads is a file that is open already; a new one would be one too many.
        while not memory._services.store.store._readers.empty():
            memory._services.store.store._readers.get_nowait().close()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        taken = [os.open(os.devnull, os.O_RDONLY)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[0] + 1, hard))
        batch = memory.remember_many(["The pan hangs on the wall"])
        print(batch.notes[0].id, batch.note)
        attempt(lambda: memory.recall("kettle"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        print(len(memory.recall("pan", record=False).hits) > 0, memory.counts().notes)
        """,
        tmp_path / "memory.db",
    )
    assert said[0].startswith("2 It is stored, but a later step failed: ")
    assert "has too many open files" in said[0]
    assert "Nothing was written" not in said[0]
    assert said[1].startswith("StoreUnavailable")
    assert "has too many open files" in said[1]
    assert said[2] == "True 2"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no number of files")
@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_store_that_too_few_files_are_left_for_says_so_at_its_opening(tmp_path: Path, left: int) -> None:
    (said,) = _run(
        f"""
        import os, resource
        SqliteStore(path).close()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        next_one = os.open(os.devnull, os.O_RDONLY)
        os.close(next_one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_one + {left}, hard))
        attempt(lambda: SqliteStore(path))
        """,
        tmp_path / "memory.db",
    )
    assert said.startswith("StoreUnavailable")
    assert "has too many open files" in said


# Read-only


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
@pytest.mark.parametrize("what", ["folder", "file", "both"])
def test_what_may_not_be_written_can_be_read_or_says_so(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "store.db"
    with closing(Repository(SqliteStore(path))) as store:
        acks = write_things(store, "a", 0, 5)
    modes = {"folder": (0o555, 0o666), "file": (0o777, 0o444), "both": (0o555, 0o444)}
    _let_in(tmp_path)
    folder.chmod(modes[what][0])
    path.chmod(modes[what][1])
    before = path.read_bytes()
    said = _run(
        """
        become_nobody()
        store = Repository(SqliteStore(path))
        print(len(entities(store)), found_by_words(store, thing_name("a", 3)), store.read_only)
        store.close()
        attempt(lambda: apply(Repository(SqliteStore(path)), entity("cat")))
        attempt(lambda: SqliteStore(path + "-new"))
        """,
        path,
    )
    folder.chmod(0o777)
    path.chmod(0o666)
    assert said[0] == f"5 {thing_name('a', 3)} True"
    assert said[1].startswith("StoreUnavailable")
    denied = folder if what == "folder" else path
    assert f"may not write the {'folder' if what == 'folder' else 'file'} {denied} (owner " in said[1]
    assert what == "file" or f"may not write the folder {folder} (owner " in said[2]
    assert path.read_bytes() == before
    assert_whole(path, acks)
    with closing(Repository(SqliteStore(path))) as store:
        apply(store, entity("cat"))


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="needs two users")
def test_a_reader_without_the_right_to_write_sees_what_another_user_writes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(Repository(SqliteStore(path))) as store:
        write_things(store, "a", 0, 5)
        _let_in(tmp_path)
        for file in (path, *tmp_path.glob("store.db-*")):
            file.chmod(0o644)
        # The sixth is only in the log, which the reader may not write to either.
        apply(store, entity("sixth"))
        said = _run("become_nobody()\nprint(len(entities(Repository(SqliteStore(path)))))", path)
        assert said == ["6"]
    # Without a log, the file is read without locks; a change during the read is noticed.
    said = _run(
        """
        import os
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(writer)  # so that the child does not wait for a parent that failed
            os.read(reader, 1)
            store = Repository(SqliteStore(path))
            write_things(store, "b", 0, 5)
            store.close()
            os._exit(0)
        become_nobody()
        store = SqliteStore(path)
        def read():
            with store.read() as snapshot:
                before = snapshot.count("memory")[None]
                os.write(writer, b"1")
                os.wait()
                return before
        try:
            read()
        except Exception as error:
            print(error, error.ask_again)
        with store.read() as snapshot:
            print(snapshot.count("memory")[None])
        """,
        path,
    )
    assert said == [f"{path} was changed while it was read; try again. True", "11"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_folder_that_may_not_be_entered_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "store.db"
    Repository(SqliteStore(path)).close()
    _let_in(tmp_path)
    folder.chmod(0o700 if os.getuid() == 0 else 0o000)
    try:
        said = _run("become_nobody()\nattempt(lambda: SqliteStore(path))", path)
    finally:
        folder.chmod(0o777)
    assert said[0].startswith("StoreUnavailable")
    assert "may not enter the folder" in said[0]
    assert str(path) in said[0]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a mount of its own")
def test_a_store_on_a_read_only_disk_can_be_read_and_says_what_it_cannot(tmp_path: Path) -> None:
    path = tmp_path / "disk" / "store.db"
    path.parent.mkdir()
    with closing(Repository(SqliteStore(path))) as store:
        acks = write_things(store, "a", 0, 5)
    before = _folder(path.parent)
    said = _on_read_only_disk(
        path,
        """
        import recollect
        from recollect.admin import Internals
        from recollect.transfer.moved_rows import exporting
        store = Repository(SqliteStore(path))
        third = thing_name("a", 3)
        print(len(entities(store)), found_by_words(store, third), found_by_meaning(store, third))
        print(store.verify(), store.read_only)
        attempt(lambda: store.backup(sys.argv[1] + "-copy"))
        attempt(lambda: apply(store, entity("late")))
        store.close()
        with recollect.open(path, model="none") as memory:
            # Asking leaves no trace, and says nothing about it.
            print([hit.memory.name for hit in memory.recall(thing_name("a", 3), limit=1).hits])
            with exporting(memory) as export:
                print(len(list(export.memories())), Internals(memory).unrecorded_answers())
        attempt(lambda: SqliteStore(path + "-new"))
        """,
    )
    assert said[:2] == [f"5 {thing_name('a', 3)} {thing_name('a', 3)}", "[] True"]
    assert all(line.startswith("StoreUnavailable") and "written" in line for line in (*said[2:4], said[6]))
    assert said[4:6] == [f"['{thing_name('a', 3)}']", "5 (0, None)"]
    assert _folder(path.parent) == before
    assert_whole(path, acks)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a mount of its own")
@pytest.mark.parametrize("with_index", [True, False])
def test_a_store_that_was_killed_before_its_disk_became_read_only_is_read_whole_or_not_at_all(
    tmp_path: Path, with_index: bool
) -> None:
    path = tmp_path / "disk" / "store.db"
    path.parent.mkdir()
    _run(
        """
        import os
        store = Repository(SqliteStore(path))
        write_things(store, "a", 0, 5)
        os._exit(0)
        """,
        path,
    )
    if not with_index:
        path.with_name("store.db-shm").unlink()
    said = _on_read_only_disk(path, "attempt(lambda: print(len(entities(Repository(SqliteStore(path))))))")
    if with_index:
        assert said == ["5", "fine"]
    else:
        assert said[0].startswith("StoreUnavailable")
        assert "not closed properly" in said[0]


def _on_read_only_disk(path: Path, script: str) -> list[str]:
    mount = f"mount --bind {path.parent} {path.parent} && mount -o remount,bind,ro {path.parent}"
    _need("unshare", "-m", "sh", "-c", mount)
    return _run(script, path, before=("unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"))


def _folder(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


# Locked


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_file_that_another_program_has_locked_says_so_and_works_again(tmp_path: Path, lock: str) -> None:
    path = tmp_path / "store.db"
    with closing(Repository(SqliteStore(path, busy_ms=50))) as store:
        acks = write_things(store, "a", 0, 5)
        with _locked(path, lock):
            with pytest.raises(StoreUnavailable, match=r"locked by another program.*Nothing was written"):
                apply(store, entity("late"))
            # Readers never wait.
            assert found_by_meaning(store, thing_name("a", 3)) == thing_name("a", 3)
            with closing(Repository(SqliteStore(path, busy_ms=50))) as another:
                assert len(entities(another)) == 5
        apply(store, entity("late"))
        assert set(entities(store)) == {thing_name("a", number) for number in range(5)} | {"late"}
    assert_whole(path, acks)


def test_a_file_that_another_program_holds_for_itself_says_so_and_works_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(Repository(SqliteStore(path))) as store:
        acks = write_things(store, "a", 0, 5)
    with (
        _locked(path, "PRAGMA locking_mode = exclusive", "BEGIN IMMEDIATE"),
        pytest.raises(StoreUnavailable, match="locked by another program"),
    ):
        Repository(SqliteStore(path, busy_ms=50))
    assert len(assert_whole(path, acks)) == 5
    # A new file that another program has locked says so.
    path = tmp_path / "new.db"
    with _locked(path, "BEGIN EXCLUSIVE"), pytest.raises(StoreUnavailable, match="locked by another program"):
        Repository(SqliteStore(path, busy_ms=50))
    with closing(Repository(SqliteStore(path))) as store:
        apply(store, entity("cat"))


_PRELUDE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from trouble_script import *
path = sys.argv[1]
"""


def _run(script: str, path: Path, before: tuple[str, ...] = ()) -> list[str]:
    """Return the output of a script in its own process."""
    done = subprocess.run(
        [*before, sys.executable, "-c", _PRELUDE + dedent(script), path],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _need(*command: str) -> None:
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets us mount nothing")


def _let_in(folder: Path) -> None:
    """Open the folder of a test to other users."""
    for parent in (folder, *folder.parents):
        if parent.owner() == "root" and parent.name.startswith(("pytest", "popen", "test")):
            parent.chmod(0o755)


class _locked:  # noqa: N801  # reads as a statement
    """Run another program with its own SQLite in an open transaction."""

    def __init__(self, path: Path, *statements: str) -> None:
        script = (
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
            "[c.execute(s).fetchall() for s in sys.argv[2:]]; print('locked', flush=True); sys.stdin.read()"
        )
        self._program = subprocess.Popen(
            [sys.executable, "-c", script, path, *statements], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> None:
        assert self._program.stdout is not None
        assert self._program.stdout.readline() == b"locked\n"

    def __exit__(self, *error: object) -> None:
        self._program.communicate()
