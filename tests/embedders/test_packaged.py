"""Model packages: what their descriptor says, and how they are found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from recollect.embedders.loading import described_model
from recollect.embedders.packaged import described, packaged, packaged_names
from recollect.errors import ModelUnavailable

if TYPE_CHECKING:
    from pathlib import Path

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
    model = described(package(tmp_path))
    assert model.full_name == "tiny-one@abc123"
    assert model.weights.name == "model.safetensors"
    assert model.libraries == ("tokenizers",)


def test_an_installed_package_is_found_by_the_name_of_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert packaged("tiny-one") == described(tmp_path / "recollect_model_tiny_one")
    assert "tiny-one" in packaged_names()


def test_what_is_not_installed_is_not_found() -> None:
    assert packaged("of-nobody") is None


def test_the_centre_reaches_the_record_as_packed_floats(tmp_path: Path) -> None:
    where = package(tmp_path)
    (where / "centre.json").write_text("[1.0, -2.0]", encoding="utf-8")
    # 1.0 is 0x3f800000 and -2.0 is 0xc0000000, little end first.
    assert described_model(described(where)).centre == bytes.fromhex("0000803f000000c0")


def test_a_model_without_a_centre_has_none(tmp_path: Path) -> None:
    assert described_model(described(package(tmp_path, centre=None))).centre is None


@pytest.mark.parametrize("changes", [{"pooling": "max"}, {"architecture": "other"}, {"weights": None}])
def test_a_descriptor_that_makes_no_sense_asks_to_install_again(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(ModelUnavailable, match=r"damaged.*install it again"):
        described(package(tmp_path, **changes))


def test_a_descriptor_that_is_not_json_asks_to_install_again(tmp_path: Path) -> None:
    where = package(tmp_path)
    (where / "model.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelUnavailable, match="install it again"):
        described(where)
