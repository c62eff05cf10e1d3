"""Copies of an error: which texts repeat what a correction takes back.

A correction says which words were wrong: those of the old text that the new one lacks. What both have is what
the fact is about. A copy of the error says what was wrong of the same thing, and nothing else of weight: no
name, number or denial of its own, and nothing of what the correction brings. So `Alice left Google for
Microsoft` is no copy of `Alice works at Google`, corrected to `Alice works at Microsoft`; nor are `Bob works
at Google` and `Alice sued Google`. Better to leave a copy standing than to retire what somebody else meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile

from recollect.text.stopwords import STOPWORDS
from recollect.text.words import fold

ALIKE = 0.95
"""Cosine from which two texts that share the error and its subject say the same in other words."""
_SHARED = 0.5
"""Share of all their telling words from which they do, without a look at their meaning."""
_SAME = 0.8
"""The same, where the correction only adds and so names no error."""
_LONGER = 2
# 5.000, 5,000 and 5000 are one number.
_PIECES = re.compile(r"\d{1,3}(?:[.,]\d{3})+(?!\d)|\d+|[^\W\d_]+")
_SENTENCE_END = re.compile(r"(?:^|[.!?…:\n])[\s\"'“«¡¿(]*$")
_ENDINGS = ("ing", "ed", "es", "s", "e")
# Words of one family begin alike: `allergic` and `allergy`, `trabaja` and `trabajando`.
_FAMILY_LETTERS = 6
_FAMILY_SHARE = 0.6
_DENYING = """
no not never none nobody nothing neither nor without isn wasn aren weren don doesn didn won cannot cant wrong
false former formerly ex anymore longer left quit stopped used nunca jamas tampoco sin ya antes dejo
"""
_DENIALS = frozenset(_DENYING.split())
# The ways in which English writes one word: `do not`, `don't`, `cannot`.
_NEGATING = "no not isn wasn aren weren don doesn didn won cannot cant"
_NOT = frozenset(_NEGATING.split())
# Beside the words of every text, those with which people open a sentence, stress that it holds, or say that
# something is on.
_OPENING = """
actually also apparently btw currently fyi hey hi listen note now ok okay oh please presently really remember
right so still today well yes yeah actualmente ahora bueno hola hoy nota oye pues recuerda sabes todavia vale
am pm reminder reminding confirmed confirming update updated correct correctly todo nb ps summary important
attention
st nd rd th start starts starting begin begins happen happens takes place held empieza comienza celebra lugar
recordatorio confirmado aviso importante apunte ojo recuerdo resumen daily usual usually diario
"""
_OPENINGS = frozenset(_OPENING.split())
_EMPTY = STOPWORDS | _OPENINGS
_ARTICLES = frozenset({"a", "an", "the", "el", "la", "los", "las", "un", "una", "unos", "unas"})
# What only calls for attention, where it stands first.
_CALLING = """
actually btw fyi hey hi listen nb note oh ok okay ps remember reminder so well bueno hola nota ojo oye pues
recordatorio recuerda vale
"""
_CALLS = frozenset(_CALLING.split())
# As good as numbers, and in Spanish without a capital letter.
_CALENDAR = """
lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto
septiembre setiembre octubre noviembre diciembre
"""
_DAYS_AND_MONTHS = frozenset(_CALENDAR.split())
# What is said of somebody's sister is not said of them.
_KIN = """
brother sister mother father mom mum dad parents wife husband partner son daughter child children cousin uncle
aunt grandmother grandfather friend boyfriend girlfriend boss colleague neighbour neighbor roommate
hermano hermana hermanos hermanas madre padre mama papa padres mujer esposa esposo marido pareja hijo hija
hijos hijas primo prima tio tia abuelo abuela amigo amiga novio novia jefe jefa colega vecino vecina
"""
_OTHERS = _DAYS_AND_MONTHS | frozenset(_KIN.split())
_OF_ONESELF = """
i me my mine myself we us our ours ourselves yo mi mis mio mia mios mias conmigo nos nosotros nosotras nuestro
nuestra nuestros nuestras soy estoy voy doy he hemos
"""
_PERSONAL = frozenset(_OF_ONESELF.split())
# Spanish needs no pronoun: `trabajo en Oslo`, `nací en Roma`, `vivimos aquí`.
_PERSONAL_ENDINGS = ("o", "é", "í", "mos")


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says, as far as copies are concerned."""

    order: tuple[str, ...]
    """Stems of the words that tell something, as they come."""
    sure: frozenset[str]
    """Those that are names or numbers: a capital letter that no beginning of a sentence explains, digits."""
    denials: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.order)

    @classmethod
    @lru_cache(maxsize=4096)  # one text is compared with many
    def of(cls, text: str) -> Said:
        order: list[str] = []
        sure: set[str] = set()
        denials: set[str] = set()
        for match in _PIECES.finditer(text):
            piece = match.group()
            word = fold(piece)
            if word in _DENIALS:
                denials.add("not" if word in _NOT else word)
            # `10:00` and `10` are one time; a letter by itself is a piece of something.
            if word in _EMPTY or not word.strip("0") or (len(word) == 1 and not word.isdigit()):
                continue
            stem = re.sub(r"\D", "", word).lstrip("0") if word[0].isdigit() else _stem(word)
            order.append(stem)
            begins = bool(_SENTENCE_END.search(text[: match.start()]))
            if piece[0].isdigit() or word in _OTHERS or (piece[0].isupper() and not begins):
                sure.add(stem)
        return cls(tuple(dict.fromkeys(order)), frozenset(sure), frozenset(denials))

    def in_words_of(self, other: Said) -> Said:
        """With the other's words in the place of those that are of one family with them. Names have none."""
        known = {
            word: next((like for like in other.order if like not in other.sure and _akin(word, like)), word)
            for word in self.order
            if word not in self.sure and word not in other.words
        }
        return Said(
            tuple(dict.fromkeys(known.get(word, word) for word in self.order)),
            self.sure,
            self.denials,
        )


def is_copy(wrong: str, right: str, other: str, cosine: float = 0.0) -> bool:
    """Whether another text repeats the error that `right` corrects; the cosine is that of it and `wrong`."""
    old = Said.of(wrong)
    new, said = Said.of(right).in_words_of(old), Said.of(other).in_words_of(old)
    if not said.words or len(said.words) > _LONGER * len(old.words) + _LONGER:
        return False
    if _says_more(old, new, said) or not _about(old, new) <= said.words:
        return False
    shared = len(said.words & old.words) / len(said.words | old.words)
    error = old.words - new.words
    if not error:
        return shared >= _SAME
    if not _weighty(error, old) <= said.words:
        return False
    more, less = said.words - old.words - new.words, old.words - said.words
    if more and not less:
        return False  # it says all of the error and more: the budget meeting is not the meeting
    # One word for another may be another fact: `was born in Rome`, `lives in Rome`. Only meaning can tell.
    return cosine >= ALIKE if more else shared >= _SHARED


def is_personal(text: str) -> bool:
    """Whether a text may speak of who says it, so that the same words of another are another fact."""
    pieces = [piece for piece in _PIECES.findall(text) if fold(piece) not in _OPENINGS]
    if any(fold(piece) in _PERSONAL for piece in pieces):
        return True
    return bool(pieces) and pieces[0].lower().endswith(_PERSONAL_ENDINGS)


def _says_more(old: Said, new: Said, said: Said) -> bool:
    """Whether it names, counts or denies something by itself, or knows what the correction brings."""
    brought = _weighty(new.words - old.words, new)
    return bool(said.words & brought or said.sure - old.words) or said.denials != old.denials


def _about(old: Said, new: Said) -> frozenset[str]:
    """What a fact is about: its names and numbers, and what the texts share and name first."""
    first = next((word for word in old.order if word in new.words), None)
    return old.sure | ({first} if first is not None else frozenset())


def _weighty(words: frozenset[str], said: Said) -> frozenset[str]:
    """The names and numbers among the words of a text; where there are none, all of them."""
    return words & said.sure or words


def _akin(one: str, other: str) -> bool:
    alike = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        alike += 1
    return alike >= max(_FAMILY_LETTERS, _FAMILY_SHARE * max(len(one), len(other)))


def _stem(word: str) -> str:
    word = word.replace("our", "or") if len(word) > 4 else word  # colour, color
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def says_the_same(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but marks, articles, and how they open.

    Small words count: `is at work` and `was at work` are two facts.
    """
    said = _spoken(one)
    return bool(said) and said == _spoken(other)


def holds(whole: str, part: str) -> bool:
    """Whether all that the one text says stands in the other, in one piece, and is not denied there."""
    said, more = _spoken(part), _spoken(whole)
    starts = range(len(more) - len(said) + 1)
    if not said or not any(more[start : start + len(said)] == said for start in starts):
        return False
    return Said.of(whole).denials == Said.of(part).denials


def _spoken(text: str) -> tuple[str, ...]:
    pieces = (fold(piece) for piece in _PIECES.findall(text))
    numbers = (re.sub(r"\D", "", piece) if piece[0].isdigit() else piece for piece in pieces)
    told = dropwhile(_CALLS.__contains__, numbers)
    return tuple(word for word in told if word not in _ARTICLES)
