"""A public name is defined once, so that grep finds one definition and a word has one meaning."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

PACKAGES = Path(__file__).parent.parent / "packages"


def names_defined_twice() -> dict[str, set[str]]:
    """The modules of each function or class that several modules define, by its name.

    Stores implement one port in files of the same name, which count as one module.
    """
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for path in PACKAGES.glob("*/src/**/*.py"):
        module = re.sub(r".*/(recollect_postgres|stores/\w+)/", "stores/*/", path.as_posix())
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                modules[node.name].add(module)
    return {
        name: found for name, found in sorted(modules.items()) if len(found) > 1 and not name.startswith("_")
    }


def test_no_public_name_is_defined_in_two_modules() -> None:
    found = names_defined_twice()
    assert not found, f"Give each of these a name of its own: {found}"
