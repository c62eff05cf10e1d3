"""How sure an answer is, on the command line: what a person, a pipe and a program are told."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line"]

NEVER_STORED = "which orchestra performed the symphony in Vienna?"


def _seen(shown: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", shown)


def test_who_asks_for_what_was_never_stored_is_told_so(harbour: CommandLine) -> None:
    shown = harbour("search", NEVER_STORED, "--color").stdout
    assert _seen(shown).startswith("Nothing here seems to answer that; these are the nearest.\n")
    # The guesses stand back.
    assert "\x1b[2m" in shown
    piped = harbour("search", NEVER_STORED)
    assert piped.stderr == "recollect: Nothing here seems to answer that; these are the nearest.\n"
    assert all(len(line.split("\t")) >= 7 for line in piped.stdout.splitlines())


def test_who_wants_no_guesses_gets_none(harbour: CommandLine) -> None:
    guesses = len(harbour.json("search", NEVER_STORED, "--limit", "3")["hits"])
    said = f"Nothing here seems to answer that. {guesses} guesses not shown.\n"
    assert _seen(harbour("recall", NEVER_STORED, "--limit", "3", "--abstain", "--color").stdout) == said
    answer = harbour.json("search", NEVER_STORED, "--limit", "3", "--abstain")
    assert (answer["hits"], answer["abstained"], answer["withheld"]) == ([], True, guesses)
    assert answer["doubtful"] is True
    assert answer["confidence"] < 0.25


def test_a_known_thing_is_shown_with_how_likely_it_is(harbour: CommandLine) -> None:
    answer = harbour.json("search", "who drinks oolong after lunch?", "--abstain")
    assert answer["doubtful"] is answer["abstained"] is False
    likely = round(100 * answer["hits"][0]["confidence"])
    result = harbour("search", "who drinks oolong after lunch?", "--color")
    assert f"{likely} % likely" in _seen(result.stdout)
    assert "Nothing here" not in result.output


def test_the_least_confidence_cuts_the_list(harbour: CommandLine) -> None:
    every = harbour.json("search", "who drinks oolong after lunch?")["hits"]
    least = every[0]["confidence"]
    some = harbour.json("search", "who drinks oolong after lunch?", "--min-confidence", str(least))
    assert [hit["memory"]["id"] for hit in some["hits"]] == [every[0]["memory"]["id"]]
    assert some["withheld"] == len(every) - 1
    none = harbour("search", "who drinks oolong after lunch?", "--min-confidence", "1", "--color")
    assert "not shown" in _seen(none.stdout)


@pytest.mark.parametrize("least", ["1.5", "-1", "much"])
def test_a_least_confidence_that_is_no_share_is_refused(harbour: CommandLine, least: str) -> None:
    harbour.refused("search", "oolong", "--min-confidence", least, status=2)


def test_the_bench_is_run_from_the_command_line(recollect: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": "a", "title": "", "text": "The spare key hangs behind the barometer"}\n'
        '{"_id": "b", "title": "", "text": "Ingrid bakes rye bread on Fridays"}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id": "1", "text": "Where does the spare key hang?"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n")
    told = recollect.json("bench", "abstention", "--data", str(folder), "--no-cache")
    (result,) = told["data"]
    assert result["questions"] == {"present": 1, "removed": 1}
    assert result["auroc"]["confidence"]["removed"] == 1.0
    saved = tmp_path / "new" / "run.json"
    again = recollect.json("bench", "abstention", "--data", str(folder), "--no-cache", "--save", str(saved))
    assert json.loads(saved.read_text()) == again
    assert again["data"] == told["data"]
    assert recollect("bench", "abstention", "--data", str(folder), "--no-cache").stdout.startswith(
        "beir\tremoved"
    )
