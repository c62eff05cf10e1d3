"""Compares answers with a frozen file: exactly, but for the wording of sentences and the last digits."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).parent
SHOWN = 20

PROSE = frozenset(
    {
        "about",
        "advice",
        "description",
        "detail",
        "details",
        "help",
        "meaning",
        "message",
        "note",
        "reason",
        "says",
        "title",
        "upkeep",
        "verdict",
    }
)
"""Keys whose texts are sentences for people: there must be one, and it may be worded in another way."""
_LABELS = frozenset({"too few", "no gain", "proposed"})
"""Verdicts that are values all the same."""

VARYING = frozenset({"bytes", "command", "p50_ms", "p95_ms", "schema", "seed"})
"""Keys whose values differ from run to run: only their type counts."""

STEADY = 1e-9
"""Relative: arithmetic on given numbers, on whatever machine."""
SINGLE = 1e-5
"""Relative: with cosines of vectors in single precision, which are summed up differently by each machine."""


def assert_same(expected: Any, actual: Any, tolerance: float = STEADY) -> None:
    """Fail with the places of the first differences."""
    # Through JSON, so that both are what JSON can say.
    found = list(differences(expected, json.loads(json.dumps(actual)), tolerance))
    assert not found, "\n".join([f"{len(found)} differences from the frozen file:", *found[:SHOWN]])


def differences(expected: Any, actual: Any, tolerance: float = STEADY, path: str = "") -> Iterator[str]:
    """One line for each place where they differ."""
    match expected, actual:
        case dict(), dict():
            for key in expected.keys() - actual.keys():
                yield f"{path}.{key}: is missing"
            for key in actual.keys() - expected.keys():
                yield f"{path}.{key}: is new: {actual[key]!r}"
            for key in expected:
                if key in actual and not _may_differ(key, expected[key], actual[key]):
                    yield from differences(expected[key], actual[key], tolerance, f"{path}.{key}")
        case list(), list():
            if len(expected) != len(actual):
                yield f"{path}: has {len(actual)} rows, not {len(expected)}"
            for place, (one, other) in enumerate(zip(expected, actual, strict=False)):
                yield from differences(one, other, tolerance, f"{path}[{place}]")
        case float(), float():
            near = math.isclose(expected, actual, rel_tol=tolerance, abs_tol=tolerance / 1000)
            if not near and not (math.isnan(expected) and math.isnan(actual)):
                yield f"{path}: is {actual!r}, not {expected!r}"
        case _:
            if type(expected) is not type(actual) or expected != actual:
                yield f"{path}: is {actual!r}, not {expected!r}"


def _may_differ(key: str, expected: Any, actual: Any) -> bool:
    if key in VARYING:
        return type(expected) is type(actual)
    return key in PROSE and _is_prose(expected, actual)


def _is_prose(expected: Any, actual: Any) -> bool:
    """Both are sentences, or lists of as many."""
    match expected, actual:
        case str(), str():
            return bool(expected) == bool(actual) and expected not in _LABELS
        case [*one], [*other]:
            return len(one) == len(other) and all(isinstance(each, str) for each in (*one, *other))
        case _:
            return False


def frozen(name: str) -> Any:
    """A JSON file beside this one."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def frozen_lines(name: str) -> list[Any]:
    """A JSONL file beside this one."""
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def as_lines(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def as_text_by_row(value: Any, depth: int = 2) -> str:
    """As JSON with a line for each item down to a depth, and each row of a list on one line."""
    return _by_row(value, depth, "") + "\n"


def _by_row(value: Any, depth: int, indent: str) -> str:
    inner = indent + " "
    match value:
        case dict() if value and depth:
            items = [f"{inner}{json.dumps(key)}: {_by_row(value[key], depth - 1, inner)}" for key in value]
            return "{\n" + ",\n".join(items) + f"\n{indent}}}"
        case list() if value:
            items = [inner + json.dumps(each, ensure_ascii=False) for each in value]
            return "[\n" + ",\n".join(items) + f"\n{indent}]"
        case _:
            return json.dumps(value, ensure_ascii=False)
