"""Read the wording of questions and texts: the shape of the answer, its time, and the language.

The shape is read in English, Spanish and German. In other languages, any text may answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Literal

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import ENGLISH, SPANISH, alternatives, languages, sections, word_set
from recollect.text.tokens import compile_later, fold, words

if TYPE_CHECKING:
    from collections.abc import Iterable


# The shape of the answer that a question asks for


class AnswerShape(StrEnum):
    CODE = "code"
    """At least two digits: a telephone number, a code, a number plate."""
    NUMBER = "number"
    DATE = "date"
    ADDRESS = "address"


@cache
def _pattern(section: str) -> re.Pattern[str]:
    """Compile the lines of a section into a pattern of whole folded words."""
    return re.compile(rf"\b(?:{alternatives('questions', section)})\b")


# From the narrowest to the widest: the pattern of a value, and the section of words that are such a value.
_SHAPES = {
    AnswerShape.ADDRESS: ("@", None),
    AnswerShape.CODE: (r"\d[\d\s./-]*\d", None),
    AnswerShape.NUMBER: (r"\d", "numerals"),
    AnswerShape.DATE: (r"\d", "dates"),
}


def answer_shape(question: str) -> AnswerShape | None:
    """Return the narrowest shape that the question asks for; None if any text may answer."""
    folded = fold(question)
    return next((shape for shape in _SHAPES if _pattern(f"asks {shape}").search(folded)), None)


def has_shape(text: str, shape: AnswerShape) -> bool:
    """Whether the text contains a value of this shape."""
    folded, (letters, section) = fold(text), _SHAPES[shape]
    found = re.search(letters, folded) or (section and _pattern(section).search(folded))
    return bool(found)


# The tense of a question: whether it asks about the present or the past.


class QuestionTense(StrEnum):
    NOW = "now"
    """Asks explicitly about the present: `current`, `still`, `ahora`."""
    PAST = "past"
    """Asks about the past: `used to`, `previous`, `antes`."""
    OPEN = "open"
    """Does not name a time; the present is meant."""


# In a longer text, the question is at the end.
_LETTERS = 500
_PAST_LAST = word_set("questions", "past last")


def question_tense(question: str) -> QuestionTense:
    """Return the tense, by words of English and Spanish, and a few words of four other languages."""
    folded = fold(question[-_LETTERS:])
    if _pattern("past").search(folded) or not _PAST_LAST.isdisjoint(words(folded)[-1:]):
        return QuestionTense.PAST
    return QuestionTense.NOW if _pattern("now").search(folded) else QuestionTense.OPEN


# Questions about time: what happened or was said at a time, and when something happened

_SAYING_WORDS = word_set("questions", "saying words")
OPEN_WORDS = _SAYING_WORDS | word_set("questions", "happening words")
"""Words of questions that ask for anything at all: `what happened`, `what did she say`."""


@cache
def _question_pattern(section: str) -> re.Pattern[str]:
    return re.compile(alternatives("questions", section), re.DOTALL)


def asks_openly(text: str) -> bool:
    """Whether the text asks for everything that happened: `what happened at work`, `qué pasó`."""
    return _question_pattern("asks openly").search(fold(text)) is not None


def asks_what_was_said(text: str) -> bool:
    """Whether the text asks what was said, so that its time is that of speaking: `what did I tell you`."""
    return not _SAYING_WORDS.isdisjoint(words(text))


def asks_when(text: str) -> bool:
    """Whether the answer is a time: `when did`, `which year`, `how long ago`, `cuándo`."""
    return _question_pattern("asks when").search(fold(text)) is not None


# Signs that a prompt is about the user's own life, or that it needs no memory

_MINE = word_set("questions", "own words")
_WRITTEN = re.compile(r"[^\W\d_][\w'’-]+")
_BEGINS = frozenset('.!?:"“„«»(¿¡\n')
_POSSESSIVE = re.compile(r"['’]s?$")
_QUOTED = re.compile(r"[\"“„«»”][^\"“„«»”]{8,}[\"“”»«]")
_CODE = re.compile(
    r"[{}\[\]=<>`|\\]|->|\(\)|\b(?:python|javascript|typescript|rust|java|regexp?|sql|css|html|json|yaml|git|npm|"
    r"docker|latex|excel|bash|linux|pandas|http|api|dataframes?)\b"
)
# A greeting is small talk if the prompt says little else.
_SMALL_TALK_WORDS = 6


@dataclass(frozen=True, slots=True)
class PromptSigns:
    names: tuple[str, ...]
    """Words that are written as names, folded."""
    is_personal: bool
    quotes: bool
    """Whether the prompt includes the text that it is about."""
    has_code: bool
    is_errand: bool
    is_general: bool


def prompt_signs(prompt: str) -> PromptSigns:
    folded, said = fold(prompt), words(prompt)
    small_talk = len(said) <= _SMALL_TALK_WORDS and _pattern("greetings").search(folded) is not None
    return PromptSigns(
        names=written_names(prompt),
        is_personal=not _MINE.isdisjoint(said),
        quotes=_QUOTED.search(prompt) is not None,
        has_code=_CODE.search(folded) is not None,
        is_errand=_pattern("errands").search(folded) is not None,
        is_general=small_talk or _pattern("general").search(folded) is not None,
    )


def written_names(text: str) -> tuple[str, ...]:
    """Return capitalised words inside sentences, folded and without `'s`; no abbreviations such as TV."""
    names = []
    for found in _WRITTEN.finditer(text):
        before = text[: found.start()].rstrip(" ")
        capital = found[0][0].isupper() and not found[0].isupper()
        if capital and before and before[-1] not in _BEGINS:
            names += words(_POSSESSIVE.sub("", found[0]))
    return tuple(dict.fromkeys(name for name in names if name not in _MINE))


# A guess at the language of texts, to choose a model and the words of a question

Language = Literal["english", "other"]

# Only the beginning of a text is read.
_ENOUGH_LETTERS = 600
_ENOUGH_WORDS = 200
# With more than this share of non-Latin letters, a text is not in Latin script.
_OTHER_SCRIPT = 0.3
# Minimum difference between the scores of English and of other languages.
_SURE = 1.0
_MOSTLY = 0.5
# Words of at least two characters.
_WORD = compile_later(r"[^\W\d_]{2,}")
# Addresses, paths and code have no language.
_NO_WORD = compile_later(r"\S*[@/\\_=<>{}]\S*|\S\.\w\S*")
# Score of a word that is not common, but is spelt like English or like another language.
_HALF = 0.5


@cache
def language_words(language: str, section: str = "common_words") -> frozenset[str]:
    return frozenset(sections("language", language).get(section, "").split())


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for language in languages():
        for word in language_words(language):
            found[word] = (*found.get(word, ()), language)
    return found


@cache
def _looks(*, english: bool) -> re.Pattern[str]:
    """Compile the spellings typical of English, or of other languages."""
    own = (ENGLISH,) if english else [language for language in languages() if language != ENGLISH]
    found = (sections("language", language).get("spelling", "").split() for language in own)
    return re.compile("|".join(pattern for patterns in found for pattern in patterns))


@cache
def _elision() -> re.Pattern[str]:
    """Compile the elisions of French and Italian: l'eau, d'un, c'est, qu'il."""
    return re.compile(rf"\b(?:{alternatives('language', 'elisions')})['’](?=[^\W\d_]{{2}})", re.IGNORECASE)


@cache
def _words_of_others() -> frozenset[str]:
    """Return common words of languages other than English and Spanish."""
    own = {ENGLISH, SPANISH}
    return frozenset(word for word, found in _languages_of_words().items() if own.isdisjoint(found))


def mostly_other_than_english(texts: Iterable[str]) -> bool:
    """Whether more than half of the texts with a known language are not in English."""
    guesses = [guess for text in texts if (guess := language_of(text)) is not None]
    return bool(guesses) and guesses.count("other") / len(guesses) > _MOSTLY


def language_of(text: str) -> Language | None:
    """Guess the language by script, common words and spelling; None if these do not decide."""
    beginning = _NO_WORD.sub(" ", text[:_ENOUGH_LETTERS])
    if not beginning.isascii():
        letters = [letter for letter in beginning if letter.isalpha()]
        latin = (letter.isascii() or unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
        if len(letters) - sum(latin) > _OTHER_SCRIPT * len(letters):
            return "other"
    english = 0.0
    other = float(len(_elision().findall(beginning)))
    common: Counter[str] = Counter()
    known, looks_english, looks_other = _languages_of_words(), _looks(english=True), _looks(english=False)
    for place, written in enumerate(_WORD.findall(beginning)):
        word = fold(written)
        own = known.get(word, ())
        if written.isascii() and ENGLISH in own:
            english += len(own) == 1
        # A capitalised word may be a name, and names come from any language.
        elif written[0].isupper() and place > 0:
            continue
        elif own:
            common.update(language for language in own if language != ENGLISH)
        elif looks_english.search(written):
            english += _HALF
        elif not written.isascii() or looks_other.search(written):
            other += _HALF
    other += max(common.values(), default=0)
    if abs(english - other) < _SURE:
        return None
    return "english" if english > other else "other"


def is_spanish(folded_words: Iterable[str]) -> bool:
    """Whether a text has more stopwords of Spanish than of English."""
    first = list(islice(folded_words, _ENOUGH_WORDS))
    spanish, english = (language_words(each, "function_words") for each in (SPANISH, ENGLISH))
    return sum(word in spanish for word in first) > sum(word in english for word in first)


def is_english_or_spanish(folded_words: Iterable[str]) -> bool:
    """Whether a text has at least as many stopwords of these two languages as common words of others."""
    first = list(islice(folded_words, _ENOUGH_WORDS))
    ours, others = word_set("language", "function_words"), _words_of_others()
    own = sum(word in ours for word in first)
    other = sum(word in others for word in first)
    return other <= max(1, own)
