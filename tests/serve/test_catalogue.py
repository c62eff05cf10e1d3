"""Which tools a user may choose."""

from __future__ import annotations

import pytest

from recollect.errors import InvalidInput
from recollect.serve.catalogue import SETS, TOOLS, chosen


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
