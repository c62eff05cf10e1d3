"""How an entry looks in TOML, beside what was there."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from recollect.clients.failures import NotEditable
from recollect.clients.toml_text import entry_in, snippet, with_entry, without_entry

KEY, NAME = "mcp_servers", "recollect"
OURS: dict[str, Any] = {"command": "C:\\Tools\\recollect.exe", "args": ["serve", "--store", 'a "b"\x7f é']}
SECTION = snippet(KEY, NAME, OURS)
BEFORE = """\
# mine
model = "o"

[mcp_servers.recollect]
command = "old" # a note
args = [
  "[not.a.header]",
]

[mcp_servers.recollect.env]
KEY = "x"

# of docs
[mcp_servers.docs]
command = "npx"
"""


def test_an_entry_is_a_section_at_the_end() -> None:
    assert with_entry('model = "o"', KEY, NAME, OURS) == f'model = "o"\n\n{SECTION}'
    assert with_entry('model = "o"\n', KEY, NAME, OURS) == f'model = "o"\n\n{SECTION}'
    assert with_entry("", KEY, NAME, OURS) == SECTION


def test_every_value_reads_back() -> None:
    entry = {**OURS, "env": {"A B": "\t\\"}, "enabled": True, "startup_timeout_sec": 20}
    assert tomllib.loads(snippet(KEY, "odd name", entry)) == {KEY: {"odd name": entry}}


def test_an_entry_with_its_tables_is_replaced_in_its_place() -> None:
    after = with_entry(BEFORE, KEY, NAME, OURS)
    assert after == f'# mine\nmodel = "o"\n\n{SECTION}\n# of docs\n[mcp_servers.docs]\ncommand = "npx"\n'


def test_an_entry_is_taken_out_with_its_tables_and_no_more() -> None:
    after = without_entry(BEFORE, KEY, NAME)
    assert after == '# mine\nmodel = "o"\n\n# of docs\n[mcp_servers.docs]\ncommand = "npx"\n'
    assert without_entry(after, KEY, NAME) == after


def test_what_only_looks_like_our_section_is_left_alone() -> None:
    text = 'note = """\n[mcp_servers.recollect]\ncommand = "x"\n"""\n'
    assert entry_in(text, KEY, NAME) is None
    assert without_entry(with_entry(text, KEY, NAME, OURS), KEY, NAME) == text


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { docs = { command = "npx" } }\n',
        "mcp_servers = 3\n",
        "[mcp_servers\n",
        'model = "o"\nmodel = "p"\n',
    ],
)
def test_where_no_section_can_be_added_nothing_is(text: str) -> None:
    with pytest.raises(NotEditable):
        with_entry(text, KEY, NAME, OURS)


@pytest.mark.parametrize(
    "text",
    ['[mcp_servers]\nrecollect = { command = "x" }\n', 'mcp_servers.recollect.command = "x"\n'],
)
def test_an_entry_that_is_no_section_is_read_but_not_taken_out(text: str) -> None:
    assert entry_in(text, KEY, NAME) == {"command": "x"}
    with pytest.raises(NotEditable, match="cannot change safely"):
        without_entry(text, KEY, NAME)
