"""What `import recollect` offers."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import recollect
from recollect import plugin

if TYPE_CHECKING:
    from conftest import FixedClock


@pytest.fixture(autouse=True)
def default_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the settings file and variables of the user who runs the tests."""
    for name in ("XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("STORE", "MODEL", "OWNER", "AGENT", "CONFIG"):
        monkeypatch.delenv(f"RECOLLECT_{name}", raising=False)


def test_the_names_on_offer_are_those_that_have_a_home() -> None:
    assert sorted(recollect.__all__) == recollect.__all__
    assert set(recollect.__all__) == set(recollect._MODULE_OF)
    assert {*dir(recollect)} - {*recollect.__all__} == {"__version__", "aio"}


def test_every_name_can_be_had() -> None:
    for name in recollect.__all__:
        assert getattr(recollect, name).__module__.startswith("recollect.")


def test_the_extension_api_offers_names_that_exist_and_loads_them_when_they_are_used() -> None:
    assert set(plugin.__all__) == {"MODULES", *plugin._MODULE_BY_NAME}
    for name in plugin.__all__:
        assert getattr(plugin, name) is not None
    for module in plugin.MODULES:
        import_module(module)
    script = "import sys, recollect.plugin; print('click' in sys.modules, 'recollect.engine' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "False"]


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = recollect.no_such_name


@pytest.mark.parametrize("heavy", ["numpy", "apsw", "onnxruntime", "httpx", "rich", "platformdirs"])
def test_importing_it_imports_nothing_heavy(heavy: str) -> None:
    script = (
        "import sys, recollect, recollect.domain.errors, recollect.domain.records; "
        f"print({heavy!r} in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


def test_a_memory_has_few_methods_of_its_own_and_groups_for_the_rest() -> None:
    offered = {name: value for name, value in vars(recollect.Engine).items() if not name.startswith("_")}
    methods = [name for name, value in offered.items() if not isinstance(value, property)]
    assert len(methods) <= 25
    assert set(offered) - set(methods) == {
        "scope", "zone", "model", "profiles", "graph", "sessions", "dreams", "tuning", "upkeep",
        "browse", "answers"
    }  # fmt: skip


def test_no_edge_looks_into_the_engine() -> None:
    packages = Path(recollect.__file__).parents[3]
    core = packages / "recollect" / "src" / "recollect"
    edges = [core / name for name in ("cli", "mcp", "operations", "transfer", "hooks", "clients", "aio")]
    for folder in [*edges, *packages.glob("recollect-*/src")]:
        for path in folder.rglob("*.py"):
            if path.name != "moved_rows.py":
                assert not re.search(r"\b_services\b", path.read_text(encoding="utf-8")), path


def test_a_recall_loads_neither_dreams_nor_tuning_nor_upkeep() -> None:
    script = (
        "import sys, recollect.bootstrap; "
        "idle = ('dreams.plan', 'dreams.dreaming', 'self_test', 'tuning.search', 'tuning.tuning', 'admin'); "
        "print([name for name in sys.modules if name.removeprefix('recollect.').startswith(idle)])"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_opening_makes_a_memory_and_opening_again_finds_it(tmp_path: Path, clock: FixedClock) -> None:
    path = tmp_path / "new folder" / "memory.db"
    with recollect.open(path, model="hashing", clock=clock) as memory:
        memory.create_entities(
            [recollect.NewEntity("Ada", "person", (recollect.NewObservation("likes tea"),))]
        )
        assert [hit.memory.name for hit in memory.search("tea").hits] == ["Ada"]
    with recollect.open(str(path), model="none") as memory:
        (ada,) = memory.graph.read_graph().entities
        assert (ada.name, ada.created_at) == ("Ada", clock.now)
        assert memory.scope == recollect.Scope()
    with recollect.open(path, owner="you", agent="helper", model="none") as memory:
        assert memory.scope == recollect.Scope("you", "helper")
        assert memory.graph.read_graph().entities == ()
    with pytest.raises(recollect.StoreUnavailable):
        memory.graph.read_graph()


def test_the_store_and_the_zone_may_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_STORE", str(tmp_path / "memory.db"))
    monkeypatch.setenv("RECOLLECT_MODEL", "none")
    monkeypatch.delenv("RECOLLECT_TIME_ZONE", raising=False)
    monkeypatch.setenv("TZ", "America/Lima")
    with recollect.open() as memory:
        memory.create_entities(["Ada"])
        assert str(memory.zone) == "America/Lima"
    assert (tmp_path / "memory.db").exists()


def test_a_file_that_is_not_ours_is_refused_and_left_alone(tmp_path: Path) -> None:
    stranger = tmp_path / "notes.txt"
    stranger.write_text("precious")
    with pytest.raises(recollect.NotAStore):
        recollect.open(stranger)
    assert stranger.read_text() == "precious"
    with pytest.raises(recollect.RecollectError):
        recollect.open(tmp_path)


def test_a_memory_can_be_kept_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with recollect.open(":memory:", model="none") as memory:
        note = memory.remember("The kettle is in the garden")
        assert [hit.memory.id for hit in memory.recall("kettle").hits] == [note.id]
        assert memory.dream().id == 1
        assert list(memory.upkeep.verify()) == []
        with recollect.open(":memory:", model="none") as other:
            assert other.recall("kettle").hits == ()
    with pytest.raises(recollect.StoreUnavailable, match=r"^:memory: was closed"):
        memory.upkeep.verify()
    assert list(tmp_path.iterdir()) == []
