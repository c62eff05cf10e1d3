"""Choose the places at which the core is broken, and find them again in another tree."""

from __future__ import annotations

import ast
import difflib
import io
import random
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

ROOTS = ("packages/recollect/src/recollect", "src/recollect")
EDGES = (
    *("cli", "serve", "integrations", "clients", "hooks", "aio"),
    *("transfer/formats", "transfer/chats", "stores/postgres"),
)
MOST_PER_FILE = 2
LEVELS = ("function and module", "function", "module", "any")

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "and": "or", "or": "and"}
SWAPS |= {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}
OPERATOR = re.compile(r"[<>=!]+|\b(?:is not|not in|is|in|and|or)\b")
EMPTY = {
    "int": "0",
    "float": "0.0",
    "str": '""',
    "list": "[]",
    "dict": "dict()",
    "set": "set()",
    "Mapping": "dict()",
}
EMPTY |= {"bool": "not (OLD)", "tuple": "()", "Sequence": "()", "Iterable": "()", "frozenset": "frozenset()"}
# Dropping these calls changes what is logged or released, which tests cannot be expected to notice.
QUIET_CALL = re.compile(
    r"log|warn|debug|info|print|progress|close|join|shutdown|sleep|wait|notify|collect|advise"
)
WAITING = re.compile(r"timeout|wait|patien|sleep|poll|retr|backoff|deadline|threads", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """A statement or line of the core and its broken form, both without comments and indents."""

    id: str
    module: str
    function: str
    kind: str
    original: str
    mutated: str
    file: str = ""

    def describe(self) -> str:
        return f"{self.id} {self.module}:{self.function} {self.original!r} -> {self.mutated!r}"


class Module:
    """A source file with its lines, without comments, and the functions around them."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name, self.source = path, name, path.read_text("utf-8")
        self.lines = self.source.split("\n")
        for token in tokenize.generate_tokens(io.StringIO(self.source).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                self.lines[row - 1] = self.lines[row - 1][:column].rstrip()
        self.tree = ast.parse(self.source)

    def function_at(self, line: int) -> str:
        """Return the qualified name of the innermost function around a line."""
        found = ""
        for name, node in _functions(self.tree, ""):
            if node.lineno <= line <= (node.end_lineno or 0):
                found = name
        return found

    def statement_at(self, line: int) -> range:
        """Return the lines of the innermost statement around a line; of a compound one, those of its head."""
        found = range(line, line + 1)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
                body = getattr(node, "body", None) or getattr(node, "cases", None)
                start = getattr(body[0], "lineno", 0) or body[0].pattern.lineno if body else 0
                last = max(node.lineno, start - 1) if body else node.end_lineno or 0
                if line <= last:
                    found = range(node.lineno, last + 1)
        return found

    def lines_with(self, original: str) -> list[int]:
        """Return the line numbers at which a text begins."""
        wanted = original.split("\n")
        stripped = [line.strip() for line in self.lines]
        starts = [at for at, line in enumerate(stripped) if line == wanted[0]]
        return [at + 1 for at in starts if stripped[at : at + len(wanted)] == wanted]

    def broken(self, place: Place, first: int) -> str:
        """Return the source with a place mutated. All other text stays as it is."""
        lines, size = self.source.split("\n"), len(place.original.split("\n"))
        code = self.lines[first - 1]
        indent = code[: len(code) - len(code.lstrip())]
        lines[first - 1 : first - 1 + size] = [indent + place.mutated + lines[first - 1][len(code) :]]
        return "\n".join(lines)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{prefix}{child.name}", child
            yield from _functions(child, f"{prefix}{child.name}.")
        else:
            yield from _functions(child, prefix)


def source_root(tree: Path) -> Path:
    """Return the folder of the package."""
    return next(tree / each for each in ROOTS if (tree / each).is_dir())


@cache
def core_of(tree: Path) -> dict[str, Module]:
    """Return the modules of the core by their path in the tree, without the edges."""
    root = source_root(tree)
    modules = {}
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).with_suffix("").as_posix()
        if not any(f"{inside}/".startswith(f"{edge}/") for edge in EDGES):
            name = f"recollect.{inside}".replace("/", ".").removesuffix(".__init__")
            modules[path.relative_to(tree).as_posix()] = Module(path, name)
    return modules


class Finder(ast.NodeVisitor):
    """Collects every line of a module that can be broken in one of our ways."""

    def __init__(self, module: Module) -> None:
        self.module, self.found = module, list[tuple[Place, int]]()
        self.empty: str | None = None
        self.inside = False
        self.visit(module.tree)

    def note(self, kind: str, node: ast.expr, text: str) -> None:
        """Add the replacement of an expression on one line."""
        if node.lineno == node.end_lineno:
            span = slice(node.col_offset, node.end_col_offset)
            self._edit(kind, node.lineno, span, lambda old: text.replace("OLD", old))

    def note_swap(self, kind: str, left: ast.expr, right: ast.expr) -> None:
        """Add the swap of the operator between two expressions."""
        if left.end_lineno == right.lineno:
            swap = partial(OPERATOR.sub, lambda found: SWAPS[found[0]], count=1)
            self._edit(kind, right.lineno, slice(left.end_col_offset, right.col_offset), swap)

    def _edit(self, kind: str, line: int, span: slice, change: Callable[[str], str]) -> None:
        code = self.module.lines[line - 1]
        raw = code.encode()  # ast counts bytes
        new = raw[: span.start] + change(raw[span].decode()).encode() + raw[span.stop :]
        self.add(kind, line, code.strip(), new.decode().strip())

    def add(self, kind: str, line: int, original: str, mutated: str) -> None:
        place = Place("", self.module.name, self.module.function_at(line), kind, original, mutated)
        if self.inside and original != mutated and len(original) >= 12:
            self.found.append((place, line))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node.name in {"__repr__", "__str__", "__init_subclass__", "__getattr__"}:
            return
        before, self.inside = (self.inside, self.empty), True
        returns = ast.unparse(node.returns) if node.returns else ""
        self.empty = "None" if returns.endswith("| None") else EMPTY.get(returns.split("[")[0])
        for each in node.body:
            self.visit(each)
        self.inside, self.empty = before

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and not QUIET_CALL.search(_called(node.value)):
            lines = self.module.lines[node.lineno - 1 : node.end_lineno]
            if len(lines) <= 6 and all(line.strip() for line in lines):
                self.add("drop call", node.lineno, "\n".join(line.strip() for line in lines), "pass")
            self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.note("negate condition", node.test, "not (OLD)")
            self.generic_visit(node)

    visit_IfExp = visit_If  # noqa: N815

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and self.empty and not isinstance(node.value, ast.Constant):
            self.note("change return", node.value, self.empty)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self.note_swap("swap comparison", node.left, node.comparators[0])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        if len(node.values) == 2:
            self.note_swap("swap and/or", node.values[0], node.values[1])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        line = self.module.lines[node.lineno - 1]
        if type(node.value) in {int, float} and not WAITING.search(line):
            value: Any = node.value
            is_small = isinstance(value, int) and value < 10
            self.note("change number", node, repr(value + 1 if is_small else value * 2 or 1.0))

    def visit_Call(self, node: ast.Call) -> None:
        if not re.search("log|warn|getattr", _called(node)):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def skip(self, node: ast.AST) -> None:
        """Leave messages alone."""

    visit_Raise = visit_Assert = visit_JoinedStr = skip  # noqa: N815


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).lower()


class NotFoundError(Exception):
    """A place is missing from a tree, or ambiguous in it."""


def last_part(function: str) -> str:
    return function.rpartition(".")[2]


def find(tree: Path, place: Place, levels: Sequence[str] = LEVELS) -> tuple[str, int]:
    """Return the path and first line of a place.

    Search its function in its module, functions of that name, its module, and then the whole core.
    """
    hits: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path, module in core_of(tree).items():
        for line in module.lines_with(place.original) if place.file in {"", path} else ():
            in_module = module.name == place.module
            in_function = last_part(module.function_at(line)) == last_part(place.function)
            levels_hit = (in_module and in_function, in_function, in_module, True)
            for level, is_hit in zip(LEVELS, levels_hit, strict=True):
                hits[level] += [(path, line)] * is_hit
    found = next((hits[level] for level in levels if hits[level]), [])
    if len(found) > 1:
        raise NotFoundError("ambiguous: " + ", ".join(f"{path}:{line}" for path, line in found[:5]))
    if not found:
        raise NotFoundError("missing; nearest: " + _nearest(tree, place.original.split("\n")[0]))
    return found[0]


def _nearest(tree: Path, text: str) -> str:
    lines = {
        line.strip(): f"{path}:{at}"
        for path, module in core_of(tree).items()
        for at, line in enumerate(module.lines, start=1)
    }
    return "".join(f"\n        {lines[near]} {near}" for near in difflib.get_close_matches(text, lines))


def choose(tree: Path, seed: int, count: int, executed: Callable[[str, range], bool]) -> list[Place]:
    """Choose places among executed lines: few in a file, one in a function, more in longer files."""
    chance = random.Random(seed)  # noqa: S311  # only has to be the same each time
    candidates: dict[str, list[Place]] = {}
    for path, module in core_of(tree).items():
        found = Finder(module).found
        candidates[path] = [place for place, line in found if executed(path, module.statement_at(line))]
    weights = {path: len(core_of(tree)[path].lines) for path, places in candidates.items() if places}
    chosen: list[Place] = []
    taken: Counter[str] = Counter()
    while len(chosen) < count and weights:
        path = chance.choices(list(weights), list(weights.values()))[0]
        kind = chance.choice(sorted({place.kind for place in candidates[path]}))
        place = chance.choice([place for place in candidates[path] if place.kind == kind])
        if _is_unique(tree, place):
            chosen.append(place)
            taken[path] += 1
            candidates[path] = [each for each in candidates[path] if each.function != place.function]
        else:
            candidates[path].remove(place)
        if taken[path] == MOST_PER_FILE or not candidates[path]:
            del weights[path]
    chosen.sort(key=lambda place: (place.module, place.function))
    return [replace(place, id=f"m{at:02}") for at, place in enumerate(chosen, start=1)]


def _is_unique(tree: Path, place: Place) -> bool:
    try:
        find(tree, place, ["function"])
    except NotFoundError:
        return False
    return True
