"""Writing other programs' talks into a memory, and reading them without writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.transfer.chats.formats import conversations, format_of
from recollect.transfer.reports import SHOWN

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.engine.results import AddMessagesResult
    from recollect.ports import Progress
    from recollect.transfer.chats.conversation import Conversation


@dataclass(frozen=True, slots=True)
class ChatReport:
    """What was read of a file or folder of talks, and what became of it."""

    format: str
    conversations: int
    """Sessions that have a turn."""
    turns: int
    """Those that could be read; each is new, known or rejected, unless nothing was to be written."""
    turns_new: int = 0
    turns_known: int = 0
    turns_rejected: int = 0
    notes: int = 0
    """Drawn out of the new turns, and not known before."""
    bad: tuple[str, ...] = ()
    """What could not be read or stored, each with its place and the reason; the first of them."""
    bad_count: int = 0
    embedded: int = 0
    """Passages that got their vectors at the end."""
    waiting: int = 0
    """Passages that still have none."""
    note: str | None = None
    """Why something cannot be found by meaning yet, or could not be extracted, if so."""


def chat_import(
    engine: Engine,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word a caller expects
    extract: bool = False,
    keep_going: bool = True,
    embed: bool = True,
    progress: Progress | None = None,
    embed_progress: Progress | None = None,
) -> ChatReport:
    """Import the talks of a file, a zip or a folder; every turn becomes a message of a session.

    `format` is one of `FORMATS`; without it, the content decides. Importing the same again, or a
    newer export, adds only what is new. With `extract`, what is worth keeping also becomes notes, which are
    compared by meaning as they come, so that `embed` then only says whether the rest is embedded.

    What cannot be read is left out and named in the report; with `keep_going=False`, the first such thing
    stops the import before anything is written. `progress` gets numbers of turns; `embed_progress`, of
    passages.
    """
    place = Path(path)
    known = format or format_of(place)
    if not keep_going:
        _must_be_whole(place, known)
    tally = _Tally(known)
    for conversation in _read(place, known, tally, progress):
        if conversation.turns:
            tally.written(conversation, _write(engine, conversation, extract=extract))
    embedded, note = engine.upkeep.embed_pending(embed_progress) if embed else (0, None)
    return tally.report(embedded=embedded, waiting=engine.counts().due, note=tally.note or note)


def chat_preview(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word a caller expects
    progress: Progress | None = None,
) -> ChatReport:
    """What an import would read, without any memory: nothing is written."""
    place = Path(path)
    known = format or format_of(place)
    tally = _Tally(known)
    for _ in _read(place, known, tally, progress):
        pass
    return tally.report()


class _Tally:
    """The report of an import under way."""

    def __init__(self, format_: str) -> None:
        self.note: str | None = None
        self.counts: Counter[str] = Counter(turns=0)
        """By the names of the report's counts."""
        self._format = format_
        self._sessions: set[str] = set()
        self._bad: list[str] = []

    def read(self, conversation: Conversation) -> None:
        if conversation.turns:
            self._sessions.add(conversation.session)
        self.counts["turns"] += len(conversation.turns)
        for reason in conversation.bad:
            self._reject(reason)

    def written(self, conversation: Conversation, result: AddMessagesResult) -> None:
        self.counts["turns_new"] += result.created
        self.counts["turns_known"] += len(result.ids) - result.created
        self.counts["turns_rejected"] += len(result.rejected)
        self.counts["notes"] += sum(note.created for note in result.notes)
        self.note = self.note or result.note
        for row in result.rejected:
            self._reject(f"{conversation.title}, turn {row.index + 1}: {row.reason}")

    def report(self, *, embedded: int = 0, waiting: int = 0, note: str | None = None) -> ChatReport:
        return ChatReport(
            format=self._format,
            conversations=len(self._sessions),
            bad=tuple(self._bad),
            embedded=embedded,
            waiting=waiting,
            note=note,
            **self.counts,
        )

    def _reject(self, reason: str) -> None:
        self.counts["bad_count"] += 1
        if len(self._bad) < SHOWN:
            self._bad.append(reason)


def _read(path: Path, known: str, tally: _Tally, progress: Progress | None) -> Iterator[Conversation]:
    for conversation in conversations(path, known):
        tally.read(conversation)
        yield conversation
        if progress is not None:
            progress(tally.counts["turns"], None)


def _must_be_whole(path: Path, known: str) -> None:
    for conversation in conversations(path, known):
        if conversation.bad:
            raise InvalidInput(f"{conversation.bad[0]} Nothing was written.")


def _write(engine: Engine, conversation: Conversation, *, extract: bool) -> AddMessagesResult:
    # Vectors come at the end, all at once; notes need theirs to be compared with others.
    return engine.sessions.import_turns(conversation.session, conversation.turns, extract=extract)
