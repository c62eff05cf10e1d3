"""Resolve pronouns: find those that need the context, and the name that replaces them.

A pronoun may refer to an earlier part of the same text ("I have a dog and she is called Nala"). Otherwise it
may mean a person or place of the turns before, if exactly one is in reach. English and Spanish.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import SMALL_TALK, STOPWORDS, LazyTable, alternatives, by_word
from recollect.text.passages import quotations
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Sort(StrEnum):
    """The kinds of things that a pronoun can mean."""

    MAN = "man"
    WOMAN = "woman"
    GROUP = "group"
    PLACE = "place"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Reference:
    """A pronoun, or a phrase that refers to an earlier text."""

    start: int
    stop: int
    sort: Sort


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A turn just before a message."""

    text: str
    speaker: str | None = None
    is_same_speaker: bool = False


@dataclass(frozen=True, slots=True)
class Referent:
    """A person or place that a text mentions."""

    name: str
    sorts: frozenset[Sort]
    is_certain: bool = True
    """False where it may be meant, but its sort or its name is unknown."""


_PEOPLE = frozenset({Sort.MAN, Sort.WOMAN})
# "They" and "it" often mean things without a name.
_RESOLVED = _PEOPLE | {Sort.PLACE}
_NAME_WORD = r"[A-ZÁÉÍÓÚÑ][a-záéíóúüñ'’-]+"
_NAME = rf"{_NAME_WORD}(?: {_NAME_WORD})?"


def _words(section: str) -> str:
    return alternatives("referents", section)


_PATTERNS = LazyTable(lambda section: re.compile(_words(section), re.IGNORECASE))
"""The lines of each section of `referents.txt` as one pattern."""


TIME_NAMES = re.compile(rf"(?:{alternatives('statements', 'time names')})$")
_MEN, _WOMEN, _EITHER, _GROUPS = map(_words, ("MEN", "WOMEN", "EITHER", "GROUPS"))
_OWNED = re.compile(
    rf"(?<![\w'’])((?i:{_words('OWNERS')})) ((?:[\w-]+ ){{0,2}}?)"
    rf"(?:({_MEN})|({_WOMEN})|({_EITHER})|({_GROUPS}))\b(?:,? ({_NAME_WORD}))?",
)
_AFTER_NO_COPULA = "".join(rf"(?<!\b{copula} )" for copula in _words("IS").split("|"))
_SOMEBODY = re.compile(
    rf"{_AFTER_NO_COPULA}\b(?:{_words('SOME')}) (?:[\w-]+ ){{0,2}}?(?:({_MEN})|({_WOMEN})|{_EITHER})\b",
    re.IGNORECASE,
)
_MALE_TITLE = re.compile(rf"(?:{_words('MALE_TITLES')})\b")
_FEMALE_TITLE = re.compile(_words("FEMALE_TITLES"))
_TITLED = re.compile(
    rf"\b(?:{_words('FEMALE_TITLES')}|{_words('MALE_TITLES')}|{_words('OTHER_TITLES')})\.? {_NAME_WORD}"
)
# A name with a verb whose subject or object is a person.
_ACTS = rf"(?:{_words('ACTS')})\b"
_PERSON = re.compile(rf"(?<![\w'’])(?:({_NAME})(?= {_ACTS})|(?:\b(?:{_words('MET')}) )({_NAME}))")
_PLACE = re.compile(rf"\b(?i:{_words('TO_PLACE')}) (?:(?:{_words('THE')}) )?({_NAME})(?!['’]s)")
_TALKS_TO = re.compile(_words("talks to"))
_ANY_NAME = re.compile(rf"(?<=[\w,;:&)] )(?!I\b)({_NAME})")
_LEADING_NAME = re.compile(rf"({_NAME})(?= \w)")
_FIRST_WORD_NAMES = re.compile(rf"(?:^|[.!?] )({_NAME_WORD})(?:['’]s\b| {_ACTS})")
_COMMON_FIRST = re.compile(rf"(?:{_words('common first')})$")
# Words that a pronoun in the same text may refer to.
_BINDING = {
    Sort.MAN: re.compile(rf"\b(?:{_MEN}|{_EITHER})\b", re.IGNORECASE),
    Sort.WOMAN: re.compile(rf"\b(?:{_WOMEN}|{_EITHER})\b", re.IGNORECASE),
    Sort.GROUP: re.compile(
        rf"(?i:\b(?:{_GROUPS})\b|\b(?:{_words('GROUP_WORDS')}) (?:[\w-]+ )?(?!{_words('NO_GROUPS')})\w+s\b)"
        rf"|{_NAME_WORD} (?:{_words('AND')}|&) {_NAME_WORD}"
    ),
    Sort.PLACE: re.compile(
        rf"\b(?i:{_words('AT_PLACE')}) (?:(?i:{_words('PLACE_ARTICLES')}) \w+|{_NAME_WORD})"
    ),
    Sort.THING: re.compile(
        rf"\b(?i:{_words('THING_ARTICLES')}) [\w-]+"
        rf"|\b\w{{3,}}ing\b|\d|(?<=\w ){_NAME_WORD}|^{_NAME_WORD}!"
    ),
}
_IS_SAME = re.compile(rf"\b(?:{_words('is same')})\b")
_CLAUSE_END = re.compile(rf"[,;:.!?—]|\b(?:{_words('clause ends')})\b", re.IGNORECASE)
_MOVES = re.compile(rf"\b(?:{_words('moves')})(?: back)?$", re.IGNORECASE)
_NO_NOUN = re.compile(_words("no nouns"))
_SENTENCE_FIRST = re.compile(rf"(?:^|[.!?¡¿\n] *)({_NAME_WORD})(?= [a-záéíóú])")
_ADDRESS_END = re.compile(r"\W*(?:$|[,!.?])")
_NO_NAMES = STOPWORDS | SMALL_TALK
_YOURS = by_word("referents", "yours")
_PLACE_WORDS = by_word("referents", "place words")
_BARE_PLACE = re.compile(rf"\b(?:{_words('before place')})$")
_NO_PLACE = re.compile(rf"\b(?:{_words('before no place')})$")


def open_references(text: str) -> list[Reference]:
    """Return the pronouns that refer to nothing earlier in the text, in order; quotations do not count."""
    for start, stop in quotations(text):
        text = text[:start] + "“" * (stop - start) + text[stop:]
    found = [
        Reference(*match.span(), sort)
        for sort in Sort
        for match in _PATTERNS[f"{sort} pronouns"].finditer(text)
        if not _is_bound(text, match, sort)
    ]
    found += [
        Reference(*match.span(), Sort.THING)
        for match in _PATTERNS["pointers"].finditer(text)
        if not _is_clause(text, match)
    ]
    if _PATTERNS["subjectless"].match(text) and not _PATTERNS["unreal subjects"].match(text):
        found.append(Reference(0, 0, Sort.THING))
    return sorted(found, key=lambda one: (one.start, one.stop))


def is_ambiguous(text: str, before: str) -> bool:
    """Whether a pronoun of a text may mean two people of the text before it."""
    sorts = {one.sort for one in open_references(text)} & _PEOPLE
    spoken_of = referents_in(before) if sorts else []
    # "My boss is called Ms. Okafor" is about one person.
    most = 2 if _IS_SAME.search(before) else 1
    return any(sum(sort in one.sorts for one in spoken_of) > most for sort in sorts)


def _is_clause(text: str, match: re.Match[str]) -> bool:
    """Whether `that` begins a clause: "a friend that lives in Rome", "I think that tea is better"."""
    if match[0].lower() != "that" or not (before := re.search(r"(\w+) $", text[: match.start()])):
        return False
    if _PATTERNS["prepositions"].fullmatch(before[1]):
        return False
    return (
        not _PATTERNS["takes object"].fullmatch(before[1])
        or _PATTERNS["clause begins"].match(text, match.end()) is not None
    )


def _is_bound(text: str, match: re.Match[str], sort: Sort) -> bool:
    if sort is Sort.THING and _PATTERNS["expletives"].match(text, match.start()):
        return True
    head = text[: match.start()]
    if match[0].lower() == "him" and not _CLAUSE_END.search(head):
        return False  # "Ana called him": not Ana
    if _BINDING[sort].search(head):
        return True
    if sort not in _PEOPLE:
        return False
    first = _LEADING_NAME.match(head)
    return (
        any(not TIME_NAMES.match(fold(name[1])) for name in _ANY_NAME.finditer(head))
        or bool(first and not _COMMON_FIRST.match(first[1].split()[0]))
        or bool(_FIRST_WORD_NAMES.search(text[: match.start() + 1]))
    )


def replace_pronouns(text: str, references: Sequence[Reference], reach: Sequence[Referent]) -> str | None:
    """Replace the first pronoun of each sort by a name; None where a pronoun cannot be resolved."""
    written = text
    first = {one.sort: one for one in reversed(references)}
    for one in sorted(first.values(), key=lambda one: -one.start):
        fitting = [referent for referent in reach if one.sort in referent.sorts]
        if one.sort not in _RESOLVED or len(fitting) != 1 or not fitting[0].is_certain:
            return None
        put = _in_place_of(text, one, fitting[0].name)
        if put is None:
            return None
        written = written[: one.start] + put + written[one.stop :]
    return written


def _in_place_of(text: str, one: Reference, name: str) -> str | None:
    """Write a name in the form of the pronoun."""
    word = text[one.start : one.stop].lower()
    rest = text[one.stop :]
    if _PATTERNS["irreplaceable"].fullmatch(word):
        return None
    if one.sort is Sort.PLACE:
        before = text[: one.start].rstrip().lower()
        if _BARE_PLACE.search(before) or _NO_PLACE.search(before):
            return name if _BARE_PLACE.search(before) else None
        at, to = _PLACE_WORDS.get(word, "in|to").split("|")
        put = to if _MOVES.search(before) else at
        return f"{put.capitalize() if one.start == 0 else put} {name}"
    name = name[0].upper() + name[1:] if one.start == 0 else name
    possessive = word in {"his", "their"} or (
        word == "her" and re.match(r" [a-z]", rest) and not _NO_NOUN.match(rest)
    )
    if not possessive:
        return name
    return f"{name}’" if name.endswith("s") else f"{name}'s"


def referents_in(text: str, turn: EarlierTurn | None = None) -> list[Referent]:
    """Return the people and places in a text; for an earlier turn, as its listener would name them."""
    found: dict[str, Referent] = {}
    taken: list[tuple[int, int]] = []

    def add(
        name: str, sorts: Iterable[Sort], span: tuple[int, int], known_as: str = "", *, certain: bool = True
    ) -> None:
        if any(start < span[1] and span[0] < stop for start, stop in taken):
            return
        taken.append(span)
        key = fold(known_as or name)
        old = found.get(key)
        kept = frozenset(sorts) if old is None else (frozenset(sorts) & old.sorts or old.sorts)
        longer = name if old is None or len(name) > len(old.name) else old.name
        found[key] = Referent(longer, kept, certain or (old is not None and old.is_certain))

    for match in _OWNED.finditer(text):
        owner, _, man, woman, either, group, name = match.groups()
        sorts = [Sort.MAN] if man else [Sort.WOMAN] if woman else [Sort.GROUP] if group else _PEOPLE
        said, known_as = _possessive_name(match, owner, turn), name or man or woman or either or group
        add(said or match[0], sorts, match.span(), known_as, certain=bool(said))
    for match in _SOMEBODY.finditer(text):  # people without a name
        sorts = [Sort.MAN] if match[1] else [Sort.WOMAN] if match[2] else _PEOPLE
        add(match[0], sorts, match.span(), certain=False)
    for match in _TITLED.finditer(text):
        female, male = _FEMALE_TITLE.match(match[0]), _MALE_TITLE.match(match[0])
        sorts = [Sort.WOMAN] if female else [Sort.MAN] if male else _PEOPLE
        add(match[0], sorts, match.span(), match[0].split()[-1])
    for match in _PERSON.finditer(text):
        name = match[1] or match[2]
        if not TIME_NAMES.match(fold(name)) and not _COMMON_FIRST.match(name.split()[0]):
            add(name, _PEOPLE, match.span(1) if match[1] else match.span(2))
    for match in _PLACE.finditer(text):
        if not TIME_NAMES.match(fold(match[1])) and not _TALKS_TO.search(text[: match.start(1)]):
            add(match[1], [Sort.PLACE], match.span(1))
    for match in _ANY_NAME.finditer(text):  # of unknown sort: it may be meant
        addressed = text[: match.start()].endswith(", ") and _ADDRESS_END.match(text, match.end())
        if not TIME_NAMES.match(fold(match[1])) and not addressed:
            add(match[1], [*_PEOPLE, Sort.PLACE], match.span(1), certain=False)
    for match in _SENTENCE_FIRST.finditer(text):  # not `It's`, not `Painting`
        said = re.split("['’]", fold(match[1]))[0]
        if not (_COMMON_FIRST.match(match[1]) or match[1].endswith("ing") or said in _NO_NAMES):
            add(match[1], [*_PEOPLE, Sort.PLACE], match.span(1), certain=False)
    return list(found.values())


def _possessive_name(match: re.Match[str], owner: str, turn: EarlierTurn | None) -> str:
    """Name a relative, such as `her sister`, from the present speaker's view; empty where unknown."""
    rest, folded = match[0][len(owner) :], owner.lower()
    if folded in _YOURS:
        return _YOURS[folded] + rest if turn and not turn.is_same_speaker else ""
    if turn is None or turn.is_same_speaker:
        return folded + rest
    return f"{turn.speaker}'s{rest}" if turn.speaker and folded == "my" else ""


def in_reach(said: str, before: Sequence[EarlierTurn]) -> list[Referent]:
    """Return the referents that a pronoun may mean: of this message so far, and of the turns before."""
    found: dict[str, Referent] = {}
    speakers = {fold(turn.speaker) for turn in before if turn.speaker}
    for text, turn in ((said, None), *((turn.text, turn) for turn in reversed(before))):
        for one in referents_in(text, turn):
            if fold(one.name) not in speakers:  # they are spoken to
                found.setdefault(fold(one.name), one)
    return list(found.values())
