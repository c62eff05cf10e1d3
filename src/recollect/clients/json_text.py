"""A server's entry put into JSON, or taken out of it, with everything else left as it was written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from recollect.clients.failures import NotEditable
from recollect.clients.jsonc import is_open, last_comment, parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.clients.jsonc import Member, Node

_BOM = "\ufeff"
_STEP = "  "
_BLANKS = " \t\r\n"


def entry_in(text: str, key: str, name: str, *, comments: bool) -> Any:
    """The entry as it stands; None where there is none."""
    root = _root(text, comments)
    servers = None if root is None else _servers(root, key)
    member = None if servers is None else servers.node.member(name)
    return None if member is None else member.node.value


def with_entry(text: str, key: str, name: str, entry: Mapping[str, Any], *, comments: bool) -> str:
    """The text with this entry among the servers, in place of one of the same name."""
    root = _root(text, comments)
    if root is None:
        return text.strip(_BLANKS) + json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False) + "\n"
    servers = _servers(root, key)
    if servers is None:
        after = _added(text, root, key, {name: entry}, "")
    else:
        before = servers.node.member(name)
        if before is None:
            after = _added(text, servers.node, name, entry, _indent(text, servers))
        else:
            after = text[: before.node.start] + _like(text, before, entry) + text[before.node.end :]
    wanted = {**root.value, key: {**root.value.get(key, {}), name: entry}}
    return _checked(after, wanted, comments)


def without_entry(text: str, key: str, name: str, *, comments: bool) -> str:
    """The text without this entry. The list of servers stays, though it be empty."""
    root = _root(text, comments)
    servers = None if root is None else _servers(root, key)
    if root is None or servers is None or servers.node.member(name) is None:
        return text
    after = _removed(text, servers.node, name)
    rest = {each: value for each, value in servers.node.value.items() if each != name}
    return _checked(after, {**root.value, key: rest}, comments)


def snippet(key: str, name: str, entry: Mapping[str, Any]) -> str:
    """What to paste where no file of ours to write is known."""
    return json.dumps({key: {name: entry}}, indent=2, ensure_ascii=False)


def _root(text: str, comments: bool) -> Node | None:
    """The object that the file is; None for a file that holds nothing."""
    bare = text.removeprefix(_BOM)
    if not bare.strip(_BLANKS):
        return None
    # As many letters, so that places in it are places in the text.
    root = parsed(" " * (len(text) - len(bare)) + bare, comments=comments)
    if not isinstance(root.value, dict):
        raise NotEditable("it holds no JSON object")
    return root


def _servers(root: Node, key: str) -> Member | None:
    servers = root.member(key)
    if servers is not None and not isinstance(servers.node.value, dict):
        raise NotEditable(f"its {key!r} is no JSON object")
    return servers


def _added(text: str, to: Node, key: str, value: Any, outer: str) -> str:
    """`outer` is the indentation of the line on which the object begins."""
    if not to.members:
        newline, step = _newline(text), _step(text)
        kept = "{" + last_comment(text, to.start + 1, to.end - 1)
        member = f"{json.dumps(key, ensure_ascii=False)}: {_pretty(value, outer + step, step, newline)}"
        return f"{text[: to.start]}{kept}{newline}{outer}{step}{member}{newline}{outer}{text[to.end - 1 :]}"
    last = to.members[-1]
    colon = _after_colon(text, last)
    gap = _gap(text, last.start) or colon
    after = last.node.end if last.comma is None else last.comma + 1
    # After a comment that follows the last member, which belongs to that member.
    comments = last_comment(text, after, to.end - 1)
    if "\n" not in gap and is_open(comments):
        gap = _newline(text)
    member = f"{json.dumps(key, ensure_ascii=False)}:{colon}{_rendered(text, value, gap, colon)}"
    comma_before, comma_after = (",", "") if last.comma is None else ("", ",")
    return f"{text[:after]}{comma_before}{comments}{gap}{member}{comma_after}{text[after + len(comments) :]}"


def _removed(text: str, of: Node, name: str) -> str:
    index = next(place for place, each in enumerate(of.members) if each.key == name)
    member = of.members[index]
    before = of.members[index - 1] if index else None
    floor = of.start + 1 if before is None or before.comma is None else before.comma + 1
    start = floor + len(last_comment(text, floor, member.start))
    end = member.node.end
    cuts = [(start, end)]
    if member.comma is not None:
        cuts.append((member.comma, member.comma + 1))
    elif before is not None and before.comma is not None:
        cuts.append((before.comma, before.comma + 1))
    elif start == floor and not last_comment(text, end, of.end - 1):
        cuts = [(start, of.end - 1)]  # the only one: the line breaks around it were for it
    for first, last in sorted(cuts, reverse=True):
        text = text[:first] + text[last:]
    return text


def _like(text: str, before: Member, entry: Mapping[str, Any]) -> str:
    return _rendered(text, entry, _gap(text, before.start), _after_colon(text, before))


def _rendered(text: str, value: Any, gap: str, colon: str) -> str:
    """Over several lines where the members around it are; else on one."""
    if "\n" in gap:
        return _pretty(value, gap.rpartition("\n")[2], _step(text), _newline(text))
    return json.dumps(value, ensure_ascii=False, separators=None if colon else (",", ":"))


def _pretty(value: Any, indent: str, step: str, newline: str) -> str:
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return f"{newline}{indent}".join(lines)


def _after_colon(text: str, member: Member) -> str:
    found = re.compile(r'"(?:[^"\\]|\\.)*"\s*:(\s*)').match(text, member.start)
    space = found.group(1) if found else " "
    return space if space in {"", " "} else " "


def _gap(text: str, start: int) -> str:
    """The blanks before a place."""
    head = text[:start]
    return head[len(head.rstrip(_BLANKS)) :]


def _indent(text: str, member: Member) -> str:
    gap = _gap(text, member.start)
    return gap.rpartition("\n")[2] if "\n" in gap else ""


def _step(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else _STEP


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _checked(after: str, wanted: Any, comments: bool) -> str:
    """Nothing is written that does not read back as what was meant."""
    root = _root(after, comments)
    if root is None or root.value != wanted or list(root.value) != list(wanted):
        raise NotEditable("it is written in a way that we cannot change safely")
    return after
