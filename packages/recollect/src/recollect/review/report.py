"""The consolidation report: duplicates, splits and stale entities of a graph. It changes nothing."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from recollect.domain.errors import InvalidInput, ModelUnavailable
from recollect.domain.limits import clean_share
from recollect.domain.records import Kind, Memory, Observation, Status
from recollect.domain.tables import is_set
from recollect.memories.graph import entity_named
from recollect.memories.observations import memory_pages, stored_vectors, with_missing_vectors
from recollect.ranking.candidates import NEVER
from recollect.ranking.factors import microseconds
from recollect.review.results import (
    ConsolidationReport,
    DuplicateGroup,
    DuplicatePair,
    Duplicates,
    FlaggedNote,
    FlaggedObservation,
    Match,
    OversizedEntity,
    StaleEntity,
    decision_key,
    text_reference,
)
from recollect.review.split import analyze_entities, big_entities
from recollect.search.contradictions import contradictions_among, open_contradictions, texts_of
from recollect.search.facts import ranking_facts
from recollect.search.recall import text_preview
from recollect.search.rows import MemoryRows, allowed, memories_by_id, moment, scope_id
from recollect.search.texts import dismissed_keys, model_row
from recollect.services import Services
from recollect.stores.port import Embedder, Progress, Snapshot, Vector
from recollect.text.near_duplicates import contained_pairs, has_meaning, text_key, usual_cosine
from recollect.text.phrases import entities_text, one_line, quantity, quoted
from recollect.write.embedding import embedder_or_reason

_MOST_DAYS = 36_500
_MAX_ROWS = 10
_MAX_COMPARED = 2_000
"""Number of newest observations, and of newest notes, that are compared for contradictions."""


def consolidation_report(
    services: Services, stale_days: float, progress: Progress | None = None
) -> ConsolidationReport:
    """Report on one snapshot of the store, without dismissed items."""
    days: object = stale_days
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 <= days <= _MOST_DAYS:
        raise InvalidInput(f"`stale_days` is a number of days from 0 to {_MOST_DAYS:,}, not {days!r}.")
    # Write pending usage first, so that the report includes it.
    services.usage.settle(services.usage.patience_seconds)
    now = services.clock()
    counts: Counter[str] = Counter()
    flagged: list[FlaggedObservation] = []
    stale: list[StaleEntity] = []
    large: list[tuple[Memory, Mapping[int, Vector]]] = []
    names: dict[int, str] = {}
    newest: deque[Memory] = deque(maxlen=_MAX_COMPARED)
    with services.read() as view:
        dismissed = dismissed_keys(view, services.scope)
        for page in memory_pages(services, view, Kind.ENTITY, progress):
            counts["entities"] += len(page)
            counts["observations"] += sum(len(entity.in_force) for entity in page)
            flagged += (flag for entity in page for flag in _flagged_observations(entity, dismissed))
            large += big_entities(view, page)
            idle = stale_entities(view, page, now, timedelta(days=stale_days))
            stale += (each for each in idle if decision_key("stale", str(each.id)) not in dismissed)
            names |= {entity.id: entity.name for entity in page}
            newest.extend(entity for entity in page if entity.in_force)
        observed = [text for entity in newest for text in texts_of(entity)][-_MAX_COMPARED:]
        in_force = allowed(services.unexpired(Kind.NOTE), [scope_id(view, services.scope)])
        counts["notes"] = view.count("memory", in_force)[None]
        similar = [id_ for (id_,) in view.rows("memory", ("id",), (*in_force, is_set("similar_to")))]
        notes = list(_flagged_notes(view, list(memories_by_id(view, similar).values()), dismissed))
        last = view.rows("memory", ("id",), in_force, descending=True, limit=_MAX_COMPARED)
        recent = memories_by_id(view, sorted(id_ for (id_,) in last))
        noted = [text for note in recent.values() for text in texts_of(note)]
        pairs = contradictions_among(view, [*observed, *noted], model_row(view))
        contradictions = open_contradictions(pairs, names, dismissed)
    analysed = analyze_entities(services, large, progress)
    found = [each for each in analysed if decision_key("split", str(each.id)) not in dismissed]
    report = ConsolidationReport(
        at=now,
        stale_days=stale_days,
        entities=counts["entities"],
        observations=counts["observations"],
        notes=counts["notes"],
        split_candidates=tuple(each for each in found if each.needs_split),
        flagged_observations=tuple(flagged),
        flagged_notes=tuple(notes),
        stale=tuple(sorted(stale, key=lambda entity: (-entity.days, entity.id))),
        oversized=tuple(
            OversizedEntity(each.id, each.name, each.type, each.observations, each.limit)
            for each in found
            if not each.needs_split
        ),
        text="",
        contradictions=contradictions,
    )
    return replace(report, text="\n".join(_lines(report)))


def _flagged_observations(entity: Memory, dismissed: Collection[str]) -> Iterator[FlaggedObservation]:
    """Yield similar observations if both are current."""
    current = {seen.id: seen for seen in entity.in_force}
    for seen in entity.in_force:
        if seen.similar_to not in current:
            continue
        references = (text_reference(entity.id, id_) for id_ in (seen.similar_to, seen.id))
        if decision_key("similar_observations", *references) not in dismissed:
            yield FlaggedObservation(entity.id, entity.name, seen, current[seen.similar_to])


def _flagged_notes(view: Snapshot, notes: list[Memory], dismissed: Collection[str]) -> Iterator[FlaggedNote]:
    others = memories_by_id(view, sorted({note.similar_to for note in notes if note.similar_to is not None}))
    for note in notes:
        other = others.get(note.similar_to or 0)
        if other is None or other.deleted_at is not None or other.superseded_at is not None:
            continue
        if decision_key("similar_notes", str(other.id), str(note.id)) not in dismissed:
            yield FlaggedNote(note.id, note.text, other.id, other.text, note.similarity or 0.0)


def stale_entities(
    view: Snapshot, page: Sequence[Memory], now: datetime, unseen_for: timedelta
) -> Iterator[StaleEntity]:
    """Yield entities of a page that were neither shown nor changed for longer than `unseen_for`."""
    facts = ranking_facts(MemoryRows(view), [entity.id for entity in page], "", None, microseconds(now))
    seen = dict(zip(facts.ids.tolist(), facts.last_access.tolist(), strict=True))
    times = dict(zip(facts.ids.tolist(), facts.access_count.tolist(), strict=True))
    for entity in page:
        last = None if seen[entity.id] == NEVER else moment(seen[entity.id])
        idle = now - max(entity.updated_at, last or entity.updated_at)
        if idle > unseen_for and entity.status is not Status.ARCHIVED:
            yield StaleEntity(
                id=entity.id,
                name=entity.name,
                type=entity.type,
                status=entity.status,
                observations=len(entity.in_force),
                updated_at=entity.updated_at,
                last_seen=last,
                times_seen=times[entity.id],
                days=idle.days,
            )


def _lines(report: ConsolidationReport) -> Iterator[str]:
    observations, notes = quantity(report.observations, "observation"), quantity(report.notes, "note")
    yield f"{entities_text(report.entities)}, {observations}, {notes}."
    sections = (
        (
            "Open contradictions, each with the command that retires the older one",
            [
                f"{_preview(each.older_text)} / {_preview(each.newer_text)}: {one_line(each.command)}"
                for each in report.contradictions
            ],
        ),
        (
            "Too large, with topics to split by",
            [
                f"{_oversized(each)}; topics: {', '.join(quoted(topic.name) for topic in each.topics)}"
                for each in report.split_candidates
            ],
        ),
        ("Too large, with a single topic", [_oversized(each) for each in report.oversized]),
        (
            "Observations that nearly repeat another",
            [
                f"{quoted(each.entity)}: {_preview(each.observation.content)} ~ "
                f"{_preview(each.similar.content)}"
                for each in report.flagged_observations
            ],
        ),
        (
            "Notes that nearly repeat another",
            [
                f"{each.id}: {_preview(each.text)} ~ {each.similar_to}: {_preview(each.similar_text)}"
                for each in report.flagged_notes
            ],
        ),
        (
            f"Neither seen nor changed for {report.stale_days:g} days",
            [f"{_entity(each)}: {quantity(each.days, 'day')}" for each in report.stale],
        ),
    )
    for title, rows in sections:
        if rows:
            yield f"\n{title}: {len(rows)}"
            yield from (f"- {row}" for row in rows[:_MAX_ROWS])
            if len(rows) > _MAX_ROWS:
                yield f"- and {len(rows) - _MAX_ROWS} more"
    if not any(rows for _, rows in sections):
        yield "Nothing to tidy."


def _entity(each: OversizedEntity | StaleEntity) -> str:
    return f"{quoted(each.name)} ({quoted(each.type)})"


def _oversized(each: OversizedEntity) -> str:
    return f"{_entity(each)}: {each.observations} observations, at most {each.limit}"


def _preview(text: str) -> str:
    return quoted(text_preview(text))


# Duplicates: similar observations of one entity. The caller decides about them.

MOST_PAIRS = 10_000
# Comparing plain contents costs an embedding each, so only likely pairs are compared. Stored vectors include
# the entity's name and so are more similar. Pairs this close to the threshold count as likely.
_SLACK = 0.1
_COMPARED = 8
_BLOCK = 512


def find_duplicate_observations(
    services: Services,
    entity: str | None,
    *,
    threshold: float,
    containment: float,
    limit: int,
    progress: Progress | None = None,
) -> Duplicates:
    """Find pairs of similar current observations, of one entity or of all."""
    for share, what in ((threshold, "threshold"), (containment, "containment")):
        if clean_share(share, what) == 0:
            raise InvalidInput(f"The {what} must be above 0: at 0, every pair would match.")
    most: object = limit
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_PAIRS:
        raise InvalidInput(f"The limit is a number of pairs from 1 to {MOST_PAIRS:,}, not {most!r}.")
    embedder, note = embedder_or_reason(services)
    pairs: list[DuplicatePair] = []
    observation_count = 0
    for page, comparable, stored in _read_entities(services, entity, progress):
        observation_count += sum(len(each.in_force) for each in page)
        if embedder is not None:
            try:
                rows = with_missing_vectors(stored, comparable, embedder)
                pairs += _pairs(comparable, rows, embedder, threshold, containment)
                continue
            except ModelUnavailable as error:
                embedder, note = None, str(error)
        pairs += _pairs(comparable, {}, None, threshold, containment)
    pairs.sort(key=lambda pair: (-pair.similarity, pair.entity_id, pair.older.id, pair.newer.id))
    shown = tuple(pairs[:limit])
    return Duplicates(shown, _groups(shown), observation_count, len(pairs) - len(shown), note)


def _read_entities(
    services: Services, entity: str | None, progress: Progress | None
) -> Iterator[tuple[Sequence[Memory], Sequence[Memory], Mapping[int, Vector]]]:
    """Yield pages: the entities, those with at least two observations, and their stored vectors."""
    id_ = None if entity is None else entity_named(services, entity)
    with services.read() as view:
        chosen = (
            memory_pages(services, view, Kind.ENTITY, progress)
            if id_ is None
            else [list(memories_by_id(view, [id_]).values())]
        )
        for page in chosen:
            comparable = [each for each in page if len(each.in_force) > 1]
            yield page, comparable, stored_vectors(view, comparable)


def _pairs(
    entities: Sequence[Memory],
    rows: Mapping[int, Vector],
    embedder: Embedder | None,
    threshold: float,
    containment: float,
) -> Iterator[DuplicatePair]:
    """Yield pairs with their strongest match: same words, else meaning, else contained words."""
    likely: dict[int, list[tuple[int, int]]] = {}
    # Vectors of the plain contents: the shared name of the entity would make all similar.
    plain: dict[str, Vector] = {}
    if embedder is not None:
        likely = {entity.id: list(_likely(entity.in_force, rows, threshold)) for entity in entities}
        wanted = dict.fromkeys(
            entity.in_force[place].content
            for entity in entities
            for place in sorted({place for pair in likely[entity.id] for place in pair})
        )
        plain = dict(zip(wanted, embedder.documents(list(wanted)), strict=True)) if wanted else {}
    for entity in entities:
        seen = entity.in_force
        texts = [each.content for each in seen]
        found: dict[tuple[int, int], tuple[float, Match]] = {
            pair: (share, "containment") for pair, share in contained_pairs(texts, containment).items()
        }
        for one, other in likely.get(entity.id, ()):
            # Rounding may push a cosine above 1.
            cosine = min(1.0, float(plain[texts[one]] @ plain[texts[other]]))
            cosine = cosine if embedder is None else usual_cosine(cosine, embedder.model.name)
            if cosine >= threshold:
                found[one, other] = (cosine, "cosine")
        first: dict[int, int] = {}
        for place, text in enumerate(texts):
            one = first.setdefault(text_key(text), place)
            if one != place:
                found[one, place] = (1.0, "same")
        for (one, other), (similarity, match) in found.items():
            yield DuplicatePair(entity.id, entity.name, seen[one], seen[other], similarity, match)


def _likely(
    observations: Sequence[Observation], rows: Mapping[int, Vector], threshold: float
) -> Iterator[tuple[int, int]]:
    """Yield likely pairs by stored vectors: each observation with the nearest few before it."""
    with_meaning = [place for place, seen in enumerate(observations) if has_meaning(seen.content)]
    if len(with_meaning) < 2:
        return
    matrix = np.stack([rows[observations[place].id] for place in with_meaning])
    for start in range(0, len(with_meaning), _BLOCK):
        block = matrix[start : start + _BLOCK]
        cosines = block @ matrix[: start + len(block)].T
        cosines[np.triu_indices(len(block), start, cosines.shape[1])] = -np.inf
        nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :_COMPARED]
        for row, others in enumerate(nearest.tolist()):
            for other in others:
                if cosines[row, other] >= threshold - _SLACK:
                    yield with_meaning[other], with_meaning[start + row]


def _groups(pairs: Iterable[DuplicatePair]) -> tuple[DuplicateGroup, ...]:
    groups: dict[int, dict[int, Observation]] = {}
    names: dict[int, tuple[int, str]] = {}
    for pair in pairs:
        joined = {
            **groups.get(pair.older.id, {pair.older.id: pair.older}),
            **groups.get(pair.newer.id, {pair.newer.id: pair.newer}),
        }
        for id_ in joined:
            groups[id_], names[id_] = joined, (pair.entity_id, pair.entity)
    by_first = {min(members): members for members in groups.values()}
    return tuple(
        DuplicateGroup(*names[first], tuple(members[id_] for id_ in sorted(members)))
        for first, members in sorted(by_first.items(), key=lambda group: (names[group[0]][0], group[0]))
    )
