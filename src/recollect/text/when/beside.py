"""Words beside a possible time that tell whether it is one."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words before a month that leave no doubt, and those that a person's name can follow as well.
SURELY_TIME = _words(
    "in during throughout last next early mid late month en durante mes mediados principios finales"
)
MAYBE_TIME = _words(
    "since until till til before after by of from between through this around to and - for on desde hasta "
    "antes de del entre a al y despues tras para este pasado proximo the"
)
CLOSED_TIME = _words("since until till til before after by from between through desde hasta entre tras of de")
# Months that are also names, verbs or food.
NAMES = _words("april may june august julio abril")
SPANISH_NAMES = _words("julio abril")
VERBS = _words("may march")
# Words before a month that could be a name, where nothing else says that it is a month.
BARE_BEFORE = _words("the our my your their his her about all el este pasado proximo mid")
EVERY = _words("every each cada")
FOOD_BEFORE = _words("la con extra mas sin with and y no of some more hold")
PERSON_BEFORE = _words(
    "with to and for told tell asked ask met saw called call named aunt uncle dear hi hello hey thanks "
    "cousin sister brother friend daughter son wife husband mum mom mother grandma miss mrs mr ms dr like "
    "love loves con y a dijo llamo conoci vi tia tio don dona senor senora hermana hermano hola gracias "
    "querida querido amiga amigo hija hijo is am did do does has have will would can could should said "
    "says"
)
PERSON_AFTER = _words(
    "'s said says say told tells asked asks wants wanted likes liked loves loved thinks thought knows "
    "knew called calls wrote writes went goes gave gives has had is was will would can could does did "
    "came comes left leaves lives lived works worked made makes saw sees and who got gets took takes sent "
    "bought bakes baked needs needed hates hated prefers preferred agreed moved married turned started "
    "plays played dijo dice quiere queria vive trabaja tiene fue es esta era llamo llama me te le se nos"
)
VERB_AFTER = _words(
    "i we you he she it they the god not be have be also well only still never your our his her their my "
    "on to in into up forward through out off back against over down away along toward towards past"
)
HABIT_BEFORE = _words(
    "every each any some most many a an one other alternate los las cada todos todas un una unos algun "
    "ningun otro either"
)
TITLE_BEFORE = _words(
    "black good cyber ash super fat bloody taco casual freaky manic ruby giving palm easter man throwback "
    "holy shrove maundy santo santa placido blue"
)
COMPOUND = _words(
    "roast roasts school schools times blues lights live best driver drivers funday papers addams club "
    "lunch league football afternoons mornings evenings nights"
)
SEASON_COMPOUND = _words(
    "roll rolls water onion onions clothes coat coats jacket jackets dress dresses camp camps school "
    "tires tyres boots sports olympics asleep apart semester cleaning mattress of de"
)
SEASON_BEFORE = _words(
    "in over during since until till before after by between from through throughout early mid late "
    "beginning start middle end en durante desde hasta antes despues entre principios mediados finales "
    "todo"
)
SHORT_BEFORE = _words(
    "on in since during until till by before after from between to and - early mid late last next"
)
FEAST_COMPOUND = _words(
    "tree trees carol carols card cards cookie cookies egg eggs bunny island lights jumper sweater "
    "ornament ornaments song songs music stocking stockings market markets wrapping pudding costume "
    "costumes"
)
YEAR_BEFORE = _words("in during year of since en durante ano de del for from around circa throughout")
COUNTED = _words(
    "people persons dollars dollar euros euro pounds pesos bucks usd eur gbp km kilometers kilometres "
    "miles meters metres m steps words calories items pieces copies times users customers hours minutes "
    "seconds days weeks months years lines rows tokens files pages points votes rpm watts kcal kg grams "
    "personas dolares libras millas metros pasos palabras calorias veces horas minutos dias semanas meses "
    "anos lineas paginas puntos votos usuarios clientes and or y %"
)
MORNING_BEFORE = _words("la esta una toda media buena cada de las tu mi su this in every")
TIMES_BEFORE = _words("times once twice thrice days hours veces vez time day")
MONTH_NAMES = _words(
    "january february march april may june july august september october november december enero febrero "
    "marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
# What may follow a number that is a day of the month, and not a count of things.
PLAIN_AFTER = _words("i we you he she it they , . ? ! ; : ) and or yo y o")
