"""Context: memories and recent turns that an agent should read before it answers, within a token budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from recollect.domain.changes import Turn
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import QUERY_LIMIT, name_as_kept
from recollect.domain.records import Kind, Memory, is_assistant, memory_at
from recollect.domain.results import Context, ContextItem, Hit
from recollect.memories.sessions import session_end
from recollect.search.recall import check_budget, query_of, recall
from recollect.search.texts import turns_of
from recollect.services import Services
from recollect.text.near_duplicates import text_key
from recollect.text.phrases import origin_of, quoted
from recollect.text.tokens import content_words, count_tokens
from recollect.write.inputs import TurnLike, check_list, turn_of

if TYPE_CHECKING:
    from recollect.ranking.candidates import Profile

_MAX_TURNS = 50
# At most this share of the budget goes to recent turns while memories could use it.
_SHARE_OF_TURNS = 0.5
# A text is not cut to fewer characters than this, but dropped.
_MIN_PIECE = 40
_QUOTED_CHARACTERS = 40
_MEMORIES_HEADING = "## What is known"
_TURNS_HEADING = "## Recent turns"
# If the last message has fewer content words, the query also contains the message before it.
_MIN_QUERY_WORDS = 3


def context(
    services: Services,
    asked: str | Sequence[TurnLike],
    *,
    profile: Profile,
    budget_tokens: int,
    session: str | None,
    as_of: datetime | None,
) -> Context:
    """Return the memories that `recall` returns without a limit, and the recent turns, without repeats.

    No memory is returned if none seems to help. Memories are left out if they do not fit the budget.

    `asked` is a query, or the last messages of a conversation; these are then the recent turns. Nothing is
    recorded, so the same call returns the same result.
    """
    check_budget(budget_tokens)
    if isinstance(asked, str):
        query, talk = asked, _recent(services, session, as_of)
    else:
        if not asked:
            raise InvalidInput("Give a query, or the last messages of the conversation as a list.")
        check_list(asked, "Messages")
        given = [turn_of(turn) for turn in asked]
        query = _query(given)
        spoken = [(turn, turn.speaker or turn.role or "someone") for turn in given[-_MAX_TURNS:]]
        talk = [
            _item(services.zone, None, "turn", turn.content, turn.at, who, quoted(who), None)
            for turn, who in spoken
        ]
    wanted = query_of(
        services, query, profile, session=session, across=True, as_of=as_of, abstain=True, record=False
    )
    answer = recall(services, wanted, profile)
    memories = _new_items(services, answer.hits, talk)
    kept_turns, kept = _fit(talk, memories, budget_tokens)
    text = _text(kept, kept_turns)
    return Context(
        query=query,
        memories=tuple(kept),
        turns=tuple(kept_turns),
        text=text,
        tokens=count_tokens(text),
        budget_tokens=budget_tokens,
        left_out=len(memories) - len(kept),
        confidence=answer.confidence or 0.0,
        note=answer.note,
    )


def _query(given: Sequence[Turn]) -> str:
    """Return the last message that is not the assistant's, with the one before it if it is very short."""
    last = next((place for place in range(len(given) - 1, -1, -1) if not is_assistant(given[place].role)), -1)
    query = given[last].content
    if len(content_words(query)) < _MIN_QUERY_WORDS and last > 0:
        return f"{given[last - 1].content}\n{query}"[-QUERY_LIMIT:]
    # A message may be longer than a query may be.
    return query[:QUERY_LIMIT]


def _recent(services: Services, session: str | None, as_of: datetime | None) -> list[ContextItem]:
    """Return the last turns of the session, up to `as_of`."""
    name = name_as_kept(session or services.session or "")
    if not name:
        return []
    with services.read() as view:
        scope, end = session_end(services, view, name)
        # The last turns before `as_of` may be anywhere in the session.
        turns = turns_of(view, scope, name, 1 if as_of is not None else end - _MAX_TURNS + 1, end)
    said = [memory_at(turn, as_of) for turn in turns if as_of is None or turn.created_at <= as_of]
    items = []
    for turn in said[-_MAX_TURNS:]:
        item = replace(_memory_item(services.zone, turn, None), kind="turn")
        # A corrected turn keeps its text, with a note on the correction.
        if turn.superseded_at is not None:
            by = f", see #{turn.superseded_by}" if turn.superseded_by is not None else ""
            item = replace(item, line=f"{item.line} (corrected since{by})")
        items.append(item)
    return items


def _new_items(
    services: Services, hits: Sequence[Hit], talk: Sequence[ContextItem]
) -> list[tuple[ContextItem, ...]]:
    """Return hits that do not repeat a turn, a turn's note, or another hit; most useful first.

    Each has its full form, then a shorter one if there is one.
    """
    shown = {item.id for item in talk if item.id is not None}
    shown_texts = {text_key(item.text) for item in talk}
    items: list[tuple[ContextItem, ...]] = []
    for hit in _most_useful_first(hits):
        memory = hit.memory
        item = _memory_item(services.zone, memory, hit)
        if memory.kind is Kind.ENTITY and not memory.in_force:
            continue
        if memory.id in shown or memory.drawn_from in shown or text_key(item.text) in shown_texts:
            continue
        shown.add(memory.id)
        shown_texts.add(text_key(item.text))
        forms = (item, _passage_item(services.zone, hit)) if memory.kind is Kind.ENTITY else (item,)
        items.append(forms)
    return items


def _most_useful_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, highest confidence first; at equal percentages, newest first."""

    def order(hit: Hit) -> tuple[float, float, int]:
        at = hit.memory.happened_at or (None if hit.memory.undated else hit.memory.created_at)
        # A memory without a time counts as the oldest.
        age = float("inf") if at is None else -at.timestamp()
        return -round(hit.confidence or 0.0, 2), age, hit.memory.id

    ordered = sorted(hits, key=order)
    # Of two contradicting hits, the one that ranks higher stays first.
    rank = {hit.memory.id: place for place, hit in enumerate(hits)}
    for hit in tuple(ordered):
        ahead = {each.id for each in hit.conflicts_with if rank.get(each.id, len(rank)) < rank[hit.memory.id]}
        last = max((place for place, each in enumerate(ordered) if each.memory.id in ahead), default=-1)
        own = next(place for place, each in enumerate(ordered) if each.memory.id == hit.memory.id)
        if own < last:
            ordered.insert(last, ordered.pop(own))
    return ordered


def _passage_item(zone: tzinfo, hit: Hit) -> ContextItem:
    item = _memory_item(zone, hit.memory, hit)
    text = hit.passage or hit.memory.name
    return _item(zone, item.id, item.kind, text, item.at, item.source, item.source, item.score, _remark(hit))


def _fit(
    talk: Sequence[ContextItem], memories: Sequence[tuple[ContextItem, ...]], budget: int
) -> tuple[list[ContextItem], list[ContextItem]]:
    """Return the newest turns and the best memories that fit the budget together."""
    turns: list[ContextItem] = []
    kept: list[ContextItem] = []
    # Half of the budget goes to the newest turns, then come memories, then more turns.
    spent = _fill_turns(turns, talk, 0, int(budget * _SHARE_OF_TURNS) if memories else budget)
    for forms in memories:
        # The best one is cut if it does not fit.
        last_resort = () if kept else cut_item(forms[-1], _MEMORIES_HEADING, budget - spent)
        for item in (*forms, *last_resort):
            cost = _cost(item, _MEMORIES_HEADING, first=not kept)
            if spent + cost <= budget:
                kept.append(item)
                spent += cost
                break
    _fill_turns(turns, talk, spent, budget)
    return turns, kept


def _fill_turns(turns: list[ContextItem], talk: Sequence[ContextItem], spent: int, room: int) -> int:
    """Add earlier turns while they fit, without gaps, and return the tokens spent."""
    for item in reversed(talk[: len(talk) - len(turns)]):
        cost = _cost(item, _TURNS_HEADING, first=not turns)
        if spent + cost > room:
            if turns:
                break
            # Cut the last turn rather than drop it: the answer is about it.
            turns += cut_item(item, _TURNS_HEADING, room - spent)
            return spent + sum(_cost(piece, _TURNS_HEADING, first=True) for piece in turns)
        turns.insert(0, item)
        spent += cost
    return spent


def cut_item(item: ContextItem, heading: str, room: int) -> list[ContextItem]:
    """Return the beginning of a line that fits, or nothing if that is too short."""
    least = len(item.line) - len(_on_one_line(item.text)) + _MIN_PIECE
    length = bisect_right(
        range(len(item.line)), room, key=lambda stop: _cost(_until(item, stop), heading, first=True)
    )
    return [_until(item, length - 1)] if length > least else []


def _until(item: ContextItem, stop: int) -> ContextItem:
    """Cut the text to `stop` characters, and keep it in quotes."""
    # The last quotes are those of the text.
    start = item.line.rindex(quoted(item.text))
    text = _on_one_line(item.text)[: max(0, stop - start)]
    return replace(item, line=f"{item.line[:start]}{quoted(f'{text} …')}")


def _cost(item: ContextItem, heading: str, *, first: bool) -> int:
    """Count the tokens of a line with its line break; the first line of a part adds the heading."""
    return count_tokens(f"\n{item.line}") + (count_tokens(f"\n\n{heading}") if first else 0)


def _text(memories: Sequence[ContextItem], turns: Sequence[ContextItem]) -> str:
    sections = ((_MEMORIES_HEADING, memories), (_TURNS_HEADING, turns))
    return "\n\n".join(
        "\n".join((heading, *(item.line for item in items))) for heading, items in sections if items
    )


def _memory_item(zone: tzinfo, memory: Memory, hit: Hit | None) -> ContextItem:
    at = memory.happened_at or (None if memory.undated else memory.created_at)
    score = None if hit is None else hit.score
    remark = _remark(hit)
    if memory.kind is Kind.ENTITY:
        known = "; ".join(seen.content for seen in memory.in_force)
        about = f"{memory.name} ({memory.type})" if memory.type != "unknown" else memory.name
        return _item(zone, memory.id, "entity", f"{about}: {known}", at, "entity", "entity", score, remark)
    # A long text is shown as the passage that was found.
    text = memory.text
    if hit is not None and hit.piece is not None:
        text = f"… {hit.piece.strip()} …"
    who = memory.speaker or (memory.role if memory.kind is Kind.MESSAGE else None)
    where = f"session {memory.session}" if memory.session else memory.source or ""
    source = ", ".join(part for part in (who, where) if part) or memory.kind.value
    origin = ", ".join(origin_of(who, memory.session, memory.source)) or memory.kind.value
    return _item(zone, memory.id, memory.kind.value, text, at, source, origin, score, remark)


def _remark(hit: Hit | None) -> str:
    """Return a remark that names the later memory that contradicts this one."""
    newer = None if hit is None else hit.outdated_by
    if newer is None:
        return ""
    line = _on_one_line(newer.text)
    return (
        f"; older than {quoted(line if len(line) <= _QUOTED_CHARACTERS else f'{line[:_QUOTED_CHARACTERS]}…')}"
    )


def _item(
    zone: tzinfo,
    id_: int | None,
    kind: str,
    text: str,
    at: datetime | None,
    source: str,
    origin: str,
    score: float | None,
    remark: str = "",
) -> ContextItem:
    """Make an item. `origin` is the source as shown in the line; text written by others is in quotes."""
    day = f"{at.astimezone(zone):%Y-%m-%d %H:%M}" if at is not None else "undated"
    # Always one line that ends with the quoted text, whatever names and texts contain.
    line = f"- [{day}, {origin}{remark}] {quoted(text)}"
    return ContextItem(id_, kind, text, at, source, line, score)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
