"""Write docs/reference/licences.md: the licences of all dependencies, as SPDX expressions.

They are read from the installed packages. Packages that `make setup` does not install here, because they
belong to another system or to an extra, are listed by hand below, as the index or their own file states them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, metadata

from locked import ALWAYS, DEVELOPMENT, ROOT, Locked, locked, project

PAGE = ROOT / "docs" / "reference" / "licences.md"
UNKNOWN = "unknown"

PERMISSIVE = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python", "ISC"),
        *("LicenseRef-any-OSI", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Zlib"),
    }
)
_OF_NVIDIA = (
    *("nvidia-cublas", "nvidia-cuda-cccl", "nvidia-cuda-cupti", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime"),
    *("nvidia-cufft", "nvidia-cufile", "nvidia-cusolver", "nvidia-cusparse", "nvidia-cusparselt-cu13"),
    *("nvidia-nvjitlink", "nvidia-nvtx"),
)

# Packages whose licence is not permissive, and why we use them.
NAMED = {
    "certifi": "MPL-2.0, for its file of certificates; used unchanged.",
    "psycopg": "LGPL-3.0: a library that the user installs and can replace; only the extra `postgres`.",
    "psycopg-binary": "LGPL-3.0, as psycopg; only the extra `postgres`.",
    "tqdm": "MPL-2.0 and MIT: used unchanged; it comes with `tokenizers`.",
    **dict.fromkeys(
        _OF_NVIDIA,
        "NVIDIA's own terms: PyTorch on Linux asks for it; only the extra `sentence-transformers`.",
    ),
    **dict.fromkeys(
        ("cuda-toolkit", "nvidia-cudnn-cu13", "nvidia-nccl-cu13", "nvidia-nvshmem-cu13"),
        "The package index states no licence for it; from NVIDIA, for PyTorch on Linux; only the extra "
        "`sentence-transformers`.",
    ),
}

# Licences from the package index or the package's own file, for packages that `make setup` does not install
# everywhere, or whose metadata is not machine-readable.
STATED = {
    **dict.fromkeys(_OF_NVIDIA, "LicenseRef-NVIDIA-Proprietary"),
    # The documentation site, which `make setup` does not install.
    **dict.fromkeys(("babel", "markdown", "python-dateutil"), "BSD-3-Clause"),
    **dict.fromkeys(("griffelib", "mkdocs-autorefs", "mkdocstrings", "mkdocstrings-python"), "ISC"),
    **dict.fromkeys(("mkdocs-get-deps", "mkdocs-material", "mkdocs-material-extensions"), "MIT"),
    **dict.fromkeys(
        ("backrefs", "mergedeep", "paginate", "pymdown-extensions", "pyyaml-env-tag", "six"), "MIT"
    ),
    **dict.fromkeys(("ghp-import", "watchdog"), "Apache-2.0"),
    "mkdocs": "BSD-2-Clause",
    "annotated-doc": "MIT",
    "apsw": "LicenseRef-any-OSI",
    "charset-normalizer": "MIT",
    "cloudpickle": "BSD-3-Clause",
    "colorama": "BSD-3-Clause",
    "cuda-bindings": "Apache-2.0",
    "cuda-pathfinder": "Apache-2.0",
    "faiss-cpu": "MIT",
    "fastembed": "Apache-2.0",
    "grimp": "BSD-2-Clause",
    "httpx2-jsfetch": "BSD-3-Clause",
    "import-linter": "BSD-2-Clause",
    "jinja2": "BSD-3-Clause",
    "joblib": "BSD-3-Clause",
    "loguru": "MIT",
    "markupsafe": "BSD-3-Clause",
    "mmh3": "MIT",
    "mpmath": "BSD-3-Clause",
    "narwhals": "MIT",
    "networkx": "BSD-3-Clause",
    "pillow": "MIT-CMU",
    "protobuf": "BSD-3-Clause",
    "py-rust-stemmers": "MIT",
    "pyarrow": "Apache-2.0",
    "pywin32": "PSF-2.0",
    "regex": "Apache-2.0 AND CNRI-Python",
    "requests": "Apache-2.0",
    "safetensors": "Apache-2.0",
    "scikit-learn": "BSD-3-Clause",
    "scipy": "BSD-3-Clause",
    "sentence-transformers": "Apache-2.0",
    "shellingham": "ISC",
    "sqlite-vec": "MIT OR Apache-2.0",
    "sympy": "BSD-3-Clause",
    "threadpoolctl": "BSD-3-Clause",
    "torch": "Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND BSD-2-Clause AND BSD-3-Clause AND BSL-1.0 "
    "AND ISC AND MIT AND Zlib",
    "transformers": "Apache-2.0",
    "triton": "MIT",
    "typer": "MIT",
    "tzdata": "Apache-2.0",
    "urllib3": "MIT",
    "win32-setctime": "MIT",
}

_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
_WORDS = re.compile(r"[A-Za-z0-9.+-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+-]+)*")


def licence_of(package: Locked) -> str:
    """Return the licence from the installed package's metadata, else from the list above."""
    if package.folder is not None:
        return str(project(package.folder)["license"])
    return installed_licence(package.name) or STATED.get(package.name, UNKNOWN)


def installed_licence(name: str) -> str | None:
    """Return the licence from the metadata, or None if it is unclear or the package is not installed."""
    try:
        headers = metadata(name)
    except PackageNotFoundError:
        return None
    if "License-Expression" in headers:
        return str(headers["License-Expression"])
    for classifier in headers.get_all("Classifier") or ():
        group, _, last = classifier.rpartition(" :: ")
        if group.startswith("License") and last in _CLASSIFIERS:
            return _CLASSIFIERS[last]
    words = headers["License"].strip() if "License" in headers else ""
    names = re.split(" (?:AND|OR|WITH) ", words)
    known = PERMISSIVE | {"MPL-2.0"}
    return words if _WORDS.fullmatch(words) and set(names) <= known else None


def is_permissive(licence: str) -> bool:
    """Return whether one of the alternatives requires only attribution."""
    return any(
        all(term.partition(" WITH ")[0].strip("() ") in PERMISSIVE for term in choice.split(" AND "))
        for choice in licence.split(" OR ")
    )


def page(packages: Iterable[Locked]) -> str:
    """Return the page, with one row for each licence and set of extras."""
    rows: dict[tuple[str, str], list[str]] = {}
    for each in packages:
        rows.setdefault((LABELS.get(each.used_by, ", ".join(each.used_by)), licence_of(each)), []).append(
            each.name
        )
    reasons: dict[str, list[str]] = {}
    for name, why in sorted(NAMED.items()):
        reasons.setdefault(why, []).append(name)
    return "\n".join(
        [
            "# Licences",
            "",
            "Recollect is MIT. Its wheels contain no other package. It depends on these; `make licences`",
            "generates the page from their metadata, and `uv.lock` has the versions.",
            "",
            "| installed with | licence | packages |",
            "|---|---|---|",
            *(
                f"| {by} | {licence} | {', '.join(names)} |"
                for (by, licence), names in sorted(rows.items(), key=_order)
            ),
            "",
            "## Not permissive, and why we use it",
            "",
            *(f"- {', '.join(names)}: {why}" for why, names in reasons.items()),
            "- hypothesis, pathspec: MPL-2.0; tools for development, which users do not get.",
            "",
        ]
    )


LABELS: dict[tuple[str, ...], str] = {(ALWAYS,): "every installation", (DEVELOPMENT,): "development only"}


def _order(row: tuple[tuple[str, str], list[str]]) -> tuple[int, str, str]:
    """Return a sort key: packages of every installation first, of development last."""
    by, licence = row[0]
    first, last = LABELS.values()
    return ({first: 0, last: 2}.get(by, 1), by, licence)


if __name__ == "__main__":
    PAGE.write_text(page(locked()), encoding="utf-8")
