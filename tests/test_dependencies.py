"""Every imported package is a declared dependency: an indirect one can disappear with any release."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from locked import PACKAGES, ROOT, project

OPTIONAL = {
    # The model packages depend on the first two, and recollect-postgres on the last.
    "recollect": {"onnxruntime", "tokenizers", "psycopg"}
}


def imported_packages(package: Path) -> set[str]:
    names = set()
    for path in (package / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    (own,) = (package / "src").iterdir()
    return {name.partition(".")[0] for name in names} - {*sys.stdlib_module_names, own.name}


def declared_packages(package: Path) -> set[str]:
    metadata = project(package)
    lines = [*metadata["dependencies"], *chain(*metadata.get("optional-dependencies", {}).values())]
    return {re.split(r"[<>=\[; ]", line)[0] for line in lines}


# The tests of recollect-integrations import the adapters, where the frameworks are installed.
@pytest.mark.parametrize("name", [name for name in PACKAGES if name != "recollect-integrations"])
def test_every_package_that_we_import_is_declared(name: str) -> None:
    package, owners = ROOT / "packages" / name, dict(packages_distributions())
    # This map lacks the modules of our own packages, which are installed as editable.
    owners |= {each.replace("-", "_"): [str(project(ROOT / "packages" / each)["name"])] for each in PACKAGES}
    dependencies = declared_packages(package)
    lacking = {
        module
        for module in imported_packages(package) - OPTIONAL.get(name, set())
        if not dependencies & set(map(str.lower, owners.get(module, [module])))
    }
    assert lacking == set()


def test_install_commands_name_our_packages() -> None:
    """On PyPI, `recollect` is another project."""
    wrong_name = re.compile(r"(?:pip|uv tool|uvx?|pipx) install [^\n\"`]*?(?<!/)\brecollect\b(?![-_./]\w)")
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/*.md")]
    sources = list(ROOT.glob("packages/*/src/**/*.py"))
    assert len(pages) > 60
    assert len(sources) > 200
    wrong = [
        (str(path.relative_to(ROOT)), found.group())
        for path in (*pages, *sources)
        for found in wrong_name.finditer(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []
