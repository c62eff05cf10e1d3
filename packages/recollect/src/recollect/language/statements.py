"""Extract the sentences of a message that are worth keeping, by rules: see docs/internals/extraction.md.

The words and patterns are in `statements.txt` of each language. They match a folded sentence without its
quotations.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.questions import is_english_or_spanish
from recollect.language.referents import (
    TIME_NAMES,
    EarlierTurn,
    is_ambiguous,
    open_references,
    possible_referents,
    replace_pronouns,
)
from recollect.language.words import (
    FIRST_PERSON,
    SMALL_TALK,
    STOPWORDS,
    LazyTable,
    alternatives,
    languages,
    lines,
    sections,
    word_set,
)
from recollect.text.passages import LIST_MARKER, is_prose, quotations, sentences
from recollect.text.tokens import fold, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet


def _words(section: str) -> str:
    return alternatives("statements", section)


def _sections(prefix: str) -> list[str]:
    """Return the names of all sections, in any language, that begin with the prefix."""
    names = (name for language in languages() for name in sections("statements", language))
    return [name for name in dict.fromkeys(names) if name.startswith(prefix)]


def _patterns(prefix: str) -> dict[str, re.Pattern[str]]:
    """Return one pattern for each of these sections, by the rest of its name."""
    return {
        name.removeprefix(prefix): re.compile("|".join(f"(?:{line})" for line in lines("statements", name)))
        for name in _sections(prefix)
    }


_PATTERNS = LazyTable(lambda section: re.compile(_words(section)))
"""The lines of each section of `statements.txt` as one pattern."""


class Category(StrEnum):
    """The kinds of notes, as Cognis names them."""

    IDENTITY = "identity"
    RELATIONSHIPS = "relationships"
    WORK_CAREER = "work_career"
    LEARNING = "learning"
    WELLNESS = "wellness"
    LIFESTYLE = "lifestyle"
    INTERESTS = "interests"
    PREFERENCES = "preferences"
    PLANS_GOALS = "plans_goals"
    EXPERIENCES = "experiences"
    OPINIONS = "opinions"
    CONTEXT = "context"
    MISC = "misc"
    """The category if no other fits."""


POINTS = {
    sign: points
    for points, signs in {
        3: "explicit standing",
        2: "decision",
        1: "speaker someone state habit preference plan event time number opinion health named",
        0: "relative subject",
        -1: "addressee hedge general pointing",
        -2: "reaction",
    }.items()
    for sign in signs.split()
}
"""Points that each sign adds once; `named` and `subject` follow from capital letters, not from a pattern."""
SIGNS = _patterns("sign ")
DROPS = _patterns("drop ")
ENOUGH = 2
"""A sentence with this many points is kept by itself."""
FOLLOWING_ENOUGH = 1
"""A sentence with this many points is kept with the sentence before it, if it refers to that one."""
IMPORTANCE = 0.5
IMPORTANCES: dict[str, float] = {
    "explicit": 0.9,
    "health": 0.9,
    "standing": 0.8,
    "decision": 0.7,
    Category.IDENTITY: 0.7,
    "plan": 0.6,
}
"""The importance that a sign or a category gives a statement; the highest counts."""
LONGEST_MESSAGE = 1_500
"""In characters. Longer messages are assumed to contain pasted text."""
OPENING_LENGTH = 600
"""Number of characters that are read of a longer message."""
LONGEST_ABOUT_OTHERS = 300
"""In characters. Statements about others in a longer message are often a story or a document."""
MOST_SENTENCES = 3
"""Maximum number of sentences in one statement."""


@dataclass(frozen=True, slots=True)
class FoundStatement:
    """A statement that needs no context: the speaker's own words, with names for some pronouns."""

    text: str
    category: Category
    importance: float
    start: int
    stop: int
    signs: frozenset[str]
    """The signs that earned its points."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One sentence, or several consecutive ones, with points."""

    start: int
    stop: int
    number: int
    """Its place among all sentences, kept or not."""
    plain: str
    points: int
    signs: frozenset[str]
    follows: bool
    """Whether it refers to the sentence before it, in the same line."""
    text: str
    sentences: int = 1


def statements_in(text: str, before: Sequence[EarlierTurn] = ()) -> tuple[FoundStatement, ...]:
    """Return the statements of a message that are worth keeping and need no context, in order."""
    if not is_english_or_spanish(words(text)):
        return ()
    kept: list[_Candidate] = []
    for candidate in _candidates(text):
        last = kept[-1] if kept else None
        joined = _join(text, last, candidate) if last else None
        if joined:
            kept[-1] = joined
        elif candidate.points >= ENOUGH:
            alone = _resolve_references(text, candidate, before)
            if alone and is_worth_keeping(alone.plain, alone.signs):
                kept.append(alone)
    found: dict[str, FoundStatement] = {}
    for each in kept:
        statement_text = each.text
        for pattern, later in _RELATIVE_DATES:  # "recently" for "the other day"
            statement_text = pattern.sub(later, statement_text)
        category = category_of(each.plain, each.signs)
        importance = max(IMPORTANCES.get(name, IMPORTANCE) for name in (*each.signs, category))
        statement = FoundStatement(statement_text, category, importance, each.start, each.stop, each.signs)
        found.setdefault(statement_text, statement)
    return tuple(found.values())


def _join(text: str, last: _Candidate, candidate: _Candidate) -> _Candidate | None:
    """Join two sentences into one statement, if the second refers to the first."""
    if not candidate.follows or candidate.number != last.number + 1 or last.sentences == MOST_SENTENCES:
        return None
    between = text[last.stop : candidate.start]
    whole = last.text + between + candidate.text
    if not _PAUSE.fullmatch(between) or candidate.points < FOLLOWING_ENOUGH or _YOU.search(candidate.plain):
        return None
    unclear = not concrete_terms(words(candidate.plain)) or open_references(whole)
    if unclear or is_ambiguous(candidate.text, last.text):
        return None
    return replace(
        last,
        stop=candidate.stop,
        number=candidate.number,
        plain=f"{last.plain} {candidate.plain}",
        signs=last.signs | candidate.signs,
        text=whole,
        sentences=last.sentences + 1,
    )


def _resolve_references(text: str, candidate: _Candidate, before: Sequence[EarlierTurn]) -> _Candidate | None:
    if candidate.signs & {"explicit", "standing"}:
        return candidate  # the speaker asks for it to be kept as it is
    if _YOU.search(candidate.plain):
        return None
    references = open_references(candidate.text)
    if not references:
        return candidate
    names = possible_referents(text[: candidate.start], before)
    named = replace_pronouns(candidate.text, references, names)
    if named is None:
        return None
    plain = _plain(named)
    return replace(candidate, text=named, plain=plain, signs=candidate.signs | _signs(named, plain))


def _candidates(text: str) -> Iterator[_Candidate]:
    last = 0
    for number, (start, stop) in enumerate(sentences(text)):
        begin = start
        while before := _LEAD.match(text, begin, stop) or LIST_MARKER.match(text, begin, stop):
            begin = before.end()  # the start of the content
        explicit = _EXPLICIT.match(text, begin, stop)
        begin = explicit.end() if explicit else begin
        if len(text) > LONGEST_MESSAGE and begin > OPENING_LENGTH:
            return  # the rest is pasted
        end = stop
        if tail := _TAIL.search(text, begin, stop):
            end = begin + len(_LOOSE_END.sub("", text[begin : tail.start()]))
            if len(text[begin:end].split()) < _LEAST_BEFORE_TAIL:
                continue
        sentence = text[begin:end]
        plain = _plain(sentence)
        if len(plain.split()) < 2 or not is_prose(sentence):
            continue
        signs = _signs(sentence, plain) | ({"explicit"} if explicit else set())
        if (_LABEL.match(sentence) or sentence.count("\n") > 1) and not explicit:
            continue
        allowed = _ALLOWED_IF_EXPLICIT if signs & {"explicit", "standing"} else frozenset()
        dropped = any(pattern.search(plain) for name, pattern in DROPS.items() if name not in allowed)
        if "speaker" not in signs and not explicit and len(text) > LONGEST_ABOUT_OTHERS:
            continue
        if not dropped and not (SIGNS["reaction"].match(plain) and not explicit):
            points = sum(POINTS[sign] for sign in signs)
            follows = bool(_PATTERNS["follows"].match(plain)) and "\n" not in text[last:begin]
            yield _Candidate(begin, end, number, plain, points, frozenset(signs), follows, sentence)
            last = end


def _signs(sentence: str, plain: str) -> set[str]:
    found = {name for name, pattern in SIGNS.items() if pattern.search(plain)}
    first = _NAME_FIRST.match(sentence)
    inside = (match[1] for match in _CAPITAL.finditer(sentence) if not sentence.isupper())
    if first is not None and fold(first[0].split()[0]) not in _NOT_NAMES:
        found |= {"subject"} if sentence.isupper() else {"named", "subject"}
    elif any(not TIME_NAMES.match(fold(name)) for name in inside):
        found.add("named")
    lower = sentence.lower()
    if any(not _PATTERNS["no past"].fullmatch(match[0]) for match in _FIRST_PAST.finditer(lower)):
        found |= {"speaker", "event"}
    if any(not _PATTERNS["no past"].fullmatch(match[0]) for match in _THIRD_PAST.finditer(lower)):
        found.add("event")
    return found


def _plain(sentence: str) -> str:
    """Return the sentence without case, accents and quotations."""
    for start, stop in reversed(quotations(sentence)):
        sentence = f"{sentence[:start]}“”{sentence[stop:]}"
    return " ".join(fold(sentence.replace("’", "'")).split())


_LEAD = re.compile(
    rf"(?:(?:(?i:{_words('lead')})(?: [A-ZÁÉÍÓÚÑ]\w+| there)?\s*(?:[,!:;…—-]|\.\.\.)+\s*)"
    rf"|(?i:{_words('lead links')})\s+(?=\w))+"
)
"""Openings before the statement itself."""
_EXPLICIT = re.compile(
    rf"(?:(?:{_words('please')})[, ]\s*)?(?:(?:{_words('explicit verbs')})(?: (?:{_words('that')})|:)\s+"
    rf"|(?:{_words('explicit openings')})[,:]?\s+)",
    re.IGNORECASE,
)
# A label, a heading, a table cell or bold words: layout, not a statement.
_LABEL = re.compile(
    r"(?:[A-Z][\w’'/&-]*)(?: [A-Z(&][\w’'/&()-]*){0,4}(?:\*\*)?:|.*(?:\*\*|,,,|\[|\t| \| )", re.DOTALL
)
_RELATIVE_DATES = [
    (re.compile(rf"\b{own['some day'].strip()}\b", re.IGNORECASE), own["some day later"].strip())
    for own in (sections("statements", language) for language in languages())
    if "some day" in own
]
_PAUSE = re.compile(r"[\s.!…]*")
_LEAST_BEFORE_TAIL = 5
# Reasons to drop a sentence that do not apply if the speaker asks to remember it.
_ALLOWED_IF_EXPLICIT = frozenset({"request", "about_talk", "intention", "feeling", "fragment"})
_LOOSE_END = re.compile(rf"(?:[\s,;:–—-]|\b(?:{_words('loose ends')})\b)+$", re.IGNORECASE)
_TAIL_LINKS = _words("tail links")
# Questions that a speaker adds to a statement.
_TAIL = re.compile(
    rf"(?:(?:,\s+|\s+(?=(?:{_TAIL_LINKS}) ))(?:(?:{_TAIL_LINKS})\s+)*(?:{_words('tails')})"
    rf"|,?\s+(?:{_words('tail questions')})).*$",
    re.IGNORECASE | re.DOTALL,
)
_YOU = re.compile(rf"\b(?:{_words('you')})\b")
_NOT_NAMES = STOPWORDS | SMALL_TALK
# A capitalised word inside a sentence, except a person addressed at the end or before a comma.
_CAPITAL = re.compile(
    r"(?<=[\w,;:&)] )(?!I\b)(?!(?<=, )[A-ZÁÉÍÓÚÑ]\w*\W*$)(?!(?<=,"
    r" )[A-ZÁÉÍÓÚÑ]\w*[,!])([A-ZÁÉÍÓÚÑ][\w’'&-]*)"
)
_NAME = r"[A-ZÁÉÍÓÚÑ][\w’'-]+"
# A name followed by a verb.
_NAME_FIRST = re.compile(
    rf"(?!(?:{_words('no name first')})\b)(?:(?:{_words('titles')})\. )?"
    rf"{_NAME}(?: (?:(?:{_words('and')}|&) )?{_NAME})* "
    rf"(?:(?:{_words('is')})(?= (?:{_words('is what')})\b)|{_words('name does')})\b"
)
_FIRST_PAST = re.compile(r"\b\w{2,}[éí]\b")
_THIRD_PAST = re.compile(r"\b\w{2,}ó\b")

# The topic of a statement: the thirteen category names of Cognis, and the clues to each. The most points
# win, and ties go to the category named first.


def _clues() -> list[tuple[Category, int, re.Pattern[str]]]:
    found: dict[tuple[str, str], list[str]] = {}
    for name in _sections("clues "):
        for line in lines("statements", name):
            label, _, pattern = line.partition(": ")
            found.setdefault((name, label), []).append(pattern)
    return [
        (Category(name.split()[1]), int(name.split()[2]), re.compile("|".join(patterns)))
        for (name, _), patterns in found.items()
    ]


_CLUES = _clues()


def category_of(plain: str, signs: AbstractSet[str]) -> Category:
    """Return the category of a folded statement with these signs."""
    points: Counter[Category] = Counter()
    for category, worth, pattern in _CLUES:
        points[category] += worth * (pattern.search(plain) is not None)
    if "event" in signs and signs & {"speaker", "named", "someone"}:
        points[Category.EXPERIENCES] += 2 + ("time" in signs)
    return max(Category, key=lambda category: points[category]) if any(points.values()) else Category.MISC


# Whether a sentence states a fact, rather than a feeling, a saying or small talk.

_EMPTY_WORDS = STOPWORDS | SMALL_TALK | FIRST_PERSON | word_set("words", "vague_words")
_VERBS = frozenset({"state", "habit", "preference", "plan", "decision", "event", "health", "opinion"})
_ANCHORS = ("named", "number", "time", "relative", "health", "preference", "decision", "opinion")
"""Signs that tie a sentence to a person or a thing; each counts as a term."""
_SHORT = 8
ENOUGH_TERMS = 4
"""The terms and anchors that make a sentence worth keeping; a short one about the speaker needs two."""
_LEAST_SHARE = 0.34


def is_worth_keeping(plain: str, signs: AbstractSet[str]) -> bool:
    """Whether to keep a folded sentence without quotations, by its words and signs."""
    if signs & {"explicit", "standing"}:
        return bool(concrete_terms(words(plain)))
    likes_something_shown = _PATTERNS["likes the"].match(plain) and not signs & {"named", "number"}
    if (
        not signs & _VERBS
        or not _has_subject(plain, signs)
        or _PATTERNS["points back"].match(plain)
        or likes_something_shown
    ):
        return False
    found = words(plain)
    terms = concrete_terms(found)
    anchors = {anchor for anchor in _ANCHORS if anchor in signs}
    if len(found) <= _SHORT:
        return _is_short_fact(plain, signs, anchors, len(terms))
    content = [word for word in found if word not in STOPWORDS]
    if len(terms) < 2 or len(terms) < _LEAST_SHARE * len(content) / max(1, len(anchors)):
        return False
    if not anchors:
        return (
            len(terms) > ENOUGH_TERMS
            and bool(_PATTERNS["does"].match(plain))
            and not _PATTERNS["denies"].search(plain)
        )
    enough = ENOUGH_TERMS if len(found) > _SHORT + 2 else ENOUGH_TERMS - 1
    return len(terms) + len(anchors) >= enough and (len(anchors) > 1 or not _PATTERNS["denies"].search(plain))


def _has_subject(plain: str, signs: AbstractSet[str]) -> bool:
    """Whether it is about the speaker, a named person, or a thing with a date or a number."""
    if "subject" in signs or ("decision" in signs and _PATTERNS["decides"].match(plain)):
        return True
    if _ENGLISH_SPEAKER.search(plain):
        return _SPEAKER_FIRST.match(plain) is not None
    if "speaker" in signs:
        return not _PATTERNS["only object"].search(plain)
    return bool(_PATTERNS["definite first"].match(plain) and signs & {"plan", "number"})


def _is_short_fact(plain: str, signs: AbstractSet[str], anchors: AbstractSet[str], terms: int) -> bool:
    # "We've got the file": which file depends on the context.
    definite = _PATTERNS["definite"].search(plain) is not None
    if not terms or (definite and anchors <= {"preference", "relative"} and terms < _FEW):
        return False
    own = _PATTERNS["own"].match(plain) is not None
    match anchors:
        case _ if definite and "subject" in signs and not signs & {"time", "number"}:
            is_fact = False
        case _ if anchors == {"time"}:
            is_fact = terms > 1 or own or "plan" in signs
        case _ if anchors:
            is_fact = own or terms + len(anchors) >= _FEW or bool(anchors & _STRONG)
        case _ if own and not definite:
            is_fact = terms > 1 or bool(signs & {"state", "habit"})
        case _ if "event" in signs and "speaker" in signs:
            is_fact = terms >= _FEW - bool(_PATTERNS["takes"].match(plain)) and (
                not definite or "my" in plain.split()
            )
        case _:
            is_fact = "plan" in signs and terms > 1 and not definite
    return is_fact


_FEW = 3
_STRONG = frozenset({"health", "relative", "preference"})
_ENGLISH_SPEAKER = re.compile(rf"\b(?:{_words('SPEAKER')})\b")
_SPEAKER_FIRST = re.compile(rf"(?:[\w'’&-]+[,.]? ){{0,6}}?(?:{_words('SPEAKER')})\b")


def concrete_terms(found: list[str]) -> set[str]:
    """Return the folded words that a sentence is about."""
    return {word for word in found if word not in _EMPTY_WORDS and (len(word) > 2 or word.isdigit())}
