"""What a statement is about: the thirteen category names of Cognis, and the words that point to each.

Every pattern that is found adds its points to its category; the most points win, and ties go to the category
named first.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from recollect.text.statements.signs import LIKING

if TYPE_CHECKING:
    from collections.abc import Mapping
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


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, patterns))


CLUES: Mapping[Category, Mapping[int, tuple[re.Pattern[str], ...]]] = {
    Category.IDENTITY: {
        5: _compiled(r"^(?:please )?call me\b|^llamame\b"),
        3: _compiled(
            r"\bmy (?:full |last |first |middle |nick)?name(?:'s| is)\b|\bme llamo\b|\bmi nombre es\b",
            r"\b(?:i was|i am|i'm|we were|naci(?:mos)?) ?(?:born|en\b)|\bi(?:'m| am) from\b|\bsoy de\b",
            r"\b(?:i|we) (?:\w+ )?live in\b|\bmy (?:home ?town|birthday|age|address|gender|pronouns)\b",
            r"\b\d+ years old\b|\b(?:i'm|i am|im) \d\d$|\btengo \d+ anos\b|\bvivo en\b|\bmi cumpleanos\b",
            r"\b(?:i'm|i am) (?:an? )?(?:trans\w*|gay|lesbian|bisexual|immigrant|single|divorced|widowed)\b",
        ),
    },
    Category.RELATIONSHIPS: {
        3: _compiled(
            rf"\b(?:have|has|had|got|tengo|tenemos|tiene) (?:\w+ ){{0,2}}(?:{_KIN})\b",
            r"\badopt\w*|\b(?:got |getting )?married\b|\b(?:engaged|divorced|broke up|wedding)\b",
            r"\b(?:me case|nos casamos|boda|divorci\w+|adoptamos)\b",
        ),
        2: _compiled(
            rf"\b(?:my|our|his|her|mi|mis|nuestr[oa]s?) (?:\w+ )?(?:{_KIN})\b",
            rf"^(?:my|our|mi|mis|nuestr[oa]s?) (?:\w+ )?(?:{_KIN})\b",
            r"\bis my (?!favou?rite|goal|dream|job|plan|hobby|passion)\w+|\bes mi \w+",
        ),
    },
    Category.WORK_CAREER: {
        3: _compiled(
            r"\b(?:i|he|she|we) (?:\w+ )?works? (?:at|as|for|in|with|from)\b|\bmy (?:job|career|work"
            r"|company)\b",
            r"\b(?:promot(?:ed|ion)|hired|fired|laid off|job|salary|internship|colleagues?|co-?workers?"
            r"|boss)\b",
            r"\b(?:my|our) (?:manager|clients?|customers?|office|team|startup|business|company|store|shop"
            r"|firm)\b",
            r"\b(?:i'm|i am|i've been|i was) (?:an? |the )(?:\w+ )?(?:teacher|nurse|engineer|developer"
            r"|doctor|lawyer|designer|manager|chef|driver|writer|artist|accountant|architect|freelancer"
            r"|scientist|programmer|consultant)\b",
            r"\btrabaj[oa]\b|\b(?:mi|nuestr[oa]) (?:jef[ea]|empresa|empleo|equipo|negocio|oficina)\b"
            r"|\bascen(?:so|dieron)\b",
        ),
    },
    Category.LEARNING: {
        3: _compiled(
            r"\b(?:stud(?:y|ying|ied)|degree|university|college|phd|masters?|thesis|certificat\w+"
            r"|graduat\w+|course)\b",
            r"\b(?:i|we) (?:\w+ )?speak\b|\b(?:learning|learned|learnt) (?:to|how|\w+)|\bmajor(?:ed|ing)?"
            r" in\b",
            r"\b(?:estudi[oae]\w*|universidad|carrera|tesis|hablo|aprend(?:o|iendo|i)|curso|titulo)\b",
        ),
        2: _compiled(r"\b(?:school|exam|class|classes|lessons|learn)\b"),
    },
    Category.WELLNESS: {
        6: _compiled(
            r"\b(?:allerg\w+|alergi\w+|intoleran\w+|celiac[oa]?|coeliac|diabet\w+|asthma\w*|asma\w*"
            r"|epilep\w+)\b",
        ),
        4: _compiled(
            r"\b(?:vegans?|vegetarians?|vegan[oa]s?|vegetarian[oa]s?|pescatarian|gluten|keto)\b",
            r"\b\d+ ?mg\b|\b(?:medication|pills?|diagnosed|surgery|therap\w+|anxiety|depress\w+|pregnan\w+"
            r"|injur\w+|medicacion)\b",
        ),
        3: _compiled(r"\b(?:can't|cannot|don't|never) eat\b|\bno como\b|\bblood type\b|\bsangre\b"),
        2: _compiled(
            r"\b(?:gym|yoga|workouts?|working out|diet|doctor|dentist|hospital|health\w*|marathon"
            r"|meditat\w+|exercis\w+)\b",
            r"\b(?:gimnasio|dieta|medic[oa]|dentista|salud|ejercicio|maraton|lesion\w*|ansiedad"
            r"|embarazada)\b",
        ),
    },
    Category.LIFESTYLE: {
        3: _compiled(
            r"\b(?:usually|every (?:day|morning|night|evening|week|weekend)|daily|routine|on weekends|on"
            r" weekdays)\b",
            r"\b(?:get up|wake up|go to bed|commute|bedtime|night owl|early bird)\b|\b(?:i|we) (?:\w+"
            r" )?drive\b",
            r"\b(?:suelo|todos los dias|todas las (?:mananas|noches)|cada (?:dia|manana|noche)|me levanto"
            r"|me acuesto)\b",
        ),
        2: _compiled(r"\b(?:i|we) (?:\w+ )?(?:sleep|drink|cook|ride)\b|\bduermo\b|\bbebo\b"),
    },
    Category.INTERESTS: {
        3: _compiled(
            rf"\b(?:love|like|enjoy|into|fan of|passion\w*|gustan?|encantan?|apasionan?)(?: \w+){{0,4}}"
            rf" (?:{_HOBBIES})\b",
            r"\b(?:i|we|he|she) (?:\w+ )?(?:play|plays|paint|paints|collect|sing|dance|knit)\b|\b(?:toco"
            r"|juego)\b",
        ),
        2: _compiled(rf"\b(?:{_HOBBIES})\b"),
        1: _compiled(
            r"\b(?:books?|movies?|films?|music|bands?|songs?|concerts?|novels?|series|libros?|peliculas?"
            r"|musica)\b",
        ),
    },
    Category.PREFERENCES: {
        5: _compiled(r"^(?:from now on|always|never|a partir de ahora|de ahora en adelante|siempre|nunca)\b"),
        3: _compiled(
            r"\brather\b|\bdan? (?:miedo|asco|pereza)\b|\b(?:scared|afraid) of\b",
            r"\b(?:prefers?|prefiero|prefiere|preferimos|favou?rites?|favorit[oa]s?|can't stand|no soporto"
            r"|no aguanto)\b",
            r"\b(?:don't|do not|doesn't|never) (?:\w+ )?(?:like|love|enjoy)\b|\bno me gustan?\b|\b(?:odio"
            r"|detesto)\b",
        ),
        2: _compiled(
            rf"\b(?:{LIKING}) like\b",
            r"\b(?:likes|loves?|hates?|enjoys?|adores?|dislikes?)\b|\b(?:gustan?|encantan?)\b",
        ),
    },
    Category.PLANS_GOALS: {
        3: _compiled(
            r"\b(?:will|won't|gonna|going to|plan|plans|planning|planned|intend|aim to|hope to|hoping to)\b"
            r"|\w'll\b",
            r"\b(?:want to|wanna|would (?:like|love) to|i'd (?:like|love) to|goal|dream (?:is|of|job)"
            r"|looking forward)\b",
            r"\b(?:appointment|deadline|scheduled|(?:my|the) flight|(?:meeting|release|launch) is|thinking"
            r" (?:of|about)|due)\b",
            r"\binterview (?:with|at|on|next|tomorrow)\b|\bentrevista (?:con|en|el)\b",
            r"\b(?:decided|chose|chosen|agreed|settled on|let's|opted)\b",
            r"\b(?:voy|vamos|va|van|iba) a \w+r\b|\b(?:quiero|queremos|quisiera|planeo|pienso|espero) \w+r\b",
            r"\b(?:decidi\w*|elegi\w*|acordamos|optamos|usaremos|objetivo|meta|cita con|reunion|vuelo)\b",
        ),
        1: _compiled(r"\b(?:tomorrow|next (?:\w+)|someday|soon|manana|proxim[oa]|algun dia|que viene)\b"),
    },
    Category.OPINIONS: {
        4: _compiled(
            r"\b(?:i (?:really |strongly )?(?:think|believe)|in my (?:opinion|view)|imh?o)\b",
            r"\b(?:creo|pienso|opino) que\b|\ben mi opinion\b|\bme parece\b",
        ),
    },
    Category.CONTEXT: {
        3: _compiled(
            r"\b(?:i'm|i am|we're|we are) (?:\w+ )?(?:currently|right now|working on|debugging|trying to"
            r"|building)\b",
            r"\b(?:currently|right now|at the moment)\b|\b(?:ahora mismo|en este momento|estoy"
            r" (?:intentando|depurando))\b",
        ),
    },
}
"""By category: patterns, under the points that each of them adds."""


def category_of(plain: str, signs: AbstractSet[str]) -> Category:
    """The category of a statement without case and accents, of which these signs were seen."""
    points: Counter[Category] = Counter()
    for category, clues in CLUES.items():
        for worth, patterns in clues.items():
            points[category] += worth * sum(pattern.search(plain) is not None for pattern in patterns)
    if "event" in signs and signs & {"speaker", "named", "someone"}:
        points[Category.EXPERIENCES] += 2 + ("time" in signs)
    if not any(points.values()):
        return Category.MISC
    return max(Category, key=lambda category: points[category])
