"""Which sentences of a message are worth keeping, by plain rules: see docs/extraction.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recollect.text.sentences import LIST_MARKER, is_prose, quotations, sentences
from recollect.text.statements.categories import Category, category_of
from recollect.text.statements.signs import (
    DROPS,
    ENOUGH,
    FOLLOWING_ENOUGH,
    FOLLOWS,
    POINTS,
    SIGNS,
    TIME_NAMES,
)
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

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
MOST_SENTENCES = 3
"""At most so many sentences make one statement."""


@dataclass(frozen=True, slots=True)
class FoundStatement:
    """A statement of a message, in the speaker's own words."""

    text: str
    category: Category
    importance: float
    start: int
    stop: int
    signs: frozenset[str]
    """By which it was kept."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence with its points, or several that follow one another."""

    start: int
    stop: int
    number: int
    """Its place among all sentences, kept or not."""
    plain: str
    points: int
    signs: frozenset[str]
    follows: bool
    """It says something of the sentence before it, in the same line."""
    sentences: int = 1


def statements_in(text: str) -> tuple[FoundStatement, ...]:
    """The statements of a message that are worth keeping, in order, each in the message's own letters."""
    kept: list[_Candidate] = []
    for candidate in _candidates(text):
        last = kept[-1] if kept else None
        follows = last is not None and candidate.follows and candidate.number == last.number + 1
        if last and follows and last.sentences < MOST_SENTENCES and candidate.points >= FOLLOWING_ENOUGH:
            kept[-1] = replace(
                last,
                stop=candidate.stop,
                number=candidate.number,
                plain=f"{last.plain} {candidate.plain}",
                signs=last.signs | candidate.signs,
                sentences=last.sentences + 1,
            )
        elif candidate.points >= ENOUGH:
            kept.append(candidate)
    found: dict[str, FoundStatement] = {}
    for each in kept:
        category = category_of(each.plain, each.signs)
        importance = max(IMPORTANCES.get(name, IMPORTANCE) for name in (*each.signs, category))
        own_words = text[each.start : each.stop]
        statement = FoundStatement(own_words, category, importance, each.start, each.stop, each.signs)
        found.setdefault(own_words, statement)
    return tuple(found.values())


def _candidates(text: str) -> Iterator[_Candidate]:
    last = 0
    for number, (start, stop) in enumerate(sentences(text)):
        begin = start
        while before := _LEAD.match(text, begin, stop) or LIST_MARKER.match(text, begin, stop):
            begin = before.end()  # where it begins to say something
        explicit = _EXPLICIT.match(text, begin, stop)
        begin = explicit.end() if explicit else begin
        sentence = text[begin:stop]
        plain = _plain(sentence)
        if len(plain.split()) < 2 or not is_prose(sentence):
            continue
        signs = _signs(sentence, plain) | ({"explicit"} if explicit else set())
        # A request may be one to remember something.
        spared = "request" if signs & {"explicit", "standing"} else None
        if not any(pattern.search(plain) for name, pattern in DROPS.items() if name != spared):
            points = sum(POINTS[sign] for sign in signs)
            follows = bool(FOLLOWS.match(plain)) and "\n" not in text[last:begin]
            yield _Candidate(begin, stop, number, plain, points, frozenset(signs), follows)
            last = stop


def _signs(sentence: str, plain: str) -> set[str]:
    found = {name for name, pattern in SIGNS.items() if pattern.search(plain)}
    if _names_something(sentence):
        found.add("named")
    lower = sentence.lower()
    if any(not _NO_PAST.fullmatch(match[0]) for match in _FIRST_PAST.finditer(lower)):
        found |= {"speaker", "event"}
    if any(not _NO_PAST.fullmatch(match[0]) for match in _THIRD_PAST.finditer(lower)):
        found.add("event")
    return found


def _names_something(sentence: str) -> bool:
    """A capital inside the sentence, or at its head before a verb."""
    if sentence.isupper():
        return False
    inside = (match[1] for match in _CAPITAL.finditer(sentence))
    return any(not TIME_NAMES.match(fold(name)) for name in inside) or bool(_NAME_FIRST.match(sentence))


def _plain(sentence: str) -> str:
    """Without case, accents and others' words."""
    for start, stop in reversed(quotations(sentence)):
        sentence = f"{sentence[:start]}“”{sentence[stop:]}"
    return " ".join(fold(sentence.replace("’", "'")).split())


_LEAD = re.compile(
    r"(?:(?:(?i:oh|ah|ok|okay|yes|yeah|yep|yup|no|nope|nah|well|so|and|but|also|anyway|wow|ha(?:ha)+|lol"
    r"|sure|great|cool|nice|awesome|btw|by the way|honestly|actually|guess what|right|exactly|absolutely"
    r"|definitely|totally|true|plus|to be honest|tbh|unfortunately|luckily|sí|si|vale|bueno|pues|oye"
    r"|la verdad|por cierto|(?:ja)+|claro|además|ademas|genial|no worries|no problem|of course|me too"
    r"|same here|hey|hi|hello|hola|thanks|thank you|gracias)(?: [A-ZÁÉÍÓÚÑ]\w+| there)?\s*(?:[,!:;…—-]"
    r"|\.\.\.)+\s*)|(?i:and|but|so|btw|oh|plus|y|pero|pues)\s+(?=\w))+"
)
"""What is said before saying something."""

_EXPLICIT = re.compile(
    r"(?:(?:please|por favor)[, ]\s*)?(?:(?:remember|note|keep in mind|bear in mind|don['’]t forget"
    r"|do not forget|recuerda|ten en cuenta|ten presente|toma nota de|apunta|anota|no olvides)(?: that| que"
    r"|:)\s+|(?:for the record|fyi|just so you know|que conste(?: que)?|para que conste"
    r"|para que lo sepas)[,:]?\s+)",
    re.IGNORECASE,
)

# Not one who is spoken to, at the end or before a comma.
_CAPITAL = re.compile(
    r"(?<=[\w,;:&)] )(?!I\b)(?!(?<=, )[A-ZÁÉÍÓÚÑ]\w*\W*$)(?!(?<=,"
    r" )[A-ZÁÉÍÓÚÑ]\w*[,!])([A-ZÁÉÍÓÚÑ][\w’'&-]*)"
)
_NAME_FIRST = re.compile(
    r"(?!(?:The|This|That|It|There|He|She|They|These|Those|What|All|Everything|Everyone|Nothing|Someone"
    r"|Something|Some|One|Today|My|Our|Your|We|You|I|A|An|And|But|So|If|When|Just|Who|How|El|La|Los|Las|Un"
    r"|Una|Mi|Su|Tu|Esto|Eso)\b)[A-ZÁÉÍÓÚÑ][\w’'-]+(?: (?:and |y |& )?[A-ZÁÉÍÓÚÑ][\w’'-]+)* (?:(?:is|was|es"
    r"|era)(?= (?:an?|the|my|our|from|in|called|allergic|una?|el|la|mi|de|en)\b)|has|had|works?|lives?"
    r"|likes?|loves?|hates?|prefers?|wants?|uses?|needs?|owns?|went|got|told|said|bought|came|\w{2,}ed"
    r"|tiene|vive|trabaja|quiere|prefiere|odia|usa|se \w+[oó]|\w{2,}ó)\b"
)
_FIRST_PAST = re.compile(r"\b\w{2,}[éí]\b")
_THIRD_PAST = re.compile(r"\b\w{2,}ó\b")
_NO_PAST = re.compile(r"café|bebé|josé|aquí|allí|así|ahí|té|qué|mí|paté|chalé")
"""Spanish words that end like something that happened."""
