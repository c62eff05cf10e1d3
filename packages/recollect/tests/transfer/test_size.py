"""However long the file, the memory that it takes is the same."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest
from transfer_world import engine_at, entity, relation

from recollect.transfer import export_file, import_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recollect.engine import Engine

LINES = 50
"""Lines of a batch: small, so that a short file has many batches."""
SHORT, LONG = 12 * LINES, 24 * LINES
"""Entities of a file, with as many relations. In both, the index of words has merged its parts."""
# Above the memory that a batch and a merge need, below the size of the long files.
BOUND = 2_000_000
# A merge is larger or smaller as it falls; a file that is held whole would take twice as much.
GROWTH = 1.5


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.transfer.files._BATCH_LINES", LINES)
    monkeypatch.setattr("recollect.transfer.moved_rows._PAGE", LINES // 2)


def peak(act: Callable[[], object]) -> int:
    """The most that Python held at once. SQLite's own cache has its own limit, and is not counted."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def write(path: Path, entities: int) -> None:
    """Relations first, so that every one of them has to wait for its ends."""
    with path.open("w") as file:
        for n in range(entities):
            file.write(relation(f"entity {n}", "leads_to", f"entity {n * 7919 % entities}"))
        for n in range(entities):
            file.write(entity(f"entity {n}", f"the first thing known of {n}, and it is {'long' * 600}"))


def exported_whole(mine: Engine, target: Path) -> None:
    export_file(mine, target, format="full", overwrite=True)


def import_peak(path: Path, source: Path) -> int:
    with engine_at(path, model="none") as mine:
        return peak(lambda: import_file(mine, source, embed=False))


@pytest.fixture(scope="module", autouse=True)
def modules_loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Load the modules of the first import and export, so that they do not count for the file."""
    folder = tmp_path_factory.mktemp("first")
    write(folder / "first.jsonl", 1)
    with engine_at(folder / "first.db", model="none") as mine:
        import_file(mine, folder / "first.jsonl", embed=False)
        exported_whole(mine, folder / "full.jsonl")
    import_peak(folder / "second.db", folder / "full.jsonl")


def test_four_dozen_batches_take_no_more_memory_than_two(tmp_path: Path) -> None:
    write(tmp_path / "short.jsonl", SHORT)
    write(tmp_path / "long.jsonl", LONG)
    assert (tmp_path / "long.jsonl").stat().st_size > BOUND
    short = import_peak(tmp_path / "short.db", tmp_path / "short.jsonl")
    long = import_peak(tmp_path / "long.db", tmp_path / "long.jsonl")
    assert long < BOUND
    assert long < short * GROWTH


def test_a_full_export_and_its_import_take_no_more_either(tmp_path: Path) -> None:
    out: list[int] = []
    into_empty: list[int] = []
    into_taken: list[int] = []
    for size in (SHORT, LONG):
        lines, full = tmp_path / f"{size}.jsonl", tmp_path / f"{size}-full.jsonl"
        write(lines, size)
        with engine_at(tmp_path / f"{size}.db", model="none") as mine:
            import_file(mine, lines, embed=False)
            # The least of three, since the engine's other thread counts too.
            out.append(min(peak(lambda: exported_whole(mine, full)) for _ in range(3)))  # noqa: B023  # called at once
        into_empty.append(import_peak(tmp_path / f"{size}-empty.db", full))
        with engine_at(tmp_path / f"{size}-taken.db", model="none") as mine:
            mine.create_entities([f"here before {n}" for n in range(100)])
        into_taken.append(import_peak(tmp_path / f"{size}-taken.db", full))

    for short, long in (out, into_empty, into_taken):
        assert long < BOUND
        assert long < short * GROWTH
