"""`recollect bench quality`, as it is typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from recollect.models import registry
from recollect.models.registry import RERANKER, availability
from recollect.ranking.profiles import LIMBIC, PROFILES, to_plain

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine

# It has no wheel for some machines.
pytest.importorskip("pytrec_eval", exc_type=ImportError)

pytest_plugins = ["command_line"]
STATE = availability(RERANKER.ours[0], RERANKER)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two texts, two questions."""
    folder = tmp_path / "tiny"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": "d1", "text": "Oolong is oxidised."}\n{"_id": "d2", "text": "Ferries cross the strait."}\n'
    )
    (folder / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "oolong"}\n{"_id": "q2", "text": "ferries"}\n'
    )
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n")
    return folder


def test_all_profiles_are_measured_and_the_memory_is_not_touched(
    recollect: CommandLine, data: Path, tmp_path: Path
) -> None:
    cache, saved, plot = tmp_path / "cache", tmp_path / "new" / "run.json", tmp_path / "new" / "run.svg"
    typed = ("bench", "quality", "--data", str(data), "--model", "hashing", "--cache", str(cache))
    told = recollect.json(*typed, "--save", str(saved), "--plot", str(plot))
    assert set(told["profiles"]) == {*PROFILES, "bm25", "vectors", "rrf"}
    assert told["data"]["tiny"]["results"]["bm25"]["all"]["fraction@1"] == 100
    assert set(told["data"]["tiny"]["files"]) == {"corpus.jsonl", "queries.jsonl", "test.tsv"}
    assert json.loads(saved.read_text()) == told
    assert plot.read_text().startswith("<svg")
    assert (cache / "vectors.db").is_file()
    assert not recollect.store.exists()
    again = recollect.json(*typed)
    for of_the_moment in ("facts", "milliseconds"):
        told.pop(of_the_moment)
        again.pop(of_the_moment)
    assert again == told


def test_a_terminal_gets_tables(recollect: CommandLine, data: Path) -> None:
    out = recollect(
        *("bench", "quality", "--data", str(data), "--model", "hashing", "--no-cache", "--ablate", "--color"),
        COLUMNS="80",
    ).stdout
    for title in ("Whole, %", "Minus rrf, points", "recollect minus the other", "What each part brings"):
        assert title in out
    assert "…" not in out  # everything fits eighty columns


def test_a_profile_of_a_file_is_measured(recollect: CommandLine, data: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({**to_plain(LIMBIC), "name": "mine"}))
    told = recollect.json(
        *("bench", "quality", "--data", str(data), "--model", "hashing", "--no-cache"),
        *("--profile", str(file), "--baseline", "limbic"),
    )
    assert list(told["profiles"]) == ["mine", "limbic"]
    # The same recipe under another name.
    same = {"mean": 0, "low": 0, "high": 0}
    assert told["data"]["tiny"]["minus limbic"]["ndcg@10"]["mine"] == same


@pytest.mark.skipif(not STATE.ready, reason=STATE.reason)
def test_our_profile_is_also_measured_re_ranked(recollect: CommandLine, data: Path) -> None:
    typed = ("bench", "quality", "--data", str(data), "--model", "hashing", "--no-cache", "--rerank")
    told = recollect.json(*typed, "--profile", "bm25", "--baseline", "bm25")
    assert list(told["data"]["tiny"]["results"]) == [
        "bm25",
        "recollect",
        "recollect (plain)",
        "recollect + rerank",
    ]
    assert "recollect + rerank" in told["data"]["tiny"]["recollect minus"]["ndcg@10"]
    assert "recollect + rerank" in told["milliseconds"]["tiny"]
    assert told["reranked"]["recollect + rerank"]["reranker"].startswith("minilm@")
    out = recollect(*typed, "--color", COLUMNS="80").stdout
    assert "recollect + rerank" in out
    assert "…" not in out


@pytest.mark.parametrize("typed", [("bench",), ("bench", "--help"), ("bench", "quality", "--data", "x")])
def test_where_the_package_is_missing_the_extra_is_named(
    recollect: CommandLine, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...]
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert "pip install 'recollect-memory[bench]'" in recollect.refused(*typed, status=1)


def test_a_missing_re_ranker_is_told_before_any_work(
    recollect: CommandLine, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "packaged_model", lambda *_: None)
    cache = tmp_path / "cache"
    said = recollect.refused(
        "bench", "quality", "--data", str(data), "--rerank", "--cache", str(cache), status=4
    )
    assert "recollect-memory[rerank]" in said
    assert not cache.exists()


def test_mistakes_are_told_before_any_work(recollect: CommandLine, data: Path, tmp_path: Path) -> None:
    quality = ("bench", "quality", "--data")
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert "Known are: LoCoMo" in recollect.refused(*quality, str(other), status=1)
    assert "there are: recollect" in recollect.refused(*quality, str(data), "--profile", "mood", status=1)
    assert "no meaning to measure" in recollect.refused(*quality, str(data), "--model", "none", status=4)
    assert "give one of them" in recollect.refused(
        *quality, str(data), "--cache", str(tmp_path), "--no-cache", status=2
    )
    assert "does not exist" in recollect.refused(*quality, str(tmp_path / "absent"), status=2)
    (data / "taken").write_text("a file, no folder", encoding="utf-8")
    result = recollect(
        "bench", "quality", "--data", str(data), "--save", str(data / "taken" / "x.json"), status=2
    )
    assert "cannot be written" in result.stderr
    assert result.stdout == ""


def test_prompts_and_precision_are_measured_from_the_command_line(
    recollect: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    stored = {"store": "ana", "id": "m1", "kind": "note", "text": "The spare key hangs behind the barometer."}
    asked = {"store": "ana", "id": "q1", "text": "Where is the spare key?", "gold": ["m1"]}
    prompt = {"store": "ana", "id": "p1", "text": "Where is the spare key?", "helpful": ["m1"]}
    belief = {"_id": "b1", "user_id": "test-user", "content": stored["text"], "scope": ["home"]}
    case = {"caseId": "c1", "scope": ["home"], "query": "spare key", "category": "made"}
    expect = {"relevantBeliefs": {"shouldOnlyInclude": ["b1"]}}
    for name, row in (("memories", stored), ("questions", asked), ("prompts", prompt)):
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "beliefs.seed.json").write_text(json.dumps([belief]))
    (folder / "retrieval.cases.json").write_text(json.dumps([{**case, "expect": expect}]))
    with_hashing = ("--data", str(folder), "--model", "hashing", "--no-cache")
    told = recollect.json("bench", "context", *with_hashing)
    assert told["data"]["home"]["all"]["helped"] == 1
    assert set(told["files"]["home"]) == {"memories.jsonl", "questions.jsonl", "prompts.jsonl"}
    assert recollect("bench", "context", *with_hashing).stdout.count("100% of 1")
    told = recollect.json("bench", "precision", *with_hashing)
    assert (told["precision"], told["recall"], told["passes"]) == (1, 1, 1)
    rows = recollect.rows("bench", "precision", *with_hashing)
    assert ["all", "1", "1.000", "1.000", "1", "1"] in [row[:6] for row in rows]
    said = recollect.refused("bench", "precision", *with_hashing, "--data", str(folder), status=2)
    assert "names one folder" in said
