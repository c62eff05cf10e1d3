"""A profile's numbers are tuned on the store's own answers, hold at once, and can be taken back."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import apsw
import pytest
from semantic import search_semantic

import recollect
from recollect.domain.changes import TuneProfile
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.records import RecallOptions
from recollect.engine import Engine
from recollect.ranking.candidates import run
from recollect.ranking.profiles import PROFILES, from_plain, to_plain
from recollect.search.recording import TrialSettings
from recollect.search.rows import scope_id
from recollect.tuning.answers import logged_answers
from recollect.tuning.knobs import with_knobs
from recollect.tuning.tuning import events_of

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import FixedClock

    from recollect.domain.records import LoggedAnswer
    from recollect.tuning.tuning import TuningChange

LIMBIC = PROFILES["limbic"]
GAMMA, BETA = "cooccurrence.gamma", "salience.beta_sal"


@pytest.fixture
def teas(engine: Engine) -> Engine:
    engine.create_entities(
        [{"name": f"tea {number}", "observations": [f"tea {'leaf ' * number}"]} for number in range(8)]
    )
    for _ in range(3):
        engine.graph.open_nodes(["tea 7", "tea 6"])
    return engine


def logged(engine: Engine, profile: str = "limbic") -> list[LoggedAnswer]:
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        return list(logged_answers(view, scope_id(view, engine.scope), profile))


def scores(engine: Engine, **asked: bool) -> list[tuple[int, float]]:
    answer = engine.search("tea leaf", profile="limbic", **asked)  # type: ignore[arg-type]  # switches only
    return [(hit.memory.id, hit.score) for hit in answer.hits]


# Setting numbers


def test_set_goes_a_tenth_of_the_way_and_exactly_goes_all_of_it(engine: Engine) -> None:
    # gamma is published as 0.01, beta_sal as 0.5: 0.9 * 0.01 + 0.1 * 0.05 = 0.014; 0.9 * 0.5 + 0.1 * 1 = 0.55
    done = engine.tuning.set({"GAMMA": 0.05, "beta-sal": 1.0}, "limbic")
    assert done.written
    assert done.before == {GAMMA: 0.01, BETA: 0.5}
    assert done.after == pytest.approx({GAMMA: 0.014, BETA: 0.55})
    # Again, from where they are: 0.9 * 0.014 + 0.1 * 0.05 = 0.0176
    assert engine.tuning.set({"gamma": 0.05}, "limbic").after == pytest.approx({GAMMA: 0.0176})
    assert engine.tuning.set({"gamma": 0.05}, "limbic", exactly=True).after == {GAMMA: 0.05}
    numbers = engine.tuning.numbers("limbic")
    assert (numbers.published[GAMMA], numbers.published[BETA]) == (0.01, 0.5)
    assert numbers.tuned == pytest.approx({GAMMA: 0.05, BETA: 0.55})


def test_tuned_numbers_rank_the_very_next_answer_and_the_published_ones_can_be_asked_for(
    teas: Engine,
) -> None:
    before = scores(teas)
    teas.tuning.set({"beta_sal": 3.0}, "limbic", exactly=True)
    answer = teas.recall("tea leaf", profile="limbic", limit=8)
    assert answer.trace is not None
    read = answer.trace.candidates, answer.trace.query
    wanted = run(with_knobs(LIMBIC, {"beta_sal": 3.0}), *read)
    assert [hit.score for hit in answer.hits] == wanted.score.tolist()
    assert wanted.score.tolist() != run(LIMBIC, *read).score.tolist()
    version = teas.tuning.numbers("limbic").version
    assert [each.version for each in logged(teas)] == [version]
    published = teas.recall(
        "tea leaf", profile="limbic", limit=8, options=RecallOptions(tuned=False), record=False
    )
    assert published.trace is not None
    untuned = run(LIMBIC, published.trace.candidates, published.trace.query)
    assert [hit.score for hit in published.hits] == untuned.score.tolist()
    assert published.trace.rankers.version == 0
    assert before != scores(teas)


def test_search_semantic_and_why_not_rank_with_tuned_numbers_and_a_profile_value_without(
    teas: Engine,
) -> None:
    as_value = teas.search("tea leaf", profile=LIMBIC)
    before = search_semantic(teas, "tea leaf", 8, record=False)
    teas.tuning.set({"beta_sal": 3.0}, "limbic", exactly=True)
    assert teas.search("tea leaf", profile=LIMBIC) == as_value
    after = search_semantic(teas, "tea leaf", 8, record=False)["results"]
    assert after != before["results"]
    assert search_semantic(teas, "tea leaf", 8, record=False, tuned=False) == before
    for place, one in enumerate(after, start=1):
        told = teas.why_not("tea leaf", one["name"], profile="limbic", limit=8, kinds=["entity"])
        assert told.standing is not None
        assert told.standing.place == place


def test_numbers_are_a_scopes_own(teas: Engine) -> None:
    you = teas.scoped("you")
    teas.tuning.set({"gamma": 0.5}, "limbic")
    assert you.tuning.numbers("limbic").version == 0
    assert you.tuning.history() == ()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "at least one number"),
        ({"mood": 1.0}, "no number named 'mood'"),
        ({"tau_days": -1.0}, "no number named"),
        ({"lambda_hourly": 1.0}, "give the full name"),
        ({"forgetting.lambda_hourly": -1.0}, "must be 0 or above"),
        ({"gamma": float("nan")}, "cannot be used"),
    ],
)
def test_what_is_no_number_of_the_profile_is_refused(
    engine: Engine, values: dict[str, float], says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        engine.tuning.set(values, "limbic", exactly=True)
    assert engine.tuning.history() == ()


def test_a_dry_run_and_numbers_that_are_so_already_write_nothing(engine: Engine) -> None:
    done = engine.tuning.set({"gamma": 0.05}, "limbic", dry_run=True)
    assert (done.written, done.version) == (False, 0)
    assert done.after == pytest.approx({GAMMA: 0.014})
    assert engine.tuning.history() == ()
    engine.tuning.set({"gamma": 0.05}, "limbic", exactly=True)
    done = engine.tuning.set({"gamma": 0.05}, "limbic", exactly=True)
    assert (done.written, done.after, len(engine.tuning.history())) == (False, {}, 1)


# Taking them back


def test_reset_and_rollback_are_versions_of_their_own(engine: Engine, clock: FixedClock) -> None:
    tuner = engine.tuning
    first = tuner.set({"gamma": 0.05}, "limbic", exactly=True).version
    clock.tick(60)
    second = tuner.set({"gamma": 0.07, "beta_sal": 0.9}, "limbic", exactly=True).version
    tuner.reset("limbic")
    assert tuner.numbers("limbic").tuned == {}
    tuner.rollback(profile="limbic")  # to what there was before the reset
    assert tuner.numbers("limbic").tuned == {GAMMA: 0.07, BETA: 0.9}
    tuner.rollback(first)
    assert tuner.numbers("limbic").tuned == {GAMMA: 0.05}
    tuner.rollback(0, "limbic")
    assert tuner.numbers("limbic").tuned == {}
    history = tuner.history("limbic")
    assert [each.why for each in history] == ["rollback", "rollback", "rollback", "reset", "set", "set"]
    assert [each.version for each in history][-2:] == [second, first]
    assert history[1].report["to"] == first
    assert history[-1].report["asked"] == {GAMMA: 0.05}


def test_rollback_without_a_version_goes_further_back_each_time(engine: Engine) -> None:
    tuner = engine.tuning
    versions = [tuner.set({"gamma": gamma}, "limbic", exactly=True).version for gamma in (0.02, 0.03, 0.04)]

    def back() -> float:
        tuner.rollback(profile="limbic")
        return tuner.numbers("limbic").tuned.get(GAMMA, 0.01)

    assert [back(), back()] == [0.03, 0.02]
    # A change after that is the last one again, and before it are the numbers that were gone back to.
    tuner.set({"gamma": 0.05}, "limbic", exactly=True)
    assert [back(), back()] == [0.02, 0.01]
    with pytest.raises(NotFound, match="nothing before"):
        tuner.rollback(profile="limbic")
    tuner.rollback(versions[2])
    assert back() == 0.03


def test_there_is_nothing_to_take_back_where_nothing_was_tuned(engine: Engine) -> None:
    assert not engine.tuning.reset("limbic").written
    with pytest.raises(NotFound, match="never tuned"):
        engine.tuning.rollback(profile="limbic")
    with pytest.raises(NotFound, match="no version 9"):
        engine.tuning.rollback(9)
    version = engine.tuning.set({"gamma": 0.05}, "limbic").version
    engine.tuning.set({"share": 0.3}, "cognis")
    with pytest.raises(InvalidInput, match="of another profile"):
        engine.tuning.rollback(version, "cognis")


def test_who_was_overtaken_changes_nothing(engine: Engine) -> None:
    stale = TuneProfile(engine.scope, "limbic", ((GAMMA, 0.2),), "set", after=0)
    engine.tuning.set({"gamma": 0.05}, "limbic", exactly=True)
    with pytest.raises(Conflict, match="Another process has tuned"):
        engine._services.store.apply([stale], at=engine._services.clock())
    assert engine.tuning.numbers("limbic").tuned == {GAMMA: 0.05}


# Profiles that were edited since


def without_cooccurrence(engine: Engine) -> Engine:
    plain = to_plain(LIMBIC)
    plain["steps"] = [
        step for step in plain["steps"] if step.get("factor", {}).get("factor") != "cooccurrence"
    ]
    return Engine(replace(engine._services, profiles={"limbic": from_plain(plain)}))


def test_a_number_that_a_profile_no_longer_has_is_left_out_with_a_note(teas: Engine) -> None:
    teas.tuning.set({"gamma": 0.05, "beta_sal": 0.9}, "limbic", exactly=True)
    engine = without_cooccurrence(teas)
    answer = engine.recall("tea leaf", profile="limbic")
    assert answer.note is not None
    assert "no longer takes were left out: cooccurrence.gamma" in answer.note
    assert "recollect tune reset --profile limbic" in answer.note
    assert engine.tuning.numbers("limbic").tuned == {BETA: 0.9}
    assert engine.search("tea leaf", profile="limbic", options=RecallOptions(tuned=False)).note is None
    # The next change writes only what there is.
    engine.tuning.set({"beta_sal": 0.7}, "limbic", exactly=True)
    assert engine.search("tea leaf", profile="limbic").note is None


@pytest.mark.parametrize("way", ["reset", "rollback"])
def test_what_a_profile_lost_can_be_taken_off(teas: Engine, way: str) -> None:
    teas.tuning.set({"gamma": 0.05}, "limbic", exactly=True)
    engine = without_cooccurrence(teas)
    assert engine.search("tea leaf", profile="limbic").note is not None

    def take_off(*, dry_run: bool = False) -> TuningChange:
        if way == "reset":
            return engine.tuning.reset("limbic", dry_run=dry_run)
        return engine.tuning.rollback(0, "limbic", dry_run=dry_run)

    assert take_off(dry_run=True).before == {GAMMA: 0.05}
    told = take_off()
    assert (told.written, told.before, told.after) == (True, {GAMMA: 0.05}, {})
    assert engine.search("tea leaf", profile="limbic").note is None
    assert not take_off().written


def test_a_number_that_cannot_be_used_leaves_the_profile_as_published(teas: Engine) -> None:
    change = TuneProfile(teas.scope, "limbic", (("forgetting.lambda_hourly", -5.0),), "set")
    teas._services.store.apply([change], at=teas._services.clock())
    answer = teas.search("tea leaf", profile="limbic")
    assert answer.note is not None
    assert "forgetting.lambda_hourly" in answer.note
    assert answer.hits == teas.search("tea leaf", profile="limbic", options=RecallOptions(tuned=False)).hits
    assert teas.tuning.reset("limbic").written
    assert teas.search("tea leaf", profile="limbic").note is None


# Learning from the log


def test_analysis_says_which_profile_and_what_there_is(teas: Engine) -> None:
    empty = teas.tuning.analyze()
    assert (empty.analysis.profile, empty.analysis.events, empty.analysis.overall) == ("recollect", 0, None)
    answer = teas.recall("tea leaf", profile="limbic", limit=4)
    teas.recall("other leaf", profile="limbic", limit=4)
    teas.feedback(answer.hits[2].memory.id, 1, answer)
    told = teas.tuning.analyze()  # only limbic was used
    assert told.analysis.profile == "limbic"
    assert (told.analysis.events, told.analysis.treated) == (2, 2)
    assert told.analysis.by_arm == {"ours": 2, "baseline": 0, "interleaved": 0}
    assert told.analysis.overall is not None
    log = told.log
    assert (log.on, log.design, log.against, len(log.seed)) == (True, "off", "similarity", 16)
    teas.recall("tea leaf")
    assert teas.tuning.analyze().analysis.profile == "recollect"
    assert teas.tuning.analyze("limbic").analysis.profile == "limbic"


def test_analysis_leaves_out_what_showed_another_baseline(teas: Engine) -> None:
    def asking(against: str) -> Engine:
        return Engine(replace(teas._services, trial=TrialSettings(design="split", against=against, share=0)))

    def rate_first_hit(engine: Engine, query: str) -> None:
        answer = engine.recall(query, profile="limbic", limit=4)
        engine.feedback(answer.hits[0].memory.id, 1, answer)

    rate_first_hit(asking("reverie"), "tea one")
    rate_first_hit(asking("similarity"), "tea two")
    found = asking("similarity").tuning.analyze("limbic").analysis
    assert (found.against, found.other_baselines) == ("similarity", 1)
    assert found.by_arm == {"ours": 0, "baseline": 1, "interleaved": 0}


@pytest.mark.sqlite
def test_a_log_with_answers_that_showed_both_rankings_is_read(teas: Engine) -> None:
    answer = teas.recall("tea leaf", profile="limbic", limit=4)
    teas.feedback(answer.hits[0].memory.id, 1, answer)
    teas._services.usage.settle(None)
    with teas._services.store.read() as view:
        path = view.connection.execute("PRAGMA database_list").fetchone()[2]  # type: ignore[attr-defined]
    # By the same SQLite: another one in the same process would not see who else has the file open.
    with closing(apsw.Connection(path)) as database:
        # As earlier versions wrote it, where the setting `ab` was `interleave`.
        database.execute("UPDATE answer_log SET arm = 'interleaved'")
    found = teas.tuning.analyze("limbic").analysis
    assert found.by_arm == {"ours": 0, "baseline": 0, "interleaved": 1}
    assert (found.treated, found.with_feedback) == (1, 1)
    assert found.overall == found.arms["interleaved"]
    proposal = teas.tuning.run("limbic").proposal
    assert proposal is not None
    assert proposal.treated == 1


def test_what_was_said_counts_more_than_what_was_seen(teas: Engine) -> None:
    answer = teas.recall("tea leaf", profile="limbic", limit=8)
    first, second = answer.hits[0].memory, answer.hits[1].memory
    teas.graph.open_nodes([first.name, second.name])
    teas.recall("leaf of tea", profile="limbic", limit=8)
    teas.feedback(first.id, -1, answer)
    teas._services.usage.settle(None)
    with teas._services.store.read() as view:
        (event, _), unreadable = events_of(teas._services, view, "limbic")
    assert unreadable == 0
    assert event.said == {first.id: -1.0}
    # Opened, and found again: the better of the two.
    assert (event.feedback[first.id], event.feedback[second.id]) == (-1.0, 1.0)


def test_too_few_answers_are_told_by_their_number(teas: Engine) -> None:
    for number in range(3):
        teas.recall(f"tea {number}", profile="limbic")
    done = teas.tuning.run("limbic")
    assert done.proposal is not None
    assert "ranked 3 logged answers; a search needs at least 50." in done.proposal.says
    assert (done.written, teas.tuning.history()) == (False, ())


@pytest.fixture
def choosy(engine: Engine) -> Engine:
    """An engine whose user always prefers the important note, although another is more similar."""
    for number in range(60):
        engine.remember(f"topic{number} kettle", importance=0.0)
        engine.remember(f"topic{number} harbour lamp", importance=1.0)
    for number in range(60):
        answer = engine.recall(f"topic{number} kettle", profile="mnemosyne", limit=10)
        wanted = next(hit.memory.id for hit in answer.hits if f"topic{number} harbour" in hit.memory.text)
        engine.feedback(wanted, 1, answer)
    return engine


def test_a_taste_is_learnt_and_applied_a_step_at_a_time(choosy: Engine) -> None:
    ranges = {"importance.weight": (0.2, 2.0)}
    tried = choosy.tuning.run("mnemosyne", ranges=ranges, dry_run=True)
    assert tried.proposal is not None
    assert tried.proposal.verdict == "proposed", tried.proposal.says
    assert (tried.written, choosy.tuning.history()) == (False, ())
    done = choosy.tuning.run("mnemosyne", ranges=ranges)
    # 0.9 * 0.2 + 0.1 * 2
    assert done.after == pytest.approx({"importance.weight": 0.38})
    assert choosy.tuning.numbers("mnemosyne").tuned == pytest.approx({"importance.weight": 0.38})
    (version,) = choosy.tuning.history("mnemosyne")
    assert (version.version, version.why) == (done.version, "run")
    assert version.report["gain"]["mean"] > 0
    assert version.report["best"] == {"importance.weight": 2.0}


# Other processes

_OTHER = """
import sys, recollect
with recollect.open(sys.argv[1], model="hashing") as memory:
    memory.tuning.set({"beta_sal": 3.0}, "limbic", exactly=True)
"""


def test_what_one_process_sets_ranks_the_next_answer_of_another(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, model="hashing") as memory:
        memory.create_entities([{"name": f"tea {number}", "observations": ["leaf"]} for number in range(3)])
        memory.graph.open_nodes(["tea 1"])
        memory.search("tea", profile="limbic")
        done = subprocess.run([sys.executable, "-c", _OTHER, str(path)], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        answer = memory.search("tea", profile="limbic")
        assert answer.trace is not None
        assert answer.trace.rankers.ours == with_knobs(LIMBIC, {"beta_sal": 3.0})
        (version,) = memory.tuning.history()
        assert answer.trace.rankers.version == version.version
