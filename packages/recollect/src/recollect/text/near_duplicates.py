"""Near-duplicates: every rule by which two texts count as the same, or nearly the same.

From the strictest rule to the loosest, and what follows from it:

`text_key`            equal but for case, accents, spaces and outer punctuation   stored once, shown once
`unmarked_text_key`   equal but for these and punctuation between words           shown once by some profiles
`same_statement`      equal but for punctuation, articles and openings            merged by dreams
`contains_statement`  one states all that the other states                        the part may be pruned
`adds_nothing`        every content word is in the other, in any order            not captured by hooks
`repeats_error`       states what a correction takes back                         retired with the error
`is_paraphrase`       most terms shared, contained, or of nearly one meaning      named as a cause of misses
`near_duplicate`      contained, or close in meaning                              flagged, never dropped

A cosine is that of the two texts' vectors, as `usual_cosine` gives it for any model. It only counts where
`has_meaning` says that a model can tell.
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
from recollect.text.tokens import compile_later, distinctive_terms, fold, keep_short, light_stem, words

if TYPE_CHECKING:
    from collections.abc import Sequence

SIMILAR_COSINE = 0.85
"""Two notes, or two observations of an entity, are near-duplicates."""
REWORDED_COSINE = 0.95
"""Two texts about one thing state the same fact in other words."""
RELATED_COSINE = 0.92
"""A text that is no copy of an error is close enough to be shown. Near-duplicates begin lower, but so does
much that is only about the same thing."""
COPY_CANDIDATE_COSINE = 0.75
"""Below it, no wording is a copy of an error."""
CONTAINED_SHARE = 0.7
"""Share of the shorter text's words that the longer one has, from which it contains it."""

_PARAPHRASE_SHARE = 0.6
_FEWEST_PARAPHRASE_TERMS = 3
_COPY_SHARE = 0.5
"""Of all content words of an error and a copy, the share that both have."""
_UNCHANGED_COPY_SHARE = 0.8
"""The same, where the correction only adds words, so that no word of the error is known to be wrong."""
_COPY_LENGTH = 2
_ALIKE_SHARE = 0.5
"""The share of the longer text's words that two texts built alike have in one order."""
_MOST_ALIKE_WORDS = 40
_SHARED_SHARE = 1 / 3
"""The share of the shorter text's content words that long near-duplicates have in common."""
_FEWEST_LONG_WORDS = 8
_FEWEST_REPEATED = 2
"""Content words of another text, from which a sentence may be a repetition of it."""

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
# As good as names: Spanish months have no capital letter, and a fact about a sister is hers alone.
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
# Texts that share only their language have .70 with arctic-s and .85 with e5-small: half as far from 1.
_STRETCH = {"e5-small": 2.0}


def usual_cosine(cosine: float, model: str) -> float:
    """The cosine on the scale of the usual model, for which the limits here are made.

    One that puts all texts close together has its cosines stretched: .93 of e5-small is 1 - 2 * .07 = .86.
    """
    stretch = _STRETCH.get(model.partition("@")[0])
    return cosine if stretch is None else 1 - stretch * (1 - cosine)


def text_key(text: str) -> int:
    """The same number for texts that differ only in case, accents, white space or outer punctuation."""
    return _hash_of(" ".join(fold(text).split()).strip(_OUTER_MARKS) or text)


def unmarked_text_key(text: str) -> int:
    """The same for texts that also differ in marks between words; within one, marks count: `3.5`, `C++`."""
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
    return _Claim.of(whole).denials == _Claim.of(part).denials


def adds_nothing(said: str, known: str) -> bool:
    """Whether a sentence only says again, in whatever order, what another says.

    `As you told me, she is allergic to walnuts` adds nothing to `Ana is allergic to walnuts and eggs`. A word
    of its own does, and so does a denial.
    """
    claim, old = _Claim.of(said), _Claim.of(known)
    # Numbers have no family, so they or a denial distinguish most texts.
    if claim.denials != old.denials or claim.names - old.words - _CITING_STEMS:
        return False
    again = claim.in_words_of(old).words - _CITING_STEMS
    return len(again) >= _FEWEST_REPEATED and again <= old.words


def repeats_error(  # noqa: PLR0911  # one reason after another
    wrong: str, right: str, other: str, cosine: float = 0.0
) -> bool:
    """Whether another text repeats the error that `right` corrects; the cosine is that of it and `wrong`.

    The words of the old text that the new one lacks were wrong; those that both have say what the fact is
    about. A copy says what was wrong of the same thing, and nothing else of weight: no name, number or denial
    of its own, and nothing that the correction brings. So `Alice left Google for Microsoft` is no copy of
    `Alice works at Google`, corrected to `Alice works at Microsoft`; nor are `Bob works at Google` and `Alice
    sued Google`. Better to keep a copy than to retire another fact.
    """
    old, claim = _Claim.of(wrong), _Claim.of(other)
    # It names, counts or denies something by itself, or lacks a name: these distinguish most texts.
    if claim.names - old.words or claim.denials != old.denials or not old.names <= claim.words:
        return False
    new, claim = _Claim.of(right).in_words_of(old), claim.in_words_of(old)
    if not claim.words or len(claim.words) > _COPY_LENGTH * len(old.words) + _COPY_LENGTH:
        return False
    knows_correction = claim.words & new.weighty(new.words - old.words)
    # The subject of a fact: its names and numbers, and the first word that both texts have.
    first = [stem for stem in old.stems if stem in new.words][:1]
    if knows_correction or not {*old.names, *first} <= claim.words:
        return False
    shared = len(claim.words & old.words) / len(claim.words | old.words)
    error = old.words - new.words
    if not error:
        return shared >= _UNCHANGED_COPY_SHARE
    if not old.weighty(error) <= claim.words:
        return False
    more, less = claim.words - old.words - new.words, old.words - claim.words
    if more and not less:
        return False  # it says all of the error and more: the budget meeting is not the meeting
    # One word for another may be another fact: `was born in Rome`, `lives in Rome`. Only meaning can tell.
    return cosine >= REWORDED_COSINE if more else shared >= _COPY_SHARE


def may_repeat_error(cosine: float | None) -> bool:
    """Whether a text this close to an error is worth a look at its words; without a model, every text is."""
    return cosine is None or cosine >= COPY_CANDIDATE_COSINE


def is_paraphrase(one: str, other: str) -> bool | None:
    """Whether two texts share most of their distinctive terms, or one contains the other.

    Returns None where words do not decide; then the cosine of their passages must reach `REWORDED_COSINE`.
    """
    first, second = distinctive_terms(one), distinctive_terms(other)
    if len(first & second) >= _PARAPHRASE_SHARE * len(first | second):
        return True
    if min(len(first), len(second)) < _FEWEST_PARAPHRASE_TERMS:
        return False
    return True if containment(one, other) >= CONTAINED_SHARE else None


def near_duplicate(one: str, other: str, cosine: float) -> float | None:
    """How similar two near-duplicates are, by words or by meaning, whichever says more; None if not."""
    contained = containment(one, other)
    if contained < CONTAINED_SHARE and (cosine < SIMILAR_COSINE or are_two_facts(one, other)):
        return None
    return max(cosine, contained)


def are_two_facts(one: str, other: str) -> bool:
    """Whether two texts that are close in meaning may be so because they are built alike.

    Each says something of its own about a name of its own: Ana's landlord Bart, Ana's boss Pieter. Or they
    say the same of something else, or something else that ends alike: `lives in Valencia`, `works in
    Valencia`. Or they are long and share few words: both are of the book club. Where only what is said last
    differs, or a figure, one may correct the other.
    """
    first, second = _Claim.of(one), _Claim.of(other)
    if first.has_own_fact(second) and second.has_own_fact(first):
        return True
    shorter = min(len(first.words), len(second.words))
    if shorter >= _FEWEST_LONG_WORDS and len(first.words & second.words) < _SHARED_SHARE * shorter:
        return True
    return _are_built_alike(words(one), words(other))


def _are_built_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether half of the words are the same in one order, and others differ twice, or before the end."""
    if max(len(one), len(other)) > _MOST_ALIKE_WORDS:
        return False
    from difflib import SequenceMatcher  # noqa: PLC0415  # only what is close in meaning needs it

    matcher = SequenceMatcher(None, one, other, autojunk=False)
    exchanged = [
        end
        for tag, start, end, other_start, other_end in matcher.get_opcodes()
        if tag == "replace" and _says(one[start:end]) and _says(other[other_start:other_end])
    ]
    alike = sum(block.size for block in matcher.get_matching_blocks())
    if not exchanged or alike < _ALIKE_SHARE * max(len(one), len(other)):
        return False
    return len(exchanged) > 1 or _says(one[exchanged[0] :])


def _says(some: Sequence[str]) -> bool:
    """Whether there is a content word among these, figures and dates aside."""
    return any(
        word.isalpha() and word not in _EMPTY_WORDS and light_stem(word) not in _CALENDAR for word in some
    )


def has_meaning(text: str) -> bool:
    """Whether a model can tell what it means. Of a single word it knows too little: `yes` is near `no`."""
    return len(words(text)) >= 2


def containment(one: str, other: str) -> float:
    """Share of the shorter text's words that the longer has; 0 unless one is at least twice as long."""
    return _containment(words(one), words(other))


def _containment(one: Sequence[str], other: Sequence[str]) -> float:
    short, long = sorted((one, other), key=len)
    if not short or len(long) < 2 * len(short):
        return 0.0
    return len(set(short) & set(long)) / len(set(short))


def contained_pairs(texts: Sequence[str], at_least: float) -> dict[tuple[int, int], float]:
    """Pairs of places, the lower first, whose `containment` is at least so much.

    A text that has `at_least` of another's n different words lacks fewer than all of the rarest
    n - ceil(at_least n) + 1; so only texts that share one of those are compared.
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
        # A hair less, as a share of 0.7 in floats may lie above 7 of 10.
        needed = len(vocabulary) - ceil(at_least * len(vocabulary) - 1e-9) + 1
        rarest = sorted(vocabulary, key=lambda word: (counts[word], word))[:needed]
        for other in {other for word in rarest for other in places[word]} - {place}:
            pair = (min(place, other), max(place, other))
            if pair not in found and (share := _containment(cut[place], cut[other])) >= at_least:
                found[pair] = share
    return dict(sorted(found.items()))


def trigram_similarity(one: str, other: str) -> float:
    """The share of letter triples that two texts have in common: a cheap guess at which may be duplicates."""
    first, second = (
        {text[start : start + 3] for start in range(len(text) - 2)}
        for text in (one.casefold(), other.casefold())
    )
    return len(first & second) / (1 + len(first | second))


def is_personal(text: str) -> bool:
    """Whether a text may be about its speaker, so that the same words of another speaker are another fact."""
    pieces = [piece for piece in _PIECES.findall(text) if fold(piece) not in FILLERS]
    return any(fold(piece) in FIRST_PERSON for piece in pieces) or (
        bool(pieces) and pieces[0].lower().endswith(_FIRST_PERSON_ENDINGS)
    )


class _Piece(NamedTuple):
    """A word or a number, as it is written."""

    denial: str | None
    stem: str | None
    """None for a word that is no content word."""
    is_name: bool
    """In any position."""
    has_capital: bool

    @classmethod
    @lru_cache(maxsize=16_384)
    def of(cls, piece: str) -> _Piece:
        word = fold(piece)
        denial = None
        if word in _DENIALS:
            denial = "not" if word in _NEGATIONS else word
        # `10:00` and `10` are one time; a letter by itself is a piece of something.
        if word in _EMPTY_WORDS or not word.strip("0") or (len(word) == 1 and not word.isdigit()):
            return cls(denial, None, is_name=False, has_capital=False)
        stem = re.sub(r"\D", "", word).lstrip("0") if word[0].isdigit() else light_stem(word)
        return cls(denial, stem, piece[0].isdigit() or word in _NAMING_WORDS, piece[0].isupper())


def _starts_sentence(text: str, start: int) -> bool:
    """Whether only white space and opening marks are between a place and the end before it."""
    for place in range(start - 1, -1, -1):
        letter = text[place]
        if letter == "\n" or letter in _SENTENCE_ENDS:
            return True
        if letter not in _OPENING_MARKS and not letter.isspace():
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Claim:
    """The statement of a text, as far as copies of errors are concerned."""

    stems: tuple[str, ...]
    """Of its content words, in order."""
    names: frozenset[str]
    """The stems that are names or numbers: with digits, or a capital letter inside a sentence."""
    denials: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.stems)

    @classmethod
    @keep_short(2_048, longest=2_000)  # one text is compared with many
    def of(cls, text: str) -> _Claim:
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

    def in_words_of(self, other: _Claim) -> _Claim:
        """With the other's words in place of those of one family with them. Names have no family."""
        # Of one family are words that begin alike, so most are of none, and are not looked at.
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
        return _Claim(tuple(dict.fromkeys(stems)), self.names, self.denials)

    def has_own_fact(self, other: _Claim) -> bool:
        """Whether it has a name and a word that the other lacks. Days, months and relatives are no names."""
        own = {stem for stem in self.words - other.words if stem.isalpha()} - _CALENDAR
        named = own & self.names - _RELATIVES
        return bool(named) and bool(own - named)

    def weighty(self, stems: frozenset[str]) -> frozenset[str]:
        """The names and numbers among some of its words; without any, all of them."""
        return stems & self.names or stems


def _one_family(one: str, other: str) -> bool:
    alike = max(_FAMILY_LETTERS, ceil(_FAMILY_SHARE * max(len(one), len(other))))
    return len(one) >= alike and one[:alike] == other[:alike]


@keep_short(2_048, longest=2_000)  # one text is compared with many
def _stated_words(text: str) -> tuple[str, ...]:
    pieces = (fold(piece) for piece in _PIECES.findall(text))
    numbers = (re.sub(r"\D", "", piece) if piece[0].isdigit() else piece for piece in pieces)
    stated = dropwhile(_ATTENTION_CALLS.__contains__, numbers)
    return tuple(word for word in stated if word not in ARTICLES)
