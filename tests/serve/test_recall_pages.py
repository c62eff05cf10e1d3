"""Going on with a recall: pages that join to the whole list, and only the first counts as seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.errors import InvalidInput
from recollect.serve.catalogue import TOOLS
from recollect.serve.tool import Call

if TYPE_CHECKING:
    from recollect.engine.engine import Engine

RECALL = TOOLS["recall"]


def test_pages_join_to_all_that_is_found(engine: Engine) -> None:
    ids = {note.id for note in engine.remember_many(f"note {n} about tea" for n in range(25)).notes}
    seen: list[int] = []
    given: dict[str, object] = {"query": "tea"}
    for size in (10, 10, 5):
        data = RECALL.run(Call(engine, given)).data
        seen += [hit["id"] for hit in data["hits"]]
        assert len(data["hits"]) == size
        given["cursor"] = data.get("cursor")
    assert given["cursor"] is None
    assert len(seen) == 25
    assert set(seen) == ids


def test_only_the_first_page_is_noted_as_seen(engine: Engine) -> None:
    engine.remember_many([f"note {n} about tea" for n in range(4)])
    first = RECALL.run(Call(engine, {"query": "tea", "limit": 2})).data
    second = RECALL.run(Call(engine, {"query": "tea", "limit": 2, "cursor": first["cursor"]})).data
    engine.parts.signals.settle(None)
    with engine.store.read() as view:
        for page, times in ((first, 1), (second, 0)):
            counts = view.facts([hit["id"] for hit in page["hits"]], "", None, 0).access_count
            assert counts.tolist() == [times] * 2


@pytest.mark.parametrize("cursor", ["x", "-1", "²", "1.0"])
def test_a_cursor_of_nobodys_is_refused(engine: Engine, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="There is no page"):
        RECALL.run(Call(engine, {"query": "tea", "cursor": cursor}))


def test_no_page_lies_beyond_what_a_search_reaches(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="ask more narrowly"):
        RECALL.run(Call(engine, {"query": "tea", "cursor": "1000"}))
