"""The consolidation report lists what could be tidied up, and changes nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from overgrown import APOLLO
from test_similar import LONG, SHORT, Angles

from recollect.domain.errors import InvalidInput

if TYPE_CHECKING:
    from conftest import FixedClock, MakeEngine

    from recollect.engine import Engine

DAY = 86_400


def test_an_empty_store_has_nothing_to_tidy(engine: Engine) -> None:
    report = engine.upkeep.consolidation_report()
    assert (report.entities, report.observations, report.notes) == (0, 0, 0)
    assert report.text == "0 entities, 0 observations, 0 notes.\nNothing to tidy."


def test_what_is_too_large_is_a_candidate_where_it_falls_apart_and_oversized_where_not(
    engine: Engine,
) -> None:
    engine.create_entities(
        [
            {"name": "Apollo", "type": "project", "observations": APOLLO},
            {"name": "Log", "type": "session", "observations": [str(number) for number in range(16)]},
            {"name": "Few", "observations": [str(number) for number in range(20)]},
        ]
    )
    report = engine.upkeep.consolidation_report()
    assert (report.entities, report.observations) == (3, 27 + 16 + 20)
    assert [each.name for each in report.split_candidates] == ["Apollo"]
    assert report.split_candidates == engine.upkeep.find_split_candidates()
    assert [(each.name, each.observations, each.limit) for each in report.oversized] == [("Log", 16, 15)]
    assert '- "Apollo" ("project"): 27 observations, at most 25; topics: ' in report.text
    assert '- "Log" ("session"): 16 observations, at most 15' in report.text


def test_near_repeats_are_listed_while_both_are_in_force(make_engine: MakeEngine) -> None:
    model = Angles()
    engine = make_engine(lambda _: model)
    engine.create_entities([{"name": "Ada", "observations": ["one 0", "two 10", "three 90", "four 95"]}])
    flagged = engine.upkeep.consolidation_report().flagged_observations
    assert [(each.observation.content, each.similar.content) for each in flagged] == [
        ("two 10", "one 0"),
        ("four 95", "three 90"),
    ]
    # Taken care of: one of them is gone, or was corrected.
    engine.graph.delete_observations({"Ada": ["one 0"]})
    engine.graph.add_observations({"Ada": [{"content": "five 200", "supersedes": "four 95"}]})
    assert engine.upkeep.consolidation_report().flagged_observations == ()


def test_notes_that_nearly_repeat_another_are_listed_while_both_are_there(make_engine: MakeEngine) -> None:
    engine = make_engine(model="none")
    old = engine.remember(LONG)
    new = engine.remember(SHORT)
    report = engine.upkeep.consolidation_report()
    (flag,) = report.flagged_notes
    assert (flag.id, flag.text, flag.similarity) == (new.id, SHORT, 1.0)
    assert (flag.similar_to, flag.similar_text) == (old.id, LONG)
    assert report.notes == 2
    assert f'- {new.id}: "{SHORT}" ~ {old.id}: "{LONG}"' in report.text
    engine.forget([old.id])
    assert engine.upkeep.consolidation_report().flagged_notes == ()


def test_stale_is_what_was_neither_seen_nor_changed_for_long(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities(["Idle", "Seen", "Changed", {"name": "Shelved", "status": "archived"}, "Early"])
    start = clock.now
    clock.tick(10 * DAY)
    engine.graph.open_nodes(["Early"])
    clock.tick(50 * DAY)
    engine.graph.open_nodes(["Seen"])
    engine.graph.add_observations({"Changed": ["new"]})
    clock.tick(40 * DAY)
    # At 100 days: Idle was last changed 100 days ago, Early seen 90 days ago, which is not yet more than 90.
    (idle,) = engine.upkeep.consolidation_report().stale
    assert (idle.name, idle.days, idle.updated_at) == ("Idle", 100, start)
    assert (idle.last_seen, idle.times_seen) == (None, 0)
    clock.tick(1)
    report = engine.upkeep.consolidation_report()
    assert [(each.name, each.days) for each in report.stale] == [("Idle", 100), ("Early", 90)]
    assert (report.stale[1].last_seen, report.stale[1].times_seen) == (start + timedelta(days=10), 1)
    assert 'Neither seen nor changed for 90 days: 2\n- "Idle" ("unknown"): 100 days' in report.text
    month = engine.upkeep.consolidation_report(stale_days=30).stale
    assert [each.name for each in month] == ["Idle", "Early", "Seen", "Changed"]
    assert engine.upkeep.consolidation_report(stale_days=365).stale == ()


@pytest.mark.parametrize("days", [-1, True, "90", float("nan"), 1e9])
def test_days_that_are_none_are_refused(engine: Engine, days: float) -> None:
    with pytest.raises(InvalidInput, match="stale_days"):
        engine.upkeep.consolidation_report(stale_days=days)


def test_a_long_list_is_cut_in_the_text_alone(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities([f"E{number}" for number in range(12)])
    clock.tick(100 * DAY)
    report = engine.upkeep.consolidation_report()
    assert len(report.stale) == 12
    assert report.text.endswith("- and 2 more")
    assert report.text.count('\n- "E') == 10


def test_a_long_text_is_cut_to_one_short_line(make_engine: MakeEngine) -> None:
    engine = make_engine(model="none")
    engine.create_entities([{"name": "Ada", "observations": [f"{LONG}\n{'tea ' * 50}", SHORT]}])
    assert all(len(line) < 200 for line in engine.upkeep.consolidation_report().text.split("\n"))


def test_more_than_a_page_is_counted_once(engine: Engine) -> None:
    engine.create_entities([{"name": f"E{number}", "observations": ["x"]} for number in range(450)])
    report = engine.upkeep.consolidation_report()
    assert (report.entities, report.observations) == (450, 450)


def test_another_scope_is_not_told_of(engine: Engine, clock: FixedClock) -> None:
    other = engine.scoped("you")
    other.create_entities([{"name": "Apollo", "type": "project", "observations": [*APOLLO, LONG, SHORT]}])
    other.remember(LONG)
    clock.tick(100 * DAY)
    assert engine.upkeep.consolidation_report().text.endswith("\nNothing to tidy.")
    assert len(other.upkeep.consolidation_report().stale) == 1


def test_reporting_changes_nothing(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities([{"name": "Apollo", "type": "project", "observations": APOLLO}])
    clock.tick(100 * DAY)
    before = (engine.graph.read_graph(), engine.counts())
    assert engine.upkeep.consolidation_report() == engine.upkeep.consolidation_report()
    assert (engine.graph.read_graph(), engine.counts()) == before
