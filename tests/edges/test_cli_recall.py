"""`recollect recall` and `--explain`: what is noted, and how a score is shown to have come about."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from hand_weights import hand_weighted
from recollect.ranking.explain import Reason, recombined
from recollect.ranking.profiles import DEFAULT, PROFILES
from recollect.text.phrases import decimals

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _seen(shown: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", shown)


def _again(reasons: list[dict[str, Any]]) -> float:
    return recombined(
        Reason(each["step"], each["effect"], each["value"], tuple(each["numbers"]), each["score"])
        for each in reasons
    )


def _salience(recollect: CommandLine, query: str) -> dict[str, float]:
    """By name, what having been used does to the score; looked at without leaving a trace."""
    hits = recollect.json("search", query, "--limit", "10", "--profile", "limbic", "--explain")["hits"]
    return {
        hit["memory"]["name"]: reason["value"]
        for hit in hits
        for reason in hit["reasons"]
        if reason["step"] == "salience"
    }


# What is noted


def test_recall_and_search_give_the_same_answer(harbour: CommandLine) -> None:
    looked = harbour.json("search", "oolong", "--profile", "limbic", "--explain")
    recalled = harbour.json("recall", "oolong", "--profile", "limbic", "--explain", "--no-record")
    # Seconds pass between the two, and forgetting goes by the hour.
    names = [[hit["memory"]["name"] for hit in answer["hits"]] for answer in (looked, recalled)]
    assert names[0] == names[1]
    scores = [[hit["score"] for hit in answer["hits"]] for answer in (looked, recalled)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)


def test_recall_counts_what_it_showed_and_search_does_not(harbour: CommandLine) -> None:
    assert set(_salience(harbour, "oolong").values()) == {1.0}
    harbour("search", "oolong", "--limit", "1")
    harbour("recall", "oolong", "--limit", "1", "--no-record")
    harbour("why-not", "oolong", "Marisol Vega")
    assert set(_salience(harbour, "oolong").values()) == {1.0}
    harbour("recall", "oolong", "--limit", "1")
    after = _salience(harbour, "oolong")
    # Alone in use, with one relation: 1 + 0.5 * 1 * (1 + 0.15 * 1/15) = 1.505
    assert after.pop("Marisol Vega") == pytest.approx(1.505)
    assert set(after.values()) == {1.0}


def test_showing_an_entity_counts_it_once(harbour: CommandLine) -> None:
    harbour("show", "Marisol Vega")
    harbour("recall", "cross", "--limit", "1")  # Tidebook, once
    used = _salience(harbour, "person")
    assert used["Marisol Vega"] == used["Tidebook"]  # each has one relation


def test_correcting_an_entity_is_not_using_it(harbour: CommandLine) -> None:
    harbour("unobserve", "Marisol Vega", "Sails on Sundays")
    assert set(_salience(harbour, "oolong").values()) == {1.0}


def test_a_limit_that_was_not_given_says_nothing_about_the_question(harbour: CommandLine) -> None:
    # `what is`: +2, and from 2 on similarity leads. A limit of 10 that was chosen: -1.
    asked = "what is her oolong on Sundays"
    assert harbour.json("search", asked, "-p", "limbic")["strategy"] == "cosine_heavy"
    assert harbour.json("search", asked, "-p", "limbic", "-n", "10")["strategy"] == "hybrid_balanced"
    assert harbour.json("search", asked)["strategy"] is None


# How a score came about


@pytest.mark.parametrize("profile", PROFILES)
def test_recombining_the_reasons_in_json_gives_the_score_exactly(harbour: CommandLine, profile: str) -> None:
    harbour("status", "Tidebook", "paused")
    harbour("recall", "oolong")
    answer = harbour.json("recall", "person who drinks oolong", "--profile", profile, "--explain")
    assert answer["profile"] == profile
    assert answer["hits"]
    for hit in answer["hits"]:
        assert hit["reasons"]
        assert _again(hit["reasons"]) == hit["score"]
        assert hit["reasons"][-1]["score"] == hit["score"]


def test_reasons_are_given_only_when_asked_for(harbour: CommandLine) -> None:
    assert all(not hit["reasons"] for hit in harbour.json("search", "oolong")["hits"])
    assert "\tstep\t" not in harbour("search", "oolong").stdout


def test_in_a_pipe_each_step_is_a_line_with_numbers_that_one_can_read(harbour: CommandLine) -> None:
    typed = ("search", "oolong", "-n", "1", "-p", "limbic", "--explain")
    hit, *steps = (line.split("\t") for line in harbour(*typed).stdout.splitlines())
    assert len(hit) == 7
    assert {len(step) for step in steps} == {8}
    assert {tuple(step[:3]) for step in steps} == {("1", "1", "step")}
    # JSON has every digit, and from those the score can be made again.
    (exact,) = harbour.json(*typed)["hits"]
    for step, reason in zip(steps, exact["reasons"], strict=True):
        shown = [step[5], *step[6].split(), step[7]]
        assert shown == [
            decimals(number) for number in (reason["value"], *reason["numbers"], reason["score"])
        ]
        assert max(map(len, shown)) <= len("-1234.5678")
    assert _again(exact["reasons"]) == exact["score"]
    assert hit[-1] == f"{exact['score']:.4f}"
    assert [step[3] for step in steps if step[4] == "mix"] == ["routing: cosine_heavy"]


def test_a_terminal_shows_every_step(harbour: CommandLine) -> None:
    harbour("recall", "oolong", "-n", "1")
    shown = _seen(harbour("search", "oolong", "-n", "1", "-p", "limbic", "--explain", "--color").stdout)
    assert re.search(r"rrf: meaning +\+0\.0164 +0\.0164 *\n", shown)
    assert re.search(r"rrf: words +\+0\.0164 +0\.0328 *\n", shown)  # 1/61 + 1/61
    assert re.search(r"base relevance +→0\.\d{4} +0\.\d{4} *\n", shown)
    assert re.search(r"salience +×1\.5050 +0\.\d{4} *\n", shown)
    assert re.search(r"status +×1\.0000 +0\.\d{4} *\n", shown)
    assert re.search(r"rescaled +from 0\.\d{4}…\d\.\d{4} +1\.0000 *\n", shown)
    # `oolong` is one word, and a limit of one was given: 70 % similarity.
    assert re.search(r"routing: cosine_heavy +30/70 with 0\.\d{4} +0\.\d{4} *\n", shown)
    assert "Ranked by limbic" in shown


def test_the_steps_end_at_the_score(harbour: CommandLine) -> None:
    harbour("status", "Marisol Vega", "archived")
    shown = _seen(harbour("search", "oolong", "-n", "1", "--explain", "--color").stdout)
    (score,) = re.findall(r"score (-?\d\.\d{4})", shown)
    (status,) = (line for line in shown.splitlines() if "status" in line)
    assert "×0.5000" in status
    last = re.findall(r"^ {5}\S.*[+−×→]\S+ +(-?\d\.\d{4}) *$", shown, re.MULTILINE)[-1]
    assert last == score


def test_what_a_step_takes_away_has_a_minus(harbour: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {"meaning": {"cosine": 0.6}, "words": {"bm25": 0.4}, "origin": {"entity": -1.25}}
    monkeypatch.setitem(PROFILES, DEFAULT, hand_weighted(**weights))
    shown = _seen(harbour("search", "oolong", "-n", "1", "--explain", "--color").stdout)
    # 0.6 * 1 + 0.4 * 1 - 1.25
    assert re.search(r"entity +−1\.2500 +-0\.2500 *\n", shown)
    assert "score -0.2500" in shown
    last = harbour("search", "oolong", "-n", "1", "--explain").stdout.splitlines()[-1]
    assert last.split("\t")[3:] == ["entity", "plus", "-1.2500", "", "-0.2500"]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_an_explanation_fits_the_terminal(harbour: CommandLine, profile: str, columns: str) -> None:
    harbour("recall", "person", COLUMNS=columns)
    typed = ["search", "person who drinks oolong", "-p", profile, "--explain", "--color"]
    lines = _seen(harbour(*typed, COLUMNS=columns).stdout).splitlines()
    assert max(map(len, lines)) <= int(columns)
    # Nothing was folded or cut to make it fit: each step that did something has a line, with its score.
    rows = [line.strip() for line in lines if re.search(r"  (from |[+−×→]\d|\d+/\d+ with )", line)]
    assert all(re.search(r"\d\.\d{4}$", row) for row in rows)
    answer = harbour.json("search", "person who drinks oolong", "-p", profile, "--explain")
    moved = {
        reason["step"]
        for reason in answer["hits"][0]["reasons"]
        if reason["effect"] in {"set", "mix", "rescale"}
        or (reason["effect"] != "note" and round(reason["value"], 3) not in {0, 1})
    }
    assert moved
    assert {name for name in moved if not any(row.startswith(f"{name} ") for row in rows)} == set()


def test_an_unknown_profile_is_met_with_those_there_are(harbour: CommandLine) -> None:
    for typed in (["search", "tea"], ["recall", "tea"], ["why-not", "tea", "Tidebook"]):
        said = harbour.refused(*typed, "--profile", "moody", status=1)
        assert "No profile named 'moody'; there are: recollect, limbic, mnemosyne, reverie, cognis." in said


def test_nothing_found_has_nothing_to_explain(recollect: CommandLine) -> None:
    recollect("add", "Ana", "--model", "none")
    shown = recollect("search", "zebra", "--model", "none", "--explain", "--color").stdout
    assert "Nothing found" in shown
    assert "Ranked by" not in shown


@pytest.mark.usefixtures("matched_fusion")
def test_an_explanation_is_one_json_document(harbour: CommandLine) -> None:
    shown = harbour("recall", "oolong", "--explain", "--json").stdout
    assert "NaN" not in shown
    # The nearest of all: 0.6 * 1
    assert json.loads(shown)["hits"][0]["reasons"][0] == {
        "step": "meaning",
        "effect": "plus",
        "value": 0.6,
        "numbers": [],
        "score": 0.6,
    }
