"""`recollect token`: made once, kept hashed, listed without the secret, revoked."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest

import recollect as library
from recollect.admin import Tokens

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


@pytest.fixture
def cli(recollect: CommandLine) -> CommandLine:
    recollect("remember", "The kettle is on")
    return recollect


def test_a_token_is_shown_once_and_kept_only_as_its_hash(cli: CommandLine) -> None:
    made = cli("token", "create", "laptop")
    token = made.stdout.strip()
    assert token.startswith("recollect_")
    assert len(token) >= len("recollect_") + 43  # 256 bits, six to a letter
    assert "not shown again" in made.stderr
    listed = cli("token", "list")
    assert re.search(r"laptop +write +every scope ", listed.stdout)
    assert token not in listed.stdout + str(cli.json("token", "list"))
    content = b"".join(each.read_bytes() for each in cli.store.parent.glob("memory.db*"))
    assert token.encode() not in content
    assert hashlib.sha256(token.encode()).hexdigest().encode() in content


def test_a_token_is_bound_to_what_the_options_name(cli: CommandLine) -> None:
    bound = cli.json("token", "create", "cook", "--owner", "ana", "--agent", "cook", "--right", "read")
    assert {**bound, "token": ""} == {
        "name": "cook",
        "token": "",
        "right": "read",
        "owner": "ana",
        "agent": "cook",
    }
    assert cli.json("token", "create", "ana", "--owner", "ana", "--right", "admin")["agent"] is None
    assert cli.json("token", "create", "mine", RECOLLECT_OWNER="bob")["owner"] == "bob"
    assert cli.json("token", "create", "all", "--owner", "", RECOLLECT_OWNER="bob")["owner"] is None
    rows = {each["name"]: each for each in cli.json("token", "list")["tokens"]}
    assert list(rows) == ["all", "ana", "cook", "mine"]
    assert set(rows["cook"]) == {"name", "right", "owner", "agent", "created_at", "used_at"}
    assert rows["cook"]["used_at"] is None


def test_a_revoked_token_is_gone_and_its_name_free(cli: CommandLine) -> None:
    cli("token", "create", "laptop")
    assert "There is a token 'laptop' already" in cli.refused("token", "create", "laptop", status=1)
    assert cli.json("token", "revoke", "laptop") == {"revoked": "laptop"}
    assert "There is no token 'laptop'" in cli.refused("token", "revoke", "laptop", status=1)
    assert "no tokens yet" in cli("token", "list").stdout
    cli("token", "create", "laptop")


@pytest.mark.parametrize("name", ["", " ", "two words", "olé", "-dash", "x" * 65, "a/b", "tab\t"])
def test_a_name_that_is_none_is_refused(cli: CommandLine, name: str) -> None:
    assert "is not a valid token name" in cli.refused("token", "create", "--", name, status=1)


def test_without_a_memory_there_is_nothing_to_make_a_token_for(recollect: CommandLine) -> None:
    assert "There is no memory" in recollect.refused("token", "create", "laptop", status=3)
    assert not recollect.store.exists()


def test_tokens_go_along_with_a_copy(cli: CommandLine) -> None:
    cli("token", "create", "laptop")
    copy = cli.store.with_name("copy.db")
    cli("copy", str(cli.store), str(copy))
    with library.open(copy, model="none") as memory:
        assert [each.name for each in Tokens(memory).list()] == ["laptop"]
