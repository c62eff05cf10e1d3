"""What a statement is about: the thirteen category names of Cognis, and the words that point to each.

Every pattern that is found adds its points to its category; the most points win, and ties go to the category
named first.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from recollect.text.statements.signs import LIKING, read_patterns

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


# Words that some have in common; then the patterns of each category, under the points that each of them adds.
_CLUES = r"""
KIN
  wife|husband|partner|girlfriend|boyfriend|fiancee?|mom|mum|mother|dad|father|parents|sister|brother
   |siblings?|sons?|daughters?|kids?|children|baby|twins|grandm\w+|grandf\w+|grandpa\w*|aunt|uncle|cousins?
   |nephew|niece|family|friends?|best friend|neighbou?rs?|roommate|dog|dogs|puppy|cat|cats|kitten|pets?
   |in-laws|mujer|esposa|esposo|marido|pareja|novi[oa]|madre|padre|mama|papa|padres|herman[oa]s?|hij[oa]s?
   |abuel[oa]s?|ti[oa]|prim[oa]s?|sobrin[oa]s?|familia|amig[oa]s?|vecin[oa]s?|companer[oa] de piso|perr[oa]s?
   |gat[oa]s?|mascotas?
HOBBIES
  hik(?:e|es|ing)|paint(?:ing)?|pottery|photography|garden(?:ing)?|knitting|camping|climbing|surfing|skiing
   |cycling|fishing|chess|gaming|video ?games?|board ?games?|guitar|piano|violin|cello|drums|singing|dancing
   |baking|cooking|reading|drawing|sewing|soccer|football|basketball|tennis|baseball|hobby|hobbies
   |bird ?watching|collecting|woodworking|origami|salsa|karate|judo|senderismo|pintar|pintura|ceramica
   |fotografia|jardineria|escalada|ajedrez|videojuegos|guitarra|violin|bailar|cocinar|leer|dibujar|futbol
   |baloncesto|tenis|aficion(?:es)?
identity 5
  ^(?:please )?call me\b|^llamame\b
identity 3
  \bmy (?:full |last |first |middle |nick)?name(?:'s| is)\b|\bme llamo\b|\bmi nombre es\b
  \b(?:i was|i am|i'm|we were|naci(?:mos)?) ?(?:born|en\b)|\bi(?:'m| am) from\b|\bsoy de\b
  \b(?:i|we) (?:\w+ )?live in\b|\bmy (?:home ?town|birthday|age|address|gender|pronouns)\b
  \b(?:left|right)-handed\b|\bzurd[oa]\b
  \b\d+ years old\b|\b(?:i'm|i am|im) \d\d$|\btengo \d+ anos\b|\bvivo en\b|\bmi cumpleanos\b
  \b(?:i'm|i am) (?:an? )?(?:trans\w*|gay|lesbian|bisexual|immigrant|single|divorced|widowed)\b
relationships 3
  \b(?:have|has|had|got|tengo|tenemos|tiene) (?:\w+ ){0,2}(?:<KIN>)\b
  \badopt\w*|\b(?:got |getting )?married\b|\b(?:engaged|divorced|broke up|wedding)\b
  \b(?:me case|nos casamos|boda|divorci\w+|adoptamos)\b
relationships 2
  \b(?:my|our|his|her|mi|mis|nuestr[oa]s?) (?:\w+ )?(?:<KIN>)\b
  ^(?:my|our|mi|mis|nuestr[oa]s?) (?:\w+ )?(?:<KIN>)\b
  \bis my (?!favou?rite|goal|dream|job|plan|hobby|passion)\w+|\bes mi \w+
work_career 3
  \b(?:i|he|she|we) (?:\w+ )?works? (?:at|as|for|in|with|from)\b|\bmy (?:job|career|work|company)\b
  \b(?:promot(?:ed|ion)|hired|fired|laid off|job|salary|internship|colleagues?|co-?workers?|boss)\b
  \b(?:my|our) (?:manager|clients?|customers?|office|team|startup|business|company|store|shop|firm)\b
  \b(?:i'm|i am|i've been|i was) (?:an? |the )(?:\w+ )?(?:teacher|nurse|engineer|developer|doctor|lawyer
   |designer|manager|chef|driver|writer|artist|accountant|architect|freelancer|scientist|programmer
   |consultant)\b
  \b(?:i|we) (?:own|run) an? (?:[\w-]+ )?(?:bakery|shop|store|cafe|restaurant|farm|salon|company|business)\b
  \btrabaj[oa]\b|\b(?:mi|nuestr[oa]) (?:jef[ea]|empresa|empleo|equipo|negocio|oficina)\b|\bascen(?:so
   |dieron)\b
learning 3
  \b(?:stud(?:y|ying|ied)|degree|university|college|phd|masters?|thesis|certificat\w+|graduat\w+|course)\b
  \b(?:i|we) (?:\w+ )?speak\b|\b(?:learning|learned|learnt) (?:to|how|\w+)|\bmajor(?:ed|ing)? in\b
  \b(?:estudi[oae]\w*|universidad|carrera|tesis|hablo|aprend(?:o|iendo|i)|curso|titulo)\b
learning 2
  \b(?:school|exam|class|classes|lessons|learn)\b
wellness 6
  \b(?:allerg\w+|alergi\w+|intoleran\w+|celiac[oa]?|coeliac|diabet\w+|asthma\w*|asma\w*|epilep\w+)\b
wellness 4
  \b(?:vegans?|vegetarians?|vegan[oa]s?|vegetarian[oa]s?|pescatarian|gluten|keto)\b
  \b\d+ ?mg\b|\b(?:medication|pills?|diagnosed|surgery|therap\w+|anxiety|depress\w+|pregnan\w+|injur\w+
   |medicacion)\b
wellness 3
  \b(?:can't|cannot|don't|never) eat\b|\bno como\b|\bblood type\b|\bsangre\b
wellness 2
  \b(?:gym|yoga|workouts?|working out|diet|doctor|dentist|hospital|health\w*|marathon|meditat\w+|exercis\w+)\b
  \b(?:gimnasio|dieta|medic[oa]|dentista|salud|ejercicio|maraton|lesion\w*|ansiedad|embarazada)\b
lifestyle 3
  \b(?:usually|every (?:day|morning|night|evening|week|weekend)|daily|routine|on weekends|on weekdays)\b
  \b(?:get up|wake up|go to bed|commute|bedtime|night owl|early bird)\b|\b(?:i|we) (?:\w+ )?drive\b
  \b(?:suelo|todos los dias|todas las (?:mananas|noches)|cada (?:dia|manana|noche)|me levanto|me acuesto)\b
lifestyle 2
  \b(?:i|we) (?:\w+ )?(?:sleep|drink|cook|ride)\b|\bduermo\b|\bbebo\b
interests 3
  \b(?:love|like|enjoy|into|fan of|passion\w*|gustan?|encantan?|apasionan?)(?: \w+){0,4} (?:<HOBBIES>)\b
  \b(?:i|we|he|she) (?:\w+ )?(?:play|plays|paint|paints|collect|sing|dance|knit)\b|\b(?:toco|juego)\b
interests 2
  \b(?:<HOBBIES>)\b
interests 1
  \b(?:books?|movies?|films?|music|bands?|songs?|concerts?|novels?|series|libros?|peliculas?|musica)\b
preferences 5
  ^(?:from now on|always|never|a partir de ahora|de ahora en adelante|siempre|nunca)\b
preferences 3
  \brather\b|\bdan? (?:miedo|asco|pereza)\b|\b(?:scared|afraid) of\b
  \b(?:prefers?|prefiero|prefiere|preferimos|favou?rites?|favorit[oa]s?|can't stand|no soporto|no aguanto)\b
  \b(?:don't|do not|doesn't|never) (?:\w+ )?(?:like|love|enjoy)\b|\bno me gustan?\b|\b(?:odio|detesto)\b
preferences 2
  \b(?:<LIKING>) like\b
  \b(?:likes|loves?|hates?|enjoys?|adores?|dislikes?)\b|\b(?:gustan?|encantan?)\b
plans_goals 3
  \b(?:will|won't|gonna|going to|plan|plans|planning|planned|intend|aim to|hope to|hoping to)\b|\w'll\b
  \b(?:want to|wanna|would (?:like|love) to|i'd (?:like|love) to|goal|dream (?:is|of|job)|looking forward)\b
  \b(?:appointment|deadline|scheduled|(?:my|the) flight|(?:meeting|release|launch) is|thinking (?:of|about)
   |due)\b
  \binterview (?:with|at|on|next|tomorrow)\b|\bentrevista (?:con|en|el)\b
  \b(?:decided|chose|chosen|agreed|settled on|let's|opted)\b
  \b(?:voy|vamos|va|van|iba) a \w+r\b|\b(?:quiero|queremos|quisiera|planeo|pienso|espero) \w+r\b
  \b(?:decidi\w*|elegi\w*|acordamos|optamos|usaremos|objetivo|meta|cita con|reunion|vuelo)\b
plans_goals 1
  \b(?:tomorrow|next (?:\w+)|someday|soon|manana|proxim[oa]|algun dia|que viene)\b
opinions 4
  \b(?:i (?:really |strongly )?(?:think|believe)|in my (?:opinion|view)|imh?o)\b
  \b(?:creo|pienso|opino) que\b|\ben mi opinion\b|\bme parece\b
context 3
  \b(?:i'm|i am|we're|we are) (?:\w+ )?(?:currently|right now|working on|debugging|trying to|building)\b
  \b(?:currently|right now|at the moment)\b|\b(?:ahora mismo|en este momento|estoy (?:intentando|depurando))\b
"""
_PATTERNS = [
    (Category(name), int(points), re.compile(pattern))
    for heading, patterns in read_patterns(_CLUES, LIKING=LIKING).items()
    for name, points in [heading.split()]
    for pattern in patterns
]


def category_of(plain: str, signs: AbstractSet[str]) -> Category:
    """The category of a statement without case and accents, of which these signs were seen."""
    points: Counter[Category] = Counter()
    for category, worth, pattern in _PATTERNS:
        points[category] += worth * (pattern.search(plain) is not None)
    if "event" in signs and signs & {"speaker", "named", "someone"}:
        points[Category.EXPERIENCES] += 2 + ("time" in signs)
    return max(Category, key=lambda category: points[category]) if any(points.values()) else Category.MISC
