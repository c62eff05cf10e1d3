"""PrecisionMemBench's cases, and what `context` gives beside prompts: by hand, and asked for real."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from judged import write, write_folder

from recollect.domain.errors import InvalidInput
from recollect.models.embedders import embedder_named
from recollect_bench.formats.precision import Case, load_precision
from recollect_bench.loading import load_datasets
from recollect_bench.models import Models
from recollect_bench.precision import judge_case, measure_precision, precision_json
from recollect_bench.prompts import PromptFigures, PromptResult, measure_prompts, prompts_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def belief(id_: str, text: str, *scope: str, **rest: Any) -> dict[str, Any]:
    return {
        "_id": id_,
        "user_id": "test-user",
        "type": "entity",
        "canonical_name": id_,
        "aliases": [],
        "content": text,
        "scope": list(scope),
        "created_at": "2026-09-01T00:00:00Z",
        **rest,
    }


def case(query: str, *scope: str, **expect: Any) -> dict[str, Any]:
    return {
        "caseId": f"case {query}",
        "category": "made",
        "scope": list(scope),
        "query": query,
        "expect": expect,
    }


def judge(found: Sequence[str], pinned: Sequence[str] = (), **expected: Any) -> tuple[Any, ...]:
    one = Case.model_validate(case("oolong?", "home", relevantBeliefs=expected))
    result = judge_case(one, found, pinned, (), set(pinned))
    return result.precision, result.recall, result.passed


def test_a_case_worked_by_hand() -> None:
    for found, expected, told in (
        # All of it, and nothing else.
        ("a", {"shouldOnlyInclude": ["a"]}, (1.0, 1.0, True)),
        # One of two that came was wanted, and one of two that were wanted came.
        ("ax", {"shouldOnlyInclude": ["a", "b"]}, (0.5, 0.5, False)),
        # No hit was wanted, and one came: the worst score.
        ("x", {"shouldOnlyInclude": []}, (0.0, None, False)),
        ("", {"shouldOnlyInclude": []}, (None, None, True)),
        ("", {"shouldOnlyInclude": ["a"]}, (0.0, 0.0, False)),
        # Required hits may come with others; forbidden ones may not come at all.
        ("ax", {"mustInclude": ["a"]}, (0.5, 1.0, True)),
        ("ax", {"mustInclude": ["a"], "mustExclude": ["x"]}, (0.5, 1.0, False)),
        ("ax", {"shouldInclude": ["b"]}, (0.0, None, False)),
        ("ab", {"mustInclude": ["a", "b"], "orderedBefore": [["b", "a"]]}, (1.0, 1.0, False)),
        ("ab", {"mustInclude": ["a", "b"], "orderedBefore": [["a", "b"]]}, (1.0, 1.0, True)),
        ("ab", {"mustInclude": ["a", "b"], "maxCount": 1}, (1.0, 1.0, False)),
        ("ab", {"mustInclude": ["a", "b"], "minCount": 3}, (1.0, 1.0, False)),
    ):
        assert judge(found, **expected) == told


def test_what_is_pinned_counts_as_there_but_not_as_found() -> None:
    assert judge("a", pinned="p", mustInclude=["a", "p"]) == (1.0, 1.0, True)
    assert judge("a", pinned="p", mustInclude=["a"], mustExclude=["p"]) == (1.0, 1.0, False)


def test_beliefs_are_stored_by_owner_scope_and_status(tmp_path: Path) -> None:
    beliefs = [
        belief("oolong", "Drinks oolong tea in the morning.", "home", participants=["kettle"]),
        belief("assam", "Drank assam tea in the morning.", "home", superseded_by="oolong"),
        belief("kettle", "The copper kettle whistles.", "home"),
        belief("ferry", "The ferry carries oolong tea.", "work"),
        belief("stranger", "Drinks oolong tea at noon.", "home", user_id="someone"),
        belief("pot", "Which oolong tea pot to buy.", "home", type="open_question", resolved_at="2026-10-01"),
        belief("cup", "The oolong tea cup is blue.", "home", pinned=True),
    ]
    beliefs[0]["type"] = "relation"
    cases = [
        case("oolong tea morning", "home", relevantBeliefs={"mustInclude": ["oolong", "kettle"]}),
        case("assam tea", "home", relevantBeliefs={"mustExclude": ["assam", "stranger", "pot", "ferry"]}),
        case("oolong tea", "home", "work", relevantBeliefs={"mustInclude": ["oolong", "ferry", "cup"]}),
        case(
            "oolong tea", "home", pinnedFacts={"mustInclude": ["cup"]}, openQuestions={"mustExclude": ["pot"]}
        ),
        case("  ", "home", relevantBeliefs={"shouldOnlyInclude": []}),
        case("ferry", "work", relevantBeliefs={"shouldOnlyInclude": []}) | {"budget": {"maxBeliefs": 0}},
    ]
    write(tmp_path / "fixtures" / "beliefs.seed.json", beliefs)
    write(tmp_path / "fixtures" / "retrieval.cases.json", cases)
    embedder = embedder_named("hashing")
    assert embedder is not None
    figures = measure_precision(load_precision(tmp_path), Models.only(embedder))
    assert (figures.cases, figures.passes) == (6, 6)
    assert figures.recall == 1.0
    # The two that ask for nothing and get nothing have no precision.
    assert figures.active_passes == 4
    assert precision_json(figures)["categories"]["made"]["passes"] == 6


def test_a_folder_without_fixtures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"does not hold beliefs\.seed\.json"):
        load_precision(tmp_path)


def test_figures_worked_by_hand() -> None:
    rows = [
        PromptResult("ana", needs_memory=False, given=0, helpful=0, wanted=0, tokens=0),
        PromptResult("ana", needs_memory=False, given=4, helpful=0, wanted=0, tokens=80),
        PromptResult("ana", needs_memory=True, given=3, helpful=2, wanted=4, tokens=60),
        PromptResult("ana", needs_memory=True, given=1, helpful=0, wanted=1, tokens=20),
    ]
    # Silent on one of two, helpful on one of two; 2 of 8 given help; 2 of 5 that help were given; 160 / 2.
    assert PromptFigures.of(rows) == PromptFigures(2, 0.5, 2, 0.5, 0.25, 0.4, 80.0)
    assert PromptFigures.of(rows[:1]) == PromptFigures(1, 1.0, 0, None, None, None, None)


def test_each_prompt_is_given_to_context_alone(tmp_path: Path) -> None:
    embedder = embedder_named("hashing")
    assert embedder is not None
    (dataset,) = load_datasets([write_folder(tmp_path / "home")])
    results = measure_prompts([dataset], Models.only(embedder))
    # The other store has no prompts.
    assert list(results["home"]) == ["all", "ana"]
    figures = results["home"]["all"]
    assert (figures.needing, figures.needing_nothing) == (1, 1)
    assert figures.helped == 1.0
    assert prompts_json(results)["home"]["all"]["helped"] == 1.0
    bare = replace(dataset, haystacks=tuple(replace(each, prompts=()) for each in dataset.haystacks))
    with pytest.raises(InvalidInput, match=r"has a prompts\.jsonl"):
        measure_prompts([bare], Models.only(embedder))
