"""The benchmark whole, on judged questions whose figures can be worked by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from judged import Arbitrary, write_beir, write_folder, write_locomo

from recollect.domain.errors import InvalidInput
from recollect.models.embedders import embedder_named
from recollect.ranking.profiles import DEFAULT
from recollect_bench.datasets import Dataset, Document, Haystack, Question
from recollect_bench.loading import load_datasets
from recollect_bench.measures import MEASURES, JudgedLists
from recollect_bench.models import Models
from recollect_bench.plot import draw_svg
from recollect_bench.profiles import BASELINES, select_profiles
from recollect_bench.quality import QualityOptions, measure, report_json, summarize
from recollect_bench.runs import JudgedQuestion, Run

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.stores.port import Embedder
    from recollect_bench.quality import Report

# It has no wheel for some machines.
pytest.importorskip("pytrec_eval", exc_type=ImportError)


@pytest.fixture
def embedder() -> Embedder:
    found = embedder_named("hashing")
    assert found is not None
    return found


def measured(path: Path, embedder: Embedder, *names: str, **options: Any) -> Report:
    """Measure profiles against bm25 on the data of a path; without names, against RRF."""
    baseline = "bm25" if names else "rrf"
    profiles, settings = select_profiles(names, baseline), QualityOptions(baseline, **options)
    return measure(load_datasets([path]), profiles, Models.only(embedder), settings)


def _answers() -> Run:
    """Four questions, two profiles. Ours finds all at once; the other the first one, and the second late."""
    questions = (
        JudgedQuestion("x", False, "a"),
        JudgedQuestion("x", True, "a"),
        JudgedQuestion("y", False, "a"),
        JudgedQuestion("y", False, "b"),
    )

    def judged_lists(*lists: str) -> list[JudgedLists]:
        return [
            JudgedLists({10: tuple(ids[:10]), 20: tuple(ids)}, frozenset(relevant))
            for ids, relevant in zip(lists, "abcd", strict=True)
        ]

    return Run(
        Dataset("made", ()),
        questions,
        {DEFAULT: judged_lists("a", "b", "c", "d"), "rrf": judged_lists("a", "zyxwb", "", "zyxwvutsrqd")},
        {DEFAULT: 1.0, "rrf": 1.0},
        {},
        ("made@1",),
    )


def test_means_are_told_for_all_and_for_each_category() -> None:
    told = summarize(_answers(), (), "rrf")
    assert told.counts == {"all": 4, "x": 2, "y": 2, "speaks of a time": 1, "half a": 3, "half b": 1}
    # The other finds a and b among ten, d among twenty, c never.
    assert told.means["rrf"]["all"]["fraction@10"] == 0.5
    assert told.means["rrf"]["all"]["fraction@20"] == 0.75
    assert told.means["rrf"]["x"]["fraction@10"] == 1
    assert told.means["rrf"]["y"]["fraction@10"] == 0
    # 1/1 for a, 1/5 for b.
    assert told.means["rrf"]["all"]["mrr@10"] == pytest.approx((1 + 0.2) / 4)
    assert told.means[DEFAULT]["all"] == dict.fromkeys(MEASURES, 1.0)


def test_both_directions_of_a_difference_agree() -> None:
    told = summarize(_answers(), (), "rrf")
    over_baseline = told.over_baseline["fraction@10"][DEFAULT]
    assert over_baseline == told.over_others["fraction@10"]["rrf"]
    # Ours is ahead by 1 on two of four questions; one resample in sixteen draws neither: 0 is within.
    assert over_baseline.mean == 0.5
    assert over_baseline.low == 0.0
    assert not over_baseline.excludes_zero


def test_each_half_is_compared_by_itself() -> None:
    told = summarize(_answers(), (), "rrf")
    # The other profile misses one of ten for the first three questions, and all for the fourth.
    means = {half: each["fraction@10"]["rrf"].mean for half, each in told.over_others_by_half.items()}
    assert means == {"a": pytest.approx(1 / 3), "b": 1}


def test_a_part_is_compared_with_the_whole_alone() -> None:
    told = summarize(_answers(), ["rrf"], DEFAULT)
    assert told.over_others == {"fraction@10": {}, "ndcg@10": {}, "any@1": {}}
    assert told.parts["fraction@10"]["rrf"].mean == 0.5


def test_two_runs_give_the_same_bytes(tmp_path: Path, embedder: Embedder) -> None:
    write_locomo(tmp_path / "talks")
    write_beir(tmp_path / "tiny")
    runs = []
    for _ in range(2):
        report = measured(tmp_path, embedder, ablate=True)
        figures = report_json(report)
        figures.pop("milliseconds")
        runs.append((json.dumps(figures), draw_svg(report)))
    assert runs[0] == runs[1]
    told = json.loads(runs[0][0])
    assert list(told["data"]) == ["locomo", "tiny"]
    data = told["data"]["locomo"]
    lacking = ("questions", "questions_without_answer", "questions_without_evidence")
    assert [data[name] for name in lacking] == [3, 1, 1]
    assert set(data["results"]) == {*told["profiles"], f"{DEFAULT} (plain)"}
    assert all("without a part" in key or " − " not in str(data[key]) for key in data if "minus" in key)


def test_the_default_profile_joins_where_its_parts_are_wanted(tmp_path: Path, embedder: Embedder) -> None:
    report = measured(write_beir(tmp_path / "tiny"), embedder, "bm25", ablate=True)
    assert [each.name for each in report.profiles] == ["bm25", DEFAULT]
    assert {name.split(" − ")[0] for name in report.results[0].parts["ndcg@10"]} == {DEFAULT}


def test_the_re_ranked_profile_is_a_row_like_any_other(embedder: Embedder) -> None:
    # Nine notes that any profile takes for the same; the re-ranker likes some better.
    alike = tuple(Document(f"d{place}", f"oolong {word}") for place, word in enumerate("abcdefghi"))
    question = Question("q", "oolong", "made", frozenset({"d5"}))
    report = measure(
        [Dataset("home", (Haystack("home", alike, (question,)),))],
        select_profiles(["bm25"], "bm25"),
        Models.only(embedder),
        QualityOptions("bm25", ablate=True),
        reranker=Arbitrary(),
    )
    assert report.names == ("bm25", DEFAULT, f"{DEFAULT} (plain)", f"{DEFAULT} + rerank")
    told = report_json(report)
    data = told["data"]["home"]
    again, ours = data["results"][f"{DEFAULT} + rerank"]["all"], data["results"][DEFAULT]["all"]
    assert again["mrr@10"] != ours["mrr@10"]  # else what follows would say nothing
    for measure_, others in data[f"{DEFAULT} minus"].items():
        difference = others[f"{DEFAULT} + rerank"]["mean"]
        assert difference == pytest.approx(ours[measure_] - again[measure_], abs=0.011), measure_
    assert f"{DEFAULT} + rerank" in data["minus bm25"]["ndcg@10"]
    # A part is taken out of the profile as it is.
    assert f"{DEFAULT} + rerank" not in data[f"{DEFAULT} minus itself without a part"]["ndcg@10"]
    assert told["reranked"][f"{DEFAULT} + rerank"]["reranker"] == "arbitrary@1"
    assert f"{DEFAULT} + rerank" in draw_svg(report)


def test_a_name_is_not_given_twice(tmp_path: Path, embedder: Embedder) -> None:
    mine = replace(BASELINES[0], name=f"{DEFAULT} + rerank")
    with pytest.raises(InvalidInput, match="rename the profile of that name"):
        measure(
            load_datasets([write_beir(tmp_path / "tiny")]),
            (mine,),
            Models.only(embedder),
            QualityOptions(mine.name),
            reranker=Arbitrary(),
        )


def test_what_words_can_find_is_found(tmp_path: Path, embedder: Embedder) -> None:
    # Each question shares words with its only relevant text, and with no other.
    report = measured(write_beir(tmp_path / "tiny"), embedder, "bm25")
    assert report.results[0].means["bm25"]["all"] == dict.fromkeys(MEASURES, 1.0)


def test_the_picture_is_well_formed_and_names_everyone(tmp_path: Path, embedder: Embedder) -> None:
    report = measured(write_beir(tmp_path / "a<b"), embedder)
    picture = ET.fromstring(draw_svg(report))  # noqa: S314  # our own
    texts = ["".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "a<b: 2 questions" in texts
    assert {each.name for each in report.profiles} <= set(texts)


def test_other_profiles_are_also_asked_over_drawn_notes(tmp_path: Path, embedder: Embedder) -> None:
    report = measured(write_folder(tmp_path / "home"), embedder, "bm25", DEFAULT, extract=True)
    assert report.names == ("bm25", DEFAULT, f"{DEFAULT} (plain)", "bm25 + extraction")
    data = report_json(report)["data"]["home"]
    # One of five questions has an outdated memory, which was corrected and is not shown.
    assert data["questions_with_stale"] == 1
    assert data["results"][DEFAULT]["all"]["stale_first"] == 0
    assert data["questions_without_answer"] == 1
    assert set(data["without_limit"]) == {"hits", "precision", "recall"}


def test_a_half_is_measured_alone(tmp_path: Path, embedder: Embedder) -> None:
    home = write_folder(tmp_path / "home")
    reports = [measured(home, embedder, "bm25", half=half) for half in ("a", "b")]
    counts = [report.results[0].counts["all"] for report in reports]
    assert sum(counts) == 5
    assert 0 not in counts
