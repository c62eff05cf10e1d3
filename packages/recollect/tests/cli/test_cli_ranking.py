"""`recollect profile`, `tune`, `feedback` and `eval`."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import recollect as library
from recollect.cli.commands.tuning import eval_self_command
from recollect.cli.main import cli
from recollect.domain.limits import SELF_TEST_HITS, SELF_TEST_SAMPLE
from recollect.domain.records import Kind
from recollect.language.self_questions import QuestionKind
from recollect.ranking.profiles import DEFAULT, PROFILES, from_plain, to_plain
from recollect.search.rows import scope_id
from recollect.self_test import self_test as findings
from recollect.self_test.questions import Cause, FoundShare, MissedMemory, ProfileComparison, ProfileResult
from recollect.tuning.answers import logged_answers

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]

MINE = """
[[profiles]]
name = "mine"
about = "words alone, and what matters"
retrieve = [{ by = "words", index = "stemmed" }]
steps = [
  { step = "rrf", k = 1 },
  { step = "times", factor = { factor = "status", archived = 0.25 } },
  { step = "order" },
  { step = "cut" },
]
"""


def _write(recollect: CommandLine, settings: str) -> None:
    Path(str(recollect.environment["RECOLLECT_CONFIG"])).write_text(settings, encoding="utf-8")


def test_profiles_are_listed_and_compared_without_a_store(recollect: CommandLine) -> None:
    rows = recollect.rows("profile", "list")[2 : 2 + len(PROFILES)]
    assert [row[0] for row in rows] == [*PROFILES]
    assert [row[0] for row in rows if row[1] == "default"] == [DEFAULT]
    listed = recollect.json("profile", "list")
    assert listed["default"] == DEFAULT
    assert [each["name"] for each in listed["profiles"] if each["default"]] == [DEFAULT]
    for typed in (["list"], ["show", "limbic"], ["diff", "limbic", "reverie"]):
        recollect("profile", *typed)
    assert not recollect.store.exists()
    parts = recollect.rows("profile", "show", "limbic")
    assert ["rrf", "k 60"] in parts
    assert ["× salience", "beta_sal 0.5, beta_deg 0.15, d_max 15, alpha_cons 0.2"] in parts
    assert ["words", "index plain, times 3, least 0"] in parts
    rows = recollect.rows("profile", "diff", "limbic", "reverie")
    assert ["steps", "rrf", "k 60", "k 30"] in rows
    assert ["retrieve", "meaning", "times 3, least 0", "times 1, least 100"] in rows  # not the shortlist
    assert any(
        row[1] == "× salience" and row[2].startswith("beta_sal") and row[3] == "absent" for row in rows[2:]
    )
    assert not {row[1] for row in rows[2:]} & {"order", "cut"}
    shown = recollect("profile", "diff", "limbic", "reverie", COLUMNS="80").stdout
    assert re.search(r"limbic +reverie", shown)
    assert re.search(r"rrf +k 60 +k 30", shown)
    assert re.search(r"× strength +absent", shown)
    assert max(map(len, shown.splitlines())) <= 80
    assert recollect("profile").stdout == recollect("profile", "list").stdout
    assert "at most two" in recollect.refused("profile", "recollect", "limbic", "cognis", status=2)
    _write(recollect, MINE)
    for typed in (["show", "moody"], ["diff", "limbic", "moody"]):
        said = recollect.refused("profile", *typed, status=1)
        assert f"there are: {', '.join(PROFILES)}, mine." in said


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_shown_as_json_or_toml_reads_back_equal(recollect: CommandLine, name: str) -> None:
    assert from_plain(recollect.json("profile", "show", name)) == PROFILES[name]
    (written,) = tomllib.loads(recollect("profile", "show", name, "--toml").stdout)["profiles"]
    assert from_plain(written) == PROFILES[name]


@pytest.mark.parametrize("name", PROFILES)
def test_every_search_and_step_is_shown_with_its_numbers(recollect: CommandLine, name: str) -> None:
    plain = to_plain(PROFILES[name])
    shown = recollect("profile", "show", name, COLUMNS="80").stdout
    assert max(map(len, shown.splitlines())) <= 80
    _, searches, steps = re.split(r"\n(?:Searches|Steps)\n", shown)
    for parts, said in ((plain["retrieve"], searches), (plain["steps"], steps)):
        lines = [line for line in said.splitlines() if line.strip()]
        assert len([line for line in lines if not line.startswith(" ")]) == len(parts)
        assert not any(len(line.split("  ")) < 2 for line in lines), "something is not said to do anything"


# Differences between profiles


def test_a_step_that_moved_is_a_difference(recollect: CommandLine) -> None:
    plain = to_plain(PROFILES["mnemosyne"])
    steps = plain["steps"]
    steps[0], steps[1] = steps[1], steps[0]
    written = ",\n".join(_inline(step) for step in steps)
    retrieve = ", ".join(_inline(each) for each in plain["retrieve"])
    _write(recollect, f'[[profiles]]\nname = "moved"\nretrieve = [{retrieve}]\nsteps = [{written}]\n')
    differences = recollect.json("profile", "diff", "mnemosyne", "moved")["differences"]
    assert len(differences) == 2
    assert {each["name"] for each in differences} <= {"linear", "+ importance"}


def _inline(item: dict[str, object]) -> str:
    parts = (
        f"{key} = {_inline(value) if isinstance(value, dict) else json.dumps(value)}"
        for key, value in item.items()
        if value is not None
    )
    return f"{{ {', '.join(parts)} }}"


# A user's own


def test_a_profile_of_the_users_own_ranks_and_may_replace_a_built_in_one(harbour: CommandLine) -> None:
    _write(harbour, MINE.replace('"mine"', f'"{DEFAULT}"'))
    rows = harbour.rows("profile", "list")
    assert [row[1] for row in rows if row[0] == DEFAULT] == ["default, yours"]
    (hit,) = harbour.json("search", "oolong", "--explain")["hits"]
    assert hit["reasons"][0]["step"] == "rrf: meaning"
    _write(harbour, MINE)
    assert ["mine", "yours", "words alone, and what matters"] in harbour.rows("profile", "list")
    hits = harbour.json("search", "oolong", "--profile", "mine", "--explain")["hits"]
    assert [hit["memory"]["name"] for hit in hits] == ["Marisol Vega"]
    assert hits[0]["score"] == 0.5  # 1 / (1 + 1)
    harbour("status", "Marisol Vega", "archived")
    (hit,) = harbour.json("recall", "oolong", "--profile", "mine", "--explain")["hits"]
    assert hit["score"] == 0.125  # 0.5 * 0.25
    assert [reason["step"] for reason in hit["reasons"]] == ["rrf: meaning", "rrf: words", "status"]
    why = harbour.json("why-not", "oolong", "Tidebook", "--profile", "mine")
    assert [search["search"] for search in why["searches"]] == ["words"]
    assert "mine" in harbour("settings").stdout
    assert "Profile(" not in harbour("settings").stdout


def test_what_toml_prints_is_all_that_one_needs_and_what_is_off_is_said_so(harbour: CommandLine) -> None:
    printed = harbour("profile", "show", "limbic", "--toml").stdout
    _write(harbour, printed.replace('name = "limbic"', 'name = "calm"').replace("k = 60", "k = 10"))
    assert harbour.rows("profile", "diff", "limbic", "calm")[2:] == [["steps", "rrf", "k 60", "k 10"]]
    _write(harbour, MINE.replace("archived = 0.25 }", "archived = 0 }, on = false"))
    shown = harbour.json("profile", "show", "mine")
    (written,) = tomllib.loads(harbour("profile", "show", "mine", "--toml").stdout)["profiles"]
    assert from_plain(written) == from_plain(shown)
    assert written["steps"][1]["on"] is False
    assert "archived 0, off\n" in harbour("profile", "show", "mine").stdout


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('step = "rrf"', 'step = "rff"', ("step 'rff' is unknown", "rrf", "weighted_rrf", "cut")),
        ("k = 1", "kay = 1", ("'kay' is unknown", "allowed fields: k")),
        ("k = 1", "k = 'many'", ("k must be a number", "'many'")),
        ('factor = "status"', 'factor = "mood"', ("factor 'mood' is unknown", "status", "salience")),
        ('by = "words"', 'by = "smell"', ("by 'smell' is unknown", "meaning, words")),
        ('index = "stemmed"', 'index = "cut"', ("must be one of: plain, stemmed", "'cut'")),
        ("steps = [", "step = [", ("'step' is unknown", "steps")),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(
    harbour: CommandLine, right: str, wrong: str, said: tuple[str, ...]
) -> None:
    assert right in MINE
    _write(harbour, MINE.replace(right, wrong))
    for typed in (
        ["search", "oolong", "--profile", "mine"],
        ["profile", "list"],
        ["profile", "show", "mine"],
    ):
        message = harbour.refused(*typed, status=1)
        assert "profile 'mine'" in message
        for each in said:
            assert each in message
    assert "profile 'mine'" in harbour("doctor", status=1).stdout


GAMMA = "cooccurrence.gamma"


def recall_ids(harbour: CommandLine, query: str = "who drinks oolong?", *more: str) -> list[int]:
    found = harbour.json("recall", query, "--profile", "limbic", *more)
    return [hit["memory"]["id"] for hit in found["hits"]]


# Feedback


def test_feedback_is_of_the_last_answer_that_showed_the_memory(harbour: CommandLine) -> None:
    assert "recall it first" in harbour.refused("feedback", "1", "--good", status=1)
    first, *_ = recall_ids(harbour)
    assert "to 'another'" in harbour.refused("feedback", "1", "--good", "--query", "another", status=1)
    assert "no memory 99" in harbour.refused("feedback", "99", "--good", status=1)
    assert "Give --good or --bad" in harbour("feedback", "1", status=2).stderr
    assert "is not an id" in harbour("feedback", "Tidebook", "--good", status=2).stderr
    assert "was what you looked for" in harbour("feedback", f"#{first}", "--good").stdout
    data = harbour.json("feedback", str(first), "--bad", "--query", "Who drinks OOLONG?")
    assert data == {"ids": [first], "grade": -1.0, "query": "Who drinks OOLONG?"}
    with library.open(harbour.store, model="hashing") as memory, memory._services.store.read() as view:
        (answer,) = logged_answers(view, scope_id(view, memory.scope), "limbic")
    assert answer.feedback == ((first, "said", -1.0),)


# Analyze and run


def test_analyze_tells_of_the_log_and_the_measures(harbour: CommandLine) -> None:
    ids = recall_ids(harbour)
    harbour("feedback", str(ids[0]), "--good")
    data = harbour.json("tune", "analyze")
    assert (data["profile"], data["events"], data["treated"], data["with_feedback"]) == ("limbic", 1, 1, 1)
    assert data["overall"]["gain"] == pytest.approx(
        data["overall"]["ours"]["ndcg_10"] - data["overall"]["baseline"]["ndcg_10"]
    )
    assert data["numbers"]["published"][GAMMA] == 0.01
    assert data["log"]["design"] == "off"
    assert len(data["log"]["seed"]) == 16
    rows = harbour.rows("tune", "analyze")
    assert rows[0] == ["Profile limbic"]
    assert ["with feedback", "1"] in rows
    assert "NDCG@10" in [row[0] for row in rows]


def test_without_a_log_nothing_is_tuned_and_unknown_numbers_are_refused(harbour: CommandLine) -> None:
    data = harbour.json("tune", "analyze")
    assert (data["profile"], data["events"], data["overall"]) == ("recollect", 0, None)
    assert "No answer has feedback yet" in harbour("tune", "analyze", "--color").stdout
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
    recall_ids(harbour)
    data = harbour.json("tune", "run", "--gamma-range", "0.001,0.1", "--beta-sal-range", "0.1,1")
    assert (data["verdict"], data["written"]) == ("too few", False)
    assert "ranked 1 logged answers; a search needs at least 50." in data["says"]
    assert "at least 50" in harbour("tune", "run", "--profile", "limbic", "--color").stdout
    assert harbour.json("tune", "history") == {"versions": []}


def test_a_range_or_number_that_is_none_is_refused(harbour: CommandLine) -> None:
    for given in ("gamma", "gamma=", "gamma=0.1,x", "=1"):
        harbour("tune", "run", "--profile", "limbic", "--range", given, status=2)
    harbour("tune", "run", "--profile", "limbic", "--gamma-range", "1", "--range", "gamma=2", status=2)
    for typed in (["gamma"], ["=1"], ["gamma=x"], ["gamma=1", "gamma=2"]):
        harbour("tune", "set", *typed, "--profile", "limbic", status=2)


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
    rows = harbour.rows("profile", "show", "limbic")
    assert ["Number", "now", "published"] in rows
    assert ["cooccurrence.gamma", "0.05", "0.01"] in rows
    harbour("tune", "rollback", "--profile", "limbic", "--yes")
    assert harbour.json("profile", "show", "limbic")["tuned"]["tuned"] == {GAMMA: pytest.approx(0.014)}
    assert "add --yes" in harbour.refused("tune", "reset", "--profile", "limbic", status=1)
    harbour("tune", "reset", "--profile", "limbic", "--yes")
    assert harbour.json("profile", "show", "limbic")["tuned"]["tuned"] == {}
    versions = harbour.json("tune", "history", "--profile", "limbic")["versions"]
    assert [each["why"] for each in versions] == ["reset", "rollback", "set", "set"]
    assert versions[-1]["version"] == first["version"]
    assert [row[0] for row in harbour.rows("tune", "history")[2:6]] == ["4", "3", "2", "1"]
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
    assert "1 answer with a baseline other than similarity" in " ".join(shown.split())


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


def understood(typed: str) -> None:
    """Read a command as the shell and the command line would, without running it."""
    context = click.Context(cli)
    found: click.Command = cli
    words = shlex.split(typed.partition("|")[0])[1:]
    while isinstance(found, click.Group) and words and words[0] in found.commands:
        found = found.commands[words.pop(0)]
    assert not isinstance(found, click.Group) or all(word.startswith("-") for word in words), typed
    found.make_context(str(found.name), words, parent=context)


def test_the_defaults_are_those_of_the_engine() -> None:
    defaults = {param.name: param.default for param in eval_self_command.params}
    assert (defaults["sample"], defaults["limit"], defaults["seed"]) == (SELF_TEST_SAMPLE, SELF_TEST_HITS, 0)


def test_every_piece_of_advice_can_be_typed() -> None:
    """Advice for every cause, a hard relation and a better profile. ID and the like are placeholders."""
    misses = [
        MissedMemory(12, Kind.NOTE, "text", "it's -- so", 1, "other", 7, cause, "why") for cause in Cause
    ]
    few = FoundShare(40, 1, 0.0, 0.1, 0.0)
    ours = ProfileResult("recollect", few, {QuestionKind.RELATION: few})
    compared = [ProfileComparison("limbic", 30, 1, 0.001)]
    given = list(findings._on_results(ours, compared, misses))
    assert {word for advice in given for word in (advice.command.split()[1],)} == {
        "dream", "update", "reindex", "remember", "why-not", "show", "recall",
    }  # fmt: skip
    for advice in given:
        understood(advice.command.replace(" ID ", " 12 "))


def test_a_self_test_is_told_to_pipes_terminals_and_programs(harbour: CommandLine) -> None:
    rows = harbour.rows("eval", "self")
    assert [row[0] for row in rows[4 : 4 + len(PROFILES)]] == list(PROFILES)
    kinds = {row[0]: row[1:] for row in rows if len(row) == 2 + len(PROFILES)}
    assert [kinds[kind][0] for kind in ("phrase", "what is", "relation")] == ["3", "3", "2"]
    first, second = (harbour.json("eval", "self", "--limit", "2") for _ in range(2))
    assert set(first.pop("latency")) == set(second.pop("latency")) == set(PROFILES)
    assert json.dumps(first) == json.dumps(second)
    assert (first["memories"], first["sampled"], first["limit"], first["model"]) == (3, 3, 2, "hashing@1")
    share = first["profiles"]["recollect"]["by_kind"]["what is"]
    assert (share["asked"], share["found"], share["recall"], share["high"]) == (3, 3, 1.0, 1.0)
    shown = click.unstyle(harbour("eval", "self", "--color", "--limit", "1", COLUMNS="80").stdout)
    assert "about 3 of 3 memories; the first hit counts" in shown
    assert max(map(len, shown.splitlines())) <= 80
    for name in PROFILES:
        assert sum(name in line for line in shown.splitlines()) >= 2  # unbroken, as a row and as a column
    other = ("--owner", "nobody")
    assert harbour("eval", "self", *other).stdout.startswith("● This memory is empty")
    told = harbour.json("eval", "self", *other)
    assert (told["memories"], told["profiles"], told["advice"], told["latency"]) == (0, {}, [], {})


def test_without_a_model_words_are_asked(recollect: CommandLine) -> None:
    recollect("remember", "Marisol repaired the copper boiler", RECOLLECT_MODEL="none")
    told = recollect.json("eval", "self", RECOLLECT_MODEL="none")
    assert told["model"] is None
    assert told["profiles"]["recollect"]["overall"]["recall"] == 1
    assert told["advice"][0]["command"] == "recollect reindex --list"
