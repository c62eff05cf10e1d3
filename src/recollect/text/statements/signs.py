"""The signs by which a sentence is kept or dropped, in English and Spanish, as data.

Patterns read a sentence without case and accents, its quotations taken out. Each sign counts once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from recollect.text.word_lists import ENGLISH_MONTHS, SPANISH_MONTHS

ENOUGH = 2
"""Points from which a sentence is kept by itself."""
FOLLOWING_ENOUGH = 1
"""Points from which it is kept with the sentence before it, of which it says something."""

_SIGNS_BY_POINTS = {
    3: "explicit standing",
    2: "decision",
    1: "speaker someone state habit preference plan event time number opinion health named",
    -1: "addressee hedge general pointing",
    -2: "reaction",
}
POINTS = {sign: points for points, signs in _SIGNS_BY_POINTS.items() for sign in signs.split()}
"""What each sign adds; `named` is seen by capital letters, and has no pattern."""


def any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_MONTHS = "|".join(month for month in (*ENGLISH_MONTHS, *SPANISH_MONTHS) if month != "may")
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|lunes|martes|miercoles|jueves|viernes|sabado|domingo"
TIME_NAMES = re.compile(rf"(?:{_MONTHS}|may|{_DAYS}|christmas|easter)$")
"""Capitalised, but names of times, not of things."""

# Before "like", where it is a verb; it also means "such as".
LIKING = (
    r"i|we|they|you|who|don't|didn't|doesn't|not|really|also|always|especially|still|mostly|to|i'd|would|"
    r"(?:my|our|the) \w+|^\w+"
)

_WENT = (
    r"went|visited|bought|met|finished|started|began|moved|saw|got|made|took|found|lost|won|left|came"
    r"|became|gave|had|built|broke|wrote|sold|spent|heard|felt|ran|drove|flew|grew|taught|learned|learnt"
    r"|told|brought|caught|ate|drank|slept|swam|rode|sang|read|paid|sent|led|held|kept|fell|quit|joined"
    r"|graduated|did"
)
# They end like something that happened, but say how someone feels or what something is like.
_NO_EVENT = (
    r"need|indeed|exceed|proceed|speed|feed|seed|weed|bleed|breed|succeed|agreed|excited|interested|tired"
    r"|bored|worried|amazed|amused|blessed|pleased|scared|surprised|shocked|relaxed|stressed|overwhelmed"
    r"|inspired|touched|married|related|supposed|used|called|named|allergic|hundred|red|bed|shed"
)
_FUI = (
    r"fui|fuimos|fue|fueron|estuve|estuvimos|hice|hicimos|vi|vimos|compre|visite|visitamos|conoci|conocimos"
    r"|empece|termine|acabe|gane|ganamos|perdi|perdimos|encontre|lei|comi|viaje|viajamos|mude|mudamos|corri"
    r"|pase|pasamos|tuve|tuvimos|consegui|aprendi|escribi|vendi|recibi|naci|lleve|deje|llegue|llegamos"
    r"|salimos|nos casamos"
)

SIGNS: Mapping[str, re.Pattern[str]] = {
    "explicit": any_of(
        r"^(?:please,? )?(?:remember|note|keep in mind|bear in mind|don't forget|do not forget)\b",
        r"^(?:for the record|fyi|just so you know)\b",
        r"^(?:por favor,? )?(?:recuerda|ten en cuenta|ten presente|toma nota|apunta|anota|no olvides)\b",
        r"^(?:que conste|para que conste|para que lo sepas)\b",
    ),
    "standing": any_of(
        r"^from now on\b",
        r"^(?:always|never) (?!mind\b|been\b|had\b|a\b|the\b|seen\b|heard\b|forget\b|give up\b|too\b"
        r"|knew\b)\w+",
        r"^(?:please )?call me (?!when|back|if|later|tomorrow|at|on|crazy|anytime)\w+",
        r"^(?:a partir de ahora|de ahora en adelante)\b",
        r"^(?:siempre|nunca) (?:usa|uses|responde|respondas|contesta|contestes|escribe|escribas|pon|pongas"
        r"|me hables)\b",
        r"^llamame (?!cuando|luego|manana|si)\w+",
    ),
    "speaker": any_of(
        r"\b(?:i|i'm|i've|i'd|i'll|im|ive|we|we're|we've|we'll|we'd|my|our|mine|me)\b",
        r"\b(?:yo|mi|mis|nos|me|nosotr[oa]s|nuestr[oa]s?|conmigo|soy|estoy|tengo|vivo|trabajo|voy|vamos"
        r"|tenemos|somos)\b",
        r"\b(?:estamos|fui|fuimos|quiero|queremos|prefiero|odio|hablo|estudio|uso|hago|necesito|hemos"
        r"|compre|naci)\b",
        r"\b(?:creo|pienso|suelo|juego|toco|como|bebo|conduzco|leo|corro|puedo|detesto|adoro|soporto"
        r"|aguanto|planeo|espero|iba|era)\b",
        r"\bhe \w+[ai]do\b|\bhe (?:hecho|visto|puesto|escrito|vuelto|dicho)\b",
        rf"\b(?:{_FUI})\b",
    ),
    "someone": any_of(
        r"\b(?:he|she|they|he's|she's|they're|his|her|their)\b",
        r"\b(?:the|el|la|los|las) (?:kids|children|boys|girls|team|baby|dog|cat|ninos|ninas|equipo|perro"
        r"|perra|gato|client|customer|boss|manager|teacher|doctor|cliente|jefe|jefa|profesora?)\b",
        r"\b(?:ella|ellos|ellas)\b",
    ),
    "state": any_of(
        r"\b(?:am|is|are|was|were|have|has|had|isn't|aren't|wasn't|weren't|haven't|hasn't|been)\b|\w's\b"
        r"|\w'(?:m|re|ve)\b",
        r"\bim\b|\b(?:works?|lives?|owns?|stud(?:y|ies)|speaks?|belongs?|uses?|needs?|teach(?:es)?|costs?"
        r"|runs?|requires?)\b",
        r"\b(?:quieren?|requieren?)\b",
        r"\b(?:es|son|esta|estan|tiene|tienen|hay|vive|viven|trabajan?|usan?|necesitan?|cuestan?|se llaman?"
        r"|era|eran)\b",
        r"\b(?:soy|somos|estoy|estamos|tengo|tenemos|vivo|vivimos|trabajo|hablo|uso|estudio|me llamo|llevo"
        r"|hago)\b",
        r"\b(?:odia|estudia|habla|juega|toca|conduce|ensena)n?\b",
    ),
    "habit": any_of(
        # Any verb of the speaker's own, unless it says no more than that they think, feel or are polite.
        r"\b(?:i|we) (?:also |still |usually |often |always |never |mostly |sometimes |really |mainly "
        r"|only |both )*+(?!am\b|was\b|were\b|are\b|have\b|had\b|do\b|did\b|don't\b|didn't\b|will\b|won't\b"
        r"|would\b|can\b|can't\b|could\b|couldn't\b|should\b|may\b|might\b|must\b|think\b|guess\b|hope\b"
        r"|know\b|see\b|mean\b|agree\b|bet\b|wish\b|feel\b|suppose\b|hear\b|understand\b|appreciate\b"
        r"|wonder\b|thought\b|knew\b|want\b|believe\b|and\b|or\b|like\b|love\b|hate\b|prefer\b|enjoy\b"
        r"|get it\b|promise\b|remember\b|imagine\b)[a-z]+\b",
        r"\b(?:i|we) (?:don't|do not|didn't|can't|cannot|can|never|have to|used to) (?:eat|drink|drive"
        r"|smoke|work|use|play|sleep|swim|speak|cook|own|watch|read|go|live|have|run|ride|be|do)\b",
        r"\b(?:suelo|salgo|me levanto|me acuesto|juego|toco|practico|como|bebo|conduzco|leo|corro|entreno"
        r"|desayuno|ceno|cocino|pinto|escribo|voy)\b",
    ),
    "preference": any_of(
        r"\b(?<!much )(?<!of )(?<!with )(?:likes|loves?|loved|hates?|hated|prefers?|preferred|enjoys?"
        r"|enjoyed|adores?|dislikes?|despises?)\b(?! (?:is|are|and|for|of)\b)",
        rf"\b(?:{LIKING}) like\b",
        r"\bfavou?rites?\b|\bcan't stand\b|\bfan of\b|\b(?:keen on|fond of|obsessed with|really into"
        r"|passionate about|(?:scared|afraid|terrified) of|rather)\b",
        r"\b(?:me|nos|le) (?:gustan?|encantan?|apasionan?|flipan?|chiflan?|fascinan?|interesan?|dan? "
        r"(?:miedo|asco|panico|pereza))\b",
        r"\b(?:prefiero|preferimos|prefiere|odio|odiamos|odia|detesto|adoro|no soporto|no aguanto)\b"
        r"|\bfavorit[oa]s?\b",
    ),
    "plan": any_of(
        r"\b(?:will|won't|gonna|going to|plan|plans|planning|planned|intend|aim to|hoping to|hope to)\b"
        r"|\w'll\b",
        r"\b(?:want|wants|wanted|wanna|would like|i'd like|we'd like|i'd love|we'd love) (?:to )?\w+"
        r"|\bneeds? to\b",
        r"\b(?:goal|dream|deadline|appointment|flight|scheduled|due|looking forward to|thinking (?:of"
        r"|about)|about to)\b",
        r"\b(?:signed up|meeting|have to|has to|leaves|starts|saving (?:up )?for|training for"
        r"|working toward)\b",
        r"\blet's (?:meet|plan|schedule|book|have|do)\b",
        r"\b(?:voy|vamos|va|van|ir|iba|ibamos) a \w+r\b|\b(?:quiero|queremos|quisiera|espero|pienso|planeo"
        r"|tengo que) \w+r\b",
        r"\b(?:plane[ao]|pensamos|tenemos que|objetivo|meta|sueno|cita|reunion|vuelo|plazo|previst[oa])\b",
    ),
    "decision": any_of(
        r"\b(?:decided|chose|chosen|have agreed|'ve agreed|we agreed|settled on|picked|opted"
        r"|made up my mind)\b",
        r"\b(?:let's|we'll|i'll|we're going to|i'm going to|we are going to) (?:go with|use|stick (?:with"
        r"|to)|switch to)\b",
        r"\b(?:going|gone|went) with\b|\bthe (?:decision|plan) is\b",
        r"\b(?:decidi|decidimos|decidio|decidido|elegi|elegimos|elegido|acordamos|acordado|optamos"
        r"|optado)\b",
        r"\b(?:quedamos en|nos quedamos con|vamos a usar|vamos con|usaremos|la decision es)\b",
    ),
    "event": any_of(
        rf"\b(?:{_WENT})\b",
        rf"(?:\b(?:i|we|he|she|they|it|and|but|who|then|just|finally|recently|also|already|even|never|have"
        rf"|has|had|(?:my|our|the|his|her|a|an) \w+)|'ve|'d|^\w+|^\w+ and \w+) (?!"
        rf"(?:{_NO_EVENT})\b)[a-z]{{3,}}ed\b",
        rf"\b(?:{_FUI})\b",
        r"\b(?:he|hemos|ha|han) (?:\w+[ai]do|hecho|visto|puesto|escrito|vuelto)\b",
        r"\bse (?:mudo|caso|jubilo|gradu?o|fue|murio|separo|rompio|apunto)\b",
    ),
    "time": any_of(
        r"\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|lately|nowadays|currently|weekends?"
        r"|someday)\b",
        r"\b(?:last|next|this|every|each|past) (?:\d+ )?(?:day|night|week|weekend|month|year|morning"
        r"|afternoon|evening|spring|summer|autumn|fall|winter|time|few|couple|other|mon|tues|wednes|thurs"
        r"|fri|satur|sun)",
        rf"\b(?:{_MONTHS}|(?:in|on|by|last|next|of) may|{_DAYS})\b|\b(?:19|20)\d\d\b|\b\d{{1,2}}:\d\d\b"
        rf"|\b\d{{1,2}} ?[ap]\.?m\b",
        r"\b(?:\d+|a|two|three|four|five|six|seven|ten|few|couple of|several) (?:days|weeks|months|years"
        r"|hours)\b",
        r"\bwhen i was\b|\b(?:growing up|as a (?:kid|child))\b",
        r"\b(?:ayer|anoche|hoy|manana|anteayer|ultimamente|actualmente|ahora mismo|siempre|hace (?:un|una"
        r"|dos|tres|\d+|poco))\b",
        r"\b(?:pasad[oa]|proxim[oa]|que viene|cada|todos los|todas las|este|esta) (?:dia|semana|mes|ano"
        r"|verano|invierno|otono|primavera|noche|tarde|dias|semanas|meses|anos|mananas|noches|lunes|finde"
        r"|fin)\b",
        r"\b(?:semana|mes|ano|verano|invierno) (?:pasad[oa]|que viene|proxim[oa])\b|\ba las \d+\b"
        r"|\balgun dia\b",
    ),
    "number": any_of(r"\d"),
    "opinion": any_of(
        r"\b(?:i (?:really |strongly |do )?(?:think|believe|feel) (?:that )?(?!so\b|not\b|i'll\b|i'd\b|we\b"
        r"|you)\w+ \w+ \w+)",
        r"\b(?:in my (?:opinion|view)|imo|imho|if you ask me)\b",
        r"\b(?:creo|pienso|opino) que (?!si\b|no\b)\w+ \w+|\ben mi opinion\b|\b(?:a mi )?me parece (?:que"
        r"|mal|bien)\b",
    ),
    "health": any_of(
        r"\b(?:allerg\w+|vegan|vegetarian|pescatarian|diabet\w+|asthma\w*|celiac|coeliac|intoleran\w+"
        r"|pregnant|insulin)\b",
        r"\b(?:diagnosed|medication|surgery|anxiety|depression|migraines?|epilep\w+|adhd|autis\w+"
        r"|blood type)\b",
        r"\b(?:alergi\w+|alergic[oa]s?|vegan[oa]s?|vegetarian[oa]s?|celiac[oa]s?|asmatic[oa]s?|asma"
        r"|embarazada|insulina)\b",
        r"\b(?:diagnosticaron|medicacion|operaron|ansiedad|migranas?|hipertens[oa])\b",
    ),
    "addressee": any_of(
        r"\b(?:you|your|yours|you're|you've|you'll|you'd|yourself|u|ur)\b",
        r"\b(?:tu|tus|ti|contigo|usted|ustedes|vos)\b",
    ),
    "hedge": any_of(
        r"\b(?:maybe|perhaps|probably|might|i guess|not sure|i suppose|who knows|kind of|sort of"
        r"|i wonder)\b",
        r"\b(?:quiza|quizas|tal vez|a lo mejor|puede que|supongo|ni idea|no se si)\b",
    ),
    "general": any_of(
        # Advice and sayings: about everyone, so about no one.
        r"\b(?:we|one|people|everyone|life|you) (?:can|can't|should|could|must|all|gotta|have to|need to)\b",
        r"\b(?:yourself|ourselves|oneself|one another|each other|in life|anything is possible|no matter "
        r"(?:what|how))\b",
        r"\b(?:todos|la gente|uno) (?:puede|debe|podemos|debemos|tenemos)",
    ),
    "pointing": any_of(
        # What is liked, thought or felt is said elsewhere.
        r"\b(?:love|like|loved|liked|enjoyed|enjoy|hate|appreciate|get|see|know|think|say|hear|heard|do|did"
        r"|made|had|try|felt|tried|remember|need|want|mean|believe|imagine|feel) (?:(?:it|this|them|those"
        r"|these|what|how)\b|(?:that|so)\W*(?:$|[,.!]|(?:and|but|too)\b))",
        r"\b(?:me|nos) (?:lo|encanta eso|gusta eso)\b(?! pase)",
    ),
    "reaction": any_of(
        r"^(?:that|it|this|those|these|they|all|everything)(?:'s|'re| is| are| was| were| must| looks?"
        r"| sounds?| seems?| feels?|'ll be)(?! (?:called|named|in|on|at|from|for|made|due|my|our|\d))"
        r"(?: \w+){0,6}\W*$",
        r"^(?:it|that|this)(?:'s| is| was|'s been| has been)(?: so| really| very| super| just| always"
        r"| pretty| also| such| a| an| definitely| truly| all| quite| totally)*+ (?:important|nice|great"
        r"|cool|amazing|awesome|good|fun|wonderful|inspiring|lovely|incredible|beautiful|rewarding|tough"
        r"|hard|crazy|true|easy|fantastic|special|exciting|awful|sad|sweet|worth|interesting|priceless"
        r"|impressive|fascinating|reminder|blast|hit|shame|pity|relief|about|all about|why|what|how|like)\b",
        r"^(?:what an?|such|so|how)\b(?: \w+){0,6}\W*$",
        r"^(?:that|it|this) (?:works|makes sense|helps|does|really does|sure does)\b",
        r"^we (?:got this|rock|can do it|did it)\b|\b(?:won't|will not|never) (?:give up|quit)\b",
        r"\b(?:lucky|grateful|blessed|thankful|happy|glad) (?:to have|for|that|we have|having) (?:you"
        r"|your)\b",
        r"^(?:sounds|looks|seems|feels|glad|happy|proud|thanks|thank|congrat\w*|wow|awesome|amazing|good"
        r"|great|nice|cool|love|can't|hope|keep|sorry|so|such|way|well|really|totally|absolutely|definitely"
        r"|wishing|enjoy|best|cheers)\b",
        r"\b(?:sounds|looks|seems|feels) (?:so |really |like |such )*(?:a |an )?(?:great|good|awesome"
        r"|amazing|fun|nice|cool|lovely|fantastic|wonderful|tough|hard|delicious|incredible|interesting"
        r"|relaxing|beautiful)\b",
        r"\b(?:proud of|happy for|rooting for|here for|thinking of|good for|miss|missed|thank|thanks to) "
        r"(?:you|u|both)\b",
        r"\b(?:can't|cannot|can not) (?:wait|agree more|imagine|believe)\b|\bcould(?:n't| not) agree\b"
        r"|\btell me\b",
        r"^i (?:bet|can (?:only |really |just )?(?:imagine|see|tell|relate|understand))\b",
        r"\bi(?:'m| am) (?:so |really |very |just |super |truly |here |always )*(?:glad|sorry|proud of you"
        r"|happy (?:to hear|that you|for)|grateful for you|sure (?:you|it|that|the)|curious|jealous"
        r"|thankful|thrilled for|all ears)\b",
        r"^(?:keep|way to go|keep up|take care|good luck|have fun|have a (?:great|good|nice)|stay)\b.*\b"
        r"(?:you|up|up the|it|going|strong|safe|care|go|fun|day|time|trip|weekend|one|luck)\b",
        r"^(?:que|me alegro|enhorabuena|felicidades|lo siento|suena|parece|genial|estupendo|ojala|vaya"
        r"|menud[oa])\b",
        r"\b(?:me alegro|orgullos[oa] de ti|que (?:bien|bueno|bonito|alegria|pena|guay|chulo))\b",
    ),
}

FOLLOWS = any_of(
    r"^(?:it|it's|its|he|he's|she|she's|they|they're|his|her|their|that|that's|these|those|both)\b",
    r"^this (?!week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|fall|autumn|time"
    r"|one\b)",
    r"^(?:ella|ellos|ellas|eso|esto|su|sus|ambos|ambas)\b",
)
"""How a sentence begins that says something of the one before it."""
