"""The store itself: what kind it is, who works on it, and its backups."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from recollect.engine.lease_holders import is_dead
from recollect.engine.services import Services
from recollect.errors import StoreUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.ports import Progress
from recollect.retrieval.records import moment

StoreKind = Literal["file", "server", "memory"]
_FOR_THE_OWNER_ALONE = 0o700


@dataclass(frozen=True, slots=True)
class Lease:
    """Work that one process at a time may do, and who does it."""

    name: str
    holder: str
    until: datetime
    holder_is_gone: bool
    """Certainly; a holder on another machine cannot be told about."""


@dataclass(frozen=True, slots=True)
class BackupFile:
    name: str
    bytes: int
    at: datetime


@dataclass(frozen=True, slots=True)
class StoreState:
    kind: StoreKind
    read_only: bool
    leases: tuple[Lease, ...]
    backups: tuple[BackupFile, ...]
    """The newest first."""
    has_replica: bool
    replica_problem: str | None


def store_state(services: Services) -> StoreState:
    store = services.store.store
    path = _file_of(services)
    with services.read_everything() as view:
        rows = view.rows("lease", ("name", "holder", "until"))
    kind: StoreKind = "file" if path is not None else "server" if hasattr(store, "location") else "memory"
    return StoreState(
        kind,
        services.store.read_only,
        tuple(Lease(name, holder, moment(until), is_dead(holder)) for name, holder, until in rows),
        () if path is None else tuple(_backups(_folder(path))),
        getattr(store, "replica", None) is not None,
        getattr(store, "replica_trouble", None),
    )


def backup_beside(services: Services, progress: Progress | None = None) -> BackupFile:
    """Copy the store into the folder of backups beside it, under the name of this moment."""
    path = _file_of(services)
    if path is None:
        raise StoreUnavailable(
            "This memory has no file of its own: a server's tools back its database up, and an export holds "
            "everything that is remembered."
        )
    folder = _folder(path)
    now = services.clock().astimezone(UTC)
    target = folder / f"{now:%Y-%m-%dT%H%M%S.%fZ}.db"
    try:
        folder.mkdir(mode=_FOR_THE_OWNER_ALONE, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"No backup could be made in {folder}: {error.strerror}.") from error
    services.store.backup(str(target), progress)
    return _backup(target)


def _file_of(services: Services) -> Path | None:
    path = getattr(services.store.store, "path", None)
    return path if isinstance(path, Path) else None


def _folder(path: Path) -> Path:
    return path.with_name(f"{path.name}-backups")


def _backups(folder: Path) -> list[BackupFile]:
    try:
        found = [_backup(each) for each in folder.iterdir() if each.suffix == ".db"]
    except OSError:
        return []
    return sorted(found, key=lambda each: (each.at, each.name), reverse=True)


def _backup(path: Path) -> BackupFile:
    state = path.stat()
    return BackupFile(path.name, state.st_size, datetime.fromtimestamp(state.st_mtime, UTC))
