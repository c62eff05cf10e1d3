"""Write the types of `recollect.aio` from the engine's own signatures; `--check` only compares."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ruff import find_ruff_bin  # type: ignore[import-untyped]

from recollect import bootstrap
from recollect.aio import async_engine
from recollect.aio.async_engine import GROUPS, SCOPED_VIEW
from recollect.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUP_NAMES = {*GROUPS, *(inner for groups in GROUPS.values() for inner in groups)}
STUB = Path(async_engine.__file__).with_name("__init__.pyi")
_HEAD = '"""The types of `recollect.aio`, made from the engine by `make docs`."""\n'
_OPEN = '''
class open:
    """Open a memory, with what `recollect.open` takes: `async with open(…)`, or `await open(…)`."""
'''
_OPENED = """
    def __await__(self) -> Generator[Any, None, AsyncEngine]: ...
    async def __aenter__(self) -> AsyncEngine: ...
    async def __aexit__(self, *_: object) -> None: ...
"""
_OWN = '''
    def __init__(self, engine: Engine) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...
    async def run(
        self,
        work: Callable[Concatenate[Engine, _Given], _Result],
        *args: _Given.args,
        **options: _Given.kwargs,
    ) -> _Result:
        """Call `work(engine, …)` in a thread, to its end."""
    async def close(self) -> None:
        """Let the calls under way end, write what is left to be noted, and release the file."""
'''
_VARIABLES = '_Given = ParamSpec("_Given")\n_Result = TypeVar("_Result")\n'
_IMPORTS = (
    "from collections.abc import Callable",
    "from collections.abc import Generator",
    "from pathlib import Path",
    *(f"from typing import {name}" for name in ("Any", "Concatenate", "ParamSpec", "Self", "TypeVar")),
    "from recollect.engine import Engine",
    "from recollect.stores.port import Clock",
)


def stub() -> str:
    classes = list(_classes(Engine))
    body = "\n".join((_VARIABLES, *map(_class, classes), _OPEN + _opening() + _OPENED))
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    lines = {line for of in classes for line in _imports(of)} | set(_IMPORTS)
    imports = [line for line in sorted(lines) if line.rpartition(" ")[2] in used]
    text = "\n".join((_HEAD, *imports, "", body))
    for command in (("check", "--isolated", "--fix", "--quiet", "--select", "I"), ("format", "--quiet")):
        text = subprocess.run(
            [find_ruff_bin(), *command, "--stdin-filename", str(STUB), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        ).stdout
    return text


def _classes(of: type) -> Iterator[type]:
    """Return the engine, its groups and their groups."""
    yield of
    for name, value in vars(of).items():
        if name in _GROUP_NAMES and isinstance(value, property):
            module = sys.modules[of.__module__]
            hint = inspect.get_annotations(value.fget)["return"]  # type: ignore[arg-type]  # a property has a getter
            yield from _classes(_imported_class(module.__file__ or "", hint))


def _imported_class(file: str, name: str) -> type:
    """A class that the file imports for its annotations only."""
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            found: type = getattr(__import__(node.module or "", fromlist=[name]), name)
            return found
    raise LookupError(f"{file} imports no {name}")


def _imports(of: type) -> Iterator[str]:
    """Return a line for each name that the class's file imports or defines."""
    module = of.__module__
    tree = ast.parse(Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            yield from (f"from {node.module} import {alias.name}" for alias in node.names)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name != of.__name__:
            yield f"from {module} import {node.name}"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield f"from {module} import {node.targets[0].id}"


def _opening() -> str:
    """Return the constructor, with the parameters of `recollect.open`."""
    (node,) = ast.parse(inspect.getsource(bootstrap.open)).body
    assert isinstance(node, ast.FunctionDef)
    node.name, node.returns = "__init__", ast.Constant(None)
    node.args.args.insert(0, ast.arg("self"))
    return _method_text(node, is_async=False)


def _class(of: type) -> str:
    tree = ast.parse(inspect.getsource(of)).body[0]
    assert isinstance(tree, ast.ClassDef)
    about = (async_engine.AsyncEngine if of is Engine else of).__doc__ or ""
    parts = [f"class {_async_name(of.__name__)}:", f'    """{about.splitlines()[0]}"""']
    if of is Engine:
        parts.append(_OWN)
    # `_OWN` has its `close`.
    elsewhere = {"close"} if of is Engine else set()
    public = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.name not in elsewhere
    ]
    parts += map(_method, public)
    return "\n".join(parts) + "\n"


def _method(node: ast.FunctionDef) -> str:
    decorators = {ast.unparse(each) for each in node.decorator_list}
    if node.returns and (
        node.name == SCOPED_VIEW or (node.name in _GROUP_NAMES and "property" in decorators)
    ):
        node.returns = ast.Name(_async_name(ast.unparse(node.returns)))
    plain = (
        "property" in decorators and "retry_after_failover" not in decorators
    ) or node.name == SCOPED_VIEW
    node.decorator_list = [each for each in node.decorator_list if ast.unparse(each) == "property" and plain]
    return _method_text(node, is_async=not plain)


def _method_text(node: ast.FunctionDef, *, is_async: bool) -> str:
    """Return the signature and the docstring of a method, indented for a class.

    Examples are left out, because they call the methods without `await`.
    """
    about = (ast.get_docstring(node) or "").partition("\n\nExamples:")[0]
    node.args.kw_defaults = [each and ast.Constant(...) for each in node.args.kw_defaults]
    made = (ast.AsyncFunctionDef if is_async else ast.FunctionDef)(
        name=node.name,
        args=node.args,
        body=[ast.Expr(ast.Constant(about or ...))],
        decorator_list=node.decorator_list,
        returns=node.returns,
    )
    made.args.defaults = [ast.Constant(...) for _ in node.args.defaults]
    return "    " + ast.unparse(ast.fix_missing_locations(made)).replace("\n", "\n    ")


def _async_name(name: str) -> str:
    return f"Async{name}"


def main() -> int:
    made = stub()
    if "--check" in sys.argv:
        if STUB.read_text(encoding="utf-8") == made:
            return 0
        print(f"{STUB.name} is not what the engine has; run: make docs", file=sys.stderr)
        return 1
    STUB.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
