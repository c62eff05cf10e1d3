"""The core imports no other package of ours, and the others import only what it offers to all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from locked import PACKAGES, ROOT

import recollect
from recollect import plugin

PUBLIC = ("recollect.plugin", *plugin.MODULES)


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield each module of ours that is imported, or the name if it comes from `recollect` itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "recollect":
            yield from (f"recollect.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def crosses(module: str, own: str) -> bool:
    """Tell whether a file of the package `own` must not import this."""
    top, _, rest = module.partition(".")
    if top == own or not f"{top}_".startswith("recollect_") or top == "recollect_bench":
        return False
    is_public = (
        not rest or rest in recollect.__all__ or any(f"{module}.".startswith(f"{each}.") for each in PUBLIC)
    )
    return top != "recollect" or not is_public


def imported_from_elsewhere(package: Path) -> set[str]:
    (source,) = (path for path in (package / "src").iterdir() if path.is_dir())
    return {
        module
        for path in source.rglob("*.py*")
        if path.suffix in {".py", ".pyi"}
        for module in imports(ast.parse(path.read_text(encoding="utf-8")))
        if crosses(module, source.name)
    }


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_imports_only_what_the_core_offers(name: str) -> None:
    # Other authors' packages need the same: offer it in `recollect.plugin`.
    assert imported_from_elsewhere(ROOT / "packages" / name) == set()


def test_imports_across_a_boundary_are_seen() -> None:
    for line, own, refused in (
        ("import recollect_server.app", "recollect", ["recollect_server.app"]),
        ("from recollect_importers import source", "recollect", ["recollect_importers"]),
        ("from recollect.stores import url", "recollect", []),
        ("from recollect_bench import plot", "recollect", []),
        ("from recollect import Engine, engine", "recollect_server", ["recollect.engine"]),
        ("from recollect.plugin import Clock", "recollect_server", []),
        (
            "def late():\n    from recollect.write.inputs import aware",
            "recollect_postgres",
            ["recollect.write.inputs"],
        ),
        ("from recollect_postgres.sql import text", "recollect_server", ["recollect_postgres.sql"]),
        ("from recollection import Album", "recollect_server", []),
    ):
        assert [module for module in imports(ast.parse(line)) if crosses(module, own)] == refused
