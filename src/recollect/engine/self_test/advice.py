"""What to do about what a self-test found: only what its figures bear out, with the command that does it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from shlex import quote

from recollect.engine.memory_text import memory_text
from recollect.engine.self_test.findings import waiting
from recollect.engine.self_test.results import Advice, Cause, MissedMemory, ProfileComparison, ProfileResult
from recollect.ports import Snapshot
from recollect.retrieval.passages import model_in_use
from recollect.retrieval.records import memories_by_id
from recollect.text.languages import mostly_other_than_english
from recollect.text.self_questions import QuestionKind, is_in_spanish

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


def advised(
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
