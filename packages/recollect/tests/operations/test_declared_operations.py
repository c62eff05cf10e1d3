"""An operation is declared once: MCP and the REST API offer it from its declaration."""

from __future__ import annotations

import json

from recollect.operations.catalogue import (
    INTERFACES_FILE,
    definitions,
    definitions_of,
    http_operations,
    interfaces,
    interfaces_of,
)
from recollect.operations.memories import MemoryId
from recollect.operations.operation import Endpoint, Many, OperationCall, OperationReply, RowId, operation


@operation("Poke", http=Endpoint("POST /memories/{id}/poke", resource="memory"), tools="all")
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
    new = {"route": "POST /memories/{id}/poke", "operation": "poke", "tag": "Memories", "resource": "memory"}
    place = rows.index(new)
    assert [*rows[:place], *rows[place + 1 :]] == interfaces()["endpoints"]
    assert {rows[place - 1]["tag"], rows[place + 1]["tag"]} == {"Memories", "Sessions"}


def test_the_file_of_endpoints_is_fresh() -> None:
    made, why = interfaces_of(http_operations().values()), "run `make docs`, which writes that file"
    assert json.loads(INTERFACES_FILE.read_text(encoding="utf-8")) == made, why
