"""The log of answers as a person reads it, and the same question asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.conditions import Compares, Condition, Contains, Equals, Not, OneOf
from recollect.engine.recall import query_of, recall
from recollect.engine.services import Services, asks_again
from recollect.engine.shadow import baseline_of
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.ranking.pipeline import Profile
from recollect.records import Kind, LoggedAnswer, Memory
from recollect.retrieval.answer_log import answer_page
from recollect.retrieval.records import memories_by_id

# For the log to hold what was just answered: longer than a busy store keeps a writer waiting.
_PATIENCE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class ReplayedMemory:
    """Where a memory stood then, and where it stands now; None: nowhere."""

    id: int
    memory: Memory | None
    """None: it was purged since."""
    shown: int | None
    """In the answer as the caller saw it."""
    ranked: int | None
    """By the profile, then."""
    baseline: int | None
    """By what the profile was compared with, then."""
    now: int | None
    baseline_now: int | None


@dataclass(frozen=True, slots=True)
class AnswerReplay:
    answer: LoggedAnswer
    places: tuple[ReplayedMemory, ...]
    """By the best place that each has anywhere."""


@dataclass(frozen=True, slots=True)
class AnswerLog:
    """`memory.answers`: what was asked, what was shown, and what became of it."""

    services: Services

    @asks_again
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
        """Answers, the newest first: of a profile, with or without feedback, with feedback on a memory, or to
        questions that contain a text. `before` is the number of the last one that was seen."""
        self.services.usage.settle(_PATIENCE_SECONDS)
        with self.services.read() as view:
            where: list[Condition] = [OneOf("scope_id", self.services.scope_ids(view))]
            where += [] if profile is None else [Equals("profile", profile)]
            where += [] if before is None else [Compares("id", "<", before)]
            where += [] if contains is None else [Contains("query", contains)]
            if judged is not None or memory is not None:
                with_feedback = [
                    answer
                    for (answer,) in view.rows(
                        "feedback", ("shadow_id",), () if memory is None else (Equals("memory_id", memory),)
                    )
                ]
                named = OneOf("id", sorted(set(with_feedback)))
                where.append(named if judged is not False else Not(named))
            return answer_page(view, where, limit)

    @asks_again
    def get(self, id: int) -> tuple[LoggedAnswer, Mapping[int, Memory]]:  # noqa: A002  # the domain's word
        """One answer, with the memories that it ranked and that are still there."""
        self.services.usage.settle(_PATIENCE_SECONDS)
        with self.services.read() as view:
            named = (Equals("id", id), OneOf("scope_id", self.services.scope_ids(view)))
            found = answer_page(view, named, 1)
            if not found:
                raise NotFound(f"There is no answer {id} in the log; it may have been dropped as too old.")
            (answer,) = found
            ids = {*answer.shown, *answer.ranked, *answer.baseline}
            return answer, memories_by_id(view, sorted(ids))

    def replay(self, id: int) -> AnswerReplay:  # noqa: A002  # the domain's word
        """The same question now, by the profile and by what it is compared with, beside what it gave then."""
        answer, memories = self.get(id)
        if not answer.query.strip():
            raise InvalidInput("The log keeps no questions here, so that this one cannot be asked again.")
        profile = self.services.profile(answer.profile)
        now = self._ranked(answer, profile, tuned=True)
        shadow = self._ranked(answer, baseline_of(self.services, profile), tuned=False)
        lists = [answer.shown, answer.ranked, answer.baseline, tuple(now), tuple(shadow)]
        known = {**memories, **now, **shadow}
        places = [{id_: place for place, id_ in reversed(list(enumerate(ids, start=1)))} for ids in lists]
        every = {id_ for ids in lists for id_ in ids}
        best_first = sorted(every, key=lambda id_: (min(found[id_] for found in places if id_ in found), id_))
        return AnswerReplay(
            answer,
            tuple(
                ReplayedMemory(id_, known.get(id_), *(found.get(id_) for found in places))
                for id_ in best_first
            ),
        )

    def _ranked(self, answer: LoggedAnswer, profile: Profile, *, tuned: bool) -> dict[int, Memory]:
        """As many as then, best first, without leaving a trace."""
        asked = query_of(
            self.services,
            answer.query,
            profile,
            limit=max(1, len(answer.ranked)),
            kinds=tuple(Kind),
            record=False,
            tuned=tuned,
        )
        return {hit.memory.id: hit.memory for hit in recall(self.services, asked, profile).hits}
