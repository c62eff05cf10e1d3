"""Writing other programs' talks into a memory, and reading them without writing."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.engine.results import EmbedResult
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.transfer.chats import conversations, format_of
from recollect.transfer.chats.archives import other_files
from recollect.transfer.chats.markdown import is_markdown
from recollect.transfer.chats.turns import has_lines_of_turns
from recollect.transfer.reports import Tally, Unplaced

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.transfer.chats.conversation import Conversation


_READ = {"markdown": is_markdown, "turns": has_lines_of_turns}
"""By the name of a file: whether it is read. Exports have one sort of file for all."""
_PLACES = {"chatgpt": "export", "claude": "export", "markdown": "folder", "turns": "folder"}
_OF_MEMORY = ("memories.json", "projects.json")
"""Names of files that are the format `claude-memory`."""
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
    """What is left out of the talks, and files that hold none."""
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
    left_out: Counter[str] = Counter()
    notes: list[str] = []
    model_note: str | None = None
    for conversation in _read(place, known, tally, left_out, progress):
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
        no_place=(*_unplaced(left_out), *_other_files(place, known)),
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
    left_out: Counter[str] = Counter()
    for _ in _read(place, known, tally, left_out, progress):
        pass
    no_place = (*_unplaced(left_out), *_other_files(place, known))
    return ChatReport(known, no_place=no_place, **tally.fields())


def _unplaced(left_out: Counter[str]) -> Iterator[Unplaced]:
    return (Unplaced(what, number) for what, number in sorted(left_out.items()))


def _other_files(path: Path, known: str) -> Iterator[Unplaced]:
    """What lies beside the talks, with those apart that another command brings."""
    others = other_files(path, _READ.get(known))
    of_memory = [name for name in others if known == "claude" and name.endswith(_OF_MEMORY)]
    if of_memory:
        is_folder = path.is_dir()
        files = [str(path / name) if is_folder else name for name in of_memory]
        first = "" if is_folder else "unpack the zip, then "
        yield Unplaced(
            f"Claude's memory and projects; {first}import each separately",
            len(of_memory),
            tuple(f"recollect import {shlex.quote(file)}" for file in files[:_SHOWN]),
        )
    if rest := [name for name in others if name not in of_memory]:
        yield Unplaced(f"other files of the {_PLACES[known]}", len(rest), tuple(rest[:_SHOWN]))


def _read(
    path: Path, known: str, tally: Tally, left_out: Counter[str], progress: Progress | None
) -> Iterator[Conversation]:
    """The conversations that have a turn, each once it was counted."""
    sessions: set[str] = set()
    for conversation in conversations(path, known):
        tally.counts["turns"] += len(conversation.turns)
        left_out.update(conversation.left_out)
        tally.add("bad", *conversation.bad)
        if conversation.turns:
            sessions.add(conversation.session)
            tally.counts["conversations"] = len(sessions)
            yield conversation
        if progress is not None:
            progress(tally.counts["turns"], None)
