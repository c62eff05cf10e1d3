"""The log of answers, and the same question asked again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from operation_calls import called, every_page

from recollect.domain.errors import NotFound

if TYPE_CHECKING:
    from conftest import FixedClock

    from recollect.engine import Engine


def test_the_log_lists_questions_shown_memories_and_feedback(engine: Engine, clock: FixedClock) -> None:
    tide = engine.remember("the tide turns at noon")
    engine.remember("the boat is blue")
    engine.recall("when does the tide turn", limit=1)
    clock.now += timedelta(minutes=1)
    second = engine.recall("what colour is the boat", limit=2)
    engine.feedback(tide.id, -1.0, second)

    newest, oldest = every_page(engine, "list_answers", "answers", limit=1)

    assert (newest["query"], oldest["query"]) == ("what colour is the boat", "when does the tide turn")
    assert oldest["shown"] == [tide.id]
    assert newest["feedback"] == [{"id": tide.id, "kind": "said", "grade": -1.0}]
    assert called(engine, "list_answers", judged=True)["answers"] == [newest]
    assert called(engine, "list_answers", judged=False)["answers"] == [oldest]
    assert called(engine, "list_answers", memory=tide.id)["answers"] == [newest]
    assert called(engine, "list_answers", contains="TIDE")["answers"] == [oldest]
    assert called(engine, "list_answers", profile="limbic")["answers"] == []
    one = called(engine, "get_answer", id=oldest["id"])
    assert (one["memories"][0]["id"], one["memories"][0]["shown"]) == (tide.id, 1)
    with pytest.raises(NotFound, match="no answer 999"):
        called(engine, "get_answer", id=999)
    with pytest.raises(NotFound, match="no answer"):
        called(engine.scoped("bo"), "get_answer", id=oldest["id"])


def test_a_replay_compares_the_places_of_memories_and_records_nothing(engine: Engine) -> None:
    first = engine.remember("the tide turns at noon")
    engine.recall("when does the tide turn", limit=2)
    (answer,) = called(engine, "list_answers")["answers"]
    assert called(engine, "replay_answer", id=answer["id"])["same"] is True

    engine.forget([first.id])
    better = engine.remember("when does the tide turn? at six")
    replayed = called(engine, "replay_answer", id=answer["id"])

    places = {row["id"]: (row["shown"], row["ranked"], row["now"]) for row in replayed["memories"]}
    # At first, only the first memory was there. Now it is forgotten, and the better one has its place.
    assert places == {first.id: (1, 1, None), better.id: (None, None, 1)}
    assert [row["in_force"] for row in replayed["memories"]] == [False, True]
    assert replayed["same"] is False
    assert len(called(engine, "list_answers")["answers"]) == 1
