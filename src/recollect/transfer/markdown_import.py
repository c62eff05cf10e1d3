"""Bringing back a folder of Markdown files that `markdown_export` wrote, also after people edited it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recollect.engine.results import EmbedResult
from recollect.errors import InvalidInput
from recollect.records import Memory, Relation
from recollect.transfer.export_folder import read_manifest, unpacked_folder
from recollect.transfer.full import FULL
from recollect.transfer.full_import import FullImport
from recollect.transfer.json_lines import NumberedRecord, record_batches
from recollect.transfer.markdown_text import END, START, read_comment, read_front_matter, unescaped
from recollect.transfer.previewing import ImportPreview, PreviewCount
from recollect.transfer.reports import ImportReport, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recollect.engine.engine import Engine
    from recollect.engine.upkeep.transfer import Import
    from recollect.ports import Progress

MARKDOWN_EXPORT: Literal["markdown-export"] = "markdown-export"
"""The name of the format, where other Markdown is one, too."""
SIZE_LIMIT = 256 * 1024 * 1024
"""Bytes of one file, which is read whole."""
# A version 1 of the full format: which entities a text speaks of follows from the text.
_VERSION = 1
_NOT_OF_A_MEMORY = {"recollect", "aliases", "cssclasses"}


def is_markdown_export(path: str | Path) -> bool:
    """Whether this is a folder, or a zip of one, that an export to Markdown made."""
    return read_manifest(Path(path)) == "markdown"


def import_markdown(
    engine: Engine,
    folder: str | Path,
    *,
    keep_going: bool = True,
    embed: bool = True,
    progress: Progress | None = None,
    embed_progress: Progress | None = None,
) -> ImportReport:
    """Import such a folder: each memory under its own id where that is free, into the scopes that it names.

    Bringing the same again changes nothing. What cannot be read is left out and named in the report; with
    `keep_going=False`, the first such thing stops the import before anything is written.
    """
    with _export_files(folder) as (root, files):
        tally = Tally()
        _import(engine.upkeep.importing(), root, files, tally, progress, keep_going=keep_going)
    done = engine.upkeep.embed_pending(embed_progress, past=True) if embed else EmbedResult()
    return ImportReport(
        MARKDOWN_EXPORT,
        embedded=done.embedded,
        note=done.problem,
        model_note=done.model_note,
        **tally.fields(),
    )


def _import(
    into: Import,
    root: Path,
    files: Sequence[Path],
    tally: Tally,
    progress: Progress | None,
    *,
    keep_going: bool,
) -> None:
    passes = 2 if keep_going else 3

    def records(pass_: int, bad: Callable[[int, str], None]) -> Iterator[NumberedRecord]:
        for done, path in enumerate(files, start=1):
            yield from _records(path, path.relative_to(root).as_posix(), bad)
            if progress is not None:
                progress(pass_ * len(files) + done, passes * len(files))

    if not keep_going:
        for _ in records(0, _refuse):
            pass
    target = FullImport(into, tally, version=_VERSION)
    for batch in record_batches(records(passes - 2, tally.bad_line)):
        memories = [item.record for item in batch if isinstance(item.record, Memory)]
        tally.counts["lines"] += len(batch)
        if memories:
            target.add_memories(memories)
    target.link()
    # What is wrong with a line was reported before.
    for batch in record_batches(records(passes - 1, lambda *_: None)):
        target.add_rest([item for item in batch if isinstance(item.record, Relation)])
    target.link()
    tally.counts["lines"] += tally.counts["bad_count"]


def markdown_preview(folder: str | Path, progress: Progress | None = None) -> ImportPreview:
    """Read such a folder as `import_markdown` does, and count what it holds; nothing is written."""
    seen = PreviewCount()
    lines = 0
    with _export_files(folder) as (root, files):
        for done, path in enumerate(files, start=1):
            for each in _records(path, path.relative_to(root).as_posix(), seen.bad_line):
                seen.count(each.record)
                lines += 1
            if progress is not None:
                progress(done, len(files))
    preview = seen.preview(MARKDOWN_EXPORT, lines)
    return replace(preview, lines=lines + preview.bad_count)


@contextmanager
def _export_files(path: str | Path) -> Iterator[tuple[Path, list[Path]]]:
    """The folder of an export, and the files in it."""
    if not is_markdown_export(path):
        raise InvalidInput(
            f"{path} is not an export by `recollect export --format markdown`: its recollect.json is missing "
            "or says something else. For other Markdown: recollect import FOLDER"
        )
    with unpacked_folder(Path(path)) as root:
        yield root, sorted(each for each in root.rglob("*.md") if each.is_file())


def _refuse(line: int, reason: str) -> None:
    raise InvalidInput(
        f"{reason} (line {line}). Nothing was imported; correct it, or let the import leave out bad lines."
    )


def _records(path: Path, name: str, bad: Callable[[int, str], None]) -> Iterator[NumberedRecord]:
    """The memories and relations of one file, each with its line."""

    def bad_here(line: int, reason: str) -> None:
        bad(line, f"{name}: {reason}")

    try:
        lines = _lines(path)
        head, start = read_front_matter(lines)
    except InvalidInput as error:
        bad_here(1, str(error))
        return
    parts = _entity if head.get("kind") == "entity" else _texts
    for line, size, kind, plain in parts(head, lines, start, bad_here):
        try:
            record, _ = FULL.parsers[kind](plain)
        except InvalidInput as error:
            bad_here(line, str(error))
            continue
        yield NumberedRecord(line, size, record)


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > SIZE_LIMIT:
            raise InvalidInput(f"The file is larger than {SIZE_LIMIT:,} bytes; split it.")
        # By line feeds alone: a text keeps whatever else it holds.
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The file is not UTF-8 text: byte {error.start + 1} is wrong.") from None
    except OSError as error:
        raise InvalidInput(f"The file cannot be read: {error.strerror}.") from error


_Part = tuple[int, int, str, dict[str, Any]]
"""The line, about how many bytes, the kind of record, and its fields."""


def _texts(
    head: dict[str, Any],  # noqa: ARG001  # each text has all of it in its own comment
    lines: list[str],
    start: int,
    bad: Callable[[int, str], None],
) -> Iterator[_Part]:
    """The texts of a day or a session."""
    place = start
    while place < len(lines):
        line = lines[place]
        place += 1
        if not line.startswith(START):
            if line.strip() and not line.startswith("#"):
                bad(place, "This line belongs to no memory, so it was left out.")
            continue
        first = place
        end = next((at for at in range(first, len(lines)) if lines[at].rstrip() == END), None)
        if end is None:
            bad(first, f"The text has no end; close it with a line {END}")
            return
        said = lines[first:end]
        # An empty line at either end is ours.
        said = said[1:] if said and not said[0].strip() else said
        said = said[:-1] if said and not said[-1].strip() else said
        place = end + 1
        try:
            plain = read_comment(line)
        except InvalidInput as error:
            bad(first, str(error))
            continue
        text = unescaped("\n".join(said))
        yield first, len(text), "memory", {**plain, "text": text}


def _entity(
    head: dict[str, Any], lines: list[str], start: int, bad: Callable[[int, str], None]
) -> Iterator[_Part]:
    """The entity of a file with its observations, and then its relations."""
    plain = {key: value for key, value in head.items() if key not in _NOT_OF_A_MEMORY}
    observations: list[dict[str, Any]] = []
    relations: list[_Part] = []
    for line, item in _items(lines, start, bad):
        text, mark, data = item.rpartition(f" {START}")
        if not mark:
            bad(line, "This item has no comment that says what it is, so it was left out.")
            continue
        try:
            fields = read_comment(f"{START}{data}")
        except InvalidInput as error:
            bad(line, str(error))
            continue
        if "target" in fields:
            relations.append((line, len(item), "relation", {**fields, "source": plain.get("id")}))
        else:
            content = unescaped(text.removeprefix("- ").replace("\n  ", "\n"))
            observations.append({**fields, "content": content})
    size = sum(len(each["content"]) for each in observations)
    yield 1, size, "memory", {**plain, **({"observations": observations} if observations else {})}
    yield from relations


def _items(lines: list[str], start: int, bad: Callable[[int, str], None]) -> Iterator[tuple[int, str]]:
    """The items of all lists, each with the number of its first line. One ends with its comment, or with the
    first line that is not indented."""
    item: list[str] = []
    begun = 0
    for number, line in enumerate([*lines[start:], ""], start=start + 1):
        if item and not line.startswith("  "):
            yield begun, "\n".join(item)  # it has no comment
            item = []
        if line.startswith("- "):
            item, begun = [line], number
        elif item:
            item.append(line)
        elif line.strip() and not line.startswith("#"):
            bad(number, "This line belongs to no observation or relation, so it was left out.")
        if item and f" {START}" in line and line.rstrip().endswith("-->"):
            yield begun, "\n".join(item).rstrip("\r")
            item = []
