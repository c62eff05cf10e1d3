"""What confidence asks of a store: who holds a word, and what was learnt before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import Calibrate, NewText, PutText
from recollect.query import Filter
from recollect.records import Calibrated, Kind, Scope
from recollect.retrieval.answer_log import stored_calibration
from recollect.retrieval.records import scope_id
from recollect.retrieval.search import Search

if TYPE_CHECKING:
    from conftest import FixedClock
    from recollect.engine.repository import Repository

ME, YOU = Scope("me"), Scope("you")


def put(store: Repository, clock: FixedClock, scope: Scope, *texts: str) -> None:
    store.apply([PutText(scope, NewText(Kind.NOTE, text)) for text in texts], at=clock())


def test_words_are_counted_as_they_are_and_else_by_their_stem(store: Repository, clock: FixedClock) -> None:
    put(store, clock, ME, "The key hangs here", "A key and a kettle", "She walked home")
    put(store, clock, YOU, "key", "key ring")
    with store.read() as view:
        # `walking` stands nowhere, and one text holds its stem; another owner's keys do not count.
        assert Search(view, Filter(ME.owner, ME.agent)).document_counts(
            ["key", "kettle", "walking", "zebra"]
        ) == (
            3,
            {"key": 2, "kettle": 1, "walking": 1, "zebra": 0},
        )
        assert Search(view, Filter(Scope("nobody").owner, Scope("nobody").agent)).document_counts(
            ["key"]
        ) == (0, {})


def test_the_last_to_learn_is_believed_and_each_model_and_scope_by_itself(
    store: Repository, clock: FixedClock
) -> None:
    first = clock()
    store.apply([Calibrate(ME, "arctic", 3, "{}"), Calibrate(ME, "", 3, "[]")], at=first)
    second = clock.tick()
    store.apply([Calibrate(ME, "arctic", 9, '{"a": 1}')], at=second)
    with store.read() as view:
        assert stored_calibration(view, scope_id(view, ME), "arctic") == Calibrated(second, 9, '{"a": 1}')
        assert stored_calibration(view, scope_id(view, ME), "") == Calibrated(first, 3, "[]")
        assert stored_calibration(view, scope_id(view, YOU), "arctic") is None
