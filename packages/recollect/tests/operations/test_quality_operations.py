"""Measuring how well a memory is found, and tuning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from operation_calls import called, every_page

from recollect.operations.catalogue import http_operations
from recollect.tuning.answers import curve_of

if TYPE_CHECKING:
    from recollect.engine import Engine


def test_numbers_are_set_listed_and_rolled_back(engine: Engine) -> None:
    state = called(engine, "tuning_state")
    (limbic,) = [each for each in state["profiles"] if each["profile"] == "limbic"]
    assert limbic["version"] == 0
    name, published = next(iter(limbic["published"].items()))

    given = {"numbers": {name: published / 2}, "profile": "limbic", "exactly": True}
    assert called(engine, "set_numbers", **given, dry_run=True)["written"] is False
    done = called(engine, "set_numbers", **given)
    assert (done["before"], done["after"]) == ({name: published}, {name: published / 2})
    assert done["written"] is True
    called(engine, "reset_numbers", profile="limbic")
    newest, oldest = every_page(engine, "tuning_history", "versions", limit=1)
    assert (newest["why"], oldest["why"]) == ("reset", "set")
    called(engine, "rollback_tuning", version=oldest["version"])
    (limbic,) = [each for each in called(engine, "tuning_state")["profiles"] if each["profile"] == "limbic"]
    assert limbic["tuned"] == {name: published / 2}


def test_the_log_is_analyzed_and_emptied(engine: Engine) -> None:
    tide = engine.remember("the tide turns at noon")
    answer = engine.recall("when does the tide turn")
    engine.feedback(tide.id, 1.0, answer)
    found = called(engine, "analyze_tuning")
    found = found["analysis"]
    assert (found["events"], found["with_feedback"]) == (1, 1)
    # The only candidate is first in both rankings.
    assert found["overall"]["ours"]["ndcg_10"] == found["overall"]["baseline"]["ndcg_10"] == 1.0
    assert called(engine, "run_tuning")["proposal"]["verdict"] == "too few"
    assert called(engine, "empty_log") == {"answers": 1}
    assert called(engine, "list_answers")["answers"] == []


def test_the_self_test_and_the_curve_ask_without_a_trace(engine: Engine) -> None:
    for number in range(12):
        engine.remember(f"harbour {number}: the boat of captain number{number} is moored at berth{number}")
    done = called(engine, "self_test", profiles=["recollect"], sample=6)
    assert (done["memories"], done["sampled"]) == (12, 6)
    assert done["profiles"][0]["overall"]["asked"] > 0
    curve = called(engine, "confidence_curve", sample=6)
    assert curve["judged_by"] == "self-test"
    assert sum(each["count"] for each in curve["bins"]) == curve["pairs"] > 0
    assert called(engine, "list_answers")["answers"] == []


def test_a_curve_tells_stated_and_found_by_bin() -> None:
    curve = curve_of("feedback", [(0.05, False), (0.85, True), (0.81, False), (1.0, True)])
    assert [(each.low, each.high, each.count) for each in curve.bins] == [
        (0.0, 0.1, 1),
        (0.8, 0.9, 2),
        (0.9, 1.0, 1),
    ]
    assert [each.found for each in curve.bins] == [0.0, 0.5, 1.0]
    # (1 * 0.05 + 2 * |0.83 - 0.5| + 1 * 0) / 4 = (0.05 + 0.66) / 4
    assert curve.error == pytest.approx(0.1775)


def test_what_changes_rankings_or_cannot_be_taken_back_is_an_admins() -> None:
    admins = {name for name, each in http_operations().items() if each.admin}
    assert {"run_tuning", "set_numbers", "reset_numbers", "rollback_tuning", "empty_log"} <= admins
    assert {"purge", "backup", "reindex", "verify", "import_text", "doctor", "store_state"} <= admins
