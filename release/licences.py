"""Licences of all that we depend on, as SPDX expressions: `licences.py` writes docs/reference/licences.md.

They are read from what is installed. Packages that `make setup` does not install here, because they belong to
another system or to an extra, are listed by hand below, as the index or their own file states them.
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

# Whoever is not permissive stands here, with the reason why we use it nevertheless.
NAMED = {
    "certifi": "MPL-2.0, for its file of certificates; used unchanged; only with extras.",
    "psycopg": "LGPL-3.0: a library that the user installs and can replace; only the extra `postgres`.",
    "psycopg-binary": "LGPL-3.0, as psycopg; only the extra `postgres`.",
    "tqdm": "MPL-2.0 and MIT: used unchanged; it comes with `tokenizers`, only with extras.",
    **dict.fromkeys(
        _OF_NVIDIA,
        "NVIDIA's own terms: PyTorch on Linux asks for it; only the extra `sentence-transformers`.",
    ),
    **dict.fromkeys(
        ("cuda-toolkit", "nvidia-cudnn-cu13", "nvidia-nccl-cu13", "nvidia-nvshmem-cu13"),
        "The package index states no licence of it; from NVIDIA, for PyTorch on Linux; only the extra "
        "`sentence-transformers`.",
    ),
}

# As the package index or the package's own file states them: of those that are not installed by `make setup`
# everywhere, or that say it in words that no program reads.
STATED = {
    **dict.fromkeys(_OF_NVIDIA, "LicenseRef-NVIDIA-Proprietary"),
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
    """Of the package itself if it can be read here, else as it is stated above."""
    if package.folder is not None:
        return str(project(package.folder)["license"])
    return installed_licence(package.name) or STATED.get(package.name, UNKNOWN)


def installed_licence(name: str) -> str | None:
    """None where it is not installed, or does not say clearly enough."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return None
    if "License-Expression" in told:
        return str(told["License-Expression"])
    for classifier in told.get_all("Classifier") or ():
        group, _, last = classifier.rpartition(" :: ")
        if group.startswith("License") and last in _CLASSIFIERS:
            return _CLASSIFIERS[last]
    words = told["License"].strip() if "License" in told else ""
    names = re.split(" (?:AND|OR|WITH) ", words)
    known = PERMISSIVE | {"MPL-2.0"}
    return words if _WORDS.fullmatch(words) and set(names) <= known else None


def is_permissive(licence: str) -> bool:
    """One of its alternatives asks for no more than to be named."""
    return any(
        all(term.partition(" WITH ")[0].strip("() ") in PERMISSIVE for term in choice.split(" AND "))
        for choice in licence.split(" OR ")
    )


def page(packages: Iterable[Locked]) -> str:
    packages = list(packages)
    parts = [
        "# Licences",
        "",
        (
            "Recollect is MIT. This is what it depends on, by the lock; `make licences` makes the page from "
            "what the packages say of themselves. None of it is part of our own wheels."
        ),
    ]
    groups = (
        ("With every installation", lambda used: used == (ALWAYS,)),
        ("With an extra", lambda used: used not in {(ALWAYS,), (DEVELOPMENT,)}),
        ("For development alone", lambda used: used == (DEVELOPMENT,)),
    )
    for head, belongs in groups:
        parts += ["", f"## {head}", "", "| package | version | licence | by |", "|---|---|---|---|"]
        parts += [
            f"| {each.name} | {', '.join(each.versions)} | {licence_of(each)} | {', '.join(each.used_by)} |"
            for each in packages
            if belongs(each.used_by)
        ]
    parts += ["", "## Not permissive, and why we use it", ""]
    parts += [f"- **{name}**: {why}" for name, why in sorted(NAMED.items())]
    parts += ["- **hypothesis**, **pathspec** (MPL-2.0): tools of development, which nobody gets from us."]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(locked()), encoding="utf-8")
