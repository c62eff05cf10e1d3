"""`recollect forecast`: which memories fade if nobody uses them, and when."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from dream_world import ALLERGY, FERRY, MEETING

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line", "dream_fixtures"]


def lines(recollect: CommandLine, *typed: str) -> list[list[str]]:
    return [line.split("\t") for line in recollect(*typed).stdout.splitlines()]


def test_what_fades_within_a_month_and_a_year_is_counted_by_kind(night: CommandLine) -> None:
    told = night.json("forecast")
    assert (told["days"], told["memories"], told["kept"]) == (365, 5, 0)
    counts = {(each["kind"], each["days"]): each for each in told["by_then"]}
    assert set(counts) == {("entities", 30), ("notes", 30), ("entities", 365), ("notes", 365)}
    # A note that was touched 300 days ago has a staleness of 150; at full strength it takes 32 nights
    # until 0.95 ** n < 0.2, so nothing goes within a month.
    assert counts["notes", 30]["prunable"] == 0
    assert counts["notes", 365]["prunable"] >= 3
    assert counts["notes", 365]["total"] == 4


def test_the_soonest_are_named_with_their_day(night: CommandLine) -> None:
    soonest = night.json("forecast")["soonest"]
    assert {each["id"] for each in soonest[:3]} == {MEETING, 4, FERRY}
    first = soonest[0]
    # 0.95 ** 31 = 0.204, 0.95 ** 32 = 0.194; and the first dream takes nothing.
    assert first["prunable_in_days"] == 33
    today = datetime.now(UTC)
    days = {(today + timedelta(days=33 - late)).date().isoformat() for late in (0, 1)}  # it may be midnight
    assert first["prunable_on"] in days
    # Staleness passes 180 after 60 more days, when 0.95 ** 60 is far below 0.1.
    assert first["archived_in_days"] in {60, 61}
    assert 0 < first["retrievable_at_the_end"] < 0.1


def test_what_is_pinned_or_marked_does_not_fade(night: CommandLine) -> None:
    night("update", str(FERRY), "--mark", "vital")
    night("update", str(MEETING), "--pin")
    told = night.json("forecast", "--limit", "100")
    assert told["kept"] == 2
    assert not {FERRY, MEETING} & {each["id"] for each in told["soonest"]}


def test_how_many_are_named_and_how_far_it_looks_can_be_chosen(night: CommandLine) -> None:
    told = night.json("forecast", "--days", "40", "--limit", "2")
    assert len(told["soonest"]) == 2
    assert told["more"] == 1
    assert len(told["by_day"]) == 41
    assert told["by_day"][0]["mean_strength"] == 1
    assert told["by_day"][40]["mean_strength"] == pytest.approx(0.95**39)
    assert told["by_day"][40]["prunable"] == 3
    assert {each["days"] for each in night.json("forecast", "--days", "7")["by_then"]} == {7}
    for days in ("0", "3651", "soon"):
        night.refused("forecast", "--days", days, status=2)


def test_a_pipe_gets_counts_memories_and_days(night: CommandLine) -> None:
    told = lines(night, "forecast", "--days", "40")
    assert ["within", "40", "notes", "4", "3", "0"] in told
    assert [line[1] for line in told if line[0] == "memory"] == [str(MEETING), "4", str(FERRY)]
    days = [line for line in told if line[0] == "day"]
    assert len(days) == 41
    assert days[0][2:] == ["1", "0", "0"]


def test_a_terminal_gets_tables_that_fit_it(night: CommandLine) -> None:
    shown = re.sub(r"\x1b\[[\d;]*m", "", night("forecast", "--color", COLUMNS="80").stdout)
    assert "If nobody uses them any more" in shown
    assert re.search(r"365 +notes +4 +\d +\d", shown)
    assert "The last ferry leaves at 21:40" in shown
    assert str(ALLERGY) in shown


def test_where_nothing_fades_it_says_so(night: CommandLine) -> None:
    shown = night("forecast", "--days", "1", "--color").stdout
    assert "Nothing falls below recall within 1 day." in shown


def test_nothing_is_written(night: CommandLine) -> None:
    night("forecast")
    assert night.json("dream", "history")["dreams"] == []


def test_an_empty_memory_has_no_future(recollect: CommandLine) -> None:
    recollect("remember", "tea")
    recollect("forget", "1")
    assert "the memory is empty" in recollect("forecast", "--color").stdout
    assert recollect.json("forecast")["memories"] == 0
    assert "There is no memory" in recollect.refused("forecast", "--store", "nowhere.db", status=3)
