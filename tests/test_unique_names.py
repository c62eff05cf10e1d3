"""A public name is defined once, so that grep finds one definition and a word has one meaning."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "recollect"
KNOWN = Path(__file__).with_name("names_defined_twice.txt")
"""Names that are still defined in several modules, one on a line. The list may only become shorter."""


def names_defined_twice() -> dict[str, set[str]]:
    """The modules of each function or class that several modules define, by its name.

    Stores implement one port in files of the same name, which count as one module.
    """
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        module = re.sub(r"^stores/\w+/", "stores/*/", path.relative_to(SOURCE).as_posix())
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                modules[node.name].add(module)
    return {
        name: found for name, found in sorted(modules.items()) if len(found) > 1 and not name.startswith("_")
    }


def known() -> list[str]:
    return KNOWN.read_text(encoding="utf-8").split()


def test_no_public_name_is_defined_in_two_modules() -> None:
    new = {name: found for name, found in names_defined_twice().items() if name not in known()}
    assert not new, f"Give each of these a name of its own: {new}"


def test_the_list_of_names_that_are_defined_twice_only_becomes_shorter() -> None:
    stale = set(known()) - set(names_defined_twice())
    assert not stale, f"These are defined once now; remove them from {KNOWN.name}: {sorted(stale)}"
    assert known() == sorted(set(known()))
