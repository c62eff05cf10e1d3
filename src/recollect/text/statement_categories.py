"""What a statement is about: the thirteen category names of Cognis, and the words that point to each.

Every pattern that is found adds its points to its category; the most points win, and ties go to the category
named first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from recollect.text.statement_signs import LIKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


class Category(StrEnum):
    """The sorts of notes, as Cognis names them."""

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
    """Where nothing else fits."""


_KIN = (
    r"wife|husband|partner|girlfriend|boyfriend|fiancee?|mom|mum|mother|dad|father|parents|sister|brother"
    r"|siblings?|sons?|daughters?|kids?|children|baby|twins|grandm\w+|grandf\w+|grandpa\w*|aunt|uncle"
    r"|cousins?|nephew|niece|family|friends?|best friend|neighbou?rs?|roommate|dog|dogs|puppy|cat|cats"
    r"|kitten|pets?|in-laws|mujer|esposa|esposo|marido|pareja|novi[oa]|madre|padre|mama|papa|padres"
    r"|herman[oa]s?|hij[oa]s?|abuel[oa]s?|ti[oa]|prim[oa]s?|sobrin[oa]s?|familia|amig[oa]s?|vecin[oa]s?"
    r"|companer[oa] de piso|perr[oa]s?|gat[oa]s?|mascotas?"
)
_HOBBIES = (
    r"hik(?:e|es|ing)|paint(?:ing)?|pottery|photography|garden(?:ing)?|knitting|camping|climbing|surfing"
    r"|skiing|cycling|fishing|chess|gaming|video ?games?|board ?games?|guitar|piano|violin|cello|drums"
    r"|singing|dancing|baking|cooking|reading|drawing|sewing|soccer|football|basketball|tennis|baseball"
    r"|hobby|hobbies|bird ?watching|collecting|woodworking|origami|salsa|karate|judo|senderismo|pintar"
    r"|pintura|ceramica|fotografia|jardineria|escalada|ajedrez|videojuegos|guitarra|violin|bailar|cocinar"
    r"|leer|dibujar|futbol|baloncesto|tenis|aficion(?:es)?"
)


class _Clue(NamedTuple):
    category: Category
    points: int
    pattern: re.Pattern[str]


def _clue(category: Category, points: int, pattern: str) -> _Clue:
    return _Clue(category, points, re.compile(pattern))


_CLUES = (
    _clue(
        Category.IDENTITY,
        3,
        r"\bmy (?:full |last |first |middle |nick)?name(?:'s| is)\b|\bme llamo\b|\bmi nombre es\b",
    ),
    _clue(Category.IDENTITY, 5, r"^(?:please )?call me\b|^llamame\b"),
    _clue(
        Category.IDENTITY,
        3,
        r"\b(?:i was|i am|i'm|we were|naci(?:mos)?) ?(?:born|en\b)|\bi(?:'m| am) from\b|\bsoy de\b",
    ),
    _clue(
        Category.IDENTITY,
        3,
        r"\b(?:i|we) (?:\w+ )?live in\b|\bmy (?:home ?town|birthday|age|address|gender|pronouns)\b",
    ),
    _clue(
        Category.IDENTITY,
        3,
        r"\b\d+ years old\b|\b(?:i'm|i am|im) \d\d$|\btengo \d+ anos\b|\bvivo en\b|\bmi cumpleanos\b",
    ),
    _clue(
        Category.IDENTITY,
        3,
        r"\b(?:i'm|i am) (?:an? )?(?:trans\w*|gay|lesbian|bisexual|immigrant|single|divorced|widowed)\b",
    ),
    _clue(Category.RELATIONSHIPS, 2, rf"\b(?:my|our|his|her|mi|mis|nuestr[oa]s?) (?:\w+ )?(?:{_KIN})\b"),
    _clue(Category.RELATIONSHIPS, 2, rf"^(?:my|our|mi|mis|nuestr[oa]s?) (?:\w+ )?(?:{_KIN})\b"),
    _clue(
        Category.RELATIONSHIPS, 3, rf"\b(?:have|has|had|got|tengo|tenemos|tiene) (?:\w+ ){{0,2}}(?:{_KIN})\b"
    ),
    _clue(
        Category.RELATIONSHIPS,
        3,
        r"\badopt\w*|\b(?:got |getting )?married\b|\b(?:engaged|divorced|broke up|wedding)\b",
    ),
    _clue(Category.RELATIONSHIPS, 3, r"\b(?:me case|nos casamos|boda|divorci\w+|adoptamos)\b"),
    _clue(
        Category.RELATIONSHIPS, 2, r"\bis my (?!favou?rite|goal|dream|job|plan|hobby|passion)\w+|\bes mi \w+"
    ),
    _clue(
        Category.WORK_CAREER,
        3,
        r"\b(?:i|he|she|we) (?:\w+ )?works? (?:at|as|for|in|with|from)\b|\bmy (?:job|career|work|company)\b",
    ),
    _clue(
        Category.WORK_CAREER,
        3,
        r"\b(?:promot(?:ed|ion)|hired|fired|laid off|job|salary|internship|colleagues?|co-?workers?|boss)\b",
    ),
    _clue(
        Category.WORK_CAREER,
        3,
        r"\b(?:my|our) (?:manager|clients?|customers?|office|team|startup|business|company|store|shop"
        r"|firm)\b",
    ),
    _clue(
        Category.WORK_CAREER,
        3,
        r"\b(?:i'm|i am|i've been|i was) (?:an? |the )(?:\w+ )?(?:teacher|nurse|engineer|developer|doctor"
        r"|lawyer|designer|manager|chef|driver|writer|artist|accountant|architect|freelancer|scientist"
        r"|programmer|consultant)\b",
    ),
    _clue(
        Category.WORK_CAREER,
        3,
        r"\btrabaj[oa]\b|\b(?:mi|nuestr[oa]) (?:jef[ea]|empresa|empleo|equipo|negocio|oficina)\b|\bascen"
        r"(?:so|dieron)\b",
    ),
    _clue(
        Category.LEARNING,
        3,
        r"\b(?:stud(?:y|ying|ied)|degree|university|college|phd|masters?|thesis|certificat\w+|graduat\w+"
        r"|course)\b",
    ),
    _clue(
        Category.LEARNING,
        3,
        r"\b(?:i|we) (?:\w+ )?speak\b|\b(?:learning|learned|learnt) (?:to|how|\w+)|\bmajor(?:ed|ing)? in\b",
    ),
    _clue(Category.LEARNING, 2, r"\b(?:school|exam|class|classes|lessons|learn)\b"),
    _clue(
        Category.LEARNING,
        3,
        r"\b(?:estudi[oae]\w*|universidad|carrera|tesis|hablo|aprend(?:o|iendo|i)|curso|titulo)\b",
    ),
    _clue(
        Category.WELLNESS,
        6,
        r"\b(?:allerg\w+|alergi\w+|intoleran\w+|celiac[oa]?|coeliac|diabet\w+|asthma\w*|asma\w*"
        r"|epilep\w+)\b",
    ),
    _clue(
        Category.WELLNESS,
        4,
        r"\b(?:vegans?|vegetarians?|vegan[oa]s?|vegetarian[oa]s?|pescatarian|gluten|keto)\b",
    ),
    _clue(
        Category.WELLNESS,
        4,
        r"\b\d+ ?mg\b|\b(?:medication|pills?|diagnosed|surgery|therap\w+|anxiety|depress\w+|pregnan\w+"
        r"|injur\w+|medicacion)\b",
    ),
    _clue(
        Category.WELLNESS,
        2,
        r"\b(?:gym|yoga|workouts?|working out|diet|doctor|dentist|hospital|health\w*|marathon|meditat\w+"
        r"|exercis\w+)\b",
    ),
    _clue(
        Category.WELLNESS,
        2,
        r"\b(?:gimnasio|dieta|medic[oa]|dentista|salud|ejercicio|maraton|lesion\w*|ansiedad|embarazada)\b",
    ),
    _clue(
        Category.WELLNESS, 3, r"\b(?:can't|cannot|don't|never) eat\b|\bno como\b|\bblood type\b|\bsangre\b"
    ),
    _clue(Category.LIFESTYLE, 2, r"\b(?:i|we) (?:\w+ )?(?:sleep|drink|cook|ride)\b|\bduermo\b|\bbebo\b"),
    _clue(
        Category.LIFESTYLE,
        3,
        r"\b(?:usually|every (?:day|morning|night|evening|week|weekend)|daily|routine|on weekends"
        r"|on weekdays)\b",
    ),
    _clue(
        Category.LIFESTYLE,
        3,
        r"\b(?:get up|wake up|go to bed|commute|bedtime|night owl|early bird)\b|\b(?:i|we) (?:\w+ )?drive\b",
    ),
    _clue(
        Category.LIFESTYLE,
        3,
        r"\b(?:suelo|todos los dias|todas las (?:mananas|noches)|cada (?:dia|manana|noche)|me levanto"
        r"|me acuesto)\b",
    ),
    _clue(
        Category.INTERESTS,
        3,
        rf"\b(?:love|like|enjoy|into|fan of|passion\w*|gustan?|encantan?|apasionan?)(?: \w+){{0,4}} "
        rf"(?:{_HOBBIES})\b",
    ),
    _clue(Category.INTERESTS, 2, rf"\b(?:{_HOBBIES})\b"),
    _clue(
        Category.INTERESTS,
        3,
        r"\b(?:i|we|he|she) (?:\w+ )?(?:play|plays|paint|paints|collect|sing|dance|knit)\b|\b(?:toco"
        r"|juego)\b",
    ),
    _clue(
        Category.INTERESTS,
        1,
        r"\b(?:books?|movies?|films?|music|bands?|songs?|concerts?|novels?|series|libros?|peliculas?"
        r"|musica)\b",
    ),
    _clue(Category.PREFERENCES, 2, rf"\b(?:{LIKING}) like\b"),
    _clue(Category.PREFERENCES, 3, r"\brather\b|\bdan? (?:miedo|asco|pereza)\b|\b(?:scared|afraid) of\b"),
    _clue(
        Category.PREFERENCES,
        3,
        r"\b(?:prefers?|prefiero|prefiere|preferimos|favou?rites?|favorit[oa]s?|can't stand|no soporto"
        r"|no aguanto)\b",
    ),
    _clue(
        Category.PREFERENCES,
        3,
        r"\b(?:don't|do not|doesn't|never) (?:\w+ )?(?:like|love|enjoy)\b|\bno me gustan?\b|\b(?:odio"
        r"|detesto)\b",
    ),
    _clue(
        Category.PREFERENCES,
        2,
        r"\b(?:likes|loves?|hates?|enjoys?|adores?|dislikes?)\b|\b(?:gustan?|encantan?)\b",
    ),
    _clue(
        Category.PREFERENCES,
        5,
        r"^(?:from now on|always|never|a partir de ahora|de ahora en adelante|siempre|nunca)\b",
    ),
    _clue(
        Category.PLANS_GOALS,
        3,
        r"\b(?:will|won't|gonna|going to|plan|plans|planning|planned|intend|aim to|hope to|hoping to)\b"
        r"|\w'll\b",
    ),
    _clue(
        Category.PLANS_GOALS,
        3,
        r"\b(?:want to|wanna|would (?:like|love) to|i'd (?:like|love) to|goal|dream (?:is|of|job)"
        r"|looking forward)\b",
    ),
    _clue(
        Category.PLANS_GOALS,
        3,
        r"\b(?:appointment|deadline|scheduled|(?:my|the) flight|(?:meeting|release|launch) is|thinking "
        r"(?:of|about)|due)\b",
    ),
    _clue(
        Category.PLANS_GOALS, 3, r"\binterview (?:with|at|on|next|tomorrow)\b|\bentrevista (?:con|en|el)\b"
    ),
    _clue(Category.PLANS_GOALS, 3, r"\b(?:decided|chose|chosen|agreed|settled on|let's|opted)\b"),
    _clue(
        Category.PLANS_GOALS,
        1,
        r"\b(?:tomorrow|next (?:\w+)|someday|soon|manana|proxim[oa]|algun dia|que viene)\b",
    ),
    _clue(
        Category.PLANS_GOALS,
        3,
        r"\b(?:voy|vamos|va|van|iba) a \w+r\b|\b(?:quiero|queremos|quisiera|planeo|pienso|espero) \w+r\b",
    ),
    _clue(
        Category.PLANS_GOALS,
        3,
        r"\b(?:decidi\w*|elegi\w*|acordamos|optamos|usaremos|objetivo|meta|cita con|reunion|vuelo)\b",
    ),
    _clue(
        Category.OPINIONS,
        4,
        r"\b(?:i (?:really |strongly )?(?:think|believe)|in my (?:opinion|view)|imh?o)\b",
    ),
    _clue(Category.OPINIONS, 4, r"\b(?:creo|pienso|opino) que\b|\ben mi opinion\b|\bme parece\b"),
    _clue(
        Category.CONTEXT,
        3,
        r"\b(?:i'm|i am|we're|we are) (?:\w+ )?(?:currently|right now|working on|debugging|trying to"
        r"|building)\b",
    ),
    _clue(
        Category.CONTEXT,
        3,
        r"\b(?:currently|right now|at the moment)\b|\b(?:ahora mismo|en este momento|estoy (?:intentando"
        r"|depurando))\b",
    ),
)


def category_of(plain: str, signs: AbstractSet[str]) -> Category:
    """The category of a statement without case and accents, of which these signs were seen."""
    points: defaultdict[Category, int] = defaultdict(int)
    for clue in _CLUES:
        if clue.pattern.search(plain):
            points[clue.category] += clue.points
    if "event" in signs and signs & {"speaker", "named", "someone"}:
        points[Category.EXPERIENCES] += 2 + ("time" in signs)
    if not points:
        return Category.MISC
    return max(Category, key=lambda category: points[category])
