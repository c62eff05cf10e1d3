"""`recollect profile`, and profiles that a user wrote."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click import unstyle

from recollect.ranking.profiles import DEFAULT, PROFILES, from_plain, to_plain

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
    rows = [line.split("\t") for line in recollect("profile", "list").stdout.splitlines()]
    assert [row[0] for row in rows] == [*PROFILES]
    assert [row[0] for row in rows if row[1] == "default"] == [DEFAULT]
    assert all(row[2] for row in rows)
    listed = recollect.json("profile", "list")
    assert listed["default"] == DEFAULT
    assert [each["name"] for each in listed["profiles"] if each["default"]] == [DEFAULT]
    for typed in (["list"], ["show", "limbic"], ["diff", "limbic", "reverie"]):
        recollect("profile", *typed)
    assert not recollect.store.exists()
    parts = [line.split("\t") for line in recollect("profile", "show", "limbic").stdout.splitlines()]
    numbers = {part[1]: part[2] for part in parts}
    assert numbers["rrf"] == "k 60"
    assert numbers["× salience"] == "beta_sal 0.5, beta_deg 0.15, d_max 15, alpha_cons 0.2"
    assert numbers["words"] == "index plain, times 3, least 0"
    assert numbers["keep limbic_score"] == ""
    lines = recollect("profile", "diff", "limbic", "reverie").stdout.splitlines()
    assert "steps\trrf\tk 60\tk 30" in lines
    assert "retrieve\tmeaning\ttimes 3, least 0\ttimes 1, least 100" in lines  # not the shortlist
    assert any(line.startswith("steps\t× salience\tbeta_sal") and line.endswith("\tabsent") for line in lines)
    assert "steps\t× strength\tabsent\t" in lines
    assert not any("\torder\t" in line or "\tcut\t" in line for line in lines)
    shown = unstyle(recollect("profile", "diff", "limbic", "reverie", "--color", COLUMNS="80").stdout)
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
    lines = [line.split("\t") for line in recollect("profile", "show", name).stdout.splitlines()]
    assert [line[0] for line in lines] == ["retrieve"] * len(plain["retrieve"]) + ["steps"] * len(
        plain["steps"]
    )
    assert all(len(line) == 4 and line[3] for line in lines), "something is not said to do anything"
    shown = unstyle(recollect("profile", "show", name, "--color", COLUMNS="80").stdout)
    for _, part, numbers, _ in lines:
        assert part in shown
        assert all(number in " ".join(shown.split()) for number in numbers.split(", "))
    assert max(map(len, shown.splitlines())) <= 80


# What differs


def test_a_step_that_moved_is_a_difference(recollect: CommandLine) -> None:
    plain = to_plain(PROFILES["mnemosyne"])
    steps = plain["steps"]
    steps[0], steps[1] = steps[1], steps[0]
    written = ",\n".join(_inline(step) for step in steps)
    retrieve = ", ".join(_inline(each) for each in plain["retrieve"])
    _write(
        recollect,
        f'[[profiles]]\nname = "moved"\nretrieve = [{retrieve}]\nsteps = [{written}]\n',
    )
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
    rows = [line.split("\t") for line in harbour("profile", "list").stdout.splitlines()]
    assert [row[1] for row in rows if row[0] == DEFAULT] == ["default, yours"]
    (hit,) = harbour.json("search", "oolong", "--explain")["hits"]
    assert hit["reasons"][0]["step"] == "rrf: meaning"
    _write(harbour, MINE)
    assert "mine\tyours\twords alone, and what matters" in harbour("profile", "list").stdout
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
    assert harbour("profile", "diff", "limbic", "calm").stdout == "steps\trrf\tk 60\tk 10\n"
    _write(harbour, MINE.replace("archived = 0.25 }", "archived = 0 }, on = false"))
    shown = harbour.json("profile", "show", "mine")
    (written,) = tomllib.loads(harbour("profile", "show", "mine", "--toml").stdout)["profiles"]
    assert from_plain(written) == from_plain(shown)
    assert written["steps"][1]["on"] is False
    assert "archived 0, off\t" in harbour("profile", "show", "mine").stdout


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('step = "rrf"', 'step = "rff"', ("no step 'rff'", "rrf", "weighted_rrf", "cut")),
        ("k = 1", "kay = 1", ("'kay' has no meaning", "there are: k")),
        ("k = 1", "k = 'many'", ("k must be a number", "'many'")),
        ('factor = "status"', 'factor = "mood"', ("no factor 'mood'", "status", "salience")),
        ('by = "words"', 'by = "smell"', ("no by 'smell'", "meaning, words")),
        ('index = "stemmed"', 'index = "cut"', ("must be one of: plain, stemmed", "'cut'")),
        ("steps = [", "step = [", ("'step' has no meaning", "steps")),
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
