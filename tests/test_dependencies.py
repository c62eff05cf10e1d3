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
    # The packages of the models ask for the first two, and recollect-postgres for the last.
    "recollect": {"onnxruntime", "tokenizers", "psycopg"}
}


def imported(package: Path) -> set[str]:
    names = set()
    for path in (package / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    (own,) = (package / "src").iterdir()
    return {name.partition(".")[0] for name in names} - {*sys.stdlib_module_names, own.name}


def declared(package: Path) -> set[str]:
    told = project(package)
    lines = [*told["dependencies"], *chain(*told.get("optional-dependencies", {}).values())]
    return {re.split(r"[<>=\[; ]", line)[0] for line in lines}


# The adapters are imported where their frameworks are, by packages/recollect-integrations/tests.
@pytest.mark.parametrize("name", [name for name in PACKAGES if name != "recollect-integrations"])
def test_every_package_that_we_import_is_declared(name: str) -> None:
    package, owners = ROOT / "packages" / name, dict(packages_distributions())
    # Our own are installed as editable packages, whose modules this map does not know.
    owners |= {each.replace("-", "_"): [str(project(ROOT / "packages" / each)["name"])] for each in PACKAGES}
    asked_for = declared(package)
    lacking = {
        module
        for module in imported(package) - OPTIONAL.get(name, set())
        if not asked_for & set(map(str.lower, owners.get(module, [module])))
    }
    assert lacking == set()


def test_what_we_tell_people_to_install_is_ours() -> None:
    """On the index, `recollect` alone is another project."""
    told = re.compile(r"(?:pip|uv tool|uvx?|pipx) install [^\n\"`]*?(?<!/)\brecollect\b(?![-_./]\w)")
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/*/*.md")]
    sources = list(ROOT.glob("packages/*/src/**/*.py"))
    assert len(pages) > 60
    assert len(sources) > 200
    wrong = [
        (str(path.relative_to(ROOT)), found.group())
        for path in (*pages, *sources)
        for found in told.finditer(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []
