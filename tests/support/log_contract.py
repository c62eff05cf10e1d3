"""The contract of every store for the log of answers: content, limits and feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from store_contract import ME, YOU, at
from store_contract import one as do

from recollect.domain.changes import (
    Bounds,
    Forget,
    GiveFeedback,
    LogEntry,
    NewText,
    Purge,
    PutText,
    RecordUsage,
    TuneProfile,
)
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.records import Kind, LogSize, Scope
from recollect.domain.tables import Equals
from recollect.search.recording import tuned_numbers
from recollect.search.rows import scope_id, stamp
from recollect.tuning.answers import log_sizes, logged_answers
from recollect.tuning.tuning import tunings
from recollect.write import usage

if TYPE_CHECKING:
    from recollect.domain.records import LoggedAnswer
    from recollect.write.repository import Repository

MINUTE, DAY = 60, 86_400


def notes(store: Repository, count: int, scope: Scope = ME) -> list[int]:
    return [do(store, PutText(scope, NewText(Kind.NOTE, f"note {number}"))).ids[0] for number in range(count)]


def answer(
    store: Repository,
    query: str,
    *ids: int,
    second: float = 0,
    session: str = "s",
    scope: Scope = ME,
    profile: str = "limbic",
    handle: str = "t",
    size: int = 10,
    bounds: Bounds | None = None,
) -> None:
    log = LogEntry(
        handle, "ours", "similarity", ids, tuple(reversed(ids)), b"x" * size, 7, bounds or Bounds()
    )
    do(store, RecordUsage(scope, ids, session, query=query, profile=profile, log=log), second)


def opened(store: Repository, *ids: int, second: float = 0, session: str = "s", scope: Scope = ME) -> None:
    do(store, RecordUsage(scope, ids, session, opened=True), second)


def answers(store: Repository, profile: str = "limbic", scope: Scope = ME) -> list[LoggedAnswer]:
    with store.read() as view:
        return list(logged_answers(view, scope_id(view, scope), profile))


def feedback(store: Repository) -> dict[str, tuple[tuple[int, str, float], ...]]:
    return {each.query: each.feedback for each in answers(store)}


class LogContract:
    # Content

    def test_an_answer_is_kept_as_it_was_given(self, store: Repository) -> None:
        one, two = notes(store, 2)
        answer(store, "Where is it?", two, one, second=5, handle="mine")
        (kept,) = answers(store)
        assert (kept.at, kept.handle, kept.session, kept.query, kept.profile) == (
            at(5),
            "mine",
            "s",
            "Where is it?",
            "limbic",
        )
        assert (kept.version, kept.arm, kept.against, kept.candidates) == (7, "ours", "similarity", b"x" * 10)
        assert (kept.shown, kept.ranked, kept.baseline) == ((two, one), (two, one), (one, two))
        assert kept.feedback == ()

    def test_the_log_tells_its_size_by_profile(self, store: Repository) -> None:
        one, two = notes(store, 2)
        answer(store, "first", one, two)
        answer(store, "second", two, profile="reverie", second=1)
        opened(store, one, second=2)
        with store.read() as view:
            assert list(log_sizes(view, scope_id(view, ME))) == [
                LogSize(1, 1, 1, "limbic"),
                LogSize(1, 1, 0, "reverie"),
            ]
            assert list(log_sizes(view, scope_id(view, YOU))) == []

    def test_candidates_can_be_left_unread_where_nothing_became_of_an_answer(self, store: Repository) -> None:
        one, two = notes(store, 2)
        answer(store, "first", one)
        answer(store, "second", two, second=1)
        opened(store, one, second=2)
        with store.read() as view:
            read = {
                each.query: each.candidates
                for each in logged_answers(view, scope_id(view, ME), "limbic", packed=False)
            }
            assert read == {"first": b"x" * 10, "second": b""}
            assert all(each.candidates for each in logged_answers(view, scope_id(view, ME), "limbic"))

    # Bounds

    def test_the_oldest_go_where_there_are_too_many(self, store: Repository) -> None:
        (one,) = notes(store, 1)
        for number in range(5):
            answer(store, f"q{number}", one, second=number, bounds=Bounds(events=3))
        assert [each.query for each in answers(store)] == ["q2", "q3", "q4"]

    def test_the_oldest_go_where_they_are_too_large(self, store: Repository) -> None:
        (one,) = notes(store, 1)
        for number in range(6):
            answer(store, f"q{number}", one, second=number, size=1_000, bounds=Bounds(bytes=5_000))
        # Each takes 1,000 bytes and a few hundred more: four fit, five do not.
        kept = answers(store)
        assert [each.query for each in kept] == ["q2", "q3", "q4", "q5"]
        assert sum(len(each.candidates) for each in kept) <= 5_000

    @pytest.mark.parametrize("bounds", [Bounds(events=4), Bounds(bytes=5_000)])
    def test_a_busy_scope_does_not_shorten_the_log_of_a_quiet_one(
        self, store: Repository, bounds: Bounds
    ) -> None:
        (one,), (yours,) = notes(store, 1), notes(store, 1, YOU)
        for number in range(6):
            answer(store, f"mine {number}", one, second=10 * number, size=1_000, bounds=bounds)
            for more in range(8 if number == 4 else 0):
                answer(store, f"yours {more}", yours, scope=YOU, second=more, size=1_000, bounds=bounds)
        # Four are kept by number, and as above four by size.
        assert [each.query for each in answers(store)] == [f"mine {number}" for number in (2, 3, 4, 5)]
        kept = [each.query for each in answers(store, "limbic", YOU)]
        assert kept == [f"yours {number}" for number in (4, 5, 6, 7)]

    def test_of_answers_that_dreams_replay_each_scope_keeps_its_newest(
        self, store: Repository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(usage, "_MOST_RECALLS", 3)
        (one,), (yours,) = notes(store, 1), notes(store, 1, YOU)
        for number in range(5):
            opened(store, one, second=100 + number)
            opened(store, yours, second=200 + number, scope=YOU)
            opened(store, yours, second=300 + number, scope=YOU)
        with store.read() as view:
            times = [
                at_ for (at_,) in view.rows("recall", ("at",), (Equals("scope_id", scope_id(view, ME)),))
            ]
            theirs = view.count("recall", (Equals("scope_id", scope_id(view, YOU)),))
        assert times == [stamp(at(second)) for second in (102, 103, 104)]
        assert theirs == {None: 3}

    def test_one_that_is_larger_than_all_of_the_log_may_be_is_not_kept(self, store: Repository) -> None:
        (one,) = notes(store, 1)
        answer(store, "small", one, bounds=Bounds(bytes=5_000))
        answer(store, "large", one, size=6_000, bounds=Bounds(bytes=5_000), second=1)
        assert answers(store) == []
        answer(store, "small again", one, bounds=Bounds(bytes=5_000), second=2)
        assert [each.query for each in answers(store)] == ["small again"]

    def test_what_is_too_old_goes(self, store: Repository) -> None:
        (one,) = notes(store, 1)
        answer(store, "old", one)
        answer(store, "young", one, second=2 * DAY)
        answer(store, "new", one, second=3 * DAY + 1, bounds=Bounds(days=3))
        assert [each.query for each in answers(store)] == ["young", "new"]

    def test_what_was_purged_leaves_the_log_and_what_was_forgotten_does_not(self, store: Repository) -> None:
        one, two = notes(store, 2)
        answer(store, "both", one, two)
        opened(store, one, two, second=1)
        do(store, Forget(ME, (one,)), 2 * MINUTE)
        assert [each.shown for each in answers(store)] == [(one, two)]
        answer(store, "since", two, second=4 * MINUTE)
        do(store, Purge(at(MINUTE)), 5 * MINUTE)  # no memory was forgotten before
        assert [each.query for each in answers(store)] == ["both", "since"]
        do(store, Purge(at(3 * MINUTE)), 5 * MINUTE)
        assert [each.query for each in answers(store)] == ["since"]

    # Use after an answer

    @pytest.mark.parametrize(
        ("second", "session", "scope"), [(31 * MINUTE, "s", ME), (1, "other", ME), (1, "s", YOU)]
    )
    def test_opening_it_too_late_or_elsewhere_is_not(
        self, store: Repository, second: float, session: str, scope: Scope
    ) -> None:
        (one,) = notes(store, 1)
        answer(store, "q", one)
        opened(store, one, second=second, session=session, scope=scope)
        assert feedback(store) == {"q": ()}

    def test_the_last_answer_that_showed_it_is_the_one_that_counts(self, store: Repository) -> None:
        one, two = notes(store, 2)
        answer(store, "first", one, two)
        answer(store, "second", one, second=1)
        opened(store, one, two, second=2)
        assert feedback(store) == {
            "first": ((one, "recalled", 0.5), (two, "opened", 1.0)),
            "second": ((one, "opened", 1.0),),
        }

    def test_what_was_seen_otherwise_says_nothing(self, store: Repository) -> None:
        (one,) = notes(store, 1)
        answer(store, "q", one)
        do(store, RecordUsage(ME, (one,), "s"), 1)
        assert feedback(store) == {"q": ()}

    # Ratings

    def test_what_is_said_is_kept_and_said_anew(self, store: Repository) -> None:
        one, two = notes(store, 2)
        answer(store, "q", one, two, handle="a")
        do(store, GiveFeedback(ME, one, 1.0, handle="a"), 1)
        do(store, GiveFeedback(ME, one, -0.5, handle="a"), 2)
        opened(store, one, second=3)
        assert feedback(store) == {"q": ((one, "opened", 1.0), (one, "said", -0.5))}

    def test_without_a_name_it_is_of_the_last_answer_that_showed_the_memory(self, store: Repository) -> None:
        one, two = notes(store, 2)
        answer(store, "Cómo", one, two, session="a")
        answer(store, "other", one, two, session="b", second=1)
        answer(store, "last", two, session="c", second=2)
        do(store, GiveFeedback(ME, one, 1.0, session="nobody's"), 3)
        do(store, GiveFeedback(ME, two, 0.5, session="a"), 3)
        do(store, GiveFeedback(ME, two, -1.0, query="OTHER", session="a"), 3)
        do(store, GiveFeedback(ME, one, -1.0, query="como"), 3)
        said = {
            query: tuple(row for row in rows if row[1] == "said") for query, rows in feedback(store).items()
        }
        assert said == {
            "Cómo": ((one, "said", -1.0), (two, "said", 0.5)),
            "other": ((one, "said", 1.0), (two, "said", -1.0)),
            "last": (),
        }

    def test_of_what_no_answer_showed_nothing_can_be_said(self, store: Repository) -> None:
        one, two = notes(store, 2)
        (yours,) = notes(store, 1, YOU)
        answer(store, "q", one, handle="a")
        for wrong in (
            GiveFeedback(ME, two, 1.0),
            GiveFeedback(ME, two, 1.0, handle="a"),
            GiveFeedback(ME, one, 1.0, handle="b"),
            GiveFeedback(ME, one, 1.0, query="another"),
            GiveFeedback(ME, yours, 1.0),
            GiveFeedback(YOU, one, 1.0),
        ):
            with pytest.raises(NotFound):
                do(store, wrong)
        assert feedback(store) == {"q": ()}

    @pytest.mark.parametrize("grade", [1.01, -2, float("nan"), float("inf")])
    def test_a_grade_lies_between_minus_one_and_one(self, store: Repository, grade: float) -> None:
        (one,) = notes(store, 1)
        answer(store, "q", one)
        with pytest.raises(InvalidInput, match="from -1"):
            do(store, GiveFeedback(ME, one, grade))

    # Tuned numbers

    def test_the_newest_numbers_hold_and_all_are_kept(self, store: Repository) -> None:
        with store.read() as view:
            assert tuned_numbers(view, scope_id(view, ME), "limbic") is None
        first = do(store, TuneProfile(ME, "limbic", (("gamma", 0.1),), "set", '{"asked": 1}'), 1).ids[0]
        second = do(store, TuneProfile(ME, "limbic", (), "reset", after=first), 2).ids[0]
        do(store, TuneProfile(ME, "reverie", (("k", 30.5),), "run"), 3)
        do(store, TuneProfile(YOU, "limbic", (("gamma", 0.3),), "set"), 4)
        with store.read() as view:
            assert tuned_numbers(view, scope_id(view, ME), "limbic") == (second, {})
            assert first < second
            assert (tuned_numbers(view, scope_id(view, YOU), "limbic") or (0, {}))[1] == {"gamma": 0.3}
            assert tuned_numbers(view, scope_id(view, Scope("nobody")), "limbic") is None
            told = tunings(view, scope_id(view, ME), None, 9)
            assert [(each.profile, dict(each.knobs), each.why, each.at) for each in told] == [
                ("reverie", {"k": 30.5}, "run", at(3)),
                ("limbic", {}, "reset", at(2)),
                ("limbic", {"gamma": 0.1}, "set", at(1)),
            ]
            assert told[-1].report == {"asked": 1}
            assert [each.why for each in tunings(view, scope_id(view, ME), "limbic", 1)] == ["reset"]

    def test_numbers_that_follow_others_than_the_newest_are_refused(self, store: Repository) -> None:
        first = do(store, TuneProfile(ME, "limbic", (("gamma", 0.1),), "set")).ids[0]
        for after in (0, first + 1):
            with pytest.raises(Conflict, match="since"):
                do(store, TuneProfile(ME, "limbic", (("gamma", 0.2),), "set", after=after))
        with store.read() as view:
            assert tuned_numbers(view, scope_id(view, ME), "limbic") == (first, {"gamma": 0.1})
