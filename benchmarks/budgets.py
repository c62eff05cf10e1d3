"""Prints the size of the code, the tests and the public API beside their budgets; fails 2 % above one."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

import recollect
from recollect.cli.command import ExtraCommand
from recollect.cli.main import cli

ROOT = Path(__file__).parents[1]
TOLERANCE = 1.02


@dataclass(frozen=True, slots=True)
class Budget:
    name: str
    target: int
    today: int
    """While this is above the target, it is the most that is allowed. Lower it as the number falls."""

    @property
    def limit(self) -> int:
        return self.today if self.today > self.target * TOLERANCE else int(self.target * TOLERANCE)


BUDGETS = (
    Budget("all packages: lines", target=65_000, today=79_889),
    Budget("all packages: files", target=330, today=281),
    Budget("recollect: lines", target=44_000, today=60_350),
    Budget("recollect-importers: lines", target=2_900, today=3_499),
    Budget("recollect-integrations: lines", target=3_600, today=3_641),
    Budget("recollect-postgres: lines", target=3_600, today=3_590),
    Budget("recollect-server: lines", target=7_000, today=8_809),
    Budget("tests: lines", target=58_000, today=78_128),
    Budget("Engine and its groups: public members", target=90, today=129),
    Budget("recall: parameters", target=12, today=12),
    Budget("command line: commands", target=45, today=45),
    Budget("command line: options", target=120, today=120),
)


def measure(root: Path = ROOT) -> dict[str, int]:
    folders = sorted((root / "packages").iterdir())
    packages = {folder.name: _line_counts(folder / "src") for folder in folders}
    tests = [_line_counts(folder) for folder in (root / "tests", *(each / "tests" for each in folders))]
    commands = list(_commands(cli))
    everywhere = {option.name for option in cli.params}  # such as --store, which every command takes
    return {
        "all packages: lines": sum(map(sum, packages.values())),
        "all packages: files": sum(map(len, packages.values())),
        **{f"{name}: lines": sum(lines) for name, lines in packages.items()},
        "tests: lines": sum(map(sum, tests)),
        "Engine and its groups: public members": _public_members(),
        "recall: parameters": len(inspect.signature(recollect.Engine.recall).parameters) - len(["self"]),
        "command line: commands": sum(not isinstance(each, click.Group) for each in commands),
        "command line: options": sum(
            isinstance(option, click.Option) and not option.hidden and option.name not in everywhere
            for each in commands
            for option in each.params
        ),
    }


def _line_counts(folder: Path) -> list[int]:
    """Count each file's lines, blank ones too. Stubs (.pyi) are generated, and left out."""
    return [len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py")]


def _public_members() -> int:
    """Count the methods and properties of an engine and of its groups, such as `memory.graph`."""
    with TemporaryDirectory() as folder, recollect.open(Path(folder) / "memory.db") as memory:
        values = [getattr(memory, name) for name in _methods(recollect.Engine) if not _is_method(name)]
    kinds: set[type] = {recollect.Engine, *map(type, values)}
    return sum(len(_methods(kind)) for kind in kinds if kind.__module__.startswith("recollect."))


def _is_method(name: str) -> bool:
    return callable(getattr(recollect.Engine, name))


def _methods(kind: type) -> list[str]:
    """List the public names but for a record's fields: a scope, which has only fields, is not a group."""
    return [name for name in dir(kind) if name[0] != "_" and name not in getattr(kind, "__match_args__", ())]


def _commands(group: click.Group) -> Iterator[click.Command]:
    for each in group.commands.values():
        # A command of another package shows its options once it is loaded; `bench` is counted as one.
        command = each.load() if isinstance(each, ExtraCommand) and each.name != "bench" else each
        if not command.hidden:
            yield command
            if isinstance(command, click.Group):
                yield from _commands(command)


def main() -> int:
    measured = measure()
    over = [budget for budget in BUDGETS if measured[budget.name] > budget.limit]
    print(f"{'':38}{'now':>8}{'allowed':>9}{'target':>8}")
    for budget in BUDGETS:
        mark = "  too large" if budget in over else ""
        print(f"{budget.name:38}{measured[budget.name]:8,}{budget.limit:9,}{budget.target:8,}{mark}")
    if over:
        print(
            "Remove what is said twice or used by nobody; benchmarks/budgets.py has the limits.",
            file=sys.stderr,
        )
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
