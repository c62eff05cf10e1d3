"""What a self-test's misses come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.memory_text import memory_text
from recollect.engine.self_test.results import Cause, MissedMemory
from recollect.ports import Snapshot
from recollect.records import Memory, Status
from recollect.retrieval.passages import model_in_use, passages_of, vectors_of
from recollect.retrieval.records import memories_by_id
from recollect.text.languages import language_of
from recollect.text.near_duplicates import REWORDED_COSINE, is_paraphrase
from recollect.text.passages import passage_spans
from recollect.text.tokens import distinctive_terms

if TYPE_CHECKING:
    from recollect.engine.self_test.sample import Survey
    from recollect.engine.self_test.trial import MissedQuestion

_SHOWN = 80
"""Letters of a text."""
_FEWEST_TERMS = 3
_COMMON = 0.01
"""Share of all memories from which a word that they hold tells little."""
_FEWEST_HOLDERS = 5
_MANY_OBSERVATIONS = 20


def explained(
    view: Snapshot,
    survey: Survey,
    missed: Sequence[MissedQuestion],
    limit: int,
    languages: Collection[str] | None,
) -> tuple[MissedMemory, ...]:
    """One for each memory, by cause and id."""
    first_of: dict[int, MissedQuestion] = {}
    for one in missed:
        first_of.setdefault(one.question.memory, one)
    ids = {id_ for one in first_of.values() for id_ in (one.question.memory, *one.hits[:limit])}
    memories = memories_by_id(view, sorted(ids))
    english_only = languages is not None and set(languages) == {"en"}
    misses = []
    for id_, one in first_of.items():
        before = [memories[hit] for hit in one.hits[:limit] if hit != id_]
        cause = _cause(view, survey, memories[id_], one, before, english_only=english_only)
        first = memories[one.hits[0]] if one.hits else None
        misses.append(
            MissedMemory(
                id=id_,
                kind=memories[id_].kind,
                text=_begins(memories[id_]),
                query=one.question.query,
                first=None if first is None else first.id,
                first_text="" if first is None else _begins(first),
                place=one.place,
                cause=cause,
                why=one.why,
            )
        )
    order = list(Cause)
    return tuple(sorted(misses, key=lambda miss: (order.index(miss.cause), miss.id)))


def _cause(  # noqa: PLR0911  # one line for each cause
    view: Snapshot,
    survey: Survey,
    memory: Memory,
    missed: MissedQuestion,
    before: Sequence[Memory],
    *,
    english_only: bool,
) -> Cause:
    if model_in_use(view) is not None and waiting(view, [memory.id]):
        return Cause.NO_VECTOR
    if memory.status is not Status.ACTIVE:
        return Cause.SET_ASIDE
    if missed.dropped == "repeats":
        return Cause.REPEATED
    if _says_little(memory, survey):
        return Cause.LITTLE
    if any(_nearly_the_same(view, memory, other) for other in before):
        return Cause.CROWDED
    if _is_common(missed.question.query, survey):
        return Cause.COMMON
    if english_only and language_of(memory_text(memory)) == "other":
        return Cause.LANGUAGE
    if len(passage_spans(memory.text)) > 1 or len(memory.in_force) > _MANY_OBSERVATIONS:
        return Cause.LONG
    return Cause.OUTRANKED


def waiting(view: Snapshot, ids: Sequence[int]) -> set[int]:
    """Those of which some passage has no vector yet."""
    passages = passages_of(view, ids)
    known = vectors_of(view, [passage.id for passage in passages])
    return {passage.memory for passage in passages if passage.id not in known}


def _says_little(memory: Memory, survey: Survey) -> bool:
    return len(distinctive_terms(memory_text(memory))) < _FEWEST_TERMS or _is_common(
        memory_text(memory), survey
    )


def _is_common(text: str, survey: Survey) -> bool:
    common = max(_FEWEST_HOLDERS, _COMMON * survey.memories)
    return all(survey.holders[token] > common for token in distinctive_terms(text))


def _nearly_the_same(view: Snapshot, one: Memory, other: Memory) -> bool:
    """By words, or by the meaning of some passage of each. Talk of one sort is near in meaning as it is, so
    that only the nearest counts."""
    by_words = is_paraphrase(memory_text(one), memory_text(other))
    if by_words is not None:
        return by_words
    rows = [
        np.array(list(vectors_of(view, [passage.id for passage in passages_of(view, [each.id])]).values()))
        for each in (one, other)
    ]
    return all(map(len, rows)) and float((rows[0] @ rows[1].T).max()) >= REWORDED_COSINE


def _begins(memory: Memory) -> str:
    line = " ".join(memory_text(memory).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
