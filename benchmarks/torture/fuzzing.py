"""Fuzzed MCP tool calls over standard input and HTTP: generated from the tools' schemas, then corrupted."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from programs import ServerGone, Talk, called, talking, text_of
from torture_run import Part

import recollect
from recollect.operations.catalogue import definitions

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from mcp_arguments import arguments, fitting

BATCH = 250
"""Calls to one server on one store. The next batch has a new server and store."""
LONGEST_REFUSAL = 2_000
LONGEST_NAME = 1_000
OPAQUE = {"cursor"}
"""Arguments whose values come from earlier answers."""
UNEXPECTED = "failed unexpectedly"
# Names and texts of the arguments, so that some calls match stored memories.
KNOWN: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "create_entities",
        {
            "entities": [
                {"name": "Marisol Vega", "entityType": "person", "observations": ["Drinks oolong"]},
                {"name": "Tidebook", "entityType": "project", "observations": []},
            ]
        },
    ),
    (
        "create_relations",
        {"relations": [{"from": "Marisol Vega", "to": "Tidebook", "relationType": "leads"}]},
    ),
)
KEPT = ("Ines keeps bees in Faro", "Otto mends clocks", "The ferry leaves at nine")

Arguments = dict[str, Any]


def fuzzed_calls(number: int, count: int, tools: Mapping[str, Any]) -> list[tuple[str, Arguments]]:
    """Return random calls; the same number returns the same calls."""
    calls: list[tuple[str, Arguments]] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def collect(data: st.DataObject) -> None:
        tool = data.draw(st.sampled_from(sorted(tools)))
        schema = tools[tool]["arguments"]
        # Most random arguments are refused by validation. Half of the calls should pass it.
        comes_in = data.draw(st.booleans())
        drawn = mended(data.draw(fitting(schema)), schema) if comes_in else data.draw(arguments(schema))
        calls.append((tool, json.loads(json.dumps(drawn))))

    collect()
    return calls[:count]


def mended(value: Any, schema: dict[str, Any]) -> Any:
    """Return the value, changed to fit the schema's limits on numbers, lengths and times."""
    match value:
        case dict():
            forms = schema.get("properties", {})
            inside = {name: inner for name, inner in value.items() if name in forms and name not in OPAQUE}
            return {name: mended(inner, forms[name]) for name, inner in inside.items()}
        case list():
            return [mended(inner, schema.get("items", {})) for inner in value]
        case bool() | None:
            return value
        case int() | float():
            low, high = schema.get("minimum", value), schema.get("maximum", value)
            within = max(low, min(high, value))
            return int(within) if schema.get("type") == "integer" else within
        case _ if "ISO 8601" in schema.get("description", "") or schema.get("format") == "date-time":
            return "2026-03-01T12:00:00Z"
        case _:
            return value[:LONGEST_NAME] if value.strip() else "tea"


def fuzz(folder: Path, part: Part) -> Iterator[None]:
    tools = definitions()
    harmless = {name: tool for name, tool in tools.items() if not tool["destructive"]}
    while not part.is_over:
        batch = part.done // BATCH
        # Every second batch has no call that deletes, so every memory must still exist.
        takes = batch % 2 == 0
        way = ("stdio", "http")[batch // 2 % 2]
        place = folder / f"batch-{batch}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        calls = fuzzed_calls(part.done, min(BATCH, part.left), tools if takes else harmless)
        before = part.figures.get("findings", 0)
        _batch(place / "memory.db", way, calls, takes, part)
        part.done += len(calls)
        if part.figures.get("findings", 0) == before:  # otherwise keep it for inspection
            shutil.rmtree(place, ignore_errors=True)
        yield


def _batch(store: Path, way: str, calls: list[tuple[str, Arguments]], takes: bool, part: Part) -> None:
    ids: list[int] = []
    at: tuple[str, Arguments] = ("remember", {})
    try:
        with talking(way, store) as talk:
            for text in KEPT:
                told = called(talk, "remember", {"text": text})
                if told.get("isError"):
                    part.report_finding("a plain note was refused", way=way, answer=text_of(told)[:500])
                    return
                ids.append(told["structuredContent"]["id"])
            for tool, given_ in KNOWN:
                called(talk, tool, given_)
            for tool, given_ in calls:
                at = tool, given_
                _call(talk, way, tool, given_, part)
    except (ServerGone, TimeoutError) as error:
        what = "the server ended" if isinstance(error, ServerGone) else "no answer"
        part.report_finding(what, way=way, tool=at[0], arguments=_short(at[1]))
    log = store.with_name("server.log").read_text(encoding="utf-8", errors="replace")
    if "Traceback" in log:
        part.report_finding(
            "the server wrote a traceback", way=way, log=log[log.index("Traceback") :][:2_000]
        )
    with recollect.open(store, model="hashing") as memory:
        for problem in memory.upkeep.verify():
            part.report_finding("verify", problem=str(problem), way=way)
        for id_, text in zip(ids, KEPT, strict=False):
            kept = memory.get(id_)
            if kept is None or text not in {kept.text, memory.history(id_).events[0].detail}:
                part.report_finding("a memory is gone or changed", id=id_, way=way)
            elif kept.deleted_at is not None and not takes:
                part.report_finding("a call that does not delete deleted a memory", id=id_, way=way)


def _call(talk: Talk, way: str, tool: str, given_: Arguments, part: Part) -> None:
    begun = perf_counter()
    result = called(talk, tool, given_)
    took = round((perf_counter() - begun) * 1000, 1)
    if took > part.figures.get("slowest_ms", 0.0):
        part.figures |= {"slowest_ms": took, "slowest_tool": tool}
    part.count_in("calls_by_transport", way)
    part.count_in("calls_by_tool", tool)
    text = text_of(result)
    where = {"way": way, "tool": tool, "arguments": _short(given_), "answer": text[:500]}
    if not text or UNEXPECTED in text:
        part.report_finding("an empty answer, or an unexpected error", **where)
    if result.get("isError"):
        part.count("refused")
        if len(text) >= LONGEST_REFUSAL:
            part.report_finding("an error message that is too long", **where)
        return
    part.count("answered")
    try:
        Draft202012Validator(definitions()[tool]["result"]).validate(result.get("structuredContent"))
    except ValidationError as error:
        part.report_finding("a result that does not fit its schema", **where, error=error.message[:300])


def _short(given_: Arguments) -> str:
    return json.dumps(given_, ensure_ascii=False)[:4_000]
