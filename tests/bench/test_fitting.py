"""Training data of the learned models, and the gain of a sign."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

from recollect_bench.datasets import Dataset, Document, Haystack, Prompt, Question
from recollect_bench.fit_confidence import questions_of_others
from recollect_bench.fit_replaces import short_change_stores
from recollect_bench.training import Example, TrainingSet, names, sign_gains


def test_each_short_change_is_in_one_store_and_told_after_what_it_changes() -> None:
    stores = list(short_change_stores())
    told = [store.texts[new].text for store in stores for new, _ in store.replaced]
    assert len(told) == len(set(told)) > 100
    for store in stores:
        texts = [each.text for each in store.texts]
        assert len(texts) == len(set(texts))
        assert all(store.texts[new].at > store.texts[old].at for new, old in store.replaced)
        # Some of the texts replace nothing and are replaced by nothing.
        assert len({place for pair in store.replaced for place in pair}) < len(texts)


def test_a_sign_gains_what_is_lost_without_it() -> None:
    signs = np.zeros((2, len(names())))
    signs[1, names().index("words.share")] = 1.0
    example = Example("store", "question", signs, np.array([0.0, 1.0]), 1)
    taught = [TrainingSet("shares", [example])]
    # With the sign, the second candidate comes first. Without it, both are equal, and the order stays.
    assert sign_gains(taught, taught)["words.share"] == {
        "shares": pytest.approx(100 * (1 - 1 / log2(3)), abs=0.01)
    }


def test_the_questions_of_one_person_are_not_asked_of_another() -> None:
    def family(
        name: str, *questions: str, role: str | None = None, prompts: int = 0
    ) -> tuple[str, str, Dataset]:
        asked = tuple(Question(text, text, "", frozenset({"1"})) for text in questions)
        typed = tuple(Prompt(str(number), "hello", frozenset()) for number in range(prompts))
        store = Haystack(name, (Document("1", "text", role=role),), asked, prompts=typed)
        return name, "auto", Dataset(name, (store,))

    sets = [
        family("notes", "where do I work?", prompts=1),
        family("assistant", "what did I ask?", role="assistant"),
        family("papers", "which cells divide?", "which cells rest?", "which cells divide?"),
    ]
    # Two different questions of papers; one of each family, since others have one.
    assert len(questions_of_others("notes", sets)) == 2
    assert set(questions_of_others("papers", sets)) == {"where do I work?", "what did I ask?"}
    assert set(questions_of_others("assistant", sets)) <= {"which cells divide?", "which cells rest?"}
