"""The signs by which a sentence is kept or dropped, in English and Spanish, as data.

Patterns read a sentence without case and accents, its quotations taken out. Each sign counts once.
"""

from __future__ import annotations

import re

from recollect.text.word_lists import ENGLISH_MONTHS, SPANISH_MONTHS

ENOUGH = 2
"""Points from which a sentence is kept by itself."""
FOLLOWING_ENOUGH = 1
"""Points from which it is kept with the sentence before it, of which it says something."""

_MONTHS = "|".join(month for month in (*ENGLISH_MONTHS, *SPANISH_MONTHS) if month != "may")
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|lunes|martes|miercoles|jueves|viernes|sabado|domingo"
TIME_NAMES = re.compile(rf"(?:{_MONTHS}|may|{_DAYS}|christmas|easter)$")
"""Capitalised, but names of times, not of things."""

# Before "like", where it is a verb; it also means "such as".
LIKING = (
    r"i|we|they|you|who|don't|didn't|doesn't|not|really|also|always|especially|still|mostly|to|i'd|would|"
    r"(?:my|our|the) \w+|^\w+"
)


def read_patterns(table: str, **parts: str) -> dict[str, list[str]]:
    """Patterns by the heading above them; a line that stands further in goes on from the line before.

    `<KIN>` in a pattern is a part: one that is given, or the patterns under a heading above.
    """
    found: dict[str, list[str]] = {}
    for line in re.sub(r"\n   +", "", table).strip().splitlines():
        if not line.startswith((" ", "#")):
            patterns = found.setdefault(line, [])
        elif line.startswith(" "):
            filled = re.sub("<([A-Z_]+)>", lambda part: parts.get(part[1]) or "|".join(found[part[1]]), line)
            patterns.append(filled.lstrip())
    return {heading: patterns for heading, patterns in found.items() if not heading.isupper()}


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


# The words that some signs have in common; then each sign, with the points that it adds.
_SIGNS = r"""
WENT
  went|visited|bought|met|finished|started|began|moved|saw|got|made|took|found|lost|won|left|came|became
   |gave|had|built|broke|wrote|sold|spent|heard|felt|ran|drove|flew|grew|taught|learned|learnt|told|brought
   |caught|ate|drank|slept|swam|rode|sang|read|paid|sent|led|held|kept|fell|quit|joined|graduated|did|died
   |expired
NO_EVENT
  need|indeed|exceed|proceed|speed|feed|seed|weed|bleed|breed|succeed|agreed|excited|interested|tired|bored
   |worried|amazed|amused|blessed|pleased|scared|surprised|shocked|relaxed|stressed|overwhelmed|inspired
   |touched|married|related|supposed|used|called|named|allergic|hundred|red|bed|shed
PAST
  fui|fuimos|fue|fueron|estuve|estuvimos|hice|hicimos|vi|vimos|compre|visite|visitamos|conoci|conocimos
   |empece|termine|acabe|gane|ganamos|perdi|perdimos|encontre|lei|comi|viaje|viajamos|mude|mudamos|corri
   |pase|pasamos|tuve|tuvimos|consegui|aprendi|escribi|vendi|recibi|naci|lleve|deje|llegue|llegamos|salimos
   |nos casamos
explicit 3
  ^(?:please,? )?(?:remember|note|keep in mind|bear in mind|don't forget|do not forget)(?: that|:)
  ^(?:for the record|fyi|just so you know)\b
  ^(?:por favor,? )?(?:recuerda|ten en cuenta|ten presente|toma nota|apunta|anota|no olvides)(?: de)?(?: que
   |:)
  ^(?:que conste|para que conste|para que lo sepas)\b
standing 3
  ^from now on\b
  ^(?:always|never) (?:use|answer|format|provide|include|write|reply|respond|call|add|show|explain|end|begin
   |ask|put|address|assume|cite|suggest|recommend|mention|send|remind|translate|speak|round|sign|list
   |summari[sz]e|keep (?:the|answers|it short)|give me|tell me|start (?:the|each|every|with))\b
  ^(?:please )?call me (?!when|back|if|later|tomorrow|at|on|crazy|anytime)\w+
  ^(?:a partir de ahora|de ahora en adelante)\b
  ^(?:siempre|nunca) (?:usa|uses|responde|respondas|contesta|contestes|escribe|escribas|pon|pongas
   |me hables)\b
  ^llamame (?!cuando|luego|manana|si)\w+
speaker 1
  \b(?:i|i'm|i've|i'd|i'll|im|ive|we|we're|we've|we'll|we'd|my|our|mine|me)\b
  \b(?:yo|mi|mis|nos|me|nosotr[oa]s|nuestr[oa]s?|conmigo|soy|estoy|tengo|vivo|trabajo|voy|vamos|tenemos
   |somos)\b
  \b(?:estamos|fui|fuimos|quiero|queremos|prefiero|odio|hablo|estudio|uso|hago|necesito|hemos|compre|naci)\b
  \b(?:creo|pienso|suelo|juego|toco|como|bebo|conduzco|leo|corro|puedo|detesto|adoro|soporto|aguanto|planeo
   |espero|iba|era)\b
  \bhe \w+[ai]do\b|\bhe (?:hecho|visto|puesto|escrito|vuelto|dicho)\b
  \b(?:<PAST>)\b
someone 1
  \b(?:he|she|they|he's|she's|they're|his|her|their)\b
  \b(?:the|el|la|los|las) (?:kids|children|boys|girls|team|baby|dog|cat|ninos|ninas|equipo|perro|perra|gato
   |client|customer|boss|manager|teacher|doctor|cliente|jefe|jefa|profesora?)\b
  \b(?:ella|ellos|ellas)\b
state 1
  \b(?:am|is|are|was|were|have|has|had|isn't|aren't|wasn't|weren't|haven't|hasn't|been)\b|\w'(?:m|re|ve)\b
  \w's (?:an?|the|in|on|at|my|our|been|got|going|not|so|very|really|from|called|named|\w+ing)\b
  ^(?:the|el|la) (?:[\w-]+ ){1,4}?(?:\w{3,}s|\w{3,}a) (?:every|on|at|in|cada|el|a)\b
  \bim\b|\b(?:works?|lives?|owns?|stud(?:y|ies)|speaks?|belongs?|uses?|needs?|teach(?:es)?|costs?|runs?
   |requires?|expires?|ends?|comes?|arrives?|opens?|closes?|starts?)\b
  \b(?:quieren?|requieren?)\b
  \b(?:es|son|esta|estan|tiene|tienen|hay|vive|viven|trabajan?|usan?|necesitan?|cuestan?|se llaman?|era
   |eran)\b
  \b(?:soy|somos|estoy|estamos|tengo|tenemos|vivo|vivimos|trabajo|hablo|uso|estudio|me llamo|llevo|hago)\b
  \b(?:odia|estudia|habla|juega|toca|conduce|ensena|empieza|sale|llega|viene|cumple|lleva|abre|cierra
   |celebra)n?\b
# Any verb of the speaker's own, unless it says no more than that they think, feel or are polite.
habit 1
  \b(?:i|we) (?:also |still |usually |often |always |never |mostly |sometimes |really |mainly |only |
   both )*+(?!am\b|was\b|were\b|are\b|have\b|had\b|do\b|did\b|don't\b|didn't\b|will\b|won't\b|would\b|can\b
   |can't\b|could\b|couldn't\b|should\b|may\b|might\b|must\b|think\b|guess\b|hope\b|know\b|see\b|mean\b
   |agree\b|bet\b|wish\b|feel\b|suppose\b|hear\b|understand\b|appreciate\b|wonder\b|thought\b|knew\b|want\b
   |believe\b|and\b|or\b|like\b|love\b|hate\b|prefer\b|enjoy\b|get it\b|promise\b|remember\b
   |imagine\b)[a-z]+\b
  \b(?:i|we) (?:don't|do not|didn't|can't|cannot|can|never|have to|used to) (?:eat|drink|drive|smoke|work
   |use|play|sleep|swim|speak|cook|own|watch|read|go|live|have|run|ride|be|do)\b
  \b(?:suelo|salgo|me levanto|me acuesto|juego|toco|practico|como|bebo|conduzco|leo|corro|entreno|desayuno
   |ceno|cocino|pinto|escribo|voy)\b
preference 1
  \b(?<!much )(?<!of )(?<!with )(?:likes|loves?|loved|hates?|hated|prefers?|preferred|enjoys?|enjoyed
   |adores?|dislikes?|despises?)\b(?! (?:is|are|and|for|of)\b)
  \b(?:<LIKING>) like\b
  \bfavou?rites?\b|\bcan't stand\b|\bfan of\b|\b(?:keen on|fond of|obsessed with|really into
   |passionate about|(?:scared|afraid|terrified) of|rather)\b
  \b(?:me|nos|le) (?:gustan?|encantan?|apasionan?|flipan?|chiflan?|fascinan?|interesan?|dan? (?:miedo|asco
   |panico|pereza))\b
  \b(?:prefiero|preferimos|prefiere|odio|odiamos|odia|detesto|adoro|no soporto|no aguanto)\b
   |\bfavorit[oa]s?\b
plan 1
  \b(?:will|won't|gonna|going to|plan|plans|planning|planned|intend|aim to|hoping to|hope to)\b|\w'll\b
  \b(?:want|wants|wanted|wanna|would like|i'd like|we'd like|i'd love|we'd love) (?:to )?\w+|\bneeds? to\b
  \b(?:goal|dream|deadline|appointment|flight|scheduled|due|looking forward to|thinking (?:of|about)
   |about to)\b
  \b(?:signed up|meeting|have to|has to|leaves|starts|saving (?:up )?for|training for|working toward)\b
  \blet's (?:meet|plan|schedule|book|have|do)\b
  \b(?:voy|vamos|va|van|ir|iba|ibamos) a \w+r\b|\b(?:quiero|queremos|quisiera|espero|pienso|planeo
   |tengo que) \w+r\b
  \b(?:plane[ao]|pensamos|tenemos que|objetivo|meta|sueno|cita|reunion|vuelo|plazo|previst[oa])\b
decision 2
  \b(?:decided|chose|chosen|have agreed|'ve agreed|we agreed|settled on|picked|opted|made up my mind)\b
  \b(?:let's|we'll|i'll|we're going to|i'm going to|we are going to) (?:go with|use|stick (?:with|to)
   |switch to)\b
  \b(?:going|gone|went) with\b|\bthe (?:decision|plan) is\b
  \b(?:decidi|decidimos|decidio|decidido|elegi|elegimos|elegido|acordamos|acordado|optamos|optado)\b
  \b(?:quedamos en|nos quedamos con|vamos a usar|vamos con|usaremos|la decision es)\b
event 1
  \b(?:<WENT>)\b
  (?:\b(?:i|we|he|she|they|it|and|but|who|then|just|finally|recently|also|already|even|never|have|has|had
   |(?:my|our|the|his|her|a|an) \w+)|'ve|'d|^\w+|^\w+ and \w+) (?!(?:<NO_EVENT>)\b)[a-z]{3,}ed\b
  \b(?:<PAST>)\b
  \b(?:he|hemos|ha|han) (?:\w+[ai]do|hecho|visto|puesto|escrito|vuelto)\b
  \bse (?:mudo|caso|jubilo|gradu?o|fue|murio|separo|rompio|apunto)\b
time 1
  \b(?:yesterday|today|tonight|tomorrow|ago|since|recently|lately|nowadays|currently|weekends?|someday)\b
  \b(?:last|next|this|every|each|past) (?:\d+ )?(?:day|night|week|weekend|month|year|morning|afternoon
   |evening|spring|summer|autumn|fall|winter|time|few|couple|other|mon|tues|wednes|thurs|fri|satur|sun)
  \b(?:<MONTHS>|(?:in|on|by|last|next|of) may|<DAYS>)\b|\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b
   |\b\d{1,2} ?[ap]\.?m\b
  \b(?:\d+|a|two|three|four|five|six|seven|ten|few|couple of|several) (?:days|weeks|months|years|hours)\b
  \bwhen i was\b|\b(?:growing up|as a (?:kid|child))\b
  \b(?:ayer|anoche|hoy|manana|anteayer|ultimamente|actualmente|ahora mismo|siempre|hace (?:un|una|dos|tres
   |\d+|poco))\b
  \b(?:pasad[oa]|proxim[oa]|que viene|cada|todos los|todas las|este|esta) (?:dia|semana|mes|ano|verano
   |invierno|otono|primavera|noche|tarde|dias|semanas|meses|anos|mananas|noches|lunes|finde|fin)\b
  \b(?:semana|mes|ano|verano|invierno) (?:pasad[oa]|que viene|proxim[oa])\b|\ba las \d+\b|\balgun dia\b
number 1
  \d
opinion 1
  \b(?:i (?:really |strongly |do )?(?:think|believe|feel) (?:that )?(?!so\b|not\b|i'll\b|i'd\b|we\b
   |you)\w+ \w+ \w+)
  \b(?:in my (?:opinion|view)|imo|imho|if you ask me)\b
  \b(?:creo|pienso|opino) que (?!si\b|no\b)\w+ \w+|\ben mi opinion\b|\b(?:a mi )?me parece (?:que|mal
   |bien)\b
health 1
  \b(?:allerg\w+|vegan|vegetarian|pescatarian|diabet\w+|asthma\w*|celiac|coeliac|intoleran\w+|pregnant
   |insulin)\b
  \b(?:diagnosed|medication|surgery|anxiety|depression|migraines?|epilep\w+|adhd|autis\w+|blood type)\b
  \b(?:alergi\w+|alergic[oa]s?|vegan[oa]s?|vegetarian[oa]s?|celiac[oa]s?|asmatic[oa]s?|asma|embarazada
   |insulina)\b
  \b(?:diagnosticaron|medicacion|operaron|ansiedad|migranas?|hipertens[oa])\b
relative 0
  \b(?:my|our|mi|mis|nuestr[oa]s?) (?:\w+ ){0,2}(?:wife|husband|partner|girlfriend|boyfriend|fiancee?|mom
   |mum|mother|dad|father|parents|sisters?|brothers?|siblings?|sons?|daughters?|kids?|child|children|baby
   |twins|grand\w+|aunt|uncle|cousins?|nephew|niece|friends?|neighbou?rs?|roommate|dogs?|puppy|cats?|kitten
   |pets?|boss|manager|colleagues?|team|mujer|esposa|esposo|marido|pareja|novi[oa]|madre|padre|mama|papa
   |padres|herman[oa]s?|hij[oa]s?|abuel[oa]s?|ti[oa]|prim[oa]s?|sobrin[oa]s?|amig[oa]s?|vecin[oa]s?
   |perr[oa]s?|gat[oa]s?|mascotas?|jef[ea]|suegr[oa]s?|equipo)\b
addressee -1
  \b(?:you|your|yours|you're|you've|you'll|you'd|yourself|u|ur)\b
  \b(?:tu|tus|ti|contigo|usted|ustedes|vos)\b
hedge -1
  \b(?:maybe|perhaps|probably|might|i guess|not sure|i suppose|who knows|kind of|sort of|i wonder)\b
  \b(?:quiza|quizas|tal vez|a lo mejor|puede que|supongo|ni idea|no se si)\b
# Advice and sayings: about everyone, so about no one.
general -1
  \b(?:we|one|people|everyone|life|you) (?:can|can't|should|could|must|all|gotta|have to|need to)\b
  \b(?:yourself|ourselves|oneself|one another|each other|in life|anything is possible|no matter (?:what
   |how))\b
  \b(?:todos|la gente|uno) (?:puede|debe|podemos|debemos|tenemos)
# What is liked, thought or felt is said elsewhere.
pointing -1
  \b(?:love|like|loved|liked|enjoyed|enjoy|hate|appreciate|get|see|know|think|say|hear|heard|do|did|made|had
   |try|felt|tried|remember|need|want|mean|believe|imagine|feel) (?:(?:it|this|them|those|these|what|how)\b
   |(?:that|so)\W*(?:$|[,.!]|(?:and|but|too)\b))
  \b(?:me|nos) (?:lo|encanta eso|gusta eso)\b(?! pase)
reaction -2
  ^(?:that|it|this|those|these|they|all|everything)(?:'s|'re| is| are| was| were| must| looks?| sounds?
   | seems?| feels?|'ll be)(?! (?:called|named|in|on|at|from|for|made|due|my|our|\d))(?: \w+){0,6}\W*$
  ^(?:it|that|this)(?:'s| is| was|'s been| has been)(?:(?: so| really| very| super| just| always| pretty
   | also| such| a| an| definitely| truly| all| quite| totally)\b)*+ (?:important|nice|great|cool|amazing
   |awesome|good|fun|wonderful|inspiring|lovely|incredible|beautiful|rewarding|tough|hard|crazy|true|easy
   |fantastic|special|exciting|awful|sad|sweet|worth|interesting|priceless|impressive|fascinating|reminder
   |blast|hit|shame|pity|relief|about|all about|why|what|how|like)\b
  ^(?:what an?|such|so|how)\b(?: \w+){0,6}\W*$
  ^(?:that|it|this) (?:works|makes sense|helps|does|really does|sure does)\b
  ^we (?:got this|rock|can do it|did it)\b|\b(?:won't|will not|never) (?:give up|quit)\b
  \b(?:lucky|grateful|blessed|thankful|happy|glad) (?:to have|for|that|we have|having) (?:you|your)\b
  ^(?:sounds|looks|seems|feels|glad|happy|proud|thanks|thank|congrat\w*|wow|awesome|amazing|good|great|nice
   |cool|love|can't|hope|keep|sorry|so|such|way|well|really|totally|absolutely|definitely|wishing|enjoy|best
   |cheers)\b
  \b(?:sounds|looks|seems|feels) (?:so |really |like |such )*(?:a |an )?(?:great|good|awesome|amazing|fun
   |nice|cool|lovely|fantastic|wonderful|tough|hard|delicious|incredible|interesting|relaxing|beautiful
   |solid|perfect|right|mint)\b
  \b(?:proud of|happy for|rooting for|here for|thinking of|good for|miss|missed|thank|thanks to) (?:you|u
   |both)\b
  \b(?:can't|cannot|can not) (?:wait|agree more|imagine|believe)\b|\bcould(?:n't| not) agree\b|\btell me\b
  ^i (?:bet|can (?:only |really |just )?(?:imagine|see|tell|relate|understand))\b
  \bi(?:'m| am) (?:so |really |very |just |super |truly |here |always )*(?:glad|sorry|proud of you
   |happy (?:to hear|that you|for)|grateful for you|sure (?:you|it|that|the)|curious|jealous|thankful
   |thrilled for|all ears)\b
  ^(?:keep|way to go|keep up|take care|good luck|have fun|have a (?:great|good|nice)|stay)\b.*\b(?:you|up
   |up the|it|going|strong|safe|care|go|fun|day|time|trip|weekend|one|luck)\b
  ^(?:que|me alegro|enhorabuena|felicidades|lo siento|suena|parece|genial|estupendo|ojala|vaya|menud[oa])\b
  \b(?:me alegro|orgullos[oa] de ti|que (?:bien|bueno|bonito|alegria|pena|guay|chulo))\b
"""
# What drops a sentence outright: questions, requests, the phrases of assistants, and words that say nothing.
_DROPS = r"""
question
  [?？]\W*$
  ^(?:do|does|did|is|are|was|were|can|could|would|will|shall|should|have|has|am|don't|didn't|isn't
   |aren't) (?:you|i|we|they|he|she|it|there|the|this|that|my|your|any\w*)\b
  ^(?:what|who|where|when|why|how|which|whose|what's|who's|where's|how's|when's)(?:'s|'re|'d| is| are| was
   | were| do| does| did| can| could| should| would| will| has| many| much| long| about| come| kind
   | time (?:is|does))\b
  ^(?:any (?:idea|tips|thoughts|plans|advice)|anything|guess what|tell me|wonder|i wonder|i was wondering)\b
  ^(?:cual|cuales|quien|quienes|donde|cuant[oa]s?|por que|que tal|que (?:es|son|hora|significa|opinas
   |piensas)|como (?:se|te|esta|estas|puedo|funciona|hago|va))\b
  ^¿
request
  ^(?:please|pls|plz|kindly|por favor)\b
  ^(?:hey |ok |okay |so |now |then |just |can we |first )*(?:can|could|would|will) (?:you|u)\b
  ^(?:now |then |just |also |first |next |finally )*(?:write|rewrite|reword|rephrase|make|give|show|tell
   |explain|help|fix|add|create|generate|summari[sz]e|translate|list|find|describe|compare|convert|draft
   |edit|improve|shorten|expand|continue|try|check|review|proofread|suggest|recommend|provide|use|include
   |remove|delete|change|update|implement|refactor|debug|analy[sz]e|calculate|compute|draw|design|answer
   |respond|reply|act as|pretend|imagine|consider|assume|look at|look up|search|run|do|don't|stop|open|read
   |send|set|put|let me|come up|ask|turn|think|pick|choose|be|go|stay|believe|trust|take|keep|check out
   |hang in|enjoy|wait|format|return|output)\b(?!')
  \bi(?:'d| would)? (?:need|want|like|love|would like) (?:you|u|it|this|that) to\b|\bi need (?:some |
   your )*help\b
  \bi have (?:an?|another|one|some|two) (?:quick |last |few )*(?:questions?|requests?)\b
  ^tengo una? (?:duda|pregunta)\b|^quiero una? (?:resumen|lista|tabla|texto|idea)\b
  ^(?:necesito|quiero|busco) (?:ideas|un|una|algo|ayuda|saber|ver)\b
  \bi(?:'d| would) (?:appreciate|be grateful)|\bi (?:want|need) (?:an?|some|the) (?:list|recipes?|ideas?
   |advice|examples?|tips|summary|script|poem|table|function)\b
  \blet me know\b|\bfeel free\b|\bget back to (?:you|me)\b|\bkeep me (?:posted|updated)\b
  ^(?:puedes|podrias|podes|puede|podria|me (?:puedes|podrias)|me gustaria que|necesito que|quiero que
   |quisiera que)\b
  ^(?:ahora |luego |tambien )*(?:escrib|reescrib|resum|traduc|explic|corrig|gener|orden|clasific|compar
   |analiz|calcul|revis|suger|recomiend|describ|enumer|complet|mejor|ayud|cuent|prepar)(?:e|a|i|an|en)(?:me
   |nos|lo|la|los|las)*\b(?! (?:que|mi|mis|el|la)? ?(?:tengo|soy|es)\b)
  ^(?:dame|dime|hazme|haz|pon|ponme|busca|buscame|crea|usa|muestra|muestrame|ensename|di|deja|dejame|mira
   |necesito ayuda)\b
# Talk about the talk: what was said, shown or agreed in it, and what comes next in it.
about_talk
  \bsince (?:we|our|i) (?:last|both )|\bsince we (?:talked|spoke|chatted|met)\b|\bbeen (?:ages|forever
   |a while|so long)\b
  \b(?:as|like|that|the \w+|what|which|those|remember) (?:i|we|you) (?:just |already |previously |have |
   had )*(?:said|stated|mentioned|discussed|talked|agreed|established|told|asked|drafted|outlined|covered
   |went over|promised|specified|worked on)\b
  \bwe (?:just )?(?:talked|discussed|chatted|spoke)\b|\bas (?:i |we )?(?:planned|discussed|agreed|mentioned
   |requested|you)\b|\bpreviously\b
  \bnext steps?\b|\bgood to know\b|\bworks? for me\b|^(?:next |this )?\w+ works\W*$|\bcheck in\b
   |\bi must say\b|\btake a look\b|\bcheck (?:it|this|them|out)\b
  \b(?:week|day|phase|step|part|option|section|article|module|chapter|task|item|stage|round|days
   |weeks) ?#?\d+\b(?!,? (?:of|in|at) )
  \b(?:our|this|the) (?:discussion|conversation|chat|session)\b|\bthe (?:idea|sound) of\b|^i meant\b
   |\bsounds \w+\W*$|\b(?:is|are) (?:perfect|fine|good|great|ideal)\W
  ^my (?:main |only |own |last |previous |first )*(?:patience|instructions?|brain|head|understanding
   |concerns?|expectations?|questions?|point|bad|mistake|apologies|requests?|priority|objective|mind|gut
   |biggest|guess|feeling|hope|heart)\b
  ^we(?:'ve| have)? (?:already |also |just )*(?:established|proposed|picked|confirmed|identified|reviewed
   |finali[sz]ed|nailed|covered|settled|been through|did|outlined|sorted|locked|got the)\b
  ^i(?:'ve| have)? (?:already |also |just )*(?:gone through|went through|reviewed|checked|looked|scanned
   |went over|updated|finished reviewing|provided|tried|heard|read that|did look)\b
  ^i(?:'m| am) (?:now |currently |just |still )*(?:on the|clicking|seeing|sending|heading|here|in the
   |expecting|open|imagining)\b
  ^i(?:'m| am| was) (?:always |still |definitely |actually |just |only |already )*(?:talking|referring
   |thinking|remembering|leaning|about to)\b(?! (?:of|about) \w+ing\b)
  ^(?:below|on the|we will then|we can|i did|i didn't|i haven't|we haven't|as a user|for example|i simply)\b
   |\b(?:i'm|we're) seeing\b|\b(?:immediately|right now|asap|moving forward)\W*$
  \b(?:doesn't|didn't|don't|won't|not|isn't|aren't|still) (?:seem to |seem |be |being |getting )*(?:work
   |working|make|making|desired|expected|moving|landing)\b|\bnothing back\b|\b(?:error|errors)\b
# What the speaker wants of the other, or will do about what was just said.
intention
  ^my \w+ (?:is|are) (?:still|already|back|waiting|on the)\b|^(?:i|we) (?:was|were) (?:on|having|trying
   |in the middle)\b|\byet\W*$|\ball set\b
  \b(?:make|making|made) sure\b|\bensur(?:e|es|ing)\b|\b(?:i'm|i am|we're|we are|and|am|be) (?:so |all |now |
   more than |really |already )*(?:ready|eager|prepared to)\b
  ^(?:i|we) (?:just |really |also |still |only |actually |currently )*(?:need|expect|demand|require
   |appreciate|trust|assume|presume|mean|insist|get|see|understand)\b(?! to (?:take|see a|buy|pay|renew|call
   |pick|book|learn|lose|organi[sz]e))
  ^(?:i|we) (?:just |really |also |still |only |don't )*(?:want|wanna)\b(?! to (?:learn|visit|travel|go to
   |become|live|move|own|study|run|open|buy|get (?:an?|my|into|married)|plan an?|write an?|start (?:an?|my
   |planning)|see (?:the|my)|volunteer|adopt|make an?|join|retire|work (?:as|at|in|on)|improve my
   |try)\b)(?! start an?\b)
  \blet's (?:review|see|start|talk|focus|look|try)\b|^(?:i|we) (?:just )?wanted\b
  ^let's (?!go with \w|use|stick (?:with|to)|switch to|meet|plan|schedule|book)
  ^we(?: all)? (?:need|have|got|should|must|gotta)\b(?! (?:two|three|four|an?|\d+|no|some|had
   |been|one|lots|many)\b)
  ^(?:[\w'-]+,? ){0,3}we (?:need|should|must|gotta)\b|^we (?:cannot|can't)\b
  ^we(?:'ll| will) (?:revisit|touch|chat|discuss|be discussing|circle|reconnect|talk|see|need|get|tackle
   |start|pick)\b
  ^i(?:'ll| will)\b(?!.*(?:\d|\bnext |\balways\b|\b(?:<MONTHS>|<DAYS>)\b))
  ^i(?: am going to|'m going to|'m gonna)(?: also| definitely| probably| just| still| certainly| surely
   | totally| absolutely)* (?:try|keep|follow|focus|make|start|set|use|give|look|check|think|work|ask
   |consider|take|continue|incorporate|practice|implement|prioriti[sz]e|stick|reach|add|create|see|go|do|let
   |review|remember|initiate|upload|include|write|get|confirm|be (?:sure|able|there|back))\b(?!.*\d)
  ^i(?:'m| am) (?:going|gonna|about|getting|heading) .*\bnow\b|\b(?:later today|right away|in a bit
   |in \d+ ?min\w*)\b
  ^i (?:can|could|should)(?: also| still| definitely| probably| just| see| really)* (?!stand|eat|drink|sleep
   |hear|speak|play|swim|drive|walk|afford|tolerate|work|cook|ride)
  ^i(?:'d| would) (?:like|love|appreciate|rather|prefer|also|really|probably|say|got)\b(?! to (?:visit
   |travel|learn|become|live|move|own|study|run|open|buy))
  ^i don't have (?:time|\d+ min|any)|^(?:get|conduct|show|grab|hit|remember|go|come|cease|bring|call|tell
   |give|confirm|expect|cherish|celebrate|picture)\b(?! me \w+$)
  ^(?:talk|lets|imagine|suppose|pretend|act)\b|,? (?:corrigeme|ayudame|avisame|dime)\W*$
# Moods and views of the moment, and what is said of every good time.
feeling
  \bhad (?:a|an|such a|so much|the|some) (?:\w+ )?(?:blast|fun|laugh|time|ton of fun|morning|moment
   |day)\W*(?:$|with|and)
  \b(?:think|believe|feel|guess|hope|know|knew|feels like|looks like|seems like|sure) (?:i|i'm|i'd|i'll|we
   |we're|we'll|you|it|it's|this|that (?:i|it|we|the|you)\b|that[.,!]|that's|these|those|there|the|going
   |changing|checking|a combination|sharing|having|being|using|breaking|starting|he|she|they|my|our)\b
  ^(?:i|we) (?:just |also |really |still |recently |suddenly |\w+ly )*(?:heard|wish|wonder|hoped|doubt|bet
   |reali[sz]ed|noticed|remember|remembered|figured|said|promised|thought|knew|feel|looked (?:that|this
   |it) up)\b
  \b(?:taught|teaches|shows?|showed|reminds?|reminded) (?:me|us) (?:that|to|of|how|the|about)\b
   |\bmeans? (?:so much|a lot|the world|everything)\b|\bat the end of the day\b
  \bgot (?:me|us) thinking\b|\bmade me (?:so|appreciate|feel|think|realize)\b|\b(?:feels|sounds
   |sound) like\b|\bcan't help it\b|\b(?:less|more|not|definitely|particularly) interested\b
  \b(?:inspir\w+|rewarding|motivat\w+|fulfilling|uplifting|blessing|blessed|grateful|gratitude|cherish\w*
   |resilien\w+|passionate)\b(?!.*(?:\d|\blast |\byesterday|\bnext ))
  ^(?:i(?:'m| am|'ve been|'ve got|'m feeling| felt| was| have been)|we(?:'re| are|'ve been| were)) (?:so |
   really |very |just |kinda |kind of |a bit |pretty |super |feeling |also |always |still |actually |more |
   totally |now |not )*(?:proud|grateful|thankful|happy|inspired|upset|sad|glad|lucky|blessed|determined
   |hoping|amazed|overwhelmed|honou?red|motivated|passionate|pumped|stoked|thrilled|empty|lost|great|good
   |fine|okay|doing|feeling|wondering|curious|sure|confused|unsure|relieved|getting(?! (?:married|divorced
   |an? |my ))|confirming|hyped|struggling|stuck|concerned|back|dealing|looking at|initiating|leaning
   |worried that|talking|very)\b(?!.*(?:\d|\blast|\byesterday|\bnext ))
# Half a sentence, and what only makes sense after another.
fragment
  ^(?:for me|to me|for us|in (?:the end|general|short)|overall|basically|anyway|speaking of|talking of
   |as for|given|regarding|under|no need|why|what|with that|now that|hopefully|from a|if|by \w+ing|the,
   |people|fingers|my god|my goodness|lo que|el que|la que|los que|las que)\b
  ^(?:assuming|provided|thinking|then|now|like|additionally|however|therefore|also)\b|^(?:and|or|but) |\*
  ^(?:my (?:guy|brother|man|dear)|mate|bro|man|dude|assistant|folks|guys|amigo),
  ^(?:once|since|now if|when|while|whenever|until|unless|because|although|even though|though|even if|whether
   |cuando|si|aunque|mientras|porque)\b(?!.*,)
  ^(?:almost|as \w+ as|just as|even|same|more|less|not)\b(?!.*\d)
  ^\w+ing\b(?!.*, (?:i|we|my|our)\b)|^\w+ing(?: \w+){0,5}? (?:is|was|has been|are|makes?|gives?|keeps?
   |helps?|brings?|isn't|feels)\b
  \b(?:everything|nothing|something|anything|stuff|things|it all|so far|in mind)\W*$
joke
  \b(?:just|only) kidding\b|\bjok(?:e|es|ed|ing)\b|\bbromas?\b|\bbromeando\b
boilerplate
  ^as an? (?:ai|artificial|large language|language model|assistant)\b
  ^(?:sure|certainly|of course|absolutely)\W+(?:here|i can|i'd|i'll|let)\b
  ^here(?:'s| is| are) (?:a|an|the|your|some|my|how|what)\b|^below (?:is|are)\b|^based on (?:your|the)\b
  \bi(?:'m| am) (?:just |only )?an? (?:ai|large language model|language model|virtual assistant|chatbot)\b
  \bhope (?:this|that) helps\b|\bis there anything else\b|\bi can help (?:you )?with\b|\bhappy to help\b
  \bi (?:don't|do not|cannot|can't) have (?:personal|access to)\b
  ^como (?:modelo|una? ia|ia|asistente|inteligencia)\b|^aqui (?:tienes|esta|estan|te dejo|va)\b
   |^claro\W+aqui\b
  \b(?:avisame|hazmelo saber|dime si|espero que (?:te |esto )*(?:sirva|ayude))\b
empty
  ^(?:i |we )?(?:really |totally |completely |do |just |honestly )*(?:think|guess|hope|believe|suppose|bet
   |know|see|agree|understand|mean|wish|get it|hear you|hear that|swear|promise|feel (?:you|that
   |the same))(?: so| not| you| it| that| too| completely| totally| right| what you mean| how you feel
   | the feeling)*\W*$
  ^i (?:don't|do not|didn't) (?:know|think so|care|mind|understand|get it|remember|mean (?:it
   |that))\b(?!.{25})
  ^(?:i(?:'m| am|m| was| feel| felt)|we(?:'re| are| were)|soy|estoy|estaba) (?:so |really |very |just |
   a bit |a little |all |too |pretty |super |not |also |feeling |always |still |muy |bien |
   un poco )*(?:fine|good|ok|okay|great|well|sorry|sure|here|back|in|done|ready|serious|kidding|glad|happy
   |sad|excited|tired|bored|shocked|surprised|amazed|proud|grateful|thankful|blessed|confused|lost|stuck
   |worried|nervous|jealous|joking|curious|impressed|touched|speechless|thrilled|pumped|stoked|listo|lista
   |seguro|segura|feliz|triste|contento|contenta|cansad[oa]|emocionad[oa]|de acuerdo|sorprendid[oa])(?: now
   | too| today| again| here| about (?:it|that|this)| for (?:you|it)| to (?:hear|see) (?:that|it|this)
   | thanks| thank you| ahora| hoy)*\W*$
  ^i(?:'ll| will) (?:definitely |surely |totally )*(?:think|see|try|check|let|get back|be (?:there|here|fine
   |ok|back|right)|keep (?:that|it|you|ya|at|\w+ing|in|on)|do (?:that|it|my best)|reach out|add|give it
   |have a|look into|take a look|have to (?:check|try))\b(?!.{30})
  ^(?:i|we|yes i|yeah i) (?:really |sure |totally )?(?:will|do|did|have|am|was|can|would|could|should
   |had)\W*$
  ^(?:if i were|if you|if only)\b
  ^(?:let's (?:see|go(?! with)|do (?:it|this|that)|talk|catch|keep|chat|hope|make|create|continue|show|enjoy
   |stay|celebrate|support)|no se\W*$|depende|creo que (?:si|no)|eso (?:es|creo)|it depends)\b
  ^(?:many |so many |thanks|thank you|appreciate|(?:muchas |mil )?gracias)\b|\byou(?:'re| are) welcome\b
  \bbeen a while since\b(?!.{40})
  ^remember (?:when|that time|how)\b
  ^(?:hi|hello|hey|hola|good (?:morning|evening|night|afternoon)|buen[oa]s (?:dias|tardes|noches)|see you
   |talk (?:to you )?(?:soon|later)|bye|adios|hasta|nos vemos|take care|cheers)\b(?!.{40})
  ^(?:ok|okay|vale|yes|no|haha\w*|jaja\w*|lol)\W*$
"""

_by_sign = read_patterns(_SIGNS, MONTHS=_MONTHS, DAYS=_DAYS, LIKING=LIKING)
SIGNS = {heading.split()[0]: _any_of(patterns) for heading, patterns in _by_sign.items()}
POINTS = {"named": 1, "subject": 0} | {name: int(points) for name, points in map(str.split, _by_sign)}
"""What each sign adds; `named` and `subject` are seen by capital letters, and have no pattern."""
DROPS = {
    name: _any_of(patterns) for name, patterns in read_patterns(_DROPS, MONTHS=_MONTHS, DAYS=_DAYS).items()
}
FOLLOWS = re.compile(
    r"^(?:it|it's|its|he|he's|she|she's|they|they're|his|her|their|that|that's|these|those|both)\b"
    r"|^this (?!week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|fall|autumn|time"
    r"|one\b)|^(?:ella|ellos|ellas|eso|esto|su|sus|ambos|ambas)\b"
    # Spanish leaves out the subject.
    r"|^(?:no )?(?:se |le )?(?:odia|vive|trabaja|tiene|quiere|prefiere|estudia|habla|llama|gusta|encanta"
    r"|cuesta)n?\b"
)
"""How a sentence begins that says something of the one before it."""
