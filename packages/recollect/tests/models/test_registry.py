"""Model packages: what their descriptor says, and how they are found."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.models import registry
from recollect.models.packaged import read_centre, stored_model
from recollect.models.registry import (
    EMBEDDER,
    RERANKER,
    availabilities,
    availability,
    packaged_model,
    read_descriptor,
)

MODELS = Path(__file__).parents[4] / "models"
DESCRIPTOR: dict[str, Any] = {
    "name": "tiny-one",
    "revision": "abc123",
    "title": "a tiny model",
    "languages": ["en"],
    "architecture": "static",
    "dims": 2,
    "tokens": None,
    "pooling": "mean",
    "query_prefix": "",
    "document_prefix": "",
    "centre": "centre.json",
    "weights": "model.safetensors",
}


def package(folder: Path, **changes: Any) -> Path:
    where = folder / "recollect_model_tiny_one"
    where.mkdir()
    (where / "__init__.py").touch()
    (where / "model.json").write_text(json.dumps(DESCRIPTOR | changes), encoding="utf-8")
    return where


def test_a_descriptor_says_what_the_model_is_and_where_its_files_are(tmp_path: Path) -> None:
    model = read_descriptor(package(tmp_path))
    assert model.full_name == "tiny-one@abc123"
    assert model.weights.name == "model.safetensors"
    assert model.libraries == ("tokenizers",)
    assert model.token_centre is None
    (tmp_path / "new").mkdir()
    name = "token_centre.json"
    where = package(tmp_path / "new", token_centre=name, centre=None)
    assert read_descriptor(where).token_centre == where / name
    assert stored_model(read_descriptor(where)).centre is None


@pytest.mark.parametrize(
    "folder",
    [
        "arctic-memory/recollect_model_arctic_memory",
        "arctic-s/recollect_model_arctic_s",
        "e5-memory/recollect_model_e5_memory",
        "e5-small/recollect_model_e5_small",
    ],
)
def test_our_models_with_tokens_say_where_these_crowd(folder: str) -> None:
    model = read_descriptor(MODELS / folder)
    assert model.token_centre is not None
    centre = read_centre(model.token_centre)
    # A mean of vectors of length one is shorter, and the longer the more they are alike.
    assert centre.shape == (model.dims,)
    assert 0 < float(centre @ centre) < 1


def test_an_installed_package_is_found_by_the_name_of_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path)
    assert packaged_model("tiny-one") is None
    monkeypatch.syspath_prepend(tmp_path)
    assert packaged_model("tiny-one") == read_descriptor(tmp_path / "recollect_model_tiny_one")


def register(folder: Path, name: str, package: str) -> None:
    """As installing a wheel does that has such an entry point."""
    about = folder / "their_models-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-models\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[recollect.models]\n{name} = {package}\n")


def test_a_package_of_any_name_registers_a_model_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path).rename(tmp_path / "their_package")
    register(tmp_path, "tiny-one", "their_package")
    monkeypatch.syspath_prepend(tmp_path)
    model = packaged_model("tiny-one")
    assert model == read_descriptor(tmp_path / "their_package", "their-models")
    assert packaged_model("tiny-one", RERANKER) is None
    assert [state.name for state in availabilities()] == [*EMBEDDER.ours, "tiny-one"]
    assert [state.name for state in availabilities(RERANKER)] == [*RERANKER.ours]


def test_a_re_ranker_is_registered_in_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, architecture="cross-encoder", tokens=512).rename(tmp_path / "their_package")
    register(tmp_path, "judge", "their_package")
    monkeypatch.syspath_prepend(tmp_path)
    assert [state.name for state in availabilities(RERANKER)] == [*RERANKER.ours, "judge"]
    assert packaged_model("judge") is None


def test_a_damaged_model_package_is_listed_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_package").mkdir()
    (tmp_path / "their_package" / "__init__.py").touch()
    register(tmp_path, "broken-one", "their_package")
    monkeypatch.syspath_prepend(tmp_path)
    broken = {one.name: one for one in availabilities()}["broken-one"]
    assert not broken.ready
    assert "damaged" in broken.reason
    assert broken.command == "pip install --force-reinstall --no-deps their-models"


@pytest.mark.parametrize(
    "folder", sorted(path.parent for path in MODELS.glob("*/pyproject.toml")), ids=lambda p: p.name
)
def test_our_own_packages_register_their_models(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, value),) = project["entry-points"]["recollect.models"].items()
    model = read_descriptor(folder / value)
    assert (model.name, model.distribution) == (name, project["name"])
    kind = RERANKER if model.architecture in RERANKER.architectures else EMBEDDER
    assert name in kind.ours
    assert value == kind.prefix + name.replace("-", "_")


def test_ours_are_found_without_reading_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("entry points take longer to read than `recall` may wait")

    monkeypatch.setattr(registry, "_entry_points", refuse)
    for kind in (EMBEDDER, RERANKER):
        for name in kind.ours:
            availability(name, kind)


def test_the_centre_reaches_the_record_as_packed_floats(tmp_path: Path) -> None:
    where = package(tmp_path)
    (where / "centre.json").write_text("[1.0, -2.0]", encoding="utf-8")
    # 1.0 is 0x3f800000 and -2.0 is 0xc0000000, little end first.
    assert stored_model(read_descriptor(where)).centre == bytes.fromhex("0000803f000000c0")


def test_a_descriptor_that_makes_no_sense_asks_to_install_again(tmp_path: Path) -> None:
    where = package(tmp_path)
    for changes in ({"pooling": "max"}, {"architecture": "other"}, {"weights": None}):
        (where / "model.json").write_text(json.dumps(DESCRIPTOR | changes), encoding="utf-8")
        with pytest.raises(ModelUnavailable, match=r"damaged.*install it again"):
            read_descriptor(where)
    (where / "model.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelUnavailable, match="install it again"):
        read_descriptor(where)
