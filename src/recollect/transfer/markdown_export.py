"""A store as a folder of Markdown files: one for each entity, for each day of notes, and for each session.

What is in force is written, so that people and their editors (Obsidian, for one) can read it, and so that
`markdown_import` can bring it back.
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from contextlib import closing
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from recollect.records import Kind
from recollect.transfer.export_folder import write_manifest
from recollect.transfer.file_names import FileNames
from recollect.transfer.full import plain_fields
from recollect.transfer.markdown_text import END, comment, escaped, front_matter, list_item
from recollect.transfer.progress_count import counted

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.engine.upkeep.transfer import Export
    from recollect.ports import Progress
    from recollect.records import Memory, Observation, Relation, Scope

_MOST_OPEN = 64
"""Files at once: sessions and days take turns."""
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


def write_markdown(found: Export, folder: Path, progress: Progress | None) -> Counter[str]:
    counts: Counter[str] = Counter()
    with closing(_Vault(folder)) as vault:
        for memory in counted(found.memories(), found.count("memory"), progress):
            if memory.deleted_at is not None or memory.superseded_at is not None:
                continue
            if memory.kind is Kind.ENTITY:
                vault.add_entity(memory)
                counts["entities"] += 1
                counts["observations"] += len(memory.in_force)
            else:
                vault.add_text(memory)
                counts["texts"] += 1
        for relation in found.relations():
            counts["relations"] += relation.deleted_at is None and vault.add_relation(relation)
        counts["lines"] = vault.files
    write_manifest(folder, "markdown")
    return counts


class _Vault:
    """The files under way. Those of entities are known by id, since relations link to them by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = FileNames()
        self._entities: dict[int, tuple[str, str]] = {}
        """By id: the folder of an entity's file, and its name without the ending."""
        self._related: set[int] = set()
        self._open: OrderedDict[str, IO[bytes]] = OrderedDict()
        self.files = 0

    def add_entity(self, entity: Memory) -> None:
        folder = f"{self._scope_folder(entity.scope)}entities"
        # An empty folder: a link finds a file by its name alone, wherever it is.
        name = self._names.name("", entity.id, entity.name)
        self._entities[entity.id] = (folder, name)
        kept = replace(entity, observations=(), former=(), absences=(), mentions=())
        plain = plain_fields(kept)
        aliases = {} if name == entity.name else {"aliases": [entity.name]}
        title = escaped(entity.name).replace("\n", " ")
        text = f"{front_matter({'recollect': 1, **plain, **aliases})}\n# {title}\n"
        observations = [list_item(seen.content, _without(seen, "content")) for seen in entity.in_force]
        if observations:
            text += f"\n## Observations\n\n{''.join(observations)}"
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
        said = escaped(memory.text)
        section = f"\n## {_title(memory)}\n{comment(_without(kept, 'text'))}\n\n{said}\n\n{END}\n"
        self._append(f"{path}/{name}.md", section, front_matter({"recollect": 1, **head}))

    def add_relation(self, relation: Relation) -> bool:
        """Whether both of its ends are there."""
        source, target = self._entities.get(relation.source), self._entities.get(relation.target)
        if source is None or target is None:
            return False
        name = _shown(relation.target_name)
        link = f"[[{target[1]}]]" if target[1] == relation.target_name else f"[[{target[1]}|{name}]]"
        text = f"{_shown(relation.type)} {link}"
        if relation.context:
            text += f" ({_shown(relation.context)})"
        start = "" if relation.source in self._related else "\n## Relations\n\n"
        self._related.add(relation.source)
        item = f"- {text} {comment(_without(relation, 'source'))}\n"
        self._append(f"{source[0]}/{source[1]}.md", start + item)
        return True

    def close(self) -> None:
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _scope_folder(self, scope: Scope) -> str:
        """Everything of no owner and no agent stands at the top."""
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
            file = self._opened(path)
        else:
            self._open.move_to_end(path)
        if file.tell() == 0:
            self.files += 1
            text = start + text
        file.write(text.encode())

    def _opened(self, path: str) -> IO[bytes]:
        while len(self._open) >= _MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        whole = self._folder / path
        for folder in reversed(whole.relative_to(self._folder).parents):
            (self._folder / folder).mkdir(mode=0o700, exist_ok=True)
        file = os.fdopen(os.open(whole, _APPEND, 0o600), "ab")
        self._open[path] = file
        return file


def _without(record: Memory | Observation | Relation, field: str) -> dict[str, Any]:
    plain = plain_fields(record)
    del plain[field]
    return plain


def _title(memory: Memory) -> str:
    at = memory.happened_at or memory.created_at
    who = memory.speaker or memory.role or ""
    tags = [f"#{'-'.join(tag.split())}" for tag in memory.tags]
    when = f"{at:%Y-%m-%d %H:%M}" if memory.kind is Kind.MESSAGE else f"{at:%H:%M}"
    return _shown(" · ".join(filter(None, (who, when, memory.category or "", *tags))))


def _shown(text: str) -> str:
    """On one line, and without what would end a link."""
    return escaped(" ".join(text.split())).translate(str.maketrans("[]|", "()/"))
