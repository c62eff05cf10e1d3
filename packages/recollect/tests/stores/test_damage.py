"""Foreign files, broken files and wrong indexes are reported and repaired, and never made worse."""

from __future__ import annotations

import io
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from durable_world import (
    HERE,
    apply,
    assert_whole,
    entities,
    entity,
    found_by_meaning,
    found_by_words,
    observe,
    thing_name,
    write_things,
)
from store_worker import SHARED_FROM

from recollect.domain.changes import Forget, NewText, PutText
from recollect.domain.errors import NotAStore, RecollectError, StoreDamaged, StoreUnavailable
from recollect.domain.records import Kind, Scope
from recollect.stores import check
from recollect.stores.sqlite import connection
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.vectors import cache as vector_cache
from recollect.write import word_index
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("real_stores")


@pytest.fixture(autouse=True)
def shared_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", SHARED_FROM)


@pytest.fixture(scope="module")
def twenty_things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty entities with vectors; some are merged into the word index, others not yet."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    with pytest.MonkeyPatch.context() as patch, closing(Repository(SqliteStore(path))) as store:
        patch.setattr(word_index, "_MOST_UNMERGED", 6)
        write_things(store, "a", 0, 20)
    return path


@pytest.fixture(scope="module")
def more_than_things(tmp_path_factory: pytest.TempPathFactory, twenty_things: Path) -> Path:
    """The same with a note, a forgotten entity, another scope, and pending passages."""
    path = tmp_path_factory.mktemp("rich") / "store.db"
    shutil.copy(twenty_things, path)
    with closing(Repository(SqliteStore(path))) as store:
        apply(store, PutText(HERE, NewText(Kind.NOTE, "The kettle is in the garden.")))
        apply(store, entity("gone", "an old thing"), Forget(HERE, names=("gone",)))
        apply(store, PutText(Scope("other"), NewText(Kind.NOTE, "Theirs.")))
        apply(store, observe(thing_name("a", 3), "is late"))
        assert store.verify() == []
    with closing(apsw.Connection(str(path))) as hand:
        assert {merged for (merged,) in hand.execute("SELECT merged FROM document")} == {0, 1}
    return path


@pytest.fixture
def filled(tmp_path: Path, twenty_things: Path) -> Path:
    return Path(shutil.copy(twenty_things, tmp_path / "store.db"))


@pytest.fixture
def rich(tmp_path: Path, more_than_things: Path) -> Path:
    return Path(shutil.copy(more_than_things, tmp_path / "store.db"))


# Foreign files


def _zip() -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("a.txt", "hello" * 1_000)
    return memory.getvalue()


def _another_programs(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE memory(id INTEGER PRIMARY KEY, name TEXT)")
        other.execute("INSERT INTO memory(name) VALUES ('theirs')")
        other.commit()


def _another_programs_with_a_log(path: Path) -> None:
    source = path.with_name("source.db")
    with closing(sqlite3.connect(source)) as other:
        other.execute("PRAGMA journal_mode = wal")
        other.execute("CREATE TABLE memory(id INTEGER PRIMARY KEY, name TEXT)")
        other.commit()
        for rest in ("", "-wal"):
            shutil.copy(f"{source}{rest}", f"{path}{rest}")
    source.unlink()


def _cut_header(path: Path) -> None:
    Repository(SqliteStore(path)).close()
    path.write_bytes(path.read_bytes()[:60])


FOREIGN: dict[str, bytes | Callable[[Path], None]] = {
    "text": b"Dear diary,\n" * 1_000,
    "short text": b"Dear diary",
    "two zeros": b"\0\0",
    "zeros": bytes(8_192),
    "an archive": _zip(),
    "another program's": _another_programs,
    "another program's with a log": _another_programs_with_a_log,
    "a cut header": _cut_header,
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_that_is_not_ours_is_refused_and_left_as_it_is(tmp_path: Path, what: str) -> None:
    path, make = tmp_path / "file", FOREIGN[what]
    if isinstance(make, bytes):
        path.write_bytes(make)
    else:
        make(path)
    before = _folder(tmp_path)
    with pytest.raises(NotAStore, match="left as it is"):
        Repository(SqliteStore(path))
    assert _folder(tmp_path) == before


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="name a file in it"):
        Repository(SqliteStore(tmp_path))
    with pytest.raises(StoreUnavailable, match="create it first"):
        Repository(SqliteStore(tmp_path / "missing" / "store.db"))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    with closing(Repository(SqliteStore(path))) as store:
        apply(store, entity("cat"))
    assert set(assert_whole(path)) == {"cat"}


def test_a_file_that_another_program_fills_while_we_look_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    path.touch()
    look = connection.refuse_strangers

    def then_fill(path: Path, known: int) -> None:
        look(path, known)
        _another_programs(path)

    monkeypatch.setattr(connection, "refuse_strangers", then_fill)
    with pytest.raises(NotAStore, match="another program"):
        Repository(SqliteStore(path))
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_schema").fetchall() == [("memory",)]


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(filled: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "copy.db"
    copy.parent.mkdir()
    with closing(apsw.Connection(str(filled))) as newer:
        newer.pragma("user_version", len(connection.migrations()) + 1)
        # In the copy, the version is only in the log.
        for rest in ("", "-wal"):
            shutil.copy(f"{filled}{rest}", f"{copy}{rest}")
    for path in (filled, copy):
        before = _folder(path.parent)
        with pytest.raises(NotAStore, match=r"newer Recollect.*pip install --upgrade recollect-memory"):
            Repository(SqliteStore(path))
        # SQLite rebuilds the shared-memory file.
        assert before.items() <= _folder(path.parent).items()
        assert _folder(path.parent).keys() - before.keys() <= {"copy.db-shm"}


def test_a_store_that_was_moved_away_or_replaced_takes_no_write(filled: Path, tmp_path: Path) -> None:
    path, other = filled, tmp_path / "elsewhere.db"
    with closing(Repository(SqliteStore(path))) as store:
        path.rename(other)
        with pytest.raises(StoreUnavailable, match="open it again"):
            apply(store, entity("cat"))
        with pytest.raises(StoreUnavailable, match="open it again"):
            entities(store)
        # No empty file replaces it.
        assert not path.exists()
        shutil.copy(other, path)
        with pytest.raises(StoreUnavailable, match="replaced"):
            apply(store, entity("cat"))


# Broken


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_page_is_told_in_our_own_words(filled: Path, seed: int) -> None:
    path, chance = filled, np.random.default_rng(seed)
    content = bytearray(path.read_bytes())
    # Never the first page: without its header, the file is not recognised.
    page = int(chance.integers(1, len(content) // 4096))
    content[page * 4096 : (page + 1) * 4096] = chance.bytes(4096)
    path.write_bytes(content)
    assert _everything_it_says(path)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.95])
def test_a_truncated_file_is_told(filled: Path, share: float) -> None:
    content = filled.read_bytes()
    filled.write_bytes(content[: max(4096, int(len(content) * share))])
    assert _everything_it_says(filled)


def test_a_store_that_lost_its_log_is_what_it_was_before(filled: Path, tmp_path: Path) -> None:
    path, copy = filled, tmp_path / "copy.db"
    with closing(Repository(SqliteStore(path))) as store:
        apply(store, entity("late"))
        found_by_meaning(store, thing_name("a", 3))
        shutil.copy(path, copy)
        shutil.copy(f"{path}-vectors", f"{copy}-vectors")
    present = assert_whole(copy)
    assert len(present) == 20
    assert "late" not in present
    with closing(Repository(SqliteStore(copy))) as store:
        write_things(store, "other", 0, 20)
        assert found_by_meaning(store, thing_name("other", 3)) == thing_name("other", 3)
        assert store.verify() == []


def test_a_damaged_cache_gives_right_answers_and_is_made_anew(filled: Path, tmp_path: Path) -> None:
    cache = tmp_path / "store.db-vectors"
    with closing(Repository(SqliteStore(filled))) as store:
        found_by_meaning(store, thing_name("a", 3))
    whole = cache.read_bytes()
    chance = np.random.default_rng(1)
    half = bytearray(whole)
    half[65_536 : 65_536 + 4_096] = chance.bytes(4_096)
    for damaged in (b"", b"hello", whole[: len(whole) // 2], bytes(len(whole)), bytes(half), whole[::-1]):
        cache.write_bytes(damaged)
        with closing(Repository(SqliteStore(filled))) as store:
            assert found_by_meaning(store, thing_name("a", 3)) == thing_name("a", 3)
            assert store.repair() == []
        assert_whole(filled)


# Out of step


# The count comes after the four widths and the gap.
OFTEN = "substr(packed, 1, 5) || x'7F' || substr(packed, 7)"
OF_A_WORD = "term_id = (SELECT id FROM term WHERE term = 'an0')"
GONE = "(SELECT id FROM memory WHERE deleted_at IS NOT NULL)"
NOTE = "(SELECT id FROM memory WHERE kind = 'note')"

OUT_OF_STEP: dict[str, list[str]] = {
    "the word index lacks 1": ["DELETE FROM document WHERE memory_id = 2"],
    "has 1 too many": [f"INSERT INTO document SELECT id, 1, kind, 0, x'', x'' FROM memory WHERE id = {GONE}"],
    "lacks 0 memories and has 1 too many": ["INSERT INTO document VALUES (9999, 1, 'note', 0, x'', x'')"],
    "lacks 1 memories and has 0 too many": ["UPDATE document SET scope_id = 2 WHERE memory_id = 2"],
    "document points to a scope": ["UPDATE document SET scope_id = 9999 WHERE memory_id = 2"],
    "lacks 21": ["DELETE FROM document"],
    "the word index differs from its documents": [
        # A document is truncated, lacks a word, or names a missing one.
        "UPDATE document SET words = x'010000' WHERE memory_id = 2",
        "UPDATE document SET words = substr(words, 5) WHERE memory_id = 2",
        "UPDATE document SET words = x'0F270000' WHERE memory_id = (SELECT max(memory_id) FROM document)",
        # `merged` is wrong.
        "UPDATE document SET merged = 0 WHERE memory_id = 2",
        "UPDATE document SET merged = 1 WHERE merged = 0",
        # A posting is missing, begins at another id, or has a wrong count.
        f"DELETE FROM posting WHERE {OF_A_WORD}",
        f"UPDATE posting SET first_id = first_id + 100 WHERE {OF_A_WORD}",
        f"UPDATE posting SET count = count + 1 WHERE {OF_A_WORD}",
        f"UPDATE posting SET count = count - 1 WHERE {OF_A_WORD}",
        # A count is too high; bytes are wrong, truncated or missing.
        f"UPDATE posting SET packed = CAST({OFTEN} AS BLOB) WHERE {OF_A_WORD}",
        f"UPDATE posting SET packed = x'00010203' WHERE {OF_A_WORD}",
        f"UPDATE posting SET packed = x'0101' WHERE {OF_A_WORD}",
        f"UPDATE posting SET packed = x'' WHERE {OF_A_WORD}",
        # A term is in no document, or has a wrong stem.
        "INSERT INTO term(scope_id, pair, stem, term) VALUES (1, 0, 'nobodi', 'nobody')",
        "UPDATE term SET stem = 'other' WHERE term = 'an0'",
    ],
    "posting points to a term": [
        "INSERT INTO posting VALUES (9999, 1, 1, x'01010101000101')",
        "DELETE FROM term WHERE term = 'an0'",
    ],
    "the word index has a wrong document count": [
        "UPDATE scope SET words = words + 1",
        "UPDATE scope SET unmerged = 0",
        "UPDATE scope SET messages = messages + 1",
    ],
    "1 passages that are live": ["UPDATE passage SET live = 0 WHERE id = 2"],
    "passages that are live": [f"UPDATE passage SET live = 1 WHERE memory_id = {GONE}"],
    "passage points to a memory": ["INSERT INTO passage(memory_id, start, stop) VALUES (9999, 0, 0)"],
    "passage points to a observation": [
        "INSERT INTO passage(memory_id, observation_id, start, stop) VALUES (1, 9999, 0, 0)"
    ],
    "vector points to a passage": ["UPDATE vector SET passage_id = 9999 WHERE id = 3"],
    "1 vectors of the wrong length": ["UPDATE vector SET embedding = x'0000' WHERE id = 3"],
    "1 token vectors of the wrong length": [
        "INSERT INTO passage_tokens SELECT 2, id, zeroblob((dims + 7) / 8 - 1) FROM model WHERE dims > 8"
    ],
    "passage_tokens points to a passage": ["INSERT INTO passage_tokens SELECT 9999, id, x'' FROM model"],
    "neither a vector nor a place in the queue": [
        "DELETE FROM vector WHERE id = 3",
        "DELETE FROM pending_vector",
    ],
    "pending_vector points to a passage": ["INSERT INTO pending_vector VALUES (9999)"],
    "1 memories without a passage": [
        "DELETE FROM passage WHERE memory_id = 1 AND observation_id IS NULL",
        f"DELETE FROM passage WHERE memory_id = {NOTE}",
    ],
    "1 observations without passages": ["DELETE FROM passage WHERE observation_id = 1"],
    "has no id": ["DELETE FROM setting WHERE name = 'store_id'"],
}
"""Messages of the check, each with the changes that cause it."""


@pytest.mark.parametrize(
    ("telling", "damage"), [(telling, each) for telling, all_ in OUT_OF_STEP.items() for each in all_]
)
def test_what_is_derived_and_out_of_step_is_named_and_mended_and_the_truth_untouched(
    rich: Path, telling: str, damage: str
) -> None:
    truth = _truth(rich)
    _behind_its_back(rich, damage)
    with closing(Repository(SqliteStore(rich))) as store:
        problems = store.verify()
        assert any(telling in problem.what for problem in problems), problems
        assert all(problem.repairable for problem in problems), problems
        assert store.repair() == []
        assert found_by_words(store, thing_name("a", 0)) == thing_name("a", 0)
        assert found_by_words(store, thing_name("a", 19)) == thing_name("a", 19)
    assert _truth(rich) == truth
    assert_whole(rich)


def test_a_repair_is_seen_by_a_store_that_was_open_all_along(filled: Path, tmp_path: Path) -> None:
    path, name = filled, thing_name("a", 5)
    with closing(Repository(SqliteStore(path))) as reader, closing(Repository(SqliteStore(path))) as mender:
        assert found_by_meaning(reader, name) == name
        _behind_its_back(path, f"UPDATE passage SET live = 0 WHERE memory_id = {entities(reader)[name].id}")
        (tmp_path / "store.db-vectors").unlink()
        with closing(Repository(SqliteStore(path))) as third:
            assert found_by_meaning(third, name) is None
            assert mender.repair() == []
            assert found_by_meaning(third, name) == name
        assert found_by_meaning(reader, name) == name


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE scope SET documents = 0",
        "UPDATE scope SET documents = 0; DELETE FROM document; DELETE FROM posting; DELETE FROM term",
        "UPDATE scope SET documents = 0 WHERE id = 1; DELETE FROM document WHERE scope_id = 1",
    ],
)
def test_an_empty_index_is_filled_when_the_store_is_opened(rich: Path, damage: str) -> None:
    _behind_its_back(rich, damage)
    with closing(Repository(SqliteStore(rich))) as store:
        assert found_by_words(store, thing_name("a", 5)) == thing_name("a", 5)
    assert_whole(rich)


def test_who_opens_a_store_with_an_empty_index_is_told_how_far_it_has_come(
    rich: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_BATCH", 7)
    _behind_its_back(
        rich, "UPDATE scope SET documents = 0 WHERE id = 1; DELETE FROM document WHERE scope_id = 1"
    )
    told: list[tuple[int, int | None]] = []
    SqliteStore(rich, progress=lambda done, of: told.append((done, of))).close()
    total = told[-1][0]
    assert told == [(min(done, total), total) for done in range(7, total + 7, 7)]
    told.clear()
    SqliteStore(rich, progress=lambda done, of: told.append((done, of))).close()
    assert told == []


@pytest.mark.parametrize(
    ("damage", "telling"),
    [
        ("DELETE FROM memory WHERE id = 3", "observation points to a memory"),
        ("UPDATE relation SET target_id = 9999 WHERE id = 1", "relation points to a memory"),
        ("UPDATE memory SET superseded_by = 9999 WHERE id = 3", "superseded by a memory that does not exist"),
    ],
)
def test_truth_that_is_missing_is_told_and_not_invented(rich: Path, damage: str, telling: str) -> None:
    _behind_its_back(rich, damage)
    truth = _truth(rich)
    with closing(Repository(SqliteStore(rich))) as store:
        for problems in (store.verify(), store.repair()):
            assert any(telling in problem.what and not problem.repairable for problem in problems)
    assert _truth(rich) == truth


def _folder(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def _behind_its_back(path: Path, statements: str) -> None:
    with closing(apsw.Connection(str(path))) as hand:
        hand.pragma("foreign_keys", 0)
        for statement in statements.split("; "):
            hand.execute(statement).fetchall()


def _truth(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(apsw.Connection(str(path))) as hand:
        columns = dict.fromkeys(("memory", "observation", "relation", "model", "receipt"), "*")
        return {
            table: list(hand.execute(f"SELECT {listed} FROM {table} ORDER BY 1"))
            for table, listed in (columns | {"scope": "id, owner, agent, temper"}).items()
        }


def _everything_it_says(path: Path) -> list[str]:
    """Open, read, verify and write; return our errors and the problems."""
    told: list[str] = []

    def steps() -> Iterator[Callable[[], object]]:
        store = Repository(SqliteStore(path))
        try:
            yield lambda: told.extend(problem.what for problem in store.verify())
            yield lambda: entities(store)
            yield lambda: found_by_words(store, thing_name("a", 3))
            yield lambda: found_by_meaning(store, thing_name("a", 3))
            yield lambda: apply(store, entity("late", "It came late."))
        finally:
            store.close()

    try:
        for step in steps():
            try:
                step()
            except RecollectError as error:
                told.append(str(error))
    except (StoreDamaged, NotAStore) as error:
        told.append(str(error))
    return told
