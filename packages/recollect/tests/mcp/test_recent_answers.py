"""A page of a search searches at most once, and shows the same as on a restarted server."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.engine import Engine
from recollect.operations.catalogue import operations
from recollect.operations.operation import RecentAnswers, RecentValues

RECALL = operations()["recall"]
ASKED = {"query": "tea", "limit": 4}


class Searches:
    """Counts the searches of an engine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.limits: list[int | None] = []
        recall = Engine.recall

        def count_and_recall(engine: Engine, query: str, **given: Any) -> Any:
            self.limits.append(given["limit"])
            return recall(engine, query, **given)

        monkeypatch.setattr(Engine, "recall", count_and_recall)


def read_on(engine: Engine, recent: RecentAnswers | None) -> list[dict[str, Any]]:
    """Return every page. Without `recent`, each page has an empty cache of answers."""
    pages = [RECALL.call(engine, ASKED, recent=recent or RecentAnswers()).result]
    engine._services.usage.settle(None)
    while "cursor" in pages[-1]:
        given = {**ASKED, "cursor": pages[-1]["cursor"]}
        pages.append(RECALL.call(engine, given, recent=recent or RecentAnswers()).result)
    return pages


@pytest.fixture
def teas(engine: Engine) -> Engine:
    engine.remember_many(f"note {n} about tea" for n in range(14))
    return engine


def test_a_page_searches_once_at_most(teas: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = Searches(monkeypatch)
    assert len(read_on(teas, RecentAnswers())) == 4
    # The first page, then one search to the bottom for all that follow.
    assert searches.limits == [4, 1_000]


def test_a_server_that_was_started_anew_goes_on_where_the_first_page_ended(
    teas: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered = read_on(teas, RecentAnswers())
    assert [page["hits"] for page in read_on(teas, None)][1:] == [page["hits"] for page in remembered][1:]
    restarted = RecentAnswers()
    searches = Searches(monkeypatch)
    for page in remembered[:-1]:
        RECALL.call(teas, {**ASKED, "cursor": page["cursor"]}, recent=restarted)
    # Once to the bottom and once for what the first page had, for all the pages that follow.
    assert searches.limits == [1_000, 4]


def test_a_page_shows_nothing_that_was_forgotten_since(teas: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    recent = RecentAnswers()
    first = RECALL.call(teas, ASKED, recent=recent).result
    second = RECALL.call(teas, {**ASKED, "cursor": first["cursor"]}, recent=recent).result
    third = RECALL.call(teas, {**ASKED, "cursor": second["cursor"]}, recent=recent).result
    teas.forget([third["hits"][0]["id"]])
    searches = Searches(monkeypatch)
    again = RECALL.call(teas, {**ASKED, "cursor": second["cursor"]}, recent=recent).result
    assert searches.limits == [1_000]
    assert third["hits"][0]["id"] not in {hit["id"] for hit in again["hits"]}


def test_another_question_is_not_answered_from_memory(teas: Engine) -> None:
    recent = RecentAnswers()
    first = RECALL.call(teas, ASKED, recent=recent).result
    given = {**ASKED, "cursor": first["cursor"]}
    RECALL.call(teas, given, recent=recent)
    other = RECALL.call(teas, {**given, "kinds": ["entity"]}, recent=recent).result
    assert other["hits"] == []


def test_of_many_values_the_latest_are_kept() -> None:
    values: RecentValues[str] = RecentValues(2)
    values.keep("a", "one")
    values.keep("b", "two")
    assert values.get("a") == "one"
    values.keep("c", "three")
    assert (values.get("a"), values.get("b"), values.get("c")) == ("one", None, "three")
