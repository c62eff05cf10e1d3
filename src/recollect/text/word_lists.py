"""Lists of English and Spanish words with one property, folded as `tokens.fold` folds them."""

from __future__ import annotations


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


# No accents, no case, no apostrophes: so the pieces `don` and `t`.
STOPWORDS = _list("""
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

ARTICLES = _list("a an the el la los las un una unos unas")

NEGATIONS = _list("no not isn wasn aren weren don doesn didn won cannot cant")
"""The ways in which English writes `not`: `do not`, `don't`, `cannot`."""

DENIALS = NEGATIONS | _list("""
never none nobody nothing neither nor without wrong false former formerly ex anymore longer left quit stopped
used nunca jamas tampoco sin ya antes dejo
""")

ATTENTION_CALLS = _list("""
actually btw fyi hey hi listen nb note oh ok okay ps remember reminder so well bueno hola nota ojo oye pues
recordatorio recuerda vale
""")
"""Words that only call for attention where they come first."""

FILLERS = _list("""
actually also apparently btw currently fyi hey hi listen note now ok okay oh please presently really remember
right so still today well yes yeah actualmente ahora bueno hola hoy nota oye pues recuerda sabes todavia vale
am pm reminder reminding confirmed confirming update updated correct correctly todo nb ps summary important
attention
st nd rd th start starts starting begin begins happen happens takes place held empieza comienza celebra lugar
recordatorio confirmado aviso importante apunte ojo recuerdo resumen daily usual usually diario
""")
"""Words that open a sentence, stress that it is true, or say that something takes place."""

SPANISH_CALENDAR = _list("""
lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto
septiembre setiembre octubre noviembre diciembre
""")
"""Days and months that Spanish writes without a capital letter."""

RELATIVES = _list("""
brother sister mother father mom mum dad parents wife husband partner son daughter child children cousin uncle
aunt grandmother grandfather friend boyfriend girlfriend boss colleague neighbour neighbor roommate
hermano hermana hermanos hermanas madre padre mama papa padres mujer esposa esposo marido pareja hijo hija
hijos hijas primo prima tio tia abuelo abuela amigo amiga novio novia jefe jefa colega vecino vecina
""")

FIRST_PERSON = _list("""
i me my mine myself we us our ours ourselves yo mi mis mio mia mios mias conmigo nos nosotros nosotras nuestro
nuestra nuestros nuestras soy estoy voy doy he hemos
""")

EVERYDAY_NAMES = _list("""
will may mark bill art rose hope grace joy faith frank rich sue pat drew chase grant jack rob miles dean
august april june summer autumn sol mar luz paz pilar blanca rosa angel reyes cruz mercedes consuelo
today now home work note notes idea ideas user assistant
""")
"""Everyday words that are also somebody's name."""

ENGLISH_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
SPANISH_MONTHS = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio",
    "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
)  # fmt: skip
