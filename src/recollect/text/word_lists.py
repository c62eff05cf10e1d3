"""Lists of English and Spanish words with one property, folded as `tokens.fold` folds them."""

from __future__ import annotations


def word_list(words: str) -> frozenset[str]:
    return frozenset(words.split())


# No accents, no case, no apostrophes: so the pieces `don` and `t`.
STOPWORDS = word_list("""
a about above after again against all am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don down during each few for
from further had hadn has hasn have haven having he her here hers herself him himself his how i if in into
is isn it its itself just ll m me mightn more most mustn my myself needn no nor not now o of off on once
only or other our ours ourselves out over own re s same shan she should shouldn so some such t than that
the their theirs them themselves then there these they this those through to too under until up ve very
was wasn we were weren what when where which while who whom why will with won would wouldn y you your
yours yourself yourselves

al algo algunas algunos ante antes como con contra cual cuando de del desde donde durante e el ella ellas
ellos en entre era eran es esa esas ese eso esos esta estaba estado estan estar estas este esto estos fue
fueron ha habia han hasta hay la las le les lo los mas me mi mis mucho muy nada ni no nos nosotros nuestra
nuestras nuestro nuestros o os otra otras otro otros para pero poco por porque que quien quienes se sea ser
si sido sin sobre son su sus suya suyas suyo suyos tambien tanto te tiene tienen todo todos tu tus un una
unas uno unos vosotros y ya yo
""")
"""So common that they say nothing about the topic of a text."""

ARTICLES = word_list("a an the el la los las un una unos unas")

NEGATIONS = word_list("no not isn wasn aren weren don doesn didn won cannot cant")
"""The ways in which English writes `not`: `do not`, `don't`, `cannot`."""

DENIALS = NEGATIONS | word_list("""
never none nobody nothing neither nor without wrong false former formerly ex anymore longer left quit stopped
used nunca jamas tampoco sin ya antes dejo
""")

ATTENTION_CALLS = word_list("""
actually btw fyi hey hi listen nb note oh ok okay ps remember reminder so well bueno hola nota ojo oye pues
recordatorio recuerda vale
""")
"""Words that only call for attention where they come first."""

FILLERS = word_list("""
actually also apparently btw currently fyi hey hi listen note now ok okay oh please presently really remember
right so still today well yes yeah actualmente ahora bueno hola hoy nota oye pues recuerda sabes todavia vale
am pm reminder reminding confirmed confirming update updated correct correctly todo nb ps summary important
attention
st nd rd th start starts starting begin begins happen happens takes place held empieza comienza celebra lugar
recordatorio confirmado aviso importante apunte ojo recuerdo resumen daily usual usually diario
""")
"""Words that open a sentence, stress that it is true, or say that something takes place."""

SPANISH_CALENDAR = word_list("""
lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto
septiembre setiembre octubre noviembre diciembre
""")
"""Days and months that Spanish writes without a capital letter."""

RELATIVES = word_list("""
brother sister mother father mom mum dad parents wife husband partner son daughter child children cousin uncle
aunt grandmother grandfather friend boyfriend girlfriend boss colleague neighbour neighbor roommate
hermano hermana hermanos hermanas madre padre mama papa padres mujer esposa esposo marido pareja hijo hija
hijos hijas primo prima tio tia abuelo abuela amigo amiga novio novia jefe jefa colega vecino vecina
""")

FIRST_PERSON = word_list("""
i me my mine myself we us our ours ourselves yo mi mis mio mia mios mias conmigo nos nosotros nosotras nuestro
nuestra nuestros nuestras soy estoy voy doy he hemos
""")

CITING_WORDS = word_list("""
according context earlier information know known memories memory mention mentioned mentioning note noted notes
previous previously recall recalled recollect record recorded records remember said saved say says stored tell
told user you your
antes anotado contaste dijiste guardado informacion memoria mencionaste nota notas recuerdo segun usuario
""")
"""Words by which a text says where it has something from."""

EVERYDAY_NAMES = word_list("""
will may mark bill art rose hope grace joy faith frank rich sue pat drew chase grant jack rob miles dean
august april june summer autumn sol mar luz paz pilar blanca rosa angel reyes cruz mercedes consuelo
today now home work note notes idea ideas user assistant
""")
"""Everyday words that are also somebody's name."""

NAME_PARTICLES = word_list("da das de del di do dos du el la las los van von der den ter bin ibn al y e")
"""Small words inside people's names."""

NO_FIRST_NAMES = word_list("""
amazon apple avenida banco bank bar bay big black blue brown cafe calle cape casa central city clinic
clinica clinical club colegio college cruz data downtown east el equipo fort friday general gold golden
google grand great green grey group grupo high hospital hotel house instituto international island john's
king la lake las les little los lower meta microsoft monday mount museo nations new north office old open
operation palo park parque plan playa plaza port power project proyecto puerto queen radio red restaurante
rio river royal saint san santa santo sao saturday school sea service silver social sony south st sunday
super system team teatro the thursday tierra trans tuesday union united universal universidad university
upper uptown valley villa visual wall wednesday west white wild world york zona
""")
"""First words of names that hardly ever are a person's."""

NO_LAST_NAMES = word_list("""
academy airport app association avenue bank bar beach board bridge building cafe castle center centre church
city clinic club college committee company conference council court department drive festival foundation
garden gardens group hall hospital hotel house inc initiative institute island lab labs lake lane league
library limited llc ltd market mountain mountains museum network office park parkway plan plaza pro program
programme project report restaurant review ridge river road room school server service services shop society
square station store street studio studios suite system team theatre tower trail trust university valley
watch workshop
""")
"""Last words of names that hardly ever are a person's."""

SMALL_TALK = word_list("""
absolutely ace agree agreed ah aha alright always amaze amazing anytime anyway appreciate aw awesome aww
awww beautiful best bet bit bless blessed bravo brilliant btw bye certainly chat check cheer cheers come
congrats congratulations cool crazy cute dear definitely delicious done else enjoy enjoyed enjoying
especially even ever every everyone everything exactly excellent excited exciting fab fabulous fantastic
feel feeling feels felt fine forward fun funny gee get gets getting give glad glow go goes going gonna good
goodbye gorgeous gosh got gotcha grateful great greetings guess guys ha haha hahah hahaha hahahaha happy
hear heard hehe hehehe hello help helps hey hi hmm honestly hope hopefully hoping how hug hugs im impressive
incredible indeed inspiring interesting keep kidding kind know known later let lets like likewise lol long
look looking looks lot lots love loved lovely loving luck lucky made make makes many matter maybe mean means
mind morning much must myself neat need never nice night noo nooo nope oh ok okay omg one ones original
perfect perhaps please pleased pleasure pretty probably problem proud quite rad real really remember right
rock rocks said same say saying says see seem seems seen share shared sharing soo soon sooo soooo sorry
sound sounded sounds special still stuff such super superb support sure surely sweet take talk tell terrific
thank thankful thanks thats thing things think thinking tho though thought thoughts thrilled time times
today together tonight totally tough treat true truly try trying ugh unbelievable understand wait wanna want
way welcome well what whatever whoa wish woah wonder wonderful woo woohoo word worries worry worth wow yaay
yay yayy yea yeah yep yes yess yesss yet you yup

abrazo abrazos acuerdo adios ahi ahora alegra alegro alguna alguno animo aqui asi aun aunque ay beso besos
bien bienvenida bienvenido bonita bonito buen buena buenas bueno buenos chao chau claro cosa cosas creer
creo cuidate decir desde dia dias dice digo encanta encantaria enhorabuena entiendo entonces eso espero
estupendo exacto excelente fantastico felicidades felicitaciones feliz genial gracias guai guay gusta
gustaria gusto hablamos hace hola igual igualmente increible ja jaja jajaja jajajaja jeje jejeje jo leer
linda lindo luego mal manana maravilla maravilloso mejor menos mil mira mismo momento muchas muchisimas
muchisimo muchos nunca ojala oye parece pasa pena pensar perdon perdona perfecto pienso podemos preciosa
precioso problema pronto puede puedo pues quiza quizas razon sabes salud saludos seguro siempre siento suena
suerte super supuesto tal tarde tardes tengas tio toda todas tranquila tranquilo vale vamos vaya vemos ver
verdad vez voy
""")
"""Words of greeting, courtesy, praise and agreement, and those so vague that they name nothing."""

VAGUE_WORDS = word_list("""
ability able accomplish accomplished accomplishment achieve achieved achievement achieving actually
adventure adventures advice ahead alive already also amount another answer answers anyone anything
appreciation approach around atmosphere attitude awareness away back bad balance basically battle beauty
became become becoming began belief believe better big bigger biggest blast blessing bonding boost boring
break bring bringing brings brought bummed calm camaraderie can care carry cause challenge challenges
challenging chance change changed changes cherish chill chose chosen clear clearly close closer coaster
comfort comfortable comforting coming communication community complete completely concern concerned
confidence confident connect connected connecting connection connections consider considering content
control count counts couple courage creative creativity crisis crucial curious current data day days deal
decide decided decision dedication deep details determination determined difference different difficult
direct direction directly discover discuss discussed dive document documents doubt dream dreams easier
easily easy effort efforts either electric embarrassing emotion emotional emotions encourage encouragement
encouraging end energy enough ensure enthusiasm envision essential event every exact example examples
experience experiences explore exploring express expressing extra eye eyes face faced fact falling familiar
fan fans far fast favorite fearless feedback feelings few fight figure figured figuring filled final finally
find finding first five focus focused follow following forever found four free freedom fresh friendship
fulfilling fulfillment full further future gain gained general generations giving goal goals gotta gratitude
gripping grow growing growth guidance guide half hand hang happen happened happening happiness hard having
head heal healing heart heartbreaking help helped helping high hold holds honest honor hope hour hours huge
idea ideas imagination imagine immediately impact impacts importance important improve improved improvement
incredibly individual information initial inner input insight insights inspiration inspire inspired
inspiring instead intense interested involved issue issues items journey joy joyful keeps kept key kinda
kindness large last lasting lately laugh learn learned least left less lesson lessons letting level
life lift lifted lifting list little lives living low main making massive matters meaning meaningful
memorable memories memory message method methods mile milestone minute minutes moment moments momentum month
months mood motivate motivated motivating motivation move moving near nervous new newest next nothing
obstacles old open opens opinion opportunities opportunity option options order outcome overall overwhelmed
pain part parts passion passionate past path pay pays peace peaceful people performances perseverance person
personal perspective picked place places plan plans play point points position positive positivity possible
potential power powerful practical practice presence present pressure priority proceed process progress
project proper properly prove purpose push pushed pushing put question questions quick quickly reach ready
reality realize realized reason reasons recent recently recharge recommendation recommendations reflect
refreshing regarding related relax relaxing reminded reminder reminders reminds request requests resilience
respond response responses rest result results rewarding ride risks role roller run running safe scary
second section sections sense session set setback setbacks settled shape short showing side similar simple
situation skill skills slow small smile smiles solid solution solutions someday someone something sometimes
somewhere soul source space spark specific specifically specifics spent spirit spirits spread standard start
started starting state stay stayed staying step steps stick stop story straight strategy strength strengths
stress stressed stressful strive strong struggle struggles struggling stuck success successful suggestion
suggestions surrounded talked targets task tasks teamwork tell text thankful therapeutic those three through
tips together tools topic touch tough toward towards track tried true trust turn turned two type types
unique until uplifting upset use used useful user using valuable value version vibe vibes view vision warm
watch weaknesses week weekend weeks went whole wild wise within without words work worked working works
world worried worthwhile wrong year years young

ahora animo ano anos apoyo cambio cambios camino claro corazon dia dias esfuerzo experiencia experiencias
fin ganas gente hacer haciendo hago hecho ido ilusion importante mes meses momento momentos nueva nuevo
oportunidad paso poco problema rato semana semanas sensacion sido sueno suenos tema tener tengo trabajo van
vida visto
""")
"""Words of feeling and encouragement, and such as fit every topic: they tell no fact from another."""

ENGLISH_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
SPANISH_MONTHS = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio",
    "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
)  # fmt: skip
