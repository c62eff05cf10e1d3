"""PrecisionMemBench: whether only the requested facts come back.

Beliefs become notes, each its owner's and tagged with its scope; one that another supersedes is superseded,
and a resolved question is forgotten. A case is asked as `recall(query, tags=[scope])`, with no limit and no
threshold. As in the benchmark's own harness, pinned facts are handed over apart and are not judged, a
relation brings its participants, and several scopes are asked one by one, their hits taken in turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from statistics import fmean
from typing import TYPE_CHECKING, Any

from recollect_bench.datasets import ORIGIN, Haystack
from recollect_bench.haystack_store import open_haystack

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.stores.port import Progress
    from recollect_bench.formats.precision import Belief, Case, Expected, PrecisionFixtures
    from recollect_bench.haystack_store import BenchClock
    from recollect_bench.models import Models


@dataclass(frozen=True, slots=True)
class CaseResult:
    category: str
    found: tuple[str, ...]
    precision: float | None
    """Precision, or None if nothing was expected and nothing found."""
    recall: float | None
    """Recall, or None if nothing was expected."""
    passed: bool


@dataclass(frozen=True, slots=True)
class PrecisionFigures:
    cases: int
    precision: float | None
    """Mean over the cases that have a precision; it is 0 if something comes back and nothing should."""
    recall: float | None
    passes: int
    active_passes: int
    """Number of passes in which something was expected or found."""
    categories: Mapping[str, PrecisionFigures] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Sequence[CaseResult]) -> PrecisionFigures:
        passed = [result for result in results if result.passed]
        return cls(
            len(results),
            _mean([result.precision for result in results]),
            _mean([result.recall for result in results]),
            len(passed),
            sum(result.precision is not None for result in passed),
        )


def measure_precision(
    fixtures: PrecisionFixtures, models: Models, progress: Progress | None = None
) -> PrecisionFigures:
    results = list(_results(fixtures, models, progress))
    categories = dict.fromkeys(result.category for result in results)
    whole = asdict(PrecisionFigures.of(results)) | {
        "categories": {
            name: PrecisionFigures.of([each for each in results if each.category == name])
            for name in categories
        }
    }
    return PrecisionFigures(**whole)


def precision_json(figures: PrecisionFigures) -> dict[str, Any]:
    plain = asdict(figures)
    plain["categories"] = {
        name: {key: value for key, value in each.items() if key != "categories"}
        for name, each in plain["categories"].items()
    }
    return plain


def _results(fixtures: PrecisionFixtures, models: Models, progress: Progress | None) -> Iterator[CaseResult]:
    by_id = {belief.id: belief for belief in fixtures.beliefs}
    with open_haystack(Haystack("beliefs", (), ()), models) as stored:
        belief_of = _store(stored.engine, stored.clock, fixtures.beliefs)
        for count, case in enumerate(fixtures.cases, start=1):
            pinned = _pinned_texts(fixtures.beliefs, case, questions=False)
            found = _find_beliefs(stored.engine.scoped(case.user), case, by_id, belief_of, pinned)
            questions = _pinned_texts(fixtures.beliefs, case, questions=True)
            yield judge_case(
                case, found, pinned, questions, {each.id for each in by_id.values() if each.pinned}
            )
            if progress is not None:
                progress(count, len(fixtures.cases))


def _store(engine: Engine, clock: BenchClock, beliefs: Sequence[Belief]) -> dict[int, str]:
    """Store the beliefs in order of time, and return the belief of each memory."""
    memory_of: dict[str, int] = {}
    for belief in sorted(beliefs, key=lambda each: each.created_at or ORIGIN):
        clock.now = belief.created_at or clock.now
        note = engine.scoped(belief.user).remember(belief.text, tags=belief.scope)
        memory_of[belief.id] = note.id
    for belief in beliefs:
        owned = engine.scoped(belief.user)
        if belief.superseded_by in memory_of:
            owned.supersede(memory_of[belief.id], memory_of[belief.superseded_by], copies=False)
        elif belief.resolved_at is not None:
            owned.forget([memory_of[belief.id]])
    if engine.counts().due:
        engine.reindex()
    return {memory: id_ for id_, memory in memory_of.items()}


def _pinned_texts(beliefs: Sequence[Belief], case: Case, *, questions: bool) -> tuple[str, ...]:
    """List the pinned facts or open questions of this scope."""
    return tuple(
        each.id
        for each in beliefs
        if each.user == case.user
        and each.pinned
        and each.is_question is questions
        and each.resolved_at is None
        and (questions or each.superseded_by is None)
        and set(each.scope) & set(case.scope)
    )


def _find_beliefs(
    engine: Engine,
    case: Case,
    by_id: Mapping[str, Belief],
    belief_of: Mapping[int, str],
    pinned: Sequence[str],
) -> tuple[str, ...]:
    if not case.query.strip() or not case.budget.most_beliefs:
        return ()
    lists = [
        [
            belief_of[hit.memory.id]
            for hit in engine.recall(case.query, record=False, tags=[scope] if scope else ()).hits
        ]
        for scope in case.scope or ("",)
    ]
    in_turns = [
        id_ for place in zip_longest(*lists) for id_ in place if id_ is not None and id_ not in pinned
    ]
    direct = tuple(dict.fromkeys(in_turns))
    joined = [
        participant
        for id_ in direct
        for participant in by_id[id_].participants
        if participant in by_id and participant not in pinned and _fits(by_id[participant], case)
    ]
    room = max(0, case.budget.most_beliefs - len(pinned))
    return tuple(dict.fromkeys((*direct, *joined)))[:room]


def _fits(belief: Belief, case: Case) -> bool:
    return belief.user == case.user and not belief.is_question and bool(set(belief.scope) & set(case.scope))


def judge_case(
    case: Case, found: Sequence[str], pinned: Sequence[str], questions: Sequence[str], all_pinned: set[str]
) -> CaseResult:
    """Score the hits as the benchmark's own harness does.

    Precision and recall are over what should be found alone, or else over what must be and is not pinned.
    """
    expected = case.expect.relevant
    if expected.only is None:
        wanted = {id_ for id_ in expected.must_include if id_ not in all_pinned}
    else:
        wanted = set(expected.only)
    hits = len(wanted.intersection(found))
    passed = (
        _keeps(expected, {*found, *pinned})
        and _keeps_list(expected, found)
        and _keeps(case.expect.pinned, set(pinned))
        and _keeps(case.expect.questions, set(questions))
    )
    return CaseResult(
        case.category,
        tuple(found),
        (hits / len(found) if found else 0.0) if found or wanted else None,
        hits / len(wanted) if wanted else None,
        passed,
    )


def _keeps(expected: Expected, ids: set[str]) -> bool:
    needed = {*expected.must_include, *expected.should_include}
    return needed <= ids and not ids & set(expected.must_exclude)


def _keeps_list(expected: Expected, found: Sequence[str]) -> bool:
    place = {id_: number for number, id_ in enumerate(found)}
    return (
        (expected.only is None or set(found) == set(expected.only))
        and (expected.most is None or len(found) <= expected.most)
        and (expected.fewest is None or len(found) >= expected.fewest)
        and all(
            first in place and second in place and place[first] < place[second]
            for first, second in expected.ordered
        )
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
