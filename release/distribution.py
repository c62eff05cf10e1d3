"""Build the packages of a release into `dist`, and try them as a user would.

`python release/distribution.py` prints the reason and exits with 1 if a check fails. `--check` builds nothing
and checks the packages that are in `dist`; `--install-only` only installs and tries them.
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
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.parser import HeaderParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from locked import OURS, PACKAGES, ROOT, core, project
from uv import find_uv_bin

DIST = ROOT / "dist"
MODELS = ("arctic-memory", "arctic-s", "potion", "e5-memory", "e5-small", "rerank-minilm")
"""The default model, the fallback for machines that cannot run it, and the models of extras."""
BENCH = ROOT / "benchmarks" / "quality"
TWINE = "twine==7.0.0"
_MODEL_FILES = ("weights", "graph", "centre", "token_centre", "rotation")
_NEEDS_EXTRA = {
    "mcp": ("serve",),
    "server": ("serve", "--openapi"),
    "postgres": ("--store", "postgresql://nobody@127.0.0.1:1/none", "stats"),
    "importers": ("import", "--format", "chatgpt", __file__),
}
"""A command for each extra; without the extra, it must print how to install it."""
_SDIST_ROOTS = {"src", "README.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}


class Unfit(Exception):
    """A built package must not be published."""


def version() -> str:
    return str(core()["version"])


def build() -> None:
    """Build wheels and sdists; only a wheel for each model, because its build downloads the weights."""
    shutil.rmtree(DIST, ignore_errors=True)
    _uv("build", "--quiet", "--all-packages", "--out-dir", str(DIST), str(ROOT))
    for folder in (*(ROOT / "models" / name for name in MODELS), BENCH):
        _uv("build", "--quiet", "--wheel", "--out-dir", str(DIST), str(folder))


def packages() -> list[Path]:
    return sorted([*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")])


# Contents


def check_contents() -> None:
    ours = [_name_and_version(ROOT / "packages" / name) for name in PACKAGES]
    models = [_name_and_version(ROOT / "models" / name) for name in MODELS]
    expected = {
        *(f"{each}{end}" for each in ours for end in ("-py3-none-any.whl", ".tar.gz")),
        *(f"{each}-py3-none-any.whl" for each in (*models, _name_and_version(BENCH))),
    }
    found = {path.name for path in packages()}
    if found != expected:
        raise Unfit(f"dist holds {sorted(found)}, not {sorted(expected)}.")
    for each in ours:
        check_wheel(DIST / f"{each}-py3-none-any.whl")
        check_sdist(DIST / f"{each}.tar.gz")
    check_needs(DIST / f"{ours[0]}-py3-none-any.whl")
    for each in models:
        check_model(DIST / f"{each}-py3-none-any.whl")


def check_wheel(path: Path) -> None:
    """Refuse a wheel unless it holds its package's files that git tracks, its licence, and nothing else."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
    (folder,) = [name for name in PACKAGES if path.name.startswith(_file_name(ROOT / "packages" / name))]
    module = folder.replace("-", "_")
    listed = subprocess.run(
        ["git", "ls-files", module],  # noqa: S607  # whichever git made the clone
        cwd=ROOT / "packages" / folder / "src",
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    tracked = set(listed.stdout.splitlines())
    held = {name for name in names if ".dist-info/" not in name}
    if held != tracked:
        raise Unfit(
            f"{path.name} and the files that git tracks differ in: {', '.join(sorted(held ^ tracked))}"
        )
    if f"{module}/py.typed" not in held:
        raise Unfit(f"{path.name} lacks {module}/py.typed.")
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        raise Unfit(f"{path.name} lacks its LICENSE.")


def check_needs(path: Path) -> None:
    """Refuse a wheel of the core without the default models, or without the extra of the registry's entry."""
    with zipfile.ZipFile(path) as wheel:
        headers = HeaderParser().parsestr(wheel.read(_metadata(wheel.namelist())).decode())
    needed = [line for line in headers.get_all("Requires-Dist") or () if "extra ==" not in line]
    for model in ("recollect-model-arctic-memory", "recollect-model-e5-memory"):
        if not any(line.startswith(model) for line in needed):
            raise Unfit(f"{path.name} does not depend on the default model {model}: {needed}")
    if "mcp" not in (headers.get_all("Provides-Extra") or ()):
        raise Unfit(f"{path.name} has no extra mcp, which the registry's entry asks for.")


def check_sdist(path: Path) -> None:
    """Refuse an sdist with other files than the source, or whose wheel differs from the published one."""
    with tarfile.open(path) as archive:
        roots = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    if roots != _SDIST_ROOTS:
        raise Unfit(f"{path.name} has missing or unexpected files: {roots ^ _SDIST_ROOTS}")
    with TemporaryDirectory() as folder:
        _uv("build", "--quiet", "--wheel", "--out-dir", folder, str(path))
        (again,) = Path(folder).glob("*.whl")
        if _files(again) != _files(DIST / again.name):
            raise Unfit(f"The wheel built from {path.name} differs from {again.name} in dist.")


def check_model(path: Path) -> None:
    """Refuse a model with code or a wrong hash, or without a named file, its licence or notice."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        (descriptor,) = [name for name in names if name.endswith("/model.json")]
        folder = descriptor.removesuffix("model.json")
        model: dict[str, Any] = json.loads(wheel.read(descriptor))
        named = {model[field] for field in _MODEL_FILES if field in model} | {"tokenizer.json"}
        if missing := sorted(name for name in named if folder + name not in names):
            raise Unfit(f"{path.name} lacks {', '.join(missing)}.")
        # A model's converter may replace a downloaded file, which is then not in the wheel.
        for name, hashes in model["files"].items():
            if folder + name in names and hashlib.sha256(wheel.read(folder + name)).hexdigest() not in hashes:
                raise Unfit(f"{path.name}: {name} does not have its pinned hash.")
        code = [name for name in names if name.endswith(".py") and wheel.read(name).count(b"\n") > 1]
    for wanted in ("LICENSE", "NOTICE"):
        if not any(name.endswith(f".dist-info/licenses/{wanted}") for name in names):
            raise Unfit(f"{path.name} lacks its {wanted}.")
    if code:
        raise Unfit(f"{path.name} holds code: {', '.join(code)}")


def check_metadata() -> None:
    """Check the metadata as the package index does."""
    _uv("tool", "run", "--from", TWINE, "twine", "--no-color", "check", "--strict", *map(str, packages()))


# Installation


def try_library(python: str) -> None:
    """Check `pip install recollect-memory`: it installs the default model and no extra."""
    with _environment(python, OURS) as bin_folder:
        _check_version(bin_folder)
        _run(bin_folder / "python", ROOT / "release" / "smoke.py")
        for extra, command in _NEEDS_EXTRA.items():
            refused = _stderr_of(bin_folder / "recollect", *command)
            if f"{OURS}[{extra}]" not in refused:
                raise Unfit(
                    f"Without [{extra}], `recollect {' '.join(command)}` says: {refused or 'nothing'}"
                )


def try_packages(python: str) -> None:
    """Check installation with extras by `uv tool` and `pip`: the core finds our other packages."""
    extras = f"{OURS}[importers,langgraph,postgres,server]"
    with _environment(python, extras) as bin_folder, TemporaryDirectory() as folder:
        _check_version(bin_folder)
        _run(bin_folder / "python", "-c", "import recollect_integrations.langgraph")
        for extra, command in _NEEDS_EXTRA.items():
            if extra != "mcp" and "pip install" in (error := _stderr_of(bin_folder / "recollect", *command)):
                raise Unfit(f"With [{extra}], `recollect {' '.join(command)}` says: {error}")
        tools = {"UV_TOOL_DIR": str(Path(folder) / "tools"), "UV_TOOL_BIN_DIR": str(Path(folder) / "bin")}
        _uv(
            "tool", "install", "--quiet", "--python", python, *_from_dist(), f"{extras}=={version()}", **tools
        )
        _check_version(Path(folder) / "bin")


def try_server(python: str) -> None:
    """Check `pip install 'recollect-memory[mcp]'`: an MCP client remembers, and recalls by meaning."""
    with _environment(python, f"{OURS}[mcp]") as bin_folder, TemporaryDirectory() as folder:
        _check_version(bin_folder)
        store = str(Path(folder) / "memory.db")
        print(mcp_handshake([str(bin_folder / "recollect"), "--store", store, "serve"]))


def try_registry_entry(python: str) -> None:
    """Check the commands that clients make from server.json: uvx, with and without the package's version."""
    (package,) = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["packages"]
    runtime = [word for each in package["runtimeArguments"] for word in (each["name"], each["value"])]
    arguments = [each["value"] for each in package["packageArguments"]]
    uvx = [find_uv_bin(), "tool", "run", "--quiet", "--python", python, *_from_dist()]
    for name in (package["identifier"], f"{package['identifier']}@{package['version']}"):
        with TemporaryDirectory() as folder:
            store = {"RECOLLECT_STORE": str(Path(folder) / "memory.db")}
            print(f"uvx {name}: {mcp_handshake([*uvx, *runtime, name, *arguments], store)}")


def mcp_handshake(command: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
    """Call a server over stdio; return a line with its name, version and number of tools."""
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
        # With a limit, the nearest memories come back however sure the answer is.
        _call(4, "recall", query="commuting by public transport", limit=3),
    ]
    server = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **(variables or {})},  # noqa: TID251  # a client passes its environment on
    )
    assert server.stdin is not None  # noqa: S101  # as Popen was asked for
    assert server.stdout is not None  # noqa: S101
    results: dict[int, dict[str, Any]] = {}
    with server:
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            # Wait for each answer, so that the memory is stored before it is recalled.
            while "id" in message and message["id"] not in results:
                line = server.stdout.readline()
                if not line:
                    raise Unfit(f"The server ended: {server.stderr.read() if server.stderr else ''}")
                answer = json.loads(line)
                if "id" in answer:
                    results[answer["id"]] = answer.get("result") or {}
        server.stdin.close()
    server_info = results[1].get("serverInfo", {})
    tools = {tool["name"] for tool in results[2].get("tools", ())}
    recalled = json.dumps(results[4])
    if not {"remember", "recall"} <= tools or "tram" not in recalled:
        raise Unfit(f"The server offers {sorted(tools)} and recalls {recalled}.")
    return f"{server_info.get('name')} {server_info.get('version')}: {len(tools)} tools; recalled its memory"


def _call(number: int, tool: str, **arguments: str | int) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@contextmanager
def _environment(python: str, requirement: str) -> Iterator[Path]:
    """Yield the bin folder of a new environment: our packages from `dist`, all others from the index."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "venv"
        _uv("venv", "--quiet", "--python", python, str(place))
        _uv("pip", "install", "--quiet", "--python", str(place), *_from_dist(), f"{requirement}=={version()}")
        yield place / ("Scripts" if os.name == "nt" else "bin")


def _check_version(bin_folder: Path) -> None:
    output = _run(bin_folder / "recollect", "--version").strip()
    if output != f"recollect {version()}":
        raise Unfit(f"`recollect --version` says {output!r}, and pyproject.toml {version()!r}.")


# Helpers


def _from_dist() -> list[str]:
    """Options of uv: take our packages from `dist`, not from the cache's copies of earlier builds."""
    return ["--find-links", str(DIST), *(word for name in _ours() for word in ("--refresh-package", name))]


def _stderr_of(*command: str | Path) -> str:
    """Run a command that may fail, and return its standard error."""
    return subprocess.run(command, check=False, capture_output=True, encoding="utf-8", input="").stderr


def _ours() -> list[str]:
    return [OURS, *PACKAGES[1:], "recollect-bench", *(f"recollect-model-{name}" for name in MODELS)]


def _file_name(folder: Path) -> str:
    """Return the first part of the names of a package's files, such as `recollect_memory-`."""
    return f"{project(folder)['name'].replace('-', '_')}-"


def _name_and_version(folder: Path) -> str:
    return f"{_file_name(folder)}{project(folder)['version']}"


def _metadata(names: Iterable[str]) -> str:
    (name,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    return name


def _files(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as wheel:
        return {name: hashlib.sha256(wheel.read(name)).hexdigest() for name in wheel.namelist()}


def _uv(*arguments: str, **variables: str) -> None:
    _run(find_uv_bin(), *arguments, **variables)


def _run(program: str | Path, *arguments: str | Path, **variables: str) -> str:
    done = subprocess.run(
        [program, *arguments],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **variables},  # noqa: TID251  # a user's shell passes its environment on
    )
    if done.returncode:
        words = " ".join(map(str, (Path(program).name, *arguments)))
        raise Unfit(f"`{words}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main(*arguments: str) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="build nothing; check the packages in dist")
    parser.add_argument(
        "--install-only", action="store_true", help="only install and try the packages in dist"
    )
    parser.add_argument("--python", default=sys.executable, help="the Python to install the packages for")
    chosen = parser.parse_args(arguments)
    try:
        if not chosen.check and not chosen.install_only:
            build()
        if not chosen.install_only:
            check_contents()
            check_metadata()
        try_library(chosen.python)
        try_server(chosen.python)
        try_packages(chosen.python)
        try_registry_entry(chosen.python)
    except Unfit as error:
        print(error, file=sys.stderr)
        return 1
    for path in packages():
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
