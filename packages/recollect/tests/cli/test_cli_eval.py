"""`recollect eval self`: what it says, to whom, and that what it advises can be typed."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click
import pytest

from recollect.cli.commands.tuning import eval_command, eval_self_command
from recollect.cli.main import cli
from recollect.domain.limits import SELF_TEST_HITS, SELF_TEST_SAMPLE
from recollect.domain.records import Kind
from recollect.language.self_questions import QuestionKind
from recollect.ranking.profiles import PROFILES
from recollect.self_test import self_test as findings
from recollect.self_test.questions import Cause, FoundShare, MissedMemory, ProfileComparison, ProfileResult

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


def lines(recollect: CommandLine, *typed: str) -> list[list[str]]:
    return [line.split("\t") for line in recollect("eval", "self", *typed).stdout.splitlines()]


def understood(typed: str) -> None:
    """Read a command as the shell and the command line would, without running it."""
    context = click.Context(cli)
    found: click.Command = cli
    words = shlex.split(typed.partition("|")[0])[1:]
    while isinstance(found, click.Group) and words and words[0] in found.commands:
        found = found.commands[words.pop(0)]
    assert not isinstance(found, click.Group) or all(word.startswith("-") for word in words), typed
    found.make_context(str(found.name), words, parent=context)


@pytest.mark.parametrize("example", [*eval_command.examples, *eval_self_command.examples])
def test_every_example_can_be_typed(example: str) -> None:
    understood(example)


def test_the_defaults_are_those_of_the_engine() -> None:
    defaults = {param.name: param.default for param in eval_self_command.params}
    assert (defaults["sample"], defaults["limit"], defaults["seed"]) == (SELF_TEST_SAMPLE, SELF_TEST_HITS, 0)


def test_every_piece_of_advice_can_be_typed() -> None:
    """For every cause, a hard relation, and a better profile; ID and the like stand for what one puts in."""
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


def test_a_pipe_gets_a_line_for_each_thing(harbour: CommandLine) -> None:
    told = lines(harbour)
    assert [line[1] for line in told if line[0] == "profile"] == list(PROFILES)
    kinds = {line[1]: line[2] for line in told if line[0] == "kind"}
    assert (kinds["phrase"], kinds["what is"], kinds["relation"]) == ("3", "3", "2")
    assert all(len(line) == 3 + len(PROFILES) for line in told if line[0] == "kind")


def test_json_is_the_same_again_but_for_the_latency(harbour: CommandLine) -> None:
    first, second = (harbour.json("eval", "self", "--limit", "2") for _ in range(2))
    assert set(first.pop("latency")) == set(second.pop("latency")) == set(PROFILES)
    assert json.dumps(first) == json.dumps(second)
    assert (first["memories"], first["sampled"], first["limit"], first["model"]) == (3, 3, 2, "hashing@1")
    share = first["profiles"]["recollect"]["by_kind"]["what is"]
    assert (share["asked"], share["found"], share["recall"], share["high"]) == (3, 3, 1.0, 1.0)


def test_a_terminal_of_80_columns_is_wide_enough(harbour: CommandLine) -> None:
    shown = click.unstyle(harbour("eval", "self", "--color", "--limit", "1", COLUMNS="80").stdout)
    assert "made of 3 of 3 memories; the first hit counts" in shown
    assert max(map(len, shown.splitlines())) <= 80
    for name in PROFILES:
        assert sum(name in line for line in shown.splitlines()) >= 2  # unbroken, as a row and as a column


def test_an_empty_memory_is_told_as_such(harbour: CommandLine) -> None:
    other = ("--owner", "nobody")
    assert harbour("eval", "self", *other).stdout.startswith("This memory is empty")
    told = harbour.json("eval", "self", *other)
    assert (told["memories"], told["profiles"], told["advice"], told["latency"]) == (0, {}, [], {})


def test_without_a_model_words_are_asked(recollect: CommandLine) -> None:
    recollect("remember", "Marisol repaired the copper boiler", RECOLLECT_MODEL="none")
    told = recollect.json("eval", "self", RECOLLECT_MODEL="none")
    assert told["model"] is None
    assert told["profiles"]["recollect"]["overall"]["recall"] == 1
    assert told["advice"][0]["command"] == "recollect reindex --list"
