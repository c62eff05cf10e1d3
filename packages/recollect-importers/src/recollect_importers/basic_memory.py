"""Read basic-memory's folder of Markdown files: an entity per file, with lists of observations and relations.

- [category] something known #tag (context)
- relation_type [[Another title]] (context)
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from recollect.domain.errors import InvalidInput
from recollect.transfer.importers import (
    BadRow,
    ForeignEntity,
    ForeignFormat,
    ForeignItem,
    ForeignNote,
    ForeignObservation,
    ForeignRelation,
    NotImported,
)
from recollect_importers.conversations import files_below, is_markdown, relative
from recollect_importers.fields import moment_of, split_tags
from recollect_importers.markdown import MarkdownLine, markdown_lines, parse_lines, yaml_front_matter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from recollect.transfer.importers import ForeignSource
    from recollect_importers.markdown import FrontMatter

_MAX_INSPECTED = 50
"""Number of files to inspect when recognising a folder."""
_MAPPED_KEYS = frozenset({"title", "type", "permalink", "tags", "created", "modified", "date"})
_ITEM = re.compile(r"( *)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_RULE = re.compile(r" {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})")
_OBSERVATION = re.compile(r"\[([^\[\]()]+)\]\s+(.+)", re.DOTALL)
# A time or a task's check box is not a category.
_NO_CATEGORY = re.compile(r"\d{1,3}:\d{2}.*|[xX]|[^\w]")
_RELATION = re.compile(
    r"""(?:(?P<word>[^\s\[\]"']\S*)|(?P<quote>["'])(?P<words>.+?)(?P=quote))\s+"""
    r"""\[\[(?P<target>[^\[\]]+)\]\](?:\s*\((?P<context>[^()]*)\))?\s*"""
)
_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s#]+)")
_LINKS_TO = "links_to"
_HEADINGS = frozenset({"observations", "relations"})


class _File(NamedTuple):
    name: str
    """The path relative to the folder, in the same form on every system."""
    front: FrontMatter
    nested: tuple[str, ...]
    """Keys of the front matter with nested values other than lists."""
    body: tuple[MarkdownLine, ...]
    created_at: datetime | None
    updated_at: datetime | None

    def text(self, key: str) -> str:
        value = self.front.get(key, "")
        return value if isinstance(value, str) else ", ".join(value)

    @property
    def title(self) -> str:
        return self.text("title") or self.name.rpartition("/")[2].rpartition(".")[0]

    @property
    def permalink(self) -> str:
        """The permalink of the file, or else its path without the ending."""
        return self.text("permalink") or self.name.rpartition(".")[0]


def _recognises(source: ForeignSource) -> bool:
    for path in islice(_paths(source), _MAX_INSPECTED):
        try:
            file = _read_file(path, path.name)
        except InvalidInput:
            continue
        if {"title", "type", "permalink"} <= file.front.keys():
            return True
        if {"title", "type"} <= file.front.keys() and any(_category(block) for block in _blocks(file.body)):
            return True
    return False


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    root = source.path if source.is_folder else source.path.parent
    files: list[_File] = []
    for path in _paths(source):
        name = relative(path, root)
        try:
            files.append(_read_file(path, name))
        except InvalidInput as error:
            yield BadRow(name, str(error))
    names, by_link = _names(files)
    for file in files:
        yield from _items(file, names[file.name], by_link)
    if source.is_folder:
        for path in files_below(root, lambda name: not is_markdown(name))[0]:
            yield NotImported("files that are not Markdown", relative(path, root))
        for reason in files_below(root, is_markdown)[1]:
            yield BadRow("folder", reason)


def _paths(source: ForeignSource) -> Iterator[Path]:
    if source.is_folder:
        yield from files_below(source.path, is_markdown)[0]
    elif is_markdown(source.path.name) and not source.url:
        yield source.path


def _read_file(path: Path, name: str) -> _File:
    lines = markdown_lines(path)
    front, nested, line_count = yaml_front_matter(lines)
    file_time = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    text = {key: value for key, value in front.items() if isinstance(value, str)}
    # Like basic-memory, use the file's times if the text has none.
    updated = moment_of(text.get("modified")) or file_time
    created = moment_of(text.get("created")) or moment_of(text.get("date")) or min(file_time, updated)
    return _File(name, front, nested, parse_lines(lines[line_count:], line_count + 1), created, updated)


def _names(files: Iterable[_File]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the entity names by file, and by each lower-case name that a link may use.

    The name is the file's title, or its permalink if an earlier file has the same title.
    """
    names: dict[str, str] = {}
    by_link: dict[str, str] = {}
    taken: set[str] = set()
    for file in files:
        name = names[file.name] = file.permalink if file.title.lower() in taken else file.title
        taken.add(file.title.lower())
        path = file.name.rpartition(".")[0]
        # A permalink begins with the project's name; links within the project leave it out.
        in_project = file.permalink.partition("/")[2]
        for link in filter(None, (file.title, file.permalink, in_project, path, path.rpartition("/")[2])):
            by_link.setdefault(link.lower(), name)
    return names, by_link


def _items(file: _File, name: str, by_link: dict[str, str]) -> Iterator[ForeignItem]:
    observations = [
        ForeignObservation(f"{key}: {value if isinstance(value, str) else ', '.join(value)}", "metadata")
        for key, value in file.front.items()
        if key not in _MAPPED_KEYS and value
    ]
    tags = [tag.removeprefix("#") for tag in split_tags(file.front.get("tags"))]
    prose: list[str] = []
    relations: dict[tuple[str, str], str] = {}
    for block in _blocks(file.body):
        links = [(_LINKS_TO, target, "") for target in _LINK.findall(block.text)]
        if block.in_list and (explicit := _RELATION.fullmatch(block.text)):
            links = [(explicit["word"] or explicit["words"], explicit["target"], explicit["context"] or "")]
        elif category := _category(block):
            match = _OBSERVATION.fullmatch(block.text)
            text = match[2] if match and category == match[1].strip() else block.text
            observations.append(ForeignObservation(text.strip(), category.lower()))
            tags += _TAG.findall(text)
        else:
            prose.append(block.raw)
        for type_, target, context in links:
            # `[[Title|as shown]]` and `[[Title#heading]]` lead to the title.
            link = re.split(r"[|#]", target)[0].strip()
            if link:
                relations.setdefault((type_, by_link.get(link.lower(), link)), context)
    yield ForeignEntity(
        name=name,
        type=file.text("type") or "note",
        observations=tuple(observations),
        created_at=file.created_at,
        updated_at=file.updated_at,
        tags=tuple(dict.fromkeys(tags)),
    )
    for (type_, target), context in relations.items():
        yield ForeignRelation(name, type_, target, context, created_at=file.created_at)
    yield from (NotImported("front matter other than texts and lists", key) for key in file.nested)
    text = "\n".join(prose).strip()
    if text and text != f"# {file.title}":
        yield ForeignNote(
            key=file.name,
            text=text,
            created_at=file.created_at,
            updated_at=file.updated_at,
            category=file.text("type") or "note",
            tags=tuple(dict.fromkeys(tags)),
            about=(name,),
        )


class _Block(NamedTuple):
    """An item of a list, a paragraph or a heading."""

    text: str
    """The text on one line, without the list marker."""
    raw: str
    in_list: bool = False
    plain: bool = False
    """Whether it is a heading, rule, quotation, code or blank line, which cannot be an observation."""


def _blocks(lines: Iterable[MarkdownLine]) -> Iterator[_Block]:
    pending: list[str] = []
    in_list = False

    def block() -> _Block:
        item = _ITEM.fullmatch(pending[0]) if in_list else None
        first = item[2] if item else pending[0]
        text = " ".join(filter(None, (first.strip(), *(each.strip() for each in pending[1:]))))
        return _Block(text, "\n".join(pending), in_list)

    for line in lines:
        is_item = _ITEM.fullmatch(line.text) is not None and not line.is_code and not line.level
        is_rule = _RULE.fullmatch(line.text) is not None
        is_item = is_item and not is_rule
        is_plain = line.is_code or is_rule or line.text.lstrip().startswith(">")
        starts_block = is_item or is_plain or line.level or not line.text.strip()
        if pending and starts_block:
            yield block()
            pending, in_list = [], False
        if line.level and line.heading.strip().lower() in _HEADINGS:
            continue
        if is_plain or line.level or not line.text.strip():
            yield _Block("" if line.is_code else line.text, line.text, plain=True)
        else:
            pending.append(line.text)
            in_list = in_list or is_item
    if pending:
        yield block()


def _category(block: _Block) -> str:
    """Return the category of an observation; `note` if it has only a tag; empty for other blocks."""
    if block.plain:
        return ""
    found = _OBSERVATION.fullmatch(block.text)
    if found and not _NO_CATEGORY.fullmatch(found[1].strip()):
        return found[1].strip()
    is_task = re.match(r"\[[ xX-]\]", block.text)
    is_link = re.fullmatch(r"\[[^\]]*\]\([^)]*\)|\[\[[^\]]*\]\]", block.text)
    return "note" if _TAG.search(block.text) and not is_task and not is_link else ""


FORMAT = ForeignFormat("basic-memory", "basic-memory's folder of Markdown", _recognises, _read)
