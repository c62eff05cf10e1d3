"""Builds what a release publishes into `dist`, and tries it as a user gets it.

`python release/distribution.py` ends with 1, and says why, where anything is not as it should be. With
`--check` it builds nothing, and takes what is in `dist` already; with `--install-only` it only installs that.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.parser import HeaderParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from locked import OURS, ROOT
from uv import find_uv_bin

DIST = ROOT / "dist"
MODELS = ("arctic-s", "potion", "e5-small", "rerank-minilm")
"""The default model, the one for machines where that does not run, and those of extras."""
BENCH = ROOT / "benchmarks" / "quality"
TWINE = "twine==7.0.0"
_MODEL_FILES = ("weights", "graph", "centre", "token_centre", "rotation")
_SDIST_ROOTS = {"src", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}


class Unfit(Exception):
    """What was built must not be published."""


def version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def build() -> None:
    """Of each model a wheel alone, since its weights are fetched when it is built."""
    shutil.rmtree(DIST, ignore_errors=True)
    _uv("build", "--quiet", "--out-dir", str(DIST), str(ROOT))
    for folder in (*(ROOT / "models" / name for name in MODELS), BENCH):
        _uv("build", "--quiet", "--wheel", "--out-dir", str(DIST), str(folder))


def packages() -> list[Path]:
    return sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])


# What is in them


def check_contents() -> None:
    expected = {
        *(f"recollect_memory-{version()}{end}" for end in ("-py3-none-any.whl", ".tar.gz")),
        *(f"{each}-py3-none-any.whl" for each in map(_name_and_version, MODELS)),
        f"recollect_bench-{_project(BENCH)['version']}-py3-none-any.whl",
    }
    found = {path.name for path in packages()}
    if found != expected:
        raise Unfit(f"dist holds {sorted(found)}, not {sorted(expected)}.")
    check_wheel(DIST / f"recollect_memory-{version()}-py3-none-any.whl")
    check_sdist(DIST / f"recollect_memory-{version()}.tar.gz")
    for name in MODELS:
        check_model(DIST / f"{_name_and_version(name)}-py3-none-any.whl")


def check_wheel(path: Path) -> None:
    """All of the package that git knows, with its licence, and nothing else."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        told = HeaderParser().parsestr(wheel.read(_metadata(names)).decode())
    listed = subprocess.run(
        ["git", "ls-files", "src/recollect"],  # noqa: S607  # whichever git made the clone
        cwd=ROOT,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    tracked = {name.removeprefix("src/") for name in listed.stdout.splitlines()}
    held = {name for name in names if ".dist-info/" not in name}
    if held != tracked:
        raise Unfit(f"{path.name} and src/recollect differ in: {', '.join(sorted(held ^ tracked))}")
    if "recollect/py.typed" not in held:
        raise Unfit(f"{path.name} lacks recollect/py.typed.")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        raise Unfit(f"{path.name} lacks its LICENSE.")
    needed = [line for line in told.get_all("Requires-Dist") or () if "extra ==" not in line]
    if not any(line.startswith("recollect-model-arctic-s") for line in needed):
        raise Unfit(f"{path.name} does not bring the default model along: {needed}")
    if "mcp" not in (told.get_all("Provides-Extra") or ()):
        raise Unfit(f"{path.name} has no extra mcp, which the registry's entry asks for.")


def check_sdist(path: Path) -> None:
    """It holds the source alone, and the wheel that it makes is the one that is published, byte for byte."""
    with tarfile.open(path) as archive:
        roots = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    if roots != _SDIST_ROOTS:
        raise Unfit(f"{path.name} differs from what it should hold in: {roots ^ _SDIST_ROOTS}")
    with TemporaryDirectory() as folder:
        _uv("build", "--quiet", "--wheel", "--out-dir", folder, str(path))
        (again,) = Path(folder).glob("*.whl")
        if _files(again) != _files(DIST / again.name):
            raise Unfit(f"{path.name} makes another wheel than {again.name}.")


def check_model(path: Path) -> None:
    """Every file that `model.json` names, licence and notice, and nothing that runs; what was fetched has its
    pinned hash.
    """
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        (descriptor,) = [name for name in names if name.endswith("/model.json")]
        folder = descriptor.removesuffix("model.json")
        model: dict[str, Any] = json.loads(wheel.read(descriptor))
        named = {model[field] for field in _MODEL_FILES if field in model} | {"tokenizer.json"}
        if missing := sorted(name for name in named if folder + name not in names):
            raise Unfit(f"{path.name} lacks {', '.join(missing)}.")
        # What a model's `convert.py` made of a fetched file is there in its place.
        for name, hashes in model["files"].items():
            if folder + name in names and hashlib.sha256(wheel.read(folder + name)).hexdigest() not in hashes:
                raise Unfit(f"{path.name}: {name} does not have the bytes that are pinned.")
        code = [name for name in names if name.endswith(".py") and wheel.read(name).count(b"\n") > 1]
    for wanted in ("LICENSE", "NOTICE"):
        if not any(name.endswith(f".dist-info/licenses/{wanted}") for name in names):
            raise Unfit(f"{path.name} lacks its {wanted}.")
    if code:
        raise Unfit(f"{path.name} holds code: {', '.join(code)}")


def check_metadata() -> None:
    """As the index will."""
    _uv("tool", "run", "--from", TWINE, "twine", "--no-color", "check", "--strict", *map(str, packages()))


# As a user gets them


def try_library(python: str) -> None:
    """`pip install recollect-memory`: the default model comes along, and the server does not."""
    with _environment(python, OURS) as bin_folder:
        _is_ours(bin_folder)
        _run(bin_folder / "python", ROOT / "release" / "smoke.py")
        refused = subprocess.run(
            [bin_folder / "recollect", "serve"], check=False, capture_output=True, encoding="utf-8", input=""
        )
        if refused.returncode == 0 or f"{OURS}[mcp]" not in refused.stderr:
            raise Unfit(f"Without the extra, `recollect serve` says: {refused.stderr or 'nothing'}")


def try_server(python: str) -> None:
    """`pip install 'recollect-memory[mcp]'`: a client that speaks MCP remembers, and recalls by meaning."""
    with _environment(python, f"{OURS}[mcp]") as bin_folder, TemporaryDirectory() as folder:
        _is_ours(bin_folder)
        store = str(Path(folder) / "memory.db")
        print(mcp_handshake([str(bin_folder / "recollect"), "--store", store, "serve"]))


def try_registry_entry(python: str) -> None:
    """What clients make of server.json: uvx, our arguments, and the package with or without its version."""
    (package,) = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["packages"]
    runtime = [word for each in package["runtimeArguments"] for word in (each["name"], each["value"])]
    arguments = [each["value"] for each in package["packageArguments"]]
    fresh = [word for name in _ours() for word in ("--refresh-package", name)]
    uvx = [find_uv_bin(), "tool", "run", "--quiet", "--python", python, "--find-links", str(DIST), *fresh]
    for name in (package["identifier"], f"{package['identifier']}@{package['version']}"):
        with TemporaryDirectory() as folder:
            store = {"RECOLLECT_STORE": str(Path(folder) / "memory.db")}
            print(f"uvx {name}: {mcp_handshake([*uvx, *runtime, name, *arguments], store)}")


def mcp_handshake(command: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
    """Talks to a server over standard input and output; gives its name, its version and what it recalled."""
    messages: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "smoke", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        _call(3, "remember", text="The tram brings Ana to her office"),
        _call(4, "recall", query="commuting by public transport"),
    ]
    server = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **(variables or {})},  # noqa: TID251  # ours is what a client would hand on
    )
    assert server.stdin is not None  # noqa: S101  # as Popen was asked for
    assert server.stdout is not None  # noqa: S101
    results: dict[int, dict[str, Any]] = {}
    with server:
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            # One after the other: what is remembered must be there before it is asked for.
            while "id" in message and message["id"] not in results:
                line = server.stdout.readline()
                if not line:
                    raise Unfit(f"The server ended: {server.stderr.read() if server.stderr else ''}")
                answer = json.loads(line)
                if "id" in answer:
                    results[answer["id"]] = answer.get("result") or {}
        server.stdin.close()
    told = results[1].get("serverInfo", {})
    tools = {tool["name"] for tool in results[2].get("tools", ())}
    recalled = json.dumps(results[4])
    if not {"remember", "recall"} <= tools or "tram" not in recalled:
        raise Unfit(f"The server offers {sorted(tools)} and recalls {recalled}.")
    return f"{told.get('name')} {told.get('version')}: {len(tools)} tools; it recalled what it remembered"


def _call(number: int, tool: str, **arguments: str) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@contextmanager
def _environment(python: str, requirement: str) -> Iterator[Path]:
    """An empty environment with what the requirement brings: ours from `dist`, all else from the index."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "venv"
        _uv("venv", "--quiet", "--python", python, str(place))
        # As a release of another program would: without the cache's copies of earlier builds of ours.
        _uv(
            *("pip", "install", "--quiet", "--python", str(place), "--find-links", str(DIST)),
            *(word for name in _ours() for word in ("--refresh-package", name)),
            f"{requirement}=={version()}",
        )
        yield place / ("Scripts" if os.name == "nt" else "bin")


def _is_ours(bin_folder: Path) -> None:
    told = _run(bin_folder / "recollect", "--version").strip()
    if told != f"recollect {version()}":
        raise Unfit(f"`recollect --version` says {told!r}, and pyproject.toml {version()!r}.")


# Small things


def _ours() -> list[str]:
    return [OURS, "recollect-bench", *(f"recollect-model-{name}" for name in MODELS)]


def _project(folder: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return project


def _name_and_version(model: str) -> str:
    project = _project(ROOT / "models" / model)
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _metadata(names: set[str]) -> str:
    (name,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    return name


def _files(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as wheel:
        return {name: hashlib.sha256(wheel.read(name)).hexdigest() for name in wheel.namelist()}


def _uv(*arguments: str) -> None:
    _run(find_uv_bin(), *arguments)


def _run(program: str | Path, *arguments: str | Path) -> str:
    done = subprocess.run([program, *arguments], check=False, capture_output=True, encoding="utf-8")
    if done.returncode:
        words = " ".join(map(str, (Path(program).name, *arguments)))
        raise Unfit(f"`{words}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main(*arguments: str) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="build nothing; try what is in dist")
    parser.add_argument(
        "--install-only", action="store_true", help="only install what is in dist, and use it"
    )
    parser.add_argument("--python", default=sys.executable, help="the Python to install it for")
    chosen = parser.parse_args(arguments)
    try:
        if not chosen.check and not chosen.install_only:
            build()
        if not chosen.install_only:
            check_contents()
            check_metadata()
        try_library(chosen.python)
        try_server(chosen.python)
        try_registry_entry(chosen.python)
    except Unfit as error:
        print(error, file=sys.stderr)
        return 1
    for path in packages():
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
