"""`recollect recall`, `why-not` and `context`: what is recorded, shown and explained."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from click import unstyle
from hand_weights import hand_weighted

from recollect.models.registry import RERANKER, availability
from recollect.ranking.candidates import Reason, recompute_score
from recollect.ranking.profiles import DEFAULT, PROFILES
from recollect.text.phrases import decimals

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line"]


def _again(reasons: list[dict[str, Any]]) -> float:
    return recompute_score(
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


# Recording


def test_recall_counts_what_it_showed_and_search_gives_the_same_without_a_trace(harbour: CommandLine) -> None:
    looked = harbour.json("search", "oolong", "--profile", "limbic", "--explain")
    recalled = harbour.json("recall", "oolong", "--profile", "limbic", "--explain", "--no-record")
    # Seconds pass between the two, and forgetting goes by the hour.
    names = [[hit["memory"]["name"] for hit in answer["hits"]] for answer in (looked, recalled)]
    assert names[0] == names[1]
    scores = [[hit["score"] for hit in answer["hits"]] for answer in (looked, recalled)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
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


# Explanations of scores


@pytest.mark.parametrize("profile", PROFILES)
def test_recombining_the_reasons_in_json_gives_the_score_exactly(harbour: CommandLine, profile: str) -> None:
    harbour("status", "Tidebook", "paused")
    harbour("recall", "oolong")
    answer = harbour.json("recall", "person who drinks oolong", "-n", "5", "--profile", profile, "--explain")
    assert answer["profile"] == profile
    assert answer["hits"]
    for hit in answer["hits"]:
        assert hit["reasons"]
        assert _again(hit["reasons"]) == hit["score"]
        assert hit["reasons"][-1]["score"] == hit["score"]


def test_an_answer_has_stable_keys_and_its_look_depends_on_the_options(harbour: CommandLine) -> None:
    assert all(not hit["reasons"] for hit in harbour.json("search", "oolong")["hits"])
    assert "changed nothing" not in harbour("search", "oolong").stdout
    for typed in (["search", "tea"], ["recall", "tea"], ["why-not", "tea", "Tidebook"]):
        said = harbour.refused(*typed, "--profile", "moody", status=1)
        assert "No profile named 'moody'; there are: recollect, limbic, mnemosyne, reverie, cognis." in said
    answer = harbour.json("search", "oolong")
    sure = {"confidence", "doubtful", "abstained", "withheld"}
    assert set(answer) == {"query", "profile", "strategy", "mode", "note", "time", "left_out", "hits"} | sure
    hit = answer["hits"][0]
    ranked = {"rank", "score", "confidence", "found_by", "scores", "reasons"}
    assert set(hit) == ranked | {"passage", "piece", "conflicts_with", "memory"}
    assert hit["found_by"]["words"]["rank"] == 1
    assert datetime.fromisoformat(hit["memory"]["created_at"]).tzinfo is not None
    assert harbour.json("search", "safe", "to", "cross")["query"] == "safe to cross"
    before = harbour("--json", "--store", str(harbour.store), "search", "oolong")
    after = harbour("search", "oolong", "--store", str(harbour.store), "--json")
    assert before.stdout == after.stdout
    harbour("--store", "/nowhere/x.db", "search", "oolong", "--store", str(harbour.store))
    shown = harbour("search", "oolong", "--color").stdout
    assert "\x1b[1;36mMarisol Vega" in shown
    assert "\x1b[1;33moolong" in shown
    assert "words #1, meaning #1" in shown


def test_each_step_that_changed_the_score_is_shown_with_its_sign(
    harbour: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = ("search", "oolong", "-n", "1", "-p", "limbic", "--explain")
    harbour("recall", "oolong", "-n", "1")
    shown = harbour(*typed).stdout
    scores = [decimals(reason["score"]) for reason in harbour.json(*typed)["hits"][0]["reasons"]]
    idle = sum(after == before for before, after in pairwise(scores))
    assert idle > 1
    assert f"     {idle} steps changed nothing\n" in shown
    assert re.search(r"rrf: meaning +\+0\.0164 +0\.0164  similarity of meaning\n", shown)
    assert re.search(
        r"rrf: words +\+0\.0164 +0\.0328  words of the question in the text\n", shown
    )  # 1/61 + 1/61
    assert re.search(r"base relevance +→0\.\d{4} +0\.\d{4}  .+\n", shown)
    assert re.search(r"salience +×1\.5050 +0\.\d{4}  .+\n", shown)
    assert "×1.0000" not in shown
    assert re.search(r"rescaled +from 0\.\d{4}…\d\.\d{4} +1\.0000  .+\n", shown)
    # `oolong` is one word, and a limit of one was given: 70 % similarity.
    assert re.search(r"routing: cosine_heavy +30/70 with 0\.\d{4} +0\.\d{4}  .+\n", shown)
    assert "Profile: limbic" in shown
    weights = {"meaning": {"cosine": 0.6}, "words": {"bm25": 0.4}, "origin": {"entity": -1.25}}
    monkeypatch.setitem(PROFILES, DEFAULT, hand_weighted(**weights))
    shown = unstyle(harbour("search", "oolong", "-n", "1", "--explain", "--color").stdout)
    # 0.6 * 1 + 0.4 * 1 - 1.25
    assert re.search(r"entity +−1\.2500 +−0\.2500  .+\n", shown)
    assert "score −0.2500" in shown
    monkeypatch.undo()
    harbour("session", "add", "tea", "--speaker", "Ana", "My favourite tea is oolong")  # and a note of it
    assert "+0.0000" not in harbour("search", "oolong", "--explain").stdout
    assert "similarity of" not in harbour(*typed, COLUMNS="79").stdout


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_an_explanation_fits_the_terminal(harbour: CommandLine, profile: str, columns: str) -> None:
    harbour("recall", "person", COLUMNS=columns)
    typed = ["search", "person who drinks oolong", "-n", "5", "-p", profile, "--explain", "--color"]
    lines = unstyle(harbour(*typed, COLUMNS=columns).stdout).splitlines()
    assert max(map(len, lines)) <= int(columns)
    # No line was wrapped or cut to fit: each step with an effect has one line, with its score.
    rows = [line.strip() for line in lines if re.search(r"  (from |[+−×→]\d|\d+/\d+ with )", line)]
    assert all(re.search(r"\d\.\d{4}(  |$)", row) for row in rows)
    answer = harbour.json("search", "person who drinks oolong", "-n", "5", "-p", profile, "--explain")
    moved = {
        reason["step"]
        for reason in answer["hits"][0]["reasons"]
        if reason["effect"] in {"set", "mix", "rescale"}
        or (reason["effect"] != "note" and round(reason["value"], 3) not in {0, 1})
    }
    assert moved
    assert {name for name in moved if not any(row.startswith(f"{name} ") for row in rows)} == set()


@pytest.mark.usefixtures("matched_fusion")
def test_a_hit_shows_rank_name_type_id_score_passage_and_why(harbour: CommandLine) -> None:
    first, second, third, *_ = harbour.rows("search", "oolong")
    # Best in both, 0.6 * 1 by meaning + 0.4 * 1 by words; and it holds all that was given: 0.4 more.
    assert first == ["1", "Marisol Vega", "person · #1", "score 1.4000"]
    assert second[0] == "Drinks oolong after lunch"
    assert third[0].startswith("words #1, meaning #1 (cosine 0.")


def test_without_a_model_words_are_searched_and_the_matching_piece_is_shown(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", "likes tea", "--model", "none")
    result = recollect("search", "tea", "--model", "none")
    assert re.search(r"likes tea +\d+ % likely\n +words #1\n", result.stdout)
    assert "Searched by words only" in result.stderr
    assert recollect.json("search", "tea", "--model", "none")["note"]
    recollect("add", "Ana", "--model", "none")
    assert "Nothing found" in recollect("search", "zebra", "--model", "none").stdout
    recollect(
        "add", "Ana", "-o", "likes tea", "-o", "walks to the harbour", "-o", "once sang", "--model", "none"
    )
    found = recollect.rows("search", "walking", "harbour", "--model", "none")
    assert found[1][0] == "walks to the harbour"
    recollect("add", "Ana", "-o", f"{'before ' * 200}the oolong cup{' after' * 200}", "--model", "none")
    passage = recollect.rows("search", "oolong", "--model", "none")[1][0]
    assert "oolong" in passage
    assert len(passage) < 300
    assert passage.startswith("…")
    assert passage.endswith("…")


def test_tabs_and_new_lines_in_a_text_do_not_break_the_columns(recollect: CommandLine) -> None:
    recollect("add", "Ana", "-o", "likes\ttea\nand cake")
    assert recollect.rows("search", "tea")[1][0] == "likes tea and cake"


NEVER_STORED = "which orchestra performed the symphony in Vienna?"


def test_an_answer_tells_how_likely_it_is(harbour: CommandLine) -> None:
    silent = harbour("search", NEVER_STORED, "--color")
    assert unstyle(silent.stdout) == "Nothing here seems to answer that.\n"
    assert "--limit 3 shows the nearest memories." in unstyle(silent.stderr)
    absent = harbour.json("search", NEVER_STORED)
    assert (absent["hits"], absent["doubtful"], absent["abstained"]) == ([], True, True)
    shown = harbour("search", NEVER_STORED, "--limit", "3", "--color").stdout
    assert unstyle(shown).startswith("Nothing here seems to answer that; these are the nearest.\n")
    # Guesses are dimmed.
    assert "\x1b[2m" in shown
    nearest = harbour.json("search", NEVER_STORED, "--limit", "3")
    assert 0 < len(nearest["hits"]) <= absent["withheld"]
    assert (nearest["doubtful"], nearest["abstained"], nearest["withheld"]) == (True, False, 0)
    answer = harbour.json("search", "who drinks oolong after lunch?")
    assert answer["doubtful"] is answer["abstained"] is False
    likely = round(100 * answer["hits"][0]["confidence"])
    result = harbour("search", "who drinks oolong after lunch?", "--color")
    assert f"{likely} % likely" in unstyle(result.stdout)
    assert "Nothing here" not in result.output
    every = harbour.json("search", "who drinks oolong after lunch?")["hits"]
    least = every[0]["confidence"]
    some = harbour.json("search", "who drinks oolong after lunch?", "--min-confidence", str(least))
    assert [hit["memory"]["id"] for hit in some["hits"]] == [every[0]["memory"]["id"]]
    assert some["withheld"] == len(every) - 1
    none = harbour("search", "who drinks oolong after lunch?", "--min-confidence", "1", "--color")
    assert "not shown" in unstyle(none.stdout)


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
    rows = recollect.rows("bench", "abstention", "--data", str(folder), "--no-cache")
    assert ["beir", "removed"] in [row[:2] for row in rows]


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


def test_a_re_ranker_that_is_not_there_leaves_the_answer_and_a_note(
    museum: CommandLine, recollect: CommandLine
) -> None:
    plain, asked = museum("search", "museum"), museum("search", "museum", RECOLLECT_RERANK="guess")
    assert asked.stdout == plain.stdout
    assert "Not re-ranked: No re-ranker named 'guess' is installed" in asked.stderr
    assert museum("search", "museum", "--no-rerank", RECOLLECT_RERANK="guess").stderr == plain.stderr
    said = museum.refused("search", "museum", "--rerank", status=4, RECOLLECT_RERANK="guess")
    assert "No re-ranker named 'guess' is installed" in said

    def rerank_check(setting: str) -> dict[str, str]:
        checks = museum.json("doctor", RECOLLECT_RERANK=setting)["checks"]
        (check,) = [each for each in checks if each["what"] == "re-ranking"]
        return dict(check)

    off, missing = rerank_check("off"), rerank_check("guess")
    assert (off["mark"], off["said"][:5]) == ("ok", "off; ")
    assert missing["mark"] == "note"
    assert "ours are: minilm" in missing["said"]
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


@pytest.fixture
def teas(recollect: CommandLine, matched_fusion: None) -> CommandLine:
    """Three entities with the same observation, the first of them archived. There is no model."""
    recollect = replace(recollect, environment={**recollect.environment, "RECOLLECT_MODEL": "none"})
    for name in ("Assam", "Bancha", "Ceylon"):
        recollect("add", name, "-t", "thing", "-o", "a tea")
    recollect("status", "Assam", "archived")
    return recollect


def test_a_step_that_cost_places_is_named(teas: CommandLine) -> None:
    why = teas.json("why-not", "tea", "Assam", "--limit", "1")
    assert why["memory"]["name"] == "Assam"
    assert why["profile"] == "recollect"
    assert why["verdict"] == "It was found by words and is at place 3, below the limit of 1."
    standing = why["standing"]
    # 0.4 by words for each of the three, and 0.4 for holding all that was given; archived, 0.5 of it
    assert (standing["place"], standing["score"], standing["needed"]) == (3, 0.4, 0.8)
    # With the same score as the others it would be the first of them: ties go by id.
    status = next(cost for cost in standing["costs"] if cost["step"] == "status")
    assert status == {"step": "status", "value": 0.5, "place_without": 1, "places": 2}
    assert standing["reasons"][-1]["score"] == standing["score"]
    assert any("'status'" in advice for advice in why["advice"])
    shown = teas("why-not", "tea", "Assam", "-n", "1").stdout
    assert "It is at place 3 with 0.4000; the last hit has 0.8000." in shown
    assert re.search(r"status +×0\.5000 +0\.4000 +−2 places\n", shown)
    assert re.search(r"meaning +– +– +100 +✗ not found\n", shown)


def test_each_search_tells_its_rank_score_and_how_many_were_taken(teas: CommandLine) -> None:
    by_name = teas.json("why-not", "tea", "Assam")
    assert teas.json("why-not", "tea", "1") == by_name
    assert teas.json("why-not", "tea", "#1") == by_name
    assert "no entity named 'Zebra'" in teas.refused("why-not", "tea", "Zebra", status=1)
    assert "no memory 99" in teas.refused("why-not", "tea", "99", status=1)
    assert "no entity named" in teas.refused("why-not", "tea", "9" * 40, status=1)
    by_words = teas.json("why-not", "tea", "Assam")["searches"][1]
    assert by_words["search"] == "words"
    assert by_words["rank"] == 1  # ties by id
    assert by_words["score"] > 0
    assert by_words["taken"] == 100  # our own profile takes five times the limit, and 100 at the least
    assert by_words["reached"] is True
    teas("add", "Bosun", "-o", "a cat")
    missed = teas.json("why-not", "tea", "Bosun")
    assert [search["reached"] for search in missed["searches"]] == [False, False]
    assert "It shares no word with the query." in missed["advice"]
    teas("add", "Bosun", "-o", "a cat")
    shown = unstyle(teas("why-not", "tea", "Bosun", "--color").stdout)
    assert "No search brought it up" in shown
    assert "If a search had found it, it would be at place 4" in shown
    assert "It is at" not in shown


@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_terminal_shows_searches_place_steps_and_advice(teas: CommandLine, columns: str) -> None:
    typed = ["why-not", "tea", "Assam", "-n", "1", "--color"]
    shown = unstyle(teas(*typed, COLUMNS=columns).stdout)
    assert shown.startswith("Assam  thing · archived · #1\nIt was found by words and is at place 3")
    assert re.search(r"words +1 +BM25 \d\.\d\d +100 +✓ a candidate", shown)
    assert re.search(r"meaning +– +– +100 +✗ not found", shown)
    assert "It is at place 3 with 0.4000; the last hit has 0.8000." in shown
    assert re.search(r"status +×0\.5000 +0\.4000 +−2 places", shown)
    assert "\n→ " in shown
    assert max(map(len, shown.splitlines())) <= int(columns)


@pytest.fixture
def lunch(recollect: CommandLine) -> CommandLine:
    recollect("remember", "Ana drinks oolong tea after lunch")
    recollect("remember", "Ana drinks strong coffee for breakfast")
    turns = [
        {"role": "user", "speaker": "Jun", "content": "Where is the boat?", "at": "2024-05-06T10:00:00Z"},
        {"role": "assistant", "content": "In the harbour.", "at": "2024-05-06T10:01:00Z"},
    ]
    recollect("session", "add", "harbour", "-", "--no-extract", given=json.dumps(turns))
    return recollect


@pytest.mark.usefixtures("undoubted")
def test_standard_output_is_the_text_and_nothing_else(lunch: CommandLine) -> None:
    result = lunch("context", "what", "does", "Ana", "drink?", "--session", "harbour")
    data = lunch.json("context", "what does Ana drink?", "--session", "harbour")
    assert result.stdout == data["text"] + "\n"
    assert "Ana drinks oolong tea after lunch" in result.stdout
    assert "In the harbour." in result.stdout
    assert [turn["text"] for turn in data["turns"]] == ["Where is the boat?", "In the harbour."]
    first = lunch("context", "what does Ana drink?").stdout
    assert lunch("context", "what does Ana drink?").stdout == first
    data = lunch.json("context", "what does Ana drink?", "--budget", "45")
    assert 0 < data["tokens"] <= 45
    assert data["left_out"] > 0
    said = lunch("context", "what does Ana drink?", "--budget", "45").stderr
    assert f"{data['tokens']} of 45 tokens: 1 memory" in said
    assert "did not fit" in said


def test_the_messages_at_hand_can_take_the_place_of_a_query(lunch: CommandLine, tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Good morning"},
        {"role": "user", "content": "Does Ana drink oolong tea?"},
    ]
    file = tmp_path / "last.json"
    file.write_text(json.dumps(messages))
    data = lunch.json("context", "--messages", str(file))
    assert data["query"] == "Does Ana drink oolong tea?"
    assert [turn["text"] for turn in data["turns"]] == ["Good morning", "Does Ana drink oolong tea?"]
    assert "Ana drinks oolong tea after lunch" in [item["text"] for item in data["memories"]]
    assert lunch.json("context", "--messages", "-", given=json.dumps(messages)) == data


@pytest.mark.parametrize(
    ("typed", "status", "given"),
    [
        (["tea", "--messages", "-"], 2, "[]"),
        (["--messages", "-"], 1, "[]"),
        (["--messages", "-"], 1, '[{"content": 7}]'),
        (["--messages", "missing.json"], 1, None),
        (["tea", "--budget", "0"], 2, None),
        (["tea", "--as-of", "whenever"], 2, None),
        (["tea", "--profile", "moody"], 1, None),
        ([], 2, ""),
    ],
)
def test_bad_queries_are_refused(
    lunch: CommandLine, typed: list[str], status: int, given: str | None
) -> None:
    lunch.refused("context", *typed, status=status, given=given)
