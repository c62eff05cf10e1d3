"""Engines on stores in a temporary folder, with a clock that ticks, for tests of what goes in and out."""

from __future__ import annotations

import io
import json
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from recollect.domain.errors import ModelUnavailable
from recollect.domain.records import Scope
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.search.recording import UsageRecorder
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.transfer import ForeignReport, export_file, import_path
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.stores.port import Embedder
    from recollect.transfer import ExportFormat


@dataclass(slots=True)
class Clock:
    """A clock that advances by a second with each read, unless it is stopped."""

    now: datetime = datetime(2026, 3, 1, tzinfo=UTC)
    tick: timedelta = field(default=timedelta(seconds=1))

    def __call__(self) -> datetime:
        self.now += self.tick
        return self.now


def engine_at(path: Path, *, owner: str = "", clock: Clock | None = None, model: str = "hashing") -> Engine:
    store = Repository(SqliteStore(path))
    signals = UsageRecorder(store, "test")
    return Engine(Services(store, clock or Clock(), _embedder_named, model, Scope(owner), signals))


@contextmanager
def engines(
    number: int, tick: timedelta = timedelta(seconds=1), model: str = "hashing"
) -> Iterator[list[Engine]]:
    """Engines on new stores in a temporary folder."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        paths = [Path(folder) / f"{place}.db" for place in range(number)]
        yield [stack.enter_context(engine_at(path, clock=Clock(tick=tick), model=model)) for path in paths]


def _embedder_named(name: str) -> Embedder | None:
    if name.startswith("hashing"):
        return HashingEmbedder(64)
    if name == "none":
        return None
    raise ModelUnavailable(f"{name} is not installed: pip install {name}")


def exported(
    engine: Engine, format_: ExportFormat = "full", *, scope_only: bool = False, learning: bool = False
) -> str:
    out = io.StringIO()
    export_file(engine, out, format=format_, scope_only=scope_only, learning=learning)
    return out.getvalue()


def entity(name: str, *observations: str, type_: str = "thing") -> str:
    line = {"type": "entity", "name": name, "entityType": type_, "observations": observations}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def relation(source: str, type_: str, target: str) -> str:
    line = {"type": "relation", "from": source, "to": target, "relationType": type_}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def import_foreign(engine: Engine, path: str | Path, *, merge_owners: bool = False) -> ForeignReport:
    """Import another program's memory, without embedding it."""
    report = import_path(engine, path, embed=False, merge_owners=merge_owners)
    assert isinstance(report, ForeignReport)
    return report
