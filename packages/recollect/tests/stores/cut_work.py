"""A store on a recorded disk, and its files after a power cut at any moment."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw
import numpy as np
from durable_world import AT, HERE, Ack, apply, before, entity, thing_name, write_thing
from power_cut import Disk
from watched_disk import Op, record_disk

from recollect.domain.changes import Forget, Purge
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@dataclass
class Record:
    """All disk operations, and after how many of them each write was acknowledged."""

    ops: list[Op] = field(default_factory=list)
    acks: list[tuple[int, Ack]] = field(default_factory=list)

    def acknowledge(self, ack: Ack) -> None:
        self.acks.append((len(self.ops), ack))

    @property
    def first_ack(self) -> int:
        return self.acks[0][0]

    def acknowledged_by(self, moment: int) -> list[Ack]:
        return [ack for at, ack in self.acks if at <= moment]


@contextmanager
def recording() -> Iterator[Record]:
    record = Record()

    def little_log(connection: apsw.Connection) -> None:
        connection.wal_autocheckpoint(30)  # pages, so that cuts also hit checkpoints

    apsw.connection_hooks.append(little_log)
    try:
        with record_disk(record.ops.append):
            yield record
    finally:
        apsw.connection_hooks.remove(little_log)


def work(path: Path) -> Record:
    """Write, forget and purge entities; close the store half way and open it again."""
    with recording() as record:
        for part in (0, 1):
            with closing(Repository(SqliteStore(path))) as opened:
                for number in range(part * 15, part * 15 + 15):
                    name = thing_name("a", number)
                    write_thing(opened, name, before(name), record.acknowledge)
                    if number % 4 == 3:
                        apply(opened, entity("gone", name), Forget(HERE, names=("gone",)))
                        apply(opened, Purge(AT))
    return record


def images(
    record: Record, start: Disk, folder: Path, moments: Sequence[int], seed: int
) -> Iterator[tuple[int, Path]]:
    """Yield, for each moment in order, a folder with files that a cut might leave."""
    chance = np.random.default_rng(seed)
    done = 0
    for number, moment in enumerate(sorted(moments)):
        start.run(record.ops[done:moment])
        done = moment
        image = folder / f"cut{number}"
        image.mkdir()
        start.after_cut(image, chance)
        yield moment, image
