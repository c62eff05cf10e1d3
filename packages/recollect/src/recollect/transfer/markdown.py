"""Export a store to a folder of Markdown files that people can edit, and import it again."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections import OrderedDict
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from recollect.domain.errors import InvalidInput
from recollect.domain.records import Kind, Memory, Relation
from recollect.transfer.files import NumberedRecord, read_manifest, report_each, unpacked_folder
from recollect.transfer.line_formats import FULL, plain_fields
from recollect.transfer.reports import count_memory

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator, Sequence

    from recollect.domain.records import Observation, Scope
    from recollect.stores.port import Progress
    from recollect.transfer.moved_rows import Export

# Data is in comments beside the text, since Markdown viewers hide comments.

START = "<!-- recollect "
END = "<!-- /recollect -->"
_MARK = re.compile(r"<!-- (\\*/?recollect)")
_ESCAPED = re.compile(r"<!-- \\(\\*/?recollect)")
# Characters that end a comment, and those that some programs treat as line ends.
_JSON_ESCAPES = {">": "\\u003e", "\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}


def escape_marks(text: str) -> str:
    """Escape text that looks like one of our comments."""
    return _MARK.sub(r"<!-- \\\1", text)


def unescape_marks(text: str) -> str:
    return _ESCAPED.sub(r"<!-- \1", text)


def json_value(value: object) -> str:
    """Write a value on one line that is valid JSON and YAML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    for letter, escape in _JSON_ESCAPES.items():
        text = text.replace(letter, escape)
    return text


def comment(plain: dict[str, Any]) -> str:
    return f"{START}{json_value(plain)} -->"


def read_comment(text: str) -> dict[str, Any]:
    """Read the object in one of our comments."""
    inner = text.strip().removeprefix(START.rstrip()).removesuffix("-->").strip()
    try:
        plain = json.loads(inner)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The comment that begins {text[:40]!a} cannot be read: {error}.") from None
    if not isinstance(plain, dict):
        raise InvalidInput(f"The comment that begins {text[:40]!a} contains no JSON object.")
    return plain


def front_matter(plain: dict[str, Any]) -> str:
    lines = "".join(f"{key}: {json_value(value)}\n" for key, value in plain.items())
    return f"---\n{lines}---\n"


def read_front_matter(lines: list[str]) -> tuple[dict[str, Any], int]:
    """Return the properties between the first two lines of dashes, and how many lines these take.

    Accepts our own form and that of editors: words without quotes, and lists with one item per line.
    """
    if not lines or lines[0].rstrip() != "---":
        raise InvalidInput("The file does not begin with `---`, so it is not a file of an export.")
    plain: dict[str, Any] = {}
    key = ""
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() == "---":
            return plain, number
        name, colon, value = line.partition(":")
        if line.lstrip().startswith("- ") and key:
            items = plain[key] if isinstance(plain[key], list) else []
            plain[key] = [*items, _value(line.lstrip()[2:])]
        elif colon and not line[:1].isspace():
            key = name.strip()
            plain[key] = _value(value)
        elif line.strip():
            raise InvalidInput(f"Line {number} of the file is not `name: value`.")
    raise InvalidInput("The properties at the beginning of the file have no end; close them with `---`.")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip().strip("'")


# File names that every system accepts, each unique in its folder

# Characters that Windows refuses, or that a wiki link cannot contain.
_REFUSED = re.compile(r'[<>:"/\\|?*#^\[\]\x00-\x1f\x7f\u2028\u2029\x85]+')
_WINDOWS_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_MAX_NAME_BYTES = 120
"""Leaves room for a number, an ending, and the suffixes of synchronising programs."""


class FileNames:
    """Unique file names for the items of a folder."""

    def __init__(self) -> None:
        self._name_of: dict[tuple[str, object], str] = {}
        self._taken: set[tuple[str, str]] = set()
        self._last_number: dict[tuple[str, str], int] = {}
        """The last number given to each wanted name."""

    def name(self, folder: str, key: object, wanted: str) -> str:
        """Return the name for a key; no two names differ only in case or Unicode form."""
        known = self._name_of.get((folder, key))
        if known is not None:
            return known
        plain = safe_name(wanted)
        place = folder, _fold_name(plain)
        name, number = plain, self._last_number.get(place, 1)
        while (folder, _fold_name(name)) in self._taken:
            number += 1
            name = f"{plain} ({number})"
        self._last_number[place] = number
        self._taken.add((folder, _fold_name(name)))
        self._name_of[folder, key] = name
        return name


def safe_name(wanted: str) -> str:
    """Return a valid file name near the wanted one, without an ending."""
    name = _REFUSED.sub("-", unicodedata.normalize("NFC", wanted))
    while len(name.encode()) > _MAX_NAME_BYTES:
        name = name[: len(name) * _MAX_NAME_BYTES // len(name.encode())]
    name = name.strip(" .") or "unnamed"
    return f"{name}_" if _WINDOWS_DEVICES.fullmatch(name) else name


def _fold_name(name: str) -> str:
    # A file system may ignore case, or compose accents.
    return unicodedata.normalize("NFD", name).casefold()


# Writing: one file for each entity, for each day of notes, and for each session

_MOST_OPEN = 64
"""Maximum number of open files. Several stay open, since records of sessions and days alternate."""
_APPEND_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


def write_markdown(found: Export, folder: Path, counts: Counter[str], progress: Progress | None) -> None:
    with closing(_Vault(folder)) as vault:
        for memory in report_each(found.memories(), found.count("memory"), progress):
            if memory.deleted_at is not None or memory.superseded_at is not None:
                continue
            count_memory(counts, memory, memory.in_force)
            if memory.kind is Kind.ENTITY:
                vault.add_entity(memory)
            else:
                vault.add_text(memory)
        for relation in found.relations():
            counts["relations"] += relation.deleted_at is None and vault.add_relation(relation)
        counts["lines"] = vault.files


class _Vault:
    """The files of an export in progress. Relations link to the files of entities by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = FileNames()
        self._entities: dict[int, tuple[str, str]] = {}
        """The folder of each entity's file, and its name without the ending, by id."""
        self._with_relations: set[int] = set()
        self._open: OrderedDict[str, IO[bytes]] = OrderedDict()
        self.files = 0

    def add_entity(self, entity: Memory) -> None:
        folder = f"{self._scope_folder(entity.scope)}entities"
        # Unique across folders, since a link finds a file by its name alone.
        name = self._names.name("", entity.id, entity.name)
        self._entities[entity.id] = (folder, name)
        kept = replace(entity, observations=(), former=(), absences=(), mentions=())
        plain = plain_fields(kept)
        aliases = {} if name == entity.name else {"aliases": [entity.name]}
        title = escape_marks(entity.name).replace("\n", " ")
        text = f"{front_matter({'recollect': 1, **plain, **aliases})}\n# {title}\n"
        items = []
        for seen in entity.in_force:
            lines = escape_marks(seen.content).replace("\n", "\n  ")  # further lines are indented
            items.append(f"- {lines} {comment(_without(seen, 'content'))}\n")
        if items:
            text += f"\n## Observations\n\n{''.join(items)}"
        self._append(f"{folder}/{name}.md", text)

    def add_text(self, memory: Memory) -> None:
        at = memory.happened_at or memory.created_at
        day = at.date().isoformat()
        scope = self._scope_folder(memory.scope)
        owner = {key: value for key, value in plain_fields(memory).items() if key in {"owner", "agent"}}
        if memory.kind is Kind.MESSAGE and memory.session:
            path = f"{scope}sessions"
            name = self._names.name(path, memory.session, memory.session)
            head: dict[str, Any] = {"kind": "session", "session": memory.session, **owner}
        else:
            path, name = f"{scope}{memory.kind}s", day
            head = {"kind": f"{memory.kind}s", "date": day, **owner}
        kept = replace(memory, former=(), absences=(), mentions=())
        tags = [f"#{'-'.join(tag.split())}" for tag in memory.tags]
        when = f"{at:%Y-%m-%d %H:%M}" if memory.kind is Kind.MESSAGE else f"{at:%H:%M}"
        parts = (memory.speaker or memory.role, when, memory.category, *tags)
        title = _link_text(" · ".join(filter(None, parts)))
        said = escape_marks(memory.text)
        section = f"\n## {title}\n{comment(_without(kept, 'text'))}\n\n{said}\n\n{END}\n"
        self._append(f"{path}/{name}.md", section, front_matter({"recollect": 1, **head}))

    def add_relation(self, relation: Relation) -> bool:
        """Write a relation; return whether both of its ends were exported."""
        source, target = self._entities.get(relation.source), self._entities.get(relation.target)
        if source is None or target is None:
            return False
        name = _link_text(relation.target_name)
        link = f"[[{target[1]}]]" if target[1] == relation.target_name else f"[[{target[1]}|{name}]]"
        text = f"{_link_text(relation.type)} {link}"
        if relation.context:
            text += f" ({_link_text(relation.context)})"
        start = "" if relation.source in self._with_relations else "\n## Relations\n\n"
        self._with_relations.add(relation.source)
        item = f"- {text} {comment(_without(relation, 'source'))}\n"
        self._append(f"{source[0]}/{source[1]}.md", start + item)
        return True

    def close(self) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _scope_folder(self, scope: Scope) -> str:
        """Return the folder of a scope. A scope without owner and agent has the top folder."""
        path = ""
        if scope.owner:
            path += f"owners/{self._names.name('owners', scope.owner, scope.owner)}/"
        if scope.agent:
            agents = f"{path}agents"
            path = f"{agents}/{self._names.name(agents, scope.agent, scope.agent)}/"
        return path

    def _append(self, path: str, text: str, start: str = "") -> None:
        file = self._open.get(path)
        if file is None:
            while len(self._open) >= _MOST_OPEN:
                self._open.popitem(last=False)[1].close()
            whole = self._folder / path
            for folder in reversed(whole.relative_to(self._folder).parents):
                (self._folder / folder).mkdir(mode=0o700, exist_ok=True)
            file = self._open[path] = os.fdopen(os.open(whole, _APPEND_FLAGS, 0o600), "ab")
        else:
            self._open.move_to_end(path)
        if file.tell() == 0:
            self.files += 1
            text = start + text
        file.write(text.encode())


def _without(record: Memory | Observation | Relation, field: str) -> dict[str, Any]:
    plain = plain_fields(record)
    del plain[field]
    return plain


def _link_text(text: str) -> str:
    """Put a text on one line, without characters that end a link."""
    return escape_marks(" ".join(text.split())).translate(str.maketrans("[]|", "()/"))


# Read a folder that an export wrote, even after people edited it.

MARKDOWN_EXPORT: Literal["markdown-export"] = "markdown-export"
"""The name of this format, to distinguish it from other Markdown."""
SIZE_LIMIT = 256 * 1024 * 1024
"""Maximum bytes of one file, since a file is read whole."""
# The fields are those of the full format, without mentions: the import finds them in the text.
MARKDOWN_VERSION = 1
_OTHER_KEYS = {"recollect", "aliases", "cssclasses"}


def is_markdown_export(path: str | Path) -> bool:
    """Whether this is a folder of a Markdown export, or a zip of one."""
    return read_manifest(Path(path)) == "markdown"


@contextmanager
def open_markdown(path: str | Path, progress: Progress | None, passes: int) -> Iterator[MarkdownFiles]:
    if not is_markdown_export(path):
        raise InvalidInput(
            f"{path} is not an export by `recollect export --format markdown`: its recollect.json is missing "
            "or of another kind. For other Markdown: recollect import FOLDER"
        )
    with unpacked_folder(Path(path)) as root:
        files = sorted(each for each in root.rglob("*.md") if each.is_file())
        yield MarkdownFiles(root, files, progress, passes)


@dataclass(slots=True)
class MarkdownFiles:
    """The files of an export; their records can be read several times."""

    _root: Path
    _files: Sequence[Path]
    _progress: Progress | None
    _passes: int
    _done: int = 0
    read: int = 0
    """The number of records of the last pass, including bad ones."""

    def records(
        self, bad: Callable[[int, str], None], without: str | None = None
    ) -> Iterator[NumberedRecord]:
        """Yield readable records, and call `bad` for others. With any `without`, leave out memories."""

        def count_bad(line: int, reason: str) -> None:
            self.read += 1
            bad(line, reason)

        self.read = 0
        for path in self._files:
            for each in _records(path, path.relative_to(self._root).as_posix(), count_bad):
                self.read += 1
                if without is None or not isinstance(each.record, Memory):
                    yield each
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._passes * len(self._files))

    def finish(self) -> None:
        """Report the end, since planned passes may not be needed."""
        if self._progress is not None:
            self._progress(self._passes * len(self._files), self._passes * len(self._files))


def _records(path: Path, name: str, bad: Callable[[int, str], None]) -> Iterator[NumberedRecord]:
    """Yield the memories and relations of one file, each with its line."""

    def bad_here(line: int, reason: str) -> None:
        bad(line, f"{name}: {reason}")

    try:
        if path.stat().st_size > SIZE_LIMIT:
            bad_here(1, f"The file is larger than {SIZE_LIMIT:,} bytes; split it.")
            return
        # Split at line feeds only: a text keeps other line separators.
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8").split("\n")
        head, start = read_front_matter(lines)
    except UnicodeDecodeError as error:
        bad_here(1, f"The file is not UTF-8 text: byte {error.start + 1} is wrong.")
        return
    except OSError as error:
        bad_here(1, f"The file cannot be read: {error.strerror}.")
        return
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


_ParsedRecord = tuple[int, int, str, dict[str, Any]]
"""The line, its approximate size in bytes, the kind of record, and its fields."""


def _texts(
    head: dict[str, Any],  # noqa: ARG001  # the comment of each text repeats the head
    lines: list[str],
    start: int,
    bad: Callable[[int, str], None],
) -> Iterator[_ParsedRecord]:
    """Yield the texts of a day or a session."""
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
        # Drop the empty line that we add at either end.
        said = said[1:] if said and not said[0].strip() else said
        said = said[:-1] if said and not said[-1].strip() else said
        place = end + 1
        try:
            plain = read_comment(line)
        except InvalidInput as error:
            bad(first, str(error))
            continue
        text = unescape_marks("\n".join(said))
        yield first, len(text), "memory", {**plain, "text": text}


def _entity(
    head: dict[str, Any], lines: list[str], start: int, bad: Callable[[int, str], None]
) -> Iterator[_ParsedRecord]:
    """Yield the entity of a file with its observations, then its relations."""
    plain = {key: value for key, value in head.items() if key not in _OTHER_KEYS}
    observations: list[dict[str, Any]] = []
    relations: list[_ParsedRecord] = []
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
            content = unescape_marks(text.removeprefix("- ").replace("\n  ", "\n"))
            observations.append({**fields, "content": content})
    size = sum(len(each["content"]) for each in observations)
    yield 1, size, "memory", {**plain, **({"observations": observations} if observations else {})}
    yield from relations


def _items(lines: list[str], start: int, bad: Callable[[int, str], None]) -> Iterator[tuple[int, str]]:
    """Yield the items of all lists, each with the number of its first line. An item ends with its comment, or
    before the first line that is not indented."""
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
