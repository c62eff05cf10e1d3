"""Which tools a user may choose."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from recollect.domain.errors import InvalidInput
from recollect.operations.catalogue import DEFINITIONS_FILE, SETS, definitions, operations, tools_named
from recollect.text.tokens import count_tokens

TOOLS = definitions()


def test_tools_are_chosen_by_the_name_of_a_set_or_by_their_own_in_the_order_given() -> None:
    assert {name: tools_named(name) for name in SETS} == SETS
    assert tools_named(" stats, recall ,") == ("stats", "recall")
    assert {"create_entities", "read_graph", "open_nodes"} < set(SETS["default"])
    assert SETS["all"] == tuple(TOOLS)
    assert set(SETS["recall-only"]) == {name for name in ("recall", "context") if TOOLS[name]["read_only"]}
    assert all(tool["idempotent"] for tool in TOOLS.values() if tool["read_only"])


def test_the_file_of_definitions_says_what_the_operations_say() -> None:
    made = {name: operation.definition() for name, operation in operations().items()}
    why = "run `make docs`, which writes the definitions anew"
    assert json.loads(DEFINITIONS_FILE.read_text(encoding="utf-8")) == made, why
    assert list(TOOLS) == list(made) == list(SETS["all"]), why


def test_the_default_set_corrects_forgets_and_tells_history_within_4500_tokens() -> None:
    from recollect.mcp.server import tool_of

    assert {"forget", "update", "history", "add_messages"} < set(SETS["default"])
    shown = [tool_of(name, TOOLS[name]) for name in SETS["default"]]
    read = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in shown
    ]
    assert count_tokens(json.dumps(read, ensure_ascii=False)) <= 4_500


@pytest.mark.parametrize("wanted", ["", " , ", "recal", "recall,recal", "All"])
def test_what_is_not_there_is_refused_with_what_is(wanted: str) -> None:
    with pytest.raises(InvalidInput, match=r"No tool named .*; there are the sets recall-only, default, all"):
        tools_named(wanted)


def test_the_list_of_tools_loads_nothing_of_the_engine() -> None:
    program = (
        "import sys, recollect.mcp.stdio\n"
        "from recollect.operations.catalogue import definitions; definitions()\n"
        "sys.exit(bool({'numpy', 'recollect.engine', 'recollect.operations.graph'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_every_tool_that_may_answer_with_much_takes_a_budget_and_every_list_a_limit_and_a_cursor() -> None:
    unpaged = {"context", "why_not", "stats"}
    for name, tool in TOOLS.items():
        fields = set(tool["arguments"]["properties"])
        if tool["read_only"] and name not in unpaged:
            assert {"limit", "cursor", "budget_tokens"} <= fields, name
            assert {"cursor", "note"} <= set(tool["result"]["properties"]), name
    assert "budget_tokens" in TOOLS["context"]["arguments"]["properties"]


@pytest.mark.parametrize("name", SETS)
def test_a_description_recommends_only_tools_that_are_offered_or_says_if(name: str) -> None:
    for tool in tools_named(name):
        firm = re.sub(r"`\w+` where it is offered", "", TOOLS[tool]["description"])
        named = {other for other in TOOLS if f"`{other}`" in firm}
        assert named <= set(SETS[name]), tool


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


def test_every_tool_says_exactly_what_it_takes_and_gives() -> None:
    assert [name for name, tool in TOOLS.items() if not exact(tool["arguments"])] == []
    assert [name for name, tool in TOOLS.items() if not exact(tool["result"])] == []
