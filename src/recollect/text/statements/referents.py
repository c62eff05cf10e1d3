"""Whom and what pronouns mean: whether a sentence stands alone, and the name that makes it do so.

A pronoun is bound by what the same text says before it ("I have a dog and she is called Nala"). One that is
not may mean a person or a place of the talk before it, if exactly one is in reach. English and Spanish.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.text.sentences import quotations
from recollect.text.statements.signs import TIME_NAMES, read_patterns
from recollect.text.tokens import fold
from recollect.text.word_lists import SMALL_TALK, STOPWORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Sort(StrEnum):
    """What a pronoun can mean."""

    MAN = "man"
    WOMAN = "woman"
    GROUP = "group"
    PLACE = "place"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Reference:
    """A pronoun, or a phrase that means something said before."""

    start: int
    stop: int
    sort: Sort


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """What was said just before a message."""

    text: str
    speaker: str | None = None
    is_same_speaker: bool = False


@dataclass(frozen=True, slots=True)
class Referent:
    """A person or place that was spoken of."""

    name: str
    sorts: frozenset[Sort]
    is_certain: bool = True
    """Otherwise it may be meant, but nothing tells what it is, or how to name it."""


_PEOPLE = frozenset({Sort.MAN, Sort.WOMAN})
# "They" and "it" may mean too much that has no name.
_RESOLVED = _PEOPLE | {Sort.PLACE}
_NAME_WORD = r"[A-ZÁÉÍÓÚÑ][a-záéíóúüñ'’-]+"
_NAME = rf"{_NAME_WORD}(?: {_NAME_WORD})?"

_WORDS = read_patterns(r"""
men
  brother|husband|boyfriend|fiance|dad|father|son|uncle|nephew|grandpa|grandfather|grandson|stepfather
   |father-in-law|brother-in-law|guy|man|boy|hermano|marido|esposo|novio|padre|papa|papá|hijo|tio|tío|sobrino
   |abuelo|nieto|suegro|cunado|cuñado|hombre|chico|nino|niño
women
  sister|wife|girlfriend|fiancee|mom|mum|mother|daughter|aunt|niece|grandma|grandmother|granddaughter
   |stepmother|mother-in-law|sister-in-law|woman|girl|lady|hermana|mujer|esposa|novia|madre|mama|mamá|hija|tia
   |tía|sobrina|abuela|nieta|suegra|cunada|cuñada|chica|nina|niña
either
  friend|partner|boss|manager|teacher|doctor|dentist|therapist|coach|colleague|coworker|co-worker|neighbou?r
   |roommate|cousin|kid|child|baby|client|tutor|mentor|landlord|landlady|professor|vet|nurse|lawyer|agent
   |toddler|sibling|person|someone|dog|cat|puppy|kitten|pup|horse|pet|jefe|jefa|amig[oa]|prim[oa]|vecin[oa]
   |profesora?|doctora?|medic[oa]|médic[oa]|veterinari[oa]|companer[oa]|compañer[oa]|perr[oa]|gat[oa]
   |cliente|pareja|bebe|bebé
groups
  parents|kids|children|sons|daughters|brothers|sisters|friends|neighbou?rs|cousins|grandparents|siblings|twins
   |team|family|fam|company|colleagues|coworkers|co-workers|dogs|cats|people|guys|girls|boys|clients|students
   |padres|hijos|hijas|hermanos|hermanas|amigos|amigas|vecinos|primos|abuelos|equipo|familia|empresa|perros
   |gatos|clientes|alumnos|gente|suegros
""")


def _words(*names: str) -> str:
    return "|".join(pattern for name in names for pattern in _WORDS[name])


_OWNED = re.compile(
    rf"(?<![\w'’])((?i:my|our|your|mi|mis|nuestr[oa]s?|tus?)) ((?:[\w-]+ ){{0,2}}?)(?:({_words('men')})"
    rf"|({_words('women')})"
    rf"|({_words('either')})|({_words('groups')}))\b(?:,? ({_NAME_WORD}))?",
)
_SOMEBODY = re.compile(
    rf"(?<!\bis )(?<!\bwas )(?<!\bes )(?<!\bera )\b(?:an?|the|this|that|some|one|his|her|un|una|el|la)"
    rf" (?:[\w-]+ ){{0,2}}?(?:({_words('men')})"
    rf"|({_words('women')})"
    rf"|{_words('either')})\b",
    re.IGNORECASE,
)
_TITLED = re.compile(rf"\b(?:Mrs?|Ms|Dr|Prof|Sra?|Dra|Don|Doña)\.? {_NAME_WORD}")
_MALE_TITLE = re.compile(r"Mr\b|Sr\b|Don\b")
_FEMALE_TITLE = re.compile(r"Mrs|Ms|Sra|Dra|Doña")
# A name that does what people do, or to whom is done what is done to people.
_ACTS = (
    r"(?:said|says|told|tells|asked|asks|called|calls|works|worked|lives|lived|moved|loves|loved|likes|liked"
    r"|hates|hated|thinks|thought|wants|wanted|bought|went|came|has been|and I|just|got|gave|made|started"
    r"|texted|wrote|met|joined|helped|suggested|recommended|turned|graduated|married|dijo|dice|llamo|llamó"
    r"|vive"
    r"|trabaja|quiere|se|fue|vino|y yo)\b"
)
_PERSON = re.compile(
    rf"(?<![\w'’])(?:({_NAME})(?= {_ACTS})|(?:\b(?:told|tell|met|meet|asked|called|and I|thanks to|named"
    rf"|texted|married|friend|conoci a|llamada|llamado|amiga|amigo|dije a) )({_NAME}))"
)
_PLACE = re.compile(
    rf"\b(?i:in|to|from|near|visit(?:ed|ing)?|around|back in|en|hacia|desde|visit[eéo]|visitamos|de viaje a"
    rf"|(?<=viajar )a|(?<=fui )a|(?<=fuimos )a) (?:the |el |la )?({_NAME})(?!['’]s)"
)
_TALKS_TO = re.compile(r"(?:talk\w*|sp[eo]\w*k\w*|listen\w*|wrote|write|sent|gave|said|close|married) to $")
_ANY_NAME = re.compile(rf"(?<=[\w,;:&)] )(?!I\b)({_NAME})")
_FIRST_WORD_NAMES = re.compile(rf"(?:^|[.!?] )({_NAME_WORD})(?:['’]s\b| {_ACTS})")
_COMMON_FIRST = re.compile(
    r"(?:The|This|That|It|There|He|She|They|These|Those|What|All|Everything|Everyone|Nothing|Someone"
    r"|Something"
    r"|Some|One|Today|My|Our|Your|We|You|I|A|An|And|But|So|If|When|Just|Who|How|El|La|Los|Las|Un|Una|Mi|Su|Tu"
    r"|Esto|Eso|With|At|In|On|For|From|By|After|Before|During|As|To|Since|Not|No|Yes|Well|Last|Next|Every"
    r"|Each|Both"
    r"|Now|Here|Still|Maybe|Even|Lost|Got|Had|Been|Remember|Going|Do|Did|Have|Has|Is|Are|Was|Can|Could|Would"
    r"|Will|Why|Where|Which"
    r"|Con|En|De|Para|Por|Como|Cuando|Donde|Pero|Y|O|Ya|No|Se|Le|Lo|Me|Te|Nos|Sus|Mis|Hay|Es|Son|Tengo|Voy"
    r"|Soy|Estoy|Let|Yesterday|Then|Also|Ella|Ellos|Esta|Este|Ayer|Hoy|Hey|Hi|Hola|Thanks)$"
)

# --- what a text leaves open

_TIME_NOUNS = (
    r"(?:day|night|week|weekend|month|year|morning|afternoon|evening|spring|summer|autumn|fall|winter|mon"
    r"|tues"
    r"|wednes|thurs|fri|satur|sun|january|february|march|april|may|june|july|august|september|october"
    r"|november"
    r"|december|time|semester|season|quarter|christmas)"
)
_EXPLETIVE = re.compile(
    r"it(?:['’]s| is| was|['’]s been| has been| feels?| felt| seems?| takes?| took|['’]d be| would be"
    r"| will be"
    r"|['’]ll be) (?:\w+ ){0,4}?(?:to|that|when|how|since|before|until|\d+|raining|snowing|time)\b"
    r"|(?<=make )it (?:to|through|happen)\b|(?<=find )it (?:so |very |really |too )?\w+ to\b"
    r"|(?<=found )it (?:\w+ )?\w+ to\b"
    r"|(?<=made )it to\b|it turns out",
    re.IGNORECASE,
)
_REFERENCES = {
    Sort.MAN: re.compile(
        # In Spanish, "he" is "I have".
        r"\bhe\b(?! (?:\w+[aeií]do|hecho|visto|puesto|escrito|vuelto|dicho|roto|abierto|ido)\b)"
        r"|\b(?:him|his|himself|él)\b",
        re.IGNORECASE,
    ),
    Sort.WOMAN: re.compile(r"\b(?:she|her|hers|herself|ella)\b", re.IGNORECASE),
    Sort.GROUP: re.compile(
        r"\b(?:they|them|their|theirs|themselves|ellos|ellas|both|ambos|ambas|each of|some of|all of"
        r"|most of)\b(?! (?:my|our|the|mis|nuestr))",
        re.IGNORECASE,
    ),
    Sort.PLACE: re.compile(
        r"\bthere\b(?! (?:is|are|was|were|will|has|have|had|might|may|must|should|seems?|used)\b|['’]"
        r"| for (?:me|us)\b)|\bhere\b"
        r"|\b(?:all[íá]|ah[íi]|aqu[íi]|acá)\b",
        re.IGNORECASE,
    ),
    Sort.THING: re.compile(
        r"\b(?:it|its|itself|it['’]s|it['’]ll|it['’]d)\b"
        # A pronoun, and not what begins a clause.
        r"|(?:(?<=^)|(?<=[.!?;:,—-] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bbecause )|(?<=\bwhen )"
        r"|(?<=\bif ))"
        r"(?:that|this|these|those)(?=['’]| (?:is|was|are|were|has|have|had|will|would|needs?|makes?|made"
        r"|works?"
        r"|helps?|helped|means?)\b)"
        r"|\b(?:eso|esto|aquello)\b"
        r"|\b(?:se|me|te|nos) l[oa]s? (?!pas[eé]|paso)\w+|\bl[oa]s? (?:he|ha|has|han|hemos|habia|había|hice"
        r"|hizo"
        r"|vi|vio|tengo|tiene|tenemos|compr[eéó]\w*|llev[eéoóa]\w*|dej[eéoóa]\w*|dij[eo]|quiero|quiere|sé"
        r"|puso"
        r"|puse|van|voy|vamos|conoc\w+|doy|da|dan|ve|veo|pone|pongo|hago|hace|sabe|llama|llamo|quita|\w+é"
        r"|\w+ó)\b"
        r"|\bles? (?!(?:gusta|encanta)n? (?:a|mucho a)\b)\w+|\b\w+[aei]r(?:se)?l[oa]s?\b",
        re.IGNORECASE,
    ),
}
# These point out of the sentence, whatever stands before them in it.
_POINTERS = re.compile(
    rf"\b(?:this|that|these|those)\b(?= \S)(?! (?:past |coming |last |whole )?{_TIME_NOUNS})"
    r"(?! (?:days|who|is|was|are|were|has|have|had|will|would|needs?|makes?|made|works?|helps?|helped"
    r"|means?)\b)"
    r"|\b(?:of|about|like|for|with|at|in|on|from|after|before|during|to|by|than|do|did|done|doing|try|tried"
    r"|love"
    r"|loved|like|liked|enjoyed|see|seen|need|want|made|make|take|finished|remember) (?:that|this|those"
    r"|these)\b"
    rf"(?! {_TIME_NOUNS})|\b(?:that|this|these|those)(?:[.,!;]|$)"
    r"|\b(?:the|that|this) (?:other|same|latter|former|rest|ones?|first one|second one|above|following"
    r"|previous)\b"
    r"(?! (?:side|hand|day))"
    r"|\b(?:has|have|had|got|get|bought|want|wants|need|needs|take|took|like|tried|try|make|made) one\b"
    r"|\b(?:similar|another one|one of (?:them|those|these)|the others|such (?:an?|things?))\b|\b(?:the"
    r"|those|these) ones\b"
    r"|^(?:one|some|another|others|none|neither|most|many|each|either|all|everything|everyone|everybody)\b"
    rf"(?! (?:of (?:my|our)|{_TIME_NOUNS}|i\b|we\b))"
    r"|\bthe (?:event|show|convention|conference|game|match|trip|party|competition|contest|class|workshop"
    r"|group"
    r"|book|movie|film|series|song|picture|photo|pic|painting|place|job|idea|program|plan|results?|offer|news"
    r"|problem|file|guide|documents?|script|list|itinerary|options|draft|report|total|numbers|link|page"
    r"|product"
    r"|booking|wording|material|approach|structure|format|version|topic|feature|article|author|characters?"
    r"|suggestions?|instructions?|questions?|answers?|process|situation)\b"
    r"(?! (?:of|for|with|at|in|on|from|about|i|we|that|to|called|named|between|by|\d)\b)"
    r"|\b(?:ese|esa|esos|esas|aquel|aquella)\b|\b(?:lo mismo|lo otro|el otro|la otra)\b(?! día| dia)"
    r"|\b(?:este|esta|estos|estas)\b(?! (?:semana|mes|año|noche|tarde|mañana|finde|fin|verano|invierno|otoño"
    r"|primavera|lunes|martes|miércoles|jueves|viernes|sábado|domingo|curso|vez|días|año))",
    re.IGNORECASE,
)
# Written without a subject: what it says, it says of something before.
_SUBJECTLESS = re.compile(
    r"(?:¡)?(?:no )?(?:se |le |les |me lo |te lo )?(?:es|está|esta|tiene|vive|trabaja|odia|quiere|prefiere"
    r"|necesita"
    r"|cuesta|usa|dice|habla|estudia|llama|gusta|encanta|viene|va|hace|fue|era|estaba|tenía|son|están|tienen"
    r"|cumple|toca|juega|cobra|sale|abre|cierra|queda|pesa|\w{2,}ó|\w{2,}(?:aron|ieron))\b",
    re.IGNORECASE,
)
_UNREAL_SUBJECT = re.compile(
    r"(?:no )?(?:es|era|fue|está|esta) (?:que|hora|importante|mejor|posible|lloviendo|nevando)\b|hace "
    r"(?:un|una|dos|tres|\d+|poco|mucho|frío|calor)|se me \w+ (?:el|la|los|las|mi)\b|me \w+",
    re.IGNORECASE,
)

# --- what binds it within the same text

_BINDING = {
    Sort.MAN: re.compile(rf"\b(?:{_words('men', 'either')})\b", re.IGNORECASE),
    Sort.WOMAN: re.compile(rf"\b(?:{_words('women', 'either')})\b", re.IGNORECASE),
    Sort.GROUP: re.compile(
        rf"(?i:\b(?:{_words('groups')})\b|\b(?:my|our|the|some|two|three|four|five|\d+|many|several|new"
        rf"|other|of"
        rf"|mis|nuestr[oa]s|los|las|unos|unas|dos|tres) (?:[\w-]+ )?(?!hours|days|weeks|months|years|minutes"
        rf"|times)\w+s\b)|{_NAME_WORD} (?:and|y|&) {_NAME_WORD}"
    ),
    Sort.PLACE: re.compile(
        rf"\b(?i:in|at|to|near|from|visit\w*|en|a|al) (?:(?i:the|a|an|my|our|el|la|un|una|mi) \w+"
        rf"|{_NAME_WORD})"
    ),
    Sort.THING: re.compile(
        r"\b(?:(?i:an?|my|our|the|some|another|two|three|new|un|una|el|la|mi|nuestr[oa]|los|las)) [\w-]+"
        rf"|\b\w{{3,}}ing\b|\d|(?<=\w ){_NAME_WORD}|^{_NAME_WORD}!"
    ),
}


def open_references(text: str) -> list[Reference]:
    """The pronouns that nothing before them in a text gives a meaning, in order; quotations do not count."""
    for start, stop in quotations(text):
        text = text[:start] + "“" * (stop - start) + text[stop:]
    found = [
        Reference(*match.span(), sort)
        for sort, pattern in _REFERENCES.items()
        for match in pattern.finditer(text)
        if not _is_bound(text, match, sort)
    ]
    found += [
        Reference(*match.span(), Sort.THING)
        for match in _POINTERS.finditer(text)
        if not _is_clause(text, match)
    ]
    if _SUBJECTLESS.match(text) and not _UNREAL_SUBJECT.match(text):
        found.append(Reference(0, 0, Sort.THING))
    return sorted(found, key=lambda one: (one.start, one.stop))


def is_ambiguous(text: str, before: str) -> bool:
    """Whether a pronoun of a text may mean two people of the text before it."""
    sorts = {one.sort for one in open_references(text)} & _PEOPLE
    spoken_of = referents_in(before) if sorts else []
    # "My boss is called Ms. Okafor" speaks of one.
    most = 2 if _IS_SAME.search(before) else 1
    return any(sum(sort in one.sorts for one in spoken_of) > most for sort in sorts)


_IS_SAME = re.compile(r"\b(?:is|was|es|era|called|named|name's|llama)\b")


def _is_clause(text: str, match: re.Match[str]) -> bool:
    """Whether `that` begins a clause: "a friend that lives in Rome", "I think that tea is better"."""
    if match[0].lower() != "that" or not (before := re.search(r"(\w+) $", text[: match.start()])):
        return False
    if _PREPOSITION.fullmatch(before[1]):
        return False
    return not _TAKES_OBJECT.fullmatch(before[1]) or _CLAUSE_BEGINS.match(text, match.end()) is not None


_PREPOSITION = re.compile(
    r"of|about|like|for|with|at|in|into|on|onto|from|after|before|during|to|by|than|over|through|out|up|off"
    r"|down",
    re.IGNORECASE,
)
_TAKES_OBJECT = re.compile(
    r"(?!said|told|decided|agreed|learned|realized|noticed|hoped|heard|believed|mentioned)\w+ed|saw|took"
    r"|made|got|read|wrote"
    r"|bought|built|drew|sold|did|use|play|watch|and|or",
    re.IGNORECASE,
)
_CLAUSE_BEGINS = re.compile(
    r" (?:i|we|he|she|they|it|the|my|our|an?|there|is|was|are|were|has|have|had|will|would)\b", re.IGNORECASE
)


def _is_bound(text: str, match: re.Match[str], sort: Sort) -> bool:
    if sort is Sort.THING and _EXPLETIVE.match(text, match.start()):
        return True
    head = text[: match.start()]
    if match[0].lower() == "him" and not _CLAUSE_END.search(head):
        return False  # "Ana called him": somebody else than Ana
    if _BINDING[sort].search(head):
        return True
    if sort in _PEOPLE:
        return any(True for _ in _names(head)) or bool(_FIRST_WORD_NAMES.search(text[: match.start() + 1]))
    return False


_CLAUSE_END = re.compile(
    r"[,;:.!?—]|\b(?:and|but|who|when|because|so|that|if|which|while|where)\b", re.IGNORECASE
)


def _names(text: str) -> Iterator[str]:
    for match in _ANY_NAME.finditer(text):
        if not TIME_NAMES.match(fold(match[1])):
            yield match[1]
    first = re.match(rf"({_NAME})(?= \w)", text)
    if first and not _COMMON_FIRST.match(first[1].split()[0]):
        yield first[1]


def resolved(text: str, references: Sequence[Reference], reach: Sequence[Referent]) -> str | None:
    """The text with a name for the first pronoun of each sort; None where one of them stays open."""
    names: dict[Sort, str] = {}
    if any(one.sort not in _RESOLVED for one in references):
        return None
    for sort in dict.fromkeys(one.sort for one in references):
        fitting = [referent for referent in reach if sort in referent.sorts]
        if len(fitting) != 1 or not fitting[0].is_certain:
            return None
        names[sort] = fitting[0].name
    written = text
    first = {one.sort: one for one in reversed(references)}
    for one in sorted(first.values(), key=lambda one: -one.start):
        put = _in_place_of(text, one, names[one.sort])
        if put is None:
            return None
        written = written[: one.start] + put + written[one.stop :]
    return written


def _in_place_of(text: str, one: Reference, name: str) -> str | None:
    """A name in the form that the pronoun has."""
    word = text[one.start : one.stop].lower()
    rest = text[one.stop :]
    if word in {"himself", "herself", "themselves", "hers", "theirs", "here", "aquí", "both", "each of"}:
        return None
    begins = one.start == 0
    if one.sort is Sort.PLACE:
        before = text[: one.start].rstrip().lower()
        if re.search(r"\b(?:from|over|around|near|out|up|down|desde|por|hacia)$", before):
            return name if before.endswith(("from", "near", "around", "desde", "hacia")) else None
        if re.match(r"(?:all|ah)", word):
            return (
                f"{'A' if begins else 'a'} {name}"
                if _MOVES.search(before)
                else f"{'E' if begins else 'e'}n {name}"
            )
        return f"to {name}" if _MOVES.search(before) else f"{'I' if begins else 'i'}n {name}"
    name = name[0].upper() + name[1:] if begins else name
    possessive = word in {"his", "their"} or (
        word == "her" and re.match(r" [a-z]", rest) and not _NO_NOUN.match(rest)
    )
    if not possessive:
        return name
    return f"{name}’" if name.endswith("s") else f"{name}'s"


_MOVES = re.compile(
    r"\b(?:go|goes|going|gone|went|move|moved|moving|travel\w*|fly|flew|drive|drove|been|come|came|get|got"
    r"|return\w*|trip|ir|voy|vamos|fui|fuimos|iba|viaj\w+|mud\w+|vol(?:ver|vi|vimos))(?: back)?$",
    re.IGNORECASE,
)
# After "her", a word that is no noun: she is the object there.
_NO_NOUN = re.compile(
    r" (?:to|at|in|on|for|with|from|about|and|but|or|so|as|is|was|when|because|if|that|the|a|an|every|last"
    r"|next"
    r"|yesterday|today|tomorrow|since|after|before|this|my|our|how|what|a lot|again|too|well)\b"
)


def referents_in(text: str, turn: EarlierTurn | None = None) -> list[Referent]:
    """The people and places that a text speaks of; of an earlier turn, as its listener would name them."""
    found: dict[str, Referent] = {}
    taken: list[tuple[int, int]] = []

    def add(
        name: str,
        sorts: Iterable[Sort],
        span: tuple[int, int],
        known_as: str | None = None,
        *,
        certain: bool = True,
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
        said = _owned(match, owner, turn)
        add(
            said or match[0], sorts, match.span(), name or man or woman or either or group, certain=bool(said)
        )
    for match in _SOMEBODY.finditer(text):  # who has no name yet
        sorts = [Sort.MAN] if match[1] else [Sort.WOMAN] if match[2] else _PEOPLE
        add(match[0], sorts, match.span(), certain=False)
    for match in _TITLED.finditer(text):
        sorts = (
            [Sort.WOMAN]
            if _FEMALE_TITLE.match(match[0])
            else [Sort.MAN]
            if _MALE_TITLE.match(match[0])
            else _PEOPLE
        )
        add(match[0], sorts, match.span(), match[0].split()[-1])
    for match in _PERSON.finditer(text):
        name = match[1] or match[2]
        if not TIME_NAMES.match(fold(name)) and not _COMMON_FIRST.match(name.split()[0]):
            add(name, _PEOPLE, match.span(1) if match[1] else match.span(2))
    for match in _PLACE.finditer(text):
        if not TIME_NAMES.match(fold(match[1])) and not _TALKS_TO.search(text[: match.start(1)]):
            add(match[1], [Sort.PLACE], match.span(1))
    for match in _ANY_NAME.finditer(text):  # of unknown sort: it may be meant, and cannot be told
        if not TIME_NAMES.match(fold(match[1])) and not _is_spoken_to(text, match):
            add(match[1], [*_PEOPLE, Sort.PLACE], match.span(1), certain=False)
    for match in _SENTENCE_FIRST.finditer(text):
        if not _COMMON_FIRST.match(match[1]) and _may_be_name(match[1]):
            add(match[1], [*_PEOPLE, Sort.PLACE], match.span(1), certain=False)
    return list(found.values())


_SENTENCE_FIRST = re.compile(rf"(?:^|[.!?¡¿\n] *)({_NAME_WORD})(?= [a-záéíóú])")
_NO_NAMES = STOPWORDS | SMALL_TALK


def _may_be_name(word: str) -> bool:
    """Not `It's`, not `Painting`."""
    return not word.endswith("ing") and re.split("['’]", fold(word))[0] not in _NO_NAMES


def _owned(match: re.Match[str], owner: str, turn: EarlierTurn | None) -> str:
    """How the one who speaks now would name somebody's sister; empty where that cannot be told."""
    rest, folded = match[0][len(owner) :], owner.lower()
    if folded in _YOURS:
        return _YOURS[folded] + rest if turn and not turn.is_same_speaker else ""
    if turn is None or turn.is_same_speaker:
        return folded + rest
    return f"{turn.speaker}'s{rest}" if turn.speaker and folded == "my" else ""


_YOURS = {"your": "my", "tu": "mi", "tus": "mis"}


def _is_spoken_to(text: str, match: re.Match[str]) -> bool:
    return (
        text[: match.start()].endswith(", ") and re.match(r"\W*(?:$|[,!.?])", text[match.end() :]) is not None
    )


def in_reach(said: str, before: Sequence[EarlierTurn]) -> list[Referent]:
    """Those whom a pronoun may mean: whom this message spoke of so far, and the turns before it."""
    found: dict[str, Referent] = {}
    speakers = {fold(turn.speaker) for turn in before if turn.speaker}
    for text, turn in ((said, None), *((turn.text, turn) for turn in reversed(before))):
        for one in referents_in(text, turn):
            if fold(one.name) not in speakers:  # they are spoken to
                found.setdefault(fold(one.name), one)
    return list(found.values())
