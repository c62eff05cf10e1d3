"""Prints the size of the code, the tests and the public API beside their budgets; fails 2 % above one."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import click
from click.testing import CliRunner
from starlette.testclient import TestClient

import recollect
from recollect.cli.command import ExtraCommand
from recollect.cli.main import cli
from recollect.operations.catalogue import tools_named
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app

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
    Budget("all packages: lines", target=65_000, today=75_600),
    Budget("all packages: files", target=330, today=258),
    Budget("recollect: lines", target=44_000, today=57_900),
    Budget("recollect-importers: lines", target=2_900, today=3_230),
    Budget("recollect-integrations: lines", target=3_600, today=3_640),
    Budget("recollect-postgres: lines", target=3_600, today=3_310),
    Budget("recollect-server: lines", target=7_000, today=7_525),
    Budget("tests: lines", target=58_000, today=71_440),
    Budget("files run by a recall: Python", target=30, today=35),
    Budget("files run by a recall: command line", target=45, today=49),
    Budget("files run by a recall: HTTP", target=45, today=55),
    Budget("Engine and its groups: public members", target=90, today=90),
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
        **{f"files run by a recall: {way}": count for way, count in _files_run().items()},
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


def _files_run() -> dict[str, int]:
    """Count our files whose functions run in one recall: in Python and over HTTP, in the second one."""
    question, token = "who likes tea?", "only-for-this-script"
    with TemporaryDirectory() as folder:
        store = str(Path(folder) / "memory.db")
        with recollect.open(store, model="potion") as memory:
            memory.remember_many([f"Keeper {number} drinks tea at noon" for number in range(30)])
        with recollect.open(store) as memory:
            memory.recall(question)
            python = _files_of(lambda: memory.recall(question))
        line = _files_of(lambda: CliRunner().invoke(cli, ["--store", store, "recall", question]))
        with recollect.open(store) as memory:
            policy = AccessPolicy("127.0.0.1", 0, token, ("testserver",))
            headers = {"Authorization": f"Bearer {token}"}
            client = TestClient(app(lambda: memory, tools_named("all"), policy), headers=headers)

            def ask() -> None:
                client.post("/v1/recall", json={"query": question}).raise_for_status()

            ask()
            http = _files_of(ask)
    return {"Python": python, "command line": line, "HTTP": http}


def _files_of(call: Callable[[], object]) -> int:
    seen = set[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sum(Path(file).is_relative_to(ROOT / "packages") for file in seen)


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
