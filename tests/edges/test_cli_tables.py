"""What a person sees in a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _seen(shown: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", shown)


def test_a_card_holds_what_is_known_and_the_relations_both_ways(harbour: CommandLine) -> None:
    card = _seen(harbour("show", "Tidebook", "Marisol Vega", "--color").stdout)
    assert "╭─ Tidebook" in card
    assert "•  Says when it is safe to cross" in card
    assert re.search(r"←  leads +Marisol Vega", card)
    assert re.search(r"→  leads +Tidebook", card)
    assert "person · #1" in card


def test_a_card_shows_an_inverse_once(harbour: CommandLine) -> None:
    harbour("relate", "Tidebook", "contains", "Jun Watanabe")
    for name, arrow in (("Tidebook", "→  contains  Jun"), ("Jun Watanabe", "→  part_of  Tidebook")):
        card = _seen(harbour("show", name, "--color").stdout)
        assert arrow in card
        assert ("part_of" in card) != ("contains" in card)


def test_a_card_strikes_out_what_was_replaced_only_when_asked(harbour: CommandLine) -> None:
    harbour("observe", "Tidebook", "Crosses by itself", "--supersedes", "#4", "--kind", "state")
    assert "Says when" not in harbour("show", "Tidebook", "--color").stdout
    history = harbour("show", "Tidebook", "--history", "--color").stdout
    assert "\x1b[2;9mSays when it is safe to cross" in history
    assert "state · 2" in _seen(history)


def test_a_list_shows_entities_relations_and_what_comes_next(harbour: CommandLine) -> None:
    shown = _seen(harbour("graph", "--limit", "2", "--color").stdout)
    assert re.search(r"1 +Marisol Vega +person +2 +Sails on Sundays", shown)
    assert re.search(r"Marisol Vega +leads +Tidebook", shown)
    assert "There is more: recollect graph --limit 2 --after 2" in shown
    assert "No entities here." in harbour("find", "zebra", "--color").stdout


def test_find_shows_what_holds_the_words_and_not_the_latest(harbour: CommandLine) -> None:
    shown = harbour("find", "oolong", "--color").stdout
    assert re.search(r"Marisol Vega +person +2 +Drinks oolong after lunch", _seen(shown))
    assert "\x1b[1;33moolong" in shown
    assert "Sails on Sundays" not in shown
    # Even inside a word, and where the name alone holds it, the latest there is.
    assert "Drinks oolong" in _seen(harbour("find", "olon", "--color").stdout)
    assert "Sails on Sundays" in _seen(harbour("find", "Vega", "--color").stdout)


def test_find_shows_the_words_of_a_long_text(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", f"{'before ' * 200}the oolong cup{' after' * 200}", "-o", "sang")
    assert "oolong cup" in _seen(recollect("find", "oolong", "--color").stdout)


def test_a_long_name_does_not_break_the_list(recollect: CommandLine) -> None:
    recollect("add", "x" * 300, "-o", "y" * 3000)
    lines = _seen(recollect("graph", "--color").stdout).splitlines()
    assert max(map(len, lines)) <= 100


def test_deeds_are_ticked_and_remarks_marked(recollect: CommandLine) -> None:
    assert _seen(recollect("add", "Ana", "-o", "likes tea", "--color").stdout).startswith("✓ Created Ana")
    again = _seen(recollect("observe", "Ana", "likes tea very much indeed", "--color").stdout)
    assert again.startswith("● Ana (#1) gained")


@pytest.mark.parametrize(
    "typed",
    [
        ["stats"],
        ["settings"],
        ["models"],
        ["doctor"],
        ["verify"],
        ["find", "person"],
        ["profile", "list"],
        ["profile", "diff", "limbic", "cognis"],
    ],
)
def test_every_table_fits_the_terminal(harbour: CommandLine, typed: list[str]) -> None:
    lines = _seen(harbour(*typed, "--color").stdout).splitlines()
    assert lines
    assert max(map(len, lines)) <= 100


def test_no_color_forces_nothing_in_a_pipe(harbour: CommandLine) -> None:
    assert harbour("show", "Tidebook", "--no-color").stdout == harbour("show", "Tidebook").stdout
