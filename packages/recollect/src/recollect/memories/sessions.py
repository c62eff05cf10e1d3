"""Conversations: raw turns in order, and the notes extracted from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.domain.changes import Forget, NewText, PutText, Turn
from recollect.domain.errors import Conflict, ExtractionFailed, InvalidInput, NotFound
from recollect.domain.limits import CONTEXT_TURNS, MOST_TURNS, clean_name, name_as_kept
from recollect.domain.records import Filter, Kind, Memory, Scope, Session
from recollect.domain.results import AddMessagesResult, Remembered, RememberedBatch
from recollect.domain.tables import Equals, OneOf, is_null
from recollect.memories.notes import apply_rows, store_notes
from recollect.search.rows import memories_by_id, scope_id
from recollect.search.texts import last_positions, memory_page, sessions_of, turns_of
from recollect.services import EngineGroup, Services, attempt_follow_up, retry_after_failover
from recollect.stores.port import Progress, Snapshot
from recollect.write.embedding import catch_up
from recollect.write.inputs import TurnLike, check_list, turn_of


class Sessions(EngineGroup):
    """`memory.sessions`: the conversations of a scope, and their messages."""

    @retry_after_failover
    def list(self) -> Sequence[Session]:
        """Return the sessions of this scope, most recently active first.

        Examples:
            >>> [(session.name, session.turns) for session in memory.sessions.list()]
            [('monday', 1)]
        """
        with self._services.read() as view:
            found = [one for scope in self._services.scope_ids(view) for one in sessions_of(view, scope)]
        return sorted(found, key=lambda one: (-one.last_at.timestamp(), one.name))

    @retry_after_failover
    def turns(self, session: str, *, last: int | None = None) -> Sequence[Memory]:
        """Return the messages of a session in order.

        Args:
            session: The name of the conversation.
            last: Return only this many messages, the last ones.

        Raises:
            NotFound: There is no such conversation.

        Examples:
            >>> [message.text for message in memory.sessions.turns("monday")]
            ['We moved the stand-up to ten.']
        """
        if last is not None and not 1 <= last <= MOST_TURNS:
            raise InvalidInput(f"The number of turns is 1 to {MOST_TURNS:,}, not {last}.")
        name = name_as_kept(session)
        with self._services.read() as view:
            scope, end = session_end(self._services, view, name)
            return turns_of(view, scope, name, 1 if last is None else end - last + 1, end)

    @retry_after_failover
    def neighbours(self, id: int, *, before: int = 2, after: int = 2) -> Sequence[Memory]:  # noqa: A002  # the public name
        """Return a message and the messages around it in its session, in order.

        Args:
            id: The message.
            before: Number of messages before it.
            after: Number of messages after it.

        Raises:
            NotFound: There is no such message.

        Examples:
            >>> [message.id for message in memory.sessions.neighbours(5)]
            [5]
        """
        message = self._services.memory(id)
        if message.kind is not Kind.MESSAGE or message.session is None or message.position is None:
            raise InvalidInput(f"Memory {id} is not a message of a session, so it has no neighbours.")
        first, last = message.position - before, message.position + after
        with self._services.read() as view:
            return turns_of(view, scope_id(view, message.scope), message.session, first, last)

    def extract(self, session: str) -> tuple[Remembered, ...]:
        """Extract notes from the stored messages of a session, as `add_messages` does.

        Notes that were extracted before are skipped, even if they have been corrected or forgotten.

        Raises:
            ExtractionFailed: The extractor cannot be reached or returns no usable answer.

        Examples:
            >>> [note.text for note in memory.sessions.extract("monday")]
            []
        """
        own = self._services.for_writing
        scope, name = own.scope, name_as_kept(session)
        with own.read() as view:
            messages = turns_of(
                view,
                scope_id(view, scope),
                name,
                1,
                last_positions(view, scope_id(view, scope), [name]).get(name, 0),
            )
            known_notes = _extracted_notes(view, scope, name)
        if not messages:
            raise InvalidInput(f"There is no session named {session!r}; `sessions` lists the sessions.")
        left = [message for message in messages if not _is_gone(message)]
        return _extract_notes(own, left, without=known_notes).notes

    def forget(self, session: str) -> tuple[int, ...]:
        """Forget a conversation: its messages, and the notes extracted from them. `restore` brings each back.

        Returns:
            The ids of the forgotten memories.

        Examples:
            >>> memory.sessions.forget("monday")
            (5,)
        """
        services, name = self._services, name_as_kept(session)
        with services.read() as view:
            _, last = session_end(services, view, name)
            of_session = (
                OneOf("scope_id", services.scope_ids(view)),
                Equals("session", name),
                is_null("deleted_at"),
            )
            texts = [id_ for (id_,) in view.rows("memory", ("id",), of_session)]
        if not last:
            raise NotFound(f"There is no session named {session!r}; `sessions` lists the sessions.")
        by_scope = services.by_scope(texts)
        outcomes = services.for_writing.write([Forget(scope, ids=ids) for scope, ids in by_scope.items()])
        return tuple(id_ for outcome in outcomes for id_ in outcome.ids)


def session_end(services: Services, view: Snapshot, session: str) -> tuple[int, int]:
    """Return the first scope that has a session of this name, and the position of its last message.

    The position is 0 if no scope has one.
    """
    scopes = services.scope_ids(view)
    ends = ((scope, last_positions(view, scope, [session]).get(session, 0)) for scope in scopes)
    return next((found for found in ends if found[1]), (scopes[0], 0))


@retry_after_failover
def check_session(services: Services, session: str) -> None:
    """Raise NotFound if there is no session of this name."""
    with services.read() as view:
        if not session_end(services, view, name_as_kept(session))[1]:
            raise NotFound(f"There is no session named {session!r}; `sessions` lists the sessions.")


def add_messages(
    services: Services,
    session: str,
    messages: Iterable[TurnLike],
    *,
    extract: bool,
    keep_going: bool,
    key: str | None,
    embed: bool = True,
    progress: Progress | None = None,
) -> AddMessagesResult:
    """Store messages in the given order, then extract notes, except notes extracted before.

    The messages stay stored if a later step fails. They are embedded with their notes.
    """
    name = clean_name(session, "session")
    if extract:
        services.extractor()  # fail on a wrong setting before anything is written
    done, rejected = apply_rows(
        services,
        check_list(messages, "Messages"),
        lambda turn: PutText(services.scope, _message(turn_of(turn), name)),
        keep_going=keep_going,
        key=key,
    )
    created = [outcome.ids[0] for _, outcome in done if outcome.created]
    ids = [outcome.ids[0] for _, outcome in done]
    extracted, failure = RememberedBatch(()), None

    def extract_and_store() -> RememberedBatch:
        with services.read() as view:
            stored = memories_by_id(view, ids)
            # Messages stored earlier may have their notes, or lack them after a crash or with `extract` off.
            repeats = len(created) < len(ids)
            known_notes = _extracted_notes(view, services.scope, name) if repeats else ()
            present = [stored[id_] for id_ in dict.fromkeys(ids) if id_ in stored]
            new = [message for message in present if not _is_gone(message)]
            context = _turns_before(view, services.scope, new)
        own_key = None if key is None else f"notes by {key}"
        embed_too = stored if embed else {}
        try:
            return _extract_notes(
                services,
                new,
                context,
                key=own_key,
                without=known_notes,
                embed_too=embed_too,
                progress=progress,
            )
        except Conflict:
            # A retry extracted other notes than the first attempt, whose notes stay.
            return RememberedBatch(())
        except ExtractionFailed as error:
            failed = f"The messages are stored, but no notes were extracted from them: {error}"
            return RememberedBatch((), note=failed)

    if extract and ids:
        found, failure = attempt_follow_up(extract_and_store)
        extracted = extracted if found is None else found
        if not extracted.notes:
            failure = failure or extracted.note
    note, model_note = failure or (extracted.note if embed else None), extracted.model_note
    if embed and not extracted.notes:
        embedded = catch_up(services, ids, progress)
        note, model_note = failure or embedded.problem, embedded.model_note
    return AddMessagesResult(name, tuple(ids), len(created), extracted.notes, rejected, note, model_note)


def _message(turn: Turn, session: str) -> NewText:
    return NewText(
        Kind.MESSAGE,
        turn.content,
        source=turn.source,
        session=session,
        role=turn.role,
        speaker=turn.speaker,
        created_at=turn.at,
        # A message without a time gets the current time, unless it is imported: then its time is unknown.
        undated=turn.at is None and turn.source is not None,
        metadata=turn.metadata,
    )


def _extracted_notes(view: Snapshot, scope: Scope, session: str) -> set[tuple[int | None, str]]:
    """Return the message id and the text of every note ever extracted from a session."""
    where = Filter(scope.owner, scope.agent, frozenset({Kind.NOTE}), session, deleted=True)
    known_notes: set[tuple[int | None, str]] = set()
    after = 0
    while page := memory_page(view, where, after, MOST_TURNS):
        known_notes.update((note.drawn_from, note.text) for note in page)
        after = page[-1].id
    return known_notes


def _turns_before(view: Snapshot, scope: Scope, messages: Sequence[Memory]) -> list[Memory]:
    """Return the messages in force just before the first of these."""
    if not messages or messages[0].session is None or messages[0].position is None:
        return []
    first = messages[0].position
    turns = turns_of(view, scope_id(view, scope), messages[0].session, first - CONTEXT_TURNS, first - 1)
    return [turn for turn in turns if not _is_gone(turn)]


def _is_gone(memory: Memory) -> bool:
    return memory.superseded_at is not None or memory.deleted_at is not None


def _extract_notes(
    services: Services,
    messages: Sequence[Memory],
    context: Sequence[Memory] = (),
    *,
    key: str | None = None,
    without: Collection[tuple[int | None, str]] = (),
    embed_too: Mapping[int, Memory] | None = None,
    progress: Progress | None = None,
) -> RememberedBatch:
    """Store the notes that the extractor finds in these messages; `context` holds the messages before them.

    If it finds any, the memories in `embed_too` are embedded with them.
    """
    extractor = services.extractor()
    if extractor is None:
        return RememberedBatch(())

    def in_user_zone(turns: Sequence[Memory]) -> list[Memory]:
        # Relative times such as `yesterday` need the user's time zone.
        return [replace(turn, created_at=turn.created_at.astimezone(services.zone)) for turn in turns]

    by_id = {message.id: message for message in messages}
    notes = []
    for found in extractor.statements(in_user_zone(messages), in_user_zone(context)):
        message = by_id.get(found.message)
        if message is not None and (found.message, found.text) not in without:
            note = NewText(
                Kind.NOTE,
                found.text,
                category=found.category,
                importance=found.importance,
                happened_at=found.happened_at,
                session=message.session,
                speaker=message.speaker,
                created_at=message.created_at,
                undated=message.undated,
                drawn_from=message.id,
            )
            notes.append(note)
    return store_notes(services, notes, key, embed_too, progress) if notes else RememberedBatch(())
