"""What a self-test's misses come from, and what to do about them, with the command that does it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.memory_text import memory_text, text_preview
from recollect.engine.self_test.results import Advice, Cause, MissedMemory, ProfileComparison, ProfileResult
from recollect.ports import Snapshot
from recollect.records import Memory, Status
from recollect.retrieval.passages import model_in_use, passages_of, vectors_of
from recollect.retrieval.records import memories_by_id
from recollect.text.languages import language_of, mostly_other_than_english
from recollect.text.near_duplicates import REWORDED_COSINE, is_paraphrase, usual_cosine
from recollect.text.passages import passage_spans
from recollect.text.self_questions import QuestionKind, is_in_spanish
from recollect.text.tokens import distinctive_terms

if TYPE_CHECKING:
    from recollect.engine.self_test.sample import Survey
    from recollect.engine.self_test.trial import MissedQuestion

_FEWEST_TERMS = 3
_COMMON = 0.01
"""Share of all memories from which a word that they hold tells little."""
_FEWEST_HOLDERS = 5
_MANY_OBSERVATIONS = 20


def missed_memories(
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
                text=text_preview(memory_text(memories[id_])),
                query=one.question.query,
                first=None if first is None else first.id,
                first_text="" if first is None else text_preview(memory_text(first)),
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
    model = model_in_use(view)
    if model is None or not all(map(len, rows)):
        return False
    return usual_cosine(float((rows[0] @ rows[1].T).max()), model.name) >= REWORDED_COSINE


_MULTILINGUAL = "e5-small"
_HARDLY = 0.5
"""A recall below it calls for another way."""
# The causes, how one memory and how several suffer from them, what to do, and by which command.
_REMEDIES = (
    (
        {Cause.SET_ASIDE},
        "is weighed down because it is set aside",
        "are weighed down because they are set aside",
        "if that no longer holds, say so",
        "recollect status NAME active",
    ),
    (
        {Cause.CROWDED, Cause.REPEATED},
        "is hidden by others that say nearly the same",
        "are hidden by others that say nearly the same",
        "see what a dream would merge",
        "recollect dream --dry-run",
    ),
    (
        {Cause.LITTLE},
        "says too little to be told apart",
        "say too little to be told apart",
        "write out who and what is meant",
        "recollect update ID --text TEXT",
    ),
    (
        {Cause.LANGUAGE},
        "is in a language that the model does not know",
        "are in a language that the model does not know",
        "a multilingual one would find more",
        f"recollect reindex --model {_MULTILINGUAL}",
    ),
    (
        {Cause.LONG},
        "is long and about many things",
        "are long and about many things",
        "keep each thing as a note of its own",
        "recollect remember TEXT",
    ),
)


def advice_on(
    view: Snapshot,
    sampled: Sequence[int],
    default: ProfileResult,
    compared: Sequence[ProfileComparison],
    missed: Sequence[MissedMemory],
    languages: Collection[str] | None,
) -> tuple[Advice, ...]:
    return (
        *_on_vectors(view, sampled),
        *_on_language(view, sampled, languages),
        *_on_misses(missed),
        *_on_relations(default),
        *_on_profiles(default.name, compared),
    )


def _on_vectors(view: Snapshot, sampled: Sequence[int]) -> Iterator[Advice]:
    if model_in_use(view) is None:
        yield Advice(
            "No model is in use, so only words are compared; choose one that is ready.", "recollect models"
        )
        return
    late = len(waiting(view, sampled))
    if late:
        told = f"Of {_memories(len(sampled))}, {late:,} still lack a vector"
        yield Advice(f"{told}, so only words find {'it' if late == 1 else 'them'}.", "recollect reindex")


def _on_language(
    view: Snapshot, sampled: Sequence[int], languages: Collection[str] | None
) -> Iterator[Advice]:
    if languages is None or set(languages) != {"en"} or model_in_use(view) is None:
        return
    texts = [memory_text(memory) for memory in memories_by_id(view, sampled).values()]
    if mostly_other_than_english(texts):
        spanish = sum(map(is_in_spanish, texts)) > len(texts) / 2
        mostly = "mostly Spanish" if spanish else "mostly not in English"
        yield Advice(
            f"Your texts are {mostly}, and the model knows only English.",
            f"recollect reindex --model {_MULTILINGUAL}",
        )


def _on_misses(missed: Sequence[MissedMemory]) -> Iterator[Advice]:
    """For each cause that something can be done about."""
    for causes, one, many, then, command in _REMEDIES:
        count = sum(miss.cause in causes for miss in missed)
        if count:
            told = f"1 memory {one}" if count == 1 else f"{count:,} memories {many}"
            yield Advice(f"{told}; {then}.", command)
    beaten = next((miss for miss in missed if miss.cause is Cause.OUTRANKED), None)
    if beaten is not None:
        count = sum(miss.cause is Cause.OUTRANKED for miss in missed)
        told = f"Others fit the own words of {_memories(count)} better than {'it' if count == 1 else 'they'}"
        yield Advice(f"{told}; see why.", f"recollect why-not {quote(beaten.query)} {beaten.id}")


def _on_relations(default: ProfileResult) -> Iterator[Advice]:
    share = default.by_kind.get(QuestionKind.RELATION)
    if share is not None and share.high < _HARDLY:
        told = f"Of relations, a search finds the other end in {share.recall:.0%}"
        yield Advice(f"{told}; open the entity itself, which lists them all.", "recollect show NAME")


def _on_profiles(default: str, compared: Sequence[ProfileComparison]) -> Iterator[Advice]:
    better = [each for each in compared if each.is_better]
    if better:
        best = max(better, key=lambda each: (each.better - each.worse, each.name))
        told = f"The profile {best.name!r} finds more on your store than {default!r}"
        figures = f"{best.better:,} memories better, {best.worse:,} worse, p = {best.p:.2g}"
        yield Advice(f"{told} ({figures}); ask by it.", f"recollect search QUERY --profile {best.name}")


def _memories(number: int) -> str:
    return f"{number:,} {'memory' if number == 1 else 'memories'}"
