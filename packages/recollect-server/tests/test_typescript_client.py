"""The TypeScript client: its generated types are fresh, it compiles, and its tests pass against a server."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from api_world import TOKEN, listening
from kept import cache_folder

from recollect_server.api.openapi import openapi_bytes

if TYPE_CHECKING:
    from recollect.engine import Engine

CLIENT = Path(__file__).parents[3] / "clients" / "typescript"
MADE = ("schema.ts", "operations.ts")
(EXAMPLE,) = re.findall(r"```ts\n(.*?)```", (CLIENT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy with what its lock names; skipped where Node or the registry is not to be had."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("The TypeScript client needs Node and npm.")
    lock = (CLIENT / "package-lock.json").read_bytes()
    with cache_folder(f"typescript-client-{hashlib.sha256(lock).hexdigest()[:12]}") as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(CLIENT / name, folder)
        if not (folder / "node_modules" / "typescript").exists():
            fetch = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
            try:
                subprocess.run(fetch, check=True, capture_output=True, timeout=180)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                pytest.skip(f"npm could not fetch what the lock names: {error}")
    copy = tmp_path_factory.mktemp("client") / "typescript"
    shutil.copytree(CLIENT, copy, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (copy / "node_modules").symlink_to(folder / "node_modules")
    (copy / "openapi.json").write_bytes(openapi_bytes())
    return copy


def run(package: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        ["node", *command],
        cwd=package,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_made_of_the_openapi_document_is_fresh(package: Path, tmp_path: Path) -> None:
    run(package, "generate.mjs", "openapi.json", str(tmp_path))
    for name in MADE:
        assert (tmp_path / name).read_text() == (CLIENT / "src" / name).read_text(), "Run `make client`."


@pytest.fixture(scope="module")
def compiled(package: Path) -> Path:
    """Strictly, with what users write: the calls of its own tests, and the example of its README."""
    declared = "declare const process: { env: Record<string, string | undefined> };\n"
    (package / "test" / "readme.ts").write_text(declared + EXAMPLE)
    for configuration in ("tsconfig.json", "tsconfig.test.json"):
        run(package, "node_modules/typescript/bin/tsc", "-p", configuration)
    return package


def test_its_own_tests_pass_against_a_server(compiled: Path, engine: Engine) -> None:
    node, *arguments = json.loads((CLIENT / "package.json").read_text())["scripts"]["test"].split()
    assert node == "node"
    written = re.findall(r"^test\(", (CLIENT / "test" / "client.test.mjs").read_text(), re.MULTILINE)
    with listening(engine) as url:
        told = run(compiled, *arguments, RECOLLECT_URL=url, RECOLLECT_TOKEN=TOKEN)
    assert "# fail 0" in told
    assert f"# pass {len(written)}\n" in told


def test_the_example_of_its_readme_runs_with_what_npm_publishes(
    compiled: Path, engine: Engine, tmp_path: Path
) -> None:
    pack = ["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", str(tmp_path)]
    subprocess.run(pack, cwd=compiled, check=True, capture_output=True)
    (packed,) = tmp_path.glob("recollect-memory-*.tgz")
    with tarfile.open(packed) as archive:
        assert {name.split("/")[1] for name in archive.getnames()} == {
            *("dist", "package.json", "README.md", "LICENSE")
        }
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "package").rename(tmp_path / "node_modules" / "recollect-memory")
    with listening(engine) as url:
        (tmp_path / "example.mjs").write_text(EXAMPLE.replace("http://127.0.0.1:7438", url))
        told = run(tmp_path, "example.mjs", RECOLLECT_TOKEN=TOKEN)
    assert "Ines drinks sencha after lunch" in told
    assert "oolong" not in told


def test_the_package_needs_nothing_at_run_time_and_its_lock_is_whole() -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    lock = json.loads((CLIENT / "package-lock.json").read_text())
    assert "dependencies" not in package
    assert lock["packages"][""]["devDependencies"] == package["devDependencies"]
    fetched = {name: each for name, each in lock["packages"].items() if name}
    assert all(each["integrity"].startswith("sha512-") for each in fetched.values())
