"""`recollect search`, for a person, a pipe and a program."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


@pytest.mark.usefixtures("matched_fusion")
def test_a_line_holds_rank_id_kind_name_passage_why_and_score(harbour: CommandLine) -> None:
    first, *_ = harbour("search", "oolong").stdout.splitlines()
    rank, id_, kind, name, passage, why, score = first.split("\t")
    assert (rank, id_, kind, name) == ("1", "1", "entity", "Marisol Vega")
    assert passage == "Drinks oolong after lunch"
    assert why.startswith("words #1, meaning #1 (cosine 0.")
    # Best in both, 0.6 * 1 by meaning + 0.4 * 1 by words; and it holds all that was given: 0.4 more.
    assert score == "1.4000"


def test_json_has_stable_keys_and_iso_times(harbour: CommandLine) -> None:
    answer = harbour.json("search", "oolong")
    sure = {"confidence", "doubtful", "abstained", "withheld"}
    assert set(answer) == {"query", "profile", "strategy", "mode", "note", "time", "left_out", "hits"} | sure
    hit = answer["hits"][0]
    ranked = {"rank", "score", "confidence", "found_by", "scores", "reasons"}
    assert set(hit) == ranked | {"passage", "piece", "conflicts_with", "memory"}
    assert hit["found_by"]["words"]["rank"] == 1
    assert datetime.fromisoformat(hit["memory"]["created_at"]).tzinfo is not None


def test_words_need_no_quotes(harbour: CommandLine) -> None:
    assert harbour.json("search", "safe", "to", "cross")["query"] == "safe to cross"


def test_the_limit_and_the_kind_are_kept(harbour: CommandLine) -> None:
    assert len(harbour.json("search", "person", "--limit", "1")["hits"]) == 1
    assert harbour.json("search", "person", "--kind", "note")["hits"] == []
    harbour.refused("search", "person", "--kind", "dream", status=2)
    harbour.refused("search", "person", "--limit", "0", status=2)


def test_options_work_before_and_after_the_command(harbour: CommandLine) -> None:
    before = harbour("--json", "--store", str(harbour.store), "search", "oolong")
    after = harbour("search", "oolong", "--store", str(harbour.store), "--json")
    assert before.stdout == after.stdout
    harbour("--store", "/nowhere/x.db", "search", "oolong", "--store", str(harbour.store))


def test_without_a_model_words_are_searched_and_the_reason_is_told(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", "likes tea", "--model", "none")
    result = recollect("search", "tea", "--model", "none")
    assert re.fullmatch(r"words #1, \d+ % likely", result.stdout.split("\t")[5])
    assert "Searched by words only" in result.stderr
    assert recollect.json("search", "tea", "--model", "none")["note"]


def test_nothing_found_is_no_error_and_no_line(recollect: CommandLine) -> None:
    recollect("add", "Ana", "--model", "none")
    assert recollect("search", "zebra", "--model", "none").stdout == ""
    assert "Nothing found" in recollect("search", "zebra", "--model", "none", "--color").stdout


def test_the_piece_that_holds_the_words_is_shown(recollect: CommandLine) -> None:
    recollect(
        "add", "Ana", "-o", "likes tea", "-o", "walks to the harbour", "-o", "once sang", "--model", "none"
    )
    assert (
        recollect("search", "walking", "harbour", "--model", "none").stdout.split("\t")[4]
        == "walks to the harbour"
    )


def test_a_long_text_is_cut_around_what_was_sought(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", f"{'before ' * 200}the oolong cup{' after' * 200}", "--model", "none")
    passage = recollect("search", "oolong", "--model", "none").stdout.split("\t")[4]
    assert "oolong" in passage
    assert len(passage) < 300
    assert passage.startswith("…")
    assert passage.endswith("…")


def test_a_terminal_gets_colours_and_highlights(harbour: CommandLine) -> None:
    shown = harbour("search", "oolong", "--color").stdout
    assert "\x1b[1;36mMarisol Vega" in shown
    assert "\x1b[1;33moolong" in shown
    assert "words #1, meaning #1" in shown


@pytest.mark.parametrize("form", ["--color", "--no-color"])
def test_what_is_remembered_cannot_steer_the_terminal(recollect: CommandLine, form: str) -> None:
    recollect("add", "Mallory", "-o", "red \x1b[31malert\x1b[2J \u202egnihtemos \x07")
    for typed in (["search", "alert"], ["show", "Mallory"], ["graph"]):
        shown = recollect(*typed, form).stdout
        assert "\x1b[31malert" not in shown
        assert "\x1b[2J" not in shown
        assert "\u202e" not in shown
        assert "\x07" not in shown


def test_tabs_and_new_lines_in_a_text_do_not_break_the_columns(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", "likes\ttea\nand cake")
    (line,) = recollect("search", "tea").stdout.splitlines()
    assert line.split("\t")[4] == "likes tea and cake"
