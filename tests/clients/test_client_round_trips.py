"""Putting our server in and taking it out leaves no trace, and never touches anything else."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from client_texts import KEY, NAME, json_texts, jsonc_texts, toml_texts
from hypothesis import given

from recollect.clients.catalogue import CLIENTS, Client
from recollect.clients.entry import Launch, edit_to_install, edit_to_uninstall
from recollect.clients.formats import JsonFormat

LAUNCH = Launch("/opt/my tools/recollect", ("serve", "--store", "C:\\Users\\ana\\memory.db"))
STRICT, COMMENTED, TOML = CLIENTS["claude-code"], CLIENTS["cursor"], CLIENTS["codex"]


def read(client: Client, text: str) -> dict[str, Any]:
    if client is TOML:
        return tomllib.loads(text)
    assert isinstance(client.format, JsonFormat)
    return client.format.content_of(text)


def others(client: Client, text: str) -> dict[str, Any]:
    """All that is not ours; no list of servers is as good as one without any."""
    plain = read(client, text)
    key = "mcp_servers" if client is TOML else KEY
    servers = {name: value for name, value in plain.pop(key, {}).items() if name != NAME}
    return {**plain, **({key: servers} if servers else {})}


def check(client: Client, text: str) -> None:
    put = edit_to_install(client, text, NAME, LAUNCH, force=False).after
    assert put is not None
    assert client.format.entry_in(put, NAME)["command"] == LAUNCH.command
    assert others(client, put) == others(client, text)
    assert list(others(client, put)) == list(others(client, text))
    # Twice is once.
    assert edit_to_install(client, put, NAME, LAUNCH, force=False).is_none
    # Back to the letter, from what was kept.
    assert edit_to_uninstall(client, put, NAME, text, force=False).after == text
    # Without that, nothing else is lost.
    alone = edit_to_uninstall(client, put, NAME, None, force=False).after
    assert alone is None or client.format.entry_in(alone, NAME) is None
    assert others(client, alone or text) == others(client, text)


@given(json_texts())
def test_any_json_comes_back_to_the_letter(text: str) -> None:
    check(STRICT, text)


@given(json_texts())
def test_any_json_comes_back_where_comments_are_allowed(text: str) -> None:
    check(COMMENTED, text)


@given(jsonc_texts())
def test_comments_come_back_to_the_letter(text: str) -> None:
    check(COMMENTED, text)
    put = edit_to_install(COMMENTED, text, NAME, LAUNCH, force=False).after or ""
    for comment in ("// first", "// why", "/* many", "lines */"):
        assert comment in put


@given(jsonc_texts())
def test_beside_another_server_no_copy_is_needed_to_come_back(text: str) -> None:
    if read(COMMENTED, text)[KEY]:
        put = edit_to_install(COMMENTED, text, NAME, LAUNCH, force=False).after
        assert edit_to_uninstall(COMMENTED, put, NAME, None, force=False).after == text


@given(toml_texts())
def test_any_toml_comes_back_to_the_letter(text: str) -> None:
    check(TOML, text)


@given(toml_texts())
def test_in_toml_every_line_that_was_there_stays(text: str) -> None:
    put = edit_to_install(TOML, text, NAME, LAUNCH, force=False).after or ""
    assert put.startswith(text)


@pytest.mark.parametrize("client", [STRICT, COMMENTED, TOML], ids=lambda each: each.name)
def test_a_file_that_we_made_goes_away_again(client: Client) -> None:
    made = edit_to_install(client, None, NAME, LAUNCH, force=False).after
    assert edit_to_uninstall(client, made, NAME, None, force=False).after is None
    # A file that was there, but empty, stays.
    assert edit_to_uninstall(client, made, NAME, "", force=False).after == ""


@pytest.mark.parametrize("client", [STRICT, COMMENTED, TOML], ids=lambda each: each.name)
def test_what_changed_since_is_kept(client: Client) -> None:
    before = "" if client is TOML else '{"theme": "dark"}'
    put = edit_to_install(client, before, NAME, LAUNCH, force=False).after or ""
    later = client.format.with_entry(put, "docs", {"command": "npx"})
    gone = edit_to_uninstall(client, later, NAME, before, force=False).after or ""
    assert client.format.entry_in(gone, NAME) is None
    assert client.format.entry_in(gone, "docs") == {"command": "npx"}
