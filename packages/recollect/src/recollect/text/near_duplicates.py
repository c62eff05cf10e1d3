"""Compare two texts: are they the same, or nearly the same?

From the strictest rule to the loosest, each with its use:

`text_key`            equal but for case, accents, spaces and outer punctuation   stored once, shown once
`unmarked_text_key`   equal but for these and punctuation between words           shown once by some profiles
`same_statement`      equal but for punctuation, articles and openings            merged by dreams
`contains_statement`  one states all that the other states                        the part may be pruned
`adds_nothing`        every content word is in the other, in any order            not stored by hooks
`repeats_error`       states a fact that was corrected                            retired with the error
`is_paraphrase`       most terms shared, contained, or nearly the same meaning    named as a cause of misses
`near_duplicate`      contained, or close in meaning                              flagged, never dropped

Cosines are of the two texts' vectors, on the scale of `usual_cosine`. They count only for texts that
`has_meaning` accepts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from hashlib import blake2b
from itertools import dropwhile
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import (
    ARTICLES,
    ENGLISH,
    FILLERS,
    FIRST_PERSON,
    SPANISH,
    STOPWORDS,
    calendar_words,
    word_set,
)
from recollect.text.tokens import cache_short, compile_later, distinctive_terms, fold, light_stem, words

if TYPE_CHECKING:
    from collections.abc import Sequence

SIMILAR_COSINE = 0.85
"""Two notes, or two observations of an entity, are near-duplicates from this cosine."""
REWORDED_COSINE = 0.95
"""Two texts about one thing state the same fact in other words from this cosine."""
RELATED_COSINE = 0.92
"""From this cosine, a text that does not copy an error is still shown as similar. Near-duplicates begin
lower, but so do many texts that are only about the same thing."""
COPY_CANDIDATE_COSINE = 0.75
"""Below this cosine, no text counts as a copy of an error."""
CONTAINED_SHARE = 0.7
"""A text contains another from this share of the shorter text's words."""

_PARAPHRASE_SHARE = 0.6
_FEWEST_PARAPHRASE_TERMS = 3
_COPY_SHARE = 0.5
"""Minimum share of content words that an error and its copy have in common."""
_UNCHANGED_COPY_SHARE = 0.8
"""The same, if the correction only adds words, so that no word of the error is wrong."""
_COPY_LENGTH = 2
_ALIKE_SHARE = 0.5
"""Two texts have the same structure from this share of the longer text's words in the same order."""
_MOST_ALIKE_WORDS = 40
_SHARED_SHARE = 1 / 3
"""Long near-duplicates share at least this part of the shorter text's content words."""
_FEWEST_LONG_WORDS = 8
_FEWEST_REPEATED = 2
"""A sentence may repeat a text with at least this many content words."""

_DASHES = "-–—"
_OUTER_MARKS = " .,;:!?¡¿…\"'“”‘’«»()"
# 5.000, 5,000 and 5000 are one number.
_PIECES = compile_later(r"\d{1,3}(?:[.,]\d{3})+(?!\d)|\d+|[^\W\d_]+")
_SENTENCE_ENDS = ".!?…:"
_OPENING_MARKS = "\"'“«¡¿("
# Words of one family begin alike: `allergic` and `allergy`, `trabaja` and `trabajando`.
_FAMILY_LETTERS = 6
_FAMILY_SHARE = 0.6
_EMPTY_WORDS = STOPWORDS | FILLERS
# Treated as names: Spanish months have no capital letter, and relatives identify people.
_RELATIVE_WORDS = word_set("words", "relatives")
_NAMING_WORDS = calendar_words(SPANISH) | _RELATIVE_WORDS
_CALENDAR = frozenset(map(light_stem, calendar_words(SPANISH) | calendar_words(ENGLISH)))
_RELATIVES = frozenset(map(light_stem, _RELATIVE_WORDS))
_CITING_STEMS = frozenset(map(light_stem, word_set("words", "citing_words")))
_NEGATIONS = word_set("words", "negations")
_DENIALS = _NEGATIONS | word_set("words", "denials")
_ATTENTION_CALLS = word_set("words", "attention_calls")
# Spanish needs no pronoun: `trabajo en Oslo`, `nací en Roma`, `vivimos aquí`.
_FIRST_PERSON_ENDINGS = tuple(word_set("words", "first_person_endings"))
# Unrelated texts have a cosine of .70 with arctic-s. With e5-small they have .85, half as far from 1; with
# the tuned models .57 to .60, 1.5 times as far.
_STRETCH = {"e5-small": 2.0, "arctic-memory": 0.67, "e5-memory": 0.7}


def usual_cosine(cosine: float, model: str) -> float:
    """Convert a cosine to the scale of arctic-s, for which the limits here are set.

    Models that place all texts close together are stretched: .93 of e5-small becomes 1 - 2 * .07 = .86.
    Those that place them far apart are compressed: .79 of arctic-memory becomes 1 - .67 * .21 = .86.
    """
    stretch = _STRETCH.get(model.partition("@")[0])
    return cosine if stretch is None else 1 - stretch * (1 - cosine)


def text_key(text: str) -> int:
    """Hash a text so that case, accents, white space and outer punctuation do not count."""
    return _hash_of(" ".join(fold(text).split()).strip(_OUTER_MARKS) or text)


def unmarked_text_key(text: str) -> int:
    """Hash a text so that punctuation between words does not count either; inside a word it does: `3.5`."""
    stripped = (word.strip(_OUTER_MARKS) for word in fold(text).split())
    return _hash_of(" ".join(word for word in stripped if word.strip(_DASHES)) or text)


def _hash_of(line: str) -> int:
    digest = blake2b(line.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def same_statement(one: str, other: str) -> bool:
    """Whether two texts differ only in punctuation, articles, and the words they open with.

    Small words count: `is at work` and `was at work` are two facts.
    """
    stated = _stated_words(one)
    return bool(stated) and stated == _stated_words(other)


def contains_statement(whole: str, part: str) -> bool:
    """Whether one text contains the whole statement of the other, in one piece, and does not deny it."""
    stated, more = _stated_words(part), _stated_words(whole)
    starts = range(len(more) - len(stated) + 1)
    if not stated or not any(more[start : start + len(stated)] == stated for start in starts):
        return False
    return _KeyWords.of(whole).denials == _KeyWords.of(part).denials


def adds_nothing(said: str, known: str) -> bool:
    """Whether a sentence only repeats the content of another, in any order.

    `As you said, she is allergic to walnuts` adds nothing to `Ana is allergic to walnuts and eggs`. A new
    content word adds something, and so does a denial.
    """
    claim, old = _KeyWords.of(said), _KeyWords.of(known)
    # Check numbers and denials first: they distinguish most texts.
    if claim.denials != old.denials or claim.names - old.words - _CITING_STEMS:
        return False
    again = claim.in_words_of(old).words - _CITING_STEMS
    return len(again) >= _FEWEST_REPEATED and again <= old.words


def repeats_error(  # noqa: PLR0911  # one reason after another
    wrong: str, right: str, other: str, cosine: float = 0.0
) -> bool:
    """Whether `other` repeats the error that `right` corrects; the cosine is between `other` and `wrong`.

    Words of `wrong` that `right` lacks were the error; words of both are the subject. A copy states the error
    about the same subject. It has no name, number or denial of its own, and no word that the correction
    adds. So `Alice left Google for Microsoft` is not a copy of
    `Alice works at Google`, corrected to `Alice works at Microsoft`. Nor are `Bob works at Google` and `Alice
    sued Google`. In doubt, a text is kept.
    """
    old, claim = _KeyWords.of(wrong), _KeyWords.of(other)
    # `other` has its own name, number or denial, or lacks a name: these distinguish most texts.
    if claim.names - old.words or claim.denials != old.denials or not old.names <= claim.words:
        return False
    new, claim = _KeyWords.of(right).in_words_of(old), claim.in_words_of(old)
    if not claim.words or len(claim.words) > _COPY_LENGTH * len(old.words) + _COPY_LENGTH:
        return False
    knows_correction = claim.words & new.key_stems(new.words - old.words)
    # The subject of a fact: its names and numbers, and the first word of both texts.
    first = [stem for stem in old.stems if stem in new.words][:1]
    if knows_correction or not {*old.names, *first} <= claim.words:
        return False
    shared = len(claim.words & old.words) / len(claim.words | old.words)
    error = old.words - new.words
    if not error:
        return shared >= _UNCHANGED_COPY_SHARE
    if not old.key_stems(error) <= claim.words:
        return False
    more, less = claim.words - old.words - new.words, old.words - claim.words
    if more and not less:
        return False  # `other` contains the whole error and more: the budget meeting is not the meeting
    # A replaced word may make another fact: `was born in Rome`, `lives in Rome`. Only the cosine decides.
    return cosine >= REWORDED_COSINE if more else shared >= _COPY_SHARE


def may_repeat_error(cosine: float | None) -> bool:
    """Whether a text with this cosine to an error may repeat it; without a model, every text may."""
    return cosine is None or cosine >= COPY_CANDIDATE_COSINE


def is_paraphrase(one: str, other: str) -> bool | None:
    """Whether two texts share most of their distinctive terms, or one contains the other.

    Return None if the words do not decide. Then the cosine of their passages must reach `REWORDED_COSINE`.
    """
    first, second = distinctive_terms(one), distinctive_terms(other)
    if len(first & second) >= _PARAPHRASE_SHARE * len(first | second):
        return True
    if min(len(first), len(second)) < _FEWEST_PARAPHRASE_TERMS:
        return False
    return True if containment(one, other) >= CONTAINED_SHARE else None


def near_duplicate(one: str, other: str, cosine: float) -> float | None:
    """Return the similarity of near-duplicates, the higher of words and meaning; None for other texts."""
    contained = containment(one, other)
    if contained < CONTAINED_SHARE and (cosine < SIMILAR_COSINE or are_two_facts(one, other)):
        return None
    return max(cosine, contained)


def are_two_facts(one: str, other: str) -> bool:
    """Whether two texts with similar vectors may state different facts in the same structure.

    Each has its own name and its own fact: Ana's landlord Bart, Ana's boss Pieter. Or they differ before a
    common ending: `lives in Valencia`, `works in Valencia`. Or they are long and share few words, such as two
    notes about a book club. If only the ending or a figure differs, one may correct the other.
    """
    first, second = _KeyWords.of(one), _KeyWords.of(other)
    if first.has_own_fact(second) and second.has_own_fact(first):
        return True
    shorter = min(len(first.words), len(second.words))
    if shorter >= _FEWEST_LONG_WORDS and len(first.words & second.words) < _SHARED_SHARE * shorter:
        return True
    return _share_structure(words(one), words(other))


def _share_structure(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether half of the words match in order, and the others differ in two places or before the end."""
    if max(len(one), len(other)) > _MOST_ALIKE_WORDS:
        return False
    from difflib import SequenceMatcher  # noqa: PLC0415  # only texts that are close in meaning need it

    matcher = SequenceMatcher(None, one, other, autojunk=False)
    exchanged = [
        end
        for tag, start, end, other_start, other_end in matcher.get_opcodes()
        if tag == "replace" and _has_content(one[start:end]) and _has_content(other[other_start:other_end])
    ]
    alike = sum(block.size for block in matcher.get_matching_blocks())
    if not exchanged or alike < _ALIKE_SHARE * max(len(one), len(other)):
        return False
    return len(exchanged) > 1 or _has_content(one[exchanged[0] :])


def _has_content(some: Sequence[str]) -> bool:
    """Whether `some` has a content word other than figures and dates."""
    return any(
        word.isalpha() and word not in _EMPTY_WORDS and light_stem(word) not in _CALENDAR for word in some
    )


def has_meaning(text: str) -> bool:
    """Whether a vector represents the text well. Single words are too short: `yes` is near `no`."""
    return len(words(text)) >= 2


def containment(one: str, other: str) -> float:
    """Return the share of the shorter text's words in the longer; 0 unless one is at least twice as long."""
    return _containment(words(one), words(other))


def _containment(one: Sequence[str], other: Sequence[str]) -> float:
    short, long = sorted((one, other), key=len)
    if not short or len(long) < 2 * len(short):
        return 0.0
    return len(set(short) & set(long)) / len(set(short))


def contained_pairs(texts: Sequence[str], at_least: float) -> dict[tuple[int, int], float]:
    """Return pairs of places, the lower first, whose `containment` is at least `at_least`.

    A text with `at_least` of another's n different words has one of its rarest n - ceil(at_least n) + 1
    words. So only texts that share one of those are compared.
    """
    cut = [words(text) for text in texts]
    vocabularies = [set(each) for each in cut]
    counts = Counter(word for vocabulary in vocabularies for word in vocabulary)
    places: dict[str, list[int]] = defaultdict(list)
    for place, vocabulary in enumerate(vocabularies):
        for word in vocabulary:
            places[word].append(place)
    found: dict[tuple[int, int], float] = {}
    for place, vocabulary in enumerate(vocabularies):
        # Subtract a little, since a product of floats may be just above a whole number.
        needed = len(vocabulary) - ceil(at_least * len(vocabulary) - 1e-9) + 1
        rarest = sorted(vocabulary, key=lambda word: (counts[word], word))[:needed]
        for other in {other for word in rarest for other in places[word]} - {place}:
            pair = (min(place, other), max(place, other))
            if pair not in found and (share := _containment(cut[place], cut[other])) >= at_least:
                found[pair] = share
    return dict(sorted(found.items()))


def trigram_similarity(one: str, other: str) -> float:
    """Return the share of letter triples that two texts have in common: a cheap filter for duplicates."""
    first, second = (
        {text[start : start + 3] for start in range(len(text) - 2)}
        for text in (one.casefold(), other.casefold())
    )
    return len(first & second) / (1 + len(first | second))


def is_personal(text: str) -> bool:
    """Whether a text may be about its speaker; the same text of another speaker is then another fact."""
    pieces = [piece for piece in _PIECES.findall(text) if fold(piece) not in FILLERS]
    return any(fold(piece) in FIRST_PERSON for piece in pieces) or (
        bool(pieces) and pieces[0].lower().endswith(_FIRST_PERSON_ENDINGS)
    )


class _Piece(NamedTuple):
    """A word or a number, as it is written."""

    denial: str | None
    stem: str | None
    """The stem of a content word, otherwise None."""
    is_name: bool
    """Whether it counts as a name in any position."""
    has_capital: bool

    @classmethod
    @lru_cache(maxsize=16_384)
    def of(cls, piece: str) -> _Piece:
        word = fold(piece)
        denial = None
        if word in _DENIALS:
            denial = "not" if word in _NEGATIONS else word
        # `10:00` and `10` are one time; a single letter is part of something else.
        if word in _EMPTY_WORDS or not word.strip("0") or (len(word) == 1 and not word.isdigit()):
            return cls(denial, None, is_name=False, has_capital=False)
        stem = re.sub(r"\D", "", word).lstrip("0") if word[0].isdigit() else light_stem(word)
        return cls(denial, stem, piece[0].isdigit() or word in _NAMING_WORDS, piece[0].isupper())


def _starts_sentence(text: str, start: int) -> bool:
    """Whether only white space and opening marks separate a place from the end of the last sentence."""
    for place in range(start - 1, -1, -1):
        letter = text[place]
        if letter == "\n" or letter in _SENTENCE_ENDS:
            return True
        if letter not in _OPENING_MARKS and not letter.isspace():
            return False
    return True


@dataclass(frozen=True, slots=True)
class _KeyWords:
    """The words of a text that matter for finding copies of an error."""

    stems: tuple[str, ...]
    """The stems of the content words, in order."""
    names: frozenset[str]
    """The stems that are names or numbers: with digits, or a capital letter inside a sentence."""
    denials: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.stems)

    @classmethod
    @cache_short(2_048, longest=2_000)  # one text is compared with many
    def of(cls, text: str) -> _KeyWords:
        stems: list[str] = []
        names: set[str] = set()
        denials: set[str] = set()
        for match in _PIECES.finditer(text):
            piece = _Piece.of(match.group())
            if piece.denial is not None:
                denials.add(piece.denial)
            if piece.stem is None:
                continue
            stems.append(piece.stem)
            if piece.is_name or (piece.has_capital and not _starts_sentence(text, match.start())):
                names.add(piece.stem)
        return cls(tuple(dict.fromkeys(stems)), frozenset(names), frozenset(denials))

    def in_words_of(self, other: _KeyWords) -> _KeyWords:
        """Replace words by the other's words of the same family. Names have no family."""
        # Words of one family begin alike, so most words can be skipped.
        known: dict[str, list[str]] = {}
        for like in other.stems:
            if like not in other.names:
                known.setdefault(like[:_FAMILY_LETTERS], []).append(like)
        kept = self.names | other.words
        stems = (
            stem
            if stem in kept or (alike := known.get(stem[:_FAMILY_LETTERS])) is None
            else next((like for like in alike if _one_family(stem, like)), stem)
            for stem in self.stems
        )
        return _KeyWords(tuple(dict.fromkeys(stems)), self.names, self.denials)

    def has_own_fact(self, other: _KeyWords) -> bool:
        """Whether this text has a name and a word that the other lacks, except days, months and relatives."""
        own = {stem for stem in self.words - other.words if stem.isalpha()} - _CALENDAR
        named = own & self.names - _RELATIVES
        return bool(named) and bool(own - named)

    def key_stems(self, stems: frozenset[str]) -> frozenset[str]:
        """Return the names and numbers among the stems; if there are none, all stems."""
        return stems & self.names or stems


def _one_family(one: str, other: str) -> bool:
    alike = max(_FAMILY_LETTERS, ceil(_FAMILY_SHARE * max(len(one), len(other))))
    return len(one) >= alike and one[:alike] == other[:alike]


@cache_short(2_048, longest=2_000)  # one text is compared with many
def _stated_words(text: str) -> tuple[str, ...]:
    pieces = (fold(piece) for piece in _PIECES.findall(text))
    numbers = (re.sub(r"\D", "", piece) if piece[0].isdigit() else piece for piece in pieces)
    stated = dropwhile(_ATTENTION_CALLS.__contains__, numbers)
    return tuple(word for word in stated if word not in ARTICLES)
