"""Checks before a release: packages, release notes and workflows."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import distribution
import lint
import notes
import pytest
from distribution import Unfit
from locked import PACKAGES, ROOT, core
from notes import NotReady, release_notes
from uv import find_uv_bin

WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob(".github/workflows/*.yml")}
PROJECT = core()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build every package's wheel and sdist; skip where the build tool cannot be fetched."""
    folder = tmp_path_factory.mktemp("dist")
    command = [find_uv_bin(), "build", "--quiet", "--all-packages", "--out-dir", str(folder), str(ROOT)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode and "hatchling" in done.stderr:
        pytest.skip("hatchling cannot be fetched")
    assert done.returncode == 0, done.stderr
    return folder


def copy_package(built: Path, folder: Path, pattern: str) -> Path:
    (path,) = built.glob(f"recollect_memory-{pattern}")
    return Path(shutil.copy(path, folder))


def test_each_wheel_holds_its_package_and_nothing_else(built: Path, tmp_path: Path) -> None:
    wheels = list(built.glob("*.whl"))
    assert len(wheels) == len(PACKAGES)
    for each in wheels:
        distribution.check_wheel(each)
    wheel = copy_package(built, tmp_path, "*.whl")
    distribution.check_needs(wheel)
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("packages/recollect/tests/test_api.py", "")
    with pytest.raises(Unfit, match=r"tests/test_api\.py"):
        distribution.check_wheel(wheel)


def test_the_sdist_makes_the_same_wheel(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "DIST", tmp_path)
    wheel, sdist = copy_package(built, tmp_path, "*.whl"), copy_package(built, tmp_path, "*.tar.gz")
    distribution.check_sdist(sdist)
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("recollect/extra.py", "")
    with pytest.raises(Unfit, match="differs from"):
        distribution.check_sdist(sdist)


def model_wheel(folder: Path, name: str = "", content: bytes | None = None) -> Path:
    """Make a valid small wheel, but with this content of the file `name`, or without it if that is None."""
    package, about = "recollect_model_small/", "recollect_model_small-1.0.0.dist-info/licenses/"
    pinned = hashlib.sha256(b"weights").hexdigest()
    described = {"weights": "model.onnx", "graph": "graph.onnx", "files": {"model.onnx": [pinned]}}
    files = {
        f"{package}model.json": json.dumps(described).encode(),
        **{package + each: b"" for each in ("__init__.py", "graph.onnx", "tokenizer.json")},
        f"{package}model.onnx": b"weights",
        **{about + each: b"" for each in ("LICENSE", "NOTICE")},
    }
    path = folder / "small.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for place, right in files.items():
            given = content if place.endswith(f"/{name}") else right
            if given is not None:
                wheel.writestr(place, given)
    return path


def test_a_models_wheel_has_its_files_with_pinned_hashes_and_no_code(tmp_path: Path) -> None:
    distribution.check_model(model_wheel(tmp_path))
    with pytest.raises(Unfit, match=r"lacks model\.onnx"):
        distribution.check_model(model_wheel(tmp_path, "model.onnx"))
    with pytest.raises(Unfit, match=r"lacks graph\.onnx"):
        distribution.check_model(model_wheel(tmp_path, "graph.onnx"))
    with pytest.raises(Unfit, match="not have its pinned hash"):
        distribution.check_model(model_wheel(tmp_path, "model.onnx", b"others"))
    with pytest.raises(Unfit, match="lacks its NOTICE"):
        distribution.check_model(model_wheel(tmp_path, "NOTICE"))
    with pytest.raises(Unfit, match="holds code"):
        distribution.check_model(model_wheel(tmp_path, "__init__.py", b"import os\nos.abort()\n"))


def test_a_server_that_speaks_mcp_passes_and_one_that_does_not_is_refused(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "recollect.cli.main", "--store", str(tmp_path / "memory.db")]
    assert "recalled its memory" in distribution.mcp_handshake([*program, "serve"])
    with pytest.raises(Unfit, match="The server ended"):
        distribution.mcp_handshake([*program, "serve", "--tools", "none-such"])


# Notes


def test_this_version_has_notes_and_every_file_agrees_on_it() -> None:
    text = release_notes(f"v{PROJECT['version']}")
    assert text.startswith("### ")
    assert not re.search(r"\]\((?!https?://|\.\./\.\./blob/v)", text)
    assert {said for _, said in notes.stated_versions()} == {PROJECT["version"]}
    assert len(list(notes.stated_versions())) >= 10


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy the files that state the version, so that a test can change them."""
    for name in (
        *("server.json", "uv.lock", "compose.yaml", "CHANGELOG.md", "docs/guides/containers.md"),
        *(f"packages/{each}/pyproject.toml" for each in PACKAGES),
        *(f"clients/typescript/{each}.json" for each in ("package", "package-lock")),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("server.json", ('"version": "{}"', '"version": "9.9"'), "server.json, version says 9.9"),
        ("server.json", ("[mcp]=={}", "[mcp]==9.9"), "server.json, --with says 9.9"),
        ("clients/typescript/package.json", ('"{}"', '"9.9"'), "package.json says 9.9"),
        (
            "clients/typescript/package-lock.json",
            ('      "version": "{}"', '      "version": "9.9"'),
            "package-lock.json, packages says 9.9",
        ),
        *(
            (
                f"packages/{each}/pyproject.toml",
                ('version = "{}"', 'version = "9.9"'),
                f"packages/{each}/pyproject.toml says 9.9",
            )
            for each in PACKAGES[1:]
        ),
        (
            "packages/recollect/pyproject.toml",
            ("server=={}", "server==9.9"),
            "recollect/pyproject.toml says 9.9",
        ),
        (
            "uv.lock",
            ('"recollect-memory"\nversion = "{}"', '"recollect-memory"\nversion = "9.9"'),
            "uv.lock says 9.9",
        ),
        ("compose.yaml", (":{}", ":9.9"), "compose.yaml says 9.9"),
        ("docs/guides/containers.md", (":{}", ":9.9"), "docs/guides/containers.md says 9.9"),
        ("CHANGELOG.md", ("## {} ", "## 9.9 "), "CHANGELOG.md has no section"),
        ("CHANGELOG.md", ("## {} - ", "## {}\n\n- "), "needs a date"),
    ],
)
def test_a_version_that_differs_anywhere_is_refused(
    copy: Path, name: str, change: tuple[str, str], says: str
) -> None:
    version = PROJECT["version"]
    assert release_notes(f"v{version}", copy)
    old, new = (each.replace("{}", version) for each in change)
    text = (copy / name).read_text(encoding="utf-8")
    assert old in text
    (copy / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(NotReady, match=re.escape(says)):
        release_notes(f"v{version}", copy)


def test_a_tag_of_another_version_is_refused() -> None:
    with pytest.raises(NotReady, match=r"The tag is v9\.9"):
        release_notes("v9.9")
    assert notes.main("v9.9") == 1


# Workflows


def test_every_action_is_pinned_by_one_commit_and_names_its_release() -> None:
    found: dict[str, set[tuple[str, str]]] = {}
    for text in WORKFLOWS.values():
        for reference in re.findall(r"uses: (.+)", text):
            if not reference.startswith("./"):
                pinned = re.fullmatch(r"([\w.-]+/[\w.-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)", reference)
                assert pinned, reference
                found.setdefault(pinned[1], set()).add((pinned[2], pinned[3]))
    assert len(found) >= 6
    assert {action for action, pins in found.items() if len(pins) > 1} == set()


def test_workflows_have_only_the_permissions_that_they_need() -> None:
    for text in WORKFLOWS.values():
        assert "\npermissions: {}\n" in text
    assert "write" not in WORKFLOWS["ci.yml"]
    written = re.findall(r"^ +([\w-]+): write", WORKFLOWS["release.yml"], re.MULTILINE)
    assert sorted(written) == ["attestations", "contents", *["id-token"] * 4]
    assert "secrets." not in "".join(WORKFLOWS.values())


def test_the_models_are_published_first_and_no_job_publishes_twice() -> None:
    _, *parts = re.split(
        r"^  ([\w-]+):\n", WORKFLOWS["release.yml"].partition("\njobs:\n")[2], flags=re.MULTILINE
    )
    jobs = dict(zip(parts[::2], parts[1::2], strict=True))
    publishing = {name: text.count("gh-action-pypi-publish@") for name, text in jobs.items()}
    assert {name: count for name, count in publishing.items() if count} == {"pypi-models": 1, "pypi": 1}
    assert "recollect_model_*" in jobs["pypi-models"]
    assert "needs: pypi-models\n" in jobs["pypi"]
    published = {name for name in jobs if "environment:" in jobs[name]}
    assert published == {"pypi-models", "pypi", "npm"}
    assert "needs: [pypi, npm]\n" in jobs["github"]


def test_every_supported_python_is_tested_on_three_systems() -> None:
    pythons = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    tested = re.findall(r"python: \[(.+)\]", WORKFLOWS["ci.yml"])
    assert len(tested) == 3
    assert all(re.findall(r'"([\d.]+)"', each) == pythons for each in tested)
    for system in ("ubuntu", "macos", "windows"):
        assert re.search(rf"system: \[.*{system}-", WORKFLOWS["ci.yml"])
    (run,) = re.findall(r"-m pytest --numprocesses auto\n((?: +packages/.+\n)+)", WORKFLOWS["ci.yml"])
    assert [path for path in run.split() if not (ROOT / path).exists()] == []


def test_workflows_compose_and_dockerfile_pass_their_linters(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint.main()
    output = capsys.readouterr()
    if status == lint.NOT_FETCHED:
        pytest.skip(output.err)
    assert status == 0, output.out
