"""Which tools a user may choose."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.errors import InvalidInput
from recollect.serve.catalogue import SETS, TOOLS, chosen
from recollect.serve.tool import Tool
from recollect.text.token_counts import count_tokens


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_chosen_by_its_name(name: str) -> None:
    assert tuple(tool.name for tool in chosen(name)) == SETS[name]


def test_tools_are_chosen_by_name_in_the_order_given() -> None:
    assert [tool.name for tool in chosen(" stats, recall ,")] == ["stats", "recall"]


def test_the_default_set_holds_the_official_tools_and_all_holds_everything() -> None:
    assert {"create_entities", "read_graph", "open_nodes"} < set(SETS["default"])
    assert SETS["all"] == tuple(TOOLS)
    assert set(SETS["recall-only"]) == {name for name in ("recall", "context") if TOOLS[name].reads}


@pytest.mark.parametrize("wanted", ["", " , ", "recal", "recall,recal", "All"])
def test_what_is_not_there_is_refused_with_what_is(wanted: str) -> None:
    with pytest.raises(InvalidInput, match=r"No tool named .*; there are the sets recall-only, default, all"):
        chosen(wanted)


def test_no_tool_both_reads_only_and_destroys() -> None:
    assert not [tool.name for tool in TOOLS.values() if tool.reads and tool.destroys]
    assert all(tool.repeats for tool in TOOLS.values() if tool.reads)


def test_the_list_of_tools_loads_nothing_of_the_engine() -> None:
    program = "import sys, recollect.serve.catalogue; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_every_tool_that_may_answer_with_much_takes_a_budget_and_every_list_a_limit_and_a_cursor() -> None:
    unpaged = {"context", "why_not", "stats"}
    for tool in TOOLS.values():
        fields = set(tool.takes["properties"])
        if tool.reads and tool.name not in unpaged:
            assert {"limit", "cursor", "budget_tokens"} <= fields, tool.name
            assert {"cursor", "note"} <= set(tool.gives["properties"]), tool.name
    assert "budget_tokens" in TOOLS["context"].takes["properties"]


@pytest.mark.parametrize("name", SETS)
def test_a_description_recommends_only_tools_that_are_offered_or_says_if(name: str) -> None:
    for tool in chosen(name):
        firm = re.sub(r"`\w+` where it is offered", "", tool.about)
        named = {other for other in TOOLS if f"`{other}`" in firm}
        assert named <= set(SETS[name]), tool.name


def exact(shape: dict[str, object]) -> bool:
    """Whether a shape says what each of its fields is."""
    match shape:
        case {"properties": dict(fields)}:
            return shape["additionalProperties"] is False and all(map(exact, fields.values()))
        case {"items": dict(items)}:
            return exact(items)
        case {"anyOf": list(forms)}:
            return all(map(exact, forms))
        case _:
            return shape["type"] != "object"


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_every_tool_says_exactly_what_it_takes_and_gives(tool: Tool) -> None:
    assert exact(tool.takes)
    assert exact(tool.gives)


@pytest.mark.parametrize("name", SETS)
def test_the_price_of_a_set_stands_in_the_docs(name: str) -> None:
    from recollect.serve.mcp import described

    shown = [
        described(tool).model_dump(by_alias=True, exclude_none=True, mode="json") for tool in chosen(name)
    ]
    read = [{field: one[field] for field in ("name", "description", "inputSchema")} for one in shown]
    prices = [count_tokens(json.dumps(rows, ensure_ascii=False)) for rows in (read, shown)]
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    assert row.endswith(f"| {prices[0]:,} | {prices[1]:,} |")
