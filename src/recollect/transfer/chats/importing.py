"""Writing other programs' talks into a memory, and reading them without writing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.engine.results import EmbedResult
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.transfer.chats import conversations, format_of
from recollect.transfer.chats.archives import other_files
from recollect.transfer.reports import Tally, Unplaced

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.transfer.chats.conversation import Conversation


_EXPORTS = ("chatgpt", "claude")
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ChatReport:
    """What was read of a file or folder of talks, and what became of it."""

    format: str
    conversations: int = 0
    """Sessions that have a turn."""
    turns: int = 0
    """Those that could be read; each is new, known or rejected, unless nothing was to be written."""
    turns_new: int = 0
    turns_known: int = 0
    turns_rejected: int = 0
    notes: int = 0
    """Drawn out of the new turns, and not known before."""
    bad: tuple[str, ...] = ()
    """What could not be read or stored, each with its place and the reason; the first of them."""
    bad_count: int = 0
    no_place: tuple[Unplaced, ...] = ()
    """Files of an export that hold no conversations."""
    embedded: int = 0
    """Passages that got their vectors at the end."""
    waiting: int = 0
    """Passages that still have none."""
    note: str | None = None
    """Why something cannot be found by meaning yet, or could not be extracted, if so."""
    model_note: str | None = None
    """What the languages of the texts mean for the model: that it was chosen or changed, or what to run."""


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
        for conversation in conversations(place, known):
            if conversation.bad:
                raise InvalidInput(f"{conversation.bad[0]} Nothing was written.")
    tally = Tally()
    notes: list[str] = []
    model_note: str | None = None
    for conversation in _read(place, known, tally, progress):
        # Vectors come at the end, all at once; notes need theirs to be compared with others.
        result = engine.sessions.import_turns(conversation.session, conversation.turns, extract=extract)
        tally.counts["turns_new"] += result.created
        tally.counts["turns_known"] += len(result.ids) - result.created
        tally.counts["turns_rejected"] += len(result.rejected)
        tally.counts["notes"] += sum(note.created for note in result.notes)
        notes += [result.note] if result.note and not notes else []
        model_note = model_note or result.model_note
        for row in result.rejected:
            tally.add("bad", f"{conversation.title}, turn {row.index + 1}: {row.reason}")
    done = engine.upkeep.embed_pending(embed_progress) if embed else EmbedResult()
    return ChatReport(
        known,
        no_place=_no_place(place, known),
        embedded=done.embedded,
        waiting=engine.counts().due,
        note=notes[0] if notes else done.problem,
        model_note=model_note or done.model_note,
        **tally.fields(),
    )


def chat_preview(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the word a caller expects
    progress: Progress | None = None,
) -> ChatReport:
    """What an import would read, without any memory: nothing is written."""
    place = Path(path)
    known = format or format_of(place)
    tally = Tally()
    for _ in _read(place, known, tally, progress):
        pass
    return ChatReport(known, no_place=_no_place(place, known), **tally.fields())


def _no_place(path: Path, known: str) -> tuple[Unplaced, ...]:
    others = other_files(path) if known in _EXPORTS else ()
    return (Unplaced("other files of the export", len(others), others[:_SHOWN]),) if others else ()


def _read(path: Path, known: str, tally: Tally, progress: Progress | None) -> Iterator[Conversation]:
    """The conversations that have a turn, each once it was counted."""
    sessions: set[str] = set()
    for conversation in conversations(path, known):
        tally.counts["turns"] += len(conversation.turns)
        tally.add("bad", *conversation.bad)
        if conversation.turns:
            sessions.add(conversation.session)
            tally.counts["conversations"] = len(sessions)
            yield conversation
        if progress is not None:
            progress(tally.counts["turns"], None)
