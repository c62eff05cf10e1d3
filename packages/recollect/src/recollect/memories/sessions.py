"""Conversations: raw turns in order, and the notes extracted from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.domain.changes import Forget, NewText, PutText, Turn
from recollect.domain.errors import Conflict, ExtractionFailed, InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import CONTEXT_TURNS, MOST_TURNS, clean_name, name_as_kept
from recollect.domain.records import Filter, Kind, Memory, Scope, Session
from recollect.domain.results import AddMessagesResult, Remembered, RememberedBatch
from recollect.domain.tables import Equals, OneOf, is_null
from recollect.memories.notes import apply_rows, keep
from recollect.search.rows import memories_by_id, scope_id
from recollect.search.texts import last_positions, memory_page, sessions_of, turns_of
from recollect.services import Services, attempt_follow_up, retry_after_failover
from recollect.stores.port import Progress, Snapshot
from recollect.write.embedding import catch_up
from recollect.write.inputs import TurnLike, check_list, turn_of


@dataclass(frozen=True, slots=True)
class Sessions:
    """`memory.sessions`: the conversations of a scope, and their messages."""

    services: Services

    @retry_after_failover
    def list(self) -> Sequence[Session]:
        """Return the conversations of this scope, the one with the newest message first.

        Examples:
            >>> [(session.name, session.turns) for session in memory.sessions.list()]
            [('monday', 1)]
        """
        with self.services.read() as view:
            found = [one for scope in self.services.scope_ids(view) for one in sessions_of(view, scope)]
        return sorted(found, key=lambda one: (-one.last_at.timestamp(), one.name))

    @retry_after_failover
    def turns(self, session: str, *, last: int | None = None) -> Sequence[Memory]:
        """Return the messages of a session in order.

        Args:
            session: The name of the conversation.
            last: Only this number of messages from its end.

        Raises:
            NotFound: There is no such conversation.

        Examples:
            >>> [message.text for message in memory.sessions.turns("monday")]
            ['We moved the stand-up to ten.']
        """
        if last is not None and not 1 <= last <= MOST_TURNS:
            raise InvalidInput(f"The number of turns is 1 to {MOST_TURNS:,}, not {last}.")
        name = name_as_kept(session)
        with self.services.read() as view:
            scope, end = session_end(self.services, view, name)
            return turns_of(view, scope, name, 1 if last is None else end - last + 1, end)

    @retry_after_failover
    def neighbours(self, id: int, *, before: int = 2, after: int = 2) -> Sequence[Memory]:  # noqa: A002  # the domain's word
        """Return a message with those around it in its session, in order.

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
        message = self.services.memory(id)
        if message.kind is not Kind.MESSAGE or message.session is None or message.position is None:
            raise InvalidInput(f"Memory {id} is no message of a session, so it has no neighbours.")
        first, last = message.position - before, message.position + after
        with self.services.read() as view:
            return turns_of(view, scope_id(view, message.scope), message.session, first, last)

    def extract(self, session: str) -> tuple[Remembered, ...]:
        """Extract notes from a session's messages, as `add_messages` does, at a later time.

        Notes that were extracted before are skipped, also if they were corrected or forgotten since.

        Raises:
            ExtractionFailed: The extractor cannot be reached or gives no usable answer.

        Examples:
            >>> [note.text for note in memory.sessions.extract("monday")]
            []
        """
        own = self.services.for_writing
        scope, name = own.scope, name_as_kept(session)
        with own.read() as view:
            messages = turns_of(
                view,
                scope_id(view, scope),
                name,
                1,
                last_positions(view, scope_id(view, scope), [name]).get(name, 0),
            )
            drawn = _drawn_notes(view, scope, name)
        if not messages:
            raise InvalidInput(f"There is no session named {session!r}; `sessions` lists those there are.")
        left = [message for message in messages if not _is_gone(message)]
        return _extract_notes(own, left, without=drawn).notes

    def forget(self, session: str) -> tuple[int, ...]:
        """Forget a conversation: its messages, and the notes extracted from them. `restore` brings each back.

        Returns:
            The ids of the forgotten memories.

        Examples:
            >>> memory.sessions.forget("monday")
            (5,)
        """
        services, name = self.services, name_as_kept(session)
        with services.read() as view:
            _, last = session_end(services, view, name)
            of_session = (
                OneOf("scope_id", services.scope_ids(view)),
                Equals("session", name),
                is_null("deleted_at"),
            )
            texts = [id_ for (id_,) in view.rows("memory", ("id",), of_session)]
        if not last:
            raise NotFound(f"There is no session named {session!r}; `sessions` lists those there are.")
        wanted = services.by_scope(texts)
        outcomes = services.for_writing.write([Forget(scope, ids=those) for scope, those in wanted.items()])
        return tuple(id_ for outcome in outcomes for id_ in outcome.ids)


def session_end(services: Services, view: Snapshot, session: str) -> tuple[int, int]:
    """The first scope that has a session of this name, and the position of its last message."""
    scopes = services.scope_ids(view)
    ends = ((scope, last_positions(view, scope, [session]).get(session, 0)) for scope in scopes)
    return next((found for found in ends if found[1]), (scopes[0], 0))


@retry_after_failover
def check_session(services: Services, session: str) -> None:
    """There must be a conversation of this name."""
    with services.read() as view:
        if not session_end(services, view, name_as_kept(session))[1]:
            raise NotFound(f"There is no session named {session!r}; `sessions` lists those there are.")


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
    """Store turns in the order given, then extract notes from them, except those extracted before.

    The turns are stored first and stay if a later step fails. They are embedded with their notes.
    """
    name = clean_name(session, "session")
    if extract:
        services.extractor()  # a wrong setting fails before anything is written
    done, rejected = apply_rows(
        services,
        check_list(messages, "Messages"),
        lambda turn: PutText(services.scope, _message(turn_of(turn), name)),
        keep_going=keep_going,
        key=key,
    )
    created = [outcome.ids[0] for _, outcome in done if outcome.created]
    told = [outcome.ids[0] for _, outcome in done]
    kept, failure = RememberedBatch(()), None

    def draw() -> RememberedBatch:
        with services.read() as view:
            stored = memories_by_id(view, told)
            # Messages that were there before may have been stored without drawing, or a crash came between.
            known = len(created) < len(told)
            drawn = _drawn_notes(view, services.scope, name) if known else ()
            there = [stored[id_] for id_ in dict.fromkeys(told) if id_ in stored]
            new = [message for message in there if not _is_gone(message)]
            context = _turns_before(view, services.scope, new)
        own_key = None if key is None else f"notes by {key}"
        beside = stored if embed else {}
        try:
            return _extract_notes(
                services, new, context, key=own_key, without=drawn, beside=beside, progress=progress
            )
        except Conflict:
            # A retry, and the extractor's answer differs: the first one is kept.
            return RememberedBatch(())
        except ExtractionFailed as error:
            failed = f"The messages are stored, but no notes were drawn out of them: {error}"
            return RememberedBatch((), note=failed)

    if extract and told:
        found, failure = attempt_follow_up(draw)
        kept = kept if found is None else found
        if not kept.notes:
            failure = failure or kept.note
    note, model_note = failure or (kept.note if embed else None), kept.model_note
    if embed and not kept.notes:
        embedded = catch_up(services, told, progress)
        note, model_note = failure or embedded.problem, embedded.model_note
    return AddMessagesResult(name, tuple(told), len(created), kept.notes, rejected, note, model_note)


def _message(turn: Turn, session: str) -> NewText:
    return NewText(
        Kind.MESSAGE,
        turn.content,
        source=turn.source,
        session=session,
        role=turn.role,
        speaker=turn.speaker,
        created_at=turn.at,
        # A live message has the present time; an imported one without a time has none.
        undated=turn.at is None and turn.source is not None,
        metadata=turn.metadata,
    )


def _drawn_notes(view: Snapshot, scope: Scope, session: str) -> set[tuple[int | None, str]]:
    """Return the message and the text of each note that was ever drawn from a session."""
    where = Filter(scope.owner, scope.agent, frozenset({Kind.NOTE}), session, deleted=True)
    drawn: set[tuple[int | None, str]] = set()
    after = 0
    while page := memory_page(view, where, after, MOST_TURNS):
        drawn.update((note.drawn_from, note.text) for note in page)
        after = page[-1].id
    return drawn


def _turns_before(view: Snapshot, scope: Scope, messages: Sequence[Memory]) -> list[Memory]:
    """Return the turns in force just before the first of these messages."""
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
    beside: Mapping[int, Memory] | None = None,
    progress: Progress | None = None,
) -> RememberedBatch:
    """Keep what the extractor finds in these messages; `context` was said just before them.

    Where there is anything to keep, the memories in `beside` are embedded with it.
    """
    extractor = services.extractor()
    if extractor is None:
        return RememberedBatch(())

    def local(turns: Sequence[Memory]) -> list[Memory]:
        # Relative times such as `yesterday` need the user's time zone.
        return [replace(turn, created_at=turn.created_at.astimezone(services.zone)) for turn in turns]

    by_id = {message.id: message for message in messages}
    notes = []
    for said in extractor.statements(local(messages), local(context)):
        message = by_id.get(said.message)
        if message is not None and (said.message, said.text) not in without:
            note = NewText(
                Kind.NOTE,
                said.text,
                category=said.category,
                importance=said.importance,
                happened_at=said.happened_at,
                session=message.session,
                speaker=message.speaker,
                created_at=message.created_at,
                undated=message.undated,
                drawn_from=message.id,
            )
            notes.append(note)
    return keep(services, notes, key, beside, progress) if notes else RememberedBatch(())
