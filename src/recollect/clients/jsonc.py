"""JSON with comments and trailing commas, read with the place of every member, so that it can be edited."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from recollect.clients.failures import NotEditable

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_DEEPEST = 200
"""Deeper than any settings, and less deep than Python can recurse."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value, and where it stands: `text[start:end]`."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()
    """Of an object."""

    def member(self, key: str) -> Member | None:
        return next((each for each in self.members if each.key == key), None)


@dataclass(frozen=True, slots=True)
class Member:
    key: str
    start: int
    """Where the key begins."""
    node: Node
    comma: int | None
    """Where the comma after it stands, if there is one."""


def parsed(text: str, *, comments: bool) -> Node:
    """The one value that the text holds. `comments` also allows a comma after the last member."""
    reader = _Reader(text, comments)
    node = reader.value(reader.skipped(0), 0)
    end = reader.skipped(node.end)
    if end != len(text):
        raise reader.wrong(end, "there is something after the end of the value")
    return node


def last_comment(text: str, start: int, end: int) -> str:
    """What stands between two places, up to the end of the last comment; empty where there is none."""
    ends = [found.end() for found in _COMMENT.finditer(text, start, end)]
    return text[start : ends[-1]] if ends else ""


def is_open(comments: str) -> bool:
    """Whether what follows on the same line would belong to the last comment."""
    return any(
        found.end() == len(comments) and found.group()[1] == "/" for found in _COMMENT.finditer(comments)
    )


class _Reader:
    def __init__(self, text: str, comments: bool) -> None:
        self.text = text
        self.comments = comments

    def wrong(self, at: int, what: str) -> NotEditable:
        line = self.text.count("\n", 0, at) + 1
        return NotEditable(f"line {line}: {what if at < len(self.text) else 'it ends too early'}")

    def skipped(self, at: int) -> int:
        """The next place that holds something."""
        found = _TRIVIA.match(self.text, at)
        end = found.end() if found else at
        if not self.comments and _COMMENT.search(self.text, at, end):
            raise self.wrong(at, "there is a comment, which this client's JSON may not have")
        return end

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.wrong(at, "it is nested too deeply")
        match self.text[at : at + 1]:
            case "{":
                return self._object(at, depth)
            case "[":
                return self._array(at, depth)
            case '"':
                return self._token(_STRING, at, "a text is not closed, or holds what a text may not")
            case _:
                return self._token(_SCALAR, at, "this is no JSON value")

    def _token(self, pattern: re.Pattern[str], at: int, otherwise: str) -> Node:
        found = pattern.match(self.text, at)
        if found is None:
            raise self.wrong(at, otherwise)
        try:
            return Node(at, found.end(), json.loads(found.group()))
        except ValueError as error:  # a number with more digits than Python reads
            raise self.wrong(at, str(error)) from error

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Member] = {}
        at = self.skipped(start + 1)
        while self.text[at : at + 1] != "}":
            if members and next(reversed(members.values())).comma is None:
                raise self.wrong(at, "a comma is missing")
            key = self._token(_STRING, at, "a key is missing, or is not in quotes")
            colon = self.skipped(key.end)
            if self.text[colon : colon + 1] != ":":
                raise self.wrong(colon, "a colon is missing")
            node = self.value(self.skipped(colon + 1), depth + 1)
            if key.value in members:
                raise self.wrong(at, f"the key {key.value!r} is there twice")
            comma, at = self._comma(node.end, "}")
            members[key.value] = Member(key.value, key.start, node, comma)
        return Node(
            start, at + 1, {key: each.node.value for key, each in members.items()}, (*members.values(),)
        )

    def _array(self, start: int, depth: int) -> Node:
        values: list[Any] = []
        comma: int | None = start
        at = self.skipped(start + 1)
        while self.text[at : at + 1] != "]":
            if comma is None:
                raise self.wrong(at, "a comma is missing")
            node = self.value(at, depth + 1)
            values.append(node.value)
            comma, at = self._comma(node.end, "]")
        return Node(start, at + 1, values)

    def _comma(self, at: int, closing: str) -> tuple[int | None, int]:
        """The comma after a value, if there is one, and what follows."""
        at = self.skipped(at)
        if self.text[at : at + 1] != ",":
            return None, at
        after = self.skipped(at + 1)
        if not self.comments and self.text[after : after + 1] == closing:
            raise self.wrong(
                at, "there is a comma after the last value, which this client's JSON may not have"
            )
        return at, after
