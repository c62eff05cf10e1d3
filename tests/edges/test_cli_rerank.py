"""`--rerank` and the setting `rerank`, through the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.models.registry import RERANKER, availability

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]
STATE = availability("minilm", RERANKER)
needs_minilm = pytest.mark.skipif(not STATE.ready, reason=STATE.reason)


@pytest.fixture
def museum(recollect: CommandLine) -> CommandLine:
    for text in (
        "The museum, the museum: everybody talks about the museum.",
        "Doors stay shut on Mondays, says the lady at the museum.",
        "The museum has a new roof.",
    ):
        recollect("remember", text)
    return recollect


def test_a_re_ranker_that_is_not_there_leaves_the_answer_and_a_note(museum: CommandLine) -> None:
    plain, asked = museum("search", "museum"), museum("search", "museum", RECOLLECT_RERANK="guess")
    assert asked.stdout == plain.stdout
    assert "Not re-ranked: No re-ranker named 'guess' is installed" in asked.stderr
    assert museum("search", "museum", "--no-rerank", RECOLLECT_RERANK="guess").stderr == plain.stderr


def test_asking_for_it_without_having_it_is_refused(museum: CommandLine) -> None:
    said = museum.refused("search", "museum", "--rerank", status=4, RECOLLECT_RERANK="guess")
    assert "No re-ranker named 'guess' is installed" in said


def test_doctor_tells_of_it(museum: CommandLine) -> None:
    def told(setting: str) -> dict[str, str]:
        checks = museum.json("doctor", RECOLLECT_RERANK=setting)["checks"]
        (check,) = [each for each in checks if each["what"] == "re-ranking"]
        return dict(check)

    off, missing = told("off"), told("guess")
    assert (off["mark"], off["said"][:5]) == ("ok", "off; ")
    assert missing["mark"] == "note"
    assert "there are: minilm" in missing["remedy"]


def test_the_setting_takes_on_off_and_names(recollect: CommandLine) -> None:
    for given, kept in (("ON", "on"), ("no", "off"), ("minilm", "minilm")):
        rows = recollect.json("settings", RECOLLECT_RERANK=given)["settings"]
        assert [row["value"] for row in rows if row["name"] == "rerank"] == [kept]


@needs_minilm
def test_an_answer_in_other_words_is_read_as_the_best(museum: CommandLine) -> None:
    """The model of this store compares words only; the re-ranker knows that shut is closed."""
    asked = ("search", "when is the museum closed?", "--explain")
    hits = museum.json(*asked, "--rerank")["hits"]
    read = {hit["memory"]["text"]: hit["reasons"][-1] for hit in hits}
    assert {reason["step"] for reason in read.values()} == {"re-ranking: minilm@1225ccd6"}
    assert max(read, key=lambda text: read[text]["value"]).startswith("Doors stay shut")
    assert museum.json(*asked, RECOLLECT_RERANK="on")["hits"] == hits


@needs_minilm
def test_doctor_tries_it_out(museum: CommandLine) -> None:
    checks = museum.json("doctor", RECOLLECT_RERANK="minilm")["checks"]
    (check,) = [each for each in checks if each["what"] == "re-ranking"]
    assert (check["mark"], check["said"]) == ("ok", "minilm@1225ccd6 reads the first hits again")
