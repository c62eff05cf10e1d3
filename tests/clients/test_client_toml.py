"""How an entry looks in TOML, beside what was there."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from recollect.clients.entry import NotEditable
from recollect.clients.formats import TomlFormat

KEY, NAME = "mcp_servers", "recollect"
OURS: dict[str, Any] = {"command": "C:\\Tools\\recollect.exe", "args": ["serve", "--store", 'a "b"\x7f é']}
CODEX = TomlFormat(KEY, typed=False)
SECTION = CODEX.snippet(NAME, OURS) + "\n"
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
    assert CODEX.with_entry('model = "o"', NAME, OURS) == f'model = "o"\n\n{SECTION}'
    assert CODEX.with_entry('model = "o"\n', NAME, OURS) == f'model = "o"\n\n{SECTION}'
    assert CODEX.with_entry("", NAME, OURS) == SECTION


def test_every_value_reads_back() -> None:
    entry = {**OURS, "env": {"A B": "\t\\"}, "enabled": True, "startup_timeout_sec": 20}
    assert tomllib.loads(CODEX.snippet("odd name", entry)) == {KEY: {"odd name": entry}}


def test_an_entry_with_its_tables_is_replaced_in_its_place() -> None:
    after = CODEX.with_entry(BEFORE, NAME, OURS)
    assert after == f'# mine\nmodel = "o"\n\n{SECTION}\n# of docs\n[mcp_servers.docs]\ncommand = "npx"\n'


def test_an_entry_is_taken_out_with_its_tables_and_no_more() -> None:
    after = CODEX.without_entry(BEFORE, NAME)
    assert after == '# mine\nmodel = "o"\n\n# of docs\n[mcp_servers.docs]\ncommand = "npx"\n'
    assert CODEX.without_entry(after, NAME) == after


def test_what_only_looks_like_our_section_is_left_alone() -> None:
    text = 'note = """\n[mcp_servers.recollect]\ncommand = "x"\n"""\n'
    assert CODEX.entry_in(text, NAME) is None
    assert CODEX.without_entry(CODEX.with_entry(text, NAME, OURS), NAME) == text


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
        CODEX.with_entry(text, NAME, OURS)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('[mcp_servers]\nrecollect = { command = "x" }\n', "[mcp_servers]\n"),
        ('mcp_servers.recollect.command = "x"\n', ""),
        ('mcp_servers = { recollect = { command = "x" }, a = {} }\n', "mcp_servers = {  a = {} }\n"),
    ],
)
def test_an_entry_that_is_no_section_is_taken_out_too(text: str, left: str) -> None:
    assert CODEX.entry_in(text, NAME) == {"command": "x"}
    assert CODEX.without_entry(text, NAME) == left


def test_an_entry_is_replaced_with_the_line_ends_and_the_byte_order_mark_that_were_there() -> None:
    text = "\ufeff" + BEFORE.replace("\n", "\r\n")
    assert CODEX.with_entry(text, NAME, OURS) == "\ufeff" + CODEX.with_entry(BEFORE, NAME, OURS).replace(
        "\n", "\r\n"
    )


def test_where_a_change_would_lose_another_server_nothing_is_changed() -> None:
    scattered = (
        "[mcp_servers.recollect]\na=1\n[z]\n[mcp_servers.recollect.env]\nk=1\n[mcp_servers.docs]\nq=1\n"
    )
    with pytest.raises(NotEditable, match="cannot change safely"):
        CODEX.with_entry(scattered, NAME, OURS)
