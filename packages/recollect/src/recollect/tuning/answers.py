"""Read the answer log, replay logged questions, and measure how reliable the confidence is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import sample_ids
from recollect.domain.records import AnswerFeedback, Kind, LoggedAnswer, LogSize, Memory
from recollect.domain.tables import Compares, Condition, Contains, Equals, Not, OneOf, Row, Where
from recollect.language.self_questions import keyword_question
from recollect.ranking.candidates import Profile
from recollect.ranking.profiles import DEFAULT
from recollect.search.recall import query_of, recall
from recollect.search.recording import baseline_of
from recollect.search.rows import allowed, memories_by_id, moment, scope_id
from recollect.services import EngineGroup, Services, retry_after_failover
from recollect.stores.port import Progress, Snapshot

_PAGE = 200
_COLUMNS = (
    "id", "at", "handle", "session", "query", "profile", "version", "arm", "against", "shown", "ranked",
    "baseline",
)  # fmt: skip


def logged_answers(
    snapshot: Snapshot, scope: int, profile: str, *, packed: bool = True
) -> Iterator[LoggedAnswer]:
    """Yield a profile's logged answers, oldest first. They are read page by page, to save memory.

    With `packed=False`, candidates are loaded only for answers with feedback, since reading them is slow.
    """
    after = 0
    while True:
        where = (Equals("scope_id", scope), Equals("profile", profile), Compares("id", ">", after))
        rows = snapshot.rows("answer_log", _COLUMNS, where, limit=_PAGE)
        if not rows:
            return
        yield from _answers(snapshot, rows, packed=packed)
        after = rows[-1][0]


def answer_page(snapshot: Snapshot, where: Where, limit: int) -> list[LoggedAnswer]:
    """Return matching answers, newest first. Candidates are loaded only for answers with feedback."""
    rows = snapshot.rows("answer_log", _COLUMNS, where, descending=True, limit=limit)
    return list(_answers(snapshot, rows, packed=False))


def _answers(snapshot: Snapshot, rows: Sequence[Row], *, packed: bool) -> Iterator[LoggedAnswer]:
    ids = [row[0] for row in rows]
    feedback: dict[int, list[AnswerFeedback]] = {}
    for answer, memory, kind, grade in snapshot.rows(
        "feedback",
        ("answer_id", "memory_id", "kind", "grade"),
        (OneOf("answer_id", ids),),
        order=("answer_id", "memory_id", "kind"),
    ):
        feedback.setdefault(answer, []).append(AnswerFeedback(memory, kind, float(grade)))
    wanted = ids if packed else list(feedback)
    candidates: dict[int, bytes] = dict(
        snapshot.rows("answer_log", ("id", "candidates"), (OneOf("id", wanted),))
    )
    for row in rows:
        read: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
        lists = {name: tuple(json.loads(read[name])) for name in ("shown", "ranked", "baseline")}
        yield LoggedAnswer(
            **{**read, **lists, "at": moment(read["at"])},
            candidates=candidates.get(row[0], b""),
            feedback=tuple(feedback.get(row[0], ())),
        )


def log_sizes(snapshot: Snapshot, scope: int) -> list[LogSize]:
    """Count each profile's answers: all, those that it ranked at least in part, and those with feedback."""
    judged = {answer for (answer,) in snapshot.rows("feedback", ("answer_id",))}
    sizes: dict[str, LogSize] = {}
    for id_, profile, arm in snapshot.rows(
        "answer_log", ("id", "profile", "arm"), (Equals("scope_id", scope),)
    ):
        size = sizes.get(profile, LogSize(0, 0, 0, profile))
        sizes[profile] = LogSize(
            size.events + 1, size.treated + (arm != "baseline"), size.judged + (id_ in judged), profile
        )
    return [sizes[profile] for profile in sorted(sizes)]


# How long to wait for pending log entries: longer than a writer waits for a busy store.
_PATIENCE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class ReplayedMemory:
    """The ranks of a memory (from 1) in a logged answer and in its replay; None if absent."""

    id: int
    memory: Memory | None
    """The memory itself, unless it has been purged."""
    shown: int | None
    """Rank in the answer that the caller saw."""
    ranked: int | None
    """Rank by the profile at that time."""
    baseline: int | None
    """Rank by the baseline at that time."""
    now: int | None = None
    baseline_now: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerReplay(Record):
    """A logged answer, and the ranks of its memories if its question is asked again."""

    answer: LoggedAnswer
    places: tuple[ReplayedMemory, ...]
    """Ordered by the best of each memory's ranks."""


class AnswerLog(EngineGroup):
    """`memory.answers`: the answer log, with questions, hits and feedback."""

    @retry_after_failover
    def page(
        self,
        *,
        profile: str | None = None,
        judged: bool | None = None,
        memory: int | None = None,
        contains: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> Sequence[LoggedAnswer]:
        """Return logged answers, newest first.

        Args:
            profile: Only answers of this profile.
            judged: True for only answers with feedback, False for only answers without.
            memory: Only answers with feedback on this memory.
            contains: Only answers to questions that contain this text.
            before: The id of the last answer on the previous page.
            limit: Number of answers.

        Examples:
            >>> answer = memory.recall("nuts")
            >>> [each.query for each in memory.answers.page()]
            ['nuts']
        """
        self._services.usage.settle(_PATIENCE_SECONDS)
        with self._services.read() as view:
            where: list[Condition] = [OneOf("scope_id", self._services.scope_ids(view))]
            where += [] if profile is None else [Equals("profile", profile)]
            where += [] if before is None else [Compares("id", "<", before)]
            where += [] if contains is None else [Contains("query", contains)]
            if judged is not None or memory is not None:
                with_feedback = [
                    answer
                    for (answer,) in view.rows(
                        "feedback", ("answer_id",), () if memory is None else (Equals("memory_id", memory),)
                    )
                ]
                named = OneOf("id", sorted(set(with_feedback)))
                where.append(named if judged is not False else Not(named))
            return answer_page(view, where, limit)

    @retry_after_failover
    def get(self, id: int) -> tuple[LoggedAnswer, Mapping[int, Memory]]:  # noqa: A002  # the public name
        """Return one answer, with the memories that it ranked and that still exist.

        Raises:
            NotFound: There is no such answer.

        Examples:
            >>> answer = memory.recall("nuts")
            >>> logged, memories = memory.answers.get(memory.answers.page()[0].id)
            >>> logged.shown[0] in memories
            True
        """
        self._services.usage.settle(_PATIENCE_SECONDS)
        with self._services.read() as view:
            named = (Equals("id", id), OneOf("scope_id", self._services.scope_ids(view)))
            found = answer_page(view, named, 1)
            if not found:
                raise NotFound(f"There is no answer {id} in the log; old answers are deleted from it.")
            (answer,) = found
            ids = {*answer.shown, *answer.ranked, *answer.baseline}
            return answer, memories_by_id(view, sorted(ids))

    def replay(self, id: int) -> AnswerReplay:  # noqa: A002  # the public name
        """Ask a logged question again, and return the ranks then and now, by profile and by baseline.

        Raises:
            NotFound: There is no such answer.

        Examples:
            >>> answer = memory.recall("nuts")
            >>> memory.answers.replay(memory.answers.page()[0].id).answer.query
            'nuts'
        """
        answer, memories = self.get(id)
        if not answer.query.strip():
            raise InvalidInput("The log was set to keep no questions, so this one cannot be asked again.")
        profile = self._services.profile(answer.profile)
        now = self._rank_again(answer, profile, tuned=True)
        baseline_now = self._rank_again(answer, baseline_of(self._services, profile), tuned=False)
        lists = [answer.shown, answer.ranked, answer.baseline, tuple(now), tuple(baseline_now)]
        known = {**memories, **now, **baseline_now}
        places = [{id_: place for place, id_ in reversed(list(enumerate(ids, start=1)))} for ids in lists]
        every = {id_ for ids in lists for id_ in ids}
        best_first = sorted(every, key=lambda id_: (min(found[id_] for found in places if id_ in found), id_))
        rows = (
            ReplayedMemory(id_, known.get(id_), *(found.get(id_) for found in places)) for id_ in best_first
        )
        return AnswerReplay(answer, tuple(rows))

    def _rank_again(self, answer: LoggedAnswer, profile: Profile, *, tuned: bool) -> dict[int, Memory]:
        """Search again for as many hits, without recording the search."""
        asked = query_of(
            self._services,
            answer.query,
            profile,
            limit=max(1, len(answer.ranked)),
            kinds=tuple(Kind),
            record=False,
            tuned=tuned,
        )
        return {hit.memory.id: hit.memory for hit in recall(self._services, asked, profile).hits}


# The confidence curve compares the stated confidence with the share of hits that were right.

_BINS = 10
# Fewer judgements are too few to fill ten bins.
_LEAST_JUDGED = 50
_FEW_WORDS = 4
_HITS = 5
_NEWEST = 20_000

Judge = Literal["feedback", "self-test"]


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Hits with a confidence between two bounds."""

    low: float
    high: float
    count: int
    stated: float
    """The mean confidence."""
    found: float
    """The share of hits that were right."""


@dataclass(frozen=True, slots=True)
class ConfidenceCurve(Record):
    """How often hits of each confidence were right."""

    judged_by: Judge
    """`feedback`: a hit is right if it was opened or rated well. `self-test`, with too little feedback:
    the first hit is right if the question was made from it."""
    pairs: int
    error: float
    """Mean distance between `stated` and `found`, weighted by the number of hits in each bin."""
    bins: tuple[ConfidenceBin, ...]


def confidence_curve(services: Services, sample: int, progress: Progress | None = None) -> ConfidenceCurve:
    """Measure how reliable the confidence is, by asking the last questions with feedback again.

    If there are too few, ask questions made from a sample of memories.
    """
    judged_by: Judge = "feedback"
    pairs = list(_judge_by_feedback(services, sample, progress))
    if len(pairs) < _LEAST_JUDGED:
        judged_by = "self-test"
        pairs = list(_judge_by_self_test(services, sample, progress))
    return curve_of(judged_by, pairs)


def curve_of(judged_by: Judge, pairs: list[tuple[float, bool]]) -> ConfidenceCurve:
    bins = []
    for place in range(_BINS):
        low, high = place / _BINS, (place + 1) / _BINS
        inside = [pair for pair in pairs if min(_BINS - 1, int(pair[0] * _BINS)) == place]
        if inside:
            stated = sum(confidence for confidence, _ in inside) / len(inside)
            found = sum(right for _, right in inside) / len(inside)
            bins.append(ConfidenceBin(low, high, len(inside), stated, found))
    error = sum(each.count * abs(each.stated - each.found) for each in bins) / max(1, len(pairs))
    return ConfidenceCurve(judged_by, len(pairs), error, tuple(bins))


def _judge_by_feedback(
    services: Services, sample: int, progress: Progress | None
) -> Iterator[tuple[float, bool]]:
    with services.read() as view:
        scope = Equals("scope_id", scope_id(view, services.scope))
        judged = {answer for (answer,) in view.rows("feedback", ("answer_id",))}
        answers = answer_page(view, (scope, OneOf("id", sorted(judged))), sample)
    for done, answer in enumerate(answers, start=1):
        grades = {memory: grade for memory, _, grade in answer.feedback}
        if answer.query.strip():
            for id_, confidence in _confidences(services, answer.query, max(1, len(answer.shown))).items():
                if id_ in grades:
                    yield confidence, grades[id_] > 0
        if progress is not None:
            progress(done, len(answers))


def _judge_by_self_test(
    services: Services, sample: int, progress: Progress | None
) -> Iterator[tuple[float, bool]]:
    with services.read() as view:
        own = allowed(services.unexpired(), services.scope_ids(view))
        newest = view.rows("memory", ("id",), own, descending=True, limit=_NEWEST)
        chosen = sample_ids(sorted(id_ for (id_,) in newest), 0, sample)
        memories = memories_by_id(view, chosen)
    for done, memory in enumerate(memories.values(), start=1):
        query = keyword_question(memory, _FEW_WORDS)
        if query:
            found = _confidences(services, query, _HITS)
            if found:
                first = next(iter(found))
                yield found[first], first == memory.id
        if progress is not None:
            progress(done, len(memories))


def _confidences(services: Services, query: str, limit: int) -> dict[int, float]:
    """Return the confidence of each hit that has one, best first, without recording the search."""
    profile = services.all_profiles[DEFAULT]
    answer = recall(services, query_of(services, query, profile, limit=limit, record=False), profile)
    return {hit.memory.id: hit.confidence for hit in answer.hits if hit.confidence is not None}
