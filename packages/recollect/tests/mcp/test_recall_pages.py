"""Going on with a recall: pages that join to the whole list, and only the first counts as seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.domain.changes import NewText, PutText
from recollect.domain.errors import InvalidInput
from recollect.domain.records import Kind
from recollect.operations.catalogue import operations
from recollect.search.facts import ranking_facts
from recollect.search.rows import MemoryRows

if TYPE_CHECKING:
    from recollect.engine import Engine

OPERATIONS = operations()
RECALL = OPERATIONS["recall"]


@pytest.mark.parametrize(
    ("count", "more", "given"),
    [(25, "", {"limit": 10}), (12, "and the weather " * 30, {"budget_tokens": 400})],
    ids=["by number", "by budget"],
)
@pytest.mark.usefixtures("undoubted")
def test_pages_join_to_all_that_is_found(
    engine: Engine, count: int, more: str, given: dict[str, object]
) -> None:
    notes = engine.remember_many(f"note {n} about tea {more}" for n in range(count)).notes
    pages = [RECALL.call(engine, {"query": "tea", **given}).result]
    while "cursor" in pages[-1]:
        pages.append(RECALL.call(engine, {"query": "tea", **given, "cursor": pages[-1]["cursor"]}).result)
    seen = [hit["id"] for page in pages for hit in page["hits"]]
    assert sorted(seen) == [note.id for note in notes]
    if "limit" in given:
        assert [len(page["hits"]) for page in pages] == [10, 10, 5]


def test_only_the_first_page_is_noted_as_seen(engine: Engine) -> None:
    engine.remember_many([f"note {n} about tea" for n in range(4)])
    first = RECALL.call(engine, {"query": "tea", "limit": 2}).result
    second = RECALL.call(engine, {"query": "tea", "limit": 2, "cursor": first["cursor"]}).result
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        for page, times in ((first, 1), (second, 0)):
            counts = ranking_facts(
                MemoryRows(view), [hit["id"] for hit in page["hits"]], "", None, 0
            ).access_count
            assert counts.tolist() == [times] * 2


@pytest.mark.usefixtures("undoubted")
def test_what_did_not_fit_is_told_with_where_to_go_on(engine: Engine) -> None:
    engine.remember_many(f"Ada sails boat {n} " + "along the coast " * 20 for n in range(9))
    reply = RECALL.call(engine, {"query": "who sails?", "budget_tokens": 200})
    left = 9 - len(reply.result["hits"])
    assert reply.result["left_out"] == left > 0
    assert reply.text is not None
    assert f"{left} more did not fit; go on with `cursor`." in reply.text
    assert repr(reply.result["cursor"]) in reply.text


@pytest.mark.usefixtures("undoubted")
def test_of_an_overgrown_entity_what_answers_the_question_is_shown(engine: Engine) -> None:
    log = [f"day {n}: calm sea, no ship in sight" for n in range(2_000)]
    log[1_700] = "day 1700: the oolong arrived from Porto"
    engine.create_entities([{"name": "Log", "type": "log", "observations": log}])
    given = {"query": "when did the oolong arrive?", "kinds": ["entity"]}
    reply = RECALL.call(engine, given, offered=frozenset({"recall", "open_nodes"}))
    (hit,) = reply.result["hits"]
    # Behind what is nearest in meaning, if that is another.
    assert log[1_700] in hit["text"].splitlines()[1:3]
    assert "open_nodes" in reply.result["note"]
    alone = RECALL.call(engine, given, offered=frozenset({"recall", "context"}))
    assert "open_nodes" not in f"{alone.result['note']} {alone.text}"
    # All but those shown completely; the last may be cut.
    whole = set(hit["text"].splitlines()[1:]) & set(log)
    assert reply.result["note"].startswith(f"{2_000 - len(whole)} observations of entities are not shown.")


@pytest.mark.usefixtures("undoubted")
def test_what_an_entitys_observations_said_before_is_shown_when_asked_for(engine: Engine) -> None:
    engine.create_entities([{"name": "Ada", "type": "person", "observations": ["sails on Mondays", "rows"]}])
    engine.graph.add_observations(
        {"Ada": [{"content": "sails on Sundays", "supersedes": "sails on Mondays"}]}
    )
    given = {"query": "when does Ada sail?", "kinds": ["entity"]}
    (now,) = RECALL.call(engine, given).result["hits"]
    assert "superseded" not in now
    reply = RECALL.call(engine, {**given, "include_superseded": True})
    assert reply.result["hits"][0]["superseded"] == ["sails on Mondays"]
    assert str(reply.text).splitlines()[0].endswith('rows sails on Sundays" (superseded: "sails on Mondays")')


@pytest.mark.parametrize("tool", ["recall", "search_semantic", "explain", "search_reflections"])
@pytest.mark.parametrize("query", ["", " \n"])
def test_an_empty_query_is_called_so(engine: Engine, tool: str, query: str) -> None:
    with pytest.raises(InvalidInput, match="The `query` is empty; say in words"):
        OPERATIONS[tool].call(engine, {"query": query})


def test_what_waits_for_a_vector_is_told_without_a_command_for_people(engine: Engine) -> None:
    engine.remember("Ada drinks tea")
    waiting = PutText(engine.scope, NewText(Kind.NOTE, "Ada likes oolong tea"))
    engine._services.store.apply([waiting], at=engine._services.clock())
    note = RECALL.call(engine, {"query": "tea"}).result["note"]
    assert note == "Some texts still wait for a vector, so only words find them."


@pytest.mark.parametrize("cursor", ["x", "-1", "²", "1.0", "10", "1.0.0", "9999.1.0", "1.2.3.4"])
def test_a_cursor_of_nobodys_is_refused(engine: Engine, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="There is no page"):
        RECALL.call(engine, {"query": "tea", "cursor": cursor})
