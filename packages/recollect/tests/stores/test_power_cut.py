"""Power cuts at any moment: acknowledged writes survive, because they were synced before.

SQLite's file layer writes down all it does to the disk while a store is at work. For a moment of that record
we make the files as they might be found after a cut then, open them, and look.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from cut_work import images, recording, work
from durable_world import apply, assert_whole, thing, write_things
from power_cut import Disk

from recollect.domain.errors import RecollectError
from recollect.stores.sqlite import copying, store
from recollect.stores.sqlite.connection import connect
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("real_stores")

CUTS = 100
CONTROL_CUTS = 40


@pytest.mark.parametrize("seed", [1, 2])
def test_a_power_cut_takes_nothing_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "store.db"
    record = work(path)
    moments = np.random.default_rng(seed).integers(record.first_ack, len(record.ops), CUTS)
    for moment, image in images(record, Disk(), tmp_path, moments.tolist(), seed):
        assert_whole(image / path.name, record.acknowledged_by(moment))


def test_without_a_full_sync_acknowledged_writes_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: these cuts detect unsafe writes."""

    def careless(path: Path, busy_ms: int, *, writes: bool) -> apsw.Connection:
        connection = connect(path, busy_ms, writes=writes)
        connection.pragma("synchronous", "NORMAL")
        return connection

    path = tmp_path / "store.db"
    with monkeypatch.context() as patch:
        patch.setattr(store, "connect", careless)
        record = work(path)
    moments = np.random.default_rng(1).integers(record.first_ack, len(record.ops), CONTROL_CUTS)
    failures = 0
    for moment, image in images(record, Disk(), tmp_path, moments.tolist(), 1):
        try:
            assert_whole(image / path.name, record.acknowledged_by(moment))
        except (AssertionError, RecollectError):
            failures += 1
    assert failures > CONTROL_CUTS // 10


def test_a_store_whose_making_was_cut_short_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with recording() as record:
        Repository(SqliteStore(path)).close()
    moments = [moment for moment in range(len(record.ops) + 1) for _ in range(2)]
    for _, image in images(record, Disk(), tmp_path, moments, 1):
        with closing(Repository(SqliteStore(image / path.name))) as opened:
            apply(opened, *thing("an0"))
            assert opened.verify() == []


def test_a_restore_that_was_cut_short_leaves_the_store_as_it_was_or_as_the_backup(tmp_path: Path) -> None:
    path, backup = tmp_path / "store.db", tmp_path / "backup.db"
    with closing(Repository(SqliteStore(path))) as opened:
        acks = write_things(opened, "a", 0, 5)
        opened.backup(str(backup))
        acks += write_things(opened, "a", 5, 12)
    disk = Disk.holding([path, backup])
    with recording() as record:
        copying.restore_copy(backup, path, 10_000)
    done = len(record.ops)
    moments = np.random.default_rng(1).integers(0, done + 1, 40).tolist() + [done] * 5
    seen = set()
    for moment, image in images(record, disk, tmp_path, moments, 1):
        present = assert_whole(image / path.name)
        seen.add(len(present))
        assert len(present) == 5 or (len(present) == 12 and moment < done)
        assert_whole(image / path.name, acks[:10] if len(present) == 5 else acks)
        assert (image / backup.name).read_bytes() == backup.read_bytes()
    assert seen == {5, 12}


def test_a_backup_is_synced_before_it_gets_its_name(tmp_path: Path) -> None:
    path, backup = tmp_path / "store.db", tmp_path / "backup.db"
    with closing(Repository(SqliteStore(path))) as opened:
        write_things(opened, "a", 0, 5)
        with recording() as record:
            opened.backup(str(backup))
    written = [op for op in record.ops if op.path.endswith(".part")]
    assert [op.what for op in written][-1] == "sync"
    disk = Disk()
    disk.run(record.ops)
    image = tmp_path / "image"
    image.mkdir()
    # All writes are synced, so the bytes are those of the backup.
    for seed in range(5):
        disk.after_cut(image, np.random.default_rng(seed))
        (left,) = [file for file in image.iterdir() if file.name.endswith(".part")]
        assert left.read_bytes() == backup.read_bytes()
        left.unlink()
