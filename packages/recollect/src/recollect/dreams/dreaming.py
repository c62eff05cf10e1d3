"""Dreaming: read the state, plan, test the plan on past questions, and write it in one transaction."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import datetime, timedelta
from itertools import count

import numpy as np

from recollect.domain.changes import DREAMING, CommitDream, DropLease, TakeLease, UndoDream
from recollect.domain.errors import (
    Conflict,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    Outdated,
    RecollectError,
)
from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import STALE_DAYS
from recollect.domain.numbers import sample_ids, unpack_vector
from recollect.domain.records import DreamRecord, Kind, Memory
from recollect.domain.results import MemoryLink
from recollect.domain.tables import Compares, Equals, is_null
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.phases import consolidate, downscale, fading_rows
from recollect.dreams.plan import DreamReport, GateQuestion, Plan, dream_report, judge_plan, plan
from recollect.dreams.snapshot import Copy, Draft, DreamState, DreamText, Echo, SimilarTexts
from recollect.dreams.state import (
    corrections,
    dream_journal,
    dream_records,
    dream_state,
    links_of,
    packed_fields,
    past_questions,
)
from recollect.language.self_questions import keyword_question
from recollect.language.time_phrases import time_phrases
from recollect.memories.corrections import text_with_speaker
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import DEFAULT
from recollect.review.report import consolidation_report
from recollect.review.results import kept_together, text_reference
from recollect.search.candidates import Search, gather
from recollect.search.recall import open_search, query_of
from recollect.search.recording import tuned_in
from recollect.search.rows import memories_by_id, scope_id
from recollect.search.texts import dismissed_keys, passages_of, vectors_of
from recollect.services import EngineGroup, Services, attempt_follow_up, retry_after_failover
from recollect.stores.port import Progress, Snapshot
from recollect.text.near_duplicates import contains_statement, may_repeat_error, same_statement, usual_cosine
from recollect.write.embedding import embedded_texts, embedder_of
from recollect.write.inputs import one_or_more
from recollect.write.repository import Priority, is_dead

_LEASE_SECONDS = 120.0
# Number of stages that a dream reports as progress.
_STAGES = 6
_DREAMERS = count(1)


@dataclass(frozen=True, slots=True)
class DreamResult(Record):
    """The changes that a dream made, or would make in a dry run."""

    at: datetime
    report: DreamReport
    id: int | None = None
    """The dream's id, if it was written."""
    left: tuple[int, ...] = ()
    """Memories that were edited during the dream, so the dream did not change them."""


@dataclass(frozen=True, slots=True)
class DreamOptions:
    phases: tuple[Phase, ...] = tuple(Phase)
    knobs: Knobs = field(default_factory=Knobs)
    dry_run: bool = False
    gate: bool = True
    """Test the plan on past questions, and write nothing if they would find fewer memories."""
    drop_failing: bool = False
    """Leave out a phase that the gate blames, instead of writing nothing."""


def phases_of(names: Collection[str] | None, without: Collection[str] = ()) -> tuple[Phase, ...]:
    """Return phases by name, in their own order; a single name counts as a list of one."""
    names = None if names is None else tuple(one_or_more(names, "Phases"))
    without = tuple(one_or_more(without, "Phases"))
    unknown = [name for name in (*(names or ()), *without) if name not in set(Phase)]
    if unknown:
        raise InvalidInput(f"No phase named {unknown[0][:40]!r}; there are: {', '.join(Phase)}.")
    return tuple(phase for phase in Phase if (names is None or phase in names) and phase not in without)


def dream(services: Services, options: DreamOptions, progress: Progress | None = None) -> DreamResult:
    """Dream once. Raise `Conflict` if another process dreams on the store."""
    at = services.clock()
    # With the number, two threads of one process cannot dream at the same time.
    holder = f"{services.process_id} {next(_DREAMERS)}"

    def report_stage(stage: int) -> None:
        if not options.dry_run and services.write([TakeLease(DREAMING, holder, _LEASE_SECONDS)])[0].created:
            # Another process took the lease, and may have changed the state that this one read.
            raise Conflict(
                f"Another process has the lease ({DREAMING}): this one was too slow. Nothing was changed."
            )
        if progress is not None:
            progress(stage, _STAGES)

    if options.dry_run:
        return _run_dream(services, options, at, None, report_stage)
    _take_lease(services, holder, at)
    try:
        return _run_dream(services, options, at, holder, report_stage)
    finally:
        # The dream may already be committed. A lease that cannot be released expires.
        attempt_follow_up(lambda: services.write([DropLease(DREAMING, holder)]))


def _take_lease(services: Services, holder: str, at: datetime) -> None:
    take = TakeLease(DREAMING, holder, _LEASE_SECONDS)
    try:
        services.store.apply([take], at=at)
    except Conflict:
        with services.read_everything() as view:
            held = view.rows("lease", ("holder",), (Equals("name", DREAMING),))
        dead = [other for (other,) in held if is_dead(other)]
        if not dead:
            raise
        # The process was killed during its dream, before it wrote anything.
        services.store.apply([*(DropLease(DREAMING, other) for other in dead), take], at=at)


def _run_dream(
    services: Services,
    options: DreamOptions,
    at: datetime,
    holder: str | None,
    report_stage: Callable[[int], None],
) -> DreamResult:
    # Write pending usage first, so that the dream replays it.
    services.usage.settle(None)
    report_stage(1)
    knobs = options.knobs
    with services.read() as view:
        snapshot = dream_state(view, scope_id(view, services.scope), microseconds(at), knobs.link_together)
        decided = kept_together(dismissed_keys(view, services.scope))
        snapshot = replace(snapshot, twins=tuple(_mark_kept(twins, decided) for twins in snapshot.twins))
        if Phase.PRUNE in options.phases:
            echoes = echoes_of_fading(view, services, snapshot, knobs, options.phases, decided)
            snapshot = replace(snapshot, echoes=echoes)
    report_stage(2)
    if Phase.CORRECT in options.phases:
        snapshot = replace(snapshot, copies=copies_of_errors(services, snapshot, decided))
    report_stage(3)
    planned = plan(snapshot, knobs, options.phases)
    verdict, skipped = None, tuple[Phase, ...]()
    if options.gate:
        asked = gate_questions(services, snapshot, knobs)
        verdict = judge_plan(asked, planned, knobs)
        while options.drop_failing and verdict.blame is not None:
            skipped = (*skipped, verdict.blame)
            planned = plan(snapshot, knobs, [phase for phase in options.phases if phase not in skipped])
            verdict = judge_plan(asked, planned, knobs)
    report_stage(4)
    report = dream_report(planned, verdict, tuple(map(str, skipped)))
    if Phase.REPORT in options.phases:
        report = replace(report, upkeep=consolidation_report(services, STALE_DAYS).text)
    report_stage(5)
    # A dream that changes nothing is stored only if the next one must continue from it.
    replays = bool(snapshot.replays) and Phase.CONSOLIDATE in planned.phases
    first_night = Phase.DOWNSCALE in planned.phases and Phase.DOWNSCALE not in snapshot.dreamt_at
    idle = planned.is_empty and not replays and not (first_night and len(snapshot.ids))
    if options.dry_run or idle or (verdict is not None and not verdict.has_passed):
        report_stage(_STAGES)
        return DreamResult(at, report)
    change = _commit(services, planned, report, holder)
    try:
        receipt = services.store.apply(
            [replace(change, pack_rest=packed_fields(change.field_changes))], at=at
        )
    except Outdated:
        receipt = services.store.apply([change], at=at)
    outcome = receipt.outcomes[0]
    attempt_follow_up(lambda: report_stage(_STAGES))
    return DreamResult(at, report, outcome.ids[0], outcome.left)


def _mark_kept(twins: SimilarTexts, decided: Collection[str]) -> SimilarTexts:
    """Mark texts that a person chose to keep in Review, as if they were pinned."""
    older, newer = (
        replace(said, kept=said.kept or text_reference(said.memory, said.observation) in decided)
        for said in (twins.older, twins.newer)
    )
    return replace(twins, older=older, newer=newer)


def _commit(services: Services, planned: Plan, report: DreamReport, holder: str | None) -> CommitDream:
    draft = planned.draft
    return CommitDream(
        scope=services.scope,
        through=planned.snapshot.through,
        phases=report.phases,
        report=json.dumps(asdict(report), default=str),
        field_changes=planned.field_changes(),
        pruned=draft.pruned,
        merged=draft.merged_notes,
        merged_observations=tuple(
            (one.gone.observation, one.into.observation)
            for one in draft.merges
            if one.gone.observation is not None and one.into.observation is not None
        ),
        corrected=tuple(
            (one.gone.memory, one.by) for one in draft.corrections if one.gone.observation is None
        ),
        corrected_observations=tuple(
            (one.gone.observation, one.by) for one in draft.corrections if one.gone.observation is not None
        ),
        links=tuple((link.first, link.second, link.before, link.weight) for link in draft.links),
        holder=holder,
    )


# Questions that test a dream: the last questions of users, and some made from memories


def gate_questions(services: Services, snapshot: DreamState, knobs: Knobs) -> list[GateQuestion]:
    """Return `knobs.gate_questions` questions: past ones first, then some made from memories.

    The default profile ranks all of them. The gate does not test other profiles.
    """
    with services.read() as view:
        profile = tuned_in(services, view, services.all_profiles[DEFAULT])[1]
        past = past_questions(view, scope_id(view, services.scope), knobs.gate_questions)
        # A random sample; its seed is the time of the dream.
        sampled = sample_ids(snapshot.ids.tolist(), snapshot.at, knobs.gate_questions - len(past))
        memories = memories_by_id(view, sampled)

    def ask(query: str, wanted: tuple[int, ...], *, made: bool) -> GateQuestion:
        question = query_of(services, query, profile, limit=knobs.gate_top, record=False, across=True)
        with open_search(services, question, profile) as (search, asked, _):
            found = gather(search, profile, asked)
        return GateQuestion(query, profile, wanted, found.candidates, found.query, made)

    questions: list[GateQuestion] = []
    for one in past:
        shown = tuple(id_ for id_ in one.shown[: knobs.gate_seen] if snapshot.place(id_) is not None)
        if shown:
            questions.append(ask(one.query, shown, made=False))
    made = ((keyword_question(memory), memory.id) for memory in memories.values())
    return questions + [ask(query, (id_,), made=True) for query, id_ in made if query]


# Searches of a dream: memories that repeat a fading one, and later copies of errors.

_NEAREST = 8
_MOST_ERRORS = 200
_MOST_NEW = 500


def echoes_of_fading(
    view: Snapshot,
    services: Services,
    snapshot: DreamState,
    knobs: Knobs,
    phases: Collection[Phase],
    decided: Collection[str],
) -> dict[int, tuple[Echo, ...]]:
    """For each memory that may be pruned, find the memories that say the same.

    Memories that a person chose to keep in Review are skipped, so they are not pruned.
    """
    draft = Draft.of(snapshot)
    for phase, step in ((Phase.CONSOLIDATE, consolidate), (Phase.DOWNSCALE, downscale)):
        if phase in phases:
            draft = step(snapshot, knobs, draft)
    if not knobs.prune_echo:
        return {}
    rows = ((row, int(snapshot.ids[row])) for row in fading_rows(snapshot, knobs, draft))
    return {row: _echoes(view, services, id_) for row, id_ in rows if text_reference(id_) not in decided}


def _echoes(view: Snapshot, services: Services, id_: int) -> tuple[Echo, ...]:
    """Find memories that contain everything that a memory says.

    Vectors find candidates and words decide, because models put `Alice manages Bob` near `Bob manages Alice`.
    """
    near = _nearest_memories(view, services, id_)
    memories = memories_by_id(view, [id_, *near])
    fading = memories[id_]
    # A time such as "today" means another day in a later memory.
    if any(time_phrases(text, fading.created_at) for text in _texts_of(fading)):
        return ()

    def says_all(other: Memory) -> bool:
        wholes = _texts_of(other)
        return all(any(contains_statement(whole, part) for whole in wholes) for part in _texts_of(fading))

    return tuple(
        Echo(other, cosine)
        for other, cosine in near.items()
        if memories[other].happened_at == fading.happened_at and says_all(memories[other])
    )


def _texts_of(memory: Memory) -> list[str]:
    if memory.kind is not Kind.ENTITY:
        return [text_with_speaker(memory)]
    return [f"{memory.name}: {seen.content}" for seen in memory.in_force] or [memory.name]


def _nearest_memories(view: Snapshot, services: Services, id_: int) -> dict[int, float]:
    """Return the memories that are near every passage of a memory, each with its smallest cosine."""
    where = services.unexpired()
    passages = vectors_of(view, [passage.id for passage in passages_of(view, [id_])])
    near: dict[int, float] | None = None
    for vector in passages.values():
        search = Search(view, where)
        name = "" if search.model is None else search.model[1].name
        found = {
            hit.id: usual_cosine(hit.score, name)
            for hit in search.by_meaning(vector, _NEAREST)
            if hit.id != id_
        }
        if near is None:
            near = found
        else:
            near = {other: min(cosine, found[other]) for other, cosine in near.items() if other in found}
    return dict(sorted((near or {}).items(), key=lambda item: (-item[1], item[0])))


def copies_of_errors(services: Services, snapshot: DreamState, decided: Collection[str]) -> tuple[Copy, ...]:
    """Find texts stored since the last dream that may repeat a corrected error.

    Texts that a person chose to keep in Review are skipped.
    """
    with services.read() as view:
        pairs = corrections(view, scope_id(view, services.scope), _MOST_ERRORS)
        if not pairs:
            return ()
        errors = memories_by_id(view, sorted({id_ for pair in pairs for id_ in pair}))
        # Leave out merges, which are no corrections: the survivor says the same.
        pairs = [(old, by) for old, by in pairs if not same_statement(errors[old].text, errors[by].text)]
        # The newest memories that were stored or changed since the last dream.
        rows = np.flatnonzero(snapshot.changed_at > snapshot.dreamt_at.get(Phase.CORRECT, 0))
        order = np.argsort(-snapshot.changed_at[rows], kind="stable")
        new = memories_by_id(view, sorted(snapshot.ids[rows[order][:_MOST_NEW]].tolist()))
    places = [
        (place, said)
        for memory in new.values()
        for place, said in _statements(memory)
        if text_reference(place.memory, place.observation) not in decided
    ]
    wrong = [text_with_speaker(errors[old], named_in=errors[by].text) for old, by in pairs]
    cosines = _cosines(services, wrong, [said for _, said in places])
    return tuple(
        Copy(
            place,
            said,
            wrong[error],
            errors[by].text,
            by,
            0.0 if cosines is None else cosines[error, at].item(),
        )
        for at, (place, said) in enumerate(places)
        for error, (old, by) in enumerate(pairs)
        if may_repeat_error(None if cosines is None else cosines[error, at]) and place.memory not in (old, by)
    )


def _statements(memory: Memory) -> Iterator[tuple[DreamText, str]]:
    of_program = memory.ref is not None or memory.metadata is not None
    kept = memory.pinned or memory.importance_tag is not None or of_program
    if memory.kind is not Kind.ENTITY:
        # A user restored it after it was superseded, so it must stay.
        if not any(absence.why == "superseded" for absence in memory.absences):
            yield DreamText(memory.id, memory.text, kept=kept), text_with_speaker(memory)
        return
    for seen in memory.in_force:
        if seen.corrected_by is not None:
            continue
        yield DreamText(memory.id, seen.content, seen.id, kept=kept), f"{memory.name}: {seen.content}"


def _cosines(services: Services, errors: Sequence[str], others: Sequence[str]) -> np.ndarray | None:
    """Return the cosine of each error with each text; None without a model."""
    if not errors or not others:
        return np.zeros((len(errors), len(others)))
    try:
        embedder = embedder_of(services)
        known = embedded_texts(services, embedder, [*errors, *others])
        rows, columns = (
            np.stack([unpack_vector(known[text].vector) for text in texts]) for texts in (errors, others)
        )
        cosines = rows @ columns.T
        name = embedder.model.name
        return np.array([[usual_cosine(cosine, name) for cosine in row] for row in cosines.tolist()])
    except ModelUnavailable:
        return None


# History and undo.


@dataclass(frozen=True, slots=True)
class DreamUndoResult(Record):
    """Dreams that were undone, the newest first."""

    ids: tuple[int, ...]
    changes: int
    left: tuple[int, ...]
    """Memories that were changed after the dream; undo did not change them."""


class Dreams(EngineGroup):
    """`memory.dreams`: the history of dreams in a scope, and their undo."""

    @retry_after_failover
    def history(self, limit: int = 20, before: int | None = None) -> tuple[DreamRecord, ...]:
        """Return the dreams of this scope, newest first.

        Args:
            limit: Number of dreams.
            before: Only dreams before this one.

        Examples:
            >>> dream = memory.dream()
            >>> [each.id for each in memory.dreams.history()]
            [1]
        """
        with self._services.read() as view:
            return tuple(dream_records(view, scope_id(view, self._services.scope), limit, before=before))

    @retry_after_failover
    def journal(self, id: int) -> tuple[DreamRecord, Mapping[str, object]]:  # noqa: A002  # the public name
        """Return a dream, and every change that it made, with the values before and after.

        Raises:
            NotFound: There is no such dream.

        Examples:
            >>> dream = memory.dream()
            >>> record, changes = memory.dreams.journal(1)
            >>> record.id
            1
        """
        with self._services.read() as view:
            scope = scope_id(view, self._services.scope)
            found = dream_journal(view, scope, id)
            if found is None:
                raise NotFound(f"There is no dream {id}; `recollect dream history` lists them.")
            (record,) = dream_records(view, scope, dream=id)
        return record, found

    def undo(self, id: int, *, later: bool = False) -> DreamUndoResult:  # noqa: A002  # the public name
        """Undo a dream. Values that were changed after it stay, and `left` lists their memories.

        Args:
            id: The dream.
            later: Also undo all later dreams.

        Raises:
            NotFound: There is no such dream.
            Conflict: Later dreams build on it, and `later` is off.

        Examples:
            >>> dream = memory.dream()
            >>> undone = memory.dreams.undo(1)
        """
        ids = undone_with(self._services, id)
        wanted = ids if later and id in ids else (id,)
        outcomes = self._services.write([UndoDream(self._services.scope, each) for each in wanted])
        return DreamUndoResult(
            wanted,
            sum(outcome.count for outcome in outcomes),
            tuple(sorted({left for outcome in outcomes for left in outcome.left})),
        )


@retry_after_failover
def undone_with(services: Services, id_: int) -> tuple[int, ...]:
    """Return a dream and the later ones, newest first: the dreams that `undo` with `later` undoes."""
    with services.read() as view:
        scope = Equals("scope_id", scope_id(view, services.scope))
        since = (scope, Compares("id", ">=", id_), is_null("undone_at"))
        return tuple(each for (each,) in view.rows("dream", ("id",), since, descending=True))


@retry_after_failover
def linked_memories(services: Services, id_: int) -> tuple[MemoryLink, ...]:
    """Return the memories that dreams linked with this one, strongest link first."""
    memory = services.memory(id_)
    with services.read() as view:
        found = {other: weight for _, other, weight in links_of(view, [memory.id])}
        others = memories_by_id(view, list(found))
    best_first = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple(MemoryLink(others[other], weight) for other, weight in best_first)


# Automatic dreams, in the background after an answer. No daemon is needed.

Backup = Callable[[datetime], None]
"""Called with the time before every dream; makes one backup a day."""

_log = logging.getLogger(__name__)
# How long to wait if another process is dreaming.
_PATIENCE = timedelta(minutes=5)


class DreamCancelled(Exception):
    """The memory is closing, and the dream was not written yet."""


class DreamScheduler:
    """Starts a dream when it is due; at most one at a time."""

    def __init__(self, services: Services, every: timedelta, backup: Backup | None = None) -> None:
        self._services = services
        self._every = every
        self._backup = backup
        self._lock = threading.Lock()
        self._next: datetime | None = None
        self._is_submitted = False

    def run_if_due(self) -> None:
        """Submit a dream if it is time. Called after each answer; returns at once."""
        now = self._services.clock()
        with self._lock:
            if self._is_submitted or (self._next is not None and now < self._next):
                return
            self._next = now + self._every
            self._is_submitted = self._services.worker.submit(Priority.DREAM, self._run)

    def _run(self) -> None:
        try:
            self._dream()
        except DreamCancelled:
            _log.info("A dream was cancelled because the memory was closed.")
        except Conflict:
            self._retry_at(self._services.clock() + _PATIENCE)
        except RecollectError as error:
            _log.warning("The dream failed: %s", error)
        except Exception:  # noqa: BLE001  # no caller waits for a background dream
            _log.exception("The dream failed")
        finally:
            with self._lock:
                self._is_submitted = False

    def _dream(self) -> None:
        if self._services.worker.stopping.is_set():
            raise DreamCancelled
        now = self._services.clock()
        # After an undo, too, wait for the full interval.
        due = max((each.undone_at or each.at for each in Dreams(self._services).history(1)), default=None)
        if due is not None and now < due + self._every:
            self._retry_at(due + self._every)
            return
        if self._backup is not None:
            self._backup(now)
        options = DreamOptions(phases=self._services.phases, knobs=self._services.knobs, drop_failing=True)
        done = dream(self._services, options, self._step)
        for phase in done.report.skipped:
            _log.warning("The dream left out %s: past questions would have found fewer memories.", phase)

    def _step(self, done: int, of: int | None) -> None:
        # At the last step, the dream is already written.
        if self._services.worker.stopping.is_set() and done != of:
            raise DreamCancelled

    def _retry_at(self, at: datetime) -> None:
        with self._lock:
            self._next = at
