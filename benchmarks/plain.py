"""Find comments, docstrings, messages, pages and names that are not plain English; fail above a limit.

A kind without a limit is not counted: the strings of tests are data, not messages.

python benchmarks/plain.py           # counts, and every place where a count is above its limit
python benchmarks/plain.py --all     # every place
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

ROOT = Path(__file__).parents[1]
Kind = Literal["texts", "names", "messages", "pages"]
LIMITS: dict[str, dict[Kind, int]] = {
    "packages/*/src": {"texts": 8, "names": 92, "messages": 0},
    "packages/*/tests": {"texts": 13, "names": 146},
    "tests": {"texts": 2, "names": 23},
    "benchmarks": {"texts": 34},
    "docs": {"pages": 16, "texts": 0},
    "examples": {"texts": 4},
    "README.md": {"pages": 0},
    "CONTRIBUTING.md": {"pages": 0},
    "packages/*/README.md": {"pages": 0},
}
"""The most findings of a kind in a place. Lower a limit when its count falls; never raise one."""

_OPENING = re.compile(
    r"(who|whom|whose|whoever|what|whatever|nobody|somebody|nothing|none|so many|so much|as many|that which"
    r"|those (that|who)|of (a|an|the|what)|by so much|how [a-z]+ly|with one|in the form that)\b",
    re.IGNORECASE,
)
"""Begins a sentence that names neither its actor nor its thing."""
_MESSAGE_OPENING = re.compile(
    r"(whom|whose|whoever|whatever|nobody|somebody|so many|so much|that which"
    r"|those (that|who)|what (?!is |to |i |you )|who (?!is ))[^?]*$",
    re.IGNORECASE,
)
"""Begins a message in the same way. Questions, and sentences such as "Nothing was written.", are fine."""
_UNUSUAL = re.compile(
    r"\b(whoever|whom|nobody|somebody|anew|thereof|therein|hitherto|meanwhile|so many|in vain|be rid of"
    r"|stands?|stood|told|tells|lasts|dreamt|foretold|bears? on|spoke of|speaks? of|c[ao]mes? about"
    r"|(is|are) (?-i:none)|is nobody's|what it is worth|as it is told|drawn out of|set aside|gives? way)\b",
    re.IGNORECASE,
)
_PARTICIPLE = re.compile(
    r"(un)?((?!embed|feed|need|seed|speed)[a-z]+ed|bought|brought|chosen|done|drawn|dreamt|found|given|gone|held"
    r"|kept|known|learnt|left|lost|made|meant|met|paid|said|seen|sent|shown|sought|spent|spoken|stood|taken"
    r"|thought|told|won|worn|written)"
)
_REMARK = re.compile(r"#\s*(noqa|type:|fmt:|pragma|mypy|!)")
_SKIPPED = {
    ".md": re.compile(r"`[^`]*`"),
    ".html": re.compile(r"{{.*?}}|{%.*?%}|<[^>]*>"),
    ".toml": re.compile("$^"),
    ".json": re.compile("$^"),
}
"""Parts of a line that are code or markup."""


class Finding(NamedTuple):
    path: Path
    line: int
    kind: Kind
    text: str


def findings(path: Path) -> Iterator[Finding]:
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _in_python(path, source)
        return
    kind: Kind = "pages" if path.suffix == ".md" else "messages"
    for number, line in enumerate(source.splitlines(), start=1):
        text = _SKIPPED[path.suffix].sub(" ", line).strip()
        if _UNUSUAL.search(text):
            yield Finding(path, number, kind, text)


def _in_python(path: Path, source: str) -> Iterator[Finding]:
    tree = ast.parse(source)
    skipped = set[int]()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text)) as constant):
                skipped.add(id(constant))
                for number, line in enumerate(text.splitlines()):
                    if (number == 0 and _OPENING.match(line)) or _UNUSUAL.search(line):
                        yield Finding(path, constant.lineno + number, "texts", line.strip())
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if _PARTICIPLE.fullmatch(name.strip("_").lower()):
                    yield Finding(path, node.lineno, "names", name)
            case ast.JoinedStr(values=parts):
                skipped |= {id(part) for part in parts}
                whole = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)
                yield from _in_message(path, node, whole)
            case ast.Constant(value=str(text)) if id(node) not in skipped:
                yield from _in_message(path, node, text)
    last = 0
    for token in tokenize.generate_tokens(iter(source.splitlines(keepends=True)).__next__):
        if token.type == tokenize.COMMENT and not _REMARK.match(token.string):
            text, row = token.string.lstrip("#: "), token.start[0]
            # A line below another comment continues it.
            if (row != last + 1 and _OPENING.match(text)) or _UNUSUAL.search(text):
                yield Finding(path, row, "texts", text)
            last = row


def _in_message(path: Path, node: ast.expr, text: str) -> Iterator[Finding]:
    if text.count(" ") > 1 and (_UNUSUAL.search(text) or _MESSAGE_OPENING.match(text)):
        yield Finding(path, node.lineno, "messages", text)


def _paths(pattern: str) -> list[Path]:
    found = list[Path]()
    for place in ROOT.glob(pattern):
        inside = place.rglob("*") if place.is_dir() else [place]
        found += [
            path
            for path in inside
            if path.suffix in {".py", ".md", ".html"} or path.name in {"texts.toml", "step_texts.json"}
        ]
    return sorted(found)


def main() -> int:
    is_over = False
    for pattern, limits in LIMITS.items():
        found = [each for path in _paths(pattern) for each in findings(path)]
        for kind, limit in limits.items():
            of_kind = [each for each in found if each.kind == kind]
            remark = ""
            if len(of_kind) != limit:
                remark = "  too many" if len(of_kind) > limit else "  lower the limit"
            if len(of_kind) > limit or "--all" in sys.argv:
                for each in of_kind:
                    words = " ".join(each.text.split())[:110]
                    print(f"{each.path.relative_to(ROOT)}:{each.line}: {kind}: {words}")
            print(f"{pattern:20} {kind:9} {len(of_kind):5,} of at most {limit:,}{remark}")
            is_over |= len(of_kind) > limit
    if is_over:
        print("CONTRIBUTING.md says how we write; benchmarks/plain.py has the limits.", file=sys.stderr)
    return is_over


if __name__ == "__main__":
    sys.exit(main())
