"""The step for what held at another time: of two that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.text.question_tense import QuestionTense, question_tense

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates, Floats

# By so much, at least, the one that wins stands above the other: more than any rounding.
_HAIR = 1e-9


@dataclass(frozen=True, slots=True)
class NewestWins:
    """Of two candidates that contradict each other, put the later one above the earlier one.

    The one that wins gets the other's score, if that is higher, and a hair more. The one that loses falls by
    `fall` of what it was ahead; by `fall_now` where the query asks for what holds now. A query that asks for
    what held before turns it round: what is current comes last, then the later of the others first. Where a
    query names a time, what held then wins: the last that is no later than the end of that time, else the
    first after it. What the query does not ask for stays where it is, and so does what the user set aside.
    """

    fall: float = 0.0
    fall_now: float = 0.5

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        decided = list(self._decided(candidates, query))
        if not decided:
            return candidates
        moved = _reordered(candidates.score, decided) - candidates.score
        return candidates.with_change("newest wins", "plus", moved) if moved.any() else candidates

    def _decided(self, candidates: Candidates, query: Query) -> Iterator[tuple[int, int, float]]:
        """The rows of who loses and who wins, and by what share of its lead the first falls."""
        pairs = candidates.contradictions
        queries = query.queries
        tenses = [question_tense(each.text) for each in queries] if len(pairs.older) else []
        older, newer = candidates.rows_of(pairs.older), candidates.rows_of(pairs.newer)
        outdated = set(pairs.older.tolist())
        status = candidates.facts.status.tolist()
        rows = zip(
            older.tolist(),
            newer.tolist(),
            pairs.newer.tolist(),
            pairs.since.tolist(),
            pairs.asked.tolist(),
            strict=True,
        )
        for old, new, new_place, since, asked in rows:
            if old < 0 or new < 0 or not asked:
                continue
            of = 0 if candidates.query is None else int(candidates.query[old])
            span = queries[of].span
            if span is not None:
                turned = since >= span[1]
            else:
                turned = tenses[of] is QuestionTense.PAST and new_place not in outdated
            fall = self.fall_now if tenses[of] is QuestionTense.NOW else self.fall
            loser, winner = (new, old) if turned else (old, new)
            # What the user set aside does not win over what was not.
            if status[winner] <= status[loser]:
                yield loser, winner, fall


def _reordered(score: Floats, decided: Sequence[tuple[int, int, float]]) -> Floats:
    """The scores in which each winner stands above all that lose against it."""
    ranked = score.copy()
    leading = [(loser, winner, fall) for loser, winner, fall in decided if score[loser] >= score[winner]]
    for loser, winner, fall in leading:
        ranked[loser] = min(ranked[loser], score[loser] - fall * (score[loser] - score[winner]))
    for loser, winner, _ in leading:
        ranked[winner] = max(ranked[winner], score[loser] + _HAIR)
    # One may win here and lose there. Where some go by their own words and others by when they were told,
    # they may even form a circle: so not for ever.
    for _ in decided:
        behind = [(loser, winner) for loser, winner, _ in decided if ranked[winner] < ranked[loser] + _HAIR]
        if not behind:
            break
        for loser, winner in behind:
            ranked[winner] = max(ranked[winner], ranked[loser] + _HAIR)
    return ranked
