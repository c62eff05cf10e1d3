"""An operation is declared once: MCP, the REST API and the command line offer it from its declaration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import recollect.cli.main as program
from recollect.cli.commands import derived
from recollect.operations.catalogue import (
    COMMANDS_FILE,
    INTERFACES_FILE,
    definitions,
    definitions_of,
    http_operations,
    interfaces,
    interfaces_of,
)
from recollect.operations.memories import MemoryId
from recollect.operations.operation import (
    Endpoint,
    Many,
    OperationCall,
    OperationReply,
    RowId,
    operation,
)

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


@operation(
    "Poke", http=Endpoint("POST /memories/{id}/poke", resource="memory"), tools="all", command="poke 12"
)
def _poke(
    call: OperationCall,
    id: RowId,  # noqa: A002  # the name that callers use
    why: Many[str] | None = None,
    twice: bool = False,
) -> OperationReply[MemoryId]:
    """Mark a memory as used. It fades later."""
    memory = call.engine.get(id, record=True)
    assert memory is not None
    return OperationReply(MemoryId(memory.id), f"Poked #{id} {why} {twice}.", "Once is enough.")


WITH_POKE = (*http_operations().values(), _poke)


def test_a_new_tool_and_a_new_route_come_after_those_of_their_set_and_tag() -> None:
    made = definitions_of(WITH_POKE)
    assert list(made) == [*definitions(), "poke"]
    assert made["poke"]["arguments"]["required"] == ["id"]
    rows = interfaces_of(WITH_POKE)["endpoints"]
    new = {
        "route": "POST /memories/{id}/poke",
        "operation": "poke",
        "tag": "Memories",
        "resource": "memory",
    }
    place = rows.index(new)
    assert [*rows[:place], *rows[place + 1 :]] == interfaces()["endpoints"]
    assert {rows[place - 1]["tag"], rows[place + 1]["tag"]} == {"Memories", "Sessions"}


def test_a_declared_command_takes_the_arguments_and_is_listed(
    recollect: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = interfaces_of(WITH_POKE)
    monkeypatch.setattr(
        program, "derived_commands", lambda: {"poke": ("More", offered["commands"]["poke"]["summary"])}
    )
    monkeypatch.setattr(derived, "interfaces", lambda: offered)
    monkeypatch.setattr(derived, "http_operations", lambda: {"poke": _poke})
    recollect("remember", "Tea is at four")
    shown = recollect("--help").stdout
    assert "More:\n" in shown
    assert "Mark a memory as used.\n" in shown
    helped = recollect("poke", "--help").stdout
    assert "recollect poke 12" in helped
    assert "--twice / --no-twice" in helped
    done = recollect("poke", "#1", "--why", "tea", "--why", "four", "--twice")
    assert done.stdout == "Poked #1 ['tea', 'four'] True.\n"
    assert "Once is enough." in done.stderr
    assert json.loads(recollect("poke", "1", "--json").stdout) == {"id": 1}
    assert "Missing argument 'ID'" in recollect.refused("poke", status=2)


def test_the_files_of_commands_and_endpoints_say_what_the_operations_say() -> None:
    made, why = interfaces_of(http_operations().values()), "run `make docs`, which writes them anew"
    assert json.loads(INTERFACES_FILE.read_text(encoding="utf-8")) == made, why
    listed = [line.split("\t")[0] for line in COMMANDS_FILE.read_text(encoding="utf-8").splitlines()]
    assert listed == [*made["commands"]], why
