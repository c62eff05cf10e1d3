"""The words by which claims are read, folded as `tokens.fold` folds them.

English and Spanish, and the plainest of German, French, Italian and Portuguese. What a list lacks is no
contradiction: a word too few costs a find, a word too many an error.
"""

from __future__ import annotations

from recollect.text.word_lists import ENGLISH_MONTHS, SPANISH_MONTHS


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Verbs

IS_NOW = _list("is are am es son esta estan soy estoy ist sind est sont sera seran")
WAS = _list("was were fue era fueron eran war waren")
COPULAS = IS_NOW | WAS
# Of each of these a subject has one object at a time. The first word of a line is the name of the relation.
_RELATIONS = """
live: live lives living reside resides relocated vive vivo viven vivimos resido wohne wohnt
live: habite mora moro abita abito moved moves mudo mudado mude mudamos mudaron
work: work works working trabaja trabajo trabajan trabajamos arbeite arbeitet travaille lavora lavoro
work: trabalha trabalho employed joined
study: study studies studying estudia estudio estudian
die: died
call: called named llama llamo llaman heisst heisse
drive: drive drives conduce conduzco
play: plays
speak: speaks habla
start: start starts begin begins empieza empiezan comienza comienzan
end: end ends finish finishes termina terminan acaba acaban
open: open opens abre abren
close: close closes cierra cierran
meet: meet meets rehearse rehearses practise practises practice practices train trains reune reunimos ensaya
meet: ensayamos entrena entreno
leave: leave leaves departs sale salen
arrive: arrive arrives llega llegan
wake: wake wakes
cost: cost costs cuesta cuestan vale valen kostet kosten coute costa
earn: earns earn gana gano cobra cobro
pay: pay pays paga pago pagamos pagan
weigh: weigh weighs pesa peso
take: take takes toma tomo
have: have has tiene tengo tienen tenemos contains includes
several: eat eats drink drinks love loves use uses own owns smoke smokes come como bebe bebo fuma fumo usa uso
"""
RELATION_OF = {
    form: name
    for name, _, forms in (line.partition(":") for line in _RELATIONS.split("\n"))
    for form in forms.split()
}
# What stands between such a verb and a place or an employer; nothing at all after `joined`.
PLACE_PREPOSITIONS = {
    "live": _list("in at en a bei"),
    "work": _list("in at for en para bei chez"),
    "study": _list("at in en"),
    "die": _list("in en"),
    "joined": frozenset({""}),
    **dict.fromkeys(("moved", "moves"), _list("to")),
    # `a` is gone by then: it is an article elsewhere.
    **dict.fromkeys(("mudo", "mude", "mudado", "mudamos", "mudaron"), frozenset({"", "al"})),
}
FIRST_PERSON_VERBS = _list("""
vivo vivimos resido trabajo trabajamos estudio gano cobro pago pagamos peso conduzco mude mudamos tomo tengo
tenemos soy estoy entreno ensayamos reunimos wohne arbeite habite moro abito lavoro trabalho
""")
AUXILIARIES = IS_NOW | _list("ve has have s m re be been being ha han he hemos hat haben")
# What was done once; the same may be done again with something else.
PAST_DEEDS = _list("""
went had did got took made said saw came gave found bought met ate ran spent left told drove won lost sent
felt began flew read wrote paid sold kept heard brought taught drank slept wore broke chose rode spoke built
fui fuimos hice hizo hicimos tuve tuvo estuve vino vimos dije dijo
""")
PAST_ENDINGS = ("ed", "ó", "aron", "ieron", "aba", "aban", "ía", "ían")
# Done once and for all: only one answer can be right.
LASTING_DEEDS = _list("""
born founded created written invented developed performed directed produced designed built composed named
educated located employed married based discovered established painted nacido nacida fundado fundada creado
creada escrito escrita inventado dirigido dirigida disenado construido compuesto ubicado ubicada casado
casada
""")

# Small words

PREPOSITIONS = _list("""
in at on to for by with from of as into onto near under en a al de del por para con desde hacia bei fur als
mit zu nach chez dans au pour avec di da per em na
""")
DESCRIBED_BY = _list("of de del")
PLACING = _list("in at on en a im am um")
PER = _list("a an per each al por cada pro je par")
INDEFINITE = _list("a an un una some")
DEFINITE = _list("""
the el la los las der die das le my our mi mis nuestra nuestro mein meine unser unsere mon ma notre
""")
OTHERS_OWN = _list("her his their its su sus your tu")
DETERMINERS = DEFINITE | INDEFINITE | OTHERS_OWN | _list("this that these those este esta ese esa")
CLAUSE_WORDS = _list("and but so because although though pero y porque aunque und aber weil mais et ma e mas")
BREAKS = CLAUSE_WORDS | _list("""
while when where which who whom whose that if unless until since after before than then or nor as o u cuando
donde que si hasta desde mientras wenn
""")
# `The school where she was taught is …`: these do not end a subject that begins with an article.
RELATIVE_WORDS = _list("that where que donde was were fue")
VALUE_ENDS = BREAKS | _list("""
with for from in on at by to near during this these every each now starting instead con por para en este
esta cada ahora anymore again too also tambien there here
""")

# Who is spoken of

FIRST_PERSON = _list("""
i my me mine we our us myself ourselves yo mi mis nosotros nuestro nuestra nuestros nuestras ich mein meine
wir unser je mon ma nous io mio mia noi eu meu minha
""")
USER = _list("user usuario usuaria")
# Whoever is meant, the text does not say.
PRONOUNS = _list("""
he she it they this that these those there here him her them one who which what someone somebody everyone
nobody you your el ella ello ellos ellas eso esto esa ese quien alguien nadie usted tu tus vosotros er sie
es il elle all some most many both either neither such
""")
PERSONAL = PRONOUNS | FIRST_PERSON | OTHERS_OWN

# What keeps a clause from stating what holds

UNSURE = _list("""
if would could might may should maybe perhaps probably possibly hope hopes hoping want wants wanted wish
wishes thinking considering planning plans plan imagine suppose supposed unless whether almost nearly wonder
like let si quizas quiza tal podria deberia querria ojala espero quiero quiere piensa pensando planea planeo
propose suggest recommend example hypothetical dream dreamed
""")
ONCE = _list("""
used formerly previously once originally earlier ago yesterday former ex childhood antes solia solian
anteriormente ayer pasado pasada fruher gestern avant hier ieri ontem tomorrow manana morgen tonight
""")
LAST = _list("last past previous ultimo ultima")
SPANS = _list("""
week month year night summer winter spring autumn fall weekend monday tuesday wednesday thursday friday
saturday sunday semana mes ano noche verano invierno
""")
DENIED = _list("""
not no never isn aren wasn weren don doesn didn haven hasn won cannot cant nunca jamas tampoco ya nicht kein
keine stopped quit without dejo deje
""")
CHANGES = _list("""
now currently actually correction update updated moved moves moving switched switches changed changes change
rescheduled adjusted raised raises increased extended reached replaced replaces renamed instead new anymore
longer ahora actualmente correccion cambio cambiado cambia cambiaron mudo mudado sube subio baja bajo nuevo
nueva nuevos nuevas jetzt neu neue neuer neues maintenant nouveau ora adesso agora
""")
HABITUAL = _list("""
every each weekly daily mornings evenings afternoons nights mondays tuesdays wednesdays thursdays fridays
saturdays sundays los cada todos jeden jede montags dienstags mittwochs donnerstags freitags samstags
sonntags chaque
""")
# A clause with one of these says what is, or is again and again.
STATING = (
    IS_NOW
    | HABITUAL
    | frozenset(
        form for form, name in RELATION_OF.items() if name in {"meet", "start", "end", "open", "close"}
    )
)

# Attributes and values

# Somebody may have several of these.
SEVERAL = _list("""
friend friends cousin cousins colleague neighbor neighbour brother sister son daughter child children aunt
uncle hobby hobbies reason thing part idea problem question way example point best worst amigo amiga primo
prima colega vecino vecina hermano hermana hijo hija tio tia razon cosa problema pregunta ejemplo
""")
# Somebody may be several of these: `is a member of`, `is interested in`.
ADDITIVE = SEVERAL | _list("""
member fan kind sort one author owner allergic interested good bad great afraid scared excited proud happy
sad sure ready able going looking planning trying working reading learning talking thinking full made used
known similar related close due responsible aware tired glad involved according welcome grateful thankful
passionate mother father seen found shown given taken held visited invited nominated awarded followed
included surrounded covered inspired influenced supported attended played read sent joined accompanied
compared connected linked alergico alergica bueno buena interesado interesada parte tipo miembro hecho
conocido
""")
ATTRIBUTES = _list("""
name colour color job address number phone password code pin size age birthday shift dose price rent email
day time date deadline room doctor dentist boss manager supervisor director team plan model status version
language editor theme car type genre sport position capital headquarters religion nationality title role
salary budget target goal limit quota favourite favorite favorito favorita nombre trabajo direccion numero
telefono contrasena clave codigo talla edad cumpleanos turno dosis precio alquiler correo dia hora fecha
plazo sala medico dentista jefe jefa equipo estado idioma coche wifi network red farbe passwort adresse
nummer preis miete prix
""")
CODE_NOUNS = _list("""
password passwort code pin wifi key login user username email host contrasena clave codigo usuario correo
passe
""")
_STATUSES = """
open: open closed abierto abierta cerrado cerrada
on: on off encendido encendida apagado apagada
marital: married single divorced engaged widowed casado casada soltero soltera divorciado divorciada viudo
marital: viuda
diet: vegetarian vegan pescatarian omnivore vegetariano vegetariana vegano vegana vegetarisch
progress: active inactive paused cancelled canceled finished done pending completed blocked activo activa
progress: inactivo pausado pausada cancelado cancelada terminado terminada pendiente
color: red blue green yellow black white brown grey gray orange purple pink rojo roja azul verde amarillo
color: amarilla negro negra blanco blanca marron gris naranja morado rosa
"""
STATUS_OF = {
    word: group
    for group, _, words in (line.partition(":") for line in _STATUSES.split("\n"))
    for word in words.split()
}
# A word in small letters that ends like this describes rather than names.
ADJECTIVE_ENDINGS = ("ed", "ing", "ly", "ful", "ous", "able", "ible", "mente", "ando", "iendo")

# Figures

_WEEKDAYS = """
monday mondays lunes montag montags lundi lunedi
tuesday tuesdays martes dienstag dienstags mardi martedi
wednesday wednesdays miercoles mittwoch mittwochs mercredi mercoledi
thursday thursdays jueves donnerstag donnerstags jeudi giovedi
friday fridays viernes freitag freitags vendredi venerdi
saturday saturdays sabado sabados samstag samstags samedi sabato
sunday sundays domingo domingos sonntag sonntags dimanche domenica
"""
WEEKDAY_OF = {word: day for day, line in enumerate(_WEEKDAYS.strip().split("\n")) for word in line.split()}
_GERMAN_MONTHS = (
    "januar", "februar", "marz", "april", "mai", "juni",
    "juli", "august", "september", "oktober", "november", "dezember",
)  # fmt: skip
MONTH_OF = {
    word: month
    for names in (ENGLISH_MONTHS, SPANISH_MONTHS, _GERMAN_MONTHS)
    for month, name in enumerate(names, 1)
    for word in (name, name[:3])
    if word != "mar"  # the sea
} | {"sept": 9}
MONEY = _list("$ € £ ¥ eur usd gbp euro euros dollar dollars dolar dolares pesos pounds bucks")
PER_CENT = _list("% percent procent ciento prozent")
# A number behind one of these is its name.
LABELLED = _list("""
type phase version chapter room sprint level grade class stage part volume no number step section page line
route bus table figure item question tipo fase capitulo sala nivel grado parte numero paso pagina linea
""")
ORDINALS = _list(
    "first second third fourth fifth next primer primera segundo segunda tercer tercera erste zweite"
)
