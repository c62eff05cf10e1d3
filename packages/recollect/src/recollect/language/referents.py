"""Resolve pronouns: find those that refer to earlier turns, and the name that replaces each.

A pronoun may refer to an earlier part of the same text ("I have a dog and she is called Nala"). Otherwise it
is replaced if exactly one person or place of the previous turns fits. English and Spanish.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import SMALL_TALK, STOPWORDS, LazyTable, alternatives, names_by_word
from recollect.text.passages import quotations
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class ReferentKind(StrEnum):
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
    kind: ReferentKind


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
    kinds: frozenset[ReferentKind]
    is_certain: bool = True
    """False if the kind or the name is unknown. Such a referent only makes a pronoun ambiguous."""


_PEOPLE = frozenset({ReferentKind.MAN, ReferentKind.WOMAN})
# The kinds that are resolved. "They" and "it" often mean things without a name.
_RESOLVED = _PEOPLE | {ReferentKind.PLACE}
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
# In "he is a friend", the words "a friend" mention no other person.
_NOT_AFTER_IS = "".join(rf"(?<!\b{copula} )" for copula in _words("IS").split("|"))
_SOMEBODY = re.compile(
    rf"{_NOT_AFTER_IS}\b(?:{_words('SOME')}) (?:[\w-]+ ){{0,2}}?(?:({_MEN})|({_WOMEN})|{_EITHER})\b",
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
_COMMON_SENTENCE_STARTS = re.compile(rf"(?:{_words('common first')})$")
# Words that a pronoun in the same text may refer to.
_ANTECEDENTS = {
    ReferentKind.MAN: re.compile(rf"\b(?:{_MEN}|{_EITHER})\b", re.IGNORECASE),
    ReferentKind.WOMAN: re.compile(rf"\b(?:{_WOMEN}|{_EITHER})\b", re.IGNORECASE),
    ReferentKind.GROUP: re.compile(
        rf"(?i:\b(?:{_GROUPS})\b|\b(?:{_words('GROUP_WORDS')}) (?:[\w-]+ )?(?!{_words('NO_GROUPS')})\w+s\b)"
        rf"|{_NAME_WORD} (?:{_words('AND')}|&) {_NAME_WORD}"
    ),
    ReferentKind.PLACE: re.compile(
        rf"\b(?i:{_words('AT_PLACE')}) (?:(?i:{_words('PLACE_ARTICLES')}) \w+|{_NAME_WORD})"
    ),
    ReferentKind.THING: re.compile(
        rf"\b(?i:{_words('THING_ARTICLES')}) [\w-]+"
        rf"|\b\w{{3,}}ing\b|\d|(?<=\w ){_NAME_WORD}|^{_NAME_WORD}!"
    ),
}
_IS_SAME = re.compile(rf"\b(?:{_words('is same')})\b")
_CLAUSE_END = re.compile(rf"[,;:.!?—]|\b(?:{_words('clause ends')})\b", re.IGNORECASE)
_MOVES = re.compile(rf"\b(?:{_words('moves')})(?: back)?$", re.IGNORECASE)
_NOT_A_NOUN = re.compile(_words("no nouns"))
_SENTENCE_FIRST = re.compile(rf"(?:^|[.!?¡¿\n] *)({_NAME_WORD})(?= [a-záéíóú])")
_ADDRESS_END = re.compile(r"\W*(?:$|[,!.?])")
_NOT_NAMES = STOPWORDS | SMALL_TALK
_YOURS = names_by_word("referents", "yours")
_PLACE_WORDS = names_by_word("referents", "place words")
_TAKES_BARE_PLACE = re.compile(rf"\b(?:{_words('before place')})$")
_TAKES_NO_PLACE = re.compile(rf"\b(?:{_words('before no place')})$")


def open_references(text: str) -> list[Reference]:
    """Return the pronouns that refer to nothing earlier in the text, in order; quotations do not count."""
    for start, stop in quotations(text):
        text = text[:start] + "“" * (stop - start) + text[stop:]
    found = [
        Reference(*match.span(), kind)
        for kind in ReferentKind
        for match in _PATTERNS[f"{kind} pronouns"].finditer(text)
        if not _has_antecedent(text, match, kind)
    ]
    found += [
        Reference(*match.span(), ReferentKind.THING)
        for match in _PATTERNS["pointers"].finditer(text)
        if not _is_clause(text, match)
    ]
    if _PATTERNS["subjectless"].match(text) and not _PATTERNS["unreal subjects"].match(text):
        found.append(Reference(0, 0, ReferentKind.THING))
    return sorted(found, key=lambda one: (one.start, one.stop))


def is_ambiguous(text: str, before: str) -> bool:
    """Whether a pronoun in `text` may mean more than one person in `before`."""
    kinds = {one.kind for one in open_references(text)} & _PEOPLE
    mentioned = referents_in(before) if kinds else []
    # "My boss is called Ms. Okafor" names one person twice.
    allowed = 2 if _IS_SAME.search(before) else 1
    return any(sum(kind in one.kinds for one in mentioned) > allowed for kind in kinds)


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


def _has_antecedent(text: str, match: re.Match[str], kind: ReferentKind) -> bool:
    if kind is ReferentKind.THING and _PATTERNS["expletives"].match(text, match.start()):
        return True
    head = text[: match.start()]
    if match[0].lower() == "him" and not _CLAUSE_END.search(head):
        return False  # "Ana called him": not Ana
    if _ANTECEDENTS[kind].search(head):
        return True
    if kind not in _PEOPLE:
        return False
    first = _LEADING_NAME.match(head)
    return (
        any(not TIME_NAMES.match(fold(name[1])) for name in _ANY_NAME.finditer(head))
        or bool(first and not _COMMON_SENTENCE_STARTS.match(first[1].split()[0]))
        or bool(_FIRST_WORD_NAMES.search(text[: match.start() + 1]))
    )


def replace_pronouns(text: str, references: Sequence[Reference], names: Sequence[Referent]) -> str | None:
    """Replace the first pronoun of each kind by a name; return None if a pronoun cannot be resolved."""
    resolved = text
    first = {reference.kind: reference for reference in reversed(references)}
    for reference in sorted(first.values(), key=lambda reference: -reference.start):
        fits = [referent for referent in names if reference.kind in referent.kinds]
        if reference.kind not in _RESOLVED or len(fits) != 1 or not fits[0].is_certain:
            return None
        replacement = _replacement(text, reference, fits[0].name)
        if replacement is None:
            return None
        resolved = resolved[: reference.start] + replacement + resolved[reference.stop :]
    return resolved


def _replacement(text: str, pronoun: Reference, name: str) -> str | None:
    """Return the name in the form of the pronoun; None if no form fits."""
    word = text[pronoun.start : pronoun.stop].lower()
    rest = text[pronoun.stop :]
    if _PATTERNS["irreplaceable"].fullmatch(word):
        return None
    if pronoun.kind is ReferentKind.PLACE:
        before = text[: pronoun.start].rstrip().lower()
        if _TAKES_BARE_PLACE.search(before) or _TAKES_NO_PLACE.search(before):
            return name if _TAKES_BARE_PLACE.search(before) else None
        at, to = _PLACE_WORDS.get(word, "in|to").split("|")
        preposition = to if _MOVES.search(before) else at
        return f"{preposition.capitalize() if pronoun.start == 0 else preposition} {name}"
    name = name[0].upper() + name[1:] if pronoun.start == 0 else name
    possessive = word in {"his", "their"} or (
        word == "her" and re.match(r" [a-z]", rest) and not _NOT_A_NOUN.match(rest)
    )
    if not possessive:
        return name
    return f"{name}’" if name.endswith("s") else f"{name}'s"


def referents_in(text: str, turn: EarlierTurn | None = None) -> list[Referent]:
    """Return the people and places in a text, named from the view of the present speaker."""
    found: dict[str, Referent] = {}
    taken: list[tuple[int, int]] = []

    def add(
        name: str,
        kinds: Iterable[ReferentKind],
        span: tuple[int, int],
        known_as: str = "",
        *,
        certain: bool = True,
    ) -> None:
        if any(start < span[1] and span[0] < stop for start, stop in taken):
            return
        taken.append(span)
        key = fold(known_as or name)
        old = found.get(key)
        kept = frozenset(kinds) if old is None else (frozenset(kinds) & old.kinds or old.kinds)
        longer = name if old is None or len(name) > len(old.name) else old.name
        found[key] = Referent(longer, kept, certain or (old is not None and old.is_certain))

    for match in _OWNED.finditer(text):
        owner, _, man, woman, either, group, name = match.groups()
        kinds = (
            [ReferentKind.MAN]
            if man
            else [ReferentKind.WOMAN]
            if woman
            else [ReferentKind.GROUP]
            if group
            else _PEOPLE
        )
        phrase, known_as = _possessive_name(match, owner, turn), name or man or woman or either or group
        add(phrase or match[0], kinds, match.span(), known_as, certain=bool(phrase))
    for match in _SOMEBODY.finditer(text):  # people without a name
        kinds = [ReferentKind.MAN] if match[1] else [ReferentKind.WOMAN] if match[2] else _PEOPLE
        add(match[0], kinds, match.span(), certain=False)
    for match in _TITLED.finditer(text):
        female, male = _FEMALE_TITLE.match(match[0]), _MALE_TITLE.match(match[0])
        kinds = [ReferentKind.WOMAN] if female else [ReferentKind.MAN] if male else _PEOPLE
        add(match[0], kinds, match.span(), match[0].split()[-1])
    for match in _PERSON.finditer(text):
        name = match[1] or match[2]
        if not TIME_NAMES.match(fold(name)) and not _COMMON_SENTENCE_STARTS.match(name.split()[0]):
            add(name, _PEOPLE, match.span(1) if match[1] else match.span(2))
    for match in _PLACE.finditer(text):
        if not TIME_NAMES.match(fold(match[1])) and not _TALKS_TO.search(text[: match.start(1)]):
            add(match[1], [ReferentKind.PLACE], match.span(1))
    for match in _ANY_NAME.finditer(text):  # kind unknown: a pronoun may mean it
        addressed = text[: match.start()].endswith(", ") and _ADDRESS_END.match(text, match.end())
        if not TIME_NAMES.match(fold(match[1])) and not addressed:
            add(match[1], [*_PEOPLE, ReferentKind.PLACE], match.span(1), certain=False)
    for match in _SENTENCE_FIRST.finditer(text):  # not words such as `It's` or `Painting`
        word = re.split("['’]", fold(match[1]))[0]
        if not (_COMMON_SENTENCE_STARTS.match(match[1]) or match[1].endswith("ing") or word in _NOT_NAMES):
            add(match[1], [*_PEOPLE, ReferentKind.PLACE], match.span(1), certain=False)
    return list(found.values())


def _possessive_name(match: re.Match[str], owner: str, turn: EarlierTurn | None) -> str:
    """Name a relative, such as `her sister`, from the present speaker's view; return "" if unknown."""
    rest, folded = match[0][len(owner) :], owner.lower()
    if folded in _YOURS:
        return _YOURS[folded] + rest if turn and not turn.is_same_speaker else ""
    if turn is None or turn.is_same_speaker:
        return folded + rest
    return f"{turn.speaker}'s{rest}" if turn.speaker and folded == "my" else ""


def possible_referents(message: str, before: Sequence[EarlierTurn]) -> list[Referent]:
    """Return the people and places in this message so far and in the previous turns, except the speakers."""
    found: dict[str, Referent] = {}
    speakers = {fold(turn.speaker) for turn in before if turn.speaker}
    for text, turn in ((message, None), *((turn.text, turn) for turn in reversed(before))):
        for referent in referents_in(text, turn):
            if fold(referent.name) not in speakers:  # a speaker is "you", not "he" or "she"
                found.setdefault(fold(referent.name), referent)
    return list(found.values())
