"""Conversations: raw turns in order, and the notes that are drawn out of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.changes import NewText, PutText
from recollect.engine.batches import apply_rows
from recollect.engine.meaning import catch_up
from recollect.engine.remember import keep, note_from, of_scope
from recollect.engine.results import Told
from recollect.engine.wanted import listed, turn_of
from recollect.errors import Conflict, ExtractionFailed, InvalidInput
from recollect.records import Filter, Kind
from recollect.text.limits import clean_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import tzinfo

    from recollect.changes import Turn
    from recollect.engine.parts import Parts
    from recollect.engine.results import Remembered
    from recollect.engine.wanted import TurnLike
    from recollect.ports import Progress, View
    from recollect.records import Memory, Scope, Session

MOST_TURNS = 1_000


def add_messages(
    parts: Parts,
    session: str,
    messages: Iterable[TurnLike],
    *,
    extract: bool,
    keep_going: bool,
    key: str | None,
    embed: bool = True,
    progress: Progress | None = None,
) -> Told:
    """Store turns in the order given, then draw notes out of them, but for what was drawn before.

    The turns are stored first and stand whatever becomes of the rest.
    """
    name = clean_name(session, "session")
    if extract:
        parts.extractor()  # a setting that names none is told before anything is written
    done, rejected = apply_rows(
        parts,
        listed(messages, "Messages"),
        lambda turn: PutText(parts.scope, _message(turn_of(turn), name)),
        keep_going=keep_going,
        key=key,
    )
    note = catch_up(parts, [outcome.ids[0] for _, outcome in done], progress) if embed else None
    created = [outcome.ids[0] for _, outcome in done if outcome.created]
    told = [outcome.ids[0] for _, outcome in done]
    notes: tuple[Remembered, ...] = ()
    if extract and told:
        with parts.store.read() as view:
            stored = view.memories(told)
            # Messages that were there before may have been stored without drawing, or a crash came between.
            known = len(created) < len(told)
            drawn = (
                {(note.drawn_from, note.text) for note in _notes(view, parts.scope, name)} if known else set()
            )
        messages_ = [
            stored[id_] for id_ in dict.fromkeys(told) if id_ in stored and not _is_gone(stored[id_])
        ]
        try:
            notes = _drawn(parts, messages_, None if key is None else f"notes by {key}", without=drawn)
        except Conflict:
            # A retry, and the extractor now tells otherwise: what it drew the first time stands.
            pass
        except ExtractionFailed as error:
            note = f"The messages are stored, but no notes were drawn out of them: {error}"
    return Told(name, tuple(outcome.ids[0] for _, outcome in done), len(created), notes, rejected, note)


def extract(parts: Parts, session: str) -> tuple[Remembered, ...]:
    """Draw notes out of a session's messages after the fact.

    What was drawn before is passed over, also if it was corrected or forgotten since.
    """
    with parts.store.read() as view:
        messages = view.turns(parts.scope, session, 1, view.last_position(parts.scope, session))
        drawn = {(note.drawn_from, note.text) for note in _notes(view, parts.scope, session)}
    if not messages:
        raise InvalidInput(f"There is no session named {session!r}; `sessions` lists those there are.")
    return _drawn(parts, [message for message in messages if not _is_gone(message)], without=drawn)


def sessions(parts: Parts) -> Sequence[Session]:
    with parts.store.read() as view:
        return view.sessions(parts.scope)


def turns(parts: Parts, session: str, last: int | None) -> Sequence[Memory]:
    """A session's messages in order; with `last`, only so many from its end."""
    if last is not None and not 1 <= last <= MOST_TURNS:
        raise InvalidInput(f"The number of turns is 1 to {MOST_TURNS:,}, not {last}.")
    with parts.store.read() as view:
        end = view.last_position(parts.scope, session)
        return view.turns(parts.scope, session, 1 if last is None else end - last + 1, end)


def around(parts: Parts, id_: int, before: int, after: int) -> Sequence[Memory]:
    """A message with its neighbours in the session, in order."""
    message = of_scope(parts, id_)
    if message.kind is not Kind.MESSAGE or message.session is None or message.position is None:
        raise InvalidInput(f"Memory {id_} is no message of a session, so it has no neighbours.")
    with parts.store.read() as view:
        first, last = message.position - before, message.position + after
        return view.turns(parts.scope, message.session, first, last)


def _message(turn: Turn, session: str) -> NewText:
    return NewText(
        Kind.MESSAGE,
        turn.content,
        source=turn.source,
        session=session,
        role=turn.role,
        speaker=turn.speaker,
        created_at=turn.at,
        # What is told as it happens is of now; what comes from elsewhere without a time is of no known one.
        undated=turn.at is None and turn.source is not None,
    )


def _notes(view: View, scope: Scope, session: str) -> Iterator[Memory]:
    where = Filter(scope.owner, scope.agent, frozenset({Kind.NOTE}), session, deleted=True)
    after = 0
    while page := view.page(where, after, MOST_TURNS):
        yield from page
        after = page[-1].id


def _is_gone(memory: Memory) -> bool:
    return memory.superseded_at is not None or memory.deleted_at is not None


def _told_there(message: Memory, zone: tzinfo) -> Memory:
    """With its time as the user's clock showed it: `yesterday` is told from there."""
    return replace(message, created_at=message.created_at.astimezone(zone))


def _drawn(
    parts: Parts,
    messages: Sequence[Memory],
    key: str | None = None,
    without: Collection[tuple[int | None, str]] = (),
) -> tuple[Remembered, ...]:
    extractor = parts.extractor()
    if extractor is None:
        return ()
    by_id = {message.id: message for message in messages}
    notes = [
        note_from(
            NewText(
                Kind.NOTE,
                said.text,
                category=said.category,
                importance=said.importance,
                happened_at=said.happened_at,
            ),
            by_id[said.message],
        )
        for said in extractor.statements([_told_there(message, parts.zone) for message in messages])
        if said.message in by_id and (said.message, said.text) not in without
    ]
    return keep(parts, notes, key) if notes else ()
