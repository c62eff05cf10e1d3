"""Which sentences of a message are worth keeping, by plain rules: see docs/extraction.md."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.text.languages import is_english_or_spanish
from recollect.text.sentences import LIST_MARKER, is_prose, quotations, sentences
from recollect.text.statements.categories import Category, category_of
from recollect.text.statements.referents import (
    EarlierTurn,
    in_reach,
    is_ambiguous,
    open_references,
    resolved,
)
from recollect.text.statements.signs import (
    DROPS,
    ENOUGH,
    FOLLOWING_ENOUGH,
    FOLLOWS,
    POINTS,
    SIGNS,
    TIME_NAMES,
)
from recollect.text.statements.worth import concrete_terms, is_worth_keeping
from recollect.text.tokens import fold, words
from recollect.text.word_lists import SMALL_TALK, STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
FOLLOWING_TERMS = 1
"""So many terms tell something of the sentence before."""
LONGEST_TALK = 1_500
"""In characters. A longer message holds something pasted,"""
OPENING = 600
"""and only its opening is read."""
LONGEST_OF_OTHERS = 300
"""In characters. What a longer message says of others is a story or a document as often as not."""
MOST_SENTENCES = 3
"""At most so many sentences make one statement."""


@dataclass(frozen=True, slots=True)
class FoundStatement:
    """A statement of a message that stands alone: the speaker's own words, with names for some pronouns."""

    text: str
    category: Category
    importance: float
    start: int
    stop: int
    """Where it stands in the message."""
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
    text: str
    sentences: int = 1


def statements_in(text: str, before: Sequence[EarlierTurn] = ()) -> tuple[FoundStatement, ...]:
    """The statements of a message that are worth keeping and stand alone, in order."""
    if not is_english_or_spanish(words(text)):
        return ()
    kept: list[_Candidate] = []
    for candidate in _candidates(text):
        last = kept[-1] if kept else None
        joined = _joined(text, last, candidate) if last else None
        if joined:
            kept[-1] = joined
        elif candidate.points >= ENOUGH:
            alone = _standing_alone(text, candidate, before)
            if alone and is_worth_keeping(alone.plain, alone.signs):
                kept.append(alone)
    found: dict[str, FoundStatement] = {}
    for each in kept:
        said = _said_later(each.text)
        category = category_of(each.plain, each.signs)
        importance = max(IMPORTANCES.get(name, IMPORTANCE) for name in (*each.signs, category))
        statement = FoundStatement(said, category, importance, each.start, each.stop, each.signs)
        found.setdefault(said, statement)
    return tuple(found.values())


def _joined(text: str, last: _Candidate, candidate: _Candidate) -> _Candidate | None:
    """Both as one statement, if the second says something of the first."""
    if not candidate.follows or candidate.number != last.number + 1 or last.sentences == MOST_SENTENCES:
        return None
    between = text[last.stop : candidate.start]
    whole = last.text + between + candidate.text
    if not _PAUSE.fullmatch(between) or candidate.points < FOLLOWING_ENOUGH or _YOU.search(candidate.plain):
        return None
    if len(concrete_terms(words(candidate.plain))) < FOLLOWING_TERMS or open_references(whole):
        return None
    if is_ambiguous(candidate.text, last.text):
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


def _standing_alone(text: str, candidate: _Candidate, before: Sequence[EarlierTurn]) -> _Candidate | None:
    if candidate.signs & {"explicit", "standing"}:
        return candidate  # the speaker asks for it to be kept as it is
    if _YOU.search(candidate.plain):
        return None
    references = open_references(candidate.text)
    if not references:
        return candidate
    reach = in_reach(text[: candidate.start], before)
    named = resolved(candidate.text, references, reach)
    if named is None:
        return None
    plain = _plain(named)
    return replace(candidate, text=named, plain=plain, signs=candidate.signs | _signs(named, plain))


def _said_later(text: str) -> str:
    """With a phrase that is true later for one that counts from the day of the talk."""
    return _SOME_DAY.sub(lambda day: "recently" if day[0].lower().startswith("the") else "hace poco", text)


def _candidates(text: str) -> Iterator[_Candidate]:
    last = 0
    for number, (start, stop) in enumerate(sentences(text)):
        begin = start
        while before := _LEAD.match(text, begin, stop) or LIST_MARKER.match(text, begin, stop):
            begin = before.end()  # where it begins to say something
        explicit = _EXPLICIT.match(text, begin, stop)
        begin = explicit.end() if explicit else begin
        if len(text) > LONGEST_TALK and begin > OPENING:
            return  # what stands further down is pasted
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
        # A request may be one to remember something.
        if (_LABEL.match(sentence) or sentence.count("\n") > 1) and not explicit:
            continue
        spared = _SPARED if signs & {"explicit", "standing"} else frozenset()
        dropped = any(pattern.search(plain) for name, pattern in DROPS.items() if name not in spared)
        if "speaker" not in signs and not explicit and len(text) > LONGEST_OF_OTHERS:
            continue
        if not dropped and not (SIGNS["reaction"].match(plain) and not explicit):
            points = sum(POINTS[sign] for sign in signs)
            follows = bool(FOLLOWS.match(plain)) and "\n" not in text[last:begin]
            yield _Candidate(begin, end, number, plain, points, frozenset(signs), follows, sentence)
            last = end


def _signs(sentence: str, plain: str) -> set[str]:
    found = {name for name, pattern in SIGNS.items() if pattern.search(plain)}
    if _names_something(sentence):
        found.add("named")
    if _names_first(sentence):
        found.add("subject")
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
    return any(not TIME_NAMES.match(fold(name)) for name in inside) or _names_first(sentence)


def _names_first(sentence: str) -> bool:
    first = _NAME_FIRST.match(sentence)
    return first is not None and fold(first[0].split()[0]) not in _NO_NAMES


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
    r"|same here|alright|right then|look|listen|on (?:a different|another|a side|a happier) note|hey|hi"
    r"|hello|hola|thanks|thank you|gracias)(?: [A-ZÁÉÍÓÚÑ]\w+| there)?\s*(?:[,!:;…—-]"
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

# A label, a heading, a cell of a table, or words in bold type: written, and not said.
_LABEL = re.compile(
    r"(?:[A-Z][\w’'/&-]*)(?: [A-Z(&][\w’'/&()-]*){0,4}(?:\*\*)?:|.*(?:\*\*|,,,|\[|\t| \| )", re.DOTALL
)
_SOME_DAY = re.compile(r"\b(?:the other (?:day|night|week)|el otro d[ií]a)\b", re.IGNORECASE)
_PAUSE = re.compile(r"[\s.!…]*")
_LEAST_BEFORE_TAIL = 5
# What someone asks to be remembered may be said in any form but a question.
_SPARED = frozenset({"request", "about_talk", "intention", "feeling", "fragment"})
_LOOSE_END = re.compile(r"(?:[\s,;:–—-]|\b(?:and|but|so|or|now|then|y|pero)\b)+$", re.IGNORECASE)
# What a speaker adds to a statement to ask about it.
_TAIL = re.compile(
    r"(?:(?:,\s+|\s+(?=and |but |so |though |although ))(?:(?:and|but|so|though|although)\s+)*(?:(?:i['’]m"
    r"|i am|i was|i['’]ve been|i still|i)\s+(?:also |still |just |really |kinda |kind of |a bit |a little "
    r"|now )*+(?:not (?:entirely |really |quite |exactly |too )?sure|unsure|wondering|wonder|curious"
    r"|worried|concerned|confused|stuck|struggling|having (?:a hard time|trouble|issues|some|difficulty)"
    r"|looking for|thinking about how|don['’]t know|need (?:some )?(?:advice|guidance|help)|was hoping"
    r"|want to (?:know|make sure|understand)|would like to know|getting (?:an|this|some|the) \w*\s?error"
    r"|encountering)\b|i['’]d like to know\b|(?:should|do|does|is|are|can|could|would|how|what|which|where"
    r"|why) (?:i|you|we|it|there|this|that|can|do|does|should|would|could|is|are|else|one)\b|here(?:['’]s| is"
    r"| are)\b|like (?:this|so)\b|let me know\b|(?:maybe|perhaps) (?:by|you|we|i)\b|any (?:tips|ideas"
    r"|advice|suggestions|thoughts)\b"
    r"|please\b|me (?:puedes|podrías)\b)|,?\s+(?:(?:can|could|would) you\b|¿)).*$",
    re.IGNORECASE | re.DOTALL,
)
_YOU = re.compile(
    r"\b(?:you|your|yours|you're|you've|you'll|you'd|yourself|u|ur|tu|tus|ti|contigo|usted|ustedes|vos|eres"
    r"|tienes|puedes|quieres|sabes|crees)\b"
)

# Not one who is spoken to, at the end or before a comma.
_NO_NAMES = STOPWORDS | SMALL_TALK
_CAPITAL = re.compile(
    r"(?<=[\w,;:&)] )(?!I\b)(?!(?<=, )[A-ZÁÉÍÓÚÑ]\w*\W*$)(?!(?<=,"
    r" )[A-ZÁÉÍÓÚÑ]\w*[,!])([A-ZÁÉÍÓÚÑ][\w’'&-]*)"
)
_NAME_FIRST = re.compile(
    r"(?!(?:The|This|That|It|There|He|She|They|These|Those|What|All|Everything|Everyone|Nothing|Someone"
    r"|Something|Some|One|Today|My|Our|Your|We|You|I|A|An|And|But|So|If|When|Just|Who|How|El|La|Los|Las|Un"
    r"|Una|Mi|Su|Tu|Esto|Eso)\b)(?:(?:Dr|Mrs?|Ms|Prof|Sra?|Dra)\. )?[A-ZÁÉÍÓÚÑ][\w’'-]+(?: (?:and |y "
    r"|& )?[A-ZÁÉÍÓÚÑ][\w’'-]+)* (?:(?:is|was|es"
    r"|era)(?= (?:an?|the|my|our|from|in|called|allergic|una?|el|la|mi|de|en)\b)|has|had|works|lives"
    r"|likes|loves|hates|prefers|wants|uses|needs|owns|goes|gets|says|plays|drives|studies|starts|teaches"
    r"|speaks|went|got|told"
    r"|said|bought|came|left|gave|met|sold|won|lost|(?:mov|work|call|start|join|turn|ask|marri|pass|retir"
    r"|visit|rais|graduat|adopt"
    r"|book|paint|open|clos|launch|finish|quit|order|arriv|invit|offer|plann|celebrat|cook|plant|fix|paid"
    r"|cancell?|chang)ed(?= \w)"
    r"|tiene|vive|trabaja|quiere|prefiere|odia|usa|se \w+[oó]|\w{2,}ó)\b"
)
_FIRST_PAST = re.compile(r"\b\w{2,}[éí]\b")
_THIRD_PAST = re.compile(r"\b\w{2,}ó\b")
_NO_PAST = re.compile(r"café|bebé|josé|aquí|allí|así|ahí|té|qué|mí|paté|chalé")
"""Spanish words that end like something that happened."""
