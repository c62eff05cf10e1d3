"""`recollect tune` and `recollect feedback`, as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import recollect as library
from recollect.search.recording import logged_answers
from recollect.search.rows import scope_id

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]

GAMMA = "cooccurrence.gamma"


def asked(harbour: CommandLine, query: str = "who drinks oolong?", *more: str) -> list[int]:
    found = harbour.json("recall", query, "--profile", "limbic", *more)
    return [hit["memory"]["id"] for hit in found["hits"]]


# Feedback


def test_feedback_is_of_the_last_answer_that_showed_the_memory(harbour: CommandLine) -> None:
    assert "recall it first" in harbour.refused("feedback", "1", "--good", status=1)
    first, *_ = asked(harbour)
    assert "to 'another'" in harbour.refused("feedback", "1", "--good", "--query", "another", status=1)
    assert "no memory 99" in harbour.refused("feedback", "99", "--good", status=1)
    assert "Say --good or --bad" in harbour("feedback", "1", status=2).stderr
    assert "is no id" in harbour("feedback", "Tidebook", "--good", status=2).stderr
    assert "was what you looked for" in harbour("feedback", f"#{first}", "--good").stdout
    data = harbour.json("feedback", str(first), "--bad", "--query", "Who drinks OOLONG?")
    assert data == {"ids": [first], "grade": -1.0, "query": "Who drinks OOLONG?"}
    with library.open(harbour.store, model="hashing") as memory, memory._services.store.read() as view:
        (answer,) = logged_answers(view, scope_id(view, memory.scope), "limbic")
    assert answer.feedback == ((first, "said", -1.0),)


# Analyze and run


def test_analyze_tells_of_the_log_and_the_measures(harbour: CommandLine) -> None:
    ids = asked(harbour)
    harbour("feedback", str(ids[0]), "--good")
    data = harbour.json("tune", "analyze")
    assert (data["profile"], data["events"], data["treated"], data["with_feedback"]) == ("limbic", 1, 1, 1)
    assert data["overall"]["gain"] == pytest.approx(
        data["overall"]["ours"]["ndcg_10"] - data["overall"]["baseline"]["ndcg_10"]
    )
    assert data["numbers"]["published"][GAMMA] == 0.01
    assert data["log"]["design"] == "off"
    assert len(data["log"]["seed"]) == 16
    lines = [line.split("\t") for line in harbour("tune", "analyze").stdout.splitlines()]
    assert {line[0] for line in lines} == {"log", "answers", "measure", "number"}
    assert ["answers", "with feedback", "1"] in lines
    shown = harbour("tune", "analyze", "--color").stdout
    assert "NDCG@10" in shown
    assert "Profile limbic" in shown


def test_without_a_log_nothing_is_tuned_and_what_cannot_be_is_told_with_what_can(
    harbour: CommandLine,
) -> None:
    data = harbour.json("tune", "analyze")
    assert (data["profile"], data["events"], data["overall"]) == ("recollect", 0, None)
    assert "Nothing became of any answer yet" in harbour("tune", "analyze", "--color").stdout
    said = harbour.refused("tune", "run", "--profile", "limbic", "--range", "mood=1,2", status=1)
    assert GAMMA in said
    said = harbour.refused("tune", "set", "mood=1", "--profile", "limbic", status=1)
    assert GAMMA in said
    assert "No profile named" in harbour.refused("tune", "set", "gamma=1", "--profile", "nobody", status=1)
    assert "never tuned" in harbour.refused("tune", "rollback", "--profile", "limbic", status=1)
    assert "tuned" not in harbour.json("profile", "show", "limbic")
    said = harbour.refused("recall", "oolong", status=1, RECOLLECT_AB_AGAINST="nobody")
    assert "there are: similarity, recollect" in said
    assert "off or split" in harbour.refused("recall", "oolong", status=1, RECOLLECT_AB="both")
    asked(harbour)
    data = harbour.json("tune", "run", "--gamma-range", "0.001,0.1", "--beta-sal-range", "0.1,1")
    assert (data["verdict"], data["written"]) == ("too few", False)
    assert "Only 1 treated events; at least 50 are needed." in data["says"]
    assert "at least 50" in harbour("tune", "run", "--profile", "limbic", "--color").stdout
    assert harbour.json("tune", "history") == {"versions": []}


@pytest.mark.parametrize(
    "typed",
    [
        ("--range", "gamma"),
        ("--range", "gamma="),
        ("--range", "gamma=0.1,x"),
        ("--range", "=1"),
        ("--gamma-range", "1", "--range", "gamma=2"),
    ],
)
def test_a_range_that_is_none_is_refused(harbour: CommandLine, typed: tuple[str, ...]) -> None:
    harbour("tune", "run", "--profile", "limbic", *typed, status=2)


# Set, history, rollback, reset


def test_numbers_are_set_shown_listed_rolled_back_and_reset(harbour: CommandLine) -> None:
    dry = harbour.json("tune", "set", "gamma=0.05", "--profile", "limbic", "--dry-run")
    assert (dry["written"], dry["after"]) == (False, {GAMMA: pytest.approx(0.014)})
    first = harbour.json("tune", "set", "gamma=0.05", "--profile", "limbic")
    assert first["written"]
    harbour("tune", "set", "gamma=0.05", "beta_sal=0.9", "--profile", "limbic", "--exactly")
    shown = harbour.json("profile", "show", "limbic")["tuned"]
    assert shown["tuned"] == {GAMMA: 0.05, "salience.beta_sal": 0.9}
    assert (shown["published"][GAMMA], shown["published"]["salience.beta_sal"]) == (0.01, 0.5)
    lines = harbour("profile", "show", "limbic").stdout.splitlines()
    assert "tuned\tcooccurrence.gamma\t0.05\t0.01" in lines
    assert "published" in harbour("profile", "show", "limbic", "--color").stdout
    harbour("tune", "rollback", "--profile", "limbic", "--yes")
    assert harbour.json("profile", "show", "limbic")["tuned"]["tuned"] == {GAMMA: pytest.approx(0.014)}
    assert "add --yes" in harbour.refused("tune", "reset", "--profile", "limbic", status=1)
    harbour("tune", "reset", "--profile", "limbic", "--yes")
    assert harbour.json("profile", "show", "limbic")["tuned"]["tuned"] == {}
    versions = harbour.json("tune", "history", "--profile", "limbic")["versions"]
    assert [each["why"] for each in versions] == ["reset", "rollback", "set", "set"]
    assert versions[-1]["version"] == first["version"]
    assert len(harbour("tune", "history").stdout.splitlines()) == 4
    harbour("tune", "rollback", str(first["version"]), "--yes")
    assert harbour.json("profile", "show", "limbic")["tuned"]["tuned"] == {GAMMA: pytest.approx(0.014)}


def test_analyze_says_what_is_left_out(harbour: CommandLine) -> None:
    for against in ("similarity", "reverie"):
        harbour(
            "recall", "oolong", "--profile", "limbic",
            RECOLLECT_AB="split", RECOLLECT_AB_SHARE="0", RECOLLECT_AB_AGAINST=against,
        )  # fmt: skip
    data = harbour.json("tune", "analyze", "--profile", "limbic")
    assert (data["against"], data["events"], data["other_baselines"]) == ("similarity", 1, 1)
    shown = harbour("tune", "analyze", "--profile", "limbic", "--color").stdout
    assert "1 answer that showed another baseline than similarity" in " ".join(shown.split())


def test_a_search_can_ask_for_the_published_numbers(harbour: CommandLine) -> None:
    def score(*more: str) -> float:
        found = harbour.json("search", "safe to cross", "--profile", "limbic", *more)
        return float(found["hits"][0]["scores"]["limbic_score"])

    harbour("show", "Tidebook")
    before = score()
    harbour("tune", "set", "beta_sal=5", "--profile", "limbic", "--exactly")
    # Seconds have passed, which a half-life of months hardly feels.
    assert score("--untuned") == pytest.approx(before, rel=1e-5)
    assert score() > 1.5 * before


@pytest.mark.parametrize("typed", [("gamma",), ("=1",), ("gamma=x",), ("gamma=1", "gamma=2")])
def test_a_number_that_is_none_is_refused(harbour: CommandLine, typed: tuple[str, ...]) -> None:
    harbour("tune", "set", *typed, "--profile", "limbic", status=2)
