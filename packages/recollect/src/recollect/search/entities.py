"""Find entities by name, by a text that names them, by a relation, or by a text that they contain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from recollect.domain.records import Found
from recollect.domain.tables import IN_FORCE, Compares, Condition, Equals, OneOf, is_null, null_or_after
from recollect.search.rows import PastState, allowed, scope_ids, starts_or_ends_at
from recollect.stores.port import Snapshot
from recollect.text.names import NameText, choose_names, first_name, is_written_in
from recollect.text.tokens import coarse_stem, content_words, fold, has_unspaced, words

if TYPE_CHECKING:
    from recollect.domain.records import Filter

# Only this many relations count, the newest first.
_MOST_RELATIONS = 1_000
# The least score of a related entity, even if the query does not mention the relation.
_LEAST_SCORE = 0.25
_MOST_ALIKE = 5


def live_entities(scope: int) -> tuple[Condition, ...]:
    return Equals("scope_id", scope), Equals("kind", "entity"), is_null("deleted_at")


def exact_entity(snapshot: Snapshot, scope: int, name: str) -> int | None:
    rows = snapshot.rows("memory", ("id",), (*live_entities(scope), Equals("name", name)))
    return int(rows[0][0]) if rows else None


def find_entity(snapshot: Snapshot, scope: int, name: str) -> int | None:
    """Return the entity of exactly this name, or the only one that differs in case or accents."""
    exact = exact_entity(snapshot, scope, name)
    if exact is not None:
        return exact
    alike = snapshot.rows(
        "memory", ("id",), (*live_entities(scope), Equals("folded_name", fold(name))), limit=2
    )
    return int(alike[0][0]) if len(alike) == 1 else None


def entities_named(snapshot: Snapshot, scope: int, names: Iterable[str]) -> dict[str, int]:
    """Return entities by name: the exact one, or the only one that differs in case or accents."""
    found = {name: find_entity(snapshot, scope, name) for name in names}
    return {name: id_ for name, id_ in found.items() if id_ is not None}


def names_alike(snapshot: Snapshot, scope: int, name: str) -> list[str]:
    """Return names that differ from this one only in case or accents."""
    same = (*live_entities(scope), Equals("folded_name", fold(name)))
    return [other for (other,) in snapshot.rows("memory", ("name",), same, limit=_MOST_ALIKE)]


def has_entities(snapshot: Snapshot, scope: int) -> bool:
    return bool(snapshot.rows("memory", ("id",), live_entities(scope), limit=1))


def entities_named_in(snapshot: Snapshot, scope: int, said: str) -> set[int]:
    if not has_entities(snapshot, scope):
        return set()
    return named_in_each(snapshot, scope, [NameText.of(said)])[0]


def named_in_each(snapshot: Snapshot, scope: int, texts: Sequence[NameText]) -> list[set[int]]:
    """Return the entities that each text names.

    The cost depends on the texts, not on the number of entities. A first query returns the words of the texts
    that begin a name, a second one the phrases from there that are names. A first name means the person whose
    name begins with it, if there is only one.
    """
    found = set[str]().union(*(text.beginnings() for text in texts))
    firsts = {word[0] for word in found if has_unspaced(word[0])}
    begin_so = (*live_entities(scope), OneOf("first_word", found | firsts))
    begun = {word for (word,) in snapshot.rows("memory", ("first_word",), begin_so)}
    # In a script without spaces, the first letter marks a name.
    beginnings = {word for word in found if word in begun or (has_unspaced(word[0]) and word[0] in begun)}
    places = [tuple(text.places(beginnings)) for text in texts]
    names = {place.name for each in places for place in each}
    known: dict[str, list[tuple[int, str]]] = {}
    if names:
        called = (*live_entities(scope), OneOf("folded_name", names))
        rows = snapshot.rows("memory", ("folded_name", "id", "name"), called, order=("id",))
        for folded, id_, name in rows:
            known.setdefault(folded, []).append((id_, name))
    first_names = [tuple(text.first_names(beginnings - known.keys())) for text in texts]
    people = {
        name: person
        for name in sorted({place.name for each in first_names for place in each})
        if (person := person_called(snapshot, scope, name)) is not None
    }
    named = []
    for text, own, first in zip(texts, places, first_names, strict=True):
        meant = {place: people[place.name] for place in first if place.name in people}
        for place in own:
            alike = known.get(place.name, ())
            # Of names that differ only in case or accents, take the one spelled as in the text.
            exact = [entity for entity in alike if len(alike) > 1 and is_written_in(text.original, entity[1])]
            chosen = exact or alike
            if len(chosen) == 1:
                meant[place] = chosen[0]
        count = choose_names(text, {place: name for place, (_, name) in meant.items()})
        named.append({meant[place][0] for place in count})
    return named


def person_called(snapshot: Snapshot, scope: int, name: str) -> tuple[int, str] | None:
    """Return the id and name of the only entity whose name begins with this word, if it may be a person."""
    rows = snapshot.rows(
        "memory", ("id", "name", "type"), (*live_entities(scope), Equals("first_word", name)), limit=2
    )
    if len(rows) != 1:
        return None
    id_, full, type_ = rows[0]
    return (int(id_), str(full)) if first_name(full, type_) == name else None


def linked_entities(snapshot: Snapshot, scope: int, text: str, where: Filter, now: int) -> list[Found]:
    """Score entities by their current relations to the entities that the query names.

    The score is the share of the words of the relation's type that the query contains, at least a quarter.
    The named entities themselves are left out.
    """
    named = entities_named_in(snapshot, scope, text)
    if not named:
        return []
    holds = (is_null("deleted_at"), Compares("created_at", "<=", now), null_or_after("until", now))
    rows = snapshot.rows(
        "relation",
        ("source_id", "target_id", "type"),
        (starts_or_ends_at(sorted(named)), *holds),
        descending=True,
    )
    ties = [
        (other, type_)
        for source, target, type_ in rows
        for one, other in ((source, target), (target, source))
        if one in named and other not in named
    ]
    if not ties:
        return []
    others = {id_ for id_, _ in ties}
    seen = {
        id_ for (id_,) in snapshot.rows("memory", ("id",), (OneOf("id", others), *allowed(where, [scope])))
    }
    said = {coarse_stem(word) for word in words(text)}
    best: dict[int, float] = {}
    for id_, type_ in [tie for tie in ties if tie[0] in seen][:_MOST_RELATIONS]:
        # The share of the words of a type, such as `worked_with`, that the query contains.
        content = {coarse_stem(word) for word in content_words(type_.replace("_", " "))}
        share = len(content & said) / len(content) if content else 0.0
        best[id_] = max(best.get(id_, 0.0), _LEAST_SCORE, share)
    return [Found(id_, share) for id_, share in best.items()]


def graph_mark(snapshot: Snapshot, scope: int, now: int) -> int:
    """Return a number that changes with the graph of a scope, computed from ids, statuses and times.

    Texts in rows of a graph never change: an edit adds or removes rows. Only `unknown` types, statuses and
    the times at which relations end change in place.
    """
    rows = snapshot.rows(
        "memory", ("id", "type", "status"), (*live_entities(scope), is_null("superseded_at"))
    )
    entities = {(id_, type_.lower() == "unknown", status) for id_, type_, status in rows}
    ids = {id_ for id_, *_ in rows}
    observations = snapshot.rows("observation", ("id",), (OneOf("memory_id", ids), *IN_FORCE))
    holds = (is_null("deleted_at"), null_or_after("until", now))
    relations = snapshot.rows("relation", ("id", "until"), (OneOf("source_id", ids), *holds))
    return hash((frozenset(entities), frozenset(observations), frozenset(relations)))


def matching_names(snapshot: Snapshot, part: str, limit: int, where: Filter) -> tuple[list[str], int]:
    """Return the first `limit` names that contain the text, and the number of all such names.

    Case and accents are ignored. Names that begin with the text come first; each group is alphabetical.
    """
    if _cannot_be_stored(part):
        return [], 0
    wanted = fold(part)
    conditions = allowed(where, scope_ids(snapshot, where.owner, where.agent))
    rows = [
        (not folded.startswith(wanted), folded, id_, name)
        for id_, name, folded in snapshot.rows(
            "memory", ("id", "name", "folded_name"), (*conditions, Equals("kind", "entity"))
        )
        if wanted in folded
    ]
    return [name for *_, name in sorted(rows)[:limit]], len(rows)


def entities_containing(snapshot: Snapshot, text: str, k: int, where: Filter) -> Sequence[int]:
    """Return the ids of entities that contain the text literally, ignoring case."""
    if _cannot_be_stored(text):
        return []
    state = PastState.of(where)
    observed = IN_FORCE if state is None else state.observation_conditions()
    scopes = scope_ids(snapshot, where.owner, where.agent)
    return snapshot.containing(text, k, allowed(where, scopes), observed)


def _cannot_be_stored(text: str) -> bool:
    """Whether the text cannot be stored, so no memory contains it."""
    return "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)
