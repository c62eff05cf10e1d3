"""What we import, we ask for by name: what another package happens to bring may go with its next version."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parent.parent
OF_MODELS = {"onnxruntime", "tokenizers"}
"""Asked for by the packages of the models that need them."""


def imported() -> set[str]:
    names = set()
    for path in (ROOT / "src").rglob("*.py"):
        if "integrations" in path.parts:  # imported where their frameworks are, by tests/frameworks
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    tops = {name.partition(".")[0] for name in names}
    return tops - set(sys.stdlib_module_names) - {"recollect"}


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    return {re.split(r"[<>=\[; ]", line)[0] for line in lines}


def test_every_package_that_we_import_is_declared() -> None:
    owners = packages_distributions()
    lacking = {
        name
        for name in imported() - OF_MODELS
        if not declared() & set(map(str.lower, owners.get(name, [name])))
    }
    assert lacking == set()


def test_what_we_tell_people_to_install_is_ours() -> None:
    """On the index, `recollect` alone is another project."""
    told = re.compile(r"(?:pip|uv tool|uvx?|pipx) install [^\n\"]*?\brecollect\b(?![-_./]\w)")
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    assert len(pages) > 300
    wrong = [
        (str(path.relative_to(ROOT)), found.group())
        for path in pages
        for found in told.finditer(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []
