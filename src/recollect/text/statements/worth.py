"""Whether a sentence says something that is worth keeping: a fact, and no feeling, saying or chatter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recollect.text.tokens import words
from recollect.text.word_lists import FIRST_PERSON, SMALL_TALK, STOPWORDS, VAGUE_WORDS

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_EMPTY_WORDS = STOPWORDS | SMALL_TALK | FIRST_PERSON | VAGUE_WORDS
_VERBS = frozenset({"state", "habit", "preference", "plan", "decision", "event", "health", "opinion"})
_ANCHORS = ("named", "number", "time", "relative", "health", "preference", "decision", "opinion")
"""Signs that tie a sentence to somebody or something; each counts as a term."""
_SHORT = 8
ENOUGH_TERMS = 4
"""So many terms and anchors make a sentence worth keeping; a short one about the speaker needs two."""
_LEAST_SHARE = 0.34


def is_worth_keeping(plain: str, signs: AbstractSet[str]) -> bool:
    """`plain`: the sentence without case, accents and quotations; `signs`: those that it has."""
    if signs & {"explicit", "standing"}:
        return bool(concrete_terms(words(plain)))
    is_shown = _LIKES_THE.match(plain) and not signs & {"named", "number"}
    if not signs & _VERBS or not _has_subject(plain, signs) or _POINTS_BACK.match(plain) or is_shown:
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
        return len(terms) > ENOUGH_TERMS and bool(_DOES.match(plain)) and not _DENIES.search(plain)
    enough = ENOUGH_TERMS if len(found) > _SHORT + 2 else ENOUGH_TERMS - 1
    return len(terms) + len(anchors) >= enough and (len(anchors) > 1 or not _DENIES.search(plain))


def _has_subject(plain: str, signs: AbstractSet[str]) -> bool:
    """Whether it is about the speaker, somebody named, or something with a date or a number."""
    if "subject" in signs or ("decision" in signs and _DECIDES.match(plain)):
        return True
    if _ENGLISH_SPEAKER.search(plain):
        return _SPEAKER_FIRST.match(plain) is not None
    if "speaker" in signs:
        return not _ONLY_OBJECT.search(plain)
    return bool(_DEFINITE_FIRST.match(plain) and signs & {"plan", "number"})


def _is_short_fact(plain: str, signs: AbstractSet[str], anchors: AbstractSet[str], terms: int) -> bool:
    # "We've got the file": which one, only the talk around it tells.
    definite = _DEFINITE.search(plain) is not None
    if not terms or (definite and anchors <= {"preference", "relative"} and terms < _FEW):
        return False
    own = _OWN.match(plain) is not None
    match anchors:
        case _ if definite and "subject" in signs and not signs & {"time", "number"}:
            known = False
        case _ if anchors == {"time"}:
            known = terms > 1 or own or "plan" in signs
        case _ if anchors:
            known = own or terms + len(anchors) >= _FEW or bool(anchors & _STRONG)
        case _ if own and not definite:
            known = terms > 1 or bool(signs & {"state", "habit"})
        case _ if "event" in signs and "speaker" in signs:
            known = terms >= _FEW - bool(_TAKES.match(plain)) and (not definite or "my" in plain.split())
        case _:
            known = "plan" in signs and terms > 1 and not definite
    return known


_FEW = 3
_STRONG = frozenset({"health", "relative", "preference"})
_POINTS_BACK = re.compile(r"(?:it|its|it's|that|that's|this|there|there's)\b")
_LIKES_THE = re.compile(r"(?:i|we) (?:\w+ )?(?:like|love|liked|loved|enjoyed) (?:the|how|both|all the)\b")
_DECIDES = re.compile(
    r"let's|(?:hemos |he )?(?:decidi\w*|acord\w+|elegi\w*|opta\w+)|nos quedamos|usaremos|vamos|quedamos"
)
_TAKES = re.compile(
    r"(?:i|we) (?:\w+ )?(?:bought|sold|broke|lost|adopted|quit|built|joined|rented|married|won|hurt|fixed)"
    r" (?:an?|my|our)\b"
)
_ONLY_OBJECT = re.compile(r"\bme\b(?! (?:ha|han|he|lo|la|voy|gusta|encanta|da|dan|llamo|\w+[oaei]\b))")
_DEFINITE_FIRST = re.compile(r"(?:the|el|la|los|las|una? \w+,)\b(?!.*;)")
_ENGLISH_SPEAKER = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|im|we|we're|we've|we'll|we'd|my|our)\b")
_SPEAKER_FIRST = re.compile(
    r"(?:[\w'’&-]+[,.]? ){0,6}?(?:i|i'm|i've|i'd|i'll|im|we|we're|we've|we'll|we'd|my|our)\b"
)
_DOES = re.compile(
    r"(?:[\w'’-]+,? ){0,4}?(?:i|we)(?:'ve| have|'d| had|'m| am|'re| are| was| were)?(?: just| also"
    r"| recently| finally| already| been| even| currently| usually| often| always| still| both"
    r"| all)* (?!need|want|think|feel|know|hope|see|get\b|like\b)\w+(?: \w+){0,3} (?:an?|my|our|some|two"
    r"|three|for|at|in|with|to)\b"
)
_DENIES = re.compile(r"\b(?:not|no|never|nothing|without)\b|n't\b|\bno\b")
_OWN = re.compile(
    r"(?:i|we) (?:\w+ly |also |still |always |never |often |don't |do not |can't |cannot |used to "
    r"|both )*(?:have(?! \w+ed\b)|own|play|speak|drive|live|work|study|studied|teach|eat|drink|collect|run"
    r"|sing|grow|keep|use|ride|swim|cook|bake|paint|wear|smoke|cycle|volunteer|walk|sleep|go to)\b|(?:i'm"
    r"|i am|i was|we're|we are) (?:an? |not \w+\W*$|from|born|based|\d|\w+-\w+|single|married|divorced"
    r"|retired|left|right|engaged|pregnant|studying|learning|training)|my \w+|our \w+|soy|somos|tengo"
    r"|tenemos|vivo|vivimos|trabajo|hablo|estudio|juego|toco|no como|no bebo|mi \w+|nuestr[oa] \w+|me llamo"
    r"|compre|uso|estoy \w+ndo"
)
_DEFINITE = re.compile(
    r"\bthe (?!same|most|best|piano|guitar|violin|cello|drums|flute|sax\w*|bass|gym|city|country\w*|coast)"
)


def concrete_terms(found: list[str]) -> set[str]:
    """Of folded words, those that say what a sentence is about."""
    return {word for word in found if word not in _EMPTY_WORDS and (len(word) > 2 or word.isdigit())}
