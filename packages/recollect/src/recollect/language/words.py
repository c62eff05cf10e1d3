"""Read words and patterns of languages from text files: each folder beside this module is a language.

The file of a topic, such as `en/claims.txt`, has sections: `[name]` on a line of its own, then words, or
patterns, one on a line. A line that begins with a space continues the one before it. A line that begins with
`#` is a comment. Words are written as `tokens.fold` folds them, without case and accents.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pkgutil import get_data
from typing import TypeVar

ENGLISH = "en"
SPANISH = "es"
_HEADING = re.compile(r"^\[([\w ]+)\]\n", re.MULTILINE)
_COMMENT = re.compile(r"^#.*\n", re.MULTILINE)
_CONTINUED = re.compile(r"\n +")
_PART = re.compile(r"<([A-Z_]+)>")
_Value = TypeVar("_Value")


class LazyTable(dict[str, _Value]):
    """Values by name, each computed when it is first read."""

    def __init__(self, make: Callable[[str], _Value]) -> None:
        self._make = make

    def __missing__(self, name: str) -> _Value:
        return self.setdefault(name, self._make(name))


@cache
def languages() -> tuple[str, ...]:
    """Return the languages' codes, English first: if the patterns of two languages match, the first wins."""
    folder = os.path.dirname(__file__)  # noqa: PTH120  # hooks start without pathlib, which is slow to load
    names = (name for name in os.listdir(folder) if len(name) == len(ENGLISH))  # noqa: PTH208  # the same
    return tuple(sorted(names, key=lambda name: (name != ENGLISH, name != SPANISH, name)))


@cache
def sections(topic: str, language: str) -> dict[str, str]:
    """Return the sections of a language's file; empty if the language has no such file."""
    try:
        text = (get_data(__package__, f"{language}/{topic}.txt") or b"").decode()
    except FileNotFoundError:
        return {}
    _, *parts = _HEADING.split(_COMMENT.sub("", text))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def texts(topic: str, section: str, among: Sequence[str] = ()) -> Iterator[str]:
    """Yield the text of a section in each language that has it, or in each of `among`."""
    found = [own[section] for each in among or languages() if section in (own := sections(topic, each))]
    if not (found or among):
        raise KeyError(f"No language has a section [{section}] in {topic}.txt.")
    yield from found


def word_set(topic: str, section: str, among: Sequence[str] = ()) -> frozenset[str]:
    """Return the words of a section in all languages."""
    return frozenset(" ".join(texts(topic, section, among)).split())


def lines(topic: str, section: str, among: Sequence[str] = ()) -> list[str]:
    """Return the lines of a section in all languages; `<PART>` is replaced by the lines of that section."""
    joined = (_CONTINUED.sub("", text) for text in texts(topic, section, among))
    filled = (_PART.sub(lambda part: alternatives(topic, part[1]), text) for text in joined)
    return [line for text in filled for line in text.splitlines() if line]


def alternatives(topic: str, section: str) -> str:
    """Return the lines of a section in all languages as one pattern, without a group around it."""
    return "|".join(lines(topic, section))


def words_by_name(topic: str, section: str, among: Sequence[str] = ()) -> dict[str, str]:
    """Return the words of each name in all languages, from lines such as `name: word word`."""
    found: dict[str, str] = {}
    for line in lines(topic, section, among):
        name, _, words = line.partition(":")
        found[name] = f"{found.get(name, '')} {words}"
    return found


def names_by_word(topic: str, section: str, among: Sequence[str] = ()) -> dict[str, str]:
    """Return the name of each word, from lines such as `name: word word`."""
    named = words_by_name(topic, section, among).items()
    return {word: name for name, words in named for word in words.split()}


def number_words(
    topic: str, section: str, first: int = 1, step: int = 1, among: Sequence[str] = ()
) -> dict[str, int]:
    """Return each word's number: a section lists them in ascending order, synonyms joined by a bar."""
    return {
        word: number * step
        for text in texts(topic, section, among)
        for number, words in enumerate(text.split(), start=first)
        for word in words.split("|")
    }


def month_names(language: str) -> tuple[str, ...]:
    return tuple(name.partition("|")[0] for name in sections("words", language)["months"].split())


def calendar_words(language: str) -> frozenset[str]:
    own = sections("words", language)
    return frozenset(f"{own['months']} {own['weekdays']}".replace("|", " ").split())


STOPWORDS = word_set("words", "stopwords")
ARTICLES = word_set("words", "articles")
FILLERS = word_set("words", "fillers")
FIRST_PERSON = word_set("words", "first_person")
SMALL_TALK = word_set("words", "small_talk")
