"""What `context` gives beside prompts: figures by hand, and the bench whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from judged import write_folder

from recollect.domain.errors import InvalidInput
from recollect.models.embedders import embedder_named
from recollect_bench.loading import load_datasets
from recollect_bench.models import Models
from recollect_bench.prompts import PromptFigures, PromptResult, measure_prompts, prompts_json

if TYPE_CHECKING:
    from pathlib import Path


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
