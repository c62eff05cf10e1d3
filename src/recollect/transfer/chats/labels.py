"""How a turn begins in a Markdown transcript: `**Alice:** …`, `Alice: …`, `## User`, `> **You said**`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from recollect.transfer.chats.things import THINGS

if TYPE_CHECKING:
    from recollect.transfer.chats.lines import Line

Style = Literal["heading", "bold", "plain"]
Role = Literal["user", "assistant", "system"]

STYLES: tuple[Style, ...] = ("heading", "bold", "plain")

_ANYBODY: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "you", "me", "myself", "prompt"), "user"),
    **dict.fromkeys(("assistant", "ai", "ai assistant", "bot", "chatbot", "model", "response"), "assistant"),
    **dict.fromkeys(("system", "system prompt", "tool"), "system"),
}
_ASSISTANT = re.compile(
    r"(?:chat ?gpt|gpt|claude|gemini|bard|copilot|grok|deepseek|llama|mistral|le chat|perplexity)"
    r"(?:[ -][\w.]+){0,3}",
    re.IGNORECASE,
)
_STAMP = (
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[,T]?\s*\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:\s*[ap]\.?m\.?)?"
    r"(?:\s*(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?|\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\.?)?)"
)
# A longer heading is no name with a time.
_TITLE_LIMIT = 100
_BEFORE = rf"(?:[\[(]?(?P<before>{_STAMP})[\])]?[\s,–—-]*)?"
_AFTER = rf"(?:\s{{0,3}}(?:[–—|@,-]|\bat\b|\bon\b)?\s{{0,3}}[\[(]?(?P<after>{_STAMP})[\])]?)?"
_NAME = r"(?P<name>[^\W\d_][\w.'’ -]{0,39}?)"
_BOLD = re.compile(
    rf"(?P<quote>> ?)?(?P<bullet>[-*+] +)?{_BEFORE}"
    r"(?P<mark>\*\*|__)(?P<inner>[^*]{1,80}?)(?P=mark)(?P<tail>.*)",
    re.IGNORECASE,
)
_INNER = re.compile(rf"{_BEFORE}\W*?{_NAME}{_AFTER}\s*(?P<colon>:?)\s*", re.IGNORECASE)
_TAIL = re.compile(rf"{_AFTER}\s*(?P<colon>:?)(?:\s+(?P<rest>.*))?", re.IGNORECASE)
_PLAIN = re.compile(rf"(?P<quote>> ?)?{_BEFORE}{_NAME}{_AFTER}\s{{0,3}}:(?:\s+(?P<rest>.*))?", re.IGNORECASE)
_TITLE = re.compile(rf"[^\w\[(]*{_BEFORE}[^\w\[(]*{_NAME}{_AFTER}[*_]*\s*:?[*_]*\s*", re.IGNORECASE)
_SAID = re.compile(r"\s+(?:said|says|wrote|asked|replied)$", re.IGNORECASE)


class Label(NamedTuple):
    style: Style
    name: str
    role: Role | None
    stamp: str
    rest: str
    """What stands after it on its line."""
    quoted: bool = False
    bare: bool = False
    """Only a word that is known for a speaker makes this a label: it has no colon, or a bullet before it."""

    @property
    def speaker(self) -> str | None:
        """None for `User` and the like, which name nobody."""
        return None if self.name.lower() in _ANYBODY else self.name

    @property
    def is_of_a_thing(self) -> bool:
        return self.name.lower() in THINGS


def label_of(line: Line) -> Label | None:
    if line.coded:
        return None
    if line.level:
        return _heading(line.heading)
    return _bold(line.text) or _plain(line.text)


def _heading(text: str) -> Label | None:
    found = _TITLE.fullmatch(text) if len(text) <= _TITLE_LIMIT else None
    if found is None:
        return None
    stamp = found["before"] or found["after"] or ""
    return _label("heading", found["name"], stamp, "", bare=not stamp)


def _bold(text: str) -> Label | None:
    found = _BOLD.fullmatch(text.strip())
    inner = _INNER.fullmatch(found["inner"]) if found else None
    tail = _TAIL.fullmatch(found["tail"]) if found else None
    if found is None or inner is None or tail is None:
        return None
    stamp = found["before"] or inner["before"] or inner["after"] or tail["after"] or ""
    alone = not inner["colon"] and not tail["colon"]
    rest = tail["rest"] or ""
    if alone and rest:
        return None  # a sentence that begins with a word in bold
    return _label(
        "bold", inner["name"], stamp, rest, quoted=bool(found["quote"]), bare=alone or bool(found["bullet"])
    )


def _plain(text: str) -> Label | None:
    found = _PLAIN.fullmatch(text.rstrip())
    if found is None:
        return None
    stamp = found["before"] or found["after"] or ""
    return _label("plain", found["name"], stamp, found["rest"] or "", quoted=bool(found["quote"]))


def _label(
    style: Style, given: str, stamp: str, rest: str, *, quoted: bool = False, bare: bool = False
) -> Label | None:
    told = " ".join(given.split())
    name = _SAID.sub("", told)
    # Names have capitals, where a script has them; a sentence with a colon has more words than a name.
    if len(name.split()) > 4 or (name[0].islower() and name.lower() not in _ANYBODY):
        return None
    role = _ANYBODY.get(name.lower()) or ("assistant" if _ASSISTANT.fullmatch(name) else None)
    if bare and role is None and name == told:
        return None
    return Label(style, name, role, stamp, rest, quoted, bare)
