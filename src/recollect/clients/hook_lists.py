"""Puts our hooks among those that a client's JSON settings list by event, or takes them out."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.clients.entry import NotEditable, SettingsEdit
from recollect.clients.json_text import (
    BLANKS,
    BOM,
    JsonMembers,
    added_member,
    cut_member,
    json_object,
    members_at,
    plain_json,
)
from recollect.lazy_dataclass import dataclass

HOOKS_MODULE = "recollect.hooks"
_KEY = "hooks"


@dataclass(frozen=True, slots=True)
class HookList:
    """`{"hooks": {EVENT: [entry, …]}}`, where an entry is a hook, or a group with `hooks` of its own."""

    comments: bool = False
    """Whether the client reads comments, and a comma after the last value."""
    version: int | None = None
    """What a new file must say beside."""

    def ours_in(self, text: str) -> dict[str, list[dict[str, Any]]]:
        """Our hooks by event, as they stand."""
        events = self._events(json_object(text, comments=self.comments))
        found = {event: _ours(entries) for event, entries in events.items()}
        return {event: hooks for event, hooks in found.items() if hooks}

    def with_hooks(self, text: str, wanted: Mapping[str, Mapping[str, Any]]) -> str:
        """The text with these entries, one for each event, at the end of what is there."""
        content = json_object(text, comments=self.comments)
        if self.version is not None and not text.strip(BOM + BLANKS):
            text = f'{text.strip(BLANKS)}{{\n  "version": {self.version}\n}}\n'
            content["version"] = self.version
        events = self._events(content)
        for event, entry in wanted.items():
            text = self._added(text, event, entry)
            content = {**content, _KEY: {**events, event: [*events.get(event, []), entry]}}
            events = self._events(content)
        return self._checked(text, content)

    def without_hooks(self, text: str) -> str:
        """The text without our hooks, nor what held nothing else."""
        content = copy.deepcopy(json_object(text, comments=self.comments))
        for event in self.ours_in(text):
            text = self._cut_event(text, event)
            left = [_without_ours(entry) for entry in self._events(content)[event]]
            content[_KEY][event] = [entry for entry in left if entry is not None]
            if not content[_KEY][event]:
                del content[_KEY][event]
                if not content[_KEY]:
                    del content[_KEY]
        return self._checked(text, content)

    def snippet(self, wanted: Mapping[str, Mapping[str, Any]]) -> str:
        """What to paste where we could not change the file."""
        return json.dumps(
            {_KEY: {event: [entry] for event, entry in wanted.items()}}, indent=2, ensure_ascii=False
        )

    def _added(self, text: str, event: str, entry: Mapping[str, Any]) -> str:
        if not text.strip(BOM + BLANKS):
            return text.strip(BLANKS) + self.snippet({event: entry}) + "\n"
        root, plain = self._root(text)
        if _KEY not in root.members:
            return added_member(text, root, _KEY, {event: [entry]})
        events = members_at(text, plain, root.members[_KEY].value)
        if event not in events.members:
            return added_member(text, events, event, [entry])
        return added_member(text, members_at(text, plain, events.members[event].value), None, entry)

    def _cut_event(self, text: str, event: str) -> str:
        """Our hooks out of one event; what held no others goes with them."""
        while True:
            root, plain = self._root(text)
            events = members_at(text, plain, root.members[_KEY].value)
            entries = members_at(text, plain, events.members[event].value)
            values = json.loads(plain[entries.start : entries.end])
            place = next((at for at, entry in enumerate(values) if _ours([entry])), None)
            if place is None:
                return text
            if _without_ours(values[place]) is not None:
                group = members_at(text, plain, entries.members[place].value)
                hooks = members_at(text, plain, group.members["hooks"].value)
                inner = next(at for at, hook in enumerate(values[place]["hooks"]) if is_our_hook(hook))
                text = cut_member(text, hooks, inner)
            elif len(values) > 1:
                text = cut_member(text, entries, place)
            elif len(events.members) > 1:
                return cut_member(text, events, event)
            else:
                return cut_member(text, root, _KEY)

    def _root(self, text: str) -> tuple[JsonMembers, str]:
        plain = plain_json(text, comments=self.comments)
        return members_at(text, plain, plain.index("{")), plain

    def _events(self, content: Mapping[str, Any]) -> dict[str, list[Any]]:
        events = content.get(_KEY, {})
        if not isinstance(events, dict) or not all(isinstance(each, list) for each in events.values()):
            raise NotEditable(f"its {_KEY!r} is no JSON object of lists")
        return events

    def _checked(self, after: str, wanted: Mapping[str, Any]) -> str:
        """Nothing is written that does not read back as what was meant."""
        if json_object(after, comments=self.comments) != wanted:
            raise NotEditable("its hooks are written in a way that we cannot change safely")
        return after


def edit_to_install_hooks(
    list_: HookList, before: str | None, wanted: Mapping[str, Mapping[str, Any]]
) -> SettingsEdit:
    """Put the hooks in; ours that are there already are brought up to date."""
    text = before or ""
    there = list_.ours_in(text)
    if there == {event: _ours([entry]) for event, entry in wanted.items()}:
        return SettingsEdit(before, before)
    bare = list_.without_hooks(text) if there else text
    return SettingsEdit(before, list_.with_hooks(bare, wanted), needs_backup=not there)


def edit_to_uninstall_hooks(list_: HookList, before: str | None, original: str | None) -> SettingsEdit:
    """Take them out. `original` is what was there before we put them in, as far as it was kept."""
    if before is None or not (there := list_.ours_in(before)):
        return SettingsEdit(before, before)
    # Where nothing else has changed since, the file is as it was before us, to the letter.
    entries = {event: found for event in there if (found := _entry_of(list_, before, event)) is not None}
    for candidate in (original, None):
        try:
            if not list_.ours_in(candidate or "") and list_.with_hooks(candidate or "", entries) == before:
                return SettingsEdit(before, candidate)
        except NotEditable:
            continue
    return SettingsEdit(before, list_.without_hooks(before))


def _entry_of(list_: HookList, text: str, event: str) -> dict[str, Any] | None:
    entries = json_object(text, comments=list_.comments)[_KEY][event]
    return next((entry for entry in entries if _ours([entry]) and _without_ours(entry) is None), None)


def is_our_hook(hook: Any) -> bool:
    """Whether a hook's command runs our module, whichever Python it names."""
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and HOOKS_MODULE in command.replace('"', " ").replace("'", " ").split()


def _ours(entries: Sequence[Any]) -> list[dict[str, Any]]:
    hooks = []
    for entry in entries:
        inner = entry.get("hooks") if isinstance(entry, dict) else None
        hooks += [hook for hook in (inner if isinstance(inner, list) else [entry]) if is_our_hook(hook)]
    return hooks


def _without_ours(entry: Any) -> Any:
    """What is left of an entry; None where it held only ours."""
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(inner, list):
        return None if is_our_hook(entry) else entry
    left = [hook for hook in inner if not is_our_hook(hook)]
    return {**entry, "hooks": left} if left or not inner else None
