"""Where what another store learnt belongs here: under the ids that its memories have in this store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.learnt import Learnt, LearntAnswer, LearntNumbers, LearntRecall, LearntUsage
from recollect.transfer.id_map import IdMap

if TYPE_CHECKING:
    from recollect.changes import Outcome


class LearntPlaces:
    """Tells each value's place, given those of the memories."""

    def __init__(self, memories: IdMap, *, fresh: bool) -> None:
        self._memories = memories
        self._fresh = fresh
        self._versions = IdMap()
        """Of tuned numbers."""

    def placed(self, learnt: Learnt) -> tuple[Learnt | None, str | None]:
        """The value with ids of this store, None where it has no place; and what of it is left out."""
        match learnt:
            case LearntUsage():
                return self._usage(learnt)
            case LearntRecall():
                return self._recall(learnt)
            case LearntAnswer():
                return self._answer(learnt)
            case _:
                return learnt, None

    def note(self, learnt: Learnt, outcome: Outcome) -> None:
        if isinstance(learnt, LearntNumbers) and outcome.ids:
            self._versions.add(learnt.id, outcome.ids[0])

    def _usage(self, learnt: LearntUsage) -> tuple[Learnt | None, str | None]:
        here = self._memories.get(learnt.memory)
        if here is None:
            return None, _missing(learnt.memory)
        together = tuple(
            replace(each, memory=other)
            for each in learnt.together
            if (other := self._memories.get(each.memory)) not in {None, here}
        )
        links = tuple(
            replace(each, memory=other)
            for each in learnt.links
            if (other := self._memories.get(each.memory)) not in {None, here}
        )
        lost = len(learnt.together) + len(learnt.links) - len(together) - len(links)
        reason = f"Left out: {lost} of its pairs, which are not in the file." if lost else None
        return replace(learnt, memory=here, together=together, links=links), reason

    def _recall(self, learnt: LearntRecall) -> tuple[Learnt | None, str | None]:
        places = learnt.places or range(1, len(learnt.memories) + 1)
        known: dict[int, int] = {}
        for memory, place in zip(learnt.memories, places, strict=True):
            here = self._memories.get(memory)
            if here is not None:
                known.setdefault(here, place)
        if learnt.memories and not known:
            return None, _missing(learnt.memories[0])
        lost = len(learnt.memories) - len(known)
        reason = f"Left out: {lost} of its memories, which are not in the file." if lost else None
        return replace(learnt, memories=tuple(known), places=tuple(known.values())), reason

    def _answer(self, learnt: LearntAnswer) -> tuple[Learnt | None, str | None]:
        """What the ranking read is packed with the ids of then: it holds where all of them are the same."""
        version = self._versions.get(learnt.version) if learnt.version else 0
        if version is None:
            return None, f"Left out: the tuned numbers {learnt.version} that ranked it are not in this store."
        if self._fresh:
            feedback = tuple(each for each in learnt.feedback if self._memories.get(each.memory))
            lost = len(learnt.feedback) - len(feedback)
            reason = f"Left out: {lost} of its feedback, on memories not in the file." if lost else None
            return replace(learnt, version=version, feedback=feedback), reason
        if any(self._memories.get(id_) != id_ for id_ in _ids_of(learnt)):
            return None, "Left out: its memories have other ids here, and the answer uses the old ids."
        return replace(learnt, version=version), None


def _ids_of(answer: LearntAnswer) -> set[int]:
    from recollect.engine.packed import unpack  # noqa: PLC0415  # loads NumPy; few imports need it
    from recollect.errors import InvalidInput  # noqa: PLC0415

    ids = {*answer.shown, *answer.ranked, *answer.baseline, *(each.memory for each in answer.feedback)}
    try:
        return ids.union(unpack(answer.candidates)[0].facts.ids.tolist())
    except InvalidInput:
        return ids  # of another version, which nobody can rank again


def _missing(memory: int) -> str:
    return f"Left out: the file has no memory {memory}."
