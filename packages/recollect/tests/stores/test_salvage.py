"""Flipped bits and lost pages are detected and repaired where possible; the rest is salvaged."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest
from durable_world import entities, found_by_meaning, found_by_words, thing_name, write_things

import recollect
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = pytest.mark.usefixtures("real_stores")

THINGS = 100
SAID = ("memory", "observation", "relation", "revision", "tag", "scope", "setting", "receipt")


@pytest.fixture(scope="module")
def many_things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store whose tables and indexes have several pages."""
    path = tmp_path_factory.mktemp("many") / "store.db"
    with closing(Repository(SqliteStore(path))) as store:
        write_things(store, "a", 0, THINGS)
    with recollect.open(path, model="none") as memory:
        first = memory.remember("The kettle stands on the stove", tags=["kitchen"], category="household")
        memory.update(first.id, text="The kettle stands in the garden")
        memory.add_messages("today", [{"role": "user", "speaker": "Ana", "content": "It rains."}])
        memory.remember_many(
            {
                "text": f"Note {number} {'says a lot about the harbour ' * 20}",
                "tags": [f"tag {number} {letter * 60}" for letter in "abcd"],
            }
            for number in range(60)
        )
    return path


@pytest.fixture
def store_file(tmp_path: Path, many_things: Path) -> Path:
    return Path(shutil.copy(many_things, tmp_path / "store.db"))


# Bits


FLIPPED = {
    "of an observation": (b"an7 weighs a lot", b"an7 weight a lot", "observation"),
    "of a note": (b"stands in the garden", b"stands in the gardon", "memory"),
    "of a former text": (b"stands on the stove", b"stands on the stave", "revision"),
    "of a category": (b"household", b"housebold", "memory"),
    "of a message": (b"It rains.", b"It ruins.", "memory"),
    "of a tag": (b"kitchenkitchen", b"kitchenkitchan", "tag"),
}


@pytest.mark.parametrize("what", FLIPPED)
def test_a_letter_that_changes_on_the_disk_is_noticed_and_named(store_file: Path, what: str) -> None:
    said, flipped, table = FLIPPED[what]
    content = store_file.read_bytes()
    assert said in content
    store_file.write_bytes(content.replace(said, flipped))
    with closing(SqliteStore(store_file)) as store:
        for problems in (store.verify(), store.verify(quick=True)):
            found = [each for each in problems if table in each.what and not each.repairable]
            assert found, problems
        # A repair does not accept damaged texts.
        assert [each for each in store.repair() if not each.repairable] == found


def test_whoever_writes_the_words_again_mends_the_row(store_file: Path) -> None:
    said, flipped, _ = FLIPPED["of a note"]
    store_file.write_bytes(store_file.read_bytes().replace(said, flipped))
    with recollect.open(store_file, model="none") as memory:
        (damaged,) = [each for each in memory.upkeep.verify() if not each.repairable]
        memory.update(int(damaged.what.split()[1]), text="The kettle stands in the garden")
        assert [each for each in memory.upkeep.repair() if "garden" in each.what] == []
        assert list(memory.upkeep.verify(quick=True)) == []


def test_an_index_that_holds_other_words_than_the_text_is_noticed_and_mended(store_file: Path) -> None:
    with closing(SqliteStore(store_file)) as store:
        with closing(apsw.Connection(str(store_file))) as hand:
            # In the index only, one document has the words of another.
            first, second = [
                row[0] for row in hand.execute("SELECT memory_id FROM document WHERE merged = 0 LIMIT 2")
            ]
            hand.execute(
                "UPDATE document SET words = (SELECT words FROM document WHERE memory_id = ?) "
                "WHERE memory_id = ?",
                (first, second),
            )
        assert any("word index" in each.what for each in store.verify())
        assert store.repair() == []


def test_a_vector_whose_numbers_changed_is_noticed_and_made_anew(store_file: Path) -> None:
    with closing(SqliteStore(store_file)) as store:
        with closing(apsw.Connection(str(store_file))) as hand:
            packed = bytearray(hand.execute("SELECT embedding FROM vector WHERE id = 3").get)
            packed[3] ^= 0x40  # one bit of the first number's exponent
            hand.execute("UPDATE vector SET embedding = ? WHERE id = 3", (bytes(packed),))
        assert any("vectors whose numbers were changed" in each.what for each in store.verify())
        assert store.repair() == []


# Pages


def _pages(path: Path, kind: str) -> list[tuple[str, int]]:
    with closing(apsw.Connection(str(path))) as hand:
        return list(
            hand.execute(
                "SELECT d.name, d.pageno FROM dbstat AS d JOIN sqlite_schema AS s ON s.name = d.name "
                "WHERE s.type = ? ORDER BY d.pageno",
                (kind,),
            )
        )


def _ruin(path: Path, pages: Iterable[int]) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(bytes([0xAB, 0x13]) * 2048)


def _contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(apsw.Connection(str(path))) as hand:
        columns = dict.fromkeys(SAID, "*") | {"setting": "name", "scope": "id, owner, agent, temper"}
        return {
            table: list(hand.execute(f"SELECT {listed} FROM {table} NOT INDEXED ORDER BY 1, 2"))
            if table not in {"scope", "setting"}
            else list(hand.execute(f"SELECT {listed} FROM {table} ORDER BY 1"))
            for table, listed in columns.items()
        }


def test_every_page_of_every_index_can_be_mended_and_nothing_said_is_lost(
    store_file: Path, many_things: Path, tmp_path: Path
) -> None:
    truth, pages = _contents(many_things), _pages(many_things, "index")
    assert len(pages) >= 40
    _ruin(store_file, [page for _, page in pages])
    with closing(Repository(SqliteStore(store_file))) as store:
        assert any(each.where == "the file" for each in store.verify())
        assert store.repair() == []
        assert found_by_words(store, thing_name("a", 7)) == thing_name("a", 7)
        assert found_by_meaning(store, thing_name("a", 7)) == thing_name("a", 7)
        assert len([name for name in entities(store) if name]) == THINGS
    assert _contents(store_file) == truth
    # The damaged file is kept beside it.
    assert {file.name for file in tmp_path.glob("store.db-*") if "vectors" not in file.name} == {
        "store.db-damaged"
    }


def test_each_page_of_an_index_can_be_mended_by_itself(
    store_file: Path, many_things: Path, tmp_path: Path
) -> None:
    truth = _contents(many_things)
    pages = dict(reversed(_pages(many_things, "index")))  # one of each index
    for name, page in list(pages.items())[::6]:
        path = Path(shutil.copy(many_things, tmp_path / f"{name}.db"))
        _ruin(path, [page])
        with closing(SqliteStore(path)) as store:
            assert store.repair() == [], name
        assert _contents(path) == truth, name


@pytest.mark.parametrize("table", ["memory", "observation", "tag"])
def test_where_rows_are_lost_all_others_are_carried_over_and_the_loss_is_told(
    store_file: Path, many_things: Path, table: str
) -> None:
    truth = _contents(many_things)
    pages = [page for name, page in _pages(many_things, "table") if name == table]
    assert len(pages) >= 3
    # Not the root: a page of rows in the middle.
    _ruin(store_file, [sorted(pages)[len(pages) // 2]])
    before = store_file.read_bytes()
    with closing(SqliteStore(store_file)) as store:
        told = store.repair()
        assert any(f"rows of {table} between" in each.what for each in told), told
        assert any("readable rows were copied to" in each.what for each in told)
    assert store_file.read_bytes() == before
    salvaged = store_file.with_name("store.db-salvaged")
    kept = _contents(salvaged)
    lost = set(truth[table]) - set(kept[table])
    assert 0 < len(lost) < len(truth[table]) / 2
    if table == "tag":
        assert [kept[each] for each in ("memory", "observation")] == [
            truth[each] for each in ("memory", "observation")
        ]
    with recollect.open(salvaged, model="none") as memory:
        assert list(memory.upkeep.verify()) == []
        memory.remember("Life goes on")
