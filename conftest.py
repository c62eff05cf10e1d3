"""What many tests share: a clock that stands still, a store in a temporary folder, an engine on it."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING
from unittest.mock import patch

import hypothesis_profiles
import pytest
from filled_stores import FilledStores
from quick_stores import quick_stores

from recollect.domain.records import Scope
from recollect.engine import Engine
from recollect.models import packaged as packaged_embedders
from recollect.models.embedders import embedder_named
from recollect.models.packaged import load_transformer
from recollect.search.recording import UsageRecorder
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

# Modules of fixtures that some tests import and others load as plugins.
_support = {path.stem for path in Path(__file__).parent.glob("tests/support/*.py")}
pytest.register_assert_rewrite(*sorted(_support.difference(sys.modules)))

# Run where the frameworks are, by `make test-integrations`.
collect_ignore = ["packages/recollect-integrations"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postgres_stores import PostgresStores
    from quick_stores import QuickStores

    from recollect.models.registry import PackagedModel
    from recollect.services import EmbedderFactory

    MakeEngine = Callable[..., Engine]
    MakeWorld = Callable[[Callable[[Engine], None]], Engine]

hypothesis_profiles.load()

# The programs that tests start take half the time where the modules they load were compiled before.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Started in the background, programs ignore Ctrl-C, and so would those that tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files in memory, where there is plenty: thousands of stores are made, written to and removed again.
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
if SHARED_MEMORY.is_dir() and disk_usage(SHARED_MEMORY).free > 8 * 2**30:
    tempfile.tempdir = os.environ["TMPDIR"] = str(SHARED_MEMORY)

PATIENCE_SECONDS = 600
"""How long a test waits before it calls something hung. Nothing asserts how long anything took."""


@pytest.fixture(scope="session", autouse=True)
def quick() -> Iterator[QuickStores]:
    with quick_stores() as quick:
        yield quick


@pytest.fixture(scope="module")
def real_stores(quick: QuickStores) -> Iterator[None]:
    """For tests of how a store is made, and of what becomes of it when the power fails."""
    quick.on = False
    yield
    quick.on = True


def _load_remembering(packaged: PackagedModel, threads: int) -> packaged_embedders.Encoder:
    # A text's vectors do not depend on what else is embedded.
    return cache(load_transformer(packaged, threads))


@pytest.fixture(scope="module", autouse=True)
def vectors_computed_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """In tests of other things than models, a model embeds a text once."""
    if request.path.parent.name in {"embedders", "models"}:
        yield
        return
    with patch.object(packaged_embedders, "load_transformer", _load_remembering):
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresStores]:
    """A server of the tests' own."""
    from postgres_stores import started  # most tests need none

    yield from started()


@pytest.fixture
def postgres(postgres_server: PostgresStores) -> Iterator[PostgresStores]:
    """Stores on it, for one test."""
    yield postgres_server
    postgres_server.release()


@pytest.fixture(scope="session")
def filled_stores(tmp_path_factory: pytest.TempPathFactory) -> FilledStores:
    return FilledStores(tmp_path_factory.mktemp("filled"))


@dataclass
class FixedClock:
    """The time that it was told, until it is told another."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def tick(self, seconds: float = 1) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What the engine promises holds on every store: its tests are run on both."""
    if "store" in metafunc.fixturenames and metafunc.definition.path.parent.name in {"engine", "operations"}:
        on_one = any(map(metafunc.definition.get_closest_marker, ("sqlite", "ranking")))
        metafunc.parametrize("store", ["sqlite"] if on_one else ["sqlite", "postgres"], indirect=True)


SLOW_FOLDERS = {"recollect-postgres", "web", "bench"}
SLOW_FILES = {
    # Processes that are killed, cut off from their disk, or race each other.
    "test_concurrency.py", "test_crash.py", "test_disk_trouble.py", "test_dream_crash.py",
    "test_kept_past.py", "test_log.py", "test_mcp_together.py", "test_power_cut.py", "test_size.py",
    # Servers and clients in processes of their own; test_mcp_tools.py and test_rest_api.py start a few.
    "test_api_fuzz.py", "test_cli_bench.py", "test_cli_dream_serve.py", "test_hooks.py",
    "test_http_scopes.py", "test_mcp_http.py", "test_mcp_stdio.py", "test_mem0_clients.py",
    "test_serve_http_access.py", "test_serve_http_limits.py", "test_serve_notices.py",
    # Programs of others.
    "test_containers.py", "test_mcp_official.py", "test_mcp_old_client.py",
    "test_no_clash.py", "test_publishing.py", "test_release.py", "test_typescript_client.py",
    # Long searches for counterexamples, and models that are built.
    "test_copies.py", "test_damaged_sources.py", "test_exact_exports.py", "test_mcp_fuzz.py",
    "test_past_model.py", "test_same_as_fts5.py", "test_tune_search.py",
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves to `make test-all`: PostgreSQL, browsers, and what takes many seconds."""
    for item in items:
        on_postgres = not {"postgres", "postgres_server"}.isdisjoint(getattr(item, "fixturenames", ()))
        parameters = getattr(item, "callspec", None)
        if (
            on_postgres
            or (parameters and parameters.params.get("store") == "postgres")
            or item.path.name in SLOW_FILES
            or not SLOW_FOLDERS.isdisjoint(item.path.parts)
        ):
            item.add_marker("slow")


@pytest.fixture
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Repository]:
    """In a file, or where the test is run on both, also in a database."""
    if getattr(request, "param", "sqlite") == "postgres":
        stores: PostgresStores = request.getfixturevalue("postgres")
        store = Repository(stores.store_at(tmp_path / "memory.db"))
    else:
        store = Repository(SqliteStore(tmp_path / "memory.db"))
    yield store
    store.close()


def engine_of(
    store: Repository,
    clock: FixedClock,
    embedders: EmbedderFactory = embedder_named,
    model: str = "hashing",
) -> Engine:
    """An engine that notes every answer before it gives the next."""
    usage = UsageRecorder(store, "test", PATIENCE_SECONDS)
    return Engine(Services(store, clock, embedders, model, Scope(), usage))


@pytest.fixture
def make_engine(store: Repository, clock: FixedClock) -> MakeEngine:
    """Engines on one store, with the embedders of the test."""

    def make(embedders: EmbedderFactory = embedder_named, model: str = "hashing") -> Engine:
        return engine_of(store, clock, embedders, model)

    return make


@pytest.fixture
def make_world(filled_stores: FilledStores, tmp_path: Path, request: pytest.FixtureRequest) -> MakeWorld:
    """An engine of this test's own on a world that was filled once, with the clock where it began."""

    def make(fill: Callable[[Engine], None]) -> Engine:
        filled_stores.copy(_filled_by(fill), tmp_path / "memory.db")
        engine: Engine = request.getfixturevalue("engine")
        return engine

    return make


@cache
def _filled_by(fill: Callable[[Engine], None]) -> Callable[[Path], None]:
    def filled(path: Path) -> None:
        with engine_of(Repository(SqliteStore(path)), FixedClock()) as engine:
            fill(engine)

    return filled


@pytest.fixture
def engine(make_engine: MakeEngine) -> Engine:
    """An engine whose model compares words."""
    return make_engine()


@pytest.fixture
def undoubted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every answer count, for tests of how answers look; whether they are shown depends on weights."""
    # Import all of them first: a module that is imported later would keep the changed value.
    modules = [
        import_module(f"recollect.{name}") for name in ("domain.limits", "domain.results", "search.recall")
    ]
    for module in modules:
        monkeypatch.setattr(module, "UNLIKELY", 0.0)


@pytest.fixture
def nothing_is_out_of_step(engine: Engine) -> Iterator[None]:
    """Verify the store after the test."""
    yield
    assert list(engine.upkeep.verify()) == []
